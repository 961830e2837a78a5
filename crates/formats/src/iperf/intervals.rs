//! The intervals of a document.

use super::json::{row, way};
use super::run::{Direction, Row, Run, Scope, Stream, Way};
use super::shape::{Interval, Side, Values};
use crate::bounds::{LeftOut, Limit, REFUSALS};
use crate::error::Why;
use crate::record::{add_left_out, keep};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use std::fmt;
/// Rows of intervals. Made at once, one by one: a day of streams has a million, and the tree of their document is twice as large.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    /// Where this end sends, the way is said to be to the server; which end this is, is not known yet.
    rows: Vec<Row>,
    left_out: Vec<LeftOut>,
    /// Data goes both ways.
    is_both: bool,
    refused: Vec<Why>,
    /// Those beyond the limit.
    refused_more: u64,
}

impl Intervals {
    pub(super) fn add(&mut self, interval: &Interval) {
        self.is_both |= interval.sum_bidir_reverse.is_some();
        let mut streams = [0u32; 2];
        for values in &interval.streams {
            let sends = matches!(values.sender, Side::Flag(true));
            streams.iter_mut().skip(usize::from(sends)).take(1).for_each(|n| *n += 1);
            self.push(values, values.socket.u32().map(Stream::One), sends);
        }
        for values in [&interval.sum, &interval.sum_bidir_reverse].into_iter().flatten() {
            let sends = matches!(values.sender, Side::Flag(true));
            let own = streams.iter().skip(usize::from(sends)).take(1).sum();
            let count: u32 = if interval.sum_bidir_reverse.is_some() { own } else { streams.iter().sum() };
            // The sum of one stream says nothing new.
            if count != 1 {
                self.push(values, Some(Stream::Sum), sends);
            }
        }
    }

    fn push(&mut self, values: &Values, stream: Option<Stream>, sends: bool) {
        let way = if sends { Way::ToServer } else { Way::ToClient };
        match row(0, values, stream, Some(way), Scope::Interval) {
            Ok(row) => keep(&mut self.rows, row, Limit::IPERF_ROWS, 0, &mut self.left_out),
            Err(why) if self.refused.len() < REFUSALS => self.refused.push(why),
            Err(_) => self.refused_more += 1,
        }
    }

    pub(super) fn give(self, run: &mut Run, line: u32) {
        if self.is_both {
            run.direction = Some(Direction::Both);
        }
        let is_both = run.direction == Some(Direction::Both);
        let mut rows = self.rows;
        for row in &mut rows {
            row.line = line;
            row.way = row.way.filter(|_| is_both).map(|w| way(run, w == Way::ToServer));
        }
        self.refused.into_iter().for_each(|why| run.refused.push(line, why));
        run.refused.not_kept += self.refused_more;
        add_left_out(&mut run.left_out, self.left_out.into_iter().map(|l| LeftOut { line, ..l }));
        if run.rows.is_empty() {
            run.rows = rows;
        } else {
            rows.into_iter().for_each(|r| run.push_row(r));
        }
    }
}

struct IntervalsVisitor;

impl<'de> Visitor<'de> for IntervalsVisitor {
    type Value = Intervals;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("intervals")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Intervals, A::Error> {
        let mut out = Intervals::default();
        while let Some(interval) = seq.next_element::<Interval>()? {
            out.add(&interval);
        }
        Ok(out)
    }

    fn visit_unit<E>(self) -> Result<Intervals, E> {
        Ok(Intervals::default())
    }
}

impl<'de> Deserialize<'de> for Intervals {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(IntervalsVisitor)
    }
}
