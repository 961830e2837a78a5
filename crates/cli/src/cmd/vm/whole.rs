//! `linerate vm`: a host, its domains and their guests as one, with the plans.

use super::{audit, compare};
use crate::output::{Failure, Sink, remark};
use crate::sources;
use crate::vm_args::WholeArgs;
use linerate_formats::libvirt::{self, Domain};
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_node::vms::put_beside;
use linerate_remedy::Plan;
use linerate_remedy::plan::{Options, plan};
use linerate_report::Report;
use linerate_report::plan::json;
use linerate_report::vm::{Guest, Whole};
use linerate_rules::Audit;
use linerate_rules::explain::Side;
use linerate_snapshot::Snapshot;
use linerate_vm::same::InGuest;
use std::collections::BTreeMap;
use std::path::Path;

/// A domain with devices of the host, and what is known of its guest.
struct One {
    domain: Domain,
    snapshot: Option<Snapshot>,
    compared: Option<InGuest>,
}

/// A snapshot, and what was concluded from it.
type Judged<'s> = (Node<'s>, Audit, Plan);

pub(super) fn run(a: &WholeArgs) -> Result<u8, Failure> {
    let mut host = sources::unredacted(a.source.as_deref().unwrap_or_else(|| crate::this_machine::path()))?;
    if let Some(path) = &a.domain {
        let text = super::read(path)?;
        let domain = libvirt::parse(&text).map_err(Failure::new)?;
        put_beside(&mut host, &domain.name, &text);
    }
    let (node, host_audit, host_plan) = judged(&host, Role::VmHost, Side::Host);
    let all = ones(a, &host, &node)?;
    let read: Vec<Option<Judged<'_>>> =
        all.iter().map(|one| Some(judged(one.snapshot.as_ref()?, Role::VmGuest, Side::Guest))).collect();
    let guests = all.iter().zip(&read).map(|(one, read)| Guest {
        domain: &one.domain.name,
        report: one.snapshot.as_ref().zip(read.as_ref()).map(|(snapshot, (node, audit, _))| Report {
            audit,
            node,
            snapshot,
        }),
        compared: one.compared.as_ref(),
        plan: read.as_ref().map(|(.., plan)| plan),
    });
    let whole = Whole {
        host: Report { audit: &host_audit, node: &node, snapshot: &host },
        guests: guests.collect(),
        plan: &host_plan,
    };
    if let Some(dir) = &a.plans {
        write_plans(dir, &whole)?;
    }
    super::report(
        &a.report,
        a.verbose,
        |style, sink| linerate_report::vm::render_whole(&whole, style, sink),
        |sink| linerate_report::vm::render_whole_json(&whole, sink),
    )?;
    Ok(whole.exit_code())
}

fn judged(snapshot: &Snapshot, role: Role, side: Side) -> Judged<'_> {
    let node = Node::decode_as(snapshot, Some(role));
    let audit = audit(&node, snapshot, side);
    let plan = plan(snapshot, &node, &audit, &Options::default());
    (node, audit, plan)
}

/// The domains that have devices of the host, each with its guest where one was given.
fn ones(a: &WholeArgs, host: &Snapshot, node: &Node<'_>) -> Result<Vec<One>, Failure> {
    let vms: Vec<_> = node.vms.read.iter().filter(|v| v.given().next().is_some()).collect();
    for (place, why) in &node.vms.unread {
        remark(&format!("{}: {why}", host.describe(*place)));
    }
    let Some(first) = vms.first() else {
        let hint = "virsh dumpxml DOMAIN > vm.xml, and --domain vm.xml; or collect on the host as root";
        return Err(Failure::new("no domain of this source has devices of the host").hint(hint));
    };
    let mut given = BTreeMap::new();
    for guest in &a.guest {
        let named = guest.split_once('=').filter(|(name, _)| vms.iter().any(|v| v.domain.name == *name));
        let (name, source) = match named {
            Some(named) => named,
            None if vms.len() == 1 => (first.domain.name.as_str(), guest.as_str()),
            None => {
                let names: Vec<&str> = vms.iter().map(|v| v.domain.name.as_str()).collect();
                let hint = format!("--guest NAME=SOURCE, with one of {}", names.join(", "));
                return Err(Failure::new(format!("--guest {guest}: it is of no domain of this host")).hint(hint));
            }
        };
        given.insert(name, source);
    }
    let from = super::on_host(node).ok();
    vms.iter()
        .map(|vm| {
            let name = vm.domain.name.as_str();
            let snapshot = given.get(name).map(|source| {
                let mut snapshot = sources::unredacted(Path::new(source))?;
                put_beside(&mut snapshot, name, host.data(vm.text.base));
                Ok::<_, Failure>(snapshot)
            });
            Ok(One {
                domain: vm.domain.clone(),
                snapshot: snapshot.transpose()?,
                compared: from.as_ref().and_then(|from| compare(from, &vm.domain)),
            })
        })
        .collect()
}

/// Each plan as `linerate apply` takes it.
fn write_plans(dir: &Path, whole: &Whole<'_>) -> Result<(), Failure> {
    std::fs::create_dir_all(dir).map_err(|e| Failure::new(format!("cannot make {}: {e}", dir.display())))?;
    let guests = whole.guests.iter().filter_map(|g| Some((g.domain, g.plan?)));
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+') { c } else { '-' };
    let guests =
        guests.map(|(name, plan)| (format!("guest-{}.plan", name.chars().map(plain).collect::<String>()), plan));
    for (name, plan) in std::iter::once(("host.plan".to_owned(), whole.plan)).chain(guests) {
        let path = dir.join(name);
        let mut sink = Sink::open(Some(&path))?;
        json::render_plan(plan, &mut sink)?;
        sink.finish()?;
    }
    Ok(())
}
