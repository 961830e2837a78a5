//! Network interfaces.

use crate::compose::Plan;
use crate::description::{Description, Fabric, Nics};
use crate::function::Function;
use crate::models::{self, NicModel};
use crate::seed::Seed;
use crate::{DescribeError, Tree, glob, patch};

/// A port of a NIC: one network interface; RDMA devices are made of one or two.
pub(crate) struct NicPort {
    /// Index of the function.
    pub(crate) function: usize,
    pub(crate) model: NicModel,
    pub(crate) fabric: Fabric,
    /// `mlx5_0`, `rdmap79s0`, `bnxt_re0`.
    pub(crate) rdma: String,
    /// 1-based port of the RDMA device.
    pub(crate) port: u8,
    /// Empty where there is none.
    pub(crate) netdev: String,
    pub(crate) guid: u64,
    /// `sys_image_guid`: that of the card.
    pub(crate) image: u64,
    pub(crate) mac: u64,
    pub(crate) mtu: u32,
    pub(crate) speed: i64,
    pub(crate) operstate: String,
    /// Last byte of the composed IPv4 address.
    pub(crate) number: usize,
}

/// Ports of all NICs whose driver is loaded, in the order of their addresses.
pub(crate) fn ports(d: &Description, functions: &[Function], seed: Seed) -> Vec<NicPort> {
    let mut order: Vec<usize> = (0..functions.len()).collect();
    order.sort_by_key(|i| functions.get(*i).map(|f| f.bdf));
    let mut out = Vec::new();
    let (mut devices, mut broadcom, mut ib, mut eth) = (0_usize, 0_usize, 0, 2);
    for i in order {
        let Some(f) = functions.get(i) else { continue };
        let model = f.model.and_then(models::nic_model);
        let Some(model) = model.filter(|m| f.driver.as_deref() == Some(m.driver)) else { continue };
        let broadcoms = model.driver == "bnxt_en";
        let count = if broadcoms { &mut broadcom } else { &mut devices };
        let rdma = match model.driver {
            _ if !model.rdma => String::new(),
            "mlx4_core" => format!("mlx4_{count}"),
            "bnxt_en" => format!("bnxt_re{count}"),
            "ice" => format!("irdma{count}"),
            // The name that udev gives by the address.
            "efa" => format!("rdmap{}s{}", f.bdf.bus, f.bdf.device),
            _ => format!("mlx5_{count}"),
        };
        *count += usize::from(model.rdma);
        let fabric = d
            .rdma
            .iter()
            .filter(|(key, _)| glob::name(key, &rdma))
            .find_map(|(_, p)| p.link_layer)
            .unwrap_or(model.fabric);
        let guid = seed.guid(0xa0_88c2, &format!("{rdma}/{}", f.names.first().map_or("", String::as_str)));
        let card = match f.model {
            Some(Nics::ConnectX7x4) => "card".to_owned(),
            Some(Nics::ConnectX8 | Nics::ConnectX8Roce | Nics::NvlinkBridge) => {
                format!("card/{}", f.names.first().and_then(|n| n.split('.').next()).unwrap_or_default())
            }
            _ => String::new(),
        };
        let image = if card.is_empty() { guid } else { seed.guid(0xa0_88c2, &card) };
        for port in 1..=model.ports {
            if fabric == Fabric::Unspecified || f.model == Some(Nics::NvlinkBridge) {
                out.push(NicPort {
                    function: i,
                    model: model.clone(),
                    fabric,
                    rdma: rdma.clone(),
                    port,
                    netdev: String::new(),
                    guid,
                    image,
                    mac: guid & 0xffff_ffff_ffff,
                    mtu: 9000,
                    speed: model.mbps,
                    operstate: "up".into(),
                    number: out.len() + 1,
                });
                continue;
            }
            let counter = if fabric == Fabric::InfiniBand { &mut ib } else { &mut eth };
            let netdev = format!("{}{counter}", if fabric == Fabric::InfiniBand { "ib" } else { "eth" });
            *counter += 1;
            let ethernet = fabric == Fabric::Ethernet;
            out.push(NicPort {
                function: i,
                model: model.clone(),
                fabric,
                rdma: rdma.clone(),
                port,
                netdev,
                guid,
                image,
                mac: (0xa0_88c2 << 24) | ((guid + u64::from(port - 1)) & 0xff_ffff),
                mtu: if ethernet { 9000 } else { 4092 },
                speed: model.mbps,
                operstate: "up".into(),
                number: out.len() + 1,
            });
        }
    }
    bonds(d, &mut out);
    for p in &mut out {
        for (_, patch) in d.net.iter().filter(|(key, _)| glob::name(key, &p.netdev)) {
            p.mtu = patch.mtu.unwrap_or(p.mtu);
            p.speed = patch.speed.unwrap_or(p.speed);
            if let Some(state) = &patch.operstate {
                p.operstate.clone_from(state);
            }
        }
    }
    out
}

/// Both ports of a card in one bond: one RDMA device at the first function, none at the second (RoCE LAG of mlx5).
fn bonds(d: &Description, ports: &mut [NicPort]) {
    for (n, bond) in d.bond.values().enumerate() {
        let mut members: Vec<&mut NicPort> = ports.iter_mut().filter(|p| bond.members.contains(&p.netdev)).collect();
        if let [first, rest @ ..] = members.as_mut_slice()
            && !rest.is_empty()
        {
            first.rdma = format!("mlx5_bond_{n}");
            rest.iter_mut().for_each(|p| p.rdma = String::new());
        }
    }
}

