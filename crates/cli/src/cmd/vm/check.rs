//! `linerate vm check`.

use crate::output::Failure;
use crate::sources;
use crate::vm_args::CheckArgs;
use linerate_formats::libvirt::{self, Domain};
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_node::vms::put_beside;
use linerate_report::Report;
use linerate_report::vm::Check;
use linerate_rules::explain::Side;
use linerate_snapshot::Snapshot;
use std::path::Path;

pub(super) fn run(a: &CheckArgs) -> Result<u8, Failure> {
    let text = super::read(&a.domain)?;
    let domain = libvirt::parse(&text).map_err(Failure::new)?;
    let host = beside(a.host.as_deref(), &a.domain, &domain, &text)?;
    let node = Node::decode_as(&host, Some(Role::VmHost));
    let audit = super::audit(&node, &host, Side::Host);
    let compared = a.host.is_some().then(|| super::compare(&super::on_host(&node).ok()?, &domain)).flatten();
    let guest = a.guest.as_deref().map(|g| beside(Some(g), &a.domain, &domain, &text)).transpose()?;
    let guest_node = guest.as_ref().map(|g| Node::decode_as(g, Some(Role::VmGuest)));
    let guest_audit = guest.as_ref().zip(guest_node.as_ref()).map(|(s, n)| super::audit(n, s, Side::Guest));
    let guest_report = guest
        .as_ref()
        .zip(guest_node.as_ref())
        .zip(guest_audit.as_ref())
        .map(|((snapshot, node), audit)| Report { audit, node, snapshot });
    let check = Check {
        domain: &domain.name,
        host: Report { audit: &audit, node: &node, snapshot: &host },
        has_host: a.host.is_some(),
        guest: guest_report,
        compared: compared.as_ref(),
    };
    super::report(
        &a.report,
        a.verbose,
        |style, sink| linerate_report::vm::render(&check, style, sink),
        |sink| linerate_report::vm::render_json(&check, sink),
    )?;
    Ok(check.exit_code())
}

/// A source with the domain beside it, as if `virsh dumpxml` had been captured there; without a source the domain's text alone.
fn beside(source: Option<&Path>, name: &Path, domain: &Domain, text: &[u8]) -> Result<Snapshot, Failure> {
    let Some(source) = source else {
        let label = name.file_name().map_or_else(|| "domain".to_owned(), |n| n.to_string_lossy().into_owned());
        return linerate_snapshot::load_bytes(text, &label).map_err(Failure::from);
    };
    let mut snapshot = sources::unredacted(source)?;
    put_beside(&mut snapshot, &domain.name, text);
    Ok(snapshot)
}
