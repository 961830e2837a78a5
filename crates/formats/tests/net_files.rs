//! Outputs of iperf, sockperf, fio and ping that nobody of this project wrote. They lie beside the repository and are read in place.

// The lint configuration allows these in test functions only, not in their helpers.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, clippy::indexing_slicing)]

use linerate_formats::{fio, iperf, ping, sockperf};
use std::path::{Path, PathBuf};

fn data() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if path.is_dir() {
        return Some(path);
    }
    println!("SKIPPED: ../shared/data is not here");
    None
}

/// Files of the folders, sorted, as paths below the data and bytes. More folders may be named in `LINERATE_MORE_DATA`.
fn files(folders: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    let data = data();
    let mut todo: Vec<PathBuf> = folders.iter().filter_map(|f| Some(data.as_ref()?.join(f))).collect();
    todo.extend(std::env::var_os("LINERATE_MORE_DATA").map(PathBuf::from));
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        } else {
            let name = data.as_ref().and_then(|d| path.strip_prefix(d).ok()).unwrap_or(&path);
            out.push((name.to_string_lossy().into_owned(), std::fs::read(&path).unwrap()));
        }
    }
    out.sort();
    out
}

const FOLDERS: &[&str] = &["iperf3", "sockperf", "fio", "generated-here", "bench-logs", "misc-bench"];

/// Kinds that `INDEX.tsv` gives files.
fn is_listed(name: &str, kinds: &[&str]) -> bool {
    let Some(data) = data() else { return false };
    let text = std::fs::read_to_string(data.join("INDEX.tsv")).unwrap();
    text.lines().any(|l| {
        let mut columns = l.split('\t');
        columns.next() == Some(name) && columns.next().is_some_and(|k| kinds.contains(&k))
    })
}

