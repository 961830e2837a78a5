//! What will be run, decided before anything starts. Pure: hosts as they answered in, a plan with its cost out.

mod binding;
mod needs;
mod order;
mod words;

pub use binding::Binding;
pub use needs::Missing;
pub(crate) use words::bytes;

use crate::facts::Facts;
use crate::probe::Probe;
use crate::request::{Request, Variant, What};
use crate::tools::{Call, Cost, Shape, Test};

/// A host, as far as a plan depends on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanHost {
    /// As the user names it.
    pub name: String,
    /// Where the others reach it; `None` where nobody said.
    pub address: Option<String>,
    /// The user said so, not the host itself.
    pub vouched: bool,
    /// The interface over which it reaches the others, where its kernel was asked.
    pub netdev: Option<String>,
    /// What it answered.
    pub probe: Probe,
    /// What its snapshot shows.
    pub facts: Facts,
}

/// Why there is no plan. Nothing was started.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// Programs that hosts lack.
    #[error("{}", needs::message(.0))]
    Missing(Vec<Missing>),
    /// A test needs more hosts, or there is none.
    #[error("{0}")]
    Hosts(String),
    /// Nothing of the suite can be done on these hosts.
    #[error("nothing to run: {0}")]
    Nothing(String),
    /// An argument or a directory that is refused.
    #[error("{0}")]
    Refused(String),
    /// It would take or move more than allowed.
    #[error("{0}")]
    OverBudget(String),
}

/// A side of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Which host.
    pub host: usize,
    /// What its arguments are made of.
    pub call: Call,
    /// NUMA binding.
    pub binding: Binding,
    /// What passes here is its traffic: the interface, or the RDMA device. Unknown: the busiest interface.
    pub through: Option<String>,
}

/// A test on its hosts.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The test.
    pub test: &'static Test,
    /// Who serves, where there are two.
    pub server: Option<Side>,
    /// Who measures.
    pub client: Side,
    /// Directory for files, on the client.
    pub directory: Option<String>,
    /// What one run of it costs.
    pub cost: Cost,
    /// One run of it is ended after this, seconds.
    pub limit: u64,
}

/// One execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Index into [`Plan::tests`].
    pub test: usize,
    /// Index into [`Plan::variants`].
    pub variant: usize,
    /// Repetition, from 1; of warm-ups as well.
    pub repetition: u32,
    /// It does not count.
    pub warmup: bool,
}

/// Limits of a whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Seconds.
    pub seconds: u64,
    /// Bytes moved; `None`: not limited, because nobody said and the speed is not known.
    pub bytes: Option<u64>,
}

/// What will be run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Tests on their hosts.
    pub tests: Vec<Planned>,
    /// Settings.
    pub variants: Vec<Variant>,
    /// In this order.
    pub steps: Vec<Step>,
    /// What all of it is expected to cost.
    pub cost: Cost,
    /// Beyond this it is killed.
    pub limits: Limits,
    /// Remarks: what was chosen and why, what was left out.
    pub notes: Vec<String>,
    /// Hosts, as the user names them.
    pub hosts: Vec<String>,
    /// Port to try first.
    pub port: Option<u16>,
}

/// Time for each step besides the tool's own: looking for a port, waiting until the server listens.
const STEP_SECONDS: f64 = 0.7;

/// Plans.
///
/// # Errors
/// Something is missing or refused, or the budget does not suffice.
pub fn plan(request: &Request, hosts: &[PlanHost]) -> Result<Plan, PlanError> {
    if hosts.is_empty() {
        return Err(PlanError::Hosts("no host was named".to_owned()));
    }
    if request.repetitions == 0 || request.seconds == 0 || request.variants.is_empty() {
        return Err(PlanError::Nothing("repetitions, seconds and settings must each be at least one".to_owned()));
    }
    let mut notes = Vec::new();
    let tests = needs::possible(request, hosts, &mut notes)?;
    refusals(request, &tests)?;
    let mut planned = Vec::new();
    for test in tests {
        place(request, hosts, test, &mut planned, &mut notes)?;
    }
    if planned.is_empty() {
        return Err(PlanError::Nothing(notes.join("; ")));
    }
    let steps = order::steps(planned.len(), request);
    let cost = total(&planned, &steps);
    let limits = limits(request, &cost)?;
    let hosts = hosts.iter().map(|h| h.name.clone()).collect();
    let variants = request.variants.clone();
    Ok(Plan { tests: planned, variants, steps, cost, limits, notes, hosts, port: request.port })
}

