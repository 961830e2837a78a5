//! `env/topo-file`.

use crate::answer::Confidence::Certain;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::Trouble;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "env/topo-file",
    title: "A topology file cannot be read, or does not fit",
    what: "A topology file cannot be read, or does not fit this machine. NCCL stops, or decides from a wrong \
           topology.",
    shows: &[
        "`Could not open XML topology file …`, or a bus id in it that NCCL does not find",
        "`NCCL_TOPO_FILE set by environment to …`",
    ],
    why: "NCCL_TOPO_FILE (or the default virtual topology) is an XML with the bus ids of one machine. The path is \
          not in the container, or the file belongs to another machine.",
    confirm: &[
        "`ls -l $NCCL_TOPO_FILE` in the same container",
        "`linerate topo FILE`: are the bus ids those of `nvidia-smi`?",
    ],
    refute: &[],
    remedy: Advice::Software("Mount the file that belongs to this machine type, or unset NCCL_TOPO_FILE"),
    sources: &[nccl("NCCL, src/graph/xml.cc", "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/graph/xml.cc")],
    severity: Severity::High,
    rules: &["topo/topology-file"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let g = c.failure(|t| matches!(t, Trouble::TopologyFile))?;
    let file = c.env("NCCL_TOPO_FILE").or_else(|| c.env("NCCL_GRAPH_FILE"));
    let only_default = file.is_none()
        && g.quotes.iter().all(|q| q.text.contains("virtualTopology.xml") || q.text.contains("nvidia-topologyd"));
    // The default file need not exist.
    if only_default {
        return None;
    }
    let words = match file {
        Some((value, _)) => format!("NCCL_TOPO_FILE={value} cannot be used"),
        None => "a topology file cannot be used".to_owned(),
    };
    let set = file.into_iter().flat_map(|(_, g)| c.first_quote(g)).collect::<Vec<_>>();
    Some(Found::new(Certain, words, "NCCL says so").shown(c, g).with(set))
}
