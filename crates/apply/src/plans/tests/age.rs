//! What leaves the store, what stays, and what is found under another name.

use super::super::prune::{PART, PROVEN, UNDONE};
use super::super::record::now;
use super::*;

struct Lab {
    home: tempfile::TempDir,
    store: Plans,
    node: Node,
}

impl Lab {
    fn new() -> Lab {
        let home = tempfile::tempdir().unwrap();
        let store = Plans::open(&home.path().join("plans")).unwrap();
        Lab { home, store, node: Node::new() }
    }

    /// A plan that was begun on a node under a name, and how it ended.
    fn begun(&self, name: &str, number: u32, end: Option<How>) -> Plan {
        let plan = self.node.plan_of(vec![step("a", vec![value(&format!("{}", 9000 + number))])]);
        self.store.keep(&plan, &serde_json::to_vec(&plan).unwrap(), Some(b"sig")).unwrap();
        let record = self.store.prepare(name, &plan, &[], "me").unwrap();
        record.begin(&[]).unwrap();
        if let Some(how) = end {
            record.end(how).unwrap();
        }
        plan
    }

    fn files(&self) -> Vec<String> {
        let all = fs::read_dir(self.home.path().join("plans")).unwrap();
        let mut names: Vec<String> = all.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|n| n != "lock");
        names.sort();
        names
    }
}

fn pruned(records: &[(&str, &Plan)], plans: &[&Plan]) -> Pruned {
    let mut plans: Vec<String> = plans.iter().map(|p| p.hash.clone()).collect();
    plans.sort();
    Pruned { records: records.iter().map(|(n, p)| ((*n).to_owned(), p.hash.clone())).collect(), plans }
}

fn at(lab: &Lab, age: u64) -> Pruned {
    let mut found = lab.store.prune_at(now() + age).unwrap();
    found.plans.sort();
    found
}

#[test]
fn what_was_undone_leaves_after_a_month_and_what_was_proven_after_a_year() {
    let lab = Lab::new();
    let undone = lab.begun("n1", 1, Some(How::Undone));
    let proven = lab.begun("n1", 2, Some(How::Proven));
    let open = lab.begun("n1", 3, None);
    let last = lab.begun("n1", 4, Some(How::Undone));
    let alone = lab.begun("n2", 5, Some(How::Undone));
    let all = lab.files();
    assert_eq!(at(&lab, UNDONE - DAY), Pruned::default());
    assert_eq!(lab.files(), all);
    assert_eq!(at(&lab, UNDONE + DAY), pruned(&[("n1", &undone)], &[&undone]));
    assert_eq!(at(&lab, PROVEN - DAY), Pruned::default(), "what can be undone stays a year");
    assert_eq!(at(&lab, PROVEN + DAY), pruned(&[("n1", &proven)], &[&proven]));
    assert_eq!(at(&lab, 100 * PROVEN), Pruned::default());
    for plan in [&open, &last, &alone] {
        assert!(lab.store.plan(&plan.hash).unwrap().is_some(), "open, or the last of its node");
    }
    assert_eq!(lab.store.last("n1").unwrap().unwrap().plan(), last.hash);
    assert_eq!(lab.files().len(), 9, "{:?}", lab.files());
}

const DAY: u64 = 86_400 * 1_000_000_000;

#[test]
fn what_is_begun_again_is_not_old() {
    let lab = Lab::new();
    let plan = lab.begun("n1", 1, Some(How::Undone));
    lab.begun("n1", 1, None);
    lab.begun("n1", 2, None);
    assert_eq!(at(&lab, 100 * PROVEN), Pruned::default());
    // A clock that went back makes nothing old.
    lab.store.record("n1", &plan.hash).unwrap().unwrap().end(How::Undone).unwrap();
    assert_eq!(lab.store.prune_at(0).unwrap(), Pruned::default());
}

#[test]
fn a_plan_of_two_nodes_stays_for_the_one_that_needs_it() {
    let lab = Lab::new();
    let plan = lab.begun("n1", 1, Some(How::Undone));
    lab.begun("n1", 2, None);
    lab.begun("root@n1", 1, None);
    assert_eq!(at(&lab, UNDONE + DAY), pruned(&[("n1", &plan)], &[]));
    assert!(lab.store.plan(&plan.hash).unwrap().is_some());
}

