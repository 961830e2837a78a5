//! Both readers and the writer; and that nothing that is read makes anything panic.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use crate::common;

use common::shared;
use linerate_formats::bounds::XML_ATTRIBUTES;
use linerate_topology::xml::{Dialect, Element};
use linerate_topology::{Analysis, Config, Document, Input, Nvlink};
use proptest::prelude::*;

fn nccl(inside: &str) -> Result<Document, String> {
    Document::parse(inside, Dialect::Nccl).map_err(|e| e.to_string())
}

const NODE: &str = r#"<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143" mystery="1">
    <pci busid="0000:0a:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:0b:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="80" rank="0" gdr="1">
          <nvlink target="0000:0c:00.0" count="4" tclass="0x030200"/>
        </gpu>
      </pci>
      <pci busid="0000:0c:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="80" rank="1" gdr="1">
          <nvlink target="0000:0b:00.0" count="4" tclass="0x030200"/>
        </gpu>
      </pci>
      <pci busid="0000:0d:00.0" class="0x020000" link_speed="16.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" speed="200000" port="1" guid="0x1" maxconn="64" gdr="1"/>
        </nic>
      </pci>
    </pci>
  </cpu>
</system>
"#;

#[test]
fn what_is_read_is_written_again() {
    for dialect in [Dialect::Nccl, Dialect::Lenient] {
        let doc = Document::parse(NODE, dialect).unwrap();
        assert_eq!(doc.to_xml(dialect), NODE);
    }
}

#[test]
fn all_elements_come_in_the_order_of_the_document() {
    let doc = Document::parse(NODE, Dialect::Nccl).unwrap();
    let lines: Vec<u32> = doc.system.all().map(|e| e.at.line).collect();
    let opened = (1..).zip(NODE.lines()).filter(|(_, l)| l.contains('<') && !l.contains("</")).map(|(n, _)| n);
    assert_eq!(lines, opened.collect::<Vec<u32>>());
}

#[test]
fn nccl_refuses_what_it_refuses() {
    for (text, what) in [
        ("<?xml version=\"1.0\"?>\n<system version=\"1\"/>", "declaration"),
        ("<system version=\"1\">\n\t<cpu/>\n</system>", "tabs"),
        ("<system version=\"1\">text</system>", "text"),
        ("<system version=\"2\"></system>", "version 1"),
        ("<system></system>", "version 1"),
        ("<system version=\"1\"\n></system>", "one line"),
        ("<system version=1></system>", "quotes"),
        ("<system version=\"1\"></system >", "closing tag"),
        ("<system version=\"1\"><cpu></system>", "</cpu> is due"),
        ("<system version=\"1\"><cpu>", "not closed"),
        ("<system version=\"1", "ends"),
        ("<!-- x", "comment"),
        ("", "no <system>"),
    ] {
        let error = nccl(text).unwrap_err();
        assert!(error.contains(what), "{text:?}: {error}");
    }
    let error = nccl("<system version=\"1\">\n  <cpu>\n\t</cpu></system>").unwrap_err();
    assert!(error.starts_with("line 3, column 1: "), "{error}");
}

#[test]
fn nccl_skips_what_it_skips() {
    let doc = nccl(concat!(
        "<!-- a comment -- with > in it -->\n",
        "<system version='1'>\n",
        "  <odd><inner a=\"1\"/></whatever>\n",
        "  <cpu  numaid=\"0\" ><gpu/></cpu>\r\n",
        "</system>"
    ))
    .unwrap();
    let cpu = Element::new("cpu").with("numaid", "0");
    let got = &doc.system.children;
    assert_eq!(got.len(), 1);
    assert_eq!((&got[0].attributes, got[0].children.len()), (&cpu.attributes, 0));
    // Two spaces are an attribute without a name: they take one of sixteen places.
    let keys: String = (0..16).map(|n| format!(" k{n}=\"1\"")).collect();
    let count = |s: &str| {
        nccl(&format!("<system version=\"1\"><cpu{s}/></system>")).unwrap().system.children[0].attributes.len()
    };
    assert_eq!((count(&keys), count(&format!(" {keys}"))), (16, 15));
    // The closing tag of a skipped element need not match: NCCL compares it with itself.
    assert!(nccl("<system version=\"1\"><odd></other></system>").is_ok());
}

