//! What was imported, for a terminal: what does not count first, then what was measured.

use super::view::{Group, View, common};
use super::{Refused, headline};
use crate::bench::words::{self, counted, decimals, fixed, number, sparkline};
use crate::style::{Page, Style, Tone};
use crate::table::{Cell, Table, left, right};
use linerate_bench::{Fault, Run, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Runs shown in full before they become lines of a list.
const IN_FULL: usize = 6;
/// Rows of a table, and runs of a list, before the rest becomes a number.
const ROWS: usize = 40;
/// Columns of a table before the rest becomes a number; how many have room is another question.
const COLUMNS: usize = 48;
/// Faults, notes and refused parts shown of each before the rest becomes a number.
const FEW: usize = 8;
/// Columns of a line of bars.
const BARS: usize = 32;

/// Writes what was imported.
///
/// # Errors
/// Those of the writer.
pub fn runs_text(runs: &[Run], refused: &[Refused], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut t = Text { page: Page::new(out, style) };
    t.first_line(runs, refused)?;
    if runs.len() > IN_FULL && !style.verbose {
        t.faulty(runs)?;
        t.list(runs)?;
    } else {
        for run in runs {
            t.run(run)?;
        }
    }
    t.refused(refused)
}

struct Text<'w> {
    page: Page<'w>,
}

