//! Which differences a plan explains: by its acts and by what it promises to prove. What follows from what is data.

use super::follows::{ARGUMENTS, BIOS, FILES, FIRMWARE, Follows, PCI, REGISTERS, RULES, SAME};
use super::text::clip;
use super::volatile::path_is;
use super::{Change, What, glob::within};
use crate::bios::names;
use crate::effect::text::lines;
use crate::effect::{self, Effect};
use crate::model::{Plan, Proof, Step};

/// Differences that a step explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The step.
    pub step: String,
    /// Paths or commands: `*` within a name, `**` for any names.
    pub path: String,
    /// Parts.
    pub part: String,
}

/// Everything that the steps of a plan explain.
#[must_use]
pub fn explanations(plan: &Plan) -> Vec<Explanation> {
    plan.steps.iter().flat_map(of_step).collect()
}

/// Differences that neither move by themselves nor are explained by a step.
#[must_use]
pub fn outside<'c>(changes: &'c [Change], plan: &Plan) -> Vec<&'c Change> {
    let mut known = explanations(plan);
    dragged(changes, &mut known);
    let explained = |c: &Change| known.iter().any(|e| path_is(&e.path, &c.path) && within(&e.part, &c.part));
    changes.iter().filter(|c| c.volatile.is_none() && !explained(c)).collect()
}

/// Modules that came because one that a step loads uses them: the fourth column of `/proc/modules` says who uses a module.
fn dragged(changes: &[Change], known: &mut Vec<Explanation>) {
    let lines: Vec<(&str, &str)> = changes
        .iter()
        .filter(|c| c.path == "proc/modules")
        .filter_map(|c| match &c.what {
            What::Appeared { after } => Some((c.part.as_str(), after.split_whitespace().nth(3)?)),
            _ => None,
        })
        .collect();
    let loads = |e: &&Explanation, name: &str| e.path == "proc/modules" && e.part == name;
    // Each round explains one more module, or ends.
    for _ in 0..lines.len() {
        let more: Vec<Explanation> = lines
            .iter()
            .filter(|(name, _)| !known.iter().any(|e| loads(&e, name)))
            .filter_map(|(name, users)| {
                let step = users.split(',').find_map(|u| known.iter().find(|e| loads(e, u)))?.step.clone();
                let mut found = Vec::new();
                module(name, &mut found);
                Some(found.into_iter().map(move |(path, part)| Explanation { step: step.clone(), path, part }))
            })
            .flatten()
            .collect();
        if more.is_empty() {
            return;
        }
        known.extend(more);
    }
}

fn of_step(step: &Step) -> Vec<Explanation> {
    let mut found = Found::new();
    for act in step.acts() {
        act.shown().explains(&mut found);
        act.shown().effects().iter().for_each(|e| of_effect(e, &mut found));
    }
    for proof in &step.proof {
        of_proof(proof, &mut found);
    }
    found.into_iter().map(|(path, part)| Explanation { step: step.id.clone(), path, part }).collect()
}

/// Paths or commands, and parts.
pub(crate) type Found = Vec<(String, String)>;

/// All of a path.
pub(crate) fn whole(path: &str, out: &mut Found) {
    out.push((bare(path).to_owned(), "*".to_owned()));
}

fn bare(path: &str) -> &str {
    path.trim_start_matches('/')
}

/// What follows of a thing that begins with a word of the table; `subject` is put in the place of `{}`.
fn follow(table: Follows, thing: &str, subject: &str, out: &mut Found) {
    for (_, path, part) in table.iter().filter(|(start, ..)| thing.starts_with(start)) {
        out.push((path.replace("{}", subject), (*part).to_owned()));
    }
}

/// What a file explains, besides its effects.
pub(crate) fn of_file(path: &str, text: &str, out: &mut Found) {
    whole(path, out);
    follow(FILES, bare(path), "", out);
    if bare(path).starts_with("etc/tmpfiles.d/") {
        lines(text).filter_map(|l| l.split_whitespace().nth(1)).for_each(|p| value(p, out));
    }
}

fn of_proof(proof: &Proof, out: &mut Found) {
    if let Proof::Rule { rule, subject } = proof {
        follow(RULES, rule, subject.split('/').next().unwrap_or(subject), out);
    }
    effect::of_proof(proof).iter().for_each(|e| of_effect(e, out));
}

