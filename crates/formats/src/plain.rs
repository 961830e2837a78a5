//! Texts that are recognised and have no parser here: a word is taken as it is, or another crate reads them.

use crate::sniff::content;
use crate::tool::{Args, Command, Gives, Mark, Tool, starts};

/// The hypervisors that `systemd-detect-virt` names in a word.
const HYPERVISORS: &[&str] =
    &["kvm", "qemu", "vmware", "microsoft", "amazon", "oracle", "xen", "bhyve", "parallels", "google"];

/// `systemd-detect-virt`.
pub const DETECT_VIRT: Tool = Tool {
    name: "detect-virt",
    called: "systemd-detect-virt",
    run: "systemd-detect-virt",
    gives: Gives::Facts,
    marks: &[Mark::whole(|text| {
        let mut content = content(text);
        content.next().is_some_and(|l| HYPERVISORS.contains(&l)) && content.next().is_none()
    })],
    commands: &[Command::any("systemd-detect-virt")],
    files: &["systemd-detect-virt"],
    samples: &["kvm\n"],
    once: true,
    ..Tool::NONE
};

/// `modinfo nvidia`.
pub const MODINFO_NVIDIA: Tool = Tool {
    name: "modinfo-nvidia",
    called: "modinfo",
    run: "modinfo nvidia",
    gives: Gives::Facts,
    marks: &[Mark::line(|line| starts(line, &["filename:"]) && line.contains("nvidia")).begins(&["filename:"])],
    commands: &[Command { program: "modinfo", args: Args::Within("nvidia") }],
    samples: &["filename: /lib/modules/6.8/nvidia.ko\n"],
    ..Tool::NONE
};

/// `tuned-adm active`.
pub const TUNED: Tool = Tool {
    name: "tuned-adm",
    called: "tuned-adm active",
    run: "tuned-adm active",
    gives: Gives::NoFacts("the profile of TuneD; what it sets is in the kernel's own files"),
    marks: &[Mark::aside(|l| {
        let name = l.strip_prefix("Current active profile: ").unwrap_or_default();
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_. ".contains(&b))
    })
    .begins(&["Current active profile: "])],
    commands: &[Command::with("tuned-adm", &["active"])],
    files: &["tuned-adm"],
    samples: &["Current active profile: throughput-performance\n"],
    ..Tool::NONE
};

/// A topology that NCCL wrote.
pub const NCCL_TOPO_XML: Tool = Tool {
    name: "nccl-topo-xml",
    called: "NCCL topology",
    run: "NCCL_TOPO_DUMP_FILE=FILE, in the environment of a job",
    gives: Gives::NoFacts("a topology that NCCL wrote"),
    // `version` is what NCCL asks for; files that people write have it, however else they are wrong.
    marks: &[Mark::root(|root, rest| {
        let tag = rest.split('>').next().unwrap_or_default();
        root == "system" && (tag.contains("version=") || rest.contains("<cpu"))
    })],
    samples: &["<!-- <domain> -->\n<system version=\"1\">\n<cpu numaid=\"0\"/>", "<system version=\"1\"/>"],
    ..Tool::NONE
};
