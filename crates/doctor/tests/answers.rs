//! Whole answers to small logs: what is concluded, what is not, and that nothing of the input can break it.

use linerate_doctor::answer::{Answer, Confidence};
use linerate_doctor::{Observer, Reader, conclude};

fn answer_in(text: &[u8], piece: usize) -> Answer {
    let mut observer = Observer::default();
    let mut reader = Reader::new(&mut observer, "log");
    text.chunks(piece.max(1)).for_each(|c| reader.feed(&mut observer, c));
    reader.finish(&mut observer);
    conclude(&observer, &[])
}

fn answer(text: &str) -> Answer {
    answer_in(text.as_bytes(), 64 << 10)
}

fn ids(a: &Answer) -> Vec<&str> {
    a.causes.iter().map(|c| c.id).collect()
}

/// A rank of a job of two nodes with one GPU each, over `via`.
fn rank(host: &str, rank: u32, comm: &str, via: &str) -> String {
    let peer = 1 - rank;
    let head = format!("{host}:10{rank}:20{rank} [0] NCCL INFO");
    format!(
        "{head} NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.{rank}<0>\n{head} Using network IB\n\
         {head} ncclCommInitRank comm 0x5{rank} rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 7000 commId {comm} - Init START\n\
         {head} Channel 00/0 : {peer}[0] -> {rank}[0] [receive] via {via}\n\
         {head} Channel 00/0 : {rank}[0] -> {peer}[0] [send] via {via}\n\
         {head} ncclCommInitRank comm 0x5{rank} rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 7000 commId {comm} - Init COMPLETE\n"
    )
}

#[test]
fn two_jobs_in_one_file_are_two() {
    let good = "NET/IB/0/GDRDMA";
    let text = rank("a", 0, "0x1", good)
        + &rank("b", 1, "0x1", good)
        + &rank("c", 0, "0x2", good)
        + &rank("d", 1, "0x2", good);
    let a = answer(&text);
    let hosts: Vec<_> = a.jobs.iter().map(|j| (j.ranks, j.ranks_seen, j.hosts.join(" "))).collect();
    assert_eq!(hosts, [(Some(2), 2, "a b".to_owned()), (Some(2), 2, "c d".to_owned())]);
    assert!(a.causes.is_empty() && a.undecided.is_empty(), "{:?}", ids(&a));
    assert_eq!(a.exit_code(), 0);
}

#[test]
fn one_rank_without_gpudirect_stands_out() {
    let text = rank("a", 0, "0x1", "NET/IB/0/GDRDMA") + &rank("b", 1, "0x1", "NET/IB/0");
    let a = answer(&text);
    let odd: Vec<_> =
        a.jobs[0].matrix.rows.iter().filter_map(|r| r.odd.as_deref().map(|o| (r.ranks.as_str(), o))).collect();
    assert_eq!(odd.len(), 1, "{odd:?}");
    // Why is not in these lines, and nothing is made up.
    assert!(a.causes.is_empty(), "{:?}", ids(&a));
    assert_eq!(a.undecided[0].symptom, "symptom/gpudirect-disabled");
    assert_eq!(a.exit_code(), 2);
}

#[test]
fn a_distance_is_named_in_the_words_of_its_release() {
    let far = "a:100:200 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 7000 / HCA 0 (distance 6 > 4)\n";
    for (version, words) in
        [("2.21.5+cuda12.4", "PHB apart, and PXB is the limit"), ("2.11.4+cuda11.4", "SYS apart, and PXB is the limit")]
    {
        let head = format!("a:100:200 [0] NCCL INFO NCCL version {version}\n");
        let text = head + far + &rank("a", 0, "0x1", "NET/IB/0") + &rank("b", 1, "0x1", "NET/IB/0");
        let a = answer(&text);
        let cause = a.causes.iter().find(|c| c.id == "gdr/too-far").unwrap_or_else(|| panic!("{:?}", ids(&a)));
        assert!(cause.summary.contains(words), "{version}: {}", cause.summary);
        assert_eq!(cause.confidence, Confidence::Certain);
    }
}

#[test]
fn the_consequence_is_not_the_cause() {
    let text = "[2026-01-01 10:00:05] a:1:2 [0] misc/socket.cc:1 NCCL WARN socketProgress: Connection closed by remote peer b<1>\n\
                [2026-01-01 10:00:01] b:1:2 [0] include/alloc.h:1 NCCL WARN Cuda failure 2 'out of memory'\n";
    let a = answer(text);
    assert_eq!(ids(&a), ["gpu/out-of-memory"]);
    assert!(a.consequences[0].why.contains("gpu/out-of-memory"));
    // By time, not by line.
    assert!(a.timeline[0].evidence.text.contains("out of memory"), "{:?}", a.timeline[0]);
    assert_eq!(a.timeline[0].evidence.at, "log:2");
}

