//! The topology file with which NCCL begins (`ncclTopoGetSystem`): what it says stays, and the node adds the rest.

use super::arena::Arena;
use super::{Build, FromNodeError, is_guest};
use crate::open::Open;
use crate::xml::{Dialect, Document};
use linerate_node::Reading;
use linerate_node::nccl::DEFAULT_FILE;

/// The elements with which the document begins.
///
/// # Errors
///
/// Where NCCL stops at the file.
pub(super) fn begin(b: &mut Build<'_, '_>) -> Result<(), FromNodeError> {
    let nccl = &b.node.nccl;
    let conf = nccl.named.as_ref().map(|n| n.0.as_str());
    // A variable that the process has is never replaced by a line of nccl.conf (`setEnvFile`).
    let job = b.options.topology_file.as_deref();
    let named = job.or(conf);
    if named == Some("") {
        b.assumed.say("NCCL_TOPO_FILE is empty: NCCL opens no file, also not the default one");
        return Ok(());
    }
    let default = format!("/{DEFAULT_FILE}");
    let path = named.unwrap_or(&default).to_owned();
    let unseen = Reading::Unreadable(nccl.conf.place(), linerate_node::Why::NotCollected);
    let file = match job {
        // The snapshot holds the content of one file.
        Some(job) if job != conf.unwrap_or(&default) => &unseen,
        _ => &nccl.topology,
    };
    match file {
        Reading::Known(text, _) if text.trim_ascii().is_empty() => {
            b.assumed.of("an empty topology file: NCCL detects everything itself", path);
        }
        Reading::Known(text, _) => {
            let document = Document::parse(text, Dialect::Nccl)
                .map_err(|error| FromNodeError::TopologyFile { path: path.clone(), error: Box::new(error) })?;
            b.assumed.of("NCCL begins with this topology file: its NUMA nodes, PCIe tree and links are used, and the node adds the rest", path);
            b.arena = Arena::of(document);
        }
        Reading::Absent(_) if !nccl.conf.is_unreadable() => {
            b.assumed.say("the job's environment and its user's nccl.conf do not set NCCL_TOPO_FILE; the node itself has no topology file");
        }
        // Hypervisors and clouds give guests such files; without one, nothing but a job's own environment names any.
        _ if named.is_some() || is_guest(b.node) => {
            b.unknown.of("NCCL begins with this topology file if it exists, but its content is not in the input", path);
            b.open.push(Open::TopologyFile);
        }
        _ => b
            .assumed
            .say("neither NCCL_TOPO_FILE nor nvidia-topologyd's virtualTopology.xml, with which NCCL would begin"),
    }
    Ok(())
}
