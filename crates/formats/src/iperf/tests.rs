use super::*;
use crate::error::Why;
use crate::refusal::End;
use crate::units::Bytes;

fn fixture(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/net").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn one(bytes: &[u8]) -> Run {
    let mut runs = parse(bytes);
    assert_eq!(runs.len(), 1, "{runs:#?}");
    runs.remove(0)
}

/// Stream, way, scope and rate of the rows of the whole test.
fn totals(run: &Run) -> Vec<(Stream, Option<Way>, Scope, String)> {
    run.totals().map(|r| (r.stream, r.way, r.scope, format!("{:.3}", r.rate.0))).collect()
}

use Scope::{Interval, Receiver, Sender, Total};
use Stream::{One, Sum};
use Way::{ToClient, ToServer};

#[test]
fn both_directions_of_two_streams() {
    let run = one(&fixture("iperf3-bidir-p2.txt"));
    assert_eq!((run.tool, run.role, run.protocol), (Some(Tool::Iperf3), Some(Role::Client), Some(Protocol::Tcp)));
    assert_eq!((run.direction, run.end, run.lines), (Some(Direction::Both), End::Finished, (1, 28)));
    assert_eq!((run.connections.len(), run.connections.first().map(|c| c.local.port)), (4, Some(44800)));
    let all = totals(&run);
    assert_eq!(all.len(), 12);
    assert_eq!(all.get(4), Some(&(Sum, Some(ToServer), Sender, "2.730".to_owned())));
    assert_eq!(run.rate(Some(ToServer)).map(|r| (r.line, r.scope)), Some((20, Receiver)));
    assert_eq!(run.rate(Some(ToClient)).map(|r| r.rate.0), Some(6.14));
    assert_eq!(run.rate(None).map(|r| r.line), None, "no sum over both");
    let first = run.rows.first().unwrap();
    assert_eq!((first.line, first.scope, first.way), (7, Interval, Some(ToServer)));
    assert_eq!((first.more.retransmits, first.more.cwnd), (Some(11), Some(Bytes(1_174_405))));
    assert_eq!(first.transfer, Some(Bytes(158 << 20)), "iperf's MBytes are 2^20");
}

#[test]
fn text_and_json_of_a_run_agree() {
    for name in ["iperf3-interrupted", "iperf3-udp-p2"] {
        let (text, json) = (one(&fixture(&format!("{name}.txt"))), one(&fixture(&format!("{name}.json"))));
        assert_eq!((text.role, text.direction, text.end), (json.role, json.direction, json.end), "{name}");
        assert_eq!(text.peer.map(|p| p.value), json.peer.map(|p| p.value));
        assert_eq!(text.refused.kept.len(), json.refused.kept.len(), "{name}");
    }
}

#[test]
fn udp() {
    let run = one(&fixture("iperf3-udp-p2.txt"));
    assert_eq!(run.protocol, Some(Protocol::Udp));
    let sum = run.rate(None).unwrap();
    assert_eq!((sum.line, sum.stream, sum.scope, sum.rate.0), (15, Sum, Receiver, 0.995));
    assert_eq!((sum.more.lost, sum.more.packets), (Some(17), Some(3812)));
    assert_eq!(sum.more.jitter.map(|j| j.0), Some(23.0), "milliseconds as printed");
    assert_eq!(sum.more.loss().map(|l| format!("{:.2}", l.0)).as_deref(), Some("0.45"));
    let sender = run.rows.iter().find(|r| r.scope == Sender).unwrap();
    assert_eq!((sender.more.jitter, sender.more.lost, sender.more.packets), (None, None, Some(1906)));
    let json = one(&fixture("iperf3-udp-p2.json"));
    assert_eq!(json.rate(None).map(|r| (r.stream, r.scope)), Some((Sum, Receiver)));
    assert_eq!(json.rate(None).map(|r| format!("{:.6}", r.rate.0)).as_deref(), Some("0.200210"));
    assert_eq!(json.params.streams, Some(2));
    // Releases before 3.2: nobody says whose the total is.
    let old = one(b"[  4] local 10.0.0.1 port 49526 connected to 10.0.0.2 port 5201\n\
          [ ID] Interval           Transfer     Bandwidth       Total Datagrams\n\
          [  4]   0.00-1.00   sec   159 MBytes  1.34 Gbits/sec  20398\n\
          [ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n\
          [  4]   0.00-1.00   sec   159 MBytes  1.34 Gbits/sec  0.072 ms  17179869184/0 (-2.5e-39%)\n\
          [  4] Sent 20398 datagrams\niperf Done.\n");
    assert_eq!(totals(&old), [(One(4), None, Total, "1.340".to_owned())]);
    assert_eq!(old.rows.last().and_then(|r| r.more.lost), None, "more lost than sent is no count");
}

