//! A line of NCCL's in the title of a ticket: `8 GPUs fail - misc/socket.cc:483 NCCL WARN socketStartConnect: …`. People write the title, so
//! only what leaves no other reading counts, where NCCL's own place in the source comes before it.

use linerate_formats::nccl_log::{Failure, Level, Line, Message};
use linerate_formats::printed;

/// Lines at the top of a text among which its title is.
pub(super) const LINES: u64 = 3;

/// Bytes of a title before the quoted line.
const MAX_TITLE: usize = 160;

/// The warning that a title quotes, and what it says.
pub(super) fn quoted(line: &str) -> Option<(&str, Failure<'_>)> {
    let Some((before, message)) = line.split_once(" NCCL WARN ") else { return named(line) };
    let (title, place) = before.trim_end().rsplit_once(' ')?;
    let (file, number) = place.rsplit_once(':')?;
    let located = [".cc", ".h", ".cu"].iter().any(|e| file.ends_with(e))
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit());
    let title = title.trim_end();
    let introduces = title.ends_with(['-', ':', '–', '—', '|', ',']);
    let own = title.contains(['"', '`', '“', '‘', '>', '#']) || title.len() > MAX_TITLE;
    if !located || !introduces || own || printed::own(line).quoted {
        return None;
    }
    let message = message.trim_end();
    let line = Line { before: "", who: "", level: Level::Warn, source: Some(place), message };
    match Message::read(&line) {
        Message::Failure(f @ Failure::Socket { trouble, .. }) if trouble.is_unconnected() => Some((message, f)),
        Message::Failure(
            f @ (Failure::DuplicateGpu(_)
            | Failure::VersionMismatch(_)
            | Failure::NoInterface(_)
            | Failure::SharedMemory { no_space: true, .. }),
        ) => Some((message, f)),
        _ => None,
    }
}

/// Functions of NCCL that begin their message with their name.
const FUNCTIONS: &[&str] =
    &["socketStartConnect: ", "socketPollConnect: ", "ncclOsSocketStartConnect: ", "ncclOsSocketPollConnect: "];

/// `[Bug]: NCCL error: socketStartConnect: Connect to 10.0.0.1<4242> failed : Connection refused`: a function of NCCL's with its whole message,
/// to the end of the line.
fn named(line: &str) -> Option<(&str, Failure<'_>)> {
    let at = FUNCTIONS.iter().find_map(|f| line.find(f))?;
    let (title, message) = (line.get(..at)?.trim_end(), line.get(at..)?.trim_end());
    let introduces = title.ends_with([':', '-', '–', '—']);
    let own =
        title.contains(['"', '`', '“', '‘', '>', '#', '?']) || title.len() > MAX_TITLE || printed::own(line).quoted;
    if !introduces || own || printed::is_prose(title) || !super::bare::ends_with_error(message) {
        return None;
    }
    let line = Line { before: "", who: "", level: Level::Warn, source: None, message };
    match Message::read(&line) {
        Message::Failure(f @ Failure::Socket { .. }) => Some((message, f)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_quote_a_line_with_its_place() {
        for title in [
            "Test fails on 8 x V100- misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to xxx failed : Software caused connection abort",
            "[Bug]: NCCL error: socketStartConnect: Connect to 10.0.0.1<4242> failed : Connection refused",
            "all reduce does not start here: bootstrap.cc:126 NCCL WARN Bootstrap : no socket interface found",
        ] {
            assert!(quoted(title).is_some(), "{title}");
        }
        for other in [
            // A call that failed has several reasons.
            "ALLTOALL ERROR ON 700 node: misc/ibvwrap.cc:190 NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory",
            "We no longer see misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to x failed : Connection refused",
            "# how to read: misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to x failed : Connection refused",
            "After this change we never see any of these: socketStartConnect: Connect to x failed : Connection refused",
            "NCCL error: socketStartConnect: Connect to x failed : Connection refused, and then it works",
            "look for the line NCCL WARN socketStartConnect: Connect to x failed : Connection refused",
        ] {
            assert!(quoted(other).is_none(), "{other}");
        }
    }
}
