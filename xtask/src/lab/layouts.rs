//! `cargo xtask lab layouts`: guests with the PCI trees that `linerate vm layout` writes. A kernel boots in each, and what linerate collects there has each device
//! where the layout says, on its node; by that tree NCCL, as linerate rebuilds it, concludes what it concludes on the host.

use super::options::Options;
use super::scenario::{self, Scenario};
use super::{Paths, Result, run, setup};
use crate::examples;
use linerate_compose::Description;
use linerate_formats::libvirt::{self, Model};
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_topology::from_node::{FromNode, from_node};
use linerate_vm::assumed::with_nics;
use linerate_vm::fabric::Fabric;
use linerate_vm::guest::{Guest, What};
use linerate_vm::layout::{Controller, Layout, Wishes};
use linerate_vm::pairs::{By, Pair};
use linerate_vm::same::in_guest;
use linerate_vm::{choose, guest, host, layout, running, split, write};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Instant;

/// Hosts: below `lab`, without their ending. The one that `--ci` takes comes first.
const HOSTS: &[&str] = &[
    "layouts/asymmetrical",
    "nodes/healthy/epyc-2s-nps4",
    "layouts/pairs",
    "layouts/four-nics",
    "layouts/sixteen",
    "layouts/nested",
    "nodes/healthy/hgx-h100-supermicro-8125gs",
    "nodes/healthy/epyc-2s-nps1-asus-esc8000a",
    "nodes/healthy-vm-host",
];
const CI: usize = 1;
/// OVMF of Debian's package ovmf.
const OVMF: &str = "/usr/share/OVMF/OVMF_CODE_4M.fd";
/// Bytes of a GPU's largest BAR; emulated processors have addresses for few of them.
const BAR: u64 = 64 << 30;
/// Into how many guests a host is split.
const PARTS: [u32; 3] = [1, 2, 4];

/// A guest to be booted.
struct Case {
    name: String,
    host: Rc<FromNode>,
    layout: Layout,
    predicted: Guest,
    scenario: Scenario,
    /// The device with a BAR of [`BAR`] bytes.
    large: Option<Bdf>,
}

/// Boots them and judges.
pub(super) fn main(paths: &Paths, options: &Options) -> Result<ExitCode> {
    if let Some(why) = setup::missing(paths, "6.1") {
        eprintln!("lab: layouts are SKIPPED: {why}");
        return Ok(ExitCode::from(2));
    }
    let began = Instant::now();
    let linerate = run::binary(paths, options)?;
    let linerate = std::path::absolute(&linerate).map_err(|e| format!("{}: {e}", linerate.display()))?;
    let (stop, patience) = (run::stop()?, options.limits());
    let (mut guests, mut failed, mut devices, mut cells) = (0, 0, 0, 0);
    for name in HOSTS.iter().take(if options.ci { CI } else { HOSTS.len() }) {
        for case in cases(paths, name)?.iter().filter(|c| options.wants(&c.name)) {
            let (started, out) = (Instant::now(), paths.out(&case.scenario.name));
            let booted = run::boot(paths, options, patience, &case.scenario, Some(&linerate), &out, &stop);
            let judged = booted.and_then(|()| judge(case, &out.join("linerate/snapshot.tar.zst")));
            guests += 1;
            match judged {
                Ok(equal) => {
                    devices += case.layout.devices.len();
                    cells += equal;
                    let took = started.elapsed().as_secs_f64();
                    println!(
                        "ok   {:<44} {} devices, {equal} conclusions, {took:.0} s",
                        case.name,
                        case.layout.devices.len()
                    );
                }
                Err(why) => {
                    failed += 1;
                    println!("FAIL {}: {why}", case.name);
                }
            }
        }
    }
    println!(
        "layouts: {guests} guests, {failed} failed; {devices} devices where they are to be, {cells} conclusions equal; {:.0} s",
        began.elapsed().as_secs_f64()
    );
    if guests == 0 {
        return Err("lab: no layout has such a name".to_owned());
    }
    Ok(ExitCode::from(u8::from(failed > 0)))
}

