//! What the PCI core says a device is, by its numbers, where no driver's name does.

use super::driver::{DriverClass, Requester};
use super::event::Event;
use crate::pci::class::Class;
use crate::text::after;

const NVIDIA: u16 = 0x10de;
const MELLANOX: u16 = 0x15b3;
const AMD: u16 = 0x1002;
/// Makers of the displays of BMCs: ASPEED, Matrox.
const OF_BMC: [u16; 2] = [0x1a03, 0x102b];

/// A function as it is found (drivers/pci/probe.c, `pci_setup_device`): `pci 0000:c1:00.0: [15b3:1021] type 00 class 0x020000`; and the second line of an
/// AER report (drivers/pci/pcie/aer.c, `aer_print_error`): `pcieport 0000:40:01.1:   device [15b3:1979] error status/mask=00001000/0000e000`.
pub(super) fn read(m: &str) -> Option<Event> {
    let (head, rest) = m.split_once(": ")?;
    let rest = rest.trim_start();
    let (in_report, rest) = match rest.strip_prefix("device [") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix('[')?),
    };
    let (ids, rest) = rest.split_once("] ")?;
    let (vendor, device) = ids.split_once(':').filter(|(v, d)| v.len() == 4 && d.len() == 4)?;
    let (vendor, _) = (u16::from_str_radix(vendor, 16).ok()?, u16::from_str_radix(device, 16).ok()?);
    let of = Requester::of_line(head);
    let class = if in_report {
        rest.starts_with("error status/mask=").then(|| by_vendor(of, vendor))?
    } else {
        let code = rest.strip_prefix("type 0").and_then(|r| after(r, " class 0x"))?;
        let code = code.split(' ').next().and_then(|c| u32::from_str_radix(c, 16).ok())?;
        by_class(vendor, Class(code))
    };
    (class != DriverClass::Unknown && of.bdf.is_some()).then_some(Event::Bound(Requester { class, ..of }))
}

/// NVIDIA's functions 0 that are no ports are GPUs and NVSwitches; all of Mellanox' are parts of RDMA NICs.
fn by_vendor(of: Requester, vendor: u16) -> DriverClass {
    match (of.class, vendor) {
        (DriverClass::Port, MELLANOX) => DriverClass::NicPort,
        (DriverClass::Unknown, MELLANOX) => DriverClass::RdmaNic,
        (DriverClass::Unknown, NVIDIA) if of.bdf.is_some_and(|b| b.function == 0) => DriverClass::GpuOrNvSwitch,
        (class, _) => class,
    }
}

fn by_class(vendor: u16, class: Class) -> DriverClass {
    match (vendor, class.base(), class.sub()) {
        (NVIDIA, 0x03, _) | (AMD, 0x12, _) => DriverClass::Gpu,
        (NVIDIA, _, 0x0680) => DriverClass::NvSwitch,
        (MELLANOX, 0x02, _) => DriverClass::RdmaNic,
        (_, 0x03, _) if OF_BMC.contains(&vendor) => DriverClass::Display,
        _ => DriverClass::Unknown,
    }
}
