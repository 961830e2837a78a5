//! What the rules about kernel parameters share: sources, the effective request, spelling.

use crate::sources::linux;
use crate::{Action, Cx, Finding, Findings, Remedy, Source, Subject};
use linerate_formats::cmdline::{Cmdline, Param, kernel_bool, same_name};
use linerate_formats::{clip, near};
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_snapshot::{Place, Reading};

pub(crate) const KPARAM: Source = Source {
    title: "Linux: the kernel's command-line parameters",
    at: "https://docs.kernel.org/admin-guide/kernel-parameters.html",
};
pub(crate) const AMD_INIT: Source =
    linux!("drivers/iommu/amd/init.c", "parse_amd_iommu_options, detect_ivrs, amd_iommu_detect");
pub(crate) const INTEL_IOMMU: Source =
    linux!("drivers/iommu/intel/iommu.c", "intel_iommu_setup, device_def_domain_type");
pub(crate) const IOMMU_CORE: Source = linux!("drivers/iommu/iommu.c", "iommu_subsys_init, iommu_set_def_domain_type");
pub(crate) const X86_DMA: Source = linux!("arch/x86/kernel/pci-dma.c", "iommu_setup parses iommu= (x86 only)");
pub(crate) const PCI_CORE: Source =
    linux!("drivers/pci/pci.c", "pci_setup, pci_std_enable_acs, __pci_config_acs, pci_dev_str_match");
pub(crate) const X86_PCI: Source = linux!("arch/x86/pci/common.c", "pcibios_setup");
pub(crate) const GDR_DOC: Source = Source {
    title: "GPUDirect RDMA, Supported Systems, IOMMUs: must be disabled or configured for pass-through translation",
    at: "https://docs.nvidia.com/cuda/gpudirect-rdma/#supported-systems",
};
pub(crate) const ABI_GROUPS: Source = Source {
    title: "Linux ABI: /sys/kernel/iommu_groups/<grp_id>/type",
    at: "https://github.com/torvalds/linux/blob/master/Documentation/ABI/testing/sysfs-kernel-iommu_groups",
};
pub(crate) const RDMA_TOPO: Source = Source {
    title: "rdma-core, rdma_topo: compute_acs, check, __check_iommu_group",
    at: "https://github.com/linux-rdma/rdma-core/blob/master/kernel-boot/rdma_topo",
};

/// The command line, that which the next boot is asked for where the running one is not seen, or the answer "unknown".
pub(crate) fn seen<'a>(cx: &Cx<'a>, out: &mut Findings) -> Option<(&'a Cmdline, Place)> {
    let kernel = &cx.node.kernel;
    match (&kernel.cmdline, &kernel.next_boot) {
        (Reading::Known(c, place), _) => Some((c, *place)),
        (_, Reading::Known(next, place)) => Some((&next.cmdline, *place)),
        (r, _) => {
            out.unreadable(Subject::Node, "kernel command line", r).see("cat /proc/cmdline");
            None
        }
    }
}

/// Pass of a rule that looks for words which should not be there.
pub(crate) fn none_of<'o>(out: &'o mut Findings, what: &str, cmdline: (&Cmdline, Place)) -> &'o mut Finding {
    let n = cmdline.0.params.len();
    out.pass(Subject::Node, format_args!("no {what} among the {n} parameters of the command line")).at(cmdline.1)
}

/// A word for messages and subjects: clipped, one line, nothing that a terminal would obey.
pub(crate) fn short(word: &str) -> String {
    clip::word(word, 80)
}

/// `name=option`, as a subject.
pub(crate) fn subject(name: &str, option: &str) -> Subject {
    Subject::KernelArg(short(&format!("{name}={option}")))
}

/// Parameters that go.
pub(crate) fn remove(words: &[&str], note: &'static str) -> Remedy {
    let words: Vec<String> = words.iter().map(|w| short(w)).collect();
    Remedy::new(
        format!("boot without {}", words.join(" ")),
        Action::KernelArgs { add: vec![], remove: words.into_iter().map(Into::into).collect() },
    )
    .because(note)
    .prove("proc/cmdline")
}

/// This node passes devices to virtual machines.
pub(crate) fn vm_host(cx: &Cx<'_>) -> bool {
    cx.node.context.role.value == Some(Role::VmHost)
}

/// What the command line makes of the default domain of host drivers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) identity: bool,
    /// The word that wins.
    pub(crate) word: &'a Param,
}

/// The default domain that the command line asks for: `iommu=pt`/`nopt` (x86) and `iommu.passthrough=` set the same variable, so the
/// last one in the line wins. A value that is no boolean is ignored by the kernel.
pub(crate) fn asked_domain<'a>(cx: &Cx<'a>, c: &'a Cmdline) -> Option<Asked<'a>> {
    asked_on(cx.node, c)
}

