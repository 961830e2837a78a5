//! Registers of configuration space that only last until the next boot: masked writes by a unit at each boot.

use super::unit::{Pair, Unit};
use super::{AcsControl, DeviceControl, Refusal, Rendered};
use crate::model::Condition;
use linerate_formats::pci::Bdf;
use linerate_formats::pci::caps::Express;
use linerate_node::Node;
use linerate_snapshot::Snapshot;

/// After the drivers' modules, before what opens GPUs and NICs (facts §2.4).
const ORDER: [&str; 2] = [
    "After=systemd-modules-load.service systemd-udev-trigger.service",
    "Before=nvidia-persistenced.service nvidia-fabricmanager.service openibd.service libvirtd.service slurmd.service kubelet.service",
];

/// ACS control bits.
pub(super) fn acs(asked: &[AcsControl], node: &Node<'_>, s: &Snapshot) -> Result<Rendered, Refusal> {
    let mut pairs = Vec::new();
    for a in asked {
        let mask = a.clear | a.set;
        if a.clear & a.set != 0 || mask == 0 || mask > 0x7f {
            return Err(Refusal::no(format!(
                "ACS bits to clear ({:#x}) and to set ({:#x}) of {} make no sense",
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
    rendered.note = "the kernel's IOMMU groups do not learn of it before they are made again; a port that is reset, or a node that sleeps, \
                     gets the kernel's own value back until the unit is started again".into();
    Ok(rendered)
}

/// Fields of Device Control and Device Control 2.
pub(super) fn device_control(asked: &[DeviceControl], node: &Node<'_>, s: &Snapshot) -> Result<Rendered, Refusal> {
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
    rendered.note = "a reset of the function (its driver's, or of its firmware) puts the old value back until the unit is started again".into();
    Ok(rendered)
}

struct Field {
    register: &'static str,
    mask: u16,
    before: u16,
    after: u16,
}

/// Where a field lies (facts §4.1). Bit 15 of Device Control starts a reset on endpoints: it is never in a mask.
fn field(a: &DeviceControl, e: &Express) -> Result<Field, Refusal> {
    let flag = |register, mask: u16, now: Option<bool>| {
        let now = now.ok_or_else(|| unknown(a.function, &a.field))?;
        let after = match a.value {
            0 => 0,
            1 => mask,
            _ => return Err(Refusal::no(format!("{} of {} is 0 or 1", a.field, a.function))),
        };
        Ok(Field { register, mask, before: if now { mask } else { 0 }, after })
    };
    match a.field.as_str() {
        "max-read-request" => {
            let now = e.max_read_request.ok_or_else(|| unknown(a.function, "MaxReadReq"))?;
            let (Some(before), Some(after)) = (request(u32::from(now)), request(a.value)) else {
                return Err(Refusal::no(format!("a largest read request of {} bytes does not exist", a.value)));
            };
            Ok(Field { register: "CAP_EXP+8.w", mask: 0x7000, before, after })
        }
        "relaxed-ordering" => flag("CAP_EXP+8.w", 0x10, e.relaxed_ordering),
        "ten-bit-tag" => flag("CAP_EXP+28.w", 0x1000, e.ten_bit_tag_enabled),
        other => Err(Refusal::no(format!("no field {} of Device Control is known", other.escape_default()))),
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

fn unit(name: &str, step: &str, description: &str, pairs: Vec<Pair>, s: &Snapshot) -> Result<Rendered, Refusal> {
    let order = ORDER.map(str::to_owned);
    let change = Unit { name, step, description, order: &order, pairs }.acts(s)?;
    if change.is_empty() {
        return Err(Refusal::Already {
            reason: format!("{name} does it at each boot: is it enabled, and did it run?"),
        });
    }
    Ok(Rendered {
        id: step.into(),
        summary: String::new(),
        precondition: vec![
            Condition::Program { name: "setpci".into(), package: "pciutils".into() },
            Condition::Program { name: "systemctl".into(), package: "systemd".into() },
            Condition::NoLockdown,
        ],
        change,
        proof: Vec::new(),
        note: String::new(),
    })
}
