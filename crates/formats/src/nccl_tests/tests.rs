use super::*;
use crate::bounds::{NCCL_TESTS_RUNS, REFUSALS, beyond};
use crate::error::Why;
use crate::units::{Bytes, GBps, Microseconds};

fn one(text: &str) -> Run {
    let mut runs = parse(text.as_bytes());
    assert_eq!(runs.len(), 1, "{runs:#?}");
    runs.remove(0)
}

/// Time, algorithm and bus bandwidth of a measurement.
fn numbers(m: Option<Measure>) -> Option<(f64, f64, f64)> {
    m.map(|m| (m.time.0, m.algbw.0, m.busbw.0))
}

const NEW: &str = "\
# nccl-tests version 2.19.1 nccl-headers=22903 nccl-library=23007
# Collective test starting: all_gather_perf
# nThread 1 nGpus 2 minBytes 1024 maxBytes 2048 step: 1024(bytes) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using devices
#  Rank  0 Group  0 Pid    411 on      alpha device  0 [0000:0a:00] NVIDIA Test 1
#  Rank  1 Group  0 Pid    411 on      alpha device  1 [0001:0b:00] NVIDIA Test 1
NCCL version 2.30.7+cuda13.1
#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong           timestamp
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)           %Y-%m-%d %H:%M:%S
        1024           128     float    none      -1    10.50    0.10    0.05       0    11.25    0.09    0.04   1e+06  2026-01-02 03:04:05
        2048           256     float    none      -1    12.00    0.17    0.08     N/A    12.50    0.16    0.08     N/A  2026-01-02 03:04:06
# Out of bounds values : 1000000 FAILED
# Avg bus bandwidth    : 0.0625 
#
# Collective test concluded: all_gather_perf
";

#[test]
fn the_newest_table() {
    let run = one(NEW);
    assert_eq!(run.tool, Some(Tool::NcclTests));
    assert_eq!((run.compiled_with, run.library), (Some(22903), Some(23007)));
    assert_eq!(run.library_text.clone().map(|t| t.value).as_deref(), Some("2.30.7+cuda13.1"));
    assert_eq!(run.collective.map(|c| (c.value, c.line)), Some((Collective::AllGather, 2)));
    let p = run.params.map(|p| p.value).unwrap_or_default();
    assert_eq!((p.threads, p.gpus, p.min, p.max), (Some(1), Some(2), Some(Bytes(1024)), Some(Bytes(2048))));
    assert_eq!(
        (p.step, p.warmup_iters, p.iters, p.agg_iters),
        (Some(Step::Bytes(Bytes(1024))), Some(1), Some(20), Some(1))
    );
    assert_eq!((p.validation, p.graph, p.unalign), (Some(1), Some(0), Some(0)));
    let [first, second] = &run.ranks[..] else { panic!("{:?}", run.ranks) };
    assert_eq!((first.rank, first.group, first.pid, first.host.as_deref()), (0, Some(0), Some(411), Some("alpha")));
    assert_eq!(second.bus_id, Some(BusId { domain: Some(1), bus: 0x0b, device: Some(0), function: None }));
    assert_eq!(second.name, "NVIDIA Test 1");
    let [a, b] = &run.rows[..] else { panic!("{:?}", run.rows) };
    assert_eq!((a.line, a.size, a.count, a.redop.as_deref(), a.root), (13, Bytes(1024), Some(128), None, None));
    assert_eq!(numbers(a.out_of_place), Some((10.5, 0.1, 0.05)));
    assert_eq!(a.in_place.map(|m| m.errors), Some(Errors::Wrong(1_000_000)));
    assert_eq!(b.in_place.map(|m| m.errors), Some(Errors::NotChecked));
    assert_eq!(run.out_of_bounds.map(|o| (o.value.count, o.value.ok)), Some((1_000_000, false)));
    assert_eq!(run.average.map(|a| (a.value.busbw, a.value.ok)), Some((GBps(0.0625), None)));
    assert_eq!((run.lines, run.copies, run.refused.kept.len()), ((1, 16), 1, 0));
    assert_eq!(run.largest().map(|r| r.size), Some(Bytes(2048)));
}

