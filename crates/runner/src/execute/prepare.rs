//! Before anything is measured: hosts are reached and asked, snapshots taken, the plan made.

use crate::event::Event;
use crate::facts::Facts;
use crate::outcome::{Configuration, Measured, NoSnapshot};
use crate::plan::{Plan, PlanError, PlanHost, plan};
use crate::probe::{BASE, OPTIONAL, Probe};
use crate::request::Request;
use crate::tools::tests;
use linerate_transport::{Cancel, Collect, Command, HostSpec, Transport, TransportError, Way, collect};
use std::sync::Arc;
use std::time::Duration;

/// A host that answered.
pub struct Host {
    /// As the user names it.
    pub name: String,
    /// The way to it.
    pub transport: Box<dyn Transport>,
    /// What it answered.
    pub probe: Probe,
    /// Its configuration, or why it is not known.
    pub snapshot: Configuration,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A host cannot be reached.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// A host answers, and its shell did not run the questions to their end.
    #[error(
        "{host}: its shell answered with status {status} and said: {said}; linerate needs a POSIX shell on the host"
    )]
    Shell {
        /// Host.
        host: String,
        /// Status of the shell.
        status: i32,
        /// The first line of its standard error.
        said: String,
    },
    /// There is no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// Everything that is needed to measure. Nothing was started on any host, besides questions.
pub struct Prepared {
    /// Hosts.
    pub hosts: Vec<Host>,
    /// What will be run: print it first.
    pub plan: Plan,
}

impl Prepared {
    /// Measures.
    pub fn measure(&self, cancel: &Cancel, listen: &mut dyn FnMut(Event<'_>)) -> Measured {
        super::measure(&self.plan, &self.hosts, cancel, listen)
    }
}

/// Reaches the hosts, asks them, takes their snapshots (`None`: it does not), plans.
///
/// # Errors
/// A host cannot be reached, something is missing or refused, or the budget does not suffice.
pub fn prepare(
    specs: &[HostSpec],
    request: &Request,
    ssh_options: &[String],
    snapshots: Option<&Collect>,
    cancel: &Cancel,
    listen: &mut dyn FnMut(Event<'_>),
) -> Result<Prepared, RunError> {
    let mut programs: Vec<&str> = BASE.iter().chain(OPTIONAL).copied().chain(tests().map(|t| t.program)).collect();
    programs.sort_unstable();
    programs.dedup();
    let mut hosts: Vec<Host> = Vec::new();
    for spec in specs {
        let transport = spec.transport(ssh_options)?;
        let name = transport.host().to_owned();
        listen(Event::Asking { host: &name });
        let probe = Probe::ask(&*transport, &programs, cancel)?;
        hosts.push(Host { name, transport, probe, snapshot: Err(NoSnapshot::NotAsked.into()) });
    }
    let addresses = addresses(specs, &hosts);
    let mut planned = Vec::new();
    for (at, host) in hosts.iter().enumerate() {
        // Of one host, to itself.
        let other = addresses.get(usize::from(at == 0 && hosts.len() > 1)).cloned().flatten();
        planned.push(PlanHost {
            name: host.name.clone(),
            address: addresses.get(at).cloned().flatten(),
            vouched: specs.get(at).is_some_and(|s| s.address.is_some()),
            netdev: other.and_then(|to| interface(host, &to, cancel)),
            probe: host.probe.clone(),
            facts: Facts::default(),
        });
    }
    // What is missing is said before the hosts are kept busy with snapshots. What a suite leaves out needs them.
    let early =
        plan(request, &planned).err().filter(|e| !(request.what.is_suite() && matches!(e, PlanError::Nothing(_))));
    if let Some(e) = early {
        return Err(e.into());
    }
    let mut here: Option<Configuration> = None;
    for (host, planned) in hosts.iter_mut().zip(&mut planned) {
        if cancel.is_cancelled() {
            return Err(TransportError::Cancelled.into());
        }
        let known = here.clone().filter(|_| host.transport.is_here());
        host.snapshot = known.unwrap_or_else(|| {
            listen(Event::Collecting { host: &host.name });
            let how = snapshots.ok_or(NoSnapshot::NotAsked)?;
            Ok(Arc::new(collect(&*host.transport, how, cancel).map_err(NoSnapshot::Collect)?))
        });
        if host.transport.is_here() {
            here = Some(host.snapshot.clone());
        }
        match &host.snapshot {
            Ok(snapshot) => planned.facts = Facts::of(snapshot),
            Err(why) => listen(Event::NoSnapshot { host: &host.name, why }),
        }
    }
    let plan = plan(request, &planned)?;
    Ok(Prepared { hosts, plan })
}

/// Where hosts reach each other: as the user says; else as SSH's own connections do; else over loopback.
fn addresses(specs: &[HostSpec], hosts: &[Host]) -> Vec<Option<String>> {
    let of_us = hosts.iter().find_map(|h| h.probe.connection).map(|(us, _)| us.to_string());
    let all_here = specs.iter().all(|s| s.way == Way::Local);
    let address = |(spec, host): (&HostSpec, &Host)| {
        spec.address.clone().or_else(|| match &spec.way {
            Way::Ssh { .. } => host.probe.connection.map(|(_, it)| it.to_string()),
            Way::Local if all_here => Some("127.0.0.1".to_owned()),
            Way::Local => of_us.clone(),
            Way::Netns(_) | Way::Srun { .. } | Way::Kubectl { .. } => None,
        })
    };
    specs.iter().zip(hosts).map(address).collect()
}

/// The interface over which a host reaches an address.
fn interface(host: &Host, to: &str, cancel: &Cancel) -> Option<String> {
    if !host.probe.has("ip") {
        return None;
    }
    let command = Command::new(["ip", "-o", "route", "get", to]).limit(Duration::from_secs(10));
    let text = host.transport.run(&command, cancel).ok()?.text();
    route_device(&text)
}

fn route_device(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    words.find(|w| *w == "dev")?;
    words.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::route_device;

    #[test]
    fn the_interface_of_a_route() {
        let text = "10.1.0.2 dev veth0 src 10.1.0.1 uid 0 \\    cache \n";
        assert_eq!(route_device(text).as_deref(), Some("veth0"));
        assert_eq!(route_device("local 127.0.0.1 dev lo table local src 127.0.0.1").as_deref(), Some("lo"));
        assert_eq!(route_device("RTNETLINK answers: Network is unreachable"), None);
    }
}
