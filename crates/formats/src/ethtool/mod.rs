//! `ethtool`: counters (`-S`), pause (`-a`), the settings that plain `ethtool IF` prints, driver (`-i`), offloads (`-k`), module (`-m`).

pub mod driver;
pub mod features;
pub mod module;

use crate::asked::asked;
use crate::bounds::{Kept, Limit, NET_FUNCTIONS, TEXT_ITEMS, leave_out};
use crate::text::{At, decode, flag, leading_number, lines, split_key, unended};
use crate::tool::{Command, Gives, Mark, Tool, seen, starts};
use serde::Serialize;

/// `ethtool -S`.
pub const STATISTICS: Tool = Tool {
    name: "ethtool-stats",
    called: "ethtool",
    run: "ethtool -S IF",
    gives: Gives::Facts,
    marks: &[Mark::beginning(&["NIC statistics:"])],
    commands: &[Command::with("ethtool", &["-S"])],
    read: Some(|b| seen(read_statistics(b))),
    samples: &["NIC statistics:\n     rx_packets: 1\n"],
    ..Tool::NONE
};

/// `ethtool -a`.
pub const PAUSE: Tool = Tool {
    name: "ethtool-pause",
    called: "ethtool",
    run: "ethtool -a IF",
    gives: Gives::Facts,
    marks: &[Mark::beginning(&["Pause parameters for "])],
    commands: &[Command::with("ethtool", &["-a"])],
    read: Some(|b| seen(parse_pause(b))),
    samples: &["Pause parameters for eth0:\n"],
    ..Tool::NONE
};

/// `ethtool IF`.
pub const SETTINGS: Tool = Tool {
    name: "ethtool-settings",
    called: "ethtool",
    run: "ethtool IF",
    gives: Gives::Facts,
    marks: &[Mark::line(|l| starts(l, &["Settings for "]) && l.ends_with(':')).begins(&["Settings for "])],
    read: Some(|b| seen(read_settings(b))),
    samples: &["Settings for eth0:\n\tSpeed: 100000Mb/s\n"],
    ..Tool::NONE
};

/// A counter of `ethtool -S`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Counter {
    /// The interface, where the command line above shows it.
    pub interface: Option<String>,
    /// Which of the text's tables it is in, from 0.
    pub table: u32,
    /// Name.
    pub name: String,
    /// Value.
    pub value: u64,
    /// 1-based line.
    pub line: u32,
}

/// Reads `ethtool -S IF` of one or several interfaces. A last line without its end is left out: its number may be half a number.
#[must_use]
pub fn read_statistics(bytes: &[u8]) -> Kept<Counter> {
    let text = decode(bytes);
    let mut kept = Kept::default();
    let (mut interface, mut asked_for, mut table) = (None, None, 0_u32);
    let (mut begun, unended) = (false, unended(&text));
    for (line, raw) in lines(&text) {
        if let Some(name) = asked(raw, &["ethtool"], "-S").or_else(|| asked(raw, &["ethtool"], "--statistics")) {
            asked_for = Some(name);
            continue;
        }
        if raw.trim() == "NIC statistics:" {
            table += u32::from(begun);
            begun = true;
            interface = asked_for.take();
            continue;
        }
        // Names may contain colons (`[0]: rx_bytes` of some drivers); the value is what follows the last one.
        let Some((name, value)) = raw.rsplit_once(':').filter(|_| Some(line) != unended) else { continue };
        let (name, Ok(value)) = (name.trim(), value.trim().parse()) else { continue };
        if name.is_empty() || name.len() > 128 {
            continue;
        }
        // What `grep` left has no title.
        if let Some(name) = asked_for.take() {
            table += u32::from(begun);
            interface = Some(name);
        }
        begun = true;
        if kept.items.len() >= TEXT_ITEMS {
            leave_out(&mut kept.left_out, Limit::TEXT_ITEMS, line);
        } else {
            kept.items.push(Counter { interface: interface.clone(), table, name: name.to_owned(), value, line });
        }
    }
    kept
}

/// Global pause of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Pause {
    /// Interface, from the title.
    pub interface: Option<At<String>>,
    /// `Autonegotiate`.
    pub autonegotiate: Option<At<bool>>,
    /// `RX`.
    pub rx: Option<At<bool>>,
    /// `TX`.
    pub tx: Option<At<bool>>,
}

