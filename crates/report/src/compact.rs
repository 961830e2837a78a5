//! Many names in few characters: `0000:{19,3b,4c,5d}:00.0`, `mlx5_{0,1,3}/1`.

use linerate_formats::pci::Bdf;
use linerate_rules::Subject;
use std::collections::BTreeMap;

/// Subjects, each once, at most `max` members written per pair of braces.
pub(crate) fn subjects<'a>(list: impl Iterator<Item = &'a Subject>, max: usize) -> String {
    let (mut bdfs, mut names): (Vec<Bdf>, Vec<String>) = (Vec::new(), Vec::new());
    for s in list {
        match s {
            Subject::Pci(b) => bdfs.push(*b),
            other => names.push(other.to_string()),
        }
    }
    let mut out = Vec::new();
    if !bdfs.is_empty() {
        out.push(self::bdfs(bdfs, max));
    }
    if !names.is_empty() {
        out.push(self::names(names, max));
    }
    out.join(", ")
}

/// Subjects as texts, as a plan keeps them.
pub(crate) fn texts<'a>(list: impl Iterator<Item = &'a str>, max: usize) -> String {
    let one = |s: &str| s.parse().map_or_else(|_| Subject::Named(s.to_owned()), Subject::Pci);
    let all: Vec<Subject> = list.map(one).collect();
    subjects(all.iter(), max)
}

/// What members of a group have in common, how the group is written, and what differs.
type Split = (fn(&Bdf) -> (u32, u8, u8), fn(&Bdf, String) -> String, fn(&Bdf) -> String);

/// PCI addresses.
pub(crate) fn bdfs(mut list: Vec<Bdf>, max: usize) -> String {
    list.sort_unstable();
    list.dedup();
    let mut parts: Vec<(Bdf, String)> = Vec::new();
    // Over buses first, and devices that are on the same buses together.
    let mut over_buses: BTreeMap<(u32, u8, u8), Vec<u8>> = BTreeMap::new();
    for b in &list {
        over_buses.entry((b.domain, b.device, b.function)).or_default().push(b.bus);
    }
    list.retain(|b| over_buses.get(&(b.domain, b.device, b.function)).is_some_and(|buses| buses.len() == 1));
    let mut by_buses: BTreeMap<(u32, u8, Vec<u8>), Vec<u8>> = BTreeMap::new();
    for ((domain, device, function), buses) in over_buses {
        if buses.len() > 1 {
            by_buses.entry((domain, function, buses)).or_default().push(device);
        }
    }
    // What is left: over devices of a bus, then over functions of a device.
    let ways: [Split; 2] = [
        (
            |b| (b.domain, b.bus, b.function),
            |b, set| format!("{:04x}:{:02x}:{set}.{:x}", b.domain, b.bus, b.function),
            |b| format!("{:02x}", b.device),
        ),
        (
            |b| (b.domain, b.bus, b.device),
            |b, set| format!("{:04x}:{:02x}:{:02x}.{set}", b.domain, b.bus, b.device),
            |b| format!("{:x}", b.function),
        ),
    ];
    for (same, print, differs) in ways {
        let mut groups: BTreeMap<(u32, u8, u8), Vec<Bdf>> = BTreeMap::new();
        for b in list.drain(..) {
            groups.entry(same(&b)).or_default().push(b);
        }
        for group in groups.into_values() {
            match group.as_slice() {
                [first, _, ..] => parts.push((*first, print(first, braces(group.iter().map(differs).collect(), max)))),
                alone => list.extend(alone),
            }
        }
    }
    for ((domain, function, buses), devices) in by_buses {
        let first = devices.first().copied().unwrap_or_default();
        let devices: Vec<String> = devices.iter().map(|b| format!("{b:02x}")).collect();
        let devices = if devices.len() == 1 { devices.concat() } else { braces(devices, max) };
        let at = Bdf { domain, bus: buses.first().copied().unwrap_or_default(), device: first, function };
        let buses = braces(buses.iter().map(|b| format!("{b:02x}")).collect(), max);
        parts.push((at, format!("{domain:04x}:{buses}:{devices}.{function:x}")));
    }
    parts.extend(list.iter().map(|b| (*b, b.to_string())));
    parts.sort();
    limited(parts.into_iter().map(|(_, s)| s).collect(), max)
}

