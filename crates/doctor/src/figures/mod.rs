//! A benchmark's figure without a log: what it fits, what it does not fit, and the one command that tells most of that apart.
//!
//! Each explanation predicts a range, by arithmetic where there is some (a port's payload, a PCIe link's data) and by what is known
//! from elsewhere where there is none, which is then called an estimate. What predicts the figure is an explanation; rules that judge
//! it on a node that was given make it likely or take it away.

mod ask;
mod collective;
mod connections;
mod explain;
mod latency;
mod measured;
mod port;
mod steps;
mod training;

use crate::answer::{Evidence, Figure, Share};
use crate::nodes::NodeView;
use crate::observe::Observer;
use crate::place::Quote;
use connections::Connections;
use explain::{Fit, Weighed};
use linerate_topology::ceiling::Links;
use measured::{Measured, Of};

/// Figures of one answer.
const FIGURES: usize = 6;
/// Explanations of one figure, at most: reports show fewer.
const FITS: usize = 32;
/// From this share of the ceiling on nothing is wrong.
const REACHED: f64 = 0.9;

/// The figures of what was observed, and how many more there are.
pub(crate) fn figures(o: &Observer, nodes: &[NodeView<'_>], links: Option<Links>) -> (Vec<Figure>, usize) {
    let all = measured::all(o);
    let more = all.len().saturating_sub(FIGURES);
    (all.iter().take(FIGURES).map(|m| figure(o, m, nodes, links)).collect(), more)
}

fn figure(o: &Observer, m: &Measured<'_>, nodes: &[NodeView<'_>], links: Option<Links>) -> Figure {
    let ceiling = m.ceiling(nodes, links);
    let fits: Vec<Fit> = match &m.of {
        Of::Port(test) => port::fits(m, test, ceiling.as_ref()),
        Of::Collective(job) => collective::fits(m, job, ceiling.as_ref()),
        Of::Latency(test) => latency::fits(test),
        Of::Training(t) => training::fits(t),
    };
    let share = ceiling.as_ref().map(|c| Share { low: m.value / c.range.high, high: m.value / c.range.low });
    let reached = share.is_some_and(|s| s.low >= REACHED);
    let (mut fits, excluded) = if reached {
        (Vec::new(), Vec::new())
    } else {
        let connections = Connections::of(o, m);
        explain::weigh(fits, nodes, &|fit| connections.say(o, fit.why, fit.ports))
    };
    let more = fits.len().saturating_sub(FITS);
    fits.truncate(FITS);
    Figure {
        name: m.name.clone(),
        value: m.value,
        unit: m.unit(),
        ceiling: ceiling.map(|c| c.words),
        share,
        evidence: Evidence::of(&Quote { place: m.place, text: m.shown() }, o.file_name(m.place.file)),
        shape: m.shape(),
        next: ask::next(&fits, m),
        fits: fits.into_iter().map(Weighed::answer).collect(),
        fits_left_out: more,
        excluded,
        reached,
    }
}
