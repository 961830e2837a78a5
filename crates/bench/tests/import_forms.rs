//! Forms that say less than others of their tools: known by their content, and no more is reported than they say.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // helpers of tests, outside of test functions

use linerate_bench::import::{Imported, import};
use linerate_bench::{Better, Kind, Run, Series, Stat};
use linerate_formats::bounds::{LeftOut, Limit};

fn fixture(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/fixtures/net").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// The name says nothing.
fn read(text: &str) -> Imported {
    import("output", text.as_bytes())
}

fn one(text: &str) -> Run {
    let mut found = read(text);
    assert_eq!((found.runs.len(), &found.refused[..]), (1, &[][..]), "{found:#?}");
    found.runs.remove(0)
}

fn series<'r>(run: &'r Run, name: &str, stat: Stat) -> Vec<&'r Series> {
    run.series.iter().filter(|s| s.metric.name == name && s.metric.stat == stat).collect()
}

fn values(run: &Run, name: &str, stat: Stat) -> Vec<f64> {
    series(run, name, stat).iter().flat_map(|s| s.points.iter()).map(|p| p.value).collect()
}

#[test]
fn terse_lines_of_fio() {
    let both = fixture("fio-terse3-and-json.txt");
    let (line, json) = both.split_once('\n').unwrap();
    let (terse, json) = (one(line), one(json));
    assert_eq!((terse.kind, terse.version.as_deref()), (Kind::Fio, Some("3.33")));
    assert_eq!(terse.params.get("rw"), None, "the line does not say how it was run");
    let names =
        |run: &Run| -> Vec<String> { run.series.iter().map(|s| format!("{} {:?}", s.metric, s.labels)).collect() };
    assert_eq!(names(&terse), names(&json), "the same measurements under the same names");
    for (t, j) in terse.series.iter().zip(&json.series) {
        // Cut, never rounded up: whole KiB/s, operations and microseconds, or six decimals.
        let (t_value, j_value) = (t.points.first().unwrap().value, j.points.first().unwrap().value);
        assert!(t_value <= j_value + 1e-3 && j_value - t_value < 1.0, "{}: {t_value} and {j_value}", t.metric);
    }
    // Beside its JSON it is the same run.
    assert_eq!(one(&both).id(), json.id());
    let second = read(&line.replacen("3;fio-3.33;", "2;", 1));
    assert!(second.runs.is_empty() && second.refused[0].kind == Some(Kind::Fio), "{second:#?}");
    assert!(second.refused[0].why.contains("terse format 2"));
}

#[test]
fn lines_of_iperf_2_between_commas() {
    let run = one(&fixture("iperf2-csv-p2.txt"));
    assert_eq!((run.kind, run.began), (Kind::Iperf2, None));
    let rate = values(&run, "bandwidth", Stat::Value);
    assert!(rate.len() == 1 && (rate[0] - 17.353_513_134).abs() < 1e-6, "{rate:?}");
    assert_eq!(values(&run, "interval_bandwidth", Stat::Value).len(), 2);
    assert!(values(&run, "stream_bandwidth", Stat::Value).is_empty());
    // Nothing says that these ran at once: no bandwidth of the test.
    let open = "19700101000000,10.0.0.1,40000,10.0.0.2,5001,1,0.0-1.0,425328700,3347509508\n\
                19700101000000,10.0.0.1,40001,10.0.0.2,5001,2,0.0-1.0,1495138364,11767322642\n";
    let run = one(open);
    assert!(values(&run, "bandwidth", Stat::Value).is_empty());
    assert_eq!(values(&run, "stream_bandwidth", Stat::Value), [3.347_509_508, 11.767_322_642]);
    assert!(run.notes.iter().any(|n| n.what.contains("not summed up")), "{:?}", run.notes);
    // Between lines of others, too; the sender of UDP counts no loss.
    let run = one(
        "srun: job 7\n19700101000000,10.0.0.1,40000,10.0.0.2,5001,1,0.0-1.0,1315650,10507767,0.000,0,-1,-0.000,0\n",
    );
    assert_eq!(values(&run, "bandwidth", Stat::Value), [0.010_507_767]);
    assert!(values(&run, "loss", Stat::Value).is_empty() && values(&run, "jitter", Stat::Value).is_empty());
    let overflown = read("20140114124826,10.0.0.1,40000,10.0.0.2,5001,3,0.0-10.0,-52551090,42041052917\n");
    assert!(overflown.runs.is_empty() && overflown.refused[0].why.contains("overflow"), "{overflown:#?}");
}

