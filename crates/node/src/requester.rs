//! Whose a kernel message is: whether a device is an end of the path between GPU and NIC, a port above one, or none of them.

use crate::pci::{FnId, Kind, PciFunction, PciTree};
use linerate_formats::dmesg::{DriverClass, Requester};
use linerate_formats::pci::Bdf;

/// How a device relates to the path between GPU and NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A GPU, an RDMA NIC, an NVSwitch, or a port above one of them.
    Path,
    /// None of them: its errors are its own matter.
    Elsewhere,
    /// What it is cannot be known.
    Unknown,
}

/// A device that a message names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// How it relates to the path.
    pub standing: Standing,
    /// The function, where the node has it.
    pub function: Option<FnId>,
    /// What it is, in words with an article.
    pub what: &'static str,
}

/// What a message's device is: by the tree, where it has the address and does not contradict the driver that the message names; else by that
/// driver. `whole`: the tree has every function of the node.
#[must_use]
pub fn device(tree: &PciTree<'_>, whole: bool, of: Requester) -> Device {
    let by_tree = of.bdf.and_then(|b| locate(tree, b)).filter(|id| agrees(tree.get(*id).kind, of.class));
    if let Some(id) = by_tree.filter(|id| tree.get(*id).kind != Kind::Unknown) {
        let f = tree.get(id);
        let standing = if on_path(tree, id) { Standing::Path } else { Standing::Elsewhere };
        return Device { standing, function: Some(id), what: words(f, of.class) };
    }
    let standing = match of.class {
        DriverClass::Gpu
        | DriverClass::NvSwitch
        | DriverClass::GpuOrNvSwitch
        | DriverClass::RdmaNic
        | DriverClass::NicPort => Standing::Path,
        DriverClass::Unknown if whole && of.bdf.is_some() && by_tree.is_none() && !tree.functions.is_empty() => {
            return Device { standing: Standing::Elsewhere, function: None, what: "no function of this node" };
        }
        DriverClass::Port | DriverClass::Unknown => Standing::Unknown,
        _ => Standing::Elsewhere,
    };
    Device { standing, function: by_tree, what: of.class.words() }
}

/// The same, with what other lines of the log say of the address: `bound`, the devices that drivers started.
#[must_use]
pub fn device_in_log(tree: &PciTree<'_>, whole: bool, of: Requester, bound: impl Iterator<Item = Requester>) -> Device {
    let class = match (of.class, of.bdf) {
        (DriverClass::Unknown, Some(b)) => named_in(bound, b),
        // Of a port another line may say whose it is.
        (DriverClass::Port, Some(b)) => named_in(bound, b).with(DriverClass::Port).unwrap_or(DriverClass::Port),
        (class, _) => class,
    };
    device(tree, whole, Requester { class, ..of })
}

/// What a log's other lines say of an address; unknown where they disagree.
fn named_in(bound: impl Iterator<Item = Requester>, address: Bdf) -> DriverClass {
    let mut classes = bound.filter(|r| r.bdf.is_some_and(|b| same(b, address))).map(|r| r.class);
    let Some(first) = classes.next() else { return DriverClass::Unknown };
    classes.try_fold(first, DriverClass::with).unwrap_or(DriverClass::Unknown)
}

/// Whether two addresses are one; lines without a segment match in any.
#[must_use]
pub fn same(a: Bdf, b: Bdf) -> bool {
    let tail = |x: Bdf| (x.bus, x.device, x.function);
    tail(a) == tail(b) && (a.domain == b.domain || a.domain == 0 || b.domain == 0)
}

/// The function at an address; an address without a segment matches where one segment alone has it.
#[must_use]
pub fn locate(tree: &PciTree<'_>, address: Bdf) -> Option<FnId> {
    tree.find(address).or_else(|| {
        let mut hits = tree.iter().filter(|(_, f)| address.domain == 0 && same(f.bdf, address));
        let hit = hits.next()?.0;
        hits.next().is_none().then_some(hit)
    })
}

/// Whether a function can be what a driver's name says.
fn agrees(kind: Kind, class: DriverClass) -> bool {
    let ends = kind.is_gpu() || matches!(kind, Kind::NvSwitch | Kind::RdmaNic | Kind::DataDirect | Kind::Bridge);
    match class {
        DriverClass::Unknown => true,
        DriverClass::Gpu => matches!(kind, Kind::Gpu | Kind::Unknown),
        DriverClass::NvSwitch => matches!(kind, Kind::NvSwitch | Kind::Unknown),
        DriverClass::GpuOrNvSwitch => matches!(kind, Kind::Gpu | Kind::NvSwitch | Kind::Unknown),
        DriverClass::RdmaNic => {
            matches!(
                kind,
                Kind::RdmaNic
                    | Kind::Nic
                    | Kind::DataDirect
                    | Kind::NvlinkBridge
                    | Kind::PerhapsNvlinkBridge
                    | Kind::Unknown
            )
        }
        DriverClass::Port | DriverClass::NicPort => matches!(kind, Kind::Bridge | Kind::Unknown),
        _ => !ends,
    }
}