#[test]
fn an_interrupt_measures_what_was_before_it() {
    for name in ["iperf3-interrupted.txt", "iperf3-interrupted.json"] {
        let run = one(&fixture(name));
        assert_eq!(run.end, End::Interrupted, "{name}");
        assert_eq!(
            run.rows.iter().map(|r| r.scope).collect::<Vec<_>>(),
            [Interval, Interval, Interval, Sender],
            "{name}"
        );
        assert!(
            run.refused.kept.iter().all(|r| matches!(r.why, Why::Impossible(_))) && run.refused.kept.len() == 1,
            "{name}"
        );
    }
    // The server repeats the last interval, and divides all bytes by the time of the whole intervals.
    let server = one(b"Accepted connection from 10.0.0.1, port 60706\n\
          [  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 60714\n\
          [ ID] Interval           Transfer     Bitrate\n\
          [  5]   0.00-1.00   sec  1.31 GBytes  11.2 Gbits/sec\n\
          [  5]   1.00-2.00   sec  1.36 GBytes  11.7 Gbits/sec\n\
          [  5]   1.00-2.00   sec  1.36 GBytes  11.7 Gbits/sec\n\
          - - - - - - - - - - - - - - - - - - - - - - - - -\n\
          [ ID] Interval           Transfer     Bitrate\n\
          [  5]   0.00-2.00   sec  3.43 GBytes  14.7 Gbits/sec                  receiver\n\
          iperf3: the client has terminated\n");
    assert_eq!((server.end, server.rows.len(), server.totals().count()), (End::Interrupted, 2, 0));
    assert_eq!(server.refused.kept.iter().map(|r| r.line).collect::<Vec<_>>(), [6, 9]);
    // Said also at a regular end.
    let whole = one(b"Accepted connection from 10.0.0.1, port 60700\n\
          [  5] local 10.0.0.2 port 5201 connected to 10.0.0.1 port 60701\n\
          [ ID] Interval           Transfer     Bitrate\n\
          [  5]   0.00-1.00   sec  1.31 GBytes  11.2 Gbits/sec\n\
          [ ID] Interval           Transfer     Bitrate\n\
          [  5]   0.00-1.00   sec  1.31 GBytes  11.2 Gbits/sec                  receiver\n\
          iperf3: the client has terminated\n");
    assert_eq!((whole.end, whole.totals().count()), (End::Finished, 1));
}

#[test]
fn modes_of_the_text() {
    let omit = one(&fixture("iperf3-omit-p3.txt"));
    assert_eq!((omit.rows.iter().filter(|r| r.omitted).count(), omit.totals().count()), (4, 8));
    let verbose = one(&fixture("iperf3-verbose-tbits.txt"));
    assert_eq!(verbose.version.as_ref().map(|v| v.value.as_str()), Some("3.12"));
    assert_eq!(verbose.rate(None).map(|r| r.rate.0), Some(10.0), "0.01 Tbits/sec");
    assert_eq!(
        (verbose.params.streams, verbose.params.block, verbose.params.duration),
        (Some(1), Some(Bytes(131_072)), Some(1.0))
    );
    assert_eq!(verbose.cpu.map(|c| (c.value.local.system.0, c.value.remote.user.0)), Some((36.7, 2.7)));
    assert_eq!(verbose.congestion.0.as_deref(), Some("bbr"));
    let stamped = one(&fixture("iperf3-timestamps.txt"));
    assert_eq!((stamped.rows.len(), stamped.end), (3, End::Finished));
    let kbytes = one(&fixture("iperf3-kbytes.txt"));
    let rate = kbytes.rate(None).map(|r| r.rate.0).unwrap_or_default();
    assert!((rate - 854_769.0 * 1024.0 * 8.0 / 1e9).abs() < 1e-9, "{rate}");
    let views = parse(&fixture("iperf3-server-output.txt"));
    assert_eq!(
        views.iter().map(|r| (r.role, r.is_servers_view)).collect::<Vec<_>>(),
        [(Some(Role::Client), false), (Some(Role::Server), true)]
    );
    assert!(views.iter().all(|r| r.end == End::Finished));
}