fn windows(times: &[&str], summary: &str) -> String {
    let replies: String = times.iter().map(|t| format!("Reply from 10.0.0.9: bytes=32 time{t} TTL=64\r\n")).collect();
    let n = times.len();
    format!(
        "Pinging 10.0.0.9 with 32 bytes of data:\r\n{replies}\r\nPing statistics for 10.0.0.9:\r\n    Packets: Sent = {n}, Received = {n}, \
         Lost = 0 (0% loss),\r\nApproximate round trip times in milli-seconds:\r\n    {summary}\r\n"
    )
}

#[test]
fn ping_of_windows() {
    let run = one(&windows(&["=31ms", "=33ms"], "Minimum = 31ms, Maximum = 33ms, Average = 32ms"));
    assert_eq!((run.kind, values(&run, "rtt", Stat::Value)), (Kind::Ping, vec![31_000.0, 33_000.0]));
    assert_eq!((values(&run, "rtt", Stat::Mean), values(&run, "loss", Stat::Value)), (vec![32_000.0], vec![0.0]));
    assert!(run.faults.is_empty());
    // Below the clock: bounds, and nothing that could be taken for a round trip.
    let run = one(&windows(&["<1ms", "<1ms"], "Minimum = 0ms, Maximum = 0ms, Average = 0ms"));
    assert!(run.series.iter().all(|s| s.metric.name != "rtt"), "{:#?}", run.series);
    let bounds = series(&run, "rtt_below", Stat::Value);
    assert_eq!(
        (bounds[0].metric.better, values(&run, "rtt_below", Stat::Value)),
        (Better::Neither, vec![1000.0, 1000.0])
    );
    assert!(run.faults.is_empty() && run.is_valid());
    // Some of both: the slow ones alone do not stand for all.
    let run = one(&windows(&["<1ms", "=3ms"], "Minimum = 0ms, Maximum = 3ms, Average = 1ms"));
    let slow = series(&run, "rtt", Stat::Value);
    assert_eq!(slow[0].points.iter().map(|p| (p.value, p.valid)).collect::<Vec<_>>(), [(3000.0, false)]);
    assert!(values(&run, "rtt", Stat::Mean).is_empty() && values(&run, "rtt", Stat::Max) == [3000.0]);
    assert_eq!(run.faults.iter().map(|f| f.whole_run).collect::<Vec<_>>(), [false]);
    // What Windows counts as received is no reply.
    let away = "Pinging 10.0.0.9 with 32 bytes of data:\nReply from 10.0.0.1: Destination host unreachable.\n\n\
                Ping statistics for 10.0.0.9:\n    Packets: Sent = 1, Received = 1, Lost = 0 (0% loss),\n";
    let run = one(away);
    assert_eq!((run.is_valid(), values(&run, "loss", Stat::Value)), (false, vec![100.0]));
}

#[test]
fn perftest_that_sent_nothing() {
    let table = |rows: &str| {
        format!(
            "                    RDMA_Write BW Test\n #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n{rows}"
        )
    };
    let run = one(&table(" 65536      0     0.00            0.00   0.000000\n"));
    assert!(!run.is_valid() && run.faults[0].what.contains("nothing was sent at 64 KiB"), "{:?}", run.faults);
    // One size of several; the others stand.
    let run = one(&table(
        " 2      5000     0.01            0.00   0.000100\n 65536      5000     0.00            0.00   0.000000\n",
    ));
    assert!(run.is_valid());
    assert_eq!(run.faults.iter().map(|f| (f.line, f.whole_run)).collect::<Vec<_>>(), [(Some(4), false)]);
    let found = series(&run, "bandwidth", Stat::Value);
    assert_eq!(
        found[0].points.iter().map(|p| (p.size, p.valid)).collect::<Vec<_>>(),
        [(Some(2), true), (Some(65536), false)]
    );
}

