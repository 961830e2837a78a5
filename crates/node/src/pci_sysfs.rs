//! PCI functions from `/sys/bus/pci/devices`.

use crate::pci::{Bar, Bars, Kind, Link, Parent, PciFunction, reading};
use hashbrown::HashMap;
use linerate_formats::pci::class::Class;
use linerate_formats::pci::config::{ConfigSpace, Header, Layout};
use linerate_formats::pci::{Bdf, LinkSpeed, LinkWidth, vpd};
use linerate_snapshot::{EntryId, EntryKind, Lookup, Place, Reading, Snapshot, Why};
use std::borrow::Cow;

/// What `/sys/bus/pci/devices` lists.
pub(crate) struct Listed<'s> {
    pub(crate) functions: Vec<PciFunction<'s>>,
    /// A function and what is above it, where the tree has real device paths.
    pub(crate) above: Vec<(Bdf, Bdf)>,
}

/// All functions of the tree. `None`: no such directory here.
pub(crate) fn functions(s: &Snapshot) -> Option<Listed<'_>> {
    let Reading::Known(dir, _) = s.dir("sys/bus/pci/devices") else { return None };
    let all = s.children(dir);
    let (mut functions, mut above) = (Vec::with_capacity(all.len()), Vec::with_capacity(all.len()));
    let mut seen = HashMap::with_capacity(all.len());
    for (name, entry) in all {
        let Ok(bdf) = name.parse::<Bdf>() else { continue };
        // A link that leads nowhere is still a function that exists; what is behind it is not in this source.
        let behind = below(s, &mut seen, entry).or_else(|| s.follow(entry));
        if let (Some(home), EntryKind::Link) = (behind, s.kind(entry)) {
            seen.insert(s.data(entry), home);
        }
        let home = behind.unwrap_or(entry);
        let parent_name = s.parent(home).map(|p| s.name(p)).unwrap_or_default();
        above.extend(parent_name.parse().ok().map(|p| (bdf, p)));
        functions.push(function(s, bdf, home, parent_name));
    }
    Some(Listed { functions, above })
}

/// Where a link leads, if the directory above its target is the target of a link that was followed: a function is listed after the
/// bridge above it, and the way down to both is the same. So is that of all functions on a root bus.
fn below<'s>(s: &'s Snapshot, seen: &mut HashMap<&'s [u8], EntryId>, link: EntryId) -> Option<EntryId> {
    let target = matches!(s.kind(link), EntryKind::Link).then(|| s.data(link))?;
    let (above, name) = target.split_at_checked(memchr::memrchr(b'/', target)?)?;
    let dir = match seen.get(above) {
        Some(dir) => *dir,
        None => {
            let way = std::str::from_utf8(above).ok().filter(|w| !w.is_empty() && !w.starts_with('/'))?;
            let Lookup::Found(dir) = s.resolve_from(s.parent(link)?, way) else { return None };
            seen.insert(above, dir);
            dir
        }
    };
    let found = s.child(dir, std::str::from_utf8(name.get(1..)?).ok()?)?;
    matches!(s.kind(found), EntryKind::Dir).then_some(found)
}

