use super::*;

fn run() -> Run {
    let mut run = Run { kind: Kind::Perftest, tool: Some("ib_write_bw".into()), ..Run::default() };
    run.param("mtu", Some(4096_u32));
    run.host("n1");
    run.host("n1");
    let metric = Metric::new("bandwidth", Unit::Gbps, Better::Higher);
    run.series_mut(metric.clone(), &[]).push(Some(65536), None, 392.0);
    run.series_mut(metric, &[]).push(Some(8 << 20), None, 392.4);
    run
}

#[test]
fn the_name_follows_from_the_content_alone() {
    let first = run();
    let mut moved = run();
    moved.source = Source { name: "elsewhere".into(), line: 7 };
    moved.notes.push(Note { what: "seen".into(), line: None });
    assert_eq!(first.id(), moved.id());
    let mut other = run();
    other.series[0].points = other.series[0].points.map(|p| Point { value: p.value.max(392.5), ..p });
    assert_ne!(first.id(), other.id());
    let mut other = run();
    other.host("n2");
    assert_ne!(first.id(), other.id());
    assert_eq!(first.id().to_string().parse(), Ok(first.id()));
    assert!("0123456789ABCDEF".parse::<RunId>().is_err() && "+123456789abcdef".parse::<RunId>().is_err());
}

#[test]
fn samples_are_flat_in_json() {
    let json = serde_json::to_value(run()).expect("plain data");
    assert_eq!(json["kind"], "perftest");
    assert_eq!(json["params"]["mtu"], 4096);
    assert_eq!(json["hosts"], serde_json::json!(["n1"]));
    assert_eq!(
        json["samples"][1],
        serde_json::json!({"metric": "bandwidth", "unit": "Gb/s", "stat": "value", "size": 8 << 20, "value": 392.4, "valid": true})
    );
}
