//! The comparison for a terminal: what it comes to, the numbers, then why not more can be said.

mod doubts;

use super::forest::Forest;
use super::rows::{self, is_within, tone};
use super::section::{Section, sections, subjects, tally};
use crate::bench::words::{capital, counted, number, percent, quantity};
use crate::group::alike;
use crate::style::{Page, Style, Tone};
use crate::table::{Cell, Table, left, right};
use linerate_bench::compare::{Comparison, Comparisons, Side, Verdict, Weight};
use std::io::{self, Write};

/// Lines of a list before the rest becomes a number.
const FEW: usize = 8;
/// Rows of a table before the rest becomes a number.
const ROWS: usize = 64;
/// Narrowest and widest forest beside its table.
const FOREST: std::ops::RangeInclusive<usize> = 21..=45;

/// Writes the answer.
///
/// # Errors
/// Those of the writer.
pub fn comparison_text(answer: &Comparisons, style: Style, out: &mut dyn Write) -> io::Result<()> {
    Text { c: answer, page: Page::new(out, style) }.all()
}

struct Text<'a, 'w> {
    c: &'a Comparisons,
    page: Page<'w>,
}

impl Text<'_, '_> {
    fn all(&mut self) -> io::Result<()> {
        self.conclusions()?;
        self.sides()?;
        self.tables()?;
        self.reasons()?;
        self.ceilings()?;
        self.confounds()?;
        self.checks()?;
        self.values()?;
        self.excluded()?;
        self.methods()
    }

    fn conclusions(&mut self) -> io::Result<()> {
        let c = self.c;
        for (i, sentence) in c.conclusions.iter().enumerate() {
            if i == 0 {
                self.page.text(0, Tone::Bold, sentence)?;
            } else {
                self.page.item(0, "·", Tone::Mild, Tone::Plain, sentence)?;
            }
        }
        let text = if c.comparisons.is_empty() {
            "nothing was compared".to_owned()
        } else {
            let n = counted(c.comparisons.len(), "comparison", "comparisons");
            let (threshold, level) = (percent(c.threshold), percent(c.level));
            let tally = tally(&c.comparisons);
            format!("{n}: {tally}; differences below {threshold} count as equal, intervals have {level} confidence")
        };
        self.page.text(0, Tone::Dim, &text)
    }

    fn sides(&mut self) -> io::Result<()> {
        let c = self.c;
        self.page.blank()?;
        self.page.field(0, "A", &side(&c.a, self.page.shown(FEW)))?;
        self.page.field(0, "B", &side(&c.b, self.page.shown(FEW)))?;
        self.page.field(0, "design", &design(c))
    }

    fn tables(&mut self) -> io::Result<()> {
        for section in sections(&self.c.comparisons) {
            self.section(&section)?;
        }
        Ok(())
    }

    fn section(&mut self, all: &Section<'_>) -> io::Result<()> {
        self.page.heading(&all.title())?;
        let limit = self.page.shown(ROWS);
        let section = Section { rows: all.rows.iter().take(limit).copied().collect(), over_sizes: all.over_sizes };
        let mut table = rows::table(&section);
        let room = self.page.style.width.saturating_sub(2 + table.width() + 2);
        let threshold = self.c.threshold;
        if room >= *FOREST.start() {
            if let Some(forest) = Forest::of(&section.rows, threshold, room.min(*FOREST.end())) {
                table.column(left("", 0));
                table.extend(section.rows.iter().map(|c| Cell::new(tone(c.verdict), &forest.strip(c))));
                table.last_row(Cell::new(Tone::Dim, &forest.axis()));
            }
            table.write(&mut self.page, 2)?;
        } else {
            table.write(&mut self.page, 2)?;
            self.forest_below(&section, threshold)?;
        }
        if section.rows.iter().any(|c| is_within(c)) {
            let text = "* holds for these runs alone; it does not say what repetitions would give";
            self.page.text(2, Tone::Dim, text)?;
        }
        self.page.more(2, all.rows.len(), limit, "")
    }

    /// Where the table leaves no room beside it.
    fn forest_below(&mut self, section: &Section<'_>, threshold: f64) -> io::Result<()> {
        let mut table = Table::of([if section.over_sizes { right("", 0) } else { left("", 0) }]);
        for c in &section.rows {
            table.row(vec![Cell::plain(&section.row_name(c))]);
        }
        let room = self.page.style.width.saturating_sub(2 + table.width() + 2);
        let Some(forest) = Forest::of(&section.rows, threshold, room.min(*FOREST.end())) else { return Ok(()) };
        table.column(left("B/A", 0));
        table.extend(section.rows.iter().map(|c| Cell::new(tone(c.verdict), &forest.strip(c))));
        table.last_row(Cell::new(Tone::Dim, &forest.axis()));
        self.page.blank()?;
        table.write(&mut self.page, 2)
    }

    /// Why the verdicts are what they are; those that decide nothing first, and in full.
    fn reasons(&mut self) -> io::Result<()> {
        for (verdict, title) in [
            (Verdict::Inconclusive, "WHY INCONCLUSIVE"),
            (Verdict::Worse, "WHY WORSE"),
            (Verdict::Better, "WHY BETTER"),
            (Verdict::Equivalent, "WHY EQUIVALENT"),
        ] {
            let of_verdict = self.c.comparisons.iter().filter(|c| c.verdict == verdict);
            let groups = alike(of_verdict.map(|c| (&c.reason, c)));
            self.page.heading_of(&groups, title)?;
            let shown = self.page.shown(FEW);
            for (reason, list) in groups.iter().take(shown) {
                self.page.item(2, "·", tone(verdict), Tone::Plain, &format!("{}: {reason}", subjects(list)))?;
                let power = power(list);
                if !power.is_empty() {
                    self.page.item(4, "→", Tone::Dim, Tone::Dim, &power)?;
                }
            }
            self.page.more(2, groups.len(), shown, "")?;
        }
        Ok(())
    }

