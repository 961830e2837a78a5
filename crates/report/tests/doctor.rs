//! The doctor's answers in every form. They are made by hand: what is concluded is tested elsewhere.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common;

use common::schema::Schema;
use linerate_doctor::answer::{
    Answer, Cause, Cell, Confidence, Evidence, Explanation, Failure, Figure, Gdr, Input, Job, Matrix, NearestNic, Next,
    NicList, Note, Outcome, Row, Search, Setting, Share, Undecided,
};
use linerate_report::Style;
use linerate_report::doctor::{json, markdown, text};
use linerate_rules::{Action, Remedy, Severity, Source};
use serde_json::Value;

fn at(at: &str, text: &str) -> Evidence {
    Evidence { at: at.into(), text: text.into() }
}

fn hosts(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|n| format!("gpu-{n}")).collect()
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| (*s).to_owned()).collect()
}

fn net(channels: &str, devices: &str, gdr: Gdr) -> Cell {
    Cell { channels: channels.into(), devices: devices.into(), gdr: Some(gdr), proxied: false }
}

fn p2p(channels: &str) -> Cell {
    Cell { channels: channels.into(), ..Cell::default() }
}

fn near(bus: &str, path: &str, gb_per_s: f64) -> NearestNic {
    NearestNic { gpu: format!("0000:{bus}:00.0"), nic: "NET/0".into(), path: path.into(), gb_per_s, hosts: hosts(0..1) }
}

fn job() -> Job {
    let nics = |list: std::ops::Range<u32>| list.map(|n| format!("mlx5_{n}:1/IB")).collect();
    let row = |ranks: &str, count, hosts, cells, odd: Option<&str>| Row {
        ranks: ranks.into(),
        count,
        hosts,
        cells,
        odd: odd.map(Into::into),
    };
    Job {
        name: "job 1".into(),
        releases: names(&["2.21.5"]),
        cuda_drivers: names(&["12.4"]),
        ranks: Some(32),
        ranks_seen: 32,
        hosts: hosts(0..4),
        nodes: Some(4),
        communicators: 3,
        networks: vec![("IB".into(), 32)],
        plugins: names(&["IBext_v8"]),
        nics: vec![
            NicList { network: "IB".into(), nics: nics(0..8), hosts: names(&["gpu-0", "gpu-1", "gpu-3"]) },
            NicList { network: "IB".into(), nics: nics(0..6), hosts: names(&["gpu-2"]) },
        ],
        channels: Some((16, 16)),
        paths: ["1b", "43"].map(|bus| near(bus, "PIX", 48.0)).into_iter().chain([near("9d", "SYS", 10.0)]).collect(),
        searches: vec![Search {
            pattern: "ring",
            channels: 4,
            intra_gb_per_s: 48.0,
            inter_gb_per_s: Some(24.0),
            gpus: "NVL".into(),
            nics: Some("PIX".into()),
        }],
        algorithms: vec![("Ring/Simple".into(), 12_345), ("Tree/LL".into(), 12)],
        environment: vec![
            Setting {
                name: "NCCL_NET_GDR_LEVEL".into(),
                value: "PIX".into(),
                only: Some("8 processes on gpu-2 only".into()),
                does: Some("GPUDirect RDMA up to one PCIe switch between GPU and NIC".into()),
                verdict: Some("below the default PXB: turns GPUDirect off where several switches lie between".into()),
                at: "logs/rank16.log:12".into(),
            },
            Setting { name: "NCCL_DEBUG".into(), value: "INFO".into(), ..Setting::default() },
        ],
        matrix: Matrix {
            columns: names(&["P2P/CUMEM", "NET/IB send", "NET/IB receive"]),
            rows: vec![
                row(
                    "0-15,24-31",
                    24,
                    hosts(0..2),
                    vec![p2p("0-15"), net("0-15", "0-7", Gdr::All), net("0-15", "0-7", Gdr::All)],
                    None,
                ),
                row(
                    "16-23",
                    8,
                    names(&["gpu-2"]),
                    vec![p2p("0-15"), net("0-15", "0-5", Gdr::None), net("0-15", "0-5", Gdr::Some)],
                    Some("without GPUDirect RDMA, as 24 of 32 ranks have it"),
                ),
            ],
        },
        benchmarks: names(&["all_reduce: 8 GiB, 196.4 GB/s bus bandwidth (logs/bench.txt:40)"]),
    }
}

