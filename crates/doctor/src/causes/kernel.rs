//! What the kernel saw.

use super::{Found, Known, investigate, nccl};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::answer::Evidence;
use crate::case::Case;
use crate::observe::groups::Group;
use crate::observe::trouble::{FrameworkTrouble, KernelTrouble, ToolTrouble};
use linerate_formats::dmesg::Requester;
use linerate_node::pci::PciTree;
use linerate_node::requester::{self, Device, Standing};
use linerate_rules::{Remedy, Severity, Source};

pub(super) static ALL: &[&Known] = &[&FAULT, &OOM];

const GDR_DOC: Source = nccl("GPUDirect RDMA documentation: IOMMU", "https://docs.nvidia.com/cuda/gpudirect-rdma/");

static FAULT: Known = Known {
    id: "kernel/iommu-fault",
    title: "The IOMMU refused an address that a device used",
    severity: Severity::Critical,
    docs: "A device used an address for which the IOMMU had no mapping. Peer-to-peer traffic between GPU and NIC in a translated domain ends so: NCCL asks neither for the IOMMU's mode nor for ACS, and hangs or sees errors.",
    confirm: &[
        "whose is the address of the device? `lspci -s BDF`",
        "`linerate audit --rule 'iommu/*'`: the domain of GPU and NIC",
        "NCCL_NET_GDR_LEVEL=LOC and the same job: do the faults stop?",
    ],
    refute: &["the device is neither a GPU nor an RDMA NIC nor a bridge above one"],
    rules: &["iommu/faults", "iommu/translated-domain", "cmdline/iommu-pt-without-iommu"],
    sources: &[GDR_DOC],
    remedy: identity,
    check: |c| {
        let (found, other): (Vec<_>, Vec<_>) = faults(c).into_iter().partition(|f| f.device.standing == Standing::Path);
        if found.is_empty() {
            let open = other.iter().find(|f| f.device.standing == Standing::Unknown)?;
            let words = format!("{} IOMMU fault(s) {}", open.group.count, nameless(open.of));
            let why = "only faults of a GPU, an RDMA NIC or a port above one concern the job";
            return Some(Found::new(Possible, words, why).with(c.quotes(open.group)).fix(Some(identify())));
        }
        let first = found.first()?;
        let mut devices: Vec<String> = Vec::new();
        for f in &found {
            let name = f.of.bdf.map_or_else(|| f.device.what.to_owned(), |b| format!("{b} ({})", f.device.what));
            if !devices.contains(&name) {
                devices.push(name);
            }
        }
        let total: u64 = found.iter().map(|f| f.group.count).sum();
        let words = format!("{total} IOMMU fault(s) of {}", crate::ranges::some(&devices, 3));
        let why = "the kernel's log says so, and the device is on the way between GPU and NIC";
        Some(
            Found::new(Certain, words, why)
                .with(c.quotes(first.group))
                .fix(Some(if first.arm { identity_on_arm() } else { identity() }))
                .join(c, &["iommu/translated-domain", "iommu/faults", "acs/redirect-on-p2p-path"]),
        )
    },
    follows: &[],
};

/// What the log alone shows decides neither the architecture nor the role, and the wrong argument is ignored or harmful.
fn identity() -> Remedy {
    investigate(
        "Find out the domain of GPU and NIC (iommu/translated-domain on the node names the fix): host drivers on x86 want iommu=pt, on Arm \
         iommu.passthrough=1 (iommu=pt is ignored there); on a VM host or a SEV-SNP host it is the guest's mapping, and neither",
    )
}

/// Arm's kernel ignores iommu=pt, and whether its other argument is right depends on the platform.
fn identity_on_arm() -> Remedy {
    investigate(
        "Find out which domain the device is in (/sys/kernel/iommu_groups/*/type); where identity is meant, Arm's argument is iommu.passthrough=1",
    )
}

/// An IOMMU fault, and what its device is.
pub(super) struct Fault<'a> {
    pub(super) of: Requester,
    pub(super) arm: bool,
    pub(super) device: Device,
    pub(super) group: &'a Group,
}

/// The faults of a job's kernel logs.
pub(super) fn faults<'a>(c: &Case<'a>) -> Vec<Fault<'a>> {
    let all = c.kernel(|k| matches!(k, KernelTrouble::IommuFault { .. })).into_iter();
    all.filter_map(|(k, group)| match k {
        KernelTrouble::IommuFault { of, arm } => Some(Fault { of, arm, device: device(c, of), group }),
        _ => None,
    })
    .collect()
}

