//! What the text around a table says of the job: how it was started, what NCCL's log says that it was set to and what it uses.

use crate::bounds::BENCH_SHORT_LINE;
use crate::clip::clip;
use crate::nccl_log::env::setting;
use crate::text::At;
use serde::Serialize;

/// How a run was started, and what it ran on, as far as the text shows it. The first of several lines counts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Job {
    /// Program that started the processes: `mpirun`, `srun`.
    pub launcher: Option<At<String>>,
    /// Image of the container.
    pub image: Option<At<String>>,
    /// `Using network IB`: NCCL's choice.
    pub network: Option<At<String>>,
    /// Network plugin, with its version where the log says it.
    pub plugin: Option<At<String>>,
}

/// Programs that start processes on several hosts.
const LAUNCHERS: [&str; 6] = ["mpirun", "mpiexec", "orterun", "prterun", "srun", "mpiexec.hydra"];
/// What names of variables that matter begin with.
const VARIABLES: [&str; 8] = ["NCCL_", "RCCL_", "UCX_", "FI_", "OFI_NCCL_", "HSA_", "CUDA_", "OMPI_MCA_"];
/// Lines of a command that goes on.
const GOES_ON: usize = 64;

/// A command line that starts the test, as far as it was read: it may go on over several lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Launch {
    text: String,
    line: u32,
    lines: usize,
}

/// A command: how it starts the test, and with which variables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Started {
    pub(super) launcher: Option<At<String>>,
    pub(super) image: Option<At<String>>,
    pub(super) env: Vec<(String, String)>,
}

impl Launch {
    /// A line that begins a command with one of the launchers.
    pub(super) fn begins(line: &str, number: u32) -> Option<Launch> {
        let has = line.split_whitespace().take(24).any(|w| LAUNCHERS.contains(&program(w)));
        (has && line.len() <= BENCH_SHORT_LINE * 4).then(|| Launch { text: line.to_owned(), line: number, lines: 1 })
    }

    /// Whether the next line is a part of it.
    pub(super) fn is_open(&self) -> bool {
        self.text.ends_with('\\')
    }

    /// The next line. Whether it is a part.
    pub(super) fn push(&mut self, line: &str) -> bool {
        if self.lines >= GOES_ON || line.len() > BENCH_SHORT_LINE * 4 {
            return false;
        }
        self.text.pop();
        self.text.push(' ');
        self.text.push_str(line);
        self.lines += 1;
        true
    }

    /// What it starts; `None`: no test.
    pub(super) fn started(&self) -> Option<Started> {
        let words: Vec<&str> = self.text.split_whitespace().map(|w| w.trim_matches(['"', '\''])).collect();
        let at = words.iter().position(|w| LAUNCHERS.contains(&program(w)))?;
        let words = words.get(at..)?;
        if !words.iter().any(|w| w.contains("_perf")) {
            return None;
        }
        let here = |text: &str| At::new(clip(text, 200), self.line);
        let mut out = Started { launcher: Some(here(program(words.first()?))), ..Started::default() };
        for (i, word) in words.iter().enumerate() {
            let next = || words.get(i + 1).copied();
            if let Some(image) = option(word, next(), &["--container-image", "--environment", "--image"]) {
                out.image.get_or_insert(here(image));
            }
            // `-x NAME=VALUE` of mpirun, `--export=ALL,NAME=VALUE` of srun, `NAME=VALUE` of env.
            for part in word.split(',').map(|p| p.strip_prefix("--export=").unwrap_or(p)) {
                if let Some((name, value)) = part.split_once('=').filter(|(n, _)| is_variable(n)) {
                    out.env.push((name.to_owned(), value.to_owned()));
                }
            }
        }
        Some(out)
    }
}

/// A word without its directories.
fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_variable(name: &str) -> bool {
    VARIABLES.iter().any(|v| name.starts_with(v))
        && name.len() <= 64
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// The value of an option, behind `=` or as the next word.
fn option<'w>(word: &'w str, next: Option<&'w str>, names: &[&str]) -> Option<&'w str> {
    let (name, value) = word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v)));
    names.contains(&name).then(|| value.or(next)).flatten().filter(|v| !v.is_empty())
}

/// What a line of NCCL's log says of the job.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Saying<'l> {
    Setting(&'l str, &'l str),
    Network(&'l str),
    Plugin(&'l str),
}

/// Whether a message may say something: most begin with other words, and there are very many.
pub(super) fn may_say(message: &[u8]) -> bool {
    [&b"NCCL_"[..], b"NET/", b"Using network ", b"P2P plugin "].iter().any(|w| message.starts_with(w))
}

/// What the message of a line says.
pub(super) fn saying(message: &str) -> Option<Saying<'_>> {
    let message = message.trim();
    if let Some(network) = message.strip_prefix("Using network ") {
        return Some(Saying::Network(network));
    }
    for head in ["NET/OFI Initializing ", "NET/OFI Using ", "NET/Plugin: Loaded net plugin ", "P2P plugin "] {
        if let Some(plugin) =
            message.strip_prefix(head).filter(|p| head != "NET/OFI Using " || p.starts_with("aws-ofi-nccl"))
        {
            return Some(Saying::Plugin(plugin));
        }
    }
    let (name, value) = message.starts_with("NCCL_").then(|| setting(message)).flatten()?;
    Some(Saying::Setting(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(lines: &[&str]) -> Option<Started> {
        let mut launch = Launch::begins(lines.first()?, 3)?;
        lines.iter().skip(1).for_each(|l| assert!(launch.is_open() && launch.push(l)));
        launch.started()
    }

    #[test]
    fn command_lines() {
        let run = started(&[
            "$ mpirun --allow-run-as-root -np 16 -x NCCL_IB_HCA=mlx5 \\",
            "    -x LD_LIBRARY_PATH -x NCCL_ALGO=Ring \\",
            "    /opt/nccl-tests/build/all_reduce_perf -b 8 -e 8G",
        ])
        .unwrap();
        assert_eq!(run.launcher, Some(At::new("mpirun".to_owned(), 3)));
        assert_eq!(run.env, [("NCCL_IB_HCA".into(), "mlx5".into()), ("NCCL_ALGO".into(), "Ring".into())]);
        let run = started(&["srun -N2 --container-image=nvcr.io#nvidia/pytorch:25.01-py3 --export=ALL,NCCL_DEBUG=INFO ./all_reduce_perf"]).unwrap();
        assert_eq!(run.image.map(|i| i.value).as_deref(), Some("nvcr.io#nvidia/pytorch:25.01-py3"));
        assert_eq!(run.env, [("NCCL_DEBUG".into(), "INFO".into())]);
        assert_eq!(started(&["mpirun -np 2 hostname"]), None);
        assert_eq!(Launch::begins("./all_reduce_perf -b 8", 1).map(|l| l.line), None);
    }

    #[test]
    fn lines_of_the_log() {
        assert_eq!(saying("Using network AWS Libfabric"), Some(Saying::Network("AWS Libfabric")));
        assert_eq!(
            saying("NET/OFI Initializing aws-ofi-nccl 1.13.2-aws"),
            Some(Saying::Plugin("aws-ofi-nccl 1.13.2-aws"))
        );
        assert_eq!(saying("NET/OFI Using transport protocol SENDRECV"), None);
        assert_eq!(saying("NCCL_PROTO set by environment to Simple"), Some(Saying::Setting("NCCL_PROTO", "Simple")));
        assert_eq!(saying("Channel 00/02 : 0 1"), None);
        assert!(!may_say(b"Trees [0] 1/-1/-1->0->-1") && may_say(b"NET/IB : Using [0]mlx5_0"));
    }
}