#[test]
fn json_of_both_directions() {
    let run = one(&fixture("iperf3-bidir.json"));
    assert_eq!((run.direction, run.end, run.began), (Some(Direction::Both), End::Finished, Some(1_795_294_202.0)));
    let rate = |way| run.rate(Some(way)).map(|r| format!("{:.9}", r.rate.0));
    assert_eq!((rate(ToServer).as_deref(), rate(ToClient).as_deref()), (Some("4.003755547"), Some("7.674297319")));
    let first = run.rows.first().unwrap();
    assert_eq!((first.transfer, first.more.rtt.map(|t| t.0)), (Some(Bytes(511_049_728)), Some(434.0)));
    // Keys that come twice are what these releases write.
    assert_eq!(String::from_utf8_lossy(&fixture("iperf3-bidir.json")).matches("\"sock_bufsize\"").count(), 2);
}

const START: &str = r#"{"event":"start","data":{"connected":[{"socket":5,"local_host":"10.0.0.1","local_port":1,"remote_host":"10.0.0.2","remote_port":5201}],"version":"iperf 3.17","timestamp":{"timesecs":1700000000},"connecting_to":{"host":"10.0.0.2","port":5201},"test_start":{"protocol":"TCP","num_streams":1,"duration":2,"reverse":0}}}"#;
const INTERVAL: &str = r#"{"event":"interval","data":{"streams":[{"socket":5,"start":0,"end":1,"bytes":125000000,"bits_per_second":1e9,"retransmits":3,"omitted":false,"sender":true}],"sum":{"start":0,"end":1,"bytes":125000000,"bits_per_second":1e9}}}"#;
const END: &str = r#"{"event":"end","data":{"streams":[{"sender":{"socket":5,"start":0,"end":2,"bytes":250000000,"bits_per_second":1e9,"retransmits":3,"sender":true},"receiver":{"socket":5,"start":0,"end":2,"bytes":249000000,"bits_per_second":996000000,"sender":true}}],"sum_sent":{"start":0,"end":2,"bits_per_second":1e9},"sum_received":{"start":0,"end":2,"bits_per_second":996000000}}}"#;

#[test]
fn events() {
    let run = one(format!("{START}\n{INTERVAL}\n{END}\n").as_bytes());
    assert_eq!(
        (run.version.map(|v| v.value.to_string()), run.end, run.lines),
        (Some("3.17".to_owned()), End::Finished, (1, 3))
    );
    assert_eq!(
        run.rows.iter().map(|r| (r.line, r.scope)).collect::<Vec<_>>(),
        [(2, Interval), (3, Sender), (3, Receiver)]
    );
    let cut = one(format!("{START}\n{INTERVAL}\n").as_bytes());
    assert_eq!((cut.end, cut.rows.len()), (End::Cut, 1));
    let failed =
        one(b"{\"event\":\"error\",\"data\":\"unable to connect to server\"}\n{\"event\":\"end\",\"data\":{}}\n");
    assert_eq!((failed.end, failed.failures.len()), (End::Failed, 1));
    assert_eq!(parse(format!("{START}\n{INTERVAL}\n{END}\n{START}\n{INTERVAL}\n{END}\n").as_bytes()).len(), 2);
}

