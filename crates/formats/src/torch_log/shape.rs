//! Whether a line begins as PyTorch's logger or an exception does. Tickets and documents name the same words.

use crate::printed;

/// What messages begin with, behind the logger's head and the tags of rank and group.
const MESSAGES: &[&str] = &[
    "Watchdog caught collective operation timeout: ",
    "Caught collective operation timeout: ",
    "Exception (either an error or timeout) detected by watchdog",
    "Timeout at NCCL work: ",
    "failure detected by watchdog",
    "Received a dump signal ",
    "Received a global timeout",
    "Observed flight recorder dump signal",
    "NCCL Work update periodically: ",
    "last enqueued ",
    "ProcessGroupNCCL's watchdog got stuck",
    "Heartbeat monitor timed out",
    "To avoid data inconsistency, ",
    "Some NCCL operations have failed or timed out.",
    "Process group watchdog thread terminated with exception: ",
    "NCCL watchdog thread terminated with exception: ",
    "To our best knowledge, ",
    "- To our best knowledge, ",
    "The client socket has timed out ",
    "client socket has timed out ",
    "Last error:",
    "NCCL error in: ",
    "NCCL Error ",
    "NCCL error: ",
    "WorkNCCL(",
];

/// What exceptions begin with.
const EXCEPTIONS: &[&str] = &[
    "terminate called after throwing an instance of ",
    "what():  ",
    "what(): ",
    "RuntimeError: ",
    "ValueError: ",
    "Exception: ",
    "RuntimeError('",
    "DistBackendError: ",
    "DistStoreError: ",
    "DistNetworkError: ",
    "DistError: ",
    "torch.distributed.",
    "c10::",
    "torch.AcceleratorError: ",
];

/// Whether a line begins as one of these does.
pub(super) fn begins(line: &str) -> bool {
    let own = printed::own(line);
    let mut text = own.text;
    // `[E227 16:30:43.5 ProcessGroupNCCL.cpp:1785] [PG ID 2 PG GUID 3 Rank 3] `, `E0227 … file.cpp:12] `.
    let mut headed = false;
    for _ in 0..6 {
        let Some(rest) = head(text) else { break };
        headed = true;
        text = printed::own(rest).text;
    }
    let starts = |list: &[&str]| list.iter().any(|w| text.starts_with(w));
    let result = super::RESULTS.iter().any(|(r, _)| text.strip_prefix(r).is_some_and(|rest| rest.starts_with(':')));
    let bare = starts(MESSAGES) || starts(EXCEPTIONS) || result || is_report(text) || is_error_class(text);
    // Without a logger's head a quoted line may be anybody's words.
    headed || bare && !own.quoted
}

/// The text behind a logger's head, or a tag of rank and group.
fn head(text: &str) -> Option<&str> {
    let (inside, rest) = match text.strip_prefix('[') {
        Some(t) => t.split_once(']')?,
        // glog writes no bracket at the front.
        None => {
            let (inside, rest) = text.split_once("] ")?;
            let level =
                inside.starts_with(['E', 'W', 'I', 'F']) && inside.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
            return (level && is_place(inside)).then_some(rest);
        }
    };
    let group = inside.starts_with("Rank ") || inside.starts_with("PG ") || inside.starts_with("rank");
    let store = inside.bytes().all(|b| b.is_ascii_digit()) && rest.starts_with(" is setting up NCCL communicator");
    (group || store || is_place(inside)).then_some(rest)
}

/// `E ProcessGroupNCCL.cpp:828`.
fn is_place(inside: &str) -> bool {
    inside.len() < 160
        && inside.rsplit_once(':').is_some_and(|(file, line)| {
            (file.ends_with(".cpp") || file.ends_with(".hpp") || file.ends_with(".py")) && line.parse::<u32>().is_ok()
        })
}

/// `- [0, 2] finished collective #3, but didn't join …` of the desync report.
fn is_report(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("- [") else { return false };
    rest.split_once(']').is_some_and(|(list, _)| list.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b' ')))
}

/// `RuntimeError: …`, `some.module.SomeError: …`: how Python shows an exception.
pub fn is_error_class(text: &str) -> bool {
    text.split_once(": ").is_some_and(|(class, _)| {
        class.ends_with("Error") && class.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_'))
    })
}
