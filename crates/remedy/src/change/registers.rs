//! Registers of configuration space that only last until the next boot: masked writes by a unit at each boot.

use super::unit::{Pair, Unit};
use super::{AT_ONCE, Change, INTERRUPTS, Kind, Refusal, Setting, each};
use crate::model::Condition;
use crate::terms::{On, Terms};
use linerate_formats::pci::Bdf;
use linerate_formats::pci::caps::Express;
use linerate_node::Node;
use linerate_rules::Action;
use linerate_snapshot::Snapshot;

/// After the drivers' modules, before what opens GPUs and NICs (facts §2.4).
const ORDER: [&str; 2] = [
    "After=systemd-modules-load.service systemd-udev-trigger.service",
    "Before=nvidia-persistenced.service nvidia-fabricmanager.service openibd.service libvirtd.service slurmd.service kubelet.service",
];

/// ACS control bits of ports, written masked at each boot.
pub(super) struct Acs;

impl Kind for Acs {
    fn takes(&self, action: &Action) -> Option<String> {
        matches!(action, Action::AcsControl { .. }).then(String::new)
    }

    /// What devices send to each other takes another way while it is under way.
    fn terms(&self, _: &Action, _: &On<'_>) -> Terms {
        INTERRUPTS
    }

    fn claims(&self, action: &Action) -> Vec<(String, String)> {
        let Action::AcsControl { ports, clear, set } = action else { return Vec::new() };
        let bits: Vec<(u16, u16)> =
            (0..16).filter(|b| (clear | set) >> b & 1 == 1).map(|b| (b, set >> b & 1)).collect();
        let of = |p: &Bdf| bits.iter().map(|(b, v)| (format!("ACS bit {b} of {p}"), v.to_string())).collect::<Vec<_>>();
        ports.iter().flat_map(of).collect()
    }

    fn on_talos(&self) -> Option<&'static str> {
        Some(
            "Talos runs no units: for ACS bits add pci=config_acs=…@ADDRESS (Linux 6.11 or later) to the kernel arguments of the node's schematic, or \
             run a privileged DaemonSet with setpci",
        )
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        vec![acs(&by_port(actions), on.node, on.snapshot)]
    }
}

/// Fields of Device Control, written masked at each boot.
pub(super) struct DeviceControl;

impl Kind for DeviceControl {
    fn takes(&self, action: &Action) -> Option<String> {
        asked_field(action).map(|_| String::new())
    }

    fn terms(&self, _: &Action, _: &On<'_>) -> Terms {
        AT_ONCE
    }

    fn claims(&self, action: &Action) -> Vec<(String, String)> {
        let claim = |a: Asked<'_>| (format!("{} of {}", a.field, a.function), a.value.to_string());
        asked_field(action).map(claim).into_iter().collect()
    }

    fn on_talos(&self) -> Option<&'static str> {
        Some("Talos runs no units: run a privileged DaemonSet that writes the register with setpci")
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        vec![device_control(&each(actions, asked_field), on.node, on.snapshot)]
    }
}

/// Bits of a port. `clear` and `set` have none in common.
struct Bits {
    port: Bdf,
    clear: u16,
    set: u16,
}

/// One entry for each port, with the bits of all.
fn by_port(actions: &[&Action]) -> Vec<Bits> {
    let mut out: Vec<Bits> = Vec::new();
    for action in actions {
        let Action::AcsControl { ports, clear, set } = action else { continue };
        for port in ports {
            match out.iter_mut().find(|a| a.port == *port) {
                Some(a) => {
                    a.clear |= clear;
                    a.set |= set;
                }
                None => out.push(Bits { port: *port, clear: *clear, set: *set }),
            }
        }
    }
    out
}

/// A field of a function's Device Control register: `max-read-request`, `relaxed-ordering`, `ten-bit-tag`; the value in its own unit.
#[derive(PartialEq)]
struct Asked<'a> {
    function: Bdf,
    field: &'a str,
    value: u32,
}

fn asked_field(action: &Action) -> Option<Asked<'_>> {
    match action {
        Action::DeviceControl { function, field, value } => Some(Asked { function: *function, field, value: *value }),
        _ => None,
    }
}

