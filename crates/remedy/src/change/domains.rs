//! Domains of libvirt: the devices of the host where the host has them, in the definition that somebody wrote.

use super::{Change, Kind, Refusal, Setting, words};
use crate::act::{Act, DomainAct};
use crate::model::{Condition, Permanence, Proof, Risk};
use crate::terms::{On, Terms};
use linerate_formats::libvirt::Domain;
use linerate_node::vms::definition;
use linerate_rules::Action;
use linerate_snapshot::{EntryKind, MARK};
use linerate_vm::clique::PROPERTY;
use linerate_vm::layout::Wishes;
use linerate_vm::merge::{Replace, merge};
use linerate_vm::taken::Taken;
use std::collections::BTreeSet;

/// Layouts of domains.
pub(super) struct Domains;

/// Who writes definitions of its own at each start, by what it leaves in `<metadata>`.
const WRITERS: [(&str, &str); 4] = [
    (
        "http://openstack.org/xmlns/libvirt/nova/",
        "Nova rewrites it at each start: set the flavor and the image (linerate vm layout HOST --format nova)",
    ),
    ("http://ovirt.org/vm/", "oVirt rewrites it at each start: set it in the engine, or by a hook of VDSM"),
    (
        "http://opennebula.org/xmlns/libvirt/",
        "OpenNebula rewrites it at each start: set PCI addresses and NUMA nodes in its template",
    ),
    (
        "http://kubevirt.io",
        "KubeVirt rewrites it at each start: set the VirtualMachine, and a hook (linerate vm layout HOST --into - --replace=devices)",
    ),
];

impl Kind for Domains {
    fn takes(&self, action: &Action) -> Option<String> {
        of(action).map(|(domain, _)| domain.to_owned())
    }

    fn terms(&self, _: &Action, _: &On<'_>) -> Terms {
        Terms { persistence: Permanence::GuestStart, disruption: crate::model::Disruption::None, risk: Risk::Medium }
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        let all = actions.iter().filter_map(|a| of(a));
        let asked = all.reduce(|(domain, some), (_, more)| (domain, some || more));
        asked.map(|(domain, settings)| laid_out(domain, settings, on)).into_iter().collect()
    }
}

fn of(action: &Action) -> Option<(&str, bool)> {
    match action {
        Action::DomainLayout { domain, settings } => Some((domain, *settings)),
        _ => None,
    }
}

fn by_hand(first: String) -> Refusal {
    let how = vec![
        first,
        "linerate vm layout HOST --into DOMAIN.xml -o DOMAIN.xml; virsh define --validate DOMAIN.xml".to_owned(),
    ];
    Refusal::ByHand { how, reread: vec!["linerate vm check DOMAIN.xml --host HOST --guest GUEST".to_owned()] }
}

fn laid_out(name: &str, settings: bool, on: &Setting<'_, '_>) -> Result<Change, Refusal> {
    let name = words::domain(name)?;
    let s = on.snapshot;
    let seen = on.node.vms.read.iter().find(|v| v.domain.name == name).and_then(|v| v.definition());
    let file = definition(name);
    let Some((domain, text)) = seen.filter(|(_, text)| s.path(text.base) == file) else {
        return Err(by_hand(format!(
            "the source does not hold /{file}: collect on the host as root, or take what virsh dumpxml --inactive {name} writes"
        )));
    };
    if s.manifest.redacted {
        return Err(Refusal::no(
            "the source is redacted: its lines are not those of the definition. Make the plan from one that is not, or on the host",
        ));
    }
    let whole = matches!(s.kind(text.base), EntryKind::File);
    let Some(old) = std::str::from_utf8(s.data(text.base)).ok().filter(|_| whole) else {
        return Err(Refusal::no(format!("/{file} is incomplete in this source, or not UTF-8")));
    };
    if let Some((_, why)) = WRITERS.iter().find(|(mark, _)| old.contains(mark)) {
        return Err(by_hand((*why).to_owned()));
    }
    let new = with_layout(name, domain, old, settings, on)?;
    if new == old {
        let reason =
            "the definition has this layout already; the guest gets it after a shutdown and a start".to_owned();
        return Err(Refusal::Already { reason });
    }
    let act = DomainAct::between(name, old, &new);
    if let Some(edit) = act.edits.iter().find(|e| e.old.iter().any(|l| l.contains(MARK))) {
        return Err(by_hand(format!("line {} of /{file} holds something that a snapshot does not show", edit.line)));
    }
    Ok(Change {
        id: format!("domain-{}", name.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-")),
        summary: format!("lay the devices of {name} out as the host has them"),
        precondition: vec![Condition::program("virsh", "libvirt-clients"), Condition::Exists { path: act.path() }],
        proof: vec![Proof::Guest { domain: name.to_owned() }],
        acts: vec![Act::Domain(act)],
        note: "the guest keeps its layout until it is shut down and started; then its PCI addresses change, and with them the interface names that follow them and the topology files (linerate vm nccl writes the new file)"
            .to_owned(),
        ..Change::default()
    })
}

/// The definition with a layout of the devices that it has.
fn with_layout(
    name: &str,
    domain: &Domain,
    old: &str,
    settings: bool,
    on: &Setting<'_, '_>,
) -> Result<String, Refusal> {
    let pci = &on.node.pci;
    let sources: Vec<_> = domain.hostdevs.iter().filter_map(|h| h.source).collect();
    if let Some(missing) = sources.iter().find(|bdf| pci.find(**bdf).is_none()) {
        return Err(by_hand(format!("{missing} of the domain is not on this host: correct its source address first")));
    }
    let functions: BTreeSet<_> = sources.iter().filter_map(|bdf| pci.find(*bdf)).collect();
    let of_vm = |e: &dyn std::fmt::Display| by_hand(e.to_string());
    let roots = linerate_vm::host::roots(on.node, &functions).map_err(|e| of_vm(&e))?;
    let wishes = Wishes {
        name: name.to_owned(),
        memory_mib: None,
        vcpus: None,
        // Pages that the domain does not ask for may not be there.
        page_kib: domain.huge_pages.iter().find(|p| p.cells.is_none()).and_then(|p| p.size_kib),
        has_cliques: domain.overrides.iter().flat_map(|o| &o.properties).any(|p| p.name == PROPERTY),
        has_iommu: false,
        taken: Taken::default(),
    };
    let replace = if settings { Replace::All } else { Replace::Devices };
    let merged = merge(on.node, &roots, &wishes, replace, old.as_bytes()).map_err(|e| of_vm(&e))?;
    Ok(merged.text)
}
