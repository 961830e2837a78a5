use super::*;
use crate::bounds::Limit;
use crate::error::Why;
use crate::text::At;
use crate::units::{Bytes, GBps};

const TEXT: &str = "$ ./nvbandwidth -b 512 --testSamples=10 -m
nvbandwidth Version: v0.8
Built from Git version: v0.8

NOTE: You have chosen a buffer size that is smaller than the default buffer size.
CUDA Runtime Version: 13000
CUDA Driver Version: 13000
Driver Version: 580.95.05

node-a
Device 0: NVIDIA A (00000000:34:00)
Device 1: NVIDIA A (00000000:35:00)

Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     55.10     54.90

SUM host_to_device_memcpy_ce 110.00

Waived: 
Running device_to_device_bidirectional_memcpy_read_ce.
memcpy CE GPU(row) <-> GPU(column) Read1 bandwidth (GB/s)
           0         1
 0       N/A     20.00
 1     21.00       N/A

SUM device_to_device_bidirectional_memcpy_read_ce_read1 41.00

memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)
           0         1
 0       N/A     40.00
 1     41.00       N/A

SUM device_to_device_bidirectional_memcpy_read_ce_total 81.00
COEFFICIENT_OF_VARIATION device_to_device_bidirectional_memcpy_read_ce_total 0.02

Running host_device_latency_sm.
memory latency SM CPU(row) <-> GPU(column) (ns)
           0         1
 0    772.58    773.58

SUM host_device_latency_sm 1546.16

Running device_local_copy.
 Invalid value when checking the pattern at 0x70a640000000
ASSERT in expression h_errorFlag == 0 in void f() : memcpy.cpp:165
";

#[test]
fn text_of_today() {
    let runs = parse(TEXT.as_bytes());
    assert_eq!(runs.len(), 1, "{runs:#?}");
    let run = &runs[0];
    assert_eq!(run.version.as_ref().map(|v| (v.value.as_str(), v.line)), Some(("v0.8", 2)));
    assert_eq!(run.cuda, Some(At::new(13000, 6)));
    assert_eq!(run.driver.as_ref().map(|d| d.value.as_str()), Some("580.95.05"));
    assert_eq!(run.host.as_ref().map(|h| h.value.as_str()), Some("node-a"));
    assert_eq!(
        (run.buffer, run.samples, run.is_mean),
        (Some(At::new(Bytes(512 << 20), 1)), Some(At::new(10, 1)), Some(At::new(true, 1)))
    );
    assert_eq!(run.devices.len(), 2);
    assert_eq!(run.devices[1].bus_id.as_deref(), Some("00000000:35:00"));
    assert_eq!((run.waived, run.notes.len()), (1, 1));
    let names: Vec<_> =
        run.tests.iter().map(|t| (t.name.as_deref().unwrap_or(""), t.status, t.matrices.len())).collect();
    assert_eq!(
        names,
        [
            ("host_to_device_memcpy_ce", Status::Passed, 1),
            ("device_to_device_bidirectional_memcpy_read_ce", Status::Passed, 2),
            ("host_device_latency_sm", Status::Passed, 1),
            ("device_local_copy", Status::Failed, 0),
        ]
    );
    let total = &run.tests[1].matrices[1];
    assert_eq!(total.values, Values::Bandwidth(vec![None, Some(GBps(40.0)), Some(GBps(41.0)), None]));
    assert_eq!((total.sum, total.variation, total.is_whole), (Some(81.0), Some(0.02), true));
    assert_eq!(total.cells().nth(2), Some(("1", "0", Some(41.0))));
    let latency = &run.tests[2].matrices[0];
    assert_eq!(latency.values, Values::Latency(vec![Some(Nanoseconds(772.58)), Some(Nanoseconds(773.58))]));
    assert_eq!(run.failures.len(), 2);
    assert_eq!(run.failures[0].test.as_deref(), Some("device_local_copy"));
    assert!(run.refused.is_empty(), "{:?}", run.refused);
}

#[test]
fn older_and_other_forms() {
    // 0.1: waived tests have names, pairs that were not measured are zero.
    let runs = parse(b"nvbandwidth Version: v0.1\nWaiving all_to_one_write_ce.\n\nRunning device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n          0         1\n0      0.00    276.07\n1    276.19      0.00\n\nSUM device_to_device_memcpy_read_ce 552.26\n");
    assert_eq!(runs[0].tests[0].status, Status::Waived);
    assert_eq!(runs[0].tests[1].matrices[0].values.numbers().flatten().count(), 2);
    assert!(runs[0].tests[1].matrices[0].is_whole);
    // Sums alone.
    let runs = parse(b"SUM host_to_device_memcpy_ce 845.90\nSUM host_device_latency_sm 1546.16\n&&&& PERF device_to_host_memcpy_ce 773.99+GB/s\n");
    let sums: Vec<_> =
        runs[0].tests.iter().map(|t| (t.matrices[0].sum, matches!(t.matrices[0].values, Values::Latency(_)))).collect();
    assert_eq!(sums, [(Some(845.9), false), (Some(1546.16), true), (Some(773.99), false)]);
    assert!(runs[0].tests.iter().all(|t| !t.matrices[0].is_whole));
    // Several nodes.
    let runs = parse(b"nvbandwidth Version: v0.8\nProcess  0 (alpha): device 0: NVIDIA GB200 (00000008:01:00)\nProcess 12 (beta): device 3: NVIDIA GB200 (00000008:01:00)\n");
    assert_eq!(runs[0].devices[1].index, 12);
    assert_eq!(runs[0].devices[1].host.as_deref(), Some("beta"));
}

