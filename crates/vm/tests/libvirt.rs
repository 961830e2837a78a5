//! libvirt itself takes what is written: its schema, `virsh define --validate`, what it then has, and the translation for QEMU. `lab/emulators/libvirt-setup` starts a
//! libvirtd for this; without one each test says SKIPPED.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)] // helpers of tests, outside of test functions

mod common;

use common::domains::{Picks, domain};
use common::merging::Host;
use common::{from, hosts, lab, load, make, random, snapshot, wishes};
use linerate_compose::Description;
use linerate_formats::libvirt;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_vm::fabric::Fabric;
use linerate_vm::layout::Wishes;
use linerate_vm::{choose, host, layout, split, write};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::Cell;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A daemon, and a place for files.
struct Libvirt {
    at: String,
    dir: tempfile::TempDir,
}

impl Libvirt {
    /// The one of the lab, if it answers.
    fn open() -> Option<Libvirt> {
        let socket = lab().join("../.lab/libvirt/libvirt-sock").canonicalize().ok();
        let at = socket.map(|s| format!("qemu+unix:///system?socket={}", s.display()));
        let answers =
            |at: &String| Command::new("virsh").args(["-c", at, "version"]).output().is_ok_and(|o| o.status.success());
        match at.filter(answers) {
            Some(at) => Some(Libvirt { at, dir: tempfile::tempdir().unwrap() }),
            None => {
                println!("SKIPPED: no libvirtd at .lab/libvirt: run lab/emulators/libvirt-setup");
                None
            }
        }
    }

    fn virsh(&self, args: &[&str]) -> Output {
        Command::new("virsh").args(["-c", &self.at]).args(args).output().unwrap()
    }

    fn file(&self, xml: &str) -> String {
        let file = self.dir.path().join(format!("{}.xml", named("").0));
        std::fs::write(&file, xml).unwrap();
        file.to_str().unwrap().to_owned()
    }

    /// Why its schema or the daemon refuses a domain; `Ok`: what it then has is what it was given.
    fn takes(&self, xml: &str) -> Result<(), String> {
        let (name, xml) = named(xml);
        let file = self.file(&xml);
        let said = |out: &Output| String::from_utf8_lossy(&out.stderr).into_owned();
        let schema = Command::new("virt-xml-validate").args([&file, "domain"]).output().unwrap();
        if !schema.status.success() {
            return Err(said(&schema));
        }
        let given = libvirt::parse(xml.as_bytes()).map_err(|e| e.to_string())?;
        let defined = self.virsh(&["define", &file, "--validate"]);
        let has = self.virsh(&["dumpxml", "--inactive", &name]);
        self.virsh(&["undefine", &name, "--nvram"]);
        if !defined.status.success() {
            return Err(said(&defined));
        }
        let has = libvirt::parse(&has.stdout).map_err(|e| format!("{e}, of what libvirt has"))?;
        // What has no address yet gets one.
        let is_whole = given.hostdevs.iter().all(|h| h.address.is_some());
        let places = |d: &libvirt::Domain| {
            let mut all: Vec<_> =
                d.hostdevs.iter().map(|h| (h.source, h.address.map(|a| (a.bus, a.slot, a.function)))).collect();
            all.sort();
            all
        };
        match is_whole && places(&given) != places(&has) {
            true => Err("libvirt has the devices elsewhere".to_owned()),
            false => Ok(()),
        }
    }

    /// Why it cannot be translated for QEMU.
    fn translates(&self, xml: &str) -> Result<(), String> {
        let file = self.file(&without_the_host(xml));
        let out = self.virsh(&["domxml-to-native", "qemu-argv", &file]);
        if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&out.stderr).into_owned()) }
    }
}

