//! Who may have written what a hand goes by: its directories, its journal, and the call itself.

use super::{Grub, Node, begin, codes, session, step, value};
use crate::act::{Meta, Root};
use crate::hand::{serve_bytes, serve_with};
use crate::journal::{FileSeen, Journal, Key, Record, Seen, Shape};
use crate::protocol::{Call, Phase, Request, SCHEMA};
use linerate_remedy::{Act, Content, FileAct, FileState, sha256};
use std::os::unix::fs::chown;

const STATE: &str = "var/lib/linerate/apply";

#[test]
fn a_state_directory_of_others_is_refused() {
    let plan = |node: &Node| node.plan_of(vec![step("a", vec![value("9000")])]);
    for (path, mode) in [
        (STATE, 0o755),
        (STATE, 0o770),
        (STATE, 0o701),
        (STATE, 0o1777),
        ("var/lib/linerate", 0o777),
        ("var/lib/linerate", 0o775),
    ] {
        let node = Node::new();
        std::fs::create_dir_all(node.at(STATE)).unwrap();
        node.chmod(STATE, 0o700);
        node.chmod(path, mode);
        let answer = node.ask(begin(&plan(&node)));
        // What anyone may write in is refused by the writer itself.
        assert!(["state", "failed"].contains(&codes(&answer)[0]), "{path} {mode:o}: {answer:?}");
        assert!(answer.refused[0].what.contains(path), "{}", answer.refused[0].what);
        assert!(node.read(&format!("{STATE}/session.json")).is_none());
        assert_eq!(node.ask(super::INSPECT).state, None, "{path} {mode:o}");
    }
    let node = Node::new();
    let plan = plan(&node);
    assert!(node.ask(begin(&plan)).refused.is_empty());
    let dir = format!("{STATE}/{}", &plan.hash[..16]);
    node.chmod(&dir, 0o750);
    assert_eq!(codes(&node.ask(Request::Rollback { plan: plan.hash.clone() })), ["state"], "a plan's own directory");
    node.chmod(&dir, 0o700);
    assert!(node.ask(Request::Rollback { plan: plan.hash.clone() }).refused.is_empty());
    if rustix::process::geteuid().is_root() {
        for path in [STATE, "var/lib/linerate", &dir] {
            chown(node.at(path), Some(1), Some(1)).unwrap();
            let answer = node.ask(Request::Rollback { plan: plan.hash.clone() });
            assert_eq!(codes(&answer), ["state"], "{path} of another user");
            chown(node.at(path), Some(0), Some(0)).unwrap();
        }
    }
    std::fs::rename(node.at(STATE), node.at("elsewhere")).unwrap();
    std::os::unix::fs::symlink("/elsewhere", node.at(STATE)).unwrap();
    assert_eq!(codes(&node.ask(Request::Rollback { plan: plan.hash.clone() })), ["state"], "a link");
}

/// A journal in which somebody wrote that another file was there before the plan's act.
#[test]
fn a_backup_of_what_the_plan_does_not_name_is_refused() {
    let shape = |text: &str| Shape {
        digest: sha256(text.as_bytes()),
        mode: 0o644,
        uid: 0,
        gid: 0,
        mtime: (0, 0),
        xattrs: Default::default(),
    };
    let file =
        |path: &str| FileSeen { path: path.to_owned(), there: Some(shape("evil\n")), kept: Some("000-0".to_owned()) };
    let trial = |forget: &str| Seen::Trial {
        files: vec![file("/boot/grub/custom.cfg")],
        dirs: Vec::new(),
        new: "000-new".to_owned(),
        digest: sha256(b"x"),
        choose: vec!["grub-reboot".to_owned()],
        forget: vec![forget.to_owned()],
    };
    let files = |paths: &[&str], dirs: &[&str]| Seen::Files {
        files: paths.iter().map(|p| file(p)).collect(),
        dirs: dirs.iter().map(|d| (*d).to_owned()).collect(),
    };
    for (what, forged) in [
        ("another file", files(&["/etc/shadow"], &[])),
        ("a file more", files(&["/etc/x.conf", "/etc/shadow"], &[])),
        ("a directory", files(&["/etc/x.conf"], &["/home"])),
        ("a value for a file", Seen::Value { value: "1".to_owned() }),
        ("an entry for a file", trial("grub-editenv")),
        ("a note for a file", Seen::Elsewhere { note: String::new() }),
    ] {
        let node = Node::new();
        let after = Some(Content("new\n".to_owned()));
        let act = Act::File(FileAct { path: "/etc/x.conf".to_owned(), before: FileState::Absent, after, mode: 0o644 });
        let plan = node.plan_of(vec![step("a", vec![act])]);
        assert!(node.ask(begin(&plan)).refused.is_empty());
        let key = Key { step: "a".to_owned(), number: 0 };
        let mut journal = Journal::open(&node.root(), &plan.hash).unwrap().unwrap();
        node.write(&journal.kept("000-0"), "evil\n");
        let record = Record::Announced { act: key, what: String::new(), before: forged, boot: String::new(), when: 0 };
        journal.write(record).unwrap();
        drop(journal);
        let was = node.tree();
        for request in [
            Request::Rollback { plan: plan.hash.clone() },
            Request::Perform { plan: plan.hash.clone(), phase: Phase::First },
        ] {
            let answer = node.ask(request);
            assert!(codes(&answer).iter().all(|c| ["backup", "order"].contains(c)), "{what}: {answer:?}");
            assert!(!answer.refused.is_empty(), "{what}");
        }
        assert_eq!(node.tree(), was, "{what}");
    }
    // A program of the journal's own.
    let node = Node::new();
    let plan = node.plan();
    assert!(node.ask(begin(&plan)).refused.is_empty());
    let mut journal = Journal::open(&node.root(), &plan.hash).unwrap().unwrap();
    let key = Key { step: "args".to_owned(), number: 0 };
    let before = trial("fails");
    journal.write(Record::Announced { act: key, what: String::new(), before, boot: String::new(), when: 0 }).unwrap();
    drop(journal);
    let was = node.tree();
    assert_eq!(codes(&node.ask(Request::Rollback { plan: plan.hash.clone() })), ["backup"]);
    assert_eq!(node.tree(), was);
}