fn acs(asked: &[Bits], node: &Node<'_>, s: &Snapshot) -> Result<Change, Refusal> {
    let mut pairs = Vec::new();
    for a in asked {
        let mask = a.clear | a.set;
        if a.clear & a.set != 0 || mask == 0 || mask > 0x7f {
            return Err(Refusal::no(format!(
                "ACS bits to clear ({:#x}) and to set ({:#x}) of {} are not valid",
                a.clear, a.set, a.port
            )));
        }
        let f = node.pci.find(a.port).and_then(|id| node.pci.functions.get(id.0 as usize));
        let now = f.and_then(|f| f.acs.known()).and_then(|acs| acs.control);
        let Some(now) = now else { return Err(unknown(a.port, "ACS Control")) };
        pairs.push(pair(a.port, "ECAP_ACS+6.w", a.set, now.0, mask));
    }
    let mut rendered = unit("linerate-acs.service", "acs", "ACS control bits, set by linerate", pairs, s)?;
    rendered.summary = "set the ACS control bits now and at each boot".into();
    rendered.note = "the kernel does not update its IOMMU groups until they are made again; a reset of the port, or a sleep of the node, brings the kernel's own value back until the unit is started again".into();
    Ok(rendered)
}

fn device_control(asked: &[Asked<'_>], node: &Node<'_>, s: &Snapshot) -> Result<Change, Refusal> {
    let mut pairs = Vec::new();
    for a in asked {
        let f = node.pci.find(a.function).and_then(|id| node.pci.functions.get(id.0 as usize));
        let Some(express) = f.and_then(|f| f.express.known()) else {
            return Err(unknown(a.function, "Device Control"));
        };
        let field = field(a, express)?;
        pairs.push(pair(a.function, field.register, field.after, field.before, field.mask));
    }
    let mut rendered = unit("linerate-registers.service", "registers", "PCI registers, set by linerate", pairs, s)?;
    rendered.summary = "set fields of Device Control now and at each boot".into();
    rendered.note = "a reset of the function (by its driver, or of its firmware) brings the old value back until the unit is started again".into();
    Ok(rendered)
}

struct Field {
    register: &'static str,
    mask: u16,
    before: u16,
    after: u16,
}

/// Where a field lies (facts §4.1). Bit 15 of Device Control starts a reset on endpoints: it is never in a mask.
fn field(a: &Asked<'_>, e: &Express) -> Result<Field, Refusal> {
    let flag = |register, mask: u16, now: Option<bool>| {
        let now = now.ok_or_else(|| unknown(a.function, a.field))?;
        let after = match a.value {
            0 => 0,
            1 => mask,
            _ => return Err(Refusal::no(format!("{} of {} is 0 or 1", a.field, a.function))),
        };
        Ok(Field { register, mask, before: if now { mask } else { 0 }, after })
    };
    match a.field {
        "max-read-request" => {
            let now = e.max_read_request.ok_or_else(|| unknown(a.function, "MaxReadReq"))?;
            let (Some(before), Some(after)) = (request(u32::from(now)), request(a.value)) else {
                return Err(Refusal::no(format!("{} bytes is not a valid largest read request", a.value)));
            };
            Ok(Field { register: "CAP_EXP+8.w", mask: 0x7000, before, after })
        }
        "relaxed-ordering" => flag("CAP_EXP+8.w", 0x10, e.relaxed_ordering),
        "ten-bit-tag" => flag("CAP_EXP+28.w", 0x1000, e.ten_bit_tag_enabled),
        other => Err(Refusal::no(format!("Device Control has no known field {}", other.escape_default()))),
    }
}

/// Bits 14:12 for 128, 256 … 4096 bytes.
fn request(bytes: u32) -> Option<u16> {
    let valid = bytes.is_power_of_two() && (128..=4096).contains(&bytes);
    valid.then(|| (bytes.trailing_zeros() as u16 - 7) << 12)
}

fn unknown(function: Bdf, what: &str) -> Refusal {
    Refusal::no(format!(
        "the source does not show {what} of {function}: the old value could not be put back; collect as root"
    ))
}

fn pair(function: Bdf, register: &str, after: u16, before: u16, mask: u16) -> Pair {
    let key = format!("setpci -s {function} {register}");
    let write = |value: u16| format!("{key}={:x}:{mask:x}", value & mask);
    Pair { start: write(after), stop: write(before), mask: Some(mask), key }
}

fn unit(name: &str, step: &str, description: &str, pairs: Vec<Pair>, s: &Snapshot) -> Result<Change, Refusal> {
    let order = ORDER.map(str::to_owned);
    let change = Unit { name, step, description, order: &order, pairs }.acts(s)?;
    if change.is_empty() {
        return Err(Refusal::Already {
            reason: format!("{name} does it at each boot: is it enabled, and did it run?"),
        });
    }
    Ok(Change {
        id: step.into(),
        precondition: vec![
            Condition::program("setpci", "pciutils"),
            Condition::program("systemctl", "systemd"),
            Condition::NoLockdown,
        ],
        acts: change,
        ..Change::default()
    })
}
