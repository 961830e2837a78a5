//! `linerate verify`.

use super::read_plan;
use crate::cmd::bench;
use crate::output::{Failure, Sink, width};
use crate::plan_args::{AnswerFormat, VerifyArgs};
use crate::progress::Line;
use linerate_remedy::verify::{Identity, Told, identity, verify_told};
use linerate_report::Style;
use linerate_report::plan::{json, markdown, text};
use linerate_snapshot::Snapshot;
use linerate_snapshot::capture::{Options, Purpose};
use std::path::Path;

pub(crate) fn run(a: &VerifyArgs) -> Result<u8, Failure> {
    let plan = read_plan(&a.plan)?.plan;
    let before = a.before.as_deref().map(load).transpose()?;
    let after = match &a.source {
        Some(path) => load(path)?,
        None => a.reach.node()?.read().map_err(Failure::new)?,
    };
    if let Identity::No(why) = identity(&plan, before.as_ref(), &after) {
        return Err(Failure::new(why).hint("verify the plan on its own node, or make a plan of this one"));
    }
    let mut told = match a.redfish.one(a.reach.host.as_deref())? {
        Some(bmc) => bmc.told(&plan, false),
        None => Told::default(),
    };
    if let Some(kube) = a.kube.cluster() {
        kube.tell(&plan, &mut told).iter().for_each(|e| crate::output::remark(&e.to_string()));
    }
    let found = verify_told(&plan, before.as_ref(), &after, &told);
    let mut sink = Sink::open(None)?;
    let style = Style { colour: sink.colour(a.color), width: width(), verbose: false };
    match a.format {
        AnswerFormat::Text => text::render_verified(&found, style, &mut sink)?,
        AnswerFormat::Markdown => markdown::render_verified(&found, &mut sink)?,
        AnswerFormat::Json => json::render(&found, &mut sink)?,
    }
    if !a.bench_before.is_empty() && a.format == AnswerFormat::Text {
        bench::beside(&a.bench_before, &a.bench_after, &mut sink)?;
    }
    sink.finish()?;
    Ok(found.exit_code())
}

fn load(path: &Path) -> Result<Snapshot, Failure> {
    let line = Line::new(true);
    // What hashing makes of names differs from time to time: it would be reported as a change.
    let options = Options { redact: false, ..crate::budget::options(path, Purpose::Collect) };
    linerate_snapshot::load(path, &options, &|p| line.capture(p)).map_err(Failure::new)
}
