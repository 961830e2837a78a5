//! What `linerate bench` answers to programs, held against docs/schema.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, clippy::indexing_slicing)] // helpers of tests, outside of test functions

use crate::schema;

use schema::Schema;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A directory of its own, with a history in it.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-json-{name}"));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        Place(dir)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn bench(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        command.arg("bench").args(args).env("LINERATE_STORE", self.0.join("history.db"));
        command.stdin(Stdio::null()).output().unwrap()
    }

    fn import(&self, name: &str, text: &str, more: &[&str]) {
        let file = self.file(name, text);
        let out = self.bench(&[&["import", &file], more].concat());
        assert_eq!(out.status.code(), Some(0), "{out:?}");
    }

    /// The answer, held against the schema that it names.
    fn answer(&self, schema: &str, args: &[&str]) -> Value {
        let out = self.bench(&[args, &["--format", "json"]].concat());
        let value: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {out:?}"));
        assert_eq!(value["schema"], format!("linerate.{schema}/1"), "{args:?}");
        assert_eq!(value["linerate"], env!("CARGO_PKG_VERSION"));
        holds(schema, &value).unwrap_or_else(|e| panic!("{args:?}: {e}"));
        value
    }
}

fn holds(name: &str, value: &Value) -> Result<(), String> {
    Schema::of(&format!("{name}-1")).check(value)
}

/// Of nccl-tests: sizes, labels, hosts, no time.
fn table(busbw: f64) -> String {
    let us = f64::from(1 << 26) / busbw / 1e3;
    format!(
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n\
         #\n# Using devices\n\
         #  Rank  0 Group  0 Pid   100 on        n1 device  0 [0x1b] NVIDIA H100\n\
         #  Rank  1 Group  0 Pid   100 on        n1 device  1 [0x1c] NVIDIA H100\n\
         #\n#                                                              out-of-place                       in-place          \n\
         #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
         #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n\
         {:>12} {:>12}     float     sum      -1   {us:>6.1} {busbw:>7.3} {busbw:>7.3}      0   {us:>6.1} {busbw:>7.3} {busbw:>7.3}      0\n\
         # Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.0\n#\n",
        1 << 26,
        1 << 24
    )
}

/// Of ping: no sizes, a time.
const PING: &str = "PING n2 (10.0.0.2) 56(84) bytes of data.\n\
    [1795294324.960938] 64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.217 ms\n\
    [1795294325.160938] 64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=0.117 ms\n\n\
    --- n2 ping statistics ---\n2 packets transmitted, 2 received, 0% packet loss, time 200ms\n\
    rtt min/avg/max/mdev = 0.117/0.167/0.217/0.050 ms\n";

/// Of nobody known: no program.
const TABLE: &str = "run,size,busbw (GB/s)\nlowest,8 GiB,194\nhighest,8 GiB,309\n";

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().unwrap()
}

/// A history with all that an answer may hold or lack.
fn filled(name: &str) -> Place {
    let place = Place::new(name);
    for n in 0..7 {
        place.import(&format!("{n}.txt"), &table(90.0 + f64::from(n)), &["--label", "rack3"]);
    }
    place.import("ping.txt", PING, &[]);
    place.import("old.csv", TABLE, &[]);
    place
}

#[test]
fn runs_of_the_history() {
    let place = filled("runs");
    let answer = place.answer("bench-history", &["history"]);
    let runs = list(&answer, "runs");
    let of = |kind: &str| runs.iter().find(|r| r["kind"] == kind).unwrap_or_else(|| panic!("{kind}: {answer:#}"));
    assert_eq!(of("ping")["began"], 1_795_294_324.960_938);
    assert_eq!((of("nccl-tests").get("began"), &of("nccl-tests")["labels"][0]), (None, &Value::from("rack3")));
    assert!(of("series").get("tool").is_none() && of("ping")["tool"] == "ping");
    assert!(runs.iter().all(|r| r.get("session").is_none() && r["snapshots"] == 0));
    assert_eq!(list(&place.answer("bench-history", &["history", "--limit", "2"]), "runs").len(), 2);
    let nothing = place.answer("bench-history", &["history", "--host", "nobody"]);
    assert!(list(&nothing, "runs").is_empty());
    let id = of("ping")["id"].as_str().unwrap();
    let shown = place.answer("bench-runs", &["history", "--show", id]);
    assert_eq!(shown["runs"][0]["id"], id);
}

#[test]
fn bands_of_the_history() {
    let place = filled("bands");
    let answer = place.answer("bench-bands", &["history", "--band"]);
    let bands = list(&answer, "bands");
    let of = |kind: &str, metric: &str| {
        let found = bands.iter().find(|b| b["kind"] == kind && b["metric"] == metric);
        found.unwrap_or_else(|| panic!("{kind} {metric}: {answer:#}"))
    };
    let busbw = of("nccl-tests", "busbw");
    assert_eq!((&busbw["n"], &busbw["size"], &busbw["median"]), (&7.into(), &(1_u64 << 26).into(), &93.0.into()));
    assert_eq!(busbw["median_interval"], serde_json::json!([90.0, 96.0]), "seven runs have one");
    let rtt = of("ping", "rtt");
    assert!(rtt["size"].is_null() && rtt["median_interval"].is_null() && rtt["labels"].as_object().unwrap().is_empty());
    assert!(of("series", "busbw")["tool"].is_null());
    assert!(list(&place.answer("bench-bands", &["history", "--band", "--metric", "none"]), "bands").is_empty());
}

