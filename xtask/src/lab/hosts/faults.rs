//! What hosts are, and which of them are sick with what: by a seed. The tool under test is given none of it.

use super::super::Result;
use super::fleet::{Host, Mended, read};
use linerate_compose::{Description, Tree};
use linerate_logs::rng::Rng;
use serde::Deserialize;
use std::path::Path;

/// How many hosts are sick.
const SICK: usize = 2;
/// How many faults each of them has.
const FAULTS: usize = 2;

/// `lab/hosts/machines.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Machines {
    machine: Vec<Machine>,
}

/// A kind of machine, and how many hosts are one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Machine {
    node: String,
    hosts: usize,
}

/// `lab/hosts/faults.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pool {
    fault: Vec<Fault>,
}

/// What a host may be sick with.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Fault {
    name: String,
    of: Option<String>,
    #[serde(default)]
    on: Vec<String>,
    patch: String,
    fact: String,
    value: String,
    /// Facts that follow, and what they are then.
    #[serde(default)]
    follows: Vec<(String, String)>,
}

/// What one host is sick with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sick {
    pub(super) host: String,
    /// In words, with the device.
    pub(super) what: String,
    /// Id of the fact that differs.
    pub(super) fact: String,
    /// What it is.
    pub(super) value: String,
    /// Facts that follow, and what they are.
    pub(super) follows: Vec<(String, String)>,
    /// Files that are not as on the healthy machine.
    pub(super) files: Vec<String>,
}

/// The hosts, and what two of them are sick with.
pub(super) fn hosts(lab: &Path, nodes: &Path, seed: u64) -> Result<(Vec<Host>, Vec<Sick>)> {
    let machines: Machines = parse(&lab.join("machines.toml"))?;
    let pool: Pool = parse(&lab.join("faults.toml"))?;
    let kinds: Vec<&str> =
        machines.machine.iter().flat_map(|m| std::iter::repeat_n(m.node.as_str(), m.hosts)).collect();
    let mut random = Rng::new(seed);
    let mut ill: Vec<usize> = (0..kinds.len()).collect();
    while ill.len() > SICK {
        ill.remove(random.below(ill.len() as u64) as usize);
    }
    let (mut hosts, mut sick) = (Vec::new(), Vec::new());
    for (n, kind) in kinds.iter().enumerate() {
        let number = u8::try_from(n + 1).map_err(|_| "more hosts than addresses".to_owned())?;
        let name = format!("gpu{number:03}");
        let own = (name.as_str(), seed.wrapping_mul(1000).wrapping_add(number.into()) % 1_000_000);
        let base = read(&nodes.join(format!("{kind}.toml")))?;
        let healthy = composed(&base, "", own)?;
        let (mut tree, mut mended) = (healthy.clone(), Vec::new());
        if ill.contains(&n) {
            let mut patches = String::new();
            for fault in choose(&pool.fault, kind, &mut random) {
                let (device, patch) = on_a_device(&fault, &patches, &mut random);
                let files = differing(&healthy, &composed(&base, &patch, own)?);
                if files.is_empty() {
                    return Err(format!("lab/hosts/faults.toml: {} changes nothing of {kind}", fault.name));
                }
                mended.extend(mending(&healthy, &files));
                let (what, Fault { fact, value, follows, .. }) = (format!("{}{device}", fault.name), fault);
                sick.push(Sick { host: name.clone(), what, fact, value, follows, files });
                patches.push_str(&patch);
            }
            tree = composed(&base, &patches, own)?;
        }
        // Half of the hosts let root in.
        hosts.push(Host { name, number, root: n % 2 == 0, tree, mended });
    }
    Ok((hosts, sick))
}

/// Different faults of this machine.
fn choose(pool: &[Fault], kind: &str, random: &mut Rng) -> Vec<Fault> {
    let mut fit: Vec<Fault> =
        pool.iter().filter(|f| f.of.as_deref().is_none_or(|of| kind.ends_with(of))).cloned().collect();
    while fit.len() > FAULTS {
        fit.remove(random.below(fit.len() as u64) as usize);
    }
    fit
}

/// The patch of a fault, on a device that has none yet: a table may be there once.
fn on_a_device(fault: &Fault, others: &str, random: &mut Rng) -> (String, String) {
    let free = |d: &&String| fault.patch.lines().next().is_none_or(|table| !others.contains(&table.replace("{}", d)));
    let on: Vec<&String> = fault.on.iter().filter(free).collect();
    let Some(device) = on.get(random.below(on.len().max(1) as u64) as usize) else {
        return (String::new(), fault.patch.clone());
    };
    (format!(" ({device})"), fault.patch.replace("{}", device))
}

/// A machine of this name and number, with patches.
fn composed(base: &str, patches: &str, (name, seed): (&str, u64)) -> Result<Tree> {
    let mut description = Description::parse_over(base, patches).map_err(|e| format!("lab/hosts: {e}"))?;
    description.node.host = Some(name.to_owned());
    description.node.seed = seed;
    description.compose().map_err(|e| format!("lab/hosts: {e}"))
}

/// What programs say once the kernel's files are as on the healthy machine, of those that say something else now.
fn mending(healthy: &Tree, files: &[String]) -> Vec<Mended> {
    let kernel = files.iter().filter(|f| f.starts_with("sys/") || f.starts_with("proc/"));
    let when: Vec<(String, Vec<u8>)> = kernel.filter_map(|f| Some((f.clone(), healthy.get(f)?.to_vec()))).collect();
    let outputs = files.iter().filter_map(|f| f.strip_prefix("cmd/")?.strip_suffix("/stdout"));
    let of = |n: &str| {
        Some(Mended {
            output: n.to_owned(),
            text: healthy.get(&format!("cmd/{n}/stdout"))?.to_vec(),
            when: when.clone(),
        })
    };
    outputs.filter_map(of).collect()
}

/// Paths whose content is not the same.
fn differing(a: &Tree, b: &Tree) -> Vec<String> {
    let mut all: Vec<String> = a.entries.keys().filter(|p| a.entries.get(*p) != b.entries.get(*p)).cloned().collect();
    all.extend(b.entries.keys().filter(|p| !a.entries.contains_key(*p)).cloned());
    all
}

fn parse<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T> {
    toml::from_str(&read(file)?).map_err(|e| format!("{}: {e}", file.display()))
}
