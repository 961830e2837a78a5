//! nccl-tests: collectives over all GPUs of one host, or of several with MPI.

use super::{Call, Cost, Need, Package, Shape, Suite, Test, anything, nobody, words};
use linerate_bench::Kind;

const PACKAGE: Package = Package {
    debian: None,
    rhel: None,
    home: "https://github.com/NVIDIA/nccl-tests (build with MPI=1 for several hosts)",
};
/// Smallest size of a sweep, and how often each is measured (the tool's default).
const FROM: u64 = 8;
const ITERATIONS: u64 = 20;

const fn test(
    name: &'static str,
    shows: &'static str,
    suites: &'static [Suite],
    client: fn(&Call) -> Vec<String>,
) -> Test {
    Test {
        name,
        shows,
        program: name,
        kind: Kind::NcclTests,
        shape: Shape::Together,
        needs: Need::Gpu,
        package: &PACKAGE,
        suites,
        server: nobody,
        client,
        cost,
        refuses: anything,
    }
}

pub(super) const TESTS: &[Test] = &[
    test("all_reduce_perf", "AllReduce over all sizes", &[Suite::Full], sweep),
    test("all_gather_perf", "AllGather over all sizes", &[Suite::Full], sweep),
    test("reduce_scatter_perf", "ReduceScatter over all sizes", &[Suite::Full], sweep),
    test("alltoall_perf", "AlltoAll over all sizes", &[Suite::Full], sweep),
    test("sendrecv_perf", "sends to the next rank over all sizes", &[], sweep),
];

/// One rank for each GPU with MPI, all GPUs of one process without.
fn sweep(c: &Call) -> Vec<String> {
    let gpus = if c.mpi_hosts.is_empty() { c.gpus.max(1) } else { 1 };
    let mut argv = words(["-b", "8", "-f", "2", "-e"]);
    argv.extend([c.size.to_string(), "-g".into(), gpus.to_string()]);
    argv
}

fn cost(c: &Call) -> Cost {
    let sizes = (c.size.max(FROM) / FROM).ilog2() + 1;
    let bytes = c.size.saturating_mul(2).saturating_mul(ITERATIONS).saturating_mul(2);
    // In place and out of place, at 10 GB/s at worst, and the start of NCCL.
    Cost::exactly(15.0 + f64::from(sizes) * 0.2 + bytes as f64 / 1e10, Some(bytes))
}
