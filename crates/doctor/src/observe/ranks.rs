//! Ranks of communicators, and what connects them.

use super::names::{Name, Names};
use crate::place::Place;
use hashbrown::HashMap;
use linerate_formats::nccl_log::{Comm, Connect, Direction, Phase, Transport};

/// Ranks of communicators that are distinguished. A job makes dozens of communicators: the largest run has some 10⁵ of such ranks in all.
const MAX_RANKS: usize = 48 << 10;
/// Different connections of one rank.
const MAX_CELLS: usize = 48;

/// What carries data, without its details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Carrier {
    /// GPU to GPU, through pointers of one process.
    P2pDirect,
    /// GPU to GPU, cuMem.
    P2pCumem,
    /// GPU to GPU, CUDA IPC.
    P2pIpc,
    /// NVLink across nodes.
    P2pMnnvl,
    /// GPU to GPU through another.
    P2pIndirect,
    /// GPU to GPU, of another kind.
    P2pOther,
    /// Host memory.
    Shm,
    /// A network.
    Net,
    /// A network that reduces.
    CollNet,
}

/// Equal connections of a rank.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// What carries the data.
    pub carrier: Carrier,
    /// Name of the network.
    pub(crate) net: Option<Name>,
    /// Number of the NIC.
    pub device: u32,
    /// Which half.
    pub direction: Option<Direction>,
    /// The NIC uses GPU memory.
    pub gdr: bool,
    /// Another rank talks to the NIC.
    pub proxied: bool,
    /// Channels, bit by number; above 63 they share the last bit.
    pub channels: u64,
    /// Lines.
    pub count: u32,
    /// Where first.
    pub first: Place,
}

/// A rank of a communicator.
#[derive(Debug)]
pub struct Rank {
    pub(crate) process: usize,
    /// Handle of the communicator in the process; 0 until known.
    pub(crate) handle: u64,
    /// Rank, once a line tells.
    pub rank: Option<u32>,
    /// Ranks of the communicator.
    pub ranks: Option<u32>,
    /// Identity of the communicator over all ranks.
    pub comm_id: Option<u64>,
    /// Bus id of its GPU, as NCCL prints it.
    pub bus_id: Option<u64>,
    /// CUDA device.
    pub device: Option<u32>,
    /// Nodes of the communicator.
    pub nodes: Option<u32>,
    /// How far it came.
    pub phase: Option<Phase>,
    /// Whether a line said that its making began.
    pub started: bool,
    /// Channels of collectives and of point-to-point messages.
    pub channels: Option<(u32, u32)>,
    /// Its connections.
    pub cells: Vec<Cell>,
    /// Calls of collectives.
    pub calls: u64,
    /// The last call and its number.
    pub(crate) last_call: Option<(Name, u64)>,
    /// First line.
    pub first: Place,
}

/// All ranks.
#[derive(Debug, Default)]
pub(crate) struct Ranks {
    pub(crate) all: Vec<Rank>,
    by_handle: HashMap<(usize, u64), usize>,
    /// Ranks and connections beyond the limits.
    pub(crate) untracked: u64,
}

impl Ranks {
    pub(crate) fn open(&mut self, process: usize, place: Place) -> Option<usize> {
        if self.all.len() >= MAX_RANKS {
            self.untracked += 1;
            return None;
        }
        self.all.push(Rank {
            process,
            handle: 0,
            rank: None,
            ranks: None,
            comm_id: None,
            bus_id: None,
            device: None,
            nodes: None,
            phase: None,
            started: false,
            channels: None,
            cells: Vec::new(),
            calls: 0,
            last_call: None,
            first: place,
        });
        Some(self.all.len() - 1)
    }

    pub(crate) fn of_handle(&self, process: usize, handle: u64) -> Option<usize> {
        self.by_handle.get(&(process, handle)).copied()
    }

