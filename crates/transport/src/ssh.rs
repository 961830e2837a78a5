//! Another host, over the user's own `ssh`: its configuration, keys, agent and jump hosts are used as they are.

use crate::converse::converse;
use crate::{Cancel, Command, Transport, TransportError};
use linerate_out::child::{self, Need};
use linerate_out::shell;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

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
    /// Each command has a connection of its own.
    alone: bool,
}

impl Ssh {
    /// A host by its destination (`host` or `user@host`), with further arguments for `ssh`: as it takes them (`-F`, a file), or
    /// options of its configuration (`Port=2222`). Connections share one master in a private directory, which is ended when this
    /// is dropped.
    ///
    /// # Errors
    /// The destination would be taken for an option, or is empty; an argument would be taken for the destination.
    pub fn new(destination: &str, port: Option<u16>, options: &[String]) -> Result<Self, TransportError> {
        let mut ssh = Ssh::alone(destination, port, options)?;
        (ssh.sockets, ssh.alone) = (sockets(), false);
        Ok(ssh)
    }

    /// The same with a connection of its own for each command: the cheaper way where there is one command. It runs in a restricted shell,
    /// too.
    ///
    /// # Errors
    /// As [`Ssh::new`].
    pub fn alone(destination: &str, port: Option<u16>, options: &[String]) -> Result<Self, TransportError> {
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
        Ok(Ssh { name, destination: destination.to_owned(), port, options, sockets: None, alone: true })
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

/// The fingerprint that `ssh` says first: what a host prints comes later.
fn fingerprint(said: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(said);
    let line = said.lines().find_map(|l| l.strip_prefix("debug1: Server host key: "))?;
    let (_, print) = line.trim().split_once(' ')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "+/=:".contains(c);
    (print.starts_with("SHA256:") && print.len() < 80 && print.chars().all(plain)).then(|| print.to_owned())
}

/// A directory that only this user can enter. Without one, every command makes a connection of its own.
fn sockets() -> Option<PathBuf> {
    // Names of sockets have 108 bytes, of which ssh wants some fifty for itself.
    let short = |p: &PathBuf| p.as_os_str().len() <= 24 && p.is_dir();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(short);
    let base = runtime.unwrap_or_else(|| PathBuf::from("/tmp"));
    let path = base.join(format!("linerate-{}", crate::process::chance()));
    std::fs::DirBuilder::new().mode(0o700).create(&path).ok()?;
    Some(path)
}

impl Transport for Ssh {
    fn host(&self) -> &str {
        &self.name
    }

    /// A connection of its own, because one that is shared was made before: `ssh` says which key it saw before anything of the host's is
    /// printed, and ends where it is not the one that the user's files know.
    fn host_key(&self, cancel: &Cancel) -> Result<Option<String>, TransportError> {
        let mut argv = self.head();
        let first = ["-o", "LogLevel=DEBUG1", "-o", "ControlMaster=no", "-o", "ControlPath=none"].map(str::to_owned);
        // The first value of an option is the one that counts.
        let _ = argv.splice(1..1, first);
        argv.extend(["--".to_owned(), self.destination.clone(), "true".to_owned()]);
        let ran = converse(self, &argv, &Command::new(["ssh"]).limit(Duration::from_secs(30)), Vec::new(), cancel)?;
        let none = || TransportError::Lost {
            host: self.name.clone(),
            why: Some("ssh did not show the host's key".to_owned()),
        };
        fingerprint(&ran.stderr).map(Some).ok_or_else(none)
    }

    fn carrier(&self) -> Option<Need> {
        Some(Need::Ssh)
    }

    fn carry(&self, argv: &[String]) -> Result<Vec<String>, TransportError> {
        let argument = || TransportError::Argument { host: self.name.clone(), argument: "NUL".to_owned() };
        let line = shell::remote_words(argv).ok_or_else(argument)?;
        let mut out = self.head();
        out.extend(["--".to_owned(), self.destination.clone(), if self.alone { line } else { format!("exec {line}") }]);
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
    use super::{arguments, fingerprint};

    #[test]
    fn the_key_is_the_one_that_ssh_says_first() {
        let key = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU";
        let said = format!(
            "debug1: Remote protocol version 2.0, remote software version x debug1: Server host key: ssh-rsa SHA256:x\r\n\
             debug1: Server host key: ssh-ed25519 {key}\r\ndebug1: Server host key: ssh-ed25519 SHA256:forged\n"
        );
        assert_eq!(fingerprint(said.as_bytes()).as_deref(), Some(key));
        for none in [
            "",
            "Server host key: ssh-ed25519 SHA256:x",
            "debug1: Server host key: ssh-ed25519 MD5:x",
            "debug1: Server host key: x",
        ] {
            assert_eq!(fingerprint(none.as_bytes()), None, "{none}");
        }
    }

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
