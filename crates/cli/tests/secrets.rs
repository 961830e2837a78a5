//! Planted secrets in reports, plans, journals and errors: every verb that reads them, in every form, on a node that has something to say.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::print_stdout)] // helpers of tests, outside of test functions
#![allow(dead_code)] // other tests use the rest of the corpus

#[path = "../../snapshot/tests/secrets/corpus.rs"]
mod corpus;
#[path = "../../snapshot/tests/secrets/sources.rs"]
mod sources;

use corpus::Planted;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const REPORTS: &[&str] = &["text", "json", "markdown", "sarif", "junit"];
const PLANS: &[&str] =
    &["text", "json", "markdown", "shell", "machineconfig", "talos", "nmstate", "nicconfig", "ansible", "cloud-init"];

fn home_of(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// What it printed, on both ways.
fn run(home: &Path, arguments: &[&str]) -> Vec<u8> {
    let mut c = Command::new(env!("CARGO_BIN_EXE_linerate"));
    c.args(arguments).env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin").current_dir(home);
    let out = c.output().unwrap();
    assert!(
        out.stdout.len() + out.stderr.len() > 20 || arguments.contains(&"--output"),
        "{arguments:?} says something"
    );
    [out.stdout, out.stderr].concat()
}

/// A machine with much to say, and the planted files over it.
fn tree(home: &Path, sources: &[sources::Source]) -> PathBuf {
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/nodes");
    let sick = linerate_compose::Description::load(&nodes.join("sick-8gpu.toml")).unwrap().compose().unwrap();
    let dir = home.join("tree");
    sick.write_to(&dir).unwrap();
    std::fs::remove_dir_all(dir.join("linerate")).unwrap();
    let old = std::fs::read_to_string(dir.join("proc/cmdline")).unwrap();
    sources::write_tree(&dir, sources);
    // What the rules complain of is beside what is planted.
    let planted = std::fs::read_to_string(dir.join("proc/cmdline")).unwrap();
    std::fs::write(dir.join("proc/cmdline"), format!("{} {planted}", old.trim())).unwrap();
    dir
}

fn survivors(what: &str, printed: &[u8], planted: &[&Planted]) -> Vec<String> {
    const TAIL: usize = 12;
    let tail = |p: &Planted| p.secret.as_bytes()[p.secret.len() - TAIL..].to_vec();
    let wanted: HashSet<Vec<u8>> = planted.iter().map(|p| tail(p)).collect();
    let seen: HashSet<&[u8]> = printed.windows(TAIL).filter(|w| wanted.contains(*w)).collect();
    let found = planted.iter().filter(|p| seen.contains(tail(p).as_slice()));
    found.map(|p| format!("{what}: {} [{}]", p.form.replace('\u{1}', "§"), p.secret)).collect()
}

#[test]
fn no_report_plan_or_error_shows_what_was_planted() {
    let home = home_of("planted");
    let sources: Vec<sources::Source> = sources::all().into_iter().filter(|s| s.file).collect();
    let tree = tree(&home, &sources);
    let at = tree.to_str().unwrap();
    let mut planted: Vec<&Planted> = sources.iter().flat_map(|s| &s.planted).collect();
    let mut lost = Vec::new();
    let mut calls = 0;
    let mut call = |arguments: &[&str], planted: &[&Planted]| {
        calls += 1;
        lost.extend(survivors(&arguments.join(" "), &run(&home, arguments), planted));
    };
    for format in REPORTS {
        for more in [&["--verbose"][..], &["--no-redact", "--verbose"]] {
            call(&[&["audit", at, "--format", format], more].concat(), &planted);
        }
    }
    for format in PLANS {
        call(&["plan", at, "--format", format], &planted);
    }
    for format in ["text", "json", "dot", "svg", "xml", "rdma-topo-dump"] {
        call(&["topo", at, "--format", format, "--no-redact"], &planted);
    }
    call(&["collect", "--root", at, "--no-redact", "--quiet", "--output", "node.tar.zst"], &planted);
    let archive = std::fs::read(home.join("node.tar.zst")).unwrap();
    let tar = zstd::stream::decode_all(archive.as_slice()).unwrap();
    assert!(tar.len() > 100_000, "the archive is read");
    lost.extend(survivors("collect", &tar, &planted));

    // Logs and scripts, as they are pasted.
    let texts = sources::pasted();
    for (n, text) in texts.iter().enumerate() {
        let file = home.join(format!("{n}-{}", text.path));
        std::fs::write(&file, text.text()).unwrap();
        let file = file.to_str().unwrap();
        let own: Vec<&Planted> = text.planted.iter().collect();
        for format in ["text", "json", "markdown"] {
            let mut call = |a: &[&str]| {
                calls += 1;
                lost.extend(survivors(&a.join(" "), &run(&home, a), &own));
            };
            call(&["doctor", file, "--format", format]);
            call(&["doctor", file, "--node", "node.tar.zst", "--format", format]);
            call(&["audit", file, "--format", format, "--verbose"]);
        }
    }
    let script: Vec<Planted> = corpus::variables(70_000);
    let body: String = script.iter().map(|p| format!("export {}\n", p.text)).collect();
    std::fs::write(home.join("job.sh"), body).unwrap();
    // A program that failed: NCCL's own words, and lines of others, with what was planted.
    let log: Vec<Planted> = corpus::lines(80_000).into_iter().chain(corpus::variables(81_000)).collect();
    let head = "n1:1:2 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n";
    let lines: String = log
        .iter()
        .flat_map(|p| {
            [
                "n1:1:2 [0] NCCL WARN ",
                "n1:1:2 [0] NCCL INFO ",
                "n1:1:2 [0] NCCL INFO NET/Plugin: ",
                "RuntimeError: NCCL error: ",
            ]
            .map(|head| format!("{head}{}\n", p.text))
        })
        .collect();
    std::fs::write(home.join("job.log"), format!("{head}{lines}")).unwrap();
    planted.extend(script.iter().chain(&log));
    let mut call = |arguments: &[&str]| {
        calls += 1;
        lost.extend(survivors(&arguments.join(" "), &run(&home, arguments), &planted));
    };
    for format in ["text", "json", "shell", "k8s", "sbatch"] {
        call(&["env", "check", "job.sh", "--node", "node.tar.zst", "--format", format]);
    }
    for format in ["text", "json", "markdown"] {
        call(&["doctor", "job.log", "--format", format]);
    }
    // Errors.
    for p in corpus::lines(90_000).iter().filter(|p| !p.text.contains('/')).take(40) {
        calls += 1;
        lost.extend(survivors("an error", &run(&home, &["audit", &format!("./{}", p.text)]), &[p]));
    }
    println!("{calls} calls, {} planted, {} shown", planted.len(), lost.len());
    assert!(calls > 60 && planted.len() > 5000);
    assert!(lost.is_empty(), "{} shown:\n{}", lost.len(), lost.iter().take(60).cloned().collect::<Vec<_>>().join("\n"));
}

#[test]
fn no_benchmark_shows_what_was_planted() {
    let home = home_of("planted-bench");
    let planted: Vec<Planted> = corpus::lines(120_000)
        .into_iter()
        .filter(|p| !p.text.contains(['"', ',', '\n', '\\']))
        .chain(corpus::tokens(5).into_iter().filter(|t| !t.text.contains(',')))
        .collect();
    let table: String = planted
        .iter()
        .enumerate()
        .map(|(n, p)| format!("{n},probe,busbw,GB/s,{},{}.5,{}\n", 1024 << (n % 8), 10 + n % 7, p.text))
        .collect();
    let name = format!("log password={}.csv", planted[0].secret);
    std::fs::write(home.join(&name), format!("run,tool,metric,unit,size,value,rail\n{table}")).unwrap();
    let label = format!("token={}", planted[0].secret);
    let store = ["--store", "history.db"];
    let (mut lost, mut marks) = (Vec::new(), 0);
    let all: Vec<&Planted> = planted.iter().collect();
    let mut call = |arguments: &[&str]| {
        let printed = run(&home, arguments);
        marks += printed.windows(10).filter(|w| w == b"[redacted]").count();
        lost.extend(survivors(&arguments.join(" "), &printed, &all));
    };
    call(&[&["bench", "import", &name, "--label", &label][..], &store].concat());
    call(&["bench", "import", &name, "--no-store", "--format", "json"]);
    call(&[&["bench", "history", "--format", "json"][..], &store].concat());
    call(&[&["bench", "history", "--label", &label][..], &store].concat());
    for format in ["text", "json", "markdown", "html"] {
        call(&["bench", "summary", &name, "--format", format]);
    }
    for file in ["x.csv", "x.json", "x.jsonl"] {
        call(&[&["bench", "history", "--export", file][..], &store].concat());
    }
    assert!(planted.len() > 100 && marks > 300, "{} planted, {marks} hidden", planted.len());
    for file in ["history.db", "x.csv", "x.json", "x.jsonl"] {
        let bytes = std::fs::read(home.join(file)).unwrap();
        assert!(bytes.len() > 1000, "{file}");
        lost.extend(survivors(file, &bytes, &all));
    }
    assert!(lost.is_empty(), "{} shown:\n{}", lost.len(), lost.iter().take(40).cloned().collect::<Vec<_>>().join("\n"));
}
