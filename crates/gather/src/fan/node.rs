//! One node: the way to the program there, the program, and where none runs, the script.

use super::finish::Sent;
use super::gate::Inside;
use super::way::{Ear, Enough, Said};
use super::{By, Cause, Collector, Outcome, Program, Shared, cause, finish, way};
use crate::Target;
use linerate_snapshot::capture::{Options as Capture, capture};
use linerate_transport::{Command, Push, PushError, Remover, Transport, TransportError, place};
use std::time::{Duration, SystemTime};

/// Time for a push.
const PUSH: Duration = Duration::from_secs(600);
/// Bytes of each node that are kept until its file is packed. Of what is larger, so many nodes' at a time, and of what is larger than [`LARGE`],
/// one node's: the others wait in their pipes.
const KEPT: usize = 512 << 10;
const LARGE: usize = 4 << 20;
pub(super) const LARGE_AT_A_TIME: usize = 8;
/// A shell's status for a program that it may not run, and for one that is not there. A program that does not start was found out before; these are left
/// for one that is gone since then, or that `sudo` may not run.
const CANNOT: [i32; 2] = [126, 127];

/// Why it was not collected.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) cause: Cause,
    pub(super) why: String,
    /// Asking again may help.
    pub(super) again: bool,
}

impl Failed {
    pub(super) fn new(cause: Cause, why: impl Into<String>) -> Self {
        Failed { cause, why: why.into(), again: false }
    }
}

impl From<TransportError> for Failed {
    fn from(e: TransportError) -> Self {
        let (cause, why) = cause::of(&e);
        Failed { again: cause::again(&e, cause), cause, why }
    }
}

/// What the script of the way came to.
enum Way<'a> {
    Done(Answer<'a>, bool),
    Missing(String),
    /// No program runs there, and why.
    None(String),
}

pub(super) fn collect(target: &Target, shared: &Shared<'_>, notes: &mut Vec<String>) -> Result<Outcome, Failed> {
    let host = target.spec.transport_alone(&target.ssh_options)?;
    let asked = SystemTime::now();
    if host.is_here() {
        let options = Capture { redact: shared.options.redact_there(), ..Capture::new("/", shared.options.purpose) };
        let snapshot = capture(&options, &|_| {}).map_err(|e| Failed::new(Cause::ProgramFailed, e.to_string()))?;
        return finish::write(target, asked, Sent::Here(Box::new(snapshot)), By::Here, shared, notes);
    }
    if shared.options.collector == Collector::Script {
        return script(target, host.as_ref(), shared, notes);
    }
    let none = match ask(target, host.as_ref(), shared)? {
        Way::Done(mut answer, installed) => {
            let by = if installed { By::Installed } else { By::Cache };
            let bytes = std::mem::take(&mut answer.ear.bytes);
            return finish::write(target, asked, Sent::Archive(bytes), by, shared, notes);
        }
        Way::None(why) => why,
        Way::Missing(machine) => match push(&machine, host.as_ref(), shared) {
            Ok(remover) => {
                let again = ask(target, host.as_ref(), shared)?;
                drop(remover);
                match again {
                    Way::Done(mut answer, _) => {
                        let bytes = std::mem::take(&mut answer.ear.bytes);
                        return finish::write(target, asked, Sent::Archive(bytes), By::Pushed, shared, notes);
                    }
                    Way::None(why) => why,
                    Way::Missing(_) => "the pushed program is missing".to_owned(),
                }
            }
            Err(PushError::Transport(e)) => return Err(e.into()),
            Err(PushError::NotDone(e)) => format!("the program could not be pushed: {}", e.said),
        },
    };
    if shared.options.collector == Collector::Given {
        return Err(Failed::new(Cause::NoProgram, none));
    }
    notes.push(format!("collected by the shell script: {none}"));
    script(target, host.as_ref(), shared, notes)
}

