//! `amd-smi list`, `static`, `metric`: a block for each GPU, keys in capitals, sections by their indentation.

use super::Smi;
use crate::text::split_key;

/// Keys by which such a text is known; others print `GPU: 0`, too.
const KEYS: [&str; 10] = [
    "BDF:",
    "UUID:",
    "ASIC:",
    "BUS:",
    "VBIOS:",
    "PCIE:",
    "MARKET_NAME:",
    "MAX_PCIE_WIDTH:",
    "SOCKET_POWER:",
    "GFX_ACTIVITY:",
];
/// Deeper than any release prints.
const DEPTH: usize = 8;

/// `GPU: 0`.
pub(super) fn gpu(line: &str) -> Option<u32> {
    let number = line.trim().strip_prefix("GPU: ")?;
    number.bytes().all(|b| b.is_ascii_digit()).then(|| number.parse().ok()).flatten()
}

/// Whether a text has such a block, with what only this tool has in it.
pub(super) fn is_own(text: &str) -> bool {
    let mut below = 0_u32;
    text.lines().any(|l| {
        below = if gpu(l).is_some() { 1 } else { below.saturating_add(u32::from(below > 0)) };
        below > 1 && below < 64 && l.starts_with([' ', '\t']) && KEYS.iter().any(|k| l.trim_start().starts_with(k))
    })
}

#[derive(Default)]
pub(super) struct Reader {
    number: Option<u32>,
    /// Sections that are open, with their indentation.
    sections: Vec<(usize, String)>,
}

impl Reader {
    pub(super) fn take(&mut self, line: u32, raw: &str, out: &mut Smi) {
        if let Some(number) = gpu(raw) {
            (self.number, self.sections) = (Some(number), Vec::new());
            out.gpu(number, line);
            return;
        }
        let Some(number) = self.number else { return };
        let Some((key, value)) = split_key(raw, ':') else { return };
        let is_key = !key.is_empty() && key.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        if !is_key {
            return;
        }
        let indent = raw.len() - raw.trim_start().len();
        self.sections.retain(|(at, _)| *at < indent);
        if value.is_empty() {
            if self.sections.len() < DEPTH {
                self.sections.push((indent, key.to_owned()));
            }
            return;
        }
        let section = self.sections.last().map_or("", |(_, name)| name.as_str());
        if section == "DRIVER" && matches!(key, "VERSION" | "DRIVER_VERSION") {
            out.is_driver(value, line);
        } else if let Some(gpu) = out.gpu(number, line) {
            gpu.set(section, key, value, line);
        }
    }
}
