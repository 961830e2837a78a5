//! Planted secrets: whatever of a tool's output becomes part of a run, no secret in it does.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // helpers of tests, outside of test functions

use linerate_bench::import::{Imported, import, remove_secrets};
use linerate_bench::{Kind, Param};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const PASSWORD: &str = "correct0001horse";

/// A secret that its shape gives away, one that its name gives away, one that is in a URL.
fn planted() -> [String; 3] {
    let token = ["gh", "p_"].concat() + "q7Zt1Xw4Lk9Bv2Nf8Rd3Hs6Yc5Mj0Pa7Ge1U";
    [token, format!("password={PASSWORD}"), format!("https://u:{PASSWORD}@h/x")]
}

fn has_secret(text: &str) -> bool {
    text.contains(PASSWORD) || text.contains("q7Zt1Xw4Lk9Bv2Nf8Rd3Hs6Yc5Mj0Pa7Ge1U")
}

/// Outputs of each tool, short ones.
fn outputs() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut dirs: Vec<PathBuf> = vec![root.join("crates/formats/tests/fixtures/net")];
    dirs.extend(["n0", "n1", "n3"].map(|d| root.join("examples/bench").join(d)));
    let mut out = Vec::new();
    while let Some(dir) = dirs.pop() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                dirs.push(path);
            } else {
                let text = std::fs::read_to_string(&path).unwrap();
                if text.len() < 40 << 10 {
                    out.push((path.file_name().unwrap().to_string_lossy().into_owned(), text));
                }
            }
        }
    }
    for (name, text) in OWN {
        out.push(((*name).to_owned(), (*text).to_owned()));
    }
    out
}

const OWN: &[(&str, &str)] = &[
    (
        "nccl.json",
        r#"{"version":3,"start_time":"2026-01-02 03:04:05","args":["./build/reduce_scatter_perf","-J","x"],"env":["NCCL_DEBUG=INFO","NCCL_SOCKET_IFNAME=eth0"],"nccl_version":23007,"config":{"nthreads":1,"ngpus":1,"minimum_bytes":8,"maximum_bytes":16,"step_factor":2,"warmup_iters":1,"iterations":20,"aggregated_iterations":1,"validation":1,"graph":0,"devices":[{"rank":0,"group":0,"pid":5,"hostname":"alpha","device":0,"device_hex":"0000:0a:00","device_info":"GPU"}]},"results":[{"size":16,"count":4,"type":"float","redop":"sum","root":"    -1","out_of_place":{"time":10.500000,"alg_bw":1.000000,"bus_bw":0.500000,"nwrong":0.000000},"in_place":{"time":"nan","alg_bw":0.0,"bus_bw":0.0,"nwrong":null},"actual_iterations":20,"experiment_name":""}],"out_of_bounds":{"count":0,"okay":"true"},"average_bus_bandwidith":{"bandwidith":0.500000,"okay":"unchecked"},"errors":[""],"end_time":"2026-01-02 03:04:06"}"#,
    ),
    (
        "all_reduce.txt",
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0\n\
         #\n# Using devices\n#  Rank  0 Group  0 Pid   4711 on     node-a device  0 [0x17] NVIDIA H100 80GB HBM3\n\
         #  Rank  1 Group  0 Pid   4712 on     node-b device  0 [0x17] NVIDIA H100 80GB HBM3\n#\n\
         #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
         #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n\
         \x20          8             2     float     sum      -1    20.10    0.00    0.00      0    20.00    0.00    0.00      0\n\
         \x20         16             4     float     sum      -1    20.10    0.00    0.00      0    20.00    0.00    0.00      0\n\
         # Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.5\n#\n",
    ),
    (
        "nvbandwidth.txt",
        "nvbandwidth Version: v0.8\nDriver Version: 580.95.05\nnode-a\nDevice 0: NVIDIA A (00000000:34:00)\n\n\
         Running device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n \
         0       N/A    396.50\n 1    396.40       N/A\n\nSUM device_to_device_memcpy_read_ce 792.90\n",
    ),
    (
        "nvbandwidth.json",
        "{\n \"nvbandwidth\" : { \"CUDA Runtime Version\" : 12080, \"Driver Version\" : \"580.95.05\", \"GPU Device list\" : [\"0: A (00000000:34:00): (h)\"], \"testcases\" : [ {\"name\":\"a_read_ce\",\"status\":\"Passed\",\"bandwidth_description\":\"memcpy (GB/s)\",\"bandwidth_matrix\":[[\"N/A\",\"2\"],[\"1\",\"N/A\"],[\"N/A\",\"3\"]],\"sum\":3.0} ] }\n}\n",
    ),
    (
        "table.csv",
        "run,tool,metric,unit,size,value,host,rail\n1,probe,busbw,GB/s,1024,12.5,node-a,rail-one\n1,probe,busbw,GB/s,2048,13.5,node-a,rail-one\n\
         2,probe,busbw,GB/s,1024,12.6,node-b,rail-two\n",
    ),
    (
        "series.jsonl",
        "{\"step\":1,\"loss\":2.5,\"job\":\"alpha\"}\n{\"step\":2,\"loss\":2.4,\"job\":\"alpha\"}\n{\"step\":3,\"loss\":2.3,\"job\":\"alpha\"}\n",
    ),
];

/// All that an import says, as JSON and as the names of its parts.
fn said(found: &Imported) -> String {
    let runs: Vec<String> = found.runs.iter().map(|r| format!("{r:?} {}", serde_json::to_string(r).unwrap())).collect();
    format!("{runs:?} {:?}", found.refused)
}

