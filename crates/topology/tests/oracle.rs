//! NCCL's own answers, cell by cell.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use crate::common;

use common::{env, shared, text};
use linerate_topology::gdr::{Flush, GdrMode};
use linerate_topology::system::{NodeId, NodeKind};
use linerate_topology::xml::Dialect;
use linerate_topology::{Analysis, Assumptions, Config, Document, Input, Nvlink, Paths, System};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Default)]
struct Tally {
    cells: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn eq<T: PartialEq + std::fmt::Debug>(&mut self, what: impl FnOnce() -> String, got: T, want: T) {
        self.cells += 1;
        if got != want {
            self.wrong.push(format!("{}: {got:?}, and NCCL has {want:?}", what()));
        }
    }
}

fn near(a: f32, b: f64) -> bool {
    (f64::from(a) - b).abs() <= 1e-4 * b.abs().max(1.0)
}

/// The assumptions that the oracle's sentences tell.
fn assumptions(answer: &Value) -> Assumptions {
    let mut assume = Assumptions::default();
    for line in answer["filled"].as_array().into_iter().flatten().map(text) {
        let number = |s: &str| s.split_whitespace().find_map(|w| w.trim_end_matches(',').parse::<i32>().ok());
        if let Some(rest) = line.strip_prefix("gpu sm: ") {
            assume.sm = number(rest).unwrap();
        } else if let Some(rest) = line.strip_prefix("NVLink mesh: ") {
            let pairs = rest.split_whitespace().next().unwrap().split(',').map(|p| {
                let n: Vec<u32> = p.split(['-', ':']).map(|n| n.parse().unwrap()).collect();
                (n[0], n[1], n[2])
            });
            assume.nvlink = Nvlink::Mesh(pairs.collect());
        } else if let Some(rest) = line.strip_prefix("NVLink: ") {
            assume.nvlink = Nvlink::Switch(Some(number(rest).unwrap().unsigned_abs()));
        } else if let Some(rest) = line.strip_prefix("NICs (pci class 0x02 without <nic>): names ") {
            assume.nic_prefix = rest.split("N in").next().unwrap().to_owned();
            assume.nic_speed = number(rest.split("speed ").nth(1).unwrap()).unwrap();
        } else if let Some((_, rest)) = line.split_once("from a fake CPUID: ") {
            let parts: Vec<&str> = rest.split(':').collect();
            assume.cpu = (parts[0].to_owned(), parts[1].parse().unwrap(), parts[2].parse().unwrap());
        }
    }
    assume
}

fn config(answer: &Value, input: Input) -> Config {
    let nodes = answer["nNodes"].as_u64().unwrap_or(1) as u32;
    Config { env: env(answer), nodes, input, assume: assumptions(answer), ..Config::default() }
}

fn matrix(t: &mut Tally, name: &str, s: &System, paths: &Paths, compact: &Value) {
    for (key, from, to) in [
        ("gpu_gpu", NodeKind::Gpu, NodeKind::Gpu),
        ("gpu_net", NodeKind::Gpu, NodeKind::Net),
        ("net_gpu", NodeKind::Net, NodeKind::Gpu),
        ("gpu_cpu", NodeKind::Gpu, NodeKind::Cpu),
    ] {
        let Some(rows) = compact[key].as_array() else { continue };
        t.eq(|| format!("{name} {key}: rows"), s.of(from).len(), rows.len());
        for (f, row) in s.of(from).iter().zip(rows) {
            let row = text(row);
            let cells: Vec<&str> = row.split_whitespace().collect();
            t.eq(|| format!("{name} {key}: columns"), s.of(to).len(), cells.len());
            for (g, want) in s.of(to).iter().zip(cells) {
                let p = paths.get(*f, *g).unwrap();
                let got = format!("{}/{:.1}", p.kind, p.bandwidth);
                t.eq(|| format!("{name} {key} {f:?} {g:?}"), got.as_str(), want);
            }
        }
    }
}

