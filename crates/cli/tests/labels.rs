//! Labels of a Kubernetes node from the plan to the proof and back, by the real kubectl against an emulator of the API, beside a directory
//! that stands for the node.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, outside of test functions

use crate::command;
use crate::kube;

use kube::Api;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const UUID: &str = "27946b59-9e44-4fa7-8e91-f3527a1ef094";
/// In kubectl's configuration. It is not sent to this emulator: kubectl sends credentials over TLS alone.
const TOKEN: &str = "hunter2-and-more";
const OLD: &str = "iommu-passthrough-u12-u25";
const NEW: &str = "gpu.example.com/numa";

/// A machine with two NUMA nodes, whose kernel moves pages between them.
fn machine(dir: &Path) -> PathBuf {
    let root = dir.join("node");
    let file = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("proc/cmdline", "BOOT_IMAGE=/boot/vmlinuz-6.1.0-18-amd64 root=/dev/vda1 ro\n");
    file("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    file("proc/sys/kernel/hostname", "N1\n");
    file("proc/sys/kernel/random/boot_id", "5b2a3f38-9f0f-4a3e-9c1e-2f7a8f3f0001\n");
    file("proc/sys/kernel/numa_balancing", "1\n");
    file("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu vme msr\n");
    file("sys/class/dmi/id/sys_vendor", "Supermicro\n");
    file("sys/class/dmi/id/product_uuid", &format!("{UUID}\n"));
    file("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
    file("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
    file("usr/sbin/sysctl", "#!/bin/sh\n");
    for node in 0..2 {
        file(&format!("sys/devices/system/node/node{node}/cpulist"), &format!("{node}\n"));
        file(&format!("sys/devices/system/node/node{node}/distance"), "10 21\n");
    }
    file("sys/devices/system/node/online", "0-1\n");
    root
}

struct Lab {
    dir: PathBuf,
    root: PathBuf,
    api: Api,
    /// Everything that was printed.
    said: std::cell::RefCell<String>,
}

impl Lab {
    /// `None`: this machine cannot run it.
    fn new(name: &str) -> Option<Lab> {
        if !Command::new("kubectl").args(["version", "--client"]).output().is_ok_and(|o| o.status.success()) {
            println!("SKIPPED: no kubectl: install Debian's kubernetes-client, `cargo xtask test` does");
            return None;
        }
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("labels").join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        let (root, api) = (machine(&dir), Api::start(&UUID.to_ascii_uppercase()));
        let config = format!(
            "apiVersion: v1\nkind: Config\nclusters: [{{name: lab, cluster: {{server: \"http://127.0.0.1:{}\"}}}}]\n\
             contexts: [{{name: lab, context: {{cluster: lab, user: me}}}}]\nusers: [{{name: me, user: {{token: {TOKEN}}}}}]\n",
            api.port
        );
        fs::write(dir.join("kubeconfig"), config).unwrap();
        Some(Lab { dir, root, api, said: std::cell::RefCell::default() })
    }

    fn run(&self, arguments: &[&str]) -> (i32, String) {
        self.run_to(arguments, "", true)
    }

    /// Ends at a boundary, where the feature `faults` is built in.
    fn run_to(&self, arguments: &[&str], fault: &str, cluster: bool) -> (i32, String) {
        let config = format!("--kubeconfig={}", self.dir.join("kubeconfig").display());
        let cluster: &[&str] = if cluster { &[&config, "--kube-context", "lab"] } else { &[] };
        command::run(&self.dir, arguments, cluster, &[("LINERATE_FAULT", fault)], &self.said)
    }

    fn file(&self) -> String {
        self.dir.join("n1.plan").display().to_string()
    }

    fn root(&self) -> String {
        self.root.display().to_string()
    }

    /// The plan, kept in a file.
    fn plan(&self) -> String {
        let (file, root, put) = (self.file(), self.root(), format!("{NEW}=checked"));
        let gone = format!("{OLD}-");
        let asked = ["plan", "--root", &root, "--fix", "numa/balancing", "--label", &gone, "--label", &put];
        let make = |more: &[&str]| self.run(&[&asked, more].concat());
        let (code, text) = make(&[]);
        assert_eq!(code, 1, "{text}");
        assert_eq!(make(&["--format", "json", "--output", &file]).0, 1);
        text
    }

    fn apply(&self) -> (i32, String) {
        self.apply_to("")
    }

    fn apply_to(&self, fault: &str) -> (i32, String) {
        self.run_to(&["apply", &self.file(), "--root", &self.root(), "--yes"], fault, true)
    }

    fn verify(&self, cluster: bool) -> (i32, String) {
        self.run_to(&["verify", &self.file(), "--root", &self.root()], "", cluster)
    }

    fn rollback(&self) -> (i32, String) {
        self.rollback_to("")
    }

    fn rollback_to(&self, fault: &str) -> (i32, String) {
        self.run_to(&["rollback", "--root", &self.root(), "--yes"], fault, true)
    }

    fn balancing(&self) -> String {
        fs::read_to_string(self.root.join("proc/sys/kernel/numa_balancing")).unwrap().trim().to_owned()
    }

    /// What the node and its object are: balancing, the label that lies, the one that claims.
    fn stands(&self) -> (String, Option<String>, Option<String>) {
        (self.balancing(), self.api.label(OLD), self.api.label(NEW))
    }
}

fn start() -> (String, Option<String>, Option<String>) {
    ("1".to_owned(), Some("true".to_owned()), None)
}

fn end() -> (String, Option<String>, Option<String>) {
    ("0".to_owned(), None, Some("checked".to_owned()))
}

#[test]
fn from_the_plan_to_the_proof_and_back() {
    let Some(lab) = Lab::new("all") else { return };
    let text = lab.plan();
    for part in [
        &format!("take the label {OLD} off the Kubernetes node n1 (now {OLD}=true)"),
        &format!("put the label {NEW}=checked on the Kubernetes node n1 (it has none)"),
        "numa/balancing passes for node",
    ] {
        assert!(text.contains(part), "{part} in: {text}");
    }
    assert_eq!(lab.stands(), start(), "a plan changes nothing");
    // The node writes to its object while labels are changed.
    lab.api.state().beats = 2;
    let (code, text) = lab.apply();
    assert_eq!(code, 0, "{text}");
    assert_eq!(lab.stands(), end());
    assert_eq!(lab.api.patches(), [format!("{{\"{OLD}\":null}}"), format!("{{\"{NEW}\":\"checked\"}}")]);
    assert_eq!(lab.api.label("kubernetes.io/hostname").as_deref(), Some("n1"), "the others are left");
    let (code, text) = lab.verify(true);
    assert_eq!(code, 0, "{text}");
    let (code, text) = lab.verify(false);
    assert!(code == 2 && text.contains("ask the Kubernetes API"), "{text}");
    assert_eq!(lab.apply().0, 0, "asked again");
    assert_eq!(lab.api.patches().len(), 2, "nothing is sent twice");
    let (code, text) = lab.rollback();
    assert_eq!(code, 0, "{text}");
    assert_eq!(lab.stands(), start());
    let (code, text) = lab.verify(true);
    assert!(code == 1 && text.contains("it was not put, or somebody took it off"), "{text}");
    assert_eq!(secrets(&lab), Vec::<String>::new());
}

/// Labels that a policy wishes: planned beside its other wishes, put when those are proven.
#[test]
fn a_policy_wishes_labels() {
    let Some(lab) = Lab::new("policy") else { return };
    let policy = lab.dir.join("p.toml").display().to_string();
    let wishes = format!(
        "schema = \"linerate.policy/1\"\n[class.any.labels]\n\"{NEW}\" = \"checked\"\n\"{OLD}\" = false\n\
         [class.any.on.node]\n\"memory.numa_balancing\" = 0\n"
    );
    fs::write(&policy, wishes).unwrap();
    let (root, file) = (lab.root(), lab.file());
    let (code, text) = lab.run(&["plan", "--root", &root, "--policy", &policy]);
    assert_eq!(code, 1, "{text}");
    for part in [
        format!("take the label {OLD} off the Kubernetes node n1"),
        format!("put the label {NEW}=checked on the Kubernetes node n1"),
        "policy/any.node.memory.numa_balancing".to_owned(),
    ] {
        assert!(text.contains(&part), "{part} in: {text}");
    }
    let asked = ["plan", "--root", &root, "--policy", &policy, "--format", "json", "--output", &file];
    assert_eq!(lab.run(&asked).0, 1);
    assert_eq!(lab.apply().0, 0);
    assert_eq!(lab.stands(), end());
    assert_eq!(lab.verify(true).0, 0);
    assert_eq!(lab.rollback().0, 0);
    assert_eq!(lab.stands(), start());
    // Where no cluster is given, nothing of them is planned.
    let (code, text) = lab.run_to(&["plan", "--root", &root, "--policy", &policy], "", false);
    assert!(code == 1 && !text.contains("Kubernetes node n1"), "{text}");
}

/// The token in everything that was written or printed, but kubectl's own configuration.
fn secrets(lab: &Lab) -> Vec<String> {
    let (mut rest, mut found, mut files) = (vec![lab.dir.clone()], Vec::new(), 0);
    while let Some(path) = rest.pop() {
        if path.is_dir() {
            rest.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        } else if path.file_name().is_some_and(|n| n != "kubeconfig") {
            files += 1;
            let bytes = fs::read(&path).unwrap();
            let packed = path.extension().is_some_and(|e| e == "zst");
            let bytes = if packed { zstd::decode_all(&bytes[..]).unwrap() } else { bytes };
            if bytes.windows(TOKEN.len()).any(|w| w == TOKEN.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    assert!(files > 10, "the plan, the journal and the tree were looked at");
    if lab.said.borrow().contains(TOKEN) {
        found.push("printed".to_owned());
    }
    found
}

#[test]
fn who_may_not_and_who_is_not_let_in_change_nothing() {
    let Some(lab) = Lab::new("denied") else { return };
    lab.plan();
    lab.api.state().read_only = true;
    let (code, text) = lab.apply();
    assert!(
        code == 3
            && text.contains("kubectl auth can-i patch nodes/n1: the Kubernetes API does not allow it")
            && text.contains("nothing was changed"),
        "{text}"
    );
    lab.api.state().locked = true;
    let (code, text) = lab.apply();
    assert!(code == 3 && text.contains("the Kubernetes API does not allow it"), "{text}");
    assert_eq!(lab.stands(), start());
    let root = lab.root();
    let (code, text) = lab.run(&["plan", "--root", &root, "--label", "a=b", "--kube-node", "n2"]);
    assert!(code == 3 && text.contains("does not allow it"), "{text}");
    lab.api.state().locked = false;
    let (code, text) = lab.run(&["plan", "--root", &root, "--label", "a=b", "--kube-node", "n2"]);
    assert!(code == 3 && text.contains("there is no Kubernetes node n2"), "{text}");
    for (label, why) in
        [("kubernetes.io/hostname=n2", "reserved"), ("a b-", "not a valid key"), ("a", "neither KEY=VALUE")]
    {
        let (code, text) = lab.run(&["plan", "--root", &root, "--label", label]);
        assert!(code == 3 && text.contains(why), "{code}: {text}");
    }
}

#[test]
fn another_machines_object_and_another_clusters_change_nothing() {
    let Some(lab) = Lab::new("foreign") else { return };
    lab.plan();
    lab.api.state().system = "11111111-9e44-4fa7-8e91-f3527a1ef094".to_owned();
    let (code, text) = lab.apply();
    assert!(code == 3 && text.contains("is another machine"), "{text}");
    let (file, root) = (lab.file(), lab.root());
    let (code, text) = lab.run(&["apply", &file, "--root", &root, "--yes", "--kube-node", "n2"]);
    assert!(code == 3 && text.contains("--kube-node names n2"), "{text}");
    let (code, text) = lab.run_to(&["apply", &file, "--root", &root, "--yes"], "", false);
    assert!(code == 3 && text.contains("no cluster is given"), "{text}");
    assert_eq!(lab.stands(), start());
}

#[test]
fn what_is_not_proven_is_not_claimed() {
    let Some(lab) = Lab::new("unproven") else { return };
    let kernel = lab.root.join("proc/sys/kernel/numa_balancing");
    fs::write(&kernel, "0\n").unwrap();
    let (file, root, put) = (lab.file(), lab.root(), format!("{NEW}=checked"));
    let asked =
        ["plan", "--root", &root, "--fix", "numa/balancing", "--label", &put, "--format", "json", "--output", &file];
    assert_eq!(lab.run(&asked).0, 1);
    // The rule held when the plan was made, and does not when the label is to be put.
    fs::write(&kernel, "1\n").unwrap();
    let (code, text) = lab.apply();
    assert!(code == 1 && text.contains("labels is ineffective: the rule still fails"), "{code}: {text}");
    assert_eq!(lab.api.patches(), Vec::<String>::new());
    fs::write(&kernel, "0\n").unwrap();
    assert_eq!((lab.apply().0, lab.api.label(NEW).as_deref()), (0, Some("checked")));
    // A finding that no step of the plan cures: what is put would claim what is not so.
    let (code, text) = lab.run(&["plan", "--root", &root, "--fix", "iommu/active", "--label", "a=b"]);
    assert!(
        code == 2 && text.contains("a label describes what the node does, and that is not proven"),
        "{code}: {text}"
    );
}

#[test]
fn a_connection_that_is_cut_after_sending() {
    let Some(lab) = Lab::new("cut") else { return };
    lab.plan();
    lab.api.state().cut = true;
    let (code, text) = lab.apply();
    assert!(code == 1 && text.contains("left as it is"), "{text}");
    let (code, text) = lab.apply();
    assert_eq!(code, 0, "{text}");
    assert_eq!((lab.api.patches().len(), lab.stands()), (2, end()));
    lab.api.state().cut = true;
    assert_ne!(lab.rollback().0, 0);
    let (code, text) = lab.rollback();
    assert_eq!(code, 0, "{text}");
    assert_eq!((lab.api.patches().len(), lab.stands()), (4, start()));
}

#[test]
fn what_somebody_else_changed_is_left() {
    let Some(lab) = Lab::new("theirs") else { return };
    lab.plan();
    assert_eq!(lab.apply().0, 0);
    lab.api.state().labels[NEW] = "theirs".into();
    let (code, text) = lab.rollback();
    assert!(code == 3 && text.contains("by somebody else meanwhile") && text.contains("--keep-changed"), "{text}");
    assert_eq!(lab.balancing(), "0", "nothing is undone");
    let root = lab.root();
    let (code, text) = lab.run(&["rollback", "--root", &root, "--yes", "--keep-changed"]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(lab.stands(), ("1".to_owned(), Some("true".to_owned()), Some("theirs".to_owned())));
}

/// Killed at every boundary of an apply, and of a rollback: what goes on then sends nothing twice, is proven, and is undone. `cargo test -p
/// linerate --features faults --test all labels::`; takes minutes.
#[cfg(feature = "faults")]
#[test]
fn killed_at_every_boundary() {
    let first = std::env::var("LINERATE_FAULTS_FROM").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let (mut faults, mut open) = (0, (true, true));
    for at in first..300 {
        if open == (false, false) {
            break;
        }
        let Some(lab) = Lab::new("faults") else { return };
        lab.plan();
        let killed = format!("killed at boundary {at} ");
        if open.0 {
            let (code, text) = lab.apply_to(&at.to_string());
            open.0 = code != 0;
            assert!(code == 0 || text.contains(&killed), "{text}");
            faults += usize::from(open.0);
        }
        let (code, text) = lab.apply();
        assert_eq!(code, 0, "after boundary {at}: {text}");
        assert_eq!((lab.api.patches().len(), lab.stands()), (2, end()), "after boundary {at}");
        if open.1 {
            let (code, text) = lab.rollback_to(&at.to_string());
            open.1 = code != 0;
            assert!(code == 0 || text.contains(&killed), "{text}");
            faults += usize::from(open.1);
        }
        // Where only the last answer was missing, there is nothing left to undo.
        let (code, text) = lab.rollback();
        assert!(code == 0 || text.contains("undone already"), "after boundary {at}: {text}");
        assert_eq!((lab.api.patches().len(), lab.stands()), (4, start()), "after boundary {at}");
        println!("boundary {at} is survived");
    }
    assert!(faults > 40, "{faults}");
    println!("{faults} faults injected, each gone on with, proven and undone");
}
