//! `lscpu`, also as JSON (`-J`): the processors, their sockets and NUMA nodes, and the hypervisor (util-linux, sys-utils/lscpu.c: print_summary).
//!
//! Since release 2.37 the lines are indented below headings; before, all begin at the margin.

use crate::bounds::TEXT_ITEMS;
use crate::cpuinfo::{self, Vendor};
use crate::cpulist::{self, CpuList};
use crate::text::{At, decode, lines, split_key};
use crate::tool::{Command, Gives, Mark, Tool, seen};

/// `lscpu`.
pub const TOOL: Tool = Tool {
    name: "lscpu",
    called: "lscpu",
    run: "lscpu",
    gives: Gives::Facts,
    // People paste it beside what matters more.
    marks: &[
        Mark::aside(is_own).begins(&[
            "On-line CPU(s) list",
            "Off-line CPU(s) list",
            "Thread(s) per core",
            "Core(s) per socket",
            "NUMA node",
        ]),
        Mark::json(is_json),
    ],
    commands: &[Command::any("lscpu")],
    files: &["lscpu"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "Architecture:          x86_64\nCPU(s):                8\nOn-line CPU(s) list:   0-7\nThread(s) per core:    2\nSocket(s):             1\nVendor ID:             GenuineIntel\nNUMA node(s):          1\nNUMA node0 CPU(s):     0-7\nFlags:                 fpu vme\n",
        "{\n   \"lscpu\": [\n      {\n         \"field\": \"CPU(s):\",\n         \"data\": \"8\"\n      }\n   ]\n}\n",
        "NUMA:\n  NUMA node(s):         2\n  NUMA node0 CPU(s):    0-31\n  NUMA node1 CPU(s):    32-63\n",
    ],
    once: true,
    ..Tool::NONE
};

/// A NUMA node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumaNode {
    /// Number.
    pub id: u32,
    /// Its processors; empty: it has none.
    pub cpus: At<CpuList>,
}

/// The whole output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lscpu {
    /// Who made the processors. Of Arm only where the text names a core that is known: it shows no number of the part.
    pub vendor: Option<At<Vendor>>,
    /// `CPU family`.
    pub family: Option<At<u32>>,
    /// `Model`, a number.
    pub model: Option<At<u32>>,
    /// `Model name`; of unequal processors that of the first.
    pub model_name: Option<At<String>>,
    /// `Flags`, words between spaces. They may be a part where the text ends with them.
    pub flags: Option<At<String>>,
    /// The line of flags has its end.
    pub flags_end: bool,
    /// `On-line CPU(s) list`.
    pub online: Option<At<CpuList>>,
    /// `Socket(s)`.
    pub sockets: Option<At<u32>>,
    /// `NUMA node(s)`: how many there are.
    pub numa_count: Option<At<u32>>,
    /// In the order of the text.
    pub numa: Vec<NumaNode>,
    /// `Hypervisor vendor`.
    pub hypervisor: Option<At<String>>,
    /// `Virtualization type`: `full`, `para`, `container`.
    pub virtualization: Option<At<String>>,
    /// The text is more than one output: of two machines, or of two moments.
    pub several: bool,
}

impl Lscpu {
    /// Whether every NUMA node that the text counts is in it, with its processors.
    #[must_use]
    pub fn has_all_nodes(&self) -> bool {
        !self.several && self.numa_count.as_ref().is_some_and(|n| usize::try_from(n.value) == Ok(self.numa.len()))
    }

    /// Whether the processors have a flag; `None` where the text does not decide.
    #[must_use]
    pub fn has_flag(&self, flag: &str) -> Option<bool> {
        let has = self.flags.as_ref()?.value.split_whitespace().any(|w| w == flag);
        (has || self.flags_end).then_some(has)
    }

    /// The hypervisor that runs the machine as a whole; not that of a container, nor one below which the machine only knows it runs.
    #[must_use]
    pub fn full_hypervisor(&self) -> Option<&At<String>> {
        self.virtualization.as_ref().filter(|v| v.value == "full").and(self.hypervisor.as_ref())
    }
}

