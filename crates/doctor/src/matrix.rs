//! Who is connected by what. Ranks with equal connections share a row, so that the odd one of 512 stands out.

use crate::answer::{Cell, Gdr, Matrix, Row};
use crate::jobs::Job;
use crate::observe::Observer;
use crate::observe::names::Name;
use crate::observe::ranks::{self, Carrier, Rank};
use crate::ranges::{bits, ranges};
use linerate_formats::nccl_log::Direction;
use std::collections::{BTreeMap, BTreeSet};

/// Rows that are made.
const MAX_ROWS: usize = 24;

/// A column; in the order in which columns are shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Column {
    carrier: Carrier,
    name: String,
}

impl Column {
    /// Whether its connections go over a network.
    fn is_network(&self) -> bool {
        self.carrier >= Carrier::Net
    }
}

/// The matrix of a job's largest communicator, or of all ranks where none is known.
pub(crate) fn matrix(o: &Observer, job: &Job) -> Matrix {
    let members: Vec<usize> = match job.world() {
        Some(world) if world.members.values().any(|r| o.ranks.all.get(*r).is_some_and(|r| !r.cells.is_empty())) => {
            world.members.values().copied().collect()
        }
        _ => job.ranks().collect(),
    };
    let ranks: Vec<&Rank> =
        members.iter().filter_map(|r| o.ranks.all.get(*r)).filter(|r| !r.cells.is_empty()).collect();
    let (columns, places) = columns(o, &ranks);
    // Ranks differ in channels and NICs by nature; what makes a pattern is which columns they have, and GPUDirect there.
    let mut patterns: BTreeMap<Vec<Option<Gdr>>, Vec<&Rank>> = BTreeMap::new();
    for r in &ranks {
        patterns.entry(pattern(r, &columns, &places)).or_default().push(r);
    }
    let mut sorted: Vec<(Vec<Option<Gdr>>, Vec<&Rank>)> = patterns.into_iter().collect();
    sorted.sort_by_key(|(_, ranks)| (std::cmp::Reverse(ranks.len()), ranks.first().and_then(|r| r.rank)));
    // Of each column: what most of the ranks have that have a network there; of others whether most ranks have it.
    let most = |at: usize, column: &Column| {
        let mut counts: BTreeMap<Option<Gdr>, usize> = BTreeMap::new();
        for (p, of) in &sorted {
            let here = p.get(at).copied().flatten();
            if !column.is_network() || here.is_some() {
                *counts.entry(here).or_default() += of.len();
            }
        }
        counts.into_iter().max_by_key(|(_, n)| *n).and_then(|(state, _)| state)
    };
    let usual: Vec<Option<Gdr>> = columns.iter().enumerate().map(|(at, column)| most(at, column)).collect();
    let rows = sorted.iter().take(MAX_ROWS).map(|(p, ranks)| row(o, &columns, &places, &usual, p, ranks));
    Matrix { rows: rows.collect(), columns: columns.into_iter().map(|c| c.name).collect() }
}

/// What decides the column of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    carrier: Carrier,
    net: Option<Name>,
    direction: Option<Direction>,
}

fn way(cell: &ranks::Cell) -> Way {
    Way { carrier: cell.carrier, net: cell.net, direction: cell.direction }
}

/// The columns of these ranks, and at which place each way of connecting is.
fn columns(o: &Observer, ranks: &[&Rank]) -> (Vec<Column>, BTreeMap<Way, usize>) {
    let ways: BTreeSet<Way> = ranks.iter().flat_map(|r| &r.cells).map(way).collect();
    let named: Vec<(Way, Column)> = ways.into_iter().map(|w| (w, column(o, w))).collect();
    let columns: Vec<Column> = named.iter().map(|(_, c)| c.clone()).collect::<BTreeSet<_>>().into_iter().collect();
    let places = named.into_iter().filter_map(|(w, c)| Some((w, columns.binary_search(&c).ok()?))).collect();
    (columns, places)
}

