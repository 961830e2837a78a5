//! The generator against its own table.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use std::collections::BTreeSet;

use crate::forms::Level;
use crate::{Dress, Release, form, forms, read_all, releases, scenarios, unreadable};

#[test]
fn every_row_of_the_table_is_read_and_its_arguments_are_named() {
    assert_eq!(unreadable(), Vec::<&str>::new());
    for f in forms() {
        assert_eq!(f.format.arguments(), f.arguments.len(), "{} {:?}", f.id, f.text);
        assert!(releases().contains(&f.first) && releases().contains(&f.last) && f.first <= f.last, "{}", f.id);
        assert!(!f.files.is_empty());
    }
}

#[test]
fn a_release_has_one_wording_for_an_id() {
    for release in releases() {
        let mut seen = BTreeSet::new();
        for f in forms().iter().filter(|f| f.holds(*release)) {
            assert!(seen.insert(f.id), "{release} {}", f.id);
        }
    }
}

#[test]
fn scenarios_are_read_and_the_list_is_complete() {
    let all = read_all().unwrap();
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");
    let there: BTreeSet<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(all.iter().map(|s| s.name.clone()).collect::<BTreeSet<_>>(), there);
    for s in &all {
        assert!(!s.releases().is_empty(), "{}", s.name);
        for cause in s.truth.iter().chain(&s.acceptable) {
            assert!(!s.absent.contains(cause), "{}: {cause} must and must not be named", s.name);
        }
    }
}

#[test]
fn every_line_is_the_words_of_its_release_and_every_form_is_used() {
    let mut used = BTreeSet::new();
    for s in scenarios() {
        let all = s.releases();
        // A release in which words began or ended since the one before; the others print what their neighbours print.
        let telling = |i: usize, r: Release| {
            i == 0 || forms().iter().any(|f| f.first == r && !f.id.starts_with("name.")) || i + 1 == all.len()
        };
        for (i, release) in all.iter().copied().enumerate() {
            if !telling(i, release) {
                continue;
            }
            let (facts, lines, errors) = s.play(release, 1);
            assert_eq!(errors, Vec::<String>::new(), "{} {release}", s.name);
            // The first lines of each form: ranks and channels say the rest in the same words.
            let mut seen = std::collections::HashMap::new();
            for line in &lines {
                let Some(f) = line.form else { continue };
                let times = seen.entry(f.id).or_insert(0);
                *times += 1;
                if *times > 3 {
                    continue;
                }
                let release = facts.ranks[line.rank].release;
                assert!(f.holds(release), "{} {release}: {}", s.name, line.text);
                used.insert((f.id, f.text));
                let text = line.text.trim_start_matches('\n').trim_end_matches('\n');
                let message = match f.level {
                    Level::Info => text.split_once("NCCL INFO ").unwrap().1,
                    Level::InfoLocated => text.split_once("NCCL INFO ").unwrap().1.split_once(") ").unwrap().1,
                    Level::Warn => text.split_once("NCCL WARN ").unwrap().1,
                    _ => text,
                };
                let whole = f.format.matches(message) || f.format.matches(&format!("{message}\n"));
                assert!(whole || line.text.len() == 1024, "{} {release}: {message:?} is not {:?}", s.name, f.text);
            }
        }
    }
    let unused: BTreeSet<&str> = UNUSED.iter().map(|(id, _)| *id).collect();
    let missing: Vec<_> = forms()
        .iter()
        .filter(|f| !matches!(f.level, Level::Part | Level::Macro(_)))
        .filter(|f| !used.contains(&(f.id, f.text)) && !unused.contains(f.id))
        .map(|f| format!("{} {} {:?}", f.id, f.last, f.text))
        .collect();
    assert!(missing.is_empty(), "neither used nor told why:\n{}", missing.join("\n"));
    for id in unused {
        assert!(forms().iter().any(|f| f.id == id), "{id} is not in the table");
    }
}