/// Runs the program that is there.
fn ask<'a>(target: &Target, host: &dyn Transport, shared: &Shared<'a>) -> Result<Way<'a>, Failed> {
    let (command, ear) = way::command(target, shared.options);
    let answer = listen(host, &command, ear, shared)?;
    let (ear, status, said) = (&answer.ear, answer.status, &answer.said);
    match (&ear.said, status) {
        (Some(Said::Begin { installed, .. }), 0) => {
            let installed = *installed;
            Ok(Way::Done(answer, installed))
        }
        (Some(Said::Begin { .. }), status) if CANNOT.contains(&status) && ear.bytes.is_empty() => {
            Ok(Way::None(said.clone()))
        }
        (Some(Said::Begin { .. }), status) => {
            Err(Failed::new(Cause::ProgramFailed, format!("it ended with status {status} and said: {said}")))
        }
        (Some(Said::Missing(machine)), _) => Ok(Way::Missing(machine.clone())),
        (Some(Said::Foreign(machine)), _) => Ok(Way::None(format!("no program for {machine}"))),
        (Some(Said::Cannot(why)), _) => Ok(Way::None(why.clone())),
        (None, 0) => Err(Failed::new(Cause::Garbage, "it did not run what it was asked to run")),
        (None, status) => {
            Err(Failed::new(Cause::NoShell, format!("its shell ended with status {status} and said: {said}")))
        }
    }
}

/// What a host answered. It keeps its place behind the gates as long as its bytes are kept.
pub(super) struct Answer<'a> {
    ear: Ear,
    status: i32,
    said: String,
    _places: Vec<Inside<'a>>,
}

/// Runs a command and takes its output, within limits: what it said, its status, and its last words.
fn listen<'a>(
    host: &dyn Transport,
    command: &Command,
    mut ear: Ear,
    shared: &Shared<'a>,
) -> Result<Answer<'a>, Failed> {
    let mut enough = None;
    let mut places = Vec::new();
    let mut to = |piece: &[u8]| {
        for (size, gate, held) in [(KEPT, shared.large, 0), (LARGE, shared.huge, 1)] {
            if ear.bytes.len() > size && places.len() == held {
                match gate.enter(shared.cancel) {
                    Some(inside) => places.push(inside),
                    None => {
                        enough = Some(Enough::Cancelled);
                        return false;
                    }
                }
            }
        }
        match ear.hear(piece) {
            Ok(()) => true,
            Err(e) => {
                enough = Some(e);
                false
            }
        }
    };
    let poured = host.pour(command, &mut to, shared.cancel)?;
    match (enough, poured.status) {
        (Some(Enough::Noise), _) => Err(Failed::new(Cause::Garbage, "it printed too much before its answer")),
        (Some(Enough::Endless), _) => Err(Failed::new(Cause::Endless, "more than a snapshot may have")),
        (Some(Enough::Cancelled), _) | (None, None) => Err(Failed::new(Cause::Interrupted, "interrupted")),
        (None, Some(status)) => Ok(Answer { ear, status, said: poured.last_words(), _places: places }),
    }
}

/// Puts the program for a machine there. Where nothing is to be left, what this gives removes it again.
fn push<'a>(machine: &str, host: &'a dyn Transport, shared: &Shared<'_>) -> Result<Option<Remover<'a>>, PushError> {
    let fits = |p: &&Program| p.machine == machine || p.machine == "any";
    let none = |why: String| PushError::NotDone(linerate_transport::NotDone { what: "a push", status: 1, said: why });
    let program = shared.options.programs.iter().find(fits).ok_or_else(|| none(format!("no program for {machine}")))?;
    let bytes = program.bytes().map_err(|e| none(e.to_string()))?;
    let push = Push::new(&program.digest);
    let remover = shared.options.leave_nothing.then(|| Remover { host, push: push.clone() });
    place(host, bytes, &push, PUSH, shared.cancel)?;
    Ok(remover)
}

/// The shell script, which needs no program.
fn script(
    target: &Target,
    host: &dyn Transport,
    shared: &Shared<'_>,
    notes: &mut Vec<String>,
) -> Result<Outcome, Failed> {
    let asked = SystemTime::now();
    let (command, ear, word) = way::script(target, shared.options);
    let mut answer = listen(host, &command, ear, shared)?;
    let (status, said) = (answer.status, answer.said.clone());
    match (answer.ear.said.take(), status) {
        (Some(Said::Begin { .. }), 0) => {
            let bytes = std::mem::take(&mut answer.ear.bytes);
            finish::write(target, asked, Sent::Printed(bytes, word), By::Script, shared, notes)
        }
        (Some(_), status) => {
            Err(Failed::new(Cause::ProgramFailed, format!("the script ended with status {status} and said: {said}")))
        }
        (None, 0) => Err(Failed::new(Cause::Garbage, "it did not run what it was asked to run")),
        (None, status) => {
            Err(Failed::new(Cause::NoShell, format!("its shell ended with status {status} and said: {said}")))
        }
    }
}
