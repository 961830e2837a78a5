//! Why there is no layout: what is wrong, and what is possible instead.

use crate::choose::Torn;
use linerate_formats::pci::Bdf;
use linerate_formats::ranges::ranges;

/// A layout that is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A word of `--devices` that names nothing.
    #[error("`{word}` names no device: write all, an address (0000:3b:00.0), gpu:0-3, nic:0,2, or +nics after GPUs")]
    Word {
        /// The word.
        word: String,
    },
    /// A device that the host does not have.
    #[error("{what} is not on this host; it has {has}")]
    NoSuch {
        /// What was asked for.
        what: String,
        /// What there is.
        has: String,
    },
    /// Nothing was chosen.
    #[error("no GPU and no RDMA NIC is on this host")]
    Nothing,
    /// A bridge: ports are not passed through, the layout makes its own.
    #[error("{0} is a bridge: the layout makes ports of its own; choose the devices below it")]
    Bridge(Bdf),
    /// The host's own device.
    #[error("{bdf} is the host's own: {why}")]
    HostsOwn {
        /// Which.
        bdf: Bdf,
        /// By what it is known.
        why: &'static str,
    },
    /// A group that would be torn.
    #[error("IOMMU group {} would be torn: {} left on the host ({}); choose them, too, or separate them by ACS on the port above", .0.group, named(&.0.left), .0.drivers.join(", "))]
    TornGroup(Torn),
    /// The way above a device is not seen, or of a shape that no virtual port has.
    #[error("the PCIe path above {bdf} cannot be copied: {why}")]
    Way {
        /// Which device.
        bdf: Bdf,
        /// What is in the way.
        why: &'static str,
    },
    /// A device whose NUMA node is not known on a host with several.
    #[error("the NUMA node of {0} is not in the snapshot, and the host has several")]
    NoNode(Bdf),
    /// More bus numbers than there are.
    #[error(
        "{need} bus numbers are needed and {have} are left: choose fewer devices, or split the host in several guests"
    )]
    Buses {
        /// What the layout needs.
        need: usize,
        /// What is left.
        have: usize,
    },
    /// More expander buses than the root has slots.
    #[error("{need} free slots of pcie-root are needed (0x02 to 0x1e) and {have} are left: move devices to root ports")]
    Slots {
        /// Expander buses.
        need: usize,
        /// Free slots.
        have: usize,
    },
    /// More CPUs than a guest without a virtual IOMMU can have.
    #[error(
        "{0} virtual CPUs: more than 255 need a virtual IOMMU with extended interrupt mode; give --vcpus 255 or less, or --viommu, or merge into a domain that has one"
    )]
    Cpus(u32),
    /// A node without memory or CPUs for the guest.
    #[error("NUMA node {node} of the host: no {what}; {instead}")]
    Cell {
        /// The node.
        node: u32,
        /// `memory`, `CPUs`.
        what: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// A BAR whose size or kind is not seen.
    #[error(
        "the BARs of {0} are not in the snapshot, and the guest's window is sized by them: collect on the host, as root"
    )]
    Bars(Bdf),
    /// A window beyond the processor's addresses.
    #[error("the BARs need a window of {need_gib} GiB, and {bits} address bits leave less: choose fewer GPUs")]
    Window {
        /// The window.
        need_gib: u64,
        /// Bits.
        bits: u32,
    },
    /// A GPU that cannot be in a clique.
    #[error("--clique: {bdf} cannot be in a GPUDirect P2P clique: {why}")]
    Clique {
        /// Which.
        bdf: Bdf,
        /// Why.
        why: String,
    },
    /// More cliques than there are numbers.
    #[error("--clique: GPUs are below more than {0} root ports, and QEMU takes numbers 0 to 15: choose fewer GPUs")]
    Cliques(usize),
    /// Parts that are not equal.
    #[error("the chosen devices cannot be split in {parts} along root complexes; possible: {}", if .possible.is_empty() { "none".to_owned() } else { ranges(.possible.iter().copied()) })]
    Split {
        /// What was asked for.
        parts: u32,
        /// What can be.
        possible: Vec<u32>,
    },
    /// NVSwitches, and nothing says how they are partitioned.
    #[error(
        "the GPUs are joined by NVSwitches, and a part of them must be one partition of the fabric manager: give its list (`fmpm -l`) with --partitions, or pass all of them"
    )]
    Fabric,
    /// GPUs that are not one partition.
    #[error("the GPUs {} are not a partition of the fabric manager, and would have no NVLink; partitions: {}", named(.gpus), partitions(.possible))]
    Partition {
        /// What was chosen.
        gpus: Vec<Bdf>,
        /// Number and GPUs of each that there is.
        possible: Vec<(u32, Vec<Bdf>)>,
    },
    /// A GPU of the fabric manager's list that the snapshot does not show.
    #[error(
        "partition {partition} has the GPU of module {module}, and the snapshot does not show which that is: collect while the nvidia driver has the GPUs (`nvidia-smi -q` prints their module ids)"
    )]
    Module {
        /// The partition.
        partition: u32,
        /// The GPU's place on the baseboard.
        module: u32,
    },
}

fn partitions(all: &[(u32, Vec<Bdf>)]) -> String {
    all.iter().map(|(id, gpus)| format!("{id} ({})", named(gpus))).collect::<Vec<_>>().join("; ")
}

fn named(all: &[Bdf]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
