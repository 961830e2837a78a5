use super::*;
use crate::bounds::{Limit, RAS_KEPT, RAS_REPORTS};

/// A report of a job with one process that does not answer and one rank that is behind.
const TEXT: &str = "\
NCCL version 2.27.5 compiled with CUDA 12.9
CUDA runtime version 12090, driver version 13000

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      2          2            1          4        4

Communicators... (2.05s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         2       1-2         4         3   RUNNING  INCOMPLETE,MISMATCH
    1         2         2         1         2         4   RUNNING      OK

Errors
======

INCOMPLETE
  Missing communicator data from 1 job process
  Process 22 on node 10.0.0.2 managing GPU 1

#0-0 (00000000000000a1) INCOMPLETE
  Missing communicator data from 1 rank
  Rank 3 -- GPU 1 (NVML 5) managed by process 22 on node 10.0.0.2

Warnings
========

TIMEOUT
  Encountered 2 communication timeouts while gathering communicator data

#0-0 (00000000000000a1) MISMATCH
  Communicator ranks have different AllReduce operation counts
  2 ranks have launched up to operation 70
  Rank 1 has launched up to operation 69 -- GPU 1 managed by process 12 on node 10.0.0.1

";

/// The same job as JSON.
const JSON: &str = r#"{
  "nccl_version": "2.29.2",
  "cuda_runtime_version": 13000,
  "cuda_driver_version": 13010,
  "timestamp": "2026-01-02 03:04:05",
  "communicators_count": 1,
  "communicators": [
    {
      "hash": "0xa1",
      "secondary_hash": "0x1:0x2",
      "size": 4,
      "ranks_count": 3,
      "missing_ranks_count": 1,
      "ranks": [
        { "rank": 0, "host": "10.0.0.1", "pid": 11, "cuda_dev": 0, "nvml_dev": 0,
          "status": { "init_state": 0, "async_error": 0, "finalize_called": false, "destroy_flag": false, "abort_flag": false },
          "collective_counts": { "Broadcast": 1, "AllReduce": 70 } },
        { "rank": 1, "host": "10.0.0.1", "pid": 12, "cuda_dev": 1, "nvml_dev": 1,
          "status": { "init_state": 0, "async_error": 0, "finalize_called": false, "destroy_flag": false, "abort_flag": false },
          "collective_counts": { "Broadcast": 1, "AllReduce": 69 } },
        { "rank": 2, "host": "10.0.0.2", "pid": 21, "cuda_dev": 0, "nvml_dev": 4,
          "status": { "init_state": 0, "async_error": 6, "finalize_called": false, "destroy_flag": false, "abort_flag": false },
          "collective_counts": { "Broadcast": 1, "AllReduce": 70 } }
      ],
      "missing_ranks": [
        { "rank": 3, "host": "10.0.0.2", "pid": 22, "cuda_dev": 1, "nvml_dev": 5,
          "status": { "unresponsive": true, "considered_dead": false } }
      ]
    }
  ],
  "ras": {
    "collection_time_sec": 2.050,
    "timeouts_count": 2
  }
}
"#;

fn one(text: &str) -> Report {
    let mut all = parse(text.as_bytes()).items;
    assert_eq!(all.len(), 1, "{text}\n{all:#?}");
    all.remove(0)
}

fn ranks(members: &[Member]) -> Vec<u32> {
    members.iter().filter_map(|m| m.rank).collect()
}

#[test]
fn a_report_is_read_whole() {
    let r = one(TEXT);
    let totals = Totals { nodes: 2, processes: 4, gpus: 4 };
    assert_eq!(r.nccl.as_ref().map(|v| (v.value.as_str(), v.line)), Some(("2.27.5", 1)));
    assert_eq!((r.cuda_runtime, r.cuda_driver, r.job.unwrap().value), (Some(12090), Some(13000), totals));
    assert_eq!((r.gathered.unwrap().seconds, r.reached, r.lines), (2.05, Reached::Last, (1, 39)));
    let errors = Errors { incomplete: true, mismatch: true, error: false };
    let group = |g: &Group| (g.line, g.number, g.communicators, g.ranks, g.answered, g.status, g.errors);
    let groups: Vec<_> = r.groups.iter().map(group).collect();
    assert_eq!(
        groups,
        [(16, 0, 1, 4, 3, Status::Running, errors), (17, 1, 2, 2, 4, Status::Running, Errors::default())]
    );
    let missing = r.missing.as_ref().unwrap();
    assert_eq!((missing.count, missing.line, missing.members.len()), (1, 23, 1));
    assert_eq!(missing.members[0].to_string(), "Process 22 on node 10.0.0.2 managing GPU 1");
    let [c] = r.communicators.as_slice() else { panic!("{r:#?}") };
    assert_eq!((c.id, c.hash, c.size, c.errors), (Some((0, 0)), 0xa1, Some(4), errors));
    let of_c = c.missing.as_ref().unwrap();
    assert_eq!(of_c.members[0].to_string(), "Rank 3 -- GPU 1 (NVML 5) managed by process 22 on node 10.0.0.2");
    let [calls] = c.calls.as_slice() else { panic!("{c:#?}") };
    assert_eq!(calls.operation.as_deref(), Some("AllReduce"));
    let launched: Vec<_> = calls.launched.iter().map(|s| (s.what, s.count, ranks(&s.members))).collect();
    assert_eq!(launched, [(70, 2, vec![]), (69, 1, vec![1])]);
    assert_eq!(r.timeouts.map(|t| t.value), Some(2));
    assert!(r.is_troubled() && !r.is_sound() && r.left_out.is_empty());
}

