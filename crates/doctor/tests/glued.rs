//! Lines that lost their breaks, lines of writers that mix, and lists that a terminal broke: whose words are whose, and what is lost.

use crate::common;

use common::{answer, ids};
use linerate_doctor::answer::Answer;

/// Hosts, causes, and the exit code.
fn told(a: &Answer) -> (Vec<String>, Vec<&'static str>, u8) {
    (a.jobs.iter().flat_map(|j| j.hosts.clone()).collect(), ids(a), a.exit_code())
}

/// One host that has two processes and uses sockets.
const ONE_HOST: &str = "\
pod-7:11:19 [0] NCCL INFO NET/IB : No device found.
pod-7:11:19 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.7<0>
pod-7:11:19 [0] NCCL INFO Using network Socket
";

#[test]
fn another_writers_text_makes_no_host() {
    let second = "pod-7:12:12 [1] NCCL INFO Bootstrap : Using eth0:10.0.0.7<0>\n";
    // Cut within a word, behind one, behind a number; of a connection; before a line's own head.
    for mixed in [
        "pod-7:11:19 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 nvmpod-7:12:12 [1] NCCL INFO cudaDriverVersion 12040\n",
        "pod-7:11:19 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDevpod-7:12:12 [1] NCCL INFO cudaDriverVersion 12040\n",
        "pod-7:11:19 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0pod-7:12:12 [1] NCCL INFO cudaDriverVersion 12040\n",
        "pod-7:11:19 [0] NCCL INFO P2P Chunkpod-7:12:12 [1] NCCL INFO x\npod-7:11:19 [0] NCCL INFO P2Ppod-7:12:12 [1] NCCL INFO x\n",
        "Dev 0 busId 7000 - Init COMPLETEpod-7:12:12 [1] NCCL INFO cudaDriverVersion 12040\n",
    ] {
        let plain = told(&answer(ONE_HOST));
        assert_eq!(plain.0, ["pod-7"]);
        // The head is seen whole before, after, or never.
        for text in [
            format!("{second}{ONE_HOST}{mixed}"),
            format!("{mixed}{second}{ONE_HOST}"),
            format!("{ONE_HOST}{mixed}{second}"),
            format!("{ONE_HOST}{mixed}"),
            format!("{mixed}{ONE_HOST}"),
        ] {
            assert_eq!(told(&answer(&text)), plain, "{text}");
        }
    }
}

#[test]
fn the_first_writer_keeps_what_is_its_own() {
    let line = "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0";
    let text = format!("b:12:12 [1] NCCL INFO x\na:11:19 [0] NCCL INFO {line}b:12:12 [1] NCCL INFO Using network IB\n");
    let a = answer(&text);
    assert_eq!(a.jobs.iter().map(|j| j.matrix.rows.len()).sum::<usize>(), 1);
    assert_eq!(a.jobs[0].networks, [("IB".to_owned(), 1)]);
}

#[test]
fn hosts_of_joined_and_of_dressed_lines_count() {
    let joined = "a-1:5:5 [0] NCCL INFO Using network IB b-2:6:6 [0] NCCL INFO cudaDriverVersion 12040 \
                  a-1:5:5 [0] NCCL INFO P2P level b-2:6:6 [0] NCCL INFO Using network IB\n";
    // Twice behind the same words it may be the same cut.
    let twice =
        "a-1:5:5 [0] NCCL INFO Dev 0 nb-2:6:6 [0] NCCL INFO x\na-1:5:5 [0] NCCL INFO Dev 1 nb-2:6:6 [0] NCCL INFO x\n";
    let dressed = "app says: (12) a-1:5:5 [0] NCCL INFO Using network IB\napp says: (12) b-2:6:6 [0] NCCL INFO Using network IB\n";
    for (text, want) in [(joined, &["a-1", "b-2"][..]), (twice, &["a-1"]), (dressed, &["a-1", "b-2"])] {
        assert_eq!(told(&answer(text)).0, want, "{text}");
    }
}

