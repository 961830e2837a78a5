//! Archives of other makers, where they are present.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use linerate_snapshot::{Lookup, OpenError, Reader};
use std::path::{Path, PathBuf};

/// Files with one of these endings in a folder of the real inputs; `None` (and a word) where they are not here.
fn data(dir: &str, endings: &[&str]) -> Option<Vec<PathBuf>> {
    // Beside the repository; a worktree of it lies one level deeper.
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found =
        ["../../../shared/data", "../../../../shared/data"].iter().map(|p| here.join(p).join(dir)).find(|p| p.is_dir());
    let Some(found) = found else {
        println!("SKIPPED: ../shared/data is not here");
        return None;
    };
    let ends = |p: &PathBuf| endings.iter().any(|e| p.to_string_lossy().ends_with(e));
    let mut files: Vec<PathBuf> = std::fs::read_dir(found).unwrap().flatten().map(|e| e.path()).filter(ends).collect();
    files.sort();
    assert!(!files.is_empty(), "{dir} is empty");
    Some(files)
}

#[test]
fn hwloc_topologies_hold_sys_and_proc() {
    let Some(files) = data("hwloc/linux", &[".tar.bz2"]) else { return };
    let mut reader = Reader::new();
    for f in &files {
        let s = reader.read(f).unwrap_or_else(|e| panic!("{}: {e}", f.display()));
        assert!(matches!(s.resolve("sys"), Lookup::Found(_)), "{}", f.display());
        // One of them came without.
        let proc = matches!(s.resolve("proc"), Lookup::Found(_));
        assert!(proc || f.ends_with("8ia64-2n2s2c.tar.bz2"), "{}", f.display());
        assert!(s.problems.is_empty(), "{}: {:?}", f.display(), s.problems);
        println!("{}: {} entries, {} bytes", f.display(), s.len(), s.size());
    }
}

#[test]
fn hwloc_topologies_with_pci_have_devices() {
    let Some(files) = data("hwloc/linux", &["pcidomain32bits.tar.bz2", "mic+dimms.tar.bz2", "pcilocality.tar.bz2"])
    else {
        return;
    };
    for f in &files {
        let s = Reader::new().read(f).unwrap();
        let Lookup::Found(dir) = s.resolve("sys/bus/pci/devices") else { panic!("{}", f.display()) };
        let devices = s.children(dir);
        assert!(!devices.is_empty());
        let with_class = devices.iter().filter(|(_, d)| s.text(*d, "class").known().is_some()).count();
        // Links that lead to nothing would show as devices without a class.
        assert!(with_class > 0, "{}: {} devices", f.display(), devices.len());
    }
}

#[test]
fn other_archives_open_or_say_why_not() {
    let mut opened = 0;
    for dir in ["sysfs-pci", "sysfs-ib", "sysfs-numa"] {
        let Some(files) = data(dir, &[".tar.gz", ".ttar"]) else { return };
        for f in &files {
            match Reader::new().read(f) {
                Ok(s) => {
                    opened += 1;
                    println!("{}: {} entries {:?}", f.display(), s.len(), s.problems);
                    assert!(s.len() > 3, "{}", f.display());
                }
                Err(e @ OpenError::NotASnapshot { .. }) => println!("{e}"),
                Err(e) => panic!("{}: {e}", f.display()),
            }
        }
    }
    assert!(opened >= 8, "{opened} opened");
}

#[test]
fn parts_of_trees_and_plain_text_archives_have_devices() {
    let Some(files) = data("sysfs-ib", &[".tar.gz", ".ttar"]) else { return };
    for f in &files {
        let s = Reader::new().read(f).unwrap_or_else(|e| panic!("{e}"));
        let Lookup::Found(dir) = s.resolve("sys/class/infiniband") else { panic!("{}", f.display()) };
        let devices = s.children(dir);
        assert!(!devices.is_empty());
        assert_eq!(s.coverage, linerate_snapshot::Coverage::Partial);
        assert!(s.problems.is_empty(), "{:?}", s.problems);
        for (name, d) in devices.iter().filter(|(n, _)| n.starts_with("mlx")) {
            assert!(s.text(*d, "ports/1/state").known().is_some(), "{}: {name}", f.display());
        }
    }
}
