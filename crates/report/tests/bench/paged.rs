//! One page about a cluster; what was measured before.

use crate::{keeps_to, made, text, wide};
use linerate_bench::{Better, Label, Run, Stat, Unit};
use linerate_report::Style;
use linerate_report::bench::page::{Mood, Page, Remark, Section, Table, page_html, page_markdown, page_text};
use linerate_report::bench::plot::{PlotSide, Select, sweep};
use linerate_report::bench::{Band, HistoryRow, bands_text, headline, history_text};

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| (*s).to_owned()).collect()
}

fn page() -> Page {
    let run = made::nccl("node-1", 0.05);
    let runs = [&run];
    let select =
        Select { metric: "busbw".into(), stat: Stat::Value, labels: vec![Label::new("place", "out-of-place")] };
    let plot = sweep(&[PlotSide { name: "ring over 40 GbE", runs: &runs }], &select, None);
    Page {
        title: "Two servers, 40 GbE back to back: what they can do".into(),
        lead: vec![
            Remark::new(Mood::Good, "RDMA runs at 99.9 % of what one port allows: 38.2 of 38.25 Gb/s."),
            Remark::new(Mood::Warn, "TCP reaches 27.4 Gb/s with one stream: 72 % of RDMA, at 23 times its latency."),
        ],
        sections: vec![
            Section {
                heading: "RDMA against TCP".into(),
                facts: vec![("link".into(), "40 Gb/s, RoCE, MTU 2048".into()), ("switch".into(), String::new())],
                table: Some(Table {
                    heads: strings(&["what", "RDMA", "TCP", "unit"]),
                    rows: vec![
                        strings(&["bandwidth, one way", "38.2", "27.4", "Gb/s"]),
                        strings(&["latency, typical", "0.85", "21.6", "µs"]),
                        strings(&["latency through the switch", "", "", "µs"]),
                    ],
                }),
                plots: vec![plot],
                remarks: vec![Remark::new(Mood::Plain, "14.1 GB of gradients take 2.95 s by RDMA, 4.12 s by TCP.")],
            },
            Section {
                heading: "NVMe".into(),
                remarks: vec![
                    Remark::new(Mood::Bad, "read <1 MiB & direct>: 1,790 MiB/s, slower than write"),
                    Remark::new(Mood::Doubt, "whether the page cache took part: the output does not say"),
                ],
                ..Section::default()
            },
        ],
        footer: strings(&["Bandwidths are one way; 1 Gb/s is 10^9 bits a second.", "n = 1 run each: no interval."]),
    }
}

#[test]
fn a_page_for_a_terminal() {
    let got = text(|out| page_text(&page(), wide(90), out));
    keeps_to(&got, 90);
    insta::assert_snapshot!(got);
}

#[test]
fn a_page_for_a_repository() {
    insta::assert_snapshot!(text(|out| page_markdown(&page(), out)));
}

#[test]
fn a_page_for_a_browser() {
    let html = text(|out| page_html(&page(), out));
    insta::assert_snapshot!(html);
    for outside in ["<script", "<link", "@import", "url(", "src="] {
        assert!(!html.contains(outside), "{outside}");
    }
    // The body is well-formed: what opens closes, and no data is markup.
    let body = html.split_once("<main>").unwrap().1.split_once("</main>").unwrap().0;
    let document = format!("<main>{body}</main>");
    let document = roxmltree::Document::parse(&document).unwrap();
    let headings = document.descendants().filter(|n| n.has_tag_name("h2")).count();
    assert_eq!(headings, 2);
}

#[test]
fn hostile_pages_stay_harmless() {
    let evil = "</svg><script>x\x1b[2J\u{202e}|`*\n";
    let mut page = page();
    page.title = evil.into();
    page.sections[0].heading = evil.into();
    page.sections[0].facts[0] = (evil.into(), evil.into());
    page.sections[0].plots[0].title = evil.into();
    page.sections[0].plots[0].series[0].name = evil.into();
    page.sections[0].table = Some(Table { heads: vec![evil.into(); 2], rows: vec![vec![evil.into(); 9], Vec::new()] });
    page.footer = vec![evil.into()];
    let html = text(|out| page_html(&page, out));
    assert!(!html.contains("<script") && !html.contains('\u{202e}') && !html.contains('\x1b'), "{html}");
    keeps_to(&text(|out| page_text(&page, wide(80), out)), 80);
    let ticket = text(|out| page_markdown(&page, out));
    assert!(!ticket.chars().any(|c| c.is_control() && c != '\n'), "{ticket}");
    text(|out| page_html(&Page::default(), out));
}

fn rows() -> Vec<HistoryRow> {
    let row = |run: &Run, label: Option<&str>, hosts: &[&str]| HistoryRow {
        id: run.id().to_string(),
        kind: run.kind.name().into(),
        tool: run.tool.as_ref().map(ToString::to_string),
        when: run.began,
        hosts: strings(hosts),
        label: label.map(Into::into),
        headline: headline(run),
        valid: run.is_valid(),
    };
    vec![
        row(&made::nccl("u17", 1.0), Some("before the firmware"), &["u17", "u18"]),
        row(&made::void(), None, &["u13", "u18"]),
        row(&made::write_lat(), Some("back\x1bto\nback"), &[]),
        row(&made::training(2, 195e3, 2), None, &["u1", "u2", "u3", "u4", "u7", "u9"]),
    ]
}

#[test]
fn history_for_a_terminal() {
    for width in [60, 100, 140] {
        let got = text(|out| history_text(&rows(), wide(width), out));
        keeps_to(&got, width);
        insta::assert_snapshot!(format!("history_{width}"), got);
    }
    let many: Vec<HistoryRow> = rows().into_iter().cycle().take(100).collect();
    let got = text(|out| history_text(&many, wide(100), out));
    assert!(got.ends_with("and 40 more runs (--verbose)\n"), "{got}");
    assert_eq!(text(|out| history_text(&many, Style { verbose: true, ..wide(100) }, out)).lines().count(), 102);
}

#[test]
fn bands_say_their_n() {
    let band = Band {
        what: "all_reduce_perf busbw at 8 GiB, 8 ranks".into(),
        unit: Unit::GBps,
        better: Better::Higher,
        low: 194.0,
        median: 251.5,
        high: 309.0,
        runs: 12,
        target: Some(340.0),
        latest: Some(187.2),
    };
    assert_eq!(band.sentence(), "194–309\u{a0}GB/s (n = 12 runs, median 251.5)");
    let latency = Band {
        what: "ib_write_lat".into(),
        unit: Unit::Microseconds,
        better: Better::Lower,
        low: 0.8,
        median: 0.85,
        high: 1.1,
        runs: 3,
        target: Some(0.9),
        latest: Some(0.84),
    };
    let one = Band { runs: 1, median: 93.13, target: None, latest: None, ..band.clone() };
    let odd = Band { low: f64::NAN, median: f64::INFINITY, high: f64::MAX, target: Some(f64::MIN), ..band.clone() };
    let got = text(|out| bands_text(&[band, latency, one, odd], wide(80), out));
    keeps_to(&got, 80);
    insta::assert_snapshot!(got);
}
