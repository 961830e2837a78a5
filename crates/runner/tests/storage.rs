//! fio, for real, and what it must not touch.

use crate::common;

use common::{all_gone, have, measured, prepared, request, word};
use linerate_runner::{Event, Stopped, Why};
use linerate_transport::Cancel;

#[test]
fn files_are_written_below_the_directory_and_removed() {
    if !have(&["fio"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let word = word("fio");
    let mut request = request("fio-rand-write,fio-seq-read", &word);
    request.directory = Some(dir.path().display().to_string());
    request.variants[0].args = vec!["--bs=16k".into()];
    let mut seen = false;
    let measured = measured("local", &request, &mut |event| {
        if let Event::Progress { .. } = event {
            seen |= std::fs::read_dir(dir.path()).unwrap().count() == 1;
        }
    });
    assert_eq!(measured.failures, []);
    assert!(seen, "it was there meanwhile");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    for o in &measured.outputs {
        let text = String::from_utf8_lossy(&o.bytes);
        assert!(text.trim_start().starts_with('{') && text.contains("\"iops\""), "{text}");
        assert!(text.contains("16k"), "the user's own argument counts");
    }
    all_gone(&word);
}

#[test]
fn a_cancelled_fio_leaves_no_files() {
    if !have(&["fio"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let word = word("fio-cancel");
    let mut request = request("fio-seq-write", &word);
    request.directory = Some(dir.path().display().to_string());
    request.seconds = 60;
    request.size = 1 << 30;
    let cancel = Cancel::new();
    let measured = prepared("local", &request, &[]).unwrap().measure(&cancel, &mut |event| {
        if let Event::Progress { elapsed, .. } = event
            && elapsed.as_millis() > 500
        {
            cancel.cancel();
        }
    });
    assert_eq!(measured.stopped, Some(Stopped::Cancelled));
    all_gone(&word);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn devices_and_other_files_are_refused() {
    if !have(&["fio"]) {
        return;
    }
    let word = word("fio-refused");
    for (directory, args, says) in [
        ("/dev/sda", "", "never to a block device"),
        ("/dev", "", "never to a block device"),
        ("relative", "", "the whole path"),
        ("/tmp/../dev", "", "could be another"),
        ("/proc", "", "not a file system for files"),
        ("/tmp", "--filename=/dev/sda", "is not passed on to fio"),
        ("/tmp", "--directory=/", "is not passed on to fio"),
        ("/tmp", "--exec_prerun=x", "is not passed on to fio"),
        ("/tmp", "job.fio", "is not passed on to fio"),
    ] {
        let mut request = request("fio-seq-read", &word);
        request.directory = Some(directory.to_owned());
        request.variants[0].args = args.split_whitespace().map(str::to_owned).collect();
        let error = prepared("local", &request, &[]).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(says), "{directory} {args}: {error}");
    }
    let mut request = request("fio-seq-read", &word);
    request.directory = Some("/no/such/directory".to_owned());
    let measured = measured("local", &request, &mut |_| {});
    assert!(matches!(&measured.failures[0].why, Why::Directory(w) if w.contains("not a directory")));
}