#[test]
fn what_cannot_be_read_stays_and_what_was_never_begun_or_cut_leaves() {
    let lab = Lab::new();
    let plan = lab.begun("n1", 1, Some(How::Undone));
    lab.begun("n1", 2, None);
    let dir = lab.home.path().join("plans");
    let record = dir.join(run("n1", &plan.hash));
    let text = fs::read(&record).unwrap();
    fs::write(&record, "{}").unwrap();
    fs::write(dir.join(".x.plan.77"), "cut").unwrap();
    fs::write(dir.join("notes"), "by hand").unwrap();
    let never = lab.node.plan_of(vec![step("b", vec![value("1")])]);
    lab.store.keep(&never, &serde_json::to_vec(&never).unwrap(), None).unwrap();
    assert_eq!(at(&lab, PART + DAY / 2), Pruned::default());
    assert!(!lab.files().contains(&".x.plan.77".to_owned()));
    assert_eq!(at(&lab, UNDONE + DAY), pruned(&[], &[&never]));
    assert!(record.exists() && dir.join("notes").exists());
    fs::write(&record, text).unwrap();
    assert_eq!(at(&lab, UNDONE + DAY), pruned(&[("n1", &plan)], &[&plan]));
}

#[test]
fn one_writes_at_a_time() {
    let lab = Lab::new();
    let plan = lab.begun("n1", 1, Some(How::Undone));
    lab.begun("n1", 2, None);
    let other = Plans::open(&lab.home.path().join("plans")).unwrap();
    let held = other.dir.lock().unwrap();
    assert_eq!(code(lab.store.prune_at(u64::MAX)), "busy");
    assert_eq!(code(lab.store.keep(&plan, b"", None)), "busy");
    assert!(lab.store.plan(&plan.hash).unwrap().is_some(), "reading waits for nobody");
    drop(held);
    assert_eq!(lab.store.prune_at(u64::MAX).unwrap().records.len(), 1);
    // A link in the lock's place is not opened.
    fs::remove_file(lab.home.path().join("plans/lock")).unwrap();
    symlink(lab.home.path().join("elsewhere"), lab.home.path().join("plans/lock")).unwrap();
    assert_eq!(code(lab.store.prune()), "foreign");
    assert!(!lab.home.path().join("elsewhere").exists());
}

#[test]
fn a_machine_is_found_under_its_other_names() {
    let lab = Lab::new();
    let first = lab.begun("root@n1", 1, None);
    let second = lab.begun("n1.example", 2, None);
    let id = |key: Option<&str>| NodeId { host_key: key.map(str::to_owned), ..first.node.clone() };
    let names =
        |node: &str, id: &NodeId| lab.store.other_names(node, id).unwrap().iter().map(Record::node).collect::<Vec<_>>();
    assert_eq!(names("n1", &id(None)), ["n1.example", "root@n1"], "the last begun first");
    assert_eq!(names("root@n1", &id(Some("key"))), ["n1.example"]);
    assert!(names("n1", &NodeId { machine: Some("f".repeat(64)), ..id(None) }).is_empty(), "another machine");
    assert!(names("n1", &NodeId { machine: None, ..id(None) }).is_empty(), "what is not known is no match");
    let keyed = Plan { node: id(Some("key")), ..first.clone() }.sealed();
    lab.store.keep(&keyed, &serde_json::to_vec(&keyed).unwrap(), None).unwrap();
    lab.store.prepare("keyed", &keyed, &[], "me").unwrap().begin(&[]).unwrap();
    assert!(names("n1", &id(Some("key"))).contains(&"keyed".to_owned()));
    assert!(!names("n1", &id(Some("another"))).contains(&"keyed".to_owned()), "another host key is another machine");
    let of = lab.store.other_names_of("n1", &second.hash).unwrap();
    assert_eq!(of.iter().map(Record::node).collect::<Vec<_>>(), ["n1.example"]);
}