/// What a message's device is: by a node that was given, else by what the log says.
pub(super) fn device(c: &Case<'_>, of: Requester) -> Device {
    let bound = || c.o.bound.iter().copied();
    let on_nodes = c.nodes.iter().map(|n| requester::device_in_log(&n.node.pci, false, of, bound()));
    let known = on_nodes.into_iter().find(|d| d.standing != Standing::Unknown);
    known.unwrap_or_else(|| requester::device_in_log(&PciTree::default(), false, of, bound()))
}

/// Errors of devices that have no part in the job's path.
pub(crate) fn elsewhere(c: &Case<'_>) -> Vec<(String, String, Vec<Evidence>)> {
    let why = "it is neither GPU nor RDMA NIC nor a port above one: the error is its own matter";
    let faults = faults(c).into_iter().map(|f| ("IOMMU faults", f.of, f.device, f.group));
    let errors = super::pcie::errors(c).into_iter().map(|(of, d, g)| ("PCIe errors", of, d, g));
    let of_others = faults.chain(errors).filter(|(_, _, d, _)| d.standing == Standing::Elsewhere);
    of_others
        .map(|(what, of, d, g)| {
            let address = of.bdf.map(|b| format!(" {b}")).unwrap_or_default();
            (format!("{what} of {}{address}", d.what), why.to_owned(), c.quotes(g).into_iter().take(1).collect())
        })
        .collect()
}

/// Words for a device that nothing identifies.
pub(super) fn nameless(of: Requester) -> String {
    match of.bdf {
        Some(b) => format!("of {b}: what that device is, these lines do not show"),
        None => "of a device that the line does not name".to_owned(),
    }
}

/// What to do about an error of a device that nothing identifies.
pub(super) fn identify() -> Remedy {
    investigate("Find out what the device is (`lspci -D -nn` on that host, or `linerate doctor LOG --node SNAPSHOT`)")
}

/// A program that was ended by SIGKILL, where nothing else is shown: the kernel sends it for want of memory, and so do schedulers and people.
fn killed(c: &Case<'_>) -> Option<Found> {
    let killed = c.frameworks(|t| matches!(t, FrameworkTrouble::Killed));
    let (_, g) = killed.first()?;
    let other = !c.failures(|t| !t.is_survivable()).is_empty()
        || !c.kernel(|_| true).is_empty()
        || !c.frameworks(|t| !matches!(t, FrameworkTrouble::Killed | FrameworkTrouble::Ended)).is_empty();
    // Slurm's own line of a job that it, or somebody, ended.
    let cancelled = c.tools(|t| matches!(t, ToolTrouble::Cancelled));
    if other || !cancelled.is_empty() {
        return None;
    }
    let why = "SIGKILL comes from outside the program: from the kernel for want of memory, from a scheduler, or from somebody; the kernel's log says which";
    Some(
        Found::new(Possible, "a process was ended by SIGKILL, as the kernel does for want of memory", why)
            .with(c.quotes(g)),
    )
}

static OOM: Known = Known {
    id: "kernel/oom",
    title: "The kernel ended a process for want of memory",
    severity: Severity::Critical,
    docs: "The host, or the memory cgroup of the container, ran out of memory, and the kernel killed a process. Where that was a rank, all others see a closed connection or wait.",
    confirm: &["name and pid of the killed process against the ranks", "memory.max and memory.events of the cgroup"],
    refute: &["the killed process is no part of the job"],
    rules: &[],
    sources: &[nccl("Linux, mm/oom_kill.c", "https://github.com/torvalds/linux/blob/master/mm/oom_kill.c")],
    remedy: || investigate("Give the job more host memory, or use less: data loaders, pinned buffers, checkpoints"),
    check: |c| {
        let found = c.kernel(|k| matches!(k, KernelTrouble::OutOfMemory));
        let Some((_, g)) = found.first() else { return killed(c) };
        let pids: Vec<u32> = c.processes().map(|(_, p)| p.pid).collect();
        let rank = g.quotes.iter().any(|q| {
            q.text
                .split(|ch: char| !ch.is_ascii_digit())
                .filter_map(|n| n.parse::<u32>().ok())
                .any(|n| n > 1 && pids.contains(&n))
        });
        let (sure, why) = if rank {
            (Certain, "the killed process is one of the ranks")
        } else {
            (Likely, "the kernel's log says so; whether the process was a rank, its pid tells")
        };
        Some(Found::new(sure, "the kernel killed a process for want of memory", why).with(c.quotes(g)))
    },
    follows: &[],
};
