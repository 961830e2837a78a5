//! Keyfiles of NetworkManager, one or several in a text: which interface a connection is for, its MTU, its place among bonds and VLANs.
//!
//! Sections and keys are those of nm-settings-keyfile(5) (<https://networkmanager.dev/docs/api/latest/nm-settings-keyfile.html>). `id` is the name of the
//! connection, not of the interface.

use super::{HIDDEN, Interface, Kind, Mode, Name, Writer, is_name, is_number, is_pattern, is_prompt, is_uuid, named};
use crate::bounds::{Kept, Limit, TEXT_ITEMS, leave_out};
use crate::text::{At, decode, lines};
use crate::tool::{Args, Command, Gives, Mark, Tool, seen};

/// A keyfile of NetworkManager.
pub const TOOL: Tool = Tool {
    name: "network-manager",
    called: "connection (NetworkManager)",
    run: "cat /etc/NetworkManager/system-connections/*.nmconnection",
    gives: Gives::Facts,
    marks: &[Mark::line_where(|l| l == "[connection]", has_type).begins(&["[connection]"])],
    commands: &[
        Command { program: "cat", args: Args::Within("/system-connections/") },
        Command { program: "cat", args: Args::End(".nmconnection") },
    ],
    read: Some(|b| seen((read(b), kept(b, &|_| true)))),
    samples: &["[connection]\nid=enp24s0np0\ntype=ethernet\n\n[ethernet]\nmtu=9000\n"],
    ..Tool::NONE
};

/// NetworkManager.conf has a section of this name, too, and it names no type.
fn has_type(text: &str) -> bool {
    let has = |wanted: fn(&str) -> bool| text.lines().map(str::trim).any(wanted);
    has(|l| l.strip_prefix("type").is_some_and(|r| r.trim_start().starts_with('='))) && !has(|l| l == "[main]")
}

/// Sections that are read.
const SECTIONS: [&str; 6] = ["connection", "ethernet", "802-3-ethernet", "infiniband", "vlan", "match"];

/// The words of `type` that are read.
const TYPES: [(&str, Kind); 6] = [
    ("ethernet", Kind::Ethernet),
    ("802-3-ethernet", Kind::Ethernet),
    ("infiniband", Kind::Infiniband),
    ("bond", Kind::Bond),
    ("vlan", Kind::Vlan),
    ("bridge", Kind::Bridge),
];

/// Whether a value has the form of its key; `None`: the key is not read.
fn fits(section: &str, key: &str, value: &str, is_plain: &dyn Fn(&str) -> bool) -> Option<bool> {
    let name = || is_name(value) && is_plain(value);
    Some(match (section, key) {
        ("connection", "type") => TYPES.iter().any(|(t, _)| *t == value),
        ("connection", "uuid") => is_uuid(value),
        ("connection" | "vlan", "interface-name") => name(),
        ("connection", "master" | "controller") | ("vlan", "parent") => is_uuid(value) || name(),
        ("match", "interface-name") => {
            let value = value.strip_suffix(';').unwrap_or(value);
            is_pattern(value) && is_plain(value)
        }
        ("ethernet" | "802-3-ethernet" | "infiniband", "mtu") | ("vlan", "id") => is_number(value),
        ("infiniband", "transport-mode") => Mode::of(value).is_some(),
        _ => return None,
    })
}

