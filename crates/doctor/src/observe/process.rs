//! What a process prints of itself.

use super::keys::{GdrCount, Listed, Named};
use super::names::Name;
use super::release::Release;
use crate::place::Place;

/// A process.
#[derive(Debug)]
pub struct Process {
    /// Host, as NCCL prints it; empty where lines have no head, or where another writer's text may be in it.
    pub(crate) host: Name,
    /// A line begins with its head: its host's name is whole.
    pub(crate) own: bool,
    /// Process id.
    pub pid: u32,
    /// First line.
    pub first: Place,
    /// Its release.
    pub release: Release,
    /// CUDA driver, as `12040`.
    pub cuda_driver: Option<u32>,
    /// The network that it uses.
    pub(crate) network: Option<Named>,
    /// Its RDMA NICs, or interfaces, as listed.
    pub(crate) nics: Option<Listed>,
    /// `NET/IB : No device found.`
    pub(crate) no_device: Option<Place>,
    /// A plugin that is loaded.
    pub(crate) plugin: Option<Named>,
    /// GPUs export DMA-BUF.
    pub(crate) dmabuf: Option<Place>,
    /// Interface of the bootstrap.
    pub(crate) bootstrap: Option<Named>,
    /// NICs that can and cannot use GPU memory.
    pub(crate) gdr_nics: GdrCount,
    /// NCCL's search has NICs in its channels.
    pub(crate) spans_nodes: bool,
    /// Lines that were asked for the release.
    pub(crate) wordings: u16,
}

/// Lines of a process that are asked for its release: the first ones tell all that wordings can.
const WORDINGS: u16 = 64;

impl Process {
    /// The network that it uses: the one that it chose, or the one whose devices it lists.
    pub(crate) fn uses(&self) -> Option<Name> {
        self.network.map(|n| n.name).or(self.nics.map(|n| n.devices.net))
    }

    pub(crate) fn wording(&mut self, message: &str) {
        if self.wordings < WORDINGS && self.release.told.is_none() {
            self.wordings += 1;
            self.release.narrow(message);
        }
    }

    pub(super) fn new(host: Name, pid: u32, first: Place) -> Self {
        Process {
            host,
            own: false,
            pid,
            first,
            release: Release::default(),
            cuda_driver: None,
            network: None,
            nics: None,
            no_device: None,
            plugin: None,
            dmabuf: None,
            bootstrap: None,
            gdr_nics: GdrCount::default(),
            spans_nodes: false,
            wordings: 0,
        }
    }
}
