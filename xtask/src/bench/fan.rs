//! `cargo xtask bench fan [--hosts N] [--fanout N] [--rounds N] [--dead] [--check] [--linerate FILE]`: the same bytes from many hosts, by `linerate collect --on`,
//! by pdsh and, where it is installed, by clush, in turn. The hosts are addresses of this machine behind one sshd, so that servers and clients share
//! its cores. CPU time is that of the client with all of its children.
//!
//! The program on the hosts is a script that prints a ready snapshot: what is measured is the way to it. `--dead`: of every ten hosts one answers
//! nothing, not even a connection, and is asked by linerate only. `--check [--within SECONDS]`, as CI runs it: without clush, as many rounds as fit into the time (120 s), and
//! an error beyond [`WALL`] times the wall time of pdsh, [`MEMORY`], or where a host was not collected. A machine on which no round fits says so and
//! ends with 77.

use super::measure::{self, Run};
use crate::shell::{self, Result};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Most of pdsh's wall time that passes a check. What is asked for is 1.2: machines that check are used by others, too.
const WALL: f64 = 2.0;
/// Most memory that passes a check, MiB.
const MEMORY: f64 = 200.0;
/// The status of a check that came to nothing.
const SKIPPED: u8 = 77;

struct Wanted {
    hosts: usize,
    fanout: usize,
    rounds: usize,
    dead: bool,
    linerate: Option<PathBuf>,
    /// The time of a check, seconds.
    within: Option<u64>,
}

pub(super) fn main(args: &[&str]) -> ExitCode {
    match run(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(SKIPPED),
        Err(why) => shell::exit(Err(why)),
    }
}

/// Whether there was a result.
fn run(args: &[&str]) -> Result<bool> {
    let mut w = Wanted { hosts: 200, fanout: 64, rounds: 3, dead: false, linerate: None, within: None };
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().copied().ok_or_else(|| format!("{word} takes a value"));
        let number = |v: &str| v.parse::<usize>().map_err(|e| format!("{v}: {e}"));
        match *word {
            "--hosts" => w.hosts = number(value()?)?,
            "--fanout" => w.fanout = number(value()?)?,
            "--rounds" => w.rounds = number(value()?)?,
            "--dead" => w.dead = true,
            "--check" => w.within = w.within.or(Some(120)),
            "--within" => w.within = Some(number(value()?)? as u64),
            "--linerate" => w.linerate = Some(PathBuf::from(value()?)),
            other => return Err(format!("bench fan: {other} is not known")),
        }
    }
    if let Some(missing) = ["sshd", "ssh", "ssh-keygen", "pdsh"].iter().find(|p| !shell::has(p)) {
        return Err(format!("bench fan needs {missing}: apt-get install openssh-server pdsh"));
    }
    let linerate = match (&w.linerate, w.within) {
        (Some(own), _) => own.clone(),
        // As what else is checked.
        (None, Some(_)) => shell::release()?,
        (None, None) => shell::dist()?,
    };
    let lab = Lab::start()?;
    measure_all(&lab, &w, &linerate)
}

