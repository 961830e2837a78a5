//! Why GPUs of one node do not talk directly.

use super::{ENV_RST, Found, Known, environment, investigate, nccl};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::observe::ranks::Carrier;
use crate::observe::trouble::{FrameworkTrouble, Trouble};
use linerate_rules::{Severity, Source};
use std::collections::BTreeSet;

pub(super) static ALL: &[&Known] = &[&BY_ENV, &REFUSED, &CONTAINERS, &SHM_OFF, &SHM_SMALL];

const P2P_CC: Source = nccl(
    "NCCL, src/transport/p2p.cc and src/graph/paths.cc: ncclTopoCheckP2p",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/graph/paths.cc",
);

/// Which carriers connect ranks of a node.
fn carriers(c: &Case<'_>) -> BTreeSet<Carrier> {
    c.ranks().flat_map(|r| r.cells.iter().map(|cell| cell.carrier)).collect()
}

fn has_p2p(all: &BTreeSet<Carrier>) -> bool {
    all.iter().any(|c| *c <= Carrier::P2pOther)
}

static BY_ENV: Known = Known {
    id: "p2p/disabled-by-env",
    title: "A variable keeps GPUs of one node from talking directly",
    severity: Severity::High,
    docs: "NCCL_P2P_DISABLE=1 and NCCL_P2P_LEVEL=LOC (0) send what GPUs of one node exchange through host memory. NCCL_P2P_LEVEL=NVL does so on machines whose GPUs have no NVLink. \
           They are left over from debugging, as a rule.",
    confirm: &["unset the variable: `via P2P/…` appears in place of `via SHM/…`"],
    refute: &["`via P2P/…` in the log"],
    rules: &["acs/redirect-on-p2p-path"],
    sources: &[ENV_RST, P2P_CC],
    remedy: || environment("Unset NCCL_P2P_DISABLE and NCCL_P2P_LEVEL", &[], &["NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL"]),
    check: |c| {
        let off = c
            .env_number("NCCL_P2P_DISABLE")
            .filter(|(v, _)| *v != 0)
            .map(|(v, g)| (format!("NCCL_P2P_DISABLE={v}"), g));
        let low = c
            .env("NCCL_P2P_LEVEL")
            .filter(|(v, _)| matches!(v.trim().to_ascii_uppercase().as_str(), "LOC" | "0" | "NVL"));
        let nvl = low.is_some_and(|(v, _)| v.trim().eq_ignore_ascii_case("NVL"));
        let (words, g) = off.or_else(|| low.map(|(v, g)| (format!("NCCL_P2P_LEVEL={v}"), g)))?;
        let all = carriers(c);
        if has_p2p(&all) {
            return None;
        }
        let shm = all.contains(&Carrier::Shm);
        let (sure, why) = match (shm, nvl) {
            (true, false) => (Certain, "the variable is set, and ranks of a node are connected through host memory"),
            (true, true) => (
                Likely,
                "only NVLink is allowed, and ranks of a node are connected through host memory: their GPUs have none between them",
            ),
            (false, false) => (Possible, "the variable is set; the connections within the node are not shown"),
            (false, true) => return None,
        };
        Some(
            Found::new(sure, format!("{words}: GPUs of a node exchange data through host memory"), why)
                .with(c.quotes(g)),
        )
    },
    follows: &[],
};

