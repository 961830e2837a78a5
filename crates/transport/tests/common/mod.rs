//! What tests of hosts share, the runner's as well: an sshd, and a look at what is left behind.
#![allow(dead_code, reason = "each test program uses its part")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "these are tests")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Whether programs are here; says which test is skipped because they are not.
pub(crate) fn have(tools: &[&str]) -> bool {
    let missing: Vec<&str> = tools.iter().copied().filter(|t| find(t).is_none()).collect();
    if !missing.is_empty() {
        println!("SKIPPED: {} not installed", missing.join(", "));
    }
    missing.is_empty()
}

pub(crate) fn find(tool: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    path.split(':').map(|d| Path::new(d).join(tool)).find(|p| p.is_file())
}

/// Processes with this word in their arguments or variables. Not zombies, which are dead.
pub(crate) fn processes(word: &str) -> Vec<u32> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|e| e.file_name().to_str()?.parse().ok());
    let has = |pid: &u32, leaf: &str| {
        let bytes = std::fs::read(format!("/proc/{pid}/{leaf}")).unwrap_or_default();
        bytes.windows(word.len()).any(|w| w == word.as_bytes())
    };
    pids.filter(|p| *p != std::process::id() && (has(p, "cmdline") || has(p, "environ"))).collect()
}

/// Waits until no such process is left.
pub(crate) fn all_gone(word: &str) {
    let until = Instant::now() + Duration::from_secs(15);
    loop {
        let left = processes(word);
        if left.is_empty() {
            return;
        }
        let names = left.iter().map(|p| {
            let bytes = std::fs::read(format!("/proc/{p}/cmdline")).unwrap_or_default();
            format!("{p} {}", String::from_utf8_lossy(&bytes).replace('\0', " ").chars().take(80).collect::<String>())
        });
        assert!(Instant::now() < until, "left behind: {:?}", names.collect::<Vec<_>>());
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub(crate) fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A word that no other test has.
pub(crate) fn word(test: &str) -> String {
    format!("linerate-test-{}-{test}", std::process::id())
}

pub(crate) fn quietly(program: &str, args: &[&str]) -> bool {
    let mut c = Command::new(program);
    c.args(args).stdout(Stdio::null()).stderr(Stdio::null());
    c.status().is_ok_and(|s| s.success())
}

/// An sshd of our own on loopback.
pub(crate) struct Sshd {
    child: Child,
    dir: tempfile::TempDir,
    pub(crate) port: u16,
}

impl Sshd {
    /// `None` where there is no sshd, or where this user may not run one.
    pub(crate) fn start() -> Option<Sshd> {
        if !have(&["sshd", "ssh", "ssh-keygen"]) {
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let at = |leaf: &str| dir.path().join(leaf).display().to_string();
        for key in ["host", "user"] {
            assert!(quietly("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]));
        }
        std::fs::copy(at("user.pub"), at("authorized")).unwrap();
        let _ = std::fs::create_dir_all("/run/sshd");
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nUsePAM no\nStrictModes no\n\
             PasswordAuthentication no\nPermitRootLogin yes\nPidFile none\n",
            at("host"),
            at("authorized")
        );
        let client = format!(
            "Host *\n  IdentityFile {}\n  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  UserKnownHostsFile {}\n",
            at("user"),
            at("known")
        );
        std::fs::write(at("sshd_config"), server).unwrap();
        std::fs::write(at("ssh_config"), client).unwrap();
        let mut command = Command::new(find("sshd")?);
        command.args(["-D", "-e", "-f", &at("sshd_config")]).stdin(Stdio::null());
        command.stderr(std::fs::File::create(at("log")).unwrap());
        let sshd = Sshd { child: command.spawn().unwrap(), dir, port };
        wait_for("sshd to listen", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        let config = sshd.options();
        let port = port.to_string();
        if !quietly("ssh", &[&config[0], &config[1], "-o", "BatchMode=yes", "-p", &port, "127.0.0.1", "true"]) {
            let log = std::fs::read_to_string(sshd.dir.path().join("log")).unwrap_or_default();
            println!("SKIPPED: sshd on loopback lets nobody in: {}", log.lines().last().unwrap_or_default());
            return None;
        }
        Some(sshd)
    }

    /// Fingerprint of its key, as `ssh-keygen` says it.
    #[allow(dead_code, reason = "not every test that has an sshd asks for its key")]
    pub(crate) fn key(&self) -> String {
        let out = Command::new("ssh-keygen").arg("-lf").arg(self.dir.path().join("host.pub")).output().unwrap();
        String::from_utf8_lossy(&out.stdout).split(' ').nth(1).unwrap_or_default().to_owned()
    }

    pub(crate) fn options(&self) -> Vec<String> {
        vec!["-F".to_owned(), self.dir.path().join("ssh_config").display().to_string()]
    }

    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The processes that serve connections.
    pub(crate) fn sessions(&self) -> Vec<u32> {
        let parent = |pid: u32| -> Option<u32> {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = all.filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|p| parent(*p) == Some(self.child.id())).collect()
    }

    pub(crate) fn signal_sessions(&self, signal: &str) {
        for pid in self.sessions() {
            quietly("kill", &[signal, &pid.to_string()]);
        }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.signal_sessions("-KILL");
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn kill(signal: &str, pid: u32) {
    assert!(quietly("kill", &[signal, &pid.to_string()]), "kill {signal} {pid}");
}
