//! What `lspci -vvv | grep ACSCtl` leaves: the controls of ports, without the ports.

use super::registers::acs_flags;
use crate::bounds::{Kept, Limit, TEXT_ITEMS, leave_out};
use crate::pci::Bdf;
use crate::pci::caps::AcsBits;
use crate::text::{At, decode, lines};
use crate::tool::{Gives, Mark, Tool, seen, starts};

/// `lspci -vvv | grep ACSCtl`.
pub const TOOL: Tool = Tool {
    name: "acs-controls",
    called: "lspci | grep ACSCtl",
    run: "sudo lspci -vvv | grep -E '^[0-9a-f]|ACSCtl'",
    gives: Gives::Facts,
    marks: &[Mark::line_where(is_acs, has_no_device).holds(LITERALS)],
    read: Some(|b| seen(read(b))),
    samples: &[
        "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n",
        "ACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans+\nACSCtl:\tSrcValid- TransBlk- ReqRedir-\n",
    ],
    ..Tool::NONE
};

/// Controls of ports that are not named, each with its line. A line with part of the flags only is left out.
#[must_use]
pub fn read(bytes: &[u8]) -> Kept<At<AcsBits>> {
    let text = decode(bytes);
    let mut kept = Kept::default();
    for (line, raw) in lines(&text) {
        let Some(bits) = content(raw).strip_prefix("ACSCtl:").and_then(acs_flags) else { continue };
        if kept.items.len() < TEXT_ITEMS {
            kept.items.push(At::new(bits, line));
        } else {
            leave_out(&mut kept.left_out, Limit::TEXT_ITEMS, line);
        }
    }
    kept
}

/// The two registers of Access Control Services.
pub(super) const LITERALS: &[&str] = &["ACSCtl:", "ACSCap:"];

/// A line of one of them.
pub(super) fn is_acs(line: &str) -> bool {
    starts(content(line), LITERALS)
}

/// Whether a text shows neither a device nor another line of one: nothing but these registers.
pub(super) fn has_no_device(text: &str) -> bool {
    !text.lines().any(|line| {
        let line = super::without_group(content(line));
        starts(line, &["Capabilities:", "LnkSta:", "LnkCap:", "DevCtl:", "DevCap:", "Slot:"])
            || line.split([' ', '\t']).next().is_some_and(|first| first.len() >= 7 && first.parse::<Bdf>().is_ok())
    })
}

/// Without the name and number that `grep -n` prints, and the marks of quotations.
fn content(line: &str) -> &str {
    let line = line.trim_start_matches(['>', ' ', '\t']);
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match number.strip_prefix([':', '-']) {
        Some(rest) if number.len() < line.len() && rest.starts_with([' ', '\t', 'A']) => rest.trim_start(),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use crate::sniff::sniff;

    const CLEAR: &str = "SrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-";
    const SET: &str = "SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-";

    #[test]
    fn each_line_is_a_control() {
        let text = format!(
            "$ lspci -vvv | grep -i acsctl\n\t\tACSCtl:\t{SET}\n> 12:\tACSCtl: {CLEAR}\n\t\tACSCtl: SrcValid+ Trans\n"
        );
        assert_eq!(sniff("", text.as_bytes()), Kind::AcsControls);
        let kept = read(text.as_bytes());
        let seen: Vec<_> = kept.items.iter().map(|a| (a.value.0, a.line)).collect();
        assert_eq!(seen, [(0x1d, 2), (0, 3)], "half a line is no control");
        assert!(read(format!("ACSCap:\t{SET}\n").as_bytes()).items.is_empty(), "what a port can is not what it does");
    }

    /// With the lines of devices between them, the controls are of ports.
    #[test]
    fn controls_below_devices_are_of_ports() {
        let port = "PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch (rev b0)";
        let text =
            format!("17:00.0 {port}\n18:00.0 {port}\n\t\tACSCtl:\t{SET}\n19:00.0 {port}\n\t\tACSCtl:\t{CLEAR}\n");
        assert_eq!(sniff("", text.as_bytes()), Kind::Lspci);
        let devices = super::super::parse(text.as_bytes()).unwrap_or_default();
        let control = |i: usize| devices.get(i).and_then(|d| d.caps.acs.get()?.control.map(|c| c.0));
        assert_eq!([control(0), control(1), control(2)], [None, Some(0x1d), Some(0)]);
        // The beginning of the text was cut away: the first control is of no port.
        let cut = format!("\t\tACSCtl:\t{SET}\n{text}");
        assert_eq!(sniff("", cut.as_bytes()), Kind::Lspci);
        assert_eq!(super::super::parse(cut.as_bytes()).map(|d| d.len()), Ok(3));
    }
}
