//! `/proc/cpuinfo` of x86, arm, ppc64, s390 and others. Every architecture prints its own keys.

use crate::text::{At, ESC, decode, leading_number, lines, split_key};
use crate::tool::{Args, Command, Gives, Mark, Tool, seen};
use memchr::memmem;
use serde::Serialize;
use std::collections::BTreeSet;

/// `/proc/cpuinfo`.
pub const TOOL: Tool = Tool {
    name: "cpuinfo",
    called: "proc/cpuinfo",
    run: "cat /proc/cpuinfo",
    gives: Gives::Copy("proc/cpuinfo"),
    marks: &[Mark::line(is_own).begins(&["processor", "vendor_id", "CPU implementer"])],
    commands: &[Command { program: "cat", args: Args::End("/proc/cpuinfo") }],
    files: &["cpuinfo"],
    read: Some(|b| seen(parse(b))),
    samples: &["processor\t: 0\nvendor_id\t: GenuineIntel\n"],
    once: true,
    ..Tool::NONE
};

fn is_own(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else { return false };
    let (key, value) = (key.trim_end(), value.trim());
    match key {
        "processor" => !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) && line.contains('\t'),
        "vendor_id" => matches!(value, "GenuineIntel" | "AuthenticAMD" | "CentaurHauls" | "Shanghai" | "IBM/S390"),
        "CPU implementer" => true,
        _ => false,
    }
}

/// Who made the processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Vendor {
    /// `GenuineIntel`.
    Intel,
    /// `AuthenticAMD`.
    Amd,
    /// Arm: `CPU implementer` and `CPU part` (0x41/0xd4f Neoverse V2 of Grace, 0xc0 Ampere).
    Arm {
        /// `CPU implementer`.
        implementer: u32,
        /// `CPU part`.
        part: u32,
    },
    /// `CentaurHauls`, `  Shanghai  `.
    Zhaoxin,
    /// The vendor's own word, or the processor's name where there is none (ppc64, s390).
    Other(String),
}

/// What the file shows. Fields of the first processor stand for all.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Cpuinfo {
    /// Vendor.
    pub vendor: Option<At<Vendor>>,
    /// `cpu family`.
    pub family: Option<At<u32>>,
    /// `model`, a number on x86.
    pub model: Option<At<u32>>,
    /// `model name`, `cpu` on ppc64.
    pub model_name: Option<At<String>>,
    /// `flags` or `Features` of the first processor, as printed: words between spaces.
    pub flags: Option<At<String>>,
    /// Number of processors shown.
    pub processors: u32,
    /// Distinct `physical id`s: the sockets.
    pub physical_ids: BTreeSet<u32>,
    /// Processor number and `physical id` wherever the latter differs from that of the processor before: sockets, as runs of processors.
    pub sockets: Vec<(u32, u32)>,
}

impl Cpuinfo {
    fn is_in_socket(&mut self, processor: Option<u32>, id: Option<u32>) {
        self.physical_ids.extend(id);
        if let (Some(processor), Some(id)) = (processor, id)
            && self.sockets.last().is_none_or(|(_, last)| *last != id)
        {
            self.sockets.push((processor, id));
        }
    }

    /// Whether the first processor has a flag; `None` where no flags are shown.
    pub fn has_flag(&self, flag: &str) -> Option<bool> {
        self.flags.as_ref().map(|f| f.value.split_whitespace().any(|w| w == flag))
    }
}

/// Parses the file.
pub fn parse(bytes: &[u8]) -> Cpuinfo {
    // On an x86 everything is said by the time the second processor is named; what follows need not be made text.
    let (head, rest) = bytes.split_at_checked(second_processor(bytes).unwrap_or(bytes.len())).unwrap_or((bytes, &[]));
    parse_text(&decode(head), rest).or_else(|| parse_text(&decode(bytes), &[])).unwrap_or_default()
}

