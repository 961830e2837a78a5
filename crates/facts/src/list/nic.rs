//! Network interfaces, and the firmware settings of NICs.

use super::{Read1, Row, Said, borrowed, fact, number, option, quiet, short, shown};
use crate::{Subject, Unit, Value};
use linerate_formats::mlxconfig::Param;
use linerate_node::Node;
use linerate_node::net::NetDev;
use linerate_node::nicfw::NicFirmware;
use linerate_snapshot::{Place, Reading};

type ReadInterface = for<'n> fn(&'n Node<'n>, &'n NetDev<'n>) -> Said<'n>;
type ReadSetting = for<'n> fn(&'n Node<'n>, &'n NicFirmware, &'n Param) -> Said<'n>;

pub(super) static INTERFACE: &[Row<ReadInterface>] = &[
    fact("net.name", Unit::None, "Name of the interface", |_, n| Reading::Known(borrowed(n.name), Place::of(n.home))),
    quiet("net.pci", Unit::None, "Its PCI function", |_, n| option(Place::of(n.home), n.pci.map(Value::Address))),
    fact("net.mtu", Unit::Bytes, "Its MTU", |_, n| number(&n.mtu)),
    fact("net.operstate", Unit::None, "Its operational state", |_, n| short(&n.operstate)),
    fact("net.speed_mbps", Unit::Mbps, "Its speed", |_, n| number(&n.speed_mbps)),
    quiet("net.master", Unit::None, "The interface that it is a member of", |_, n| {
        option(Place::of(n.home), n.master.map(borrowed))
    }),
    fact("net.bond_mode", Unit::None, "Mode, where it is a bond", |_, n| short(&n.bond_mode)),
    fact("net.bond_slaves", Unit::None, "Members, where it is a bond", |_, n| short(&n.bond_slaves)),
];

pub(super) static FIRMWARE: &[Row<Read1<NicFirmware>>] = &[
    fact("nic_firmware.name", Unit::None, "Device as the query names it", |_, n| {
        Reading::Known(borrowed(&n.name), n.place)
    }),
    quiet("nic_firmware.pci", Unit::None, "Its PCI function", |_, n| shown(n.place, n.bdf.map(Value::Address))),
    fact("nic_firmware.settings", Unit::None, "Settings that were asked for", |_, n| {
        let all = n.config.params.iter().map(|p| Subject::Setting(n, p));
        Reading::Known(Value::Members(all.collect()), n.place)
    }),
];

pub(super) static SETTING: &[Row<ReadSetting>] = &[
    fact("nic_firmware.settings.name", Unit::None, "Name of the setting", |_, n, p| {
        Reading::Known(borrowed(&p.name), n.at_param(p))
    }),
    quiet("nic_firmware.settings.current", Unit::None, "What the running firmware uses", |_, n, p| {
        shown(n.at_param(p), p.current.as_ref().map(|v| borrowed(&v.raw)))
    }),
    quiet("nic_firmware.settings.next", Unit::None, "What holds after the next reset", |_, n, p| {
        shown(n.at_param(p), p.next.as_ref().map(|v| borrowed(&v.raw)))
    }),
];
