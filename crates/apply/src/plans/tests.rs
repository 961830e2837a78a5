//! A store that nobody else can write, and what is in it.

mod age;

use super::*;
use crate::hand::tests::{Node, step, value};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

fn plan() -> Plan {
    Node::new().plan_of(vec![step("a", vec![value("9000")])])
}

fn code<T>(stored: Stored<T>) -> &'static str {
    match stored {
        Ok(_) => "ok",
        Err(StoreError::Foreign { .. }) => "foreign",
        Err(StoreError::Io { .. }) => "io",
        Err(StoreError::Damaged { .. }) => "damaged",
        Err(StoreError::Ambiguous(_)) => "ambiguous",
        Err(StoreError::Busy { .. }) => "busy",
    }
}

#[test]
fn what_was_kept_is_found_by_digest_and_node() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("linerate/plans");
    let store = Plans::open(&dir).unwrap();
    assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o7777, 0o700);
    let plan = plan();
    let bytes = serde_json::to_vec(&plan).unwrap();
    store.keep(&plan, &bytes, Some(b"sig")).unwrap();
    let held = store.plan(&plan.hash).unwrap().unwrap();
    assert_eq!((held.plan, held.bytes, held.signature.as_deref()), (plan.clone(), bytes, Some(b"sig".as_slice())));
    assert!(store.plan_like(&plan.hash[..8]).unwrap().is_some() && store.plan_like("zz").unwrap().is_none());
    assert!(store.plan(&"0".repeat(64)).unwrap().is_none() && store.plan("../x").unwrap().is_none());
    let begun = store.prepare("root@n1", &plan, &["a".to_owned()], "me@here").unwrap();
    assert!(store.last("root@n1").unwrap().is_none(), "it is written when it is begun");
    let earlier = begun.begin(&begun.steps()).unwrap();
    begun.withdraw(earlier).unwrap();
    assert!(store.last("root@n1").unwrap().is_none());
    begun.begin(&begun.steps()).unwrap();
    begun.note("a", 0, "was", false).unwrap();
    begun.note("a", 0, "later", true).unwrap();
    assert!(store.last("root@n2").unwrap().is_none() && store.record("root_n1", &plan.hash).unwrap().is_none());
    let last = store.last("root@n1").unwrap().unwrap();
    assert_eq!(
        (last.plan(), last.steps(), last.before("a", 0).as_deref()),
        (plan.hash.clone(), vec!["a".to_owned()], Some("was"))
    );
    // Prepared again, it still knows; and refused, it is as before.
    let again = store.prepare("root@n1", &plan, &[], "me").unwrap();
    assert_eq!((again.steps(), again.before("a", 0).as_deref()), (vec!["a".to_owned()], Some("was")));
    let earlier = again.begin(&[]).unwrap();
    assert_eq!(store.last("root@n1").unwrap().unwrap().steps(), Vec::<String>::new());
    again.withdraw(earlier).unwrap();
    assert_eq!(store.last("root@n1").unwrap().unwrap().steps(), ["a"]);
    for entry in fs::read_dir(&dir).unwrap().map(Result::unwrap) {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o7777, 0o600, "{:?}", entry.path());
    }
}

#[test]
fn what_others_could_have_written_is_not_used() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let mode = |path: &Path, mode: u32| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    for open in [0o755, 0o770, 0o707, 0o701, 0o1777] {
        let dir = at(&format!("d{open:o}"));
        fs::create_dir(&dir).unwrap();
        mode(&dir, open);
        assert_eq!(code(Plans::open(&dir)), "foreign", "{open:o}");
    }
    Plans::open(&at("own")).unwrap();
    symlink(at("own"), at("link")).unwrap();
    assert_eq!(code(Plans::open(&at("link"))), "foreign");
    fs::write(at("file"), "").unwrap();
    assert_eq!(code(Plans::open(&at("file"))), "foreign");
    if rustix::process::geteuid().is_root() {
        fs::create_dir(at("theirs")).unwrap();
        mode(&at("theirs"), 0o700);
        std::os::unix::fs::chown(at("theirs"), Some(1), Some(1)).unwrap();
        assert_eq!(code(Plans::open(&at("theirs"))), "foreign");
    }
    let (store, plan) = (Plans::open(&at("own")).unwrap(), plan());
    let path = at("own").join(format!("{}.plan", plan.hash));
    store.keep(&plan, &serde_json::to_vec(&plan).unwrap(), None).unwrap();
    mode(&path, 0o644);
    assert_eq!(code(store.plan(&plan.hash)), "foreign", "readable by others");
    mode(&path, 0o600);
    assert_eq!(code(store.plan(&plan.hash)), "ok");
    let other = Plan { source: "another".to_owned(), ..plan.clone() }.sealed();
    fs::write(&path, serde_json::to_vec(&other).unwrap()).unwrap();
    assert_eq!(code(store.plan(&plan.hash)), "damaged", "another plan under its name");
    fs::rename(&path, at("elsewhere")).unwrap();
    symlink(at("elsewhere"), &path).unwrap();
    assert_eq!(code(store.plan(&plan.hash)), "foreign", "a link");
}
