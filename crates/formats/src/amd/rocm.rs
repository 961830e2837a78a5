//! `rocm-smi`: `GPU[0] : Key: value`, and the rows of its concise tables.

use super::tables::{is_rocm, spacer};
use super::{Smi, address};
use crate::text::{split_key, words};

/// The first line, or the title of a table, with which people begin a paste.
pub(super) fn is_own(line: &str) -> bool {
    let is_first = line.contains(" ROCm System Management Interface ");
    line.starts_with("===") && line.ends_with("===") && is_first || is_rocm(line)
}

#[derive(Default)]
pub(super) struct Reader {
    /// `Concise Info` and `Concise Hardware Info`: a row for each GPU.
    is_concise: bool,
}

impl Reader {
    /// Takes a line of rocm-smi.
    pub(super) fn take(&mut self, line: u32, raw: &str, out: &mut Smi) -> bool {
        if let Some(said) = spacer(raw) {
            // Between head and rows, and at the end, there is a line of signs alone.
            if !said.is_empty() {
                self.is_concise = matches!(said, "Concise Info" | "Concise Hardware Info");
            }
            return true;
        }
        if let Some((number, said)) = gpu(raw) {
            if let Some((key, value)) = split_key(said, ':')
                && let Some(gpu) = out.gpu(number, line)
            {
                gpu.set("", key, value, line);
            }
            return true;
        }
        if let Some(version) = raw.trim().strip_prefix("Driver version:") {
            out.is_driver(version.trim(), line);
            return true;
        }
        if self.is_concise
            && let Some(number) = words(raw).next().and_then(|w| w.parse().ok())
        {
            concise(number, line, raw, out);
            return true;
        }
        false
    }
}

/// `GPU[0] : Card series: x`; documents have `GPU[0] : …`, too.
fn gpu(raw: &str) -> Option<(u32, &str)> {
    let (number, rest) = raw.trim_start().strip_prefix("GPU[")?.split_once(']')?;
    let said = rest.trim_start().strip_prefix(':')?;
    Some((number.parse().ok()?, said.trim()))
}

/// A row: the device id ends with a comma (`0x74a1,`) or is alone beside an address.
fn concise(number: u32, line: u32, raw: &str, out: &mut Smi) {
    let bdf = words(raw).find(|w| address(w).is_some());
    let id = words(raw).find_map(|w| match w.strip_suffix(',') {
        Some(id) => id.starts_with("0x").then_some(id),
        None => (bdf.is_some() && w.starts_with("0x")).then_some(w),
    });
    if bdf.is_none() && id.is_none() {
        return;
    }
    let Some(gpu) = out.gpu(number, line) else { return };
    if let Some(bdf) = bdf {
        gpu.set("", "PCI Bus", bdf, line);
    }
    if let Some(id) = id {
        gpu.set("", "Device ID", id, line);
    }
}
