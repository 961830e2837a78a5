//! The tools: one file each, with how it is called, how it shows that it listens, where it comes from, and what it costs. A new tool
//! is a file here and a line in [`TOOLS`].

mod fio;
mod iperf3;
mod nccl_tests;
mod nvbandwidth;
mod perftest;
mod ping;
mod sockperf;

pub use fio::refuse as refuse_directory;

use linerate_bench::Kind;

/// All tests of all tools, in the order in which they are listed.
pub const TOOLS: &[&[Test]] =
    &[ping::TESTS, iperf3::TESTS, sockperf::TESTS, perftest::TESTS, fio::TESTS, nvbandwidth::TESTS, nccl_tests::TESTS];

/// All tests.
pub fn tests() -> impl Iterator<Item = &'static Test> {
    TOOLS.iter().copied().flatten()
}

/// A test: a program with a purpose.
#[derive(Debug)]
pub struct Test {
    /// Its name, `iperf3-8-streams`.
    pub name: &'static str,
    /// What it shows, in a line.
    pub shows: &'static str,
    /// The program.
    pub program: &'static str,
    /// Whose output it prints.
    pub kind: Kind,
    /// Who takes part.
    pub shape: Shape,
    /// What the hosts must have.
    pub needs: Need,
    /// Where the program comes from.
    pub package: &'static Package,
    /// Suites that it belongs to.
    pub suites: &'static [Suite],
    /// The server's arguments, after the program.
    pub server: fn(&Call) -> Vec<String>,
    /// The client's (or the only one's) arguments, after the program.
    pub client: fn(&Call) -> Vec<String>,
    /// What it costs.
    pub cost: fn(&Call) -> Cost,
    /// Why these further arguments of the user's are refused.
    pub refuses: fn(&str) -> Option<&'static str>,
}

/// Who takes part in a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One host by itself.
    Alone,
    /// One host by itself, in a directory made for it.
    Directory,
    /// A client, and a host that only answers.
    Towards,
    /// A server that shows its readiness by listening, and a client.
    Pair {
        /// What it listens with.
        listens: Listens,
        /// It ends by itself after one client; otherwise it is stopped.
        ends: bool,
        /// Further arguments concern both sides.
        both: bool,
    },
    /// All hosts at once, started on the first.
    Together,
}

/// What a server listens with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listens {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// What a host must have, as its snapshot shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// An RDMA device.
    Rdma,
    /// GPUs.
    Gpu,
}

/// Suites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Suite {
    /// Half a minute: is anything badly wrong between two hosts.
    Quick,
    /// TCP and UDP.
    Network,
    /// RDMA verbs.
    Rdma,
    /// Files.
    Storage,
    /// All that the hosts can do.
    Full,
}

impl Suite {
    /// All.
    pub const ALL: [Suite; 5] = [Suite::Quick, Suite::Network, Suite::Rdma, Suite::Storage, Suite::Full];

    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Suite::Quick => "quick",
            Suite::Network => "network",
            Suite::Rdma => "rdma",
            Suite::Storage => "storage",
            Suite::Full => "full",
        }
    }
}

/// Where a program comes from.
#[derive(Debug, PartialEq, Eq)]
pub struct Package {
    /// Debian's and Ubuntu's.
    pub debian: Option<&'static str>,
    /// Red Hat's and its relatives'.
    pub rhel: Option<&'static str>,
    /// Its home, for what no distribution has.
    pub home: &'static str,
}

/// What is known when a test is started.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// How long to measure, where the tool takes a time, seconds.
    pub seconds: u32,
    /// The server's address.
    pub address: String,
    /// The server's port. 0 until it is chosen.
    pub port: u16,
    /// RDMA device of this side.
    pub rdma: Option<RdmaPath>,
    /// GPUs of this side.
    pub gpus: u32,
    /// Speed of the way between the hosts, Gb/s, where a snapshot told it.
    pub speed_gbps: Option<f64>,
    /// Largest file or message that storage and collective tests may use, bytes.
    pub size: u64,
    /// Whether the file system takes O_DIRECT.
    pub direct: bool,
    /// Hosts of a test of all hosts, as MPI is told.
    pub mpi_hosts: Vec<String>,
    /// This side is root.
    pub root: bool,
}

/// An RDMA device, its port and its GID.
#[derive(Debug, Clone, PartialEq)]
pub struct RdmaPath {
    /// `mlx5_0`.
    pub device: String,
    /// Port, from 1.
    pub port: u32,
    /// Index of the GID, on RoCE.
    pub gid: Option<u32>,
    /// Data rate, Gb/s.
    pub gbps: Option<f64>,
}

/// What a test costs at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Expected time, seconds.
    pub seconds: f64,
    /// Bytes moved at most, where that can be told before.
    pub bytes: Option<u64>,
    /// The tool's own arguments see to that, so nobody needs to watch it: others' traffic on the same interface must not end it.
    pub exact: bool,
}

impl Cost {
    /// So much, whatever the network's speed.
    fn exactly(seconds: f64, bytes: Option<u64>) -> Self {
        Cost { seconds, bytes, exact: bytes.is_some() }
    }

    /// So long at a network's speed; more than that cannot pass.
    fn at_speed(call: &Call, seconds: f64) -> Self {
        let bytes = call.speed_gbps.map(|g| (g * 1e9 / 8.0 * seconds) as u64);
        Cost { seconds: seconds + 1.0, bytes, exact: false }
    }
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn nobody(_: &Call) -> Vec<String> {
    Vec::new()
}

fn anything(_: &str) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod test;
