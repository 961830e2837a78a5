//! nvbandwidth: copies between a host's memory and its GPUs, and between GPUs.

use super::{Call, Cost, Need, Package, Shape, Suite, Test, anything, nobody};
use linerate_bench::Kind;

const PACKAGE: Package = Package { debian: None, rhel: None, home: "https://github.com/NVIDIA/nvbandwidth" };

pub(super) const TESTS: &[Test] = &[Test {
    name: "nvbandwidth",
    shows: "copies between memory and GPUs, and between GPUs",
    program: "nvbandwidth",
    kind: Kind::Nvbandwidth,
    shape: Shape::Alone,
    needs: Need::Gpu,
    package: &PACKAGE,
    suites: &[Suite::Full],
    server: nobody,
    client,
    // All pairs of GPUs, in each direction, of thirty testcases.
    cost: |c| Cost::exactly(20.0 + 3.0 * f64::from(c.gpus * c.gpus), None),
    refuses: anything,
}];

const CASES: &[&str] = &[
    "host_to_device_memcpy_ce",
    "device_to_host_memcpy_ce",
    "host_to_device_bidirectional_memcpy_ce",
    "device_to_device_memcpy_read_ce",
    "device_to_device_memcpy_write_ce",
    "device_to_device_bidirectional_memcpy_read_ce",
];

fn client(_: &Call) -> Vec<String> {
    std::iter::once("-t").chain(CASES.iter().copied()).map(str::to_owned).collect()
}