#[test]
fn lenient_reads_any_xml() {
    let text = "\u{feff}<?xml version=\"1.0\"?>\n<!DOCTYPE system>\n<system\n\tversion = '1' name=\"a &amp; &#x62;&#99;&quot;\">\
                text<![CDATA[<x>]]><cpu/></system>\n<!-- end -->\n";
    let doc = Document::parse(text, Dialect::Lenient).unwrap();
    assert_eq!(doc.system.get("name"), Some("a & bc\""));
    assert_eq!(doc.system.children.len(), 1);
    let again = Document::parse(doc.to_xml(Dialect::Lenient), Dialect::Lenient).unwrap();
    assert_eq!(again.system.attributes, doc.system.attributes);
    for (text, what) in [
        ("<system a=\"1\" a=\"2\"/>", "twice"),
        ("<system a=\"&nope;\"/>", "entity"),
        ("<system a=\"<\"/>", "&lt;"),
        ("<system><cpu></system></cpu>", "order"),
        ("<system/><system/>", "one <system>"),
        ("<graphs/>", "<system> is due"),
        ("x<system/>", "outside"),
        ("<system>", "not closed"),
        ("<system a=1/>", "quotes"),
        ("<system a/>", "no value"),
    ] {
        let error = Document::parse(text, Dialect::Lenient).unwrap_err().to_string();
        assert!(error.contains(what), "{text:?}: {error}");
    }
    assert!(Document::parse(b"<system \xff/>", Dialect::Lenient).unwrap_err().what.contains("UTF-8"));
    let deep = "<a>".repeat(100_000);
    assert!(Document::parse(&deep, Dialect::Lenient).unwrap_err().what.contains("deeper"));
}

#[test]
fn an_element_has_a_limited_number_of_attributes() {
    let of = |n: usize| {
        let attributes: String = (0..n).map(|i| format!(" a{i}=\"1\"")).collect();
        Document::parse(format!("<system version=\"1\"><cpu{attributes}/></system>"), Dialect::Lenient)
    };
    assert!(of(XML_ATTRIBUTES).is_ok());
    // A million would be half a million million comparisons.
    for n in [XML_ATTRIBUTES + 1, 1_000_000] {
        assert!(of(n).is_err_and(|e| e.at.line == 1 && e.what.contains(&XML_ATTRIBUTES.to_string())), "{n}");
    }
}

#[test]
fn real_files_lose_nothing() {
    let Some(root) = shared("") else { return };
    let mut files = 0;
    for dir in ["nccl-oracle", "topo-xml"] {
        for entry in std::fs::read_dir(root.join(dir)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|e| e != "xml") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let lenient = Document::parse(&text, Dialect::Lenient).unwrap_or_else(|e| panic!("{path:?}: {e}"));
            let strict = Document::parse(&text, Dialect::Nccl).unwrap_or_else(|e| panic!("{path:?}: {e}"));
            for dialect in [Dialect::Nccl, Dialect::Lenient] {
                let again = Document::parse(strict.to_xml(dialect), dialect).unwrap();
                assert_eq!(bare(&again.system), bare(&strict.system), "{path:?}");
            }
            assert_eq!(bare(&lenient.system), bare(&strict.system), "{path:?}");
            // NCCL's own dumps come back byte by byte.
            if path.to_string_lossy().ends_with(".fused.xml") {
                assert_eq!(strict.to_xml(Dialect::Nccl), text, "{path:?}");
            }
            files += 1;
        }
    }
    println!("{files} files");
    assert!(files > 0);
}

/// Without places.
fn bare(e: &Element) -> Element {
    Element { at: Default::default(), children: e.children.iter().map(bare).collect(), ..e.clone() }
}