#[test]
fn the_best_of_the_history() {
    let place = filled("best");
    let answer = place.answer("bench-best", &["history", "--best"]);
    let best = list(&answer, "best");
    let busbw: Vec<&Value> = best.iter().filter(|b| b["kind"] == "nccl-tests" && b["metric"] == "busbw").collect();
    let places: Vec<&str> = busbw.iter().filter_map(|b| b["labels"]["place"].as_str()).collect();
    assert_eq!(places.len(), 2, "each place has its own: {places:?}");
    let values: Vec<f64> = list(busbw[0], "best").iter().map(|r| r["value"].as_f64().unwrap()).collect();
    assert_eq!(values, [96.0, 95.0, 94.0]);
    assert!(best.iter().any(|b| b["size"].is_null()) && best.iter().any(|b| b["tool"].is_null()));
    assert!(list(&place.answer("bench-best", &["history", "--best", "--metric", "none"]), "best").is_empty());
}

#[test]
fn targets_and_what_misses_them() {
    let place = filled("targets");
    assert!(list(&place.answer("bench-targets", &["history", "--targets"]), "targets").is_empty());
    let set = |args: &[&str]| {
        let out = place.bench(&[&["history", "--target"], args].concat());
        assert_eq!(out.status.code(), Some(0), "{out:?}");
    };
    set(&["any", "--metric", "busbw", "--high", "309GB/s"]);
    set(&[
        &["fast", "--metric", "busbw", "--low", "750Gb/s", "--kind", "nccl-tests", "--tool", "all_reduce_perf"][..],
        &["--size", "64M", "--param", "ranks=2", "--source", "field note N1"],
    ]
    .concat());
    set(&["odd", "--metric", "busbw", "--kind", "nccl-tests", "--low", "3us"]);
    set(&["slow", "--metric", "busbw", "--kind", "nccl-tests", "--low", "92GB/s"]);
    let answer = place.answer("bench-targets", &["history", "--targets"]);
    let all = list(&answer, "targets");
    assert_eq!(all.len(), 4);
    assert!(all[0]["kind"].is_null() && all[0]["low"].is_null() && all[0]["high"] == 309.0);
    assert_eq!(
        (&all[1]["kind"], &all[1]["size"], &all[1]["params"]["ranks"]),
        (&"nccl-tests".into(), &67_108_864.into(), &"2".into())
    );
    assert_eq!((&all[1]["unit"], &all[1]["source"]), (&"Gb/s".into(), &"field note N1".into()));

    let runs = place.answer("bench-history", &["history"]);
    let id = |source: &str| {
        let run = list(&runs, "runs").iter().find(|r| r["source"].as_str().unwrap().ends_with(source)).unwrap();
        run["id"].as_str().unwrap().to_owned()
    };
    let check = place.answer("bench-check", &["history", "--check", &id("0.txt")]);
    let outcomes = |name: &str| -> Vec<String> {
        let own = list(&check, "targets").iter().filter(|c| c["target"] == name);
        own.map(|c| format!("{} {} {}", c["outcome"].as_str().unwrap(), c["value"], c["unit"].as_str().unwrap()))
            .collect()
    };
    assert_eq!(outcomes("any"), ["within 90.0 GB/s", "within 90.0 GB/s"]);
    assert_eq!(outcomes("slow"), ["below 90.0 GB/s", "below 90.0 GB/s"]);
    assert_eq!(outcomes("odd"), ["not measured null us", "not measured null us"], "a rate is no time");
    let busbw = list(&check, "history").iter().find(|s| s["metric"] == "busbw").unwrap();
    assert_eq!((&busbw["band"]["n"], &busbw["rank"]), (&6.into(), &0.0.into()), "itself is left out");
    assert_eq!(place.bench(&["history", "--check", &id("0.txt"), "--format", "json"]).status.code(), Some(1));
    // The first of its kind has no earlier run to compare with.
    let first = place.answer("bench-check", &["history", "--check", &id("ping.txt")]);
    assert!(list(&first, "targets").is_empty());
    assert!(list(&first, "history").iter().all(|s| s["band"].is_null() && s["rank"].is_null() && s["size"].is_null()));
    assert_eq!(place.bench(&["history", "--check", &id("ping.txt"), "--format", "json"]).status.code(), Some(0));
}

/// A schema that holds everything would hold these, too.
#[test]
fn what_is_no_answer_is_refused() {
    let place = filled("refused");
    for (schema, args, list) in [
        ("bench-history", &["history"][..], "runs"),
        ("bench-bands", &["history", "--band"], "bands"),
        ("bench-best", &["history", "--best"], "best"),
    ] {
        let answer = place.answer(schema, args);
        let members = answer[list][0].as_object().unwrap();
        for name in members.keys() {
            let mut wrong = answer.clone();
            wrong[list][0][name] = serde_json::json!({"nobody": [{}]});
            let is_map = name == "labels" && members[name].is_object();
            assert_eq!(holds(schema, &wrong).is_ok(), is_map, "{schema}: {name}");
        }
        let mut wrong = answer.clone();
        wrong[list][0].as_object_mut().unwrap().remove("metric");
        wrong[list][0].as_object_mut().unwrap().remove("id");
        assert!(holds(schema, &wrong).is_err(), "{schema}");
    }
}
