//! `ethtool -i IF`: driver, firmware and PCI function of an interface.

use crate::asked::asked;
use crate::bounds::{Kept, Limit, NET_FUNCTIONS, leave_out};
use crate::pci::Bdf;
use crate::text::{At, decode, lines, split_key};
use crate::tool::{Command, Gives, Mark, Tool, seen, starts};
use serde::Serialize;

/// `ethtool -i`.
pub const TOOL: Tool = Tool {
    name: "ethtool-driver",
    called: "ethtool -i",
    run: "ethtool -i IF",
    gives: Gives::Facts,
    marks: &[
        Mark::beginning(&["expansion-rom-version:", "supports-register-dump: ", "supports-priv-flags: "]),
        Mark::line_with(|l| starts(l, &["firmware-version: "]), "bus-info: ").begins(&["firmware-version: "]),
    ],
    commands: &[Command::with("ethtool", &["-i"])],
    files: &["ethtool-i", "ethtool_i"],
    read: Some(|b| seen(read(b))),
    samples: &[
        "driver: mlx5_core\nversion: 6.8.0\nfirmware-version: 28.43.2026 (MT_0000000838)\nexpansion-rom-version: \nbus-info: 0000:18:00.0\n",
        "driver: mlx5_core\nfirmware-version: 28.43.2026\nbus-info: 0000:18:00.0\n",
    ],
    ..Tool::NONE
};

/// Driver of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Driver {
    /// 1-based line of the driver.
    pub line: u32,
    /// Interface: `ethtool` does not print it; the command line, or a line above that is a name, may show it.
    pub interface: Option<At<String>>,
    /// Driver: `mlx5_core`.
    pub driver: String,
    /// Version of the driver, or the kernel's.
    pub version: Option<At<String>>,
    /// Firmware: `28.43.2026`.
    pub firmware: Option<At<String>>,
    /// Board id (PSID), which mlx5 prints behind the firmware: `MT_0000000838`.
    pub board_id: Option<At<String>>,
    /// PCI function.
    pub bdf: Option<At<Bdf>>,
}

/// Reads one block, or those of a loop over interfaces. A block begins with `driver:`.
pub fn read(bytes: &[u8]) -> Kept<Driver> {
    let text = decode(bytes);
    let mut kept: Kept<Driver> = Kept::default();
    let mut named: Option<At<String>> = None;
    let mut full = false;
    for (line, raw) in lines(&text) {
        if let Some(interface) = asked(raw, &["ethtool"], "-i") {
            named = Some(At::new(interface, line));
            continue;
        }
        let Some((key, value)) = split_key(raw, ':').filter(|(k, _)| !k.is_empty()) else {
            named = name_alone(raw).map(|n| At::new(n.to_owned(), line)).or(named);
            continue;
        };
        if key == "driver" {
            full = kept.items.len() >= NET_FUNCTIONS;
            if full {
                leave_out(&mut kept.left_out, Limit::NET_FUNCTIONS, line);
                continue;
            }
            let interface = named.take();
            kept.items.push(Driver { line, interface, driver: value.to_owned(), ..Driver::default() });
        }
        if value.is_empty() && raw.trim_end().ends_with(':') {
            // `eth0:` above its block.
            named = name_alone(key).map(|n| At::new(n.to_owned(), line)).filter(|_| key.len() <= 15).or(named);
        }
        let Some(out) = kept.items.last_mut().filter(|_| !full) else { continue };
        let text = |v: &str| Some(At::new(v.to_owned(), line)).filter(|v| !v.value.is_empty() && v.value != "N/A");
        match key {
            "version" => out.version = text(value),
            "firmware-version" => {
                let (firmware, board) = value.split_once(" (").unwrap_or((value, ""));
                out.firmware = text(firmware.trim());
                out.board_id = board.strip_suffix(')').and_then(text);
            }
            "bus-info" => out.bdf = value.parse().ok().map(|b| At::new(b, line)),
            _ => {}
        }
    }
    kept
}

/// A line that is the name of an interface, perhaps between marks: `=== eth0 ===`.
fn name_alone(line: &str) -> Option<&str> {
    let name = line.trim().trim_matches(['=', '-', '#', ':', ' ']);
    let good = |b: u8| b.is_ascii_alphanumeric() || b"._-@".contains(&b);
    let is_name = (2..=15).contains(&name.len()) && name.bytes().all(good) && name.bytes().any(|b| b.is_ascii_digit());
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_over_interfaces() {
        let text = "$ ethtool -i eth0\ndriver: mlx5_core\nversion: 6.8.0\nfirmware-version: 28.43.2026 (MT_0000000838)\n\
                    expansion-rom-version: \nbus-info: 0000:18:00.0\nsupports-test: yes\n\
                    === ens1f1 ===\ndriver: bnxt_en\nfirmware-version: 231.0.154.0/pkg 231.1\nbus-info: 0000:19:00.1\n\
                    driver: bonding\nfirmware-version: N/A\nbus-info: \n";
        let kept = read(text.as_bytes());
        let name = |d: &Driver| d.interface.as_ref().map(|i| (i.value.clone(), i.line));
        let [a, b, c] = kept.items.as_slice() else { panic!("{kept:?}") };
        assert_eq!((name(a), a.line, a.driver.as_str()), (Some(("eth0".into(), 1)), 2, "mlx5_core"));
        assert_eq!(a.firmware, Some(At::new("28.43.2026".into(), 4)));
        assert_eq!(a.board_id, Some(At::new("MT_0000000838".into(), 4)));
        assert_eq!(a.bdf.map(|b| (b.value.to_string(), b.line)), Some(("0000:18:00.0".into(), 6)));
        assert_eq!((name(b), b.board_id.clone()), (Some(("ens1f1".into(), 8)), None));
        assert_eq!((name(c), c.firmware.clone(), c.bdf), (None, None, None));
    }
}