/// What an effect moves.
fn of_effect(effect: &Effect, out: &mut Found) {
    match effect {
        Effect::Value { path, .. } => value(path, out),
        Effect::Cmdline { has, lacks } => has.iter().chain(lacks).for_each(|w| argument(w, out)),
        Effect::Module { name } => module(name, out),
        Effect::ModuleOption { module, option, .. } => {
            let module = module.replace('-', "_");
            whole(&format!("sys/module/{module}/parameters/{option}"), out);
            if module == "nvidia" {
                let option = option.strip_prefix("NVreg_").unwrap_or(option);
                out.push(("proc/driver/nvidia/params".to_owned(), option.to_owned()));
            }
        }
        Effect::NextNicFirmware { device, parameter, .. } | Effect::NicFirmware { device, parameter, .. } => {
            out.push((format!("`*config -d {device} *"), parameter.clone()));
            follow(FIRMWARE, parameter, device, out);
        }
        // The service's attributes are not part of a snapshot; what they bring about is.
        Effect::Bios { attribute, .. } => {
            for id in names::of_attribute(attribute) {
                follow(BIOS, id, "", out);
            }
        }
        Effect::Register { function, register, .. } => follow(REGISTERS, register, &function.to_string(), out),
        Effect::Domain(act) => {
            whole(&act.path(), out);
            out.push((format!("`virsh * dumpxml {}`", act.domain), String::new()));
        }
        // By their files, by the rules that a step proves, or by nothing that a snapshot shows.
        Effect::File { .. }
        | Effect::ModuleBlocked { .. }
        | Effect::MemlockUnlimited
        | Effect::Program { .. }
        | Effect::Address { .. }
        | Effect::NicReset { .. }
        | Effect::Label { .. } => {}
    }
}

/// A word of the kernel's arguments.
pub(crate) fn argument(word: &str, out: &mut Found) {
    // As differences name it: a list of many ports is cut there.
    out.push(("proc/cmdline".to_owned(), clip(word.as_bytes())));
    let name = word.split('=').next().unwrap_or(word);
    let same = SAME.iter().find(|(w, _)| *w == name).map_or(name, |(_, s)| s);
    for (_, path, part) in
        ARGUMENTS.iter().filter(|(start, ..)| *start == same || same.split('.').next() == Some(start))
    {
        out.push(((*path).to_owned(), (*part).to_owned()));
    }
    let options = word.strip_prefix("pci=").into_iter().flat_map(|all| all.split(','));
    for option in options.filter_map(|o| o.split('=').next()) {
        let rows = PCI.iter().filter(|(name, ..)| *name == option);
        out.extend(rows.map(|(_, path, part)| ((*path).to_owned(), (*part).to_owned())));
    }
    if let Some((m, parameter)) = name.split_once('.') {
        whole(&format!("sys/module/{}/parameters/{parameter}", m.replace('-', "_")), out);
    }
}

/// A module that is loaded: itself, those that it needs, and what they show.
fn module(name: &str, out: &mut Found) {
    let name = name.replace('-', "_");
    whole(&format!("sys/module/{name}/**"), out);
    out.push(("proc/modules".to_owned(), name.clone()));
    if name.contains("peermem") || name.contains("peer_mem") {
        whole("sys/kernel/mm/memory_peers/**", out);
    }
}

/// A value under /sys or /proc/sys, also where its class is a link to the device.
fn value(path: &str, out: &mut Found) {
    whole(path, out);
    let mut names: Vec<&str> = bare(path).split('/').collect();
    let (Some(leaf), Some(of)) = (names.pop(), names.pop()) else { return };
    match names.pop() {
        Some("net") => {
            whole(&format!("**/net/{of}/{leaf}"), out);
            if leaf == "mtu" {
                // The interface's MTU decides what its RDMA port uses.
                out.push(("`ibv_devinfo*".to_owned(), "active_mtu".to_owned()));
            }
        }
        Some("devices") => whole(&format!("**/{of}/{leaf}"), out),
        _ => {}
    }
    // Each CPU's governor is its policy's.
    if bare(path).starts_with("sys/devices/system/cpu/") {
        whole(&format!("sys/devices/system/cpu/**/{leaf}"), out);
    }
}
