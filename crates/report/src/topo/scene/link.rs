//! Links and how fast they are.

use super::super::{LinkState, PcieLink};
use super::words::number;

/// What a link is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// PCIe.
    Pcie,
    /// NVLink.
    Nvlink,
    /// Chip to chip, between CPU and GPU.
    C2c,
    /// Between NUMA nodes.
    Smp,
    /// From an adapter to one of its network devices.
    Port,
    /// Not a bus: a device without a place on PCIe.
    Local,
}

/// A link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// What it is made of.
    pub medium: Medium,
    /// GB/s that NCCL counts with.
    pub gbps: f32,
    /// Generation and width, for PCIe.
    pub pcie: PcieLink,
    /// What it could be, where it is known to be less.
    pub possible: Option<PcieLink>,
    /// Whether somebody looked and could not see how it runs: then what it could be, as far as that is known.
    pub unknown: Option<PcieLink>,
    /// Its bandwidth hangs on what the source does not show.
    pub assumed: bool,
}

/// How fast a link is, in steps: each has its colour and width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Below PCIe Gen3 x16.
    Slow,
    /// Gen3 x16.
    Gen3,
    /// Gen4 x16.
    Gen4,
    /// Gen5 x16.
    Gen5,
    /// Gen6 x16 and faster.
    Gen6,
    /// NVLink.
    Nvlink,
    /// Chip to chip.
    C2c,
    /// Between NUMA nodes.
    Smp,
    /// Without a bandwidth of its own.
    Local,
    /// How it runs was not seen.
    Unknown,
}

/// PCIe's steps, slow to fast.
pub(in crate::topo) const PCIE_STEPS: [Step; 5] = [Step::Slow, Step::Gen3, Step::Gen4, Step::Gen5, Step::Gen6];

impl Link {
    /// A link that is not PCIe.
    #[must_use]
    pub fn of(medium: Medium, gbps: f32) -> Self {
        Link { medium, gbps, pcie: PcieLink::default(), possible: None, unknown: None, assumed: false }
    }

    /// The same, with a bandwidth that hangs on what the source does not show, where `yes`.
    #[must_use]
    pub fn assumed(self, yes: bool) -> Self {
        Link { assumed: yes, ..self }
    }

    /// A PCIe link; `state` wins over what the topology says.
    #[must_use]
    pub fn pcie(gbps: f32, written: PcieLink, state: Option<LinkState>) -> Self {
        let unknown = state.filter(|s| s.now == PcieLink::default()).map(|s| s.possible);
        let state = state.unwrap_or_default();
        // What is possible, or written for NCCL, is not how it runs.
        let pcie = if unknown.is_some() { PcieLink::default() } else { state.now.or(written) };
        let possible = Some(state.possible).filter(|p| pcie.below(*p));
        Link { medium: Medium::Pcie, gbps, pcie, possible, unknown, assumed: false }
    }

    /// Whether it is known to run below what it could.
    #[must_use]
    pub fn degraded(&self) -> bool {
        self.possible.is_some()
    }

    /// How fast it is.
    #[must_use]
    pub fn step(&self) -> Step {
        match self.medium {
            _ if self.unknown.is_some() => Step::Unknown,
            Medium::Nvlink => Step::Nvlink,
            Medium::C2c => Step::C2c,
            Medium::Smp => Step::Smp,
            Medium::Local => Step::Local,
            Medium::Pcie | Medium::Port => match self.runs() {
                b if b < 11.9 => Step::Slow,
                b if b < 23.9 => Step::Gen3,
                b if b < 47.9 => Step::Gen4,
                b if b < 95.9 => Step::Gen5,
                _ => Step::Gen6,
            },
        }
    }

    /// GB/s at which it runs: what NCCL counts with, or less where it is known to run slower.
    #[must_use]
    pub fn runs(&self) -> f32 {
        match self.pcie.gbps() {
            Some(now) if self.degraded() => now.min(self.gbps),
            _ => self.gbps,
        }
    }

