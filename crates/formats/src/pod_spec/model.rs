//! What a container asks for, whoever starts it: Kubernetes or Docker.

use crate::limits::Limit;
use crate::text::At;
use serde::Serialize;

/// The resource that is a GPU of NVIDIA.
pub(super) const GPU: &str = "nvidia.com/gpu";

/// Which text shows a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Form {
    /// An object of Kubernetes, with all that it asks for.
    #[default]
    Manifest,
    /// `kubectl describe`: neither `hostNetwork`, `hostIPC` nor what containers may do is in the text.
    Described,
    /// A compose file: each service is a pod with one container.
    Compose,
}

/// How many of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Count {
    /// This many.
    Number(u64),
    /// All that the host has.
    All,
    /// The value is no number: a variable, or what a template puts there.
    Unwritten,
}

impl Count {
    /// The number, where it is written.
    #[must_use]
    pub const fn number(self) -> Option<u64> {
        match self {
            Count::Number(n) => Some(n),
            Count::All | Count::Unwritten => None,
        }
    }
}

/// A size limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Size {
    /// As written.
    pub text: String,
    /// In bytes; `None`: it is no size, as a variable is.
    pub bytes: Option<u64>,
}

/// A switch; `None`: its value is a variable, or what a template puts there.
pub type Switch = Option<bool>;

/// What a pod asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Pod {
    /// 1-based line of its list of containers, of compose its service's.
    pub line: u32,
    /// Name of the object that it is in; compose has only the service's, which is the container's.
    pub name: Option<String>,
    /// Which text shows it.
    pub form: Form,
    /// Compose: the line of `extends`. Another service, which is not read, says the rest.
    pub extends: Option<u32>,
    /// `hostNetwork`; `network_mode: host`.
    pub host_network: Option<At<Switch>>,
    /// `hostIPC`; `ipc: host`.
    pub host_ipc: Option<At<Switch>>,
    /// Networks that are attached beside the cluster's own (`k8s.v1.cni.cncf.io/networks`).
    pub networks: Vec<At<String>>,
    /// Networks of GKE that are attached (`networking.gke.io/interfaces`).
    pub gke_networks: Vec<At<String>>,
    /// Devices that are claimed (`resourceClaims`, Dynamic Resource Allocation), by the names of the claims.
    pub claims: Vec<At<String>>,
    /// Volumes that are memory, with their size limits: `emptyDir` with `medium: Memory`; `shm_size` and `tmpfs`.
    pub memory_volumes: Vec<(String, Option<At<Size>>)>,
    /// Volumes that are the host's directories: name, path.
    pub host_volumes: Vec<(String, At<String>)>,
    /// Containers, without those that only prepare.
    pub containers: Vec<Container>,
    /// Containers that start before (`initContainers`), of which some go on beside the others.
    pub preparing: Vec<Container>,
}

/// A container.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Container {
    /// 1-based line.
    pub line: u32,
    /// Its name.
    pub name: Option<String>,
    /// Resources that it is limited to, else asks for: name, and how many.
    pub resources: Vec<(At<String>, Count)>,
    /// Devices of the host that it gets, by the host's path (compose's `devices`); `None`: the path is not written.
    pub devices: Vec<At<Option<String>>>,
    /// Capabilities that are added; `None`: a variable.
    pub capabilities: Vec<At<Option<String>>>,
    /// `privileged`.
    pub privileged: Option<At<Switch>>,
    /// Soft limit of locked memory (compose's `ulimits`); `None` inside: a variable.
    pub memlock: Option<At<Option<Limit>>>,
    /// Volumes and where they are mounted.
    pub mounts: Vec<(String, At<String>)>,
}

impl Container {
    /// GPUs of NVIDIA that it asks for.
    #[must_use]
    pub fn gpus(&self) -> Option<Count> {
        self.gpu_request().map(|(_, count)| *count)
    }

    /// Where it asks for GPUs, and for how many.
    #[must_use]
    pub fn gpu_request(&self) -> Option<&(At<String>, Count)> {
        self.resources.iter().find(|(n, _)| n.value == GPU)
    }

    /// Resources that are RDMA devices, by how device plugins name them.
    pub fn rdma(&self) -> impl Iterator<Item = &(At<String>, Count)> {
        self.resources.iter().filter(|(n, _)| is_rdma(&n.value))
    }

    /// A device that verbs are sent to, or the directory with all of them (`/dev/infiniband`). `rdma_cm` and `umad0` alone are none.
    #[must_use]
    pub fn rdma_device(&self) -> Option<At<&str>> {
        self.devices.iter().find_map(|d| {
            let path = d.value.as_deref()?.trim_end_matches('/');
            let is_it = path == "/dev/infiniband" || path.starts_with("/dev/infiniband/uverbs");
            is_it.then(|| At::new(path, d.line))
        })
    }
}

/// Whether a resource is an RDMA device: the shared device plugin's (`rdma/…`), SR-IOV's (`openshift.io/…`, `nvidia.com/…`, `mellanox.com/…`,
/// `intel.com/…`), AWS' (`vpc.amazonaws.com/efa`).
#[must_use]
pub fn is_rdma(resource: &str) -> bool {
    let Some((domain, name)) = resource.split_once('/') else { return false };
    let name = name.to_ascii_lowercase();
    let says =
        ["rdma", "roce", "hca", "mlnx", "mlx", "sriov", "infiniband", "ibp", "hostdev", "nic", "efa", "resource_"];
    match domain {
        "rdma" => true,
        "vpc.amazonaws.com" => name == "efa",
        "nvidia.com" => says.iter().any(|w| name.contains(w)) && !name.starts_with("gpu") && !name.starts_with("mig"),
        "openshift.io" | "mellanox.com" | "intel.com" | "networking.gke.io" => says.iter().any(|w| name.contains(w)),
        _ => says.iter().take(4).any(|w| name.contains(w)),
    }
}