#[test]
fn cut_and_broken_json() {
    let whole = fixture("iperf3-bidir.json");
    let text = String::from_utf8(whole).unwrap();
    let rows = one(text.as_bytes()).rows.len();
    let mut seen = 0;
    for end in (0..text.len()).step_by(97) {
        let runs = parse(&text.as_bytes()[..end]);
        for run in &runs {
            assert!(run.end == End::Cut && run.rows.len() <= rows, "{end}");
            seen = seen.max(run.rows.len());
        }
    }
    assert!(seen >= 2, "what stands before the cut is kept");
    // Several documents, another program's line, a cut one, and a whole one again.
    let texts = format!("{text}\nhello\n{}\n{text}", &text[..text.len() / 2]);
    let ends: Vec<_> = parse(texts.as_bytes()).iter().map(|r| r.end).collect();
    assert_eq!(ends, [End::Finished, End::Cut, End::Finished]);
    // What builds of 3.0 and 3.1 write instead of numbers.
    let odd = text.replace("\"bits_per_second\":\t4087944128.2279029", "\"bits_per_second\":\t-nan");
    let odd = odd.replacen("\"lost_percent\":\t0", "\"lost_percent\":\t-nan", 1);
    let spaced = START.replace("\"duration\":2", "\"duration\":2e 00");
    assert_eq!(one(spaced.as_bytes()).params.duration, Some(2.0));
    assert!(parse(odd.as_bytes()).iter().flat_map(|r| &r.rows).all(|r| r.rate.0.is_finite()));
    let nan = one(format!("{START}\n{}\n", INTERVAL.replace("1e9", "nan")).as_bytes());
    assert_eq!((nan.rows.len(), nan.refused.is_empty()), (0, false));
}

#[test]
fn iperf_2() {
    let duplex = one(&fixture("iperf2-full-duplex.txt"));
    assert_eq!((duplex.tool, duplex.direction, duplex.end), (Some(Tool::Iperf2), Some(Direction::Both), End::Finished));
    assert_eq!(
        totals(&duplex),
        [
            (One(1), Some(ToServer), Total, "4.140".to_owned()),
            (One(1), Some(ToClient), Total, "2.570".to_owned()),
            (One(1), Some(Way::Both), Total, "6.660".to_owned())
        ]
    );
    let enhanced = one(&fixture("iperf2-enhanced-p2.txt"));
    assert_eq!(
        enhanced.rows.iter().map(|r| r.scope).collect::<Vec<_>>(),
        [Interval, Interval, Interval, Total, Total, Total]
    );
    let first = enhanced.rows.first().map(|r| r.more).unwrap();
    assert_eq!(
        (first.retransmits, first.cwnd, first.rtt.map(|t| t.0)),
        (Some(8), Some(Bytes(895 * 1024)), Some(331.0))
    );
    let udp = one(&fixture("iperf2-udp-enhanced.txt"));
    assert_eq!(udp.rows.iter().map(|r| r.scope).collect::<Vec<_>>(), [Interval, Sender, Receiver]);
    let reported = udp.rows.last().unwrap();
    assert_eq!(
        (reported.more.lost, reported.more.packets, reported.more.latency.map(|l| l.0)),
        (Some(0), Some(8919), Some(5.0))
    );
    let refused = one(b"Client connecting to 10.0.0.2, TCP port 9\nTCP window size: 16.0 KByte (default)\n\
          tcp connect failed: Connection refused\n[  1] local 0.0.0.0 port 0 connected with 10.0.0.2 port 9\n");
    assert_eq!((refused.end, refused.failures.len(), refused.connections.len()), (End::Failed, 1, 0));
}

