//! Hosts, and how a program is run on one: this host, a network namespace of it, another one over the user's `ssh`, by Slurm's `srun` or in a
//! pod by `kubectl exec`.
//!
//! A [`Transport`] only says which local program carries an argument list there (`ssh`, `ip netns exec`, `kubectl exec`, `srun`);
//! everything else is one [`Process`]. It can be asked from several threads at once, and each command has limits of its own: time, and bytes
//! of its outputs. Its errors tell a host that was not reached ([`TransportError::NotConnected`]) from one that was lost meanwhile; a program
//! that failed is no error, but a status.
//!
//! On every host the program runs below a *guard*, a constant shell script that reads its standard input: when that ends, or when no
//! sign of life came for a while, it kills the program with its whole process group. So nothing outlives a lost connection, a
//! killed `linerate` or a cancelled run, on either side, and there is one way to kill: closing a pipe.
//!
//! On top of that: [`collect()`] takes the snapshot of a node, [`place()`] puts a program into the cache of its user.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod cancel;
mod collect;
mod command;
mod converse;
mod error;
mod host;
mod kubectl;
mod local;
mod place;
mod process;
mod srun;
mod ssh;

pub use cancel::Cancel;
pub use collect::{Collect, CollectError, collect, collect_there};
pub use command::Command;
pub use error::{NotDone, TransportError};
pub use host::{HostError, HostSpec, Way};
pub use kubectl::{Kubectl, Pods, kubectl};
pub use local::Local;
pub use place::{Push, PushError, Remover, place};
use process::Form;
pub use process::{End, Ended, Heard, Poured, Process, Ran, Stream, chance};

pub use srun::Srun;
pub use ssh::Ssh;

use linerate_out::child::Need;
use std::sync::Arc;

/// A way to a host.
pub trait Transport: Send + Sync {
    /// The host's name, as the user gave it.
    fn host(&self) -> &str;

    /// Whether its files and kernel are those of this process.
    fn is_here(&self) -> bool {
        false
    }

    /// Fingerprint of the host's key, where the way to it has one and has checked it; `None`: there is no such key.
    ///
    /// # Errors
    /// The host is not reached, or its key is not shown.
    fn host_key(&self, cancel: &Cancel) -> Result<Option<String>, TransportError> {
        let _ = cancel;
        Ok(None)
    }

    /// What of this process's environment the local program that carries others gets; `None`: the program itself runs here.
    fn carrier(&self) -> Option<Need> {
        None
    }

    /// The local argument list that runs another one on the host, with standard input and both outputs connected.
    ///
    /// # Errors
    /// An argument cannot be handed over.
    fn carry(&self, argv: &[String]) -> Result<Vec<String>, TransportError>;

    /// Starts a program on the host.
    ///
    /// # Errors
    /// The local program that carries it does not start.
    fn start(&self, command: &Command) -> Result<Process, TransportError> {
        begin(self, command, Form::Lines)
    }

    /// Runs a program to its end and keeps what it says, as much as the command allows.
    ///
    /// # Errors
    /// It does not start, does not end in time, or the connection is lost. A status other than 0 is not an error.
    fn run(&self, command: &Command, cancel: &Cancel) -> Result<Ran, TransportError> {
        self.start(command)?.finish(command, cancel)
    }

    /// Runs a program to its end and hands its standard output on as it comes: what takes it slowly holds the program up, and nothing is
    /// kept but a few pieces. Where `to` answers `false` the program is killed. Of standard error the beginning is kept.
    ///
    /// # Errors
    /// As [`Transport::run`]; the time that `to` takes does not count.
    fn pour(
        &self,
        command: &Command,
        to: &mut dyn FnMut(&[u8]) -> bool,
        cancel: &Cancel,
    ) -> Result<Poured, TransportError> {
        begin(self, command, Form::Bytes)?.pour(command, to, cancel)
    }

    /// Hands a text to a program and takes its answer. No guard is above it (so `env` and `patience` of the command mean nothing): it must end by
    /// itself, and what it began it finishes even where the connection is lost.
    ///
    /// # Errors
    /// It does not start, does not end in time (then it is only no longer waited for on another host), or the connection is lost. A status
    /// other than 0 is none.
    fn converse(&self, command: &Command, input: Vec<u8>, cancel: &Cancel) -> Result<Ran, TransportError> {
        converse::converse(self, &self.carry(&command.argv)?, command, input, cancel)
    }

    /// The same with a text that many hosts are handed.
    ///
    /// # Errors
    /// As [`Transport::converse`].
    fn hand(&self, command: &Command, input: Arc<[u8]>, cancel: &Cancel) -> Result<Ran, TransportError> {
        converse::converse(self, &self.carry(&command.argv)?, command, input, cancel)
    }
}

/// Starts a program whose standard output is heard in this form.
fn begin(with: &(impl Transport + ?Sized), command: &Command, form: Form) -> Result<Process, TransportError> {
    let bad = |a: &str| TransportError::Argument { host: with.host().to_owned(), argument: a.to_owned() };
    let word = |n: &str| {
        n.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if let Some((name, _)) = command.env.iter().find(|(n, _)| !word(n)) {
        return Err(bad(name));
    }
    let mark = process::chance();
    let guarded = command.guarded(&mark);
    if let Some(a) = guarded.iter().find(|a| a.contains('\0')) {
        return Err(bad(a));
    }
    let need = with.carrier().unwrap_or(command.need);
    Process::spawn(with.host(), &with.carry(&guarded)?, need, mark, command.patience, form)
}