#[test]
fn what_is_beyond_a_limit_is_refused_with_its_number() {
    let ping = "PING a (10.0.0.1) 56(84) bytes of data.\n64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.1 ms\n";
    let fio = format!(
        "a: (g=0): rw=read, bs=(R) 4096B-4096B, ioengine=libaio, iodepth=1\nfio-3.33\n{}",
        "fio: a remark\n".repeat(66)
    );
    let sockperf = format!(
        "sockperf: == version #3.7 ==\nsockperf: [Total Run] RunTime=1.0 sec; SentMessages=10; ReceivedMessages=10\n\
         sockperf: ---> percentile 50.0 = 1.0\n{}",
        "sockperf: WARNING: late\n".repeat(65)
    );
    for (name, text, limit, count, line) in [
        ("ping.txt", ping.repeat(4096 + 3), Limit::PING_RUNS, 3, 2 * 4096 + 1),
        ("fio.txt", fio, Limit::FIO_SAID, 2, 2 + 65),
        ("sockperf.txt", sockperf, Limit::SOCKPERF_SAID, 1, 3 + 65),
    ] {
        let found = import(name, text.as_bytes());
        let want = LeftOut { limit, line, count }.to_string();
        assert!(found.refused.iter().any(|r| r.line == line && r.why == want), "{name}: {:?}", found.refused);
    }
}

#[test]
fn tables_of_osu() {
    let run = one("\
# OSU MPI-CUDA Bandwidth Test v7.5
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)        Validation
1                       1.50              Pass
1048576             12345.67              Pass
2097152             20000.00              Fail
");
    assert_eq!(
        (run.kind, run.tool.as_deref(), run.version.as_deref()),
        (Kind::Osu, Some("MPI-CUDA Bandwidth"), Some("7.5"))
    );
    assert_eq!(values(&run, "bandwidth", Stat::Value), [0.0015, 12345.67 * 1e-3, 20.0]);
    let points = &series(&run, "bandwidth", Stat::Value)[0].points;
    assert_eq!(points.valid().map(|p| p.size).collect::<Vec<_>>(), [Some(1), Some(1 << 20)]);
    assert_eq!((run.faults.len(), run.faults[0].line, run.is_valid()), (1, Some(6), true));
}

#[test]
fn gdrcopy_of_every_release() {
    let whole = one(&fixture("../gpu/gdrcopy-copybw.txt"));
    assert_eq!((whole.kind, whole.is_valid()), (Kind::Gdrcopy, true));
    assert_eq!(values(&whole, "bandwidth", Stat::Median), [16384.5, 700.25]);
    assert_eq!(values(&whole, "bandwidth", Stat::Min), [15000.0, 650.5]);
    let labels: Vec<_> = series(&whole, "bandwidth", Stat::Median).iter().map(|s| format!("{:?}", s.labels)).collect();
    assert!(labels[0].contains("write") && labels[1].contains("read"), "{labels:?}");
    let params: Vec<String> = whole.params.iter().map(|(k, v)| format!("{k}={v}")).collect();
    for wanted in ["cuda_device=1", "gpu=NVIDIA H100 80GB HBM3", "store_fences=enabled", "force_pcie=no"] {
        assert!(params.iter().any(|p| p == wanted), "{wanted}: {params:?}");
    }
    // Before 2.5 one rate over all iterations; what is cut has no result, and says so.
    let cut = one(&fixture("../gpu/gdrcopy-2.4-cut.txt"));
    assert_eq!(values(&cut, "bandwidth", Stat::Value), [9500.5]);
    assert!(cut.faults.iter().any(|f| f.what.contains("no result") && f.line == Some(8) && !f.whole_run), "{cut:#?}");
    assert!(cut.notes.iter().any(|n| n.what.contains("end")), "{:?}", cut.notes);
    let times = one(&fixture("../gpu/gdrcopy-copylat.txt"));
    assert_eq!(values(&times, "latency", Stat::Median), [0.1, 0.11, 0.9]);
    let wrong = fixture("../gpu/gdrcopy-copybw.txt")
        .replace("reading test", "check error: 1 different dwords out of 16384\nreading test");
    assert!(!one(&wrong).is_valid(), "what was read back differs: no result");
}
