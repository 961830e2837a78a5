//! The one command whose outcome tells most of the explanations apart: that of the greatest expected information, the cheapest of
//! equals.

use super::explain::{Weighed, Why};
use super::measured::{Measured, Of};
use crate::answer::{Next, Outcome};

/// A command, and what it shows.
struct Probe {
    /// With `DEV` for the device.
    command: &'static str,
    /// Where nothing is unusual.
    else_shows: &'static str,
    /// What it shows of some explanations.
    shows: &'static [(Why, &'static str)],
    /// Of which figures it is asked.
    of: fn(&Of<'_>) -> bool,
}

fn ports(of: &Of<'_>) -> bool {
    matches!(of, Of::Port(_))
}

fn bandwidth(of: &Of<'_>) -> bool {
    matches!(of, Of::Port(_) | Of::Collective(_))
}

fn tests(of: &Of<'_>) -> bool {
    !matches!(of, Of::Training(_))
}

fn trainings(of: &Of<'_>) -> bool {
    matches!(of, Of::Training(_))
}

fn jobs(of: &Of<'_>) -> bool {
    matches!(of, Of::Collective(_))
}

fn latencies(of: &Of<'_>) -> bool {
    matches!(of, Of::Latency(_))
}

/// The cheapest first.
static PROBES: &[Probe] = &[
    Probe {
        command: "cat /sys/class/infiniband/DEV/ports/*/rate",
        else_shows: "the rate that the port is built for",
        shows: &[(Why::PortRate, "the rate named here")],
        of: ports,
    },
    Probe {
        command: "lspci -vv -s $(basename $(readlink -f /sys/class/infiniband/DEV/device)) | grep LnkSta:",
        else_shows: "full speed and width",
        shows: &[(Why::PcieStep, "a lower speed or width")],
        of: ports,
    },
    Probe {
        command: "lspci -vv | grep LnkSta: | grep downgraded",
        else_shows: "nothing",
        shows: &[(Why::PcieStep, "a link that is downgraded")],
        of: jobs,
    },
    Probe {
        command: "NCCL_DEBUG=INFO, the same run again; look for `NET/` in the lines `via`",
        else_shows: "`via NET/IB/…/GDRDMA` with all NICs",
        shows: &[
            (Why::Sockets, "`via NET/Socket`"),
            (Why::NoGdr, "`via NET/IB/…` without /GDRDMA"),
            (Why::FewRails, "fewer NICs in `NET/IB : Using` than the node has"),
            (Why::NoNvlink, "`via SHM`, or P2P over PCIe"),
            (Why::NoMulticast, "no NVLS channels"),
        ],
        of: jobs,
    },
    Probe {
        command: "the same test in the host's memory (without --use_cuda)",
        else_shows: "as slow",
        shows: &[(Why::Detour, "line rate"), (Why::GpuBehindCpu, "line rate")],
        of: ports,
    },
    Probe {
        command: "nvidia-smi topo -m",
        else_shows: "PIX or PXB between GPU and NIC",
        shows: &[(Why::GpuBehindCpu, "PHB, NODE or SYS between GPU and NIC"), (Why::NoNvlink, "no NV# between GPUs")],
        of: bandwidth,
    },
    Probe {
        command: "lspci -vvv | grep -E '^[0-9a-f]|ACSCtl'",
        else_shows: "ReqRedir- on the bridges of the path",
        shows: &[(Why::Detour, "ReqRedir+ on a bridge of the path (or, on a VM's host, DirectTrans-)")],
        of: bandwidth,
    },
    Probe {
        command: "the same test with larger messages: -s 8388608, or -a",
        else_shows: "no more than this",
        shows: &[(Why::TooSmall, "more bandwidth")],
        of: bandwidth,
    },
    Probe {
        command: "the same test under `numactl -N n -m n`, n from /sys/class/infiniband/DEV/device/numa_node",
        else_shows: "as slow",
        shows: &[(Why::FarMemory, "faster")],
        of: tests,
    },
    Probe {
        command: "the same test with more in flight: -q 4 -o 16",
        else_shows: "as slow",
        shows: &[(Why::FewReads, "faster"), (Why::OneOfBond, "faster"), (Why::Ordering, "somewhat faster")],
        of: ports,
    },
    Probe {
        command: "cpupower idle-set -D 2 for the time of the test, then -E",
        else_shows: "as slow",
        shows: &[(Why::Asleep, "faster")],
        of: latencies,
    },
    Probe {
        command: "the same test without -e, on bare metal if this is a guest",
        else_shows: "as slow",
        shows: &[(Why::Events, "faster")],
        of: latencies,
    },
    Probe {
        command: "ping -c 20 -i 0.2 HOST, and tracepath HOST",
        else_shows: "few hops",
        shows: &[(Why::FarHost, "many hops, or a round trip of this order")],
        of: latencies,
    },
    Probe {
        command: "linerate watch counters, on both hosts, while the test runs",
        else_shows: "no counter of losses or congestion grows",
        shows: &[(Why::Congestion, "losses, marks, pauses or waits grow")],
        of: tests,
    },
    Probe {
        command: "linerate watch counters --on NODES --interval 10s, while the training runs",
        else_shows: "nothing but traffic grows",
        shows: &[
            (Why::LostRail, "a link went down, or one port carries nothing"),
            (Why::Congestion, "losses, marks, pauses or waits grow"),
            (Why::PcieStep, "packets of PCIe are damaged, or a GPU's link retrains"),
        ],
        of: trainings,
    },
    Probe {
        command: "nvidia-smi --query-gpu=index,clocks.sm,clocks_event_reasons.active --format=csv, on all nodes, while the training runs",
        else_shows: "all GPUs at the same clocks, with the same reasons",
        shows: &[
            (Why::Throttled, "lower clocks, with a reason (power, heat)"),
            (Why::Straggler, "one GPU differs from the others"),
        ],
        of: trainings,
    },
    Probe {
        command: "py-spy dump --pid PID of a rank, some times",
        else_shows: "it waits in a collective or for the GPU",
        shows: &[(Why::Input, "it waits for data or storage"), (Why::Periodic, "it saves or evaluates")],
        of: trainings,
    },
    Probe {
        command: "the same test over pairs of hosts: it is one of them, or all",
        else_shows: "all are the same",
        shows: &[(Why::Straggler, "one host is slower than the others")],
        of: jobs,
    },
    Probe {
        command: "cat /sys/kernel/iommu_groups/*/type | sort | uniq -c",
        else_shows: "identity, or nothing",
        shows: &[(Why::Translated, "DMA or DMA-FQ")],
        of: bandwidth,
    },
];

