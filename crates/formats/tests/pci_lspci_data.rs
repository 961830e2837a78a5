//! Real listings, read in place where they are at hand.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

use linerate_formats::pci::caps::{AcsBits, Aer, Cap, Capabilities, Express, PortType};
use linerate_formats::pci::lspci::{self, Device, Verbosity};
use linerate_formats::pci::{LinkSpeed, LinkWidth};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");

fn data(name: &str) -> Option<Vec<u8>> {
    let bytes = std::fs::read(Path::new(DATA).join(name)).ok();
    if bytes.is_none() {
        println!("SKIPPED: ../shared/data is not here");
    }
    bytes
}

fn at<'a>(devices: &'a [Device], bdf: &str) -> &'a Device {
    let bdf = bdf.parse().unwrap();
    devices.iter().find(|d| d.bdf == bdf).unwrap()
}

#[test]
fn an_eight_gpu_node_with_switches() {
    let Some(bytes) = data("lspci/gpud-lspci-vvv.txt") else { return };
    let start = Instant::now();
    let devices = lspci::parse(&bytes).unwrap();
    println!("{} KB in {:?}", bytes.len() / 1000, start.elapsed());
    assert_eq!(devices.len(), 517);

    let acs: Vec<_> = devices.iter().filter_map(|d| d.caps.acs.get()).collect();
    assert_eq!(acs.len(), 55);
    let with = |bits: u16| acs.iter().filter(|a| a.control == Some(AcsBits(bits))).count();
    assert_eq!(with(AcsBits::RR | AcsBits::CR | AcsBits::UF | AcsBits::SV), 4);
    assert_eq!((with(AcsBits::SV), with(0)), (2, 49));
    let lines: Vec<_> = std::str::from_utf8(&bytes).unwrap().lines().collect();
    for a in &acs {
        assert!(lines[a.control_line as usize - 1].trim_start().starts_with("ACSCtl:"), "line {}", a.control_line);
    }

    // Every block is whole, so nothing is unseen.
    for d in &devices {
        let Capabilities { express, acs, ats, aer, sriov, ari, rebar } = &d.caps;
        let unseen = [
            matches!(express, Cap::Unseen(_) | Cap::NotLooked),
            matches!(acs, Cap::Unseen(_) | Cap::NotLooked),
            matches!(ats, Cap::Unseen(_) | Cap::NotLooked),
            matches!(aer, Cap::Unseen(_) | Cap::NotLooked),
            matches!(sriov, Cap::Unseen(_) | Cap::NotLooked),
            matches!(ari, Cap::Unseen(_) | Cap::NotLooked),
            matches!(rebar, Cap::Unseen(_) | Cap::NotLooked),
        ];
        assert_eq!(unseen, [false; 7], "{} line {}", d.bdf, d.line);
        assert_eq!(d.verbosity, Verbosity::VeryVerbose);
        assert!(d.class.is_some(), "{} {}", d.bdf, d.class_name);
        assert!(d.vendor.is_some(), "{} {}", d.bdf, d.name);
        assert!(d.numa_node.is_some(), "{}", d.bdf);
    }
    let count = |f: &dyn Fn(&Device) -> bool| devices.iter().filter(|d| f(d)).count();
    assert_eq!(count(&|d| d.caps.express.get().is_some()), 492);
    assert_eq!(count(&|d| d.caps.aer.get().is_some_and(|a| a.uncorrectable_status.is_some())), 121);
    assert_eq!(count(&|d| d.caps.sriov.get().is_some_and(|s| s.total_vfs.is_some())), 20);
    assert_eq!(count(&|d| d.caps.ari.get().is_some_and(|a| a.next_function.is_some())), 26);
    assert_eq!(count(&|d| d.caps.ats.get().is_some_and(|a| a.enabled.is_some())), 2);
    assert_eq!(count(&|d| d.bus.is_some()), 59);
    assert_eq!(count(&|d| d.vendor == Some(0x10de) && d.device == Some(0x2330)), 8);

    let gpu = at(&devices, "19:00.0");
    let e = gpu.caps.express.get().unwrap();
    assert_eq!(e.port_type, Some(PortType::Endpoint));
    assert_eq!((e.max_payload_supported, e.max_payload, e.max_read_request), (Some(256), Some(256), Some(4096)));
    assert_eq!((e.link_speed, e.link_width), (Some(LinkSpeed::Gen5), Some(LinkWidth(16))));
    assert_eq!((e.relaxed_ordering, e.no_snoop, e.ten_bit_tag_enabled), (Some(true), Some(false), None));
    assert_eq!((gpu.driver.as_deref(), gpu.modules.len(), gpu.regions.len()), (Some("nvidia"), 4, 3));
    assert_eq!((gpu.regions[1].index, gpu.regions[1].size_bytes), (Some(2), Some(128 << 30)));
    let rebar = gpu.caps.rebar.get().unwrap().bars;
    assert_eq!(rebar[0].map(|b| (b.bar, b.current_mib_log2, b.supported_mib_log2)), Some((2, 17, 0x3ffc0)));
    assert_eq!(rebar[1], None, "the virtual resizable BAR is another capability");
    let bridge = at(&devices, "16:00.0");
    assert_eq!((bridge.bus, bridge.vendor), (Some((0x16, 0x17, 0x1c)), Some(0x1000)));
}

