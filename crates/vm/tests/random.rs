//! Random hosts and choices: every domain is legal, bus numbers come as predicted, and NCCL concludes in the guest what it concludes on the host.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use crate::common;

use common::random::host;
use common::{from, make, snapshot};
use linerate_compose::Description;
use linerate_node::Node;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::RefCell;

#[test]
fn a_guest_of_any_host() {
    let cases = std::env::var("LINERATE_HOSTS").ok().and_then(|n| n.parse().ok()).unwrap_or(16);
    let (made, cells) = (RefCell::new(0usize), RefCell::new(0usize));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    // The same few hosts each time; other ones where somebody says how many.
    let mut runner = match std::env::var_os("LINERATE_HOSTS") {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    let result = runner.run(&host(), |(text, words)| {
        let tree = Description::parse(&text).and_then(|d| d.compose()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let s = snapshot(&tree);
        let node = Node::decode(&s);
        let from = from(&node).unwrap();
        match make(&node, &from, &words) {
            Ok(m) => {
                prop_assert_eq!(&m.with_file.differing, &vec![], "{}\n{}", text, m.xml);
                // The same host and choice give the same text.
                let again = make(&node, &from, &words).map_err(|e| TestCaseError::fail(e.to_string()))?;
                prop_assert_eq!(m.xml, again.xml);
                *made.borrow_mut() += 1;
                *cells.borrow_mut() += m.with_file.cells;
            }
            // A choice that the host cannot fill.
            Err(e) => prop_assert!(matches!(e, linerate_vm::Refusal::NoSuch { .. }), "{}\n{}", e, text),
        }
        Ok(())
    });
    eprintln!("{} layouts, {} conclusions equal", made.borrow(), cells.borrow());
    result.unwrap();
    assert!(*made.borrow() * 10 > cases as usize * 8, "{} of {cases}", made.borrow());
}
