//! `linerate vm nccl`.

use super::{read, said};
use crate::output::{Failure, Sink, remark};
use crate::sources;
use crate::vm_nccl_args::NcclArgs;
use linerate_formats::libvirt;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_snapshot::Snapshot;
use linerate_topology::xml::Dialect;
use linerate_topology::{Config, Document};
use linerate_vm::guest::{Guest, What};
use linerate_vm::pairs::{by_domain, by_marks};
use linerate_vm::{foreign, guest, nccl, running, same};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

pub(super) fn run(a: &NcclArgs) -> Result<u8, Failure> {
    let alone = a.host.is_none() && a.dump.is_some() && a.guest.is_none();
    let host = match (&a.host, alone) {
        (Some(path), _) => Some(sources::unredacted(path)?),
        (None, false) => Some(sources::unredacted(Path::new("/"))?),
        (None, true) => None,
    };
    let in_guest = a.guest.as_deref().map(sources::unredacted).transpose()?;
    let node = host.as_ref().map(Node::decode);
    let tree = tree(a, host.as_ref().zip(node.as_ref()), in_guest.as_ref())?;
    let chosen = sources_of(&tree);
    if let Some(node) = &node {
        let gone: Vec<Bdf> = chosen.iter().copied().filter(|b| node.pci.find(*b).is_none()).collect();
        if !gone.is_empty() {
            return Err(Failure::new(format!("the guest has {}, and the host does not", list(&gone)))
                .hint("give the snapshot of the host that the guest runs on"));
        }
    }
    let mut config = Config::default();
    let document = match (&a.dump, &node) {
        (Some(path), _) => dump(path, node.as_ref(), &tree)?,
        (None, Some(node)) => {
            let from = super::on_host(node)?;
            from.configure(&mut config);
            from.document
        }
        (None, None) => return Err(Failure::new("no host: give its snapshot, or its dump with --dump")),
    };
    let kept = nccl::keep(&document, &chosen);
    let (file, called) = match &a.check {
        Some(path) => (check(path, &kept, &tree)?, "the file"),
        None => (nccl::file(&kept, &tree), "the topology file"),
    };
    let compared = same::compare(&kept, &config, &tree, &file).map_err(Failure::from)?;
    said::compared(Some(&compared), called);
    if a.check.is_none() {
        let mut sink = Sink::open(a.output.as_deref())?;
        sink.write_all(file.to_xml(Dialect::Nccl).as_bytes())?;
        sink.finish()?;
    }
    Ok(said::code(Some(&compared)))
}

/// The guest's PCI tree, with the host's functions in it.
fn tree(a: &NcclArgs, host: Option<(&Snapshot, &Node<'_>)>, in_guest: Option<&Snapshot>) -> Result<Guest, Failure> {
    let predicted = a.domain.as_deref().map(predicted).transpose()?;
    let Some((snapshot, (on_host, node))) = in_guest.zip(host) else {
        return predicted.ok_or_else(|| Failure::new("no guest: give --domain or --guest"));
    };
    let guest = Node::decode(snapshot);
    let comparable = comparable(on_host, snapshot);
    if !comparable {
        remark(
            "UUIDs, GUIDs and serial numbers were not compared: a snapshot is redacted, and the two do not share a key",
        );
    }
    let pairs = match &predicted {
        Some(predicted) => by_domain(node, &guest, predicted, comparable)?,
        None => by_marks(node, &guest, comparable)?,
    };
    for p in &pairs {
        remark(&format!("{} is {} ({})", p.host, p.guest, p.by));
    }
    Ok(running(&guest, &pairs))
}

/// Hashes can be compared only where one key made them.
fn comparable(a: &Snapshot, b: &Snapshot) -> bool {
    let (a, b) = (&a.manifest, &b.manifest);
    match (a.redacted, b.redacted) {
        (false, false) => true,
        (true, true) => a.redact_key.is_some() && a.redact_key == b.redact_key,
        _ => false,
    }
}

/// The tree that a domain's firmware will number.
fn predicted(path: &Path) -> Result<Guest, Failure> {
    let domain = libvirt::parse(&read(path)?).map_err(|e| Failure::new(format!("{}: {e}", path.display())))?;
    if let Some(illegal) = domain.refusal() {
        return Err(Failure::new(format!("{}: line {}: {}", path.display(), illegal.line, illegal.refusal))
            .hint("libvirt refuses this domain: correct it, or give what `virsh dumpxml` prints"));
    }
    if let Some(h) = domain.hostdevs.iter().find(|h| h.address.is_none()) {
        let line = h.span.line;
        return Err(Failure::new(format!(
            "{}: line {line}: the host device has no address in the guest",
            path.display()
        ))
        .hint("libvirt chooses one when the domain is defined: give what `virsh dumpxml` prints"));
    }
    let tree = guest(&domain);
    if sources_of(&tree).is_empty() {
        return Err(Failure::new(format!("{}: the domain has no device of the host", path.display())));
    }
    if let Some(line) = tree.without_number.first() {
        return Err(Failure::new(format!(
            "{}: line {line}: no bus number is left for this controller",
            path.display()
        ))
        .hint("lower the busNr of its expander bus, or remove controllers"));
    }
    Ok(tree)
}

/// A dump of the host, held against the host and the guest.
fn dump(path: &Path, node: Option<&Node<'_>>, tree: &Guest) -> Result<Document, Failure> {
    let document = document(path, Dialect::Lenient)?;
    let found = foreign::dump(&document, node, tree).map_err(|e| named(path, &e))?;
    if !found.dropped.is_empty() {
        remark(&format!("dropped, because the guest does not have them: {}", list(&found.dropped)));
    }
    if !found.missing.is_empty() {
        remark(&format!("not in the dump, so that NCCL in the guest places them by itself: {}", list(&found.missing)));
    }
    Ok(document)
}

/// A file that somebody wrote for the guest, as NCCL reads it.
fn check(path: &Path, kept: &Document, tree: &Guest) -> Result<Document, Failure> {
    let document = document(path, Dialect::Nccl)?;
    let found = foreign::check(&document, kept, tree).map_err(|e| named(path, &e))?;
    if !found.invented.is_empty() {
        remark(&format!(
            "bridges that the guest does not have, which NCCL takes as the file says them: {}",
            list(&found.invented)
        ));
    }
    if !found.missing.is_empty() {
        remark(&format!("not in the file, so that NCCL places them by itself: {}", list(&found.missing)));
    }
    Ok(document)
}

fn document(path: &Path, dialect: Dialect) -> Result<Document, Failure> {
    Document::parse(read(path)?, dialect).map_err(|e| named(path, &e))
}

fn named(path: &Path, e: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("{}: {e}", path.display()))
}

/// Functions of the host that the guest has.
fn sources_of(tree: &Guest) -> BTreeSet<Bdf> {
    let source = |what| match what {
        What::Host(host) => host,
        _ => None,
    };
    tree.functions.iter().filter_map(|f| source(f.what)).collect()
}

fn list(all: &[Bdf]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
