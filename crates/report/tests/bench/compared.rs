//! What comparisons say.

use crate::common::schema::Schema;
use crate::{keeps_to, made, text, wide};
use linerate_report::Style;
use linerate_report::bench::{comparison_json, comparison_markdown, comparison_text};
use proptest::prelude::*;
use serde_json::Value;

#[test]
fn one_run_a_side_for_a_terminal() {
    let got = text(|out| comparison_text(&made::single_runs(), wide(100), out));
    keeps_to(&got, 100);
    insta::assert_snapshot!(got);
}

#[test]
fn repetitions_for_a_terminal() {
    let got = text(|out| comparison_text(&made::repeated(), wide(120), out));
    keeps_to(&got, 120);
    insta::assert_snapshot!(got);
}

#[test]
fn narrow_pages_have_the_forest_below() {
    let got = text(|out| comparison_text(&made::repeated(), wide(72), out));
    keeps_to(&got, 72);
    insta::assert_snapshot!(got);
}

#[test]
fn for_a_ticket() {
    insta::assert_snapshot!(text(|out| comparison_markdown(&made::single_runs(), out)));
}

#[test]
fn colours_add_nothing_but_colours() {
    for c in [made::single_runs(), made::repeated()] {
        let plain = text(|out| comparison_text(&c, wide(100), out));
        let colour = text(|out| comparison_text(&c, Style { colour: true, ..wide(100) }, out));
        assert_ne!(plain, colour);
        let mut stripped = String::new();
        let mut rest = colour.as_str();
        while let Some((before, after)) = rest.split_once("\x1b[") {
            stripped.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        assert_eq!(stripped + rest, plain);
    }
}

#[test]
fn json_keeps_to_its_schema_and_holds_no_odd_number() {
    let schema = Schema::of("bench-compare-1");
    let mut odd = made::single_runs();
    for c in &mut odd.comparisons {
        c.interval = Some([0.9, f64::INFINITY]);
        c.estimate = Some(f64::NAN);
        c.a.stdev = Some(f64::NEG_INFINITY);
        c.a.outliers.iter_mut().for_each(|o| o.deviations = f64::INFINITY);
    }
    for c in [made::single_runs(), made::repeated(), odd] {
        let value: Value = serde_json::from_str(&text(|out| comparison_json(&c, out))).unwrap();
        schema.check(&value).unwrap();
        assert_eq!(value["comparisons"].as_array().unwrap().len(), c.comparisons.len());
    }
}

#[test]
fn hostile_names_stay_harmless() {
    let mut c = made::single_runs();
    let evil = "x\x1b[2J\u{202e}\n|y";
    for text in [&mut c.a.name, &mut c.b.name, &mut c.conclusions[0], &mut c.confounds[0].a, &mut c.excluded[0].what] {
        *text = evil.into();
    }
    c.comparisons[0].metric = evil.into();
    c.comparisons[0].reason = evil.into();
    c.a.hosts = vec![evil.into()];
    keeps_to(&text(|out| comparison_text(&c, wide(80), out)), 80);
    let ticket = text(|out| comparison_markdown(&c, out));
    assert!(!ticket.chars().any(|c| c.is_control() && c != '\n'), "{ticket}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_ratio_is_shown(
        rows in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>(), any::<u64>()), 1..20),
        threshold in any::<f64>(),
        width in 60_usize..200,
    ) {
        let mut c = made::repeated();
        let template = c.comparisons[0].clone();
        c.threshold = threshold;
        c.comparisons = rows
            .into_iter()
            .map(|(low, e, high, size)| {
                let mut one = template.clone();
                one.size = Some(size);
                one.estimate = Some(e);
                one.interval = Some([low, high]);
                one.a.typical = Some(low);
                one.detectable = Some(high);
                one
            })
            .collect();
        keeps_to(&text(|out| comparison_text(&c, wide(width), out)), width);
        let _ = text(|out| comparison_markdown(&c, out));
    }
}