    /// What a line about a communicator says; `current` is the rank that its thread works on. The rank that the thread works on from now.
    pub(crate) fn comm(&mut self, process: usize, current: Option<usize>, c: &Comm, place: Place) -> Option<usize> {
        let same = |r: &Rank| r.rank.is_none_or(|n| n == c.rank) && (r.handle == 0 || r.handle == c.handle);
        let known = self.of_handle(process, c.handle);
        let index = match c.phase {
            // A start is a new one, also where an address is used again.
            Phase::Start => self.open(process, place)?,
            _ => {
                let fits = |i: &usize| self.all.get(*i).is_some_and(|r| same(r) && r.phase < Some(Phase::Complete));
                match known.filter(|i| self.all.get(*i).is_some_and(|r| r.rank.is_none_or(|n| n == c.rank))) {
                    Some(i) => i,
                    None => match current.filter(|i| fits(i) && c.phase == Phase::Complete) {
                        Some(i) => i,
                        None => self.open(process, place)?,
                    },
                }
            }
        };
        self.by_handle.insert((process, c.handle), index);
        let rank = self.all.get_mut(index)?;
        rank.handle = c.handle;
        rank.rank = Some(c.rank);
        rank.ranks = Some(c.ranks);
        rank.comm_id = c.comm_id.or(rank.comm_id);
        rank.bus_id = c.bus_id.or(rank.bus_id);
        rank.device = c.cuda_device.or(rank.device);
        rank.started |= c.phase == Phase::Start;
        rank.phase = rank.phase.max(Some(c.phase));
        Some(index)
    }

    /// What a connection says. The rank that the thread works on from now.
    pub(crate) fn connect(
        &mut self,
        process: usize,
        current: Option<usize>,
        c: &Connect<'_>,
        place: Place,
        names: &mut Names,
    ) -> Option<usize> {
        let local = c.local();
        let fits = |i: &usize| self.all.get(*i).is_some_and(|r| r.rank.is_none_or(|n| n == local));
        let index = match current.filter(fits) {
            Some(i) => i,
            None => self.open(process, place)?,
        };
        let rank = self.all.get_mut(index)?;
        rank.rank = Some(local);
        rank.add(c, place, names);
        Some(index)
    }
}

impl Rank {
    fn add(&mut self, c: &Connect<'_>, place: Place, names: &mut Names) {
        let (carrier, net, device, proxied, gdr) = match c.transport {
            Transport::P2pDirect | Transport::P2pSame => (Carrier::P2pDirect, None, 0, false, false),
            Transport::P2pIpc => (Carrier::P2pIpc, None, 0, false, false),
            Transport::P2pCumem => (Carrier::P2pCumem, None, 0, false, false),
            Transport::P2pMnnvl => (Carrier::P2pMnnvl, None, 0, false, false),
            Transport::P2pIndirect => (Carrier::P2pIndirect, None, 0, false, false),
            Transport::P2pOther(_) => (Carrier::P2pOther, None, 0, false, false),
            Transport::Shm => (Carrier::Shm, None, 0, false, false),
            Transport::Net { name, device, proxy, gdr } => (Carrier::Net, Some(name), device, proxy.is_some(), gdr),
            Transport::CollNet { name, device, gdr } => (Carrier::CollNet, Some(name), device, false, gdr),
        };
        let bit = 1u64 << c.channel.min(63);
        let found = self.cells.iter_mut().find(|cell| {
            cell.carrier == carrier
                && cell.device == device
                && cell.direction == c.direction
                && cell.gdr == gdr
                && cell.proxied == proxied
        });
        if let Some(cell) = found {
            cell.channels |= bit;
            cell.count = cell.count.saturating_add(1);
        } else if self.cells.len() < MAX_CELLS {
            let net = net.map(|n| names.id(n));
            let direction = c.direction;
            self.cells.push(Cell {
                carrier,
                net,
                device,
                direction,
                gdr,
                proxied,
                channels: bit,
                count: 1,
                first: place,
            });
        }
    }
}
