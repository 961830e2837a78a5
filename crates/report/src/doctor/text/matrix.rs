//! Who is connected by what: one row for ranks with equal connections, odd rows marked.

use super::Terminal;
use crate::doctor::words::{self, LIST, cells, names};
use crate::style::{Tone, clip};
use linerate_doctor::answer::{Matrix, Row};
use linerate_out::terminal;
use std::io;

/// Rows shown before the rest becomes a number.
const ROWS: usize = 16;
/// Widest that ranks and hosts become.
const WIDEST: usize = 24;

impl Terminal<'_, '_> {
    pub(super) fn matrix(&mut self, m: &Matrix) -> io::Result<()> {
        if m.rows.is_empty() {
            return Ok(());
        }
        let mut rows: Vec<&Row> = m.rows.iter().collect();
        let shown = self.page.shown(ROWS);
        if rows.len() > shown {
            // What is odd is not among those that become a number; the usual row stays first.
            let usual = rows.remove(0);
            rows.sort_by_key(|r| r.odd.is_none());
            rows.insert(0, usual);
        }
        self.page.field(2, "paths", "channels @NICs; GDRDMA: GPUDirect RDMA; PXN: by another rank's GPU")?;
        if !self.table(m, rows.get(..shown.min(rows.len())).unwrap_or_default())? {
            for row in rows.iter().take(shown) {
                self.spelt_out(m, row)?;
            }
        }
        self.page.more(4, rows.len(), shown, " rows")
    }

    /// As a table; false where it does not fit.
    fn table(&mut self, m: &Matrix, rows: &[&Row]) -> io::Result<bool> {
        let mut lines: Vec<(bool, Vec<String>)> = Vec::new();
        let heads = ["ranks", "n", "hosts"]
            .map(str::to_owned)
            .into_iter()
            .chain(m.columns.iter().map(|c| terminal(c).into_owned()));
        lines.push((false, heads.collect()));
        for row in rows {
            let hosts = terminal(&names(&row.hosts, 4)).into_owned();
            let mut line = vec![
                clip(&terminal(&row.ranks), WIDEST).into_owned(),
                row.count.to_string(),
                clip(&hosts, WIDEST).into_owned(),
            ];
            line.extend(cells(row, &m.columns).iter().map(|c| terminal(c).into_owned()));
            lines.push((row.odd.is_some(), line));
        }
        let columns = lines.iter().map(|(_, l)| l.len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|i| lines.iter().filter_map(|(_, l)| l.get(i)).map(|c| c.chars().count()).max().unwrap_or(0))
            .collect();
        let total = 4 + widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        if total > self.page.style.width {
            return Ok(false);
        }
        for (i, (odd, line)) in lines.iter().enumerate() {
            let mut text = String::new();
            for (cell, width) in line.iter().zip(&widths) {
                text.push_str(&format!("{cell:<width$}  "));
            }
            let text = text.trim_end();
            let (mark, tone) = match (i, odd) {
                (0, _) => ("    ", Tone::Dim),
                (_, true) => ("  ! ", Tone::Warn),
                (_, false) => ("    ", Tone::Plain),
            };
            self.page.spans(&[(Tone::Warn, mark), (tone, text)])?;
            if let Some(odd) = i.checked_sub(1).and_then(|i| rows.get(i)).and_then(|r| r.odd.as_deref()) {
                self.page.item(6, "↑", Tone::Warn, Tone::Plain, odd)?;
            }
        }
        Ok(true)
    }

    /// As sentences, on narrow pages.
    fn spelt_out(&mut self, m: &Matrix, row: &Row) -> io::Result<()> {
        let all = cells(row, &m.columns);
        let told: Vec<String> = all
            .iter()
            .enumerate()
            .filter(|(_, c)| !c.is_empty())
            .map(|(i, c)| format!("{} {c}", m.columns.get(i).map_or("?", String::as_str)))
            .collect();
        let hosts = if row.hosts.is_empty() {
            String::new()
        } else {
            format!(" on {}", names(&row.hosts, self.page.shown(LIST)))
        };
        let ranks = words::counted(row.count as usize, "rank", "ranks");
        let told = if told.is_empty() { "no connection seen".to_owned() } else { told.join("; ") };
        let text = format!("{} ({ranks}){hosts}: {told}", row.ranks);
        let (mark, tone) = if row.odd.is_some() { ("!", Tone::Warn) } else { ("·", Tone::Dim) };
        self.page.item(4, mark, tone, Tone::Plain, &text)?;
        match &row.odd {
            Some(odd) => self.page.item(6, "↑", Tone::Warn, Tone::Plain, odd),
            None => Ok(()),
        }
    }
}