fn column(o: &Observer, Way { carrier, net, direction }: Way) -> Column {
    let half = |base: &str| match direction {
        Some(Direction::Send) => format!("{base} send"),
        Some(Direction::Receive) => format!("{base} receive"),
        None => base.to_owned(),
    };
    let name = match carrier {
        Carrier::P2pDirect => "P2P/direct".to_owned(),
        Carrier::P2pCumem => "P2P/CUMEM".to_owned(),
        Carrier::P2pIpc => "P2P/IPC".to_owned(),
        Carrier::P2pMnnvl => "P2P/MNNVL".to_owned(),
        Carrier::P2pIndirect => "P2P/indirect".to_owned(),
        Carrier::P2pOther => "P2P".to_owned(),
        Carrier::Shm => "SHM".to_owned(),
        Carrier::Net => half(&format!("NET/{}", net.map_or("", |n| o.name(n)))),
        Carrier::CollNet => half(&format!("COLLNET/{}", net.map_or("", |n| o.name(n)))),
    };
    Column { carrier, name }
}

/// Of each column: whether the rank has it, and with GPUDirect.
fn pattern(r: &Rank, columns: &[Column], places: &BTreeMap<Way, usize>) -> Vec<Option<Gdr>> {
    let mut counts = vec![(0u32, 0u32); columns.len()];
    for cell in &r.cells {
        if let Some((with, all)) = places.get(&way(cell)).and_then(|at| counts.get_mut(*at)) {
            *all += 1;
            *with += u32::from(cell.gdr);
        }
    }
    let state = |(with, all)| match (with, all) {
        (_, 0) => None,
        (0, _) => Some(Gdr::None),
        (w, a) if w == a => Some(Gdr::All),
        _ => Some(Gdr::Some),
    };
    counts.into_iter().map(state).collect()
}

fn row(
    o: &Observer,
    columns: &[Column],
    places: &BTreeMap<Way, usize>,
    usual: &[Option<Gdr>],
    pattern: &[Option<Gdr>],
    ranks: &[&Rank],
) -> Row {
    let mut seen = vec![(0u64, BTreeSet::new(), false); columns.len()];
    for one in ranks.iter().flat_map(|r| &r.cells) {
        if let Some((channels, devices, proxied)) = places.get(&way(one)).and_then(|at| seen.get_mut(*at)) {
            *channels |= one.channels;
            if matches!(one.carrier, Carrier::Net | Carrier::CollNet) {
                devices.insert(one.device);
            }
            *proxied |= one.proxied;
        }
    }
    let cells = columns.iter().zip(pattern).zip(seen).map(|((c, gdr), (channels, devices, proxied))| Cell {
        channels: ranges(bits(channels)),
        devices: ranges(devices),
        // Sockets copy through the kernel in any case.
        gdr: gdr.filter(|_| c.is_network() && !crate::case::Case::is_socket(&c.name)),
        proxied,
    });
    // The ends of a ring have a network where the others have none: that is no oddity. Another way of doing the same is.
    let odd = columns.iter().zip(usual.iter().zip(pattern)).find_map(|(column, (u, p))| match (u, p) {
        (Some(u), Some(p)) if u != p && column.is_network() => Some(match p {
            Gdr::None => format!("{} without GDRDMA", column.name),
            Gdr::Some => format!("{} partly without GDRDMA", column.name),
            Gdr::All => format!("{} with GDRDMA", column.name),
        }),
        (None, Some(_)) if !column.is_network() => Some(format!("{}, which most have not", column.name)),
        _ => None,
    });
    Row {
        ranks: ranges(ranks.iter().filter_map(|r| r.rank)),
        count: ranks.len() as u32,
        hosts: o.hosts(ranks.iter().map(|r| r.process)),
        cells: cells.collect(),
        odd,
    }
}
