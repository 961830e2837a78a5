use super::*;

fn one(bytes: &[u8]) -> Run {
    let mut runs = parse(bytes);
    assert_eq!(runs.len(), 1, "{runs:#?}");
    runs.remove(0)
}

fn fixture(name: &str) -> Run {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/net").join(name);
    one(&std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

fn times(run: &Run) -> Vec<Option<f64>> {
    run.replies.iter().map(|r| r.time.map(|t| t.0)).collect()
}

#[test]
fn the_tools() {
    let six = fixture("ping-timestamps.txt");
    assert_eq!((times(&six), six.end), (vec![Some(217.0), Some(40.0), Some(34.0)], End::Finished));
    assert_eq!(
        six.replies.first().map(|r| (r.line, r.sequence, r.ttl, r.at)),
        Some((2, Some(1), Some(64), Some(1_795_294_324.960_938)))
    );
    assert_eq!(
        six.counts.map(|c| (c.line, c.value.transmitted, c.value.received, c.value.milliseconds)),
        Some((7, 3, 3, Some(405)))
    );
    let adaptive = fixture("ping-adaptive.txt");
    let summary = adaptive.summary.unwrap().value;
    assert_eq!((summary.min.0, summary.mean.0, summary.max.0), (5.0, 10.0, 26.0));
    assert_eq!((summary.stdev.map(|s| s.0), summary.ewma.map(|s| s.0)), (Some(8.0), Some(17.0)));
    let busybox = fixture("ping-busybox.txt");
    assert_eq!(
        (busybox.replies.first().and_then(|r| r.sequence), busybox.summary.unwrap().value.stdev),
        (Some(0), None)
    );
    assert_eq!(
        (busybox.host.map(|h| h.value.to_string()), busybox.payload),
        (Some("127.0.0.1".to_owned()), Some(Bytes(56)))
    );
}

#[test]
fn bsd_duplicates_and_errors() {
    let run = one(
        b"PING h.example (10.0.0.9): 56 data bytes\n64 bytes from 10.0.0.9: icmp_seq=0 ttl=121 time=4.380 ms\n\
          64 bytes from 10.0.0.9: icmp_seq=0 ttl=121 time=4.433 ms (DUP!)\nRequest timeout for icmp_seq 1\n\n\
          --- h.example ping statistics ---\n2 packets transmitted, 1 packets received, +1 duplicates, 50.0% packet loss\n\
          round-trip min/avg/max/stddev = 4.380/4.407/4.433/0.027 ms\n",
    );
    assert_eq!(run.replies.iter().map(|r| r.duplicate).collect::<Vec<_>>(), [false, true]);
    assert_eq!(
        (run.errors.len(), run.counts.map(|c| (c.value.duplicates, c.value.loss))),
        (1, Some((1, Some(Percent(50.0)))))
    );
    assert_eq!(run.summary.and_then(|s| s.value.stdev).map(|s| s.0), Some(27.0));
    let lost = one(
        b"PING 10.0.0.9 (10.0.0.9) 56(84) bytes of data.\nFrom 10.0.0.1 icmp_seq=1 Destination Host Unreachable\n\n\
          --- 10.0.0.9 ping statistics ---\n1 packets transmitted, 0 received, +1 errors, 100% packet loss, time 0ms\npipe 4\n",
    );
    assert_eq!(
        (lost.replies.len(), lost.errors.len(), lost.counts.map(|c| c.value.errors), lost.summary),
        (0, 1, Some(1), None)
    );
    let unknown = one(b"ping: nowhere.invalid: Name or service not known\n");
    assert_eq!((unknown.end, unknown.failures.len()), (End::Failed, 1));
}

#[test]
fn odd_replies() {
    let head = "PING h (10.0.0.9) 8(36) bytes of data.\n";
    for (reply, time, refused) in [
        ("16 bytes from 10.0.0.9: icmp_seq=1 ttl=64", None, 0),
        ("64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=1,23 ms", Some(1230.0), 0),
        ("64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=0,045 ms", Some(45.0), 0),
        ("64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=1,234 ms", None, 1),
        ("64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=nan ms", None, 1),
        ("64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=-5.0 ms", None, 1),
        ("64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=12", None, 1),
        ("64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time<1 ms", Some(1000.0), 0),
        ("64 bytes from 10.0.0.9:", None, 1),
    ] {
        let run = one(format!("{head}{reply}\n").as_bytes());
        let got = run.replies.first().and_then(|r| r.time).map(|t| t.0);
        assert_eq!((got, run.refused.kept.len(), run.end), (time, refused, End::Cut), "{reply}");
    }
    let bound = one(format!("{head}64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time<1 ms\n").as_bytes());
    assert!(bound.replies.iter().all(|r| r.is_bound));
    let nan = one(format!("{head}\n--- h ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\nrtt min/avg/max/mdev = 1.0/nan/2.0/3.0 ms\n").as_bytes());
    assert_eq!((nan.summary, nan.refused.kept.len()), (None, 1));
}

#[test]
fn several_runs() {
    let whole = "PING h (10.0.0.9) 56(84) bytes of data.\n64 bytes from 10.0.0.9: icmp_seq=1 ttl=64 time=1.0 ms\n\n--- h ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\nrtt min/avg/max/mdev = 1.000/1.000/1.000/0.000 ms\n";
    assert_eq!(parse(whole.repeat(3).as_bytes()).len(), 3);
    let tagged: String = whole.lines().map(|l| format!("[1,0]<stdout>:{l}\n")).collect();
    assert_eq!(one(tagged.as_bytes()).replies.len(), 1);
    assert!(parse(b"CPU: 5 bytes from nowhere\nhello\n").is_empty());
}
