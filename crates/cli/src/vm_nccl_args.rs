//! Arguments of `linerate vm nccl`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  virsh dumpxml gpu1 | linerate vm nccl host.tar.zst --domain - -o topo.xml    for a guest that is defined
  linerate vm nccl host.tar.zst --guest guest.tar.zst -o topo.xml              by what both show: UUIDs, GUIDs, serial numbers
  linerate vm nccl host.tar.zst --dump host.xml --domain gpu1.xml              a dump of bare metal, in the guest's addresses
  linerate vm nccl host.tar.zst --domain gpu1.xml --check topo.xml             a file that somebody wrote for the guest

Give the file to jobs in the guest as NCCL_TOPO_FILE. With --domain alone, the guest's bus numbers are those that its firmware will give; with the guest's
snapshot they are what its kernel shows. How many of NCCL's conclusions differ from the host's is written to standard error.

Exit codes:
  0  with the file NCCL concludes in the guest what it concludes on the host
  2  it does not, or the snapshot does not show all that this is concluded from
  3  no file, and why; usage or internal error")]
pub(crate) struct NcclArgs {
    /// The host: a snapshot, or a tree with sys/ and proc/.
    ///
    /// Default: this machine; with --dump and --domain, none.
    #[arg(value_name = "HOST")]
    pub(crate) host: Option<PathBuf>,
    /// The guest's domain (`virsh dumpxml`); `-` reads standard input.
    #[arg(long, value_name = "FILE", required_unless_present = "guest")]
    pub(crate) domain: Option<PathBuf>,
    /// A snapshot of the guest while it runs.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) guest: Option<PathBuf>,
    /// Translate this topology of the host.
    ///
    /// Of NCCL_TOPO_DUMP_FILE, instead of building one from its snapshot.
    #[arg(long, value_name = "FILE")]
    pub(crate) dump: Option<PathBuf>,
    /// Check a topology file for the guest instead of writing one.
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub(crate) check: Option<PathBuf>,
    /// Write NCCL's topology file here instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