#[test]
fn what_is_no_number_is_no_row() {
    let head =
        "[  5] local 10.0.0.1 port 1 connected to 10.0.0.2 port 2\n[ ID] Interval           Transfer     Bitrate\n";
    for (row, rate) in [
        ("[  5]   0.00-1.00   sec  1.31 GBytes  11.2 Gbits/sec", Some(11.2)),
        ("[  5]   0,00-1,00   sec  1,31 GBytes  11,2 Gbits/sec", Some(11.2)),
        ("[  5]   0.00-1.00   sec  1.31 GBytes  1,234 Mbits/sec", None),
        ("[  5]   0.00-1.00   sec  1.31 GBytes  -nan bits/sec", None),
        ("[  5]   0.00-1.00   sec  1.31 GBytes  inf Gbits/sec", None),
        ("[  5]   0.00-1.00   sec  1.31 GBytes  11.2", None),
        ("[  5]   2.00-1.00   sec  1.31 GBytes  11.2 Gbits/sec", None),
    ] {
        let run = one(format!("{head}{row}\n").as_bytes());
        assert_eq!(run.rows.first().map(|r| r.rate.0), rate, "{row}");
        assert_eq!(run.refused.kept.len(), usize::from(rate.is_none()), "{row}");
    }
    for error in [
        "iperf3: error - unable to connect to server: Connection refused\n",
        "iperf3: error - the server is busy running a test. try again later\n",
    ] {
        let run = one(error.as_bytes());
        assert_eq!((run.end, run.failures.len()), (End::Failed, 1));
    }
    assert!(parse(b"Server listening on 5201\n-----\n").is_empty(), "a server that waits is no run");
}

/// A line of `-y C`: time, port of the client, stream, interval, bytes in a second, what follows.
fn csv(stamp: &str, port: u16, stream: i32, span: &str, rate: u64, more: &str) -> String {
    let (start, end) = span.split_once('-').unwrap();
    let seconds = end.parse::<f64>().unwrap() - start.parse::<f64>().unwrap();
    let bytes = (rate as f64 * seconds / 8.0) as u64;
    format!("{stamp},10.0.0.1,{port},10.0.0.2,5001,{stream},{span},{bytes},{rate}{more}\n")
}

const NEVER: &str = "19700101000000";
const NOON: &str = "20261122120010";

#[test]
fn lines_between_commas() {
    // As 2.1.8 printed them here: intervals, two streams, each with its whole.
    let text = fixture("iperf2-csv-p2.txt");
    let run = one(&text);
    assert_eq!((run.tool, run.protocol, run.end), (Some(Tool::Iperf2), None, End::Finished));
    assert_eq!((run.params.streams, run.role, run.began), (Some(2), None, None), "local time is no time");
    let all = totals(&run);
    assert_eq!(all.len(), 3, "{all:?}");
    let sum = run.rate(None).unwrap();
    assert_eq!((sum.stream, sum.transfer), (Sum, Some(Bytes(2_456_682_556 + 1_898_577_980))));
    assert!((sum.rate.0 - (9.786_536_916 + 7.566_976_218)).abs() < 1e-9);
    let each = run.rows.iter().filter(|r| r.scope == Interval && r.stream == Sum).count();
    assert_eq!((each, run.notes.len()), (2, 1), "{run:#?}");
    // One stream, without intervals.
    let run = one(csv(NEVER, 40000, 1, "0.0-10.0", 9_000_000_000, "").as_bytes());
    assert_eq!(totals(&run), [(One(1), None, Total, "9.000".to_owned())]);
    assert_eq!(run.rate(None).and_then(|r| r.transfer), Some(Bytes(11_250_000_000)));
}