fn cause(id: &'static str, severity: Severity, confidence: Confidence) -> Cause {
    Cause {
        id,
        title: "NCCL_NET_GDR_LEVEL is below the path between GPU and NIC",
        summary: "on gpu-2 NCCL_NET_GDR_LEVEL=PIX turns GPUDirect RDMA off: its GPUs and NICs are PXB apart".into(),
        severity,
        confidence,
        because: "the setting stands in the log, and the snapshot shows the path".into(),
        scope: "8 ranks on gpu-2".into(),
        evidence: vec![
            at("logs/rank16.log:12", "NCCL_NET_GDR_LEVEL set by environment to PIX."),
            at(
                "logs/rank16.log:98",
                "GPU Direct RDMA Disabled for GPU 7000 / HCA 0 (distance 4 > 3), read 1, and what follows is long enough to be cut",
            ),
            at("logs/rank17.log:98", "GPU Direct RDMA Disabled for GPU b000 / HCA 1 (distance 4 > 3), read 1"),
            at("logs/rank18.log:98", "GPU Direct RDMA Disabled for GPU 48000 / HCA 2 (distance 4 > 3), read 1"),
        ],
        confirm: names(&["unset it, run again: channels of ranks 16-23 then say /GDRDMA"]),
        refute: names(&["`linerate topo gpu-2.tar.zst --explain GPU0 mlx5_0` says PIX"]),
        rules: vec!["numa/no-shared-switch"],
        remedy: Some(
            Remedy::new(
                "remove NCCL_NET_GDR_LEVEL from the environment of the job",
                Action::Environment { set: vec![], unset: vec!["NCCL_NET_GDR_LEVEL".into()] },
            )
            .because("another path than the one that was measured until now")
            .prove("channel lines of the log"),
        ),
        role: None,
        sources: vec![Source {
            title: "NCCL, src/graph/paths.cc: ncclTopoCheckGdr",
            at: "https://example.org/paths.cc",
        }],
    }
}

fn sick() -> Answer {
    Answer {
        inputs: vec![
            Input {
                name: "logs/rank0.log".into(),
                kind: "NCCL log".into(),
                bytes: 1_234_567,
                lines: 12_000,
                nccl_lines: 11_000,
                understood: 10_990,
                remarks: names(&[
                    "its gzip compression is damaged after 1234567 bytes of text; what came before was read",
                ]),
            },
            Input { name: "gpu-2.tar.zst".into(), kind: "snapshot of gpu-2".into(), ..Input::default() },
        ],
        jobs: vec![job()],
        causes: vec![
            cause("gdr/level-too-low-by-env", Severity::High, Confidence::Certain),
            Cause { remedy: None, evidence: vec![], ..cause("net/fewer-nics", Severity::Medium, Confidence::Likely) },
            cause("gdr/read-off-by-design", Severity::Info, Confidence::Certain),
        ],
        undecided: vec![Undecided {
            symptom: "symptom/hang",
            summary: "the job does not end, and no log says why".into(),
            evidence: vec![at("logs/rank3.log:9000", "Watchdog caught collective operation timeout")],
            candidates: vec!["job/straggler", "job/collective-mismatch"],
            read: names(&["the logs of ranks 4 to 7", "`py-spy dump` on the rank that is missing"]),
        }],
        consequences: vec![Note {
            what: "status=5 on 31 ranks".into(),
            why: "their queue pairs were in error already".into(),
            evidence: vec![at("logs/rank1.log:800", "Got completion from peer 10.0.0.3<4791> with status=5")],
        }],
        not_causes: vec![Note {
            what: "NET/Plugin: Could not find: libnccl-net.so".into(),
            why: "the internal network is used; that is right here".into(),
            evidence: vec![],
        }],
        figures: vec![],
        timeline: vec![
            Failure {
                who: "gpu-2 rank 17".into(),
                after: Some(0.0),
                count: 1,
                processes: 1,
                evidence: at(
                    "logs/rank17.log:900",
                    "NET/IB: Got completion from peer 10.0.0.3<4791> with status=12 opcode=32601 len=0 vendor err 129",
                ),
                consequence: false,
            },
            Failure {
                who: "gpu-0 rank 3".into(),
                after: None,
                count: 1200,
                processes: 31,
                evidence: at("logs/rank3.log:901", "connection closed by remote peer"),
                consequence: true,
            },
        ],
        limits: names(&["clocks of gpu-1 and gpu-2 differ by 3 s"]),
    }
}

fn good() -> Answer {
    Answer { jobs: vec![Job { nics: vec![], matrix: Matrix::default(), ..job() }], ..Answer::default() }
}

