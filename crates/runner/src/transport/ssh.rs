//! Another host, over the user's own `ssh`: its configuration, keys, agent and jump hosts are used as they are.

use super::{Transport, TransportError};
use linerate_out::child::{self, Need};
use linerate_out::shell;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::Stdio;

/// Asked of every connection. A question that nobody can answer must not hang a run, and a silent network is noticed in 15 s.
const OPTIONS: &[&str] = &[
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ControlMaster=auto",
    "ControlPersist=20",
    "ClearAllForwardings=yes",
    "RequestTTY=no",
    "EscapeChar=none",
    "LogLevel=ERROR",
];

/// A host over `ssh`.
#[derive(Debug)]
pub struct Ssh {
    name: String,
    destination: String,
    port: Option<u16>,
    /// Further arguments of the user's (`-F`, `-o`), before the destination.
    options: Vec<String>,
    /// Private directory of the control socket.
    sockets: Option<PathBuf>,
}

impl Ssh {
    /// A host by its destination (`host` or `user@host`), with further arguments for `ssh`: as it takes them (`-F`, a file), or
    /// options of its configuration (`Port=2222`). Connections share one master in a private directory, which is ended when this
    /// is dropped.
    ///
    /// # Errors
    /// The destination would be taken for an option, or is empty; an argument would be taken for the destination.
    pub fn new(destination: &str, port: Option<u16>, options: &[String]) -> Result<Self, TransportError> {
        let host = destination.rsplit('@').next().unwrap_or_default();
        let bad = |c: char| c.is_whitespace() || c.is_control();
        if destination.starts_with('-') || host.is_empty() || host.starts_with('-') || destination.contains(bad) {
            return Err(TransportError::Argument { host: destination.to_owned(), argument: destination.to_owned() });
        }
        let options = arguments(options).map_err(|argument| TransportError::Option {
            host: destination.to_owned(),
            argument: argument.to_owned(),
        })?;
        let name = port.map_or_else(|| destination.to_owned(), |p| format!("{destination}:{p}"));
        Ok(Ssh { name, destination: destination.to_owned(), port, options, sockets: sockets() })
    }

    fn head(&self) -> Vec<String> {
        let mut argv = vec!["ssh".to_owned(), "-T".to_owned()];
        for option in OPTIONS.iter().filter(|o| self.sockets.is_some() || !o.starts_with("Control")) {
            argv.extend(["-o".to_owned(), (*option).to_owned()]);
        }
        if let Some(dir) = &self.sockets {
            argv.extend(["-o".to_owned(), format!("ControlPath={}/%C", dir.display())]);
        }
        argv.extend(self.port.iter().flat_map(|p| ["-p".to_owned(), p.to_string()]));
        argv.extend(self.options.iter().cloned());
        argv
    }
}

/// Letters of `ssh` that take a value.
const VALUED: &str = "BbcDEeFIiJLlmOoPpQRSWw";

/// The user's words as arguments: `KEY=VALUE` alone is one of `-o`. The word that `ssh` would take for the destination is the error.
fn arguments(words: &[String]) -> Result<Vec<String>, &str> {
    let mut out = Vec::new();
    let mut value = false;
    for word in words {
        let mut letters = word.chars();
        if value {
            value = false;
        } else if letters.next() == Some('-') {
            // A letter with its value in the same word (`-p22`) takes no other; after `--` everything is a destination.
            value = letters.next().is_some_and(|l| VALUED.contains(l)) && letters.next().is_none();
            if word.len() < 2 || word == "--" {
                return Err(word);
            }
        } else if word.split_once('=').is_some_and(|(key, _)| key.chars().all(char::is_alphanumeric) && !key.is_empty())
        {
            out.push("-o".to_owned());
        } else {
            return Err(word);
        }
        out.push(word.clone());
    }
    // What takes a value and has none would take the destination.
    if value { words.last().map_or(Ok(out), |w| Err(w.as_str())) } else { Ok(out) }
}

/// A directory that only this user can enter. Without one, every command makes a connection of its own.
fn sockets() -> Option<PathBuf> {
    // Names of sockets have 108 bytes, of which ssh wants some fifty for itself.
    let short = |p: &PathBuf| p.as_os_str().len() <= 24 && p.is_dir();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(short);
    let base = runtime.unwrap_or_else(|| PathBuf::from("/tmp"));
    let path = base.join(format!("linerate-{}", super::process::mark()));
    std::fs::DirBuilder::new().mode(0o700).create(&path).ok()?;
    Some(path)
}

impl Transport for Ssh {
    fn host(&self) -> &str {
        &self.name
    }

    fn carrier(&self) -> Option<Need> {
        Some(Need::Ssh)
    }

    fn carry(&self, argv: &[String]) -> Result<Vec<String>, TransportError> {
        let argument = || TransportError::Argument { host: self.name.clone(), argument: "NUL".to_owned() };
        let line = shell::remote_words(argv).ok_or_else(argument)?;
        let mut out = self.head();
        out.extend(["--".to_owned(), self.destination.clone(), format!("exec {line}")]);
        Ok(out)
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        let Some(dir) = self.sockets.clone() else { return };
        if std::fs::read_dir(&dir).is_ok_and(|mut d| d.next().is_some()) {
            let mut argv = self.head();
            argv.extend(["-O".to_owned(), "exit".to_owned(), "--".to_owned(), self.destination.clone()]);
            let mut ssh = child::command("ssh", Need::Ssh);
            ssh.args(argv.iter().skip(1)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            // It talks to a local socket only.
            let _ = ssh.status();
        }
        let _ = std::fs::remove_dir_all(dir);
    }
}

#[cfg(test)]
mod tests {
    use super::arguments;

    fn of(line: &str) -> Option<String> {
        let words: Vec<String> = line.split(' ').filter(|w| !w.is_empty()).map(str::to_owned).collect();
        arguments(&words).ok().map(|a| a.join(" "))
    }

    #[test]
    fn no_word_of_the_users_becomes_the_destination() {
        for (given, want) in [
            ("", Some("")),
            ("-F file", Some("-F file")),
            ("Port=2222 -v", Some("-o Port=2222 -v")),
            ("-o Port=2222", Some("-o Port=2222")),
            ("-oPort=2222 -p22 -4", Some("-oPort=2222 -p22 -4")),
            ("-i -F -l me", Some("-i -F -l me")),
            ("host", None),
            ("-v host", None),
            ("-p22 host", None),
            ("-F", None),
            ("--", None),
            ("-", None),
            ("=x", None),
        ] {
            assert_eq!(of(given).as_deref(), want, "{given:?}");
        }
    }
}
