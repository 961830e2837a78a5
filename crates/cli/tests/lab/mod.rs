//! A fleet of addresses of this host behind one sshd, healthy and sick ones.
#![allow(dead_code, reason = "each test program uses its part")]
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "these are tests")]

pub(crate) use crate::hosts as common;
pub(crate) use crate::schema;

use common::{find, have, quietly, wait_for};
use linerate_snapshot::Snapshot;
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

const LINERATE: &str = env!("CARGO_BIN_EXE_linerate");

/// The first line of a script in place of the program.
pub(crate) const SAYS_VERSION: &str =
    concat!("[ \"$1\" != --version ] || { echo linerate ", env!("CARGO_PKG_VERSION"), "; exit; }");

/// What a host does is in the file `kind` of its directory; each has a home of its own.
const SHELL: &str = r#"#!/bin/sh
lab=${0%/*}
set -- $SSH_CONNECTION
host=$lab/hosts/$3
mkdir -p "$host/home"
HOME=$host/home
export HOME
unset XDG_CACHE_HOME XDG_RUNTIME_DIR
LAB_SESSION=$PPID
export LAB_SESSION
kind=
[ ! -f "$host/kind" ] || read -r kind <"$host/kind"
[ ! -d "$host/bin" ] || PATH=$host/bin:$PATH
echo "$3" >>"$lab/connections"
case $kind in
dash) exec dash -c "$SSH_ORIGINAL_COMMAND" ;;
ash) exec busybox ash -c "$SSH_ORIGINAL_COMMAND" ;;
rbash) exec bash -r -c "$SSH_ORIGINAL_COMMAND" ;;
noshell) echo "This account is currently not available." && exit 1 ;;
banner) printf 'Welcome!\033[2J\nno newline' && exec sh -c "$SSH_ORIGINAL_COMMAND" ;;
hang) exec sleep 1000 ;;
drop) printf 'half' && sleep 1 && kill -KILL $PPID ;;
drop-late) printf '%s\n' "$SSH_ORIGINAL_COMMAND" | grep -o "linerate-way [0-9a-f]*" && sleep 1 && kill -KILL $PPID ;;
endless) exec yes nothing ;;
garbage) exec head -c 30000 /dev/urandom ;;
nobody) exec setpriv --reuid=65534 --regid=65534 --clear-groups bash -c "$SSH_ORIGINAL_COMMAND" ;;
escape) printf '\033[2J\033]0;owned\007evil\n' >&2 && exit 7 ;;
*) exec bash -c "$SSH_ORIGINAL_COMMAND" ;;
esac
"#;

pub(crate) struct Lab {
    sshd: Child,
    dir: tempfile::TempDir,
    mounts: Vec<PathBuf>,
}

impl Lab {
    pub(crate) fn start() -> Option<Lab> {
        if !have(&["sshd", "ssh", "ssh-keygen", "busybox", "dash", "bash"]) {
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let at = |leaf: &str| dir.path().join(leaf).display().to_string();
        for key in ["host", "user", "other"] {
            assert!(quietly("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]));
        }
        std::fs::copy(at("user.pub"), at("authorized")).unwrap();
        std::fs::write(at("shell"), SHELL).unwrap();
        assert!(quietly("chmod", &["755", &at("shell"), &dir.path().display().to_string()]));
        let _ = std::fs::create_dir_all("/run/sshd");
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = format!(
            "Port {port}\nListenAddress 0.0.0.0\nHostKey {}\nAuthorizedKeysFile {}\nUsePAM no\nStrictModes no\nPermitRootLogin yes\n\
             PidFile none\nMaxStartups 2000\nForceCommand {}\nPasswordAuthentication no\n\
             Match LocalAddress 127.1.0.69\nPubkeyAuthentication no\nPasswordAuthentication yes\n",
            at("host"),
            at("authorized"),
            at("shell")
        );
        let key = |name: &str| {
            let line = std::fs::read_to_string(at(&format!("{name}.pub"))).unwrap();
            line.split(' ').take(2).collect::<Vec<_>>().join(" ")
        };
        // 66 has another key than is known, and of 67 none is known.
        let known = format!(
            "[127.*]:{port},![127.1.0.66]:{port},![127.1.0.67]:{port} {}\n[127.1.0.66]:{port} {}\n",
            key("host"),
            key("other")
        );
        let client = format!(
            "Host *\n  Port {port}\n  IdentityFile {}\n  IdentitiesOnly yes\n  StrictHostKeyChecking yes\n  UserKnownHostsFile {}\n  ConnectTimeout 3\n",
            at("user"),
            at("known")
        );
        for (name, text) in [("sshd_config", server), ("known", known), ("ssh_config", client)] {
            std::fs::write(at(name), text).unwrap();
        }
        let mut command = Command::new(find("sshd")?);
        command.args(["-D", "-e", "-f", &at("sshd_config")]).stdin(Stdio::null());
        command.stderr(std::fs::File::create(at("log")).unwrap());
        let lab = Lab { sshd: command.spawn().unwrap(), dir, mounts: Vec::new() };
        wait_for("sshd to listen", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        let config = lab.path("ssh_config").display().to_string();
        if !quietly("ssh", &["-F", &config, "-o", "BatchMode=yes", "127.1.0.1", "true"]) {
            println!("SKIPPED: sshd on loopback lets nobody in");
            return None;
        }
        let _ = std::fs::remove_file(lab.path("connections"));
        Some(lab)
    }

    pub(crate) fn path(&self, leaf: &str) -> PathBuf {
        self.dir.path().join(leaf)
    }

    pub(crate) fn host(&self, last: u8) -> PathBuf {
        let dir = self.path(&format!("hosts/127.1.0.{last}"));
        std::fs::create_dir_all(dir.join("home")).unwrap();
        dir
    }

    pub(crate) fn kind(&self, last: u8, kind: &str) {
        std::fs::write(self.host(last).join("kind"), format!("{kind}\n")).unwrap();
    }

    /// A home on a file system of its own; false where that cannot be had.
    pub(crate) fn mount(&mut self, last: u8, options: &str) -> bool {
        let home = self.host(last).join("home");
        self.mount_at(home, options)
    }

    /// A directory on a file system of its own.
    pub(crate) fn mount_at(&mut self, dir: PathBuf, options: &str) -> bool {
        std::fs::create_dir_all(&dir).unwrap();
        let done = quietly("mount", &["-t", "tmpfs", "-o", options, "none", &dir.display().to_string()]);
        if done {
            self.mounts.push(dir);
        } else {
            println!("SKIPPED: a file system of its own for {} because nothing can be mounted here", dir.display());
        }
        done
    }

    /// A program that is found on this host before others of its name.
    pub(crate) fn install(&self, last: u8, name: &str, text: &str) {
        let bin = self.host(last).join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(bin.join(name), format!("#!/bin/dash\n{text}\n")).unwrap();
        assert!(quietly("chmod", &["755", &bin.join(name).display().to_string()]));
    }

    /// A command of linerate, whose `ssh` knows these hosts, with a TMPDIR of its own.
    pub(crate) fn linerate(&self, words: &[&str]) -> Command {
        let mut command = Command::new(LINERATE);
        std::fs::create_dir_all(self.path("tmp")).unwrap();
        let config = self.path("ssh_config").display().to_string();
        command.args(words).args(["--ssh-option", "-F", "--ssh-option", &config]);
        command.env("TMPDIR", self.path("tmp")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// What is left in that TMPDIR.
    pub(crate) fn left(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.path("tmp")).into_iter().flatten().flatten().map(|e| e.path()).collect()
    }

    pub(crate) fn command(&self, hosts: &str, more: &[&str]) -> Command {
        let to = self.path("fleet").display().to_string();
        let mut command = self.linerate(&["collect", "--format=json", "--on", hosts, "-o", &to]);
        command.args(more);
        command
    }

    pub(crate) fn collect(&self, hosts: &str, more: &[&str]) -> (Value, Output) {
        let out = self.command(hosts, more).output().unwrap();
        let json = serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
        schema::Schema::of("collect-1").check(&json).unwrap();
        (json, out)
    }

    pub(crate) fn connections(&self) -> usize {
        std::fs::read_to_string(self.path("connections")).unwrap_or_default().lines().count()
    }

    /// A script in place of the program, which says this version: what is tested is the way to it, and the real one is large.
    pub(crate) fn program(&self, name: &str, text: &str) -> String {
        self.file(name, format!("#!/bin/sh\n{SAYS_VERSION}\n{text}").as_bytes())
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }

    /// A program that prints a snapshot made by this version, or another one.
    pub(crate) fn cat(&self, version: &str) -> String {
        self.prints(version, |s| version.clone_into(&mut s.manifest.linerate))
    }

    /// A program that prints a snapshot, which is made by this version, now and as root, but for what is changed.
    pub(crate) fn prints(&self, name: &str, change: impl FnOnce(&mut Snapshot)) -> String {
        let file = self.snapshot(name, change);
        self.program(&format!("cat-{name}"), &format!("cat '{file}'\n"))
    }

    /// The same as a file.
    pub(crate) fn snapshot(&self, name: &str, change: impl FnOnce(&mut Snapshot)) -> String {
        let mut s = Snapshot::new("x");
        s.add_file("proc/version", b"Linux\n");
        s.manifest.linerate = env!("CARGO_PKG_VERSION").to_owned();
        s.manifest.origin = "live".to_owned();
        s.manifest.schema = 1;
        s.manifest.uid = Some(0);
        s.manifest.time = now();
        change(&mut s);
        let file = self.path(&format!("snapshot-{name}.tar.zst"));
        s.save(&file).unwrap();
        file.display().to_string()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let parent = |pid: u32| -> Option<u32> {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = all.filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
        for pid in pids.filter(|p| parent(*p) == Some(self.sshd.id())) {
            quietly("kill", &["-KILL", &pid.to_string()]);
        }
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
        for home in &self.mounts {
            quietly("umount", &["-l", &home.display().to_string()]);
        }
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

pub(crate) fn node<'j>(json: &'j Value, name: &str) -> &'j Value {
    let all = json["nodes"].as_array().unwrap();
    all.iter().find(|n| n["name"] == name).unwrap_or_else(|| panic!("{name} in {json}"))
}
