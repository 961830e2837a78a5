//! Tables. Where there is no room for all columns, either the least important leave and it is said which ([`Table::write`]), or the
//! columns are parted into blocks below each other ([`Table::parted`]).

use crate::style::{Page, Tone, clip};
use linerate_out::markdown::cell;
use linerate_out::terminal;
use std::io::{self, Write};
use std::ops::Range;

/// No cell is wider than this.
const WIDEST: usize = 48;
/// Names of columns that are listed when they do not fit.
const TOLD: usize = 6;

/// A column.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    head: String,
    right: bool,
    /// Columns of the largest rank leave first; 0 stays.
    rank: u32,
    /// Whether columns of another kind begin here: a table that is too wide is parted there first.
    parts: bool,
}

impl Column {
    /// The first of columns of another kind.
    pub(crate) fn parting(self) -> Self {
        Column { parts: true, ..self }
    }
}

/// A column of numbers.
pub(crate) fn right(head: &str, rank: u32) -> Column {
    Column { right: true, ..left(head, rank) }
}

/// A column of words.
pub(crate) fn left(head: &str, rank: u32) -> Column {
    Column { head: clip(&terminal(head), WIDEST).into_owned(), right: false, rank, parts: false }
}

/// A cell.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    tone: Tone,
    text: String,
}

impl Cell {
    pub(crate) fn new(tone: Tone, text: &str) -> Self {
        Cell { tone, text: clip(&terminal(text), WIDEST).into_owned() }
    }

    pub(crate) fn plain(text: &str) -> Self {
        Cell::new(Tone::Plain, text)
    }

    /// All of it, however wide.
    pub(crate) fn whole(text: &str) -> Self {
        Cell { tone: Tone::Plain, text: terminal(text).into_owned() }
    }
}

