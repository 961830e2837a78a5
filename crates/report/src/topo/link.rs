//! PCIe links, as every view of a topology tells them.

use linerate_formats::pci::{LinkSpeed, LinkWidth};
use linerate_topology::system::link_bandwidth;

/// Generation and width of a PCIe link, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PcieLink {
    /// Speed of a lane.
    pub speed: Option<LinkSpeed>,
    /// Lanes.
    pub width: Option<LinkWidth>,
}

impl PcieLink {
    /// A link of which both are known.
    #[must_use]
    pub fn new(speed: LinkSpeed, width: LinkWidth) -> Self {
        PcieLink { speed: Some(speed), width: Some(width) }
    }

    /// From a topology's `link_speed` (`32.0 GT/s PCIe`) and `link_width`.
    #[must_use]
    pub fn parse(speed: Option<&str>, width: Option<&str>) -> Self {
        let width = width.and_then(|w| w.parse().ok()).filter(|w| (1..=32).contains(w));
        PcieLink { speed: speed.and_then(LinkSpeed::parse), width: width.map(LinkWidth) }
    }

    /// What is not known of it taken from another.
    #[must_use]
    pub fn or(self, other: PcieLink) -> Self {
        PcieLink { speed: self.speed.or(other.speed), width: self.width.or(other.width) }
    }

    /// `Gen5 x16`, or what is known of it; empty where nothing is.
    #[must_use]
    pub fn label(self) -> String {
        match (self.speed.map(LinkSpeed::generation), self.width) {
            (Some(g), Some(w)) => format!("Gen{g} {w}"),
            (Some(g), None) => format!("Gen{g}"),
            (None, Some(w)) => w.to_string(),
            (None, None) => String::new(),
        }
    }

    /// GB/s that NCCL would count for it.
    #[must_use]
    pub fn gbps(self) -> Option<f32> {
        Some(link_bandwidth(self.speed?, self.width?))
    }

    /// Whether it is known to be slower or narrower than another.
    #[must_use]
    pub fn below(self, other: PcieLink) -> bool {
        fn less<T: PartialOrd>(a: Option<T>, b: Option<T>) -> bool {
            matches!((a, b), (Some(a), Some(b)) if a < b)
        }
        less(self.speed, other.speed) || less(self.width, other.width)
    }
}

/// What a PCIe link is and could be; the default where it is known that nobody can tell, as of the links of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkState {
    /// As it runs.
    pub now: PcieLink,
    /// As both of its ends could run it.
    pub possible: PcieLink,
}

impl LinkState {
    /// Whether it is known to run below what it could.
    #[must_use]
    pub fn degraded(self) -> bool {
        self.now.below(self.possible)
    }

    /// `Gen4 x8 of Gen5 x16`, or as much as is known.
    #[must_use]
    pub fn words(self) -> String {
        let (now, possible) = (self.now.label(), self.possible.label());
        match (now.is_empty(), possible.is_empty()) {
            (true, false) => format!("link unknown, {possible} possible"),
            (true, true) => "link unknown".to_owned(),
            _ if self.degraded() => format!("{now} of {possible}"),
            _ => now,
        }
    }
}

/// Tells the state of a device's PCIe link by its bus id; `None` where the source shows none.
pub type LinkLookup<'a> = &'a dyn Fn(&str) -> Option<LinkState>;

#[cfg(test)]
mod tests {
    use super::*;

    const GEN5_X16: PcieLink = PcieLink { speed: Some(LinkSpeed::Gen5), width: Some(LinkWidth(16)) };

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
    fn words_say_what_is_possible_only_where_it_is_more() {
        let gen4_x8 = PcieLink::new(LinkSpeed::Gen4, LinkWidth(8));
        let none = PcieLink::default();
        for (now, possible, words, degraded) in [
            (gen4_x8, GEN5_X16, "Gen4 x8 of Gen5 x16", true),
            (PcieLink::new(LinkSpeed::Gen5, LinkWidth(8)), GEN5_X16, "Gen5 x8 of Gen5 x16", true),
            (GEN5_X16, GEN5_X16, "Gen5 x16", false),
            (GEN5_X16, none, "Gen5 x16", false),
            (none, GEN5_X16, "link unknown, Gen5 x16 possible", false),
            (none, none, "link unknown", false),
        ] {
            let state = LinkState { now, possible };
            assert_eq!((state.words().as_str(), state.degraded()), (words, degraded));
        }
    }
}
