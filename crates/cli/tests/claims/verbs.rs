//! What each verb says of a node, by subject. Numbers, kinds and codes: no sentences.

use crate::shown::{by_drawing, by_explain, by_page, env_judgements, is_gpu, nearest};
use crate::table::Table;
use linerate_doctor::answer::{Answer, Confidence};
use linerate_doctor::{NodeGiven, Observer, Reader, conclude};
use linerate_env::NodeFacts;
use linerate_node::Node;
use linerate_node::pci::{DataPath, Distance};
use linerate_node::transport::BuiltIn;
use linerate_remedy::plan;
use linerate_report::topo::{Topo, json};
use linerate_rules::{Audit, Severity, Status, Verdict, audit, rules};
use linerate_snapshot::{OutputKind, Snapshot};
use linerate_topology::ceiling::{Extra, bottleneck, known_ceilings};
use linerate_topology::from_node::{Matrix, extra, from_node, is_guest};
use linerate_topology::{Analysis, Config, Input, Search};
use serde_json::Value;

pub(crate) fn ask(s: &Snapshot, t: &mut Table) {
    let node = Node::decode(s);
    let judged = audit(&node, s, rules());
    by_audit(&node, &judged, t);
    by_topo(&node, s, &judged, t);
    by_env(&node, t);
    let given = [NodeGiven { name: "node".into(), snapshot: s }];
    let answer = conclude(&Observer::default(), &given);
    by_doctor(&answer, &judged, t);
    by_explain(&judged, &answer, t);
    by_page(&judged, t);
    kernel_log(s, &judged, t);
    by_plan(s, &node, &judged, t);
    by_bench(s, t);
}

fn worst(a: &Audit, rule: &str) -> Option<Severity> {
    a.with(Status::Fail).filter(|v| v.rule.id == rule).map(Verdict::severity).max()
}

/// GPUs that the driver does not have are no GPUs to NCCL.
fn all_driven(a: &Audit) -> bool {
    let seen = a.with(Status::Pass).any(|v| v.rule.id == "gpumem/gpu-query-agrees");
    seen && worst(a, "gpumem/driver-loaded").is_none()
}

fn rate(gbps: f64) -> String {
    format!("{gbps:.1} Gb/s")
}

fn by_audit(node: &Node<'_>, a: &Audit, t: &mut Table) {
    for v in a.with(Status::Fail).filter(|v| v.severity() > Severity::Info) {
        t.say("audit", format!("{} fails", v.rule.id), "yes");
    }
    for rule in rules() {
        if let Some(severity) = worst(a, rule.id) {
            t.say("audit", format!("severity of {}", rule.id), severity.name());
        }
    }
    // One NIC that can is enough for the rule; where drivers differ, each NIC has its own answer.
    let drivers: std::collections::BTreeSet<String> =
        node.pci.rdma_nics().filter_map(|(_, f)| f.driver.known().map(ToString::to_string)).collect();
    for v in a.verdicts.iter().filter(|v| v.rule.id == "gpumem/registration-path" && drivers.len() == 1) {
        match v.finding.status {
            Status::Pass => t.say("audit", "GPU memory can be registered", "true"),
            Status::Fail => t.say("audit", "GPU memory can be registered", "false"),
            _ => {}
        }
    }
    for d in node.rdma.known().into_iter().flatten() {
        if d.ports.iter().all(|p| d.built_in(p) == BuiltIn::NeedsPlugin) && !d.ports.is_empty() {
            t.say("audit", format!("{} is used by NCCL's own transport", d.name), "false");
        }
    }
    let gpus = node.pci.nvidia_gpus().count();
    if node.pci.seen.is_some() && all_driven(a) {
        t.say("audit", "NVIDIA GPUs", gpus.to_string());
    }
    if let Some(role) = node.context.role.value {
        t.say("audit", "guest", (role == linerate_node::context::Role::VmGuest).to_string());
    }
    for d in node.rdma.known().into_iter().flatten().filter(|d| !d.is_software()) {
        for p in &d.ports {
            if let Some(gbps) = p.data_rate_gbps() {
                t.say("audit", format!("rate of {}/{}", d.name, p.number), rate(gbps));
            }
            if let Some(state) = p.state.known() {
                let active = *state == linerate_node::rdma::PortState::Active;
                t.say("audit", format!("{}/{} is active", d.name, p.number), active.to_string());
            }
        }
    }
    for (gpu, g) in node.pci.gpus() {
        // A NIC with a Data Direct function moves its data by that one, which the topology lists as a device of its own.
        for (nic, n) in node.pci.rdma_nics().filter(|(nic, _)| node.pci.data_path(*nic) == DataPath::Own) {
            let distance = node.pci.path(gpu, nic).distance;
            // A topology file says another tree to NCCL than the kernel shows: two subjects.
            if distance != Distance::Unknown && node.nccl.has_topology_file() != Some(true) {
                t.say("audit", format!("path {} {}", g.bdf, n.bdf), distance.to_string());
            }
        }
    }
    // What NCCL counts on for a link that runs below it.
    for v in a.with(Status::Fail).filter(|v| v.rule.id == "pcie/nccl-blind-to-degraded-link") {
        let number = v.finding.message.split('(').nth(1).and_then(|m| m.split(' ').next());
        if let Some(gb) = number.and_then(|n| n.parse::<f64>().ok()) {
            t.say("audit", format!("NCCL counts on, at {}", v.finding.subject), format!("{gb:.1}"));
        }
    }
}

