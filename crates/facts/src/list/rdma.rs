//! RDMA devices, their ports, and the ports' GIDs.

use super::{Read1, Row, Said, borrowed, copy, fact, members, number, option, quiet, text};
use crate::{Subject, Unit, Value};
use linerate_node::Node;
use linerate_node::rdma::{Gid, RdmaDevice, RdmaPort};
use linerate_snapshot::{Place, Reading};

type ReadPort = for<'n> fn(&'n Node<'n>, &'n RdmaDevice, &'n RdmaPort) -> Said<'n>;

pub(super) static DEVICE: &[Row<Read1<RdmaDevice>>] = &[
    fact("rdma.name", Unit::None, "Name of the RDMA device", |_, d| {
        Reading::Known(borrowed(&d.name), Place::of(d.home))
    }),
    quiet("rdma.pci", Unit::None, "Its PCI function", |_, d| option(Place::of(d.home), d.pci.map(Value::Address))),
    fact("rdma.firmware", Unit::None, "Version of its firmware", |_, d| text(&d.firmware)),
    fact("rdma.board_id", Unit::None, "Board id (PSID)", |_, d| text(&d.board_id)),
    fact("rdma.hca_type", Unit::None, "Type of the hardware", |_, d| text(&d.hca_type)),
    fact("rdma.is_software", Unit::None, "Whether software emulates it", |_, d| {
        Reading::Known(Value::Flag(d.is_software()), Place::of(d.home))
    }),
    fact("rdma.ports", Unit::None, "Its ports", |_, d| {
        Reading::Known(Value::Members(d.ports.iter().map(|p| Subject::Port(d, p)).collect()), Place::of(d.home))
    }),
];

pub(super) static PORT: &[Row<ReadPort>] = &[
    fact("rdma.ports.number", Unit::None, "Number of the port", |_, _, p| {
        Reading::Known(Value::Number(p.number.into()), Place::of(p.home))
    }),
    fact("rdma.ports.state", Unit::None, "Its logical state", |_, _, p| copy(&p.state, Value::State)),
    fact("rdma.ports.phys_state", Unit::None, "Its physical state", |_, _, p| {
        p.phys_state.as_ref().map(|(_, name)| borrowed(name))
    }),
    fact("rdma.ports.rate_gbps", Unit::Gbps, "Its rate", |_, _, p| copy(&p.rate_gbps, Value::Real)),
    fact("rdma.ports.rate_text", Unit::None, "Its rate, as the kernel prints it", |_, _, p| text(&p.rate_text)),
    fact("rdma.ports.link_layer", Unit::None, "Its link layer", |_, _, p| copy(&p.link_layer, Value::Layer)),
    fact("rdma.ports.lid", Unit::None, "Its LID", |_, _, p| number(&p.lid)),
    fact("rdma.ports.sm_lid", Unit::None, "LID of its subnet manager", |_, _, p| number(&p.sm_lid)),
    fact("rdma.ports.active_mtu", Unit::Bytes, "MTU in use", |_, _, p| number(&p.active_mtu)),
    fact("rdma.ports.netdev", Unit::None, "Its network interface", |_, _, p| text(&p.netdev)),
    fact("rdma.ports.gids", Unit::None, "Its GIDs", |_, d, p| members(&p.gids, |g| Subject::Gid(d, p, g))),
];

pub(super) static GID: &[Row<Read1<Gid>>] = &[
    fact("rdma.ports.gids.index", Unit::None, "Index of the GID", |_, g| {
        Reading::Known(Value::Number(g.index.into()), g.place)
    }),
    fact("rdma.ports.gids.gid", Unit::None, "The GID", |_, g| Reading::Known(borrowed(&g.gid), g.place)),
    quiet("rdma.ports.gids.kind", Unit::None, "IB/RoCE v1, or RoCE v2", |_, g| text(&g.kind)),
    quiet("rdma.ports.gids.netdev", Unit::None, "Its network interface", |_, g| text(&g.netdev)),
];
