//! Bus bandwidth of a collective: what explains it.

use super::explain::{Basis, Fit, Why};
use super::measured::{Ceiling, Job, Measured};
use super::port;
use super::steps::{self, meets, number, payload, span};
use linerate_topology::ceiling::{Port, Range};

/// GB/s per GPU and direction of NVLink's generations, by the GPU's name (NVIDIA's data sheets), and what 8 of them reach in one node.
const NVLINK: [(&[&str], f64); 5] = [
    (&["GB200", "B200", "B300", "GB300"], 900.0),
    (&["H100 80GB HBM3", "H100 SXM", "H200", "H800", "H20", "GH200"], 450.0),
    (&["A100-SXM", "A800-SXM"], 300.0),
    (&["V100-SXM2", "V100-SXM3"], 150.0),
    (&["P100-SXM2"], 80.0),
];

/// Rates of ports of nodes with several GPUs.
const RAILS: [f64; 6] = [25.0, 50.0, 100.0, 200.0, 400.0, 800.0];

/// GB/s of the ports of a node with eight of 400 Gb/s.
const LARGEST: f64 = 392.0;

/// GB/s that PCIe Gen5 x16 carries each way.
const PCIE: f64 = 56.0;

/// GB/s that GPUs of one host reach at most through its memory.
const NO_PEER: f64 = 25.0;

/// GB/s of NVLink of a GPU; `None`: it has none, or its name does not tell.
fn nvlink(gpu: Option<&str>) -> Option<f64> {
    let gpu = gpu?;
    NVLINK.iter().find(|(names, _)| names.iter().any(|n| gpu.contains(n))).map(|(_, v)| *v)
}

/// Explanations that fit, in no order.
pub(super) fn fits(m: &Measured<'_>, job: &Job<'_>, ceiling: Option<&Ceiling>) -> Vec<Fit> {
    let mut out = Vec::new();
    if let Some(small) = port::too_small(m) {
        out.push(small);
        if job.hosts.is_none() {
            return out;
        }
    }
    let rising = !out.is_empty();
    if job.hosts != Some(1) {
        between(m, job, ceiling, rising, if job.hosts.is_some() { 1.0 } else { 0.6 }, &mut out);
    }
    if job.hosts.is_none_or(|h| h == 1) {
        within(m, job, if job.hosts.is_some() { 1.0 } else { 0.6 }, &mut out);
    }
    out
}

/// Between hosts.
fn between(m: &Measured<'_>, job: &Job<'_>, ceiling: Option<&Ceiling>, rising: bool, sure: f64, out: &mut Vec<Fit>) {
    let ranks = job.ranks_per_host.or(job.ranks.map(|n| n.min(8))).unwrap_or(8).max(1);
    // Only then is the figure the sum of what rails carry.
    if job.whole_node && !rising {
        rails(m, job, ranks, ceiling, sure, out);
        slow_nics(m, ranks, ceiling, sure, out);
    }
    // Where the links are not known, what the largest nodes have bounds what may be a part of it.
    let share = m.value / ceiling.map_or(LARGEST, |c| c.range.high);
    let fits = |low: f64, high: f64| share <= high && (ceiling.is_none() || share >= low);
    let mut add = |fits: bool, why, weight: f64, what: &str, because: &str| {
        if fits {
            out.push(Fit::new(why, Basis::Estimate, weight * sure, what, because));
        }
    };
    add(
        m.value <= 12.0,
        Why::Sockets,
        if m.value <= 5.0 { 1.0 } else { 0.6 },
        "NCCL uses TCP sockets instead of RDMA",
        "sockets carry 1 to 3 GB/s a connection, and some of them together seldom more than 12",
    );
    add(
        fits(0.1, 0.8),
        Why::NoGdr,
        0.8,
        "RDMA without GPUDirect: each byte goes through the host's memory",
        "such copies reach a part of what the NICs carry, and differ by machine",
    );
    add(
        fits(0.03, 0.6),
        Why::Detour,
        0.6,
        "data between NIC and GPU go up to the root complex: ACS redirects them, or (in a VM) ATS or direct translation is off",
        "a tenth to a half of the rails has been seen; no formula is known",
    );
    add(
        fits(0.0, 0.98),
        Why::Straggler,
        0.3,
        "one host, GPU or rail is slower than the others: all wait for it",
        "a ring is as fast as its slowest part",
    );
    add(
        fits(0.0, 0.98),
        Why::Congestion,
        0.3,
        "other traffic, pauses or retransmissions take a part of the links",
        "nothing in the table shows it: counters do",
    );
}

