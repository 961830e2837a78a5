//! Steps at which links end: what ports and PCIe links of each speed and width carry.

use linerate_formats::pci::LinkSpeed;
use linerate_topology::ceiling::{Direction, PcieLink, Port, Range};

/// Rates of ports that are built, in Gb/s.
pub(super) const RATES: [f64; 9] = [10.0, 25.0, 40.0, 50.0, 56.0, 100.0, 200.0, 400.0, 800.0];

/// A tenth of a step below it tests still end there: some measure less than what is possible, by a few per cent (facts of perftest runs: 95 to 100 %).
const BELOW: f64 = 0.93;
/// Rounding, and clocks that are a little fast.
const ABOVE: f64 = 1.01;

/// Gb/s of payload that a port carries.
pub(super) fn payload(port: Port) -> Option<Range> {
    port.payload("port").map(|d| d.gigabytes().map(|v| v * 8.0))
}

/// Whether a figure ends at a step.
pub(super) fn meets(value: f64, step: Range) -> bool {
    value >= step.low * BELOW && value <= step.high * ABOVE
}

/// PCIe links that carry equally much, by the first of them: name, names of the others, Gb/s of data.
pub(super) struct PcieStep {
    pub(super) name: String,
    pub(super) others: Vec<String>,
    pub(super) data: Range,
}

/// All steps of PCIe, from the slowest on.
pub(super) fn pcie() -> Vec<PcieStep> {
    use LinkSpeed::{Gen1, Gen2, Gen3, Gen4, Gen5};
    let mut all: Vec<(PcieLink, f64)> = Vec::new();
    for speed in [Gen1, Gen2, Gen3, Gen4, Gen5] {
        for width in [1, 2, 4, 8, 16] {
            let mut link = PcieLink::new(speed, width);
            // Payloads that machines use: 128 and 256 bytes; 512 is the rare best.
            link.mps = Some(256);
            all.push((link, link.raw()));
        }
    }
    all.sort_by(|a, b| a.1.total_cmp(&b.1).then(b.0.width.cmp(&a.0.width)));
    let mut out: Vec<(f64, PcieStep)> = Vec::new();
    for (link, raw) in all {
        let gbps = |direction| link.data(direction).map(|v| v * 8.0);
        match out.last_mut() {
            Some((first, step)) if raw <= *first * 1.02 => step.others.push(name(&link)),
            _ => {
                let data = Range::new(gbps(Direction::Read).low, gbps(Direction::Write).high);
                out.push((raw, PcieStep { name: name(&link), others: Vec::new(), data }));
            }
        }
    }
    out.into_iter().map(|(_, step)| step).collect()
}

fn name(link: &PcieLink) -> String {
    format!("Gen{} x{}", link.speed.generation(), link.width)
}

impl PcieStep {
    /// `Gen3 x8 (or Gen4 x4)`.
    pub(super) fn words(&self) -> String {
        if self.others.is_empty() {
            self.name.clone()
        } else {
            format!("{} (or {})", self.name, self.others.join(", "))
        }
    }
}

/// `12.1–14.0`, or one number where both ends are near.
pub(super) fn span(r: Range) -> String {
    let (low, high) = (number(r.low), number(r.high));
    if low == high { low } else { format!("{low}–{high}") }
}

/// Three digits.
pub(super) fn number(v: f64) -> String {
    match v {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the fact sheet: 31.5 GB/s raw of Gen4 x16 is 252 Gb/s; Gen3 x8 is 63 raw, about 52 to 56 of data.
    #[test]
    fn steps_of_pcie() {
        let all = pcie();
        let step = |v: f64| all.iter().find(|s| meets(v, s.data)).map(|s| s.name.as_str());
        assert_eq!(step(52.0), Some("Gen3 x8"), "{:?}", all.iter().map(|s| (&s.name, s.data)).collect::<Vec<_>>());
        assert!(all.windows(2).all(|w| w[0].data.high < w[1].data.high));
        assert!(all.iter().any(|s| s.others.contains(&"Gen4 x4".to_owned())));
        assert_eq!(step(1000.0), None);
    }

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!((number(392.4), number(38.25), number(4.554)), ("392".into(), "38.2".into(), "4.55".into()));
        assert_eq!(span(Range::new(38.21, 38.24)), "38.2");
    }
}
