//! Wishes of one kind together, and none that contradicts another.

use super::Cx;
use super::address::chosen;
use super::wish::{Wish, distinct, say_no};
use crate::change::{AcsControl, Ask, DeviceControl, Limit, Link, ModuleOption, Sysfs};
use crate::model::Refused;
use linerate_rules::Action;
use std::collections::BTreeMap;

/// What stands together in one step.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Modules,
    ModuleOptions,
    Limit,
    Sysfs,
    Network,
    AcsControl,
    DeviceControl,
    NicFirmware(String),
    NicFirmwareReset(String),
    Bios(String, String),
    KernelArgs,
}

/// The kind of a wish; `None`: it is left to people.
pub(super) fn kind(action: &Action) -> Option<Kind> {
    Some(match action {
        Action::KernelArgs { .. } => Kind::KernelArgs,
        Action::ModuleOption { .. } => Kind::ModuleOptions,
        Action::LoadModule { .. } => Kind::Modules,
        Action::AcsControl { .. } => Kind::AcsControl,
        Action::DeviceControl { .. } => Kind::DeviceControl,
        Action::NicFirmware { device, .. } => Kind::NicFirmware(device.to_string()),
        Action::NicFirmwareReset { device } => Kind::NicFirmwareReset(device.to_string()),
        Action::Bios { setting, value } => Kind::Bios(setting.to_string(), value.to_string()),
        Action::Mtu { .. } | Action::Address { .. } => Kind::Network,
        Action::Sysfs { .. } => Kind::Sysfs,
        Action::Limit { .. } => Kind::Limit,
        Action::Environment { .. }
        | Action::Software { .. }
        | Action::Physical { .. }
        | Action::HostSide { .. }
        | Action::Investigate { .. } => return None,
    })
}

/// Kernel parameters of which the last one counts, so that two values are a contradiction.
const ONE_VALUE: &[&str] =
    &["iommu.passthrough", "iommu.strict", "intel_iommu", "pcie_aspm", "pcie_aspm.policy", "default_hugepagesz"];

/// What a wish fixes to which value: two wishes with one key and different values contradict each other.
fn claims(action: &Action) -> Vec<(String, String)> {
    let one = |k: String, v: String| vec![(k, v)];
    match action {
        Action::KernelArgs { add, remove } => {
            let added = add.iter().flat_map(|w| {
                let name = w.split('=').next().unwrap_or_default();
                let value = ONE_VALUE.contains(&name).then(|| (format!("{name}="), w.to_string()));
                [Some((format!("kernel argument {w}"), "there".to_owned())), value].into_iter().flatten()
            });
            added.chain(remove.iter().map(|w| (format!("kernel argument {w}"), "not there".to_owned()))).collect()
        }
        Action::ModuleOption { module, option, value } => one(
            format!("option {option} of {module}"),
            value.as_ref().map_or("not set".to_owned(), ToString::to_string),
        ),
        Action::AcsControl { ports, clear, set } => {
            let bits = (0..16).filter(|b| (clear | set) >> b & 1 == 1).map(|b| (b, set >> b & 1));
            let bits: Vec<(u16, u16)> = bits.collect();
            ports
                .iter()
                .flat_map(|p| bits.iter().map(move |(b, v)| (format!("ACS bit {b} of {p}"), v.to_string())))
                .collect()
        }
        Action::DeviceControl { function, field, value } => one(format!("{field} of {function}"), value.to_string()),
        Action::NicFirmware { device, parameter, value } => one(format!("{parameter} of {device}"), value.to_string()),
        Action::Mtu { interface, mtu } => one(format!("MTU of {interface}"), mtu.to_string()),
        Action::Sysfs { path, value } => one(path.to_string(), value.to_string()),
        Action::Limit { limit, value } => one(format!("limit {limit}"), value.to_string()),
        Action::Bios { setting, value } => one(format!("BIOS {setting}"), value.to_string()),
        _ => Vec::new(),
    }
}

/// Takes out wishes of which one undoes another: neither is planned.
pub(super) fn without_contradictions(wishes: Vec<Wish>, refused: &mut Vec<Refused>) -> Vec<Wish> {
    let mut claimed: BTreeMap<String, BTreeMap<String, Vec<&'static str>>> = BTreeMap::new();
    for w in &wishes {
        for (k, v) in claims(&w.remedy.action) {
            claimed.entry(k).or_default().entry(v).or_default().push(w.rule);
        }
    }
    claimed.retain(|_, values| values.len() > 1);
    let against = |w: &Wish| claims(&w.remedy.action).into_iter().find_map(|(k, _)| Some((claimed.get(&k)?, k)));
    let why = |w: &Wish| {
        let (values, key) = against(w)?;
        let sides = values
            .iter()
            .map(|(v, rules)| format!("{v} ({})", distinct(rules.iter().map(|r| (*r).to_owned())).join(", ")));
        Some(format!("two findings want different things of {key}: {}", sides.collect::<Vec<_>>().join(" and ")))
    };
    let mut out = Vec::new();
    for w in &wishes {
        match why(w) {
            Some(reason) => say_no(refused, w, reason, Some(format!("--fix {}", w.rule))),
            None => out.push(w.clone()),
        }
    }
    out
}

