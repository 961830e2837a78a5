//! One recorder for the readers of benchmarks.
//!
//! The readers differ in how a line is read. They do not differ in what is done with what was read, and that is here:
//!
//! - **Runs.** A [`Recorder`] holds the run that is open and the runs that ended. A line belongs to the open run when the reader
//!   calls [`Recorder::touch`]: the run is begun, and the line is among its lines. [`Recorder::end`] hands the open run to the
//!   reader, which may finish it (sort, settle, drop what is nothing), and gives it back to [`Recorder::push`]. A run that was read
//!   otherwise, from a JSON document, goes to `push` directly.
//! - **Limits.** What hostile text can repeat without end is a list of a run with a [`Limit`] of [`crate::bounds`]: [`keep`] adds to
//!   the list or counts the item in the run's `left_out`. Runs are such a list, too ([`Recorded::RUNS`]): those beyond the limit are
//!   counted in the last run that is kept. Nothing is dropped without a count.
//! - **Refusals.** What looks like a measurement but is not one goes to the run's [`Refusals`], with its line and the reason. The first
//!   are kept, the others are counted.
//!
//! So a run shows three things beside its measurements: `lines`, `refused`, `left_out`. Whoever uses a run shows the last two; the
//! import of benchmarks does so in one place for all tools.
//!
//! The recorder does not know a tool's stages (header, table, summary): when a run ends is the reader's decision. State that ends
//! with a run (open columns, names of ranks) stays in the reader, which clears it where it calls `end`.
//!
//! A call of `touch` is two comparisons and no allocation: a table of millions of rows makes one for each.

use crate::bounds::{LeftOut, Limit, leave_out};
use crate::error::Why;
use crate::refusal::Refusals;

/// A run of a tool, as a recorder sees it.
pub(crate) trait Recorded: Default {
    /// How many runs of one text are kept.
    const RUNS: Limit;
    /// First and last line, 1-based; 0 before the first.
    fn lines(&mut self) -> &mut (u32, u32);
    /// What looks like a measurement but is not one.
    fn refused(&mut self) -> &mut Refusals;
    /// What is beyond limits.
    fn left_out(&mut self) -> &mut Vec<LeftOut>;
}

/// Implements [`Recorded`] by the fields `lines`, `refused`, `left_out`.
macro_rules! recorded {
    ($run:ty, $limit:expr) => {
        impl crate::record::Recorded for $run {
            const RUNS: crate::bounds::Limit = $limit;

            fn lines(&mut self) -> &mut (u32, u32) {
                &mut self.lines
            }

            fn refused(&mut self) -> &mut crate::refusal::Refusals {
                &mut self.refused
            }

            fn left_out(&mut self) -> &mut Vec<crate::bounds::LeftOut> {
                &mut self.left_out
            }
        }
    };
}
pub(crate) use recorded;

/// The open run, and those before it.
#[derive(Debug, Default)]
pub(crate) struct Recorder<R> {
    done: Vec<R>,
    /// The open run. Reading it, or noting what is no line of its own, does not begin it.
    pub(crate) run: R,
    is_begun: bool,
}

impl<R: Recorded> Recorder<R> {
    /// Whether a line belongs to the open run.
    pub(crate) fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// The open run, to which this line belongs.
    pub(crate) fn touch(&mut self, number: u32) -> &mut R {
        self.is_begun = true;
        let (first, last) = self.run.lines();
        if *first == 0 {
            *first = number;
        }
        *last = (*last).max(number);
        &mut self.run
    }

    /// Notes what looks like a measurement but is not one.
    pub(crate) fn refuse(&mut self, number: u32, why: Why) {
        self.touch(number).refused().push(number, why);
    }

    /// Ends the open run and hands it out; `None` where no line belongs to it, whatever was noted in it.
    pub(crate) fn end(&mut self) -> Option<R> {
        let run = std::mem::take(&mut self.run);
        std::mem::take(&mut self.is_begun).then_some(run)
    }

    /// Ends the open run as it is.
    pub(crate) fn close(&mut self) {
        if let Some(run) = self.end() {
            self.push(run);
        }
    }

    /// Forgets what was noted in the open run.
    pub(crate) fn forget(&mut self) {
        let _ = self.end();
    }

    /// Takes a run that is over.
    pub(crate) fn push(&mut self, mut run: R) {
        if has_room(self.done.len(), R::RUNS) {
            self.done.push(run);
        } else if let Some(last) = self.done.last_mut() {
            leave_out(last.left_out(), R::RUNS, run.lines().0);
        }
    }

    /// Runs that are over.
    pub(crate) fn done(&mut self) -> &mut Vec<R> {
        &mut self.done
    }

    /// All runs that were pushed.
    pub(crate) fn finish(self) -> Vec<R> {
        self.done
    }
}

/// Adds to a list of a run that hostile text must not fill, or counts what is beyond the limit.
pub(crate) fn keep<T>(list: &mut Vec<T>, item: T, limit: Limit, line: u32, left_out: &mut Vec<LeftOut>) {
    if has_room(list.len(), limit) {
        list.push(item);
    } else {
        leave_out(left_out, limit, line);
    }
}

/// Whether there is room for one more.
pub(crate) fn has_room(n: usize, limit: Limit) -> bool {
    (n as u64) < limit.value()
}

/// Adds what another part of the same run left out.
pub(crate) fn add_left_out(list: &mut Vec<LeftOut>, more: impl IntoIterator<Item = LeftOut>) {
    for one in more {
        match list.iter_mut().find(|l| l.limit == one.limit) {
            Some(known) => known.count = known.count.saturating_add(one.count),
            None => list.push(one),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ping::Run;

    #[test]
    fn runs_are_those_with_lines_and_what_is_beyond_the_limit_is_counted() {
        let mut r = Recorder::<Run>::default();
        r.run.payload = Some(crate::units::Bytes(8));
        assert!(r.end().is_none() && r.run.payload.is_none(), "noted, and no line: nothing");
        let most = u32::try_from(Run::RUNS.value()).unwrap();
        for number in 1..=most + 3 {
            r.refuse(2 * number, Why::Missing("why"));
            r.touch(2 * number + 1);
            let run = r.end().unwrap();
            assert_eq!((run.lines, run.refused.kept.len()), ((2 * number, 2 * number + 1), 1));
            r.push(run);
        }
        let runs = r.finish();
        assert_eq!((runs.len() as u64, runs[0].left_out.len()), (Run::RUNS.value(), 0));
        let last = LeftOut { limit: Run::RUNS, line: 2 * (most + 1), count: 3 };
        assert_eq!(runs.last().unwrap().left_out, [last]);
    }

    #[test]
    fn items_beyond_a_limit_are_counted_by_limit() {
        let (mut list, mut left_out) = (vec![0; 255], Vec::new());
        (1..=3).for_each(|n| keep(&mut list, n, Limit::PING_SAID, n, &mut left_out));
        let one = LeftOut { limit: Limit::PING_SAID, line: 2, count: 2 };
        assert_eq!((list.len(), &left_out[..]), (256, &[one][..]));
        add_left_out(&mut left_out, [one, LeftOut { limit: Limit::PING_RUNS, line: 9, count: 1 }]);
        assert_eq!(left_out.iter().map(|l| l.count).collect::<Vec<_>>(), [4, 1]);
    }
}