fn function<'s>(s: &'s Snapshot, bdf: Bdf, home: EntryId, parent_name: &str) -> PciFunction<'s> {
    let config = s.read(home, "config");
    // Until a source shows the capabilities, they are as unreadable as the file that holds them.
    let (at, why) = match &config {
        Reading::Known(_, p) => (*p, Why::NotCollected),
        Reading::Absent(p) => (*p, Why::Failed("there is no configuration space file".into())),
        Reading::Unreadable(p, w) => (*p, w.clone()),
    };
    // The header of the configuration space says what the files of ids say; the files are for virtual functions, whose ids read as
    // ones there, and for what has no such space.
    let space = config.known().map(|bytes| ConfigSpace::new(bytes));
    let shown = space.as_ref().and_then(ConfigSpace::header);
    let header = shown.filter(|h| h.vendor != 0xffff);
    let caps = space.as_ref().map(ConfigSpace::capabilities);
    let id = |leaf, of: fn(&Header) -> u16, offset| match &header {
        Some(h) => Reading::Known(of(h), at.bytes(offset, 2)),
        None => id16(s, home, leaf),
    };
    let class = match &header {
        Some(h) => Reading::Known(h.class, at.bytes(9, 3)),
        None => s.text(home, "class").parse("not a class code", |t| parse_hex(t).map(Class)),
    };
    let port = caps.as_ref().and_then(|c| c.express.get()).and_then(|e| e.port_type);
    // Of the hundreds of functions inside a socket none has a link or a memory region that anybody asks for.
    let has_bars = class.known().is_none_or(|c| {
        c.is_display() || c.is_network() || c.sub() >> 8 == 0x12 || matches!(c.sub(), 0x0680 | 0x0108 | 0x0801)
    });
    macro_rules! capability {
        ($field:ident) => {
            match &caps {
                Some(caps) => reading(caps.$field, at.base, 0),
                None => Reading::Unreadable(at, why.clone()),
            }
        };
    }
    let buses = match shown.map(|h| h.layout) {
        Some(Layout::Bridge { secondary, subordinate, .. }) => Some((secondary, subordinate)),
        _ => None,
    };
    PciFunction {
        bdf,
        home,
        in_sysfs: true,
        kind: Kind::Unknown,
        parent: if is_root_name(parent_name) { Parent::RootComplex } else { Parent::Unknown },
        vendor: id("vendor", |h| h.vendor, 0),
        device: id("device", |h| h.device, 2),
        subsystem: subsystem(s, home, &config, header.as_ref()),
        class,
        name: String::new(),
        numa_node: s.text(home, "numa_node").parse("not a number", |t| t.parse().ok()),
        driver: s.link_name(home, "driver").map(Cow::Borrowed),
        iommu_group: s.link_name(home, "iommu_group").parse("not a group number", |t| t.parse().ok()),
        link: if port.is_some_and(|p| !p.has_link()) { no_link(at) } else { link(s, home) },
        buses,
        bars: if has_bars { bars(s, home) } else { Bars::default() },
        physfn: s.link_name(home, "physfn").known().and_then(|t| t.parse().ok()),
        express: capability!(express),
        acs: capability!(acs),
        ats: capability!(ats),
        aer: capability!(aer),
        sriov: capability!(sriov),
        ari: capability!(ari),
        rebar: capability!(rebar),
        serial: match space.as_ref().and_then(ConfigSpace::serial) {
            Some((serial, offset)) => Reading::Known(serial, at.bytes(offset, 8)),
            None => Reading::Unreadable(at, why.clone()),
        },
        vpd: s.read(home, "vpd").parse("not Vital Product Data", vpd::parse),
        config_len: config.known().and_then(|bytes| u32::try_from(bytes.len()).ok()),
        given: None,
        silent: space.filter(ConfigSpace::is_dead).map(|_| at.bytes(0, 64)),
    }
}

/// Subsystem ids: in the header of an endpoint, in a capability of a bridge; the files say the same.
fn subsystem(s: &Snapshot, home: EntryId, config: &Reading<&[u8]>, header: Option<&Header>) -> Reading<(u16, u16)> {
    let ids = match header.map(|h| h.layout) {
        Some(Layout::Endpoint { subsystem_vendor, subsystem_device, .. }) => Some((subsystem_vendor, subsystem_device)),
        Some(Layout::Bridge { .. }) => config.known().and_then(|bytes| ConfigSpace::new(bytes).bridge_subsystem()),
        _ => None,
    };
    if let Some(ids) = ids {
        return Reading::Known(ids, config.place());
    }
    match id16(s, home, "subsystem_vendor") {
        Reading::Known(vendor, at) => {
            id16(s, home, "subsystem_device").map(|d| (vendor, d)).or(|| Reading::Unreadable(at, Why::NotCollected))
        }
        other => other.map(|v| (v, 0)),
    }
}

/// A line of `resource` without a region.
const NO_REGION: &str = "0x0000000000000000 0x0000000000000000 0x0000000000000000";

