use super::*;
use crate::error::Why;
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

fn mib(v: f64) -> Option<crate::units::MiBps> {
    Some(crate::units::MiBps(v))
}

#[test]
fn both_directions_of_the_text() {
    let run = one(&fixture("fio-randrw.txt"));
    assert_eq!((run.version.as_ref().map(|v| v.value.as_str()), run.end), (Some("3.33"), End::Finished));
    let job = run.jobs.first().unwrap();
    assert_eq!((job.line, job.name.as_str(), job.error, job.processes), (6, "a", Some(0), Some(1)));
    assert_eq!(
        (run.option(job, "rw"), run.option(job, "bs"), run.option(job, "iodepth")),
        (Some("randrw"), Some("4096B"), Some("1"))
    );
    let [read, write] = &job.directions[..] else { panic!("{job:#?}") };
    assert_eq!((read.kind, read.bandwidth, read.iops.map(|i| i.0)), (Kind::Read, mib(25.9), Some(6632.0)));
    assert_eq!((read.operations, write.operations, read.milliseconds), (Some(6639), Some(6676), Some(1001.0)));
    let clat = write.completion.as_ref().unwrap();
    assert_eq!((clat.line, clat.min, clat.mean), (19, Some(Microseconds(2.0)), Some(Microseconds(6.54))));
    assert_eq!((clat.percentiles.len(), clat.percentiles.last()), (17, Some(&(99.99, Microseconds(1004.0)))));
    assert_eq!(read.bandwidth_samples.and_then(|s| s.mean), Some(22144.0 / 1024.0));
    assert_eq!(run.groups.iter().map(|g| (g.kind, g.line)).collect::<Vec<_>>(), [(Kind::Read, 40), (Kind::Write, 41)]);
}

