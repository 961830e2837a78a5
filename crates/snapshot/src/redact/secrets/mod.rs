//! Secrets are never kept, whatever the user asked for.
//!
//! Texts that may hold them by their nature (arguments of the kernel, variables, options of modules, units, files of networks) pass by
//! allow-list: keys that readers need, with values of the shape that is expected; of everything else the value becomes [`MARK`]. Below
//! that, every text passes the net ([`net`]). Both are applied where a text enters a snapshot, and again to everything that is read from
//! an archive or a directory: whatever made it, and whatever its manifest claims.

mod cleaner;
mod heads;
mod lines;
mod names;
mod net;
mod shape;
mod token;
mod words;

use crate::{EntryKind, OutputKind, Snapshot};
pub(crate) use cleaner::Cleaner;
use linerate_formats::node_list;
pub(crate) use net::remove;
use std::borrow::Cow;

/// What is in the place of a secret: one word for every reader, and inert in XML, JSON and shells.
pub const MARK: &str = "[redacted]";

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// No text.
    Binary,
    /// Nothing of it is kept.
    Nothing,
    Text,
    Cmdline,
    Grub,
    GrubOfOurs,
    BootEntry,
    MachineConfig,
    PodSpec,
    Compose,
    Modprobe,
    Variables,
    Sections,
    Unit,
    Netplan,
    Keyfile,
    Sbatch,
    Sinfo,
    KubectlNodes,
    Yaml,
    Small,
    MachineId,
    BootId,
    KernelLog,
    Domain,
    /// Documents: long texts go.
    Json,
}

/// Keys of sections that linerate writes, or reads of files of networks.
const SECTIONS: &[&str] = &[
    "Description",
    "Wants",
    "After",
    "Before",
    "Requires",
    "BindsTo",
    "Type",
    "RemainAfterExit",
    "ExecStart",
    "ExecStop",
    "WantedBy",
    "LimitMEMLOCK",
    "DefaultLimitMEMLOCK",
    "Name",
    "MTUBytes",
    "DHCP",
    "Address",
    "Driver",
    "MACAddress",
    "PermanentMACAddress",
    "Path",
    "Kind",
    "Architecture",
    "Host",
    "OriginalName",
    "KernelVersion",
    "Virtualization",
    "Property",
    "Firmware",
    "uuid",
    "type",
    "interface-name",
    "autoconnect",
    "mtu",
    "method",
    "addresses",
    "address",
    "managed",
    "connection-uuid",
    "match-device",
    "unmanaged-devices",
    "ethernet.mtu",
    "infiniband.mtu",
    "802-3-ethernet.mtu",
    "WLANInterfaceType",
    "ActivationPolicy",
    "RequiredForOnline",
    "Unmanaged",
];
/// Keys of units that readers need: what a unit runs, and its environment, may hold anything.
const UNIT: &[&str] = &["Description", "Type", "LimitMEMLOCK", "LimitNOFILE"];
/// Keys of netplan that linerate writes.
const NETPLAN: &[&str] = &[
    "network",
    "version",
    "renderer",
    "ethernets",
    "optional",
    "mtu",
    "addresses",
    "dhcp4",
    "dhcp6",
    "match",
    "name",
    "driver",
    "macaddress",
    "set-name",
    "link-local",
    "accept-ra",
];