/// Names that differ in one number: `eth{0,1}`, `mlx5_{0,1}/1`.
pub(crate) fn names(mut list: Vec<String>, max: usize) -> String {
    list.sort_unstable();
    list.dedup();
    let mut by_shape: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    let mut parts = Vec::new();
    for name in list {
        match split_number(&name) {
            Some((head, number, tail)) => by_shape.entry((head.to_owned(), tail.to_owned())).or_default().push(number),
            None => parts.push(name),
        }
    }
    for ((head, tail), mut numbers) in by_shape {
        numbers.sort_unstable();
        let words = ranges(&numbers);
        parts.push(if numbers.len() == 1 {
            format!("{head}{}{tail}", words.concat())
        } else {
            format!("{head}{}{tail}", braces(words, max))
        });
    }
    parts.sort();
    limited(parts, max)
}

/// Head, the number that tells devices apart, tail. `mlx5_0/1`, `mlx5_0:1/IB`: 0, because the part before the slash or colon names
/// the device.
fn split_number(name: &str) -> Option<(&str, u64, &str)> {
    let device = name.split(['/', ' ', ':']).next().unwrap_or(name);
    let digits = device.len() - device.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (head, number) = device.split_at(device.len() - digits);
    // A leading zero would be lost.
    if digits == 0 || (digits > 1 && number.starts_with('0')) {
        return None;
    }
    Some((head, number.parse().ok()?, &name[device.len()..]))
}

/// Sorted numbers, runs of three and more as `first..last`.
fn ranges(numbers: &[u64]) -> Vec<String> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for n in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*n) => *last = *n,
            _ => runs.push((*n, *n)),
        }
    }
    let words = runs.into_iter().flat_map(|(first, last)| match last - first {
        0 => vec![first.to_string()],
        1 => vec![first.to_string(), last.to_string()],
        _ => vec![format!("{first}..{last}")],
    });
    words.collect()
}

/// `{a,b,c}`, cut after `max` members.
pub(crate) fn braces(words: Vec<String>, max: usize) -> String {
    let more = words.len().saturating_sub(max);
    let shown = words.iter().take(max).map(String::as_str).collect::<Vec<_>>().join(",");
    if more > 0 { format!("{{{shown},…{more} more}}") } else { format!("{{{shown}}}") }
}

fn limited(parts: Vec<String>, max: usize) -> String {
    let more = parts.len().saturating_sub(max);
    let shown = parts.iter().take(max).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pci(list: &[&str]) -> String {
        bdfs(list.iter().map(|b| b.parse().unwrap()).collect(), 8)
    }

    #[test]
    fn addresses() {
        assert_eq!(pci(&["19:00.0", "3b:00.0", "4c:00.0", "5d:00.0"]), "0000:{19,3b,4c,5d}:00.0");
        assert_eq!(pci(&["5d:00.1", "5d:00.0"]), "0000:5d:00.{0,1}");
        assert_eq!(pci(&["5d:00.1", "5d:00.1"]), "0000:5d:00.1");
        assert_eq!(
            pci(&["17:00.0", "17:01.0", "39:00.0", "39:01.0", "39:02.0"]),
            "0000:{17,39}:{00,01}.0, 0000:39:02.0"
        );
        assert_eq!(pci(&["0001:5d:00.0", "5e:00.0", "5d:00.0"]), "0000:{5d,5e}:00.0, 0001:5d:00.0");
        assert_eq!(pci(&["01:00.0", "02:00.0", "03:01.0", "03:02.0"]), "0000:{01,02}:00.0, 0000:03:{01,02}.0");
        let many: Vec<Bdf> = (0..20).map(|bus| Bdf { domain: 0, bus, device: 0, function: 0 }).collect();
        assert_eq!(bdfs(many, 2), "0000:{00,01,…18 more}:00.0");
    }

    #[test]
    fn other_names() {
        let list = [
            Subject::RdmaPort("mlx5_10".into(), 1),
            Subject::RdmaPort("mlx5_0".into(), 1),
            Subject::Net("eth0".into()),
            Subject::Node,
            Subject::Pci("19:00.0".parse().unwrap()),
            Subject::Net("ens05".into()),
        ];
        assert_eq!(subjects(list.iter(), 9), "0000:19:00.0, ens05, eth0, mlx5_{0,10}/1, node");
        assert_eq!(subjects([].iter(), 9), "");
        let ports: Vec<String> = [0, 1, 2, 3, 5, 7, 8, 10].iter().map(|n| format!("mlx5_{n}/1")).collect();
        assert_eq!(names(ports, 9), "mlx5_{0..3,5,7,8,10}/1");
        assert_eq!(ranges(&[u64::MAX - 1, u64::MAX]).len(), 2);
    }
}