impl Text<'_> {
    fn first_line(&mut self, runs: &[Run], refused: &[Refused]) -> io::Result<()> {
        let bad = runs.iter().filter(|r| !r.is_valid()).count();
        let mut text = counted(runs.len(), "run", "runs");
        text.push_str(&match (bad, runs.len() - bad) {
            (0, _) => String::new(),
            (1, 0) => ", no valid result".to_owned(),
            (_, 0) => ", none of them a valid result".to_owned(),
            (n, _) => format!(", {n} of them no valid result"),
        });
        let parts = if refused.is_empty() {
            String::new()
        } else {
            format!("; {} not taken", counted(refused.len(), "part", "parts"))
        };
        let tone = match (runs.is_empty(), bad) {
            (true, _) => Tone::Doubt,
            (_, 0) => Tone::Bold,
            _ => Tone::Bad,
        };
        self.page.text(0, tone, &format!("{text}{parts}"))
    }

    fn run(&mut self, run: &Run) -> io::Result<()> {
        self.page.blank()?;
        self.page.item(0, run.kind.name(), Tone::Bold, Tone::Bold, &name(run))?;
        let whole = |f: &&Fault| f.whole_run;
        self.faults(run.faults.iter().filter(whole), "NO VALID RESULT:")?;
        self.faults(run.faults.iter().filter(|f| !f.whole_run), "PARTLY INVALID:")?;
        self.page.field(2, "run", &run.id().to_string())?;
        let line = if run.source.line > 0 { format!(":{}", run.source.line) } else { String::new() };
        self.page.field(2, "source", &format!("{}{line}", run.source.name))?;
        if let Some(began) = run.began {
            self.page.field(2, "began", &when(began))?;
        }
        if !run.hosts.is_empty() {
            let hosts: Vec<String> = run.hosts.iter().map(ToString::to_string).collect();
            self.page.field(2, "hosts", &crate::doctor::words::names(&hosts, self.page.shown(FEW)))?;
        }
        if !run.params.is_empty() {
            let params: Vec<String> = run.params.iter().map(|(k, v)| format!("{k}\u{a0}{v}")).collect();
            self.page.field(2, "params", &params.join(", "))?;
        }
        let shown = self.page.shown(FEW);
        for note in run.notes.iter().take(shown) {
            self.page.item(2, "·", Tone::Mild, Tone::Plain, &at_line(&note.what, note.line))?;
        }
        self.more(2, run.notes.len(), shown, "note", "notes")?;
        self.values(run)
    }

    fn faults<'f>(&mut self, faults: impl Iterator<Item = &'f Fault>, tag: &str) -> io::Result<()> {
        let all: Vec<&Fault> = faults.collect();
        let shown = self.page.shown(FEW);
        for f in all.iter().take(shown) {
            self.page.item(2, tag, Tone::Bad, Tone::Plain, &at_line(&f.what, f.line))?;
        }
        self.more(2, all.len(), shown, "fault", "faults")
    }

    fn more(&mut self, indent: usize, all: usize, shown: usize, one: &str, many: &str) -> io::Result<()> {
        let n = all.saturating_sub(shown);
        if n == 0 {
            return Ok(());
        }
        let what = if n == 1 { one } else { many };
        self.page.text(indent, Tone::Dim, &format!("and {} more {what} (--verbose)", words::thousands(n as u64)))
    }

    fn values(&mut self, run: &Run) -> io::Result<()> {
        let view = View::of(run);
        if run.points() == 0 {
            return self.page.text(2, Tone::Warn, "no value was measured");
        }
        self.sweeps(&view.sweeps)?;
        self.singles(&view.singles)?;
        self.times(&view.times)
    }

    /// A row for each size, a column for each metric.
    fn sweeps(&mut self, groups: &[Group<'_>]) -> io::Result<()> {
        if groups.is_empty() {
            return Ok(());
        }
        let shared = common(groups);
        let all = groups.len();
        let groups = groups.get(..COLUMNS).unwrap_or(groups);
        let columns: Vec<_> = groups.iter().map(Group::by_size).collect();
        let sizes: BTreeSet<(u64, usize)> = columns.iter().flat_map(|c| c.keys().copied()).collect();
        let mut table = Table::of([right("size", 0)]);
        let (mut of, mut units) = (vec![Cell::plain("")], vec![Cell::plain("")]);
        for (i, g) in groups.iter().enumerate() {
            // Labels below the name: columns stay narrow.
            table.column(right(&words::metric(&g.metric.name, g.metric.stat), i as u32));
            of.push(Cell::new(Tone::Dim, &words::labels(&g.own_labels(&shared))));
            units.push(Cell::new(Tone::Dim, &g.metric.unit.to_string()));
        }
        if groups.iter().any(|g| !g.own_labels(&shared).is_empty()) {
            table.row(of);
        }
        if groups.iter().any(|g| g.metric.unit != Unit::One) {
            table.row(units);
        }
        let digits: Vec<usize> = columns.iter().map(|c| decimals(c.values().map(|v| v.value))).collect();
        let rows = self.page.shown(ROWS);
        // The largest sizes say most.
        let left_out = sizes.len().saturating_sub(rows);
        for key in sizes.iter().skip(left_out) {
            let mut row = vec![Cell::plain(&words::size(key.0))];
            for (column, digits) in columns.iter().zip(&digits) {
                row.push(column.get(key).map_or_else(|| Cell::plain(""), |v| value(v.value, v.valid, *digits)));
            }
            table.row(row);
        }
        self.caption(groups, &shared)?;
        table.write(&mut self.page, 2)?;
        if all > groups.len() {
            let text = format!("{} not shown", counted(all - groups.len(), "more column", "more columns"));
            self.page.text(2, Tone::Dim, &text)?;
        }
        if left_out > 0 {
            let text = format!("{} not shown (--verbose)", counted(left_out, "smaller size", "smaller sizes"));
            self.page.text(2, Tone::Dim, &text)?;
        }
        Ok(())
    }

    /// What holds for the whole table.
    fn caption(&mut self, groups: &[Group<'_>], shared: &[linerate_bench::Label]) -> io::Result<()> {
        self.page.blank()?;
        let members = groups.iter().map(|g| g.members.len()).max().unwrap_or(0);
        let mut parts = Vec::new();
        if !shared.is_empty() {
            parts.push(words::labels(shared));
        }
        if members > 1 {
            parts.push(format!("means of up to {members} members (ranks, streams, hosts)"));
        }
        if parts.is_empty() { Ok(()) } else { self.page.text(2, Tone::Dim, &parts.join("; ")) }
    }

    /// A row for each metric, a column for each statistic of it.
    fn singles(&mut self, groups: &[Group<'_>]) -> io::Result<()> {
        if groups.is_empty() {
            return Ok(());
        }
        let shared = common(groups);
        let stats: BTreeMap<(u32, String), ()> =
            groups.iter().map(|g| ((words::stat(g.metric.stat), g.metric.stat.to_string()), ())).collect();
        let sized = groups.iter().any(|g| g.size().is_some());
        type Key<'k> = (&'k str, String, String, Option<u64>);
        let mut rows: Vec<(Key<'_>, Vec<&Group<'_>>)> = Vec::new();
        let mut places: BTreeMap<Key<'_>, usize> = BTreeMap::new();
        for g in groups {
            let labels = words::labels(&g.own_labels(&shared));
            let key: Key<'_> = (g.metric.name.as_str(), labels, g.metric.unit.to_string(), g.size());
            let place = *places.entry(key.clone()).or_insert(rows.len());
            match rows.get_mut(place) {
                Some((_, list)) => list.push(g),
                None => rows.push((key, vec![g])),
            }
        }
        let mut table = Table::of([left("metric", 0)]);
        let labelled = rows.iter().any(|((_, labels, ..), _)| !labels.is_empty());
        if labelled {
            table.column(left("of", 0));
        }
        if sized {
            table.column(right("size", 0));
        }
        for (i, (_, name)) in stats.keys().enumerate() {
            table.column(right(name, 1 + i as u32));
        }
        table.column(left("unit", 0));
        let limit = self.page.shown(ROWS);
        for ((name, labels, unit, size), list) in rows.iter().take(limit) {
            let mut row = vec![Cell::plain(name)];
            if labelled {
                row.push(Cell::plain(labels));
            }
            if sized {
                row.push(Cell::plain(&size.map(words::size).unwrap_or_default()));
            }
            for (_, stat) in stats.keys() {
                let found = list.iter().find(|g| g.metric.stat.to_string() == *stat).and_then(|g| g.single());
                row.push(found.map_or_else(|| Cell::plain(""), |v| marked(number(v.value), v.valid)));
            }
            row.push(Cell::new(Tone::Dim, unit));
            table.row(row);
        }
        self.caption(groups, &shared)?;
        table.write(&mut self.page, 2)?;
        self.more(2, rows.len(), limit, "row", "rows")
    }

    /// A row for each series over time.
    fn times(&mut self, groups: &[Group<'_>]) -> io::Result<()> {
        if groups.is_empty() {
            return Ok(());
        }
        let shared = common(groups);
        let words = [left("over time", 0), left("unit", 1)];
        let numbers = [right("n", 2), right("median", 0), right("min", 3), right("max", 4)];
        let mut table = Table::of(words.into_iter().chain(numbers).chain([left("", 5)]));
        let limit = self.page.shown(ROWS);
        for g in groups.iter().take(limit) {
            let order = g.in_order();
            let values = words::sorted(order.iter().copied());
            let cell = |v: Option<f64>| Cell::plain(&v.map(number).unwrap_or_default());
            table.row(vec![
                Cell::plain(&g.name(&shared)),
                Cell::new(Tone::Dim, &g.metric.unit.to_string()),
                Cell::plain(&words::thousands(values.len() as u64)),
                cell(words::median(&values)),
                cell(values.first().copied()),
                cell(values.last().copied()),
                Cell::new(Tone::Mild, &sparkline(&order, BARS)),
            ]);
        }
        self.caption(groups, &shared)?;
        table.write(&mut self.page, 2)?;
        self.more(2, groups.len(), limit, "series", "series")
    }

    /// Faults of many runs.
    fn faulty(&mut self, runs: &[Run]) -> io::Result<()> {
        let all: Vec<(&Run, &Fault)> = runs.iter().flat_map(|r| r.faults.iter().map(move |f| (r, f))).collect();
        self.page.heading_of(&all, "NOT VALID, all or in part")?;
        for (run, fault) in all.iter().take(FEW) {
            let text = format!("{}: {}", name(run), at_line(&fault.what, fault.line));
            self.page.item(2, &run.id().to_string(), Tone::Bad, Tone::Plain, &text)?;
        }
        self.more(2, all.len(), FEW, "fault", "faults")
    }

    /// Many runs, one a line.
    fn list(&mut self, runs: &[Run]) -> io::Result<()> {
        self.page.heading("RUNS (--verbose shows each with its values)")?;
        let columns = [("run", 0), ("kind", 2), ("tool", 3), ("hosts", 4), ("result", 0), ("source", 5)];
        let mut table = Table::of(columns.map(|(head, rank)| left(head, rank)));
        for run in runs.iter().take(ROWS) {
            let hosts: Vec<&str> = run.hosts.iter().map(|h| h.as_str()).collect();
            let result = match (run.is_valid(), headline(run)) {
                (false, _) => Cell::new(Tone::Bad, "no valid result"),
                (true, None) => Cell::new(Tone::Doubt, "no value"),
                (true, Some(text)) => Cell::plain(&text),
            };
            table.row(vec![
                Cell::new(Tone::Dim, &run.id().to_string()),
                Cell::plain(run.kind.name()),
                Cell::plain(run.tool.as_deref().unwrap_or_default()),
                Cell::plain(&hosts.join(", ")),
                result,
                Cell::new(Tone::Dim, &format!("{}:{}", run.source.name, run.source.line)),
            ]);
        }
        table.write(&mut self.page, 2)?;
        self.more(2, runs.len(), ROWS, "run", "runs")
    }

    fn refused(&mut self, refused: &[Refused]) -> io::Result<()> {
        self.page.heading_of(refused, "NOT TAKEN")?;
        let shown = self.page.shown(FEW);
        for r in refused.iter().take(shown) {
            let at = if r.line > 0 { format!("{}:{}:", r.name, r.line) } else { format!("{}:", r.name) };
            self.page.item(2, "!", Tone::Warn, Tone::Plain, &format!("{at} {}", r.why))?;
        }
        self.more(2, refused.len(), shown, "part", "parts")
    }
}

/// `all_reduce_perf 2.17.6`, as far as it is known.
fn name(run: &Run) -> String {
    [run.tool.as_deref(), run.version.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn at_line(what: &str, line: Option<u32>) -> String {
    line.map_or_else(|| what.to_owned(), |l| format!("{what} (line {l})"))
}

/// A time of the epoch.
fn when(epoch: f64) -> String {
    words::moment(epoch).replace('T', " ").replace('Z', " UTC")
}

fn value(v: f64, valid: bool, decimals: usize) -> Cell {
    marked(fixed(v, decimals), valid)
}

/// What does not count is marked, not only coloured.
fn marked(text: String, valid: bool) -> Cell {
    if valid { Cell::plain(&text) } else { Cell::new(Tone::Bad, &format!("!{text}")) }
}
