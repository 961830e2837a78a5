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

#[test]
fn iperf_of_others() {
    for (name, bytes) in files(FOLDERS) {
        for run in iperf::parse(&bytes) {
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
}

#[test]
fn sockperf_of_others() {
    for (name, bytes) in files(FOLDERS) {
        for run in sockperf::parse(&bytes) {
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
    for (name, bytes) in files(FOLDERS) {
        for run in fio::parse(&bytes) {
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
}
