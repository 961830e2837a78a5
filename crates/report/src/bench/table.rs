//! Tables: columns that have no room leave, the least important first, and it is said which.

use crate::style::{Page, Tone, clip};
use linerate_out::markdown::cell;
use linerate_out::terminal;
use std::io::{self, Write};

/// No cell is wider than this.
const WIDEST: usize = 48;
/// Names of columns that are listed when they do not fit.
const TOLD: usize = 6;

/// A column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    head: String,
    right: bool,
    /// Columns of the largest rank leave first; 0 stays.
    rank: u32,
}

/// A column of numbers.
pub(super) fn right(head: &str, rank: u32) -> Column {
    Column { right: true, ..left(head, rank) }
}

/// A column of words.
pub(super) fn left(head: &str, rank: u32) -> Column {
    Column { head: clip(&terminal(head), WIDEST).into_owned(), right: false, rank }
}

/// A cell.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    tone: Tone,
    text: String,
}

impl Cell {
    pub(super) fn new(tone: Tone, text: &str) -> Self {
        Cell { tone, text: clip(&terminal(text), WIDEST).into_owned() }
    }

    pub(super) fn plain(text: &str) -> Self {
        Cell::new(Tone::Plain, text)
    }
}

/// Rows of cells under heads.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table of these columns.
    pub(super) fn of(columns: impl IntoIterator<Item = Column>) -> Self {
        Table { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a column.
    pub(super) fn column(&mut self, column: Column) {
        self.columns.push(column);
    }

    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Adds a cell to the end of each row.
    pub(super) fn extend(&mut self, cells: impl Iterator<Item = Cell>) {
        for (row, cell) in self.rows.iter_mut().zip(cells) {
            row.push(cell);
        }
    }

    /// Adds a row of which only the last cell is filled.
    pub(super) fn last_row(&mut self, cell: Cell) {
        let mut row = vec![Cell::plain(""); self.columns.len().saturating_sub(1)];
        row.push(cell);
        self.rows.push(row);
    }

    /// Widths of all columns.
    fn widths(&self) -> Vec<usize> {
        let cell = |row: &Vec<Cell>, i: usize| row.get(i).map_or(0, |c| c.text.chars().count());
        let widest = |i| self.rows.iter().map(|r| cell(r, i)).max().unwrap_or(0);
        self.columns.iter().enumerate().map(|(i, c)| widest(i).max(c.head.chars().count())).collect()
    }

    /// Columns it needs at full width, without indentation.
    pub(super) fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
    }

    /// Which columns have room, and their widths.
    fn fit(&self, room: usize) -> (Vec<(usize, usize)>, Vec<&str>) {
        let mut kept: Vec<(usize, usize)> = self.widths().into_iter().enumerate().collect();
        let total = |kept: &[(usize, usize)]| kept.iter().map(|(_, w)| w + 2).sum::<usize>().saturating_sub(2);
        let rank = |i: usize| self.columns.get(i).map_or(0, |c| c.rank);
        let mut gone = Vec::new();
        while total(&kept) > room && kept.len() > 1 {
            let Some(worst) = (0..kept.len()).max_by_key(|k| kept.get(*k).map_or(0, |(i, _)| rank(*i))) else { break };
            if kept.get(worst).is_none_or(|(i, _)| rank(*i) == 0) {
                break;
            }
            gone.push(kept.remove(worst).0);
        }
        // What must stay gives way a character at a time, words before numbers.
        while total(&kept) > room {
            let words = |i: usize| self.columns.get(i).is_some_and(|c| !c.right);
            let Some((_, w)) = kept.iter_mut().max_by_key(|(i, w)| (*w > 8, words(*i), *w)) else { break };
            if *w <= 3 {
                break;
            }
            *w -= 1;
        }
        gone.sort_unstable();
        let gone = gone.into_iter().filter_map(|i| self.columns.get(i)).map(|c| c.head.as_str()).collect();
        (kept, gone)
    }

    /// Writes it, no wider than the page.
    pub(super) fn write(&self, page: &mut Page<'_>, indent: usize) -> io::Result<()> {
        let (kept, gone) = self.fit(page.style.width.saturating_sub(indent));
        let blank = " ".repeat(indent);
        let head: Vec<Cell> = self.columns.iter().map(|c| Cell::new(Tone::Dim, &c.head)).collect();
        for row in std::iter::once(&head).chain(&self.rows) {
            let mut line: Vec<(Tone, String)> = vec![(Tone::Plain, blank.clone())];
            for (k, (i, width)) in kept.iter().enumerate() {
                let Some(column) = self.columns.get(*i) else { continue };
                let empty = Cell::plain("");
                let cell = row.get(*i).unwrap_or(&empty);
                let text = clip(&cell.text, *width);
                let gap = " ".repeat(width.saturating_sub(text.chars().count()));
                let last = k + 1 == kept.len();
                let (before, after) = if column.right { (gap, String::new()) } else { (String::new(), gap) };
                line.push((Tone::Plain, before));
                line.push((cell.tone, text.into_owned()));
                if !last {
                    line.push((Tone::Plain, after + "  "));
                }
            }
            trim(&mut line);
            let pieces: Vec<(Tone, &str)> = line.iter().map(|(tone, text)| (*tone, text.as_str())).collect();
            page.spans(&pieces)?;
        }
        if gone.is_empty() {
            return Ok(());
        }
        let more = if gone.len() > TOLD { format!(" and {} more", gone.len() - TOLD) } else { String::new() };
        let names: Vec<&str> = gone.into_iter().take(TOLD).collect();
        page.text(indent, Tone::Dim, &format!("no room here for {}{more}", names.join(", ")))
    }

    /// Writes it as Markdown.
    pub(super) fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let heads: Vec<String> = self.columns.iter().map(|c| cell(&c.head)).collect();
        writeln!(out, "| {} |", heads.join(" | "))?;
        let rules: Vec<&str> = self.columns.iter().map(|c| if c.right { "---:" } else { "---" }).collect();
        writeln!(out, "|{}|", rules.join("|"))?;
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|c| cell(&c.text)).collect();
            writeln!(out, "| {} |", cells.join(" | "))?;
        }
        Ok(())
    }
}

/// No blanks at the end of a line.
fn trim(line: &mut Vec<(Tone, String)>) {
    while let Some((_, text)) = line.last_mut() {
        text.truncate(text.trim_end_matches(' ').len());
        if !text.is_empty() {
            break;
        }
        line.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;

    fn table() -> Table {
        let mut t = Table::of([left("size", 0), right("busbw", 1), right("time", 9)]);
        t.row(vec![Cell::plain("8 MiB"), Cell::plain("93.13"), Cell::plain("5")]);
        t.row(vec![Cell::plain("1\x1bKiB"), Cell::plain("5.91"), Cell::plain("1,000")]);
        t
    }

    fn written(width: usize) -> String {
        let mut out = Vec::new();
        table().write(&mut Page::new(&mut out, Style { width, ..Style::default() }), 1).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_has_no_room_leaves_and_is_named() {
        assert_eq!(written(80), " size        busbw   time\n 8 MiB       93.13      5\n 1\\u{1b}KiB   5.91  1,000\n");
        assert!(written(20).ends_with(" no room here for\n time\n"), "{}", written(20));
        assert!(written(12).lines().take(3).all(|l| l.chars().count() <= 12), "{}", written(12));
    }
}
