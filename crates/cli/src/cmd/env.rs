//! `linerate env check`.

use crate::args::{EnvArgs, EnvCheckArgs, EnvCommand, EnvFormat};
use crate::live;
use crate::output::{Failure, Sink};
use crate::sources;
use linerate_env::{Inputs, Text};
use linerate_report::env::{Env, json, paste, text};
use linerate_snapshot::capture::Purpose;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// As much of an input as tells what it is.
const HEAD: u64 = 64 << 10;
/// Inputs are read in such pieces.
const PIECE: usize = 1 << 20;

pub(crate) fn run(a: &EnvArgs) -> Result<u8, Failure> {
    match &a.command {
        EnvCommand::Check(a) => check(a),
    }
}

fn check(a: &EnvCheckArgs) -> Result<u8, Failure> {
    let mut inputs = Inputs::default();
    // Of a node elsewhere only its own files count, not this machine's.
    if a.files.is_empty() && a.on.read.on.is_none() && a.node.as_deref().is_none_or(|n| n == Path::new("/")) {
        own(&mut inputs);
    }
    for path in &a.files {
        one(path, &mut inputs)?;
    }
    if let Some(v) = a.nccl {
        inputs.release(v, "--nccl");
    }
    let snapshot = match (live::exactly(1, &a.on, true)?, &a.node) {
        (Some(live), _) => Some(live.one()?),
        (None, Some(path)) => Some(sources::load(path, &crate::budget::options(path, Purpose::Audit))?),
        (None, None) => None,
    };
    snapshot.iter().for_each(|s| inputs.node(s));
    let judgements = linerate_env::judge(&inputs.settings, &inputs.context);
    let recommendation = linerate_env::recommend(&inputs.context);
    let env = Env {
        sources: &inputs.sources,
        context: &inputs.context,
        release_from: inputs.release_from.as_deref(),
        node: snapshot.as_ref().map(|s| s.label.as_str()),
        judgements: &judgements,
        recommendation: &recommendation,
        dropped: inputs.dropped,
        notes: &inputs.notes,
        incomplete: inputs.incomplete,
    };
    let mut sink = Sink::open(a.output.as_deref())?;
    let style = sink.style(a.color, a.verbose);
    match a.format {
        EnvFormat::Text => text::render(&env, style, &mut sink)?,
        EnvFormat::Json => json::render(&env, &mut sink)?,
        EnvFormat::Shell => paste::render(&env, paste::Form::Shell, &mut sink)?,
        EnvFormat::K8s => paste::render(&env, paste::Form::K8s, &mut sink)?,
        EnvFormat::Sbatch => paste::render(&env, paste::Form::Sbatch, &mut sink)?,
    }
    sink.finish()?;
    Ok(env.exit_code())
}

/// What a job that is started from here would see.
fn own(inputs: &mut Inputs) {
    // A value that is not UTF-8 is not read.
    let variables: Vec<(String, String)> =
        std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect();
    for path in inputs.process(&variables) {
        let read = File::open(&path).and_then(|mut file| {
            let mut text = Text::conf(&path, Vec::new());
            feed(&mut text, &mut file)?;
            Ok(text)
        });
        match read {
            Ok(text) => text.finish(&path, inputs),
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => inputs.unread(format!("cannot read {path}: {e}")),
        }
    }
}

/// Reads a file or standard input.
fn one(path: &Path, inputs: &mut Inputs) -> Result<(), Failure> {
    let stdin = path == Path::new("-");
    let name = path.display().to_string();
    let label = if stdin { "standard input" } else { &name };
    let fail = |e: io::Error| Failure::new(format!("cannot read {label}: {e}"));
    if path.is_dir() {
        return Err(
            Failure::new(format!("{label} is a directory")).hint("name its files; a node's snapshot goes to --node")
        );
    }
    let mut from: Box<dyn Read> =
        if stdin { Box::new(io::stdin().lock()) } else { Box::new(File::open(path).map_err(fail)?) };
    let mut head = Vec::new();
    from.by_ref().take(HEAD).read_to_end(&mut head).map_err(fail)?;
    let Some(mut text) = Text::new((!stdin).then_some(label), head) else {
        return Err(Failure::new(format!("{label} is no environment, script, manifest, nccl.conf or log of NCCL"))
            .hint("lines of NAME=value, a pod spec, a job script, or a log with NCCL_DEBUG=INFO; a snapshot goes to --node"));
    };
    feed(&mut text, &mut from).map_err(fail)?;
    text.finish(&name, inputs);
    Ok(())
}

/// Hands over the rest of an input, as much as is wanted of it.
fn feed(text: &mut Text<'_>, from: &mut dyn Read) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(n) => {
                if !text.feed(piece.get(..n).unwrap_or_default()) {
                    return Ok(());
                }
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}
