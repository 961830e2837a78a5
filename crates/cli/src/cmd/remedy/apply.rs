//! `linerate apply`.

use super::apply_screen::Screen;
use super::stored::{self, Held};
use super::{FromFile, bmc, kept, reach, read_plan, signature};
use crate::output::{Failure, Sink};
use crate::plan_args::{AnswerFormat, ApplyArgs};
use linerate_apply::drive::{self, Ended, Fleet, Job, Lone, Node, Operator, Options, Outcome, many};
use linerate_out::terminal;
use linerate_remedy::Plan;
use linerate_report::plan::{markdown, text};
use std::io::{Read as _, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A node is not proven.
const EXIT_NOT_PROVEN: u8 = 1;
/// A reboot is due.
const EXIT_REBOOT: u8 = 2;
/// Nothing was changed.
const EXIT_NOTHING: u8 = 3;

pub(crate) fn run(a: &ApplyArgs) -> Result<u8, Failure> {
    if !a.yes && a.format == AnswerFormat::Json {
        return Err(Failure::new("without --yes, `apply` has no answer in JSON: it shows what would be done")
            .hint("the plan itself is in JSON: `linerate plan -f json`"));
    }
    let nodes = nodes(a)?;
    let operator = super::operator(a.take_over);
    let mut plans = Vec::new();
    if a.resume {
        for node in &nodes {
            let Held { plan, bytes, signature, record } = stored::last(&**node, &operator, "apply --resume")?;
            // It goes on with the steps that were noted here, whatever is named now.
            let steps = record.steps();
            check(a, &plan, &steps)?;
            plans.push(Chosen { plan, bytes, signature, steps });
        }
    } else {
        plans = named(a, nodes.len())?;
        plans.iter().try_for_each(|chosen| check(a, &chosen.plan, &a.step))?;
    }
    if a.require_signature {
        plans.iter().try_for_each(|chosen| signed(a, chosen))?;
    }
    let mut sink = Sink::open(None)?;
    if !a.yes {
        return dry(a, &nodes, &plans, &operator, sink);
    }
    let store = stored::open()?;
    stored::prune(&store);
    let mut jobs = Vec::new();
    for (node, chosen) in nodes.iter().zip(&plans) {
        let Chosen { plan, bytes, signature, steps } = chosen;
        store.keep(plan, bytes, signature.as_deref())?;
        let record = store.prepare(node.name(), plan, steps, &operator.session.who)?;
        let options = Options {
            operator: operator.clone(),
            record: Arc::new(record),
            steps: steps.clone(),
            reboots: a.reboots,
            wait: Duration::from_secs(a.wait),
            may_reboot: !a.no_reboot,
            twice: a.twice,
            undo: a.undo,
            keep: Some(kept::file(a.keep.as_deref(), node.name(), &plan.hash)?),
        };
        jobs.push(Job { node: &**node, plan, options });
    }
    let screen = Screen::new(jobs.len() > 1);
    let fleet = Fleet { max_unavailable: a.max_unavailable as usize };
    let outcomes = many(&jobs, fleet, &Lone, &crate::interrupt::cancel(), &|node, event| screen.show(node, &event));
    for outcome in &outcomes {
        answer(a, outcome, &mut sink)?;
    }
    sink.finish()?;
    let worst = |ended: &Ended| match ended {
        Ended::Proven => 0,
        Ended::RebootDue => EXIT_REBOOT,
        Ended::Untouched(_) | Ended::Held(_) => EXIT_NOTHING,
        Ended::Undone(_) | Ended::Left(_) => EXIT_NOT_PROVEN,
    };
    // What was changed and is not proven is worse than what was not begun.
    let codes: Vec<u8> = outcomes.iter().map(|o| worst(&o.ended)).collect();
    let first = [EXIT_NOT_PROVEN, EXIT_REBOOT, EXIT_NOTHING].into_iter().find(|c| codes.contains(c));
    Ok(first.unwrap_or(0))
}

fn nodes(a: &ApplyArgs) -> Result<Vec<Box<dyn Node>>, Failure> {
    let hosts: Vec<Option<&str>> =
        if a.host.is_empty() { vec![None] } else { a.host.iter().map(|h| Some(h.as_str())).collect() };
    let bmcs = a.redfish.each(&hosts)?;
    let node = |(host, bmc): (&Option<&str>, _)| {
        Ok(bmc::with(reach::node(*host, a.root.as_deref(), &a.ssh_option, a.sudo)?, bmc, a.kube.cluster()))
    };
    hosts.iter().zip(bmcs).map(node).collect()
}

/// A plan that the operator holds, and its steps that are taken; none: all.
struct Chosen {
    plan: Plan,
    bytes: Vec<u8>,
    signature: Option<Vec<u8>>,
    steps: Vec<String>,
}

fn named(a: &ApplyArgs, nodes: usize) -> Result<Vec<Chosen>, Failure> {
    if a.plans.is_empty() {
        return Err(Failure::new("no plan is named")
            .hint("`linerate plan --format json -o FILE` makes one; --resume goes on with one"));
    }
    if a.plans.len() != nodes {
        return Err(Failure::new(format!("{} plans for {nodes} nodes", a.plans.len()))
            .hint("a plan is made for one node: name a --host for each, in the same order"));
    }
    let one = |path: &PathBuf| {
        let FromFile { plan, bytes } = read_plan(path)?;
        let file = signature::beside(path);
        let signature = match std::fs::File::open(&file) {
            Ok(file) => {
                let mut bytes = Vec::new();
                let read = file.take(signature::MOST).read_to_end(&mut bytes);
                read.map_err(|e| Failure::new(format!("{}: {e}", signature::beside(path).display())))?;
                Some(bytes)
            }
            Err(_) => None,
        };
        Ok(Chosen { plan, bytes, signature, steps: a.step.clone() })
    };
    a.plans.iter().map(one).collect()
}

/// Whether a plan was signed by one who may, and says who.
fn signed(a: &ApplyArgs, chosen: &Chosen) -> Result<(), Failure> {
    let hash = &chosen.plan.hash;
    let signature = chosen.signature.as_ref().ok_or_else(|| {
        Failure::new(format!("plan {hash:.16} has no signature beside it, and --require-signature asks for one"))
            .hint("`linerate plan --sign KEY -o PLAN` writes PLAN.sig; keep it beside the plan")
    })?;
    let name = signature::verified(&chosen.bytes, signature, a.allowed_signers.as_deref())?;
    crate::output::remark(&format!("plan {hash:.16} is signed by {name}"));
    Ok(())
}

/// Whether these steps of a plan (none: all) are there, and allowed.
fn check(a: &ApplyArgs, plan: &Plan, steps: &[String]) -> Result<(), Failure> {
    if let Some(id) = steps.iter().find(|id| plan.step(id).is_none()) {
        let known: Vec<&str> = plan.steps.iter().map(|s| s.id.as_str()).collect();
        return Err(
            Failure::new(format!("the plan has no step {id:?}")).hint(format!("its steps: {}", known.join(", ")))
        );
    }
    let wanted = |id: &str| steps.is_empty() || steps.iter().any(|s| s == id);
    let mut dangerous = plan.dangerous().filter(|s| wanted(&s.id) && !a.allow.contains(&s.id));
    if let Some(step) = dangerous.next() {
        return Err(Failure::new(format!("the step {} is dangerous: {}", step.id, step.risk_note))
            .hint(format!("--allow {} applies it anyway", step.id)));
    }
    Ok(())
}

/// What would be done, and what each node says to it.
fn dry(
    a: &ApplyArgs,
    nodes: &[Box<dyn Node>],
    plans: &[Chosen],
    operator: &Operator,
    mut sink: Sink,
) -> Result<u8, Failure> {
    let style = sink.style(a.color, false);
    let mut fits = true;
    for (node, Chosen { plan, steps, .. }) in nodes.iter().zip(plans) {
        writeln!(sink, "On {}, this would be done:\n", terminal(node.name()))?;
        match a.format {
            AnswerFormat::Markdown => markdown::render(plan, &mut sink)?,
            _ => text::render(plan, style, &mut sink)?,
        }
        let refused = drive::check(&**node, plan, steps, operator)?.refused;
        fits &= refused.is_empty();
        for trouble in &refused {
            let step = trouble.step.as_ref().map(|s| format!("{s}: ")).unwrap_or_default();
            writeln!(
                sink,
                "\n{} refuses the plan: {}",
                terminal(node.name()),
                terminal(&format!("{step}{}", trouble.what))
            )?;
        }
    }
    let end = if fits {
        "Use --yes to apply it."
    } else {
        "With --yes nothing would be changed either: see the refusals above."
    };
    writeln!(sink, "\nNothing was changed. {end}")?;
    sink.finish()?;
    Ok(if fits { 0 } else { EXIT_NOTHING })
}

fn answer(a: &ApplyArgs, outcome: &Outcome, sink: &mut Sink) -> Result<(), Failure> {
    outcome.remarks.iter().for_each(|r| crate::output::remark(r));
    let earlier = match &outcome.ended {
        Ended::Proven => None,
        Ended::Undone(_) => Some("Before it was undone, the node showed:"),
        Ended::Left(_) | Ended::RebootDue | Ended::Untouched(_) | Ended::Held(_) => {
            Some("When it was last read, the node showed:")
        }
    };
    if let Some(found) = &outcome.verification {
        if let Some(words) = earlier.filter(|_| a.format != AnswerFormat::Json) {
            writeln!(sink, "{words}\n")?;
        }
        super::verified(found, a.format, a.color, sink)?;
    }
    let (words, hint) = match &outcome.ended {
        Ended::Proven => ("proven: every step is effective".to_owned(), None),
        Ended::Undone(why) => {
            (format!("undone: {why}"), Some("what the running kernel took is gone after the next reboot"))
        }
        Ended::Left(why) => {
            let hint = "`linerate apply --resume` tries again, `linerate rollback` undoes it";
            (format!("NOT proven, and left as it is: {why}"), Some(hint))
        }
        Ended::RebootDue => ("a reboot is due".to_owned(), Some("after it, `linerate apply --resume --yes` goes on")),
        Ended::Untouched(why) => (format!("nothing was changed: {why}"), None),
        Ended::Held(who) => (
            format!("this session does nothing on the node: {who}"),
            Some("the session that holds the node reports its result"),
        ),
    };
    crate::output::remark(&format!("{}: {words}", outcome.node));
    if let Some(hint) = hint {
        crate::output::remark(&format!("  {hint}"));
    }
    Ok(())
}