fn measure_all(lab: &Lab, w: &Wanted, linerate: &Path) -> Result<bool> {
    let host = |i: usize| format!("127.1.{}.{}", 1 + i / 250, 1 + i % 250);
    let hosts: Vec<String> = (0..w.hosts).map(host).collect();
    let list = lab.file("hosts");
    std::fs::write(&list, hosts.join("\n")).map_err(|e| e.to_string())?;
    let snapshot = lab.snapshot()?;
    let program = lab.file("program");
    let says = format!("[ \"$1\" != --version ] || {{ echo linerate {}; exit; }}", env!("CARGO_PKG_VERSION"));
    let text = format!("#!/bin/sh\n{says}\ncat {}\n", snapshot.display());
    std::fs::write(&program, text).map_err(|e| e.to_string())?;
    let config = lab.file("ssh_config").display().to_string();
    let fanout = w.fanout.to_string();
    let report = lab.file("report");
    let ours = |hosts: &[String]| {
        let mut c = Command::new(linerate);
        c.args([
            "collect",
            "--quiet",
            "--format",
            "json",
            "--collector",
            "push",
            "--on",
            &hosts.join(","),
            "--fanout",
            &fanout,
            "-o",
        ]);
        c.arg(lab.file("fleet")).arg("--program").arg(&program).args(["--ssh-option", "-F", "--ssh-option", &config]);
        c.env("XDG_CACHE_HOME", lab.file("cache"));
        c
    };
    let theirs = || {
        let mut c = Command::new("pdsh");
        c.args(["-R", "ssh", "-t", "10", "-f", &fanout, "-w", &format!("^{}", list.display()), "cat"]).arg(&snapshot);
        c.env("PDSH_SSH_ARGS_APPEND", format!("-F {config} -o BatchMode=yes -o LogLevel=ERROR -o ConnectTimeout=10"));
        c
    };
    let clush = || {
        let mut c = Command::new("clush");
        c.args(["-n", "-t", "10", "-f", &fanout, "-o", &format!("-F {config} -o LogLevel=ERROR"), "--hostfile"]);
        c.arg(&list).arg("cat").arg(&snapshot);
        c
    };
    println!(
        "{} hosts, fan-out {}, {} bytes each",
        w.hosts,
        w.fanout,
        std::fs::metadata(&snapshot).map_or(0, |m| m.len())
    );
    // The program gets into the cache.
    measure::run(&mut ours(hosts.get(..1).unwrap_or_default()))?;
    let (mut a, mut b, mut c, mut d) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let has_clush = shell::has("clush") && w.within.is_none();
    let began = Instant::now();
    let until = w.within.map(|s| began + Duration::from_secs(s));
    for round in 0..w.rounds {
        // A round that cannot end in time does not begin.
        let each = began.elapsed() / u32::try_from(round.max(1)).unwrap_or(u32::MAX);
        if round > 0 && until.is_some_and(|t| Instant::now() + each > t) {
            break;
        }
        let null = Path::new("/dev/null");
        let (Some(pdsh), Some(linerate)) = (in_time(theirs(), until, null)?, in_time(ours(&hosts), until, &report)?)
        else {
            break;
        };
        b.push(said("pdsh", pdsh));
        a.push(said("linerate", linerate));
        if has_clush {
            d.push(said("clush", measure::run(&mut clush())?));
        }
        if w.dead {
            let some = dead(&hosts)?;
            c.push(said("linerate, one of ten dead", measure::run(&mut ours(&some.names))?));
        }
    }
    if a.is_empty() {
        println!(
            "SKIPPED: {} hosts are not asked once by both tools within {} s here",
            w.hosts,
            w.within.unwrap_or_default()
        );
        return Ok(false);
    }
    let (wall, cpu) = (|r: &[Run]| measure::wall(r).median, |r: &[Run]| measure::cpu(r).median);
    let ratios = |rival: &[Run]| format!("wall {:.2}, CPU {:.2}", wall(&a) / wall(rival), cpu(&a) / cpu(rival));
    println!("linerate / pdsh, medians of {}: {}; peak of memory {:.0} MiB", a.len(), ratios(&b), measure::peak(&a));
    if has_clush {
        println!("linerate / clush, medians: {}", ratios(&d));
    }
    if w.dead {
        println!("one of ten dead: {:+.1} s", (wall(&c) - wall(&a)) / 1e3);
    }
    if w.within.is_some() {
        failures(&report);
        judge(wall(&a) / wall(&b), measure::peak(&a), (collected(&lab.file("fleet")), hosts.len()))?;
    }
    Ok(true)
}