/// Words of a text that hold a letter: where they begin and end.
fn words(text: &str) -> Vec<(usize, usize)> {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let (mut out, mut from) = (Vec::new(), None);
    for (i, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (from, part(c)) {
            (None, true) => from = Some(i),
            (Some(f), false) => {
                // Not the parameters of a terminal's sequence: it would take the first letter of what is planted.
                if text[f..i].bytes().any(|b| b.is_ascii_alphabetic()) && !text[..f].ends_with("\u{1b}[") {
                    out.push((f, i));
                }
                from = None;
            }
            _ => {}
        }
    }
    out
}

#[test]
fn no_word_of_an_output_brings_a_secret_into_a_run() {
    const MOST: usize = 60;
    let (mut tried, mut hidden, mut lost) = (0, BTreeSet::new(), Vec::new());
    for (name, text) in outputs() {
        let words = words(&text);
        let step = words.len().div_ceil(MOST).max(1);
        // The first ones are what a program says of itself.
        for (n, (from, to)) in words.iter().enumerate().filter(|(n, _)| *n < MOST || n % step == 0) {
            for (form, secret) in planted().iter().enumerate().filter(|(f, _)| *f == n % 3 || n < MOST / 4) {
                let changed = format!("{}{secret}{}", &text[..*from], &text[*to..]);
                let found = import(&name, changed.as_bytes());
                let said = said(&found);
                tried += 1;
                if has_secret(&said) {
                    lost.push(format!("{name}: {form} in the place of {:?}", &text[*from..*to]));
                }
                let runs = || found.runs.iter().filter(|r| format!("{r:?}").contains(linerate_snapshot::MARK));
                hidden.extend(runs().map(|r| r.kind));
            }
        }
    }
    assert!(tried > 2000, "{tried}");
    // Each of these lets some word of its output into a run, so something was hidden there.
    for kind in
        [Kind::NcclTests, Kind::Fio, Kind::Iperf3, Kind::Nvbandwidth, Kind::Perftest, Kind::Sockperf, Kind::Series]
    {
        assert!(hidden.contains(&kind), "{kind}: nothing was hidden ({hidden:?})");
    }
    assert!(lost.is_empty(), "{} of {tried}:\n{}", lost.len(), lost.join("\n"));
}

#[test]
fn command_lines_environments_and_names_of_files_bring_none() {
    let token = &planted()[0];
    let lines = [
        format!("$ tool --password {PASSWORD} -x"),
        format!("WANDB_API_KEY={token}"),
        format!("export NCCL_AUTH={PASSWORD}"),
        format!("Authorization: Bearer {PASSWORD}"),
        format!("tool: error: https://u:{PASSWORD}@h/x: refused"),
        format!("[rank0]: RuntimeError: password={PASSWORD}"),
        format!("\"password\": \"{PASSWORD}\","),
    ];
    let name = format!("log-{token}.txt");
    for (file, text) in outputs() {
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        for at in [0, all.len() / 3, all.len() * 2 / 3, all.len()] {
            for line in &lines {
                let changed = format!("{}{line}\n{}", all[..at].concat(), all[at..].concat());
                let said = said(&import(&name, changed.as_bytes()));
                assert!(!has_secret(&said), "{file}, line {at}: {line}");
            }
        }
    }
    let said = said(&import(&name, b"nothing of any tool"));
    assert!(said.contains(linerate_snapshot::MARK) && !has_secret(&said), "{said}");
}

#[test]
fn the_environment_of_json_passes_the_rule_for_settings() {
    let text = OWN[0].1.replace("NCCL_DEBUG=INFO", &format!("NCCL_NET_PLUGIN={PASSWORD}"));
    let found = import("x.json", text.as_bytes());
    let param = |key: &str| found.runs[0].params.get(key).cloned();
    assert_eq!(param("env.NCCL_NET_PLUGIN"), Some(Param::Text(linerate_snapshot::MARK.into())));
    assert_eq!(param("env.NCCL_SOCKET_IFNAME"), Some(Param::Text("eth0".into())));
}

#[test]
fn what_differed_differs_still_and_twice_is_once() {
    let [a, _, _] = planted();
    let b = a.replace('q', "w");
    let text = format!(
        "run,tool,metric,unit,size,value,rail\n1,probe,busbw,GB/s,1024,12.5,{a}\n1,probe,busbw,GB/s,1024,13.5,{b}\n1,probe,busbw,GB/s,2048,9.5,{a}\n"
    );
    let mut run = import("t.csv", text.as_bytes()).runs.remove(0);
    let rails: BTreeSet<&str> = run.series.iter().filter_map(|s| s.label("rail")).collect();
    assert_eq!(rails, BTreeSet::from(["[redacted]", "[redacted]-2"]), "{run:#?}");
    let id = run.id();
    let before = run.clone();
    remove_secrets(&mut run);
    assert_eq!((run.id(), &run), (id, &before));
}

/// The runner cleans what a tool printed before it is imported: that changes no result.
#[test]
fn a_cleaned_output_is_the_same_run() {
    for (name, text) in outputs() {
        let mut clean = text.clone().into_bytes();
        linerate_snapshot::remove_secrets(&mut clean);
        let (raw, clean) = (import(&name, text.as_bytes()), import(&name, &clean));
        assert_eq!(raw, clean, "{name}");
        assert!(!raw.runs.is_empty() || !raw.refused.is_empty(), "{name}");
        assert!(!said(&raw).contains(linerate_snapshot::MARK), "{name}: something harmless is hidden");
    }
}
