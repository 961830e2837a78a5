//! What drawings, `explain` and single judgements of `env check` show, beside the verbs that say the same.

use crate::table::Table;
use linerate_doctor::answer::Answer;
use linerate_doctor::causes;
use linerate_env::{Context, Kind, NodeFacts, Origin, OriginKind, Setting};
use linerate_node::Node;
use linerate_report::topo::Topo;
use linerate_report::topo::scene::{Extras, Scene};
use linerate_report::{Style, explain};
use linerate_rules::{Audit, Status};
use serde_json::Value;

/// How far the nearest GPU of each NIC is, as the hardware or a topology file has it: what `env` judges levels by. Where NVLink or C2C is nearer
/// than PCI Express, nothing is claimed of PCI Express.
pub(crate) fn nearest(node: &Node<'_>, doc: &Value, t: &mut Table) {
    let own = |d: &str| node.rdma.known().into_iter().flatten().filter(|r| r.name == d).count() == 1;
    let list = |key: &str| doc[key].as_array().cloned().unwrap_or_default();
    for nic in list("nics").iter().filter_map(|n| n["name"].as_str()) {
        let device = nic.split(':').next().unwrap_or_default();
        let ways: Vec<Value> = list("paths").into_iter().filter(|p| p["to"] == nic && is_gpu(&p["from"])).collect();
        let known = ways.iter().all(|p| p["open"].as_array().is_none_or(Vec::is_empty));
        let order = ["PIX", "PXB", "PHB", "SYS"];
        let at: Option<Vec<usize>> = ways.iter().map(|p| order.iter().position(|k| p["type"] == *k)).collect();
        if let Some(least) = at.and_then(|a| a.into_iter().min()).filter(|_| known && own(device)) {
            t.say("topo", format!("nearest GPU of {device}"), order[least]);
        }
    }
}

pub(crate) fn is_gpu(name: &Value) -> bool {
    name.as_str().is_some_and(|n| n.starts_with("GPU"))
}

/// A drawing calls devices as the text does, says the same of their distance and of GPUDirect RDMA, and no two have one badge.
pub(crate) fn by_drawing(topo: &Topo<'_>, doc: &Value, t: &mut Table) {
    let matrix = topo.matrix;
    let scene = Scene::new(topo.document, topo.analysis, &Extras { matrix, ..Extras::default() });
    let list = |key: &str| doc[key].as_array().cloned().unwrap_or_default();
    let word = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    for (verb, gpus) in [
        ("topo", list("gpus").iter().map(|g| (word(&g["busid"]), word(&g["name"]))).collect::<Vec<_>>()),
        ("drawing", scene.gpus.iter().map(|g| (g.busid.clone(), g.name.replace(' ', ""))).collect()),
    ] {
        gpus.into_iter().for_each(|(at, name)| t.say(verb, format!("name of the GPU at {at}"), name));
    }
    let mut names: Vec<String> = list("nics").iter().map(|n| word(&n["name"])).collect();
    let mut drawn: Vec<String> = scene.nics.iter().map(|n| n.name.clone()).collect();
    names.sort();
    drawn.sort();
    t.say("topo", "names of NICs", names.join(" "));
    t.say("drawing", "names of NICs", drawn.join(" "));
    let mut badges: Vec<usize> = scene.nics.iter().map(|n| n.number).collect();
    badges.sort_unstable();
    let single = badges.windows(2).all(|w| w[0] != w[1]);
    t.say("topo", "each NIC has a badge of its own", "true");
    t.say("drawing", "each NIC has a badge of its own", single.to_string());
    // The badge is the number of `nvidia-smi topo -m`.
    for nic in &scene.nics {
        let column = matrix.and_then(|m| m.devices.iter().find(|d| !d.is_gpu() && d.name == nic.name));
        if let Some(column) = column {
            t.say("topo", format!("number of {}", nic.name), column.column.replace("NIC", ""));
            t.say("drawing", format!("number of {}", nic.name), nic.number.to_string());
        }
    }
    for l in list("local") {
        let Some(gpu) = scene.gpus.iter().find(|g| l["gpu"] == g.name.replace(' ', "")) else { continue };
        // What hangs on something that the source does not show is not drawn.
        if l["open"].as_array().is_some_and(|o| !o.is_empty()) {
            continue;
        }
        if let Some(distance) = gpu.distance {
            t.say("topo", format!("NICs of {} are", gpu.name), word(&l["type"]));
            t.say("drawing", format!("NICs of {} are", gpu.name), distance);
        }
        let mut nics: Vec<String> = l["nics"].as_array().into_iter().flatten().map(word).collect();
        let mut own: Vec<String> = gpu.nics.iter().filter_map(|n| Some(scene.nics.get(*n)?.name.clone())).collect();
        nics.sort();
        own.sort();
        t.say("topo", format!("NICs that {} uses", gpu.name), nics.join(" "));
        t.say("drawing", format!("NICs that {} uses", gpu.name), own.join(" "));
    }
}