#[test]
fn every_release_has_its_columns() {
    // Header, row, then size, reduction, root, and the first measurement.
    let cases = [
        // 2017: milliseconds, one measurement, a root.
        (
            "#      bytes             N    type    root     time  algbw  busbw      res",
            "        4096          1024   float       3    0.050   0.08   0.08    0e+00",
            None,
            Some(3),
            (50.0, 0.08, 0.08),
            false,
        ),
        // 2.0 … 2.11: an error instead of wrong elements; AllGather names no reduction.
        (
            "#       size         count    type     time   algbw   busbw  error     time   algbw   busbw  error",
            "        4096          1024   float    50.00    0.08    0.04  2e-07    40.00    0.10    0.05    N/A",
            None,
            None,
            (50.0, 0.08, 0.04),
            true,
        ),
        // AlltoAll of 2.7 … 2.11 has the heading and blanks below it.
        (
            "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error",
            "        4096          1024   float            50.00    0.08    0.04  0e+00    40.00    0.10    0.05    N/A",
            None,
            None,
            (50.0, 0.08, 0.04),
            true,
        ),
        (
            "#       size         count      type   redop    root  cputime   algbw   busbw #wrong  cputime   algbw   busbw #wrong",
            "        4096          1024  bfloat16     avg       0    50.00    0.08    0.04      0    40.00    0.10    0.05      0",
            Some("avg"),
            Some(0),
            (50.0, 0.08, 0.04),
            true,
        ),
    ];
    for (header, row, redop, root, first, has_second) in cases {
        let run = one(&format!("{header}\n{row}\n"));
        let [r] = &run.rows[..] else { panic!("{header}: {run:#?}") };
        assert_eq!((r.size, r.count, r.redop.as_deref(), r.root), (Bytes(4096), Some(1024), redop, root), "{header}");
        assert_eq!((numbers(r.out_of_place), r.in_place.is_some()), (Some(first), has_second), "{header}");
        assert_eq!(run.is_cpu_time, header.contains("cputime"));
    }
}

#[test]
fn without_a_header_only_what_is_unmistakable() {
    let two = one("  128  32  float  sum  87.60  0.50  0.75  1e-06  89.76  0.25  0.40  N/A\n");
    assert_eq!(two.rows.first().and_then(|r| r.out_of_place).map(|m| m.errors), Some(Errors::Delta(Delta(1e-6))));
    assert_eq!(two.rows.first().and_then(|r| r.in_place).map(|m| m.time), Some(Microseconds(89.76)));
    let one_measure = one("  128  32  float  sum  -1  87.60  0.50  0.75  3\n");
    assert_eq!(one_measure.rows.first().and_then(|r| r.out_of_place).map(|m| m.errors), Some(Errors::Wrong(3)));
    let no_errors = one("  128  32  float  sum  87.60  0.50  0.75\n");
    assert_eq!((no_errors.rows.len(), no_errors.refused.kept.len()), (0, 1));
    assert!(parse(b"12 34 apples 5 6 7 8\n1 2 3 4 5 6 7 8\n").is_empty());
}

