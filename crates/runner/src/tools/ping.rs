//! ping: round-trip time as the kernel's network stack sees it.

use super::{Call, Cost, Need, Package, Shape, Suite, Test, nobody, words};
use linerate_bench::Kind;

const PACKAGE: Package =
    Package { debian: Some("iputils-ping"), rhel: Some("iputils"), home: "https://github.com/iputils/iputils" };

pub(super) const TESTS: &[Test] = &[Test {
    name: "ping",
    shows: "round-trip time and loss of small packets",
    program: "ping",
    kind: Kind::Ping,
    shape: Shape::Towards,
    needs: Need::Nothing,
    package: &PACKAGE,
    suites: &[Suite::Quick, Suite::Network, Suite::Full],
    server: nobody,
    client,
    cost: |c| Cost::exactly(f64::from(c.seconds) + 0.5, Some(u64::from(count(c)) * 2 * 98)),
    refuses: |a| a.starts_with("-f").then_some("a flood has no limit that linerate could keep"),
}];

/// Five a second: the shortest interval that every release allows to everybody.
fn count(c: &Call) -> u32 {
    c.seconds * 5
}

fn client(c: &Call) -> Vec<String> {
    let mut argv = words(["-n", "-i", "0.2", "-c"]);
    argv.extend([count(c).to_string(), "-w".into(), (c.seconds + 5).to_string(), c.address.clone()]);
    argv
}
