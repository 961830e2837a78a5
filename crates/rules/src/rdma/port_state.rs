//! `rdma/port-state`.

use super::common::{self, Use};
use crate::{
    About, Action, Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject,
};
use linerate_node::rdma::{LinkLayer, PortState, RdmaDevice, RdmaPort};
use linerate_snapshot::Place;

pub(super) static RULE: Rule = Rule {
    id: "rdma/port-state",
    title: "The RDMA ports that GPUs depend on are ACTIVE",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("NCCL does not use a port that is not ACTIVE: its share of the node's bandwidth is missing, or the job falls back to sockets"),
    sources: &[
        common::ABI,
        common::NCCL_IB,
        Source {
            title: "NVIDIA, MLNX_OFED, SR-IOV on InfiniBand: GUIDs, policy and state of virtual functions; virt_enabled of the subnet manager",
            at: "https://docs.nvidia.com/networking/display/mlnxofedv24100700/Single+Root+IO+Virtualization+(SR-IOV)",
        },
    ],
    reads: &["sys/class/infiniband/*/ports/*/{state,phys_state}", "ibstat", "ibv_devinfo", "rdma link", "ibdev2netdev"],
    docs: "\
## What it checks
The logical state of each port of each RDMA NIC: `4: ACTIVE` is right. INIT and ARMED on InfiniBand are the subnet manager's:
see rdma/subnet-manager. The severity of a DOWN port follows from what depends on it: high where it is the nearest NIC of a GPU,
low where the source does not show what depends on it, information where other NICs are nearer to every GPU, or where another port of the same card is ACTIVE: second ports are
often not cabled.

## Why it matters
NCCL and MPI skip ports that are not ACTIVE, silently. A node with one dead rail of eight takes part in every job and slows all of
them to the pace of that node.

## See it yourself
`cat /sys/class/infiniband/*/ports/*/{state,phys_state}`, or `ibstat`. Physical state Polling: no partner answers (cable, transceiver,
switch port). Disabled: switched off on this side. On RoCE the state follows the network interface: carrier and `ip link set up`.

## Fix
Polling: reseat or swap the cable, look at the switch port. Disabled: `ip link set IF up`, or enable the port. LinkUp and DOWN on InfiniBand: the cable is right. A virtual function needs
GUIDs and the state auto (`ip link set PF vf N node_guid …`, `port_guid …`, `state auto`), and a subnet manager that configures virtual ports (`virt_enabled 2` of opensm). Then read the state
again.",
    myths: &[Myth {
        claim: "The interface has an address, so RDMA works.",
        truth: "An address can be configured on a port without a link. Only state ACTIVE carries RDMA.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none_with_software(cx, out) {
        return;
    }
    for (d, p) in common::ports_with_software(cx) {
        judge(cx, d, p, out);
    }
}

fn judge<'o>(cx: &Cx<'_>, d: &RdmaDevice, p: &RdmaPort, out: &'o mut Findings) -> &'o mut Finding {
    let subject = common::subject(d, p);
    let Some(state) = p.state.known() else {
        if let Some(place) = p.netdev_down {
            return interface_down(p, subject, place, out);
        }
        return out.unreadable(subject, "port state", &p.state);
    };
    match state {
        PortState::Active => out.pass(subject, format_args!("ACTIVE{}", common::remark(d))).at(p.state.place()),
        PortState::Init | PortState::Armed => out
            .not_applicable_to(subject, "has a link, waits for the subnet manager: see rdma/subnet-manager")
            .at(p.state.place()),
        PortState::Nop | PortState::Down | PortState::ActiveDefer => down(cx, d, p, *state, out),
    }
}

fn down<'o>(cx: &Cx<'_>, d: &RdmaDevice, p: &RdmaPort, state: PortState, out: &'o mut Findings) -> &'o mut Finding {
    let subject = common::subject(d, p);
    let word = match state {
        PortState::ActiveDefer => "ACTIVE_DEFER (its link was lost a moment ago)",
        _ => "DOWN",
    };
    let phys = match p.phys_state.known() {
        Some((_, name)) => format!(", physical state {name}"),
        None => String::new(),
    };
    let usage = common::usage(cx, d);
    let spare = if common::card_has_active_port(cx, d) {
        Some("another port of the card is ACTIVE")
    } else if other_near(cx, d) {
        Some("another product as near to the GPU is ACTIVE: this may be a front end")
    } else {
        None
    };
    let severity = match usage {
        _ if spare.is_some() => Severity::Info,
        // That it is down is seen; how much hangs on it is not.
        Use::Unknown => Severity::Low,
        u => u.weigh(Severity::High),
    };
    let why = spare.unwrap_or(usage.words());
    let f = out.fail(subject, format_args!("{word}{phys}; {why}")).severity(severity).at(p.state.place());
    if let Some(card) = d.pci {
        f.follows("rdma/port-module", About::Of(card.into()));
    }
    if p.phys_state.known().is_some() {
        f.at(p.phys_state.place());
    }
    f.fix(|| remedy(p).prove(format!("sys/class/infiniband/{}/ports/{}/state", d.name, p.number)))
}

/// What to do follows from the physical state: a cable is to be looked at only where the link is not there.
fn remedy(p: &RdmaPort) -> Remedy {
    match (p.phys_state.known(), p.link_layer.known()) {
        (Some((DISABLED, _)), _) => Remedy::investigate(
            "bring the port up on this side",
            "port or interface administratively disabled: ip link set up, or the fabric's own tools",
        ),
        (Some((LINK_UP, _)), Some(LinkLayer::Ethernet)) => Remedy::investigate(
            "the link works: bring the port's network interface up",
            "ip link show of the port's interface; of a virtual function, its state on the physical function (ip link set … vf N state auto)",
        ),
        (Some((LINK_UP, _)), _) => Remedy::investigate(
            "the link works, the cable is right: of a virtual function see its state and GUIDs on the physical function, and the subnet manager's virtualisation; of a physical one, the subnet manager",
            "of a virtual function: node_guid and port_guid (not zero) and state (auto, or policy Follow) in ip link show of the physical function, virt_enabled 2 in opensm.conf; else sminfo",
        ),
        (Some(_), _) => Remedy::new(
            "check cable, transceiver and the switch port",
            Action::Physical { what: "cable and transceiver of the port, and its switch port".into() },
        ),
        (None, _) => Remedy::investigate(
            "see the physical state of the port (ibstat): Polling is the cable or the switch port, Disabled is this side, LinkUp is the subnet manager or the function's own state",
            "physical state of the port",
        ),
    }
}

/// Physical states, as the kernel numbers them (`IB_PORT_PHYS_STATE_DISABLED`, `IB_PORT_PHYS_STATE_LINK_UP`).
const DISABLED: u32 = 3;
const LINK_UP: u32 = 5;

/// `ibdev2netdev` shows the state of the interface alone.
fn interface_down<'o>(p: &RdmaPort, subject: Subject, place: Place, out: &'o mut Findings) -> &'o mut Finding {
    let name = p.netdev.known().map_or("its network interface", String::as_str);
    let (severity, why) = match p.link_layer.known() {
        Some(LinkLayer::InfiniBand) => (Severity::Info, "IP over InfiniBand does not work; RDMA may"),
        _ => (Severity::Low, "on Ethernet RDMA does not work without it, on InfiniBand only IP does not"),
    };
    let words = format_args!("{name} is down: {why}; the state of the RDMA port itself is not shown");
    out.fail(subject, words).severity(severity).at(place).fix(|| {
        Remedy::investigate(
            "see the state of the port (ibstat), and bring the interface up",
            "state of port and interface",
        )
        .prove("ibdev2netdev")
    })
}

fn other_near(cx: &Cx<'_>, d: &RdmaDevice) -> bool {
    let Some(f) = d.pci.and_then(|b| cx.node.pci.find(b)).map(|id| cx.node.pci.get(id)) else { return false };
    // A slower product replaces nothing where others of this one are ACTIVE: it is the front end.
    let same = common::devices(cx).filter(|o| common::board(o).is_some() && common::board(o) == common::board(d));
    let fastest = same.filter_map(common::active_rate).fold(0.0_f64, f64::max);
    let good = |o: &RdmaDevice| common::active_rate(o).is_some_and(|rate| rate >= fastest * 0.75);
    cx.node.rail_of(f).is_some_and(|r| common::stand_in(cx, r, f, good))
}