#[test]
fn cutting_the_real_listing_anywhere_never_invents_anything() {
    let Some(bytes) = data("lspci/gpud-lspci-vvv.txt") else { return };
    let whole = lspci::parse(&bytes).unwrap();
    // The GPU's block, cut after every single byte.
    let text = String::from_utf8(bytes).unwrap();
    let begin = text.find("19:00.0 3D").unwrap();
    // The driver's lines show that the list before them is finished.
    let end = begin + text[begin..].find("Kernel driver").unwrap();
    let gpu = at(&whole, "19:00.0");
    for cut in begin + 80..end {
        let devices = lspci::parse(&text.as_bytes()[begin..cut]).unwrap();
        let (got, want) = (&devices[0].caps, &gpu.caps);
        assert!(!matches!(got.acs, Cap::NotPresent), "cut at {cut}");
        if let (Some(g), Some(w)) = (got.express.get(), want.express.get()) {
            let same = |a: bool, b: bool| assert!(a || b, "cut at {cut}: {g:?}");
            same(g.link_width.is_none(), g.link_width == w.link_width);
            same(g.link_cap_width.is_none(), g.link_cap_width == w.link_cap_width);
            same(g.max_read_request.is_none(), g.max_read_request == w.max_read_request);
            same(g.aspm_enabled.is_none(), g.aspm_enabled == w.aspm_enabled);
        }
        if let (Some(g), Some(w)) = (got.aer.get(), want.aer.get()) {
            assert!(g.correctable_status.is_none_or(|v| Some(v) == w.correctable_status), "cut at {cut}");
        }
        if let (Some(g), Some(w)) = (got.sriov.get(), want.sriov.get()) {
            assert!(g.total_vfs.is_none_or(|v| Some(v) == w.total_vfs), "cut at {cut}");
            assert!(g.vf_stride.is_none_or(|v| Some(v) == w.vf_stride), "cut at {cut}");
        }
    }
}

#[test]
fn listings_with_numbers_and_machine_forms() {
    let Some(bytes) = data("lspci/gpud-lspci-nn-a100.txt") else { return };
    let devices = lspci::parse(&bytes).unwrap();
    assert_eq!(devices.iter().filter(|d| (d.vendor, d.device) == (Some(0x10de), Some(0x20b2))).count(), 8);
    assert!(devices.iter().all(|d| d.has_domain && d.class.is_some() && d.vendor.is_some() && d.device.is_some()));

    let names = lspci::parse(&data("lspci/jc__tests_fixtures_ubuntu-20.10_lspci-mmv.out").unwrap()).unwrap();
    let numbers = lspci::parse(&data("lspci/jc__tests_fixtures_ubuntu-20.10_lspci-nnmmv.out").unwrap()).unwrap();
    for b in &numbers {
        // The two listings are of two moments: one device more in the second.
        let Some(a) = names.iter().find(|a| a.bdf == b.bdf) else { continue };
        assert_eq!((a.bdf, a.class, &a.class_name), (b.bdf, b.class, &b.class_name));
        assert_eq!((&a.name, a.revision), (&b.name, b.revision), "{}", a.bdf);
        assert!(a.vendor.is_none() || a.vendor == b.vendor, "{}", a.bdf);
        assert!(b.device.is_some() && b.class.is_some(), "{}", b.bdf);
    }
    let old = lspci::parse(&data("lspci/insights-core__test_lspci.9.txt").unwrap()).unwrap();
    assert_eq!((old.len(), old[0].driver.as_deref(), old[0].vendor), (1, Some("iwlwifi"), Some(0x8086)));
}

/// The bits that the text shows, so that the rest of a register does not count as a difference.
fn printed(aer: &Aer) -> Aer {
    Aer {
        uncorrectable_status: aer.uncorrectable_status.map(|v| v & 0x3f_f030),
        uncorrectable_mask: aer.uncorrectable_mask.map(|v| v & 0x3f_f030),
        uncorrectable_severity: aer.uncorrectable_severity.map(|v| v & 0x3f_f030),
        correctable_status: aer.correctable_status.map(|v| v & 0x31c1),
    }
}

