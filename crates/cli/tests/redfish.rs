//! BIOS settings from a finding to a node that shows them, and back: `plan`, `apply`, `verify`, `rollback` with a BMC beside a directory that
//! stands for the node. Its `systemctl` does what a machine does: the BMC starts it through POST, the firmware takes what waited, and the
//! tree shows it. `lab/emulators/redfish-setup` makes the real service.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, outside of test functions

use crate::command;
#[path = "../../apply/tests/service/mod.rs"]
mod service;

use service::{Service, root};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const UUID: &str = "27946b59-9e44-4fa7-8e91-f3527a1ef094";
const PASSWORD: &str = "hunter2-and-more";

fn url(bmc: &Service) -> String {
    format!("http://127.0.0.1:{}", bmc.port)
}

fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("redfish").join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// What a start does: the BMC's reset, and when it is over, what the firmware then brings about; the new boot's id last.
const SYSTEMCTL: &str = r##"#!/usr/bin/env python3
import base64, json, os, sys, time, urllib.request
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0]))))
url, user = open(root + "/lab-bmc").read().split("\n")[:2]
def ask(path, body=None):
    request = urllib.request.Request(url + path, data=json.dumps(body).encode() if body else None, headers={"Content-Type": "application/json"})
    if user:
        request.add_header("Authorization", "Basic " + base64.b64encode(user.encode()).decode())
    text = urllib.request.urlopen(request).read()
    return json.loads(text) if text else {}
system = ask("/redfish/v1/Systems")["Members"][0]["@odata.id"]
ask(ask(system)["Actions"]["#ComputerSystem.Reset"]["target"], {"ResetType": "ForceRestart"})
time.sleep(1)
while ask(system)["PowerState"] != "On":
    time.sleep(0.2)
held = ask(ask(system)["Bios"]["@odata.id"])["Attributes"]
off = [v for k, v in held.items() if k.startswith("NodeInterleav")][0] == "Disabled"
nodes = root + "/sys/devices/system/node/"
for node, cpus in [(0, "0\n" if off else "0-1\n"), (1, "1\n" if off else None)]:
    os.makedirs(nodes + "node%d" % node, exist_ok=True)
    for name, text in [("cpulist", cpus), ("distance", "10 21\n" if off else "10\n")]:
        path = nodes + "node%d/%s" % (node, name)
        if cpus is None:
            if os.path.exists(path): os.remove(path)
        else:
            open(path, "w").write(text)
    if cpus is None:
        os.rmdir(nodes + "node%d" % node)
open(nodes + "online", "w").write("0-1\n" if off else "0\n")
boot = root + "/proc/sys/kernel/random/boot_id"
count = int(open(boot).read().strip()[-4:]) + 1
open(boot + ".new", "w").write("5b2a3f38-9f0f-4a3e-9c1e-2f7a8f3f%04d\n" % count)
os.rename(boot + ".new", boot)
"##;

