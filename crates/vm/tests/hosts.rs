//! Layouts of all hosts of the lab: what NCCL concludes in the guest with the file is what it concludes on the host.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use crate::common;

use common::{from, hosts, load, make};
use linerate_node::Node;
use linerate_node::context::Role;

#[test]
fn every_host_of_the_lab() {
    let (mut made, mut cells, mut blind, mut refused) = (0, 0, 0, Vec::new());
    for path in hosts() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let (_, s) = load(&path);
        let node = Node::decode(&s);
        if node.context.role.value == Some(Role::VmGuest) {
            continue;
        }
        let Some(from) = from(&node) else { continue };
        match make(&node, &from, "all") {
            Ok(m) => {
                made += 1;
                cells += m.with_file.cells;
                assert_eq!(m.with_file.differing, [], "{name}\n{}", m.xml);
                blind += usize::from(!m.without.differing.is_empty());
            }
            Err(e) => refused.push(format!("{name}: {e}")),
        }
    }
    eprintln!(
        "{made} hosts, {cells} cells equal with the file; {blind} differ without it; refused:\n{}",
        refused.join("\n")
    );
    assert!(
        made > 15 && cells > 5_000 && blind > 8,
        "{made} hosts, {cells} cells, {blind}; refused:\n{}",
        refused.join("\n")
    );
}
