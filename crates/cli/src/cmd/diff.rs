//! `linerate diff`.

use crate::diff_args::{DiffArgs, DiffFormat};
use crate::live;
use crate::output::Failure;
use linerate_fleet::{Profile, diff};
use linerate_node::Node;
use linerate_report::diff::{Format, Report};
use linerate_snapshot::Snapshot;
use std::path::{Path, PathBuf};

pub(crate) fn run(a: &DiffArgs) -> Result<u8, Failure> {
    let (labels, [one, other]) = match live::exactly(2, &a.on, false)? {
        Some(live) => {
            let two = |_| Failure::new("two nodes are compared");
            let nodes = <[Snapshot; 2]>::try_from(live.all()?).map_err(two)?;
            (nodes.each_ref().map(|n| n.label.clone()), nodes.map(|n| profile(&n.label, &n)))
        }
        None => {
            let [first, second] = two(&a.sources)?;
            let labels = labels(&first, &second);
            let one = profile(&labels[0], &crate::sources::unredacted(&first)?);
            let other = profile(&labels[1], &crate::sources::unredacted(&second)?);
            (labels, [one, other])
        }
    };
    let found = diff::diff(&one, &other);
    let report = Report::of([&labels[0], &labels[1]], &found, one.incomplete || other.incomplete);
    let mut sink = a.out.sink()?;
    let format = match a.format {
        DiffFormat::Text => Format::Text(a.out.style(&sink)),
        DiffFormat::Json => Format::Json,
        DiffFormat::Markdown => Format::Markdown,
    };
    report.write(format, &mut sink)?;
    sink.finish()?;
    Ok(report.exit_code)
}

/// Two sources as given, or the two that a directory holds.
fn two(sources: &[PathBuf]) -> Result<[PathBuf; 2], Failure> {
    match sources {
        [a, b] => Ok([a.clone(), b.clone()]),
        [dir] => {
            let failed = |e| Failure::new(format!("cannot read {}: {e}", dir.display()));
            let hint = "name two sources, or a directory that holds just two";
            if !dir.is_dir() {
                return Err(Failure::new(format!("{} is one source, and diff compares two", dir.display())).hint(hint));
            }
            let mut inside = Vec::new();
            for entry in std::fs::read_dir(dir).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                let hidden = path.file_name().is_none_or(|n| n.as_encoded_bytes().starts_with(b"."));
                inside.extend((!hidden).then_some(path));
            }
            inside.sort();
            let n = inside.len();
            <[PathBuf; 2]>::try_from(inside)
                .map_err(|_| Failure::new(format!("{} holds {n} sources, not two", dir.display())).hint(hint))
        }
        _ => Err(Failure::new("diff compares two sources, no more").hint("linerate audit DIR looks at many nodes")),
    }
}

/// Names of files, without what packs them; whole paths where those are the same.
fn labels(a: &Path, b: &Path) -> [String; 2] {
    let both = [crate::sources::short(a), crate::sources::short(b)];
    if both[0] == both[1] { [a.display().to_string(), b.display().to_string()] } else { both }
}

fn profile(label: &str, snapshot: &Snapshot) -> Profile {
    Profile::of(label, &Node::decode(snapshot), snapshot, linerate_rules::rules())
}
