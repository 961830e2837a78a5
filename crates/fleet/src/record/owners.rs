//! Whose the facts of a node are, as numbers: thousands of rows have a few hundred owners, whose names are compared once.

use super::{Owner, is_kept};
use crate::Whose;
use linerate_facts::position::{Positions, Seat};

/// The owners of a node's facts, by number: first its devices, then the node, then what has a name.
pub(super) struct Owners {
    all: Vec<Option<Owner>>,
    node: usize,
}

impl Owners {
    pub(super) fn of(positions: &Positions) -> Self {
        let devices = positions.seats.iter().map(device);
        Owners { all: devices.chain([Some(Owner::Node)]).collect(), node: positions.seats.len() }
    }

    /// `None`: a device that is not kept. A name that comes again later has another number.
    pub(super) fn number(&mut self, whose: &Whose) -> Option<usize> {
        match whose {
            Whose::Node => Some(self.node),
            Whose::Device(i) => self.get(*i).map(|_| *i),
            Whose::Named(name) => {
                self.all.push(Some(Owner::Named(name.as_str().into())));
                Some(self.all.len() - 1)
            }
        }
    }

    pub(super) fn get(&self, number: usize) -> Option<&Owner> {
        self.all.get(number)?.as_ref()
    }

    /// By number, which each is in their order; those that are the same have one rank.
    pub(super) fn ranks(&self) -> Vec<usize> {
        let known = self.all.iter().enumerate().filter_map(|(n, owner)| Some((owner.as_ref()?, n)));
        let mut sorted: Vec<(&Owner, usize)> = known.collect();
        sorted.sort_unstable();
        let mut ranks = vec![usize::MAX; self.all.len()];
        for (rank, same) in sorted.chunk_by(|a, b| a.0 == b.0).enumerate() {
            for (_, number) in same {
                if let Some(of) = ranks.get_mut(*number) {
                    *of = rank;
                }
            }
        }
        ranks
    }
}

/// `None`: a device that is not on the way of anything that linerate is about, as the hundred functions of a processor's memory controllers.
fn device(seat: &Seat) -> Option<Owner> {
    is_kept(seat).then(|| Owner::Device(seat.role.to_string().into()))
}