/// Whether a function is an end of the path, an NVSwitch, or a port above one of them.
#[must_use]
pub fn on_path(tree: &PciTree<'_>, id: FnId) -> bool {
    let end = |f: &PciFunction<'_>| f.is_endpoint_of_path() || f.kind == Kind::NvSwitch;
    end(tree.get(id))
        || tree.get(id).kind == Kind::Bridge
            && tree.iter().any(|(e, f)| f.is_endpoint_of_path() && tree.ancestors(e).0.contains(&id))
}

fn words(f: &PciFunction<'_>, class: DriverClass) -> &'static str {
    match f.kind {
        Kind::Gpu | Kind::AmdGpu => DriverClass::Gpu.words(),
        Kind::NvlinkBridge => "a function that manages NVLink",
        Kind::PerhapsNvlinkBridge => "a NIC or a function that manages NVLink",
        Kind::NvSwitch => DriverClass::NvSwitch.words(),
        Kind::RdmaNic | Kind::DataDirect => DriverClass::RdmaNic.words(),
        Kind::Nic => DriverClass::Nic.words(),
        Kind::Bridge => DriverClass::Port.words(),
        Kind::Nvme => DriverClass::Nvme.words(),
        _ if class != DriverClass::Unknown => class.words(),
        _ => match f.class.known().map(|c| c.base()) {
            Some(0x01) => DriverClass::Storage.words(),
            Some(0x03) => DriverClass::Display.words(),
            Some(0x04) => DriverClass::Sound.words(),
            Some(0x0c) => DriverClass::Usb.words(),
            _ => DriverClass::Other.words(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stand(address: &str, class: DriverClass) -> Standing {
        let of = Requester { bdf: address.parse().ok(), class };
        device(&PciTree::default(), false, of).standing
    }

    #[test]
    fn without_a_tree_the_driver_decides() {
        for (class, standing) in [
            (DriverClass::Gpu, Standing::Path),
            (DriverClass::RdmaNic, Standing::Path),
            (DriverClass::Port, Standing::Unknown),
            (DriverClass::Unknown, Standing::Unknown),
            (DriverClass::Usb, Standing::Elsewhere),
            (DriverClass::Display, Standing::Elsewhere),
            (DriverClass::Nvme, Standing::Elsewhere),
            (DriverClass::Storage, Standing::Elsewhere),
        ] {
            assert_eq!(stand("41:00.0", class), standing, "{class:?}");
        }
    }

    #[test]
    fn another_line_of_the_log_names_the_device() {
        let bound = |a: &str, class| Requester { bdf: a.parse().ok(), class };
        let of = Requester { bdf: "18:00.0".parse().ok(), class: DriverClass::Unknown };
        let judge = |log: &[Requester]| device_in_log(&PciTree::default(), false, of, log.iter().copied()).standing;
        assert_eq!(judge(&[bound("0001:18:00.0", DriverClass::RdmaNic)]), Standing::Path);
        assert_eq!(judge(&[bound("18:00.0", DriverClass::Usb)]), Standing::Elsewhere);
        assert_eq!(judge(&[bound("18:00.0", DriverClass::Usb), bound("18:00.0", DriverClass::Gpu)]), Standing::Unknown);
        assert_eq!(judge(&[bound("19:00.0", DriverClass::Gpu)]), Standing::Unknown);
        // A vendor's number and a driver's name agree.
        let vendor = bound("18:00.0", DriverClass::GpuOrNvSwitch);
        let port = Requester { class: DriverClass::Port, ..of };
        for (of, log, want) in [
            (of, &[vendor][..], DriverClass::GpuOrNvSwitch),
            (of, &[vendor, bound("18:00.0", DriverClass::Gpu)], DriverClass::Gpu),
            (
                port,
                &[bound("18:00.0", DriverClass::NicPort), bound("18:00.0", DriverClass::Port)],
                DriverClass::NicPort,
            ),
            (port, &[bound("19:00.0", DriverClass::NicPort)], DriverClass::Port),
        ] {
            let device = device_in_log(&PciTree::default(), false, of, log.iter().copied());
            assert_eq!(device.what, want.words());
        }
    }
}
