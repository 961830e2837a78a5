//! NIC firmware settings (mlxconfig, mstconfig): what runs, what waits for a reset, what differs between the NICs of a node.
//!
//! Where no settings were seen, `nicfw/visible` says so once; the other rules answer not-applicable and point at it, so that
//! one missing tool is one line of the report.

mod advanced_pci_settings;
mod ats_enabled;
mod bluefield_mode;
mod connectx3;
mod link_type;
mod max_acc_out_read;
mod mixed_between_nics;
mod next_boot_only;
mod pci_wr_ordering;
mod pending_reset;
mod power_settings;
mod query_failed;
mod restricted_pci;
mod roce_cc;
mod roce_control;
mod sriov;
mod visible;

use crate::finding::{Findings, Subject};
use crate::rule::{Cx, Rule, Source};
use linerate_formats::mlxconfig::{Param, Value};
use linerate_node::nicfw::NicFirmware;
use linerate_node::pci::{Kind, PciFunction};
use linerate_snapshot::{EntryKind, OutputKind, Place};
use std::collections::HashSet;

pub(crate) static RULES: &[&Rule] = &[
    &visible::RULE,
    &query_failed::RULE,
    &next_boot_only::RULE,
    &pending_reset::RULE,
    &mixed_between_nics::RULE,
    &link_type::RULE,
    &roce_control::RULE,
    &roce_cc::RULE,
    &ats_enabled::RULE,
    &sriov::RULE,
    &pci_wr_ordering::RULE,
    &max_acc_out_read::RULE,
    &advanced_pci_settings::RULE,
    &restricted_pci::RULE,
    &power_settings::RULE,
    &bluefield_mode::RULE,
    &connectx3::RULE,
];

/// mstflint's table of settings: their texts, and on what they depend.
pub(crate) const DATABASE: Source = Source {
    title: "mstflint, mlxconfig/mlxconfig_dbs/mlxconfig_host.db: description and dependencies of each setting",
    at: "https://github.com/Mellanox/mstflint/tree/master/mlxconfig/mlxconfig_dbs",
};

/// How a query prints, and what its columns are.
pub(crate) const PRINTING: Source = Source {
    title: "mstflint, mlxconfig/mlxcfg_ui.cpp: columns Default, Current, Next Boot; '*' and RO",
    at: "https://github.com/Mellanox/mstflint/blob/master/mlxconfig/mlxcfg_ui.cpp",
};

/// NVIDIA's operator for NIC firmware: what it sets for GPUDirect.
pub(crate) const OPERATOR: Source = Source {
    title: "NVIDIA nic-configuration-operator: values that its templates set",
    at: "https://github.com/Mellanox/nic-configuration-operator",
};

/// How to see running values.
pub(crate) const QUERY: &str =
    "mlxconfig -d BDF -e query (or mstconfig), as root: the columns are Default, Current, Next Boot";

/// One query per card: further functions of a card share its settings. Says not-applicable where there is none.
fn cards<'a>(cx: &Cx<'a>, out: &mut Findings) -> Vec<&'a NicFirmware> {
    let mut seen = HashSet::new();
    let of_its_own = |nic: &&NicFirmware| nic.card().is_none_or(|card| seen.insert(card));
    let cards: Vec<&NicFirmware> = cx.node.nic_firmware.iter().filter(of_its_own).collect();
    if cards.is_empty() {
        out.not_applicable("no NIC firmware settings in this source: nicfw/visible says how to see them");
    }
    cards
}

/// The NIC as a subject: its PCI function where the query tells, else its name.
fn nic(nic: &NicFirmware) -> Subject {
    nic.bdf.map_or_else(|| Subject::Named(nic.name.clone()), Subject::Pci)
}

/// The PCI function of a query.
fn function<'a>(cx: &Cx<'a>, nic: &NicFirmware) -> Option<&'a PciFunction<'a>> {
    let pci = &cx.node.pci;
    Some(pci.get(pci.find(nic.bdf?)?))
}

/// NICs of NVIDIA/Mellanox whose firmware can be asked: one function per card, no virtual ones.
fn mellanox<'a>(cx: &Cx<'a>) -> Vec<&'a PciFunction<'a>> {
    let mut out: Vec<&PciFunction<'_>> = Vec::new();
    for f in &cx.node.pci.functions {
        let is_nic = matches!(f.kind, Kind::RdmaNic | Kind::Nic) && f.vendor.known() == Some(&0x15b3) && !f.is_vf();
        let again =
            |o: &&PciFunction<'_>| (o.bdf.domain, o.bdf.bus, o.bdf.device) == (f.bdf.domain, f.bdf.bus, f.bdf.device);
        if is_nic && !out.iter().any(again) {
            out.push(f);
        }
    }
    out
}

/// A setting as the running firmware has it.
struct Setting<'a> {
    nic: &'a NicFirmware,
    param: &'a Param,
    now: &'a Value,
    place: Place,
}

