//! `gpu/duplicate`.

use crate::answer::Confidence::Certain;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::Trouble;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "gpu/duplicate",
    title: "Two ranks use one GPU",
    what: "Two ranks of one communicator use the same GPU. NCCL refuses that.",
    shows: &[
        "`Duplicate GPU detected : rank 1 and rank 0 both on CUDA device …`",
        "`Multiple Ranks are using the same GPU/Partition.`",
    ],
    why: "Usually every process took device 0: the local rank was not used, or CUDA_VISIBLE_DEVICES is the same \
          for all.",
    confirm: &[
        "print local rank and torch.cuda.current_device() in each process",
        "`env | grep -e LOCAL_RANK -e CUDA_VISIBLE_DEVICES` in each rank",
    ],
    refute: &[],
    remedy: Advice::Investigate(
        "Select the device by local rank before the communicator is made (torch.cuda.set_device(local_rank)), one rank per GPU",
    ),
    sources: &[nccl(
        "NCCL, src/init.cc: Duplicate GPU detected",
        "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/init.cc",
    )],
    severity: Severity::Critical,
    rules: &[],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let g = c.failure(|t| matches!(t, Trouble::DuplicateGpu))?;
    let words = g.quotes.first().map_or("two ranks use one GPU", |q| q.text.as_str());
    Some(Found::new(Certain, words, "NCCL names the two ranks").with(c.quotes(g)))
}