    /// `48 GB/s`.
    #[must_use]
    pub fn rate(&self) -> String {
        match self.medium {
            Medium::Local => String::new(),
            _ if self.assumed => "speed not seen".to_owned(),
            // Not how fast it is.
            _ if self.unknown.is_some() => format!("{} GB/s to NCCL", number(self.gbps)),
            _ => format!("{} GB/s", number(self.runs())),
        }
    }

    /// `Gen5 x16`, as it runs; `link unknown` where that was not seen.
    #[must_use]
    pub fn generation(&self) -> String {
        if self.unknown.is_some() { "link unknown".to_owned() } else { self.pcie.label() }
    }

    /// `Gen5 x16 · 48 GB/s`.
    #[must_use]
    pub fn label(&self) -> String {
        let what = match self.medium {
            Medium::Pcie => self.generation(),
            Medium::Nvlink => "NVLink".to_owned(),
            Medium::C2c => "C2C".to_owned(),
            Medium::Smp => "SMP".to_owned(),
            Medium::Port => "port".to_owned(),
            Medium::Local => "not on PCIe".to_owned(),
        };
        let rate = self.rate();
        let mut label = match (what.is_empty(), rate.is_empty()) {
            (false, false) => format!("{what} · {rate}"),
            (true, _) => rate,
            (_, true) => what,
        };
        if let Some(p) = self.unknown.map(PcieLink::label).filter(|p| !p.is_empty()) {
            label.push_str(&format!(", {p} possible"));
        }
        if let Some(p) = self.possible {
            label.push_str(&format!(", could be {}", p.label()));
            if self.runs() < self.gbps {
                label.push_str(&format!(" ({} GB/s to NCCL)", number(self.gbps)));
            }
        }
        label
    }
}

impl Step {
    /// Its words in the legend.
    #[must_use]
    pub fn legend(self) -> &'static str {
        match self {
            Step::Slow => "below 12 GB/s",
            Step::Gen3 => "12 GB/s · Gen3 x16",
            Step::Gen4 => "24 GB/s · Gen4 x16",
            Step::Gen5 => "48 GB/s · Gen5 x16",
            Step::Gen6 => "96 GB/s · Gen6 x16",
            Step::Nvlink => "NVLink",
            Step::C2c => "C2C",
            Step::Smp => "SMP (between NUMA nodes)",
            Step::Local => "not on PCIe",
            Step::Unknown => "speed not seen",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_formats::pci::{LinkSpeed, LinkWidth};

    #[test]
    fn a_link_is_slow_only_where_it_could_be_faster() {
        let g = |generation, width| PcieLink::new(LinkSpeed::from_register(generation).unwrap(), LinkWidth(width));
        let link = |now, possible| Link::pcie(48.0, g(5, 16), Some(LinkState { now, possible }));
        let slow = link(g(3, 8), g(5, 16));
        assert_eq!((slow.degraded(), slow.runs(), slow.step()), (true, 6.0, Step::Slow));
        assert_eq!(slow.label(), "Gen3 x8 · 6 GB/s, could be Gen5 x16 (48 GB/s to NCCL)");
        let narrow = link(g(5, 8), g(5, 16));
        assert_eq!((narrow.degraded(), narrow.step()), (true, Step::Gen4));
        let right = link(g(4, 16), g(4, 16));
        assert_eq!((right.degraded(), right.runs(), right.label().as_str()), (false, 48.0, "Gen4 x16 · 48 GB/s"));
        let unseen = link(PcieLink::default(), g(5, 16));
        assert_eq!((unseen.degraded(), unseen.pcie, unseen.step()), (false, PcieLink::default(), Step::Unknown));
        assert_eq!(unseen.label(), "link unknown · 48 GB/s to NCCL, Gen5 x16 possible");
        assert_eq!(link(PcieLink::default(), PcieLink::default()).label(), "link unknown · 48 GB/s to NCCL");
        let written = Link::pcie(48.0, g(5, 16), None);
        assert_eq!((written.pcie, written.step()), (g(5, 16), Step::Gen5));
    }
}