/// Runs a command, which is ended when the time is up: `None`. What it prints goes to a file.
fn in_time(mut command: Command, until: Option<Instant>, to: &Path) -> Result<Option<Run>> {
    let printed = std::fs::File::create(to).map_err(|e| format!("{}: {e}", to.display()))?;
    let Some(until) = until else { return measure::run_into(&mut command, printed.into()).map(Some) };
    let left = until.saturating_duration_since(Instant::now());
    if left < Duration::from_millis(100) {
        return Ok(None);
    }
    let mut bounded = Command::new("timeout");
    bounded
        .arg("--kill-after=5")
        .arg(format!("{:.2}", left.as_secs_f64()))
        .arg(command.get_program())
        .args(command.get_args());
    bounded.envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let run = measure::run_into(&mut bounded, printed.into());
    if Instant::now() + Duration::from_millis(20) >= until { Ok(None) } else { run.map(Some) }
}

/// Prints which hosts were not collected in the last run, and why.
fn failures(report: &Path) {
    let read = std::fs::read(report).unwrap_or_default();
    let json: serde_json::Value = serde_json::from_slice(&read).unwrap_or_default();
    let nodes = json["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
    for node in nodes.iter().filter(|n| n["state"] == "failed").take(8) {
        println!("{}: {}, {} tries: {}", node["name"], node["cause"], node["tries"], node["why"]);
    }
}

/// How many nodes have a snapshot.
fn collected(fleet: &Path) -> usize {
    let has_file = |dir: &PathBuf| std::fs::read_dir(dir).is_ok_and(|mut files| files.next().is_some());
    std::fs::read_dir(fleet).into_iter().flatten().flatten().map(|e| e.path()).filter(has_file).count()
}

/// What fails a check. `hosts`: collected, of how many.
fn judge(wall: f64, peak: f64, hosts: (usize, usize)) -> Result<()> {
    let mut wrong = Vec::new();
    if hosts.0 != hosts.1 {
        wrong.push(format!("{} of {} hosts were collected", hosts.0, hosts.1));
    }
    if wall > WALL {
        wrong.push(format!("{wall:.2} times the wall time of pdsh, and {WALL} is the most that passes"));
    }
    if peak > MEMORY {
        wrong.push(format!("{peak:.0} MiB of memory, and {MEMORY} is the most that passes"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("bench fan: {}", wrong.join("; "))) }
}

fn said(what: &str, r: Run) -> Run {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    println!(
        "{what}: {:.1} s, CPU {:.1} s, peak {:.0} MiB (load {load})",
        r.wall / 1e3,
        r.cpu / 1e3,
        r.peak as f64 / 1024.0
    );
    r
}

/// Hosts of which every tenth is dead: nothing answers, as of a node without power.
struct Dead {
    names: Vec<String>,
    _ports: Vec<(std::net::TcpListener, Vec<std::net::TcpStream>)>,
}

#[allow(unsafe_code)] // the standard library does not set the length of the queue
fn dead(hosts: &[String]) -> Result<Dead> {
    let (mut names, mut ports) = (Vec::new(), Vec::new());
    for (i, host) in hosts.iter().enumerate() {
        if i % 10 != 5 {
            names.push(host.clone());
            continue;
        }
        let failed = |e: std::io::Error| format!("{host}: {e}");
        let port = std::net::TcpListener::bind((host.as_str(), 0)).map_err(failed)?;
        let address = port.local_addr().map_err(failed)?;
        // The kernel drops what asks for a connection while a queue is full: a queue for one, and one that waits.
        // SAFETY: the descriptor is that of the listener, which lives; `listen` takes no memory.
        if unsafe { libc::listen(port.as_raw_fd(), 0) } != 0 {
            return Err(failed(std::io::Error::last_os_error()));
        }
        let knock = || std::net::TcpStream::connect_timeout(&address, Duration::from_millis(50));
        let waiting = std::iter::from_fn(|| knock().ok()).take(8).collect();
        names.push(format!("{host}:{}", address.port()));
        ports.push((port, waiting));
    }
    Ok(Dead { names, _ports: ports })
}

/// One sshd on all addresses of loopback.
struct Lab {
    dir: PathBuf,
    sshd: Child,
}

impl Lab {
    fn start() -> Result<Lab> {
        let dir = std::env::temp_dir().join(format!("linerate-bench-fan-{}", std::process::id()));
        std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        let at = |leaf: &str| dir.join(leaf).display().to_string();
        for key in ["host", "user"] {
            shell::output(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]))?;
        }
        let port =
            std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).map_err(|e| e.to_string())?.port();
        let _ = std::fs::create_dir_all("/run/sshd");
        let public = std::fs::read_to_string(at("host.pub")).map_err(|e| e.to_string())?;
        let key: Vec<&str> = public.split(' ').take(2).collect();
        for (name, text) in [
            (
                "sshd_config",
                format!(
                    "Port {port}\nListenAddress 0.0.0.0\nHostKey {}\nAuthorizedKeysFile {}\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n\
                     PermitRootLogin yes\nPidFile none\nMaxStartups 2000\nSetEnv XDG_CACHE_HOME={}\n",
                    at("host"),
                    at("user.pub"),
                    at("cache")
                ),
            ),
            ("known", format!("[127.*]:{port} {}\n", key.join(" "))),
            (
                "ssh_config",
                format!(
                    "Host *\n  Port {port}\n  IdentityFile {}\n  IdentitiesOnly yes\n  StrictHostKeyChecking yes\n  UserKnownHostsFile {}\n",
                    at("user"),
                    at("known")
                ),
            ),
        ] {
            std::fs::write(dir.join(name), text).map_err(|e| format!("{name}: {e}"))?;
        }
        // It wants its whole path.
        let sshd = shell::output(Command::new("sh").args(["-c", "PATH=$PATH:/usr/sbin:/sbin command -v sshd"]))?;
        let log = std::fs::File::create(at("log")).map_err(|e| e.to_string())?;
        let mut command = Command::new(sshd.trim());
        command.args(["-D", "-e", "-f", &at("sshd_config")]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let sshd = command.spawn().map_err(|e| format!("sshd: {e}"))?;
        let began = Instant::now();
        while std::net::TcpStream::connect(("127.1.1.1", port)).is_err() {
            if began.elapsed() > Duration::from_secs(10) {
                return Err("sshd does not listen".to_owned());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(Lab { dir, sshd })
    }

    fn file(&self, leaf: &str) -> PathBuf {
        self.dir.join(leaf)
    }

    /// A machine with eight GPUs as this version collects it: hosts hash what identifies.
    fn snapshot(&self) -> Result<PathBuf> {
        let bytes = std::fs::read(shell::root().join("examples/healthy-8gpu.tar.zst")).map_err(|e| e.to_string())?;
        let mut snapshot = linerate_snapshot::load_bytes(&bytes, "healthy-8gpu").map_err(|e| e.to_string())?;
        snapshot.redact(None).map_err(|e| e.to_string())?;
        env!("CARGO_PKG_VERSION").clone_into(&mut snapshot.manifest.linerate);
        let to = self.file("node.tar.zst");
        snapshot.save(&to).map_err(|e| e.to_string())?;
        Ok(to)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_fails_far_beyond_what_is_asked_for() {
        assert!(judge(1.2, 150.0, (200, 200)).is_ok() && judge(2.0, 200.0, (200, 200)).is_ok());
        for (wall, peak, collected, word) in
            [(2.01, 1.0, 200, "pdsh"), (1.0, 200.5, 200, "memory"), (1.0, 1.0, 199, "collected")]
        {
            let why = judge(wall, peak, (collected, 200)).unwrap_err();
            assert!(why.contains(word) && !why.contains(';'), "{why}");
        }
    }

    #[test]
    fn what_takes_too_long_is_no_result() {
        let sleep = |seconds: &str| {
            let mut c = Command::new("sleep");
            c.arg(seconds);
            c
        };
        let until = Instant::now() + Duration::from_millis(1500);
        assert!(in_time(sleep("0.01"), Some(until), Path::new("/dev/null")).unwrap().is_some());
        assert!(in_time(sleep("20"), Some(until), Path::new("/dev/null")).unwrap().is_none());
        assert!(
            in_time(sleep("0.01"), Some(until), Path::new("/dev/null")).unwrap().is_none(),
            "nothing is begun then"
        );
        assert!(in_time(sleep("0.01"), None, Path::new("/dev/null")).unwrap().is_some());
    }
}
