//! `/proc/driver/nvidia`: `version`, `params`, `gpus/*/information`.

use crate::bounds::TEXT_ITEMS;
use crate::pci::Bdf;
use crate::text::{At, decode, flag, lines, split_key};
use serde::Serialize;

/// Which kernel module is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Flavour {
    /// Open kernel module: DMA-BUF export.
    Open,
    /// Proprietary kernel module.
    Proprietary,
}

/// `version`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Version {
    /// Driver version, e.g. `550.54.15`.
    pub version: String,
    /// Open or proprietary.
    pub flavour: Flavour,
    /// 1-based line.
    pub line: u32,
}

/// Parses `version`, or the line that the module prints when it loads.
pub fn parse_version(bytes: &[u8]) -> Option<Version> {
    let text = decode(bytes);
    lines(&text).find_map(|(line, raw)| version_line(raw).map(|(version, flavour)| Version { version, flavour, line }))
}

/// `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build …`
pub(crate) fn version_line(raw: &str) -> Option<(String, Flavour)> {
    let at = raw.find("NVIDIA UNIX")?;
    let rest = raw.get(at..)?;
    if !rest.contains("Kernel Module") || rest.contains("Mode Setting") {
        return None;
    }
    let flavour = if rest.contains("Open Kernel Module") { Flavour::Open } else { Flavour::Proprietary };
    let is_version = |w: &&str| {
        w.contains('.')
            && w.starts_with(|c: char| c.is_ascii_digit())
            && w.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    rest.split_whitespace().find(is_version).map(|v| (v.to_owned(), flavour))
}

/// A driver parameter: name without `NVreg_`, value as printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Param {
    /// Name.
    pub name: String,
    /// Value; strings without quotes.
    pub value: String,
    /// 1-based line.
    pub line: u32,
}

/// Parses `params`.
pub fn parse_params(bytes: &[u8]) -> Vec<Param> {
    let text = decode(bytes);
    lines(&text)
        .filter_map(|(line, raw)| {
            let (name, value) = split_key(raw, ':')?;
            (!name.is_empty() && !name.contains(' ')).then(|| Param {
                name: name.to_owned(),
                value: value.trim_matches('"').to_owned(),
                line,
            })
        })
        .take(TEXT_ITEMS)
        .collect()
}

/// `gpus/BDF/information`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Information {
    /// `Model`.
    pub model: Option<At<String>>,
    /// `Bus Location`.
    pub bdf: Option<At<Bdf>>,
    /// `Device Minor`.
    pub minor: Option<At<u32>>,
    /// `GPU Firmware`, the GSP firmware; `N/A` is kept.
    pub firmware: Option<At<String>>,
    /// `GPU Excluded`.
    pub excluded: Option<At<bool>>,
}

/// Parses `information`.
pub fn parse_information(bytes: &[u8]) -> Information {
    let text = decode(bytes);
    let mut out = Information::default();
    for (line, raw) in lines(&text) {
        let Some((key, value)) = split_key(raw, ':') else { continue };
        let text = || (!value.is_empty()).then(|| At::new(value.to_owned(), line));
        match key {
            "Model" => out.model = text(),
            "Bus Location" => out.bdf = value.parse().ok().map(|b| At::new(b, line)),
            "Device Minor" => out.minor = value.parse().ok().map(|m| At::new(m, line)),
            "GPU Firmware" => out.firmware = text(),
            "GPU Excluded" => {
                out.excluded = flag(value, "Yes", "No").map(|f| At::new(f, line));
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_and_proprietary() {
        let v = parse_version(b"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (dvs-builder@U16)\nGCC version:  gcc version 12.3.0\n");
        assert_eq!(v, Some(Version { version: "550.54.15".into(), flavour: Flavour::Open, line: 1 }));
        let v =
            parse_version(b"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023\n");
        assert_eq!(v.map(|v| (v.version, v.flavour)), Some(("535.54.03".into(), Flavour::Proprietary)));
        assert_eq!(parse_version(b"GCC version: 12.3.0"), None);
    }

    #[test]
    fn params_and_information() {
        let p = parse_params(b"EnablePCIERelaxedOrderingMode: 1\nRegistryDwords: \"a=1;b:2\"\n");
        assert_eq!((p[0].value.as_str(), p[1].value.as_str(), p[1].line), ("1", "a=1;b:2", 2));
        let i = parse_information(b"Model: \t\t NVIDIA H100\nIRQ:   \t\t 16\nBus Location: \t 0000:1b:00.0\nDevice Minor: \t 3\nGPU Excluded:\t No\n");
        assert_eq!(i.bdf.map(|b| (b.value.bus, b.line)), Some((0x1b, 3)));
        assert_eq!((i.minor.map(|m| m.value), i.excluded.map(|e| e.value), i.firmware), (Some(3), Some(false), None));
    }
}
