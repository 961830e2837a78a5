//! What PyTorch says when NCCL does not return, in the words of [`torch_log`].

use super::names::Names;
use super::trouble::FrameworkTrouble;
use linerate_formats::printed;
use linerate_formats::torch_log::{ErrorKind, Event, Lag, Line};
use std::collections::BTreeMap;

/// Ranks whose place in the sequence of collectives is kept.
const MAX_RANKS: usize = 64 << 10;

/// Where ranks are: what tells the one that all wait for.
#[derive(Debug, Default)]
pub(crate) struct Sequences {
    /// Of each rank of the job: the last collective that it called and the last that ended, of the group in question (`-1`: none).
    pub(crate) of: BTreeMap<u32, (i64, i64)>,
    /// Ranks that a report calls lagging, and how.
    pub(crate) lagging: Vec<(u32, Lag)>,
}

impl Sequences {
    pub(super) fn read(&mut self, line: &Line) {
        match &line.event {
            Event::Progress(p) => {
                let Some(rank) = line.job_rank() else { return };
                let number = |n: Option<u64>| n.and_then(|n| i64::try_from(n).ok()).unwrap_or(-1);
                if self.of.len() < MAX_RANKS || self.of.contains_key(&rank) {
                    self.of.insert(rank, (number(p.enqueued), number(p.completed)));
                }
            }
            Event::Lagging { ranks, lag, .. } => {
                let room = MAX_RANKS.saturating_sub(self.lagging.len());
                self.lagging.extend(ranks.iter().take(room).map(|r| (*r, *lag)));
            }
            _ => {}
        }
    }
}

/// A program that ends, by its last words: as Python, a shell, Open MPI, Slurm or torchrun print them, not as people tell of them.
pub(super) fn ended(line: &str) -> Option<FrameworkTrouble> {
    let text = printed::own(line).text;
    let signal = torchrun_signal(text).or_else(|| launcher_signal(text));
    let bus = is_bus_error(text) || signal == Some(7);
    let killed = signal == Some(9) || is_killed_by_mpi(text);
    (bus || signal.is_some() || is_end(text)).then_some(match (bus, killed) {
        (true, _) => FrameworkTrouble::BusError,
        (_, true) => FrameworkTrouble::Killed,
        _ => FrameworkTrouble::Ended,
    })
}

/// `mpirun noticed that process rank 3 with PID 4711 on node n1 exited on signal 9 (Killed).`
fn is_killed_by_mpi(text: &str) -> bool {
    is_end(text) && text.contains(" exited on signal 9 (Killed)")
}

/// The signal in the words of other launchers: DeepSpeed (`deepspeed/launcher/launch.py`, sigkill_handler) `[2026-11-21 07:00:00,1] [ERROR]
/// [launch.py:321:sigkill_handler] ['python', …] exits with return code = -9`; Python's subprocess (`Lib/subprocess.py`, CalledProcessError), below
/// accelerate and others, `… died with <Signals.SIGKILL: 9>.`; Hydra of MPICH and Intel MPI (`src/pm/hydra/…/pmiserv_cb.c`) `YOUR APPLICATION TERMINATED
/// WITH THE EXIT STRING: Killed (signal 9)`, `=   KILLED BY SIGNAL: 9 (Killed)`; and bash `job.sh: line 3:  4711 Killed   python …`.
fn launcher_signal(text: &str) -> Option<u32> {
    let number = |t: &str| -> Option<u32> { t.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok() };
    if let Some((before, rest)) = text.split_once("] exits with return code = -") {
        return before.contains(":sigkill_handler] [").then(|| number(rest)).flatten();
    }
    if let Some((before, rest)) = text.split_once("' died with <Signals.SIG") {
        let error = before.starts_with("subprocess.CalledProcessError: Command '");
        let (_, rest) = rest.split_once(": ")?;
        return (error && rest.trim_end().ends_with(">.")).then(|| number(rest)).flatten();
    }
    if let Some(rest) = text.strip_prefix("YOUR APPLICATION TERMINATED WITH THE EXIT STRING: ") {
        return number(rest.split_once(" (signal ")?.1);
    }
    if let Some(rest) = text.strip_prefix("=   KILLED BY SIGNAL: ") {
        return number(rest);
    }
    let (before, rest) = text.split_once(" Killed ")?;
    let pid = before.rsplit(' ').next().is_some_and(|pid| pid.parse::<u32>().is_ok());
    (pid && (before.contains(": line ") || before.starts_with("line ")) && rest.starts_with("  ")).then_some(9)
}

