//! `net/ib-disabled-by-env`.

use super::{NET_CC, socket_lines};
use crate::answer::Confidence::{Certain, Likely};
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "net/ib-disabled-by-env",
    title: "NCCL_IB_DISABLE keeps NCCL from InfiniBand and RoCE",
    what: "NCCL_IB_DISABLE=1 makes NCCL skip its own InfiniBand and RoCE transport: all traffic between nodes goes \
           through TCP.",
    shows: &["`NCCL_IB_DISABLE set by environment to 1`", "`Using network Socket`, or connections `via NET/Socket/…`"],
    why: "NCCL tries an external plugin, then its own InfiniBand/RoCE transport, then sockets. The variable removes \
          the second. External plugins (IBext of HPC-X, OFI) need not heed it.",
    confirm: &["unset NCCL_IB_DISABLE: the log then says `NET/IB : Using …` and `Using network IB`"],
    refute: &["`Using network` names another network than Socket although the variable is set"],
    remedy: Advice::Environment(
        "Unset NCCL_IB_DISABLE in the job's environment, image and nccl.conf",
        &[],
        &["NCCL_IB_DISABLE"],
    ),
    sources: &[ENV_RST, NET_CC],
    severity: Severity::High,
    rules: &["rdma/device-present", "rdma/port-state"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let (value, g) = c.env_number("NCCL_IB_DISABLE").filter(|(v, _)| *v != 0)?;
    let sockets = c.socket_processes();
    if sockets.is_empty() && !c.rdma_processes().is_empty() {
        return None;
    }
    let seen = !sockets.is_empty();
    let words = format!("NCCL_IB_DISABLE={value}: traffic between nodes goes through sockets");
    let (sure, why) = match (seen, c.multi_node()) {
        (true, Some(false)) => return None,
        (true, Some(true)) => {
            (Certain, "the variable is set, sockets are used, and NCCL skips InfiniBand exactly then")
        }
        (true, None) => (Likely, "the variable is set and sockets are used; whether the job spans nodes is not shown"),
        (false, _) => (Likely, "the variable is set; the line that names the network is missing"),
    };
    Some(Found::new(sure, words, why).with(c.quotes(g)).with(socket_lines(c)).scope(c.scope(sockets)))
}
