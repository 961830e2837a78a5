//! `linerate vm`: one file for each of its commands.

mod check;
mod layout;
mod nccl;
mod said;
mod whole;

use crate::args::When;
use crate::output::{Failure, Sink, remark};
use crate::vm_args::{CheckFormat, ReportArgs, VmArgs, VmCommand};
use linerate_formats::bounds::XML_BYTES;
use linerate_formats::libvirt::Domain;
use linerate_node::Node;
use linerate_report::style::Style;
use linerate_rules::explain::{Side, is_asked};
use linerate_rules::{Audit, Rule};
use linerate_snapshot::{Input, Snapshot};
use linerate_topology::from_node::{FromNode, FromNodeError, from_node};
use linerate_vm::assumed::with_nics;
use linerate_vm::guest;
use linerate_vm::same::{InGuest, in_guest};
use std::path::Path;

pub(crate) fn run(a: &VmArgs) -> Result<u8, Failure> {
    match &a.command {
        None => whole::run(&a.whole),
        Some(VmCommand::Check(a)) => check::run(a),
        Some(VmCommand::Layout(a)) => layout::run(a),
        Some(VmCommand::Nccl(a)) => nccl::run(a),
    }
}

/// What NCCL has on the host, its passed NICs as they are with their driver.
fn on_host(node: &Node<'_>) -> Result<FromNode, FromNodeError> {
    let (node, added) = with_nics(node);
    if added > 0 {
        remark(&format!(
            "{added} NICs have no RDMA driver on the host: compared as with one, at the rate that their PCIe link carries"
        ));
    }
    from_node(&node)
}

/// The audit of one side.
fn audit(node: &Node<'_>, snapshot: &Snapshot, side: Side) -> Audit {
    let rules: Vec<&'static Rule> = linerate_rules::rules().iter().copied().filter(|r| is_asked(r.id, side)).collect();
    linerate_rules::audit(node, snapshot, &rules)
}

/// What NCCL concludes in the guest of a domain, beside the host.
fn compare(host: &FromNode, domain: &Domain) -> Option<InGuest> {
    let chosen = domain.hostdevs.iter().filter_map(|h| h.source).collect();
    in_guest(host, &chosen, &guest(domain)).1.ok()
}

/// Writes a report in the form that was asked for.
fn report(
    a: &ReportArgs,
    verbose: bool,
    text: impl FnOnce(Style, &mut Sink) -> std::io::Result<()>,
    json: impl FnOnce(&mut Sink) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let mut sink = Sink::open(a.output.as_deref())?;
    match a.format {
        CheckFormat::Text => text(sink.style(When::Auto, verbose), &mut sink)?,
        CheckFormat::Json => json(&mut sink)?,
    }
    sink.finish()
}

/// A text as a whole; `-` is standard input.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let from = (path != Path::new("-")).then_some(path);
    let input = Input::open(from, &crate::budget::budget())
        .map_err(|e| Failure::new(format!("cannot read {}: {e}", path.display())))?;
    input.text(XML_BYTES as u64).map_err(|e| Failure::new(format!("{}: {e}", path.display())))
}
