//! Programs with files and an inverse of their own: `nmcli`, which writes a keyfile, and reads it again when told to.

use super::{Node, begin, codes, run, stage, step};
use crate::protocol::{Phase, Request, Stage, Stands};

const KEYFILE: &str = "etc/NetworkManager/system-connections/eth1.nmconnection";
const BY_HAND: &str = "# by hand\n[connection]\nuuid=u\n[802-1x]\npassword=hunter2\n";
/// `modify` writes the file its own way and knows it then; `load` reads it.
const NMCLI: &str = "#!/bin/sh\nroot=${0%/usr/*}\nfile=\"$root/etc/NetworkManager/system-connections/eth1.nmconnection\"\n\
    case $2 in\nmodify) { grep -v '^#' \"$file\"; echo \"mtu=$6\"; } >\"$file.new\"; mv \"$file.new\" \"$file\";;\nesac\n\
    cp \"$file\" \"$root/run/known\"\n[ \"$6\" != 1 ]\n";

fn node() -> Node {
    let node = Node::new();
    node.write(KEYFILE, BY_HAND);
    node.chmod(KEYFILE, 0o600);
    node.write("run/known", BY_HAND);
    node.write("usr/bin/nmcli", NMCLI);
    node.chmod("usr/bin/nmcli", 0o755);
    node
}

fn plan(node: &Node, mtu: &str) -> linerate_remedy::Plan {
    let file = format!("/{KEYFILE}");
    let argv = ["nmcli", "connection", "modify", "uuid", "u", "mtu", mtu];
    node.plan_of(vec![step("network", vec![run(&argv, &[&file], &["nmcli", "connection", "load", &file])])])
}

#[test]
fn a_keyfile_comes_back_byte_for_byte_and_is_read_again() {
    let node = node();
    let (was, plan) = (node.tree(), plan(&node, "9000"));
    assert_eq!(codes(&node.apply(&plan)), Vec::<&str>::new());
    assert!(node.read("run/known").unwrap().ends_with("mtu=9000\n") && node.read(KEYFILE) != Some(BY_HAND.to_owned()));
    let dir = format!("var/lib/linerate/apply/{}", plan.hash.get(..16).unwrap());
    for kept in ["journal.jsonl", "plan.json"] {
        assert!(!node.read(&format!("{dir}/{kept}")).unwrap().contains("hunter2"), "{kept}");
    }
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &str| std::fs::metadata(node.at(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(&format!("{dir}/kept")), mode(&format!("{dir}/kept/000-0"))), (0o700, 0o700, 0o600));
    assert_eq!(codes(&node.rollback(&plan)), Vec::<&str>::new());
    assert_eq!(node.tree(), was, "the file, and what was read of it");
}

#[test]
fn a_keyfile_that_somebody_else_wrote_is_left_and_told() {
    let node = node();
    let plan = plan(&node, "9000");
    node.apply(&plan);
    node.write(KEYFILE, "[connection]\nuuid=u\nautoconnect=false\nmtu=9000\n");
    let theirs = node.read(KEYFILE);
    let end = node.ask(Request::Rollback { plan: plan.hash.clone() });
    assert_eq!(codes(&end), ["unexpected"], "{:?}", end.refused);
    assert_eq!(node.read(KEYFILE), theirs, "nothing is made again, and nothing called undone");
    assert!(end.state.unwrap().acts.iter().all(|a| a.stands != Stands::Undone));
    assert_eq!(stage(&node.ask(Request::Finish { plan: plan.hash.clone() })), Some(Stage::Finished));
}

#[test]
fn a_failed_one_is_read_again_as_it_was() {
    let node = node();
    let plan = plan(&node, "1");
    node.ask(begin(&plan));
    let end = node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::First });
    assert_eq!(codes(&end), ["failed"], "{:?}", end.refused);
    assert_eq!((node.read(KEYFILE), node.read("run/known")), (Some(BY_HAND.to_owned()), Some(BY_HAND.to_owned())));
}