/// Forms that no scenario prints, and why.
static UNUSED: &[(&str, &str)] = &[
    ("bootstrap.nooob", "NCCL_OOB_NET_IFNAME is rare; the gallery shows it"),
    ("bootstrap.checkedin", "two jobs on one NCCL_COMM_ID; the gallery shows it"),
    ("tuner.internal", "2.28 to 2.30 say it only if a tuner's file exists and cannot be opened"),
    ("plugin.loaded.v4", "plugins of 2.12 and before"),
    ("plugin.loaded.v6", "between two interfaces; v5, v7, v9, v10, v11 stand for all"),
    ("plugin.loaded.v8", "between two interfaces; v5, v7, v9, v10, v11 stand for all"),
    ("ib.noif", "no interface for the bootstrap either: the bootstrap ends the job before"),
    ("ib.openfail", "follows ibv_open_device, the gallery shows it"),
    ("ib.queryport", "follows ibv_query_port, the gallery shows it"),
    ("ib.mlx5dv", "an older rdma-core; harmless, the gallery shows it"),
    ("socket.none", "no interface for the bootstrap either: the bootstrap ends the job before"),
    ("topo.attribute", "a broken topology file; topo.version stands for it"),
    ("p2p.legacyipc", "a process limit on file descriptors; the gallery shows it"),
    ("p2p.peerfail", "cudaDeviceEnablePeerAccess fails after it was promised; the gallery shows it"),
    ("conn.p2p.indirect", "hybrid cube mesh of V100 with eight GPUs; the gallery shows it"),
    ("trees.binomial", "runs only with many ranks; the gallery shows it"),
    ("event.fatal", "a NIC that died; the gallery shows it"),
    ("event.gid", "an address changed during the job; the gallery shows it"),
    ("sock.subnet", "NCCL_COMM_ID of another network; the gallery shows it"),
    ("boot.truncated", "its oldest wording has a newline more; the later ones are used"),
    ("boot.truncated.multi", "several messages at once, from 2.28; version.mismatch comes first"),
    (
        "call.fail",
        "from 2.23 the calls that can fail so are the kernel's refusals to bind or listen; the gallery shows it",
    ),
    ("shm.extend", "from 2.12 to 2.20 a full /dev/shm is a SIGBUS instead; later wordings are used"),
    ("shm.retry", "an interrupted call; the gallery shows it"),
    ("shm.map", "mmap fails after the file grew; the gallery shows it"),
    ("cuda.malloc", "the seed chooses among three; the gallery shows it"),
    ("cuda.calloc", "the seed chooses among three; the gallery shows it"),
    ("cuda.calloc.async", "the seed chooses among three; the gallery shows it"),
    ("malloc.fail", "the host's memory ends; the gallery shows it"),
    ("transport.none", "sockets are always there; the gallery shows it"),
    ("trace.errno", "the way back of pthread and system calls; the gallery shows it"),
    ("proxy.abort", "only while a communicator is aborted from outside; the gallery shows it"),
    ("async.job", "non-blocking communicators; the gallery shows it"),
    ("comm.async", "non-blocking communicators; the gallery shows it"),
    ("comm.reclaim", "non-blocking communicators; the gallery shows it"),
];

#[test]
fn the_gallery_shows_every_form_of_a_release() {
    for release in releases() {
        let lines = crate::gallery::lines(*release, 1).unwrap();
        for f in forms().iter().filter(|f| f.holds(*release) && !matches!(f.level, Level::Part | Level::Macro(_))) {
            assert!(lines.iter().any(|(id, _)| *id == f.id), "{release} {}", f.id);
        }
    }
}

#[test]
fn a_fault_and_a_variable_show() {
    // Addresses, times and numbers aside: the words that a log has.
    let words = |s: &crate::Scenario, release| -> BTreeSet<String> {
        let strip =
            |text: &str| text.replace("mtu 3", "mtu small").chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        s.render(release, 1, Dress::Bare)
            .iter()
            .flat_map(|f| String::from_utf8_lossy(&f.bytes).lines().map(strip).collect::<Vec<_>>())
            .collect()
    };
    let mut hidden = Vec::new();
    for s in scenarios() {
        // A cause that a release hides must be said to be undecidable there. Minor releases stand for their patches.
        let mut minor = 0;
        for release in s.releases() {
            if std::mem::replace(&mut minor, release.1) == release.1 {
                continue;
            }
            let mut sound = s.clone();
            sound.job.fault.clear();
            if s.job.fault.is_empty() {
                sound.job.env.clear();
            }
            let has_cause = !s.job.fault.is_empty() || !s.job.env.is_empty();
            if has_cause && !s.undecidable && !s.truth.is_empty() && words(&s, release) == words(&sound, release) {
                hidden.push(format!("{} {release}", s.name));
            }
        }
    }
    assert_eq!(hidden, Vec::<String>::new(), "nothing tells of the cause");
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    for s in scenarios().iter().step_by(7) {
        let release = *s.releases().last().unwrap();
        for dress in Dress::ALL {
            assert_eq!(s.render(release, 3, dress), s.render(release, 3, dress), "{} {dress:?}", s.name);
        }
        if !s.undecidable {
            assert_ne!(s.render(release, 3, Dress::Bare), s.render(release, 4, Dress::Bare), "{}", s.name);
        }
    }
}