/// Signals as shells and Slurm name them.
const SIGNALS: [&str; 2] = ["Bus error", "Segmentation fault"];

fn is_bus_error(text: &str) -> bool {
    // PyTorch's own words, from its data loader's handler (torch/csrc/DataLoader.cpp).
    text.starts_with("Unexpected bus error encountered in worker. This might be caused by insufficient shared memory")
        || text.contains(SIGNALS[0])
            && (is_signal(text, SIGNALS[0]) || text.contains("is killed by signal: Bus error") && is_error(text))
}

/// The signal in torchrun's report (torch/distributed/elastic/multiprocessing): `traceback : Signal 7 (SIGBUS) received by PID 12`,
/// `exitcode  : -7 (pid: 12)`, `failed (exitcode: -7) local_rank: 0 (pid: 12) of binary: python`.
fn torchrun_signal(text: &str) -> Option<u32> {
    let number = |t: &str| t.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    if let Some(rest) = text.strip_prefix("traceback :").map(str::trim_start).unwrap_or(text).strip_prefix("Signal ") {
        return rest
            .split_once(" (SIG")
            .filter(|(_, r)| r.contains(") received by PID "))
            .and_then(|(n, _)| n.parse().ok());
    }
    if let Some(rest) = text.strip_prefix("exitcode ") {
        let rest = rest.trim_start().strip_prefix(": -")?;
        return rest.contains(" (pid: ").then(|| number(rest)).flatten();
    }
    let (before, rest) = text.split_once("failed (exitcode: -")?;
    // Python's logging without a format of one's own: `ERROR:torch.distributed.elastic.multiprocessing.api:failed …`.
    let module = before.strip_suffix(':').is_some_and(|m| m.ends_with(".api") && !m.contains(' '));
    (module || before.trim().is_empty() || before.ends_with(' ')).then_some(())?;
    rest.contains(") local_rank: ").then(|| number(rest)).flatten()
}

/// `Segmentation fault (core dumped)`, `script: line 3: 4711 Segmentation fault …`, `srun: error: node1: task 3: …`,
/// `[node1:4711] Signal: …`, `Fatal Python error: …`.
fn is_signal(text: &str, signal: &str) -> bool {
    let Some((before, rest)) = text.split_once(signal) else { return false };
    let before = before.trim_end();
    let ends = rest.trim().is_empty() || rest.trim_start().starts_with('(');
    let by_shell = before.rsplit(' ').next().is_some_and(|pid| pid.parse::<u32>().is_ok())
        && (before.contains(": line ") || before.starts_with("line "));
    let by_slurm =
        (before.starts_with("srun: error: ") || before.starts_with("slurmstepd: error: ")) && before.ends_with(':');
    let by_mpi = before.starts_with('[') && before.ends_with("] Signal:");
    ends && (before.is_empty() || before == "Fatal Python error:" || by_slurm || by_mpi) || by_shell
}

/// `RuntimeError: …`, `module.Class: …`.
fn is_error(text: &str) -> bool {
    text.split_once(": ").is_some_and(|(class, _)| {
        class.ends_with("Error") && class.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_'))
    })
}

fn is_end(text: &str) -> bool {
    let by_mpi = || {
        let noticed = [" noticed that process rank ", " noticed that "].iter().any(|w| text.contains(w));
        noticed && text.starts_with(['m', 'p']) && text.contains(" exited on signal ")
    };
    let by_srun = || {
        let task = text.strip_prefix("srun: error: ").and_then(|t| t.rsplit_once(": "));
        task.is_some_and(|(task, end)| task.contains(": task") && matches!(end.trim_end(), "Killed" | "Aborted"))
    };
    text.trim_end() == "Traceback (most recent call last):"
        || by_srun()
        || text.starts_with('[') && text.contains("] *** Process received signal ***")
        || is_signal(text, SIGNALS[1])
        || text.contains(" exited on signal ") && by_mpi()
        || text.contains(" is killed by signal") && is_error(text)
        || text.split(':').next().is_some_and(|class| class.ends_with("ChildFailedError") && !class.contains(' '))
}

