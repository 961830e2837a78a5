//! Settings of a NIC's firmware: default, current and next are three things (facts §5).

use super::{Cx, Outcome};
use linerate_formats::mlxconfig::{Param, Value};
use linerate_formats::pci::Bdf;
use linerate_node::nicfw::NicFirmware;

type Answer = (Outcome, String, String);

/// What is known of settings beyond the query: name, and the truth about it.
const TRUTHS: &[(&str, &str)] = &[
    (
        "ADVANCED_PCI_SETTINGS",
        "it only shows other settings, and changes nothing by itself: do not expect another bandwidth from it",
    ),
    (
        "MAX_ACC_OUT_READ",
        "0 lets the firmware choose; a fixed value can be below that. It is hidden until ADVANCED_PCI_SETTINGS is in force",
    ),
    ("PCI_WR_ORDERING", "it is hidden until ADVANCED_PCI_SETTINGS is in force"),
    (
        "ATS_ENABLED",
        "the capability of the function changes: a reboot of the host is needed, also where a reset of the NIC suffices it",
    ),
    ("SRIOV_EN", "the host has to enumerate the function again: a reboot is needed"),
    ("NUM_OF_VFS", "the host has to enumerate the function again: a reboot is needed"),
];

pub(super) fn prove(cx: &Cx<'_>, device: &str, parameter: &str, wanted: &str) -> Answer {
    let nowhere = |why: String| (Outcome::Unknown(why), String::new(), format!("{parameter} of {device}"));
    let Some(nic) = find(cx, device) else {
        return nowhere(match error_of(cx, device) {
            Some(error) => format!("the query failed: {error}"),
            None => format!(
                "this source holds no query of {device}: run `linerate collect` as root, with mstconfig or mlxconfig"
            ),
        });
    };
    let Some(param) = nic.config.param(parameter) else {
        let place = cx.after.describe(nic.place);
        return (Outcome::Unknown(hidden(nic, parameter)), String::new(), place);
    };
    let place = cx.after.describe(nic.at_param(param));
    (judge(cx, device, param, wanted), shown(param), place)
}

fn judge(cx: &Cx<'_>, device: &str, param: &Param, wanted: &str) -> Outcome {
    let wanted = Value::new(wanted);
    let usable = |v: &&Value| !v.is_unavailable();
    let (current, next) = (param.current.as_ref().filter(usable), param.next.as_ref().filter(usable));
    let truth = truth(&param.name);
    let Some(current) = current else {
        let more = if next.is_some_and(|n| same(n, &wanted)) {
            ": the next boot's value is the wanted one, which proves nothing yet"
        } else {
            ""
        };
        return Outcome::Unknown(format!("the query does not show the value in force (use `-e`){more}"));
    };
    let waits = next.is_some_and(|n| same(n, &wanted));
    match (same(current, &wanted), next) {
        (true, Some(n)) if !same(n, &wanted) => Outcome::Ineffective(format!(
            "in force now, but the next reset brings {}: something set it back, so it does not last{truth}",
            n.raw
        )),
        (true, _) => Outcome::Effective,
        (false, _) if waits && cx.rebooted == Some(true) => Outcome::Pending(format!(
            "the node was started since, and the device still uses {}: this setting needs a deeper reset (mlxfwreset level 3, or a power \
             cycle){truth}",
            current.raw
        )),
        (false, _) if waits => Outcome::Pending(format!(
            "the device uses {} until it is reset or the node is rebooted{truth}",
            current.raw
        )),
        (false, Some(n)) => {
            let tool = error_of(cx, device).map(|e| format!("; the tool said: {e}")).unwrap_or_default();
            let ro = if param.read_only { ", and the setting is read-only from this host" } else { "" };
            Outcome::Ineffective(format!(
                "the value for the next boot is {}, not {}: the device refused it or its firmware set it back{ro}{tool}{truth}",
                n.raw, wanted.raw
            ))
        }
        (false, None) => {
            Outcome::Unknown(format!("the value in force is {}, and the next boot's is not shown", current.raw))
        }
    }
}

/// By the number, which firmware uses; by the words where one has none.
fn same(a: &Value, b: &Value) -> bool {
    match (a.number, b.number) {
        (Some(x), Some(y)) => x == y,
        _ => {
            let word = |v: &Value| v.label.clone().unwrap_or_else(|| v.raw.clone());
            a.as_bool().is_some() && a.as_bool() == b.as_bool() || word(a).eq_ignore_ascii_case(&word(b))
        }
    }
}

fn find<'n>(cx: &'n Cx<'_>, device: &str) -> Option<&'n NicFirmware> {
    let bdf: Option<Bdf> = device.parse().ok();
    // A later query of the same card says more than an earlier one; those with the value in force say most.
    let of = |n: &&NicFirmware| n.name == device || bdf.is_some() && n.bdf == bdf;
    let all = || cx.node.nic_firmware.iter().rev().filter(of);
    all().find(|n| n.shows_current()).or_else(|| all().next())
}

fn error_of(cx: &Cx<'_>, device: &str) -> Option<String> {
    let errors = &cx.node.nic_firmware_errors;
    errors.iter().find(|e| e.device.as_deref() == Some(device)).map(|e| super::prove::clip(&e.text))
}

/// A setting that the query does not list.
fn hidden(nic: &NicFirmware, parameter: &str) -> String {
    let advanced = nic.config.param("ADVANCED_PCI_SETTINGS").and_then(|p| p.current.as_ref());
    match (advanced, matches!(parameter, "MAX_ACC_OUT_READ" | "PCI_WR_ORDERING")) {
        (Some(v), true) if v.is_false() => {
            format!(
                "the query does not list {parameter}: it is hidden until ADVANCED_PCI_SETTINGS is in force, which is not yet so"
            )
        }
        (Some(v), true) if v.is_true() => {
            format!(
                "the query does not list {parameter}, though ADVANCED_PCI_SETTINGS is in force: this firmware does not have it"
            )
        }
        _ => format!("the query does not list {parameter}: hidden, or not a setting of this firmware"),
    }
}

fn truth(parameter: &str) -> String {
    TRUTHS.iter().find(|(name, _)| *name == parameter).map(|(_, t)| format!(" ({t})")).unwrap_or_default()
}

fn shown(p: &Param) -> String {
    let word = |v: &Option<Value>| v.as_ref().map_or_else(|| "not shown".to_owned(), |v| v.raw.to_string());
    format!("current {}, next boot {}, default {}", word(&p.current), word(&p.next), word(&p.default))
}
