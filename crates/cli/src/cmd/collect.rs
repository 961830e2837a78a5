//! `linerate collect`.

use crate::collect_args::CollectArgs;
use crate::output::{Failure, Standard};
use crate::progress::Line;
use linerate_snapshot::RedactKey;
use linerate_snapshot::capture::{Options, Purpose, capture};
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn run(a: &CollectArgs) -> Result<u8, Failure> {
    if let Some(set) = &a.fan.on.read.on {
        return super::collect_on::run(set, a);
    }
    let output = a.output.as_deref().unwrap_or(Path::new("node.tar.zst"));
    let root = a.root.as_deref().unwrap_or(Path::new("/"));
    super::must_be_root(a.root.as_deref())?;
    let key = key(a)?;
    let options = Options {
        redact: !a.no_redact,
        key: key.clone(),
        commands: !a.no_commands,
        ..crate::budget::options(root, if a.counters { Purpose::Counters } else { Purpose::Collect })
    };
    let line = Line::new(!a.quiet);
    let snapshot = capture(&options, &|p| line.capture(p))?;
    drop(line);
    let written =
        if output == Path::new("-") { snapshot.write_tar_zst(Standard::new()) } else { snapshot.save(output) };
    written.map_err(|e| Failure::writing(output, &e))?;
    if let Some(key) = &key {
        key.save().map_err(|e| Failure::new(e.to_string()))?;
    }
    if !a.quiet {
        let unread = snapshot.manifest.unread.len();
        let size = std::fs::metadata(output).map_or(0, |m| m.len());
        let mut err = std::io::stderr().lock();
        let _ = writeln!(
            err,
            "{}: {} entries, {} KiB; {unread} could not be read",
            linerate_out::terminal(&output.display().to_string()),
            snapshot.len(),
            size.div_ceil(1024)
        );
        if snapshot.manifest.uid != Some(0) && a.root.is_none() {
            let _ = writeln!(
                err,
                "not run as root: configuration space beyond 64 bytes, the kernel log and firmware settings are missing"
            );
        }
    }
    Ok(0)
}

/// The operator's key, where one is named.
pub(super) fn key(a: &CollectArgs) -> Result<Option<RedactKey>, Failure> {
    let open = |path: &PathBuf| RedactKey::open(path).map_err(|e| Failure::new(e.to_string()));
    a.redact_key.as_ref().map(open).transpose()
}
