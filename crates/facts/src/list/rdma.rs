//! RDMA devices, their ports, and the ports' GIDs.

use super::{Read1, Row, Said, borrowed, copy, counting, fact, known, members, number, option, quiet, text};
use crate::{Form, Subject, Unit, Value};
use linerate_node::Node;
use linerate_node::rdma::{Gid, RdmaDevice, RdmaPort};
use linerate_snapshot::{Place, Reading};

type ReadPort = for<'n> fn(&'n Node<'n>, &'n RdmaDevice, &'n RdmaPort) -> Said<'n>;

pub(super) static DEVICE: &[Row<Read1<RdmaDevice>>] = &[
    fact("rdma.name", Form::Text, "Name of the RDMA device", |_, d| known(borrowed(&d.name), Place::of(d.home))),
    quiet("rdma.pci", Form::Address, "Its PCI function", |_, d| option(Place::of(d.home), d.pci.map(Value::Address))),
    fact("rdma.firmware", Form::Text, "Version of its firmware", |_, d| text(&d.firmware)),
    fact("rdma.board_id", Form::Text, "Board id (PSID)", |_, d| text(&d.board_id)),
    fact("rdma.hca_type", Form::Text, "Type of the hardware", |_, d| text(&d.hca_type)),
    fact("rdma.is_software", Form::Flag, "Whether software emulates it", |_, d| {
        known(Value::Flag(d.is_software()), Place::of(d.home))
    }),
    fact("rdma.ports", Form::Members, "Its ports", |_, d| {
        Reading::Known(Value::Members(d.ports.iter().map(|p| Subject::Port(d, p)).collect()), Place::of(d.home))
    }),
];

pub(super) static PORT: &[Row<ReadPort>] = &[
    fact("rdma.ports.number", Form::Number, "Number of the port", |_, _, p| {
        known(Value::Number(p.number.into()), Place::of(p.home))
    }),
    fact("rdma.ports.state", Form::PortState, "Its logical state", |_, _, p| copy(&p.state, Value::State)),
    fact("rdma.ports.phys_state", Form::Text, "Its physical state", |_, _, p| {
        p.phys_state.as_ref().map(|(_, name)| borrowed(name))
    }),
    counting(
        Unit::Gbps,
        fact("rdma.ports.rate_gbps", Form::Real, "Rate of the port", |_, _, p| copy(&p.rate_gbps, Value::Real)),
    ),
    fact("rdma.ports.rate_text", Form::Text, "Rate of the port, as the kernel prints it", |_, _, p| text(&p.rate_text)),
    fact("rdma.ports.link_layer", Form::LinkLayer, "Its link layer", |_, _, p| copy(&p.link_layer, Value::Layer)),
    fact("rdma.ports.lid", Form::Number, "Its LID", |_, _, p| number(&p.lid)),
    fact("rdma.ports.sm_lid", Form::Number, "LID of its subnet manager", |_, _, p| number(&p.sm_lid)),
    counting(Unit::Bytes, fact("rdma.ports.active_mtu", Form::Number, "MTU in use", |_, _, p| number(&p.active_mtu))),
    fact("rdma.ports.netdev", Form::Text, "Its network interface", |_, _, p| text(&p.netdev)),
    fact("rdma.ports.gids", Form::Members, "Its GIDs", |_, d, p| members(&p.gids, |g| Subject::Gid(d, p, g))),
];

pub(super) static GID: &[Row<Read1<Gid>>] = &[
    fact("rdma.ports.gids.index", Form::Number, "Index of the GID", |_, g| {
        known(Value::Number(g.index.into()), g.place)
    }),
    fact("rdma.ports.gids.gid", Form::Text, "The GID", |_, g| known(borrowed(&g.gid), g.place)),
    quiet("rdma.ports.gids.kind", Form::Text, "IB/RoCE v1, or RoCE v2", |_, g| text(&g.kind)),
    quiet("rdma.ports.gids.netdev", Form::Text, "Its network interface", |_, g| text(&g.netdev)),
];
