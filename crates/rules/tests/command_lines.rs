//! Any command line, any option file: an answer of every rule, no panic, messages of one clean line.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

use crate::common;

use linerate_node::Node;
use linerate_node::context::Role;
use linerate_rules::{audit, rules};
use linerate_snapshot::{Coverage, Snapshot};
use std::time::{Duration, Instant};

const WORDS: [&str; 40] = [
    "iommu=",
    "pt",
    "off",
    "nopt",
    "iommu.passthrough=",
    "1",
    "amd_iommu=",
    "on",
    "intel_iommu=",
    "pci=",
    "config_acs=",
    "disable_acs_redir=",
    "xx000x0",
    "@",
    ";",
    ",",
    "=",
    "0000:41:00.0",
    "pci:10b5:9797",
    "noats",
    "realloc",
    "=off",
    " ",
    "  ",
    "\"",
    "\\",
    "nvidia.NVreg_",
    "NVreg_",
    "EnableMSI",
    "=0x",
    "-1",
    "\u{fffd}",
    "\u{1b}[31m",
    "intremap=",
    "swiotlb=force",
    " -- ",
    "pcie_acs_override=",
    "idle=poll",
    "kvm_amd.sev_snp=",
    "\n",
];

/// A small generator of numbers: the same words on each run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    fn line(&mut self) -> String {
        (0..1 + self.below(40)).map(|_| WORDS[self.below(WORDS.len())]).collect()
    }
}

#[test]
fn no_command_line_breaks_a_rule() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for n in 0..500 {
        let mut s = Snapshot::new("words");
        if n % 2 == 0 {
            s.coverage = Coverage::Full { not_tried: Vec::new() };
        }
        let line = random.line();
        s.add_file("proc/cmdline", line.as_bytes());
        s.add_file("etc/modprobe.d/nvidia.conf", format!("options nvidia {}", random.line()).as_bytes());
        let vendor = ["GenuineIntel", "AuthenticAMD", "x"][random.below(3)];
        s.add_file("proc/cpuinfo", format!("processor\t: 0\nvendor_id\t: {vendor}\nflags\t: fpu\n").as_bytes());
        let role = [None, Some(Role::BareMetal), Some(Role::VmHost), Some(Role::VmGuest)][random.below(4)];
        let node = Node::decode_as(&s, role);
        let audit = audit(&node, &s, rules());
        for r in rules() {
            assert!(audit.verdicts.iter().any(|v| v.rule.id == r.id), "{} is silent on {line:?}", r.id);
        }
        for v in
            audit.verdicts.iter().filter(|v| v.rule.id.starts_with("cmdline/") || v.rule.id.starts_with("modules/"))
        {
            let text = common::words(v);
            assert!(!text.chars().any(char::is_control), "{text:?} on {line:?}");
            assert!(!text.contains("report this as a bug"), "{text}");
        }
    }
}

#[test]
fn the_largest_command_line_is_judged_at_once() {
    let mut s = Snapshot::new("large");
    let line = "pci=config_acs=xx000x0@0000:41:00.0;".repeat(900) + " amd_iommu=x".repeat(2000).as_str();
    s.add_file("proc/cmdline", line.as_bytes());
    let node = Node::decode(&s);
    let start = Instant::now();
    let audit = audit(&node, &s, rules());
    let took = start.elapsed();
    assert!(audit.verdicts.len() >= rules().len());
    // Unoptimised, on a busy machine.
    assert!(took < Duration::from_secs(5), "{took:?}");
}