static REFUSED: Known = Known {
    id: "p2p/refused-by-driver",
    title: "The driver refuses peer-to-peer between GPUs",
    severity: Severity::High,
    docs: "CUDA or NVML says that two GPUs cannot reach each other's memory although the topology would allow it: the driver does not offer it for this product (GeForce), the chipset or a virtual machine does not support it, \
           ACS or the IOMMU stand in the way, or NVLink is in error. NCCL goes on through host memory.",
    confirm: &[
        "`nvidia-smi topo -p2p r` on the node: CNS (chipset), GNS (GPU), TNS (topology), DR (disabled)",
        "`linerate audit`: acs/redirect-on-p2p-path, iommu/translated-domain",
    ],
    refute: &["`nvidia-smi topo -p2p r` says OK for the pair"],
    rules: &["acs/redirect-on-p2p-path", "iommu/translated-domain"],
    sources: &[P2P_CC, super::TROUBLESHOOTING],
    remedy: || investigate("Read `nvidia-smi topo -p2p r` for the reason that the driver gives"),
    check: |c| {
        let found = c.failures(|t| matches!(t, Trouble::P2pRefused | Trouble::P2pDisabled));
        let (_, g) = found.first()?;
        if c.env_number("NCCL_P2P_DISABLE").is_some_and(|(v, _)| v != 0) {
            return None;
        }
        // Between GPUs with NVLink it is a fault of another kind: gpu/nvlink.
        if found.iter().all(|(_, g)| g.quotes.iter().all(|q| q.text.contains("NVLINK"))) {
            return None;
        }
        let words = "the driver refuses peer-to-peer between GPUs of a node";
        let why = "the log says so; the driver's reason is in `nvidia-smi topo -p2p r`";
        Some(
            Found::new(Certain, words, why)
                .with(c.quotes(g))
                .scope(c.scope(g.processes.iter().copied()))
                .join(c, &["acs/redirect-on-p2p-path", "iommu/translated-domain"]),
        )
    },
    follows: &[],
};