#[test]
fn cut_and_broken_tables() {
    let head = "Running host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n";
    for (rows, cells, why) in [
        (" 0     55.10     54.9", 0, "may be cut"),
        (" 0     55.10\n", 0, "1 cells"),
        (" 0     55.10     54.90\n\nSUM host_to_device_memcpy_ce 220.00\n", 2, "do not add up"),
        (" 0     55.10     nan\n", 0, "not a measurement"),
        (" 0     55.10     inf\n 1  1.00  2.00\n", 2, "not a measurement"),
    ] {
        let runs = parse(format!("{head}{rows}").as_bytes());
        let all: Vec<_> = runs[0].tests.iter().flat_map(|t| &t.matrices).collect();
        assert_eq!(all.iter().map(|m| m.values.len()).sum::<usize>(), cells, "{rows}: {runs:#?}");
        assert!(all.iter().all(|m| !m.is_whole), "{rows}");
        assert!(runs[0].refused.kept.iter().any(|r| r.why.to_string().contains(why)), "{rows}: {:?}", runs[0].refused);
    }
    // Ended before any row.
    let runs = parse(head.as_bytes());
    assert_eq!(runs[0].tests[0].status, Status::Unfinished);
}

#[test]
fn json() {
    let text = r#"mpirun noise
{
  "nvbandwidth" : {
    "CUDA Runtime Version" : 12040, "Driver Version" : "550.54.15", "git_version" : "v0.7", "version" : "v0.7",
    "GPU Device list" : [ "0: NVIDIA A (00000000:34:00): (alpha)" ],
    "testcases" : [
      { "name" : "host_to_device_memcpy_ce", "status" : "Passed", "bandwidth_description" : "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)", "bandwidth_matrix" : [ [ "55.1234", "54.9" ] ], "sum" : 110.0234 },
      { "name" : "device_to_device_bidirectional_memcpy_read_ce", "status" : "Passed", "bandwidth_description" : "memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)",
        "bandwidth_matrix" : [ ["N/A","20"],["21","N/A"], ["N/A","20"],["20","N/A"], ["N/A","40"],["41","N/A"] ], "sum" : 81.0 },
      { "name" : "device_to_device_memcpy_read_ce", "status" : "Waived" },
      { "name" : "device_local_copy", "status" : "Error", "error" : "it broke" }
    ]
  }
}
"#;
    let runs = parse(text.as_bytes());
    assert_eq!(runs.len(), 1, "{runs:#?}");
    let run = &runs[0];
    assert_eq!((run.format, run.lines, run.waived), (Format::Json, (2, 14), 1));
    assert_eq!(run.devices[0].host.as_deref(), Some("alpha"));
    assert!(run.tests[0].matrices[0].is_whole);
    let three: Vec<_> =
        run.tests[1].matrices.iter().map(|m| (m.key.as_deref().unwrap_or(""), m.sum, m.values.len())).collect();
    assert_eq!(
        three,
        [
            ("device_to_device_bidirectional_memcpy_read_ce_read1", None, 4),
            ("device_to_device_bidirectional_memcpy_read_ce_read2", None, 4),
            ("device_to_device_bidirectional_memcpy_read_ce_total", Some(81.0), 4),
        ]
    );
    assert_eq!(run.failures[0].text, "it broke");
    // Cut in the middle.
    let cut = parse(&text.as_bytes()[..600]);
    assert!(cut[0].tests.is_empty() && matches!(cut[0].refused.kept[0].why, Why::Missing(_)), "{cut:#?}");
}

#[test]
fn other_programs_are_not_read() {
    for text in [
        "Running tests.\n",
        "SUM total 3\n",
        "{\n\"a\": 1\n}\n",
        "Device 0: x\n",
        "ERROR: x\n",
        "memcpy is fast (GB/s)\n",
    ] {
        assert!(parse(text.as_bytes()).is_empty(), "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn never_panics(bytes: Vec<u8>) {
        let _ = parse(&bytes);
    }

    #[test]
    fn never_panics_on_likely_lines(lines in proptest::collection::vec(proptest::sample::select(TEXT.lines().chain([
        "{", "{\"nvbandwidth\":{", "\"testcases\":[{\"bandwidth_matrix\":[[\"1\"],[]],\"bandwidth_description\":\"x (ns)\",\"sum\":1}]", "}", "}}", " 0 1 2 3", " 0 nan",
    ]).collect::<Vec<_>>()), 0..40)) {
        for run in parse(lines.join("\n").as_bytes()) {
            for m in run.tests.iter().flat_map(|t| &t.matrices) {
                proptest::prop_assert_eq!(m.values.len(), m.rows.len() * m.columns.len());
            }
        }
    }
}

/// A matrix of 512 GPUs has more cells than are kept: its sum remains, and what is left out is said.
#[test]
fn cells_beyond_the_limit_leave_the_sum() {
    let n = 512;
    let mut text = String::from(
        "nvbandwidth Version: v0.8\nRunning device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n",
    );
    let head: Vec<String> = (0..n).map(|i| i.to_string()).collect();
    text.push_str(&format!("    {}\n", head.join(" ")));
    for row in 0..n {
        text.push_str(&format!("{row} {}\n", vec!["1.00"; n].join(" ")));
    }
    text.push_str(&format!("\nSUM device_to_device_memcpy_read_ce {}.00\n", n * n));
    let runs = parse(text.as_bytes());
    let m = &runs[0].tests[0].matrices[0];
    assert!(m.is_whole && m.values.is_empty() && m.rows.is_empty());
    assert_eq!(m.sum, Some((n * n) as f64));
    assert_eq!(runs[0].left_out.len(), 1);
    assert_eq!(runs[0].left_out[0].limit, Limit::NVBANDWIDTH_CELLS);
}