#[test]
fn iperf_of_others() {
    let (mut seen, mut rows) = (0, 0);
    for (name, bytes) in files(FOLDERS) {
        let runs = iperf::parse(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        let is_iperf = !name.ends_with(".csv")
            && (text.contains("bits/sec") || text.contains("\"iperf ") || text.contains("iperf3: "));
        assert_eq!(is_iperf, !runs.is_empty(), "{name}");
        // Every line with a rate is a row, or refused.
        let by_eye = text
            .lines()
            .filter(|l| l.contains("its/sec") && l.contains(" sec ") && l.trim_start().starts_with('['))
            .count();
        if by_eye > 0 {
            let read: usize = runs.iter().map(|r| r.rows.len() + r.refused.kept.len()).sum();
            assert_eq!(read, by_eye, "{name}");
        }
        for row in runs.iter().flat_map(|r| &r.rows) {
            // What went in the time is the rate; text has three digits and rounded times.
            let Some(transfer) = row.transfer.filter(|t| t.0 > 0 && row.end - row.start > 0.4) else { continue };
            let rate = transfer.0 as f64 * 8.0 / (row.end - row.start) / 1e9;
            assert!((rate / row.rate.0 - 1.0).abs() < 0.05, "{name}:{}: {rate} and {row:?}", row.line);
        }
        seen += usize::from(is_iperf);
        rows += runs.iter().map(|r| r.rows.len()).sum::<usize>();
        for run in runs {
            println!(
                "== {name} {:?}: {:?} {:?} {:?} {:?} {:?} began {:?} peer {:?} conns {} end {:?} cpu {} cc {:?}\n   {:?}",
                run.lines,
                run.tool,
                run.version.as_ref().map(|v| &v.value),
                run.role,
                run.protocol,
                run.direction,
                run.began,
                run.peer.as_ref().map(|p| (&p.value.host, p.value.port)),
                run.connections.len(),
                run.end,
                run.cpu.is_some(),
                run.congestion,
                run.params
            );
            for r in &run.rows {
                let m = &r.more;
                println!(
                    "   {:>3} {:?} {:?} {:?}{} {}-{} {:?} {:.3} retr {:?} cwnd {:?} rtt {:?} jit {:?} lost {:?}/{:?} ooo {:?} lat {:?} pps {:?}",
                    r.line,
                    r.stream,
                    r.way,
                    r.scope,
                    if r.omitted { " omitted" } else { "" },
                    r.start,
                    r.end,
                    r.transfer.map(|t| t.0),
                    r.rate.0,
                    m.retransmits,
                    m.cwnd.map(|c| c.0),
                    m.rtt.map(|r| r.0),
                    m.jitter.map(|j| j.0),
                    m.lost,
                    m.packets,
                    m.out_of_order,
                    m.latency.map(|l| l.0),
                    m.packet_rate.map(|l| l.0)
                );
            }
            println!(
                "   refused {:?} notes {:?} failures {:?} view {}",
                run.refused, run.notes, run.failures, run.is_servers_view
            );
        }
    }
    assert!(data().is_none() || seen >= 9 && rows > 70, "{seen} files, {rows} rows");
}

#[test]
fn sockperf_of_others() {
    let mut seen = 0;
    for (name, bytes) in files(FOLDERS) {
        let runs = sockperf::parse(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(text.contains("sockperf: "), !runs.is_empty(), "{name}");
        let read: usize = runs.iter().flat_map(|r| &r.servers).filter(|s| s.latency.is_some()).count();
        assert_eq!(read, text.matches("====> avg-").count(), "{name}");
        let read: usize = runs.iter().filter(|r| r.throughput.is_some_and(|t| t.value.bandwidth.is_some())).count();
        assert_eq!(read, text.matches("BandWidth is").count(), "{name}");
        seen += usize::from(!runs.is_empty());
        for run in runs {
            println!(
                "== {name} {:?}: {:?} server {} {:?} {:?} {:?}\n  total {:?} end {:?}",
                run.lines,
                run.version.as_ref().map(|v| &v.value),
                run.is_server,
                run.mode,
                run.params,
                run.endpoints,
                run.total,
                run.end
            );
            for s in &run.servers {
                println!("  {s:?}");
            }
            println!(
                "  {:?} refused {:?} notes {:?} failures {:?}",
                run.throughput, run.refused, run.notes, run.failures
            );
        }
    }
    assert!(data().is_none() || seen >= 6, "{seen}");
}

#[test]
fn ping_of_others() {
    for (name, bytes) in files(FOLDERS) {
        for run in ping::parse(&bytes) {
            println!("== {name} {run:?}");
        }
    }
}

#[test]
fn fio_of_others() {
    let mut seen = 0;
    for (name, bytes) in files(FOLDERS) {
        let runs = fio::parse(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        let is_fio = text.contains("\"fio version\"") || text.contains(": (groupid=");
        assert_eq!(is_fio || is_listed(&name, &["fio-text"]), !runs.is_empty(), "{name}");
        seen += usize::from(is_fio);
        for d in runs.iter().flat_map(|r| &r.jobs).flat_map(|j| &j.directions) {
            // What went in the time is the bandwidth. Text has three digits, and fio counts its time in milliseconds.
            let (Some(bytes), Some(ms), Some(bw)) = (d.bytes, d.milliseconds, d.bandwidth) else { continue };
            let rate = bytes.0 as f64 / ms * 1e3 / 1_048_576.0;
            assert!(ms < 100.0 || (rate / bw.0 - 1.0).abs() < 0.02, "{name}:{}: {rate} and {bw:?}", d.line);
        }
        for run in runs {
            println!(
                "== {name} {:?}: {:?} json {} interim {} end {:?} options {:?}",
                run.lines,
                run.version.as_ref().map(|v| &v.value),
                run.is_json,
                run.is_interim,
                run.end,
                run.options
            );
            for j in &run.jobs {
                println!(
                    "  JOB {} {} group {:?} processes {:?} pid {:?} error {:?} {:?} cpu {:?}\n      {:?}",
                    j.line, j.name, j.group, j.processes, j.pid, j.error, j.error_text, j.cpu, j.options
                );
                for d in &j.directions {
                    println!(
                        "    {} {:?} {:?} {:?} {:?} ops {:?} {:?} ms\n      slat {:?}\n      clat {:?}\n      lat {:?}\n      bw {:?}\n      iops {:?}",
                        d.line,
                        d.kind,
                        d.bytes,
                        d.bandwidth,
                        d.iops,
                        d.operations,
                        d.milliseconds,
                        d.submission,
                        d.completion,
                        d.total,
                        d.bandwidth_samples,
                        d.iops_samples
                    );
                }
            }
            println!(
                "  groups {:?}\n  refused {:?} notes {:?} failures {:?}",
                run.groups, run.refused, run.notes, run.failures
            );
        }
    }
    assert!(data().is_none() || seen >= 8, "{seen}");
}

/// Other programs' outputs are none of these tools.
#[test]
fn others_are_none() {
    let Some(data) = data() else { return };
    let mut todo: Vec<PathBuf> = ["nccl-log", "nccl-tests", "perftest", "dmesg", "lspci", "torchtitan", "cases"]
        .iter()
        .map(|f| data.join(f))
        .collect();
    let mut seen = 0;
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        assert!(iperf::parse(&bytes).is_empty(), "{}", path.display());
        assert!(sockperf::parse(&bytes).is_empty(), "{}", path.display());
        assert!(fio::parse(&bytes).is_empty(), "{}", path.display());
        assert!(ping::parse(&bytes).is_empty(), "{}", path.display());
        seen += 1;
    }
    assert!(seen > 30, "{seen}");
}

/// `cargo test --release -p linerate-formats --test all net_files::speed -- --ignored --nocapture`; LINERATE_SPEED_OF: only those with this word.
#[test]
#[ignore = "measures and judges nothing; meaningful in release builds only"]
fn speed() {
    let fixture = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/net").join(name);
        std::fs::read_to_string(path).unwrap()
    };
    let measure = |what: &str, text: &str, parse: &dyn Fn(&[u8]) -> usize| {
        if std::env::var("LINERATE_SPEED_OF").is_ok_and(|only| !what.contains(&only)) {
            return;
        }
        // Time of this thread on a processor: the machines of tests are shared.
        let on_processor =
            || std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse::<u64>().ok();
        let (start, wall) = (on_processor(), std::time::Instant::now());
        let runs = parse(text.as_bytes());
        let seconds = match (start, on_processor()) {
            (Some(a), Some(b)) => (b - a) as f64 / 1e9,
            _ => wall.elapsed().as_secs_f64(),
        };
        println!("{what}: {:.0} MB/s, {runs} runs", text.len() as f64 / seconds / 1e6);
    };
    // One document with very many intervals, as an hour of streams is.
    let json = fixture("iperf3-interrupted.json");
    let (before, rest) = json.split_once("\"intervals\":\t[").unwrap();
    let (intervals, after) = rest.split_once("],\n\t\"end\"").unwrap();
    let long = format!("{before}\"intervals\":\t[{}],\n\t\"end\"{after}", vec![intervals; 20_000].join(", "));
    // What skipping everything costs on this machine now.
    measure("skipping JSON", &long, &|b| usize::from(serde_json::from_slice::<serde::de::IgnoredAny>(b).is_ok()));
    measure("iperf3, one document", &long, &|b| iperf::parse(b).len());
    measure("iperf3, many documents", &fixture("iperf3-bidir.json").repeat(4000), &|b| iperf::parse(b).len());
    measure("iperf3, text", &fixture("iperf3-bidir-p2.txt").repeat(4000), &|b| iperf::parse(b).len());
    measure("fio, JSON", &fixture("fio-libaio.json").repeat(4000), &|b| fio::parse(b).len());
    measure("fio, text", &fixture("fio-randrw.txt").repeat(4000), &|b| fio::parse(b).len());
    measure("sockperf", &fixture("sockperf-full-rtt.txt").repeat(4000), &|b| sockperf::parse(b).len());
    measure("ping", &fixture("ping-timestamps.txt").repeat(40_000), &|b| ping::parse(b).len());
}
