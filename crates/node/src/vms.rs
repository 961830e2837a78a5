//! Virtual machines of a host, as their domains say them, running or not.

use crate::pci::PciTree;
use linerate_formats::error::ParseError;
use linerate_formats::libvirt::{self, Domain, Hostdev};
use linerate_formats::pci::Bdf;
use linerate_snapshot::{EntryId, EntryKind, Lookup, OutputKind, Place, Snapshot};
use std::collections::BTreeMap;

/// Where libvirt keeps what domains have at their next start.
pub const DEFINITIONS: &str = "etc/libvirt/qemu";

/// The file of a domain's definition (libvirt, `virDomainConfigFile`), without the first slash.
#[must_use]
pub fn definition(domain: &str) -> String {
    format!("{DEFINITIONS}/{domain}.xml")
}

/// Puts a domain beside a source, as if `virsh dumpxml` had been captured there: it speaks in the place of those that the source holds.
pub fn put_beside(snapshot: &mut Snapshot, domain: &str, text: &[u8]) {
    snapshot.outputs.retain(|o| o.kind != OutputKind::VirshXml);
    snapshot.remove(DEFINITIONS);
    snapshot.add_output(&["virsh", "dumpxml", domain], text);
}

/// A domain of libvirt in the source. In the snapshot of a guest it is that guest's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vm {
    /// What it says: as it runs, where the source shows that, else as it is defined.
    pub domain: Domain,
    /// The text.
    pub text: Place,
    /// What it is at its next start, where it runs and the source shows both.
    pub next: Option<(Domain, Place)>,
    /// It is a definition and nothing more: it does not run, and nobody asked about it. Hosts keep such ones of long ago.
    pub is_at_rest: bool,
}

impl Vm {
    /// Where a line of it is.
    #[must_use]
    pub fn at(&self, line: u32) -> Place {
        self.text.line(line)
    }

    /// The host's functions that it is given, with their lines.
    pub fn given(&self) -> impl Iterator<Item = (Bdf, &Hostdev)> {
        self.domain.hostdevs.iter().filter_map(|h| Some((h.source?, h)))
    }

    /// What it has at its next start, and where that is said; `None`: the source shows only what runs.
    #[must_use]
    pub fn definition(&self) -> Option<(&Domain, Place)> {
        match &self.next {
            Some((domain, text)) => Some((domain, *text)),
            None => (!self.domain.is_running).then_some((&self.domain, self.text)),
        }
    }

    /// What its next start changes of what rules read: what it runs with differs from how it is defined.
    #[must_use]
    pub fn awaits(&self) -> Option<&'static str> {
        let (next, _) = self.next.as_ref()?;
        self.domain.differs_from(next)
    }
}

/// Domains in the order of their texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vms {
    /// Those that were read.
    pub read: Vec<Vm>,
    /// Texts that were not, and why.
    pub unread: Vec<(Place, ParseError)>,
    /// The directory of the definitions is there, and the source could not look into it.
    pub hidden: Option<Place>,
}

pub(crate) fn decode(s: &Snapshot) -> Vms {
    let mut out = Vms::default();
    let outputs = s.outputs.iter().filter(|o| o.kind == OutputKind::VirshXml).map(|o| o.entry);
    outputs.chain(definitions(s, &mut out.hidden)).for_each(|entry| out.read_one(s, entry));
    out
}

/// Files with definitions. One that has none is not meant to be one: libvirt keeps networks in directories below.
fn definitions(s: &Snapshot, hidden: &mut Option<Place>) -> Vec<EntryId> {
    match s.resolve(DEFINITIONS) {
        Lookup::Found(dir) if *s.kind(dir) == EntryKind::Dir => {
            let files = s.children(dir).into_iter().filter(|(name, _)| name.ends_with(".xml"));
            files.map(|(_, id)| id).filter(|id| matches!(s.kind(*id), EntryKind::File)).collect()
        }
        Lookup::Found(dir) | Lookup::Blocked(dir, _) => {
            *hidden = Some(Place::of(dir));
            Vec::new()
        }
        Lookup::Missing => Vec::new(),
    }
}

impl Vms {
    /// One text more. Of one name that runs and is defined there is one domain.
    fn read_one(&mut self, s: &Snapshot, entry: EntryId) {
        let text = Place::of(entry);
        let domain = match libvirt::parse(s.data(entry)) {
            Ok(domain) => domain,
            Err(why) => return self.unread.push((text, why)),
        };
        let is_at_rest = s.path(entry).starts_with(DEFINITIONS) && !domain.is_running;
        let Some(known) = self.read.iter_mut().find(|v| v.domain.name == domain.name) else {
            return self.read.push(Vm { domain, text, next: None, is_at_rest });
        };
        known.is_at_rest &= is_at_rest;
        match (known.domain.is_running, domain.is_running) {
            (true, false) => known.next = Some((domain, text)),
            (false, true) => {
                let (old, at) =
                    (std::mem::replace(&mut known.domain, domain), std::mem::replace(&mut known.text, text));
                known.next = Some((old, at));
            }
            // The file is where it is changed.
            _ => (known.domain, known.text) = (domain, text),
        }
    }
}

/// Marks the functions of a host that its domains give to guests. `all`: those at rest, too, as the host is known to be one of virtual machines.
pub(crate) fn mark(pci: &mut PciTree<'_>, vms: &[Vm], all: bool) {
    let mut given: BTreeMap<Bdf, Place> = BTreeMap::new();
    for vm in vms.iter().filter(|vm| all || !vm.is_at_rest) {
        vm.given().for_each(|(bdf, device)| {
            given.entry(bdf).or_insert(vm.at(device.span.line));
        });
    }
    if !given.is_empty() {
        pci.functions.iter_mut().for_each(|f| f.given = given.get(&f.bdf).copied());
    }
}
