//! `linerate verify`.

use super::{reach, read_plan};
use crate::cmd::bench;
use crate::live;
use crate::output::{Failure, Sink};
use crate::plan_args::{AnswerFormat, VerifyArgs};
use crate::sources::unredacted;
use linerate_remedy::verify::{Identity, Told, identity, verify_told};
use std::path::Path;

pub(crate) fn run(a: &VerifyArgs) -> Result<u8, Failure> {
    let plan = read_plan(&a.plan)?.plan;
    let before = a.before.as_deref().map(unredacted).transpose()?;
    live::no_inventory(&a.on)?;
    let after = match (reach::live(&a.reach, &a.on)?, &a.source) {
        (Some((snapshot, _)), _) => snapshot,
        (None, Some(path)) => unredacted(path)?,
        (None, None) => a.reach.node()?.read()?,
    };
    if let Identity::No(why) = identity(&plan, before.as_ref(), &after) {
        return Err(Failure::new(why).hint("verify the plan on its own node, or make a plan of this one"));
    }
    let mut told = match a.redfish.one(a.reach.named(&a.on))? {
        Some(bmc) => bmc.told(&plan, false),
        None => Told::default(),
    };
    if let Some(kube) = a.kube.cluster() {
        kube.tell(&plan, &mut told).iter().for_each(|e| crate::output::remark(&e.to_string()));
    }
    for guest in &a.guest {
        let (name, source) = guest.split_once('=').ok_or_else(|| {
            Failure::new(format!("--guest {guest}: it needs the name of the domain")).hint("--guest NAME=SNAPSHOT")
        })?;
        told.guests.insert(name.to_owned(), unredacted(Path::new(source))?);
    }
    let found = verify_told(&plan, before.as_ref(), &after, &told);
    let mut sink = Sink::open(None)?;
    super::verified(&found, a.format, a.color, &mut sink)?;
    if !a.bench_before.is_empty() && a.format == AnswerFormat::Text {
        bench::beside(&a.bench_before, &a.bench_after, &mut sink)?;
    }
    sink.finish()?;
    Ok(found.exit_code())
}