/// The guests of a host: whole, and in parts where that is legal.
fn cases(paths: &Paths, name: &str) -> Result<Vec<Case>> {
    let file = paths.root.join("lab").join(format!("{name}.toml"));
    let tree = Description::load(&file).and_then(|d| d.compose()).map_err(|e| format!("{}: {e}", file.display()))?;
    let archive = examples::archive(&tree, &mut examples::Taken::default())?;
    let snapshot = linerate_snapshot::load_bytes(&archive, "host").map_err(|e| format!("{name}: {e}"))?;
    let node = Node::decode_as(&snapshot, Some(Role::BareMetal));
    let said = |e: &dyn std::fmt::Display| format!("{name}: {e}");
    let chosen = choose(&node, "all").map_err(|e| said(&e))?;
    let short = name.rsplit('/').next().unwrap_or(name);
    let on_host = Rc::new(from_node(&with_nics(&node).0).map_err(|e| said(&e))?);
    let mut out = Vec::new();
    for parts in PARTS {
        let Ok(all) = split::split(&node, &chosen, parts, &Fabric::Said) else { continue };
        for (part, functions) in all.iter().enumerate() {
            let roots = host::roots(&node, functions).map_err(|e| said(&e))?;
            let wishes = Wishes {
                name: "guest".to_owned(),
                memory_mib: Some(64 << 10),
                vcpus: Some(16),
                page_kib: None,
                has_cliques: false,
                has_iommu: false,
                taken: linerate_vm::taken::Taken::default(),
            };
            let layout = layout(&node, &roots, &wishes).map_err(|e| said(&e))?;
            let xml = write::domain(&layout).map_err(|e| said(&e))?;
            let predicted = guest(&libvirt::parse(xml.as_bytes()).map_err(|e| said(&e))?);
            // UEFI, as the domain has it, where it is installed: whole hosts, as it takes long.
            let ovmf = Some(Path::new(OVMF)).filter(|code| parts == 1 && code.is_file());
            for ovmf in std::iter::once(None).chain(ovmf.map(Some)) {
                let name = format!("{short}-{}-of-{parts}{}", part + 1, if ovmf.is_some() { "-ovmf" } else { "" });
                // The first GPU there gets a BAR as large as a GPU's.
                let first = || layout.devices.iter().find(|d| is_gpu(&node, d.host));
                let large = ovmf.and_then(|_| first()).map(|d| d.guest);
                let scenario = scenario(&node, &layout, &name, ovmf, large)?;
                let (host, layout, predicted) = (Rc::clone(&on_host), layout.clone(), predicted.clone());
                out.push(Case { name, host, layout, predicted, scenario, large });
            }
        }
    }
    Ok(out)
}

/// The layout as a machine of the lab: emulated devices in the place of the host's.
fn scenario(node: &Node<'_>, layout: &Layout, name: &str, ovmf: Option<&Path>, large: Option<Bdf>) -> Result<Scenario> {
    let mut devices: Vec<String> = layout.controllers.iter().map(|c| port(layout, c)).collect();
    for d in &layout.devices {
        let body = match d.guest {
            guest if large == Some(guest) => format!("pci-testdev,membar={}G", BAR >> 30),
            _ if is_gpu(node, d.host) => "gpu".to_owned(),
            _ => "hca".to_owned(),
        };
        let functions = if d.multifunction { ",multifunction=on" } else { "" };
        devices.push(format!("{body},bus=c{},addr=0x0.{:x}{functions}", d.above, d.guest.function));
    }
    let mut machine = toml::toml! {
        bare_metal = true
        memory = 1024
        cpus = 8
    };
    if let Some(code) = ovmf {
        // The window that the layout gives for such a BAR.
        let window = (2 * BAR).next_power_of_two();
        let options = [
            format!("-drive if=pflash,unit=0,format=raw,readonly=on,file={}", code.display()),
            format!("-fw_cfg name=opt/ovmf/X-PciMmio64Mb,string={}", window >> 20),
            format!("-global q35-pcihost.pci-hole64-size={}K", window >> 10),
        ];
        machine.insert("options".to_owned(), options.map(toml::Value::from).to_vec().into());
    }
    machine.insert("numa".to_owned(), toml::Value::Integer(layout.cells.len().max(1) as i64));
    let mut table = toml::Table::new();
    table.insert("proves".to_owned(), format!("The guest {name} has the tree of its layout.").into());
    table.insert("devices".to_owned(), devices.into());
    // SeaBIOS takes its time with eight nodes where everything is emulated.
    table.insert("boot_timeout".to_owned(), 240.into());
    table.insert("timeout".to_owned(), 480.into());
    table.insert("machine".to_owned(), machine.into());
    let first = layout.devices.first().map(|d| d.guest.to_string()).unwrap_or_default();
    let mut fact = toml::toml! {
        run = "ls /sys/bus/pci/devices"
    };
    fact.insert("has".to_owned(), first.replace('.', "\\.").into());
    let mut expect = toml::toml! {
        [[verdict]]
        rule = "numa/node-unknown"
        status = "pass"
    };
    expect.insert("command".to_owned(), toml::Value::Array(vec![fact.into()]));
    table.insert("expect".to_owned(), expect.into());
    scenario::of(&format!("layout-{name}"), table)
}