/// What is asked of the renderers; `None` for kernel arguments, which `crate::boot` writes. `reset`: the NIC is reset for it.
pub(super) fn ask(cx: &Cx<'_, '_>, kind: &Kind, wishes: &[&Wish], reset: bool) -> Option<Ask> {
    fn each<T: PartialEq>(wishes: &[&Wish], pick: impl Fn(&Action) -> Vec<T>) -> Vec<T> {
        let mut out = Vec::new();
        for t in wishes.iter().flat_map(|w| pick(&w.remedy.action)) {
            if !out.contains(&t) {
                out.push(t);
            }
        }
        out
    }
    Some(match kind {
        Kind::KernelArgs => return None,
        Kind::Modules => Ask::Modules(each(wishes, |a| match a {
            Action::LoadModule { module } => vec![module.to_string()],
            _ => vec![],
        })),
        Kind::ModuleOptions => Ask::ModuleOptions(each(wishes, |a| match a {
            Action::ModuleOption { module, option, value } => vec![ModuleOption {
                module: module.to_string(),
                option: option.to_string(),
                value: value.as_ref().map(ToString::to_string),
            }],
            _ => vec![],
        })),
        Kind::Network => Ask::Network(links(cx, wishes)),
        Kind::Sysfs => Ask::Sysfs(each(wishes, |a| match a {
            Action::Sysfs { path, value } => vec![Sysfs { path: path.to_string(), value: value.to_string() }],
            _ => vec![],
        })),
        Kind::Limit => Ask::Limit(each(wishes, |a| match a {
            Action::Limit { limit, value } => vec![Limit { limit: limit.to_string(), value: value.to_string() }],
            _ => vec![],
        })),
        Kind::AcsControl => Ask::AcsControl(acs(wishes)),
        Kind::DeviceControl => Ask::DeviceControl(each(wishes, |a| match a {
            Action::DeviceControl { function, field, value } => {
                vec![DeviceControl { function: *function, field: field.to_string(), value: *value }]
            }
            _ => vec![],
        })),
        Kind::NicFirmware(device) => Ask::NicFirmware {
            device: device.clone(),
            reset,
            set: each(wishes, |a| match a {
                Action::NicFirmware { parameter, value, .. } => vec![(parameter.to_string(), value.to_string())],
                _ => vec![],
            }),
        },
        Kind::NicFirmwareReset(device) => Ask::NicFirmwareReset {
            device: device.clone(),
            reset,
            except: cx.set.iter().filter(|(d, _)| d == device).map(|(_, p)| p.clone()).collect(),
        },
        Kind::Bios(setting, value) => Ask::Bios { setting: setting.clone(), value: value.clone() },
    })
}

/// One entry for each interface, with what is asked of it.
fn links(cx: &Cx<'_, '_>, wishes: &[&Wish]) -> Vec<Link> {
    let mut out: Vec<Link> = Vec::new();
    for w in wishes {
        let (name, mtu, address) = match &w.remedy.action {
            Action::Mtu { interface, mtu } => (interface, Some(*mtu), None),
            Action::Address { interface } => (interface, None, chosen(cx, interface)),
            _ => continue,
        };
        let at = out.iter().position(|l| l.interface == **name).unwrap_or_else(|| {
            out.push(Link { interface: name.to_string(), mtu: None, addresses: Vec::new() });
            out.len() - 1
        });
        if let Some(link) = out.get_mut(at) {
            link.mtu = link.mtu.or(mtu);
            link.addresses.extend(address.filter(|a| !link.addresses.contains(a)));
        }
    }
    out
}

/// One entry for each port, with the bits of all.
fn acs(wishes: &[&Wish]) -> Vec<AcsControl> {
    let mut out: Vec<AcsControl> = Vec::new();
    for w in wishes {
        let Action::AcsControl { ports, clear, set } = &w.remedy.action else { continue };
        for port in ports {
            match out.iter_mut().find(|a| a.port == *port) {
                Some(a) => {
                    a.clear |= clear;
                    a.set |= set;
                }
                None => out.push(AcsControl { port: *port, clear: *clear, set: *set }),
            }
        }
    }
    out
}
