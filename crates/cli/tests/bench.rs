//! `linerate bench`, as people call it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A directory of its own, with a history in it.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let dir = std::env::temp_dir().join(format!("linerate-bench-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        Place(dir)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn bench(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_linerate"))
            .arg("bench")
            .args(args)
            .env("LINERATE_STORE", self.0.join("history.db"))
            .env("NO_COLOR", "1")
            .env("COLUMNS", "100")
            .current_dir(examples())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let out = self.bench(args);
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}\n{}", text(&out)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bench")
}

fn text(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

const N0: [&str; 11] = [
    "compare",
    "n0/passthrough",
    "n0/disabled",
    "--nodes-a",
    "u17,u18",
    "--nodes-b",
    "u12,u16",
    "--link",
    "4x400G,ib,mtu=4096",
    "--nodes=2",
    "--gpus=4",
];

/// Reports of the field notes, kept as they should have been. `LINERATE_BLESS=1` writes them anew: read the difference.
#[test]
fn the_field_notes_have_the_reports_that_they_needed() {
    let place = Place::new("notes");
    let mut wrong = Vec::new();
    let mut golden = |name: &str, args: &[&str]| {
        let out = place.bench(args);
        let got = String::from_utf8(out.stdout).unwrap();
        assert!(!got.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
        let path = examples().join(name);
        if std::env::var_os("LINERATE_BLESS").is_some() {
            fs::write(&path, &got).unwrap();
        }
        let want = fs::read_to_string(&path).unwrap_or_default();
        if want != got {
            wrong.push(format!("{name} is not what `linerate bench {}` prints:\n{got}", args.join(" ")));
        }
    };
    golden("reports/n0.txt", &N0);
    golden("reports/n0.json", &[&N0[..], &["--format", "json"]].concat());
    golden("reports/n3.txt", &["summary", "n3", "--link", "1x40G,roce1,mtu=2048", "--nodes", "2"]);
    golden(
        "reports/n3.md",
        &["summary", "n3", "--link", "1x40G,roce1,mtu=2048", "--nodes", "2", "--format", "markdown"],
    );
    golden("reports/n3-tcp-against-rdma.txt", &["compare", "n3/tcp", "n3/rdma"]);
    golden("reports/n3-after-the-switch.csv", &["compare", "n3", "--template"]);
    golden(
        "reports/n0-training.svg",
        &["plot", "n0/passthrough/torchtitan.log", "n0/disabled/torchtitan.log", "--format", "svg"],
    );
    place.bench(&["import", "n1/historical.csv", "--label", "historical"]);
    golden("reports/n1.txt", &["history", "--band", "--metric", "busbw"]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn n0_shows_no_difference_and_says_why() {
    let place = Place::new("n0");
    let answer = place.json(&[&N0[..], &["--format", "json"]].concat());
    let all = answer["comparisons"].as_array().unwrap();
    assert!(all.iter().all(|c| c["verdict"] == "inconclusive"), "{all:#?}");
    assert_eq!(all.iter().filter(|c| c["metric"] == "busbw").count(), 8);
    let tps = all.iter().find(|c| c["metric"] == "tps").expect("training is compared");
    // The start-up is inside the note's means; cut, they are others.
    assert!(tps["a"]["transients"][0]["cut"].as_u64().unwrap() >= 3, "{tps:#}");
    assert!(tps["a"]["transients"][0]["mean_before"].as_f64().unwrap() - 169_093.0 < 1.0);
    assert!(tps["reason"].as_str().unwrap().contains("n = 1"), "{tps:#}");
    let largest = all.iter().find(|c| c["metric"] == "busbw" && c["size"] == 2_147_483_648_u64).unwrap();
    assert!((largest["ceiling"]["share_a"].as_f64().unwrap() - 0.47).abs() < 0.01);
    assert!(largest["ceiling"]["sentence"].as_str().unwrap().contains("cannot show"));
    assert_eq!(answer["confounds"][0]["what"], "nodes");
    assert_eq!(answer["design"]["nodes"], "different-nodes");
    assert_eq!(place.bench(&N0).status.code(), Some(2));
}

/// Rows of nccl-tests: size in bytes, bus bandwidth.
fn table(rows: &[(u64, f64)], wrong: u32) -> String {
    let mut out = String::from(
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n\
         #\n# Using devices\n\
         #  Rank  0 Group  0 Pid   100 on        n1 device  0 [0x1b] NVIDIA H100\n\
         #  Rank  1 Group  0 Pid   100 on        n1 device  1 [0x1c] NVIDIA H100\n\
         #\n#                                                              out-of-place                       in-place          \n\
         #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
         #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n",
    );
    for (size, v) in rows {
        let us = *size as f64 / v / 1e3;
        out.push_str(&format!(
            "{size:>12} {:>12}     float     sum      -1   {us:>6.1} {v:>7.3} {v:>7.3} {wrong:>6}   {us:>6.1} {v:>7.3} {v:>7.3}      0\n",
            size / 4
        ));
    }
    out.push_str("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.0\n#\n");
    out
}

#[test]
fn repetitions_decide_both_ways() {
    let place = Place::new("decide");
    for (side, base) in [("a", 90.0), ("b", 99.0)] {
        for (n, noise) in [0.0, 0.31, -0.22, 0.17, -0.4].into_iter().enumerate() {
            place.file(&format!("{side}/{n}.txt"), &table(&[(1 << 26, base + noise), (1 << 28, 200.0 + noise)], 0));
        }
    }
    let side = |s: &str| place.0.join(s).display().to_string();
    let answer = place.json(&["compare", &side("a"), &side("b"), "--format", "json"]);
    let verdict = |size: u64, place: &str| {
        let all = answer["comparisons"].as_array().unwrap();
        let c = all.iter().find(|c| c["size"] == size && c["labels"]["place"] == place).unwrap();
        c["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict(1 << 26, "out-of-place"), "better");
    assert_eq!(verdict(1 << 28, "out-of-place"), "equivalent");
    assert_eq!(place.bench(&["compare", &side("a"), &side("b")]).status.code(), Some(0));
    assert_eq!(place.bench(&["compare", &side("b"), &side("a")]).status.code(), Some(1));
}

#[test]
fn wrong_elements_are_never_a_result() {
    let place = Place::new("wrong");
    let good = place.file("good.txt", &table(&[(1 << 26, 90.0)], 0));
    let bad = place.file("bad.txt", &table(&[(1 << 26, 95.0)], 3));
    let out = place.bench(&["import", &bad]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out));
    assert!(text(&out).contains("3 wrong elements"), "{}", text(&out));
    let answer = place.json(&["compare", &good, &bad, "--format", "json"]);
    let places: Vec<&str> =
        answer["comparisons"].as_array().unwrap().iter().map(|c| c["labels"]["place"].as_str().unwrap()).collect();
    assert_eq!(places, ["in-place"], "the wrong half is left out, the right one stays");
}

#[test]
fn the_same_output_is_one_run_wherever_it_is_read() {
    let place = Place::new("same");
    let one = table(&[(1 << 26, 90.0)], 0);
    let first = place.file("first.txt", &one);
    let again = place.file("again.log", &format!("srun: job 7\n{one}"));
    assert!(text(&place.bench(&["import", &first])).contains("1 new"));
    let out = place.bench(&["import", &again]);
    assert!(text(&out).contains("0 new, 1 already there"), "{}", text(&out));
    let runs = place.json(&["history", "--format", "json"]);
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1);
    let id = runs["runs"][0]["id"].as_str().unwrap().to_owned();
    let shown = place.json(&["history", "--show", &id[..8], "--format", "json"]);
    assert_eq!(shown["runs"][0]["id"], id.as_str());
    for form in ["csv", "json", "jsonl", "parquet"] {
        let file = place.0.join(format!("all.{form}"));
        let out = place.bench(&["history", "--export", file.to_str().unwrap()]);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out));
        assert!(fs::metadata(&file).unwrap().len() > 0);
    }
    // An export is a side again.
    let csv = place.0.join("all.csv").display().to_string();
    let answer = place.json(&["compare", &csv, &id, "--format", "json"]);
    assert!(!answer["comparisons"].as_array().unwrap().is_empty(), "{answer:#}");
}

#[test]
fn a_filled_template_is_a_side() {
    let place = Place::new("template");
    let before = place.file("before.txt", &table(&[(1 << 26, 90.0)], 0));
    let out = place.bench(&["compare", &before, "--template"]);
    let empty = String::from_utf8(out.stdout).unwrap();
    let filled: String =
        empty.lines().map(|l| if l.ends_with(',') { format!("{l}91.5\n") } else { format!("{l}\n") }).collect();
    let after = place.file("after.csv", &filled);
    let answer = place.json(&["compare", &before, &after, "--format", "json"]);
    let all = answer["comparisons"].as_array().unwrap();
    assert_eq!(all.len(), 2, "{answer:#}");
    assert_eq!(all[0]["b"]["runs"], 3);
    assert!((all[0]["estimate"].as_f64().unwrap() - 91.5 / 90.0).abs() < 1e-6);
    // Empty, it is no side: nothing is taken for zero.
    let blank = place.file("blank.csv", &empty);
    let answer = place.json(&["compare", &before, &blank, "--format", "json"]);
    assert!(answer["comparisons"].as_array().unwrap().is_empty(), "{answer:#}");
}

#[test]
fn what_is_no_history_is_left_as_it_is() {
    let place = Place::new("foreign");
    let output = place.file("one.txt", &table(&[(1 << 26, 90.0)], 0));
    let foreign = place.file("notes.db", "these are my notes, not a database");
    let out = place.bench(&["import", &output, "--store", &foreign]);
    assert_eq!(out.status.code(), Some(3), "{}", text(&out));
    assert_eq!(fs::read_to_string(&foreign).unwrap(), "these are my notes, not a database");
    let out = place.bench(&["history"]);
    assert_eq!(out.status.code(), Some(3));
    assert!(text(&out).contains("no history here yet"), "{}", text(&out));
}

#[test]
fn nonsense_is_refused_with_a_reason() {
    let place = Place::new("nonsense");
    let cases =
        [("empty.txt", ""), ("prose.txt", "Dear all,\nthe cluster is slow.\n"), ("bytes.bin", "\u{0}\u{1}\u{2}")];
    for (name, content) in cases {
        let file = place.file(name, content);
        let out = place.bench(&["import", &file]);
        assert_eq!(out.status.code(), Some(3), "{name}: {}", text(&out));
        assert!(text(&out).contains("no output of") || text(&out).contains("empty"), "{name}: {}", text(&out));
    }
    for args in [
        &["compare", "nothing-here", "n0/disabled"][..],
        &["compare", "n0/disabled", "n0/passthrough", "--threshold", "200%"],
        &["compare", "n0/disabled", "n0/passthrough", "--link", "4xfast"],
        &["run", "everything", "--on", "local"],
        &["run", "ping", "--on", "a b;rm"],
    ] {
        let out = place.bench(args);
        assert_eq!(out.status.code(), Some(3), "{args:?}: {}", text(&out));
        assert!(!out.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_plan_is_shown_and_nothing_runs() {
    let place = Place::new("plan");
    let out = place.bench(&["run", "ping", "--on", "local", "--dry-run", "--no-snapshot"]);
    // Without ping on this machine, that is what it says.
    match out.status.code() {
        Some(0) => assert!(text(&out).contains("budget:"), "{}", text(&out)),
        Some(3) => assert!(text(&out).contains("iputils"), "{}", text(&out)),
        other => panic!("{other:?}: {}", text(&out)),
    }
    assert!(!place.0.join("history.db").exists());
}
