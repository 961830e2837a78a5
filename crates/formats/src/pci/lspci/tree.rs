//! `lspci -t`: which function is behind which bridge.
//!
//! ```text
//! -+-[0000:64]-+-00.0-[65]----00.0  NVIDIA Corporation GH100 [H100 SXM5 80GB]
//!  |           \-01.0-[66-68]--+-00.0
//!  \-[0000:00]---1f.0  Intel Corporation LPC Controller
//! ```
//!
//! A `+` or `\` belongs to the bus whose line has a `+` in the same column above it. Where that line is missing, as in a paste that lost its
//! white space, the function is left out.

use super::Device;
use super::header::{hex8, set_name};
use crate::bounds::{Kept, Limit, PCI_FUNCTIONS, leave_out};
use crate::pci::Bdf;
use crate::text::{decode, lines, unended};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// `lspci -t`.
pub const TOOL: Tool = Tool {
    name: "lspci-tree",
    called: "lspci -tv",
    run: "lspci -tv",
    gives: Gives::Facts,
    marks: &[Mark::line(is_root).holds(&["-["])],
    commands: &[Command::with("lspci", &["-tv"]), Command::with("lspci", &["-vt"]), Command::with("lspci", &["-t"])],
    files: &["lspci-t", "lspci_t"],
    read: Some(|b| seen(read(b))),
    samples: &[
        "-[0000:00]-+-00.0  Intel Corporation Host Bridge\n           \\-01.0-[01]----00.0  NVIDIA Corporation GH100\n",
        "-+-[0000:64]---00.0-[65]----00.0\n \\-[0000:00]---00.0\n",
    ],
    once: true,
    ..Tool::NONE
};

/// Buses, one behind the other, that are followed; a machine has five or six.
const DEPTH: usize = 64;

/// A function of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seat {
    /// Address, line, name and ids where `-v` and `-nn` print them, and the buses of a bridge. All else is not shown.
    pub device: Device,
    /// The bridge above it; `None` on a root bus.
    pub above: Option<Bdf>,
}

/// A bus.
#[derive(Clone, Copy)]
struct Bus {
    domain: u32,
    number: u8,
    bridge: Option<Bdf>,
}

/// Reads the trees of a text, in its order. A line that is cut shows what stands before the cut.
pub fn read(bytes: &[u8]) -> Kept<Seat> {
    let text = decode(bytes);
    let mut kept = Kept::default();
    // Columns of the `+` of buses that go on below; the first of all is that of the root buses.
    let mut open: Vec<(usize, Option<Bus>)> = Vec::new();
    let unended = unended(&text);
    for (line, raw) in lines(&text) {
        let raw = raw.replace('\u{a0}', " ");
        Row { text: &raw, at: 0, line, cut: Some(line) == unended }.read(&mut open, &mut kept);
    }
    kept
}

struct Row<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    /// The last line, without its end.
    cut: bool,
}

impl<'a> Row<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self, of: &[char]) {
        self.at += self.rest().len() - self.rest().trim_start_matches(of).len();
    }

    fn read(&mut self, open: &mut Vec<(usize, Option<Bus>)>, kept: &mut Kept<Seat>) {
        self.skip(&[' ', '|', '>', '\t']);
        let column = self.at;
        let mut bus = match self.rest().as_bytes() {
            // A tree begins.
            [b'-', b'[' | b'+', ..] => {
                open.clear();
                None
            }
            [first @ (b'+' | b'\\'), b'-', ..] => {
                open.retain(|(at, _)| *at <= column);
                let Some((_, bus)) = open.last().copied().filter(|(at, _)| *at == column) else { return };
                if *first == b'\\' {
                    open.pop();
                }
                self.at += 1;
                bus
            }
            _ => return,
        };
        let mut bridge: Option<usize> = None;
        loop {
            self.skip(&['-']);
            let rest = self.rest();
            if rest.starts_with('+') {
                if open.len() < DEPTH {
                    open.push((self.at, bus));
                }
                self.at += 1;
            } else if let Some((inside, _)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
                let Some(next) = behind(inside, bus, bridge.and_then(|at| kept.items.get_mut(at))) else { return };
                self.at += inside.len() + 2;
                (bus, bridge) = (Some(next), None);
            } else {
                let (Some(on), Some((device, function))) = (bus, rest.get(..4).and_then(slot)) else { return };
                let Ok(bdf) = format!("{:04x}:{:02x}:{device:02x}.{function}", on.domain, on.number).parse() else {
                    return;
                };
                self.at += 4;
                let after = self.rest();
                if !(after.is_empty() || after.starts_with([' ', '-'])) {
                    return;
                }
                if kept.items.len() >= PCI_FUNCTIONS {
                    leave_out(&mut kept.left_out, Limit::PCI_FUNCTIONS, self.line);
                    return;
                }
                let mut device = Device::new(bdf, true, self.line);
                if after.starts_with("  ") && !self.cut {
                    set_name(after.trim(), &mut device);
                }
                bridge = Some(kept.items.len());
                kept.items.push(Seat { device, above: on.bridge });
                if !after.starts_with("-[") {
                    return;
                }
            }
        }
    }
}

