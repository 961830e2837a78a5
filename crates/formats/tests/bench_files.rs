//! Benchmarks' outputs that nobody of this project wrote. They lie beside the repository and are read in place.

// The lint configuration allows these in test functions only, not in their helpers.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, clippy::indexing_slicing)]

use linerate_formats::{nccl_tests, nvbandwidth, perftest, series, torch_log, torchtitan};
use std::path::{Path, PathBuf};

fn data() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if path.is_dir() {
        return Some(path);
    }
    println!("SKIPPED: ../shared/data is not here");
    None
}

/// Files of the folders, sorted, as paths below the data and bytes.
fn files(data: &Path, folders: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    let mut todo: Vec<PathBuf> = folders.iter().map(|f| data.join(f)).collect();
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        } else {
            let name = path.strip_prefix(data).unwrap().to_string_lossy().replace('\\', "/");
            out.push((name, std::fs::read(&path).unwrap()));
        }
    }
    out.sort();
    out
}

/// Kinds that `INDEX.tsv` gives files.
fn index(data: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(data.join("INDEX.tsv")).unwrap();
    let row = |l: &str| {
        let mut columns = l.split('\t');
        Some((columns.next()?.to_owned(), columns.next()?.to_owned()))
    };
    text.lines().skip(1).filter_map(row).collect()
}

const FOLDERS: &[&str] = &["nccl-tests", "bench-logs", "perftest", "generated-here", "cases", "misc-bench"];

/// Rows of nccl-tests in a file, counted without the parser: a size, a count, a type, and at least six more words.
fn rows_by_eye(text: &str) -> usize {
    let types = ["float", "half", "bfloat16", "double", "int8"];
    let is_row = |l: &&str| {
        let words: Vec<&str> = l.split_whitespace().skip_while(|w| w.parse::<u64>().is_err()).collect();
        words.len() >= 7 && words[1].parse::<u64>().is_ok() && types.contains(&words[2])
    };
    text.lines().filter(is_row).count()
}

#[test]
fn nccl_tests_of_others() {
    let Some(data) = data() else { return };
    let index = index(&data);
    let (mut files_with_rows, mut all_rows) = (0, 0);
    for (name, bytes) in files(&data, FOLDERS) {
        let runs = nccl_tests::parse(&bytes);
        let rows: usize = runs.iter().map(|r| r.rows.len()).sum();
        let refused: usize = runs.iter().map(|r| r.refused.kept.len()).sum();
        let eye = rows_by_eye(&String::from_utf8_lossy(&bytes));
        for run in &runs {
            let best = run.largest().map(|r| (r.size.to_string(), r.best_busbw().map(|b| b.to_string())));
            println!(
                "{name}: lines {:?}, {:?}, {} ranks on {} hosts, {} rows, largest {best:?}, average {:?}, refused {:?}, failures {:?}",
                run.lines,
                run.collective.map(|c| c.value),
                run.ranks.len(),
                run.hosts(),
                run.rows.len(),
                run.average.map(|a| a.value.busbw),
                run.refused,
                run.failures.iter().map(|f| f.kind).collect::<Vec<_>>(),
            );
        }
        assert_eq!(rows, eye, "{name}: rows that a plain look finds");
        let is_listed = index.iter().any(|(path, kind)| *path == name && kind == "nccl-tests");
        if is_listed || name.starts_with("bench-logs/superbench-nccl") {
            assert!(!runs.is_empty(), "{name}");
            assert!(
                rows > 0 || refused > 0 || !String::from_utf8_lossy(&bytes).contains("busbw"),
                "{name}: a table and no row"
            );
        } else if !name.starts_with("cases/") && !name.starts_with("misc-bench/") {
            assert!(runs.is_empty(), "{name} is no output of nccl-tests: {runs:#?}");
        }
        // What the program says of its rows must follow from them, where all of them are there.
        for run in &runs {
            let halves = || run.rows.iter().flat_map(|r| [r.out_of_place, r.in_place]).flatten();
            let is_whole = run.params.is_some() && run.rows.len() > 4;
            if let (Some(average), true) = (run.average, is_whole) {
                let n = halves().count();
                let mean = halves().map(|m| m.busbw.0).sum::<f64>() / n as f64;
                assert!((mean - average.value.busbw.0).abs() < 0.05 + mean * 0.01, "{name}: {mean} and {average:?}");
            }
            for row in &run.rows {
                for m in [row.out_of_place, row.in_place].into_iter().flatten() {
                    let algbw = row.size.0 as f64 / m.time.0 / 1e3;
                    let is_invented = name.contains("cloudai") || name.contains("NVSentinel");
                    assert!(
                        is_invented || (algbw - m.algbw.0).abs() < 0.02 + algbw * 0.01,
                        "{name}:{}: {algbw} and {m:?}",
                        row.line
                    );
                }
            }
        }
        files_with_rows += usize::from(rows > 0);
        all_rows += rows;
    }
    println!("{files_with_rows} files, {all_rows} rows");
    assert!(files_with_rows >= 19 && all_rows > 300, "{files_with_rows} files, {all_rows} rows");
}

