//! Bandwidth between two ports: what explains it.

use super::explain::{Basis, Fit, Why};
use super::measured::{Ceiling, LARGE, Measured, PortTest, bytes};
use super::steps::{self, RATES, meets, number, payload, span};
use linerate_topology::ceiling::Port;

/// Explanations that fit, in no order.
pub(super) fn fits(m: &Measured<'_>, test: &PortTest<'_>, ceiling: Option<&Ceiling>) -> Vec<Fit> {
    let mut out = Vec::new();
    if let Some(small) = too_small(m) {
        // The figure is the test's, not the path's: no step of a link can be read from it.
        out.push(small);
        return out;
    }
    rates(m, test, ceiling, &mut out);
    pcie(m, ceiling, &mut out);
    test_itself(test, &mut out);
    path(m, test, ceiling, &mut out);
    out
}

/// The curve has not reached what the path carries.
pub(super) fn too_small(m: &Measured<'_>) -> Option<Fit> {
    let largest = m.points.last().map_or(m.size, |p| p.0);
    let small = largest < LARGE && !matches!(m.rises(), Some(false));
    (small || m.rises() == Some(true)).then(|| {
        let what = format!("the messages are too small to fill the path: {} at most", bytes(largest));
        Fit::new(
            Why::TooSmall,
            Basis::Derived,
            2.0,
            what,
            "each message costs its start, whatever its size: the figure grows with the size",
        )
    })
}

/// Ports at which it may run.
fn rates(m: &Measured<'_>, test: &PortTest<'_>, ceiling: Option<&Ceiling>, out: &mut Vec<Fit>) {
    let h = &test.run.header;
    let infiniband = match h.link.as_deref() {
        Some("IB") => Some(true),
        Some("Ethernet") => Some(false),
        _ => None,
    };
    let mtu = h.mtu.and_then(|x| u32::try_from(x.0).ok());
    for rate in RATES {
        let port = Port { rate: Some(rate), infiniband, mtu, ..Port::default() };
        let Some(range) = payload(port).filter(|r| meets(m.value, *r)) else { continue };
        // The port itself is known, and it is not this.
        if ceiling.is_some_and(|c| c.range.low <= range.high * 1.05) {
            continue;
        }
        let kind = match infiniband {
            Some(true) => " of InfiniBand",
            Some(false) => " of Ethernet",
            None => "",
        };
        let of_mtu = mtu.map_or(String::new(), |x| format!(" at an MTU of {x}"));
        let because = format!(
            "its payload is {} Gb/s{of_mtu}: if the port is built for this rate, nothing is wrong",
            span(range)
        );
        let weight = if m.value >= range.low * 0.97 { 1.5 } else { 0.8 };
        out.push(Fit::new(
            Why::PortRate,
            Basis::Derived,
            weight,
            format!("a port{kind} that runs at {} Gb/s", number(rate)),
            because,
        ));
    }
}

/// PCIe links at which it may end.
fn pcie(m: &Measured<'_>, ceiling: Option<&Ceiling>, out: &mut Vec<Fit>) {
    for step in steps::pcie().iter().filter(|s| meets(m.value, s.data)) {
        if ceiling.is_some_and(|c| c.range.low <= step.data.low) {
            continue;
        }
        let because = format!("such a link carries {} Gb/s of data", span(step.data));
        out.push(Fit::new(
            Why::PcieStep,
            Basis::Derived,
            1.0,
            format!("the PCIe link between NIC and memory runs at {}", step.words()),
            because,
        ));
    }
}

/// What the test's own settings do.
fn test_itself(test: &PortTest<'_>, out: &mut Vec<Fit>) {
    let h = &test.run.header;
    let is_read = test.run.test.as_ref().is_some_and(|t| t.value.verb.contains("Read"));
    if is_read && h.outstanding_reads.is_none_or(|n| n < 16) {
        let shown = h.outstanding_reads.map_or("an unknown number".to_owned(), |n| n.to_string());
        out.push(Fit::new(
            Why::FewReads,
            Basis::Estimate,
            0.5,
            format!("too few reads in flight: {shown}"),
            "a read waits for its answer: bandwidth is what is in flight over the round trip",
        ));
    }
    let bond = h.device.as_deref().is_some_and(|d| d.contains("bond"));
    if bond && h.qps.is_none_or(|q| q == 1) {
        out.push(Fit::new(
            Why::OneOfBond,
            Basis::Derived,
            1.0,
            "one queue pair of a bond: it uses one of the ports",
            "a queue pair keeps to one port; several (-q) are spread",
        ));
    }
}

/// Memory and the way to it. `share` of the ceiling, where that is known, decides what fits; these ranges are estimates.
fn path(m: &Measured<'_>, test: &PortTest<'_>, ceiling: Option<&Ceiling>, out: &mut Vec<Fit>) {
    let share = ceiling.map(|c| m.value / c.range.high);
    let within = |low: f64, high: f64| share.is_none_or(|s| (low..=high).contains(&s));
    let mut add = |why, weight: f64, (low, high): (f64, f64), what: &str, because: &str| {
        if within(low, high) {
            out.push(Fit::new(why, Basis::Estimate, weight, what, because));
        }
    };
    // Where the text does not tell whose memory it is, either may be.
    let (gpu, host) = match test.gpu_memory {
        Some(true) => (0.8, 0.0),
        Some(false) => (0.0, 0.8),
        None => (0.4, 0.4),
    };
    if gpu > 0.0 {
        add(
            Why::Detour,
            gpu,
            (0.03, 0.6),
            "data between NIC and GPU go up to the root complex: ACS redirects them, or (in a VM) ATS or direct translation is off",
            "a tenth to a half of the link has been seen; no formula is known",
        );
        add(
            Why::GpuBehindCpu,
            gpu,
            (0.1, 0.85),
            "GPU and NIC are below different root ports: their traffic crosses the CPU",
            "what a CPU forwards between root ports differs by model: 10 to 85 % of a link",
        );
    }
    if host > 0.0 {
        add(
            Why::FarMemory,
            host * 0.5,
            (0.4, 0.97),
            "the memory is on the other socket than the NIC",
            "the link between sockets is shared; how much is lost differs by model",
        );
        if test.run.header.relaxed_ordering == Some(false) {
            add(
                Why::Ordering,
                host * 0.6,
                (0.3, 0.95),
                "strictly ordered writes: the run has PCIe relaxed ordering off",
                "on some CPUs ordered writes of a fast NIC wait for one another",
            );
        }
    }
    add(
        Why::Translated,
        0.3,
        (0.05, 0.97),
        "the IOMMU translates each access of the NIC",
        "misses of its cache cost a walk; no figure holds for all machines",
    );
    let unsteady = test.peak.is_some_and(|p| p > m.value * 1.15);
    if unsteady {
        let peak = test.peak.map(number).unwrap_or_default();
        add(
            Why::Congestion,
            1.0,
            (0.0, 1.0),
            &format!(
                "the fabric or the receiver halts the sender for parts of the time: the best stretch had {peak} Gb/s"
            ),
            "average far below peak: pauses, drops and retransmissions show so",
        );
    } else {
        add(
            Why::Congestion,
            0.25,
            (0.0, 0.98),
            "other traffic, pauses or retransmissions take a part of the link",
            "nothing in the table shows it: counters do",
        );
    }
}
