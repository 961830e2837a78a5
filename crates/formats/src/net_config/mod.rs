//! Interfaces as a node's configuration writes them: files of netplan, keyfiles of NetworkManager. What is written is not what runs: it holds after the
//! next boot, or when it is applied.
//!
//! Both files may hold passwords. What is kept of them ([`netplan::kept`], [`keyfile::kept`]) is made of what the readers read, so that a reader reads
//! the same of both.

pub mod keyfile;
pub mod netplan;

#[cfg(test)]
mod tests;

use crate::text::At;
use serde::Serialize;

/// Who reads the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Writer {
    /// netplan, for systemd-networkd or NetworkManager.
    Netplan,
    /// NetworkManager.
    NetworkManager,
}

/// What an interface is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Kind {
    /// Ethernet. Netplan has IPoIB interfaces there, too.
    Ethernet,
    /// IP over InfiniBand.
    Infiniband,
    /// A bond.
    Bond,
    /// A VLAN.
    Vlan,
    /// A bridge.
    Bridge,
}

impl Kind {
    /// In one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Ethernet => "ethernet",
            Kind::Infiniband => "infiniband",
            Kind::Bond => "bond",
            Kind::Vlan => "vlan",
            Kind::Bridge => "bridge",
        }
    }
}

/// Mode of IP over InfiniBand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Mode {
    /// Unreliable datagrams.
    Datagram,
    /// Reliable connections.
    Connected,
}

impl Mode {
    /// As both files write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Datagram => "datagram",
            Mode::Connected => "connected",
        }
    }

    fn of(word: &str) -> Option<Mode> {
        [Mode::Datagram, Mode::Connected].into_iter().find(|m| m.name() == word)
    }
}

/// Which interface a definition is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Name {
    /// The one of this name.
    Own(String),
    /// Those whose names fit a pattern of glob(7).
    Pattern(String),
    /// Another property decides (a MAC, a driver), or it is not shown.
    Unknown,
}

/// An interface as it is written. `None` inside of a value: it is written, and not as a value that is known (a variable, or hidden).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Interface {
    /// 1-based line of its beginning.
    pub line: u32,
    /// Whose file it is.
    pub writer: Writer,
    /// What others refer to it by, beside its name: netplan's id, the UUID of a connection.
    pub id: Option<String>,
    /// Which interface it is for.
    pub name: Name,
    /// What it is.
    pub kind: Kind,
    /// MTU in bytes.
    pub mtu: Option<At<Option<u32>>>,
    /// Mode of IP over InfiniBand.
    pub mode: Option<At<Option<Mode>>>,
    /// Number of a VLAN.
    pub vlan: Option<At<Option<u16>>>,
    /// A VLAN's parent: id, UUID or name.
    pub parent: Option<At<String>>,
    /// Members of a bond or bridge, by id (netplan).
    pub members: Vec<At<String>>,
    /// The bond or bridge that it is a member of: UUID or name (NetworkManager).
    pub master: Option<At<String>>,
}

impl Interface {
    fn new(line: u32, writer: Writer, kind: Kind) -> Self {
        Interface {
            line,
            writer,
            id: None,
            name: Name::Unknown,
            kind,
            mtu: None,
            mode: None,
            vlan: None,
            parent: None,
            members: Vec::new(),
            master: None,
        }
    }
}

/// What is in the place of a value that is not kept.
const HIDDEN: &str = "[redacted]";

/// The name of an interface: the kernel takes 15 bytes.
fn is_name(word: &str) -> bool {
    (1..=15).contains(&word.len())
        && has_letter(word)
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-:@".contains(&b))
}

fn has_letter(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_alphanumeric())
}

/// A name with wildcards.
fn is_pattern(word: &str) -> bool {
    let plain: String = word.chars().filter(|c| !"*?[]!".contains(*c)).collect();
    word.len() <= 40 && (plain.is_empty() && !word.is_empty() || is_name(&plain))
}

/// Whether a pattern has a wildcard.
fn is_wild(word: &str) -> bool {
    word.contains(['*', '?', '['])
}

/// An id of netplan: a name, or a label.
fn is_id(word: &str) -> bool {
    (1..=40).contains(&word.len())
        && has_letter(word)
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

/// A UUID.
fn is_uuid(word: &str) -> bool {
    word.len() == 36
        && word.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Few digits.
fn is_number(word: &str) -> bool {
    (1..=9).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a line is a command line, above what it printed.
fn is_prompt(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("$ ") || crate::sniff::command(line).is_some()
}

/// Which interface a word of a name or pattern stands for.
fn named(word: &str) -> Name {
    if is_wild(word) { Name::Pattern(word.to_owned()) } else { Name::Own(word.to_owned()) }
}
