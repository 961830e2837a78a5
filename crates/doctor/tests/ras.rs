//! Reports of NCCL's RAS: what they show of a job, and what is said of it.

#![allow(clippy::panic)]

use crate::common;

use common::{answer, asserted, ids};
use linerate_doctor::answer::{Answer, Confidence};

const HEAD: &str = "\
NCCL version 2.27.5 compiled with CUDA 12.9
CUDA runtime version 12090, driver version 13000

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      2          2            1          4        4

Communicators... (0.01s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
";
const OK: &str = "    0         1         2         2         4         4   RUNNING      OK\n";
const MISMATCH: &str = "    0         1         2         2         4         4   RUNNING  MISMATCH\n";
const INCOMPLETE: &str = "    0         1         2       1-2         4         3   RUNNING  INCOMPLETE\n";
const TIMED_OUT: &str = "[rank3]:[E603 17:48:01.005271823 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=70, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran for 600068 milliseconds before timing out.\n";

/// A report with this row, these errors and these warnings.
fn report(row: &str, errors: &str, warnings: &str) -> String {
    format!("{HEAD}{row}\nErrors\n======\n\n{errors}Warnings\n========\n\n{warnings}")
}

fn missing() -> String {
    report(
        INCOMPLETE,
        "INCOMPLETE\n  Missing communicator data from 1 job process\n  Process 22 on node 10.0.0.2 managing GPU 1\n\n\
         #0-0 (00000000000000a1) INCOMPLETE\n  Missing communicator data from 1 rank\n  Rank 3 -- GPU 1 managed by process 22 on node 10.0.0.2\n\n",
        "",
    )
}

fn behind(at: u32) -> String {
    let warnings = format!(
        "#0-0 (00000000000000a1) MISMATCH\n  Communicator ranks have different AllReduce operation counts\n  3 ranks have launched up to operation {}\n  \
         Rank 1 has launched up to operation {at} -- GPU 1 managed by process 12 on node 10.0.0.1\n\n",
        at + 1
    );
    report(MISMATCH, "", &warnings)
}

fn first(a: &Answer) -> (&'static str, Confidence, &str) {
    let c = a.causes.first().unwrap_or_else(|| panic!("{a:#?}"));
    (c.id, c.confidence, c.summary.as_str())
}

#[test]
fn a_sound_report_says_what_ran_and_no_cause() {
    let a = answer(&report(OK, "", ""));
    assert_eq!((ids(&a), a.undecided.len(), a.exit_code()), (vec![], 0, 0), "{a:#?}");
    assert_eq!(a.inputs[0].kind, "NCCL RAS report");
    let [job] = a.jobs.as_slice() else { panic!("{a:#?}") };
    assert_eq!(
        (job.releases.as_slice(), job.cuda_drivers.as_slice()),
        (["2.27.5".to_owned()].as_slice(), ["13.0".to_owned()].as_slice())
    );
    assert_eq!((job.ranks, job.ranks_seen, job.nodes, job.communicators), (Some(4), 4, Some(2), 1));
    let [note] = a.not_causes.as_slice() else { panic!("{a:#?}") };
    assert!(note.why.contains("at that time"), "{note:?}");
    assert!(a.limits.is_empty(), "{a:#?}");
}

/// RAS may be content while a collective hangs: the timeout counts.
#[test]
fn a_timeout_beside_a_sound_report_stays_one() {
    let a = answer(&format!("{}{TIMED_OUT}", report(OK, "", "")));
    assert_eq!((first(&a).0, first(&a).1), ("job/straggler", Confidence::Possible));
    assert_eq!((a.exit_code(), a.not_causes.len(), a.timeline.len()), (1, 1, 1));
    assert_eq!(a.inputs[0].kind, "NCCL RAS report and framework log");
}

#[test]
fn a_process_that_does_not_answer_is_named() {
    let a = answer(&missing());
    let (id, sure, words) = first(&a);
    assert_eq!((id, sure), ("job/process-unresponsive", Confidence::Likely));
    assert_eq!(words, "process 22 on 10.0.0.2 (rank 3, GPU 1) does not answer NCCL's RAS");
    let shown: Vec<&str> = a.causes[0].evidence.iter().map(|e| e.text.as_str()).collect();
    assert_eq!(shown[1], "Process 22 on node 10.0.0.2 managing GPU 1");
    assert!(shown.contains(&"Rank 3 -- GPU 1 managed by process 22 on node 10.0.0.2"), "{shown:?}");
    assert_eq!((a.jobs[0].ranks, a.jobs[0].ranks_seen), (Some(4), 3));
    // Where more ranks are missing than the table has, it does not say how many there are.
    let odd = missing().replace("data from 1 rank\n", "data from 255 ranks\n");
    assert_eq!((answer(&odd).jobs[0].ranks, answer(&odd).jobs[0].nodes), (None, Some(2)));
    // What times out for want of it follows from it.
    let b = answer(&format!("{}{TIMED_OUT}", missing()));
    assert_eq!(ids(&b), ["job/process-unresponsive"], "{b:#?}");
    assert_eq!(b.consequences.len(), 1);
    // An earlier report is no longer so.
    let c = answer(&format!("{}{}", missing(), report(OK, "", "")));
    assert_eq!(ids(&c), [""; 0], "{c:#?}");
    // Its node's kernel ended it: that is the cause.
    let oom = "Jan  2 03:04:05 n2 kernel: [100.1] Out of memory: Killed process 22 (python3) total-vm:1kB, anon-rss:1kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0\n";
    let d = answer(&format!("{}{oom}", missing()));
    assert_eq!(asserted(&d), ["kernel/oom"], "{d:#?}");
}

#[test]
fn the_dead_are_named_in_each_form() {
    let text = report(
        INCOMPLETE,
        "DEAD\n  2 job processes are considered dead (unreachable via the RAS network)\n  Process 21 on node 10.0.0.2 managing GPU 0\n  Process 22 on node 10.0.0.2 managing GPU 1\n\n\
         #0-0 (00000000000000a1) INCOMPLETE\n  Missing communicator data from 2 ranks\n  The missing ranks: 2,3\n\n",
        "",
    );
    let json = "{\n\"nccl_version\": \"2.29.2\",\n\"communicators_count\": 1,\n\"communicators\": [ {\n\"hash\": \"0xa1\",\n\"size\": 2,\n\"ranks\": [ { \"rank\": 0, \"host\": \"10.0.0.1\", \"pid\": 11, \"cuda_dev\": 0, \"nvml_dev\": 0, \"status\": { \"init_state\": 0, \"abort_flag\": false } } ],\n\
         \"missing_ranks\": [ { \"rank\": 1, \"host\": \"10.0.0.2\", \"pid\": 22, \"cuda_dev\": 1, \"nvml_dev\": 1, \"status\": { \"unresponsive\": true, \"considered_dead\": true } } ] } ],\n\"ras\": { \"timeouts_count\": 0 }\n}\n";
    let event = "[2026-01-02 03:04:07] PEER_DEAD: Process 22 on node 10.0.0.2 managing GPU 1 \n";
    for (text, want) in [
        (text.as_str(), "NCCL's RAS considers process 21 on 10.0.0.2 (GPU 0), process 22 on 10.0.0.2 (GPU 1) dead"),
        (json, "NCCL's RAS considers process 22 on 10.0.0.2 (rank 1, GPU 1) dead"),
        (event, "NCCL's RAS considers process 22 on 10.0.0.2 (GPU 1) dead"),
    ] {
        let a = answer(text);
        assert_eq!(first(&a), ("job/process-unresponsive", Confidence::Likely, want), "{a:#?}");
        assert_eq!(a.inputs[0].kind, "NCCL RAS report");
    }
}

#[test]
fn timeouts_alone_are_possible() {
    let a = answer(&report(
        OK,
        "",
        "TIMEOUT\n  Encountered 2 communication timeouts while gathering communicator data\n\n",
    ));
    assert_eq!((first(&a).0, first(&a).1), ("job/process-unresponsive", Confidence::Possible));
    assert!(a.not_causes.is_empty());
}

#[test]
fn ranks_that_are_behind_are_named() {
    let words = "rank 1 of communicator #0-0 launched AllReduce up to operation 69, others 70";
    assert_eq!(first(&answer(&behind(69))), ("job/straggler", Confidence::Possible, words));
    // With a timeout, or where a second report says the same, it is more.
    let timed_out = answer(&format!("{}{TIMED_OUT}", behind(69)));
    assert_eq!(first(&timed_out), ("job/straggler", Confidence::Likely, words));
    let twice = answer(&format!("{}{}", behind(69), behind(69)));
    assert_eq!(first(&twice), ("job/straggler", Confidence::Likely, words));
    let moves = answer(&format!("{}{}", behind(42), behind(69)));
    assert_eq!(first(&moves), ("job/straggler", Confidence::Possible, words));
    // One that is ahead makes no stragglers of all others, which are counted.
    let ahead =
        behind(69).replace("3 ranks have launched up to operation 70", "3 ranks have launched up to operation 68");
    let words = "3 ranks of communicator #0-0 launched AllReduce up to operation 68, others 69";
    assert_eq!(first(&answer(&ahead)), ("job/straggler", Confidence::Possible, words));
}

#[test]
fn ranks_that_called_other_collectives() {
    let other = "  Communicator ranks have different AllGather operation counts\n  3 ranks have launched up to operation 5\n  \
                 Rank 1 has launched up to operation 6 -- GPU 1 managed by process 12 on node 10.0.0.1\n\n";
    let a = answer(&format!("{}{other}", behind(69)));
    let words = "rank 1 of communicator #0-0 launched more AllGather and fewer AllReduce operations than the others";
    assert!(
        a.causes
            .iter()
            .any(|c| (c.id, c.confidence, c.summary.as_str())
                == ("job/collective-mismatch", Confidence::Possible, words)),
        "{a:#?}"
    );
    // A rank that is behind in both called the same.
    let both = other.replace("operation 6", "operation 4");
    assert_eq!(ids(&answer(&format!("{}{both}", behind(69)))), ["job/straggler"]);
}

#[test]
fn status_that_differs_and_errors_are_said() {
    let differ = "#0-0 (00000000000000a1) MISMATCH\n  Communicator ranks have different status\n  3 ranks have status RUNNING\n  Rank 2 has status INIT -- GPU 0 managed by process 21 on node 10.0.0.2\n\n";
    let a = answer(&report(MISMATCH, "", differ));
    assert_eq!((ids(&a), a.exit_code()), (vec![], 2), "{a:#?}");
    assert!(a.undecided[0].summary.contains("3 ranks RUNNING, rank 2 INIT"), "{a:#?}");
    let reported = "#0-0 (00000000000000a1) ERROR\n  Asynchronous error on 1 rank\n  Rank 2 reported System error -- GPU 0 managed by process 21 on node 10.0.0.2\n\n";
    let a = answer(&report(&OK.replace("   OK", "ERROR"), reported, ""));
    assert_eq!((ids(&a), a.exit_code()), (vec![], 2), "{a:#?}");
    assert!(a.undecided[0].summary.contains("rank 2 of communicator #0-0 reports `System error`"), "{a:#?}");
    // Communicators that are still being made.
    let a = answer(&report(&OK.replace("RUNNING", "   INIT"), "", ""));
    assert_eq!((a.undecided.len(), a.not_causes.len()), (1, 0), "{a:#?}");
}

/// Wherever it is cut, it shows less and nothing else.
#[test]
fn a_cut_report_claims_no_more() {
    for whole in [missing(), behind(69), report(OK, "", "")] {
        let all = ids(&answer(&whole));
        let lines: Vec<&str> = whole.lines().collect();
        for at in 0..lines.len() {
            let a = answer(&lines[..at].join("\n"));
            assert!(ids(&a).iter().all(|id| all.contains(id)), "{a:#?}");
            assert!(a.not_causes.is_empty() || at + 2 >= lines.len(), "{at}: {a:#?}");
            let b = answer(&lines[at..].join("\n"));
            assert!(ids(&b).iter().all(|id| all.contains(id)), "{b:#?}");
        }
        let flat: String =
            whole.lines().map(|l| format!("{}\n", l.split_whitespace().collect::<Vec<_>>().join(" "))).collect();
        assert_eq!(ids(&answer(&flat)), all);
    }
    // The table alone says that ranks differ, and not which.
    let table = format!("{HEAD}{MISMATCH}");
    let a = answer(&table);
    assert_eq!((ids(&a), a.exit_code()), (vec![], 2));
    assert!(a.undecided[0].summary.contains("says MISMATCH"), "{a:#?}");
}

#[test]
fn talk_of_reports_is_none() {
    for text in [
        "If RAS says `Missing communicator data from 1 job process`, look at that process.\n",
        "> INCOMPLETE\n>   Missing communicator data from 1 job process\n>   Process 22 on node 10.0.0.2 managing GPU 1\n",
        "We saw DEAD and MISMATCH in ncclras, Process 22 on node 10.0.0.2 managing GPU 1\n",
    ] {
        assert_eq!(ids(&answer(text)), [""; 0], "{text}");
    }
}

#[test]
fn many_reports_are_bounded() {
    let text = format!("{}{}", report(OK, "", "").repeat(500), behind(69).repeat(500));
    let a = answer(&text);
    assert_eq!(asserted(&a), ["job/straggler"]);
    assert!(a.limits.iter().any(|l| l.contains("reports of NCCL's RAS")), "{:?}", a.limits);
}
