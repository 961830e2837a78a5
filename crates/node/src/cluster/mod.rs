//! What schedulers claim of the node: its object in Kubernetes, its record in Slurm. Facts about the claim, not about the machine.

mod listed;
mod own;

pub use listed::{PoolAt, RowAt};
pub use own::{By, Listed, Register, Stranger};

use crate::cut::{self, Cut};
use linerate_formats::{kubernetes, slurm};
use linerate_snapshot::{OutputKind, Place, Reading, Snapshot, Why};

/// See the module.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Its object in Kubernetes.
    pub kubernetes: Reading<kubernetes::Node>,
    /// Its record in Slurm.
    pub slurm: Reading<slurm::Node>,
    /// Rows of lists of nodes (`sinfo`, `kubectl get nodes`): the node's own where it is in a list, else all.
    pub listed: Vec<RowAt>,
    /// Pools of OpenShift's machine configurations.
    pub pools: Vec<PoolAt>,
}

impl Cluster {
    pub(crate) fn decode(s: &Snapshot, cuts: &mut Vec<Cut>) -> Self {
        Cluster {
            kubernetes: own(s, cuts, OutputKind::KubernetesNodes, |b| kubernetes::read(b).map_err(|e| malformed(&e)))
                .or(|| own(s, cuts, OutputKind::KubernetesText, |b| Ok(kubernetes::read_text(b)))),
            slurm: own(s, cuts, OutputKind::SlurmNodes, |b| Ok(slurm::read(b))),
            listed: listed::rows(s, cuts),
            pools: listed::pools(s, cuts),
        }
    }
}

fn malformed(e: &dyn std::fmt::Display) -> Why {
    Why::Malformed(e.to_string().into())
}

/// A node's own entry of the last text of a kind: what was added later is newer.
fn own<T: Listed + Clone>(
    s: &Snapshot,
    cuts: &mut Vec<Cut>,
    kind: OutputKind,
    read: impl Fn(&[u8]) -> Result<linerate_formats::bounds::Kept<T>, Why>,
) -> Reading<T> {
    let mut out = Reading::Unreadable(Place::of(s.root()), Why::NotCollected);
    for o in s.outputs.iter().filter(|o| o.kind == kind) {
        let place = Place::of(o.entry);
        let bytes = s.data(o.entry);
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        out = match read(bytes) {
            Err(why) => Reading::Unreadable(place, why),
            Ok(list) => {
                cut::note(cuts, o.entry, &list.left_out);
                match Register::new(list.items).own(s) {
                    Ok((node, _)) => Reading::Known(node.clone(), place.line(node.line())),
                    Err(e) => Reading::Unreadable(place, malformed(&e)),
                }
            }
        };
    }
    out
}
