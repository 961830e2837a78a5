//! `job/open-files`.

use super::SOCKET_CC;
use crate::answer::Confidence::Certain;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "job/open-files",
    title: "A process may not open more files",
    what: "A process of the job has as many files and sockets open as it may: the next connection, segment of shared memory or data file fails with EMFILE.",
    shows: &[
        "`socketTryAccept: Accept failed: Too many open files` and other warnings of NCCL that end with these words",
        "`Too many open files. Communication with the workers is no longer possible` of PyTorch's DataLoader",
        "`OSError: [Errno 24] Too many open files`",
    ],
    why: "Each connection of NCCL is a file of the process, and their number grows with ranks and channels: a job may run on one node and end at its first \
          collective on four. A usual soft limit of `ulimit -n` is 1024. Workers that share tensors by file descriptors use it up, too.",
    confirm: &[
        "in the job itself: `ulimit -n`, or `grep 'open files' /proc/PID/limits`",
        "how many are open: `ls /proc/PID/fd | wc -l`",
    ],
    refute: &["the limit is high and the number of open files grows without end: then the program leaks them"],
    remedy: Advice::Software(
        "Raise the soft limit to the hard one where the job starts (ulimit -n \"$(ulimit -Hn)\"), and LimitNOFILE or the container's ulimits where that is low, too; \
         with PyTorch's workers also torch.multiprocessing.set_sharing_strategy('file_system')",
    ),
    sources: &[
        SOCKET_CC,
        nccl("accept(2), ERRORS: EMFILE", "https://man7.org/linux/man-pages/man2/accept.2.html"),
        nccl(
            "PyTorch, torch/utils/data/dataloader.py: _try_get_data",
            "https://github.com/pytorch/pytorch/blob/main/torch/utils/data/dataloader.py",
        ),
    ],
    severity: Severity::Critical,
    rules: &[],
    follows: &[],
    check,
};

/// The words of EMFILE. ENFILE, the limit of the whole system, has `in system` behind them.
const WORDS: &str = " Too many open files";

fn check(c: &Case<'_>) -> Option<Found> {
    let ends = |text: &str| text.trim_end().ends_with(WORDS);
    let all = c.failures(|_| true);
    let (_, g) = all.iter().find(|(_, g)| g.quotes.iter().any(|q| ends(&q.text)))?;
    let quotes = g.quotes.iter().filter(|q| ends(&q.text)).map(|q| c.evidence(q));
    let words = "a process has as many files open as it may";
    let why = "the error of the call is in the line";
    Some(Found::new(Certain, words, why).with(quotes).scope(c.scope(g.processes.iter().copied())))
}