/// The bonds themselves, and what their members show of them.
fn write_bonds(plan: &Plan, tree: &mut Tree, index: u32) -> Result<(), DescribeError> {
    for (index, (name, bond)) in (index..).zip(&plan.d.bond) {
        let home = format!("sys/devices/virtual/net/{name}");
        let mut members = Vec::new();
        for member in &bond.members {
            let Some(port) = plan.ports.iter().find(|p| p.netdev == *member) else {
                return Err(patch::unknown("bond", member, plan.ports.iter().map(|p| p.netdev.clone())));
            };
            let Some(path) = plan.paths.get(port.function) else { continue };
            tree.link_to(format!("{path}/net/{member}/master"), &home);
            members.push(port);
        }
        let Some(first) = members.first() else { continue };
        for (file, v) in [
            ("mtu", first.mtu.to_string()),
            ("speed", members.iter().map(|p| p.speed).sum::<i64>().to_string()),
            ("operstate", "up".to_owned()),
            ("carrier", "1".to_owned()),
            ("duplex", "full".to_owned()),
            ("address", mac(first.mac)),
            ("type", "1".to_owned()),
            ("ifindex", index.to_string()),
            ("flags", "0x1403".to_owned()),
            ("bonding/mode", bond.mode.clone()),
            ("bonding/slaves", bond.members.join(" ")),
        ] {
            tree.value(format!("{home}/{file}"), v);
        }
        tree.link_to(format!("{home}/subsystem"), "sys/class/net");
        tree.link_to(format!("sys/class/net/{name}"), &home);
    }
    Ok(())
}

pub(crate) fn write(plan: &Plan, tree: &mut Tree) -> Result<(), DescribeError> {
    let mut known = Vec::new();
    let mut index = 2;
    for (_, f, path) in plan.each() {
        let Some(n) = f.names.iter().find_map(|n| n.strip_prefix("mgmt")?.parse::<u32>().ok()) else { continue };
        let name = format!("eth{n}");
        let patch =
            plan.d.net.iter().find(|(key, _)| glob::name(key, &name)).map(|(_, p)| p.clone()).unwrap_or_default();
        let up = patch.operstate.clone().unwrap_or_else(|| if n == 0 { "up" } else { "down" }.into());
        let interface = Interface {
            name: &name,
            path,
            mtu: patch.mtu.unwrap_or(1500),
            speed: patch.speed.unwrap_or(if up == "up" { 1000 } else { -1 }),
            operstate: &up,
            address: mac(0x5c_6f69 << 24 | (plan.seed.bits(&name) & 0xff_ffff)),
            kind: 1,
            port: 0,
            index,
        };
        interface.write(tree);
        index += 1;
        known.push(name);
    }
    for p in &plan.ports {
        let Some(path) = plan.paths.get(p.function).filter(|_| !p.netdev.is_empty()) else { continue };
        let infiniband = p.fabric == Fabric::InfiniBand;
        let address = if infiniband {
            let guid: Vec<String> = p.guid.to_be_bytes().iter().map(|b| format!("{b:02x}")).collect();
            format!("00:00:10:29:fe:80:00:00:00:00:00:00:{}", guid.join(":"))
        } else {
            mac(p.mac)
        };
        let interface = Interface {
            name: &p.netdev,
            path,
            mtu: p.mtu,
            speed: if p.operstate == "up" { p.speed } else { -1 },
            operstate: &p.operstate,
            address,
            kind: if infiniband { 32 } else { 1 },
            port: p.port - 1,
            index,
        };
        interface.write(tree);
        index += 1;
        known.push(p.netdev.clone());
    }
    write_bonds(plan, tree, index)?;
    let unused = plan.d.net.keys().find(|key| !known.iter().any(|n| glob::name(key, n)));
    match unused {
        Some(key) => Err(patch::unknown("net", key, known.into_iter())),
        None => Ok(()),
    }
}

fn mac(v: u64) -> String {
    let bytes = v.to_be_bytes();
    bytes.iter().skip(2).map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(":")
}

struct Interface<'a> {
    name: &'a str,
    path: &'a str,
    mtu: u32,
    speed: i64,
    operstate: &'a str,
    address: String,
    kind: u16,
    port: u8,
    index: u32,
}

impl Interface<'_> {
    fn write(&self, tree: &mut Tree) {
        let home = format!("{}/net/{}", self.path, self.name);
        let up = self.operstate == "up";
        for (name, v) in [
            ("mtu", self.mtu.to_string()),
            ("speed", self.speed.to_string()),
            ("operstate", self.operstate.to_owned()),
            ("carrier", u8::from(up).to_string()),
            ("duplex", if up { "full" } else { "unknown" }.to_owned()),
            ("address", self.address.clone()),
            ("type", self.kind.to_string()),
            ("ifindex", self.index.to_string()),
            ("dev_id", format!("0x{:x}", if self.kind == 32 { self.port } else { 0 })),
            ("dev_port", self.port.to_string()),
            ("flags", if up { "0x1003" } else { "0x1002" }.to_owned()),
        ] {
            tree.value(format!("{home}/{name}"), v);
        }
        tree.link_to(format!("{home}/device"), self.path);
        tree.link_to(format!("{home}/subsystem"), "sys/class/net");
        tree.link_to(format!("sys/class/net/{}", self.name), &home);
    }
}
