//! A guest's snapshot, composed of its host's: each device that is passed through shows in the guest what it shows on the host, at another address.

use linerate_compose::{Entry, Tree};
use linerate_formats::libvirt::Model;
use linerate_formats::pci::Bdf;
use linerate_vm::guest::{Guest, What};
use std::collections::BTreeMap;

/// What the guest shows of its devices.
#[derive(Clone, Copy, Debug)]
pub struct Shows {
    /// nvidia-smi's answer, with UUIDs and serial numbers.
    pub smi: bool,
    /// RDMA devices, with their GUIDs.
    pub rdma: bool,
    /// Vital Product Data and configuration space.
    pub config: bool,
}

pub const ALL: Shows = Shows { smi: true, rdma: true, config: true };
pub const NOTHING: Shows = Shows { smi: false, rdma: false, config: false };

/// The tree of a guest. `host` is that of its host.
pub fn guest(host: &Tree, guest: &Guest, shows: Shows) -> Tree {
    let mut out = Tree::default();
    let mut homes: Vec<String> = Vec::new();
    let mut moved: BTreeMap<Bdf, (String, String)> = BTreeMap::new();
    for f in &guest.functions {
        let above = match f.above {
            Some(at) => homes[at].clone(),
            None => format!("sys/devices/pci0000:{:02x}", f.bdf.bus),
        };
        let home = format!("{above}/{}", f.bdf);
        homes.push(home.clone());
        out.link_to(format!("sys/bus/pci/devices/{}", f.bdf), &home);
        let node = f.cell.map_or_else(|| "-1".to_owned(), |c| c.to_string());
        match f.what {
            What::Host(Some(bdf)) => {
                let from = home_of(host, bdf);
                moved.insert(bdf, (from.clone(), home.clone()));
                for (path, entry) in host.entries.range(format!("{from}/")..format!("{from}0")) {
                    let leaf = &path[from.len() + 1..];
                    let hidden = (leaf == "config" || leaf == "vpd") && !shows.config
                        || leaf.starts_with("infiniband") && !shows.rdma
                        || leaf.contains("0000:")
                        || leaf == "physfn"
                        || leaf.starts_with("iommu")
                        || leaf.starts_with("virtfn");
                    if !hidden {
                        let to = format!("{home}/{leaf}");
                        match entry {
                            Entry::File(data) if leaf.ends_with("uevent") => {
                                let text = String::from_utf8_lossy(data);
                                out.file(to, text.replace(&bdf.to_string(), &f.bdf.to_string()));
                            }
                            Entry::File(data) => out.file(to, data.clone()),
                            Entry::Link(target) => {
                                let target = target.replace(&bdf.to_string(), &f.bdf.to_string());
                                out.entries.insert(to, Entry::Link(target));
                            }
                            other => {
                                out.entries.insert(to, other.clone());
                            }
                        }
                    }
                }
            }
            What::Host(None) | What::Emulated => out.file(format!("{home}/class"), "0x020000\n"),
            What::Bridge(model) => {
                out.file(format!("{home}/class"), "0x060400\n");
                out.file(format!("{home}/config"), bridge(model));
            }
        }
        out.file(format!("{home}/numa_node"), format!("{node}\n"));
    }
    for (path, entry) in &host.entries {
        let Entry::Link(target) = entry else { continue };
        if shows.rdma && path.starts_with("sys/class/infiniband/") {
            let device = path.rsplit('/').next().unwrap();
            let of =
                moved.values().find(|(from, _)| target.contains(&format!("{}/", from.rsplit('/').next().unwrap())));
            if let Some((_, to)) = of {
                out.link_to(path.clone(), &format!("{to}/infiniband/{device}"));
            }
        }
    }
    if shows.smi {
        // One GPU is one block of the answer: what is passed through keeps its block, with its new address.
        for (path, data) in host.files() {
            let text = String::from_utf8_lossy(data);
            if let Some(dir) = path.strip_suffix("/stdout").filter(|_| text.contains("<nvidia_smi_log>")) {
                for (other, data) in host.files().filter(|(p, _)| p.starts_with(&format!("{dir}/"))) {
                    out.file(other, data);
                }
                out.file(path, smi(&text, guest));
            }
        }
    }
    if let Some(manifest) = host.get("linerate/manifest.json") {
        let mut json: serde_json::Value = serde_json::from_slice(manifest).unwrap();
        if let Some(list) = json["unread"].as_array_mut() {
            list.clear();
        }
        out.file("linerate/manifest.json", json.to_string());
    }
    out
}

fn home_of(host: &Tree, bdf: Bdf) -> String {
    let Some(Entry::Link(target)) = host.entries.get(&format!("sys/bus/pci/devices/{bdf}")) else {
        panic!("{bdf} is not on the host")
    };
    format!("sys/{}", target.trim_start_matches("../"))
}

/// Configuration space of a bridge, as far as its type of port: the header and the PCI Express capability.
fn bridge(model: Model) -> Vec<u8> {
    let mut c = vec![0u8; 256];
    c[..4].copy_from_slice(&[0x36, 0x1b, 0x0c, 0x00]);
    c[6] = 0x10;
    c[9..12].copy_from_slice(&[0x00, 0x04, 0x06]);
    c[0x0e] = 1;
    c[0x34] = 0x40;
    let port = match model {
        Model::UpstreamPort => 5,
        Model::DownstreamPort => 6,
        _ => 4,
    };
    c[0x40..0x43].copy_from_slice(&[0x10, 0x00, 0x02 | port << 4]);
    c
}

fn smi(text: &str, guest: &Guest) -> String {
    let (head, rest) = text.split_once("\t<gpu id=").unwrap();
    let mut blocks = Vec::new();
    for block in rest.trim_end().trim_end_matches("</nvidia_smi_log>").split("\t<gpu id=") {
        let id = block.split('"').nth(1).unwrap();
        let bdf: Bdf = id.parse().unwrap();
        let Some(at) = guest.of_host(bdf).map(|at| guest.functions[at].bdf) else { continue };
        let new = format!("{:08X}:{:02X}:{:02X}.{:X}", at.domain, at.bus, at.device, at.function);
        blocks.push((at, format!("\t<gpu id={}", block.replace(id, &new))));
    }
    blocks.sort();
    let head = head.replace(
        &format!("<attached_gpus>{}<", rest.matches("<gpu id=").count() + 1),
        &format!("<attached_gpus>{}<", blocks.len()),
    );
    head + &blocks.into_iter().map(|b| b.1).collect::<String>() + "</nvidia_smi_log>\n"
}
