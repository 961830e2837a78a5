//! Settings of NIC firmware, and the reset that they wait for.

mod kind;

use super::{Change, Refusal, words};
use crate::model::{Act, Condition, NicFirmwareAct, Proof, RunAct};
use crate::platform::Platform;
use linerate_formats::mlxconfig::{Param, Value};
use linerate_node::nicfw::NicFirmware;

pub(super) use kind::{Resets, Settings};

/// Shown only while this is in force (facts §5.2).
const HIDDEN: [&str; 4] = ["MAX_ACC_OUT_READ", "PCI_WR_ORDERING", "FORCE_ETH_PCI_SUBCLASS", "IBM_CAPI_EN"];
const SHOWS: &str = "ADVANCED_PCI_SETTINGS";

/// Never changed by a program (facts §5.3, §13): a wrong value can leave a host that does not start, or damage the card.
const NEVER: [&str; 7] = [
    "PCI_BUS",
    "PCI_SWITCH",
    "PCI_DOWNSTREAM_PORT",
    "BOARD_CONFIGURATION",
    "INTERNAL_CPU",
    "ADVANCED_POWER",
    "MODULE_SPLIT",
];

/// Settings that a reset of the card alone makes current (facts §5.2). ATS, SR-IOV and the sizes of windows change what the host enumerates,
/// and of others it is not known: those wait for the reboot.
const BY_RESET: [&str; 6] = ["LINK_TYPE_P", "PCI_WR_ORDERING", "MAX_ACC_OUT_READ", "ROCE_CC_", "CNP_", "ROCE_CONTROL"];

/// Seconds that a reset may take: it stops the driver and starts it again.
const RESET: u32 = 300;

fn by_reset(parameter: &str) -> bool {
    BY_RESET.iter().any(|p| parameter.starts_with(p))
}

/// Settings whose value for the next reset is another than the one in force.
fn waiting<'n>(nic: &'n NicFirmware, except: &[String]) -> Vec<&'n Param> {
    let pending = |p: &&Param| {
        let waits = matches!((&p.current, &p.next), (Some(c), Some(n)) if !same(c, &n.raw));
        waits && !except.iter().any(|e| p.name == *e)
    };
    nic.config.params.iter().filter(pending).collect()
}

/// Settings of one NIC. With `reset` they come into force by a reset of the card.
fn set(
    device: &str,
    asked: &[(&str, &str)],
    reset: bool,
    platform: &Platform,
    firmware: &[NicFirmware],
) -> Vec<Result<Change, Refusal>> {
    let nic = match find(device, firmware) {
        Ok(nic) => nic,
        Err(e) => return vec![Err(e)],
    };
    let tool = match tool(platform) {
        Ok(tool) => tool,
        Err(e) => return vec![Err(e)],
    };
    let (mut out, mut acts, mut proof, mut shown) = (Vec::new(), Vec::new(), Vec::new(), false);
    for (parameter, value) in asked {
        let hidden = HIDDEN.contains(parameter) && nic.config.param(parameter).is_none();
        match one(nic, device, parameter, value) {
            Ok((act, proven)) => {
                acts.push(act);
                proof.push(proven);
            }
            Err(refusal) => {
                out.push(Err(refusal));
                // The first of two steps.
                if let (true, false, Ok((act, proven))) = (hidden, shown, one(nic, device, SHOWS, "True")) {
                    acts.push(act);
                    proof.push(proven);
                    shown = true;
                }
            }
        }
    }
    let back = |a: &Act| match a {
        Act::NicFirmware(NicFirmwareAct { parameter, after, .. }) => {
            nic.config.param(parameter).and_then(|p| p.current.as_ref()).is_some_and(|c| same(c, after))
        }
        _ => false,
    };
    if !acts.is_empty() && acts.iter().all(back) {
        out.push(Ok(cancelled(device, tool, acts, proof)));
    } else if !acts.is_empty() {
        let names: Vec<String> = acts
            .iter()
            .filter_map(|a| match a {
                Act::NicFirmware(NicFirmwareAct { parameter, after, .. }) => Some(format!("{parameter} to {after}")),
                _ => None,
            })
            .collect();
        let by_card = if reset { resetting(device, platform) } else { None };
        let note = if by_card.is_some() { RESETS } else { REBOOTS };
        let mut precondition = vec![tool, Condition::NoLockdown];
        if let Some((program, act)) = by_card {
            precondition.push(program);
            acts.push(act);
        }
        out.push(Ok(Change {
            id: format!("nicfw-{}", slug(device)),
            summary: format!("set {} in the firmware of {device}", names.join(", ")),
            precondition,
            acts,
            proof,
            note: note.into(),
            ..Change::default()
        }));
    }
    out
}

