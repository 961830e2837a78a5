//! Compose files of Docker: what each service asks for, as a pod with one container. Variables are not replaced: what holds one is not known.
//!
//! The keys are those of the Compose Specification (<https://docs.docker.com/reference/compose-file/services/>), GPUs those of
//! <https://docs.docker.com/compose/how-tos/gpu-support/>.

use super::model::GPU;
use super::{Container, Count, Form, Pod, Size, add, limit, size, switch, words, written};
use crate::bounds::Kept;
use crate::limits::Limit;
use crate::text::{At, decode};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use crate::yaml::{ITEM, Tree, documents};

/// A compose file.
pub const TOOL: Tool = Tool {
    name: "compose",
    called: "compose file (Docker)",
    run: "docker compose config",
    gives: Gives::Facts,
    marks: &[
        Mark::line_with(|l| l == "services:", "image:").begins(&["services:"]),
        Mark::line_with(|l| l == "services:", "shm_size:").begins(&["services:"]),
        Mark::line_with(|l| l == "services:", "ulimits:").begins(&["services:"]),
        Mark::line_with(|l| l == "services:", "deploy:").begins(&["services:"]),
    ],
    commands: &[Command::with("docker", &["compose", "config"]), Command::with("docker-compose", &["config"])],
    files: &["docker-compose.y", "compose.y"],
    read: Some(|b| seen(read(b))),
    samples: &[
        "services:\n  train:\n    image: x\n    shm_size: 64m\n",
        "services:\n  train:\n    build: .\n    deploy:\n      resources:\n        reservations:\n          devices:\n          - driver: nvidia\n            count: all\n            capabilities: [gpu]\n",
    ],
    ..Tool::NONE
};

/// The directory that Docker makes of `shm_size`.
const SHM: &str = "/dev/shm";

/// Reads the services of a compose file.
#[must_use]
pub fn read(bytes: &[u8]) -> Kept<Pod> {
    let (text, mut kept) = (decode(bytes), Kept::default());
    for document in documents(&text, &mut kept.left_out) {
        let services = document.children.iter().filter(|c| c.key == "services").flat_map(|s| &s.children);
        for s in services.filter(|s| s.key != ITEM) {
            add(&mut kept, service(s));
        }
    }
    kept
}

fn service(s: &Tree) -> Pod {
    let mut pod = Pod { line: s.line, form: Form::Compose, ..Pod::default() };
    pod.extends = s.child("extends").map(|e| e.line);
    pod.host_network = written(s, "network_mode").map(is_host);
    pod.host_ipc = written(s, "ipc").map(is_host);
    let mut c = Container {
        line: s.line,
        name: Some(s.key.clone()),
        resources: gpus(s).into_iter().collect(),
        devices: s.child("devices").map(devices).unwrap_or_default(),
        capabilities: s.child("cap_add").map(words).unwrap_or_default(),
        privileged: switch(s, "privileged"),
        memlock: s.at(&["ulimits", "memlock"]).map(memlock),
        ..Container::default()
    };
    s.list("volumes").for_each(|v| volume(v, &mut c, &mut pod));
    tmpfs(s, &mut c, &mut pod);
    // Behind the others: what is mounted at /dev/shm takes its place.
    if let Some(size) = limit(s, "shm_size", size::ram) {
        in_memory("shm_size", At::new(SHM.to_owned(), size.line), Some(size), &mut c, &mut pod);
    }
    pod.containers.push(c);
    pod
}

/// Whether a variable is in a text, or it is no text, or a snapshot does not show it (`[redacted]` is a list of one word).
fn is_open(t: &Tree) -> bool {
    t.value.is_empty() || t.value.contains('$') || t.value == "redacted"
}

/// Whether a namespace is the host's. One of another service or container is not known.
fn is_host(mode: &Tree) -> At<Option<bool>> {
    let of_another = |m: &str| m.starts_with("service:") || m.starts_with("container:");
    let is = (!is_open(mode) && !of_another(&mode.value)).then(|| mode.value == "host");
    At::new(is, mode.line)
}

/// What `deploy`, `gpus`, `runtime` and devices of CDI ask for together.
fn gpus(s: &Tree) -> Option<(At<String>, Count)> {
    let reserved = s.at(&["deploy", "resources", "reservations", "devices"]);
    let reserved = reserved.into_iter().flat_map(|d| &d.children).filter(|d| has_gpu_capability(d));
    let reserved = reserved.filter(|d| is_nvidia(d)).map(|d| (d.line, request(d)));
    // What cannot be read of `deploy` may ask for them.
    let hidden =
        s.child("deploy").filter(|d| d.children.iter().any(|c| c.key == ITEM)).map(|d| (d.line, Count::Unwritten));
    let own = s.child("gpus").into_iter().flat_map(|g| match g.value.as_str() {
        "" => g.children.iter().filter(|d| is_nvidia(d)).map(|d| (d.line, request(d))).collect(),
        value => vec![(g.line, number(value))],
    });
    let of_cdi = s.list("devices").filter_map(|d| Some((d.line, cdi(&d.value)?)));
    let asked = reserved.chain(hidden).chain(own).chain(of_cdi).reduce(|(line, a), (_, b)| (line, sum(a, b)));
    // The runtime takes the number from NVIDIA_VISIBLE_DEVICES, which the image may set.
    let by_runtime = || {
        let runtime = written(s, "runtime").filter(|r| is_open(r) || r.value == "nvidia")?;
        Some((runtime.line, Count::Unwritten))
    };
    asked.or_else(by_runtime).map(|(line, count)| (At::new(GPU.to_owned(), line), count))
}