/// How the file at a path is read. By the path alone: what is said about it elsewhere is not believed.
fn kind_of(path: &str) -> Kind {
    let name = path.rsplit('/').next().unwrap_or(path);
    let top = path.split('/').next().unwrap_or_default();
    match top {
        "sys" => kind_of_attribute(name),
        "proc" if path == "proc/cmdline" => Kind::Cmdline,
        "proc" if name == "boot_id" => Kind::BootId,
        "proc" if matches!(name, "environ" | "cmdline") => Kind::Nothing,
        "proc" => Kind::Text,
        "linerate" if path == "linerate/env" => Kind::Variables,
        _ if path.contains("/modprobe.d/") || path.contains("/modules-load.d/") => Kind::Modprobe,
        _ if path.contains("loader/entries/") || name == "loader.conf" => Kind::BootEntry,
        _ if path.contains("/NetworkManager/") || path.contains("/systemd/network/") => Kind::Sections,
        _ if path.contains("/systemd/") && (name.ends_with(".conf") || name.ends_with(".service")) => Kind::Sections,
        "etc" if path == "etc/kernel/cmdline" => Kind::Cmdline,
        _ if name == "machine-id" => Kind::MachineId,
        "etc" if path == "etc/nccl.conf" => Kind::Variables,
        "etc" if path == "etc/default/grub.d/90-linerate.cfg" => Kind::GrubOfOurs,
        "etc" if path.starts_with("etc/default/grub") => Kind::Grub,
        "etc" if path.starts_with("etc/netplan/") => Kind::Yaml,
        "etc" if path.starts_with("etc/libvirt/qemu/") => Kind::Domain,
        "etc"
            if ["etc/security/", "etc/sysctl.d/", "etc/tmpfiles.d/", "etc/udev/", "etc/modules-load.d/"]
                .iter()
                .any(|d| path.starts_with(d)) =>
        {
            Kind::Small
        }
        _ => Kind::Text,
    }
}

/// Of a file below `sys`.
fn kind_of_attribute(name: &str) -> Kind {
    match name {
        "config" | "vpd" => Kind::Binary,
        // Who the node is, as the machine's id: the net would take a digest for a secret, and all nodes would have one id.
        "product_uuid" => Kind::MachineId,
        _ => Kind::Text,
    }
}

fn kind_of_output(kind: OutputKind) -> Kind {
    match kind {
        OutputKind::Dmesg => Kind::KernelLog,
        OutputKind::Cmdline => Kind::Cmdline,
        OutputKind::VirshXml => Kind::Domain,
        OutputKind::BootEntry => Kind::BootEntry,
        OutputKind::MachineConfig | OutputKind::TalosConfig => Kind::MachineConfig,
        OutputKind::PodSpec => Kind::PodSpec,
        OutputKind::Compose => Kind::Compose,
        OutputKind::SystemdUnit => Kind::Unit,
        OutputKind::Netplan => Kind::Netplan,
        OutputKind::NetworkManager => Kind::Keyfile,
        OutputKind::Sbatch => Kind::Sbatch,
        OutputKind::Sinfo => Kind::Sinfo,
        OutputKind::KubectlNodes => Kind::KubectlNodes,
        OutputKind::KubernetesNodes => Kind::Json,
        _ => Kind::Text,
    }
}

