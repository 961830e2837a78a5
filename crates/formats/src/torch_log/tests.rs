use super::*;

fn one(text: &str) -> Line {
    let mut lines = parse(text.as_bytes());
    assert_eq!(lines.len(), 1, "{text}: {lines:#?}");
    lines.remove(0)
}

fn ms(n: u64) -> Option<Duration> {
    Some(Duration::from_millis(n))
}

#[test]
fn timeouts_of_every_release() {
    // Line, rank in the job, in the group, group, sequence, elements in, limit, ran.
    let work = "Watchdog caught collective operation timeout: WorkNCCL(";
    for (prefix, fields, rank, group_rank, sequence, elements, shape) in [
        ("[E ProcessGroupNCCL.cpp:566] [Rank 3] ", "OpType=ALLREDUCE, ", None, Some(3), None, None, None),
        (
            "[E ProcessGroupNCCL.cpp:828] [Rank 3] ",
            "SeqNum=61, OpType=ALLREDUCE, TensorShape=[2, 4], ",
            None,
            Some(3),
            Some(61),
            None,
            Some("2, 4"),
        ),
        (
            "[E ProcessGroupNCCL.cpp:474] [Rank 3] ",
            "SeqNum=61, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, ",
            None,
            Some(3),
            Some(61),
            Some(8),
            None,
        ),
        (
            "[rank11]:[E ProcessGroupNCCL.cpp:523] [Rank 3] ",
            "SeqNum=61, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, ",
            Some(11),
            Some(3),
            Some(61),
            Some(8),
            None,
        ),
        (
            "11: [rank11]:[E1003 18:37:01.832146912 ProcessGroupNCCL.cpp:607] [Rank 3] ",
            "SeqNum=61, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, ",
            Some(11),
            Some(3),
            Some(61),
            Some(8),
            None,
        ),
        (
            "(Worker pid=7) [rank11]:[E1118 20:32:23.9 ProcessGroupNCCL.cpp:629] [PG ID 2 PG GUID 5(tp) Rank 3] ",
            "SeqNum=61, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, ",
            Some(11),
            Some(3),
            Some(61),
            Some(8),
            None,
        ),
    ] {
        let text = format!("{prefix}{work}{fields}Timeout(ms)=600000) ran for 600027 milliseconds before timing out.");
        let line = one(&text);
        let Event::Timeout(t) = &line.event else { panic!("{text}: {line:?}") };
        assert_eq!((line.rank, line.group_rank), (rank, group_rank), "{text}");
        assert_eq!((t.operation.as_str(), t.sequence, t.elements_in), ("ALLREDUCE", sequence, elements), "{text}");
        assert_eq!((t.limit, t.ran, t.shape.as_deref()), (ms(600_000), ms(600_027), shape), "{text}");
    }
}

#[test]
fn groups() {
    let status = "last enqueued NCCL work: 7, last completed NCCL work: 6.";
    let group = |id, guid: Option<&str>, name: Option<&str>| Group {
        id,
        guid: guid.map(Into::into),
        name: name.map(Into::into),
    };
    for (tag, want, job) in [
        ("[PG 0 (default_pg) Rank 1]", group(Some(0), None, Some("default_pg")), Some(1)),
        ("[PG 1 Rank 1]", group(Some(1), None, None), None),
        ("[PG ID 2 PG GUID 3 Rank 1]", group(Some(2), Some("3"), None), None),
        ("[PG ID 0 PG GUID 0(default_pg) Rank 1]", group(Some(0), Some("0"), Some("default_pg")), Some(1)),
    ] {
        let line = one(&format!("[E ProcessGroupNCCL.cpp:1] {tag} {status}"));
        assert_eq!((line.group.as_ref(), line.group_rank, line.job_rank()), (Some(&want), Some(1), job), "{tag}");
    }
    assert_eq!(one(&format!("[rank9]:[E ProcessGroupNCCL.cpp:1] [PG 1 Rank 1] {status}")).job_rank(), Some(9));
}

#[test]
fn progress_in_all_words() {
    for (text, want) in [
        (
            "Exception (either an error or timeout) detected by watchdog at work: 32, last enqueued NCCL work: 33, last completed NCCL work: 31.",
            (Reason::Failure, Some(32), Some(33), Some(31)),
        ),
        (
            "Timeout at NCCL work: 32, last enqueued NCCL work: 33, last completed NCCL work: 31.",
            (Reason::Failure, Some(32), Some(33), Some(31)),
        ),
        (
            " failure detected by watchdog at work sequence id: 1 PG status: last enqueued work: 547, last completed work: -1",
            (Reason::Failure, Some(1), Some(547), None),
        ),
        (
            "Received a dump signal due to a collective timeout from  rank 7 and we will try our best to dump the debug info. Last enqueued NCCL work: 5, last completed NCCL work: 5.This is most likely",
            (Reason::DumpForAnother(Some(7)), None, Some(5), Some(5)),
        ),
        (
            "Received a dump signal due to a collective timeout from this local rank and we will try our best to dump the debug info. Last enqueued NCCL work: 5, last completed NCCL work: 4.",
            (Reason::DumpOfItself, None, Some(5), Some(4)),
        ),
        (
            "NCCL Work update periodically: last enqueued NCCL work: 5, last completed NCCL work: 4.",
            (Reason::Periodic, None, Some(5), Some(4)),
        ),
    ] {
        let line = one(&format!(
            "[rank1]:[E703 19:54:01.0 ProcessGroupNCCL.cpp:1987] [PG ID 0 PG GUID 0(default_pg) Rank 1] {text}"
        ));
        let (reason, at, enqueued, completed) = want;
        assert_eq!(line.event, Event::Progress(Progress { reason, at, enqueued, completed }), "{text}");
    }
}