#[test]
fn repetitions_in_one_file_are_runs() {
    let rates = |text: &str| -> Vec<Option<f64>> {
        parse(text.as_bytes()).iter().map(|r| r.rate(None).map(|r| r.rate.0)).collect()
    };
    let three: String = (0..3).map(|n| csv(NEVER, 40000 + n, 3, "0.0-10.0", 1_000_000_000, "")).collect();
    assert_eq!(rates(&three), [Some(1.0); 3]);
    let with_parts = |port| {
        csv(NOON, port, 3, "0.0-5.0", 1_000_000_000, "")
            + &csv(NOON, port, 3, "5.0-10.0", 3_000_000_000, "")
            + &csv(NOON, port, 3, "0.0-10.0", 2_000_000_000, "")
    };
    assert_eq!(rates(&(with_parts(40000) + &with_parts(40001))), [Some(2.0), Some(2.0)]);
    // 2.0 prints the sum itself.
    let summed = |port| {
        csv(NOON, port, 3, "0.0-10.0", 1_000_000_000, "")
            + &csv(NOON, port + 1, 4, "0.0-10.0", 3_000_000_000, "")
            + &csv(NOON, 0, -1, "0.0-10.0", 4_000_000_000, "")
    };
    assert_eq!(rates(&(summed(40000) + &summed(40002))), [Some(4.0), Some(4.0)]);
    // A server numbers on: by its times, one came after the other.
    let later = csv(NOON, 40000, 4, "0.0-10.0", 1_000_000_000, "")
        + &csv("20261122120035", 40001, 5, "0.0-10.0", 2_000_000_000, "");
    assert_eq!(rates(&later), [Some(1.0), Some(2.0)]);
    // Streams of one test, by its times.
    let beside =
        csv(NOON, 40000, 4, "0.0-10.0", 1_000_000_000, "") + &csv(NOON, 40001, 5, "0.0-10.1", 2_000_000_000, "");
    assert_eq!(rates(&beside), [Some(3.0)]);
    // Without times nobody knows, and no sum is made.
    let open = one(beside.replace(NOON, NEVER).as_bytes());
    assert_eq!((open.rate(None), open.totals().count(), open.notes.len(), open.params.streams), (None, 2, 1, None));
}

#[test]
fn datagrams_between_commas() {
    let own = csv(NEVER, 40000, 1, "0.0-1.0", 10_507_767, ",0.000,0,-1,-0.000,0");
    let sent = one(own.as_bytes());
    let row = sent.rate(None).unwrap();
    assert_eq!((sent.protocol, sent.role, row.scope), (Some(Protocol::Udp), Some(Role::Client), Sender));
    assert_eq!(
        (row.more.jitter, row.more.lost, row.more.packets),
        (None, None, None),
        "a sender knows nothing of them"
    );
    let got = csv(NEVER, 40000, 1, "0.0-1.0", 10_407_935, ",0.005,9,895,1.006,2");
    let run = one(got.as_bytes());
    let row = run.rate(None).unwrap();
    assert_eq!((row.scope, row.more.jitter.map(|j| j.0)), (Total, Some(5.0)));
    assert_eq!((row.more.lost, row.more.packets, row.more.out_of_order), (Some(9), Some(895), Some(2)));
    // 2.0: the sender's line has no more than those of TCP; then the server's report, its ends the other way round.
    let plain = csv(NOON, 40000, 3, "0.0-1.0", 10_507_767, "");
    let report = got.replace("10.0.0.1,40000,10.0.0.2,5001,1", "10.0.0.2,5001,10.0.0.1,40000,3");
    let both = one((plain + &report).as_bytes());
    assert_eq!(both.rate(None).map(|r| (r.scope, r.more.lost)), Some((Receiver, Some(9))));
    assert_eq!((both.protocol, both.role), (Some(Protocol::Udp), Some(Role::Client)));
}

#[test]
fn lines_between_commas_that_are_none() {
    let good = csv(NOON, 40000, 3, "0.0-10.0", 1_000_000_000, "");
    for wrong in [
        good.replace(",1000000000", ",-1"),
        good.replace(",1000000000", ",nan"),
        good.replace(",1250000000", ",-1250000000"),
        good.replace("0.0-10.0", "10.0-0.0"),
        good.replace("0.0-10.0", "0.0"),
        good.replace(",3,", ",x,"),
        good.replace(",3,", ",99999999999,"),
    ] {
        let run = one(wrong.as_bytes());
        assert_eq!((run.rows.len(), run.refused.kept.len()), (0, 1), "{wrong}");
    }
    for other in [
        "20261122,1,2,3,4,5,6,7,8\n".to_owned(),
        "2026-11-22 12:00,1,2,3,4,5,6,7,8\n".to_owned(),
        good.replace(",1000000000", ""),
        good.replace('\n', ",1,2\n"),
    ] {
        assert!(parse(other.as_bytes()).is_empty(), "{other}");
    }
}
