//! Who is connected by what. Ranks with equal connections share a row, so that the odd one of 512 stands out.

use crate::answer::{Cell, Gdr, Matrix, Row};
use crate::jobs::Job;
use crate::observe::Observer;
use crate::observe::ranks::{Carrier, Rank};
use crate::ranges::{bits, ranges};
use linerate_formats::nccl_log::Direction;
use std::collections::{BTreeMap, BTreeSet};

/// Rows that are made; further patterns are counted in the last.
const MAX_ROWS: usize = 24;

/// The first kind of column that is a network.
const NET: u8 = 7;

/// Columns in the order in which they are shown.
type Column = (u8, String);

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
    let columns: Vec<Column> =
        ranks.iter().flat_map(|r| r.cells.iter().map(|c| column(o, c))).collect::<BTreeSet<_>>().into_iter().collect();
    // Ranks differ in channels and NICs by nature; what makes a pattern is which columns they have, and GPUDirect there.
    let mut patterns: BTreeMap<Vec<Option<Gdr>>, Vec<&Rank>> = BTreeMap::new();
    for r in &ranks {
        patterns.entry(columns.iter().map(|c| pattern(o, r, c)).collect()).or_default().push(r);
    }
    let mut sorted: Vec<(Vec<Option<Gdr>>, Vec<&Rank>)> = patterns.into_iter().collect();
    sorted.sort_by_key(|(_, ranks)| (std::cmp::Reverse(ranks.len()), ranks.first().and_then(|r| r.rank)));
    // Of each column: what most of the ranks have that have a network there; of others whether most ranks have it.
    let most = |at: usize, kind: u8| {
        let mut counts: BTreeMap<Option<Gdr>, usize> = BTreeMap::new();
        for (p, of) in &sorted {
            let here = p.get(at).copied().flatten();
            if kind < NET || here.is_some() {
                *counts.entry(here).or_default() += of.len();
            }
        }
        counts.into_iter().max_by_key(|(_, n)| *n).and_then(|(state, _)| state)
    };
    let usual: Vec<Option<Gdr>> = columns.iter().enumerate().map(|(at, (kind, _))| most(at, *kind)).collect();
    let rows = sorted.iter().take(MAX_ROWS).map(|(p, ranks)| row(o, &columns, &usual, p, ranks));
    Matrix { rows: rows.collect(), columns: columns.into_iter().map(|(_, name)| name).collect() }
}

fn column(o: &Observer, cell: &crate::observe::ranks::Cell) -> Column {
    let half = |base: &str| match cell.direction {
        Some(Direction::Send) => format!("{base} send"),
        Some(Direction::Receive) => format!("{base} receive"),
        None => base.to_owned(),
    };
    match cell.carrier {
        Carrier::P2pDirect => (0, "P2P/direct".to_owned()),
        Carrier::P2pCumem => (1, "P2P/CUMEM".to_owned()),
        Carrier::P2pIpc => (2, "P2P/IPC".to_owned()),
        Carrier::P2pMnnvl => (3, "P2P/MNNVL".to_owned()),
        Carrier::P2pIndirect => (4, "P2P/indirect".to_owned()),
        Carrier::P2pOther => (5, "P2P".to_owned()),
        Carrier::Shm => (6, "SHM".to_owned()),
        Carrier::Net => (7, half(&format!("NET/{}", cell.net.map_or("", |n| o.name(n))))),
        Carrier::CollNet => (8, half(&format!("COLLNET/{}", cell.net.map_or("", |n| o.name(n))))),
    }
}

/// Of a column: whether the rank has it, and with GPUDirect.
fn pattern(o: &Observer, r: &Rank, wanted: &Column) -> Option<Gdr> {
    let mut with = 0;
    let mut all = 0;
    for cell in r.cells.iter().filter(|c| column(o, c) == *wanted) {
        all += 1;
        with += u32::from(cell.gdr);
    }
    match (with, all) {
        (_, 0) => None,
        (0, _) => Some(Gdr::None),
        (w, a) if w == a => Some(Gdr::All),
        _ => Some(Gdr::Some),
    }
}

fn row(o: &Observer, columns: &[Column], usual: &[Option<Gdr>], pattern: &[Option<Gdr>], ranks: &[&Rank]) -> Row {
    let hosts: BTreeSet<&str> =
        ranks.iter().filter_map(|r| o.process(r.process)).map(|p| o.name(p.host)).filter(|h| !h.is_empty()).collect();
    let cells = columns.iter().zip(pattern).map(|(c, gdr)| {
        let mut cell = Cell::default();
        let (mut channels, mut devices) = (0, BTreeSet::new());
        for one in ranks.iter().flat_map(|r| &r.cells).filter(|one| column(o, one) == *c) {
            channels |= one.channels;
            if matches!(one.carrier, Carrier::Net | Carrier::CollNet) {
                devices.insert(one.device);
            }
            cell.proxied |= one.proxied;
        }
        cell.channels = ranges(bits(channels));
        cell.devices = ranges(devices);
        // Sockets copy through the kernel in any case.
        cell.gdr = gdr.filter(|_| c.0 >= NET && !crate::case::Case::is_socket(&c.1));
        cell
    });
    // The ends of a ring have a network where the others have none: that is no oddity. Another way of doing the same is.
    let odd = columns.iter().zip(usual.iter().zip(pattern)).find_map(|((kind, name), (u, p))| match (u, p) {
        (Some(u), Some(p)) if u != p && *kind >= NET => Some(match p {
            Gdr::None => format!("{name} without GDRDMA"),
            Gdr::Some => format!("{name} partly without GDRDMA"),
            Gdr::All => format!("{name} with GDRDMA"),
        }),
        (None, Some(_)) if *kind < NET => Some(format!("{name}, which most have not")),
        _ => None,
    });
    Row {
        ranks: ranges(ranks.iter().filter_map(|r| r.rank)),
        count: ranks.len() as u32,
        hosts: hosts.into_iter().map(str::to_owned).collect(),
        cells: cells.collect(),
        odd,
    }
}