/// Digest of a boot's id, by which two readings know whether the node was started between them. The id itself tells which machine and
/// boot it is, in every log of the node: it is salted for this use, as the machine's id is. A digest is its own; nothing is nothing.
#[must_use]
pub fn boot_digest(id: &str) -> String {
    use sha2::{Digest, Sha256};
    let id = id.trim();
    if id.is_empty() || is_digest(id.as_bytes()) {
        return id.to_owned();
    }
    let mut h = Sha256::new_with_prefix(b"linerate boot-id\0");
    h.update(id.as_bytes());
    h.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

fn is_digest(id: &[u8]) -> bool {
    id.len() == 64 && id.iter().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'))
}

/// What redaction puts in place of an id.
fn is_hashed(id: &[u8]) -> bool {
    id.strip_prefix(b"redacted-").is_some_and(|h| h.len() == 8 && h.iter().all(u8::is_ascii_hexdigit))
}

/// An id as its digest, unless it is one, or was hashed again by redaction.
fn digest(data: &mut Vec<u8>, of: impl Fn(&[u8]) -> String) {
    let id = data.trim_ascii();
    if !id.is_empty() && !is_digest(id) && !is_hashed(id) {
        let new = of(id);
        *data = format!("{new}\n").into_bytes();
    }
}

fn clean(kind: Kind, data: &mut Vec<u8>) {
    match kind {
        Kind::Binary => {}
        Kind::Nothing => {
            if !data.is_empty() {
                *data = format!("{MARK}\n").into_bytes();
            }
        }
        Kind::Text => lines::text(data),
        Kind::Cmdline => lines::cmdline(data),
        Kind::Grub => lines::grub(data),
        Kind::GrubOfOurs => lines::grub_of_ours(data),
        Kind::BootEntry => lines::boot_entry(data),
        Kind::MachineConfig => lines::machine_config(data),
        Kind::PodSpec => lines::pod_spec(data),
        Kind::Compose => lines::compose(data),
        Kind::Modprobe => lines::modprobe(data),
        Kind::Variables => lines::variables(data),
        Kind::Sections => lines::sections(data, SECTIONS),
        Kind::Unit => lines::sections(data, UNIT),
        Kind::Netplan => lines::netplan(data),
        Kind::Keyfile => lines::keyfile(data),
        Kind::Sbatch => *data = linerate_formats::sbatch::shown(data),
        Kind::Sinfo | Kind::KubectlNodes => {
            let shown = if kind == Kind::Sinfo { node_list::shown_sinfo } else { node_list::shown_kubectl };
            *data = shown(data);
            lines::text(data);
        }
        Kind::Yaml => lines::yaml(data, NETPLAN),
        Kind::Small => lines::small(data),
        Kind::MachineId => digest(data, crate::machine_digest),
        Kind::BootId => digest(data, |id| boot_digest(&String::from_utf8_lossy(id))),
        Kind::KernelLog => lines::kernel_log(data),
        Kind::Domain => lines::domain(data),
        Kind::Json => lines::json(data),
    }
}

/// A domain of libvirt without secrets, as a snapshot has it: line by line, so that each line stays where it is.
#[must_use]
pub fn domain_without_secrets(text: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    output(OutputKind::VirshXml, &mut out);
    out
}

/// Cleans the content of a file.
pub(crate) fn file(path: &str, data: &mut Vec<u8>) {
    if !harmless(data) {
        clean(kind_of(path), data);
    }
}

/// Cleans what a command printed, or what was pasted.
pub(crate) fn output(kind: OutputKind, data: &mut Vec<u8>) {
    if !harmless(data) {
        clean(kind_of_output(kind), data);
    }
}

/// Most files are a number or a short word.
fn harmless(data: &[u8]) -> bool {
    data.len() < 8
        || data.len() < 24
            && data.iter().all(|b| b.is_ascii_hexdigit() || b.is_ascii_whitespace() || matches!(b, b'-' | b'x' | b'.'))
}

/// What the kernel prints of a device, where no part of it could be a secret: a short word, or the windows of a PCI function.
fn is_attribute(data: &[u8]) -> bool {
    const LINE: usize = 57;
    let short = data.len() < 20 && !data.iter().any(|b| matches!(b, b'=' | b':' | b'@' | b'<' | b'$'));
    let window =
        |l: &[u8]| l.len() == LINE && [18, 37].iter().all(|at| l.get(*at) == Some(&b' ')) && l.last() == Some(&b'\n');
    short || data.starts_with(b"0x") && data.chunks(LINE).all(window)
}

/// A text without secrets, as far as their form shows them: for what is shown of other programs' words.
#[must_use]
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    match lines::cleaned(text.as_bytes()) {
        None => Cow::Borrowed(text),
        // Only whole characters are replaced.
        Some(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// Removes secrets, as far as their form shows them, from what a program printed. Lines stay where they are.
pub fn remove_secrets(text: &mut Vec<u8>) {
    lines::text(text);
}

/// The value of something that has a name: hidden where the name is that of a secret, else [`without_secrets`].
#[must_use]
pub fn named<'v>(name: &str, value: &'v str) -> Cow<'v, str> {
    let marked = value.starts_with(MARK);
    if !marked && names::is_secret(name.as_bytes()) && !net::is_switch(value.as_bytes()) {
        return Cow::Borrowed(MARK);
    }
    without_secrets(value)
}

/// The value of a variable, or [`MARK`]: for settings that are read from scripts, manifests and logs.
#[must_use]
pub fn setting<'v>(name: &str, value: &'v str) -> &'v str {
    if lines::setting(name.as_bytes(), value.as_bytes()) { value } else { MARK }
}

/// What the target of a link becomes; `None` if it stays, as that of nearly every link does: it is followed.
pub(crate) fn target(target: &[u8]) -> Option<Vec<u8>> {
    if target.len() < 8 || is_plain(target) { None } else { net::removed(target) }
}

/// Letters and digits in a row from which on the target of a link is looked at.
const SHORTEST_RUN: usize = 16;