/// So many ports at such a rate carry the figure.
fn rails(m: &Measured<'_>, job: &Job<'_>, ranks: usize, ceiling: Option<&Ceiling>, sure: f64, out: &mut Vec<Fit>) {
    let mut found = Vec::new();
    for rate in RAILS {
        let Some(one) = payload(Port { rate: Some(rate), ..Port::default() }) else { continue };
        for n in 1..=ranks.min(16) {
            let of = u32::try_from(n).map_or(1.0, f64::from);
            let range = Range::new(one.low / 8.0 * of, one.high / 8.0 * of);
            let known = ceiling.is_some_and(|c| c.range.low <= range.low * 1.02);
            // Odd numbers of rails are rare: the usual are one for all, one for two GPUs, one each.
            let usual = n == 1 || ranks.is_multiple_of(n);
            if !known && usual && m.value >= range.low * 0.93 && m.value <= range.high * 1.01 {
                found.push((n, rate, range));
            }
        }
    }
    for (n, rate, range) in found.iter().take(4) {
        let all = match job.ranks_per_host {
            Some(ranks) if ranks == *n => "all of ",
            Some(_) => "only ",
            None => "",
        };
        let ports = if *n == 1 { "port" } else { "ports" };
        let what = if *n == 1 && ranks > 1 {
            format!("only one port of {} Gb/s of each node is used", number(*rate))
        } else {
            format!("{all}{n} {ports} of {} Gb/s of each node are used", number(*rate))
        };
        let because = format!("together they carry {} GB/s", span(*range));
        let weight = if *n == 1 { 1.3 } else { 0.9 };
        out.push(Fit { ports: Some(*n), ..Fit::new(Why::FewRails, Basis::Derived, weight * sure, what, because) });
    }
}

/// Every rail ends at a step of PCIe: one slow link is enough, for the ring waits for it.
fn slow_nics(m: &Measured<'_>, ranks: usize, ceiling: Option<&Ceiling>, sure: f64, out: &mut Vec<Fit>) {
    let of = u32::try_from(ranks).map_or(1.0, f64::from);
    let each = m.value * 8.0 / of;
    for step in steps::pcie().iter().filter(|s| meets(each, s.data)).take(2) {
        if ceiling.is_some_and(|c| c.range.low * 8.0 / of <= step.data.low) {
            continue;
        }
        let what = format!("the PCIe link of a NIC runs at {}, and the others wait for it", step.words());
        let because = format!(
            "such a link carries {} GB/s, {ranks} of them as much as was measured",
            span(step.data.map(|v| v / 8.0))
        );
        out.push(Fit::new(Why::PcieStep, Basis::Derived, 0.8 * sure, what, because));
    }
}

/// In one host.
fn within(m: &Measured<'_>, job: &Job<'_>, sure: f64, out: &mut Vec<Fit>) {
    let link = nvlink(job.gpu);
    let mut add = |why, basis, weight: f64, what: String, because: String| {
        out.push(Fit::new(why, basis, weight * sure, what, because));
    };
    if let Some(link) = link
        && m.value < link * 0.25
    {
        add(
            Why::NoNvlink,
            Basis::Measured,
            1.5,
            "the GPUs do not use NVLink: data go over PCIe or through the host's memory".to_owned(),
            format!(
                "NVLink of these GPUs carries {} GB/s each way; PCIe Gen4 x16 about 26, Gen5 x16 about 53",
                number(link)
            ),
        );
    }
    if link.is_none() && m.value <= NO_PEER {
        add(
            Why::NoNvlink,
            Basis::Estimate,
            0.9,
            "the GPUs do not reach each other directly: data go through the host's memory".to_owned(),
            "without peer-to-peer (the driver, ACS, NCCL_P2P_DISABLE, a container) 2 to 25 GB/s have been seen"
                .to_owned(),
        );
    }
    if link == Some(450.0) && (300.0..400.0).contains(&m.value) && job.ranks_per_host.or(job.ranks) == Some(8) {
        add(
            Why::NoMulticast,
            Basis::Measured,
            1.5,
            "rings instead of multicast in the switches (NVLS)".to_owned(),
            "8 such GPUs reach 360 to 370 GB/s with rings, 470 to 480 with NVLS".to_owned(),
        );
    }
    if link.is_none_or(|l| m.value < l * 0.25) {
        for step in steps::pcie().iter().filter(|s| meets(m.value * 8.0, s.data)).take(2) {
            let what = format!("the PCIe link of a GPU runs at {}", step.words());
            let because = format!("such a link carries {} GB/s", span(step.data.map(|v| v / 8.0)));
            add(Why::PcieStep, Basis::Derived, 0.8, what, because);
        }
    }
    // All of it goes over PCIe then.
    if m.value <= PCIE && link.is_none_or(|l| m.value < l * 0.25) {
        add(
            Why::Detour,
            Basis::Estimate,
            0.6,
            "ACS redirects traffic between the GPUs up to the root complex".to_owned(),
            "all pairs below a switch then share its one link upstream".to_owned(),
        );
    }
}
