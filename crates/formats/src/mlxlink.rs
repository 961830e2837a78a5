//! `mlxlink -d DEVICE`: the link of a port of NVIDIA's network cards; with `-c` its error counters.

use crate::asked::asked;
use crate::bounds::{Kept, Limit, NET_FUNCTIONS, leave_out};
use crate::text::{At, decode, leading_number, lines, unended};
use crate::tool::{Command, Gives, Mark, Tool, seen, starts};
use serde::Serialize;

/// `mlxlink`.
pub const TOOL: Tool = Tool {
    name: "mlxlink",
    called: "mlxlink",
    run: "mlxlink -d mlx5_0 -c",
    gives: Gives::Facts,
    marks: &[
        Mark::line(|l| {
            starts(l, &["Physical state  ", "Raw Physical BER  ", "Effective Physical BER  "]) && l.contains(" : ")
        })
        .begins(&["Physical state  ", "Raw Physical BER  ", "Effective Physical BER  "]),
        Mark::line_with(|l| l == "Operational Info", "Loopback Mode ").begins(&["Operational Info"]),
        Mark::line_with(|l| l == "Physical Counters and BER Info", " : ").begins(&["Physical Counters and BER Info"]),
    ],
    commands: &[Command::any("mlxlink"), Command::any("mstlink")],
    files: &["mlxlink", "mstlink"],
    read: Some(|b| seen(read(b))),
    samples: &[
        "Operational Info\n----------------\nState                              : Active\nPhysical state                     : LinkUp\nLoopback Mode                      : No Loopback\n",
        "Physical Counters and BER Info\n------------------------------\nRaw Physical BER                   : 7E-09\n",
    ],
    ..Tool::NONE
};

/// Programs that print it.
const PROGRAMS: &[&str] = &["mlxlink", "mstlink"];

/// The link of a port.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Link {
    /// 1-based line of the first that shows it.
    pub line: u32,
    /// Device, where the command line shows it: `mlx5_0`, `0000:18:00.0`.
    pub device: Option<At<String>>,
    /// Port, where the command line shows it.
    pub port: Option<u32>,
    /// State of the port's hardware, not of the InfiniBand port: `Active`, `Polling`, `Disable`.
    pub state: Option<At<String>>,
    /// `LinkUp`, `Disabled`, `Polling`.
    pub physical_state: Option<At<String>>,
    /// `IB-NDR`, `400G`.
    pub speed: Option<At<String>>,
    /// Lanes.
    pub width: Option<At<u32>>,
    /// Forward error correction.
    pub fec: Option<At<String>>,
    /// `Auto Negotiation`.
    pub auto_negotiation: Option<At<String>>,
    /// The tool's own words about what is wrong.
    pub recommendation: Option<At<String>>,
    /// Bit error rate before correction.
    pub raw_ber: Option<At<f64>>,
    /// Bit error rate behind the correction.
    pub effective_ber: Option<At<f64>>,
    /// Errors that were not corrected.
    pub effective_errors: Option<At<u64>>,
    /// Errors of symbols.
    pub symbol_errors: Option<At<u64>>,
    /// How often the link went down.
    pub link_downs: Option<At<u64>>,
}

impl Link {
    /// Rate over all lanes, Gb/s: `400G` is that of all lanes, `IB-NDR` that of one.
    #[must_use]
    pub fn rate_gbps(&self) -> Option<At<f64>> {
        const LANES: [(&str, f64); 4] = [("EDR", 25.0), ("HDR", 50.0), ("NDR", 100.0), ("XDR", 200.0)];
        let speed = self.speed.as_ref()?;
        let word = speed.value.strip_prefix("IB-").unwrap_or(&speed.value);
        if let Some((_, lane)) = LANES.iter().find(|(n, _)| *n == word) {
            return Some(At::new(lane * f64::from(self.width?.value), speed.line));
        }
        let digits = word.split('_').next()?.trim_end_matches("bE").strip_suffix('G')?;
        let whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        whole.then(|| digits.parse().ok().map(|g| At::new(g, speed.line)))?
    }
}