fn is_gpu(node: &Node<'_>, host: Bdf) -> bool {
    node.pci.find(host).is_some_and(|id| node.pci.get(id).kind.is_gpu())
}

fn port(layout: &Layout, c: &Controller) -> String {
    let Controller { index, above, slot, .. } = c;
    match c.model {
        Model::PcieExpander => {
            let node = c.cell.filter(|_| layout.cells.len() > 1).map(|n| format!(",numa_node={n}")).unwrap_or_default();
            format!("pxb,id=c{index},bus_nr={}{node},bus=pcie.0,addr={slot:#x}", c.bus_number.unwrap_or_default())
        }
        Model::UpstreamPort => format!("upstream,id=c{index},bus=c{above},addr=0x0"),
        // As the layout has it: OVMF keeps room for each port that takes devices later, and has not enough for the ports of eight roots.
        Model::DownstreamPort => format!("downstream,id=c{index},bus=c{above},addr={slot:#x},hotplug=off"),
        _ => format!("root-port,id=c{index},bus=c{above},addr={slot:#x},hotplug=off"),
    }
}

/// How many conclusions are equal; why the guest is not as the layout says.
fn judge(case: &Case, snapshot: &Path) -> Result<usize> {
    let bytes = std::fs::read(snapshot).map_err(|e| format!("{}: {e}", snapshot.display()))?;
    let snapshot = linerate_snapshot::load_bytes(&bytes, "guest").map_err(|e| e.to_string())?;
    let node = Node::decode_as(&snapshot, Some(Role::VmGuest));
    for (at, f) in case.predicted.functions.iter().enumerate() {
        if !matches!(f.what, What::Host(_)) {
            continue;
        }
        let Some(id) = node.pci.find(f.bdf) else { return Err(format!("{} is not in the guest", f.bdf)) };
        let shows: Vec<Bdf> = node.pci.ancestors(id).0.iter().map(|a| node.pci.get(*a).bdf).collect();
        let wants: Vec<Bdf> =
            case.predicted.above(at).filter_map(|a| case.predicted.functions.get(a)).map(|a| a.bdf).collect();
        if shows != wants {
            return Err(format!("{} is below {shows:?}, and is to be below {wants:?}", f.bdf));
        }
        let numa = node.pci.get(id).numa_node.known().and_then(|n| u32::try_from(*n).ok());
        if case.layout.cells.len() > 1 && numa != f.cell {
            return Err(format!("{} is on node {numa:?}, and is to be on {:?}", f.bdf, f.cell));
        }
    }
    if let Some(large) = case.large {
        let bars = node.pci.find(large).map(|id| node.pci.get(id).bars.list.clone()).unwrap_or_default();
        if !bars.iter().any(|b| b.size == BAR && b.address.is_some_and(|a| a >= 1 << 32)) {
            return Err(format!("the firmware gave {large} no room for a BAR of {} GiB: {bars:?}", BAR >> 30));
        }
    }
    let pairs: Vec<Pair> =
        case.layout.devices.iter().map(|d| Pair { host: d.host, guest: d.guest, by: By::Domain }).collect();
    let chosen: BTreeSet<Bdf> = case.layout.devices.iter().map(|d| d.host).collect();
    match in_guest(&case.host, &chosen, &running(&node, &pairs)).1 {
        Ok(compared) => match compared.with_file.differing.first() {
            None => Ok(compared.with_file.cells),
            Some(d) => Err(format!(
                "{} conclusions differ: {} {}: {} on the host, {} in the guest",
                compared.with_file.differing.len(),
                d.pair,
                d.what,
                d.before,
                d.after
            )),
        },
        Err(linerate_topology::Error::NoGpu) => Ok(0),
        Err(e) => Err(e.to_string()),
    }
}
