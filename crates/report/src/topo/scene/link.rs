//! Links and how fast they are.

use super::words::number;

/// Generation and width of a PCIe link, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PcieLink {
    /// 1 to 7.
    pub generation: Option<u8>,
    /// Lanes.
    pub width: Option<u8>,
}

impl PcieLink {
    /// From a topology's `link_speed` (`32.0 GT/s PCIe`) and `link_width`.
    #[must_use]
    pub fn parse(speed: Option<&str>, width: Option<&str>) -> Self {
        let gts = speed.and_then(|s| s.split_whitespace().next()).and_then(|s| s.parse::<f32>().ok());
        let generation = gts.and_then(|gts| {
            let table = [(2.5, 1), (5.0, 2), (8.0, 3), (16.0, 4), (32.0, 5), (64.0, 6), (128.0, 7)];
            table.into_iter().find(|(s, _): &(f32, u8)| (s - gts).abs() < 0.01).map(|(_, g)| g)
        });
        let width = width.and_then(|w| w.parse().ok()).filter(|w| (1..=32).contains(w));
        PcieLink { generation, width }
    }

    /// `Gen5 x16`, or what is known of it; empty where nothing is.
    #[must_use]
    pub fn label(self) -> String {
        match (self.generation, self.width) {
            (Some(g), Some(w)) => format!("Gen{g} x{w}"),
            (Some(g), None) => format!("Gen{g}"),
            (None, Some(w)) => format!("x{w}"),
            (None, None) => String::new(),
        }
    }

    /// GB/s that NCCL would count for it (`src/graph/topo.cc`: 100 Mb/s units a lane, and 80 of them a GB/s).
    #[must_use]
    pub fn gbps(self) -> Option<f32> {
        let lane = match self.generation? {
            1 => 15.0,
            2 => 30.0,
            g @ 3..=7 => 60.0 * f32::from(1_u8 << (g - 3)),
            _ => return None,
        };
        Some(lane * f32::from(self.width?) / 80.0)
    }

    fn below(self, other: PcieLink) -> bool {
        let less = |a: Option<u8>, b: Option<u8>| matches!((a, b), (Some(a), Some(b)) if a < b);
        less(self.generation, other.generation) || less(self.width, other.width)
    }
}

/// What a PCIe link is and could be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkState {
    /// As it runs.
    pub now: PcieLink,
    /// As both of its ends could run it.
    pub possible: PcieLink,
}

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
}

/// PCIe's steps, slow to fast.
pub const PCIE_STEPS: [Step; 5] = [Step::Slow, Step::Gen3, Step::Gen4, Step::Gen5, Step::Gen6];

impl Link {
    /// A link that is not PCIe.
    #[must_use]
    pub fn of(medium: Medium, gbps: f32) -> Self {
        Link { medium, gbps, pcie: PcieLink::default(), possible: None }
    }

    /// A PCIe link; `state` wins over what the topology says.
    #[must_use]
    pub fn pcie(gbps: f32, written: PcieLink, state: Option<LinkState>) -> Self {
        let pcie = match state {
            Some(s) => {
                PcieLink { generation: s.now.generation.or(written.generation), width: s.now.width.or(written.width) }
            }
            None => written,
        };
        let possible = state.map(|s| s.possible).filter(|p| pcie.below(*p));
        Link { medium: Medium::Pcie, gbps, pcie, possible }
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
            _ => format!("{} GB/s", number(self.runs())),
        }
    }

    /// `Gen5 x16 · 48 GB/s`.
    #[must_use]
    pub fn label(&self) -> String {
        let what = match self.medium {
            Medium::Pcie => self.pcie.label(),
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_and_counted_as_nccl_does() {
        for (speed, width, label, gbps) in [
            ("32.0 GT/s PCIe", "16", "Gen5 x16", Some(48.0)),
            ("16 GT/s", "8", "Gen4 x8", Some(12.0)),
            ("2.5 GT/s PCIe", "1", "Gen1 x1", Some(0.1875)),
            ("64.0 GT/s PCIe", "16", "Gen6 x16", Some(96.0)),
            ("32.0 GT/s PCIe", "0", "Gen5", None),
            ("Unknown", "255", "", None),
            ("", "4", "x4", None),
        ] {
            let link = PcieLink::parse(Some(speed), Some(width));
            assert_eq!((link.label().as_str(), link.gbps()), (label, gbps), "{speed} {width}");
        }
        assert_eq!(PcieLink::parse(None, None), PcieLink::default());
    }

    #[test]
    fn a_link_is_slow_only_where_it_could_be_faster() {
        let g = |generation, width| PcieLink { generation: Some(generation), width: Some(width) };
        let link = |now, possible| Link::pcie(48.0, g(5, 16), Some(LinkState { now, possible }));
        let slow = link(g(3, 8), g(5, 16));
        assert_eq!((slow.degraded(), slow.runs(), slow.step()), (true, 6.0, Step::Slow));
        assert_eq!(slow.label(), "Gen3 x8 · 6 GB/s, could be Gen5 x16 (48 GB/s to NCCL)");
        let narrow = link(g(5, 8), g(5, 16));
        assert_eq!((narrow.degraded(), narrow.step()), (true, Step::Gen4));
        let right = link(g(4, 16), g(4, 16));
        assert_eq!((right.degraded(), right.runs(), right.label().as_str()), (false, 48.0, "Gen4 x16 · 48 GB/s"));
        let unseen = link(PcieLink::default(), g(5, 16));
        assert_eq!((unseen.degraded(), unseen.pcie), (false, g(5, 16)));
    }
}