fn by_topo(node: &Node<'_>, s: &Snapshot, a: &Audit, t: &mut Table) {
    let Ok(found) = from_node(node) else { return };
    let config = Config { input: Input::File, nodes: 2, ..Config::default() };
    let Ok(analysis) = Analysis::new(&found.document, &config) else { return };
    let search = Search::new(&analysis, config.nodes);
    let ceilings = known_ceilings(&analysis, &Extra { nodes: Some(2), ..extra(node) });
    let matrix = Matrix::of(node);
    let topo = Topo {
        label: &s.label,
        document: &found.document,
        config: &config,
        analysis: &analysis,
        links: &|_| None,
        models: &|_| None,
        notes: &[],
        matrix: Some(&matrix),
        theirs: node.nvidia.topo().known(),
        search: Some(&search),
        ceilings: Some(&ceilings),
    };
    let mut out = Vec::new();
    json::render(&topo, &mut out).unwrap();
    let doc: Value = serde_json::from_slice(&out).unwrap();
    let list = |key: &str| doc[key].as_array().cloned().unwrap_or_default();
    let word = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    t.say("topo", "guest", is_guest(node).to_string());
    // Ranks that NCCL puts into other domains are not in its lists.
    let ranks: usize = analysis.domains.iter().map(Vec::len).sum();
    if all_driven(a) {
        t.say("topo", "NVIDIA GPUs", ranks.max(list("gpus").len()).to_string());
    }
    let busid = |name: &Value, of: &str| {
        list(of).iter().find(|g| g["name"] == *name).map(|g| word(&g["busid"])).unwrap_or_default()
    };
    for nic in list("nics") {
        let device = word(&nic["name"]);
        let device = device.split(':').next().unwrap_or_default();
        let port = format!("{device}/{}", nic["port"]);
        t.say("topo", format!("{port} is active"), "true");
        if let Some(gb) = nic["bandwidth"].as_f64().filter(|_| plain_rate(node, device)) {
            t.say("topo", format!("rate of {port}"), rate(gb * 8.0));
        }
    }
    for p in list("paths") {
        let (gpu, nic) = (busid(&p["from"], "gpus"), busid(&p["to"], "nics"));
        // C2C and NVLink are no ways of PCI Express.
        if p["type"] == "NVL"
            && is_gpu(&p["from"])
            && is_gpu(&p["to"])
            && p["open"].as_array().is_none_or(Vec::is_empty)
        {
            t.say("topo", "some GPUs have NVLink", "true");
        }
        if ["PIX", "PXB", "PHB", "SYS"].iter().any(|k| p["type"] == *k) && !gpu.is_empty() && !nic.is_empty() {
            t.say("topo", format!("path {gpu} {nic}"), word(&p["type"]));
        }
    }
    for pair in list("gdr") {
        // What hangs on something that the source does not show is not claimed.
        if pair["open"].as_array().is_some_and(|o| !o.is_empty()) {
            continue;
        }
        let nic = word(&pair["nic"]);
        let device = nic.split(':').next().unwrap_or_default();
        let direct = pair["recv"].as_bool().unwrap_or_default() || pair["send"].as_bool().unwrap_or_default();
        if direct {
            t.say("topo", "some GPU can do GPUDirect RDMA", "true");
            t.say("topo", "GPU memory can be registered", "true");
            t.say("topo", format!("{device} is used by NCCL's own transport"), "true");
        }
        if pair["recv_decision"]["reason"] == "nic_lacks_gdr" {
            t.say("topo", "GPU memory can be registered", "false");
        }
    }
    // Of a host that NCCL cuts, and of GPUs that the job was not given, the lists do not hold all.
    if analysis.whole.is_none() && list("gpus").len() == node.pci.gpus().count() {
        nearest(node, &doc, t);
    }
    by_drawing(&topo, &doc, t);
    // What NCCL counts on: the link attributes of the document that it would read.
    for e in found.document.system.all().filter(|e| e.name == "pci") {
        let (Some(id), Some(speed), Some(width)) = (e.get("busid"), e.get("link_speed"), e.get("link_width")) else {
            continue;
        };
        if let Some(gb) = counted(speed, width) {
            t.say("topo", format!("NCCL counts on, at {id}"), format!("{gb:.1}"));
        }
    }
    // What a drawing marks limits a NIC that is used, or a collective.
    if let Some(marked) = bottleneck(&ceilings).map(|e| e.name.to_string()) {
        let locals = list("local");
        let used: Vec<String> =
            locals.iter().flat_map(|l| l["nics"].as_array().cloned().unwrap_or_default()).map(|n| word(&n)).collect();
        let nics = ceilings.nics.iter().filter(|n| used.contains(&n.name.to_string()));
        let mut limits = nics.filter_map(|n| n.gpu_receive.as_ref()).map(|d| d.limiting.name.to_string());
        let mut best = ceilings.inter.iter().chain(&ceilings.intra).map(|c| c.bus.limiting.name.to_string());
        let real = limits.any(|l| l == marked) || best.any(|l| l == marked);
        t.say("drawing", "what is marked limits something that is used", "true");
        t.say("ceiling", "what is marked limits something that is used", real.to_string());
    }
    // A node's total is not more than what its NICs carry, and what limits the best collective is not above it.
    let ports: f64 = list("nics").iter().filter_map(|n| n["bandwidth"].as_f64()).sum();
    let inter = doc["ceilings"]["inter"].as_array().cloned().unwrap_or_default();
    let ring = inter.iter().find(|c| c["collective"] == "all-reduce" && c["algorithm"] == "ring");
    if let Some(high) = ring.and_then(|c| c["bus"]["result"]["high"].as_f64()).filter(|_| ports > 0.0) {
        t.say("topo", "a ring between nodes carries at most what all NICs do", "true");
        t.say("ceiling", "a ring between nodes carries at most what all NICs do", (high <= ports * 1.001).to_string());
    }
    for n in doc["ceilings"]["nics"].as_array().into_iter().flatten() {
        let name = word(&n["name"]);
        let device = name.split(':').next().unwrap_or_default();
        let first = &n["host_receive"]["steps"][0];
        if let Some(gbps) =
            first["value"]["high"].as_f64().filter(|_| first["unit"] == "Gb/s" && plain_rate(node, device))
        {
            let port = list("nics").iter().find(|x| x["name"] == n["name"]).map(|x| x["port"].to_string());
            t.say("ceiling", format!("rate of {device}/{}", port.unwrap_or_default()), rate(gbps));
        }
    }
}

