//! A host whose guest has the usual first layout: one run shows it with the plans, `apply` defines the domain anew, and the guest proves it. With a libvirtd at
//! .lab/libvirt (lab/emulators/libvirt-setup) libvirt itself takes the definitions; else a script writes them.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing, clippy::panic)] // helpers of tests, outside of test functions

#[path = "../../vm/tests/common/fake.rs"]
#[allow(dead_code, unreachable_pub)]
mod fake;
#[path = "../../report/tests/common/schema.rs"]
mod schema;

use linerate_compose::{Description, Tree};
use linerate_formats::libvirt;
use schema::Schema;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// As libvirt it writes the definition anew.
const SCRIPT: &str = "sed \"s/'/\\\"/g\" \"$5\" >\"$root/$file\"";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A libvirtd of one's own.
fn daemon() -> Option<String> {
    let socket = repository().join(".lab/libvirt/libvirt-sock").canonicalize().ok()?;
    let at = format!("qemu+unix:///system?socket={}", socket.display());
    Command::new("virsh").args(["-c", &at, "version"]).output().ok().filter(|o| o.status.success()).map(|_| at)
}

/// The host as a directory that can be changed.
struct Host {
    dir: tempfile::TempDir,
    tree: Tree,
    daemon: Option<String>,
    /// The domain's name: one of this process, as others may define theirs at the same time.
    name: String,
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(at) = &self.daemon {
            let _ = Command::new("virsh").args(["-c", at, "undefine", &self.name, "--nvram"]).output();
        }
    }
}

