//! What names and identities of many nodes say together, in words.

use linerate_fleet::identity::Remark;

/// A sentence for each.
#[must_use]
pub fn words(remarks: &[Remark]) -> Vec<String> {
    remarks.iter().map(said).collect()
}

fn said(remark: &Remark) -> String {
    match remark {
        Remark::SeveralNames { names, at_once: false } => format!("one node was renamed: {}", names.join(", ")),
        Remark::SeveralNames { names, at_once: true } => format!("one node has several names: {}", names.join(", ")),
        Remark::SharedName { name, nodes } => format!("{nodes} different machines are called {name}"),
        Remark::CopiedMachineId { names } => format!(
            "machines with different boards have the same machine id (a copied image): {}; run systemd-machine-id-setup on all but one",
            names.join(", ")
        ),
        Remark::SeveralInstalls { names, at_once: false } => {
            format!("one board had several installed systems, one after the other: {}", names.join(", "))
        }
        Remark::SeveralInstalls { names, at_once: true } => {
            format!("machines that exist at the same time have the same SMBIOS UUID: {}", names.join(", "))
        }
    }
}