#[test]
fn groups_and_syncs() {
    let run = one(&fixture("fio-two-groups.txt"));
    assert_eq!(
        run.jobs.iter().map(|j| (j.name.as_str(), j.group)).collect::<Vec<_>>(),
        [("r", Some(0)), ("w", Some(1))]
    );
    let kinds: Vec<_> = run.jobs.iter().flat_map(|j| &j.directions).map(|d| d.kind).collect();
    assert_eq!(kinds, [Kind::Read, Kind::Write, Kind::Sync]);
    let sync = run.jobs.last().and_then(|j| j.directions.last()).unwrap();
    let times = sync.total.as_ref().unwrap();
    assert_eq!((times.max, times.percentiles.len(), sync.operations), (Some(Microseconds(38816.0)), 17, Some(204)));
    assert_eq!(run.groups.iter().map(|g| g.number).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn states_in_between_are_no_runs_of_their_own() {
    for name in ["fio-status-interval.txt", "fio-status-interval.json"] {
        let runs = parse(&fixture(name));
        assert_eq!(
            runs.iter().map(|r| (r.is_interim, r.end)).collect::<Vec<_>>(),
            [(true, End::Cut), (true, End::Cut), (false, End::Finished)],
            "{name}"
        );
    }
    // The same job, twice: two runs.
    let twice = fixture("fio-libaio.json").repeat(2);
    assert_eq!(parse(&twice).iter().filter(|r| !r.is_interim).count(), 2);
}

#[test]
fn text_and_json_in_one() {
    let run = one(&fixture("fio-normal-and-json.txt"));
    assert!(run.is_json && run.end == End::Finished);
    assert_eq!((run.jobs.len(), run.groups.len(), run.lines.0), (1, 2, 1));
    let job = run.jobs.first().unwrap();
    assert_eq!(run.option(job, "rw"), Some("randrw"));
    let [read, write] = &job.directions[..] else { panic!("{job:#?}") };
    assert_eq!((read.bytes, write.bytes), (Some(Bytes(4_071_424)), Some(Bytes(4_317_184))));
    assert_eq!(read.bandwidth, mib(18_590_977.0 / 1_048_576.0));
    assert_eq!(read.completion.as_ref().and_then(|c| c.min), Some(Microseconds(66.252)), "nanoseconds");
    assert_eq!((read.submission.is_none(), read.completion.as_ref().map(|c| c.count)), (true, Some(Some(994))));
}

#[test]
fn asynchronous_submission() {
    let run = one(&fixture("fio-libaio.json"));
    let read = run.jobs.first().and_then(|j| j.directions.first()).unwrap();
    let mean = read.submission.as_ref().and_then(|s| s.mean).unwrap();
    assert!((mean.0 - 147.810362305).abs() < 1e-9, "{mean:?}");
    assert_eq!(run.jobs.first().and_then(|j| run.option(j, "iodepth")), Some("8"));
}

#[test]
fn the_units_of_2_x() {
    let run = one(
        b"w: (g=0): rw=randwrite, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=1\nfio-2.1.11\nStarting 1 process\n\
          w: (groupid=0, jobs=1): err= 0: pid=560: Mon Jul  1 22:14:42 2019\n  write: io=241236KB, bw=24035KB/s, iops=6008, runt= 10037msec\n\
          slat (usec): min=2, max=1203.4K, avg=151.81, stdev=6476.99\nbw (KB  /s): min=100, max=2048, per=100.00%, avg=1024.00, stdev= 0.00\n\
          issued    : total=r=0/w=60309/d=0, short=r=0/w=0/d=0\n\
          Run status group 0 (all jobs):\n  WRITE: io=241236KB, aggrb=24035KB/s, minb=24035KB/s, maxb=24035KB/s, mint=10037msec, maxt=10037msec\n",
    );
    let job = run.jobs.first().unwrap();
    assert_eq!((run.option(job, "bs"), run.end), (Some("4K"), End::Finished));
    let d = job.directions.first().unwrap();
    assert_eq!((d.bandwidth, d.bytes, d.operations), (mib(24035.0 / 1024.0), Some(Bytes(241_236 << 10)), Some(60_309)));
    assert_eq!(d.submission.as_ref().and_then(|s| s.max), Some(Microseconds(1_203_400.0)));
    assert_eq!(d.bandwidth_samples.and_then(|s| s.mean), Some(1.0));
    assert_eq!(run.groups.first().map(|g| g.bandwidth), mib(24035.0 / 1024.0));
    // JSON of 2.x: KiB or bytes under the same name, microseconds.
    for (io, want) in [(1_294_256u64, 1_294_256 << 10), (1_294_256 << 10, 1_294_256 << 10)] {
        let run = one(
            format!(r#"{{"fio version":"fio-2.17","jobs":[{{"jobname":"a","read":{{"io_bytes":{io},"bw":129386,"iops":8086.6,"runtime":10003,"total_ios":80891,"clat":{{"min":1,"max":12176,"mean":238.3,"percentile":{{"1.000000":48,"0.00":0}}}}}}}}]}}"#)
                .as_bytes(),
        );
        let d = run.jobs.first().and_then(|j| j.directions.first()).unwrap();
        assert_eq!((d.bytes, d.bandwidth), (Some(Bytes(want)), mib(129_386.0 / 1024.0)));
        assert_eq!(d.completion.as_ref().map(|c| (c.max, c.percentiles.len())), Some((Some(Microseconds(12176.0)), 1)));
    }
}

#[test]
fn failures_and_ends() {
    let failed = one(&fixture("fio-error.txt"));
    assert_eq!(
        (failed.end, failed.jobs.first().and_then(|j| j.error), failed.failures.len()),
        (End::Failed, Some(25), 2)
    );
    assert_eq!(one(b"fio: failed parsing rw=badrw\n").end, End::Failed);
    let terse = one(format!("3;fio-3.33;a;0;0;{}\n", "1;".repeat(80)).as_bytes());
    assert!(terse.refused.kept.iter().any(|r| matches!(r.why, Why::Missing(_))));
    let text = String::from_utf8(fixture("fio-randrw.txt")).unwrap();
    let interrupted =
        one(text.replace("Starting 1 process\n", "Starting 1 process\nfio: terminating on signal 2\n").as_bytes());
    assert_eq!(interrupted.end, End::Interrupted);
    let cut = text.split("Run status").next().unwrap();
    assert_eq!(one(cut.as_bytes()).end, End::Cut);
    let row = "BW=25.9MiB/s (27.2MB/s)(25.9MiB/1001msec)";
    let nan = one(text.replacen(row, "BW=nanMiB/s (27.2MB/s)(25.9MiB/1001msec)", 1).as_bytes());
    assert_eq!(
        (
            nan.jobs.first().map(|j| j.directions.iter().filter(|d| d.kind == Kind::Read).count()),
            nan.refused.kept.len()
        ),
        (Some(0), 1)
    );
    let json = String::from_utf8(fixture("fio-libaio.json")).unwrap();
    let cut = one(json.split("\"lat_ns\"").next().unwrap().as_bytes());
    assert_eq!((cut.end, cut.jobs.len(), cut.refused.kept.len()), (End::Cut, 1, 1));
    let read = cut.jobs.first().and_then(|j| j.directions.first()).unwrap();
    assert_eq!((read.operations, read.completion.is_some(), read.total.is_some()), (Some(2048), true, false));
    let nan = one(json.replacen("\"iops\" : 6564.102564", "\"iops\" : -nan", 1).as_bytes());
    assert_eq!((nan.jobs.first().and_then(|j| j.directions.first()?.iops), nan.refused.is_empty()), (None, false));
}

#[test]
fn the_terse_line_says_what_json_says() {
    for version in ["3", "4", "5"] {
        let both = String::from_utf8(fixture(&format!("fio-terse{version}-and-json.txt"))).unwrap();
        let terse: String = both.lines().filter(|l| l.starts_with(&format!("{version};"))).collect();
        let json = both.split_once('{').map(|(_, json)| format!("{{{json}")).unwrap();
        let (terse, json) = (one(terse.as_bytes()), one(json.as_bytes()));
        assert!(terse.is_terse && !json.is_terse && terse.end == End::Finished);
        assert_eq!(terse.version.as_ref().map(|v| &v.value), json.version.as_ref().map(|v| &v.value));
        let (t, j) = (terse.jobs.first().unwrap(), json.jobs.first().unwrap());
        assert_eq!((&t.name, t.group, t.error), (&j.name, j.group, j.error));
        assert_eq!(t.directions.len(), 2, "both, and no trims");
        let below = |a: Option<f64>, b: Option<f64>, unit: f64| {
            let (a, b) = (a.unwrap(), b.unwrap());
            assert!((b / unit).floor() * unit == a, "version {version}: {a} is not {b}, cut");
        };
        for (t, j) in t.directions.iter().zip(&j.directions) {
            assert_eq!((t.kind, t.bytes, t.milliseconds), (j.kind, j.bytes, j.milliseconds));
            below(t.bandwidth.map(|b| b.0 * 1024.0), j.bandwidth.map(|b| b.0 * 1024.0), 1.0);
            below(t.iops.map(|i| i.0), j.iops.map(|i| i.0), 1.0);
            for (t, j) in [(&t.completion, &j.completion), (&t.total, &j.total)] {
                let (t, j) = (t.as_ref().unwrap(), j.as_ref().unwrap());
                below(t.max.map(|m| m.0), j.max.map(|m| m.0), 1.0);
                below(t.min.map(|m| m.0), j.min.map(|m| m.0), 1.0);
                assert!((t.mean.unwrap().0 - j.mean.unwrap().0).abs() < 1e-3);
                assert!((t.stdev.unwrap().0 - j.stdev.unwrap().0).abs() < 1e-3);
                assert_eq!(t.percentiles.len(), j.percentiles.len());
                for (t, j) in t.percentiles.iter().zip(&j.percentiles) {
                    assert_eq!(t.0, j.0);
                    below(Some(t.1.0), Some(j.1.0), 1.0);
                }
            }
            assert!(t.submission.is_none() && j.submission.is_none(), "psync submits nothing");
        }
        let (t, j) = (t.cpu.unwrap(), j.cpu.unwrap());
        assert!((t.0.0 - j.0.0).abs() < 1e-5 && (t.1.0 - j.1.0).abs() < 1e-5);
    }
}

#[test]
fn a_line_in_words_in_json_and_terse_is_one_run() {
    let run = one(&fixture("fio-terse-json-normal.txt"));
    assert!(run.is_json && !run.is_terse && run.groups.len() == 1);
    let text: String = String::from_utf8(fixture("fio-terse-json-normal.txt")).unwrap();
    // Without the document, the line lends its digits to the words.
    let (head, rest) = text.split_once("{\n").unwrap();
    let (_, words) = rest.split_once("\n}\n").unwrap();
    let run = one(format!("{head}{words}").as_bytes());
    assert!(!run.is_terse && !run.is_json && run.groups.len() == 1);
    let job = run.jobs.first().unwrap();
    assert_eq!(run.option(job, "rw"), Some("write"));
    let write = job.directions.first().unwrap();
    let line = text.lines().find(|l| l.starts_with("3;")).unwrap();
    let kib: f64 = line.split(';').nth(47).unwrap().parse().unwrap();
    assert_eq!(write.bandwidth, mib(kib / 1024.0));
    assert!(job.directions.iter().any(|d| d.kind == Kind::Sync), "which the line does not have");
}

/// A line of a read by its bandwidth, and what a disk did.
fn terse(name: &str, group: u32, kib: u32, milliseconds: u32, disk: &str) -> String {
    let idle = format!(
        "0;0;0;0;{}{}{}0;0;0.000000%;0.000000;0.000000;",
        "0;0;0.0;0.0;".repeat(2),
        "0%=0;".repeat(20),
        "0;0;0.0;0.0;"
    );
    let read = format!(
        "{kib};{};{};{milliseconds};0;0;0.0;0.0;2;{milliseconds};9.5;1.5;50.000000%=9;{}3;{milliseconds};10.5;1.5;0;0;0.0%;0.0;0.0;",
        kib / 2,
        kib / 8,
        "0%=0;".repeat(19)
    );
    format!(
        "3;fio-3.33;{name};{group};0;{read}{idle}1.5%;2.5%;7;0;1;{}{disk}\n",
        "0.0%;".repeat(29).trim_end_matches(';')
    )
}

#[test]
fn terse_lines_belong_together_as_far_as_they_say() {
    let jobs = |text: String| -> Vec<usize> { parse(text.as_bytes()).iter().map(|r| r.jobs.len()).collect() };
    let vda = |reads: u32| format!(";vda;{reads};0;0;0;4;0;4;1.00%");
    // Two jobs, two groups, two processes of one job: the disks did the same.
    assert_eq!(jobs(terse("a", 0, 4096, 999, &vda(7)) + &terse("b", 0, 4000, 999, &vda(7))), [2]);
    assert_eq!(jobs(terse("a", 0, 4096, 999, &vda(7)) + &terse("b", 1, 4000, 999, &vda(7))), [2]);
    let two = one((terse("a", 0, 4096, 999, &vda(7)) + &terse("a", 0, 4000, 999, &vda(7))).as_bytes());
    assert_eq!((two.jobs.len(), two.notes.len()), (2, 0));
    // The same call twice, appended: the disks did something else, or the groups begin again.
    assert_eq!(jobs(terse("a", 0, 4096, 1001, &vda(7)) + &terse("a", 0, 4000, 1000, &vda(6))), [1, 1]);
    let again = terse("a", 0, 4096, 999, "") + &terse("b", 1, 4096, 999, "");
    assert_eq!(jobs(again.repeat(2)), [2, 2]);
    // Undecided: one run, and it says so, once.
    let open = one(terse("a", 0, 4096, 999, "").repeat(3).as_bytes());
    assert_eq!((open.jobs.len(), open.notes.len()), (3, 1));
    // States in between, and then the end.
    let states = (1..=3).map(|n| terse("a", 0, 4096 * n, 1000 * n, &vda(n))).collect::<String>();
    assert_eq!(parse(states.as_bytes()).iter().map(|r| r.is_interim).collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn terse_lines_that_say_nothing_are_refused() {
    let good = terse("a;b", 0, 4096, 999, "");
    let whole = terse("a", 0, 4096, 999, ";a job; of mine");
    let read = one(whole.as_bytes());
    let d = read.jobs.first().and_then(|j| j.directions.first()).unwrap();
    assert_eq!((d.bandwidth, d.completion.as_ref().map(|c| c.percentiles.len())), (mib(2.0), Some(1)));
    // A name with a semicolon shifts all columns.
    for text in [good, whole.replace(";4096;", ";x;"), whole.replace("9.5", "nan"), whole.replace("50.000000%=9", "50")]
    {
        let run = one(text.as_bytes());
        assert!(run.jobs.is_empty() && run.refused.kept.len() == 1, "{run:#?}");
    }
    for end in [20, 60, 200, 400, whole.rfind("0.0%;0.0%").unwrap()] {
        let run = one(whole.get(..end).unwrap().as_bytes());
        assert!(run.jobs.is_empty() && run.refused.kept.len() == 1, "{end}: {run:#?}");
    }
    let second = one(whole.replacen("3;fio-3.33;", "2;", 1).as_bytes());
    assert!(second.refused.kept.first().is_some_and(|r| matches!(r.why, Why::Unsupported(_))), "{second:#?}");
    // Nothing went, and why.
    let failed = one(terse("a", 0, 0, 0, "").replace(";a;0;0;", ";a;0;2;").as_bytes());
    assert_eq!((failed.end, failed.failures.len()), (End::Failed, 1));
    assert!(failed.jobs.iter().all(|j| j.directions.is_empty()));
}