fn lists(t: &mut Tally, name: &str, s: &System, paths: &Paths, lists: &Value) {
    let by_name: std::collections::HashMap<String, NodeId> =
        (0..s.nodes().len()).map(|i| (s.nodes()[i].to_string(), NodeId(i as u32))).collect();
    for (key, list) in lists.as_object().into_iter().flatten() {
        for cell in list.as_array().into_iter().flatten() {
            let ends = (by_name.get(&text(&cell["from"])), by_name.get(&text(&cell["to"])));
            let (Some(from), Some(to)) = ends else {
                t.wrong.push(format!("{name} {key}: no {} or {}", cell["from"], cell["to"]));
                continue;
            };
            let Some(p) = paths.get(*from, *to) else {
                t.wrong.push(format!("{name} {key}: no path {} {}", cell["from"], cell["to"]));
                continue;
            };
            let at = || format!("{name} {key} {} {}", cell["from"], cell["to"]);
            t.eq(at, p.kind.name().to_owned(), text(&cell["type"]));
            t.eq(at, near(p.bandwidth, cell["bw"].as_f64().unwrap()), true);
            t.eq(at, u64::from(p.hops), cell["hops"].as_u64().unwrap());
            let via: Vec<String> = paths
                .hops(s, *from, *to)
                .map(|l| format!("-{}({})->{}", l.kind.name(), short(l.bandwidth), s.node(l.to).unwrap()))
                .collect();
            t.eq(at, via.join(" "), text(&cell["via"]));
        }
    }
}

/// C's `%.9g`.
fn short(f: f32) -> String {
    let f = f64::from(f);
    let digits = (9 - (f.abs().max(1.0).log10().floor() as i32 + 1)).max(0) as usize;
    let s = format!("{f:.digits$}");
    if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.').to_owned() } else { s }
}

fn decisions(t: &mut Tally, name: &str, a: &Analysis, answer: &Value) {
    let net_dev = |id: NodeId| a.system.node(id).unwrap().net().unwrap().dev;
    let gdr = answer["gdr"].as_array().unwrap();
    t.eq(|| format!("{name}: gdr"), a.gdr.len(), gdr.len());
    let mode = |m: Option<GdrMode>| m.map_or("Disabled".to_owned(), |m| format!("{m:?}").replace("Pci", "PCI"));
    for (got, want) in a.gdr.iter().zip(gdr) {
        let at = || format!("{name} gdr rank {} net {}", got.rank, got.net_dev);
        t.eq(at, i64::from(got.rank), want["rank"].as_i64().unwrap());
        t.eq(at, i64::from(got.net_dev), want["net_dev"].as_i64().unwrap());
        t.eq(at, mode(got.recv.mode), text(&want["recv_gdr"]));
        t.eq(at, mode(got.send.mode), text(&want["send_gdr"]));
        t.eq(at, got.kind.name().to_owned(), text(&want["path_type"]));
        t.eq(at, i64::from(got.proxy_rank), want["proxy_rank"].as_i64().unwrap());
        let flush = match got.flush {
            Flush::Always => "Always",
            Flush::None => "None",
            Flush::C2c => "C2c",
        };
        t.eq(at, flush.to_lowercase(), text(&want["flush"]).to_lowercase());
    }
    let p2p = answer["p2p"].as_array().unwrap();
    t.eq(|| format!("{name}: p2p"), a.p2p.len(), p2p.len());
    for (got, want) in a.p2p.iter().zip(p2p) {
        let at = || format!("{name} p2p {} {}", got.rank1, got.rank2);
        let int = |k: &str| want[k].as_i64().unwrap();
        t.eq(at, [i64::from(got.rank1), i64::from(got.rank2)], [int("rank1"), int("rank2")]);
        t.eq(at, i64::from(got.allowed), int("p2p"));
        t.eq(at, i64::from(got.read), int("read"));
        t.eq(at, i64::from(got.intermediate.unwrap_or(-1)), int("intermediate_rank"));
        t.eq(at, i64::from(got.net_is_faster), int("net_is_faster"));
        t.eq(at, got.transport.name().to_owned(), text(&want["transport"]));
    }
    let nets = answer["local_net"].as_array().unwrap();
    t.eq(|| format!("{name}: local_net"), a.local_nets.len(), nets.len());
    for (got, want) in a.local_nets.iter().zip(nets) {
        let at = || format!("{name} local_net {}", got.rank);
        let devs = |k: &str| want[k].as_array().unwrap().iter().map(|v| v.as_i64().unwrap() as i32).collect::<Vec<_>>();
        t.eq(at, got.channels.iter().map(|n| net_dev(*n)).collect(), devs("nets_until_repeat"));
        let sixteen: Vec<i32> = (0..16).filter_map(|c| got.of_channel(c)).map(net_dev).collect();
        t.eq(at, sixteen, devs("net_dev_per_channel_0_15"));
        t.eq(at, got.set.iter().map(|n| net_dev(*n)).collect(), devs("local_set"));
        t.eq(at, got.kind.name().to_owned(), text(&want["local_set_type"]));
        t.eq(at, got.count_by_bandwidth as u64, want["netCountByBw"].as_u64().unwrap());
        t.eq(at, near(got.bandwidth, want["netBwByBw"].as_f64().unwrap()), true);
        t.eq(at, near(got.min_bandwidth, want["minNetBw"].as_f64().unwrap()), true);
        let avail = a.gdr.iter().any(|g| g.rank == got.rank && (g.recv.mode.is_some() || g.send.mode.is_some()));
        t.eq(at, avail, want["gdr_avail"].as_bool().unwrap());
    }
    graph(t, name, a, answer);
}