/// Whether the target of a link is names alone: none is long, and neither a sign nor the slashes of a URL are in it. A node has thousands of links:
/// the first two questions are asked of many bytes at once, and a long row of letters has one at every sixteenth place.
fn is_plain(target: &[u8]) -> bool {
    let sign = target.iter().fold(false, |any, b| any | matches!(b, b'=' | b'@' | b'$' | b'<' | b'%'));
    let behind = target.get(1..).unwrap_or_default();
    let slashes = target.iter().zip(behind).fold(false, |any, (a, b)| any | (*a == b'/' && *b == b'/'));
    let is_long = |at: usize| {
        let row = |b: &&u8| b.is_ascii_alphanumeric();
        let (before, from) = target.split_at_checked(at).unwrap_or_default();
        let after = from.iter().take_while(row).count();
        after > 0 && before.iter().rev().take_while(row).count() + after >= SHORTEST_RUN
    };
    let url = slashes && target.windows(3).any(|w| w == b"://");
    !sign && !url && !(SHORTEST_RUN - 1..target.len()).step_by(SHORTEST_RUN).any(is_long)
}

/// Cleans everything of a snapshot that was read. Nothing that it says of itself is believed.
pub(crate) fn snapshot(s: &mut Snapshot, cleaner: &mut Cleaner) {
    let kinds: hashbrown::HashMap<_, _> = s.outputs.iter().map(|o| (o.entry, o.kind)).collect();
    // Parents come before what is in them. Most files are below `sys`: of these the name decides, and no path is made.
    let mut below_sys: Vec<bool> = Vec::new();
    let mut data = Vec::new();
    for id in s.ids() {
        let sys = s.parent(id).is_some_and(|p| {
            below_sys.get(Snapshot::number(p)).copied().unwrap_or(false) || p == s.root() && s.name(id) == "sys"
        });
        below_sys.push(sys);
        let content = s.data(id);
        match s.kind(id) {
            EntryKind::File | EntryKind::CutFile => {}
            EntryKind::Link => {
                if let Some(clean) = target(content) {
                    s.replace(id, &clean);
                }
                continue;
            }
            _ => continue,
        }
        if harmless(content) || sys && is_attribute(content) {
            continue;
        }
        let kind = match kinds.get(&id) {
            Some(kind) => kind_of_output(*kind),
            None if sys => kind_of_attribute(s.name(id)),
            // Long, never shown, and written anew from what was cleaned of it.
            None if s.name(id) == "manifest.json" && s.path(id) == crate::archive::MANIFEST => continue,
            None => kind_of(&s.path(id)),
        };
        if kind == Kind::Binary {
            continue;
        }
        if let Some(clean) = cleaner.cleaned(kind, content, &mut data) {
            s.replace(id, clean);
        }
    }
    let boot = boot_digest(&s.manifest.boot_id);
    s.manifest.boot_id = boot;
    for text in s.problems.iter_mut().chain(&mut s.manifest.problems) {
        if let Cow::Owned(clean) = without_secrets(text) {
            *text = clean;
        }
    }
    for text in [&mut s.manifest.host, &mut s.manifest.origin, &mut s.manifest.linerate, &mut s.label] {
        if let Cow::Owned(clean) = without_secrets(text) {
            *text = clean;
        }
    }
    for u in s.manifest.unread.iter_mut().filter(|u| u.why.len() > 13) {
        if let Cow::Owned(clean) = without_secrets(&u.why) {
            u.why = clean;
        }
    }
    for word in s.outputs.iter_mut().flat_map(|o| &mut o.argv) {
        if let Cow::Owned(clean) = without_secrets(word) {
            *word = clean;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_target_is_plain_as_if_each_byte_were_looked_at(target in "([/:.=]|//|://|[a-z0-9]{1,9}|[a-z0-9]{13,18}){0,12}") {
            let rows = target.split(|c: char| !c.is_ascii_alphanumeric());
            let odd = target.contains(['=', '@', '$', '<', '%']) || target.contains("://");
            let plain = !odd && rows.map(str::len).all(|n| n < SHORTEST_RUN);
            prop_assert_eq!(is_plain(target.as_bytes()), plain);
        }
    }
}
