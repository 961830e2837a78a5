//! `ib/port-not-active`.

use crate::answer::Confidence::{Certain, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::{PortState, ToolTrouble};
use linerate_rules::{Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "ib/port-not-active",
    title: "A NIC's port is not active",
    what: "A program is to use a port of a NIC whose state is not ACTIVE: no RDMA goes over it.",
    shows: &[
        "` Port number 1 state is Down` of perftest, and behind it `Couldn't set the link layer`, `Couldn't get context for the device`",
    ],
    why: "Down: the port has no link (cable, transceiver, the switch's port), or on RoCE its interface is down. Init: an InfiniBand port has a link, and no \
          subnet manager made it active.",
    confirm: &[
        "`ibstat`, or `rdma link`: state and physical state of the port",
        "on RoCE: `ip link show` of the port's interface; on InfiniBand: `sminfo` from another port of the fabric",
    ],
    refute: &["another port of the NIC was meant: `-i PORT`, `-d DEVICE` of perftest"],
    remedy: Advice::Investigate(
        "Down: check cable, transceiver and the switch's port, and on RoCE set the interface up (`ip link set DEV up`). Init: start a subnet manager for this fabric (opensm on a host where no switch has one)",
    ),
    sources: &[PERFTEST, VERBS_STATE],
    severity: Severity::High,
    rules: &["rdma/port-state"],
    follows: &[],
    check,
};

const PERFTEST: Source = nccl(
    "perftest, src/perftest_parameters.c: set_link_layer, check_link_and_mtu",
    "https://github.com/linux-rdma/perftest/blob/master/src/perftest_parameters.c",
);
const VERBS_STATE: Source = nccl(
    "rdma-core, libibverbs/verbs.h: enum ibv_port_state",
    "https://github.com/linux-rdma/rdma-core/blob/master/libibverbs/verbs.h",
);

fn check(c: &Case<'_>) -> Option<Found> {
    let all = c.tools(|t| matches!(t, ToolTrouble::PortNotActive(_)));
    let state = all.iter().find_map(|(t, g)| match t {
        ToolTrouble::PortNotActive(Some(state)) => Some((*state, *g)),
        _ => None,
    });
    let Some((state, g)) = state else {
        let (_, g) = all.first()?;
        let why = "perftest says so also where it cannot ask the port; its line before shows which";
        return Some(Found::new(Possible, "a port cannot be used, as one that is not active", why).with(c.quotes(g)));
    };
    let words = match state {
        PortState::Down => "a port of the NIC is down",
        PortState::Init => "a port of the NIC has a link, and no subnet manager made it active",
        PortState::Armed => "a port of the NIC is not active yet: its state is Armed",
        PortState::Other => "a port of the NIC is not active",
    };
    let found = Found::new(Certain, words, "the program asked the port for its state, and prints it");
    Some(found.with(c.quotes(g)))
}
