//! The quick ways read what the general ones read.

use super::{PART, Reader, Run, json, parse};
use crate::bounds::{Limit, NCCL_TESTS_ROWS, beyond};
use proptest::prelude::*;

const HEADER: &str = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong";

/// A number as some program may write it; most are as nccl-tests do.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => (0..1_000_000_000_u64).prop_map(|n| format!("{:.6}", n as f64 / 1000.0)),
        2 => (0..1_000_000_u64).prop_map(|n| n.to_string()),
        1 => prop::sample::select(vec![
            "0", "0.0", "1.5e3", "1E2", "-1.5", "-0", "\"12.5\"", "\"nan\"", "null", "true", "999999999999999", "9999999999999999",
            "123456789.123456789", "0.0000000000000000001", "18446744073709551616", "nan", "inf", "\"N/A\"",
        ])
        .prop_map(str::to_owned),
    ]
}

/// A result, and rarely one that is odd.
fn result() -> impl Strategy<Value = String> {
    let kind = prop_oneof![24 => Just(0_u8), 8 => 1..14_u8];
    (kind, prop::collection::vec(number(), 8), 0..6_u32, number()).prop_map(|(kind, n, size, odd)| {
        let half = |n: &[String]| {
            format!(r#"{{"time":{},"alg_bw":{},"bus_bw":{},"nwrong":{}}}"#, n[0], n[1], n[2], n[3])
        };
        let (out, inside) = (half(&n[..4]), half(&n[4..]));
        let size = 8_u64 << size;
        let usual = format!(
            r#"{{"size":{size},"count":{},"type":"float","redop":"sum","root":"    -1","out_of_place":{out},"in_place":{inside},"actual_iterations":20,"experiment_name":""}}"#,
            size / 4
        );
        match kind {
            1 => usual.replace(r#""size""#, r#""time_of_day":"1:2","size""#),
            2 => format!(r#"{{"root":"0","redop":"none","type":"half","in_place":{inside},"out_of_place":{out},"count":1,"size":{odd}}}"#),
            3 => usual.replace(r#""experiment_name":"""#, r#""more":[{"a":null}]"#),
            4 => usual.replace(&format!(r#","in_place":{inside}"#), ""),
            5 => usual.replace(&inside, "null"),
            6 => usual.replace(',', " ,\n").replace(':', "\t: "),
            7 => usual.replace("float", "bfloat16"),
            8 => usual.replace("flo", "fl\\u006f"),
            9 => usual.replace(r#","nwrong""#, r#","cpu_time":3.5,"nwrong""#),
            10 => usual.replace(r#""in_place""#, r#""in_place_per_iter":{"min_us":1,"max_us":3.0,"p99_us":2.5,"cv_pct":1.5},"in_place""#),
            11 => usual.replace(r#""    -1""#, "0"),
            12 => usual.replace(r#""alg_bw""#, r#""alg_bW""#),
            13 => format!(r#"{{"size":{odd}}}"#),
            _ => usual,
        }
    })
}

/// What breaks a list: it is no JSON, or no list of results.
fn broken() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "{}}",
        "{\"size\":8,\"size\":8}",
        "{\"size\":012}",
        "{\"size\":1.}",
        "[",
        "",
        "{\"size\":.5}",
        "7",
        "{\"size\":{}}",
        "{\"out_of_place\":3}",
        "{\"type\":4}",
    ])
}

/// What the general reader makes of a document.
fn general(text: &str) -> Vec<Run> {
    let lines = (1, u32::try_from(text.trim_end().lines().count()).unwrap());
    json::general(text, lines).unwrap_or_else(|e| {
        let mut run = Run { lines, ..Run::default() };
        run.refused.push(e.line, e.why);
        vec![run]
    })
}

fn line() -> impl Strategy<Value = String> {
    let row = |n: u32| {
        format!(
            "{:>12} {:>13}     float     sum      -1 {:>8}.50    0.10    0.15      0    20.00    0.05    0.07    N/A",
            8 << (n % 9),
            2,
            n
        )
    };
    prop_oneof![
        40 => (0..90_000_u32).prop_map(row),
        1 => (0..90_u32).prop_map(move |n| row(n).replace("float", "half ")),
        // In two halves, with another's line between them or without.
        2 => (0..90_u32, 50..90_usize).prop_map(move |(n, at)| row(n).split_at(at).0.to_owned()),
        2 => (0..90_u32, 50..90_usize).prop_map(move |(n, at)| row(n).split_at(at).1.to_owned()),
        1 => Just("alpha:12:34 [0] NCCL INFO Connected all rings".to_owned()),
        1 => Just("        1024           256     float     sum      -1    x y z 0 x y z 0".to_owned()),
        1 => Just("# Avg bus bandwidth    : 1".to_owned()),
        1 => Just(HEADER.to_owned()),
        1 => Just("a: Test CUDA failure common.cu:1 'x'".to_owned()),
        1 => Just(String::new()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn of_documents(
        before in prop::collection::vec(result(), 0..4 * PART), break_it in prop::option::weighted(0.2, broken()),
        behind in prop::collection::vec(result(), 0..PART), end in prop::sample::select(vec!["", "", "", "\n", " x", "{}"]),
    ) {
        let list: Vec<&str> = before.iter().map(String::as_str).chain(break_it).chain(behind.iter().map(String::as_str)).collect();
        let text = format!(
            r#"{{"args":["./all_reduce_perf"],"nccl_version":22807,"config":{{}},"results":[{}],"end_time":""}}{end}"#,
            list.join(",")
        );
        prop_assert_eq!(parse(text.as_bytes()), general(&text), "{}", text);
    }

    #[test]
    fn of_tables(lines in prop::collection::vec(line(), 0..8 * PART)) {
        let text = format!("{HEADER}\n{}", lines.join("\n"));
        let mut reader = Reader::default();
        (1..).zip(text.lines()).for_each(|(number, line)| reader.line(number, line.as_bytes()));
        prop_assert_eq!(parse(text.as_bytes()), reader.finish(), "{}", text);
    }
}

#[test]
fn no_more_rows_than_are_kept() {
    let row = "           8             2     float     sum      -1    20.00    0.00    0.00      0    20.17    0.00    0.00      0\n";
    for many in [NCCL_TESTS_ROWS - 1, NCCL_TESTS_ROWS, NCCL_TESTS_ROWS + 1, NCCL_TESTS_ROWS + PART, 2 * NCCL_TESTS_ROWS]
    {
        let runs = parse(format!("{HEADER}\n{}{HEADER}\n{row}", row.repeat(many)).as_bytes());
        let kept: Vec<_> = runs.iter().map(|r| (r.rows.len(), beyond(&r.left_out, Limit::NCCL_TESTS_ROWS))).collect();
        assert_eq!(kept, [(many.min(NCCL_TESTS_ROWS), many.saturating_sub(NCCL_TESTS_ROWS) as u64), (1, 0)], "{many}");
    }
}
