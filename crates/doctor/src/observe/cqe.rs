//! Completions with an error that the verbs library of mlx5 prints itself, without words: a head, and the 64 bytes of the queue's entry in four
//! lines (rdma-core, `providers/mlx5/cq.c`, `mlx5_poll_one` and `dump_cqe`):
//!
//! ```text
//! mlx5: node1: got completion with error:
//! 00000000 00000000 00000000 00000000
//! 00000000 00000000 00000000 00000000
//! 00000000 00000000 00000000 00000000
//! 00000000 00008716 0a001f8e 000027d2
//! ```
//!
//! The last line holds the vendor's syndrome, the syndrome, and the kind of entry (`struct mlx5_err_cqe`): it is known without counting, so lines
//! of several ranks may be mixed.

use linerate_formats::nccl_log::status::Status;
use linerate_formats::printed;

/// Lines behind a head among which its bytes are looked for.
const NEAR: u8 = 64;
/// Requester's and responder's error (`MLX5_CQE_REQ_ERR`, `MLX5_CQE_RESP_ERR`).
const ERRORS: [u32; 2] = [13, 14];

/// `enum ibv_wc_status` by the syndromes of mlx5 (`mlx5_handle_error_cqe`).
const SYNDROMES: &[(u32, Status)] = &[
    (0x01, Status::LocalLength),
    (0x02, Status::LocalQueuePair),
    (0x04, Status::LocalProtection),
    (0x05, Status::Flushed),
    (0x06, Status::MemoryWindow),
    (0x10, Status::BadResponse),
    (0x11, Status::LocalAccess),
    (0x12, Status::RemoteInvalid),
    (0x13, Status::RemoteAccess),
    (0x14, Status::RemoteOperation),
    (0x15, Status::RetryExceeded),
    (0x16, Status::RnrRetryExceeded),
    (0x22, Status::LocalRdd),
];

/// Reads a file's lines.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// Lines that are still near to a head.
    near: u8,
}

impl Reader {
    /// The status of a completion, at the last line of its bytes.
    pub(super) fn line(&mut self, line: &str) -> Option<Status> {
        if self.near == 0 && !line.contains("got completion with error:") {
            return None;
        }
        let own = printed::own(line);
        if own.quoted {
            return None;
        }
        if is_head(line) {
            self.near = NEAR;
            return None;
        }
        self.near = self.near.saturating_sub(1);
        if self.near == 0 {
            return None;
        }
        status(own.text)
    }
}

/// `mlx5: node1: got completion with error:`. Ray says how often a line was repeated.
fn is_head(line: &str) -> bool {
    let Some((before, message)) = line.split_once("mlx5: ") else { return false };
    let host = message.split_once(": got completion with error:");
    printed::is_tags(before) && host.is_some_and(|(host, rest)| !host.contains(' ') && ends(rest))
}

fn ends(rest: &str) -> bool {
    let rest = rest.trim();
    rest.is_empty() || rest.starts_with("[repeated ")
}

/// The last line of an entry.
fn status(text: &str) -> Option<Status> {
    let mut rest = text;
    let mut words = [0_u32; 4];
    for word in &mut words {
        let (hex, after) = rest.split_at_checked(8)?;
        *word = u32::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with('+'))?;
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
    let [_, syndromes, _, end] = words;
    let known = SYNDROMES.iter().find(|(s, _)| *s == syndromes & 0xff).map(|(_, status)| *status);
    known.filter(|_| ends(rest) && syndromes >> 16 == 0 && ERRORS.contains(&(end >> 4 & 0xf)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<u32> {
        let mut reader = Reader::default();
        text.lines().filter_map(|l| reader.line(l)).map(Status::number).collect()
    }

    const ZERO: &str = "00000000 00000000 00000000 00000000";

    #[test]
    fn entries_have_a_status() {
        for (last, want) in [
            ("00000000 00008716 0a001f8e 000027d2", vec![13]),
            ("00000000 00008813 100076ab 008ae4d3", vec![10]),
            ("00000000 00008a12 0a000b8e 00e5c3e2", vec![9]),
            // Not an error's entry, an unknown syndrome, a longer line, half a line.
            ("00000000 00008716 0a001f8e 00002702", vec![]),
            ("00000000 00008777 0a001f8e 000027d2", vec![]),
            ("00000000 00008716 0a001f8e 000027d2 and so on", vec![]),
            ("00000000 00008716", vec![]),
        ] {
            let head = "mlx5: node1: got completion with error:";
            assert_eq!(all(&format!("{head}\n{ZERO}\n{ZERO}\n{ZERO}\n{last}\n")), want, "{last}");
            // Without its head it may be anybody's bytes.
            assert_eq!(all(&format!("{ZERO}\n{last}\n")), Vec::<u32>::new());
            assert_eq!(all(&format!("we get {head}\n{last}\n")), Vec::<u32>::new());
            for tag in ["[1,3]<stderr>:", "(Worker pid=7, ip=10.0.0.1) ", "12: "] {
                assert_eq!(
                    all(&format!("{tag}{head} [repeated 3x across cluster]\n{tag}{last}\n")),
                    want,
                    "{tag}{last}"
                );
            }
        }
        let two = format!(
            "mlx5: a: got completion with error:\nmlx5: b: got completion with error:\n{ZERO}\n{ZERO}\n00000000 00008813 100076ab 008ae4d3\n00000000 00008914 100076ab 008ae4d3\n"
        );
        assert_eq!(all(&two), [10, 11]);
    }
}