/// Whatever a verb names can be looked up.
pub(crate) fn by_explain(a: &Audit, answer: &Answer, t: &mut Table) {
    let style = Style { colour: false, width: 80, verbose: true };
    let page = |id: &str| {
        let rule = linerate_rules::find(id).map(|r| explain::explain(r, style));
        rule.or_else(|| causes().find(|c| c.id == id).map(|c| explain::cause(c, style)))
    };
    let mut ids: Vec<(&'static str, String)> = a.verdicts.iter().map(|v| ("audit", v.rule.id.to_owned())).collect();
    for c in &answer.causes {
        ids.push(("doctor", c.id.to_owned()));
        ids.extend(c.rules.iter().map(|r| ("doctor", r.to_string())));
    }
    for (verb, id) in ids {
        let subject = format!("{id} has a page");
        let found = page(&id).is_some_and(|text| text.contains(&id));
        t.say("explain", subject.clone(), found.to_string());
        t.say(verb, subject, "true");
    }
}

/// No finding counts more than the page of its rule says.
pub(crate) fn by_page(a: &Audit, t: &mut Table) {
    for v in a.with(Status::Fail) {
        let subject = format!("{} counts what its page says", v.rule.id);
        t.say("audit", subject.clone(), "true");
        t.say("explain", subject, (v.severity() <= v.rule.severity.worst).to_string());
    }
}

/// What `env check` says of settings that stand for a fact of the node, against what else is said of that fact.
pub(crate) fn env_judgements(facts: &NodeFacts, t: &mut Table) {
    let context = Context { nccl: "2.27.7".parse().ok(), node: Some(facts.clone()), ..Context::default() };
    let kinds = |name: &str, value: &str| {
        let one = Setting::new(name, value, Origin::new(OriginKind::Argument));
        linerate_env::judge(&[one], &context).into_iter().map(|j| j.kind).collect::<Vec<_>>()
    };
    let says = |name: &str, value: &str, kind: Kind| kinds(name, value).contains(&kind);
    if says("NCCL_NET_GDR_LEVEL", "PHB", Kind::Ignored) {
        t.say("env", "some GPU can do GPUDirect RDMA", "false");
    }
    if says("NCCL_P2P_LEVEL", "NVL", Kind::Harmful) {
        t.say("env", "some GPUs have NVLink", "false");
    }
    if says("NCCL_P2P_LEVEL", "NVL", Kind::Redundant) {
        t.say("env", "some GPUs have NVLink", "true");
    }
    // What is recommended without a condition is not called wrong.
    for r in linerate_env::recommend(&context).certain() {
        let against = [Kind::Harmful, Kind::Illegal, Kind::Redundant, Kind::Ignored];
        let wrong = kinds(r.name, &r.value).iter().any(|k| against.contains(k));
        t.say("env", format!("{} is advice that its own check accepts", r.name), (!wrong).to_string());
        t.say("explain", format!("{} is advice that its own check accepts", r.name), "true");
    }
}
