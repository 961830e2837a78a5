//! What names and identities of many nodes say together, in words.

use linerate_fleet::Others;
use linerate_fleet::identity::Remark;
use std::collections::BTreeSet;

/// A sentence for each.
#[must_use]
pub fn words(remarks: &[Remark]) -> Vec<String> {
    remarks.iter().map(said).collect()
}

/// `eth0, eth1`, `mlx5_0 port 1`.
fn listed(all: &BTreeSet<String>) -> String {
    let of =
        |name: &String| name.split_once('/').map_or(name.clone(), |(device, port)| format!("{device} port {port}"));
    all.iter().map(of).collect::<Vec<_>>().join(", ")
}

fn said(remark: &Remark) -> String {
    match remark {
        Remark::SeveralNames { names, at_once: false } => format!("one node was renamed: {}", names.join(", ")),
        Remark::SeveralNames { names, at_once: true } => format!("one node has several names: {}", names.join(", ")),
        Remark::SharedName { name, nodes } => format!("{nodes} different machines have the name {name}"),
        Remark::CopiedMachineId { names } => format!(
            "machines with different boards have the same machine id (a copied image): {}; run systemd-machine-id-setup on all but one",
            names.join(", ")
        ),
        Remark::SeveralInstalls { names, at_once: false } => {
            format!("one board had several system installations, one after the other: {}", names.join(", "))
        }
        Remark::SeveralInstalls { names, at_once: true } => {
            format!("machines that exist at the same time have the same SMBIOS UUID: {}", names.join(", "))
        }
        Remark::OtherAddresses { name, of: Others { hardware, network }, came_back } => {
            let kinds = [("hardware addresses", hardware), ("IPv4 addresses", network)];
            let some = kinds.iter().filter(|(_, all)| !all.is_empty());
            let what: Vec<String> = some.map(|(kind, all)| format!("{kind} ({})", listed(all))).collect();
            let more = if *came_back { "; earlier ones came back: two machines may have the same ids" } else { "" };
            format!("{name} is the same machine, but with other {}{more}", what.join(" and "))
        }
    }
}