/// A change somewhere in a document.
#[derive(Debug, Clone)]
enum Change {
    Drop(usize),
    Twice(usize),
    Unset(usize, usize),
    Set(usize, usize, String),
    Move(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let value = prop_oneof![
        Just(String::new()),
        Just("-1".to_owned()),
        Just("1".to_owned()),
        Just("0x03".to_owned()),
        Just("0x060400".to_owned()),
        Just("0x068001".to_owned()),
        Just("0000:0b:00.0".to_owned()),
        Just("0000:0C:00.0".to_owned()),
        Just("99999999999999999999".to_owned()),
        "[ -~]{0,12}",
    ];
    prop_oneof![
        (0..64_usize).prop_map(Change::Drop),
        (0..64_usize).prop_map(Change::Twice),
        (0..64_usize, 0..12_usize).prop_map(|(e, a)| Change::Unset(e, a)),
        (0..64_usize, 0..12_usize, value).prop_map(|(e, a, v)| Change::Set(e, a, v)),
        (0..64_usize, 0..64_usize).prop_map(|(e, t)| Change::Move(e, t)),
    ]
}

/// The parent of the nth element, and its place there.
fn find(e: &mut Element, n: &mut usize, act: &mut dyn FnMut(&mut Vec<Element>, usize)) -> bool {
    for i in 0..e.children.len() {
        if *n == 0 {
            act(&mut e.children, i);
            return true;
        }
        *n -= 1;
        if find(&mut e.children[i], n, act) {
            return true;
        }
    }
    false
}

fn apply(system: &mut Element, change: &Change) {
    match change.clone() {
        Change::Drop(mut n) => drop(find(system, &mut n, &mut |all, i| drop(all.remove(i)))),
        Change::Twice(mut n) => drop(find(system, &mut n, &mut |all, i| all.push(all[i].clone()))),
        Change::Unset(mut n, a) => drop(find(system, &mut n, &mut |all, i| {
            let attributes = &mut all[i].attributes;
            if a < attributes.len() {
                attributes.remove(a);
            }
        })),
        Change::Set(mut n, a, value) => drop(find(system, &mut n, &mut |all, i| {
            let keys = [
                "keep",
                "rank",
                "mlopart",
                "rail",
                "gin",
                "net",
                "host_hash",
                "class",
                "busid",
                "link_width",
                "dev",
                "target",
            ];
            let key = all[i].attributes.get(a).map_or(keys[a % keys.len()].to_owned(), |(k, _)| k.to_string());
            all[i].set(&key, value.clone());
        })),
        Change::Move(mut n, mut t) => {
            let mut taken = None;
            find(system, &mut n, &mut |all, i| taken = Some(all.remove(i)));
            let Some(taken) = taken else { return };
            find(system, &mut t, &mut |all, i| all[i].children.push(taken.clone()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = Document::parse(&bytes, Dialect::Nccl);
        let _ = Document::parse(&bytes, Dialect::Lenient);
    }

    #[test]
    fn no_markup_makes_a_reader_panic(text in r#"[<>/!?=&;"' \-a-c\n\t\[\]]{0,80}"#) {
        for dialect in [Dialect::Nccl, Dialect::Lenient] {
            for text in [text.clone(), format!("<system version=\"1\">{text}</system>")] {
                if let Ok(doc) = Document::parse(&text, dialect) {
                    let again = Document::parse(doc.to_xml(dialect), dialect);
                    // NCCL reads names and values that no XML has: only what is XML comes back.
                    if dialect == Dialect::Lenient {
                        prop_assert_eq!(bare(&again.unwrap().system), bare(&doc.system));
                    }
                }
            }
        }
    }

    #[test]
    fn no_change_to_a_node_makes_the_analysis_panic(changes in proptest::collection::vec(change(), 1..8)) {
        let mut doc = Document::parse(NODE, Dialect::Nccl).unwrap();
        for c in &changes {
            apply(&mut doc.system, c);
        }
        for (input, nvlink) in [
            (Input::File, Nvlink::None),
            (Input::File, Nvlink::Switch(None)),
            (Input::File, Nvlink::Mesh(vec![(0, 1, 2), (1, 5, 1)])),
            (Input::Fused, Nvlink::None),
        ] {
            let mut config = Config { input, ..Config::default() };
            config.assume.nvlink = nvlink;
            if let Ok(a) = Analysis::new(&doc, &config) {
                prop_assert_eq!(a.gdr.len(), a.local_nets.len() * a.system.nets().count());
                // What NCCL has made of a document it makes nothing more of.
                if input == Input::File {
                    let again = Config { input: Input::Fused, ..config.clone() };
                    let b = Analysis::new(&a.fused(), &again);
                    prop_assert_eq!(b.map(|b| b.gdr), Ok(a.gdr));
                }
            }
        }
    }
}