/// Nodes that are kept: MAX_NUMNODES of the largest kernels.
const NODES: usize = 1024;

/// Cores by `Vendor ID` and `Model name`: implementer and part of the architecture's main identification register. lscpu prints names
/// only (lscpu-arm.c).
const ARM: &[(&str, &str, u32, u32)] = &[
    ("ARM", "Cortex-A57", 0x41, 0xd07),
    ("ARM", "Cortex-A72", 0x41, 0xd08),
    ("ARM", "Cortex-A76", 0x41, 0xd0b),
    ("ARM", "Cortex-A78AE", 0x41, 0xd42),
    ("ARM", "Neoverse-N1", 0x41, 0xd0c),
    ("ARM", "Neoverse-N2", 0x41, 0xd49),
    ("ARM", "Neoverse-N3", 0x41, 0xd8e),
    ("ARM", "Neoverse-V1", 0x41, 0xd40),
    ("ARM", "Neoverse-V2", 0x41, 0xd4f),
    ("ARM", "Neoverse-V3", 0x41, 0xd84),
    ("Ampere", "Ampere-1", 0xc0, 0xac3),
    ("Ampere", "Ampere-1a", 0xc0, 0xac4),
];

/// Keys whose form nobody uses in prose.
fn is_own(line: &str) -> bool {
    let Some((key, value)) = split_key(line, ':') else { return false };
    let is_number = || !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    match key {
        "On-line CPU(s) list" | "Off-line CPU(s) list" => !value.is_empty() && cpulist::parse(value).is_some(),
        "Thread(s) per core" | "Core(s) per socket" | "NUMA node(s)" => is_number(),
        _ => numa_id(key).is_some() && cpulist::parse(value).is_some(),
    }
}

/// `NUMA node0 CPU(s)`.
fn numa_id(key: &str) -> Option<u32> {
    let id = key.strip_prefix("NUMA node")?.strip_suffix(" CPU(s)")?;
    id.bytes().all(|b| b.is_ascii_digit()).then(|| id.parse().ok()).flatten()
}

/// Parses the lines that it knows; others are ignored.
pub fn parse(bytes: &[u8]) -> Lscpu {
    let text = decode(bytes);
    let text = if is_json(&text) { fields(&text).into() } else { text };
    let mut out = Lscpu::default();
    let mut vendor_id: Option<At<String>> = None;
    let mut counted = false;
    // The line above is one of flags, or goes on with them.
    let mut in_flags = false;
    let ended = text.ends_with('\n');
    for (line, raw) in lines(&text).take(TEXT_ITEMS) {
        let Some((key, value)) = split_key(raw, ':') else {
            let goes_on = |t: &str| {
                !t.is_empty()
                    && t.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b' ')
            };
            match out.flags.as_mut().filter(|_| in_flags && goes_on(raw.trim())) {
                Some(flags) => {
                    flags.value.push(' ');
                    flags.value.push_str(raw.trim());
                }
                None => in_flags = false,
            }
            continue;
        };
        in_flags = key == "Flags";
        let number = || value.parse::<u32>().ok().map(|n| At::new(n, line));
        let word = || (!value.is_empty() && value != "-").then(|| At::new(value.to_owned(), line));
        // The end of the text may be the middle of a list.
        let whole = ended || !text.ends_with(raw);
        let list = || cpulist::parse(value).filter(|_| whole).map(|l| At::new(l, line));
        match key {
            "CPU(s)" => out.several |= std::mem::replace(&mut counted, true),
            "On-line CPU(s) list" => out.online = out.online.or_else(list),
            "Vendor ID" => vendor_id = vendor_id.or_else(word),
            "CPU family" => out.family = out.family.or_else(number),
            "Model" => out.model = out.model.or_else(number),
            "Model name" => out.model_name = out.model_name.or_else(word),
            "Socket(s)" => out.sockets = out.sockets.or_else(number),
            "Hypervisor vendor" => out.hypervisor = out.hypervisor.or_else(word),
            "Virtualization type" => out.virtualization = out.virtualization.or_else(word),
            "NUMA node(s)" => out.numa_count = out.numa_count.or_else(number),
            "Flags" if out.flags.is_none() => {
                out.flags = word();
                out.flags_end = whole && !value.ends_with("...") && !value.ends_with('\u{2026}');
            }
            _ => {
                if let (Some(id), Some(cpus)) = (numa_id(key), list())
                    && out.numa.len() < NODES
                {
                    out.several |= out.numa.iter().any(|n| n.id == id);
                    out.numa.push(NumaNode { id, cpus });
                }
            }
        }
    }
    out.flags_end &= ended || !in_flags;
    out.vendor = vendor_id.and_then(|id| vendor(&id, out.model_name.as_ref()));
    out
}