static CONTAINERS: Known = Known {
    id: "p2p/containers-isolated",
    title: "Ranks of one node are in containers that do not see each other",
    severity: Severity::High,
    docs: "NCCL connects ranks through CUDA IPC or shared memory only where they share a host identity and /dev/shm. Ranks in separate containers without a shared IPC namespace are taken for ranks of different nodes and \
           talk through the NIC, or fail when they import each other's memory.",
    confirm: &[
        "`nNodes` in the log against the number of machines",
        "start the containers with a shared IPC namespace (--ipc=host, hostIPC, or one pod) and all GPUs visible",
    ],
    refute: &["each rank runs on a machine of its own"],
    rules: &["memory/shm-size"],
    sources: &[P2P_CC, super::TROUBLESHOOTING],
    remedy: || {
        investigate("Run the ranks of a node in one container, or share IPC namespace, /dev/shm and the list of GPUs")
    },
    check: |c| {
        // Memory of a GPU that this container does not see.
        let import = c.failures(|t| matches!(t, Trouble::Cuda { code, error } if *code == Some(101) || c.name(*error).contains("invalid device ordinal")));
        let nvml = c.failures(|t| matches!(t, Trouble::Other(n) if c.name(*n).contains("nvmlDeviceGetHandleBy") && c.name(*n).contains("Not Found")));
        if let Some((_, g)) = nvml.first().or_else(|| import.first().filter(|_| c.job.hosts(c.o).len() <= 1)) {
            let (sure, why) = if nvml.is_empty() {
                (Possible, "a GPU's number is not known to this process; a wrong local rank looks the same")
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
        let over_net = hosts == 1
            && world.size > 1
            && all.contains(&Carrier::Net)
            && !has_p2p(&all)
            && !all.contains(&Carrier::Shm);
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
            let why = "neither CUDA IPC nor shared memory connects them, and no variable forbids it: separate containers look so";
            ("ranks of one host are connected over the network only".to_owned(), why)
        } else {
            let words = format!("NCCL counts {nodes} nodes, and the ranks print {hosts} host name(s)");
            (words, "ranks of one host are counted as different nodes, as separate containers are")
        };
        Some(Found::new(Likely, words, why).with(lines))
    },
    follows: &[],
};

static SHM_OFF: Known = Known {
    id: "shm/disabled-by-env",
    title: "NCCL_SHM_DISABLE sends traffic within a node to the NIC",
    severity: Severity::Medium,
    docs: "Where GPUs cannot talk directly, ranks of a node use shared memory. NCCL_SHM_DISABLE=1 forbids that, too, and leaves the network, even within one node.",
    confirm: &["unset NCCL_SHM_DISABLE: `via SHM/…` appears in place of `via NET/…`"],
    refute: &["all ranks of a node are connected by P2P: then the variable changes nothing"],
    rules: &[],
    sources: &[ENV_RST],
    remedy: || environment("Unset NCCL_SHM_DISABLE", &[], &["NCCL_SHM_DISABLE"]),
    check: |c| {
        let (_, g) = c.env_number("NCCL_SHM_DISABLE").filter(|(v, _)| *v != 0)?;
        let all = carriers(c);
        if all.contains(&Carrier::Shm) || has_p2p(&all) {
            return None;
        }
        let one_host = c.job.hosts(c.o).len() == 1 && c.job.nodes(c.o).is_none_or(|n| n <= 1);
        let net = all.contains(&Carrier::Net);
        let (sure, why) = match (net, one_host) {
            (true, true) => (Certain, "the variable is set, and ranks of one host are connected over the network"),
            (true, false) => {
                (Likely, "the variable is set, and no connection within a node goes another way than the network")
            }
            (false, _) => (Possible, "the variable is set; the connections are not shown"),
        };
        Some(
            Found::new(sure, "NCCL_SHM_DISABLE=1: ranks of a node talk through the network", why)
                .with(c.quotes(g))
                .with(c.cells(c.net_cells().take(1))),
        )
    },
    follows: &[],
};

static SHM_SMALL: Known = Known {
    id: "shm/too-small",
    title: "/dev/shm has no room for NCCL's buffers",
    severity: Severity::Critical,
    docs: "Ranks of a node exchange data and messages through files in /dev/shm. Containers have 64 MiB of it unless told otherwise, which several ranks use up. NCCL then fails to extend or map a segment.",
    confirm: &["`df -h /dev/shm` in the same container"],
    refute: &["/dev/shm is large and empty: then look for a limit of the memory cgroup"],
    rules: &["memory/shm-size"],
    sources: &[super::TROUBLESHOOTING],
    remedy: || {
        super::software(
            "Give the container shared memory: --shm-size=8g or --ipc=host; in Kubernetes an emptyDir with medium: Memory at /dev/shm",
        )
    },
    check: |c| {
        let found = c.failures(|t| matches!(t, Trouble::SharedMemory { .. }));
        let bus = c.frameworks(|t| matches!(t, FrameworkTrouble::BusError));
        if let (Some((_, g)), true) = (bus.first(), found.is_empty()) {
            let why = "NCCL 2.12 to 2.20 make segments without asking for the room, and a full /dev/shm is then a bus error; other mapped files look the same";
            return Some(Found::new(Possible, "a bus error: /dev/shm may be full", why).with(c.quotes(g)));
        }
        let full = found.iter().find(|(t, _)| matches!(t, Trouble::SharedMemory { no_space: true }));
        let (t, g) = full.or_else(|| found.first())?;
        let told = g.quotes.iter().any(|q| q.text.contains("No space"));
        // A segment of another rank that is gone, or that a container does not see.
        let missing = found
            .iter()
            .flat_map(|(_, g)| &g.quotes)
            .any(|q| q.text.contains("No such file") || q.text.contains("size 0"));
        if !told && missing {
            return None;
        }
        let (sure, why) = match t {
            Trouble::SharedMemory { no_space: true } if told => (Certain, "the log says that no space is left"),
            Trouble::SharedMemory { no_space: true } => {
                (Likely, "a segment could not be made large enough; the reason is not printed")
            }
            _ => (Possible, "a segment of shared memory could not be made or mapped; the reason is not printed"),
        };
        Some(
            Found::new(sure, "no room in /dev/shm", why)
                .with(c.quotes(g))
                .scope(c.scope(g.processes.iter().copied()))
                .join(c, &["memory/shm-size"]),
        )
    },
    follows: &[],
};