fn refusals(request: &Request, tests: &[&'static Test]) -> Result<(), PlanError> {
    for test in tests {
        for variant in &request.variants {
            if let Some((a, why)) = variant.args.iter().find_map(|a| Some((a, (test.refuses)(a)?))) {
                return Err(PlanError::Refused(format!("{a} is not passed on to {}: {why}", test.program)));
            }
        }
        if test.shape == Shape::Directory
            && let Some(dir) = &request.directory
            && let Some(why) = crate::tools::refuse_directory(dir)
        {
            return Err(PlanError::Refused(format!("fio is not run in {dir}: {why}")));
        }
    }
    Ok(())
}

/// Puts a test on hosts: alone on each, from each to the next (of two: from the first to the second), or on all.
fn place(
    request: &Request,
    hosts: &[PlanHost],
    test: &'static Test,
    planned: &mut Vec<Planned>,
    notes: &mut Vec<String>,
) -> Result<(), PlanError> {
    let mut add = |client: usize, server: Option<usize>, notes: &mut Vec<String>| -> Result<(), PlanError> {
        let address = match server.or(Some(client)).and_then(|s| hosts.get(s)) {
            Some(PlanHost { address: Some(a), .. }) => a.clone(),
            _ if server.is_none() => String::new(),
            host => {
                let name = host.map_or("the server", |h| h.name.as_str());
                return Err(PlanError::Hosts(format!("the address of {name} is not known: give it as {name}=ADDRESS")));
            }
        };
        let mut side = |at: usize| side(request, hosts, test, at, &address, notes);
        let client = side(client);
        let server = server.map(&mut side);
        let (speed, rdma) = narrowest(&client.call, server.as_ref().map(|s| &s.call));
        let mut for_cost = Call { speed_gbps: speed, ..client.call.clone() };
        if let Some(path) = &mut for_cost.rdma {
            path.gbps = rdma;
        }
        let cost = (test.cost)(&for_cost);
        let limit = (cost.seconds * 3.0 + 20.0) as u64;
        let directory = (test.shape == Shape::Directory).then(|| request.directory.clone().unwrap_or_default());
        planned.push(Planned { test, server, client, directory, cost, limit });
        Ok(())
    };
    // MPI starts programs on the others, with what the first host may do there: no host names another in its place.
    if test.shape == Shape::Together
        && hosts.len() > 1
        && let Some(host) = hosts.iter().find(|h| !h.vouched || h.address.is_none())
    {
        let name = &host.name;
        return Err(PlanError::Hosts(format!(
            "{} runs on all hosts by mpirun, and only {name} itself says where it is reached: give its address as {name}=ADDRESS",
            test.name
        )));
    }
    match (test.shape, hosts.len()) {
        (Shape::Alone | Shape::Directory, n) => (0..n).try_for_each(|h| add(h, None, notes)),
        (Shape::Together, _) => add(0, None, notes),
        // One host: with itself, over loopback.
        (Shape::Pair { .. } | Shape::Towards, n @ (1 | 2)) => add(0, Some(n - 1), notes),
        (Shape::Pair { .. } | Shape::Towards, n) => (0..n).try_for_each(|h| add(h, Some((h + 1) % n), notes)),
    }
}

fn side(
    request: &Request,
    hosts: &[PlanHost],
    test: &'static Test,
    at: usize,
    address: &str,
    notes: &mut Vec<String>,
) -> Side {
    let nobody = PlanHost::default();
    let host = hosts.get(at).unwrap_or(&nobody);
    let mut note = |text: String| {
        let text = format!("{}: {text}", host.name);
        if !notes.contains(&text) {
            notes.push(text);
        }
    };
    let netdev = host.netdev.as_deref();
    let rdma = match test.needs {
        crate::tools::Need::Rdma => {
            let wanted = request.rdma.get(at).and_then(Option::as_deref);
            let found = host.facts.rdma_for(netdev, wanted);
            match (&found, wanted) {
                (Some((_, why)), _) => note(format!("RDMA device {why}")),
                (None, Some(w)) => note(format!("its snapshot shows no RDMA device {w}: the tool chooses")),
                (None, None) => note("no RDMA device is known: the tool chooses".to_owned()),
            }
            found.map(|(r, _)| r.clone())
        }
        _ => None,
    };
    let net = netdev.and_then(|n| host.facts.net(n));
    let near = match test.needs {
        crate::tools::Need::Rdma => rdma.as_ref().and_then(|r| r.numa),
        crate::tools::Need::Nothing => net.and_then(|n| n.numa),
        crate::tools::Need::Gpu => None,
    };
    let wanted = request.bind && matches!(test.shape, Shape::Pair { .. } | Shape::Towards);
    let binding = if wanted { Binding::choose(near, &host.facts, &host.probe) } else { Binding::None("") };
    if let Some(text) = binding.note() {
        note(text);
    }
    let mpi = test.shape == Shape::Together && hosts.len() > 1;
    let call = Call {
        seconds: request.seconds,
        address: address.to_owned(),
        port: 0,
        rdma: rdma.map(|r| r.path),
        gpus: host.facts.gpus,
        speed_gbps: net.and_then(|n| n.gbps),
        size: request.size,
        direct: true,
        mpi_hosts: if mpi { hosts.iter().filter_map(mpi_name).collect() } else { Vec::new() },
        root: host.probe.is_root(),
    };
    let through = call.rdma.as_ref().map(|r| r.device.clone()).or_else(|| host.netdev.clone());
    Side { host: at, call, binding, through }
}

/// `10.0.0.1:8`: as MPI is told, with one rank for each GPU.
fn mpi_name(host: &PlanHost) -> Option<String> {
    Some(format!("{}:{}", host.address.as_ref()?, host.facts.gpus.max(1)))
}

/// Speeds of the way between two sides, and of their RDMA ports: the slower of what is known.
fn narrowest(client: &Call, server: Option<&Call>) -> (Option<f64>, Option<f64>) {
    let slower = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let rdma = |c: &Call| c.rdma.as_ref().and_then(|r| r.gbps);
    let speed = slower(client.speed_gbps, server.and_then(|s| s.speed_gbps));
    (speed, slower(rdma(client), server.and_then(rdma)))
}

fn total(planned: &[Planned], steps: &[Step]) -> Cost {
    let of = |s: &Step| planned.get(s.test).map(|p| p.cost);
    let costs: Vec<Cost> = steps.iter().filter_map(of).collect();
    Cost {
        seconds: costs.iter().map(|c| c.seconds + STEP_SECONDS).sum(),
        bytes: costs.iter().map(|c| c.bytes).try_fold(0_u64, |sum, b| Some(sum.saturating_add(b?))),
        exact: costs.iter().all(|c| c.exact),
    }
}

/// Room above what is expected: half as much time and a minute. What a network can carry in one direction it also carries in the
/// other, for somebody else, and an interface counts both.
fn limits(request: &Request, cost: &Cost) -> Result<Limits, PlanError> {
    if let Some(max) = request.max_seconds
        && cost.seconds > max as f64
    {
        return Err(PlanError::OverBudget(format!(
            "it would take about {}, and {} are allowed: fewer repetitions, a shorter measurement or fewer tests fit",
            words::time(cost.seconds.ceil()),
            words::time(max as f64)
        )));
    }
    if let (Some(max), Some(bytes)) = (request.max_bytes, cost.bytes)
        && bytes > max
        && cost.exact
    {
        return Err(PlanError::OverBudget(format!(
            "it would move up to {}, and {} are allowed: smaller files, fewer repetitions or fewer tests fit",
            words::bytes(bytes),
            words::bytes(max)
        )));
    }
    let seconds = request.max_seconds.unwrap_or((cost.seconds * 1.5) as u64 + 60);
    let bytes = request.max_bytes.or_else(|| cost.bytes.map(|b| b.saturating_mul(5) / 2));
    Ok(Limits { seconds, bytes })
}

impl Planned {
    /// Program and arguments of the side that serves.
    #[must_use]
    pub fn server_argv(&self, side: &Side, call: &Call, variant: &Variant) -> Vec<String> {
        let both = matches!(self.test.shape, Shape::Pair { both: true, .. });
        self.argv(side, call, variant, (self.test.server)(call), both)
    }

    /// Program and arguments of the side that measures.
    #[must_use]
    pub fn client_argv(&self, call: &Call, variant: &Variant) -> Vec<String> {
        self.argv(&self.client, call, variant, (self.test.client)(call), true)
    }

    fn argv(&self, side: &Side, call: &Call, variant: &Variant, own: Vec<String>, more: bool) -> Vec<String> {
        let mut argv = side.binding.prefix();
        if !call.mpi_hosts.is_empty() {
            argv.extend(mpirun(call, variant));
        }
        argv.push(self.test.program.to_owned());
        argv.extend(own);
        if more {
            argv.extend(variant.args.iter().cloned());
        }
        argv
    }
}

/// One rank for each GPU of each host; variables reach the other hosts by `-x`.
fn mpirun(call: &Call, variant: &Variant) -> Vec<String> {
    let ranks: u32 = call.mpi_hosts.iter().filter_map(|h| h.rsplit(':').next()?.parse::<u32>().ok()).sum();
    let mut argv =
        vec!["mpirun".to_owned(), "-np".into(), ranks.to_string(), "--host".into(), call.mpi_hosts.join(",")];
    if call.root {
        argv.push("--allow-run-as-root".into());
    }
    argv.extend(variant.env.iter().flat_map(|(name, value)| ["-x".to_owned(), format!("{name}={value}")]));
    argv
}

impl What {
    pub(crate) fn is_suite(&self) -> bool {
        matches!(self, What::Suite(_))
    }
}

#[cfg(test)]
mod tests;