/// Parses `ethtool -a IF`.
pub fn parse_pause(bytes: &[u8]) -> Pause {
    let text = decode(bytes);
    let mut out = Pause::default();
    for (line, raw) in lines(&text) {
        if let Some(name) = raw.trim().strip_prefix("Pause parameters for ") {
            out.interface = Some(At::new(name.trim_end_matches(':').to_owned(), line));
            continue;
        }
        let Some((key, value)) = split_key(raw, ':') else { continue };
        let flag = flag(value, "on", "off").map(|f| At::new(f, line));
        match key {
            "Autonegotiate" => out.autonegotiate = flag,
            "RX" => out.rx = flag,
            "TX" => out.tx = flag,
            _ => {}
        }
    }
    out
}

/// Link settings of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Settings {
    /// Interface, from the title.
    pub interface: String,
    /// Line of the title.
    pub line: u32,
    /// `Speed` in Mb/s; `None` for `Unknown!`.
    pub speed_mbps: Option<At<u64>>,
    /// `Link detected`.
    pub link: Option<At<bool>>,
}

/// Reads `ethtool IF` of one or several interfaces. What stands before the first title is of no interface.
pub fn read_settings(bytes: &[u8]) -> Kept<Settings> {
    let text = decode(bytes);
    let mut kept = Kept::default();
    // The last line may be cut: `Speed: 40000Mb/s` without its end is no other speed, as its unit is there.
    let mut full = false;
    for (line, raw) in lines(&text) {
        if let Some(name) = raw.trim().strip_prefix("Settings for ") {
            full = kept.items.len() >= NET_FUNCTIONS;
            if full {
                leave_out(&mut kept.left_out, Limit::NET_FUNCTIONS, line);
            } else {
                let interface = name.trim_end_matches(':').to_owned();
                kept.items.push(Settings { interface, line, ..Settings::default() });
            }
            continue;
        }
        let Some(out) = kept.items.last_mut().filter(|_| !full) else { continue };
        match split_key(raw, ':') {
            Some(("Speed", v)) if v.ends_with("Mb/s") => out.speed_mbps = leading_number(v).map(|n| At::new(n, line)),
            Some(("Link detected", v)) if v.starts_with("yes") => out.link = Some(At::new(true, line)),
            Some(("Link detected", v)) if v.starts_with("no") => out.link = Some(At::new(false, line)),
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_pause_and_settings() {
        let s = read_statistics(
            b"NIC statistics:\n     rx_prio3_pause: 12\n     [0]: tx: 5\n     bad: -1\nroot@n1:~# ethtool -S eth1\nNIC statistics:\n  a: 1\n  b: 7",
        );
        let seen: Vec<_> =
            s.items.iter().map(|c| (c.interface.as_deref(), c.table, c.name.as_str(), c.value, c.line)).collect();
        assert_eq!(
            seen,
            [(None, 0, "rx_prio3_pause", 12, 2), (None, 0, "[0]: tx", 5, 3), (Some("eth1"), 1, "a", 1, 7)],
            "the last line may be half a number"
        );
        let s = read_statistics(
            b"# ethtool -S eth0 | grep pause\n a_pause: 1\n# ethtool -S eth1 | grep pause\n a_pause: 2\n",
        );
        let seen: Vec<_> = s.items.iter().map(|c| (c.interface.as_deref(), c.table, c.value)).collect();
        assert_eq!(seen, [(Some("eth0"), 0, 1), (Some("eth1"), 1, 2)]);
        let p =
            parse_pause(b"Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\toff\nRX negotiated: on\n");
        assert_eq!(
            (p.rx, p.tx, p.interface),
            (Some(At::new(true, 3)), Some(At::new(false, 4)), Some(At::new("eth0".into(), 1)))
        );
        let s = read_settings(
            b"\tSpeed: 1Mb/s\nSettings for eth0:\n\tSpeed: 400000Mb/s\n\tLink detected: yes\nSettings for eth1:\n\tSpeed: Unknown!\n\tLink detected: no (No cable)\n",
        );
        let seen: Vec<_> = s.items.iter().map(|s| (s.interface.as_str(), s.speed_mbps, s.link)).collect();
        assert_eq!(
            seen,
            [("eth0", Some(At::new(400_000, 3)), Some(At::new(true, 4))), ("eth1", None, Some(At::new(false, 7)))]
        );
    }
}
