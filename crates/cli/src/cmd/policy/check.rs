//! `linerate policy check`.

use crate::claims::Claims;
use crate::output::Failure;
use crate::policy_args::{CheckArgs, PolicyFormat};
use crate::progress::Line;
use linerate_report::policy::{Checks, Format};

pub(super) fn run(a: &CheckArgs) -> Result<u8, Failure> {
    let policy = super::read_with_groups(&a.policy, &a.on.read.names)?;
    let (paths, claims) = Claims::take(&a.sources)?;
    let nodes = super::nodes(&paths, &a.of, &a.on, Some(&policy))?;
    let members = &nodes.members;
    let mut checks = Checks::new(&policy);
    let progress = Line::new(members.len() > 1);
    nodes.each(|i, label, node| {
        match node {
            Ok(mut snapshot) => {
                claims.join(&mut snapshot, label);
                checks.add(label, &super::checked(&policy, label, &snapshot), &snapshot);
            }
            Err(e) => checks.unreadable(label, &e.what()),
        }
        progress.count(i + 1, members.len(), "nodes");
        Ok(())
    })?;
    drop(progress);
    claims.finish();
    nodes.unread().iter().for_each(|u| checks.unreadable(&u.name, &u.why));
    let report = checks.finish();
    let mut sink = a.out.sink()?;
    let format = match a.format {
        PolicyFormat::Text => Format::Text(a.out.style(&sink)),
        PolicyFormat::Json => Format::Json,
        PolicyFormat::Markdown => Format::Markdown,
    };
    report.write(format, &mut sink)?;
    sink.finish()?;
    Ok(report.exit_code)
}
