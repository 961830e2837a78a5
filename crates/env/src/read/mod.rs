//! Readers of settings: environments, scripts, manifests, configuration files, logs.
//!
//! Only variables of an allow list are kept ([`relevant`]); all others are dropped where they are seen: environments hold secrets.

mod conf;
mod dockerfile;
mod form;
mod list;
mod log;
mod manifest;
mod names;
mod script;
mod words;

pub use form::{Form, sniff};
pub use log::LogReader;
pub(crate) use names::plain;
pub use names::relevant;

use crate::context::Fabric;
use crate::setting::{Elsewhere, Origin, OriginKind, Setting};
use linerate_formats::bounds::{ENV_DEPTH, ENV_ELSEWHERE, ENV_SETTINGS, ENV_VALUE, ENV_WORDS};
use linerate_formats::text::at_most;
use linerate_topology::Version;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use words::{Part, Word};

/// What an input held.
#[derive(Debug, Clone)]
pub struct Read {
    /// What it was taken for.
    pub form: Form,
    /// Settings in the order of the input.
    pub settings: Vec<Setting>,
    /// Release of NCCL that a log names.
    pub nccl: Option<(Version, Origin)>,
    /// Network that a log says NCCL uses.
    pub network: Option<(String, Origin)>,
    /// Link layers of the ports that a log says NCCL uses.
    pub fabric: Option<Fabric>,
    /// It names AMD's RCCL or its devices.
    pub rccl: bool,
    /// Parts of the environment that the input names and does not hold.
    pub elsewhere: Vec<Elsewhere>,
    /// Variables that linerate does not read; their names and values are not kept.
    pub dropped: u64,
    /// What was not understood.
    pub notes: Vec<String>,
    /// A limit left part of the input out, or nothing was understood; a note says which.
    pub incomplete: bool,
}

impl Read {
    /// Notes why part of the input, or all of it, is left out. Each reason is noted once.
    pub fn left_out(&mut self, why: String) {
        self.incomplete = true;
        if !self.notes.contains(&why) {
            self.notes.push(why);
        }
    }
}

/// Reads an input whole. `name` is its file name, which helps and is not trusted. Logs of any size are better fed to a [`LogReader`].
#[must_use]
pub fn read(name: Option<&str>, bytes: &[u8]) -> Read {
    read_as(sniff(name, bytes), name, bytes)
}

/// Reads an input as a form.
#[must_use]
pub fn read_as(form: Form, name: Option<&str>, bytes: &[u8]) -> Read {
    let mut out = Sink::new(form, name);
    match form {
        Form::Environ => list::environ(bytes, &mut out),
        Form::List => list::lines(&text(bytes), &mut out),
        Form::Conf => conf::read(bytes, &mut out),
        Form::Script => script::read(&text(bytes), &mut out),
        Form::Manifest => manifest::read(&text(bytes), &mut out),
        Form::Dockerfile => dockerfile::read(&text(bytes), &mut out),
        Form::Log => {
            let mut log = LogReader::new(name);
            log.feed(bytes);
            return log.finish();
        }
        // A pipe is empty where the command before it failed.
        Form::Unknown if bytes.is_empty() => out.read.left_out("it is empty".to_owned()),
        Form::Unknown => out.read.left_out("neither an environment, a script, a manifest nor a log".to_owned()),
    }
    out.drop_own();
    out.read.rccl = text(bytes).split(['\n', '\0']).any(names_rccl);
    out.read
}

/// What only an environment for AMD's RCCL names: its library and tests, AMD's devices of a pod, ROCr's setting of RCCL's guide.
const RCCL: &[&str] = &["librccl", "rccl-tests", "amd.com/gpu", "HSA_FORCE_FINE_GRAIN_PCIE"];

fn names_rccl(line: &str) -> bool {
    !line.trim_start().starts_with('#') && RCCL.iter().any(|w| line.contains(w))
}

