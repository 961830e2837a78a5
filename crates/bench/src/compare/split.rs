//! Runs of one program that measured different things: one stream and eight, reads and writes. They are told apart by what they say of
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
        let kinds: BTreeSet<Kind> = sides.iter().flat_map(|s| s.runs).map(|r| r.kind).collect();
        let several = |key: &str, kind| {
            sides.iter().any(|s| runs(s, kind).iter().map(|r| value(r, key)).collect::<BTreeSet<_>>().len() > 1)
        };
        let each = kinds.into_iter().map(|kind| {
            let named = sides.iter().all(|s| runs(s, kind).iter().all(|r| r.params.contains_key(TEST)));
            let keys: Vec<&'static str> = if named { vec![TEST] } else { SHAPE.to_vec() };
            (kind, keys.into_iter().filter(|key| several(key, kind)).collect())
        });
        Splits(each.collect())
    }

    /// What tells a run from others of its kind.
    pub(super) fn labels(&self, run: &Run) -> Vec<Label> {
        let keys = self.0.get(&run.kind).map_or(&[][..], Vec::as_slice);
        keys.iter().filter_map(|key| Some(Label { key: SmolStr::new_static(key), value: value(run, key)? })).collect()
    }
}

/// Valid runs of a kind.
fn runs<'a>(side: &Input<'a>, kind: Kind) -> Vec<&'a Run> {
    side.runs.iter().filter(|r| r.kind == kind && r.is_valid()).collect()
}

fn value(run: &Run, key: &str) -> Option<SmolStr> {
    run.params.get(key).map(|v| v.to_smolstr())
}
