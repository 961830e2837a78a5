//! Network interfaces, and the firmware settings of NICs.

use super::{
    Read1, Row, Said, as_in, borrowed, copy, counting, fact, known, number, option, quiet, short, shown, text,
};
use crate::{Form, Subject, Unit, Value, Version1};
use linerate_formats::mlxconfig::Param;
use linerate_node::Node;
use linerate_node::net::NetDev;
use linerate_node::net_text::NetShown;
use linerate_node::net_written::NetWritten;
use linerate_node::nicfw::NicFirmware;
use linerate_snapshot::Place;

type ReadInterface = for<'n> fn(&'n Node<'n>, &'n NetDev<'n>) -> Said<'n>;
type ReadSetting = for<'n> fn(&'n Node<'n>, &'n NicFirmware, &'n Param) -> Said<'n>;

pub(super) static INTERFACE: &[Row<ReadInterface>] = &[
    fact("net.name", Form::Text, "Name of the interface", |_, n| known(borrowed(n.name), Place::of(n.home))),
    quiet("net.pci", Form::Address, "Its PCI function", |_, n| option(Place::of(n.home), n.pci.map(Value::Address))),
    counting(Unit::Bytes, fact("net.mtu", Form::Number, "Its MTU", |_, n| number(&n.mtu))),
    fact("net.operstate", Form::Text, "Its operational state", |_, n| short(&n.operstate)),
    counting(Unit::Mbps, fact("net.speed_mbps", Form::Number, "Its speed", |_, n| number(&n.speed_mbps))),
    quiet("net.master", Form::Text, "The interface that it is a member of", |_, n| {
        option(Place::of(n.home), n.master.map(borrowed))
    }),
    fact("net.bond_mode", Form::Text, "Mode, where it is a bond", |_, n| short(&n.bond_mode)),
    fact("net.bond_slaves", Form::Text, "Members, where it is a bond", |_, n| short(&n.bond_slaves)),
    as_in(
        Version1::Left,
        "net.trust",
        Form::Text,
        "What its priorities are taken from, by mlnx_qos: pcp or dscp",
        |_, n| text(&n.trust),
    ),
    as_in(Version1::Left, "net.pfc", Form::Numbers, "Priorities with priority flow control, by mlnx_qos", |_, n| {
        n.pfc.as_ref().map(|p| Value::Numbers(p.iter().map(|n| u64::from(*n)).collect()))
    }),
];

/// What a text does not show of an interface is not known: it is not absent.
pub(super) static SHOWN: &[Row<Read1<NetShown>>] = &[
    as_in(Version1::Left, "net_shown.name", Form::Text, "Name of the interface", |_, n| {
        known(borrowed(&n.name), n.place)
    }),
    as_in(Version1::Left, "net_shown.pci", Form::Address, "Its PCI function", |_, n| copy(&n.pci, Value::Address)),
    counting(Unit::Bytes, as_in(Version1::Left, "net_shown.mtu", Form::Number, "Its MTU", |_, n| number(&n.mtu))),
    as_in(Version1::Left, "net_shown.operstate", Form::Text, "Its operational state", |_, n| short(&n.operstate)),
    counting(
        Unit::Mbps,
        as_in(Version1::Left, "net_shown.speed_mbps", Form::Number, "Its speed", |_, n| number(&n.speed_mbps)),
    ),
    as_in(Version1::Left, "net_shown.master", Form::Text, "The interface that it is a member of", |_, n| {
        text(&n.master)
    }),
    as_in(Version1::Left, "net_shown.kind", Form::Text, "Kind of a virtual interface", |_, n| text(&n.kind)),
    as_in(Version1::Left, "net_shown.driver", Form::Text, "Its driver", |_, n| text(&n.driver)),
];

/// What a file does not write, another one may: it is not absent.
pub(super) static WRITTEN: &[Row<Read1<NetWritten>>] = &[
    as_in(
        Version1::Left,
        "net_written.name",
        Form::Text,
        "Name, or pattern of names, that it is for, else what its file calls it",
        |_, w| known(Value::Text(w.label().into()), w.place()),
    ),
    as_in(Version1::Left, "net_written.writer", Form::Text, "Whose file it is: netplan or NetworkManager", |_, w| {
        known(borrowed(w.writer()), w.place())
    }),
    as_in(Version1::Left, "net_written.kind", Form::Text, "Kind of interface", |_, w| {
        known(borrowed(w.interface.kind.name()), w.place())
    }),
    counting(
        Unit::Bytes,
        as_in(Version1::Left, "net_written.mtu", Form::Number, "Its MTU as it is written", |_, w| number(&w.mtu())),
    ),
    as_in(Version1::Left, "net_written.mode", Form::Text, "Mode of IP over InfiniBand", |_, w| {
        w.mode().map(|m| borrowed(m.name()))
    }),
    as_in(Version1::Left, "net_written.vlan", Form::Number, "Number of a VLAN", |_, w| number(&w.vlan())),
    as_in(Version1::Left, "net_written.parent", Form::Text, "The interface below a VLAN", |_, w| {
        w.parent.as_ref().map_or_else(|| shown(w.place(), None), |p| known(borrowed(&p.value), w.at(p.line)))
    }),
    as_in(Version1::Left, "net_written.master", Form::Text, "The bond or bridge that it is a member of", |_, w| {
        w.master.as_ref().map_or_else(|| shown(w.place(), None), |(m, at)| known(borrowed(m), *at))
    }),
];

pub(super) static FIRMWARE: &[Row<Read1<NicFirmware>>] = &[
    fact("nic_firmware.name", Form::Text, "Device as the query names it", |_, n| known(borrowed(&n.name), n.place)),
    quiet("nic_firmware.pci", Form::Address, "Its PCI function", |_, n| shown(n.place, n.bdf.map(Value::Address))),
    fact("nic_firmware.settings", Form::Members, "Settings that were asked for", |_, n| {
        let all = n.config.params.iter().map(|p| Subject::Setting(n, p));
        known(Value::Members(all.collect()), n.place)
    }),
];

pub(super) static SETTING: &[Row<ReadSetting>] = &[
    fact("nic_firmware.settings.name", Form::Text, "Name of the setting", |_, n, p| {
        known(borrowed(&p.name), n.at_param(p))
    }),
    quiet("nic_firmware.settings.current", Form::Text, "What the running firmware uses", |_, n, p| {
        shown(n.at_param(p), p.current.as_ref().map(|v| borrowed(&v.raw)))
    }),
    quiet("nic_firmware.settings.next", Form::Text, "What holds after the next reset", |_, n, p| {
        shown(n.at_param(p), p.next.as_ref().map(|v| borrowed(&v.raw)))
    }),
];
