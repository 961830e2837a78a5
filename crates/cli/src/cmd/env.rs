//! `linerate env check`.

use crate::args::{EnvArgs, EnvCheckArgs, EnvCommand, EnvFormat};
use crate::live;
use crate::output::{Failure, Sink};
use crate::sources;
use linerate_env::read::{self, Form, LogReader, Read};
use linerate_env::{Context, NodeFacts, OriginKind, Setting};
use linerate_formats::bounds::TEXT as MAX_TEXT;
use linerate_node::Node;
use linerate_report::env::{Env, json, paste, text};
use linerate_snapshot::Snapshot;
use linerate_snapshot::capture::Purpose;
use std::io::Read as _;
use std::path::Path;

/// As much of an input as tells what it is.
const HEAD: u64 = 64 << 10;
/// Logs are read in such pieces.
const PIECE: usize = 1 << 20;

pub(crate) fn run(a: &EnvArgs) -> Result<u8, Failure> {
    match &a.command {
        EnvCommand::Check(a) => check(a),
    }
}

/// All inputs together.
#[derive(Default)]
struct Inputs {
    settings: Vec<Setting>,
    sources: Vec<String>,
    context: Context,
    release_from: Option<String>,
    dropped: u64,
    notes: Vec<String>,
    incomplete: bool,
}