fn sum(a: Count, b: Count) -> Count {
    match (a, b) {
        (Count::All, _) | (_, Count::All) => Count::All,
        (Count::Number(a), Count::Number(b)) => Count::Number(a.saturating_add(b)),
        _ => Count::Unwritten,
    }
}

/// Without a driver, Docker takes the one that has the capability; what is not readable may be NVIDIA's.
fn is_nvidia(d: &Tree) -> bool {
    written(d, "driver").is_none_or(|d| is_open(d) || matches!(d.value.as_str(), "nvidia" | "cdi"))
}

fn has_gpu_capability(d: &Tree) -> bool {
    // An item that cannot be read.
    if d.children.iter().all(|c| c.key == ITEM) {
        return true;
    }
    let names = |c: &Tree| is_open(c) || matches!(c.value.as_str(), "gpu" | "nvidia");
    let is_cdi = d.child("driver").is_some_and(|d| d.value == "cdi");
    is_cdi || d.child("capabilities").is_some_and(|c| !c.value.is_empty() || c.children.iter().any(names))
}

/// How many one request asks for. Without `count` and `device_ids` it is all.
fn request(d: &Tree) -> Count {
    if !d.children.iter().any(|c| c.key != ITEM) {
        return Count::Unwritten;
    }
    if let Some(count) = written(d, "count") {
        return number(&count.value);
    }
    let Some(ids) = written(d, "device_ids") else { return Count::All };
    let one = |id: &Tree| match id.value.as_str() {
        "all" => Count::All,
        name if name.contains('=') => cdi(name).unwrap_or(Count::Unwritten),
        // An index, or a UUID of one GPU. Of several in one word the number is not known.
        name if is_open(id) || name.contains(',') => Count::Unwritten,
        _ => Count::Number(1),
    };
    ids.children.iter().map(one).reduce(sum).unwrap_or(Count::Unwritten)
}

fn number(value: &str) -> Count {
    if value == "all" { Count::All } else { value.parse().map_or(Count::Unwritten, Count::Number) }
}

/// A GPU by its name of the Container Device Interface: `nvidia.com/gpu=0`, `nvidia.com/gpu=all`.
fn cdi(device: &str) -> Option<Count> {
    let name = device.strip_prefix(GPU)?.strip_prefix('=')?;
    Some(match name {
        "all" => Count::All,
        name if name.contains(['$', '[']) => Count::Unwritten,
        _ => Count::Number(1),
    })
}

/// Paths of the host's devices: `/dev/infiniband:/dev/infiniband:rwm`, or `source: /dev/infiniband`.
fn devices(list: &Tree) -> Vec<At<Option<String>>> {
    let one = |d: &Tree| {
        let path = d.text("source").map(|s| s.value).or_else(|| parts(&d.value).next().map(str::to_owned));
        At::new(path.filter(|p| !p.is_empty() && !p.contains('$')), d.line)
    };
    match list.value.as_str() {
        "" => list.children.iter().filter(|d| d.key == ITEM).map(one).collect(),
        _ => vec![At::new(None, list.line)],
    }
}

/// The soft limit, in bytes; -1 is no limit.
fn memlock(m: &Tree) -> At<Option<Limit>> {
    let m = m.child("soft").unwrap_or(m);
    let limit = if m.value == "-1" { Some(Limit::Unlimited) } else { m.value.parse().ok().map(Limit::Value) };
    At::new(limit, m.line)
}

fn volume(v: &Tree, c: &mut Container, pod: &mut Pod) {
    let (source, target, line) = if v.value.is_empty() {
        let Some(target) = v.text("target") else { return };
        if v.child("type").is_some_and(|t| t.value == "tmpfs") {
            let size = v.child("tmpfs").and_then(|t| limit(t, "size", size::ram));
            return in_memory(&target.value.clone(), target, size, c, pod);
        }
        (v.text("source").map(|s| s.value), target.value, target.line)
    } else {
        let all: Vec<&str> = parts(&v.value).collect();
        match all.as_slice() {
            [source, target, ..] => (Some((*source).to_owned()), (*target).to_owned(), v.line),
            _ => (None, v.value.clone(), v.line),
        }
    };
    let source = source.unwrap_or_default();
    if source.starts_with('/') {
        pod.host_volumes.push((source.clone(), At::new(source.clone(), line)));
    }
    c.mounts.push((source, At::new(target, line)));
}

/// `tmpfs: /dev/shm`, `- /dev/shm:size=1g,mode=1777`: memory, by itself without a limit.
fn tmpfs(s: &Tree, c: &mut Container, pod: &mut Pod) {
    let Some(all) = s.child("tmpfs") else { return };
    let items = all.children.iter().filter(|t| t.key == ITEM).chain((!all.value.is_empty()).then_some(all));
    for t in items.filter(|t| !t.value.is_empty()) {
        let mut of = parts(&t.value);
        let target = of.next().unwrap_or_default().to_owned();
        let size = of.next().and_then(|o| o.split(',').find_map(|o| o.strip_prefix("size=")));
        let size = size.map(|s| At::new(Size { text: s.to_owned(), bytes: size::ram(s) }, t.line));
        in_memory(&target.clone(), At::new(target, t.line), size, c, pod);
    }
}

/// A volume of memory, and its mount.
fn in_memory(name: &str, target: At<String>, limit: Option<At<Size>>, c: &mut Container, pod: &mut Pod) {
    // A host's directory may have the same name.
    let name = format!("{name} (memory)");
    pod.memory_volumes.push((name.clone(), limit));
    c.mounts.push((name, target));
}

/// The parts of a short form, at the colons that are in no variable: `${X:-/data}:/data`.
pub fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    text.split(move |c| {
        match c {
            '{' => depth = depth.saturating_add(1),
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ':' && depth == 0
    })
}

#[cfg(test)]
mod tests;
