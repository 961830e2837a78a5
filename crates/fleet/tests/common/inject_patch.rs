//! What a change does to the files and the programs' outputs of a composed node, where the description has no word for it.

use super::super::lost;
use linerate_compose::{Entry, Tree};

/// Capabilities by the names that the table has for them: id, and whether it is an extended one.
const CAPABILITIES: [(&str, u16, bool); 6] = [
    ("express", 0x10, false),
    ("aer", 0x01, true),
    ("ari", 0x0e, true),
    ("sriov", 0x10, true),
    ("rebar", 0x15, true),
    ("acs", 0x0d, true),
];

/// Does what a line of the table says; [`super::Case`] has the forms.
pub(super) fn apply(tree: &mut Tree, text: &str) {
    let (what, rest) = text.split_once(' ').unwrap();
    let (first, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    match what {
        "lose" => {
            let address = address(tree, first);
            lost::lose(tree, &address);
        }
        "set" => {
            assert!(tree.get(first).is_some_and(|old| old.trim_ascii() != rest.as_bytes()), "{first}");
            tree.file(first, format!("{rest}\n"));
        }
        "swap" => swap(tree, first, rest),
        "drop" => {
            let below = format!("{first}/");
            let before = tree.entries.len();
            tree.entries.retain(|path, _| path != first && !path.starts_with(&below));
            assert_ne!(tree.entries.len(), before, "{first}");
        }
        "tell" => {
            let (argv, words) = text["tell ".len()..].split_once(": ").unwrap();
            let path = output(tree, argv);
            swap(tree, &path, words);
        }
        "gpu" => block(tree, first.parse().unwrap(), rest),
        "at" => {
            let (path, value) = rest.split_once(' ').unwrap();
            let path = format!("{}/{path}", directory(tree, first));
            apply(tree, &format!("set {path} {value}"));
        }
        "bond" => bond(tree, first, rest),
        "rename" => rename(tree, first, rest),
        "group" => {
            let link = format!("{}/iommu_group", directory(tree, first));
            let Some(Entry::Link(to)) = tree.entries.get(&link) else { panic!("{link}") };
            let number = to.rsplit('/').next().unwrap();
            apply(tree, &format!("set sys/kernel/iommu_groups/{number}/type {rest}"));
        }
        "unassign" => unassign(tree, first, rest.parse().unwrap()),
        "bits" => {
            let mut words = rest.split(' ');
            let (capability, mut number) = (words.next().unwrap(), words.map(|w| u32::from_str_radix(w, 16).unwrap()));
            let (offset, mask) = (number.next().unwrap(), number.next().unwrap());
            register(tree, first, capability, |at| (at + offset as usize, mask));
        }
        // A capability that the device's firmware does not offer: readers skip an id of the vendor's own.
        "hide" => register(tree, first, rest, |at| (at, u32::from(capability(rest).0 ^ 0x0b))),
        _ => panic!("{text}"),
    }
}

fn swap(tree: &mut Tree, path: &str, words: &str) {
    let (from, to) = words.split_once(" => ").unwrap();
    let old = String::from_utf8(tree.get(path).unwrap_or_else(|| panic!("{path}")).to_vec()).unwrap();
    let new = old.replace(from, to);
    assert_ne!(old, new, "{path}: {words}");
    tree.file(path, new);
}

/// Where the output of a command is that begins with these words.
fn output(tree: &Tree, argv: &str) -> String {
    let wanted: Vec<&str> = argv.split(' ').collect();
    let is = |path: &str, text: &[u8]| {
        path.starts_with("cmd/")
            && path.ends_with("/argv")
            && serde_json::from_slice::<Vec<String>>(text)
                .unwrap()
                .starts_with(&wanted.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>())
    };
    let (path, _) = tree.files().find(|(p, t)| is(p, t)).unwrap_or_else(|| panic!("{argv}"));
    path.replace("/argv", "/stdout")
}

/// Replaces words in what the driver reports of the GPU of a number; `gone`: it does not report it.
fn block(tree: &mut Tree, number: usize, words: &str) {
    let path = output(tree, "nvidia-smi -q -x");
    let text = String::from_utf8(tree.get(&path).unwrap().to_vec()).unwrap();
    let mut at = text.match_indices("\t<gpu id=");
    let start = at.nth(number).unwrap().0;
    let end = start + text[start..].find("\t</gpu>\n").unwrap() + "\t</gpu>\n".len();
    let (from, to) = words.split_once(" => ").unwrap_or((&text[start..end], ""));
    let new = text[start..end].replace(from, to);
    assert_ne!(new, text[start..end], "{words}");
    let head = if new.is_empty() { one_less(&text[..start]) } else { text[..start].to_owned() };
    tree.file(path, format!("{head}{new}{}", &text[end..]));
}

/// The head of a report, with one GPU less in its count.
fn one_less(head: &str) -> String {
    let (before, rest) = head.split_once("<attached_gpus>").unwrap();
    let (count, after) = rest.split_once('<').unwrap();
    format!("{before}<attached_gpus>{}<{after}", count.parse::<u32>().unwrap() - 1)
}

/// Another name for an interface: its directory, and what names it.
fn rename(tree: &mut Tree, from: &str, to: &str) {
    let new = |path: &str| path.split('/').map(|p| if p == from { to } else { p }).collect::<Vec<_>>().join("/");
    let old = std::mem::take(&mut tree.entries);
    tree.entries = old
        .into_iter()
        .map(|(path, entry)| {
            let entry = match entry {
                Entry::Link(target) => Entry::Link(new(&target)),
                Entry::File(text) if text == format!("{from}\n").into_bytes() => Entry::File(format!("{to}\n").into()),
                other => other,
            };
            (new(&path), entry)
        })
        .collect();
}

/// A bond of interfaces.
fn bond(tree: &mut Tree, name: &str, members: &str) {
    let home = format!("sys/devices/virtual/net/{name}");
    let files = [("bonding/mode", "802.3ad 4"), ("bonding/slaves", members), ("mtu", "1500"), ("operstate", "up")];
    files.iter().for_each(|(file, value)| tree.file(format!("{home}/{file}"), format!("{value}\n")));
    tree.link_to(format!("sys/class/net/{name}"), &home);
    for member in members.split(' ') {
        let end = format!("/net/{member}/mtu");
        let own = tree.entries.keys().find(|p| p.starts_with("sys/devices/pci") && p.ends_with(&end)).unwrap();
        let own = own.strip_suffix("/mtu").unwrap().to_owned();
        tree.link_to(format!("{own}/master"), &home);
    }
}

/// The kernel found no room for a BAR: it has its size and no address.
fn unassign(tree: &mut Tree, device: &str, line: usize) {
    let path = format!("{}/resource", directory(tree, device));
    let text = String::from_utf8(tree.get(&path).unwrap().to_vec()).unwrap();
    let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap();
    let one = |(at, l): (usize, &str)| {
        let words: Vec<u64> = l.split(' ').map(number).collect();
        match at == line {
            true => format!("{:#018x} {:#018x} {:#018x}\n", 0, words[1] - words[0], words[2] | 0x2000_0000),
            false => format!("{l}\n"),
        }
    };
    let new: String = text.lines().enumerate().map(one).collect();
    tree.file(path, new);
}

/// Turns bits of a register over.
fn register(tree: &mut Tree, device: &str, name: &str, which: impl Fn(usize) -> (usize, u32)) {
    let path = format!("{}/config", directory(tree, device));
    let mut space = tree.get(&path).unwrap().to_vec();
    let word = |at: usize| usize::from(u16::from_le_bytes([space[at], space[at + 1]]));
    let (id, is_extended) = capability(name);
    let mut at = if is_extended { 0x100 } else { usize::from(space[0x34]) };
    while at != 0 && (if is_extended { word(at) } else { usize::from(space[at]) }) != usize::from(id) {
        at = if is_extended { word(at + 2) >> 4 } else { usize::from(space[at + 1]) };
    }
    assert_ne!(at, 0, "{device} has no {name}");
    let (at, mask) = which(at);
    for (byte, bits) in space[at..at + 4].iter_mut().zip(mask.to_le_bytes()) {
        *byte ^= bits;
    }
    tree.file(path, space);
}

fn capability(name: &str) -> (u16, bool) {
    let found = CAPABILITIES.iter().find(|(n, ..)| *n == name);
    found.map(|(_, id, is_extended)| (*id, *is_extended)).unwrap()
}

/// The address of `gpu3` or `nic3`.
fn address(tree: &Tree, device: &str) -> String {
    let kinds = [("gpu", "0x10de", "0x2330"), ("nic", "0x15b3", "0x1021")];
    let (head, vendor, id) = kinds.into_iter().find(|(head, ..)| device.starts_with(head)).unwrap();
    let number: usize = device[head.len()..].parse().unwrap();
    lost::addresses(tree, vendor, id)[number].clone()
}

/// The directory of `gpu3`, or of the port above it, `gpu3.port`.
fn directory(tree: &Tree, device: &str) -> String {
    let (name, part) = device.split_once('.').unwrap_or((device, ""));
    let end = format!("/{}/config", address(tree, name));
    let path = tree.entries.keys().find(|p| p.starts_with("sys/devices/pci") && p.ends_with(&end)).unwrap();
    let own = path.strip_suffix("/config").unwrap();
    match part {
        "port" => own.rsplit_once('/').unwrap().0.to_owned(),
        _ => own.to_owned(),
    }
}