#[test]
fn per_iteration_columns_and_in_place_alone() {
    let run = one("\
#                                                               out-of-place (+ per-iteration)                                in-place (+ per-iteration)
#       size         count      type   redop    root     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%     time   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%
           8             2     float     sum      -1     9.00    0.00    0.00       0     8.00    12.00    11.00     2.50     7.00    0.00    0.00       0     6.00     9.00     8.50     1.25
");
    let each = run.rows.first().and_then(|r| r.per_iteration(true));
    assert_eq!(each.map(|e| (e.min.0, e.max.0, e.p99.0, e.cv.0)), Some((6.0, 9.0, 8.5, 1.25)));
    // rccl-tests -O 0.
    let run = one("\
#                                                              in-place          
#       size         count      type   redop    root     time   algbw   busbw #wrong
           8             2     float     sum      -1     9.00    0.10    0.20      0
");
    assert_eq!(run.rows.first().map(|r| (r.out_of_place.is_some(), r.in_place.is_some())), Some((false, true)));
    // A replayed trace leaves the first measurement blank.
    let blank = " ".repeat(32);
    let run = one(&format!(
        "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n\
         8  2  float  sum  -1{blank}  9.00  0.10  0.20  0\n"
    ));
    assert_eq!(run.rows.first().map(|r| (r.out_of_place.is_some(), r.in_place.is_some())), Some((false, true)));
}

const HEADER: &str = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong";
const ROW: &str = "        1024           256     float     sum      -1    10.00    0.10    0.15      0    20.00    0.05    0.07      0";

#[test]
fn tags_of_launchers() {
    for tag in [
        "0: ",
        "[1,0]<stdout>:",
        "[1,0]<stdout>: ",
        "[prterun-a-1@1,0]<stdout>: ",
        "[pod/launcher-0/mpi] ",
        "2026-01-02T03:04:05.678Z ",
        "2026-01-02T03:04:05.678901234Z stdout F ",
        "launcher-1  | ",
        "> ",
        "\x1b[32mlauncher\x1b[0m >> ",
        "job.7/launcher: ",
    ] {
        let text: String = NEW.lines().map(|l| format!("{tag}{l}\n")).collect();
        let run = one(&text);
        assert_eq!((run.rows.len(), run.ranks.len(), run.refused.kept.len()), (2, 2, 0), "{tag:?}");
        assert_eq!(run.rows.first().and_then(|r| numbers(r.out_of_place)), Some((10.5, 0.1, 0.05)), "{tag:?}");
        assert!(run.average.is_some() && run.params.is_some() && run.version.is_some(), "{tag:?}");
    }
    // Sizes of twelve digits touch the tag.
    let run = one(&format!(
        "[1,0]<stdout>:{HEADER}\n[1,0]<stdout>:137438953472   34359738368     float     sum      -1   300000  458.13  859.00      0   300001  458.12  858.98      0\n"
    ));
    assert_eq!(run.rows.first().map(|r| r.size), Some(Bytes(137_438_953_472)));
}

#[test]
fn rows_broken_by_the_log_are_joined() {
    let first = "        1024           256     float     sum      -1";
    let rest = "    10.00    0.10    0.15      0    20.00    0.05    0.07      0";
    for text in [
        format!(
            "{HEADER}\n{first}alpha:12:34 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\nalpha:12:34 [0] NCCL INFO Connected all rings\n{rest}\n"
        ),
        format!("{HEADER}\n{first}\nalpha:12:34 [0] NCCL INFO Connected all rings\n{rest}\n"),
        format!(
            "{HEADER}\n{first}    10.00    0.10    0.15      0alpha:12:34 [0] NCCL INFO x\n    20.00    0.05    0.07      0\n"
        ),
        format!("{HEADER}\nalpha:12:34 [0] NCCL INFO Launch mode Parallel\n{ROW}\n"),
    ] {
        let run = one(&text);
        let [row] = &run.rows[..] else { panic!("{text}\n{run:#?}") };
        assert_eq!(numbers(row.out_of_place), Some((10.0, 0.1, 0.15)), "{text}");
        assert_eq!(numbers(row.in_place), Some((20.0, 0.05, 0.07)), "{text}");
        assert!(run.refused.is_empty(), "{text}");
    }
}

#[test]
fn failures_end_rows_and_are_kept() {
    let run = one(&format!(
        "{HEADER}\n{ROW}\n\
        2048           512     float     sum      -1    12.00    0.17    0.25      0alpha: Test NCCL failure common.cu:303 'remote process exited or there was a network error / NET/IB : Got completion'\n \
        .. alpha pid 411: Test failure common.cu:401\n\
        beta: Test CUDA failure common.cu:958 'out of memory'\n\
        gamma: Test timeout (60s) common.cu:523\n\
        alpha:12:34 [0] misc/cudawrap.cc:99 NCCL WARN Cuda failure 2 'out of memory'\n\
        # error: no device function\n"
    ));
    let kinds: Vec<_> =
        run.failures.iter().map(|f| (f.kind, f.host.as_deref(), f.source.as_ref().map(|s| s.1))).collect();
    assert_eq!(
        kinds,
        [
            (FailureKind::Nccl, Some("alpha"), Some(303)),
            (FailureKind::Propagated, Some("alpha"), Some(401)),
            (FailureKind::Cuda, Some("beta"), Some(958)),
            (FailureKind::Timeout, Some("gamma"), Some(523)),
            (FailureKind::LastError, None, None),
        ],
        "{:#?}",
        run.failures
    );
    assert!(
        run.failures
            .first()
            .is_some_and(|f| f.message.starts_with("remote process exited") && f.message.ends_with("completion"))
    );
    let [_, cut] = &run.rows[..] else { panic!("{run:#?}") };
    assert_eq!((numbers(cut.out_of_place), cut.in_place), (Some((12.0, 0.17, 0.25)), None));
    assert!(run.refused.is_empty(), "{:?}", run.refused);
}

#[test]
fn several_runs_in_one_text() {
    let text = format!(
        "$ mpirun -np 2 ./build/all_reduce_perf -b 1K\n{HEADER}\n{ROW}\n# Avg bus bandwidth    : 1\n$ ./sendrecv_perf\n{HEADER}\n{ROW}\n{NEW}"
    );
    let runs = parse(text.as_bytes());
    let collectives: Vec<_> = runs.iter().map(|r| r.collective.map(|c| c.value)).collect();
    assert_eq!(collectives, [Some(Collective::AllReduce), Some(Collective::SendRecv), Some(Collective::AllGather)]);
    assert_eq!(runs.iter().map(|r| r.rows.len()).collect::<Vec<_>>(), [1, 1, 2]);
}

#[test]
fn processes_without_mpi_are_one_mixed_run() {
    let params = "# nThread 1 nGpus 1 minBytes 8 maxBytes 128 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0";
    let rank = |pid: u32| format!("#  Rank  0 Group  0 Pid {pid} on alpha device  0 [0000:0a:00] GPU");
    let run = one(&format!("{params}\n{params}\n{}\n{}\n{HEADER}\n{HEADER}\n{ROW}\n{ROW}\n", rank(7), rank(8)));
    assert_eq!((run.copies, run.ranks.len(), run.rows.len(), run.ran_alone()), (2, 2, 2, true));
    assert!(!one(NEW).ran_alone());
}

#[test]
fn rccl_tests() {
    let run = one(&format!(
        "\
# nThreads: 1 nGpus: 8 nRanks: 2 minBytes: 8 maxBytes: 64 step: 2(factor) warmupIters: 5 iters: 20 validation: 1 
rccl-tests: Version develop:0123456
# Using devices
#   Rank  0 Pid  77 on      alpha device  0 [0000:c1:00.0] AMD Instinct
RCCL version : 2.22.3-HEAD:abc
{HEADER}
{ROW}
# Errors with asterisks indicate errors that have exceeded the maximum threshold.
"
    ));
    assert_eq!((run.tool, run.version.map(|v| v.value)), (Some(Tool::RcclTests), Some("develop:0123456".to_owned())));
    let p = run.params.map(|p| p.value).unwrap_or_default();
    assert_eq!((p.gpus, p.ranks_per_gpu, p.warmup_iters, p.step), (Some(8), Some(2), Some(5), Some(Step::Factor(2))));
    assert_eq!(run.ranks.first().and_then(|r| r.bus_id).and_then(|b| b.function), Some(0));
    assert_eq!(run.library_text.map(|t| t.value).as_deref(), Some("2.22.3-HEAD:abc"));
    assert_eq!(run.rows.len(), 1);

    let runs = parse(br#"[{"numCycle":0, "name":"AllReduce", "ranks":2, "size":64, "type":"float", "redop":"sum", "inPlace":0, "time":10.5, "algBw":1.0, "busBw":1.5, "wrong":"0"},
 {"numCycle":0, "name":"AllReduce", "ranks":2, "size":64, "type":"float", "redop":"sum", "inPlace":1, "time":9.5, "algBw":1.25, "busBw":1.75, "wrong":"N/A"},
 {"numCycle":0, "name":"AllGather", "ranks":2, "size":64, "type":"float", "redop":"none", "inPlace":1, "time":9.5, "algBw":1.25}]"#);
    let [reduce, gather] = &runs[..] else { panic!("{runs:#?}") };
    let [row] = &reduce.rows[..] else { panic!("{reduce:#?}") };
    assert_eq!(row.out_of_place.map(|m| m.errors), Some(Errors::Wrong(0)));
    assert_eq!(row.in_place.map(|m| (m.busbw, m.errors)), Some((GBps(1.75), Errors::NotChecked)));
    assert_eq!((gather.rows.len(), gather.refused.kept.len()), (0, 1));
}

#[test]
fn json() {
    let text = r#"{"version":3,"start_time":"2026-01-02 03:04:05","args":["./build/reduce_scatter_perf","-J","x"],"env":["NCCL_DEBUG=INFO","HOME=/root"],"nccl_version":23007,"config":{"nthreads":1,"ngpus":1,"minimum_bytes":8,"maximum_bytes":16,"step_factor":2,"warmup_iters":1,"iterations":20,"aggregated_iterations":1,"validation":1,"graph":0,"devices":[{"rank":0,"group":0,"pid":5,"hostname":"alpha","device":0,"device_hex":"0000:0a:00","device_info":"GPU"}]},"results":[{"size":16,"count":4,"type":"float","redop":"sum","root":"    -1","out_of_place":{"time":10.500000,"alg_bw":1.000000,"bus_bw":0.500000,"nwrong":0.000000},"in_place":{"time":"nan","alg_bw":0.0,"bus_bw":0.0,"nwrong":null},"actual_iterations":20,"experiment_name":""}],"out_of_bounds":{"count":0,"okay":"true"},"average_bus_bandwidith":{"bandwidith":0.500000,"okay":"unchecked"},"errors":[""],"end_time":"2026-01-02 03:04:06"}"#;
    let run = one(text);
    assert_eq!(run.collective.map(|c| c.value), Some(Collective::ReduceScatter));
    assert_eq!((run.library, run.env.len(), run.ranks.len(), run.failures.len()), (Some(23007), 1, 1, 0));
    let [row] = &run.rows[..] else { panic!("{run:#?}") };
    assert_eq!((row.root, numbers(row.out_of_place), row.in_place), (None, Some((10.5, 1.0, 0.5)), None));
    assert_eq!(run.average.map(|a| (a.value.busbw, a.value.ok)), Some((GBps(0.5), None)));
    // One long line between others.
    let mut reader = Reader::default();
    reader.line(1, b"hello");
    reader.line(2, text.as_bytes());
    let streamed = reader.finish();
    assert_eq!(streamed.iter().map(|r| (r.rows.len(), r.lines)).collect::<Vec<_>>(), [(1, (2, 2))]);
    // A run that was killed leaves its document open.
    let cut = one(text.get(..text.len() - 60).unwrap_or_default());
    assert_eq!(cut.refused.kept.first().map(|r| matches!(r.why, Why::Missing(_))), Some(true));
    // RCCL's status report is another document.
    assert!(parse(br#"{"nccl_version":"2.28.9","comms":[]}"#).is_empty());
}

#[test]
fn memory_has_a_limit() {
    let mut reader = Reader::default();
    reader.line(1, HEADER.as_bytes());
    for n in 0..20_000 {
        reader.line(n + 2, ROW.as_bytes());
        reader.line(n + 2, b"        1024           256     float     sum      -1    x y z 0 x y z 0");
        reader.line(n + 2, b"a: Test CUDA failure common.cu:1 'x'");
    }
    let runs = reader.finish();
    let [run] = &runs[..] else { panic!("{} runs", runs.len()) };
    assert_eq!(
        (run.rows.len() as u64 + beyond(&run.left_out, Limit::NCCL_TESTS_ROWS), run.rows.len()),
        (20_000, NCCL_TESTS_ROWS)
    );
    assert_eq!(
        (run.refused.kept.len(), run.failures.len() as u64 + beyond(&run.left_out, Limit::NCCL_TESTS_FAILURES)),
        (REFUSALS, 20_000)
    );
    let mut reader = Reader::default();
    for n in 0..NCCL_TESTS_RUNS as u32 + 9 {
        reader.line(n, HEADER.as_bytes());
        reader.line(n, ROW.as_bytes());
    }
    assert_eq!(reader.finish().len(), NCCL_TESTS_RUNS);
}

#[test]
fn collectives_by_the_names_of_programs() {
    for (name, is) in [
        ("all_reduce_perf", Collective::AllReduce),
        ("all_gather_perf_mpi", Collective::AllGather),
        ("AlltoAll", Collective::AllToAll),
        ("sendrecv_perf", Collective::SendRecv),
        ("/opt/x/broadcast_perf", Collective::Broadcast),
    ] {
        assert_eq!(Collective::from_name(name), Some(is), "{name}");
    }
    assert_eq!(Collective::from_name("iperf3"), None);
}

#[test]
fn json_whose_numbers_are_none() {
    let document = |time: &str| {
        format!(
            r#"{{"version":3,"args":["./all_reduce_perf"],"nccl_version":22807,"config":{{}},"results":[{{"size":16,"count":4,"type":"float","redop":"sum","root":"    -1","out_of_place":{{"time":{time},"alg_bw":1.0,"bus_bw":0.5,"nwrong":0.0}},"in_place":{{"time":2.5,"alg_bw":1.0,"bus_bw":0.5,"nwrong":null}}}}]}}"#
        )
    };
    for time in ["\"nan\"", "nan", "inf", "-inf", "-1.5", "\"fast\""] {
        let runs = parse(document(time).as_bytes());
        let [run] = &runs[..] else { panic!("{time}: {runs:#?}") };
        assert!(run.rows[0].out_of_place.is_none() && run.rows[0].in_place.is_some(), "{time}: {run:#?}");
        assert_eq!(
            (run.refused.kept.len(), run.rows[0].in_place.map(|m| m.errors)),
            (1, Some(Errors::NotChecked)),
            "{time}"
        );
    }
    assert!(parse(document("1.5").as_bytes())[0].refused.is_empty());
    // Results that are no list: said, not read as none.
    let odd = parse(br#"{"args":["./all_reduce_perf"],"nccl_version":22807,"results":{"a":1}}"#);
    assert_eq!((odd.len(), odd[0].refused.kept.len()), (1, 1), "{odd:#?}");
}

#[test]
fn json_with_the_spread_of_iterations() {
    let text = r#"{"args":["./all_reduce_perf"],"nccl_version":22807,"config":{},"results":[{"size":16,"count":4,"type":"float","redop":"sum","root":"-1","out_of_place":{"time":1.5,"alg_bw":1.0,"bus_bw":0.5,"nwrong":0.0},"out_of_place_per_iter":{"skipped_iterations":2,"min_us":1.0,"max_us":3.0,"avg_us":1.5,"p50_us":1.4,"p95_us":2.0,"p99_us":2.5,"stdev_us":0.2,"cv_pct":13.3,"times_us":[1.0,2.0,3.0]},"in_place":null,"actual_iterations":20}]}"#;
    let runs = parse(text.as_bytes());
    let row = &runs[0].rows[0];
    let each = row.per_iteration(false).unwrap();
    assert_eq!((each.p99.0, each.more.map(|m| (m.p50.0, m.skipped, m.iterations))), (2.5, Some((1.4, 2, Some(3)))));
    assert!(row.per_iteration(true).is_none() && row.in_place.is_none());
}

#[test]
fn rows_are_the_same_in_both_ways() {
    // A trailing word of another's output sends a row the long way.
    for row in [ROW.to_owned(), ROW.replace("sum", "none"), ROW.replace("     0 ", "   N/A ")] {
        let rows = |text: String| parse(format!("{HEADER}\n{text}\n").as_bytes())[0].rows.clone();
        let (quick, slow) = (rows(row.clone()), rows(format!("{row} x:1:2 [0] NCCL INFO y")));
        assert_eq!(quick, slow, "{row}");
        assert_eq!(quick.len(), 1, "{row}");
    }
}

#[test]
fn how_was_measured_is_kept() {
    let text = format!(
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 1 iters: 2 agg iters: 1 validation: 1 graph: 0\n# Blocking Enabled: wait after each inner iteration (-m), no barrier \n#\n{HEADER}\n{ROW}\n"
    );
    let runs = parse(text.as_bytes());
    assert_eq!(
        runs[0].options.iter().map(|o| (o.line, o.value.contains("no barrier"))).collect::<Vec<_>>(),
        [(2, true)]
    );
}

#[test]
fn documents_line_by_line_are_runs_each() {
    let one = r#"{"nccl_version":22807,"args":["./build/all_reduce_perf"],"config":{"nthreads":1},"results":[]}"#;
    assert_eq!(parse(one.as_bytes()).len(), 1);
    assert_eq!(parse(format!("{one}\n{one}\n").as_bytes()).len(), 2);
    // One that is broken is still reported as such.
    let broken = parse(&one.as_bytes()[..60]);
    assert!(broken.iter().all(|r| r.rows.is_empty()) && broken.iter().any(|r| !r.refused.is_empty()), "{broken:?}");
}

#[test]
fn results_are_the_same_in_both_ways() {
    let half = r#"{"time":12.500000,"alg_bw":1.25,"bus_bw":0,"nwrong":0.000000}"#;
    let usual = format!(
        r#"{{"size":16,"count":4,"type":"float","redop":"sum","root":"    -1","out_of_place":{half},"in_place":{half},"actual_iterations":20,"experiment_name":"x"}}"#
    );
    let runs = |list: &str| {
        parse(
            format!(r#"{{"args":["./all_reduce_perf","\"results\":[{{}}]"],"nccl_version":22807,"config":{{"a":1}},"results":[{list}],"end_time":""}}"#)
                .as_bytes(),
        )
    };
    let expected = runs(&usual);
    assert_eq!((expected.len(), expected[0].rows.len(), expected[0].refused.kept.len()), (1, 1, 0), "{expected:#?}");
    let same = [
        usual.replace(',', " ,\r ").replace(':', "\t: "),
        // A member that only the general reader takes.
        usual.replace(r#""experiment_name":"x""#, r#""more":[{"a":null}]"#),
        usual.replace("12.500000", "1.25e1"),
        usual.replace("12.500000", "\"12.5\""),
        usual.replace(r#""float""#, r#""flo\u0061t""#),
        usual.replace(r#""    -1""#, "-1"),
    ];
    for text in same {
        assert_eq!(runs(&text), expected, "{text}");
        assert_eq!(runs(&format!("{text},{usual}"))[0].rows.len(), 2, "{text}");
    }
    // What is not JSON is not in either.
    for odd in ["012.5", "12.", ".5", "+1", "12.5.1", "0x1"] {
        let runs = runs(&usual.replacen("12.500000", odd, 1));
        assert!(runs.iter().all(|r| r.rows.is_empty()), "{odd}: {runs:#?}");
    }
    for odd in
        [usual.replacen(r#""size":16"#, r#""size":16,"size":16"#, 1), format!("{usual} {usual}"), format!("{usual},")]
    {
        let runs = runs(&odd);
        assert!(runs.iter().all(|r| r.rows.is_empty()), "{odd}: {runs:#?}");
    }
    // A list of that name that is elsewhere.
    let inside = format!(r#"{{"args":["./all_reduce_perf"],"nccl_version":22807,"config":{{"results":[{usual}]}}}}"#);
    assert_eq!(parse(inside.as_bytes()).iter().map(|r| r.rows.len()).collect::<Vec<_>>(), [0]);
}
