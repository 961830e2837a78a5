//! Fleet indexes of strangers, asked what people ask them.

use crate::policies::AGAINST;
use linerate_fleet::condition::Condition;
use linerate_fleet::{Record, drift};
use linerate_gather::index::{FileId, Gathered, Index, IndexError, Question, Wanted, When, Writer};
use std::hint::black_box;
use std::path::Path;

/// Opens an index and asks it all that verbs do; what is damaged is an error.
pub(crate) fn index(bytes: &[u8]) {
    let Ok(index) = Index::of_bytes(bytes.to_vec()) else { return };
    for group in 0..index.groups().min(4) {
        black_box(index.heads(group).is_ok());
        let mut cells = 0_usize;
        black_box(index.cells(group, Wanted::All, |_, holders| cells += holders.len()).is_ok());
    }
    let conditions: Vec<Condition> =
        ["memory.total_kib>1", "pci.kind"].iter().filter_map(|c| Condition::parse(c).ok()).collect();
    for when in [When::Newest, When::At(1 << 31), When::All] {
        black_box(index.ask(&Question { conditions: &conditions, subject: Some("rail *"), when, nodes: None }).is_ok());
    }
    if let Ok(tabled) = index.table(When::Newest, None) {
        black_box(drift::drift(&tabled.table, &drift::Options::default()));
    }
    // Groups are taken over byte for byte by the next index.
    if let Ok(mut next) = Writer::memory() {
        let copied = (0..index.groups().min(4)).try_for_each(|g| next.copy(&index, g));
        if let (Ok(()), Ok(bytes)) = (copied, next.bytes()) {
            assert!(index.groups() > 4 || Index::of_bytes(bytes).is_ok_and(|again| again.groups() == index.groups()));
        }
    }
}

/// An index of one group, and one of three: two nodes that are alike, one with fewer facts.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let record = |n: usize, rows: usize| {
        let mut record = Record::read(&format!("n{n}"), &AGAINST.snapshot);
        record.rows.truncate(rows);
        record
    };
    let written = |groups: &[&[usize]]| -> Result<Vec<u8>, IndexError> {
        let mut out = Writer::memory()?;
        for (g, rows) in groups.iter().enumerate() {
            let mut group = Gathered::default();
            for (n, rows) in rows.iter().enumerate() {
                group.add(&format!("{g}/{n}"), FileId { bytes: 1, modified: 2 }, &record(n, *rows));
            }
            out.group(group.encode(Path::new("fuzz"))?)?;
        }
        out.bytes()
    };
    let all: [&[&[usize]]; 3] = [&[&[40]], &[&[200, 200, 90]], &[&[usize::MAX], &[60, 60], &[0]]];
    all.iter().filter_map(|groups| written(groups).ok()).collect()
}