/// Rows of cells under heads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table of these columns.
    pub(crate) fn of(columns: impl IntoIterator<Item = Column>) -> Self {
        Table { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a column.
    pub(crate) fn column(&mut self, column: Column) {
        self.columns.push(column);
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Adds a cell to the end of each row.
    pub(crate) fn extend(&mut self, cells: impl Iterator<Item = Cell>) {
        for (row, cell) in self.rows.iter_mut().zip(cells) {
            row.push(cell);
        }
    }

    /// Adds a row of which only the last cell is filled.
    pub(crate) fn last_row(&mut self, cell: Cell) {
        let mut row = vec![Cell::plain(""); self.columns.len().saturating_sub(1)];
        row.push(cell);
        self.rows.push(row);
    }

    /// What the cells behind the first column say.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().flat_map(|row| row.iter().skip(1)).map(|cell| cell.text.as_str())
    }

    /// Widths of all columns.
    fn widths(&self) -> Vec<usize> {
        let cell = |row: &Vec<Cell>, i: usize| row.get(i).map_or(0, |c| c.text.chars().count());
        let widest = |i| self.rows.iter().map(|r| cell(r, i)).max().unwrap_or(0);
        self.columns.iter().enumerate().map(|(i, c)| widest(i).max(c.head.chars().count())).collect()
    }

    /// Columns it needs at full width, without indentation.
    pub(crate) fn width(&self) -> usize {
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
    pub(crate) fn write(&self, page: &mut Page<'_>, indent: usize) -> io::Result<()> {
        let (kept, gone) = self.fit(page.style.width.saturating_sub(indent));
        let blank = " ".repeat(indent);
        let head: Vec<Cell> = self.columns.iter().map(|c| Cell::new(Tone::Dim, &c.head)).collect();
        for row in std::iter::once(&head).chain(&self.rows) {
            let line = self.line(row, &kept);
            // A row of nothing is an empty line.
            let indented = (!line.is_empty()).then_some((Tone::Plain, blank.as_str()));
            let pieces: Vec<(Tone, &str)> =
                indented.into_iter().chain(line.iter().map(|(tone, text)| (*tone, text.as_str()))).collect();
            page.spans(&pieces)?;
        }
        if gone.is_empty() {
            return Ok(());
        }
        let more = if gone.len() > TOLD { format!(" and {} more", gone.len() - TOLD) } else { String::new() };
        let names: Vec<&str> = gone.into_iter().take(TOLD).collect();
        page.text(indent, Tone::Dim, &format!("no room here for {}{more}", names.join(", ")))
    }

    /// As lines of at most `room` characters, where the first column and one more fit in that: else in blocks of columns, each behind
    /// the first, with an empty line between. Rows that have nothing in the columns of a block are not in it.
    pub(crate) fn parted(&self, room: usize) -> Vec<String> {
        let widths = self.widths();
        let head: Vec<Cell> = self.columns.iter().map(|c| Cell::plain(&c.head)).collect();
        let mut out = Vec::new();
        for block in self.blocks(room, &widths) {
            if !out.is_empty() {
                out.push(String::new());
            }
            let kept: Vec<(usize, usize)> =
                widths.iter().copied().enumerate().filter(|(i, _)| *i == 0 || block.contains(i)).collect();
            let shown =
                |row: &&Vec<Cell>| row.iter().take(block.end).skip(block.start).any(|cell| !cell.text.is_empty());
            for row in std::iter::once(&head).chain(self.rows.iter().filter(shown)) {
                out.push(self.line(row, &kept).into_iter().map(|(_, text)| text).collect());
            }
        }
        out
    }

    /// Columns that fit beside each other, behind the first.
    fn blocks(&self, room: usize, widths: &[usize]) -> Vec<Range<usize>> {
        let room = room.saturating_sub(widths.first().copied().unwrap_or(0));
        let fits = widths.iter().skip(1).map(|w| w + 2).sum::<usize>() <= room;
        let (mut out, mut start, mut used) = (Vec::new(), widths.len().min(1), 0);
        for (i, w) in widths.iter().enumerate().skip(1) {
            if !fits && i > start && (used + w + 2 > room || self.columns.get(i).is_some_and(|c| c.parts)) {
                out.push(start..i);
                (start, used) = (i, 0);
            }
            used += w + 2;
        }
        out.push(start..widths.len());
        out
    }

    /// The cells of a row in these columns, with the gaps between them, without blanks at the end.
    fn line(&self, row: &[Cell], kept: &[(usize, usize)]) -> Vec<(Tone, String)> {
        let mut line = Vec::new();
        let empty = Cell::plain("");
        for (k, (i, width)) in kept.iter().enumerate() {
            let Some(column) = self.columns.get(*i) else { continue };
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
        line
    }

    /// Writes it as Markdown.
    pub(crate) fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
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

    #[test]
    fn wide_tables_are_parted_into_blocks_of_columns() {
        let gpus = (0..4).map(|i| left(&format!("GPU{i}"), 0));
        let nics = (0..3).map(|i| left(&format!("NIC{i}"), 0)).map(|c| if c.head == "NIC0" { c.parting() } else { c });
        let mut table = Table::of(std::iter::once(left("", 0)).chain(gpus).chain(nics));
        for row in 0..2 {
            let cells = std::iter::repeat_n("SYS", 7).map(Cell::plain);
            table.row(std::iter::once(Cell::plain(&format!("GPU{row}"))).chain(cells).collect());
        }
        let heads = |room: usize| {
            let lines = table.parted(room);
            assert!(lines.iter().all(|l| l.chars().count() <= room), "{lines:#?}");
            lines.into_iter().filter(|l| l.starts_with(' ')).map(|l| l.trim().replace("  ", " ")).collect::<Vec<_>>()
        };
        assert_eq!(heads(46), ["GPU0 GPU1 GPU2 GPU3 NIC0 NIC1 NIC2"]);
        assert_eq!(heads(45), ["GPU0 GPU1 GPU2 GPU3", "NIC0 NIC1 NIC2"]);
        assert_eq!(heads(22), ["GPU0 GPU1 GPU2", "GPU3", "NIC0 NIC1 NIC2"]);
        // A column that does not fit is alone.
        assert_eq!(table.parted(3).iter().filter(|l| l.starts_with(' ')).count(), 7);
        assert!(Table::default().parted(80).iter().all(String::is_empty));
    }
}
