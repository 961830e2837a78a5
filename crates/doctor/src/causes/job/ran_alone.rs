//! `job/ran-alone`.

use crate::answer::Confidence::{Certain, Likely};
use crate::answer::Evidence;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::place::{Place, Quote};
use linerate_formats::nccl_tests::Run;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "job/ran-alone",
    title: "Processes that should be one job each ran alone",
    what: "Several processes of nccl-tests each made a communicator of their own: none of them measured the others.",
    shows: &[
        "`# Rank 0 Group 0 Pid …` of several processes, and no rank above the first process's",
        "the head of the table as many times as processes were started",
    ],
    why: "Without MPI (`make MPI=1`) each process of nccl-tests is rank 0 of one process. It is the same where the launcher's PMI is not the one that \
          the MPI library was built for: each process then finds itself alone. The figures are those of single GPUs, or of processes that disturb each other.",
    confirm: &[
        "`ldd all_reduce_perf | grep mpi`: nothing means that it was built without MPI",
        "the same launcher with `hostname`, and a small MPI program that prints its rank",
        "under Slurm: `srun --mpi=list`, and `ompi_info | grep -i pmi`",
    ],
    refute: &["the processes were meant to be separate runs"],
    remedy: Advice::Software(
        "Build nccl-tests with MPI=1 and start it with that MPI's mpirun, or under Slurm with srun --mpi=pmix (or pmi2, as the library was built); \
         on one node without MPI: one process with -g and the number of GPUs",
    ),
    sources: &[nccl(
        "nccl-tests, README.md: Running multiple nodes",
        "https://github.com/NVIDIA/nccl-tests/blob/master/README.md",
    )],
    severity: Severity::High,
    rules: &[],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    if !c.is_first {
        return None;
    }
    let (file, run) = c.o.nccl_tests.iter().find(|(_, r)| r.ran_alone())?;
    let first: Vec<_> = run.ranks.iter().filter(|r| r.rank == 0).collect();
    let at = |line: u32, text: String| {
        let place = Place { file: *file, line: u64::from(line) };
        Evidence::of(&Quote { place, text }, c.o.file_name(*file))
    };
    let processes = processes(run);
    let words = format!("{processes} processes of nccl-tests each ran alone, as rank 0: nothing made one job of them");
    let evidence = first.iter().take(4).map(|r| {
        let host = r.host.as_deref().map(|h| format!(" on {h}")).unwrap_or_default();
        let pid = r.pid.map(|p| format!(" Pid {p}")).unwrap_or_default();
        at(r.line, format!("Rank 0{pid}{host}"))
    });
    let (sure, why) = if first.len() > 1 {
        (Certain, "the head of the table lists several processes as rank 0")
    } else {
        (Likely, "the head of the table is printed once for each process")
    };
    Some(Found::new(sure, words, why).with(evidence))
}

/// How many ran.
fn processes(run: &Run) -> usize {
    let mut pids: Vec<_> = run.ranks.iter().filter(|r| r.rank == 0).map(|r| (r.host.as_deref(), r.pid)).collect();
    pids.sort_unstable();
    pids.dedup();
    pids.len().max(run.copies as usize)
}