#[test]
fn joined_lines_answer_as_their_lines_do() {
    let head = "n1:5:6 [0]";
    let lines = [
        format!("{head} misc/cudawrap.cc:1 NCCL WARN Failed to find CUDA library libcuda.so"),
        "NCCL version 2.18.1+cuda12.1".to_owned(),
        format!("{head} NCCL INFO Failed to open libibverbs.so[.1]"),
        format!("{head} NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>"),
        format!("{head} NCCL INFO Using network Socket"),
    ];
    let apart = answer(&(lines.join("\n") + "\n"));
    assert_eq!((apart.undecided.len(), apart.exit_code()), (1, 2));
    for from in 0..lines.len() {
        for between in [" ", ""] {
            // From this line on they are joined.
            let (first, rest) = lines.split_at(from);
            let text = first.iter().map(|l| format!("{l}\n")).collect::<String>() + &rest.join(between) + "\n";
            let a = answer(&text);
            let symptoms = |a: &Answer| a.undecided.iter().map(|u| u.symptom).collect::<Vec<_>>();
            assert_eq!((told(&a), symptoms(&a)), (told(&apart), symptoms(&apart)), "{text}");
            assert_eq!(a.timeline.len(), apart.timeline.len(), "{text}");
            assert_eq!(a.jobs[0].releases, ["2.18.1"], "{text}");
            assert_eq!(a.jobs[0].nics.len(), 1, "{text}");
            assert_eq!(a.inputs[0].nccl_lines, a.inputs[0].lines, "{text}");
        }
    }
}

/// NICs that are listed, and how many remarks there are.
fn listed(text: &str) -> (Vec<String>, usize) {
    let a = answer(text);
    (a.jobs.iter().flat_map(|j| &j.nics).flat_map(|l| l.nics.clone()).collect(), a.inputs[0].remarks.len())
}

#[test]
fn a_list_that_a_terminal_broke_is_one() {
    let head = "n1:5:6 [0] NCCL INFO ";
    let after = "n1:5:6 [0] NCCL INFO Using network IB\n";
    for (message, want) in [
        ("NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_10:1/RoCE [2]mlx5_2:1/IB [RO]; OOB eth0:10.0.0.1<0>", 3),
        ("NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_10:1/IB ; OOB eth0:10.0.0.1<0>", 2),
        ("NET/Socket : Using [0]eth0:10.0.0.1<0> [1]eth1:10.1.0.1<0>", 2),
    ] {
        let whole = listed(&format!("{head}{message}\n{after}"));
        assert_eq!((whole.0.len(), whole.1), (want, 0), "{message}");
        let begin = message.find("Using").unwrap() + "Using".len();
        for at in begin..message.len() {
            let (a, b) = message.split_at(at);
            // Blanks at a line's end are lost.
            for a in [a, a.trim_end()] {
                let text = format!("{head}{a}\n{b}\n{after}");
                assert_eq!(listed(&text), whole, "{text}");
            }
        }
    }
    let three =
        "NET/IB : Using [0]mlx5_0:1/IB [1]ml\nx5_1:1/IB [2]mlx5_2:1/IB [\n3]mlx5_3:1/IB [RO]; OOB eth0:10.0.0.1<0>\n";
    assert_eq!(listed(&format!("{head}{three}{after}")).0.len(), 4);
}

#[test]
fn a_list_without_its_end_is_remarked_and_shows_no_number() {
    let after = "n1:5:6 [0] NCCL INFO Using network IB\n";
    for next in ["", "hello\n", "...\n", "Traceback (most recent call last):\n", "x:1/IB hello\n"] {
        let text = format!("n1:5:6 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]m\n{next}{after}");
        assert_eq!(listed(&text), (vec!["mlx5_0:1/IB".to_owned()], 1), "{text}");
    }
    let node = |n: u32, list: &str| {
        format!("n{n}:5:6 [0] NCCL INFO NET/IB : Using {list}\nn{n}:5:6 [0] NCCL INFO Using network IB\n")
    };
    let whole = "[0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>";
    let (cut, less) = ("[0]mlx5_0:1/IB [1]mlx", "[0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>");
    for (last, want) in [(cut, &[][..]), (less, &["net/fewer-nics"])] {
        let text = node(1, whole) + &node(2, whole) + &node(3, last);
        assert_eq!(ids(&answer(&text)), want, "{text}");
    }
}

#[test]
fn a_release_counts_in_the_dress_of_the_lines_around_it() {
    for before in ["", "> ", "10.0.0.9 | ", "10.0.0.9: ", "worker-1  | ", "│ "] {
        let text = format!("{before}n1:5:6 [0] NCCL INFO Using network IB\n{before}NCCL version 2.7.8+cuda10.2\n");
        let a = answer(&text);
        assert_eq!((a.jobs[0].releases.as_slice(), a.inputs[0].nccl_lines), (&["2.7.8".to_owned()][..], 2), "{text}");
    }
}
