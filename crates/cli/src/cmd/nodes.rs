//! `linerate nodes`.

use crate::nodes_args::{NodesArgs, NodesFormat};
use crate::output::Failure;
use crate::progress::Line;
use crate::targets;
use linerate_fleet::NodeSet;
use linerate_gather::Target;
use linerate_gather::inventory::{Inventory, Kind, Place};
use linerate_gather::reach::{Cause, Reached, reach};
use linerate_report::nodes::{Answer, Format, Group, Node, Report, Source, Unreached};
use linerate_snapshot::without_secrets;
use linerate_transport::Way;
use std::sync::Mutex;
use std::time::Duration;

pub(crate) fn run(a: &NodesArgs) -> Result<u8, Failure> {
    let inventory = targets::inventory(&a.names.names, &a.names.ssh, false)?;
    let targets = match &a.set {
        Some(set) => targets::targets(&inventory, set)?,
        None => inventory.hosts().map(|h| h.target.clone()).collect(),
    };
    let reached = a.reach.then(|| ask(&targets, a));
    if crate::interrupt::cancel().is_cancelled() {
        return Err(Failure::new("interrupted"));
    }
    let report = report(&inventory, &targets, reached.as_deref());
    let mut sink = a.out.sink()?;
    let format = match a.format {
        NodesFormat::Text => Format::Text(a.out.style(&sink)),
        NodesFormat::Json => Format::Json,
        NodesFormat::Set => Format::Set,
    };
    report.write(format, &mut sink)?;
    sink.finish()?;
    if a.format == NodesFormat::Set {
        report.remarks.iter().for_each(|r| crate::output::remark(r));
    }
    Ok(report.exit_code)
}

fn ask(targets: &[Target], a: &NodesArgs) -> Vec<Reached> {
    let line = Mutex::new(Line::new(true));
    let done = |n: usize| {
        if let Ok(line) = line.lock() {
            line.count(n, targets.len(), "nodes");
        }
    };
    let limit = Duration::from_secs(a.timeout);
    reach(targets, a.fanout.into(), limit, &crate::interrupt::cancel(), &done)
}

fn report(inventory: &Inventory, targets: &[Target], reached: Option<&[Reached]>) -> Report {
    let set: NodeSet = targets.iter().map(|t| t.name.as_str()).collect();
    let of = |place: &Place| Source {
        kind: place.kind.word(),
        what: place.what.clone(),
        line: Some(place.line).filter(|l| *l > 0),
    };
    let named = Place { kind: Kind::CommandLine, what: "the command line".to_owned(), line: 0 };
    let node = |(at, target): (usize, &Target)| {
        let host = inventory.host(&target.name);
        let transport = match target.spec.way {
            Way::Local => "local",
            Way::Netns(_) => "netns",
            Way::Ssh { .. } => "ssh",
            Way::Srun { .. } => "srun",
            Way::Kubectl { .. } => "kubectl",
        };
        // They are in the order of the targets.
        let answer = reached.and_then(|all| all.get(at)).map(|r| Answer {
            reached: r.failed.is_none(),
            milliseconds: u64::try_from(r.took.as_millis()).unwrap_or(u64::MAX),
            cause: r.failed.as_ref().map(|(cause, _)| cause.word()),
            said: r.failed.as_ref().map(|(_, said)| without_secrets(said).into_owned()),
        });
        Node {
            name: target.name.clone(),
            way: target.spec.to_string(),
            transport,
            sudo: target.sudo,
            groups: host.map(|h| h.groups.iter().map(|g| g.to_string()).collect()).unwrap_or_default(),
            sources: host.map_or_else(|| vec![of(&named)], |h| h.places.iter().map(of).collect()),
            answer,
        }
    };
    let nodes = targets.iter().enumerate().map(node).collect();
    let names = |failed: Option<Cause>| -> NodeSet {
        let all = reached.unwrap_or_default().iter();
        all.filter(|r| r.failed.as_ref().map(|(c, _)| *c) == failed).map(|r| r.name.as_str()).collect()
    };
    let unreached: Vec<Unreached> = Cause::ALL
        .into_iter()
        .map(|c| Unreached { cause: c.word(), sentence: c.sentence(), set: names(Some(c)) })
        .filter(|u| !u.set.is_empty())
        .collect();
    let within = inventory.groups().filter(|(_, of)| of.iter().any(|name| set.contains(&name)));
    let groups = within.map(|(g, of)| Group {
        name: if g.source.is_empty() { g.name.clone() } else { format!("{}:{}", g.source, g.name) },
        set: of.clone(),
    });
    let groups = groups.collect();
    let remarks: Vec<String> = inventory.remarks.iter().map(|r| without_secrets(&r.to_string()).into_owned()).collect();
    let exit_code = match (unreached.is_empty(), remarks.is_empty()) {
        (false, _) => 1,
        (true, false) => 2,
        (true, true) => 0,
    };
    Report {
        count: set.len(),
        set,
        reference: inventory.reference.clone(),
        sources: inventory.sources.iter().map(of).collect(),
        nodes,
        groups,
        reached: reached.map(|_| names(None)),
        unreached,
        remarks,
        exit_code,
    }
}