/// A line that is read.
enum Line<'a> {
    /// Of a section that is read, or of another.
    Section(Option<&'a str>),
    /// A key of a section that is read; `None`: its value has not the form of the key's.
    Value(&'a str, &'a str, Option<&'a str>),
}

/// The lines of a text that are read.
fn each<'a>(text: &'a str, is_plain: &dyn Fn(&str) -> bool, mut take: impl FnMut(u32, Line<'a>)) {
    let mut section = None;
    for (line, raw) in lines(text) {
        let body = raw.trim();
        if body.starts_with(['#', ';']) || is_prompt(raw) {
            continue;
        }
        if let Some(name) = body.strip_prefix('[').and_then(|b| b.strip_suffix(']')) {
            section = SECTIONS.into_iter().find(|s| *s == name);
            take(line, Line::Section(section));
            continue;
        }
        let Some((section, (key, value))) = section.zip(body.split_once('=')) else { continue };
        let (key, value) = (key.trim_end(), value.trim_start());
        if let Some(fits) = fits(section, key, value, is_plain) {
            take(line, Line::Value(section, key, fits.then_some(value)));
        }
    }
}

/// What is read of a text, each line where it was, and nothing else. `is_plain`: whether a name may be shown.
#[must_use]
pub fn kept(bytes: &[u8], is_plain: &dyn Fn(&str) -> bool) -> Vec<u8> {
    let text = decode(bytes);
    let (mut out, mut at) = (String::new(), 1);
    each(&text, is_plain, |line, what| {
        let more = usize::try_from(line.saturating_sub(at)).unwrap_or(0);
        out.extend(std::iter::repeat_n('\n', more));
        at = line;
        match what {
            Line::Section(Some(name)) => out.push_str(&format!("[{name}]")),
            // What follows belongs to no section that is read.
            Line::Section(None) => out.push_str(HIDDEN),
            Line::Value(_, key, value) => out.push_str(&format!("{key}={}", value.unwrap_or(HIDDEN))),
        }
    });
    let ends = text.bytes().filter(|b| *b == b'\n').count();
    let have = out.bytes().filter(|b| *b == b'\n').count();
    out.extend(std::iter::repeat_n('\n', ends.saturating_sub(have)));
    out.into_bytes()
}

/// Reads the connections of a text. Other types (Wi-Fi, VPN) are left out.
#[must_use]
pub fn read(bytes: &[u8]) -> Kept<Interface> {
    let (text, mut kept) = (decode(bytes), Kept::default());
    let mut open = Open::default();
    each(&text, &|_| true, |line, what| match what {
        Line::Section(Some(name)) => {
            // A file has each section once.
            if open.seen.contains(&name) {
                std::mem::take(&mut open).end(&mut kept);
            }
            open.seen.push(name);
            open.line = if open.line == 0 { line } else { open.line };
        }
        Line::Section(None) => {}
        Line::Value(section, key, value) => open.take(section, key, value, line),
    });
    open.end(&mut kept);
    kept
}

/// A connection that is being read.
#[derive(Default)]
struct Open<'a> {
    line: u32,
    seen: Vec<&'a str>,
    kind: Option<Kind>,
    uuid: Option<String>,
    /// Of the connection, of its `[vlan]`, of its `[match]`.
    names: [Option<Name>; 3],
    mtu: Option<At<Option<u32>>>,
    mode: Option<At<Option<Mode>>>,
    vlan: Option<At<Option<u16>>>,
    parent: Option<At<String>>,
    master: Option<At<String>>,
}

impl Open<'_> {
    fn take(&mut self, section: &str, key: &str, value: Option<&str>, line: u32) {
        let text = || value.map(|v| At::new(v.to_owned(), line));
        let name = || Some(value.map_or(Name::Unknown, |v| named(v.strip_suffix(';').unwrap_or(v))));
        match (section, key) {
            ("connection", "type") => {
                self.kind = TYPES.iter().find(|(t, _)| Some(*t) == value).map(|(_, kind)| *kind);
            }
            ("connection", "uuid") => self.uuid = value.map(str::to_owned),
            ("connection", "interface-name") => self.names[0] = name(),
            ("vlan", "interface-name") => self.names[1] = name(),
            ("match", _) => self.names[2] = name(),
            ("connection", _) => self.master = text(),
            ("vlan", "parent") => self.parent = text(),
            ("vlan", _) => self.vlan = Some(At::new(value.and_then(|v| v.parse().ok()), line)),
            ("infiniband", "transport-mode") => self.mode = Some(At::new(value.and_then(Mode::of), line)),
            // 0 leaves the MTU as it is.
            _ => {
                let mtu = At::new(value.and_then(|v| v.parse().ok()), line);
                self.mtu = (mtu.value != Some(0)).then_some(mtu);
            }
        }
    }

    fn end(self, kept: &mut Kept<Interface>) {
        let Some(kind) = self.kind else { return };
        if kept.items.len() >= TEXT_ITEMS {
            return leave_out(&mut kept.left_out, Limit::TEXT_ITEMS, self.line);
        }
        let Open { line, uuid, names, mtu, mode, vlan, parent, master, .. } = self;
        let name = names.into_iter().flatten().next().unwrap_or(Name::Unknown);
        let new = Interface::new(line, Writer::NetworkManager, kind);
        kept.items.push(Interface { id: uuid, name, mtu, mode, vlan, parent, master, ..new });
    }
}