#[test]
fn binary_and_text_decode_alike() {
    let Ok(files) = std::fs::read_dir(Path::new(DATA).join("lspci-hex")) else {
        println!("SKIPPED: ../shared/data is not here");
        return;
    };
    if Command::new("lspci").arg("--version").output().is_err() {
        println!("SKIPPED: no lspci (pciutils) on this machine to compare with");
        return;
    }
    let (mut compared, mut express, mut acs) = (0, 0, 0);
    for file in files {
        let path = file.unwrap().path();
        let output = Command::new("lspci").arg("-F").arg(&path).args(["-D", "-vvv", "-xxxx"]).output().unwrap();
        if output.stdout.is_empty() {
            continue;
        }
        let devices = lspci::parse(&output.stdout).unwrap();
        for d in &devices {
            let from = format!("{} {}", path.file_name().unwrap().display(), d.bdf);
            let config = d.config.as_deref().unwrap_or_else(|| panic!("{from}: no hex dump"));
            let space = linerate_formats::pci::config::ConfigSpace::new(config);
            let Some(header) = space.header() else {
                assert!(d.unknown_header_line.is_some(), "{from}");
                continue;
            };
            assert_eq!(header.class.sub(), d.class.unwrap().sub(), "{from}");
            let binary = space.capabilities();
            match (&binary.express, &d.caps.express) {
                (Cap::Present(b, _), Cap::Present(t, _)) => {
                    express += 1;
                    // Old texts do not show whether 10-bit tags are switched on.
                    let t = Express { lines: b.lines, link_speed_is: None, link_width_is: None, ..*t };
                    assert_eq!(*b, t, "{from}");
                }
                (b, t) => assert_eq!(b, t, "{from}"),
            }
            macro_rules! same {
                ($field:ident, $of:expr) => {
                    match (&binary.$field, &d.caps.$field) {
                        (Cap::Present(b, _), Cap::Present(t, _)) => assert_eq!($of(b), $of(t), "{from}"),
                        (Cap::Unseen(_), Cap::NotPresent | Cap::Unseen(_)) => {}
                        (b, t) => assert_eq!(b, t, "{from}"),
                    }
                };
            }
            same!(acs, |a: &linerate_formats::pci::caps::Acs| (a.capability, a.control));
            same!(ats, |a: &_| Clone::clone(a));
            same!(aer, printed);
            same!(sriov, |a: &_| Clone::clone(a));
            same!(ari, |a: &_| Clone::clone(a));
            same!(rebar, |a: &_| Clone::clone(a));
            acs += usize::from(binary.acs.get().is_some());
            compared += 1;
        }
    }
    println!("{compared} functions alike, {express} with Express, {acs} with ACS");
    assert!(compared > 80 && express > 40 && acs > 5);
}

#[test]
fn hex_files_as_they_are() {
    let Ok(files) = std::fs::read_dir(Path::new(DATA).join("lspci-hex")) else {
        println!("SKIPPED: ../shared/data is not here");
        return;
    };
    for file in files {
        let path = file.unwrap().path();
        let devices = lspci::parse(&std::fs::read(&path).unwrap()).unwrap();
        for d in &devices {
            assert!(d.config.is_some() && d.vendor.is_some(), "{path:?} {}", d.bdf);
            assert!(d.class.is_some(), "{path:?} {} {}", d.bdf, d.class_name);
        }
    }
}

/// `cargo test --release -p linerate-formats --test all pci_lspci_data::speed -- --ignored --nocapture`
#[test]
#[ignore = "measures and judges nothing; meaningful in release builds only"]
fn speed() {
    let Some(bytes) = data("lspci/gpud-lspci-vvv.txt") else { return };
    let best = |f: &dyn Fn()| {
        let times = (0..30).map(|_| {
            let start = Instant::now();
            f();
            start.elapsed()
        });
        times.min().unwrap_or_default()
    };
    println!("text: {:?} for {} KB", best(&|| _ = lspci::parse(&bytes).unwrap()), bytes.len() / 1000);
    let hex = data("lspci-hex/pciutils__tests_cap-aer-root").unwrap();
    let devices = lspci::parse(&hex).unwrap();
    let spaces: Vec<_> = devices.iter().cycle().take(300).filter_map(|d| d.config.as_deref()).collect();
    let decode = || {
        for s in &spaces {
            std::hint::black_box(
                linerate_formats::pci::config::ConfigSpace::new(std::hint::black_box(s)).capabilities(),
            );
        }
    };
    println!("binary: {:?} for {} functions of 4096 bytes", best(&decode), spaces.len());
}