/// A table alone.
fn figure() -> Answer {
    let fit = |id, what: &str, basis, on_node: Option<&str>| Explanation {
        id,
        what: what.into(),
        because: "such a link carries 52.2–57.5 Gb/s of data".into(),
        basis,
        rules: vec!["pcie/link-width"],
        on_node: on_node.map(str::to_owned),
        in_log: None,
    };
    Answer {
        figures: vec![Figure {
            name: "perftest RDMA_Write bandwidth of mlx5_0".into(),
            value: 52.5,
            unit: "Gb/s",
            ceiling: Some("392–397 Gb/s: the port on gpu-1 runs at 400 Gb/s".into()),
            share: Some(Share { low: 0.132, high: 0.134 }),
            evidence: at("table.txt:17", "52.5 Gb/s at 64 KiB"),
            shape: "one size, 64 KiB".into(),
            fits: vec![
                fit(
                    "pcie/step",
                    "the PCIe link between NIC and memory runs at Gen3 x8 (or Gen4 x4)",
                    "derived",
                    Some("pcie/link-width fails: 0000:41:00.0: runs at x8 of x16"),
                ),
                fit("path/translated", "the IOMMU translates each access of the NIC", "estimate", None),
            ],
            fits_left_out: 1,
            excluded: vec![Note {
                what: "GPU and NIC are below different root ports".into(),
                why: "numa/no-shared-switch passes on the nodes that were given".into(),
                evidence: vec![],
            }],
            next: Some(Next {
                command: "lspci -vv -s 41:00.0 | grep LnkSta:".into(),
                outcomes: vec![
                    Outcome { shows: "a lower speed or width", fits: vec![1] },
                    Outcome { shows: "full speed and width", fits: vec![2] },
                ],
            }),
            reached: false,
        }],
        inputs: vec![Input {
            name: "table.txt".into(),
            kind: "perftest output".into(),
            bytes: 688,
            lines: 17,
            ..Input::default()
        }],
        ..Answer::default()
    }
}

#[test]
fn a_figure_at_eighty_columns() {
    insta::assert_snapshot!(show(&figure(), 80));
}