#[test]
fn the_same_as_json() {
    let r = one(JSON);
    assert!(r.is_json && r.reached == Reached::Last);
    assert_eq!((r.nccl.as_ref().unwrap().value.as_str(), r.cuda_driver), ("2.29.2", Some(13010)));
    assert_eq!(r.job.unwrap().value, Totals { nodes: 2, processes: 4, gpus: 4 });
    assert_eq!((r.gathered.unwrap().seconds, r.timeouts.map(|t| t.value)), (2.05, Some(2)));
    let missing = r.missing.as_ref().unwrap();
    assert_eq!((missing.count, missing.members[0].pid, missing.members[0].node.as_str()), (1, Some(22), "10.0.0.2"));
    let [c] = r.communicators.as_slice() else { panic!("{r:#?}") };
    assert_eq!((c.hash, c.size, c.id), (0xa1, Some(4), None));
    assert_eq!(c.errors, Errors { incomplete: true, error: true, mismatch: true });
    let launched: Vec<_> = c.calls[0].launched.iter().map(|s| (s.what, s.count, ranks(&s.members))).collect();
    assert_eq!(
        (c.calls.len(), c.calls[0].operation.as_deref(), launched),
        (1, Some("AllReduce"), vec![(70, 2, vec![]), (69, 1, vec![1])])
    );
    let [e] = c.reported.as_slice() else { panic!("{c:#?}") };
    assert_eq!(
        (e.what.error.as_str(), e.what.is_initialization, ranks(&e.members)),
        ("Remote process error", false, vec![2])
    );
    assert_eq!(e.members[0].gpus, "0 (NVML 4)");
    assert_eq!((r.groups.len(), r.groups[0].nodes, r.groups[0].answered), (1, 2, 3));
    // However it is broken over lines.
    let compact: String = JSON.split_whitespace().collect();
    let spread = JSON.replace(", ", ",\n").replace("{ ", "{\n").replace(" }", "\n}");
    for text in [compact, spread, format!("x\n{JSON}y\n")] {
        let other = one(&text);
        let of = |r: &Report| {
            (r.job.map(|j| j.value), r.communicators[0].calls[0].launched.len(), r.communicators[0].errors)
        };
        assert_eq!(of(&other), of(&r), "{text}");
    }
}

