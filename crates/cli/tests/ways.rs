//! Ways other than ssh: steps of a real Slurm, where it is installed, and pods of a `kubectl` that only does what it is asked.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, clippy::disallowed_methods, missing_docs)]

use crate::hosts as common;
use crate::schema;

use common::{all_gone, find, have, processes, quietly, wait_for};
use serde_json::Value;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// The first line of a script in place of the program.
const SAYS_VERSION: &str =
    concat!("[ \"$1\" != --version ] || { echo linerate ", env!("CARGO_PKG_VERSION"), "; exit; }");

/// A directory with what is needed on any way: an inventory, a home, and a program that prints a snapshot.
struct Site {
    dir: tempfile::TempDir,
    program: String,
}

impl Site {
    fn new(inventory: &str) -> Site {
        let dir = tempfile::tempdir().unwrap();
        assert!(quietly("chmod", &["755", &dir.path().display().to_string()]));
        for leaf in ["home", "tmp", "bin"] {
            std::fs::create_dir(dir.path().join(leaf)).unwrap();
        }
        std::fs::write(dir.path().join("linerate.toml"), inventory).unwrap();
        let mut s = linerate_snapshot::Snapshot::new("x");
        s.add_file("proc/version", b"Linux\n");
        (s.manifest.linerate, s.manifest.origin) = (env!("CARGO_PKG_VERSION").to_owned(), "live".to_owned());
        (s.manifest.schema, s.manifest.uid) = (1, Some(0));
        s.save(&dir.path().join("node.tar.zst")).unwrap();
        let text = format!("#!/bin/sh\n{SAYS_VERSION}\ncat '{}'\n", dir.path().join("node.tar.zst").display());
        std::fs::write(dir.path().join("print"), text).unwrap();
        let program = dir.path().join("print").display().to_string();
        Site { dir, program }
    }

    fn path(&self, leaf: &str) -> PathBuf {
        self.dir.path().join(leaf)
    }

    fn script(&self, leaf: &str, text: &str) -> String {
        let path = self.path(leaf).display().to_string();
        std::fs::write(&path, text).unwrap();
        assert!(quietly("chmod", &["755", &path]));
        path
    }