/// Outcomes, with the places of the explanations that predict each, and their weight.
type Split = Vec<(&'static str, Vec<usize>, f64)>;

impl Probe {
    fn outcome(&self, why: Why) -> &'static str {
        self.shows.iter().find(|(w, _)| *w == why).map_or(self.else_shows, |(_, o)| *o)
    }

    /// Outcomes with the places of the explanations that predict them.
    fn split(&self, fits: &[Weighed]) -> Split {
        let mut out = Split::new();
        for (i, f) in fits.iter().enumerate() {
            let outcome = self.outcome(f.fit.why);
            match out.iter_mut().find(|(o, ..)| *o == outcome) {
                Some((_, places, weight)) => {
                    places.push(i + 1);
                    *weight += f.fit.weight;
                }
                None => out.push((outcome, vec![i + 1], f.fit.weight)),
            }
        }
        out
    }
}

/// Bits that are expected of a split.
fn information(split: &[(&'static str, Vec<usize>, f64)]) -> f64 {
    let all: f64 = split.iter().map(|(.., w)| w).sum();
    split.iter().map(|(.., w)| w / all).filter(|p| *p > 0.0).map(|p| -p * p.log2()).sum()
}

/// The cheapest command that shows whether this explains the figure.
fn confirms(of: &Of<'_>, why: Why) -> Option<(&'static Probe, Vec<Outcome>)> {
    let shows = |p: &Probe| p.shows.iter().find(|(w, _)| *w == why).map(|(_, shows)| *shows);
    let (probe, shows) = PROBES.iter().filter(|p| (p.of)(of)).find_map(|p| Some((p, shows(p)?)))?;
    let outcomes = vec![Outcome { shows, fits: vec![1] }, Outcome { shows: probe.else_shows, fits: Vec::new() }];
    Some((probe, outcomes))
}

/// The next command: the one that tells most of the explanations apart, or shows whether the only one is it. `None` where there is none.
pub(super) fn next(fits: &[Weighed], m: &Measured<'_>) -> Option<Next> {
    let device = match &m.of {
        Of::Port(t) => t.run.header.device.as_deref(),
        Of::Latency(t) => t.run.header.device.as_deref(),
        Of::Collective(_) | Of::Training(_) => None,
    };
    let mut best: Option<(f64, &Probe, Split)> = None;
    for probe in PROBES.iter().filter(|p| (p.of)(&m.of)) {
        let split = probe.split(fits);
        let bits = information(&split);
        // Cheaper ones come first: a later one must be clearly better.
        if bits > best.as_ref().map_or(0.05, |(b, ..)| b * 1.05) {
            best = Some((bits, probe, split));
        }
    }
    let parted = best
        .map(|(_, probe, split)| (probe, split.into_iter().map(|(shows, fits, _)| Outcome { shows, fits }).collect()));
    let only = || fits.first().filter(|_| fits.len() == 1).and_then(|f| confirms(&m.of, f.fit.why));
    let (probe, outcomes): (&Probe, Vec<Outcome>) = parted.or_else(only)?;
    // A name from data is shown as a word of its own; anything else stays the place to fill in.
    let plain = |d: &&str| !d.is_empty() && d.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    Some(Next { command: probe.command.replace("DEV", device.filter(plain).unwrap_or("DEV")), outcomes })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each explanation is told apart from another by some command.
    #[test]
    fn every_explanation_has_a_command_that_shows_it() {
        use Why::*;
        for why in [
            PortRate,
            PcieStep,
            GpuBehindCpu,
            Detour,
            Translated,
            FarMemory,
            Ordering,
            TooSmall,
            FewReads,
            Congestion,
            OneOfBond,
            FewRails,
            Sockets,
            NoGdr,
            NoNvlink,
            NoMulticast,
            Straggler,
            Asleep,
            Events,
            FarHost,
        ] {
            assert!(PROBES.iter().any(|p| p.shows.iter().any(|(w, _)| *w == why)), "{why:?}");
        }
    }
}