/// An error of CUDA in a program's own words: number, where it is printed, and text. An exception (`RuntimeError: CUDA error: …`), a warning of
/// PyTorch (`Error 802: …`), a check of nccl-tests (`Test CUDA failure common.cu:1045 '…'`).
pub(super) fn cuda(line: &str) -> Option<(Option<i64>, &str)> {
    if printed::own(line).quoted {
        return None;
    }
    exception(line).or_else(|| super::says::cuda(line))
}

fn exception(line: &str) -> Option<(Option<i64>, &str)> {
    let text = printed::own(line).text;
    if let Some((before, rest)) = text.split_once("CUDA error: ") {
        let alone = before.is_empty() || before.ends_with("Error: ") && !before.trim_end().contains(' ');
        return alone.then_some((None, rest.trim()));
    }
    if let Some((before, rest)) = text.split_once("OutOfMemoryError: CUDA out of memory. Tried to allocate ") {
        let class = before.is_empty() || before.ends_with('.') && !before.contains(' ');
        return (class && !rest.is_empty()).then_some((Some(2), "out of memory"));
    }
    // `node1: Test CUDA failure common.cu:1045 '…'`, before `Cuda failure common.cu:891 '…'`.
    for key in ["Test CUDA failure ", "Cuda failure ", "CUDA failure "] {
        if let Some((before, rest)) = text.split_once(key) {
            // NCCL's words without its head: `Cuda failure 2 'out of memory'`, `Cuda failure 'out of memory'`.
            let (number, words) =
                rest.split_once(" '").or_else(|| Some(("", rest.strip_prefix('\'')?))).unwrap_or(("-", ""));
            if before.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) && words.trim_end().ends_with('\'') {
                return Some((number.parse().ok(), words.trim_end().trim_end_matches('\'')));
            }
            let (place, rest) = rest.split_once(' ')?;
            let located = place
                .rsplit_once(':')
                .is_some_and(|(file, l)| file.contains(".c") && l.bytes().all(|b| b.is_ascii_digit()));
            let host = before.is_empty() || before.trim_end().ends_with(':') && !before.trim_end().contains(' ');
            return (located && host).then_some((None, rest.trim().trim_matches('\'')));
        }
    }
    let warned = text.contains("UserWarning: ") || is_error(text);
    STARTS.iter().find_map(|(code, words)| {
        let numbered = text.strip_prefix("Error ").is_some_and(|r| r.starts_with(&format!("{code}: ")));
        let alone = numbered || *code == 802 && text.starts_with(words);
        let named = alone || warned && (*code == 802 || text.contains(&format!("Error {code}: ")));
        (named && text.contains(words)).then_some((Some(*code), *words))
    })
}

/// Errors with which CUDA does not start at all, as PyTorch prints them: `… Error 803: …` (driver_types.h).
const STARTS: &[(i64, &str)] = &[
    (802, "system not yet initialized"),
    (803, "system has unsupported display driver / cuda driver combination"),
    (804, "forward compatibility was attempted on non supported HW"),
];

/// A result of NCCL in nccl-tests' own line: `host: Test NCCL failure common.cu:1005 'unhandled system error (run with …) / '`, older
/// `host: NCCL failure common.cu:958 'unhandled system error'`.
pub(super) fn nccl_tests(line: &str) -> Option<FrameworkTrouble> {
    let text = printed::own(line).text;
    let (before, rest) = text.split_once("NCCL failure ")?;
    let before = before.strip_suffix("Test ").unwrap_or(before).trim_end();
    let host = before.is_empty() || before.ends_with(':') && !before.contains(' ');
    let (place, rest) = rest.split_once(" '")?;
    let located =
        place.rsplit_once(':').is_some_and(|(f, l)| f.contains(".c") && l.bytes().all(|b| b.is_ascii_digit()));
    let result = RESULTS.iter().find(|(w, _)| rest.starts_with(w)).map(|(_, r)| *r);
    (host && located).then(|| FrameworkTrouble::Error(result.unwrap_or("another error")))
}