/// What waits is set back to what is in force: nothing else changes, and nothing has to be reset.
fn cancelled(device: &str, tool: Condition, acts: Vec<Act>, proof: Vec<Proof>) -> Change {
    let names: Vec<String> = acts
        .iter()
        .filter_map(|a| match a {
            Act::NicFirmware(NicFirmwareAct { parameter, before, .. }) => Some(format!("{parameter} → {before}")),
            _ => None,
        })
        .collect();
    Change {
        id: format!("nicfw-{}", slug(device)),
        summary: format!("cancel the pending firmware settings of {device}: {}", names.join(", ")),
        precondition: vec![tool, Condition::NoLockdown],
        acts,
        proof,
        note: "only the value for the next reset is written; the one in force stays".into(),
        ..Change::default()
    }
}

const REBOOTS: &str =
    "in force after the reboot; some cards ask for a power cycle instead, and the tool says so when it sets the value";
const RESETS: &str = "the card is reset without a reboot (level 3: its driver is stopped, links and RDMA are down for moments); if GPUs or other hosts share it, the tool refuses. A rollback sets the old values for the next reset or boot";

/// The reset of a card, and the program that it takes.
fn resetting(device: &str, platform: &Platform) -> Option<(Condition, Act)> {
    let (name, package) = [("mstfwreset", "mstflint"), ("mlxfwreset", "MFT")]
        .into_iter()
        .find(|(tool, _)| platform.tools.has(tool) == Some(true))?;
    let argv = [name, "-d", device, "-l", "3", "-y", "reset"].map(str::to_owned).to_vec();
    let act = Act::Run(RunAct { argv, writes: Vec::new(), undo: Vec::new(), limit: RESET });
    Some((Condition::program(name, package), act))
}

/// Pending settings are made current: by a reset of the card where that is enough for all of them, else by a reboot.
fn reset(
    device: &str,
    reset: bool,
    except: &[String],
    platform: &Platform,
    firmware: &[NicFirmware],
) -> Result<Change, Refusal> {
    let nic = find(device, firmware)?;
    let waiting = waiting(nic, except);
    if waiting.is_empty() {
        return Err(Refusal::Already { reason: format!("no setting of {device} waits for a reset in the source") });
    }
    let proof = waiting.iter().filter_map(|p| {
        let value = p.next.as_ref()?.raw.to_string();
        Some(Proof::NicFirmware { device: device.to_owned(), parameter: p.name.to_string(), value })
    });
    let settings = match waiting.len() {
        1 => "pending setting".to_owned(),
        n => format!("{n} pending settings"),
    };
    let by_card = if reset { resetting(device, platform) } else { None };
    let rendered = Change {
        id: format!("nicreset-{}", slug(device)),
        summary: format!("reboot: apply the {settings} of {device}"),
        proof: proof.collect(),
        note: "settings that need a power cycle stay pending after a reboot: then power the node off and on".into(),
        ..Change::default()
    };
    Ok(match by_card {
        None => rendered,
        Some((program, act)) => Change {
            summary: format!("reset {device}: apply its {settings}"),
            precondition: vec![program],
            acts: vec![act],
            note: RESETS.into(),
            ..rendered
        },
    })
}

fn find<'n>(device: &str, firmware: &'n [NicFirmware]) -> Result<&'n NicFirmware, Refusal> {
    let bdf = device.parse().map_err(|_| {
        Refusal::no(format!(
            "the PCI address of {} is not known: the tool cannot name the NIC",
            device.escape_default()
        ))
    })?;
    let card = |n: &&NicFirmware| {
        n.bdf == Some(bdf) || n.bdf.is_some_and(|b| (b.domain, b.bus, b.device) == (bdf.domain, bdf.bus, bdf.device))
    };
    let exact = firmware.iter().find(|n| n.bdf == Some(bdf));
    exact.or_else(|| firmware.iter().find(card)).ok_or_else(|| {
        Refusal::no(format!("the source has no query of the settings of {bdf}: the value to restore is not known"))
    })
}

