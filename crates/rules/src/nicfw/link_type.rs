//! `nicfw/link-type`.

use super::{QUERY, cards};
use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::mlxconfig::{Param, Value};
use linerate_node::nicfw::NicFirmware;
use linerate_node::rdma::LinkLayer;
use linerate_snapshot::Place;

pub(super) static RULE: Rule = Rule {
    id: "nicfw/link-type",
    title: "LINK_TYPE of each port is the link layer that the port runs, and will run after the next reset",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("after the next reset the port speaks another protocol than its fabric: the node loses that network"),
    sources: &[
        super::DATABASE,
        Source {
            title: "Linux ABI: /sys/class/infiniband/<hca>/ports/<port>/link_layer",
            at: "https://github.com/torvalds/linux/blob/master/Documentation/ABI/stable/sysfs-class-infiniband",
        },
    ],
    reads: &["mlxconfig -d BDF -e q", "sys/class/infiniband/*/ports/*/link_layer"],
    docs: "\
## What it checks
LINK_TYPE_P1 and LINK_TYPE_P2 (IB(1), ETH(2)) against the link layer that the RDMA port runs now. The next boot's value is compared too.
VPI(3) on a ConnectX-3 lets the cable decide and always fits. Cards with one personality do not have the setting.

## Why it matters
The link type is the one setting that turns a working NIC into one without network. A wrong value may wait in the flash for months
until a reboot.

## See it yourself
`mlxconfig -d BDF -e query | grep LINK_TYPE`; `cat /sys/class/infiniband/*/ports/*/link_layer`.

## Fix
Set LINK_TYPE_Pn to what the fabric is: 1 for InfiniBand, 2 for Ethernet (RoCE).",
    myths: &[Myth {
        claim: "A port that shows Ethernet can be turned into InfiniBand by loading other drivers.",
        truth: "On VPI cards the firmware's LINK_TYPE decides, after a reset; Ethernet-only cards cannot change at all.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let mut without: Vec<&NicFirmware> = Vec::new();
    for card in cards(cx, out) {
        let ports: Vec<(u8, &Param)> = [(1, "LINK_TYPE_P1"), (2, "LINK_TYPE_P2")]
            .into_iter()
            .filter_map(|(n, name)| Some((n, card.config.param(name)?)))
            .collect();
        if ports.is_empty() {
            without.push(card);
        }
        for (n, param) in ports {
            judge(cx, card, n, param, out);
        }
    }
    super::not_shown(cx, "LINK_TYPE", super::Missing::NotApplicable("one personality only"), &without, out);
}

/// The link layer of the card's port: function n-1 with one port each (mlx5), or port n of function 0 (mlx4).
fn running(cx: &Cx<'_>, card: &NicFirmware, n: u8) -> Option<(LinkLayer, Place)> {
    let card = card.bdf?;
    let devices = cx.node.rdma.known()?;
    let of = |function: u8| {
        devices.iter().find(|d| {
            d.pci.is_some_and(|b| {
                (b.domain, b.bus, b.device, b.function) == (card.domain, card.bus, card.device, function)
            })
        })
    };
    let first = of(0);
    let port = match first.filter(|d| d.ports.len() > 1) {
        Some(d) => d.ports.iter().find(|p| p.number == u32::from(n))?,
        None => of(n - 1)?.ports.first()?,
    };
    let layer = *port.link_layer.known()?;
    (layer != LinkLayer::Unspecified).then(|| (layer, port.link_layer.place()))
}

fn fits(v: &Value, layer: LinkLayer) -> Option<bool> {
    match (v.number?, layer) {
        (1, LinkLayer::InfiniBand) | (2, LinkLayer::Ethernet) | (3, _) => Some(true),
        (1 | 2, _) => Some(false),
        _ => None,
    }
}

fn judge<'o>(cx: &Cx<'_>, card: &NicFirmware, n: u8, param: &Param, out: &'o mut Findings) -> &'o mut Finding {
    let subject = || Subject::NicFirmware(card.name.clone(), param.name.to_string());
    let place = card.at_param(param);
    let Some((layer, at)) = running(cx, card, n) else {
        if let Some(f) = super::function(cx, card).filter(|f| f.driven_by("vfio-pci")) {
            return out
                .not_applicable_to(subject(), "bound to vfio-pci: its port runs in the virtual machine")
                .at(f.driver.place());
        }
        return out
            .unknown(subject(), "the link layer that the port runs is not in this source")
            .at(place)
            .see("cat /sys/class/infiniband/*/ports/*/link_layer");
    };
    let name = match layer {
        LinkLayer::InfiniBand => "InfiniBand",
        LinkLayer::Ethernet => "Ethernet",
        LinkLayer::Unspecified => "neither",
    };
    let current = param.current.as_ref();
    if let Some(next) = param.next.as_ref().filter(|v| fits(v, layer) == Some(false)) {
        out.fail(subject(), format_args!("runs {name} now and will be {} after the next reset", next.raw))
            .at(place)
            .at(at)
            .fix(|| set(card, param, layer))
    } else if let Some(now) = current.filter(|v| fits(v, layer) == Some(false)) {
        out.fail(subject(), format_args!("the firmware runs {} but the port says {name}", now.raw))
            .severity(Severity::Medium)
            .at(place)
            .at(at)
            .fix(|| set(card, param, layer))
    } else if let Some(v) = current.or(param.next.as_ref()).filter(|v| fits(v, layer) == Some(true)) {
        out.pass(subject(), format_args!("{} as the port, {name}", v.raw)).at(place).at(at)
    } else {
        out.unknown(subject(), "its value has no meaning known here").at(place).see(QUERY)
    }
}

fn set(card: &NicFirmware, param: &Param, layer: LinkLayer) -> Remedy {
    let (value, word) = match layer {
        LinkLayer::InfiniBand => ("1", "IB"),
        LinkLayer::Ethernet | LinkLayer::Unspecified => ("2", "ETH"),
    };
    Remedy::nic_firmware(
        format!("set {} to {word} ({value}), if that is what the fabric of this port is", param.name),
        card.name.clone(),
        param.name.to_string(),
        value,
    )
    .because("with the wrong link type the node loses this network after the reset")
    .prove(format!("mlxconfig -d {} -e q", card.name))
}