/// A machine of two sockets, whose firmware interleaves their memory.
fn machine(dir: &Path, bmc: &Service, user: &str) -> PathBuf {
    let root = dir.join("node");
    let file = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("lab-bmc", &format!("{}\n{user}\n", url(bmc)));
    file("proc/cmdline", "root=/dev/vda1 ro\n");
    file("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    file("proc/sys/kernel/hostname", "n1\n");
    file("proc/sys/kernel/random/boot_id", "5b2a3f38-9f0f-4a3e-9c1e-2f7a8f3f0001\n");
    let cpu =
        |n: u32| format!("processor\t: {n}\nvendor_id\t: GenuineIntel\nphysical id\t: {n}\nflags\t\t: fpu msr\n\n");
    file("proc/cpuinfo", &format!("{}{}", cpu(0), cpu(1)));
    file("sys/class/dmi/id/sys_vendor", "HPE\n");
    file("sys/class/dmi/id/product_uuid", &format!("{UUID}\n"));
    file("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
    file("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
    file("sys/devices/system/node/online", "0\n");
    file("sys/devices/system/node/node0/cpulist", "0-1\n");
    file("sys/devices/system/node/node0/distance", "10\n");
    file("usr/bin/systemctl", SYSTEMCTL);
    fs::set_permissions(root.join("usr/bin/systemctl"), fs::Permissions::from_mode(0o755)).unwrap();
    root
}

struct Lab {
    dir: PathBuf,
    root: PathBuf,
    bmc: Service,
    user: Vec<&'static str>,
    /// Everything that was printed.
    said: std::cell::RefCell<String>,
}

impl Lab {
    fn new(name: &str, bmc: Service, credentials: bool) -> Lab {
        let dir = scratch(name);
        let user = if credentials { format!("root:{PASSWORD}") } else { String::new() };
        let root = machine(&dir, &bmc, &user);
        let user = if credentials { vec!["--redfish-user", "root"] } else { vec![] };
        Lab { dir, root, bmc, user, said: std::cell::RefCell::default() }
    }

    fn run(&self, arguments: &[&str]) -> (i32, String) {
        self.run_to(arguments, "")
    }

    /// Ends at a boundary, where the feature `faults` is built in.
    fn run_to(&self, arguments: &[&str], fault: &str) -> (i32, String) {
        let url = url(&self.bmc);
        let more = [&["--redfish", url.as_str()], self.user.as_slice()].concat();
        let environment = [("LINERATE_REDFISH_PASSWORD", PASSWORD), ("LINERATE_FAULT", fault)];
        command::run(&self.dir, arguments, &more, &environment, &self.said)
    }

    fn file(&self) -> String {
        self.dir.join("n1.plan").display().to_string()
    }

    fn root(&self) -> String {
        self.root.display().to_string()
    }

    /// The plan, kept in a file.
    fn plan(&self) -> String {
        let (file, root) = (self.file(), self.root());
        let make = |more: &[&str]| self.run(&[&["plan", "--root", &root, "--fix", "numa/nps"], more].concat());
        let (code, text) = make(&[]);
        assert_eq!(code, 1, "{text}");
        assert_eq!(make(&["--format", "json", "--output", &file]).0, 1);
        text
    }

    fn apply(&self, more: &[&str]) -> (i32, String) {
        let (file, root) = (self.file(), self.root());
        self.run(&[&["apply", &file, "--root", &root, "--yes", "--wait", "60"], more].concat())
    }

    #[cfg(feature = "faults")]
    fn apply_to(&self, fault: &str) -> (i32, String) {
        let (file, root) = (self.file(), self.root());
        self.run_to(&["apply", &file, "--root", &root, "--yes", "--wait", "60"], fault)
    }

    fn verify(&self) -> (i32, String) {
        self.run(&["verify", &self.file(), "--root", &self.root()])
    }

    fn rollback(&self) -> (i32, String) {
        self.run(&["rollback", "--root", &self.root(), "--yes", "--reboot", "--wait", "60"])
    }

    fn get(&self, path: &str) -> serde_json::Value {
        let mut c = Command::new("curl");
        c.args(["-s", &format!("{}{path}", url(&self.bmc))]);
        if !self.user.is_empty() {
            c.args(["-u", &format!("root:{PASSWORD}")]);
        }
        serde_json::from_slice(&c.output().unwrap().stdout).unwrap()
    }

    /// The attribute in force.
    fn attribute(&self, name: &str) -> serde_json::Value {
        let system = self.get("/redfish/v1/Systems")["Members"][0]["@odata.id"].as_str().unwrap().to_owned();
        let bios = self.get(&system)["Bios"]["@odata.id"].as_str().unwrap().to_owned();
        self.get(&bios)["Attributes"][name].clone()
    }

    /// The password, as it is and as HTTP carries it, in everything that was written or printed.
    fn secrets(&self) -> Vec<String> {
        // base64 of root:PASSWORD, without its end.
        let words = [PASSWORD, "cm9vdDpodW50ZXIyLWFuZC1tb3Jl"];
        let mut rest = vec![self.dir.clone()];
        let mut found = Vec::new();
        let mut files = 0;
        while let Some(path) = rest.pop() {
            if path.is_dir() {
                rest.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            } else if path.file_name().is_some_and(|n| n != "lab-bmc") {
                files += 1;
                let text = fs::read(&path).unwrap();
                let packed = path.extension().is_some_and(|e| e == "zst");
                let text = if packed { zstd::decode_all(&text[..]).unwrap() } else { text };
                if words.iter().any(|w| text.windows(w.len()).any(|x| x == w.as_bytes())) {
                    found.push(path.display().to_string());
                }
            }
        }
        assert!(files > 10, "the plan, the journal and the tree were looked at");
        if words.iter().any(|w| self.said.borrow().contains(w)) {
            found.push("printed".to_owned());
        }
        found
    }
}

#[test]
fn a_real_service_from_finding_to_proof_and_back() {
    let state = scratch("sushy-state");
    let python = root().join(".lab/redfish/bin/python");
    let Some(bmc) = Service::start(&python, "redfish-sushy", &["--state", state.to_str().unwrap()]) else { return };
    let lab = Lab::new("sushy", bmc, false);
    let text = lab.plan();
    assert!(text.contains("NodeInterleaving \"Enabled\" → \"Disabled\""), "{text}");
    assert_eq!(lab.attribute("NodeInterleaving"), "Enabled", "a plan changes nothing");
    // Without a reboot it waits, and verify says so.
    let (code, text) = lab.apply(&["--no-reboot"]);
    assert_eq!(code, 2, "{text}");
    let (code, text) = lab.verify();
    assert!(code == 2 && text.contains("waits in the settings"), "{text}");
    let root = lab.root();
    let (code, text) = lab.run(&["apply", "--resume", "--root", &root, "--yes", "--wait", "60"]);
    assert!(code == 0 && text.contains("proven"), "{text}");
    assert_eq!(lab.attribute("NodeInterleaving"), "Disabled");
    assert_eq!(lab.verify().0, 0);
    let (code, text) = lab.rollback();
    assert_eq!(code, 0, "{text}");
    assert_eq!(lab.attribute("NodeInterleaving"), "Enabled");
    assert!(!lab.root.join("sys/devices/system/node/node1").exists());
    assert_ne!(lab.verify().0, 0, "and it shows that it is undone");
}

#[test]
fn a_task_that_changes_nothing_is_ineffective() {
    let Some(bmc) = Service::liar(&["--uuid", UUID]) else { return };
    let lab = Lab::new("liar", bmc, false);
    lab.plan();
    let (code, text) = lab.apply(&[]);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("ineffective") && text.contains("a task that ended as Completed, and changed nothing"),
        "{text}"
    );
    let (code, text) = lab.verify();
    assert!(code == 1 && text.contains("changed nothing"), "{text}");
    assert_eq!(lab.get("/lab/resets")["resets"].as_array().unwrap().len(), 1, "one reboot");
    let (code, text) = lab.rollback();
    assert_eq!(code, 0, "{text}");
}

#[test]
fn what_a_service_forgets_is_ineffective_and_undone() {
    let Some(bmc) = Service::liar(&["--uuid", UUID, "--forgets"]) else { return };
    let lab = Lab::new("forgets", bmc, false);
    lab.plan();
    let (code, text) = lab.apply(&["--undo"]);
    assert!(code == 1 && text.contains("undone"), "{text}");
    assert_eq!(lab.attribute("NodeInterleave"), "Enabled");
}

#[test]
fn credentials_are_nowhere_and_nothing_is_sent_twice() {
    let Some(bmc) = Service::liar(&["--uuid", UUID, "--honest", "--user", &format!("root:{PASSWORD}")]) else { return };
    let lab = Lab::new("secrets", bmc, true);
    lab.plan();
    assert_eq!(lab.apply(&["--no-reboot"]).0, 2);
    let (code, text) = lab.apply(&[]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(lab.get("/lab/resets")["patches"].as_array().unwrap().len(), 1);
    assert_eq!(lab.verify().0, 0);
    assert_eq!(lab.rollback().0, 0);
    assert_eq!(lab.get("/lab/resets")["patches"].as_array().unwrap().len(), 2);
    assert_eq!(lab.attribute("NodeInterleave"), "Enabled");
    assert_eq!(lab.secrets(), Vec::<String>::new());
}

#[test]
fn another_machines_bmc_and_none_change_nothing() {
    let other = || Service::liar(&["--uuid", "11111111-9e44-4fa7-8e91-f3527a1ef094", "--honest"]);
    let (Some(own), Some(other)) = (Service::liar(&["--uuid", UUID, "--honest"]), other()) else { return };
    let (lab, other) = (Lab::new("own", own, false), Lab::new("other", other, false));
    // When the plan is made, and when it is applied.
    let root = other.root();
    let (code, text) = other.run(&["plan", "--root", &root, "--fix", "numa/nps"]);
    assert!(code == 3 && text.contains("belongs to another machine"), "{text}");
    lab.plan();
    let (code, text) = other.run(&["apply", &lab.file(), "--root", &lab.root(), "--yes"]);
    assert!(code == 3 && text.contains("belongs to another machine"), "{text}");
    assert_eq!(other.get("/lab/resets")["patches"].as_array().unwrap().len(), 0);
    // A plan that does not know its machine sets nothing, however the node calls itself now.
    let mut plan = linerate_remedy::Plan::read(&fs::read(lab.file()).unwrap()).unwrap();
    plan.node.uuid = None;
    let unknown = lab.dir.join("unknown.plan").display().to_string();
    fs::write(&unknown, serde_json::to_vec(&plan.sealed()).unwrap()).unwrap();
    let (code, text) = lab.run(&["apply", &unknown, "--root", &lab.root(), "--yes"]);
    assert!(code == 3 && text.contains("does not hold the UUID"), "{text}");
    assert_eq!(lab.get("/lab/resets")["patches"].as_array().unwrap().len(), 0);
    let out = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["apply", &lab.file(), "--root", &lab.root(), "--yes"])
        .env_clear()
        .env("HOME", &lab.dir)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(3) && said.contains("no BMC is given"), "{said}");
    // Without a BMC the plan leaves it to people.
    let out = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["plan", &lab.root(), "--fix", "numa/nps"])
        .env_clear()
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.code() == Some(2) && said.contains("field note N2"), "{said}");
}

