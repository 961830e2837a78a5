//! Runs of nccl-tests that are so long that they come in parts: nothing is lost, reported twice, or left over for the next run.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // helpers of tests, outside of test functions

use linerate_bench::Run;
use linerate_bench::import::import;

const HEADER: &str = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n";
/// Several parts.
const ROWS: usize = 5000;

fn row(n: usize, dtype: &str, wrong: &str) -> String {
    format!(
        "{:>12} {n:>13} {dtype:>9}     sum      -1 {n:>6}.50    1.25    2.50      0    20.00    0.05    0.07 {wrong:>6}\n",
        8 * n
    )
}

/// Values of the times out of place, and their sizes.
fn times(run: &Run) -> Vec<(f64, Option<u64>)> {
    let series = run.series.iter().filter(|s| s.metric.name == "time" && s.labels[0].value == "out-of-place");
    series.flat_map(|s| s.points.iter().map(|p| (p.value, p.size))).collect()
}

#[test]
fn tables() {
    let rows: String = (1..=ROWS)
        .map(|n| {
            row(
                n,
                if n <= 3000 { "float" } else { "half" },
                ["0", "N/A", "7"][usize::from(n % 700 == 0) + 2 * usize::from(n % 1100 == 0)],
            )
        })
        .collect();
    let found =
        import("x", format!("{HEADER}{rows}# Avg bus bandwidth    : 1\n{HEADER}{}", row(1, "float", "0")).as_bytes());
    let [run, next] = &found.runs[..] else { panic!("{} runs", found.runs.len()) };
    assert_eq!(times(run), (1..=ROWS).map(|n| (n as f64 + 0.5, Some(8 * n as u64))).collect::<Vec<_>>());
    assert_eq!((run.series.len(), run.points()), (12, 6 * ROWS));
    assert_eq!((run.params.contains_key("dtype"), run.params.contains_key("redop")), (false, true));
    // The header is the first line.
    assert_eq!(run.faults.iter().map(|f| f.line).collect::<Vec<_>>(), [1101, 2201, 3301, 4401].map(Some));
    assert!(run.notes.iter().any(|n| n.what.starts_with("results of 7 sizes were not checked")), "{:?}", run.notes);
    assert!(!run.notes.iter().any(|n| n.what.contains("summary is missing")));
    assert_eq!((next.points(), next.faults.len(), next.params.contains_key("dtype")), (6, 0, true));
}

#[test]
fn documents() {
    let result = |n: usize| {
        let half = format!(r#"{{"time":{n}.500000,"alg_bw":1.25,"bus_bw":2.5,"nwrong":0.000000}}"#);
        format!(
            r#"{{"size":{},"count":{n},"type":"float","redop":"sum","root":"    -1","out_of_place":{half},"in_place":{half}}}"#,
            8 * n
        )
    };
    let import = |list: Vec<String>| {
        let text = format!(
            r#"{{"args":["./all_reduce_perf"],"nccl_version":22807,"config":{{}},"results":[{}]}}"#,
            list.join(",")
        );
        import("x", text.as_bytes())
    };
    let all: Vec<_> = (1..=ROWS).map(|n| (n as f64 + 0.5, Some(8 * n as u64))).collect();
    let usual: Vec<String> = (1..=ROWS).map(result).collect();
    let found = import(usual.clone());
    assert_eq!((times(&found.runs[0]), found.runs[0].points()), (all.clone(), 6 * ROWS));
    // What is no JSON makes the general reader begin again.
    let mut odd = usual.clone();
    odd[ROWS - 100] = odd[ROWS - 100].replace("2.5,", "inf,");
    odd.push(
        r#"{"size":8,"count":2,"type":"float","out_of_place":{"time":1.5,"alg_bw":1,"bus_bw":2,"nwrong":null}}"#
            .to_owned(),
    );
    let found = import(odd);
    let mut left = all;
    left.remove(ROWS - 100);
    left.push((1.5, Some(8)));
    assert_eq!((times(&found.runs[0]), found.runs[0].points(), found.refused.len()), (left, 6 * (ROWS - 1) + 3, 2));
    assert_eq!(found.runs[0].notes.iter().filter(|n| n.what.starts_with("results of 1 sizes")).count(), 1);
    // A broken document leaves none of its rows.
    let mut broken = usual;
    broken.push("{]".to_owned());
    let found = import(broken);
    assert!(found.runs.is_empty() && !found.refused.is_empty(), "{:?}", found.refused);
}
