//! The IOMMU group that loops over `/sys/kernel/iommu_groups` print above or before the devices of `lspci`.
//!
//! Guides tell people to run such loops, each with a print of its own: `IOMMU Group 12:` above indented devices, `IOMMU Group 12
//! 18:00.0 3D controller …`, `Group:  12  0000:18:00.0 …`, `Group 12: [10de:2330] [R] 18:00.0  3D controller …` of `lsiommu`, or the links
//! themselves, as `find` or `ls` shows them: `/sys/kernel/iommu_groups/12/devices/0000:18:00.0`.

use super::super::Bdf;
use super::header::{address_of, bare_class, ids_first};
use super::lines::Line;

/// A group, and the line that names it.
pub(super) type Group = (u32, u32);

/// The group above the line that is read.
#[derive(Default)]
pub(super) struct Groups {
    above: Option<Group>,
}

impl Groups {
    /// The line without its group, and the group that a device in it has.
    pub(super) fn take<'a>(&mut self, line: &Line<'a>) -> (Line<'a>, Option<Group>) {
        let text = line.text;
        let same = |text| Line { number: line.number, text, unterminated: line.unterminated };
        if let Some((group, rest)) = named(text) {
            if rest.is_empty() {
                self.above = Some((group, line.number));
                return (same(text), None);
            }
            if begins_device(rest) {
                // Further devices of the group follow without it.
                self.above = ids_first(rest).map(|_| (group, line.number));
                return (same(rest), Some((group, line.number)));
            }
        }
        // The devices of a group follow it: no line of another kind stands between.
        if !begins_device(text) {
            self.above = None;
        }
        (same(text), self.above)
    }
}

/// The device of a link in a group's directory; what is printed before it (`ls -l`) and behind it does not matter.
pub(super) fn link(text: &str) -> Option<(Bdf, u32)> {
    let (_, rest) = text.split_once("/iommu_groups/")?;
    let (group, rest) = rest.split_once("/devices/")?;
    let address = rest.split(|c: char| c.is_whitespace() || c == '\'' || c == '"').next()?;
    Some((address_of(address).filter(|(_, has_domain)| *has_domain)?.0, group.parse().ok()?))
}

/// The line without a group before its device.
#[must_use]
pub fn without_group(line: &str) -> &str {
    named(line.trim_start()).map(|(_, rest)| rest).filter(|rest| begins_device(rest)).unwrap_or(line)
}

/// The device of a line that names a group before it, in any form that shows its class or its ids.
#[must_use]
pub fn in_group(line: &str) -> Option<Bdf> {
    let (_, rest) = named(line.trim_start())?;
    if let Some(ids) = ids_first(rest) {
        return Some(ids.bdf);
    }
    let (address, rest) = rest.split_once([' ', '\t'])?;
    let (bdf, _) = address_of(address)?;
    let has_class = rest.contains(": ") || rest.trim_start().starts_with('"') || bare_class(rest).is_some();
    has_class.then_some(bdf)
}

/// `IOMMU Group 12`, `Group: 12`, `iommu_group 12:`, and what follows.
fn named(text: &str) -> Option<(u32, &str)> {
    // Most lines are none: look at two bytes first.
    if !matches!(text.as_bytes(), [b'I' | b'i', b'O' | b'o', ..] | [b'G' | b'g', b'R' | b'r', ..]) {
        return None;
    }
    let after = |text: &'_ str, word: &str| -> Option<usize> {
        text.get(..word.len()).filter(|t| t.eq_ignore_ascii_case(word)).map(|_| word.len())
    };
    let rest = match after(text, "iommu") {
        Some(n) => text.get(n..)?.trim_start_matches([' ', '_', '-']),
        None => text,
    };
    let rest = rest.get(after(rest, "group")?..)?;
    let number = rest.trim_start_matches([' ', '\t', ':', '#']);
    if number.len() == rest.len() {
        return None;
    }
    let digits = number.len() - number.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (digits, rest) = number.split_at_checked(digits)?;
    // An address without a domain begins with digits, too.
    let rest = match rest.strip_prefix(':') {
        Some(r) if r.is_empty() || r.starts_with([' ', '\t']) => r,
        None if rest.is_empty() || rest.starts_with([' ', '\t']) => rest,
        _ => return None,
    };
    Some((digits.parse().ok()?, rest.trim()))
}

/// An address, or ids and an address.
fn begins_device(text: &str) -> bool {
    ids_first(text).is_some() || begins_with_address(text)
}