#[test]
fn a_figure_for_a_ticket() {
    let mut out = Vec::new();
    markdown::render(&figure(), &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

fn undecided() -> Answer {
    Answer { causes: vec![], ..sick() }
}

fn show(a: &Answer, width: usize) -> String {
    text::to_string(a, Style { width, ..Style::default() })
}

#[test]
fn eighty_columns() {
    insta::assert_snapshot!(show(&sick(), 80));
}

#[test]
fn a_hundred_and_twenty_columns() {
    insta::assert_snapshot!(show(&sick(), 120));
}

#[test]
fn verbose() {
    insta::assert_snapshot!(text::to_string(&sick(), Style { width: 120, verbose: true, colour: false }));
}

#[test]
fn for_a_ticket() {
    let mut out = Vec::new();
    markdown::render(&sick(), &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn verdicts_stand_in_the_first_lines() {
    let first = |a: &Answer| show(a, 120).lines().take(2).collect::<Vec<_>>().join("\n");
    assert_eq!(
        first(&good()),
        "NOTHING WRONG WAS SEEN\n\
         job 1: NCCL 2.21.5, CUDA driver 12.4, 32 ranks on 4 nodes, 3 communicators (exit code 0)"
    );
    assert_eq!(
        first(&undecided()),
        "CANNOT BE DECIDED: the job does not end, and no log says why\nread the logs of ranks 4 to 7 (exit code 2)"
    );
    assert!(first(&Answer::default()).starts_with("NOTHING WAS UNDERSTOOD"), "{}", first(&Answer::default()));
    assert!(first(&sick()).starts_with("CAUSE, certain: on gpu-2 NCCL_NET_GDR_LEVEL=PIX"));
}

/// No line is wider than asked for, except a word that does not fit a line at all.
#[test]
fn lines_fit_the_width() {
    for width in [60, 80, 100, 120, 140] {
        for verbose in [false, true] {
            let got = text::to_string(&sick(), Style { width, verbose, colour: false });
            for line in got.lines() {
                let one_word = line.trim().split(' ').count() == 1;
                assert!(line.chars().count() <= width || one_word, "{width}: {line}");
            }
        }
    }
}

/// Every string of the answer replaced by one that attacks.
fn hostile() -> Answer {
    const EVIL: &str = "\u{1b}[2Jevil\u{9b}31m \u{202e}gnp @all <img> |x|\r\n# second";
    const FENCE: &str = "a ```\n```` b \u{1b}[2Jevil @all";
    let mut a = sick();
    let evil = || EVIL.to_owned();
    let evidence = || at(EVIL, FENCE);
    for c in &mut a.causes {
        (c.summary, c.because, c.scope) = (evil(), evil(), evil());
        c.evidence = vec![evidence(); 3];
        (c.confirm, c.refute) = (vec![evil()], vec![evil()]);
    }
    for u in &mut a.undecided {
        (u.summary, u.read, u.evidence) = (evil(), vec![evil()], vec![evidence()]);
    }
    for n in a.consequences.iter_mut().chain(&mut a.not_causes) {
        (n.what, n.why, n.evidence) = (evil(), evil(), vec![evidence()]);
    }
    for f in &mut a.timeline {
        (f.who, f.evidence) = (evil(), evidence());
    }
    for i in &mut a.inputs {
        (i.name, i.kind, i.remarks) = (evil(), evil(), vec![evil()]);
    }
    let j = a.jobs.first_mut().unwrap();
    (j.name, j.hosts, j.plugins, j.releases) = (evil(), vec![evil()], vec![evil()], vec![evil()]);
    (j.benchmarks, j.cuda_drivers) = (vec![evil()], vec![evil()]);
    j.networks = vec![(evil(), 1)];
    j.algorithms = vec![(evil(), 1)];
    j.nics = vec![NicList { network: evil(), nics: vec![evil()], hosts: vec![evil()] }];
    j.environment = vec![Setting {
        name: evil(),
        value: evil(),
        only: Some(evil()),
        does: Some(evil()),
        verdict: Some(evil()),
        at: evil(),
    }];
    for r in &mut j.matrix.rows {
        (r.ranks, r.hosts, r.odd) = (evil(), vec![evil()], Some(evil()));
        for c in &mut r.cells {
            (c.channels, c.devices) = (evil(), evil());
        }
    }
    j.matrix.columns = vec![evil(); 3];
    a.limits = vec![evil()];
    a.figures = figure().figures;
    for f in &mut a.figures {
        (f.name, f.shape, f.ceiling, f.evidence) = (evil(), evil(), Some(evil()), evidence());
        f.fits.iter_mut().for_each(|e| {
            (e.what, e.because, e.on_node, e.in_log) = (evil(), evil(), Some(evil()), Some(evil()));
        });
        f.excluded.iter_mut().for_each(|n| (n.what, n.why) = (evil(), evil()));
        f.next.iter_mut().for_each(|n| n.command = evil());
    }
    a
}

#[test]
fn data_never_reaches_the_terminal_raw() {
    let bad =
        |text: &str| text.chars().find(|c| (c.is_control() && *c != '\n') || matches!(c, '\u{202e}' | '\u{feff}'));
    for verbose in [false, true] {
        for width in [40, 80, 4000] {
            let got = text::to_string(&hostile(), Style { verbose, width, colour: false });
            assert_eq!(bad(&got), None, "{got}");
            assert!(got.contains("\\u{1b}[2Jevil"), "{got}");
            assert!(!got.lines().any(|l| l.starts_with("# second")), "{got}");
        }
    }
    let mut out = Vec::new();
    markdown::render(&hostile(), &mut out).unwrap();
    let got = String::from_utf8(out).unwrap();
    assert_eq!(bad(&got), None, "{got}");
    // Outside of fences nothing mentions, and nothing is a tag.
    let mut fenced = false;
    for line in got.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            assert!(!line.contains("@all") && !line.contains("<img>") && !line.starts_with("# second"), "{line}");
        }
    }
}

fn document(a: &Answer) -> Value {
    let mut out = Vec::new();
    json::render(a, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn documents_match_their_schema() {
    let schema = Schema::of("doctor-1");
    for a in [sick(), good(), undecided(), figure(), hostile(), Answer::default()] {
        let value = document(&a);
        schema.check(&value).unwrap();
        assert_eq!((&value["schema"], &value["exit_code"]), (&json::SCHEMA.into(), &a.exit_code().into()));
    }
    let value = document(&sick());
    let wrong = [
        ("/schema", Value::from("linerate.doctor/2")),
        ("/exit_code", 7.into()),
        ("/causes/0/confidence", "sure".into()),
        ("/causes/0/remedy/risk", "severe".into()),
        ("/jobs/0/matrix/rows/0/cells/1/gdr", "yes".into()),
        ("/timeline/1/after", "later".into()),
        ("/inputs/0/lines", (-1).into()),
    ];
    schema.rejects(&value, &wrong);
}