#[test]
fn nothing_is_said_where_nothing_is_seen() {
    assert_eq!(answer("").exit_code(), 2);
    assert_eq!(answer("hello\nworld\n").exit_code(), 2);
    let a = answer("NCCL version 2.21.5+cuda12.4\n");
    assert!(a.causes.is_empty() && !a.undecided.is_empty());
    // Flush errors alone: the first error is elsewhere.
    let a = answer(
        "n:1:2 [0] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion from peer p<1> with status=5 opcode=0 len=0 vendor err 249 (Recv)\n",
    );
    assert!(a.causes.is_empty(), "{:?}", ids(&a));
    assert_eq!(a.undecided[0].symptom, "symptom/completion-errors");
}

#[test]
fn variables_say_what_they_do() {
    let text = "a:1:2 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\na:1:2 [0] NCCL INFO NCCL_IB_CUDA_SUPPORT set by environment to 1.\n\
                a:1:2 [0] NCCL INFO Using network IB\n";
    let a = answer(text);
    let set = &a.jobs[0].environment[0];
    assert_eq!((set.name.as_str(), set.value.as_str()), ("NCCL_IB_CUDA_SUPPORT", "1"));
    assert!(set.verdict.is_some(), "{set:?}");
}

#[test]
fn pieces_clothes_and_junk_do_not_matter() {
    let text = rank("a", 0, "0x1", "NET/IB/0/GDRDMA") + &rank("b", 1, "0x1", "NET/IB/0");
    let whole = format!("{:?}", answer(&text).jobs);
    for piece in [1, 7, 100] {
        assert_eq!(format!("{:?}", answer_in(text.as_bytes(), piece).jobs), whole, "pieces of {piece}");
    }
    assert_eq!(format!("{:?}", answer(&text.replace('\n', "\r\n")).jobs), whole, "CRLF");
    let coloured = text.replace("NCCL INFO", "\u{1b}[32mNCCL INFO\u{1b}[0m");
    assert_eq!(format!("{:?}", answer(&coloured).jobs), whole, "colours");
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(format!("{:?}", answer_in(&utf16, 33).jobs), whole, "UTF-16");
    // A line of 3 MB in between, without and with an end.
    let mut long = vec![b'x'; 3 << 20];
    long.push(b'\n');
    long.extend_from_slice(text.as_bytes());
    let a = answer_in(&long, 64 << 10);
    assert_eq!(a.jobs.len(), 1);
    assert!(a.inputs[0].remarks.iter().any(|r| r.contains("64 KiB")), "{:?}", a.inputs[0].remarks);
}

#[test]
fn a_second_writer_in_a_line_is_read() {
    let text =
        "a:1:1 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NETb:2:2 [1] NCCL INFO Using network Socket\n";
    let a = answer(text);
    assert_eq!(a.jobs.iter().flat_map(|j| &j.networks).map(|(n, _)| n.as_str()).collect::<Vec<_>>(), ["Socket"]);
    assert!(a.inputs[0].remarks.iter().any(|r| r.contains("two writers")));
}

mod any {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..4000), piece in 1usize..500) {
            let _ = answer_in(&bytes, piece);
        }

        #[test]
        fn no_words_break_it(lines in proptest::collection::vec(
            "(h[0-9]:[0-9]{1,3}:[0-9]{1,3} \\[[0-9]\\] )?(x.cc:1 )?NCCL (INFO|WARN) (Channel 0[0-9]/0 : [0-9]\\[0\\] -> [0-9]\\[0\\] (\\[send\\] )?via (NET/IB/0|P2P/IPC|SHM)|comm 0x[0-9] rank [0-9] nranks [0-9] cudaDev 0 - Init COMPLETE|NET/IB : Got completion with error [0-9]{1,2}, opcode 1|NCCL_[A-Z_]{2,12} set by environment to .{0,5}|GPU Direct RDMA (En|Dis)abled for GPU [0-9a-f]{1,9} / HCA [0-9] .distance -?[0-9]{1,20} > [0-9].|.{0,60})", 0..40)) {
            let _ = answer(&lines.join("\n"));
        }
    }
}