#[test]
fn a_rank_keeps_its_own_order() {
    let s = scenarios().into_iter().find(|s| s.name == "healthy-ib-gdr").unwrap();
    let (_, lines, _) = s.play(Release(2, 21, 5), 1);
    let of = |rank| lines.iter().filter(move |l| l.rank == rank).map(|l| l.text.as_str()).collect::<String>();
    for rank in 0..16 {
        let log = of(rank);
        let at = |text: &str| log.find(text).unwrap_or_else(|| panic!("rank {rank} lacks {text}"));
        assert!(at("Bootstrap : Using") < at("Using network IB"));
        assert!(at("Using network IB") < at("Init START"));
        assert!(at("Init START") < at("Connected all rings"));
        assert!(at("Connected all rings") < at("Init COMPLETE"));
        assert!(at("Init COMPLETE") < at("AllReduce: opCount 0 "));
    }
}

#[test]
fn decisions_follow_from_the_machine() {
    let log = |name: &str, release| {
        let s = scenarios().into_iter().find(|s| s.name == name).unwrap();
        String::from_utf8(s.render(release, 1, Dress::Bare)[0].bytes.clone()).unwrap()
    };
    let text = log("gdr-too-far", Release(2, 21, 5));
    assert!(text.contains("(distance 6 > 4)") && !text.contains("/GDRDMA"), "PHB > PXB by 2.21's numbers");
    let text = log("gdr-too-far", Release(2, 28, 9));
    assert!(text.contains("(distance 8 > 5)"), "PHB > PXB by 2.28's numbers");
    let text = log("healthy-grace", Release(2, 28, 9));
    assert!(text.contains("connected via C2C link") && text.contains("(distance 3 <= 5)") && text.contains("/GDRDMA"));
    let text = log("gdr-grace-default-off", Release(2, 26, 6));
    assert!(text.contains("(distance 7 > 5)") && !text.contains("/GDRDMA"));
    let text = log("healthy-pre-ampere", Release(2, 18, 6));
    assert!(text.lines().any(|l| l.contains("[receive] via NET/IB/") && l.ends_with("/GDRDMA")));
    assert!(text.contains("[send] via NET/IB/") && !text.lines().any(|l| l.contains("[send]") && l.contains("GDRDMA")));
    let text = log("fewer-nics", Release(2, 30, 7));
    assert!(
        text.contains("Detected mixed local Net device counts across ranks (min 7, max 8)")
            && !text.contains("Init COMPLETE")
    );
    assert!(log("fewer-nics", Release(2, 29, 7)).contains("Init COMPLETE"));
    assert!(
        log("gdr-no-peer-memory", Release(2, 10, 3))
            .contains("GPU Direct RDMA Disabled for HCA 0 'mlx5_0' (no module)")
    );
    assert!(log("healthy-dmabuf", Release(2, 21, 5)).contains("DMA-BUF is available on GPU device 0"));
    assert!(log("warn-level-silent", Release(2, 21, 5)).trim() == "NCCL version 2.21.5+cuda12.4");
}

#[test]
fn the_large_log_speaks_in_forms() {
    let mut out = Vec::new();
    let written = crate::big::write(&mut out, 4 << 20, Release(2, 21, 5), 1).unwrap();
    assert_eq!(written as usize, out.len());
    let mut more = Vec::new();
    crate::big::write(&mut more, 64 << 20, Release(2, 21, 5), 1).unwrap();
    let coll = form("coll", Release(2, 21, 5)).unwrap();
    let last = String::from_utf8_lossy(&more).lines().last().unwrap().to_owned();
    let message = last.split_once("NCCL INFO ").unwrap().1.to_owned();
    assert!(coll.format.matches(&message), "{message}");
}

/// Real logs, where they are: what NCCL printed on other people's machines must be in the table.
#[test]
fn real_lines_are_in_the_table() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    if !std::path::Path::new(root).is_dir() {
        eprintln!("SKIPPED: ../shared/data is not here");
        return;
    }
    let mut files = Vec::new();
    for dir in ["nccl-log", "cases"] {
        collect(&std::path::Path::new(root).join(dir), &mut files);
    }
    let (mut known, mut unknown) = (0, BTreeSet::new());
    for path in files {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        for line in text.lines() {
            let Some((_, message)) = line.split_once("NCCL INFO ").or_else(|| line.split_once("NCCL WARN ")) else {
                continue;
            };
            let message = message.trim_end();
            let found = forms().iter().any(|f| {
                !matches!(f.level, Level::Part | Level::Macro(_)) && f.text != "%s" && f.format.matches(message)
            });
            if found {
                known += 1;
            } else {
                unknown.insert(message.to_owned());
            }
        }
    }
    for message in &unknown {
        eprintln!("not in the table: {message}");
    }
    // The rest is plugins' own, redacted, or of subsystems that nobody asks a doctor about (ALLOC, REG, RAS).
    assert!(known > 90, "{known} lines known");
}

fn collect(dir: &std::path::Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "txt") {
            files.push(path);
        }
    }
}
