//! What tools of firmware and links show of RDMA devices that are known already: `mlxlink`, `flint`, `mlxfwmanager`, `ethtool -i`. They
//! name a device by its RDMA name or its PCI function, and list no devices of a node.

use crate::cut::{self, Cut};
use crate::rdma::RdmaDevice;
use crate::rdma_text::{phys, put};
use linerate_formats::pci::Bdf;
use linerate_formats::text::At;
use linerate_formats::{ethtool, mlxlink, nic_image};
use linerate_snapshot::{EntryId, OutputKind, Snapshot};

/// Adds what they show.
pub(crate) fn join(s: &Snapshot, devices: &mut [RdmaDevice], cuts: &mut Vec<Cut>) {
    for o in &s.outputs {
        let bytes = s.data(o.entry);
        match o.kind {
            OutputKind::Mlxlink => {
                let listed = mlxlink::read(bytes);
                cut::note(cuts, o.entry, &listed.left_out);
                let single = listed.items.len() == 1;
                for l in listed.items {
                    let device =
                        l.device.as_ref().map(|d| d.value.as_str()).or_else(|| o.behind("-d").filter(|_| single));
                    find(devices, device).into_iter().for_each(|d| link(d, &l, o.entry));
                }
            }
            OutputKind::Flint | OutputKind::Mlxfwmanager => {
                let listed = nic_image::read(bytes);
                cut::note(cuts, o.entry, &listed.left_out);
                let single = listed.items.len() == 1;
                for i in listed.items {
                    let device =
                        i.device.as_ref().map(|d| d.value.as_str()).or_else(|| o.behind("-d").filter(|_| single));
                    for d in find(devices, device) {
                        put(&mut d.firmware, i.runs().cloned(), o.entry);
                        put(&mut d.board_id, i.psid.clone(), o.entry);
                    }
                }
            }
            OutputKind::EthtoolDriver => {
                let listed = ethtool::driver::read(bytes);
                // Others print the version of a package there, which is not that of the RDMA device.
                for i in listed.items.iter().filter(|i| i.driver.starts_with("mlx5_core")) {
                    let Some(bdf) = i.bdf else { continue };
                    for d in devices.iter_mut().filter(|d| d.pci == Some(bdf.value)) {
                        put(&mut d.firmware, i.firmware.clone(), o.entry);
                        put(&mut d.board_id, i.board_id.clone(), o.entry);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The devices of an RDMA name or of a PCI function. `/dev/mst/…` names neither.
fn find<'a>(devices: &'a mut [RdmaDevice], name: Option<&str>) -> Vec<&'a mut RdmaDevice> {
    let Some(name) = name else { return Vec::new() };
    let bdf: Option<Bdf> = name.parse().ok();
    devices.iter_mut().filter(|d| d.name == name || bdf.is_some() && d.pci == bdf).take(2).collect()
}

/// A function has one port, unless it is an old card with two, which the command must name.
fn link(d: &mut RdmaDevice, l: &mlxlink::Link, entry: EntryId) {
    let single = d.ports.len() == 1;
    let Some(port) = d.ports.iter_mut().find(|p| single || Some(p.number) == l.port) else { return };
    let physical = l.physical_state.as_ref().map(|p| At::new((phys(&p.value), p.value.clone()), p.line));
    put(&mut port.phys_state, physical.filter(|p| p.value.0 != 0), entry);
    let up = l.physical_state.as_ref().is_some_and(|p| p.value == "LinkUp");
    put(&mut port.rate_gbps, l.rate_gbps().filter(|_| up), entry);
}