#[test]
fn a_plan_under_another_ones_digest_is_not_used() {
    let node = Node::new();
    let plan = node.plan_of(vec![step("a", vec![value("9000")])]);
    assert!(node.ask(begin(&plan)).refused.is_empty());
    let other = node.plan_of(vec![step("b", vec![value("1400")])]);
    let alike = format!("{}{}", &plan.hash[..16], &other.hash[16..]);
    assert_eq!(codes(&node.ask(Request::Rollback { plan: alike })), ["journal"], "of the same beginning");
    node.write(&format!("{STATE}/{}/plan.json", &plan.hash[..16]), &serde_json::to_string(&other).unwrap());
    assert_eq!(codes(&node.ask(Request::Rollback { plan: plan.hash.clone() })), ["journal"]);
    assert_eq!(node.read("sys/class/net/eth1/mtu").as_deref(), Some("1500\n"));
}

#[test]
fn other_versions_are_told_what_to_do() {
    let node = Node::new();
    let call = serde_json::to_value(Call::new(&session(1), super::INSPECT)).unwrap();
    let mut older = call.clone();
    older["schema"] = "linerate.hand/1".into();
    let mut more = call.clone();
    more["plan"] = "x".into();
    for (what, bytes) in [
        ("of the first protocol", br#"{"do":"inspect"}"#.to_vec()),
        ("older", serde_json::to_vec(&older).unwrap()),
        ("with more in it", serde_json::to_vec(&more).unwrap()),
        ("no JSON", b"hello".to_vec()),
        ("nothing", Vec::new()),
    ] {
        let answer = serve_bytes(&bytes, &node.root(), &Grub).answer;
        assert_eq!(codes(&answer), ["version"], "{what}");
        assert!(answer.refused[0].what.contains("install one version"), "{what}: {}", answer.refused[0].what);
        assert_eq!((answer.schema.as_str(), answer.asked), (SCHEMA, sha256(&bytes)));
    }
    let call: Call = serde_json::from_value(call).unwrap();
    let same = serve_bytes(&serde_json::to_vec(&call).unwrap(), &node.root(), &Grub).answer;
    assert_eq!(same.asked, call.digest(), "both sides make the same digest of it");
    for wrong in ["", "x", &"g".repeat(32)] {
        let mut call = Call::new(&session(1), Request::Take { plan: "a".repeat(64) });
        call.session.id = wrong.to_owned();
        assert_eq!(codes(&serve_with(call, &node.root(), &Grub).answer), ["version"], "{wrong:?}");
    }
}

/// The hand's own files are in no other place than their own.
#[test]
fn links_in_the_place_of_the_hands_own_files_are_not_followed() {
    for name in ["session.json", "lock", "PLAN/plan.json", "PLAN/journal.jsonl"] {
        let node = Node::new();
        let plan = node.plan_of(vec![step("a", vec![value("9000")])]);
        let path = format!("{STATE}/{}", name.replace("PLAN", &plan.hash[..16]));
        std::fs::create_dir_all(node.at(&path).parent().unwrap()).unwrap();
        for dir in [STATE.to_owned(), path.rsplit_once('/').unwrap().0.to_owned()] {
            node.chmod(&dir, 0o700);
        }
        node.write("etc/victim", "keep\n");
        std::os::unix::fs::symlink("/etc/victim", node.at(&path)).unwrap();
        let answer = node.ask(begin(&plan));
        assert!(!answer.refused.is_empty(), "{name}");
        assert_eq!(node.read("etc/victim").as_deref(), Some("keep\n"), "{name}");
        assert!(node.at(&path).is_symlink(), "{name}: it is not replaced either");
    }
}

#[test]
fn on_a_full_disk_the_hands_earlier_file_stays() {
    struct Mounted(tempfile::TempDir);
    impl Drop for Mounted {
        fn drop(&mut self) {
            let _ = std::process::Command::new("umount").arg(self.0.path()).status();
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let mount = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k,mode=0700", "none"])
        .arg(dir.path())
        .output();
    if !mount.is_ok_and(|out| out.status.success()) {
        println!("SKIPPED: a full disk, because no tmpfs may be mounted here");
        return;
    }
    let small = Mounted(dir);
    let root = Root::open(small.0.path()).unwrap();
    root.replace("/session.json", b"earlier", Meta::OWN).unwrap();
    let full = root.replace("/session.json", &vec![b'x'; 1 << 20], Meta::OWN).unwrap_err();
    assert_eq!(full.code, "no-space", "{}", full.what);
    assert_eq!(std::fs::read(small.0.path().join("session.json")).unwrap(), b"earlier");
    assert_eq!(std::fs::read_dir(small.0.path()).unwrap().count(), 1, "nothing is left beside it");
}
