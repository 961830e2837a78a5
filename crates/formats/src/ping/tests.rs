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
    assert_eq!([summary.min, summary.mean, summary.max].map(|t| t.map(|t| t.0)), [Some(5.0), Some(10.0), Some(26.0)]);
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

/// As Windows 10 and 11 print it, with its empty lines and its line ends.
const WINDOWS: &str = "\r\nPinging h.example [10.0.0.9] with 32 bytes of data:\r\nReply from 10.0.0.9: bytes=32 time<1ms TTL=64\r\n\
    Reply from 10.0.0.9: bytes=32 time=3ms TTL=64\r\nRequest timed out.\r\nReply from 10.0.0.9: bytes=32 time<1ms TTL=64\r\n\r\n\
    Ping statistics for 10.0.0.9:\r\n    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),\r\n\
    Approximate round trip times in milli-seconds:\r\n    Minimum = 0ms, Maximum = 3ms, Average = 1ms\r\n";

#[test]
fn windows() {
    let run = one(WINDOWS.as_bytes());
    assert_eq!(
        (run.host.map(|h| h.value.to_string()), run.address.as_deref()),
        (Some("h.example".to_owned()), Some("10.0.0.9"))
    );
    assert_eq!((run.payload, run.end, run.lines), (Some(Bytes(32)), End::Finished, (2, 11)));
    let replies: Vec<_> = run.replies.iter().map(|r| (r.line, r.time.map(|t| t.0), r.is_bound, r.ttl)).collect();
    assert_eq!(
        replies,
        [(3, Some(1000.0), true, Some(64)), (4, Some(3000.0), false, Some(64)), (6, Some(1000.0), true, Some(64))]
    );
    let counts = run.counts.unwrap().value;
    assert_eq!((counts.transmitted, counts.received, counts.loss), (4, 3, Some(Percent(25.0))));
    let summary = run.summary.unwrap();
    assert_eq!((summary.line, summary.value.min, summary.value.mean), (11, None, None), "0 ms is below 1 ms");
    assert_eq!(summary.value.max.map(|m| m.0), Some(3000.0));
    assert_eq!(run.errors.iter().map(|e| e.line).collect::<Vec<_>>(), [5]);
    // Twice in one text; the statistics alone.
    assert_eq!(parse(WINDOWS.repeat(2).as_bytes()).len(), 2);
    let end = one(WINDOWS.split_once("Ping stat").map(|(_, e)| format!("Ping stat{e}")).unwrap().as_bytes());
    assert_eq!((end.replies.len(), end.counts.map(|c| c.value.received)), (0, Some(3)));
}

#[test]
fn what_windows_counts_as_received_and_is_none() {
    let run = one(b"Pinging 10.0.0.9 with 32 bytes of data:\nReply from 10.0.0.1: Destination host unreachable.\n\
          Reply from 10.0.0.1: Destination host unreachable.\n\nPing statistics for 10.0.0.9:\n\
          \x20   Packets: Sent = 2, Received = 2, Lost = 0 (0% loss),\n");
    let counts = run.counts.unwrap().value;
    assert_eq!((counts.received, counts.errors, run.replies.len(), run.errors.len()), (0, 2, 0, 2));
    let nowhere = one(b"Ping request could not find host nowhere. Please check the name and try again.\n");
    assert_eq!((nowhere.end, nowhere.failures.len()), (End::Failed, 1));
    let six =
        one(b"Pinging ::1 from ::1 with 32 bytes of data:\nReply from ::1: time<1ms\nReply from fe80::1%3: time=2ms\n");
    assert_eq!(
        (times(&six), six.host.map(|h| h.value.to_string())),
        (vec![Some(1000.0), Some(2000.0)], Some("::1".to_owned()))
    );
}

#[test]
fn odd_lines_of_windows() {
    for (line, refused) in [
        ("Reply from 10.0.0.9: bytes=32 time=nanms TTL=64", 1),
        ("Reply from 10.0.0.9: bytes=32 time=-3ms TTL=64", 1),
        ("Reply from 10.0.0.9: bytes=32 time=3", 1),
        ("Reply from 10.0.0.9: bytes=32", 1),
        ("Minimum = 3ms, Maximum = 1ms, Average = 2ms", 1),
        ("Minimum = 3ms, Maximum = 1", 1),
        ("Reply from sales: we will call back", 0),
    ] {
        let run = one(format!("Pinging 10.0.0.9 with 32 bytes of data:\n{line}\n").as_bytes());
        assert_eq!((run.refused.kept.len(), run.replies.len(), run.summary), (refused, 0, None), "{line}");
    }
    for text in [
        "Reply from sales: we will call back\n",
        "Request timed out.\n",
        "Pinging the printer\n",
        "Minimum = 1ms, Maximum = 2ms",
    ] {
        assert!(parse(text.as_bytes()).is_empty(), "{text}");
    }
}
