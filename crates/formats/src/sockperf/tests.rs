use super::*;
use crate::refusal::End;
use crate::units::{Bytes, Microseconds};

fn fixture(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/net").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn one(bytes: &[u8]) -> Run {
    let mut runs = parse(bytes);
    assert_eq!(runs.len(), 1, "{runs:#?}");
    runs.remove(0)
}

#[test]
fn a_round_trip() {
    let run = one(&fixture("sockperf-full-rtt.txt"));
    assert_eq!((run.version.as_ref().map(|v| v.value.as_str()), run.end), (Some("3.7-no.git"), End::Finished));
    assert_eq!(run.total.map(|t| (t.line, t.value.sent, t.value.received)), Some((9, 35_869, 35_868)));
    let server = run.servers.first().unwrap();
    let latency = server.latency.unwrap();
    assert_eq!(
        (latency.line, latency.value.measured, latency.value.mean),
        (12, Measured::RoundTrip, Microseconds(29.131))
    );
    assert_eq!(latency.value.stdev, Some(Microseconds(236.054)));
    let seen = server.observations.as_ref().unwrap();
    assert_eq!((seen.value.count, seen.value.percentiles.len()), (18_861, 8));
    assert_eq!(seen.value.percentiles.get(3).map(|(p, t)| (*p, t.value.0, t.line)), Some((99.0, 57.767, 20)));
    assert_eq!((seen.value.max.map(|t| t.value.0), seen.value.min.map(|t| t.value.0)), (Some(14435.23), Some(13.194)));
}

#[test]
fn losses_under_load() {
    let run = one(&fixture("sockperf-under-load-drops.txt"));
    assert_eq!(run.end, End::Finished, "signal 2 is the program's own");
    let server = run.servers.first().unwrap();
    assert_eq!(server.lost.map(|l| (l.line, l.value.dropped, l.value.duplicated)), Some((14, 133, 0)));
    assert_eq!(server.latency.map(|l| l.value.measured), Some(Measured::HalfRoundTrip));
}

#[test]
fn megabits_are_not_millions() {
    let run = one(&fixture("sockperf-throughput.txt"));
    let t = run.throughput.unwrap();
    assert_eq!((run.mode.map(|m| m.value), run.params.message), (Some(Mode::Throughput), Some(Bytes(1400))));
    // 70479 messages of 1400 bytes: 0.789 Gb/s, though `Mbps` says 752.797.
    let gbps = t.value.bandwidth.unwrap().gbps().0;
    assert!((gbps - 70_479.0 * 1400.0 * 8.0 / 1e9).abs() < 1e-4, "{gbps}");
    let giga = one(
        b"sockperf: Total of 10 messages sent in 1.000 sec\nsockperf: Summary: BandWidth is 4.874 GBps (38.990 Gbps)\n",
    );
    let gbps = giga.throughput.and_then(|t| t.value.bandwidth).unwrap().gbps().0;
    assert!((gbps - 4874.0 * 1_048_576.0 * 8.0 / 1e9).abs() < 1e-9, "a thousand of 2^20: {gbps}");
}

const RUN: &str = "sockperf: == version #3.8-0.git31ee322aa82a ==\n\
    **sockperf: ====> avg-rtt=1892.600 (std-dev=422.741, mean-ad=240.040, median-ad=243.961, siqr=169.591, cv=0.223, std-error=1.302, 99.0% ci=[1889.246, 1895.954])**\n\
    sockperf: Summary: Round trip is **1892.600** usec\nsockperf: ---> MAX observation = **11541.068**\n";

#[test]
fn bold_and_statistics_of_3_8() {
    let run = one(RUN.as_bytes());
    let l = run.servers.first().and_then(|s| s.latency).unwrap().value;
    assert_eq!(
        (l.mean_ad, l.median_ad, l.siqr),
        (Some(Microseconds(240.04)), Some(Microseconds(243.961)), Some(Microseconds(169.591)))
    );
    assert_eq!((l.cv, l.std_error), (Some(0.223), Some(Microseconds(1.302))));
    assert_eq!(l.interval, Some((99.0, Microseconds(1889.246), Microseconds(1895.954))));
    assert_eq!(
        run.servers.first().and_then(|s| s.observations.as_ref()?.value.max).map(|m| m.value.0),
        Some(11541.068)
    );
    // Under a locale with a decimal comma.
    let comma = one(RUN.replace("1892.600", "1892,600").replace("=422.741", "=422,741").as_bytes());
    let l = comma.servers.first().and_then(|s| s.latency).unwrap().value;
    assert_eq!((l.mean, l.stdev), (Microseconds(1892.6), Some(Microseconds(422.741))));
    let nan = one(RUN.replace("avg-rtt=1892.600", "avg-rtt=-nan").as_bytes());
    assert_eq!(
        (nan.servers.iter().filter(|s| s.latency.is_some()).count(), nan.refused.kept.len(), nan.end),
        (0, 1, End::Cut)
    );
}

#[test]
fn beginnings_and_ends() {
    for (text, end, failures) in [
        (
            "sockperf: == version #3.7 ==\nsockperf: ERROR: Can`t connect socket (errno=111 Connection refused)\n",
            End::Failed,
            1,
        ),
        (
            "sockperf: == version #3.7 ==\nsockperf: Test end (interrupted by user)\nsockperf: No messages were sent\n",
            End::Interrupted,
            1,
        ),
        (
            "sockperf: == version #3.7 ==\nsockperf: No messages were received from the server. Is the server down?\n",
            End::Failed,
            1,
        ),
        ("sockperf: == version #3.7 ==\nsockperf: Starting test...\n", End::Cut, 0),
    ] {
        let run = one(text.as_bytes());
        assert_eq!((run.end, run.failures.len()), (end, failures), "{text}");
    }
    let told =
        one(format!("$ sockperf under-load -i 10.0.0.2 -m 64 -t 10 --mps=1000 --reply-every=10\n{RUN}").as_bytes());
    assert_eq!(told.mode.map(|m| (m.value, m.line)), Some((Mode::UnderLoad, 1)));
    assert_eq!(
        (told.params.message, told.params.rate, told.params.reply_every),
        (Some(Bytes(64)), Some(1000), Some(10))
    );
    assert_eq!(parse(RUN.repeat(3).as_bytes()).len(), 3);
    let server = one(
        b"sockperf: == version #3.5 ==\nsockperf: [SERVER] listen on:\n[ 0] IP = 0.0.0.0        PORT =  5001 # TCP\n",
    );
    assert!(server.is_server);
    assert_eq!(server.endpoints.first().map(|e| (e.port, e.transport)), Some((Some(5001), Some(Transport::Tcp))));
    assert!(parse(b"[ 0] IP = 0.0.0.0  PORT = 1 # TCP\nhello\n").is_empty());
}
