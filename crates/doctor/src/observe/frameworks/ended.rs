//! Programs that end, by their last words.

use crate::observe::trouble::FrameworkTrouble;
use linerate_formats::printed;
use linerate_formats::torch_log::is_error_class;

/// A program that ends, by its last words: as Python, a shell, Open MPI, Slurm or torchrun print them, not as people tell of them.
pub(crate) fn ended(line: &str) -> Option<FrameworkTrouble> {
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
            && (is_signal(text, SIGNALS[0]) || text.contains("is killed by signal: Bus error") && is_error_class(text))
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
        || text.contains(" is killed by signal") && is_error_class(text)
        || text.split(':').next().is_some_and(|class| class.ends_with("ChildFailedError") && !class.contains(' '))
}