fn graph(t: &mut Tally, name: &str, a: &Analysis, answer: &Value) {
    let nodes = &answer["nodes"];
    let s = &a.system;
    for (list, kind) in
        [("gpus", NodeKind::Gpu), ("nets", NodeKind::Net), ("cpus", NodeKind::Cpu), ("pci_switches", NodeKind::Pci)]
    {
        let got: Vec<String> = s.of(kind).iter().map(|n| s.node(*n).unwrap().to_string()).collect();
        let want: Vec<String> = nodes[list].as_array().into_iter().flatten().map(|n| text(&n["id"])).collect();
        t.eq(|| format!("{name} {list}"), got, want);
    }
    for ((_, net), want) in s.nets().zip(nodes["nets"].as_array().into_iter().flatten()) {
        t.eq(|| format!("{name} net"), net.name.clone().unwrap_or_default(), text(&want["name"]));
        t.eq(|| format!("{name} net bw"), near(net.bandwidth, want["bw"].as_f64().unwrap()), true);
        t.eq(|| format!("{name} asic"), format!("{:#x}", net.asic), text(&want["asic"]));
    }
    let link = |from: String, to: String, kind: &str, bw: f64| format!("{from} {to} {kind} {bw:.3}");
    let mut got: Vec<String> = s
        .links()
        .iter()
        .map(|l| {
            let n = |id| s.node(id).unwrap().to_string();
            link(n(l.from), n(l.to), l.kind.name(), f64::from(l.bandwidth))
        })
        .collect();
    let mut want: Vec<String> = nodes["links"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|l| link(text(&l["from"]), text(&l["to"]), &text(&l["type"]), l["bw"].as_f64().unwrap()))
        .collect();
    // Kinds are listed in another order there; links of one node are compared in order by the paths.
    got.sort();
    want.sort();
    t.cells += want.len();
    if got != want {
        t.wrong.push(format!("{name} links: {got:#?}, and NCCL has {want:#?}"));
    }
}

