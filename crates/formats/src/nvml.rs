//! What the NVML library answered, as the capture writes it down: `linerate/nvml.json`.

use crate::error::ParseError;
use crate::pci::Bdf;
use crate::tool::{Gives, Tool, seen};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The library's answers, as the capture writes them down.
pub const TOOL: Tool = Tool {
    name: "nvml",
    called: "answers of NVML",
    run: "linerate collect",
    gives: Gives::Facts,
    documents: &["nvml"],
    read: Some(|b| seen(parse(b).is_ok())),
    once: true,
    ..Tool::NONE
};

/// The library's answers. A number that it refused is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Nvml {
    /// Why there is nothing.
    #[serde(default)]
    pub error: Option<String>,
    /// Driver version.
    #[serde(default)]
    pub driver_version: Option<String>,
    /// GPUs.
    #[serde(default)]
    pub devices: Vec<Device>,
}

/// One GPU.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Device {
    /// PCI address, as text.
    pub bdf: Option<String>,
    /// Product name.
    pub name: Option<String>,
    /// BAR1 aperture, bytes.
    pub bar1_total_bytes: Option<u64>,
    /// Frame buffer, bytes.
    pub memory_total_bytes: Option<u64>,
    /// Link width now.
    pub link_width: Option<u32>,
    /// PCIe generation now.
    pub link_generation: Option<u32>,
    /// Highest width.
    pub max_link_width: Option<u32>,
    /// Replays since the driver was loaded.
    pub replay_counter: Option<u32>,
    /// Counters by the name that the capture gives them (`snapshot::capture::nvml`).
    pub counters: BTreeMap<String, u64>,
}

impl Device {
    /// The address.
    #[must_use]
    pub fn address(&self) -> Option<Bdf> {
        self.bdf.as_deref()?.parse().ok()
    }
}

/// Parses the file.
///
/// # Errors
/// It is not this JSON.
pub fn parse(bytes: &[u8]) -> Result<Nvml, ParseError> {
    serde_json::from_slice(bytes)
        .map_err(|e| ParseError::syntax(u32::try_from(e.line()).unwrap_or(0), "not the capture's NVML answers", &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_and_refusals() {
        let n = parse(br#"{"driver_version":"570.1","devices":[{"bdf":"0000:19:00.0","bar1_total_bytes":137438953472,"link_width":null}]}"#)
            .unwrap();
        assert_eq!(n.devices[0].address().unwrap().to_string(), "0000:19:00.0");
        assert_eq!((n.devices[0].bar1_total_bytes, n.devices[0].link_width), (Some(128 << 30), None));
        assert_eq!(parse(br#"{"error":"no library","devices":[]}"#).unwrap().error.as_deref(), Some("no library"));
        assert!(parse(b"[1").is_err());
    }
}