/// The bus in brackets: `0000:64` or `64` of a root, `65` or `66-68` behind the bridge that was read last.
fn behind(inside: &str, bus: Option<Bus>, bridge: Option<&mut Seat>) -> Option<Bus> {
    let (first, last) = inside.split_once('-').unwrap_or((inside, inside));
    match (bridge, bus) {
        (Some(seat), Some(on)) => {
            let (secondary, subordinate) = (hex8(first)?, hex8(last)?);
            seat.device.bus = Some((on.number, secondary, subordinate));
            Some(Bus { domain: on.domain, number: secondary, bridge: Some(seat.device.bdf) })
        }
        (None, None) => {
            let (domain, number) = first.split_once(':').unwrap_or(("0000", first));
            let good = (4..=8).contains(&domain.len()) && domain.bytes().all(|b| b.is_ascii_hexdigit());
            let domain = u32::from_str_radix(domain, 16).ok().filter(|_| good)?;
            Some(Bus { domain, number: hex8(number)?, bridge: None })
        }
        _ => None,
    }
}

/// `1f.3`.
fn slot(text: &str) -> Option<(u8, u8)> {
    let (device, function) = text.split_once('.')?;
    let function = function.parse().ok().filter(|f| *f < 8 && function.len() == 1)?;
    Some((hex8(device).filter(|d| *d < 32)?, function))
}

/// The line of a root bus.
fn is_root(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '|']);
    let inside =
        ["-[", "-+-[", "+-[", "\\-["].iter().find_map(|p| line.strip_prefix(p)).and_then(|r| r.split_once("]-"));
    inside.is_some_and(|(inside, _)| inside.contains(':') && behind(inside, None, None).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(text: &str) -> Vec<(String, String)> {
        let above = |s: &Seat| s.above.map_or_else(|| "root".to_owned(), |b| b.to_string());
        read(text.as_bytes()).items.iter().map(|s| (s.device.bdf.to_string(), above(s))).collect()
    }

    const TREE: &str = "$ lspci -tv\n\
        -+-[0000:64]-+-00.0-[65-67]----00.0-[66-67]--+-00.0-[67]----00.0  NVIDIA Corporation GH100 [H100 SXM5 80GB]\n\
        \x20|           |                               \\-1f.0  Broadcom / LSI Device\n\
        \x20|           +-01.0-[70]--\n\
        \x20|           \\-02.0-[71]--+-00.0  Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]\n\
        \x20|                        \\-00.1  Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]\n\
        \x20\\-[10000:e0]---06.0-[e1]----00.0  Samsung\n";

    #[test]
    fn functions_are_below_their_bridges() {
        let want = [
            ("0000:64:00.0", "root"),
            ("0000:65:00.0", "0000:64:00.0"),
            ("0000:66:00.0", "0000:65:00.0"),
            ("0000:67:00.0", "0000:66:00.0"),
            ("0000:66:1f.0", "0000:65:00.0"),
            ("0000:64:01.0", "root"),
            ("0000:64:02.0", "root"),
            ("0000:71:00.0", "0000:64:02.0"),
            ("0000:71:00.1", "0000:64:02.0"),
            ("10000:e0:06.0", "root"),
            ("10000:e1:00.0", "10000:e0:06.0"),
        ];
        assert_eq!(seats(TREE), want.map(|(a, b)| (a.to_owned(), b.to_owned())));
        let all = read(TREE.as_bytes()).items;
        let find = |bdf: &str| all.iter().find(|s| s.device.bdf.to_string() == bdf).map(|s| s.device.clone());
        assert_eq!(find("0000:65:00.0").map(|d| (d.bus, d.line)), Some((Some((0x65, 0x66, 0x67)), 2)));
        let nic = find("0000:71:00.0").unwrap_or_default();
        assert_eq!((nic.vendor, nic.device, nic.class), (Some(0x15b3), Some(0x1021), None));
        assert_eq!(
            find("0000:67:00.0").map(|d| (d.name, d.bus)),
            Some(("NVIDIA Corporation GH100 [H100 SXM5 80GB]".into(), None))
        );
        // Quoted, and indented as a whole.
        let quoted: String = TREE.lines().map(|l| format!("> \t{l}\n")).collect();
        assert_eq!(seats(&quoted), seats(TREE));
    }

    /// White space that is lost takes the bus with it: no function lands on another one.
    #[test]
    fn what_is_lost_is_left_out() {
        let lost: String = TREE.lines().map(|l| format!("{}\n", l.trim_start_matches([' ', '|']))).collect();
        let known = seats(&lost);
        assert!(known.iter().all(|s| seats(TREE).contains(s)), "{known:?}");
        for text in [
            "+-00.0",
            "-[0000:00]-+-00.0x",
            "-[0000:00]-+-zz.0",
            "-[0000:zz]---00.0",
            "-[0000:00]-[01]--",
            "-+-+-+-",
            "\\-00.0\n-[",
        ] {
            assert_eq!(seats(text), [], "{text}");
        }
        assert_eq!(seats("-[00]---1f.0").len(), 1);
        assert_eq!(
            seats("-[0000:00]-+-00.0\n           +-01.0-[0"),
            [("0000:00:00.0".to_owned(), "root".to_owned()), ("0000:00:01.0".to_owned(), "root".to_owned())]
        );
    }
}