#[test]
fn perftest_of_others() {
    let Some(data) = data() else { return };
    let index = index(&data);
    let mut seen = 0;
    for (name, bytes) in files(&data, FOLDERS) {
        let runs = perftest::parse(&bytes);
        for run in &runs {
            let best = run.best_bandwidth().map(|(size, b)| (size.to_string(), b.to_string()));
            println!(
                "{name}: lines {:?}, {:?}, server {}, copies {}, {:?}, {} addresses, {} rows, best {best:?}, refused {:?}, notes {:?}, failures {:?}",
                run.lines,
                run.test.as_ref().map(|t| &t.value),
                run.is_server,
                run.copies,
                run.header.device,
                run.addresses.len(),
                run.rows.len(),
                run.refused,
                run.notes.iter().map(|n| n.kind).collect::<Vec<_>>(),
                run.failures.iter().map(|f| f.kind).collect::<Vec<_>>(),
            );
            assert!(run.refused.is_empty(), "{name}");
            // Size times messages per second is the bandwidth, in whichever unit.
            for row in &run.rows {
                let perftest::Values::Bandwidth(b) = &row.values else { continue };
                let (Some(average), Some(messages)) = (b.average, b.messages) else { continue };
                let expected = row.size.0 as f64 * messages.0 * 8.0 / 1e3;
                assert!(
                    (average.gbps().0 / expected - 1.0).abs() < 0.01,
                    "{name}:{}: {average:?}, {expected}",
                    row.line
                );
            }
        }
        let is_listed = index.iter().any(|(path, kind)| *path == name && kind == "perftest");
        if is_listed || name.starts_with("bench-logs/superbench-ib") || name == "generated-here/perftest-no-device.txt"
        {
            assert!(!runs.is_empty(), "{name}");
            let rows: usize = runs.iter().map(|r| r.rows.len()).sum();
            let has_table = String::from_utf8_lossy(&bytes).contains("#bytes");
            assert_eq!(has_table, rows > 0, "{name}");
            assert!(rows > 0 || runs.iter().any(|r| !r.failures.is_empty()), "{name}");
            seen += 1;
        } else if !name.starts_with("cases/") && !name.starts_with("misc-bench/") {
            assert!(runs.is_empty(), "{name} is no output of perftest: {runs:#?}");
        }
    }
    assert!(seen >= 9, "{seen}");
}

#[test]
fn torchtitan_of_others() {
    let Some(data) = data() else { return };
    let mut seen = 0;
    for (name, bytes) in files(&data, &["torchtitan"]) {
        let runs = torchtitan::parse(&bytes);
        let eye = String::from_utf8_lossy(&bytes).lines().filter(|l| l.contains("step:")).count();
        let steps: usize = runs.iter().flat_map(|r| &r.ranks).map(|r| r.steps.len()).sum();
        assert_eq!(steps, eye, "{name}: {runs:#?}");
        for run in &runs {
            assert!(run.refused.is_empty() && run.failures.is_empty() && run.repeated == 0, "{name}: {run:#?}");
            for rank in &run.ranks {
                println!(
                    "{name}: lines {:?}, {:?} copy {}, steps {:?}, tps {:?}, at {:?}, notes {:?}",
                    run.lines,
                    rank.who,
                    rank.copy,
                    rank.steps.iter().map(|s| s.step).collect::<Vec<_>>(),
                    rank.steps.iter().map(|s| s.tps.map(|t| t.0)).collect::<Vec<_>>(),
                    rank.steps.iter().map(|s| s.at.map(|t| t.0)).collect::<Vec<_>>(),
                    run.notes.iter().map(|n| n.kind).collect::<Vec<_>>(),
                );
                for s in &rank.steps {
                    assert!(
                        s.loss.is_some() && s.tps.is_some() && s.memory.is_some() && s.mfu.is_some(),
                        "{name}: {s:?}"
                    );
                }
            }
        }
        seen += 1;
    }
    assert!(seen >= 3, "{seen}");
}

#[test]
fn nvbandwidth_of_others() {
    let Some(data) = data() else { return };
    let mut seen = 0;
    for (name, bytes) in files(&data, &["misc-bench", "bench-logs", "nccl-tests", "generated-here", "iperf3"]) {
        let runs = nvbandwidth::parse(&bytes);
        if !name.contains("nvbandwidth") {
            assert!(runs.is_empty(), "{name}: {runs:#?}");
            continue;
        }
        seen += 1;
        for run in &runs {
            println!(
                "{name}: {:?}, {} devices, {} tests, {} waived, {:?}",
                run.version,
                run.devices.len(),
                run.tests.len(),
                run.waived,
                run.refused
            );
            for m in run.tests.iter().flat_map(|t| &t.matrices) {
                println!(
                    "  {:?}: {} × {}, sum {:?}, whole {}",
                    m.key,
                    m.rows.len(),
                    m.columns.len(),
                    m.sum,
                    m.is_whole
                );
                assert!(!m.values.is_empty(), "{name}: {m:?}");
            }
        }
        assert!(runs.len() == 1 && runs[0].tests.len() == 15, "{name}: {runs:#?}");
    }
    assert_eq!(seen, 1);
}

