use super::*;
use crate::model::{Better, Label, Unit};

/// A run of nccl-tests with one value for each size, out of place.
fn nccl(values: &[(u64, f64)], hosts: &[&str], order: Option<i64>) -> Run {
    let mut run = Run { kind: Kind::NcclTests, tool: Some("all_reduce_perf".into()), ..Run::default() };
    hosts.iter().for_each(|h| run.host(h));
    run.param(crate::model::ORDER, order);
    run.param("ranks", Some(8_u32));
    run.param("nodes", Some(2_u32));
    let busbw = Metric::new("busbw", Unit::GBps, Better::Higher);
    let series = run.series_mut(busbw, &[Label::new("place", "out-of-place")]);
    values.iter().for_each(|(size, v)| series.push(Some(*size), None, *v));
    run
}

fn side<'a>(name: &'a str, runs: &'a [Run]) -> Input<'a> {
    Input { name, runs, hosts: &[], facts: &[], known: None }
}

const MIB: u64 = 1 << 20;

#[test]
fn one_run_per_side_never_decides() {
    // Far apart, and still: nothing is known about how runs differ.
    let (a, b) = ([nccl(&[(MIB, 10.0)], &["n1"], None)], [nccl(&[(MIB, 20.0)], &["n1"], None)]);
    let answer = compare(&side("A", &a), &side("B", &b), &Options::default());
    let [cell] = &answer.comparisons[..] else { panic!("{answer:?}") };
    assert_eq!(cell.verdict, Verdict::Inconclusive);
    assert_eq!((cell.estimate, cell.interval, cell.further_runs), (Some(2.0), None, Some(2)));
    assert!(cell.reason.contains("n = 1"), "{}", cell.reason);
}

#[test]
fn repetitions_decide_and_direction_is_respected() {
    let runs = |base: f64, order: [i64; 5]| -> Vec<Run> {
        let noise = [0.0, 0.4, -0.3, 0.2, -0.2];
        noise
            .iter()
            .zip(order)
            .map(|(n, o)| nccl(&[(MIB, base + n), (2 * MIB, 90.0 + n)], &["n1", "n2"], Some(o)))
            .collect()
    };
    let (a, b) = (runs(80.0, [1, 4, 5, 8, 9]), runs(84.0, [2, 3, 6, 7, 10]));
    let answer = compare(&side("A", &a), &side("B", &b), &Options::default());
    assert_eq!(answer.design.order, "interleaved");
    assert_eq!(answer.design.nodes, "same-nodes");
    let verdicts: Vec<Verdict> = answer.comparisons.iter().map(|c| c.verdict).collect();
    assert_eq!(verdicts, [Verdict::Better, Verdict::Equivalent], "{:#?}", answer.conclusions);
    let worse = compare(&side("A", &b), &side("B", &a), &Options::default());
    assert_eq!(worse.comparisons[0].verdict, Verdict::Worse);
    let ratio = answer.comparisons[0].estimate.unwrap() * worse.comparisons[0].estimate.unwrap();
    assert!((ratio - 1.0).abs() < 1e-9);
}

#[test]
fn an_invalid_run_is_no_side() {
    let mut bad = nccl(&[(MIB, 10.0)], &[], None);
    bad.faults.push(crate::Fault { what: "12 wrong elements".into(), line: Some(3), whole_run: true });
    let (a, b) = ([bad], [nccl(&[(MIB, 20.0)], &[], None)]);
    let answer = compare(&side("A", &a), &side("B", &b), &Options::default());
    assert!(answer.comparisons.is_empty());
    assert_eq!(answer.excluded[0].why, "12 wrong elements");
    assert!(answer.conclusions[0].starts_with("nothing was compared"));
}

#[test]
fn other_nodes_are_called_by_their_name() {
    let (a, b) = ([nccl(&[(MIB, 10.0)], &["u17", "u18"], None)], [nccl(&[(MIB, 10.0)], &["u12", "u16"], None)]);
    let answer = compare(&side("A", &a), &side("B", &b), &Options::default());
    let first = &answer.confounds[0];
    assert_eq!((first.weight, first.what.as_str(), first.a.as_str()), (Weight::Decisive, "nodes", "u17, u18"));
    assert!(first.why.contains("without cross-over"));
}

#[test]
fn a_shared_limit_leaves_no_power() {
    let links = "4x400G,roce,mtu=4096".parse().expect("links");
    let known = Known::default().links(Some(links)).shape(None, Some(4));
    let (a, b) = ([nccl(&[(2048 * MIB, 93.13)], &[], None)], [nccl(&[(2048 * MIB, 92.37)], &[], None)]);
    let with = |name, runs| Input { known: Some(&known), ..side(name, runs) };
    let answer = compare(&with("A", &a), &with("B", &b), &Options::default());
    let ceiling = answer.comparisons[0].ceiling.as_ref().expect("links are known");
    assert!((ceiling.ceiling.high - 196.08).abs() < 0.01, "{ceiling:?}");
    assert!((ceiling.share_a.unwrap() - 0.475).abs() < 0.001);
    assert!(ceiling.sentence.contains("47 %") && ceiling.sentence.contains("cannot show"), "{}", ceiling.sentence);
}

#[test]
fn equal_prints_need_enough_runs() {
    let runs = |n: usize, v: f64| (0..n).map(|i| nccl(&[(MIB, v)], &[], Some(i as i64))).collect::<Vec<_>>();
    let verdict = |n| {
        let (a, b) = (runs(n, 93.1), runs(n, 93.1));
        compare(&side("A", &a), &side("B", &b), &Options::default()).comparisons[0].verdict
    };
    assert_eq!(verdict(3), Verdict::Inconclusive);
    assert_eq!(verdict(4), Verdict::Equivalent);
}

#[test]
fn runs_of_another_shape_are_not_repetitions() {
    let iperf = |streams: u32, value: f64| {
        let mut run = Run { kind: Kind::Iperf3, ..Run::default() };
        run.param("streams", Some(streams));
        run.series_mut(Metric::new("bandwidth", Unit::Gbps, Better::Higher), &[]).push(None, None, value);
        run
    };
    // One stream and eight on both sides: two comparisons, with two runs each.
    let runs =
        |shift: f64| [iperf(1, 20.0 + shift), iperf(8, 90.0 + shift), iperf(1, 20.1 + shift), iperf(8, 91.0 + shift)];
    let (a, b) = (runs(0.0), runs(0.2));
    let answer = compare(&side("A", &a), &side("B", &b), &Options::default());
    let seen: Vec<(&str, usize)> = answer.comparisons.iter().map(|c| (c.labels[0].value.as_str(), c.a.runs)).collect();
    assert_eq!(seen, [("1", 2), ("8", 2)]);
    // One stream against eight: that is what is compared.
    let (a, b) = ([iperf(1, 20.0), iperf(1, 20.2)], [iperf(8, 90.0), iperf(8, 91.0)]);
    let answer = compare(&side("A", &a), &side("B", &b), &Options::default());
    assert_eq!(answer.comparisons.len(), 1);
    assert_eq!(answer.confounds[0].what, "iperf3: streams");
}
