//! sockperf: latency of sockets, with percentiles.

use super::{Call, Cost, Listens, Need, Package, Shape, Suite, Test, anything, words};
use linerate_bench::Kind;

const PACKAGE: Package =
    Package { debian: Some("sockperf"), rhel: Some("sockperf"), home: "https://github.com/Mellanox/sockperf" };
/// Before the measurement, by the tool itself (its default is 400 ms).
const OVERHEAD: f64 = 1.0;

const fn test(
    name: &'static str,
    shows: &'static str,
    listens: Listens,
    suites: &'static [Suite],
    server: fn(&Call) -> Vec<String>,
    client: fn(&Call) -> Vec<String>,
) -> Test {
    Test {
        name,
        shows,
        program: "sockperf",
        kind: Kind::Sockperf,
        shape: Shape::Pair { listens, ends: false, both: false },
        needs: Need::Nothing,
        package: &PACKAGE,
        suites,
        server,
        client,
        // A ping-pong of 64 bytes cannot be faster than a million a second.
        cost: |c| Cost::exactly(f64::from(c.seconds) + OVERHEAD, Some(u64::from(c.seconds) * 300_000_000)),
        refuses: anything,
    }
}

pub(super) const TESTS: &[Test] = &[
    test(
        "sockperf-tcp",
        "TCP latency, one message at a time",
        Listens::Tcp,
        &[Suite::Network, Suite::Full],
        |c| server(c, &["--tcp"]),
        |c| client(c, "ping-pong", &["--tcp"]),
    ),
    test(
        "sockperf-udp",
        "UDP latency, one message at a time",
        Listens::Udp,
        &[Suite::Network, Suite::Full],
        |c| server(c, &[]),
        |c| client(c, "ping-pong", &[]),
    ),
];

fn server(c: &Call, more: &[&str]) -> Vec<String> {
    let mut argv = words(["server", "-i"]);
    argv.extend([any(c).to_owned(), "-p".into(), c.port.to_string()]);
    argv.extend(more.iter().map(|m| (*m).to_owned()));
    argv
}

fn any(c: &Call) -> &'static str {
    if c.address.contains(':') { "::" } else { "0.0.0.0" }
}

fn client(c: &Call, how: &str, more: &[&str]) -> Vec<String> {
    let mut argv = vec![how.to_owned(), "-i".to_owned(), c.address.clone()];
    argv.extend(["-p".into(), c.port.to_string(), "-t".into(), c.seconds.to_string(), "-m".into(), "64".into()]);
    argv.extend(more.iter().map(|m| (*m).to_owned()));
    argv
}