/// GB/s by NCCL's table; what it does not have counts as Gen3 there, and is not claimed here.
fn counted(speed: &str, width: &str) -> Option<f32> {
    use linerate_formats::pci::{LinkSpeed, LinkWidth};
    let gts: f64 = speed.split(' ').next()?.parse().ok()?;
    let generation = (1..=6).find(|g| {
        LinkSpeed::from_register(*g)
            .is_some_and(|s| s.to_string().split(' ').next().and_then(|n| n.parse::<f64>().ok()) == Some(gts))
    })?;
    let width: u8 = width.parse().ok().filter(|w| *w > 0)?;
    Some(linerate_topology::system::link_bandwidth(LinkSpeed::from_register(generation)?, LinkWidth(width)))
}

/// Whether NCCL's number for a port is its data rate: up to FDR it is not, and a port of several functions counts once.
fn plain_rate(node: &Node<'_>, device: &str) -> bool {
    let ports = node.rdma.known().into_iter().flatten().filter(|d| d.name == device).flat_map(|d| &d.ports);
    ports.into_iter().all(|p| p.rate_gbps.known().copied() == p.data_rate_gbps())
}

fn by_env(node: &Node<'_>, t: &mut Table) {
    let facts = NodeFacts::of(node);
    if let Some(guest) = facts.guest {
        t.say("env", "guest", guest.to_string());
    }
    if let Some(gpus) = facts.gpus {
        t.say("env", "NVIDIA GPUs", gpus.to_string());
    }
    for n in facts.nics.iter().flatten().filter(|n| n.distance != Distance::Unknown) {
        t.say("env", format!("nearest GPU of {}", n.name), n.distance.to_string());
    }
    env_judgements(&facts, t);
    if facts.no_gpudirect {
        t.say("env", "some GPU can do GPUDirect RDMA", "false");
    }
    for n in facts.nics.iter().flatten() {
        for p in &n.ports {
            if let Some(active) = p.active {
                t.say("env", format!("{}/{} is active", n.name, p.number), active.to_string());
            }
            if let Some(gbps) = p.gbps {
                t.say("env", format!("rate of {}/{}", n.name, p.number), rate(gbps));
            }
        }
    }
}