/// `lscpu -J`.
fn is_json(text: &str) -> bool {
    text.contains("\"lscpu\"") && text.contains("\"field\"")
}

/// Fields of JSON as the text has them, each value on the line where it stands. lscpu prints a field to a line: of others nothing is read.
fn fields(json: &str) -> String {
    let (mut out, mut field) = (String::with_capacity(json.len() / 2), None);
    for line in json.lines() {
        let mut words = line.split('"').skip(1).step_by(2);
        match (words.next(), words.next(), words.next()) {
            (Some("field"), name, None) => field = name,
            (Some("data"), Some(value), None) => {
                if let Some(field) = field.take() {
                    out.push_str(field);
                    out.push(' ');
                    out.push_str(value);
                }
            }
            _ => {}
        }
        out.push('\n');
    }
    out
}

fn vendor(id: &At<String>, name: Option<&At<String>>) -> Option<At<Vendor>> {
    let known = ARM.iter().find(|(v, n, ..)| *v == id.value && name.is_some_and(|m| m.value == *n));
    if let Some((.., implementer, part)) = known {
        return Some(At::new(Vendor::Arm { implementer: *implementer, part: *part }, id.line));
    }
    // Makers of Arm cores, of which the part is not shown.
    const MAKERS: &[&str] = &[
        "ARM",
        "Ampere",
        "APM",
        "Apple",
        "Broadcom",
        "Cavium",
        "FUJITSU",
        "HiSilicon",
        "NVIDIA",
        "Phytium",
        "Qualcomm",
        "Marvell",
        "Microsoft",
    ];
    (!MAKERS.contains(&id.value.as_str())).then(|| At::new(cpuinfo::vendor(&id.value), id.line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "$ lscpu\nArchitecture:            x86_64\n  CPU op-mode(s):        32-bit, 64-bit\nCPU(s):                  8\n  On-line CPU(s) list:   0-7\n\
        Vendor ID:               AuthenticAMD\n  Model name:            AMD EPYC 9654 96-Core Processor\n    CPU family:          25\n    Model:               17\n\
        \x20   Thread(s) per core:  1\n    Core(s) per socket:  4\n    Socket(s):           2\n    Flags:               fpu vme hypervisor\n\
        Virtualization features: \n  Hypervisor vendor:     KVM\n  Virtualization type:   full\nNUMA:                    \n  NUMA node(s):          2\n\
        \x20 NUMA node0 CPU(s):     0-3\n  NUMA node1 CPU(s):     4-7\n";

    #[test]
    fn json_says_what_the_text_says() {
        let mut pretty = String::from("{\n   \"lscpu\": [\n");
        for (key, value) in X86.lines().skip(1).filter_map(|l| split_key(l, ':')) {
            pretty.push_str(&format!(
                "      {{\n         \"field\": \"{key}:\",\n         \"data\": \"{value}\"\n      }},\n"
            ));
        }
        let want = parse(X86.as_bytes());
        let got = parse(format!("{pretty}   ]\n}}\n").as_bytes());
        let numa = |l: &Lscpu| l.numa.iter().map(|n| (n.id, n.cpus.value.clone())).collect::<Vec<_>>();
        assert_eq!(
            (got.model.as_ref().map(|m| m.value), got.sockets.as_ref().map(|s| s.value), numa(&got)),
            (want.model.as_ref().map(|m| m.value), want.sockets.as_ref().map(|s| s.value), numa(&want)),
        );
        assert_eq!(got.has_flag("hypervisor"), Some(true));
        assert_eq!(got.full_hypervisor().map(|h| h.as_str()), Some("KVM"));
        let compact: String = pretty.lines().map(str::trim).collect();
        assert_eq!(parse(compact.as_bytes()).model_name, None, "not as lscpu prints it");
        assert_eq!(parse(pretty.as_bytes()).sockets.map(|s| s.line), Some(45));
    }

    #[test]
    fn an_indented_output() {
        let l = parse(X86.as_bytes());
        assert_eq!(l.vendor, Some(At::new(Vendor::Amd, 6)));
        assert_eq!(
            l.model_name.as_ref().map(|m| (m.value.as_str(), m.line)),
            Some(("AMD EPYC 9654 96-Core Processor", 7))
        );
        assert_eq!((l.family, l.model, l.sockets), (Some(At::new(25, 8)), Some(At::new(17, 9)), Some(At::new(2, 12))));
        assert_eq!((l.has_flag("hypervisor"), l.has_flag("svm")), (Some(true), Some(false)));
        assert_eq!(l.full_hypervisor(), Some(&At::new("KVM".to_owned(), 15)));
        assert_eq!(l.online.as_ref().map(|o| o.value.count()), Some(8));
        assert!(l.has_all_nodes());
        let nodes: Vec<_> = l.numa.iter().map(|n| (n.id, n.cpus.value.to_string(), n.cpus.line)).collect();
        assert_eq!(nodes, [(0, "0-3".to_owned(), 19), (1, "4-7".to_owned(), 20)]);
    }

    #[test]
    fn a_part_is_not_the_whole() {
        let cut = X86.strip_suffix("-7\n").unwrap();
        let l = parse(cut.as_bytes());
        assert!(!l.has_all_nodes(), "a list may go on behind the end");
        assert!(parse(format!("{X86}{X86}").as_bytes()).several, "two machines");
        let l = parse(b"Flags: fpu vme");
        assert_eq!((l.has_flag("fpu"), l.has_flag("hypervisor")), (Some(true), None));
        let l = parse(b"Flags:     fpu vme\nhypervisor lahf_lm\n");
        assert_eq!((l.has_flag("hypervisor"), l.has_flag("svm")), (Some(true), Some(false)), "wrapped by the terminal");
        assert_eq!(parse(b"Flags: fpu vme ...\n").has_flag("svm"), None);
        assert_eq!(parse(b"NUMA node1 CPU(s):\nNUMA node2 CPU(s): x\n").numa.len(), 1, "a node without processors");
        assert_eq!(parse(b""), Lscpu::default());
    }

    #[test]
    fn cores_of_arm_by_their_names() {
        let of = |id: &str, name: &str| {
            parse(format!("Vendor ID: {id}\nModel name: {name}\n").as_bytes()).vendor.map(|v| v.value)
        };
        assert_eq!(of("ARM", "Neoverse-V2"), Some(Vendor::Arm { implementer: 0x41, part: 0xd4f }));
        assert_eq!(of("ARM", "Cortex-Z9"), None, "the part is not shown");
        assert_eq!(of("IBM/S390", "-"), Some(Vendor::Other("IBM/S390".into())));
        let container = parse(b"Hypervisor vendor: KVM\nVirtualization type: container\n");
        assert_eq!(container.full_hypervisor(), None);
    }

    #[test]
    fn prose_is_none() {
        for line in [
            "Socket(s): the number of sockets",
            "NUMA node(s): see below",
            "CPU(s): 8",
            "Thread(s) per core: two, mostly",
        ] {
            assert!(!is_own(line), "{line}");
        }
    }
}
