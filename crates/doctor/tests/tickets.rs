//! A ticket in one file: a tool's text and the result of a benchmark, in any order.

use linerate_doctor::answer::Answer;
use linerate_doctor::{Inputs, Source, Text};
use linerate_formats::{Gives, Kind};
use std::collections::BTreeSet;

fn answer(text: &str) -> Answer {
    let mut all = Inputs::default();
    let source = Source { path: None, name: "ticket.txt".into(), size: None };
    Text::new(&source, text.as_bytes().to_vec(), &mut all).finish(&mut all);
    all.conclude(Vec::new(), Vec::new())
}

const PERFTEST: &str = "$ ib_write_bw -d mlx5_0 10.0.0.2\n---------------------------------------------------------------------------------------\n                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : mlx5_0\n Link type       : IB\n---------------------------------------------------------------------------------------\n #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n 65536      5000             2354.51            2354.47\t\t   0.037671\n---------------------------------------------------------------------------------------\n";
const NCCL_TESTS: &str = "$ ./build/all_reduce_perf -b 64M -e 128M -f 2 -g 2\n# nThread 1 nGpus 2 minBytes 67108864 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n#  Rank  0 Group  0 Pid  9 on  a device  0 [0x07] NVIDIA L40S\n#  Rank  1 Group  0 Pid  9 on  a device  1 [0x0f] NVIDIA L40S\n#\n#                                                              out-of-place                       in-place          \n#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n    67108864      16777216     float     sum      -1    13500    4.97    4.97      0    13500    4.97    4.97      0\n   134217728      33554432     float     sum      -1    26900    4.99    4.99      0    26900    4.99    4.99      0\n# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 4.98 \n#\n";

/// Samples of all tools that are read for facts about a node.
fn texts() -> Vec<(Kind, &'static str)> {
    let is_whole = |t: &&str| t.trim_end().contains('\n') && !t.starts_with(['{', '[', '<']);
    let of_facts = Kind::ALL.iter().copied().filter(|k| matches!(k.gives(), Gives::Facts | Gives::Copy(_)));
    of_facts.flat_map(|k| k.tool().samples.iter().copied().filter(is_whole).map(move |t| (k, t))).collect()
}

#[test]
fn results_are_read_beside_any_tools_text() {
    let mut tools = BTreeSet::new();
    for (kind, text) in texts() {
        tools.insert(kind.name());
        let text = text.trim_end();
        for (table, of) in [(PERFTEST, "perftest"), (NCCL_TESTS, "all_reduce_perf")] {
            for ticket in [format!("{text}\n\n{table}"), format!("{table}\n{text}\n")] {
                let a = answer(&ticket);
                assert!(a.figures.iter().any(|f| f.name.starts_with(of)), "{kind:?}: {:?}\n{ticket}", a.inputs);
            }
        }
    }
    assert!(tools.len() > 50, "{tools:?}");
}

#[test]
fn lines_of_an_unknown_command_are_counted_beside_a_tools_text() {
    let ibstat = "$ ibstat mlx5_0\nCA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n";
    let remarks = |text: &str| answer(text).inputs.iter().map(|i| i.remarks.len()).sum::<usize>();
    assert_eq!(remarks(ibstat), 0);
    assert_eq!(remarks(&format!("{ibstat}$ ./frobnicate --all\nfrob 1 of 3 is odd\nfrob 2 of 3 is even\n")), 1);
}