fn tool(platform: &Platform) -> Result<Condition, Refusal> {
    match (platform.tools.has("mstconfig"), platform.tools.has("mlxconfig")) {
        (Some(false), Some(false)) => {
            Err(Refusal::no("neither mstconfig (package mstflint) nor mlxconfig (MFT) is installed"))
        }
        (Some(false) | None, Some(true)) => Ok(Condition::program("mlxconfig", "MFT")),
        _ => Ok(Condition::program("mstconfig", "mstflint")),
    }
}

/// One setting: its act and its proof.
fn one(nic: &NicFirmware, device: &str, parameter: &str, value: &str) -> Result<(Act, Proof), Refusal> {
    words::nic_parameter(parameter)?;
    words::nic_value(value)?;
    if NEVER.iter().any(|n| parameter.starts_with(n)) {
        return Err(Refusal::no(format!(
            "linerate never changes {parameter}: with a wrong value the host may not start"
        )));
    }
    let Some(p) = nic.config.param(parameter) else {
        let why = if HIDDEN.contains(&parameter) {
            format!(
                "{parameter} of {device} is hidden until {SHOWS} is in force: set that, reset, and make a plan again"
            )
        } else {
            format!("the firmware of {device} does not show {parameter}: it may not have it")
        };
        return Err(Refusal::no(why));
    };
    let next = p.next.as_ref().filter(|v| !v.is_unavailable());
    let Some(next) = next else { return Err(Refusal::no(format!("the tool could not read {parameter} of {device}"))) };
    if p.read_only {
        return Err(Refusal::no(format!(
            "{parameter} of {device} is read-only here: it is set on the host that owns the card"
        )));
    }
    let Some(printed) = printed(p, value) else {
        return Err(Refusal::no(format!(
            "{parameter} of {device} is {}: {value} is not a value of the same kind",
            next.raw
        )));
    };
    if same(next, &printed) {
        let reason = match &p.current {
            Some(c) if !same(c, &printed) => {
                format!("{parameter} of {device} is set for the next boot and waits for a reset")
            }
            _ => format!("{parameter} of {device} is {printed}"),
        };
        return Err(Refusal::Already { reason });
    }
    let after = Value::new(&printed).number.map_or_else(|| value.to_owned(), |n| n.to_string());
    let act = Act::NicFirmware(NicFirmwareAct {
        device: device.into(),
        parameter: parameter.into(),
        before: next.raw.to_string(),
        after,
    });
    Ok((act, Proof::NicFirmware { device: device.into(), parameter: parameter.into(), value: printed }))
}

/// A value as the tool prints it: `True` and `1` as `True(1)`. `None`: it does not fit what the setting holds.
fn printed(p: &Param, value: &str) -> Option<String> {
    let seen = [&p.next, &p.current, &p.default];
    let seen: Vec<&Value> = seen.into_iter().flatten().filter(|v| !v.is_unavailable()).collect();
    if let Some(v) = seen.iter().find(|v| same(v, value)) {
        return Some(v.raw.to_string());
    }
    let labelled = seen.iter().any(|v| v.label.is_some());
    let wanted = Value::new(value);
    if seen.iter().any(|v| v.as_bool().is_some() && v.label.is_some()) {
        return wanted.as_bool().map(|b| if b { "True(1)".to_owned() } else { "False(0)".to_owned() });
    }
    match (wanted.number, labelled) {
        // A label that was never shown: the number is what can be told.
        (Some(n), _) => Some(n.to_string()),
        (None, true) => Some(value.to_owned()),
        (None, false) => None,
    }
}

/// Whether a printed value is a value as somebody writes it: by number, or by label.
fn same(printed: &Value, written: &str) -> bool {
    let w = Value::new(written);
    match (printed.number, w.number) {
        (Some(a), Some(b)) => a == b,
        (Some(_), None) | (None, None) | (None, Some(_)) => {
            let label = printed.label.as_deref().unwrap_or(&printed.raw);
            label.eq_ignore_ascii_case(w.label.as_deref().unwrap_or(&w.raw))
        }
    }
}

fn slug(device: &str) -> String {
    device.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).take(40).collect()
}
