//! What texts say of the devices of their node: two that say different things of one device are of two nodes, or of two times.

use linerate_formats::pci::lspci;
use linerate_formats::{Kind, ibstat, ibv_devinfo, nvidia_smi};
use std::collections::HashMap;

/// Claims at most: beyond it no more are compared.
const MOST: usize = 65_536;

/// What was said: of which device, which property, and what it is.
#[derive(Default)]
pub(super) struct Claims(HashMap<(String, &'static str), String>);

impl Claims {
    /// Takes what a text says; false where it says something else than one before it.
    pub(super) fn take(&mut self, kind: Kind, bytes: &[u8]) -> bool {
        let said = match kind {
            Kind::Lspci => pci(bytes),
            Kind::Ibstat => ibstat::parse(bytes).into_iter().map(|ca| guid(ca.name, ca.node_guid)).collect(),
            Kind::IbvDevinfo => {
                ibv_devinfo::parse(bytes).into_iter().map(|hca| guid(hca.name, hca.node_guid)).collect()
            }
            Kind::NvidiaSmiQuery => gpus(nvidia_smi::parse_query(bytes)),
            Kind::NvidiaSmiXml => nvidia_smi::parse_xml(bytes).map(gpus).unwrap_or_default(),
            _ => Vec::new(),
        };
        let mut agree = true;
        for (of, what, value) in said {
            let Some(value) = value else { continue };
            match self.0.get(&(of.clone(), what)) {
                Some(before) => agree &= *before == value,
                None if self.0.len() < MOST => {
                    self.0.insert((of, what), value);
                }
                None => {}
            }
        }
        agree
    }
}

/// Of which device, which property, and what it is where that is shown.
type Claim = (String, &'static str, Option<String>);

fn pci(bytes: &[u8]) -> Vec<Claim> {
    let mut out = Vec::new();
    for d in lspci::parse(bytes).unwrap_or_default() {
        let pair = |a: Option<u16>, b: Option<u16>| a.zip(b).map(|(a, b)| format!("{a:04x}:{b:04x}"));
        let of = d.bdf.to_string();
        out.push((of.clone(), "device", pair(d.vendor, d.device)));
        out.push((of.clone(), "subsystem", pair(d.subsystem_vendor, d.subsystem_device)));
        out.push((of.clone(), "NUMA node", d.numa_node.map(|n| n.to_string())));
        out.push((of, "IOMMU group", d.iommu_group.map(|n| n.to_string())));
    }
    out
}

/// `0xb83fd20300ab1234` and `b83f:d203:00ab:1234` are one GUID.
fn guid(name: String, guid: Option<linerate_formats::At<String>>) -> Claim {
    let bare = |g: String| {
        g.trim_start_matches("0x").chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
    };
    (name, "GUID", guid.map(|g| bare(g.value)))
}

fn gpus(q: nvidia_smi::Query) -> Vec<Claim> {
    q.gpus.into_iter().map(|g| (g.bus_id.to_ascii_uppercase(), "UUID", g.uuid.map(|u| u.value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree(texts: &[(Kind, &str)]) -> bool {
        let mut all = Claims::default();
        texts.iter().all(|(kind, text)| all.take(*kind, text.as_bytes()))
    }

    #[test]
    fn what_is_said_twice_must_be_the_same() {
        let a = "18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330]\n\tNUMA node: 0\n";
        let b = "18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330]\n\tNUMA node: 1\n";
        let names = "18:00.0 3D controller: NVIDIA Corporation GH100\n";
        assert!(agree(&[(Kind::Lspci, a), (Kind::Lspci, a), (Kind::Lspci, names)]));
        assert!(!agree(&[(Kind::Lspci, a), (Kind::Lspci, b)]));
        let ca = |guid: &str| format!("CA 'mlx5_0'\n\tCA type: MT4129\n\tNode GUID: {guid}\n");
        let hca = "hca_id:\tmlx5_0\n\tnode_guid:\t\tb83f:d203:00ab:1234\n";
        assert!(agree(&[(Kind::Ibstat, &ca("0xb83fd20300ab1234")), (Kind::IbvDevinfo, hca)]));
        assert!(!agree(&[(Kind::Ibstat, &ca("0xb83fd20300ab9999")), (Kind::IbvDevinfo, hca)]));
    }
}