/// `resource`: one line `start end flags` for each of six BARs, then ROM, bridge windows, VF BARs.
fn bars(s: &Snapshot, home: EntryId) -> Bars {
    let Reading::Known(text, place) = s.text(home, "resource") else { return Bars::default() };
    let bar = |(i, line): (usize, &str)| {
        // Most registers are not there.
        if line == NO_REGION {
            return None;
        }
        let mut rest = line.trim_ascii_start().as_bytes();
        let (start, end, flags) = (hex(&mut rest)?, hex(&mut rest)?, hex(&mut rest)?);
        // Memory BARs only; an unassigned one keeps its size with start 0.
        (flags & 0x200 != 0 && end > start).then(|| Bar {
            index: i as u8,
            size: (end - start).saturating_add(1),
            address: (start != 0).then_some(start),
            // IORESOURCE_PREFETCH and IORESOURCE_MEM_64 (linux/ioport.h).
            high: Some(flags & 0x0010_2000 == 0x0010_2000),
            place: place.line(i as u32 + 1),
        })
    };
    Bars { list: text.lines().take(6).enumerate().filter_map(bar).collect(), seen: true }
}

/// Takes a number with `0x` and the white space behind it off a line.
fn hex(rest: &mut &[u8]) -> Option<u64> {
    let digits = rest.strip_prefix(b"0x")?;
    let zeros = digits.iter().position(|b| *b != b'0').unwrap_or(digits.len());
    let (mut value, mut len) = (0u64, zeros);
    while let Some(digit) = digits.get(len) {
        let digit = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            b'A'..=b'F' => digit - b'A' + 10,
            _ => break,
        };
        value = value << 4 | u64::from(digit);
        len += 1;
    }
    if len - zeros > 16 {
        return None;
    }
    let after = digits.get(len..)?;
    let trimmed = after.trim_ascii_start();
    if len == 0 || trimmed.len() == after.len() && !after.is_empty() {
        return None;
    }
    *rest = trimmed;
    Some(value)
}

/// Integrated in the root complex: there is no link.
fn no_link(at: Place) -> Link {
    Link {
        speed: Reading::Absent(at),
        width: Reading::Absent(at),
        max_speed: Reading::Absent(at),
        max_width: Reading::Absent(at),
    }
}

/// Link attributes. The kernel writes "Unknown" for a speed that it cannot tell, and 0, 63 or 255 for a width that it does not know.
fn link(s: &Snapshot, home: EntryId) -> Link {
    let speed = |leaf| s.text(home, leaf).parse("no PCIe link speed", LinkSpeed::parse);
    let width = |leaf| {
        s.text(home, leaf).parse("no PCIe link width", |t| t.parse().ok().map(LinkWidth).filter(|w| w.plausible()))
    };
    Link {
        speed: speed("current_link_speed"),
        width: width("current_link_width"),
        max_speed: speed("max_link_speed"),
        max_width: width("max_link_width"),
    }
}

fn id16(s: &Snapshot, home: EntryId, leaf: &'static str) -> Reading<u16> {
    s.text(home, leaf).parse("not a hexadecimal id", |t| parse_hex(t).and_then(|v| u16::try_from(v).ok()))
}

fn parse_hex(t: &str) -> Option<u32> {
    u32::from_str_radix(t.strip_prefix("0x")?, 16).ok()
}

/// `pci0000:00`: the directory of a root bus.
fn is_root_name(name: &str) -> bool {
    name.strip_prefix("pci").and_then(|n| n.rsplit_once(':')).is_some_and(|(d, b)| {
        d.len() >= 4 && b.len() == 2 && (d.bytes().chain(b.bytes())).all(|c| c.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_line() {
        let all = |line: &str| {
            let mut rest = line.as_bytes();
            let numbers = [hex(&mut rest), hex(&mut rest)];
            (numbers, rest.len())
        };
        assert_eq!(all("0x0000000000000000 0xffFFffffffffffff"), ([Some(0), Some(u64::MAX)], 0));
        assert_eq!(all("0x00000000000000000012\t 0x1 "), ([Some(0x12), Some(1)], 0));
        for bad in ["", "12", "0x", "0x 1", "0x1g", "0x10000000000000000"] {
            assert_eq!(all(bad).0[0], None, "{bad}");
        }
    }
}
