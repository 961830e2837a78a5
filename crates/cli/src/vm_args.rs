//! Arguments of `linerate vm`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  sudo linerate vm                                              this host and all its domains: what is wrong, and what to do
  linerate vm host.tar.zst --guest vm1=vm1.tar.zst              with what the guest shows
  linerate vm host.tar.zst --guest vm1=vm1.tar.zst --plans todo
                                                                the plans, as todo/host.plan and todo/guest-vm1.plan
  sudo linerate apply todo/host.plan                            firmware, kernel and ports of the host, definitions of its domains
  linerate verify todo/host.plan after.tar.zst --guest vm1=vm1-after.tar.zst
                                                                after the guest was shut down and started

Exit codes:
  0  host, domains and guests were seen, and are right
  1  findings of severity low or above
  2  nothing found, but something could not be seen
  3  no domain that has devices of the host; usage or internal error"
)]
pub(crate) struct VmArgs {
    #[command(subcommand)]
    pub(crate) command: Option<VmCommand>,
    #[command(flatten)]
    pub(crate) whole: WholeArgs,
}

/// Where a report goes, and in which form.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = CheckFormat::Text)]
    pub(crate) format: CheckFormat,
    /// Write the report here instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// A host with its guests.
#[derive(Debug, Args)]
pub(crate) struct WholeArgs {
    /// The host: a snapshot, or a tree with sys/ and proc/.
    ///
    /// Default: this machine.
    #[arg(value_name = "SOURCE")]
    pub(crate) source: Option<PathBuf>,
    /// Domain XML, in place of those in the source.
    ///
    /// The output of `virsh dumpxml`, or `-`.
    #[arg(long, value_name = "FILE")]
    pub(crate) domain: Option<PathBuf>,
    /// Running guest: a snapshot, a tree, or texts.
    ///
    /// NAME is the name of its domain; it may be left out if there is only one domain. May be repeated.
    #[arg(long, value_name = "[NAME=]SOURCE")]
    pub(crate) guest: Vec<String>,
    /// Write the plans into this directory.
    ///
    /// host.plan, and guest-NAME.plan for each guest that was given.
    #[arg(long, value_name = "DIR")]
    pub(crate) plans: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    /// List all findings and changes.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum VmCommand {
    /// Write a libvirt domain with the host's PCI tree: root complexes, switches, NUMA nodes.
    Layout(LayoutArgs),
    /// Check a libvirt domain against its host and its guest: layout, ATS, ACS, and what NCCL concludes.
    Check(CheckArgs),
    /// Write NCCL's topology file for a guest that exists, or check one.
    Nccl(crate::vm_nccl_args::NcclArgs),
}

/// What --into may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReplaceArg {
    /// Addresses of devices.
    Devices,
    /// Addresses of devices, and settings.
    All,
}

impl From<ReplaceArg> for linerate_vm::merge::Replace {
    fn from(arg: ReplaceArg) -> Self {
        match arg {
            ReplaceArg::Devices => Self::Devices,
            ReplaceArg::All => Self::All,
        }
    }
}

/// Form of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people.
    Text,
    /// For programs: docs/schema/vm-1.json, vm-check-1.json.
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate vm check vm.xml --host host.tar.zst                        the domain against its host
  linerate vm check vm.xml --host host.tar.zst --guest vm1.tar.zst    and what the guest shows
  virsh dumpxml vm1 | sudo linerate vm check - --host /               on the host itself
  linerate vm check vm.xml                                            what the domain alone shows

Exit codes:
  0  everything that was given was seen, and is right
  1  findings of severity low or above
  2  nothing found, but something could not be seen
  3  no domain, or it cannot be read; usage or internal error")]
