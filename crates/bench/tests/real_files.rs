//! Every benchmark output of the shared collection is imported, or refused with a reason.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use linerate_bench::Kind;
use linerate_bench::import::import;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 9] =
    ["nccl-tests", "bench-logs", "perftest", "iperf3", "sockperf", "fio", "torchtitan", "generated-here", "misc-bench"];

/// Files that hold no measurement, or none that counts, and a word of the reason that must be reported.
const REFUSED: &[(&str, &str)] = &[];

fn data() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    dir.is_dir().then_some(dir)
}

#[test]
fn every_output_is_imported_or_refused_with_a_reason() {
    let Some(data) = data() else {
        println!("SKIPPED: ../shared/data is not here");
        return;
    };
    let mut wrong = Vec::new();
    for folder in FOLDERS {
        let Ok(entries) = std::fs::read_dir(data.join(folder)) else { continue };
        let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.is_file()).collect();
        files.sort();
        for file in files {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let found = import(&name, &std::fs::read(&file).unwrap());
            println!("{folder}/{name}");
            for run in &found.runs {
                let faults: Vec<&str> = run.faults.iter().map(|f| f.what.as_str()).collect();
                println!(
                    "    {} {} {} points, {} series; params {:?}; hosts {:?}; faults {faults:?}; notes {:?}",
                    run.kind,
                    run.tool.as_deref().unwrap_or("-"),
                    run.points(),
                    run.series.len(),
                    run.params.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>(),
                    run.hosts,
                    run.notes.iter().map(|n| n.what.as_str()).collect::<Vec<_>>(),
                );
            }
            for r in &found.refused {
                println!("    refused {:?} line {}: {}", r.kind, r.line, r.why);
            }
            if found.runs.is_empty() && found.refused.iter().all(|r| r.why.is_empty()) {
                wrong.push(name.clone());
            }
            if let Some((_, word)) = REFUSED.iter().find(|(n, _)| name.contains(n)) {
                let told = found.refused.iter().any(|r| r.why.contains(word));
                let faulty = found.runs.iter().all(|r| !r.is_valid() && r.faults.iter().any(|f| f.what.contains(word)));
                if !(told || faulty && !found.runs.is_empty()) {
                    wrong.push(format!("{name}: `{word}` is not told"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Outputs of cloud machines, some hundred processes in a file: those that wrote at the same time are mixed, and none of them counts.
#[test]
fn runs_of_stream_are_whole_or_no_result() {
    let Some(folder) = data().map(|d| d.join("real2/mpi-bench")).filter(|d| d.is_dir()) else {
        println!("SKIPPED: ../shared/data is not here");
        return;
    };
    for (name, least) in [("azure_aks", 120), ("google_compute-engine", 90), ("azure_cyclecloud", 0)] {
        let file = folder.join(format!("performance-study__{name}_stream.txt"));
        let found = import("stream.txt", &std::fs::read(&file).unwrap());
        let (good, mixed): (Vec<_>, Vec<_>) = found.runs.iter().partition(|r| r.is_valid());
        assert!(good.iter().all(|r| r.kind == Kind::CudaStream && r.points() <= 16), "{name}");
        assert!(good.len() >= least && !mixed.is_empty(), "{name}: {} good, {} mixed", good.len(), mixed.len());
    }
}
