//! `p2p/containers-isolated`.

use super::{P2P_CC, carriers, has_p2p};
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, TROUBLESHOOTING};
use crate::observe::ranks::Carrier;
use crate::observe::trouble::Trouble;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "p2p/containers-isolated",
    title: "Ranks of one node are in containers that do not see each other",
    what: "Ranks of one node run in containers that do not see each other. They talk through the NIC, or fail when \
           they import each other's memory.",
    shows: &[
        "more nodes counted (`nNodes`) than host names printed",
        "ranks of one host connected `via NET/…` only",
        "`invalid device ordinal`, `nvmlDeviceGetHandleBy… Not Found`",
    ],
    why: "NCCL connects ranks through CUDA IPC or shared memory only where they share a host identity and /dev/shm. \
          It takes ranks in separate containers without a shared IPC namespace for ranks of different nodes.",
    confirm: &[
        "`nNodes` in the log against the number of machines",
        "start the containers with a shared IPC namespace (--ipc=host, hostIPC, or one pod) and all GPUs visible",
    ],
    refute: &["each rank runs on a machine of its own"],
    remedy: Advice::Investigate(
        "Run the ranks of a node in one container, or share IPC namespace, /dev/shm and the list of GPUs",
    ),
    sources: &[P2P_CC, TROUBLESHOOTING],
    severity: Severity::High,
    rules: &["memory/shm-size"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    // Memory of a GPU that this container does not see.
    let import = c.failures(|t| matches!(t, Trouble::Cuda { code, error } if *code == Some(101) || c.name(*error).contains("invalid device ordinal")));
    let nvml = c.failures(|t| matches!(t, Trouble::Other(n) if c.name(*n).contains("nvmlDeviceGetHandleBy") && c.name(*n).contains("Not Found")));
    if let Some((_, g)) = nvml.first().or_else(|| import.first().filter(|_| c.job.hosts(c.o).len() <= 1)) {
        let (sure, why) = if nvml.is_empty() {
            (Possible, "this process does not know a GPU's number; a wrong local rank looks the same")
        } else {
            (Likely, "the peer's GPU is not known to this process's driver library: another container has it")
        };
        return Some(
            Found::new(sure, "a rank does not see the GPU of another rank of its node", why).with(c.quotes(g)),
        );
    }
    let nodes = c.job.nodes(c.o).unwrap_or(1) as usize;
    let world = c.job.world()?;
    let hosts = c.job.hosts(c.o).len();
    let all = carriers(c);
    let over_net =
        hosts == 1 && world.size > 1 && all.contains(&Carrier::Net) && !has_p2p(&all) && !all.contains(&Carrier::Shm);
    let off = |name| c.env_number(name).is_some_and(|(v, _)| v != 0);
    if world.members.len() as u32 != world.size
        || hosts == 0
        || nodes <= hosts && !over_net
        || off("NCCL_SHM_DISABLE")
        || off("NCCL_P2P_DISABLE")
    {
        return None;
    }
    // NCCL_HOSTID can tell nodes apart on purpose.
    if c.env("NCCL_HOSTID").is_some() {
        return None;
    }
    let lines: Vec<_> = c.cells(c.net_cells());
    let (words, why) = if over_net && nodes <= hosts {
        let why =
            "neither CUDA IPC nor shared memory connects them, and no variable forbids it: separate containers look so";
        ("ranks of one host are connected over the network only".to_owned(), why)
    } else {
        let words = format!(
            "NCCL counts {nodes} nodes, but the ranks print {}",
            linerate_formats::counted(hosts, "host name", "host names")
        );
        (words, "ranks of one host are counted as different nodes, as separate containers are")
    };
    Some(Found::new(Likely, words, why).with(lines))
}