    fn linerate(&self, words: &[&str], program: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        let inventory = self.path("linerate.toml").display().to_string();
        command.args(words).args(["--inventory", &inventory, "--collector", "push", "--program", program]);
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp")).env("PATH", path);
        command.env("SLURM_CONF", self.path("slurm.conf")).env_remove("SLURM_JOB_ID").env_remove("XDG_CACHE_HOME");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn collect(&self, on: &str, more: &[&str]) -> (Value, Output) {
        let to = self.path("fleet").display().to_string();
        let words = [&["collect", "--format=json", "--on", on, "-o", &to], more].concat();
        let out = self.linerate(&words, &self.program).output().unwrap();
        let json = serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
        schema::Schema::of("collect-1").check(&json).unwrap();
        (json, out)
    }
}

/// Name, and cause or what collected it.
fn ends(json: &Value) -> Vec<(&str, &str)> {
    let end = |n: &'_ Value| n["cause"].as_str().is_none();
    let all = json["nodes"].as_array().unwrap().iter();
    all.map(|n| (n["name"].as_str().unwrap(), n[if end(n) { "by" } else { "cause" }].as_str().unwrap())).collect()
}

/// Slurm's controller and the daemons of its nodes, all on this host.
struct Slurm {
    site: Site,
    children: Vec<Child>,
}

impl Slurm {
    /// Nodes gpu001 to gpu003, of which the last one is drained.
    fn start() -> Option<Slurm> {
        if !have(&["munged", "slurmctld", "slurmd", "srun", "scontrol", "sinfo"]) {
            return None;
        }
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
        let site = Site::new(
            "[groups]\nall = { nodes = \"gpu[001-003,009]\", transport = \"srun\", srun_options = [\"--immediate=3\"] }\n",
        );
        let port = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = |leaf: &str| site.path(leaf).display().to_string();
        let mut conf = format!(
            "ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nSlurmUser=root\nAuthType=auth/munge\n\
             AuthInfo=socket={}\nCryptoType=crypto/munge\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
             SlurmdParameters=config_overrides\nSelectType=select/linear\nStateSaveLocation={}\nSlurmdSpoolDir={}/%n\n\
             SlurmctldPidFile={}\nSlurmdPidFile={}/%n.pid\nReturnToService=2\nMailProg=/bin/true\n\
             PartitionName=all Nodes=gpu[001-003] Default=YES State=UP OverSubscribe=FORCE\n",
            port(),
            at("munge"),
            at("state"),
            at("spool"),
            at("ctld.pid"),
            at("spool"),
        );
        for n in 1..=3 {
            conf += &format!("NodeName=gpu00{n} NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=2\n", port());
        }
        std::fs::write(at("slurm.conf"), conf).unwrap();
        std::fs::write(at("key"), [7; 128]).unwrap();
        assert!(quietly("chmod", &["600", &at("key")]));
        for leaf in ["state", "spool"] {
            std::fs::create_dir(at(leaf)).unwrap();
        }
        let munge = ["--socket", "munge", "--key-file", "key", "--pid-file", "munge.pid", "--seed-file", "seed"];
        let munge = munge.chunks(2).map(|w| format!("{}={}", w[0], at(w[1])));
        let munge: Vec<String> = ["--foreground", "--force"].map(str::to_owned).into_iter().chain(munge).collect();
        let mut slurm = Slurm { site, children: Vec::new() };
        slurm.begin("munged", &munge);
        wait_for("munged", || slurm.site.path("munge").exists());
        slurm.begin("slurmctld", &["-D".to_owned()]);
        for n in 1..=3 {
            slurm.begin("slurmd", &["-D".to_owned(), "-N".to_owned(), format!("gpu00{n}")]);
        }
        for _ in 0..100 {
            let out = slurm.ask("sinfo", &["--noheader", "--format=%D %t"]);
            if out.trim() == "3 idle" {
                slurm.ask("scontrol", &["update", "nodename=gpu003", "state=drain", "reason=test"]);
                return Some(slurm);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        println!("SKIPPED: Slurm does not start here");
        None
    }

    fn begin(&mut self, program: &str, words: &[String]) {
        let log = std::fs::File::create(self.site.path(&format!("{program}-{}.log", self.children.len()))).unwrap();
        let mut command = Command::new(find(program).unwrap());
        command.args(words).env("SLURM_CONF", self.site.path("slurm.conf")).stdin(Stdio::null());
        command.stdout(log.try_clone().unwrap()).stderr(log);
        self.children.push(command.spawn().unwrap());
    }

    fn ask(&self, program: &str, words: &[&str]) -> String {
        let mut command = Command::new(program);
        let out = command.args(words).env("SLURM_CONF", self.site.path("slurm.conf")).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn steps_of_slurm_carry_snapshots() {
    let Some(slurm) = Slurm::start() else { return };
    let (json, out) = slurm.site.collect("gpu[001-003,009]", &[]);
    let want = [("gpu001", "pushed"), ("gpu002", "pushed"), ("gpu003", "no-resources"), ("gpu009", "unresolved")];
    // The nodes share a home: whoever comes second may find the program there.
    let found: Vec<_> = ends(&json).into_iter().map(|(n, e)| (n, if e == "cache" { "pushed" } else { e })).collect();
    assert_eq!((found, out.status.code()), (want.to_vec(), Some(2)), "{json}");
    let tries = json["nodes"].as_array().unwrap().iter().all(|n| n["tries"] == 1);
    assert!(tries, "{json}");
    // A verb over the same way.
    let out = slurm.site.linerate(&["drift", "--format=json", "--on", "@all"], &slurm.site.program).output().unwrap();
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((json["count"].as_u64(), json["unreadable"].as_array().map(Vec::len)), (Some(2), Some(2)), "{json}");
    assert_eq!(out.status.code(), Some(2));
    // Ctrl-C ends the step there.
    let slow = slurm.site.script("slow", &format!("#!/bin/sh\n{SAYS_VERSION}\nsleep 1000 & sleep 1000\n"));
    let word = slurm.site.path("home").display().to_string();
    let mut child = slurm.site.linerate(&["audit", "--on", "gpu001,gpu002"], &slow).spawn().unwrap();
    wait_for("the programs to run", || processes(&word).iter().filter(|p| is_sleep(**p)).count() == 4);
    assert!(quietly("kill", &["-INT", &child.id().to_string()]));
    wait_for("the end", || child.try_wait().unwrap().is_some());
    all_gone(&word);
    assert!(std::fs::read_dir(slurm.site.path("tmp")).unwrap().next().is_none());
    wait_for("the jobs to end", || slurm.ask("squeue", &["--noheader"]).trim().is_empty());
}

fn is_sleep(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|c| c.trim() == "sleep")
}

/// Writes each call, a word a line; a pod is this host.
const KUBECTL: &str = r#"#!/bin/sh
log=${0%/*}/../calls
{ for word; do printf '%s\n' "$word" | head -n 1; done; echo .; } >>"$log"
for word; do
    case $word in --field-selector=*) node=${word#*nodeName=} node=${node%%,*} ;; esac
done
case " $* " in
*" get pods "*)
    case $node in
    gpu003) exit 0 ;;
    gpu004) echo 'Error from server (Forbidden): pods is forbidden' >&2; exit 1 ;;
    *) printf 'shell-%s\nold-%s\n' "$node" "$node"; exit 0 ;;
    esac ;;
esac
while [ "$1" != -- ]; do
    case $1 in shell-gpu005) echo 'error: unable to upgrade connection: container not found' >&2; exit 1 ;; esac
    shift
done
[ "$2 $3" = "chroot /host" ] || exit 9
shift 3
exec "$@"
"#;

#[test]
fn pods_stand_for_nodes() {
    let site = Site::new(
        "[groups.pods]\nnodes = \"gpu[001-005]\"\ntransport = \"kubectl\"\n\
         kubectl = { context = \"prod\", namespace = \"tools\", selector = \"app=shell\", container = \"sh\", root = \"/host\" }\n",
    );
    site.script("bin/kubectl", KUBECTL);
    let (json, out) = site.collect("gpu[001,003-005]", &["--fanout=1"]);
    let want = [("gpu001", "pushed"), ("gpu003", "no-pod"), ("gpu004", "not-let-in"), ("gpu005", "no-connection")];
    assert_eq!((ends(&json), out.status.code()), (want.to_vec(), Some(2)), "{json}");
    let calls = std::fs::read_to_string(site.path("calls")).unwrap();
    let calls: Vec<Vec<&str>> = calls.split("\n.\n").map(|c| c.lines().collect()).collect();
    let of = |node: &str| -> Vec<&Vec<&str>> {
        let has = |c: &&Vec<&str>| c.iter().any(|w| w.contains(node));
        calls.iter().filter(has).collect()
    };
    let head = ["--context=prod", "--namespace=tools"];
    // The pod is asked for once; then the question, the push, the run.
    assert_eq!(of("gpu001").len(), 4, "{calls:?}");
    assert!(of("gpu001").iter().all(|c| c[..2] == head));
    let exec = ["exec", "--stdin", "--container=sh", "shell-gpu001", "--", "chroot", "/host", "sh", "-c"];
    assert!(of("gpu001")[1..].iter().all(|c| c[2..11] == exec), "{calls:?}");
    assert!(of("gpu003").len() == 1 && of("gpu004").len() == 1);
    assert_eq!(site.linerate(&["audit", "--on", "gpu003"], &site.program).output().unwrap().status.code(), Some(3));
    let inventory = site.path("linerate.toml").display().to_string();
    let mut nodes = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let out = nodes.args(["nodes", "gpu001", "--format=json", "--inventory", &inventory]).output().unwrap();
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    schema::Schema::of("nodes-1").check(&json).unwrap();
    assert_eq!(
        (&json["nodes"][0]["transport"], &json["nodes"][0]["way"]),
        (&"kubectl".into(), &"kubectl:gpu001".into())
    );
    assert!(std::fs::read_dir(site.path("tmp")).unwrap().next().is_none());
}

#[test]
fn a_way_that_lacks_something_is_said() {
    for (toml, code) in [
        ("[groups]\nx = { nodes = \"gpu001\", transport = \"kubectl\" }\n", 3),
        ("[groups]\nx = { nodes = \"gpu001\", transport = \"kubectl\", kubectl = { namespace = \"a\" } }\n", 3),
        ("[groups]\nx = { nodes = \"gpu001\", transport = \"pigeon\" }\n", 3),
    ] {
        let site = Site::new(toml);
        let out = site.linerate(&["audit", "--on", "@x"], &site.program).output().unwrap();
        assert_eq!(out.status.code(), Some(code), "{toml}: {}", String::from_utf8_lossy(&out.stderr));
        assert!(Path::new(&site.path("tmp")).read_dir().unwrap().next().is_none());
    }
    // What no source names goes the way of all.
    let site = Site::new("[way]\ntransport = \"srun\"\nsrun_options = [\"--pty\"]\n");
    let (json, out) = site.collect("gpu001,root@127.0.0.1:1", &[]);
    assert_eq!(
        (ends(&json), out.status.code()),
        (vec![("gpu001", "not-started"), ("root@127.0.0.1:1", "refused")], Some(2))
    );
}