pub(crate) struct CheckArgs {
    /// The domain: a file of `virsh dumpxml`, or `-`.
    #[arg(value_name = "DOMAIN.xml")]
    pub(crate) domain: PathBuf,
    /// The host; / is this machine.
    ///
    /// A snapshot, a tree with sys/ and proc/, or texts.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) host: Option<PathBuf>,
    /// Running guest: a snapshot, a tree, or texts.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) guest: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    /// List passes and not-applicable rules, too.
    ///
    /// With their evidence.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sudo linerate vm layout > vm.xml                                 this machine, all GPUs and RDMA NICs
  linerate vm layout host.tar.zst -o vm.xml --nccl vm-topo.xml     from a snapshot, with NCCL's file for the guest
  linerate vm layout host.tar.zst --devices gpu:0-3+nics           four GPUs and their nearest NICs
  linerate vm layout host.tar.zst --split 2 --part 2 -o b.xml      the second of two equal guests
  virsh define --validate vm.xml
  virsh dumpxml --inactive vm1 > vm1.xml && linerate vm layout host.tar.zst --into vm1.xml -o vm1.xml
                                                                   into a domain that exists; the rest of it stays byte for byte
  linerate vm layout host.tar.zst --into - --replace < in.xml > out.xml
                                                                   as a filter, for a hook of KubeVirt

A new domain has no disk and no network; add them. The layout, and the bus numbers and BAR window that it needs,
are written to standard error.

Exit codes:
  0  a layout in which NCCL concludes what it concludes on the host
  2  a layout, but the snapshot does not show all that this depends on, or --format cannot express all of it
  3  no layout, and why (with --into: the domain is not changed); usage or internal error")]
pub(crate) struct LayoutArgs {
    /// The host: a snapshot, or a tree with sys/ and proc/.
    ///
    /// Default: this machine.
    #[arg(value_name = "SOURCE")]
    pub(crate) source: Option<PathBuf>,
    /// What the guest gets: all, gpu:0-3, nic:0,2, +nics.
    ///
    /// Also addresses; +nics are the nearest NICs of the GPUs before it.
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub(crate) devices: String,
    /// Name of the guest.
    #[arg(long, default_value = "guest", conflicts_with = "into")]
    pub(crate) name: String,
    /// Merge the layout into this domain; `-` reads stdin.
    ///
    /// And write the result. Existing settings of the domain are kept, and differences are reported.
    #[arg(long, value_name = "FILE")]
    pub(crate) into: Option<PathBuf>,
    /// With --into: move devices that the domain has.
    ///
    /// And, unless WHAT is `devices`, replace what differs (CPUs, memory, NUMA cells, pages, window).
    #[arg(long, value_enum, value_name = "WHAT", requires = "into", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub(crate) replace: Option<ReplaceArg>,
    /// Split into N guests with the same number of GPUs.
    ///
    /// Along root complexes.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) split: u32,
    /// Which part to write, from 1.
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(crate) part: u32,
    /// The fabric manager's partitions (`fmpm -l`).
    ///
    /// `-` reads standard input. If NVSwitches join the GPUs, each guest must be one of these partitions.
    #[arg(long, value_name = "FILE")]
    pub(crate) partitions: Option<PathBuf>,
    /// Assume that the chosen GPUs are one partition.
    ///
    /// For hosts whose fabric manager cannot be asked: check the partition first.
    #[arg(long, conflicts_with = "partitions")]
    pub(crate) partitioned: bool,
    /// Number of virtual CPUs.
    ///
    /// Default: all CPUs of the NUMA nodes, except one core of each.
    #[arg(long, value_name = "N")]
    pub(crate) vcpus: Option<u32>,
    /// Memory, such as 512G.
    ///
    /// Default: what the snapshot shows as free.
    #[arg(long, value_name = "SIZE", value_parser = crate::budget::size)]
    pub(crate) memory: Option<u64>,
    /// Pages that back the memory: 1G, 2M, or none.
    #[arg(long, value_name = "SIZE", default_value = "1G")]
    pub(crate) hugepages: String,
    /// Let GPUs below one root port write to each other.
    ///
    /// Data-centre GPUs, over PCIe (GPUDirect P2P, QEMU 8.1 or later for Turing and newer). Refused for other GPUs.
    #[arg(long)]
    pub(crate) clique: bool,
    /// Give the guest a virtual IOMMU.
    ///
    /// For nested guests, or for more than 255 CPUs. It must then be booted with iommu=pt.
    #[arg(long, conflicts_with = "into")]
    pub(crate) viommu: bool,
    /// Write NCCL's topology file for the guest here.
    #[arg(long, value_name = "FILE")]
    pub(crate) nccl: Option<PathBuf>,
    /// Output format.
    ///
    /// What a format cannot express is in its comments and on standard error.
    #[arg(conflicts_with = "into", long, value_enum, default_value = "libvirt")]
    pub(crate) format: crate::vm_format::FormatArg,
    /// Write the domain here instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
