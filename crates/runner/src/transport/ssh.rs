//! Another host, over the user's own `ssh`: its configuration, keys, agent and jump hosts are used as they are.

use super::{Transport, TransportError, join};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

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
    /// Further options of the user's (`-F`, `-o`), before the destination.
    options: Vec<String>,
    /// Private directory of the control socket.
    sockets: Option<PathBuf>,
}

impl Ssh {
    /// A host by its destination (`host` or `user@host`), with further arguments for `ssh`. Connections share one master in a
    /// private directory, which is ended when this is dropped.
    ///
    /// # Errors
    /// The destination would be taken for an option, or is empty.
    pub fn new(destination: &str, port: Option<u16>, options: &[String]) -> Result<Self, TransportError> {
        let host = destination.rsplit('@').next().unwrap_or_default();
        let bad = |c: char| c.is_whitespace() || c.is_control();
        if destination.starts_with('-') || host.is_empty() || host.starts_with('-') || destination.contains(bad) {
            return Err(TransportError::Argument { host: destination.to_owned(), argument: destination.to_owned() });
        }
        let name = port.map_or_else(|| destination.to_owned(), |p| format!("{destination}:{p}"));
        Ok(Ssh { name, destination: destination.to_owned(), port, options: options.to_vec(), sockets: sockets() })
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

    fn carry(&self, argv: &[String]) -> Result<Vec<String>, TransportError> {
        let argument = || TransportError::Argument { host: self.name.clone(), argument: "NUL".to_owned() };
        let line = join(argv).ok_or_else(argument)?;
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
            let mut ssh = Command::new("ssh");
            ssh.args(argv.iter().skip(1)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            // It talks to a local socket only.
            let _ = ssh.status();
        }
        let _ = std::fs::remove_dir_all(dir);
    }
}