/// Where the line ends that names the second processor, in a file as the kernel writes it.
fn second_processor(bytes: &[u8]) -> Option<usize> {
    let at = memmem::find(bytes, b"\nprocessor").filter(|_| bytes.starts_with(b"processor"))? + 1;
    let end = at + memchr::memchr(b'\n', bytes.get(at..)?)? + 1;
    let plain = memchr::memchr(ESC, bytes.get(..end)?).is_none();
    plain.then_some(end)
}

/// `None`: the text does not say it all, and there is `more`.
fn parse_text(text: &str, more: &[u8]) -> Option<Cpuinfo> {
    let mut out = Cpuinfo::default();
    let mut implementer: Option<At<u32>> = None;
    let mut part: Option<u32> = None;
    let mut blocks = 0usize;
    let mut number: Option<u32> = None;
    let mut all = lines(text);
    while let Some((line, raw)) = all.next() {
        // From the second processor on, only what differs between processors (x86 prints a megabyte of the rest on a large machine), and
        // the capitalised lines that old arm kernels print once, behind the last processor.
        let repeats = matches!(raw.as_bytes(), [b'a'..=b'z', ..])
            && !matches!(raw.as_bytes(), [b'p', ..] | [b'c', b'p' | b'l', b'u' | b'o', ..]);
        if blocks > 1 && repeats {
            continue;
        }
        let Some((key, value)) = split_key(raw, ':') else { continue };
        let hex = || u32::from_str_radix(value.strip_prefix("0x")?, 16).ok();
        match key {
            // Old arm kernels print the model under `Processor`, and s390 has `processor 0: version = …`.
            "processor" if value.bytes().all(|b| b.is_ascii_digit()) => {
                blocks += 1;
                number = value.parse().ok();
                out.processors = out.processors.saturating_add(1);
                if blocks > 1 && out.vendor.is_some() && out.family.is_some() && out.model_name.is_some() {
                    more_processors(if more.is_empty() { all.rest.as_bytes() } else { more }, number, &mut out);
                    return Some(out);
                }
            }
            "# processors" => out.processors = out.processors.max(leading_number(value).unwrap_or(0)),
            "vendor_id" | "vendor" => {
                out.vendor.get_or_insert_with(|| At::new(vendor(value), line));
            }
            "CPU implementer" => implementer = implementer.or_else(|| Some(At::new(hex()?, line))),
            "CPU part" => part = part.or_else(hex),
            "cpu family" => out.family = out.family.or_else(|| Some(At::new(value.parse().ok()?, line))),
            "model" => out.model = out.model.or_else(|| Some(At::new(value.parse().ok()?, line))),
            "model name" | "cpu" | "Processor" if !value.is_empty() => {
                out.model_name.get_or_insert_with(|| At::new(value.to_owned(), line));
            }
            "flags" | "Features" | "features" => {
                out.flags.get_or_insert_with(|| At::new(value.to_owned(), line));
            }
            "physical id" => out.is_in_socket(number, value.parse().ok()),
            _ => {}
        }
    }
    if !more.is_empty() {
        return None;
    }
    if let (None, Some(implementer)) = (&out.vendor, implementer) {
        out.vendor = part.map(|part| At::new(Vendor::Arm { implementer: implementer.value, part }, implementer.line));
    }
    if out.vendor.is_none() {
        out.vendor = out.model_name.as_ref().map(|m| At::new(Vendor::Other(m.value.clone()), m.line));
    }
    Some(out)
}

/// The blocks of an x86 after the first tell two things that the first does not: how many there are, and their sockets. Both lines
/// begin with the same letter, so the hundreds of thousands of bytes between them are not looked at line by line.
fn more_processors(mut rest: &[u8], mut number: Option<u32>, out: &mut Cpuinfo) {
    let parse = |v: &[u8]| std::str::from_utf8(v).ok().and_then(|v| v.parse::<u32>().ok());
    let line_with_p = memmem::Finder::new(b"\np");
    let mut socket = None;
    loop {
        if let Some(value) = value_of(b"processor", rest) {
            out.processors = out.processors.saturating_add(value.iter().all(u8::is_ascii_digit).into());
            number = parse(value);
        } else if let Some(value) = value_of(b"physical id", rest) {
            // Neighbours share a socket.
            if socket != Some(value) {
                socket = Some(value);
                out.is_in_socket(number, parse(value));
            }
        }
        let Some(next) = line_with_p.find(rest).and_then(|at| rest.get(at + 1..)) else { break };
        rest = next;
    }
}

