//! Hosts: each a composed node in namespaces of its own, with an sshd of its own.

use super::super::Result;
use crate::shell;
use linerate_compose::{Entry, Tree};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Who is let in where root is not: a user who may use sudo without a password.
const USER: &str = "ops";
/// Where outputs of programs are on a host.
const LAB: &str = "/usr/lib/linerate-lab";
/// Bytes that the trees of sixteen hosts take, and some room.
const ROOM: u64 = 3 << 30;
/// Longest that all hosts may take to let somebody in.
const START: Duration = Duration::from_secs(60);

/// One host.
pub(super) struct Host {
    /// Its name, as the operator says it.
    pub(super) name: String,
    /// Its number: the last part of its address, and the seed of its node.
    pub(super) number: u8,
    /// Whether root is let in; else [`USER`].
    pub(super) root: bool,
    /// The node that it shows.
    pub(super) tree: Tree,
    /// What its programs say once it is mended.
    pub(super) mended: Vec<Mended>,
}

/// What a program says once a host is as it must be.
pub(super) struct Mended {
    /// The number of its output among those of the node.
    pub(super) output: String,
    /// What it says then.
    pub(super) text: Vec<u8>,
    /// Files of the kernel, and what they hold then.
    pub(super) when: Vec<(String, Vec<u8>)>,
}

/// Hosts that run. They end with this value, and with this process however it ends.
pub(super) struct Fleet {
    dir: PathBuf,
    running: Vec<Child>,
}

/// What hosts need of this machine; why they cannot be had.
pub(super) fn possible() -> Result<()> {
    let needed =
        ["unshare", "setpriv", "mount", "pivot_root", "hostname", "sshd", "ssh", "ssh-keygen", "sudo", "setpci"];
    let missing: Vec<&str> = needed.into_iter().filter(|p| !shell::has(p)).collect();
    if !missing.is_empty() {
        return Err(format!(
            "{} not installed (Debian: util-linux, openssh-server, openssh-client, sudo, pciutils)",
            missing.join(", ")
        ));
    }
    let dir = std::env::temp_dir().join(format!("linerate-lab-hosts-{}", std::process::id()));
    fs::create_dir_all(dir.join("upper"))
        .and_then(|()| fs::create_dir_all(dir.join("to")))
        .map_err(|e| failed(&dir, &e))?;
    let script = "mount -t tmpfs none \"$1/upper\" && mkdir \"$1/upper/u\" \"$1/upper/w\" && mount -t proc none \"$1/to\" && \
                  mount -t overlay -o lowerdir=/usr,upperdir=\"$1/upper/u\",workdir=\"$1/upper/w\" overlay \"$1/to\"";
    let tried = shell::output(
        Command::new("unshare")
            .args(["--mount", "--uts", "--ipc", "--pid", "--fork", "sh", "-c", script, "sh"])
            .arg(&dir),
    );
    let _ = fs::remove_dir_all(&dir);
    tried.map(drop).map_err(|why| format!("namespaces and mounts (they need root): {why}"))
}

/// Where the hosts' trees are: in memory where there is room, as a quarter of a million small files are slow to make and to remove on a disk.
pub(super) fn place(beside: &Path) -> PathBuf {
    let free = shell::output(Command::new("df").args(["-B1", "--output=avail", "/dev/shm"]));
    let free = free.ok().and_then(|text| text.lines().last()?.trim().parse::<u64>().ok());
    if free.is_some_and(|n| n >= ROOM) { PathBuf::from("/dev/shm/linerate-lab-hosts") } else { beside.join("trees") }
}

