//! Taking a node for a plan: everything is looked at before anything is changed.

use super::{Work, acts, boot, node_id, now, steps};
use crate::act::{Done, Hands, Root, Texts, TrialMaker, Wrong, on_node, shows};
use crate::journal::{Journal, Key, Ledger, Record, STATE, next_order, open_plan};
use linerate_remedy::{Act, Condition, Plan};

/// Space that has to be free wherever something is written.
const SPARE: u64 = 16 << 20;

/// The refusal of a node that another plan holds.
pub(super) fn taken(plan: &Plan, ledger: &Ledger) -> Wrong {
    let ago = now().saturating_sub(ledger.since) / 60;
    Wrong::new(
        "taken",
        format!(
            "{} took this node {ago} minutes ago for plan {}, which is neither proven nor undone: `linerate apply --resume` goes on with it, \
             `linerate rollback` undoes it",
            ledger.who,
            plan.hash.chars().take(16).collect::<String>()
        ),
    )
}

/// Whether a plan is as it was made, and of a form that is known.
fn sound(plan: &Plan) -> Done<()> {
    let found = plan.digest();
    if found != plan.hash {
        let what = format!(
            "the plan was changed after it was made (its hash is {found}, it says {}): make a new one",
            plan.hash
        );
        return Err(Wrong::new("hash", what));
    }
    if plan.schema != linerate_remedy::SCHEMA {
        return Err(Wrong::new(
            "version",
            format!("the plan is a {:?}, this version takes {}", plan.schema, linerate_remedy::SCHEMA),
        ));
    }
    Ok(())
}

/// Says everything that speaks against a plan, and takes nothing.
pub(super) fn check_only(
    root: &Root,
    maker: &dyn TrialMaker,
    plan: &Plan,
    chosen: &[String],
    work: &mut Work,
) -> Done<()> {
    sound(plan)?;
    match open_plan(root)? {
        Some((open, ledger)) if open.hash != plan.hash => return Err(taken(&open, &ledger)),
        // It is under way: what it has changed by now does not speak against it.
        Some(_) => return Ok(()),
        None => {}
    }
    for (step, wrong) in troubles(&Hands { root, maker, mark: "check" }, plan, chosen) {
        work.refuse(wrong, step.as_deref());
    }
    Ok(())
}

/// Takes the node, or says everything that speaks against it.
pub(super) fn begin(
    root: &Root,
    maker: &dyn TrialMaker,
    plan: &Plan,
    who: String,
    chosen: Vec<String>,
    work: &mut Work,
) -> Done<Option<Journal>> {
    sound(plan)?;
    match open_plan(root)? {
        Some((open, ledger)) if open.hash != plan.hash => return Err(taken(&open, &ledger)),
        Some((_, ledger)) => {
            if ledger.steps != chosen && !chosen.is_empty() {
                let what = "this plan was begun with other steps: go on with those, or roll back";
                return Err(Wrong::new("order", what));
            }
            let journal = Journal::open(root, &plan.hash)?;
            return Ok(journal.inspect(|j| work.told.extend(j.torn.clone())));
        }
        None => {}
    }
    if let Some(journal) = Journal::open(root, &plan.hash)?.filter(|j| !j.ledger.undoing && !j.ledger.acts.is_empty()) {
        work.told.push(
            "this plan was made here, and the node was released: verify it, roll it back, or make a new plan"
                .to_owned(),
        );
        return Ok(Some(journal));
    }
    let hands = Hands { root, maker, mark: "check" };
    for (step, wrong) in troubles(&hands, plan, &chosen) {
        work.refuse(wrong, step.as_deref());
    }
    if !work.troubles.is_empty() {
        return Ok(None);
    }
    let (boot, order) = (boot(root), next_order(root)?);
    let record = Record::Begun { plan: plan.hash.clone(), who, when: now(), boot, steps: chosen, order };
    Journal::begin(root, plan, &record).map(Some)
}