/// The same domain for a machine without KVM, huge pages and the host's nodes and CPUs: what libvirt asks this machine for when it translates.
fn without_the_host(xml: &str) -> String {
    let mut out = String::new();
    let mut end: Option<&str> = None;
    for line in xml.lines() {
        let word = line.trim();
        if let Some(tag) = end {
            end = (word != tag).then_some(tag);
            continue;
        }
        end = match word {
            "<numatune>" => Some("</numatune>"),
            "<cputune>" => Some("</cputune>"),
            "<hugepages>" => Some("</hugepages>"),
            _ => None,
        };
        if end.is_none() && !word.starts_with("<maxphysaddr") {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.replace("type='kvm'", "type='qemu'")
        .replace("mode='host-passthrough' check='none' migratable='off'", "mode='maximum'")
}

/// The domain under a name that no other test gives one at the same time.
fn named(xml: &str) -> (String, String) {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("linerate-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let (head, rest) = xml.split_once("<name>").unwrap_or(("", xml));
    let tail = rest.split_once("</name>").map_or(rest, |(_, tail)| tail);
    (name.clone(), format!("{head}<name>{name}</name>{tail}"))
}

/// Hosts of the lab.
fn each_host(mut with: impl FnMut(&str, &Node<'_>)) {
    for path in hosts() {
        let (_, s) = load(&path);
        let node = Node::decode(&s);
        if node.context.role.value != Some(Role::VmGuest) {
            with(&path.file_stem().unwrap().to_string_lossy(), &node);
        }
    }
}

#[test]
fn the_domains_of_all_hosts() {
    let Some(daemon) = Libvirt::open() else { return };
    let (mut taken, mut whole, mut cliques) = (0, 0, 0);
    each_host(|name, node| {
        let Ok(chosen) = choose(node, "all") else { return };
        for parts in [1, 2, 4] {
            let Ok(all) = split::split(node, &chosen, parts, &Fabric::Said) else { continue };
            for functions in all {
                let Ok(roots) = host::roots(node, &functions) else { continue };
                for (has_cliques, has_iommu) in [(false, false), (true, false), (false, true)] {
                    let asked = Wishes { has_cliques, has_iommu, vcpus: has_iommu.then_some(16), ..wishes() };
                    let Ok(made) = layout(node, &roots, &asked) else { continue };
                    let xml = write::domain(&made).unwrap();
                    assert_eq!(daemon.takes(&xml), Ok(()), "{name}, {parts} parts\n{xml}");
                    assert_eq!(daemon.translates(&xml), Ok(()), "{name}, {parts} parts\n{xml}");
                    taken += 1;
                    whole += usize::from(parts == 1);
                    cliques += usize::from(has_cliques);
                }
            }
        }
    });
    println!("libvirt took {taken} domains, {whole} of whole hosts, {cliques} with cliques");
    assert!(whole > 15 && taken > 2 * whole && cliques > 5, "{taken} domains, {whole} hosts, {cliques} cliques");
}

#[test]
fn the_domains_of_random_hosts() {
    let Some(daemon) = Libvirt::open() else { return };
    let cases = std::env::var("LINERATE_HOSTS").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let taken = Cell::new(0);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let result = runner.run(&random::host(), |(text, words)| {
        let s = snapshot(&Description::parse(&text).and_then(|d| d.compose()).unwrap());
        let node = Node::decode(&s);
        let Ok(made) = make(&node, &from(&node).unwrap(), &words) else { return Ok(()) };
        prop_assert_eq!(daemon.takes(&made.xml), Ok(()), "{}\n{}", text, made.xml);
        taken.set(taken.get() + 1);
        Ok(())
    });
    result.unwrap();
    println!("libvirt took the domains of {} random hosts", taken.get());
    assert!(taken.get() * 10 > cases * 8, "{} of {cases}", taken.get());
}

#[test]
fn what_libvirt_took_it_takes_with_a_layout_in_it() {
    let Some(daemon) = Libvirt::open() else { return };
    let (mut taken, mut not_theirs, mut refused) = (0, 0, 0);
    each_host(|name, node| {
        let Some(host) = Host::of(node, "all") else { return };
        let own = host.roots.iter().find_map(|r| r.node).unwrap_or(0);
        for round in 0..6_u16 {
            let picks: Vec<u16> =
                (0..61_u16).map(|n| n.wrapping_mul(7919).wrapping_add(round.wrapping_mul(1047)) >> 3).collect();
            let text = domain(&mut Picks(&picks, usize::from(round)), &host.address(), own);
            // A domain that libvirt does not take as it is says nothing about ours.
            if daemon.takes(&text).is_err() {
                not_theirs += 1;
                continue;
            }
            match host.merge(&wishes(), round % 2 == 0, &text) {
                Ok(merged) => {
                    assert_eq!(daemon.takes(&merged.text), Ok(()), "{name}\n{text}\n{}", merged.text);
                    taken += 1;
                }
                Err(_) => refused += 1,
            }
        }
    });
    println!("libvirt took {taken} merged domains; {not_theirs} were not legal before, {refused} were refused");
    assert!(taken > 20, "{taken} taken, {not_theirs} not legal, {refused} refused");
}
