//! Layouts for QEMU, KubeVirt and Nova: the same tree where a form can say it, and a list of what it cannot.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, clippy::indexing_slicing)]

use crate::common;

use common::{from, lab, load, make};
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_vm::format::{Format, arguments, write};
use linerate_vm::layout::Wishes;
use linerate_vm::{choose, host, layout};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn each_form_lists_what_it_cannot_say() {
    let (_, s) = load(&lab().join("nodes/healthy-8gpu.toml"));
    let node = Node::decode(&s);
    let made = make(&node, &from(&node).unwrap(), "all").unwrap();
    let of = |f| write(&node, &made.layout, f).unwrap();
    for (form, changes, words) in [
        (
            Format::Qemu,
            false,
            ["vfio-pci,host=", "pxb-pcie,bus_nr=", "memory-backend-memfd,", "opt/ovmf/X-PciMmio64Mb"],
        ),
        (
            Format::Kubevirt,
            true,
            ["hookSidecars", "--into - --replace", "guestMappingPassthrough", "pciVendorSelector"],
        ),
        (Format::Nova, true, ["hw:numa_nodes=2", "hw:mem_page_size=1048576", "hw_machine_type=q35", "device_type"]),
    ] {
        let w = of(form);
        assert_eq!(w.changes_nccl(), changes, "{form:?}");
        for word in words {
            assert!(w.text.contains(word), "{form:?} {word}\n{}", w.text);
        }
        for u in &w.unsaid {
            assert!(w.text.contains(&format!("# - {}", u.what)), "{form:?}: {}", u.what);
        }
        assert_eq!(w, of(form));
    }
}

#[test]
fn a_name_stays_a_name() {
    let (_, s) = load(&lab().join("nodes/healthy-8gpu.toml"));
    let node = Node::decode(&s);
    let chosen = choose(&node, "gpu:0+nics").unwrap();
    let roots = host::roots(&node, &chosen.functions).unwrap();
    let name = "a'b,c$(id)\n- x: \"y\"".to_owned();
    let made = layout(&node, &roots, &Wishes { name, ..common::wishes() }).unwrap();
    let qemu = write(&node, &made, Format::Qemu).unwrap().text;
    let name = qemu.split_once("-name ").unwrap().1.split_once(" \\\n  -machine").unwrap().0;
    let echoed = Command::new("sh").arg("-c").arg(format!("printf %s {name}")).output().unwrap();
    assert_eq!(echoed.stdout, "guest=a'b,,c$(id)\n- x: \"y\"".as_bytes());
    for form in [Format::Qemu, Format::Nova] {
        let text = write(&node, &made, form).unwrap().text;
        let mut sh = Command::new("sh").arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        sh.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let out = sh.wait_with_output().unwrap();
        assert!(out.status.success(), "{form:?}: {}\n{text}", String::from_utf8_lossy(&out.stderr));
    }
    let kubevirt = write(&node, &made, Format::Kubevirt).unwrap().text;
    assert!(kubevirt.contains("name: \"a-b-c--id----x---y\""), "{kubevirt}");
}

/// What a machine without GPUs can start: emulated endpoints in the place of the host's, and small memory of any node.
fn emulated(argument: &str) -> String {
    if argument.starts_with("vfio-pci,") {
        let kept = argument.split(',').filter(|p| ["bus=", "addr=", "multifunction="].iter().any(|k| p.starts_with(k)));
        return format!("e1000e,romfile=,{}", kept.collect::<Vec<_>>().join(","));
    }
    if argument.starts_with("memory-backend") {
        let kept = argument.split(',').filter(|p| p.starts_with("id="));
        return format!("memory-backend-ram,size=64M,{}", kept.collect::<Vec<_>>().join(","));
    }
    if argument.starts_with("host,") {
        return "max".to_owned();
    }
    if argument.starts_with("size=") {
        return "size=128M".to_owned();
    }
    // The window is for processors with more address bits than QEMU's own have.
    if argument.starts_with("q35-pcihost.") {
        return "q35-pcihost.pci-hole64-size=32G".to_owned();
    }
    argument.replace("accel=kvm", "accel=tcg")
}

/// Addresses at which firmware found the emulated endpoints.
fn found(text: &str) -> Vec<Bdf> {
    let mut out = Vec::new();
    let mut last = None;
    for line in text.lines().map(str::trim) {
        if let Some(place) = line.strip_prefix("Bus ") {
            let numbers: Vec<u8> = place.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
            last = match numbers.as_slice() {
                [bus, device, function] => Some(Bdf { domain: 0, bus: *bus, device: *device, function: *function }),
                _ => None,
            };
        } else if line.contains("8086:10d3") {
            out.extend(last);
        }
    }
    out.sort();
    out
}

#[test]
fn qemu_builds_the_same_tree() {
    if Command::new("qemu-system-x86_64").arg("--version").output().is_err() {
        eprintln!("SKIPPED: qemu-system-x86_64 is not installed; install qemu-system-x86");
        return;
    }
    let (_, s) = load(&lab().join("nodes/healthy-8gpu.toml"));
    let node = Node::decode(&s);
    let chosen = choose(&node, "gpu:0-5,nic:0-5").unwrap();
    let roots = host::roots(&node, &chosen.functions).unwrap();
    let made = layout(&node, &roots, &Wishes { vcpus: Some(2), memory_mib: Some(128), ..common::wishes() }).unwrap();
    let all: Vec<String> = arguments(&made).iter().map(|a| emulated(a)).collect();
    let mut qemu = Command::new("qemu-system-x86_64")
        .args(&all)
        .args(["-display", "none", "-monitor", "stdio", "-serial", "none"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut monitor = qemu.stdin.take().unwrap();
    let mut output = qemu.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = output.read_to_string(&mut text);
        text
    });
    // SeaBIOS numbers the buses in its first seconds.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) && qemu.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_secs(1));
    }
    let _ = monitor.write_all(b"info pci\nquit\n");
    drop(monitor);
    let out = qemu.wait_with_output().unwrap();
    let text = reader.join().unwrap();
    assert!(out.status.success(), "{}\n{}", String::from_utf8_lossy(&out.stderr), all.join(" "));
    let mut predicted: Vec<Bdf> = made.devices.iter().map(|d| d.guest).collect();
    predicted.sort();
    assert_eq!(found(&text), predicted, "{text}");
}
