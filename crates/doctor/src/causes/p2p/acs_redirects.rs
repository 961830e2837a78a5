//! `p2p/acs-redirects`.

use crate::answer::Confidence::Possible;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, TROUBLESHOOTING};
use crate::observe::trouble::ToolTrouble;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "p2p/acs-redirects",
    title: "A PCIe port redirects peer-to-peer requests (ACS)",
    what: "A PCIe port sends requests between the devices below it up to the root complex (`ReqRedir+`). GPUDirect \
           then is slow, or fails.",
    shows: &[
        "`ACSCtl: … ReqRedir+ …` of lspci",
        "p2pBandwidthLatencyTest: GPUs that copy slower with peer-to-peer than without",
    ],
    why: "The root complex or the IOMMU is slower than the switch, or drops such requests. It matters on switch \
          ports between a GPU and its NIC, not on ports that no such path crosses.",
    confirm: &[
        "`lspci -vvv` as root, whole: which ports have ReqRedir+, and are GPU and NIC below the same switch?",
        "`linerate audit --rule acs/redirect-on-p2p-path` on the node",
    ],
    refute: &["the ports with ReqRedir+ are root ports with nothing but their own device below"],
    remedy: Advice::Investigate(
        "Judge the whole node: `linerate audit` names the ports on GPU-NIC paths, and how to set them",
    ),
    sources: &[TROUBLESHOOTING],
    severity: Severity::High,
    rules: &["acs/redirect-on-p2p-path"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let found = c.tools(|t| matches!(t, ToolTrouble::AcsRedirects));
    // A node whose ports were judged says which they are.
    let judged = c.nodes.iter().any(|n| n.judges("acs/redirect-on-p2p-path"));
    let Some((_, g)) = found.first().filter(|_| !judged) else { return slower(c) };
    let words = format!(
        "{} peer-to-peer requests; the text does not show which",
        linerate_formats::counted(g.count, "port redirects", "ports redirect")
    );
    let why = "lspci prints ReqRedir+; whether such a port is on the path between a GPU and its NIC is not shown";
    Some(Found::new(Possible, words, why).with(c.quotes(g).into_iter().take(3)))
}

/// Two GPUs whose copies are slower with peer-to-peer than through host memory.
fn slower(c: &Case<'_>) -> Option<Found> {
    let found = c.tools(|t| matches!(t, ToolTrouble::P2pSlower));
    let (_, g) = found.first().filter(|_| c.nodes.is_empty())?;
    let words = "copies between two GPUs are slower with peer-to-peer than without";
    let why = "p2pBandwidthLatencyTest shows both; requests that a port redirects to the root complex, or that the IOMMU translates, are so; which port, the node shows";
    Some(Found::new(Possible, words, why).with(c.first_quote(g)))
}
