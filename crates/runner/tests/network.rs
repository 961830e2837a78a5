//! Real tools between two network namespaces, or over loopback.

use crate::common;

use common::{Pair, all_gone, have, measured, prepared, request, word};
use linerate_runner::{Event, RunError, Variant, Why, plan::PlanError};

#[test]
fn tcp_latency_and_ping() {
    if !have(&["iperf3", "sockperf", "ping"]) {
        return;
    }
    let pair = Pair::new("n");
    let word = word("network");
    let request = request("iperf3-reverse,sockperf-udp,ping", &word);
    let (mut lines, mut progress) = (0, 0);
    let measured = measured(&pair.on, &request, &mut |event| match event {
        Event::Line { .. } => lines += 1,
        Event::Progress { .. } => progress += 1,
        Event::Failed(f) => println!("{f}"),
        _ => {}
    });
    assert_eq!(measured.failures, []);
    assert_eq!(measured.outputs.len(), 3);
    assert!(lines > 20 && progress > 5, "{lines} lines, {progress} times progress");
    let order: Vec<u32> = measured.outputs.iter().map(|o| o.order).collect();
    assert_eq!(order, [1, 2, 3]);
    for o in &measured.outputs {
        let text = String::from_utf8_lossy(&o.bytes);
        let sign = match o.test {
            "iperf3-reverse" => "\"sum_received\"",
            "sockperf-udp" => "avg-latency",
            _ => "packet loss",
        };
        assert!(text.contains(sign), "{}: {text}", o.test);
        assert!(o.exit == 0 && o.ended - o.began > 0.7 && o.moved.is_some_and(|m| m > 500), "{o:?}");
        assert!(o.params().iter().any(|(k, v)| *k == "variant" && v.to_string() == o.variant));
    }
    let tcp = measured.outputs.iter().find(|o| o.kind == linerate_bench::Kind::Iperf3).unwrap();
    assert!(tcp.moved > Some(10_000_000), "{:?}", tcp.moved);
    all_gone(&word);
}

#[test]
fn settings_alternate_and_warm_ups_are_marked() {
    if !have(&["ping"]) {
        return;
    }
    let word = word("warm");
    let mut request = request("ping", &word);
    let args = |size: &str| vec!["-s".to_owned(), size.to_owned()];
    request.variants = [("a", "56"), ("b", "1000")]
        .map(|(name, size)| Variant { name: name.to_owned(), env: Vec::new(), args: args(size) })
        .to_vec();
    request.warmups = 1;
    request.repetitions = 2;
    let measured = measured("local", &request, &mut |_| {});
    let marks: Vec<(&str, bool, u32)> =
        measured.outputs.iter().map(|o| (o.variant.as_str(), o.warmup, o.repetition)).collect();
    assert_eq!(
        marks,
        [("a", true, 1), ("b", true, 1), ("a", false, 1), ("b", false, 1), ("b", false, 2), ("a", false, 2)]
    );
    for o in &measured.outputs {
        let size = if o.variant == "a" { "64 bytes from" } else { "1008 bytes from" };
        assert!(String::from_utf8_lossy(&o.bytes).contains(size), "{:?}", o.argv);
    }
}

/// A stranger listens on the port that is tried first: another one is taken, and said.
#[test]
fn a_port_that_is_taken() {
    if !have(&["iperf3"]) {
        return;
    }
    let stranger = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
    let port = stranger.local_addr().unwrap().port();
    let word = word("port");
    let mut request = request("iperf3-reverse", &word);
    request.port = Some(port);
    let mut taken = Vec::new();
    let measured = measured("local", &request, &mut |event| {
        if let Event::PortTaken { port, .. } = event {
            taken.push(port);
        }
    });
    assert_eq!((taken, measured.failures), (vec![port], Vec::new()));
    assert!(!measured.outputs[0].argv.contains(&port.to_string()));
    all_gone(&word);
}

#[test]
fn nobody_answers() {
    if !have(&["ping"]) {
        return;
    }
    let word = word("nobody");
    let mut request = request("ping", &word);
    request.repetitions = 3;
    let mut gave_up = 0;
    // ping refuses to ask everybody.
    let measured = measured("local=127.0.0.1,local=255.255.255.255", &request, &mut |event| {
        if let Event::GaveUp { left_out, .. } = event {
            gave_up += left_out;
        }
    });
    assert_eq!((measured.outputs.len(), measured.failures.len(), gave_up), (0, 2, 1));
    let failure = &measured.failures[0];
    assert!(matches!(failure.why, Why::Exit(2)) && failure.to_string().contains("broadcast"), "{failure}");
    all_gone(&word);
}

/// perftest without RDMA devices: its own words arrive.
#[test]
fn perftest_without_a_device() {
    if !have(&["ib_write_bw"]) {
        return;
    }
    if std::fs::read_dir("/sys/class/infiniband").is_ok_and(|d| d.count() > 0) {
        println!("SKIPPED: this machine has RDMA devices");
        return;
    }
    let word = word("perftest");
    let measured = measured("local", &request("ib_write_bw", &word), &mut |_| {});
    let failure = &measured.failures[0];
    assert!(matches!(failure.why, Why::ServerDied(1)), "{failure}");
    assert!(failure.to_string().contains("Unable to find the Infiniband/RoCE device"), "{failure}");
    all_gone(&word);
}

#[test]
fn a_missing_tool_is_found_before_anything_starts() {
    let word = word("missing");
    if common::find("nvbandwidth").is_some() {
        println!("SKIPPED: nvbandwidth is installed");
        return;
    }
    let Err(error) = prepared("local", &request("nvbandwidth,ping", &word), &[]) else {
        panic!("nvbandwidth is here?")
    };
    let missing = 1 + usize::from(common::find("ping").is_none());
    assert!(matches!(&error, RunError::Plan(PlanError::Missing(m)) if m.len() == missing), "{error}");
    let said = error.to_string();
    assert!(
        said.contains("local: nvbandwidth is not installed") && said.contains("github.com/NVIDIA/nvbandwidth"),
        "{said}"
    );
}
