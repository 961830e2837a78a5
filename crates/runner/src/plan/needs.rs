//! What hosts lack, found before anything starts.

use super::{PlanError, PlanHost};
use crate::probe::BASE;
use crate::request::Request;
use crate::tools::{Need, Package, Shape, Test};
use std::collections::BTreeSet;

/// A program that a host lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Host.
    pub host: String,
    /// Program.
    pub program: String,
    /// How to get it there.
    pub remedy: String,
}

const MPI: Package = Package { debian: Some("openmpi-bin"), rhel: Some("openmpi"), home: "https://www.open-mpi.org" };
const UTILS: Package = Package {
    debian: Some("util-linux coreutils grep"),
    rhel: Some("util-linux coreutils grep"),
    home: "https://github.com/util-linux/util-linux",
};

pub(super) fn message(missing: &[Missing]) -> String {
    let lines = missing.iter().map(|m| format!("{}: {} is not installed: {}", m.host, m.program, m.remedy));
    lines.collect::<Vec<_>>().join("\n")
}

fn remedy(host: &PlanHost, package: &Package) -> String {
    match (host.probe.installer(), package.debian, package.rhel) {
        (Some((install, false)), Some(name), _) | (Some((install, true)), _, Some(name)) => {
            format!("{install} {name}")
        }
        (_, Some(debian), Some(rhel)) if debian == rhel => format!("package {debian}"),
        (_, Some(debian), Some(rhel)) => format!("package {debian} (Debian) or {rhel} (Red Hat)"),
        _ => format!("no package of the distribution; see {}", package.home),
    }
}

/// Tests that these hosts can do.
pub(super) fn possible(
    request: &Request,
    hosts: &[PlanHost],
    notes: &mut Vec<String>,
) -> Result<Vec<&'static Test>, PlanError> {
    let mut missing: Vec<Missing> = Vec::new();
    let mut lacks = |host: &PlanHost, program: &str, package: &Package| {
        let m = Missing { host: host.name.clone(), program: program.to_owned(), remedy: remedy(host, package) };
        if !missing.contains(&m) {
            missing.push(m);
        }
    };
    for host in hosts {
        BASE.iter().filter(|b| !host.probe.has(b)).for_each(|b| lacks(host, b, &UTILS));
    }
    let mut out = Vec::new();
    let mut left_out = BTreeSet::new();
    for test in request.what.tests() {
        if request.what.is_suite()
            && let Some(why) = unable(test, hosts)
        {
            left_out.insert(format!("{} is left out: {why}", test.name));
            continue;
        }
        let who = |at: usize| match test.shape {
            // The other one only answers.
            Shape::Towards if hosts.len() == 2 => at == 0,
            _ => true,
        };
        let without: Vec<&PlanHost> =
            hosts.iter().enumerate().filter(|(at, h)| who(*at) && !h.probe.has(test.program)).map(|(_, h)| h).collect();
        if !without.is_empty() && request.skip_missing {
            let names: Vec<&str> = without.iter().map(|h| h.name.as_str()).collect();
            left_out.insert(format!("{} is left out: {} lacks {}", test.name, names.join(", "), test.program));
            continue;
        }
        without.into_iter().for_each(|h| lacks(h, test.program, test.package));
        if let (Shape::Together, 2.., Some(first)) = (test.shape, hosts.len(), hosts.first())
            && !first.probe.has("mpirun")
        {
            lacks(first, "mpirun", &MPI);
        }
        out.push(test);
    }
    notes.extend(left_out);
    if !missing.is_empty() {
        return Err(PlanError::Missing(missing));
    }
    if out.iter().any(|t| t.needs == Need::Rdma) {
        notes.extend(hosts.iter().filter_map(memlock));
    }
    Ok(out)
}

/// Why hosts cannot do a test, as far as their snapshots show. Without a snapshot nobody knows.
fn unable(test: &Test, hosts: &[PlanHost]) -> Option<String> {
    let lacking = |what: &str, has: fn(&PlanHost) -> bool| {
        let names: Vec<&str> = hosts.iter().filter(|h| !has(h)).map(|h| h.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("{} shows no {what}", names.join(", ")))
    };
    match test.needs {
        Need::Nothing => None,
        Need::Rdma => lacking("RDMA device", |h| !h.facts.rdma.is_empty()),
        Need::Gpu => lacking("GPU", |h| h.facts.gpus > 0),
    }
}

/// Verbs lock what they register: 64 KiB, the old default, do not suffice for a single test.
fn memlock(host: &PlanHost) -> Option<String> {
    const ENOUGH_KIB: u64 = 64 << 10;
    let limit = host.probe.memlock_kib.filter(|l| *l < ENOUGH_KIB && !host.probe.is_root())?;
    Some(format!(
        "{}: only {limit} KiB may be locked (ulimit -l), and RDMA locks what it registers: \"Cannot allocate memory\" would come from there",
        host.name
    ))
}