fn check(a: &EnvCheckArgs) -> Result<u8, Failure> {
    let mut inputs = Inputs::default();
    // Of a node elsewhere only its own files count, not this machine's.
    if a.files.is_empty() && a.on.read.on.is_none() && a.node.as_deref().is_none_or(|n| n == Path::new("/")) {
        own(&mut inputs);
    }
    for path in &a.files {
        let read = one(path)?;
        inputs.add(&path.display().to_string(), read);
    }
    if let Some(v) = a.nccl {
        if let (Some(other), Some(from)) = (inputs.context.nccl, &inputs.release_from)
            && other != v
        {
            inputs.notes.push(format!("{from} says NCCL {other}; judged by {v}, as --nccl says"));
        }
        inputs.context.nccl = Some(v);
        inputs.release_from = Some("--nccl".to_owned());
    }
    let snapshot = match (live::exactly(1, &a.on, true)?, &a.node) {
        (Some(live), _) => Some(live.one()?),
        (None, Some(path)) => Some(sources::load(path, &crate::budget::options(path, Purpose::Audit))?),
        (None, None) => None,
    };
    let node = snapshot.map(|s| facts(&s, &mut inputs));
    let judgements = linerate_env::judge(&inputs.settings, &inputs.context);
    let recommendation = linerate_env::recommend(&inputs.context);
    let env = Env {
        sources: &inputs.sources,
        context: &inputs.context,
        release_from: inputs.release_from.as_deref(),
        node: node.as_deref(),
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

impl Inputs {
    fn add(&mut self, name: &str, read: Read) {
        let count = read.settings.len();
        let what = form_name(read.form);
        self.sources.push(format!("{name} ({what}, {count} {})", if count == 1 { "setting" } else { "settings" }));
        self.settings.extend(read.settings);
        self.dropped = self.dropped.saturating_add(read.dropped);
        self.incomplete |= read.incomplete;
        self.notes.extend(read.notes.into_iter().map(|n| format!("{name}: {n}")));
        if let Some((v, at)) = read.nccl
            && self.context.nccl.is_none()
        {
            self.context.nccl = Some(v);
            self.release_from = Some(at.to_string());
        }
        if let Some((network, _)) = read.network
            && self.context.network.is_none()
        {
            self.context.network = Some(network);
        }
        self.context.fabric = self.context.fabric.or(read.fabric);
        self.context.rccl |= read.rccl;
        self.context.elsewhere.extend(read.elsewhere);
    }
}

fn form_name(form: Form) -> &'static str {
    match form {
        Form::Environ | Form::List => "environment",
        Form::Conf => "nccl.conf",
        Form::Script => "script",
        Form::Manifest => "manifest",
        Form::Dockerfile => "Dockerfile",
        Form::Log => "log",
        Form::Unknown => "not understood",
    }
}

/// What a job that is started from here would see.
fn own(inputs: &mut Inputs) {
    // A value that is not UTF-8 is not read.
    let variables: Vec<(String, String)> =
        std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect();
    let read = read::environment(variables.iter().map(|(k, v)| (k.as_str(), v.as_str())));
    let named = variables.iter().find(|(k, v)| k == "NCCL_CONF_FILE" && !v.is_empty()).map(|(_, v)| v.clone());
    let home = variables.iter().find(|(k, _)| k == "HOME").map(|(_, v)| format!("{v}/.nccl.conf"));
    inputs.add("this process", read);
    for path in named.or(home).into_iter().chain(["/etc/nccl.conf".to_owned()]) {
        let mut bytes = Vec::new();
        match std::fs::File::open(&path).and_then(|f| f.take(MAX_TEXT + 1).read_to_end(&mut bytes)) {
            Ok(_) => inputs.add(&path, within(Form::Conf, Some(&path), &bytes)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => {
                inputs.incomplete = true;
                inputs.notes.push(format!("cannot read {path}: {e}"));
            }
        }
    }
}

/// Reads a file or standard input: logs of any size piece by piece, the rest whole.
fn one(path: &Path) -> Result<Read, Failure> {
    let stdin = path == Path::new("-");
    let label = if stdin { "standard input".to_owned() } else { path.display().to_string() };
    let fail = |e: std::io::Error| Failure::new(format!("cannot read {label}: {e}"));
    if path.is_dir() {
        return Err(
            Failure::new(format!("{label} is a directory")).hint("name its files; a node's snapshot goes to --node")
        );
    }
    let mut input: Box<dyn std::io::Read> =
        if stdin { Box::new(std::io::stdin().lock()) } else { Box::new(std::fs::File::open(path).map_err(fail)?) };
    let mut bytes = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut bytes).map_err(fail)?;
    let name = (!stdin).then_some(label.as_str());
    let form = read::sniff(name, &bytes);
    if form == Form::Log {
        let mut log = LogReader::new(name);
        log.feed(&bytes);
        let mut piece = vec![0; PIECE];
        loop {
            match input.read(&mut piece).map_err(fail)? {
                0 => return Ok(log.finish()),
                n => log.feed(piece.get(..n).unwrap_or_default()),
            }
        }
    }
    if form == Form::Unknown && !bytes.is_empty() {
        return Err(Failure::new(format!("{label} is no environment, script, manifest, nccl.conf or log of NCCL"))
            .hint("lines of NAME=value, a pod spec, a job script, or a log with NCCL_DEBUG=INFO; a snapshot goes to --node"));
    }
    let limit = (MAX_TEXT + 1).saturating_sub(bytes.len() as u64);
    input.by_ref().take(limit).read_to_end(&mut bytes).map_err(fail)?;
    Ok(within(form, name, &bytes))
}

/// Reads an input of which one byte more than the limit was taken, where it has as many.
fn within(form: Form, name: Option<&str>, bytes: &[u8]) -> Read {
    let most = usize::try_from(MAX_TEXT).unwrap_or(usize::MAX);
    let mut read = read::read_as(form, name, bytes.get(..most).unwrap_or(bytes));
    if bytes.len() > most {
        read.left_out(format!("only the first {} MiB were read (limit TEXT)", MAX_TEXT >> 20));
    }
    read
}

/// What of the node decides; its nccl.conf is read, too.
fn facts(snapshot: &Snapshot, inputs: &mut Inputs) -> String {
    let node = Node::decode(snapshot);
    let of_job = inputs.settings.iter().filter(|s| s.name == "NCCL_TOPO_FILE");
    let file = of_job.filter(|s| s.origin.kind != OriginKind::SystemConf).map(|s| s.value.as_str()).next_back();
    inputs.context.node = Some(NodeFacts::in_job(&node, file));
    // Of this machine it was read already where no file was named.
    let read_already = inputs.sources.iter().any(|s| s.starts_with("/etc/nccl.conf "));
    if let Some(conf) = node.nccl.conf.known().filter(|_| !read_already) {
        let name = format!("{}:/etc/nccl.conf", snapshot.label);
        inputs.add(&name, read::read_as(Form::Conf, Some(&name), conf));
    }
    inputs.incomplete |= snapshot.incomplete || !node.cuts.is_empty();
    inputs.notes.extend(node.cuts.iter().map(|c| format!("{}: {}", snapshot.label, c.words(snapshot))));
    inputs.notes.extend(snapshot.problems.iter().map(|p| format!("{}: {p}", snapshot.label)));
    snapshot.label.clone()
}
