//! What NCCL's log beside a table says of the ways that its data took: it decides what the figure alone leaves open.

use super::explain::Why;
use super::measured::{Measured, Of};
use crate::answer::Evidence;
use crate::case::Case;
use crate::observe::Observer;
use crate::observe::ranks::{Carrier, Cell};
use crate::place::{Place, Quote};
use std::collections::BTreeSet;

/// Connections of the job that was measured. Empty where no log is beside the figure.
#[derive(Debug, Default)]
pub(super) struct Connections {
    /// Through the kernel's sockets.
    sockets: Option<Place>,
    /// RDMA into the GPU's memory.
    direct: Option<Place>,
    /// RDMA through the host's memory.
    staged: Option<Place>,
    /// Between GPUs of one host, through its memory.
    shared: Option<Place>,
    /// Between GPUs of one host, directly.
    peer: Option<Place>,
    /// Numbers of the NICs that RDMA uses, where the log has all ranks of the job.
    nics: Option<usize>,
}

/// What a log says of an explanation.
pub(super) enum Said {
    /// It shows it.
    Shown(String),
    /// It excludes it.
    Excluded(String, Evidence),
}

impl Connections {
    /// Those of the file that the figure is in; where that has none and there is one table only, all.
    pub(super) fn of(o: &Observer, m: &Measured<'_>) -> Connections {
        let Of::Collective(job) = &m.of else { return Connections::default() };
        let beside = |c: &Cell| c.first.file == m.place.file;
        let any_beside = o.ranks.all.iter().flat_map(|r| &r.cells).any(beside);
        if !any_beside && o.nccl_tests.len() != 1 {
            return Connections::default();
        }
        let mut out = Connections::default();
        let (mut ranks, mut nics) = (BTreeSet::new(), BTreeSet::new());
        for rank in &o.ranks.all {
            for cell in rank.cells.iter().filter(|c| !any_beside || beside(c)) {
                ranks.extend(rank.rank);
                match cell.carrier {
                    Carrier::Net => {}
                    Carrier::CollNet => continue,
                    Carrier::Shm => {
                        out.shared.get_or_insert(cell.first);
                        continue;
                    }
                    _ => {
                        out.peer.get_or_insert(cell.first);
                        continue;
                    }
                }
                let is_socket = Case::is_socket(cell.net.map_or("", |n| o.name(n)));
                let way = match (is_socket, cell.gdr) {
                    (true, _) => &mut out.sockets,
                    (false, true) => &mut out.direct,
                    (false, false) => &mut out.staged,
                };
                way.get_or_insert(cell.first);
                if !is_socket {
                    nics.insert(cell.device);
                }
            }
        }
        let all = job.hosts.zip(job.ranks_per_host).map(|(hosts, ranks)| hosts * ranks);
        out.nics = all.filter(|all| ranks.len() == *all && !nics.is_empty()).map(|_| nics.len());
        out
    }

    /// What they say of an explanation; `ports`: how many ports of a node it takes to be used. `None`: nothing.
    pub(super) fn say(&self, o: &Observer, why: Why, ports: Option<usize>) -> Option<Said> {
        let rdma = self.direct.or(self.staged);
        let at =
            |place: Place, text: &str| Evidence::of(&Quote { place, text: text.to_owned() }, o.file_name(place.file));
        let excluded = |place, text: &str| Some(Said::Excluded(format!("the log has {text}"), at(place, text)));
        let shown = |place: Place, text: &str| {
            let place = at(place, text).at;
            Some(Said::Shown(format!("the log has {text} ({place})")))
        };
        match (why, self.sockets, rdma) {
            (Why::Sockets, Some(socket), None) => shown(socket, "connections over sockets and none over RDMA"),
            (Why::Sockets, None, Some(rdma)) => excluded(rdma, "connections over RDMA and none over sockets"),
            (Why::NoGdr | Why::Detour, Some(socket), None) => {
                excluded(socket, "connections over sockets, so no NIC reaches a GPU's memory")
            }
            (Why::NoGdr, ..) => match (self.direct, self.staged) {
                (None, Some(staged)) => shown(staged, "RDMA connections, and none of them with GDRDMA"),
                (Some(direct), None) => excluded(direct, "GDRDMA on each connection over RDMA"),
                _ => None,
            },
            (Why::Detour, ..) => match (self.direct, self.staged) {
                (None, Some(staged)) => {
                    excluded(staged, "no GDRDMA, so data between NIC and GPU go through the host's memory")
                }
                _ => None,
            },
            (Why::NoNvlink, ..) => match (self.shared, self.peer) {
                (Some(shared), None) => {
                    shown(shared, "connections through shared memory and none directly between GPUs")
                }
                _ => None,
            },
            (Why::FewRails, _, Some(place)) => match (self.nics?, ports?) {
                (used, taken) if used == taken => shown(place, &format!("connections by {used} NICs")),
                (used, _) => excluded(place, &format!("connections by {used} NICs")),
            },
            _ => None,
        }
    }
}