/// `key<white space>:value` at the start of a text.
fn value_of<'a>(key: &[u8], text: &'a [u8]) -> Option<&'a [u8]> {
    let rest = text.strip_prefix(key)?;
    // The values are short: the end of the line is near.
    let line = rest.get(..rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()))?;
    Some(line.trim_ascii_start().strip_prefix(b":")?.trim_ascii())
}

pub(crate) fn vendor(word: &str) -> Vendor {
    match word {
        "GenuineIntel" => Vendor::Intel,
        "AuthenticAMD" => Vendor::Amd,
        "CentaurHauls" | "Shanghai" => Vendor::Zhaoxin,
        other => Vendor::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x86_arm_ppc_s390() {
        let x = parse(b"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Xeon\ncpu MHz\t\t: 2000.000\nphysical id\t: 0\nflags\t\t: fpu vme hypervisor\n\nprocessor\t: 1\nvendor_id\t: GenuineIntel\nphysical id\t: 1\nmodel : 9\n");
        assert_eq!(x.vendor, Some(At::new(Vendor::Intel, 2)));
        assert_eq!((x.processors, x.physical_ids.len(), x.model.map(|m| m.value)), (2, 2, Some(143)));
        assert_eq!(
            (x.has_flag("hypervisor"), x.has_flag("svm"), x.has_flag("hyper")),
            (Some(true), Some(false), Some(false))
        );
        let a = parse(b"processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
        assert_eq!(a.vendor, Some(At::new(Vendor::Arm { implementer: 0x41, part: 0xd4f }, 3)));
        let p = parse(b"processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800.000000MHz\n");
        assert_eq!(p.vendor.map(|v| v.value), Some(Vendor::Other("POWER9, altivec supported".into())));
        let s = parse(
            b"vendor_id       : IBM/S390\n# processors    : 4\nfeatures\t: esan3 zarch\nprocessor 0: version = 00\n",
        );
        assert_eq!((s.processors, s.has_flag("zarch")), (4, Some(true)));
        assert_eq!(parse(b"").has_flag("x"), None);
        let many =
            parse(b"processor\t: 0\nCPU implementer\t: 0x41\n\nprocessor\t: 1\nCPU part\t: 0xd4f\n\nprocessor\t: 2\n");
        assert_eq!((many.processors, many.vendor.is_some()), (3, true));
    }

    /// However many blocks there are and whichever way their lines end, each is counted once.
    #[test]
    fn a_large_machine() {
        for end in ["\n", "\r\n"] {
            let block = |n: u32| {
                let lines = [
                    format!("processor\t: {n}"),
                    "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: EPYC".to_owned(),
                    format!("physical id\t: {}\nflags\t\t: fpu\npower management: ts", n / 100),
                ];
                lines.join("\n").replace('\n', end)
            };
            for count in [1, 2, 3, 201] {
                let blocks: Vec<String> = (0..count).map(block).collect();
                let whole = blocks.join(&format!("{end}{end}"));
                let coloured = whole.replace("physical", "\u{1b}[1mphysical\u{1b}[0m");
                let cut = format!("{whole}{end}processor");
                for text in [whole.clone(), cut, format!("{whole}{end}processor : x{end}"), coloured] {
                    let c = parse(text.as_bytes());
                    let runs: Vec<(u32, u32)> = (0..=(count - 1) / 100).map(|s| (s * 100, s)).collect();
                    assert_eq!(c.sockets, runs, "{count}");
                    let sockets: Vec<u32> = c.physical_ids.into_iter().collect();
                    assert_eq!((c.processors, sockets), (count, (0..=(count - 1) / 100).collect()), "{count}");
                }
            }
        }
    }
}
