//! Configuration space.

use super::Sim;
use linerate_formats::pci::Bdf;
use linerate_formats::pci::config::set_register;
use linerate_snapshot::{EntryKind, Lookup};

/// Where the bytes of a function are.
fn path(function: Bdf) -> String {
    format!("sys/bus/pci/devices/{function}/config")
}

/// The bytes of a function as they would be.
pub(super) fn bytes(sim: &Sim<'_>, function: Bdf) -> Option<Vec<u8>> {
    match sim.s.resolve(&path(function)) {
        Lookup::Found(id) if *sim.s.kind(id) == EntryKind::File => Some(sim.s.data(id).to_vec()),
        _ => None,
    }
}

/// Changes the bytes of a function. `None`: they are not shown, or do not take the change.
pub(super) fn change(sim: &mut Sim<'_>, function: Bdf, how: impl FnOnce(&mut Vec<u8>) -> Option<()>) -> Option<()> {
    let mut bytes = bytes(sim, function)?;
    how(&mut bytes)?;
    sim.s.set_file(&path(function), &bytes).map(|_| ())
}

/// Bits of a register, as `setpci` writes them.
pub(super) fn write(sim: &mut Sim<'_>, function: Bdf, register: &str, value: u16, mask: u16) {
    if change(sim, function, |b| set_register(b, register, value, mask)).is_none() {
        sim.cannot(format!("{register} of {function}: the source shows no bytes of its configuration space"));
    }
}