impl Setting<'_> {
    fn subject(&self) -> Subject {
        Subject::NicFirmware(self.nic.name.clone(), self.param.name.to_string())
    }
}

/// What a query without the setting means.
#[derive(Clone, Copy)]
enum Missing {
    /// It does not exist on such NICs: the reason.
    NotApplicable(&'static str),
    /// It is one that ADVANCED_PCI_SETTINGS shows or hides.
    Advanced,
}

/// Whether a query may be a part only: a capture that was cut, or a pasted text, which may end anywhere and be what grep left.
fn may_be_part(cx: &Cx<'_>, nic: &NicFirmware) -> bool {
    let cut = matches!(cx.snapshot.kind(nic.place.base), EntryKind::CutFile);
    cut || cx.is_pasted(nic.place) && cx.is_output(nic.place, OutputKind::MlxconfigText)
}

/// Whether the firmware hides its advanced settings, as the query itself says.
fn hides_advanced(nic: &NicFirmware) -> bool {
    let param = nic.config.param("ADVANCED_PCI_SETTINGS");
    param.and_then(|p| p.current.as_ref().or(p.next.as_ref())).is_some_and(|v| v.as_bool() == Some(false))
}

/// What it means that the queries of these NICs do not show a setting, each reason once.
fn not_shown(cx: &Cx<'_>, name: &str, missing: Missing, nics: &[&NicFirmware], out: &mut Findings) {
    let subject = || Subject::Named(name.to_owned());
    let advanced = matches!(missing, Missing::Advanced);
    let (hidden, rest): (Vec<_>, Vec<_>) = nics.iter().copied().partition(|n| advanced && hides_advanced(n));
    let (part, whole): (Vec<_>, Vec<_>) = rest.into_iter().partition(|n| may_be_part(cx, n));
    if let Some(first) = hidden.first() {
        out.not_applicable_to(subject(), || {
            format!(
                "hidden by the firmware while ADVANCED_PCI_SETTINGS is False, which is not a defect ({})",
                names(&hidden)
            )
        })
        .at(first.place);
    }
    if let Some(first) = part.first() {
        out.unknown(subject(), || format!("not in this text, which may be a part of a query ({})", names(&part)))
            .see("mlxconfig -d BDF -e -j FILE query, which shows where it ends")
            .at(first.place);
    }
    if let Some(first) = whole.first() {
        let why = match missing {
            Missing::NotApplicable(why) => why,
            Missing::Advanced => "not a setting of these cards or their firmware",
        };
        out.not_applicable_to(subject(), || format!("{why} ({})", names(&whole))).at(first.place);
    }
}

/// Judges one setting of each card by its Current value. What only shows the next boot, or does not show the setting, is
/// answered once for all cards.
fn judge_each<'a>(
    cx: &Cx<'a>,
    out: &mut Findings,
    name: &str,
    missing: Missing,
    mut judge: impl FnMut(&Setting<'a>, &mut Findings),
) {
    let cards = cards(cx, out);
    let mut hidden: Vec<&NicFirmware> = Vec::new();
    let mut later: Vec<(&NicFirmware, &Param)> = Vec::new();
    for nic in cards {
        let Some(param) = nic.config.param(name) else {
            hidden.push(nic);
            continue;
        };
        match param.current.as_ref().filter(|v| !v.is_unavailable()) {
            Some(now) => judge(&Setting { nic, param, now, place: nic.at_param(param) }, out),
            None => later.push((nic, param)),
        }
    }
    only_later(name, &later, out);
    not_shown(cx, name, missing, &hidden, out);
}

/// Settings of which only the next boot's value was shown, in one line.
fn only_later(name: &str, later: &[(&NicFirmware, &Param)], out: &mut Findings) {
    let Some((first, param)) = later.first() else { return };
    let raw = |p: &Param| p.next.as_ref().map_or("not readable", |v| v.raw.as_str()).to_owned();
    let next = raw(param);
    let same = later.iter().all(|(_, p)| raw(p) == next);
    let value = if same { next } else { "different values".to_owned() };
    let who: Vec<&NicFirmware> = later.iter().map(|(n, _)| *n).collect();
    let message = format!("what runs is not shown; after the next reset it will be {value} ({})", names(&who));
    out.unknown(Subject::Named(name.to_owned()), message).see(QUERY).at(first.at_param(param));
}

/// One not-applicable answer for several NICs.
fn not_for(nics: &[&NicFirmware], why: &str, out: &mut Findings) {
    if let Some(first) = nics.first() {
        out.not_applicable(|| format!("{why} ({})", names(nics))).at(first.place);
    }
}

/// `0000:1a:00.0, 0000:3c:00.0, …`: at most four names.
fn names(nics: &[&NicFirmware]) -> String {
    list(nics.iter().map(|n| n.name.as_str()), nics.len())
}

/// At most four of a list, and how many more.
fn list<'a>(items: impl Iterator<Item = &'a str>, len: usize) -> String {
    let shown: Vec<&str> = items.take(4).collect();
    match len.saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
