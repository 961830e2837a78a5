//! Runs of one program that measured different things: one stream and eight, reads and writes. They are distinguished by what they say of
//! themselves, but only where a side has both: what differs between the sides may be the very thing that is compared.

use super::Input;
use crate::model::{Kind, Label, Run};
use smol_str::{SmolStr, ToSmolStr};
use std::collections::{BTreeMap, BTreeSet};

/// The name that `bench run` gives to a test.
const TEST: &str = "test";
/// Parameters by which measurements of a program differ.
const SHAPE: [&str; 19] = [
    "protocol",
    "direction",
    "streams",
    "bidirectional",
    "qps",
    "connection",
    "mode",
    "message_size",
    "rw",
    "readwrite",
    "bs",
    "blocksize",
    "iodepth",
    "numjobs",
    "ranks",
    "nodes",
    "dtype",
    "redop",
    "payload",
];

/// Which parameters tell the runs of each kind apart.
pub(super) struct Splits(BTreeMap<Kind, Vec<&'static str>>);

impl Splits {
    pub(super) fn of(sides: [&Input<'_>; 2]) -> Splits {
        let mut kinds: BTreeMap<Kind, [Vec<&Run>; 2]> = BTreeMap::new();
        for (place, side) in sides.into_iter().enumerate() {
            for run in side.runs.iter().filter(|r| r.is_valid()) {
                kinds.entry(run.kind).or_default()[place].push(run);
            }
        }
        let each = kinds.into_iter().map(|(kind, sides)| {
            let named = sides.iter().flatten().all(|r| r.params.contains_key(TEST));
            let keys: &[&'static str] = if named { &[TEST] } else { &SHAPE };
            let several = |key: &str| {
                sides.iter().any(|runs| runs.iter().map(|r| value(r, key)).collect::<BTreeSet<_>>().len() > 1)
            };
            (kind, keys.iter().copied().filter(|key| several(key)).collect())
        });
        Splits(each.collect())
    }

    /// What tells a run from others of its kind.
    pub(super) fn labels(&self, run: &Run) -> Vec<Label> {
        let keys = self.0.get(&run.kind).map_or(&[][..], Vec::as_slice);
        keys.iter().filter_map(|key| Some(Label { key: SmolStr::new_static(key), value: value(run, key)? })).collect()
    }
}

fn value(run: &Run, key: &str) -> Option<SmolStr> {
    run.params.get(key).map(|v| v.to_smolstr())
}
