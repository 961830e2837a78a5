//! Lines that lost their breaks, lines of writers that mix, and lists that a terminal broke: whose words are whose, and what is lost.

mod common;

use common::{answer, ids};
use linerate_doctor::answer::Answer;

/// Hosts, causes, and the exit code.
fn told(a: &Answer) -> (Vec<String>, Vec<&'static str>, u8) {
    (a.jobs.iter().flat_map(|j| j.hosts.clone()).collect(), ids(a), a.exit_code())
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

