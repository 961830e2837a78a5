//! A Redfish service of the lab, for the tests of the client and of the program.

// The lint configuration allows these in test functions only, not in their helpers.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// It ends with the test.
pub(crate) struct Service {
    child: Child,
    pub(crate) port: u16,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn runs(program: &Path) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
}

impl Service {
    /// `None`: this machine cannot run it.
    pub(crate) fn start(python: &Path, name: &str, args: &[&str]) -> Option<Service> {
        for program in [python, Path::new("curl"), Path::new("python3")] {
            if !runs(program) {
                println!("SKIPPED: no {}: run `cargo xtask lab setup`", program.display());
                return None;
            }
        }
        let script = root().join("lab/emulators").join(name);
        let mut child =
            Command::new(python).arg(script).args(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("port ").and_then(|p| p.parse().ok());
        let service = Service { child, port: port.unwrap_or_default() };
        assert!(port.is_some(), "{name} {args:?} did not start: {line:?}");
        Some(service)
    }

    pub(crate) fn liar(args: &[&str]) -> Option<Service> {
        Service::start(Path::new("python3"), "redfish-liar", args)
    }
}