fn compare(t: &mut Tally, name: &str, xml: &Path, answer: &Value, input: Input) {
    let bytes = fs::read(xml).unwrap();
    let refused = answer["rc"].as_i64() != Some(0);
    let result = Document::parse(&bytes, Dialect::Nccl)
        .map_err(|e| e.to_string())
        .and_then(|d| Analysis::new(&d, &config(answer, input)).map_err(|e| e.to_string()));
    t.cells += 1;
    let a = match result {
        Ok(_) if refused => return t.wrong.push(format!("{name}: judged, and NCCL stops")),
        Err(e) if !refused => return t.wrong.push(format!("{name}: {e}, and NCCL judges it")),
        Err(_) => return,
        Ok(a) => a,
    };
    matrix(t, &format!("{name} raw"), &a.system, &a.raw, &answer["raw_compact"]);
    matrix(t, &format!("{name} final"), &a.system, &a.paths, &answer["final_compact"]);
    let (s, p) = a.whole.as_ref().map_or((&a.system, &a.paths), |w| (&w.system, &w.paths));
    matrix(t, &format!("{name} pretrim"), s, p, &answer["pretrim"]);
    lists(t, &format!("{name} raw"), &a.system, &a.raw, &answer["paths_raw"]);
    lists(t, &format!("{name} final"), &a.system, &a.paths, &answer["paths_final"]);
    decisions(t, name, &a, answer);
    if input == Input::File {
        let fused = xml.with_extension("fused.xml");
        if let (Ok(want), Some("")) = (fs::read(fused), answer["env"]["NCCL_HOSTID"].as_str().map(|_| "")) {
            let want = Document::parse(&want, Dialect::Nccl).unwrap();
            t.eq(|| format!("{name}: fused document"), shape(&a.fused().system), shape(&want.system));
        }
    }
}

/// What of a document decides: without the host's hash, and what an x86 machine fills in for another.
fn shape(e: &linerate_topology::xml::Element) -> String {
    let skip = ["host_hash", "affinity", "latency"];
    let arm = e.get("arch").is_some_and(|a| a == "arm64");
    let mut keys: Vec<String> = e
        .attributes
        .iter()
        .filter(|(k, _)| {
            !(skip.contains(&k.as_ref()) || arm && ["vendor", "familyid", "modelid"].contains(&k.as_ref()))
        })
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    keys.sort();
    let inside: Vec<String> = e.children.iter().map(shape).collect();
    format!("{}[{}]({})", e.name, keys.join(" "), inside.join(""))
}

fn answers(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.to_string_lossy().ends_with(".oracle.json"));
    files.sort();
    files
}

fn run(group: &str, xml: impl Fn(&str) -> Option<PathBuf>, input: Input) {
    let Some(root) = shared("nccl-oracle") else { return };
    let mut t = Tally::default();
    let mut files = 0;
    for file in answers(&root.join(group)) {
        let name = file.file_name().unwrap().to_string_lossy().replace(".oracle.json", "");
        let Some(xml) = xml(&name).map(|x| root.join(x)).filter(|x| x.exists()) else { continue };
        let answer: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        files += 1;
        let label = format!("{group}/{name}");
        compare(&mut t, &label, &xml, &answer, input);
    }
    println!("{group} {input:?}: {files} files, {} cells, {} wrong", t.cells, t.wrong.len());
    for w in t.wrong.iter().take(12) {
        println!("  {w}");
    }
    assert!(t.wrong.is_empty(), "{} of {} cells differ", t.wrong.len(), t.cells);
    assert!(files > 0, "no answers in {group}");
}

fn stem(name: &str) -> &str {
    name.split('.').next().unwrap()
}

#[test]
fn fused_documents() {
    run("", |n| Some(format!("{}.fused.xml", stem(n)).into()), Input::Fused);
}

#[test]
fn fused_documents_are_filled_to_themselves() {
    run("", |n| Some(format!("{}.fused.xml", stem(n)).into()), Input::File);
}

#[test]
fn vendor_files() {
    run("", |n| Some(format!("{}.xml", stem(n)).into()), Input::File);
}

#[test]
fn quirks() {
    run("quirks", |n| Some(format!("quirks/{n}.xml").into()), Input::File);
}

#[test]
fn environments() {
    run("env", |n| Some(format!("{}.xml", stem(n)).into()), Input::File);
}

#[test]
fn sysfs() {
    run("sysfs", |n| Some(format!("sysfs/{}.fused.xml", stem(n)).into()), Input::Fused);
}