/// Everything that speaks against a plan on this node as it is now.
fn troubles(hands: &Hands<'_>, plan: &Plan, chosen: &[String]) -> Vec<(Option<String>, Wrong)> {
    let mut all: Vec<(Option<String>, Wrong)> = Vec::new();
    let here = node_id(hands.root);
    if plan.node.redacted && plan.node.machine.is_none() {
        let what = "the plan was made from a redacted snapshot, which shows neither the machine id nor the name of its node: make it from the node itself (`linerate plan`, or `linerate plan --host NODE`), or from a snapshot that was collected with --no-redact";
        all.push((None, Wrong::new("redacted", what)));
    } else if plan.node.machine != here.machine || plan.node.machine.is_none() {
        let word = |id: &Option<String>| id.clone().unwrap_or_else(|| "unknown".to_owned());
        let what = format!(
            "the plan was made for node {} (machine {}), this is {} (machine {}): make a plan for this node",
            word(&plan.node.host),
            word(&plan.node.machine),
            word(&here.host),
            word(&here.machine)
        );
        all.push((None, Wrong::new("other-node", what)));
    }
    for name in chosen.iter().filter(|name| plan.step(name).is_none()) {
        all.push((None, Wrong::new("unknown-step", format!("the plan has no step {name:?}"))));
    }
    for step in steps(plan, chosen) {
        let conditions = step.precondition.iter().filter_map(|c| condition(hands.root, c).err());
        all.extend(conditions.map(|wrong| (Some(step.id.clone()), wrong)));
    }
    let acts = acts(plan, chosen);
    let mut later = Texts::new();
    for (key, _, act) in &acts {
        let wrongs = on_node(act).map(|act| act.check(hands, &mut later)).unwrap_or_default();
        all.extend(wrongs.into_iter().map(|wrong| (Some(key.step.clone()), wrong)));
    }
    all.extend(space(hands.root, &acts));
    let mut seen = Vec::new();
    all.retain(|one| {
        !seen.contains(one) && {
            seen.push(one.clone());
            true
        }
    });
    all
}

fn condition(root: &Root, condition: &Condition) -> Done<()> {
    let stale = |what: String| Err(Wrong::new("stale", format!("{what}: make a new plan")));
    match condition {
        Condition::Program { name, package } => root.program(name).map(|_| ()).map_err(|wrong| match wrong.code {
            "missing-program" => Wrong::new("missing-program", format!("{} (package {package})", wrong.what)),
            _ => wrong,
        }),
        Condition::Exists { path } if root.exists(path) => Ok(()),
        Condition::Exists { path } => stale(format!("{path} does not exist, and the plan needs it")),
        Condition::Value { path, value } => match root.text(path) {
            Some(text) if shows(&text, value) => Ok(()),
            Some(text) => stale(format!("{path} is {text:?}, but the plan expects {value:?}")),
            None => stale(format!("{path} cannot be read, but the plan expects {value:?}")),
        },
        Condition::Cmdline { has, lacks } => {
            let text = root.text("/proc/cmdline").unwrap_or_default();
            let words: Vec<&str> = text.split_whitespace().collect();
            let missing = has.iter().find(|w| !words.contains(&w.as_str())).map(|w| format!("lacks {w}"));
            let extra = lacks.iter().find(|w| words.contains(&w.as_str())).map(|w| format!("has {w}"));
            missing.or(extra).map_or(Ok(()), |differs| {
                stale(format!("the kernel's command line {differs}: the plan was made for another one"))
            })
        }
        Condition::NoLockdown => match root.text("/sys/kernel/security/lockdown") {
            Some(text) if !shows(&text, "none") => Err(Wrong::new(
                "lockdown",
                format!(
                    "the kernel is locked down ({text}): registers cannot be written. Use kernel arguments instead, or turn Secure Boot off"
                ),
            )),
            _ => Ok(()),
        },
    }
}

/// Whether there is room where files are written, and whether they can be.
fn space(root: &Root, acts: &[(Key, super::Phase, &Act)]) -> Vec<(Option<String>, Wrong)> {
    let mut wanted: Vec<(Option<String>, String, u64)> = vec![(None, format!("{STATE}/x"), 0)];
    for (key, _, act) in acts {
        let room = on_node(act).map(|act| act.room(root)).unwrap_or_default();
        wanted.extend(room.into_iter().map(|(path, size)| (Some(key.step.clone()), path.to_owned(), size)));
    }
    let kept: u64 = wanted.iter().map(|(_, _, size)| size).sum();
    let wrong = |(step, path, size): (Option<String>, String, u64)| {
        let need = SPARE + if step.is_none() { kept } else { size };
        let wrong = match root.room(&path) {
            Ok(Some(free)) if free < need => Wrong::new(
                "no-space",
                format!(
                    "{} MiB are free where {path} is, {} are needed: make room there",
                    free >> 20,
                    need.div_ceil(1 << 20)
                ),
            ),
            Ok(_) => return None,
            Err(wrong) => wrong,
        };
        Some((step, wrong))
    };
    wanted.into_iter().filter_map(wrong).collect()
}
