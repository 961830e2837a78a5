//! Names that are nearly others.

use crate::registry::{Owner, lookup, variables};
use linerate_formats::near::distance;

/// Names that people write, and what they mean.
const SLIPS: &[(&str, &str)] = &[
    ("NCCL_DEBUG_SUBSYSTEM", "NCCL_DEBUG_SUBSYS"),
    ("NCCL_DEBUG_SUBSYSTEMS", "NCCL_DEBUG_SUBSYS"),
    ("NCCL_DEBUG_LEVEL", "NCCL_DEBUG"),
    ("NCCL_LOG_LEVEL", "NCCL_DEBUG"),
    ("NCCL_LOG_FILE", "NCCL_DEBUG_FILE"),
    ("NCCL_NET_GDRLEVEL", "NCCL_NET_GDR_LEVEL"),
    ("NCCL_GDR_LEVEL", "NCCL_NET_GDR_LEVEL"),
    ("NCCL_GDR_READ", "NCCL_NET_GDR_READ"),
    ("NCCL_NET_GDR_ENABLE", "NCCL_NET_GDR_LEVEL"),
    ("NCCL_IB_IFNAME", "NCCL_IB_HCA"),
    ("NCCL_IB_DEVICE", "NCCL_IB_HCA"),
    ("NCCL_IB_DEVICES", "NCCL_IB_HCA"),
    ("NCCL_IB_GID", "NCCL_IB_GID_INDEX"),
    ("NCCL_GID_INDEX", "NCCL_IB_GID_INDEX"),
    ("NCCL_IB_ROCE_GID_INDEX", "NCCL_IB_GID_INDEX"),
    ("NCCL_IB_TRAFFIC_CLASS", "NCCL_IB_TC"),
    ("NCCL_IB_SERVICE_LEVEL", "NCCL_IB_SL"),
    ("NCCL_IB_QPS", "NCCL_IB_QPS_PER_CONNECTION"),
    ("NCCL_QPS_PER_CONNECTION", "NCCL_IB_QPS_PER_CONNECTION"),
    ("NCCL_SOCKET_NAME", "NCCL_SOCKET_IFNAME"),
    ("NCCL_NET_IFNAME", "NCCL_SOCKET_IFNAME"),
    ("NCCL_IFNAME", "NCCL_SOCKET_IFNAME"),
    ("NCCL_BUFFER_SIZE", "NCCL_BUFFSIZE"),
    ("NCCL_MAX_CHANNELS", "NCCL_MAX_NCHANNELS"),
    ("NCCL_MIN_CHANNELS", "NCCL_MIN_NCHANNELS"),
    ("NCCL_NCHANNELS", "NCCL_MAX_NCHANNELS"),
    ("NCCL_NUM_CHANNELS", "NCCL_MAX_NCHANNELS"),
    ("NCCL_PROTOCOL", "NCCL_PROTO"),
    ("NCCL_ALGORITHM", "NCCL_ALGO"),
    ("NCCL_TOPOLOGY_FILE", "NCCL_TOPO_FILE"),
    ("NCCL_NVLS_DISABLE", "NCCL_NVLS_ENABLE"),
    ("NCCL_IB_ENABLE", "NCCL_IB_DISABLE"),
    ("NCCL_P2P_ENABLE", "NCCL_P2P_DISABLE"),
    ("NCCL_SHM_ENABLE", "NCCL_SHM_DISABLE"),
];

/// The variable that a name was meant to be. `None`: it is known, or like nothing.
#[must_use]
pub fn near(name: &str) -> Option<&'static str> {
    let trimmed = crate::read::plain(name);
    if lookup(trimmed).is_some() {
        return lookup(trimmed).map(|v| v.name).filter(|n| *n != name);
    }
    let upper = trimmed.to_ascii_uppercase();
    let exact = |n: &str| lookup(n).map(|v| v.name);
    if let Some(found) = exact(&upper).or_else(|| exact(&format!("NCCL_{upper}"))) {
        return Some(found);
    }
    if let Some((_, to)) = SLIPS.iter().find(|(from, _)| *from == upper) {
        return Some(to);
    }
    let squeezed = |n: &str| n.replace(['_', '-'], "");
    let bare = squeezed(&upper);
    // Short names are like many others.
    let max = if upper.len() < 12 { 1 } else { 2 };
    let rate = |v: &'static crate::registry::Variable| {
        if squeezed(v.name) == bare {
            return Some((0, v));
        }
        distance(&upper, v.name, max).map(|d| (d, v))
    };
    let described = |v: &crate::registry::Variable| v.does.is_none();
    let candidates = variables().iter().filter(|v| !matches!(v.owner, Owner::Build | Owner::Image)).filter_map(rate);
    candidates.min_by_key(|(d, v)| (*d, described(v))).map(|(_, v)| v.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood() {
        for (wrong, right) in [
            ("NCCL_IB_GIDINDEX", "NCCL_IB_GID_INDEX"),
            ("NCCL_NET_GDRLEVEL", "NCCL_NET_GDR_LEVEL"),
            ("NCCL_DEBUG_SUBSYSTEM", "NCCL_DEBUG_SUBSYS"),
            ("nccl_debug", "NCCL_DEBUG"),
            ("NCLL_DEBUG", "NCCL_DEBUG"),
            ("IB_DISABLE", "NCCL_IB_DISABLE"),
            ("NCCL_SOCKET_IFNAMES", "NCCL_SOCKET_IFNAME"),
            ("NCCL_SCOKET_IFNAME", "NCCL_SOCKET_IFNAME"),
            ("NCCL_IB_HCAS", "NCCL_IB_HCA"),
            ("NCCL_DEBUG ", "NCCL_DEBUG"),
            ("export NCCL_DEBUG", "NCCL_DEBUG"),
            ("UCX_NET_DEVICE", "UCX_NET_DEVICES"),
            ("TORCH_NCCL_BLOCKNG_WAIT", "TORCH_NCCL_BLOCKING_WAIT"),
        ] {
            assert_eq!(near(wrong), Some(right), "{wrong}");
        }
        for fine in ["NCCL_DEBUG", "UCX_TLS", "NCCL_SOMETHING_ELSE", "UCX_CUDA_COPY_DMABUF"] {
            assert_eq!(near(fine), None, "{fine}");
        }
    }
}
