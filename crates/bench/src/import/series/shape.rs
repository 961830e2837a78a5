//! Which column of a table is what.

use super::names::metric;
use crate::model::Metric;
use linerate_formats::series::{self as theirs, Column, Role, Table};

/// Words of a label beyond which it names rows instead of telling measurements apart.
const MOST_WORDS: usize = 256;

/// Which column is what.
pub(super) struct Shape<'a> {
    pub(super) run: Option<&'a Column>,
    /// Time or step.
    pub(super) at: Option<&'a Column>,
    pub(super) size: Option<&'a Column>,
    pub(super) hosts: Option<&'a Column>,
    pub(super) labels: Vec<&'a Column>,
    pub(super) metrics: Vec<(&'a Column, Metric, f64)>,
    pub(super) long: Option<Long<'a>>,
    /// No sizes, no time, no runs: nothing tells rows apart but their order.
    pub(super) rows_are_runs: bool,
}

/// Columns of an export that say of a run what is not part of its result.
const ASIDE: [&str; 10] =
    ["run_labels", "run_valid", "version", "began", "stored", "source", "session", "side", "position", "before"];

/// Columns of a table in long form.
pub(super) struct Long<'a> {
    pub(super) metric: &'a Column,
    pub(super) value: &'a Column,
    pub(super) unit: Option<&'a Column>,
    pub(super) stat: Option<&'a Column>,
    pub(super) valid: Option<&'a Column>,
    pub(super) kind: Option<&'a Column>,
    pub(super) tool: Option<&'a Column>,
    /// Of an export: objects and lists in JSON.
    pub(super) labels: Option<&'a Column>,
    pub(super) params: Option<&'a Column>,
    pub(super) hosts: Option<&'a Column>,
    /// What an export tells of the run, and what it leaves to its id.
    aside: Vec<&'a Column>,
}

fn has_one_word(c: &Column) -> bool {
    matches!(&c.cells, theirs::Cells::Labels(l) if l.words.iter().filter(|w| !w.is_empty()).count() <= 1)
}

impl<'a> Shape<'a> {
    pub(super) fn of(t: &'a Table) -> Shape<'a> {
        let named = |name: &str| t.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name));
        let words = |c: &&Column| matches!(&c.cells, theirs::Cells::Labels(_));
        let long =
            named("metric").filter(words).zip(named("value").filter(|c| !words(c))).map(|(metric, value)| Long {
                metric,
                value,
                unit: named("unit").filter(words),
                stat: named("stat").filter(words),
                valid: named("valid"),
                kind: named("kind").filter(words),
                // Of several tools none made the run: they tell its measurements apart.
                tool: named("tool").filter(words).filter(|c| has_one_word(c)),
                labels: named("labels").filter(words),
                params: named("params").filter(words),
                hosts: named("hosts").filter(words),
                aside: ASIDE.iter().filter_map(|n| named(n)).collect(),
            });
        let run = t.of(Role::Run).next();
        let at = t.of(Role::Time).chain(t.of(Role::Step)).next();
        let hosts = ["host", "node", "hostname", "nodename"].iter().find_map(|n| named(n)).filter(words);
        let used = |c: &&Column| {
            let of_long = long.as_ref().is_some_and(|l| {
                let all = [
                    Some(l.metric),
                    Some(l.value),
                    l.unit,
                    l.stat,
                    l.valid,
                    l.kind,
                    l.tool,
                    l.labels,
                    l.params,
                    l.hosts,
                ];
                all.into_iter().flatten().chain(l.aside.iter().copied()).any(|x| std::ptr::eq(x, *c))
            });
            of_long || hosts.is_some_and(|h| std::ptr::eq(h, *c))
        };
        let few = |c: &&Column| match &c.cells {
            theirs::Cells::Labels(l) => {
                l.words.len() <= MOST_WORDS
                    && (t.len() < 4 || l.words.len() * 2 <= t.len() || c.name.len() < 12 && l.words.len() < 32)
            }
            theirs::Cells::Numbers(_) => true,
        };
        let metrics = match long {
            Some(_) => Vec::new(),
            None => t
                .of(Role::Metric)
                .map(|c| {
                    let (m, f) = metric(&c.name, c.unit.as_ref());
                    (c, m, f)
                })
                .collect(),
        };
        Shape {
            run,
            at,
            size: t.of(Role::Size).next(),
            hosts,
            labels: t.of(Role::Label).filter(|c| !used(c)).filter(few).collect(),
            metrics,
            rows_are_runs: run.is_none() && at.is_none(),
            long,
        }
    }
}