/// Reads the links of one or several ports. `Operational Info`, or another command line, begins one.
pub fn read(bytes: &[u8]) -> Kept<Link> {
    let text = decode(bytes);
    let mut kept: Kept<Link> = Kept::default();
    let (mut named, mut begun, mut full) = ((None, None), false, false);
    // The last word of a text without its end may be half a word.
    let unended = unended(&text);
    for (line, raw) in lines(&text) {
        let raw = raw.trim_start_matches(['>', ' ', '\t']).trim_end();
        if let Some(device) = asked(raw, PROGRAMS, "-d") {
            named = (Some(At::new(device, line)), asked(raw, PROGRAMS, "-p").and_then(|p| p.parse().ok()));
            begun = false;
            continue;
        }
        let head = raw == "Operational Info";
        let Some((key, value)) = raw.split_once(" :").map(|(k, v)| (k.trim_end(), v.trim())).filter(|_| !head) else {
            begun &= !head;
            continue;
        };
        if Some(line) == unended || !is_key(key) {
            continue;
        }
        if !begun {
            begun = true;
            full = kept.items.len() >= NET_FUNCTIONS;
            let (device, port) = std::mem::take(&mut named);
            if full {
                leave_out(&mut kept.left_out, Limit::NET_FUNCTIONS, line);
            } else {
                kept.items.push(Link { line, device, port, ..Link::default() });
            }
        }
        if let Some(link) = kept.items.last_mut().filter(|_| !full) {
            link.set(key, value, line);
        }
    }
    kept
}

const KEYS: [&str; 13] = [
    "State",
    "Physical state",
    "Speed",
    "Width",
    "FEC",
    "Auto Negotiation",
    "Recommendation",
    "Raw Physical BER",
    "Effective Physical BER",
    "Effective Physical Errors",
    "Symbol Errors",
    "Link Down Counter",
    "Loopback Mode",
];

fn is_key(key: &str) -> bool {
    KEYS.contains(&key)
}

impl Link {
    fn set(&mut self, key: &str, value: &str, line: u32) {
        let text = || Some(At::new(value.to_owned(), line)).filter(|v| !v.value.is_empty() && v.value != "N/A");
        let count = || value.parse().ok().map(|n| At::new(n, line));
        let rate = || value.parse().ok().filter(|r: &f64| r.is_finite() && *r >= 0.0).map(|r| At::new(r, line));
        match key {
            "State" => self.state = text(),
            "Physical state" => self.physical_state = text(),
            "Speed" => self.speed = text(),
            "Width" => self.width = value.strip_suffix('x').and_then(leading_number).map(|w| At::new(w, line)),
            "FEC" => self.fec = text(),
            "Auto Negotiation" => self.auto_negotiation = text(),
            "Recommendation" => self.recommendation = text(),
            "Raw Physical BER" => self.raw_ber = rate(),
            "Effective Physical BER" => self.effective_ber = rate(),
            "Effective Physical Errors" => self.effective_errors = count(),
            "Symbol Errors" => self.symbol_errors = count(),
            "Link Down Counter" => self.link_downs = count(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_two_ports() {
        let block = |state: &str, speed: &str| {
            format!(
                "\nOperational Info\n----------------\nState                              : {state}\nPhysical state                     : LinkUp\nSpeed                              : {speed}\nWidth                              : 4x\nFEC                                : RS-FEC (544,514)\n\nTroubleshooting Info\n--------------------\nRecommendation                     : No issue was observed\n"
            )
        };
        let counters = "\nPhysical Counters and BER Info\n------------------------------\nEffective Physical Errors          : 3\nEffective Physical BER             : 15E-255\nRaw Physical BER                   : 7E-09\nLink Down Counter                  : 2\n";
        let text = format!(
            "# mlxlink -d mlx5_0 -p 1 -c\n{}{counters}# mlxlink -d 0000:19:00.0\n{}",
            block("Active", "IB-NDR"),
            block("Polling", "400GbE")
        );
        let kept = read(text.as_bytes());
        let [a, b] = kept.items.as_slice() else { panic!("{kept:?}") };
        assert_eq!((a.device.as_ref().map(At::as_str), a.port, a.line), (Some("mlx5_0"), Some(1), 5));
        assert_eq!((a.rate_gbps().map(|r| r.value), a.physical_state.as_ref().map(|p| p.line)), (Some(400.0), Some(6)));
        assert_eq!(
            (a.raw_ber.map(|r| r.value), a.effective_errors.map(|e| e.value), a.link_downs.map(|l| l.value)),
            (Some(7e-9), Some(3), Some(2))
        );
        assert_eq!(
            (b.device.as_ref().map(At::as_str), b.state.as_ref().map(At::as_str)),
            (Some("0000:19:00.0"), Some("Polling"))
        );
        assert_eq!((b.rate_gbps().map(|r| r.value), b.raw_ber), (Some(400.0), None));
    }

    #[test]
    fn half_a_word_is_no_value() {
        let kept = read(b"Physical state                     : LinkUp\nSpeed                              : 40");
        assert_eq!(kept.items.first().map(|l| l.speed.clone()), Some(None));
        for prose in ["Physical state: LinkUp", "Operational Info", "The Physical state  : of water"] {
            assert_ne!(crate::sniff::sniff("", prose.as_bytes()), crate::Kind::Mlxlink, "{prose}");
        }
    }
}
