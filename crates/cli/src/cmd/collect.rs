//! `linerate collect`.

use crate::args::CollectArgs;
use crate::output::{Failure, Standard};
use crate::progress::Line;
use linerate_snapshot::capture::{Options, Purpose, capture};
use std::io::Write;
use std::path::Path;

pub(crate) fn run(a: &CollectArgs) -> Result<u8, Failure> {
    let root = a.root.as_deref().unwrap_or(Path::new("/"));
    let options =
        Options { redact: !a.no_redact, commands: !a.no_commands, ..crate::budget::options(root, Purpose::Collect) };
    let line = Line::new(!a.quiet);
    let snapshot = capture(&options, &|p| line.capture(p)).map_err(Failure::new)?;
    drop(line);
    let written =
        if a.output == Path::new("-") { snapshot.write_tar_zst(Standard::new()) } else { snapshot.save(&a.output) };
    written.map_err(|e| Failure::writing(&a.output, &e))?;
    if !a.quiet {
        let unread = snapshot.manifest.unread.len();
        let size = std::fs::metadata(&a.output).map_or(0, |m| m.len());
        let mut err = std::io::stderr().lock();
        let _ = writeln!(
            err,
            "{}: {} entries, {} KiB; {unread} could not be read",
            linerate_out::terminal(&a.output.display().to_string()),
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