#[test]
fn errors_and_nccls_own_words() {
    let lines = parse(b"torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1249, internal error - please report this issue to the NCCL developers, NCCL version 2.18.5\n\
        ncclInternalError: Internal check failed.\nLast error:\nBootstrap : no socket interface found\nnext line\n");
    let events: Vec<_> = lines.iter().map(|l| (l.line, &l.event)).collect();
    let [(1, Event::Error(first)), (2, Event::Error(second)), (4, Event::LastError { text })] = &events[..] else {
        panic!("{events:#?}")
    };
    assert_eq!((first.kind, first.version.as_deref()), (ErrorKind::Internal, Some("2.18.5")));
    assert_eq!((second.kind, second.version.as_deref()), (ErrorKind::Internal, None));
    assert_eq!(text, "Bootstrap : no socket interface found");
    for (words, kind) in [
        ("unhandled cuda error (run with NCCL_DEBUG=INFO for details)", ErrorKind::Cuda),
        ("unhandled system error (run with NCCL_DEBUG=INFO for details)", ErrorKind::System),
        ("remote process exited or there was a network error", ErrorKind::Remote),
        ("invalid usage (run with NCCL_DEBUG=WARN for details)", ErrorKind::InvalidUsage),
        ("something new", ErrorKind::Other),
    ] {
        let line = one(&format!(
            "RuntimeError: NCCL error in: ../torch/lib/c10d/NCCLUtils.hpp:317, {words}, NCCL version 2.21.5"
        ));
        let Event::Error(e) = line.event else { panic!() };
        assert_eq!((e.kind, e.version.as_deref()), (kind, Some("2.21.5")), "{words}");
    }
    let late = parse(b"Last error:\nalpha:1:2 [0] NCCL INFO comm 0x1 - Abort COMPLETE\nNET/IB : Got completion\n");
    assert!(matches!(&late[..], [Line { line: 3, event: Event::LastError { .. }, .. }]));
    // An empty line: the library had no words.
    assert!(parse(b"Last error:\n\nhello\n").is_empty());
    assert!(parse(b"ncclSystemErrors are discussed here\nuse nccl\n").is_empty());
}

#[test]
fn the_other_lines() {
    let rank = "[rank5]:[E703 19:54:01.0 ProcessGroupNCCL.cpp:1] [PG ID 0 PG GUID 0(default_pg) Rank 5] ";
    let event = |text: &str| one(&format!("{rank}{text}")).event;
    assert_eq!(event("Observed flight recorder dump signal from another rank via TCPStore."), Event::DumpObserved);
    assert_eq!(event("To avoid data inconsistency, we are taking the entire process down."), Event::TakenDown);
    assert_eq!(
        event(
            "ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives. "
        ),
        Event::WatchdogStuck { after: Some(Duration::from_secs(480)) }
    );
    let terminated = event("Process group watchdog thread terminated with exception: [Rank 5] NCCL error: x");
    assert!(matches!(terminated, Event::Terminated { text } if text.starts_with("[Rank 5]")));
    let remote = event(
        "Process group watchdog thread terminated with exception: [Rank 5] NCCL error: remote process exited or there was a network error, NCCL version 2.20.5",
    );
    assert!(matches!(remote, Event::Error(e) if e.kind == ErrorKind::Remote));
    // Often the exception's own line is cut out of what people paste.
    let caught = event(
        "Process group watchdog thread terminated with exception: [Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=BROADCAST, Timeout(ms)=1) ran for 2 milliseconds before timing out.",
    );
    assert!(matches!(caught, Event::Timeout(t) if t.sequence == Some(1)));
    let lagging = one("\t   - [0, 2] finished collective #3, but didn't join collective #4 (count from 1)");
    assert!(
        matches!(lagging.event, Event::Lagging { ranks, lag: Lag::DidNotJoin, collective: Some(4), .. } if ranks == [0, 2])
    );
    let stuck = one("[pod/worker-0/main] \t   - [7] joined but didn't finish collective #3 (count from 1)");
    assert!(
        matches!(stuck.event, Event::Lagging { ranks, lag: Lag::DidNotFinish, collective: Some(3), .. } if ranks == [7])
    );
    let never = one(
        "\t - To our best knowledge, ranks [1] are the lagging ranks that caused this timeout. They never joined any collectives",
    );
    assert!(
        matches!(never.event, Event::Lagging { ranks, lag: Lag::NeverJoined, collective: None, .. } if ranks == [1])
    );
    assert!(matches!(
        one("RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: x").event,
        Event::Mismatch { .. }
    ));
    let store = "[1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer";
    assert!(matches!(one(store).event, Event::Store { .. }));
    assert!(
        parse(b"[rank0]: Traceback (most recent call last):\nalpha:1:2 [0] NCCL INFO ncclCommInitRank\n").is_empty()
    );
}