fn begins_with_address(text: &str) -> bool {
    let first = text.split([' ', '\t']).next().unwrap_or_default();
    text.as_bytes().first().is_some_and(u8::is_ascii_hexdigit) && address_of(first).is_some()
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    /// Address, group and the line that names it, of each device.
    fn groups(text: &str) -> Vec<(String, Option<u32>, u32)> {
        let devices = parse(text.as_bytes()).unwrap_or_default();
        devices.into_iter().map(|d| (d.bdf.to_string(), d.iommu_group, d.iommu_group_line)).collect()
    }

    fn want(all: &[(&str, Option<u32>, u32)]) -> Vec<(String, Option<u32>, u32)> {
        all.iter().map(|(b, g, l)| ((*b).to_owned(), *g, *l)).collect()
    }

    const GPU: &str = "18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330] (rev a1)";
    const NIC: &str = "19:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 [15b3:1021]";

    #[test]
    fn a_heading_is_of_the_devices_below_it() {
        let text = format!(
            "IOMMU Group 0:\n\t{GPU}\n\t{NIC}\niommu group 12\n\t1a:00.0 PCI bridge [0604]: X [1000:c030]\n\nand\n{NIC}\n"
        );
        let known = want(&[("0000:18:00.0", Some(0), 1), ("0000:19:00.0", Some(0), 1), ("0000:1a:00.0", Some(12), 4)]);
        assert_eq!(groups(&text), known);
        // What follows another line is of no group.
        let text = format!("IOMMU Group 0:\n{GPU}\n\n$ lspci\n{NIC}\n");
        assert_eq!(groups(&text), want(&[("0000:18:00.0", Some(0), 1), ("0000:19:00.0", None, 0)]));
    }

    #[test]
    fn a_group_stands_before_its_device() {
        for (before, group) in [
            ("IOMMU Group 12 ", 12),
            ("IOMMU Group 7: ", 7),
            ("Group:  3   0000:", 3),
            ("iommu_group 5 ", 5),
            ("Group 9:\t", 9),
        ] {
            let text = format!("{before}{GPU}\n{NIC}\n");
            let known = want(&[("0000:18:00.0", Some(group), 1), ("0000:19:00.0", None, 0)]);
            assert_eq!(groups(&text), known, "{before}");
        }
    }

    /// Loops that print no colon behind the class, and `lsiommu`, which prints the ids first.
    #[test]
    fn classes_without_a_colon() {
        let text = "IOMMU Group   0: 0000:00:02.0 VGA compatible controller [0300] Intel Corporation Raptor Lake: UHD [8086:a780] (rev 04)\n\
                    IOMMU Group  14: 0000:01:00.0 Ethernet controller [0200] Mellanox Technologies MT2910 [15b3:1021]\n";
        assert_eq!(groups(text), want(&[("0000:00:02.0", Some(0), 1), ("0000:01:00.0", Some(14), 2)]));
        let d = parse(text.as_bytes()).unwrap_or_default();
        let seen = |i: usize| {
            d.get(i).map(|d| (d.class.map(|c| c.sub()), d.class_name.as_str(), d.vendor, d.device, d.revision))
        };
        assert_eq!(seen(0), Some((Some(0x0300), "VGA compatible controller", Some(0x8086), Some(0xa780), Some(4))));
        assert_eq!(seen(1), Some((Some(0x0200), "Ethernet controller", Some(0x15b3), Some(0x1021), None)));
        assert_eq!(d.first().map(|d| d.name.as_str()), Some("Intel Corporation Raptor Lake: UHD"));
        assert_eq!(text.lines().filter_map(super::in_group).count(), 2);
        // An address alone shows no device.
        assert_eq!(super::in_group("IOMMU Group 5: 0000:00:02.0 is slow"), None);
    }

    #[test]
    fn ids_may_come_first() {
        let text = "Group 15:\t[10de:2330] [R] 18:00.0  3D controller                            GH100 [H100 SXM5 80GB]\n\
                    \t\t[15b3:1021]     19:00.0  Infiniband controller                    MT2910 Family [ConnectX-7]\n\
                    Group 16:\t[1022:1480]     00:00.0  Host bridge                              Starship Root Complex\n\
                    [1022:1483] 00:01.1  PCI bridge                               Starship\n\n\
                    [1022:1483] 00:02.1  PCI bridge                               Starship\n";
        let known = [
            ("0000:18:00.0", Some(15), 1),
            ("0000:19:00.0", Some(15), 1),
            ("0000:00:00.0", Some(16), 3),
            ("0000:00:01.1", Some(16), 3),
        ];
        assert_eq!(groups(text), want(&known), "what follows an empty line is of no group");
        let d = parse(text.as_bytes()).unwrap_or_default();
        let ids: Vec<_> = d.iter().map(|d| (d.class.map(|c| c.sub()), d.vendor, d.device)).collect();
        assert_eq!(
            ids.get(..2),
            Some(&[(Some(0x0302), Some(0x10de), Some(0x2330)), (Some(0x0207), Some(0x15b3), Some(0x1021))][..])
        );
        assert_eq!(d.first().map(|d| d.name.as_str()), Some("GH100 [H100 SXM5 80GB]"));
    }

    #[test]
    fn links_are_devices_of_which_no_more_is_known() {
        let text = "/sys/kernel/iommu_groups/12/devices/0000:18:00.0\n\
                    lrwxrwxrwx 1 root root 0 Jan 1 10:00 /sys/kernel/iommu_groups/7/devices/10000:e1:00.0 -> ../../../../devices/pci\n\
                    /sys/kernel/iommu_groups/12/type\n";
        assert_eq!(groups(text), want(&[("0000:18:00.0", Some(12), 1), ("10000:e1:00.0", Some(7), 2)]));
    }

    #[test]
    fn what_is_no_group_changes_nothing() {
        for text in [
            "Group 12 of nodes",
            "IOMMU group",
            "Group: 99999999999 18:00.0 x: y",
            "group policy 5 18:00.0 x: y",
            "IOMMU Group 1é",
        ] {
            assert_eq!(groups(&format!("{text}\n{GPU}\n")), want(&[("0000:18:00.0", None, 0)]), "{text}");
        }
    }

    #[test]
    fn its_own_line_in_a_verbose_block_counts() {
        let text = format!("IOMMU Group 4 {GPU}\n\tFlags: bus master\n\tIOMMU group: 4\n");
        assert_eq!(groups(&text), want(&[("0000:18:00.0", Some(4), 3)]));
    }
}