/// Killed at every boundary of an apply: what goes on then sends nothing twice, is proven, and is undone. `cargo test -p linerate --features
/// faults --test all redfish::`; takes minutes.
#[cfg(feature = "faults")]
#[test]
fn killed_at_every_boundary() {
    let mut faults = 0;
    // A long matrix is gone on with where it stopped.
    let first = std::env::var("LINERATE_FAULTS_FROM").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    for at in first..200 {
        let Some(bmc) = Service::liar(&["--uuid", UUID, "--honest", "--busy", "0"]) else { return };
        let lab = Lab::new("faults", bmc, false);
        lab.plan();
        let (code, text) = lab.apply_to(&at.to_string());
        if code == 0 {
            break;
        }
        assert!(text.contains(&format!("killed at boundary {at} ")), "{text}");
        faults += 1;
        let (code, text) = lab.apply(&[]);
        assert_eq!(code, 0, "after boundary {at}: {text}");
        let patches = lab.get("/lab/resets")["patches"].as_array().unwrap().len();
        assert_eq!((patches, lab.attribute("NodeInterleave")), (1, "Disabled".into()), "after boundary {at}");
        let (code, text) = lab.rollback();
        assert_eq!(code, 0, "after boundary {at}: {text}");
        assert_eq!(lab.attribute("NodeInterleave"), "Enabled", "after boundary {at}");
    }
    assert!(faults > 0, "{faults}");
    println!("{faults} faults injected, each gone on with, proven and undone");
}
