//! `linerate env check`.

use crate::args::{EnvArgs, EnvCheckArgs, EnvCommand, EnvFormat};
use crate::live;
use crate::output::Failure;
use crate::sources;
use linerate_env::{Inputs, Text};
use linerate_report::env::{Env, json, paste, text};
use linerate_snapshot::Input;
use linerate_snapshot::capture::Purpose;
use std::io::ErrorKind;
use std::path::Path;

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
    let mut sink = a.out.sink()?;
    let style = a.out.style(&sink);
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
        match Input::open(Some(Path::new(&path)), &crate::budget::budget()) {
            // NCCL itself unpacks nothing.
            Ok(input) if input.packing().is_some() => inputs.unread(format!("{path} is packed: NCCL cannot read it")),
            Ok(mut input) => {
                let text = Text::conf(&path, input.take_head());
                feed(text, input, &path, inputs);
            }
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
    if path.is_dir() {
        return Err(
            Failure::new(format!("{label} is a directory")).hint("name its files; a node's snapshot goes to --node")
        );
    }
    let opened = Input::open((!stdin).then_some(path), &crate::budget::budget());
    let mut input = opened.map_err(|e| Failure::new(format!("cannot read {label}: {e}")))?;
    if input.is_archive() {
        return Err(
            Failure::new(format!("{label} is an archive")).hint("name its files; a node's snapshot goes to --node")
        );
    }
    let head = input.take_head();
    if head.is_empty()
        && let Err(damage) = input.piece(&mut [0])
    {
        return Err(Failure::new(format!("{label}: {damage}")));
    }
    let Some(text) = Text::new((!stdin).then_some(label), head) else {
        return Err(Failure::new(format!("{label} is not an environment, script, manifest, nccl.conf or log of NCCL"))
            .hint("lines of NAME=value, a pod spec, a job script, or a log with NCCL_DEBUG=INFO; a snapshot goes to --node"));
    };
    feed(text, input, &name, inputs);
    Ok(())
}

/// Hands over the rest of an input, as much as is wanted of it, and what ended it.
fn feed(mut text: Text<'_>, mut input: Input, name: &str, inputs: &mut Inputs) {
    let mut piece = vec![0; PIECE];
    let mut searched = 0;
    let ended = loop {
        match input.piece(&mut piece) {
            Ok(0) => break None,
            Ok(n) if text.feed(piece.get(..n).unwrap_or_default()) => {}
            Ok(_) => break None,
            Err(damage) => break Some(damage.to_string()),
        }
        let more = text.searched() - std::mem::replace(&mut searched, text.searched());
        // What is packed costs no more than a multiple of what lies on the disk.
        if input.packing().is_some()
            && let Err(e) = crate::budget::budget().search(more)
        {
            break Some(e.to_string());
        }
    };
    text.finish(name, inputs);
    if let Some(why) = ended {
        inputs.unread(format!("{name}: {why}"));
    }
}
