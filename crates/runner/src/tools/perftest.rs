//! perftest: RDMA verbs between two hosts.

use super::{Call, Cost, Listens, Need, Package, Shape, Suite, Test, anything, words};
use linerate_bench::Kind;

const PACKAGE: Package =
    Package { debian: Some("perftest"), rhel: Some("perftest"), home: "https://github.com/linux-rdma/perftest" };
/// Iterations of a size sweep; of a latency test.
const SWEEP: u64 = 1000;
const LATENCY: u64 = 10_000;
/// 2 + 4 + … + 2²³ bytes: what `-a` measures.
const ALL_SIZES: u64 = (1 << 24) - 2;

const fn test(
    name: &'static str,
    shows: &'static str,
    program: &'static str,
    side: fn(&Call) -> Vec<String>,
    client: fn(&Call) -> Vec<String>,
    cost: fn(&Call) -> Cost,
) -> Test {
    Test {
        name,
        shows,
        program,
        kind: Kind::Perftest,
        shape: Shape::Pair { listens: Listens::Tcp, ends: true, both: true },
        needs: Need::Rdma,
        package: &PACKAGE,
        suites: &[Suite::Rdma, Suite::Full],
        server: side,
        client,
        cost,
        refuses: anything,
    }
}

pub(super) const TESTS: &[Test] = &[
    test("ib_write_bw", "RDMA write bandwidth at 64 KiB", "ib_write_bw", timed, |c| to(c, timed), timed_cost),
    test("ib_read_bw", "RDMA read bandwidth at 64 KiB", "ib_read_bw", timed, |c| to(c, timed), timed_cost),
    test("ib_send_bw", "send bandwidth at 64 KiB", "ib_send_bw", timed, |c| to(c, timed), timed_cost),
    test(
        "ib_write_bw-sizes",
        "RDMA write bandwidth over all sizes",
        "ib_write_bw",
        sweep,
        |c| to(c, sweep),
        sweep_cost,
    ),
    test("ib_write_lat", "RDMA write latency of 2 bytes", "ib_write_lat", latency, |c| to(c, latency), latency_cost),
    test("ib_read_lat", "RDMA read latency of 2 bytes", "ib_read_lat", latency, |c| to(c, latency), latency_cost),
    test("ib_send_lat", "send latency of 2 bytes", "ib_send_lat", latency, |c| to(c, latency), latency_cost),
];

/// `-F`: a CPU whose frequency is not constant is a remark, not an error.
fn common(c: &Call) -> Vec<String> {
    let mut argv = words(["-F", "-p"]);
    argv.push(c.port.to_string());
    if let Some(r) = &c.rdma {
        argv.extend(["-d".into(), r.device.clone(), "-i".into(), r.port.to_string()]);
        argv.extend(r.gid.iter().flat_map(|g| ["-x".to_owned(), g.to_string()]));
    }
    argv
}

fn timed(c: &Call) -> Vec<String> {
    [common(c), words(["--report_gbits", "-s", "65536", "-D"]), vec![c.seconds.to_string()]].concat()
}

fn sweep(c: &Call) -> Vec<String> {
    [common(c), words(["--report_gbits", "-a", "-n"]), vec![SWEEP.to_string()]].concat()
}

fn latency(c: &Call) -> Vec<String> {
    [common(c), words(["-s", "2", "-n"]), vec![LATENCY.to_string()]].concat()
}

fn to(c: &Call, side: fn(&Call) -> Vec<String>) -> Vec<String> {
    let mut argv = side(c);
    argv.push(c.address.clone());
    argv
}

fn speed(c: &Call) -> Option<f64> {
    c.rdma.as_ref().and_then(|r| r.gbps).or(c.speed_gbps)
}

fn timed_cost(c: &Call) -> Cost {
    let call = Call { speed_gbps: speed(c), ..c.clone() };
    Cost::at_speed(&call, f64::from(c.seconds) + 1.0)
}

fn sweep_cost(c: &Call) -> Cost {
    let bytes = ALL_SIZES * SWEEP;
    // Where nobody knows the speed: about what Soft-RoCE does.
    let seconds = bytes as f64 * 8.0 / (speed(c).unwrap_or(1.0) * 1e9);
    Cost::exactly(seconds * 1.2 + 3.0, Some(bytes))
}

fn latency_cost(_: &Call) -> Cost {
    Cost::exactly(3.0, Some(LATENCY * 2 * 64))
}