/// What the doctor says of a node without a log: severities of the audit, and no exculpation of what fails.
fn by_doctor(answer: &Answer, a: &Audit, t: &mut Table) {
    for c in answer.causes.iter().filter(|c| rules().iter().any(|r| r.id == c.id)) {
        t.say("doctor", format!("{} fails", c.id), "yes");
        t.say("doctor", format!("severity of {}", c.id), c.severity.name());
    }
    for (what, rule) in [("ACS", "acs/redirect-on-p2p-path"), ("the IOMMU", "iommu/translated-domain")] {
        if answer.not_causes.iter().any(|n| n.what == what) {
            t.say("doctor", format!("{rule} fails"), "no");
        }
    }
    // Every failure of high severity is named.
    for v in a.with(Status::Fail).filter(|v| v.severity() >= Severity::High) {
        let named = answer.causes.iter().any(|c| c.id == v.rule.id || c.rules.contains(&v.rule.id));
        t.say("doctor", format!("{} fails", v.rule.id), if named { "yes" } else { "not named" });
    }
}

/// The kernel's log as the audit reads it, and as the doctor does.
fn kernel_log(s: &Snapshot, a: &Audit, t: &mut Table) {
    let logs = s.outputs.iter().filter(|o| o.kind == OutputKind::Dmesg);
    let mut observer = Observer::default();
    let mut any = false;
    for o in logs {
        let mut reader = Reader::new(&mut observer, "dmesg");
        reader.feed(&mut observer, s.data(o.entry));
        reader.finish(&mut observer);
        any = true;
    }
    if !any {
        return;
    }
    let answer = conclude(&observer, &[NodeGiven { name: "node".into(), snapshot: s }]);
    let xids = answer.causes.iter().filter(|c| ["kernel/xid", "gpu/nvlink"].contains(&c.id));
    let xid = xids.max_by_key(|c| c.severity);
    let said = a.with(Status::Fail).filter(|v| v.rule.id == "gpumem/xid").max_by_key(|v| v.severity());
    if let Some(v) = said.filter(|v| v.severity() > Severity::Info) {
        t.say("audit", "worst Xid", v.severity().name());
        t.say("doctor", "worst Xid", xid.map_or("none", |c| c.severity.name()));
        // Of several that are equally bad each may be named.
        let advice = xid.and_then(|c| c.remedy.as_ref()).map(|r| r.summary.to_string());
        let mut equal = a.with(Status::Fail).filter(|o| o.rule.id == v.rule.id && o.severity() == v.severity());
        let same = equal.any(|o| o.finding.remedy.as_ref().map(|r| r.summary.to_string()) == advice);
        t.say("audit", "what to do about the worst Xid is one of the audit's answers", "true");
        t.say("doctor", "what to do about the worst Xid is one of the audit's answers", same.to_string());
    } else if xid.is_some_and(|c| c.severity > Severity::Medium) {
        // An error of a program is no trouble of the node, and what ended its job: information there, medium here.
        t.say("audit", "worst Xid", "none");
        t.say("doctor", "worst Xid", xid.map_or("none", |c| c.severity.name()));
    }
    let faults: Vec<&Verdict> = a.verdicts.iter().filter(|v| v.rule.id == "iommu/faults").collect();
    // `3 IOMMU faults …`, and not `no IOMMU fault …`.
    let is_seen = |said: &str| said.contains("IOMMU fault") && said.starts_with(|c: char| c.is_ascii_digit());
    let of = |status| faults.iter().any(|v| v.finding.status == status && is_seen(&v.finding.message));
    let path = faults.iter().any(|v| v.finding.status == Status::Fail && v.severity() == Severity::Critical);
    let word = |path: bool, open: bool| {
        if path {
            "yes"
        } else if open {
            "undecided"
        } else {
            "no"
        }
    };
    let fault = answer.causes.iter().find(|c| c.id == "kernel/iommu-fault");
    let cause = fault.is_some_and(|c| c.confidence > Confidence::Possible);
    let open = fault.is_some();
    let denied = faults.iter().any(|v| v.finding.message.starts_with("no IOMMU fault"));
    if path || of(Status::Unknown) || of(Status::Fail) || denied {
        t.say("audit", "IOMMU faults on the way between GPU and NIC", word(path, of(Status::Unknown)));
    }
    t.say("doctor", "IOMMU faults on the way between GPU and NIC", word(cause, open));
}

fn by_plan(s: &Snapshot, node: &Node<'_>, a: &Audit, t: &mut Table) {
    let plan = plan::plan(s, node, a, &plan::Options::default());
    for step in &plan.steps {
        for rule in &step.rules {
            t.say("plan", format!("{rule} fails"), "yes");
        }
    }
}

/// What is stored of a node beside its measurements.
fn by_bench(s: &Snapshot, t: &mut Table) {
    let facts = linerate_bench::facts::Facts::of(s);
    for fact in facts.list.values() {
        let Some(rule) = &fact.rule else { continue };
        t.say("bench", format!("{rule} fails"), if fact.value.starts_with("wrong") { "yes" } else { "no" });
    }
}
