//! What plans write is captured whole: a later plan, and a proof, read it again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::composed as common;

use linerate_node::Node;
use linerate_remedy::plan::{Options, plan};
use linerate_remedy::{Act, Content, FileAct};
use linerate_rules::{audit, rules};
use linerate_snapshot::capture::{self, Purpose, capture};
use linerate_snapshot::{Lookup, MARK};
use std::collections::BTreeSet;

#[test]
fn no_file_of_a_plan_is_hidden_from_the_next_plan() {
    let mut files: BTreeSet<(String, String)> = BTreeSet::new();
    let mut all = common::all_descriptions();
    // Of the siblings of real machines, some: each takes a second to simulate.
    all.extend(common::descriptions(&common::nodes().join("healthy/broken")).into_iter().step_by(5));
    for path in all {
        let s = common::load(&path).1;
        let node = Node::decode(&s);
        let audit = audit(&node, &s, rules());
        let plan = plan(&s, &node, &audit, &Options::default());
        for act in plan.steps.iter().flat_map(|s| &s.change) {
            if let Act::File(FileAct { path, after: Some(Content(text)), .. }) = act {
                files.insert((path.clone(), text.clone()));
            }
        }
    }
    let mut names = BTreeSet::new();
    for (path, text) in &files {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(&at, text).unwrap();
        std::fs::create_dir_all(dir.path().join("sys/bus")).unwrap();
        let options = capture::Options { redact: false, ..capture::Options::new(dir.path(), Purpose::Collect) };
        let s = capture(&options, &|_| {}).unwrap();
        let Lookup::Found(id) = s.resolve(path.trim_start_matches('/')) else { continue };
        let kept = String::from_utf8_lossy(s.data(id)).into_owned();
        // Of files of networks that may be others', names only.
        if !kept.is_empty() {
            assert_eq!(&kept, text, "{path}: {MARK} stands where nothing is to be hidden");
            names.insert(path.clone());
        }
    }
    assert!(names.len() >= 5, "{names:?}");
}
