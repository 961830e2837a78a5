//! What a piece of topology shows without its node: a switch port that redirects, a link that only a virtual port has.

use super::{Found, Known, TROUBLESHOOTING, investigate, nccl, software};
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::observe::trouble::ToolTrouble;
use linerate_rules::{Severity, Source};

pub(super) static ALL: &[&Known] = &[&ACS, &VIRTUAL_LINK];

const XML_CC: Source = nccl(
    "NCCL, src/graph/xml.cc and topo.cc: link_speed times link_width",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/graph/topo.cc",
);

static ACS: Known = Known {
    id: "p2p/acs-redirects",
    title: "A PCIe port redirects peer-to-peer requests (ACS)",
    severity: Severity::High,
    docs: "With `ReqRedir+` a switch port sends requests between the devices below it up to the root complex. GPUDirect then is slow, or fails where the root complex or the IOMMU drops such requests. It matters on switch ports between a GPU and its NIC, \
           not on ports that no such path crosses.",
    confirm: &[
        "`lspci -vvv` as root, whole: which ports have ReqRedir+, and are GPU and NIC below the same switch?",
        "`linerate audit --rule acs/redirect-on-p2p-path` on the node",
    ],
    refute: &["the ports with ReqRedir+ are root ports with nothing but their own device below"],
    rules: &["acs/redirect-on-p2p-path"],
    sources: &[TROUBLESHOOTING],
    remedy: || {
        investigate("Judge the whole node: `linerate audit` names the ports on GPU-NIC paths, and how to set them")
    },
    check: |c| {
        let found = c.tools(|t| matches!(t, ToolTrouble::AcsRedirects));
        let Some((_, g)) = found.first().filter(|_| c.nodes.is_empty()) else { return slower(c) };
        let words = format!("{} port(s) redirect peer-to-peer requests; which ones is not in the text", g.count);
        let why = "lspci prints ReqRedir+; whether such a port is on the path between a GPU and its NIC is not shown";
        Some(Found::new(Possible, words, why).with(c.quotes(g).into_iter().take(3)))
    },
    follows: &[],
};

/// Two GPUs whose copies are slower with peer-to-peer than through host memory.
fn slower(c: &Case<'_>) -> Option<Found> {
    let found = c.tools(|t| matches!(t, ToolTrouble::P2pSlower));
    let (_, g) = found.first().filter(|_| c.nodes.is_empty())?;
    let words = "copies between two GPUs are slower with peer-to-peer than without";
    let why = "p2pBandwidthLatencyTest shows both; requests that a port redirects to the root complex, or that the IOMMU translates, are so; which port, the node shows";
    Some(Found::new(Possible, words, why).with(c.quotes(g).into_iter().take(1)))
}

/// Vendors of emulated PCIe ports, as topologies print them: TI's XIO3130 and Red Hat's root port of QEMU, VMware, Hyper-V, virtio.
const EMULATED: &[&str] = &["104c8232", "1b36", "15ad", "1414", "1af4"];

static VIRTUAL_LINK: Known = Known {
    id: "topo/virtual-link-speed",
    title: "NCCL counts on a virtual port's link speed: 2.5 GT/s on one lane",
    severity: Severity::High,
    docs: "Emulated PCIe ports of a virtual machine report 2.5 GT/s and one lane, whatever the hardware below does. NCCL multiplies both, takes 0.2 GB/s for the link between CPU and switch, and chooses rings, NICs and channels by it.",
    confirm: &[
        "`NCCL_TOPO_DUMP_FILE` in the guest: link_speed and link_width of the bridges above GPUs and NICs",
        "NCCL_TOPO_FILE with the host's real speeds, and the same benchmark",
    ],
    refute: &["the machine is bare metal, and lspci shows the same link: then the link itself is trained down"],
    rules: &["topo/virtual-hides-affinity", "topo/topology-file", "pcie/link-width"],
    sources: &[XML_CC, Source { title: "NCCL issue 749", at: "https://github.com/NVIDIA/nccl/issues/749" }],
    remedy: || {
        software(
            "Give NCCL the host's topology: NCCL_TOPO_FILE with real link_speed and link_width, made on the bare host or shipped by the cloud",
        )
    },
    check: |c| {
        let found = c.tools(|t| matches!(t, ToolTrouble::SlowLink));
        let (_, g) = found.first()?;
        let emulated = g.quotes.iter().any(|q| {
            let text = q.text.replace("\" device=\"0x", "").replace("0x", "");
            EMULATED.iter().any(|v| text.contains(&format!("({v}")) || text.contains(&format!("vendor=\"{v}")))
        });
        let (sure, why) = if emulated {
            (Likely, "the port is one that hypervisors emulate, at the speed that such ports report")
        } else {
            (Possible, "virtual ports report this speed; a link of hardware that is trained down looks the same")
        };
        Some(
            Found::new(
                sure,
                "a PCIe link of the topology is 2.5 GT/s on one lane, 0.2 GB/s: as virtual ports report",
                why,
            )
            .with(c.quotes(g).into_iter().take(3))
            .scope(c.scope(g.processes.iter().copied())),
        )
    },
    follows: &[],
};
