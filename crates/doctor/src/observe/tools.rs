//! Lines of tools that say something of a node without a node: an `ACSCtl:` line of lspci alone, a port of a topology file, a library that
//! the dynamic loader did not find. Where the device is above, the text is read as facts about its node.

use super::names::Names;
use super::trouble::ToolTrouble;
use linerate_formats::dlerror::LoadError;
use linerate_formats::pci::Bdf;
use linerate_formats::printed;

/// Reads a file's lines.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The file lists devices: what is below them belongs to a node.
    has_devices: bool,
}

impl Reader {
    /// Notes the header of a device: `18:00.0 PCI bridge: …`.
    pub(super) fn header(&mut self, line: &str) {
        let is_header = line.as_bytes().first().is_some_and(u8::is_ascii_hexdigit)
            && line
                .split_once(' ')
                .is_some_and(|(first, rest)| first.len() >= 7 && rest.contains(": ") && first.parse::<Bdf>().is_ok());
        self.has_devices |= is_header;
    }

    pub(super) fn read(&self, line: &str, names: &mut Names) -> Option<ToolTrouble> {
        let text = printed::own(line);
        if text.quoted {
            return None;
        }
        let text = text.text;
        if let Some(flags) = text.strip_prefix("ACSCtl:") {
            return (!self.has_devices && redirects(flags)).then_some(ToolTrouble::AcsRedirects);
        }
        if text.starts_with("<pci ") {
            return is_virtual_bridge(text).then_some(ToolTrouble::SlowLink);
        }
        let manager =
            text.strip_prefix("nv-fabricmanager").and_then(|r| r.split_once("]: ")).map_or(text, |(_, rest)| rest);
        // Its own log: `[Nov 21 2026 07:00:00] [ERROR] [tid 12] …`.
        let manager = match manager.split_once("] [tid ") {
            Some((before, rest)) if before.starts_with('[') && before.len() < 48 => {
                rest.split_once("] ").map_or(manager, |(_, rest)| rest)
            }
            _ => manager,
        };
        if manager.starts_with("fabric manager NVIDIA GPU driver interface version ")
            && manager.contains(" match with driver version ")
        {
            return Some(ToolTrouble::FabricManager);
        }
        let e = LoadError::line(text)?;
        Some(ToolTrouble::Library(names.id(e.name()), e.fault))
    }
}

/// `SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-`, whole.
fn redirects(flags: &str) -> bool {
    let mut words = flags.split_whitespace();
    words.next().is_some_and(|w| w.starts_with("SrcValid")) && words.any(|w| w == "ReqRedir+")
}

/// A bridge in a topology file, at the link that virtual ports report: 2.5 GT/s on one lane.
fn is_virtual_bridge(element: &str) -> bool {
    let value = |name: &str| {
        let (_, rest) = element.split_once(name)?;
        rest.strip_prefix("=\"")?.split('"').next()
    };
    value(" class").is_some_and(|c| c.starts_with("0x0604"))
        && value(" link_speed").is_some_and(|s| s.starts_with("2.5 GT/s"))
        && value(" link_width") == Some("1")
}