/// Every file is a table or not, and says why.
#[test]
fn tables_of_others() {
    let Some(data) = data() else { return };
    let folders = [
        "misc-bench",
        "bench-logs",
        "nccl-tests",
        "generated-here",
        "iperf3",
        "perftest",
        "sockperf",
        "fio",
        "torchtitan",
    ];
    for (name, bytes) in files(&data, &folders) {
        match series::parse(&bytes) {
            Ok(tables) => {
                for t in &tables {
                    let columns: Vec<_> = t.columns.iter().take(12).map(|c| (c.name.as_str(), c.role)).collect();
                    println!(
                        "{name}: {:?}, {} rows, {} columns {columns:?}, notes {:?}, refused {} {:?}",
                        t.form,
                        t.len(),
                        t.columns.len(),
                        t.notes,
                        t.refused.len() as u64 + t.refused_not_kept,
                        t.refused.first()
                    );
                }
            }
            Err(e) => println!("{name}: {e}"),
        }
    }
    let read = |name: &str| series::parse(&std::fs::read(data.join(name)).unwrap()).unwrap();
    let csv = read("iperf3/PerfKitBenchmarker__tests_data_cloudharmony_iperf.csv");
    let [t] = &csv[..] else { panic!("{csv:#?}") };
    let number = |name: &str, row| t.columns.iter().find(|c| c.name == name).and_then(|c| c.number(row));
    assert_eq!((t.len(), number("bandwidth_mean", 0), number("bandwidth_max", 1)), (2, Some(9735.5), Some(9910.723)));
    assert_eq!(number("transfer", 1), Some(11605.5));
    let jsonl = read("misc-bench/superbenchmark__monitor.jsonl");
    assert!(jsonl[0].of(series::Role::Time).count() == 1 && jsonl[0].len() == 5 && jsonl[0].refused.is_empty());
}

/// Logs of NCCL and of kernels are full of words that the parsers look for.
#[test]
fn logs_are_no_benchmarks() {
    let Some(data) = data() else { return };
    for (name, bytes) in files(&data, &["nccl-log", "dmesg", "lspci", "torchtitan", "iperf3", "fio", "sockperf"]) {
        let rows: usize = nccl_tests::parse(&bytes).iter().map(|r| r.rows.len()).sum();
        let eye = rows_by_eye(&String::from_utf8_lossy(&bytes));
        assert_eq!(rows, eye, "{name}");
        let perftest: usize = perftest::parse(&bytes).iter().map(|r| r.rows.len()).sum();
        assert_eq!(perftest, 0, "{name}");
        let torch = torch_log::parse(&bytes);
        if !torch.is_empty() {
            println!(
                "{name}: {:?}",
                torch.iter().map(|l| (l.line, l.job_rank(), &l.event)).take(3).collect::<Vec<_>>()
            );
        }
    }
}

/// The readers see every line of a log that is read at a gigabyte a second.
/// `cargo test --release -p linerate-formats --test all bench_files::speed -- --ignored --nocapture`
#[test]
#[ignore = "measures and judges nothing; meaningful in release builds only"]
fn speed_on_a_log_of_nccl() {
    let line = |i: u32| {
        format!(
            "node-{:03}:{}:{} [{}] NCCL INFO Channel {:02}/0 : {}[{}] -> {}[{}] [send] via NET/IB/{}/GDRDMA\n",
            i % 64,
            4000 + i % 8,
            4100 + i % 8,
            i % 8,
            i % 16,
            i % 512,
            i % 8,
            (i + 8) % 512,
            i % 8,
            i % 8
        )
    };
    let text: String = (0..600_000).map(line).collect();
    let measure = |what: &str, run: &dyn Fn(&[u8])| {
        let start = std::time::Instant::now();
        run(text.as_bytes());
        println!("{what}: {:.2} GB/s", text.len() as f64 / start.elapsed().as_secs_f64() / 1e9);
    };
    let lines = || text.as_bytes().split(|b| *b == b'\n').enumerate();
    measure("splitting alone", &|_| assert!(lines().count() > 0));
    measure("nccl-tests", &|_| {
        let mut reader = nccl_tests::Reader::default();
        lines().for_each(|(i, l)| reader.line(i as u32 + 1, l));
        assert!(reader.finish().is_empty());
    });
    measure("perftest", &|_| {
        let mut reader = perftest::Reader::default();
        lines().for_each(|(i, l)| reader.line(i as u32 + 1, l));
        assert!(reader.finish().is_empty());
    });
    measure("torch", &|_| {
        let mut reader = torch_log::Reader::default();
        assert!(lines().all(|(i, l)| reader.line(i as u32 + 1, l).is_none()));
    });
}
