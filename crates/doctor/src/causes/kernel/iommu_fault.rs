//! `kernel/iommu-fault`.

use super::{device, identify, named, nameless};
use crate::answer::Confidence::{Certain, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::groups::Group;
use crate::observe::trouble::KernelTrouble;
use linerate_formats::dmesg::Requester;
use linerate_node::requester::{Device, Standing};
use linerate_rules::{Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "kernel/iommu-fault",
    title: "The IOMMU refused an address that a device used",
    what: "A device used an address for which the IOMMU had no mapping.",
    shows: &[
        "`AMD-Vi: Event logged [IO_PAGE_FAULT …]`, `DMAR: [DMA Write] Request device …`, `arm-smmu-v3 …: event 0x10`, \
         of a GPU, an RDMA NIC or a port above one",
    ],
    why: "Peer-to-peer traffic between GPU and NIC in a translated domain ends so: NCCL checks neither the IOMMU's \
          mode nor ACS, and hangs or sees errors.",
    confirm: &[
        "whose is the address of the device? `lspci -s BDF`",
        "`linerate audit --rule 'iommu/*'`: the domain of GPU and NIC",
        "NCCL_NET_GDR_LEVEL=LOC and the same job: do the faults stop?",
    ],
    refute: &["the device is neither a GPU nor an RDMA NIC nor a bridge above one"],
    remedy: identity(),
    sources: &[GDR_DOC],
    severity: Severity::Critical,
    rules: &["iommu/faults", "iommu/translated-domain", "cmdline/iommu-pt-without-iommu"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let (found, other): (Vec<_>, Vec<_>) = faults(c).into_iter().partition(|f| f.device.standing == Standing::Path);
    if found.is_empty() {
        let open = other.iter().find(|f| f.device.standing == Standing::Unknown)?;
        let words = format!(
            "{} {}",
            linerate_formats::counted(open.group.count, "IOMMU fault", "IOMMU faults"),
            nameless(open.of, &open.device)
        );
        let why = "only faults of a GPU, an RDMA NIC or a port above one concern the job";
        return Some(Found::new(Possible, words, why).shown(c, open.group).fix(Some(identify())));
    }
    let first = found.first()?;
    let mut devices: Vec<String> = Vec::new();
    for f in &found {
        let name = named(f.of, &f.device);
        if !devices.contains(&name) {
            devices.push(name);
        }
    }
    let total: u64 = found.iter().map(|f| f.group.count).sum();
    let words = format!(
        "{} of {}",
        linerate_formats::counted(total, "IOMMU fault", "IOMMU faults"),
        crate::ranges::some(&devices, 3)
    );
    let why = "the kernel's log says so, and the device is on the way between GPU and NIC";
    Some(
        Found::new(Certain, words, why)
            .shown(c, first.group)
            .fix(Some(if first.arm { identity_on_arm() } else { identity() }.remedy()))
            .join(c, &["iommu/translated-domain", "iommu/faults", "acs/redirect-on-p2p-path"]),
    )
}

const GDR_DOC: Source = nccl("GPUDirect RDMA documentation: IOMMU", "https://docs.nvidia.com/cuda/gpudirect-rdma/");

/// What the log alone shows decides neither the architecture nor the role, and the wrong argument is ignored or harmful.
const fn identity() -> Advice {
    Advice::Investigate(
        "Find out the domain of GPU and NIC (iommu/translated-domain on the node names the fix): host drivers on x86 want iommu=pt, on Arm \
         iommu.passthrough=1 (iommu=pt is ignored there); on a VM host or a SEV-SNP host it is the guest's mapping, and neither",
    )
}

/// Arm's kernel ignores iommu=pt, and whether its other argument is right depends on the platform.
fn identity_on_arm() -> Advice {
    Advice::Investigate(
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
        KernelTrouble::IommuFault { of, arm } => Some(Fault { of, arm, device: device(c, of, group), group }),
        _ => None,
    })
    .collect()
}