impl Fleet {
    /// Starts the hosts in a directory, which is made anew.
    pub(super) fn start(dir: &Path, hosts: &[Host], stop: &AtomicBool) -> Result<Fleet> {
        let _ = fs::remove_dir_all(dir);
        fs::create_dir_all(dir).map_err(|e| failed(dir, &e))?;
        let mut fleet = Fleet { dir: dir.to_owned(), running: Vec::new() };
        key(&dir.join("user"))?;
        let port = TcpListener::bind("127.2.0.1:0").and_then(|l| l.local_addr()).map_err(|e| failed(dir, &e))?.port();
        let (mut known, mut config) = (String::new(), String::new());
        for host in hosts {
            if stop.load(Ordering::Relaxed) {
                return Err("interrupted".to_owned());
            }
            let at = dir.join("hosts").join(&host.name);
            prepare(&at, dir, host, port)?;
            let public = read(&at.join("etc/ssh/host.pub"))?;
            let key = public.split(' ').take(2).collect::<Vec<_>>().join(" ");
            let _ = writeln!(known, "[{}]:{port} {key}", host.address());
            let _ = writeln!(config, "Host {}\n  HostName {}\n  User {}", host.name, host.address(), host.user());
        }
        let _ = write!(
            config,
            "Host *\n  Port {port}\n  IdentityFile {}\n  IdentitiesOnly yes\n  StrictHostKeyChecking yes\n  UserKnownHostsFile {}\n  ConnectTimeout 10\n",
            dir.join("user").display(),
            dir.join("known").display()
        );
        write(&dir.join("known"), known.as_bytes())?;
        write(&dir.join("ssh_config"), config.as_bytes())?;
        for host in hosts {
            fleet.running.push(enter(dir, host)?);
        }
        let until = Instant::now() + START;
        for host in hosts {
            while TcpStream::connect((host.address().as_str(), port)).is_err() {
                if Instant::now() > until || stop.load(Ordering::Relaxed) {
                    return Err(format!(
                        "{} does not listen: {}",
                        host.name,
                        read(&dir.join("hosts").join(&host.name).join("log"))?
                    ));
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        Ok(fleet)
    }

    /// ssh's own configuration of the hosts.
    pub(super) fn config(&self) -> PathBuf {
        self.dir.join("ssh_config")
    }

    /// Runs a line on a host, as root.
    pub(super) fn on(&self, host: &str, line: &str, input: Option<&Path>) -> Result<String> {
        let mut command = Command::new("ssh");
        command.arg("-F").arg(self.config()).args(["-o", "BatchMode=yes", host, "sudo", "-n", "sh", "-c"]);
        command.arg(quoted(line)?);
        let stdin = match input {
            Some(file) => fs::File::open(file).map_err(|e| failed(file, &e))?.into(),
            None => Stdio::null(),
        };
        let out = command.stdin(stdin).output().map_err(|e| format!("cannot run ssh: {e}"))?;
        if out.status.success() {
            return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
        }
        Err(format!("{host}: {line}: {}", String::from_utf8_lossy(&out.stderr).trim()))
    }
}

/// One word of a shell.
fn quoted(text: &str) -> Result<String> {
    linerate_out::shell::word(text).ok_or_else(|| format!("{text:?} is no word of a shell"))
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for child in &mut self.running {
            // The first process of the host's namespace dies with this one, and takes the others with it.
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Host {
    pub(super) fn address(&self) -> String {
        format!("127.2.0.{}", self.number)
    }

    fn user(&self) -> &'static str {
        if self.root { "root" } else { USER }
    }
}

/// Writes what a host is made of.
fn prepare(at: &Path, dir: &Path, host: &Host, port: u16) -> Result<()> {
    let (tree, etc) = (at.join("tree"), at.join("etc"));
    for made in [&at.join("root"), &at.join("said"), &etc.join("ssh"), &etc.join("pam.d")] {
        fs::create_dir_all(made).map_err(|e| failed(made, &e))?;
    }
    host.tree.write_to(&tree).map_err(|e| failed(&tree, &e))?;
    programs(host, &at.join("said"))?;
    key(&etc.join("ssh/host"))?;
    let id = format!("{:032x}", 0x5eed_0000_u128 << 64 | u128::from(host.number));
    let passwd = format!(
        "root:x:0:0::/root:/bin/bash\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n{USER}:x:1000:1000::/home/{USER}:/bin/bash\n"
    );
    let server = format!(
        "Port {port}\nListenAddress {}\nHostKey /etc/ssh/host\nAuthorizedKeysFile /etc/ssh/authorized\nUsePAM no\nStrictModes no\n\
         PasswordAuthentication no\nPermitRootLogin {}\nPidFile none\nMaxStartups 100\nSetEnv PATH=/usr/sbin:/usr/bin\n",
        host.address(),
        if host.root { "prohibit-password" } else { "no" },
    );
    let files: [(&str, String); 11] = [
        ("hostname", format!("{}\n", host.name)),
        ("machine-id", format!("{id}\n")),
        ("passwd", passwd),
        ("shadow", format!("root:*:19000::::::\nsshd:*:19000::::::\n{USER}:*:19000::::::\n")),
        ("group", format!("root:x:0:\n{USER}:x:1000:\nnogroup:x:65534:\n")),
        ("hosts", format!("127.0.0.1 localhost\n{} {}\n", host.address(), host.name)),
        ("nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\nhosts: files\n".to_owned()),
        (
            "sudoers",
            format!(
                "Defaults secure_path=\"/usr/sbin:/usr/bin\"\nroot ALL=(ALL) ALL\n{USER} ALL=(ALL) NOPASSWD: ALL\n"
            ),
        ),
        // Limits of a session may not be set everywhere.
        (
            "pam.d/sudo",
            "auth required pam_permit.so\naccount required pam_permit.so\nsession required pam_permit.so\n".to_owned(),
        ),
        ("ssh/sshd_config", server),
        ("ssh/authorized", read(&dir.join("user.pub"))?),
    ];
    for (name, text) in files {
        write(&etc.join(name), text.as_bytes())?;
    }
    // What a board says of itself; the composed tree leaves it out.
    write(
        &tree.join("sys/devices/virtual/dmi/id/product_uuid"),
        format!("5eed0000-0000-4000-8000-{:012x}\n", host.number).as_bytes(),
    )
}

/// One script for each program whose output the node has: it prints what was composed.
fn programs(host: &Host, to: &Path) -> Result<()> {
    let (tree, out) = (&host.tree, to.with_file_name("outputs"));
    fs::create_dir_all(&out).map_err(|e| failed(&out, &e))?;
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for n in 0.. {
        let text = |leaf: &str| match tree.entries.get(&format!("cmd/{n}/{leaf}")) {
            Some(Entry::File(bytes)) => Some(bytes.as_slice()),
            _ => None,
        };
        let (Some(argv), Some(stdout), Some(status)) = (text("argv"), text("stdout"), text("status")) else { break };
        let argv: Vec<String> = serde_json::from_slice(argv).map_err(|e| format!("cmd/{n}/argv: {e}"))?;
        let Some((program, arguments)) = argv.split_first() else { continue };
        write(&out.join(n.to_string()), stdout)?;
        let status = String::from_utf8_lossy(status);
        let of = all
            .entry(program.clone())
            .or_insert_with(|| "#!/bin/sh\n# Says what the composed node says.\ncase \"$*\" in\n".to_owned());
        let _ = writeln!(of, "{})", quoted(&arguments.join(" "))?);
        for mended in host.mended.iter().filter(|m| m.output == n.to_string()) {
            of.push_str("    if true");
            for (i, (file, bytes)) in mended.when.iter().enumerate() {
                write(&out.join(format!("{n}-when-{i}")), bytes)?;
                let _ =
                    write!(of, " && [ \"$(cat {})\" = \"$(cat {LAB}/{n}-when-{i})\" ]", quoted(&format!("/{file}"))?);
            }
            write(&out.join(format!("{n}-mended")), &mended.text)?;
            let _ = writeln!(of, "; then\n        cat {LAB}/{n}-mended\n        exit 0\n    fi");
        }
        let _ = writeln!(of, "    cat {LAB}/{n}\n    exit {} ;;", status.trim());
    }
    for (program, mut script) in all {
        script.push_str("esac\necho \"${0##*/} of the lab does not know: $*\" >&2\nexit 1\n");
        let file = to.join(&program);
        write(&file, script.as_bytes())?;
        shell::status(Command::new("chmod").arg("755").arg(&file))?;
    }
    Ok(())
}

/// Starts the first process of a host.
fn enter(dir: &Path, host: &Host) -> Result<Child> {
    let at = dir.join("hosts").join(&host.name);
    let lab = shell::root().join("lab/hosts");
    let log = fs::File::create(at.join("log")).map_err(|e| failed(&at, &e))?;
    // Killed with this process, whatever ends it, and the host with it.
    let mut command = Command::new("setpriv");
    command.args([
        "--pdeathsig",
        "KILL",
        "unshare",
        "--mount",
        "--uts",
        "--ipc",
        "--pid",
        "--fork",
        "--kill-child=KILL",
        "sh",
    ]);
    command.arg(lab.join("enter.sh")).arg(&at).arg(lab.join("bin"));
    let out = log.try_clone().map_err(|e| failed(&at, &e))?;
    command.stdin(Stdio::null()).stdout(out).stderr(log);
    command.spawn().map_err(|e| format!("cannot run setpriv: {e}"))
}

fn key(file: &Path) -> Result<()> {
    shell::output(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(file)).map(drop)
}

pub(super) fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).map_err(|e| failed(file, &e))
}

pub(super) fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(file, bytes).map_err(|e| failed(file, &e))
}

fn failed(at: &Path, why: &std::io::Error) -> String {
    format!("{}: {why}", at.display())
}