/// Variables of a process, as it has them.
#[must_use]
pub fn environment<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Read {
    let mut out = Sink::new(Form::Environ, None);
    for (name, value) in variables {
        out.read.rccl |= names_rccl(name) || names_rccl(value);
        out.put(name, value, None);
    }
    out.read
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

/// Takes settings, and drops variables that linerate does not read.
struct Sink {
    read: Read,
    origin: Origin,
    /// Names of no variable that the script itself reads.
    own: BTreeSet<String>,
}

impl Sink {
    fn new(form: Form, name: Option<&str>) -> Self {
        let kind = match form {
            Form::Environ | Form::List | Form::Unknown => OriginKind::Environment,
            Form::Script => OriginKind::Script,
            Form::Manifest => OriginKind::Manifest,
            Form::Dockerfile => OriginKind::Dockerfile,
            Form::Log => OriginKind::Log,
            Form::Conf if name == Some("/etc/nccl.conf") || name == Some("etc/nccl.conf") => OriginKind::SystemConf,
            Form::Conf if name.is_some_and(|n| n == "nccl.conf" || n.ends_with("/etc/nccl.conf")) => {
                OriginKind::SystemConf
            }
            Form::Conf => OriginKind::UserConf,
        };
        let origin = Origin { file: name.map(Arc::from), ..Origin::new(kind) };
        let read = Read {
            form,
            settings: Vec::new(),
            nccl: None,
            network: None,
            fabric: None,
            rccl: false,
            elsewhere: Vec::new(),
            dropped: 0,
            notes: Vec::new(),
            incomplete: false,
        };
        Sink { read, origin, own: BTreeSet::new() }
    }

    fn put(&mut self, name: &str, value: &str, line: Option<usize>) {
        // In a script `ib_hca=…` is a variable of its own, which it hands on by another name.
        let own = self.origin.kind == OriginKind::Script && names::is_bare(name);
        if own || !relevant(name) {
            self.read.dropped += 1;
            return;
        }
        if self.read.settings.len() >= ENV_SETTINGS {
            return self.read.left_out(format!(
                "only the first {ENV_SETTINGS} settings were read (limit ENV_SETTINGS); the rest was left out"
            ));
        }
        if value.len() > ENV_VALUE {
            self.read
                .left_out(format!("values were read to {ENV_VALUE} bytes (limit ENV_VALUE): {}", at_most(name, 200)));
        }
        let value = at_most(value, ENV_VALUE);
        let line = line.and_then(|l| u32::try_from(l).ok());
        let origin = Origin { line, ..self.origin.clone() };
        self.read.settings.push(Setting::new(at_most(name, 200), value, origin));
    }

    /// The script reads a variable.
    fn reads(&mut self, name: &str) {
        if self.own.len() < ENV_SETTINGS && relevant(name) && crate::lookup(name).is_none() {
            self.own.insert(name.to_owned());
        }
    }

    /// What no NCCL reads and the script does is the script's own.
    fn drop_own(&mut self) {
        let before = self.read.settings.len();
        let own = std::mem::take(&mut self.own);
        self.read.settings.retain(|s| !own.contains(&s.name));
        self.read.dropped += (before - self.read.settings.len()) as u64;
    }

    /// Another object sets variables here.
    fn elsewhere(&mut self, by: &str, holder: &str, line: usize) {
        if self.read.elsewhere.len() >= ENV_ELSEWHERE {
            self.read.left_out(format!(
                "only the first {ENV_ELSEWHERE} objects that settings come from are named (limit ENV_ELSEWHERE)"
            ));
        } else {
            let origin = Origin { line: u32::try_from(line).ok(), ..self.origin.clone() };
            let (by, holder) = (by.to_owned(), at_most(holder, 200).to_owned());
            self.read.elsewhere.push(Elsewhere { by, holder, at: origin });
        }
    }

    /// A part of a script: what is done with the words of a command, and what was left out.
    fn part(&mut self, part: Part<'_>, command: fn(&[Word], &mut Sink)) {
        match part {
            Part::Command(words) => command(words, self),
            Part::TooDeep(line) => self.left_out(
                line,
                &format!("commands more than {ENV_DEPTH} deep in others were not read (limit ENV_DEPTH)"),
            ),
            Part::TooLong(line) => {
                let why = format!("only the first {ENV_WORDS} words of a command were read (limit ENV_WORDS)");
                self.left_out(line, &why);
            }
        }
    }

    /// Notes a limit once, with the line where it was first met.
    fn left_out(&mut self, line: usize, why: &str) {
        if !self.read.notes.iter().any(|n| n.ends_with(why)) {
            self.read.left_out(format!("line {line}: {why}"));
        }
    }

    /// What follows belongs to another environment.
    fn next_scope(&mut self) {
        self.origin.scope = self.origin.scope.saturating_add(1);
    }

    /// `unset`: what was set before is gone.
    fn unset(&mut self, name: &str) {
        let scope = self.origin.scope;
        self.read.settings.retain(|s| s.name != name || s.origin.scope != scope);
    }
}