/// Words that, each alone, ask for identity domains, or for translated ones.
pub(crate) fn asking<'a>(cx: &Cx<'a>, c: &'a Cmdline, identity: bool) -> impl Iterator<Item = &'a Param> {
    let node = cx.node;
    c.params.iter().filter(move |p| {
        let single = Cmdline { params: vec![(*p).clone()], init_args: vec![] };
        asked_on(node, &single).is_some_and(|a| a.identity == identity)
    })
}

/// Whether a command line asks this node's kernel for identity domains; `None`: it asks for nothing, the kernel's configuration decides.
#[must_use]
pub fn domain_asked_for(node: &Node<'_>, c: &Cmdline) -> Option<bool> {
    asked_on(node, c).map(|a| a.identity)
}

fn asked_on<'a>(node: &Node<'_>, c: &'a Cmdline) -> Option<Asked<'a>> {
    let mut last = None;
    for word in &c.params {
        let value = word.value.as_deref().unwrap_or_default();
        if same_name(&word.name, "iommu") && !node.cpu.is_arm() {
            for option in value.split(',') {
                if option.starts_with("pt") {
                    last = Some(Asked { identity: true, word });
                } else if option.starts_with("nopt") {
                    last = Some(Asked { identity: false, word });
                }
            }
        } else if same_name(&word.name, "iommu.passthrough") {
            last = kernel_bool(value).map(|identity| Asked { identity, word }).or(last);
        }
    }
    last
}

/// Whether a word of the command line turns the IOMMU off: `iommu=off`, and the vendor's own.
pub(crate) fn iommu_off<'a>(cx: &Cx<'_>, c: &'a Cmdline) -> Option<(&'a str, &'a Param)> {
    off_on(cx.node, c)
}

/// Whether a command line turns this node's IOMMU off.
#[must_use]
pub fn iommu_turned_off(node: &Node<'_>, c: &Cmdline) -> bool {
    off_on(node, c).is_some()
}

fn off_on<'a>(node: &Node<'_>, c: &'a Cmdline) -> Option<(&'a str, &'a Param)> {
    use linerate_node::cpu::CpuVendor::{Amd, Intel};
    let vendor = node.cpu.vendor.known();
    let last_intel = c.options("intel_iommu").filter(|(o, _)| o.starts_with("on") || o.starts_with("off")).last();
    let off = |name, option: &str| c.options(name).find(|(o, _)| o.starts_with(option));
    (!node.cpu.is_arm()).then(|| off("iommu", "off")).flatten().or_else(|| match vendor {
        Some(Intel) => last_intel.filter(|(o, _)| o.starts_with("off")),
        Some(Amd) => off("amd_iommu", "off"),
        _ => None,
    })
}

/// The known word nearest to one that is not known: at most two letters away (one for short words), letter case aside.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    near::within(word, if word.len() < 6 { 1 } else { 2 }, known)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `iommu_setup` (arch/x86/kernel/pci-dma.c) and `iommu_set_def_domain_type` (drivers/iommu/iommu.c) are early parameters, read in the
    /// order of the line: each writes the same variable, so that the last one holds.
    #[test]
    fn the_last_word_about_domains_holds() {
        let s = linerate_snapshot::Snapshot::new("x");
        let node = Node::decode(&s);
        for (line, identity) in [
            ("iommu=pt", Some(true)),
            ("iommu=pt iommu=nopt", Some(false)),
            ("iommu=nopt iommu=pt", Some(true)),
            ("iommu=pt,nopt", Some(false)),
            ("iommu=nopt,pt", Some(true)),
            ("iommu=pt iommu=soft", Some(true)),
            ("iommu=pt iommu.passthrough=0", Some(false)),
            ("iommu.passthrough=0 iommu=pt", Some(true)),
            ("iommu.passthrough=1 iommu.passthrough=x", Some(true)),
            ("iommu=off", None),
        ] {
            let c = linerate_formats::cmdline::parse(line.as_bytes());
            assert_eq!(domain_asked_for(&node, &c), identity, "{line}");
        }
    }

    #[test]
    fn nearest_words() {
        let known = ["noats", "realloc", "config_acs", "EnablePCIERelaxedOrderingMode"];
        for (word, wanted) in [
            ("noat", Some("noats")),
            ("relloc", Some("realloc")),
            ("config-acs", Some("config_acs")),
            ("EnablePCIeRelaxedOrderingMode", Some("EnablePCIERelaxedOrderingMode")),
            ("noacs", Some("noats")),
            ("noast", Some("noats")),
            ("banana", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known.into_iter()), wanted, "{word}");
        }
    }

    #[test]
    fn words_are_clipped_and_harmless() {
        assert_eq!(short("a\u{1b}[31m\n"), "a\u{fffd}[31m\u{fffd}");
        assert_eq!(short(&"x".repeat(100)).chars().count(), 81);
    }
}
