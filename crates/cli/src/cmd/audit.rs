//! `linerate audit`.

use crate::args::{AuditArgs, Format};
use crate::claims::Claims;
use crate::live;
use crate::output::{Failure, Sink};
use crate::progress::Line;
use crate::sources::{self, Member};
use linerate_node::Node;
use linerate_report::Report;
use linerate_report::json::Version;
use linerate_rules::Terms;
use linerate_snapshot::capture::{Options, Purpose};
use linerate_snapshot::{OpenError, Snapshot};
use std::path::PathBuf;

pub(crate) fn run(a: &AuditArgs) -> Result<u8, Failure> {
    let rules = sources::select(&a.rules)?;
    if a.schema.is_some() && a.format != Format::Json {
        return Err(Failure::new("--schema is a version of the JSON").hint("add --format json, or leave out --schema"));
    }
    let terms = Terms { only: a.rules.clone(), ..crate::terms_args::terms(&a.known, a.fail_on)? };
    // Reports are pasted into tickets: what is captured for them is redacted as a snapshot is.
    let live = live::many(&a.on, !a.no_redact)?;
    let chosen = a.of.read()?;
    let snapshot = match &live {
        Some(live) if live.is_one() => live.one()?,
        Some(live) => {
            return super::fleet::run(
                a,
                (&rules, &terms),
                (&[], &live.members),
                &live.unread,
                (&Claims::default(), &chosen),
            );
        }
        None => {
            let (paths, claims) = Claims::take(&a.sources)?;
            let one = || chosen.set().map(|_| paths.iter().map(|p| Member::of(p)).collect());
            if let Some(members) = sources::fleet(&paths).or_else(one) {
                return super::fleet::run(a, (&rules, &terms), (&paths, &chosen.of(members)), &[], (&claims, &chosen));
            }
            let mut snapshot = match load(a, &paths) {
                Ok(snapshot) => snapshot,
                // An archive or texts of several nodes.
                Err(Unloaded::Several(path)) => {
                    return super::fleet::run(
                        a,
                        (&rules, &terms),
                        (&paths, &[Member::of(&path)]),
                        &[],
                        (&claims, &chosen),
                    );
                }
                Err(Unloaded::Failed(e)) => return Err(e),
            };
            let label = paths.first().map_or_else(|| snapshot.label.clone(), |p| sources::label(p));
            claims.join(&mut snapshot, &label);
            claims.finish();
            snapshot
        }
    };
    let mut node = Node::decode_as(&snapshot, a.role.map(Into::into));
    node.growth = a.before.as_deref().map(|earlier| crate::readings::since(earlier, &snapshot)).transpose()?;
    let terms = terms.of(&snapshot.label, &snapshot);
    let audit = linerate_rules::audit(&node, &snapshot, &rules).on(terms);
    let report = Report { audit: &audit, node: &node, snapshot: &snapshot };
    let mut sink = Sink::open(a.output.as_deref())?;
    let style = sink.style(a.color, a.verbose);
    match a.format {
        Format::Text if a.brief => linerate_report::terminal::brief(&report, style, &mut sink)?,
        Format::Text => linerate_report::terminal::render(&report, style, &mut sink)?,
        Format::Json => {
            let version = a.schema.map_or(Version::Two, Into::into);
            linerate_report::json::render_pretty(&report, version, &mut sink)?;
        }
        Format::Markdown => linerate_report::markdown::render(&report, &mut sink)?,
        Format::Sarif => linerate_report::sarif::render(&report, &mut sink)?,
        Format::Junit => linerate_report::junit::render(&report, &mut sink)?,
    }
    sink.finish()?;
    Ok(audit.exit_code())
}

/// Why there is no snapshot of one node.
enum Unloaded {
    Several(PathBuf),
    Failed(Failure),
}

/// The one node that the arguments name.
fn load(a: &AuditArgs, paths: &[PathBuf]) -> Result<Snapshot, Unloaded> {
    super::must_be_root(a.root.as_deref()).map_err(Unloaded::Failed)?;
    let path = a.root.as_deref().or(paths.first().map(|p| p.as_path())).unwrap_or_else(|| crate::this_machine::path());
    let options = Options { redact: !a.no_redact, ..crate::budget::options(path, Purpose::Audit) };
    let line = Line::new(true);
    linerate_snapshot::load(path, &options, &|p| line.capture(p)).map_err(|e| match e {
        OpenError::Several { wanted: None, .. } if path.is_file() || linerate_snapshot::is_dir_of_texts(path) => {
            Unloaded::Several(path.to_owned())
        }
        e => Unloaded::Failed(e.into()),
    })
}