/// Words of `ncclGetErrorString`, and the results.
const RESULTS: &[(&str, &str)] = &[
    ("unhandled cuda error", "ncclUnhandledCudaError"),
    ("unhandled system error", "ncclSystemError"),
    ("internal error", "ncclInternalError"),
    ("invalid argument", "ncclInvalidArgument"),
    ("invalid usage", "ncclInvalidUsage"),
    ("remote process exited", "ncclRemoteError"),
];

/// NCCL's words in an exception that stands in one line: `… NCCL version 2.21.5 ncclSystemError: … Last error: WORDS`, or with the line
/// breaks written out, as Python shows a text in a list: `…\\nLast error:\\nWORDS')`.
pub(super) fn last_error(line: &str) -> Option<&str> {
    let (_, words) = line.split_once("Last error:")?;
    let words = words.trim_start_matches("\\n").trim_start();
    let words = words.split("\\n").next().unwrap_or(words).trim_end_matches(['"', '\'', ')', ',']);
    (!words.is_empty()).then_some(words)
}

/// NCCL's words as XLA quotes them (`xla/backends/gpu/collectives/nccl_errors.h`, XLA_NCCL_STATUS): `… Last NCCL warning(error): 'WORDS'`, later
/// `… Last NCCL warning(error) log entry (may be unrelated) 'Cuda failure 2 'out of memory''.`.
pub(super) fn last_warning(text: &str) -> Option<&str> {
    let (before, rest) = text.split_once("Last NCCL warning(error)")?;
    let words = rest.strip_prefix(": '").or_else(|| {
        // XLA's status, behind classes and places: `INTERNAL: external/xla/…/nccl.cc:98: NCCL operation … failed: …. Last …`.
        let (heads, _) = before.split_once("NCCL operation ")?;
        let plain = heads.split_whitespace().all(|w| w.ends_with([':', ']']) && !w.starts_with(['`', '"', '\'', '(']));
        rest.strip_prefix(" log entry (may be unrelated) '").filter(|_| plain)
    })?;
    // The words may have quotes of their own; XLA adds what follows.
    let end = ["'.", "';", "' "].iter().filter_map(|e| words.find(e)).min();
    Some(
        end.map_or_else(|| words.trim_end().strip_suffix('\'').unwrap_or(words), |at| words.get(..at).unwrap_or(words)),
    )
}

/// What of a line counts as trouble.
pub(super) fn trouble(line: &Line, names: &mut Names) -> Option<FrameworkTrouble> {
    Some(match &line.event {
        Event::Timeout(t) => FrameworkTrouble::Timeout(names.id(&t.operation)),
        Event::Error(e) => FrameworkTrouble::Error(match e.kind {
            ErrorKind::Cuda => "ncclUnhandledCudaError",
            ErrorKind::System => "ncclSystemError",
            ErrorKind::Internal => "ncclInternalError",
            ErrorKind::InvalidArgument => "ncclInvalidArgument",
            ErrorKind::InvalidUsage => "ncclInvalidUsage",
            ErrorKind::Remote => "ncclRemoteError",
            ErrorKind::Other => "another error",
        }),
        Event::Mismatch { .. } => FrameworkTrouble::Mismatch,
        Event::Lagging { .. } => FrameworkTrouble::Lagging,
        Event::Store { text }
            if text.contains("client socket has timed out") && text.contains("trying to connect to") =>
        {
            FrameworkTrouble::Unreachable
        }
        Event::Store { .. } => FrameworkTrouble::Store,
        Event::Progress(_)
        | Event::DumpObserved
        | Event::WatchdogStuck { .. }
        | Event::TakenDown
        | Event::Terminated { .. }
        | Event::LastError { .. } => return None,
    })
}