    fn ceilings(&mut self) -> io::Result<()> {
        let same = |x: &Comparison, y: &Comparison| {
            (x.kind, &x.tool, &x.metric, &x.labels) == (y.kind, &y.tool, &y.metric, &y.labels)
        };
        // The largest size says how far it is from the ceiling; smaller ones wait for latency.
        let all = &self.c.comparisons;
        let has_larger = |c: &Comparison| all.iter().any(|o| o.ceiling.is_some() && same(o, c) && o.size > c.size);
        let told = all.iter().filter_map(|c| Some((&c.ceiling.as_ref()?.sentence, c)));
        let mut groups = alike(told.filter(|(_, c)| self.page.style.verbose || !has_larger(c)));
        self.page.heading_of(&groups, "CEILINGS")?;
        // The largest sizes come last and say most.
        groups.reverse();
        let shown = self.page.shown(3);
        let mut derivations: Vec<&[String]> = Vec::new();
        for (sentence, list) in groups.iter().take(shown) {
            self.page.item(2, "·", Tone::Warn, Tone::Plain, &format!("{}: {sentence}", subjects(list)))?;
            let Some(ceiling) = list.first().and_then(|c| c.ceiling.as_ref()) else { continue };
            let ceiling = &ceiling.ceiling;
            if !derivations.contains(&ceiling.derivation.as_slice()) {
                derivations.push(&ceiling.derivation);
                self.page.item(
                    4,
                    "limit",
                    Tone::Dim,
                    Tone::Plain,
                    &format!("{}: {}", ceiling_value(ceiling), ceiling.by),
                )?;
                for step in &ceiling.derivation {
                    self.page.item(4, "·", Tone::Dim, Tone::Dim, step)?;
                }
            }
        }
        self.page.more(2, groups.len(), shown, "")
    }

    fn excluded(&mut self) -> io::Result<()> {
        let all = &self.c.excluded;
        self.page.heading_of(all, "NOT COMPARED")?;
        let shown = self.page.shown(FEW);
        for x in all.iter().take(shown) {
            self.page.item(2, &format!("{}:", x.side), Tone::Warn, Tone::Plain, &format!("{}: {}", x.what, x.why))?;
        }
        self.page.more(2, all.len(), shown, "")
    }

    fn methods(&mut self) -> io::Result<()> {
        self.page.heading_of(&self.c.methods, "METHODS")?;
        for m in &self.c.methods {
            self.page.item(2, "·", Tone::Dim, Tone::Plain, m.text)?;
            self.page.text(4, Tone::Dim, m.source)?;
        }
        Ok(())
    }
}

/// `iommu=pt: 3 runs on u17, u18`.
pub(super) fn side(s: &Side, few: usize) -> String {
    let valid = s.runs.iter().filter(|r| r.valid).count();
    let bad =
        if valid < s.runs.len() { format!(", {} of them not valid", s.runs.len() - valid) } else { String::new() };
    let hosts: Vec<String> = s.hosts.iter().map(ToString::to_string).collect();
    let hosts = if hosts.is_empty() {
        ", hosts not known".to_owned()
    } else {
        format!(" on {}", crate::doctor::words::names(&hosts, few))
    };
    let snapshot = if s.has_snapshot { "" } else { "; no snapshot: its configuration is not known" };
    format!("{}: {}{bad}{hosts}{snapshot}", s.name, counted(s.runs.len(), "run", "runs"))
}

pub(super) fn design(c: &Comparisons) -> String {
    let order = match c.design.order {
        "unknown" => "order of the runs not known".to_owned(),
        order => order.to_owned(),
    };
    let nodes = match c.design.nodes {
        "unknown" => "nodes not known".to_owned(),
        nodes => nodes.replace('-', " "),
    };
    format!("{nodes}, {order}. {}", capital(&c.design.sentence))
}

pub(in crate::bench) fn ceiling_value(c: &linerate_bench::ceiling::Ceiling) -> String {
    if c.low < c.high {
        format!("{}–{}", number(c.low), quantity(c.high, &c.unit))
    } else {
        quantity(c.high, &c.unit)
    }
}

pub(super) fn weight(w: Weight) -> (&'static str, Tone) {
    match w {
        Weight::Decisive => ("decisive", Tone::Alarm),
        Weight::Strong => ("strong", Tone::Bad),
        Weight::Possible => ("possible", Tone::Warn),
        Weight::Slight => ("slight", Tone::Dim),
    }
}

/// What would help.
pub(super) fn power(list: &[&Comparison]) -> String {
    let range = |values: Vec<f64>, show: fn(f64) -> String| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = (show(low), show(high));
        if low == high { low } else { format!("{low} to {high}") }
    };
    let further: Vec<f64> = list.iter().filter_map(|c| c.further_runs).map(f64::from).collect();
    let detectable: Vec<f64> = list.iter().filter_map(|c| c.detectable).filter(|d| d.is_finite()).collect();
    let mut parts = Vec::new();
    // With one run there is no spread to plan with.
    let single = list.iter().all(|c| c.a.runs.min(c.b.runs) < 2);
    if !further.is_empty() && single {
        parts.push(format!("at least {} further runs per side, to learn how runs differ", range(further, number)));
    } else if !further.is_empty() {
        parts.push(format!("about {} further runs per side would probably decide", range(further, number)));
    }
    if !detectable.is_empty() {
        let range = range(detectable, percent);
        parts.push(format!("with these runs, a true difference of {range} would be found in 4 of 5 cases"));
    }
    parts.join("; ")
}
