//! What people are told about settings of the firmware that nothing here can set.

use crate::bios::names;
use crate::see;
use linerate_snapshot::Snapshot;

/// Where to look for a setting on this machine. Hints: the names that sources show, for its vendor where it is known.
pub(super) fn menus(s: &Snapshot, setting: &str, value: &str) -> Vec<String> {
    let maker = see::text(s, "sys/class/dmi/id/sys_vendor").unwrap_or_default().trim().to_lowercase();
    let is_this = |vendor: &str| {
        let vendor = vendor.to_lowercase();
        let word = vendor.split([' ', ',']).next().unwrap_or_default().to_owned();
        maker.is_empty()
            || maker.contains(&word)
            || word == "hpe" && maker.contains("hewlett")
            || word == "dgx" && maker.contains("nvidia")
    };
    let mut out =
        vec![format!("in the firmware setup: {setting} = {value}; it takes effect after a reboot through POST")];
    for found in names::of(setting) {
        if !found.note.is_empty() {
            out.push(format!("hint (the name in field note N2; your setup may use another): {}", found.note));
        }
        for (vendor, menu) in found.menus.iter().filter(|(v, _)| is_this(v)) {
            out.push(format!("hint (published setup of {vendor}; other releases differ): {menu}"));
        }
        let known = found.attributes.iter().filter(|(_, vendor)| is_this(vendor));
        let known: Vec<String> = known.map(|(name, vendor)| format!("{name} ({vendor})")).collect();
        if !known.is_empty() {
            out.push(format!("names of its attribute seen over Redfish: {}", known.join(", ")));
        }
    }
    out.push("if --redfish gives the node's BMC, the plan finds the attribute and sets it".to_owned());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_say_that_they_are_hints() {
        let mut s = Snapshot::new("test");
        let all = menus(&s, "Above 4G Decoding, MMIO high base and size", "enabled");
        assert!(all.iter().any(|l| l.contains("field note N2")), "{all:?}");
        assert!(all.iter().any(|l| l.contains("MmioAbove4Gb (Dell), Above4GDecoding (Supermicro)")), "{all:?}");
        s.add_file("sys/class/dmi/id/sys_vendor", b"Dell Inc.\n");
        let dell = menus(&s, "Above 4G Decoding, MMIO high base and size", "enabled").join("\n");
        assert!(dell.contains("MmioAbove4Gb") && !dell.contains("Supermicro"), "the machine's vendor decides: {dell}");
        let mut s = Snapshot::new("test");
        s.add_file("sys/class/dmi/id/sys_vendor", b"HPE\n");
        assert!(menus(&s, "node interleaving", "off").iter().any(|l| l.contains("NodeInterleaving (HPE)")));
        assert_eq!(menus(&s, "something new", "on").len(), 2);
    }
}
