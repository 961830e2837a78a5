//! Kernel arguments: one change for all, written by the boot loader's own way (`crate::boot`).

use super::args::{Args, args, in_one_word, nothing_to_do};
use super::{BY_REBOOT, Change, Kind, Refusal, Setting, Through};
use crate::boot::{self, Written};
use crate::model::{Condition, Proof};
use crate::plan::KERNEL_ARGS;
use crate::platform::Boot;
use crate::terms::{On, Terms};
use linerate_formats::cmdline::Cmdline;
use linerate_rules::Action;

/// Arguments of the kernel.
pub(super) struct KernelArguments;

/// Parameters of which the last one counts, so that two values are a contradiction.
const ONE_VALUE: &[&str] =
    &["iommu.passthrough", "iommu.strict", "intel_iommu", "pcie_aspm", "pcie_aspm.policy", "default_hugepagesz"];

impl Kind for KernelArguments {
    fn takes(&self, action: &Action) -> Option<String> {
        matches!(action, Action::KernelArgs { .. }).then(String::new)
    }

    fn terms(&self, _: &Action, _: &On<'_>) -> Terms {
        BY_REBOOT
    }

    fn claims(&self, action: &Action) -> Vec<(String, String)> {
        let Action::KernelArgs { add, remove } = action else { return Vec::new() };
        let added = add.iter().flat_map(|w| {
            let name = w.split('=').next().unwrap_or_default();
            let value = ONE_VALUE.contains(&name).then(|| (format!("{name}="), w.to_string()));
            [Some((format!("kernel argument {w}"), "there".to_owned())), value].into_iter().flatten()
        });
        added.chain(remove.iter().map(|w| (format!("kernel argument {w}"), "not there".to_owned()))).collect()
    }

    fn open(&self, action: &Action, _: &Setting<'_, '_>) -> Option<String> {
        let Action::KernelArgs { add, .. } = action else { return None };
        let word = add.iter().find(|w| w.ends_with("=N"))?;
        Some(format!("choose the number in {word}; the kernel arguments are: {}", add.join(" ")))
    }

    fn through(&self) -> Through {
        Through::Beside
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        vec![change(actions, on)]
    }
}

fn change(actions: &[&Action], on: &Setting<'_, '_>) -> Result<Change, Refusal> {
    let running = on.node.kernel.cmdline.known();
    let mut words = args(actions, running);
    if let (Boot::Grubby, Some(running)) = (&on.platform.boot, running) {
        in_one_word(&mut words, running);
    }
    if running.is_some_and(|r| nothing_to_do(&words, r)) {
        let why = boot::taken_and_ignored(on.snapshot, &words.add);
        return Err(Refusal::no(format!(
            "the running kernel has these arguments already, and they are not effective: {why}"
        )));
    }
    let Args { add, remove } = words;
    let with = (!add.is_empty()).then(|| format!(" with {}", add.join(" ")));
    let without = (!remove.is_empty()).then(|| format!(" without {}", remove.join(" ")));
    let asked = boot::KernelArgs { step: KERNEL_ARGS, add: &add, remove: &remove, trial: on.options.trial };
    let elsewhere = on.options.export && matches!(on.platform.boot, Boot::Talos | Boot::OpenShift | Boot::Unknown(_));
    let written = if elsewhere {
        Written { note: "another system has to make it: nothing is run on this node".to_owned(), ..Written::default() }
    } else {
        boot::permanent(asked, on.platform, on.snapshot)?
    };
    let mut precondition: Vec<Condition> = running.map(|now| as_planned(&add, &remove, now)).into_iter().collect();
    precondition.extend(written.precondition);
    Ok(Change {
        id: KERNEL_ARGS.to_owned(),
        summary: format!("boot{}{}", with.unwrap_or_default(), without.unwrap_or_default()),
        precondition,
        trial: written.trial,
        acts: written.change,
        proof: vec![Proof::Cmdline { has: add, lacks: remove }],
        note: written.note,
    })
}

/// What was running when the plan was made: else the node was changed since.
fn as_planned(add: &[String], remove: &[String], now: &Cmdline) -> Condition {
    let there = |w: &&String| nothing_to_do(&Args { add: vec![(*w).clone()], remove: vec![] }, now);
    let (has, _): (Vec<&String>, Vec<&String>) = remove.iter().partition(there);
    let (_, lacks): (Vec<&String>, Vec<&String>) = add.iter().partition(there);
    let own = |w: Vec<&String>| w.into_iter().cloned().collect();
    Condition::Cmdline { has: own(has), lacks: own(lacks) }
}
