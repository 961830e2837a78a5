//! Variables of NCCL that a command in the text sets: `export NCCL_IB_DISABLE=1`, `mpirun -x NCCL_DEBUG=INFO`, `NCCL_ALGO=Ring ./all_reduce_perf`. Whether the job
//! that is judged was started so is not shown: they are listed, and never a cause.

use super::Observer;
use super::groups::Seen;
use super::keys::Setting;
use crate::place::Place;

/// Longest line that is taken apart.
const MAX_LINE: usize = 8 << 10;

impl Observer {
    /// Takes the settings of a command.
    pub(super) fn launch(&mut self, place: Place, line: &str) {
        if self.is_second || line.len() > MAX_LINE {
            return;
        }
        // Most lines set nothing, and to look for secrets costs more.
        if launched(line).is_empty() {
            return;
        }
        let clean = linerate_snapshot::without_secrets(line);
        for (name, value) in launched(&clean) {
            let key = Setting { name: self.names.id(name), value: self.names.id(value) };
            self.launched.add(key, &Seen { place, text: line, stamp: None, process: None, rank: None, host: None });
        }
    }
}

/// Names and values. Nothing of a sentence that names a setting, and nothing of a comment.
fn launched(line: &str) -> Vec<(&str, &str)> {
    let mut out = Vec::new();
    let is_comment = line.trim_start().starts_with('#');
    for (at, _) in line.match_indices("NCCL_").filter(|_| !is_comment) {
        let (Some(before), Some(text)) = (line.get(..at), line.get(at..)) else { continue };
        let before = before.trim_end_matches(['"', '\'']);
        let words = before.trim_end();
        let is_set = before.len() > words.len()
            && ["-x", "-e", "--env", "export", "env", "-env", "-genv"].iter().any(|w| is_last_word(words, w))
            || before.ends_with("--env=")
            || is_prefix(words);
        let end = text.bytes().position(|b| !(b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_'));
        let Some((name, rest)) = end.and_then(|end| text.split_at_checked(end)).filter(|_| is_set) else { continue };
        let Some(value) = rest.strip_prefix('=') else { continue };
        let value = value.trim_start_matches(['"', '\'']);
        let end = value
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';' | '\\'))
            .unwrap_or(value.len());
        let Some((value, behind)) = value.split_at_checked(end) else { continue };
        // An assignment before a command: that follows.
        let is_of_command = !is_prefix(words) || behind.split_whitespace().any(|w| !w.contains('='));
        if is_of_command && name.len() > 5 && !value.is_empty() && value.len() < 200 && !value.contains('$') {
            out.push((name, value));
        }
    }
    out
}

fn is_last_word(text: &str, word: &str) -> bool {
    text.strip_suffix(word).is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']))
}

/// Nothing but a prompt and other assignments are before it.
fn is_prefix(before: &str) -> bool {
    let behind_prompt = before.rsplit_once(['$', '#']).map_or(before, |(_, rest)| rest);
    behind_prompt.split_whitespace().all(|w| {
        w.split_once('=')
            .is_some_and(|(n, _)| n.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_'))
    })
}

#[cfg(test)]
mod tests {
    use super::launched;

    #[test]
    fn commands_set_and_sentences_do_not() {
        for (line, want) in [
            ("export NCCL_IB_DISABLE=1", &[("NCCL_IB_DISABLE", "1")][..]),
            ("  export NCCL_IB_HCA=\"mlx5_0,mlx5_1\" # all", &[("NCCL_IB_HCA", "mlx5_0,mlx5_1")]),
            (
                "mpirun -np 16 -x NCCL_P2P_DISABLE=1 -x NCCL_DEBUG -x NCCL_SHM_DISABLE=1 ./a",
                &[("NCCL_P2P_DISABLE", "1"), ("NCCL_SHM_DISABLE", "1")],
            ),
            (
                "docker run -e NCCL_IB_DISABLE=1 --env=NCCL_NET=Socket image",
                &[("NCCL_IB_DISABLE", "1"), ("NCCL_NET", "Socket")],
            ),
            (
                "$ NCCL_ALGO=Ring NCCL_DEBUG=INFO ./all_reduce_perf -g 8",
                &[("NCCL_ALGO", "Ring"), ("NCCL_DEBUG", "INFO")],
            ),
            ("NCCL_ALGO=Ring python train.py", &[("NCCL_ALGO", "Ring")]),
            ("root@a:~# export NCCL_IB_DISABLE=1", &[("NCCL_IB_DISABLE", "1")]),
            ("# export NCCL_IB_DISABLE=1", &[]),
            ("NCCL_ALGO=Ring NCCL_DEBUG=INFO", &[]),
            ("# NCCL_IB_DISABLE=1 would help", &[]),
            ("we set NCCL_IB_DISABLE=1 and it works", &[]),
            ("NCCL_IB_DISABLE=1", &[]),
            ("set `NCCL_IB_DISABLE=1`", &[]),
            ("export NCCL_IB_HCA=$HCAS", &[]),
            ("n:1:1 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.", &[]),
        ] {
            assert_eq!(launched(line), want, "{line}");
        }
    }
}