/// What the releases say otherwise, line by line.
#[test]
fn wordings_of_releases() {
    use line::{About, Said, read};
    let member = |rank: u32| Member { rank: Some(rank), ..Member::default() };
    for (text, want) in [
        ("26 ranks have status UNKNOWN", Said::Ranks(26, About::Status(Status::NoComm))),
        ("26 ranks have status NOCOMM", Said::Ranks(26, About::Status(Status::NoComm))),
        ("Rank 21 has status UNKNOWN", Said::Rank(member(21), Some(About::Status(Status::NoComm)))),
        ("The missing rank: 21", Said::RankList(true, vec![21])),
        ("The unknown ranks: 1,2", Said::RankList(false, vec![1, 2])),
        ("Communicator ranks have different collective operation counts", Said::CallsDiffer(None)),
        ("Communicator ranks have different ReduceScatter operation counts", Said::CallsDiffer(Some("ReduceScatter"))),
        ("6 ranks have not launched any operations", Said::Ranks(6, About::Launched(0))),
        (
            "Rank 5 has not launched any operations -- [process information not found]",
            Said::Rank(member(5), Some(About::Launched(0))),
        ),
        ("Rank 5 -- [process information not found]", Said::Rank(member(5), None)),
        ("2 ranks reported System error", Said::Ranks(2, About::Reported("System error"))),
        ("Initialization errors on 2 ranks", Said::ErrorsOf(true)),
        ("Asynchronous error on 1 rank", Said::ErrorsOf(false)),
        ("2 job processes are considered dead (unreachable via the RAS network)", Said::DeadProcesses(2)),
        ("1 job process is considered dead (unreachable via the RAS network)", Said::DeadProcesses(1)),
        ("Communicators... (0.00s)", Said::Gathering(Some(0.0))),
        ("Communicators...", Said::Gathering(None)),
        ("CUDA runtime version -1, driver version 12040", Said::Cuda(0, 12040)),
        ("[could not find information on 1 process]", Said::Nothing),
        ("Node 10.0.0.9 running processes 4,5", Said::Nothing),
    ] {
        assert_eq!(read(text), Some(want), "{text}");
    }
    for text in [
        "NCCL version 2.27.3+cuda12.9",
        "NCCL version 2.21.5 hangs here",
        "Rank 3 -- GPU 0 managed by hand on node 7",
        "Rank 3 died",
        "Rank 3 reported a problem -- see below",
        "#12 (fixed) MISMATCH",
        "#0-0 (a1) MISMATCH",
        "#0-0 (00000000000000a1) OK",
        "Missing communicator data from 1 rank, which we saw yesterday",
        "Process 22 on node 10.0.0.2 managing everything",
        "26 ranks have status GONE",
        "1 2 3 4",
        "Errors in the log",
        "===",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn status_that_differs_and_errors_that_ranks_report() {
    let text = "\
#0-0 (00000000000000a1) ERROR
  Initialization error on 1 rank
  Rank 2 reported Unhandled CUDA error -- GPU 2 managed by process 7 on node n1
  Asynchronous errors on 2 ranks
  2 ranks reported Remote process error
  Rank 0 -- GPU 0 managed by process 5 on node n1
  Rank 1 -- GPU 1 managed by process 6 on node n1

Warnings
========

#0-0 (00000000000000a1) MISMATCH
  Communicator ranks have different status
  5 ranks have status NOCOMM
  2 ranks have status RUNNING
  Rank 0 -- GPU 0 managed by process 5 on node n1
  Rank 3 -- GPU 3 managed by process 8 on node n1
  Rank 4 has status FINALIZE -- GPU 4 managed by process 9 on node n1
";
    let r = one(text);
    let [c] = r.communicators.as_slice() else { panic!("{r:#?}") };
    let reported: Vec<_> =
        c.reported.iter().map(|s| (s.what.is_initialization, s.what.error.as_str(), ranks(&s.members))).collect();
    assert_eq!(reported, [(true, "Unhandled CUDA error", vec![2]), (false, "Remote process error", vec![0, 1])]);
    let statuses: Vec<_> = c.statuses.iter().map(|s| (s.what, s.count, ranks(&s.members))).collect();
    assert_eq!(
        statuses,
        [(Status::NoComm, 5, vec![]), (Status::Running, 2, vec![0, 3]), (Status::Finalize, 1, vec![4])]
    );
}

#[test]
fn totals_of_a_job_whose_nodes_differ() {
    let text = "\
Job summary
===========

  Nodes  Processes         GPUs
          per node  per process
      3          8            1
      1          2            1

  Nodes  Processes         GPUs
(total)    (total)      (total)
      4         26           26

The outlier node:
  Node 10.0.0.4 running processes 7,8

Communicators... (0.01s)
=============

No communicator data collected!
";
    let cuda = "CUDA runtime version 12090, driver version 13000\n";
    let r = one(&format!("{cuda}{text}"));
    assert_eq!(r.job.unwrap().value, Totals { nodes: 4, processes: 26, gpus: 26 });
    assert!(r.no_data.is_some() && !r.is_sound() && !r.is_troubled());
}

/// Wherever a report is cut, and however it is indented, it says less and nothing else.
#[test]
fn a_cut_report_says_less() {
    let whole = one(TEXT);
    let lines: Vec<&str> = TEXT.lines().collect();
    for at in 0..=lines.len() {
        for part in [&lines[..at], &lines[at..]] {
            let text = part.join("\n");
            for r in parse(text.as_bytes()).items {
                assert!(r.job.is_none() || r.job.map(|j| j.value) == whole.job.map(|j| j.value), "{text}");
                assert!(!r.is_sound(), "{text}");
                for c in &r.communicators {
                    assert!(c.calls.iter().all(|c| c.launched.iter().all(|s| [69, 70].contains(&s.what))), "{text}");
                    let missing = c.missing.iter().flat_map(|m| &m.members).collect::<Vec<_>>();
                    assert!(missing.iter().all(|m| m.rank == Some(3)), "{text}");
                }
            }
        }
    }
    let flat: String = TEXT.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect();
    assert_eq!(one(&flat), whole);
    let tagged: String = TEXT.lines().map(|l| format!("[1,0]<stdout>:{l}\r\n")).collect();
    assert_eq!(one(&tagged), whole);
    // Without the head of the errors' section whose it is is known, without the communicator's it is not.
    let alone = one("Missing communicator data from 2 ranks\nRank 3 -- GPU 1 managed by process 22 on node n2\n");
    assert_eq!((alone.communicators[0].id, alone.communicators[0].missing.as_ref().unwrap().count), (None, 2));
    // Of JSON.
    let lines: Vec<&str> = JSON.lines().collect();
    for at in 0..=lines.len() {
        for part in [&lines[..at], &lines[at..]] {
            for r in parse(part.join("\n").as_bytes()).items {
                assert!(!r.is_sound(), "{at}: {r:#?}");
                assert!(r.job.is_none() || at <= 1 || at >= lines.len() - 2, "{at}: {r:#?}");
                assert!(r.missing.iter().all(|m| m.count == 1));
            }
        }
    }
}

#[test]
fn reports_one_after_the_other_and_between_other_lines() {
    let sound = "\
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
    0         1         2         2         4         4   RUNNING      OK

Errors
======

Warnings
========

";
    let text = format!("step 1\n{sound}step 2\n{TEXT}step 3\n{JSON}{sound}");
    let all = parse(text.as_bytes()).items;
    let sounds: Vec<bool> = all.iter().map(Report::is_sound).collect();
    assert_eq!(sounds, [true, false, false, true], "{all:#?}");
    assert_eq!(all[0].communicators_in_all(), 1);
    // A communicator that is still being made is not running.
    assert!(!one(&sound.replace("RUNNING", "   INIT")).is_sound());
}

#[test]
fn events_of_the_monitor() {
    let text = "\
[2026-01-02 03:04:05] PEER_NEW: Process 21 on node 10.0.0.2 managing GPU 0 
[2026-01-02 03:04:07] PEER_DEAD: Process 22 on node 10.0.0.2 managing GPUs 1,2 
[2026-01-02 03:04:07] PEER_DEAD: Process 22 on node 10.0.0.2 managing GPUs 1,2 
[2026-01-02 03:04:08] PEER_DEAD: 10.0.0.3<40001> 
";
    let r = one(text);
    let dead: Vec<String> = r.dead.iter().flat_map(|d| &d.members).map(Member::to_string).collect();
    assert_eq!(dead, ["Process 22 on node 10.0.0.2 managing GPUs 1,2", "10.0.0.3"]);
    assert!(r.is_monitor && r.missing.is_none());
    let json = "{\n  \"timestamp\": \"2026-01-02 03:04:07\",\n  \"group\": \"LIFECYCLE\",\n  \"event\": \"PEER_DEAD\",\n  \"peer\": {\n    \"host\": \"10.0.0.2\",\n    \"pid\": 22,\n    \"cuda_devs\": [1],\n    \"nvml_devs\": [1]\n  },\n  \"details\": \"\"\n}\n";
    let r = one(json);
    assert_eq!(r.dead.unwrap().members[0].pid, Some(22));
}

#[test]
fn prose_and_other_documents_are_none() {
    for text in [
        "We ran ncclras and it said Missing communicator data from 1 job process\n",
        "Job summary\n===========\nErrors\n======\nDEAD\n",
        "Rank 3 -- GPU 1 managed by process 22 on node n2\n",
        "{\n  \"nccl_version\": \"2.29.2\",\n  \"cuda_version\": 1\n}\n",
        "> #0-0 (00000000000000a1) MISMATCH\n",
        "",
    ] {
        assert_eq!(parse(text.as_bytes()).items, [], "{text}");
    }
}

#[test]
fn what_is_beyond_limits_is_counted() {
    let head = "#0-0 (00000000000000a1) INCOMPLETE\nMissing communicator data from 99999 ranks\n";
    let many: String =
        (0..RAS_KEPT as u32 + 9).map(|i| format!("Rank {i} -- [process information not found]\n")).collect();
    let r = one(&format!("{head}{many}"));
    let kept = r.communicators[0].missing.as_ref().unwrap().members.len();
    assert_eq!((kept, r.left_out[0].limit, r.left_out[0].count), (RAS_KEPT - 1, Limit::RAS_KEPT, 10));
    let all = parse("NCCL version 2.27.5 compiled with CUDA 12.9\n".repeat(RAS_REPORTS + 3).as_bytes());
    assert_eq!((all.items.len(), all.left_out[0].count), (RAS_REPORTS, 3));
}
