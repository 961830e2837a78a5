//! The tool under test: run as an operator runs it, from its own directory of state.

use super::super::Result;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// `linerate`, ssh's configuration of the hosts, and where the operator works.
pub(super) struct Tool<'a> {
    pub(super) linerate: PathBuf,
    pub(super) config: PathBuf,
    /// Working directory; everything is written below it.
    pub(super) desk: PathBuf,
    pub(super) stop: &'a AtomicBool,
}

/// What it said.
pub(super) struct Said {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl Said {
    /// Its standard output as JSON.
    pub(super) fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.out).map_err(|e| format!("no JSON ({e}): {}\n{}", self.out, self.err))
    }

    /// An error unless it ended so.
    pub(super) fn ended(self, code: i32) -> Result<Said> {
        if self.code == code {
            Ok(self)
        } else {
            Err(format!("ended with {}, not {code}:\n{}{}", self.code, self.out, self.err))
        }
    }
}

impl Tool<'_> {
    /// Runs it, and prints the command with its exit code and seconds.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<Said> {
        self.with(arguments, &[])
    }

    /// The same with ssh's configuration, for verbs that reach hosts.
    pub(super) fn over_ssh(&self, arguments: &[&str]) -> Result<Said> {
        let option = self.config.display().to_string();
        self.with(arguments, &["--ssh-option", "-F", "--ssh-option", &option])
    }

    fn with(&self, arguments: &[&str], hidden: &[&str]) -> Result<Said> {
        if self.stop.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        let began = Instant::now();
        let out = Command::new(&self.linerate)
            .args(arguments)
            .args(hidden)
            .current_dir(&self.desk)
            .env("XDG_STATE_HOME", self.desk.join("state"))
            .env("XDG_CONFIG_HOME", self.desk.join("config"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("cannot run {}: {e}", self.linerate.display()))?;
        let said = Said {
            code: out.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&out.stdout).into_owned(),
            err: String::from_utf8_lossy(&out.stderr).into_owned(),
        };
        println!("  linerate {} → {} ({:.1} s)", shortened(arguments), said.code, began.elapsed().as_secs_f64());
        self.keep(arguments, &said);
        Ok(said)
    }

    /// What it said, in a file, for a reader of a failure.
    fn keep(&self, arguments: &[&str], said: &Said) {
        let of = |dir: &Path| std::fs::read_dir(dir).map_or(0, |d| d.count());
        let log = self.desk.join("log");
        let _ = std::fs::create_dir_all(&log);
        let file = log.join(format!("{:02}-{}", of(&log), arguments.first().unwrap_or(&"")));
        let text = format!("linerate {}\n{}\n{}\nexit {}\n", arguments.join(" "), said.out, said.err, said.code);
        let _ = std::fs::write(file, text);
    }
}

/// Arguments for a reader: of many alike the first and the last.
fn shortened(arguments: &[&str]) -> String {
    let text = arguments.join(" ");
    match (text.char_indices().nth(60), text.char_indices().nth_back(40)) {
        (Some((a, _)), Some((b, _))) if a < b => {
            format!("{}…{}", text.get(..a).unwrap_or_default(), text.get(b..).unwrap_or_default())
        }
        _ => text,
    }
}
