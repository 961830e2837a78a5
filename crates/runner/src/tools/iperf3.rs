//! iperf3: TCP and UDP throughput.

use super::{Call, Cost, Listens, Need, Package, Shape, Suite, Test, anything, words};
use linerate_bench::Kind;

const PACKAGE: Package =
    Package { debian: Some("iperf3"), rhel: Some("iperf3"), home: "https://software.es.net/iperf" };
/// Left out of the result by the tool itself: slow start.
const OMIT: u32 = 1;

const fn test(
    name: &'static str,
    shows: &'static str,
    suites: &'static [Suite],
    client: fn(&Call) -> Vec<String>,
) -> Test {
    Test {
        name,
        shows,
        program: "iperf3",
        kind: Kind::Iperf3,
        shape: Shape::Pair { listens: Listens::Tcp, ends: true, both: false },
        needs: Need::Nothing,
        package: &PACKAGE,
        suites,
        server,
        client,
        cost: |c| Cost::at_speed(c, f64::from(c.seconds + OMIT)),
        refuses: anything,
    }
}

pub(super) const TESTS: &[Test] = &[
    test("iperf3", "TCP throughput of one stream", &[Suite::Quick, Suite::Network, Suite::Full], |c| client(c, &[])),
    test("iperf3-8-streams", "TCP throughput of eight streams", &[Suite::Network, Suite::Full], |c| {
        client(c, &["-P", "8"])
    }),
    test("iperf3-reverse", "TCP throughput from the server to the client", &[Suite::Network, Suite::Full], |c| {
        client(c, &["-R"])
    }),
];

fn server(c: &Call) -> Vec<String> {
    [words(["-s", "-1", "-p"]), vec![c.port.to_string()]].concat()
}

fn client(c: &Call, more: &[&str]) -> Vec<String> {
    let mut argv = words(["-J", "-c"]);
    argv.extend([c.address.clone(), "-p".into(), c.port.to_string()]);
    argv.extend(["-t".into(), c.seconds.to_string(), "-O".into(), OMIT.to_string()]);
    argv.extend(more.iter().map(|m| (*m).to_owned()));
    argv
}
