//! A topology as text and JSON.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use crate::common::schema;

use linerate_formats::pci::{LinkSpeed, LinkWidth};
use linerate_report::Style;
use linerate_report::topo::{LinkState, PcieLink, Topo, differences, json, names, text};
use linerate_topology::ceiling::{Extra, node_ceilings};
use linerate_topology::xml::{Dialect, Document};
use linerate_topology::{Analysis, Config, Env, Input, Search};

const NODE: &str = include_str!("data/two-rails.xml");

fn with<T>(xml: &str, env: &[(&str, &str)], f: impl FnOnce(&Topo<'_>) -> T) -> T {
    let document = Document::parse(xml, Dialect::Lenient).unwrap();
    let mut config = Config { input: Input::Fused, ..Config::default() };
    config.env = Env::parse(env.iter().copied(), config.version);
    let analysis = Analysis::new(&document, &config).unwrap();
    let links = |bus: &str| {
        (bus == "0000:61:00.0").then_some(LinkState {
            now: PcieLink::new(LinkSpeed::Gen4, LinkWidth(8)),
            possible: PcieLink::new(LinkSpeed::Gen5, LinkWidth(16)),
        })
    };
    let search = Search::new(&analysis, 2);
    let ceilings = node_ceilings(&analysis, &Extra { nodes: Some(2), ..Extra::default() });
    f(&Topo {
        label: "two-rails.xml",
        document: &document,
        config: &config,
        analysis: &analysis,
        links: &links,
        models: &|_: &str| None,
        notes: &["a note".to_owned()],
        matrix: None,
        theirs: None,
        search: Some(&search),
        ceilings: Some(&ceilings),
    })
}

fn page(topo: &Topo<'_>) -> String {
    let mut out = Vec::new();
    text::render(topo, Style::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_page_shows_the_decision() {
    insta::assert_snapshot!(with(NODE, &[], page));
}

#[test]
fn a_decision_is_explained() {
    let said = with(NODE, &[], |topo| {
        let find = |n| names::find(&topo.analysis.system, n).unwrap();
        let pairs = [("GPU0", "mlx5_0"), ("gpu1", "0000:71:00.0"), ("GPU1", "mlx5_0"), ("GPU0", "GPU1")];
        assert!(names::find(&topo.analysis.system, "GPU7").unwrap_err().there.iter().any(|n| n == "mlx5_1"));
        let of = |(a, b)| {
            let mut out = Vec::new();
            text::explain(topo, (find(a), find(b)), Style::default(), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        pairs.map(of).join("\n")
    });
    insta::assert_snapshot!(said);
}

#[test]
fn json_keeps_to_its_schema() {
    let schema = schema::Schema::of("topo-1");
    for env in [&[][..], &[("NCCL_NET_GDR_LEVEL", "LOC")], &[("NCCL_NET_GDR_READ", "0")]] {
        let value: serde_json::Value = with(NODE, env, |topo| {
            let mut out = Vec::new();
            json::render(topo, &mut out).unwrap();
            serde_json::from_slice(&out).unwrap()
        });
        schema.check(&value).unwrap();
        assert_eq!(value["gdr"].as_array().unwrap().len(), 4);
    }
}

#[test]
fn what_would_change_is_told() {
    let before = with(NODE, &[], |t| t.analysis.clone());
    let after = with(NODE, &[("NCCL_NET_GDR_LEVEL", "PHB")], |t| t.analysis.clone());
    insta::assert_snapshot!(differences::lines(&before, &after).join("\n"));
    assert_eq!(differences::lines(&before, &before), ["nothing: NCCL's decisions are the same"]);
}

#[test]
fn hostile_names_stay_harmless() {
    let xml = NODE.replace("mlx5_1", "evil&#27;[2Jmlx&#x202e;").replace("GenuineIntel", "&#7;&lt;b&gt;");
    let page = with(&xml, &[], page);
    assert!(!page.chars().any(|c| c.is_control() && c != '\n'), "{page}");
}