impl Host {
    fn new(daemon: Option<String>) -> Host {
        let nodes = repository().join("lab/nodes/broken/vm--one-switch.toml");
        let tree = Description::load(&nodes).unwrap().compose().unwrap();
        let name = format!("guest{}", std::process::id());
        let host = Host { dir: tempfile::tempdir().unwrap(), tree, daemon, name };
        let text = String::from_utf8(host.tree.get("cmd/90/stdout").unwrap().to_vec()).unwrap();
        let first = text.replace("<name>guest</name>", &format!("<name>{}</name>", host.name));
        host.tree.write_to(&host.at("host")).unwrap();
        host.write("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
        host.write("cmd/90/argv", &format!(r#"["virsh", "--readonly", "dumpxml", "{}"]"#, host.name));
        host.write(&host.file(), &first);
        let define = match &host.daemon {
            None => SCRIPT.to_owned(),
            Some(at) => format!("/usr/bin/virsh -c '{at}' define --validate \"$5\" && cp \"/$file\" \"$root/$file\""),
        };
        let file = host.file();
        host.write(
            "usr/bin/virsh",
            &format!(
                "#!/bin/sh\nroot=${{0%/usr/*}} file={file}\n[ \"$3 $4\" = 'define --validate' ] || exit 9\n{define}\n"
            ),
        );
        let bin = host.at("host/usr/bin/virsh");
        std::fs::set_permissions(&bin, std::fs::Permissions::from_mode(0o755)).unwrap();
        // What libvirt has in its own words, where there is one.
        let given = host.at("first.xml");
        std::fs::write(&given, &first).unwrap();
        let defined = Command::new(bin).args(["-c", "x", "define", "--validate"]).arg(given).output().unwrap();
        assert!(defined.status.success(), "{}", String::from_utf8_lossy(&defined.stderr));
        host.start();
        host
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at("host").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Where libvirt keeps the definition.
    fn file(&self) -> String {
        format!("etc/libvirt/qemu/{}.xml", self.name)
    }

    fn definition(&self) -> String {
        std::fs::read_to_string(self.at("host").join(self.file())).unwrap()
    }

    /// The guest runs with what is defined now.
    fn start(&self) {
        self.write("cmd/90/stdout", &self.definition().replacen("<domain type=", "<domain id='3' type=", 1));
    }

    /// A guest that shows what is defined now.
    fn guest(&self, name: &str) -> String {
        let domain = libvirt::parse(self.definition().as_bytes()).unwrap();
        let tree = fake::guest(&self.tree, &linerate_vm::guest(&domain), fake::ALL);
        tree.write_to(&self.at(name)).unwrap();
        self.at(name).display().to_string()
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(args)
            .current_dir(self.dir.path())
            .env("XDG_STATE_HOME", self.at("state"))
            .output()
            .unwrap()
    }

    fn outcome(&self, args: &[&str]) -> (String, String) {
        let all: Vec<&str> = ["verify", "todo/host.plan", "host", "-f", "json"].iter().chain(args).copied().collect();
        let out = self.run(&all);
        let value: Value = serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
        let step = value["steps"]
            .as_array()
            .unwrap()
            .iter()
            .find(|s| s["id"] == format!("domain-{}", self.name))
            .unwrap()
            .clone();
        (step["outcome"].as_str().unwrap().to_owned(), step["reason"].as_str().unwrap_or_default().to_owned())
    }

    /// What `vm check` says of the definition, beside the host.
    fn findings(&self) -> Vec<String> {
        let out = self.run(&["vm", "check", &format!("host/{}", self.file()), "--host", "host", "-f", "json"]);
        let value: Value = serde_json::from_slice(&out.stdout).unwrap();
        let all = value["host"]["verdicts"].as_array().unwrap().iter();
        let failed = all.filter(|v| v["status"] == "fail" && v["rule"].as_str().unwrap().starts_with("vm/"));
        failed.map(|v| v["rule"].as_str().unwrap().to_owned()).collect()
    }
}

fn said(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

fn from_the_finding_to_the_proof(daemon: Option<String>) {
    let host = Host::new(daemon);
    let first = host.definition();
    let before = host.guest("guest-before");
    let out = host.run(&["vm", "host", "--guest", &before, "--plans", "todo", "-f", "json"]);
    let whole = Schema::of("vm-1").valid(&String::from_utf8_lossy(&out.stdout));
    assert_eq!((out.status.code(), &whole["conclusion"]), (Some(1), &Value::from("explained")), "{}", said(&out));
    let sides: Vec<&str> = whole["verdicts"].as_array().unwrap().iter().filter_map(|v| v["side"].as_str()).collect();
    assert!(sides.contains(&"host") && sides.contains(&"guest"), "{sides:?}");
    let plan = std::fs::read_to_string(host.at("todo/host.plan")).unwrap();
    assert!(
        plan.contains("\"kind\": \"domain\"") && host.at(&format!("todo/guest-{}.plan", host.name)).is_file(),
        "{plan}"
    );
    // The plan is simulated: what it mends passes then.
    let changed = whole["plan"]["simulation"]["changed"].as_array().unwrap();
    let mended = |rule: &str| changed.iter().any(|c| c["rule"] == rule && c["after"]["status"] == "pass");
    assert!(mended("vm/one-switch") && mended("vm/affinity"), "{changed:?}");
    assert!(host.findings().contains(&"vm/one-switch".to_owned()));

    let applied =
        host.run(&["apply", "todo/host.plan", "--root", "host", "--yes", "--step", &format!("domain-{}", host.name)]);
    assert!(
        !host.findings().iter().any(|r| ["vm/one-switch", "vm/affinity"].contains(&r.as_str())),
        "{}",
        said(&applied)
    );
    let (outcome, reason) = host.outcome(&[]);
    assert_eq!(outcome, "pending", "{reason}");
    host.start();
    assert_eq!(host.outcome(&[]).0, "unknown", "nobody read the guest");
    assert_eq!(host.outcome(&["--guest", &format!("{}={before}", host.name)]).0, "ineffective");
    let after = host.guest("guest-after");
    let (outcome, reason) = host.outcome(&["--guest", &format!("{}={after}", host.name)]);
    assert_eq!(outcome, "effective", "{reason}");

    let undone = host.run(&["rollback", "todo/host.plan", "--root", "host", "--yes"]);
    // libvirt orders controllers anew; nothing else differs.
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert!(sorted(&host.definition()) == sorted(&first), "{}", said(&undone));
}

#[test]
fn a_first_layout_is_found_mended_and_proven() {
    from_the_finding_to_the_proof(None);
}

#[test]
fn the_same_with_libvirt_itself() {
    match daemon() {
        Some(at) => from_the_finding_to_the_proof(Some(at)),
        None => println!("SKIPPED: no libvirtd at .lab/libvirt: run lab/emulators/libvirt-setup"),
    }
}
