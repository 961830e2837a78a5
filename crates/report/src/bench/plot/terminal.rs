//! A plot in characters: lines in Braille dots, bands as a light shade, the same places as in the drawing.

use super::data::{PlotData, Shape};
use super::glyphs::{ANSI, MARKS};
use super::scene::{Layer, Scene};
use crate::style::{clean, clip, wrap};
use std::io::{self, Write};

/// The terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Columns; at least 30 are used.
    pub width: usize,
    /// Rows of the plot's area; at least 4 are used. Names at the y axis need a row each.
    pub height: usize,
    /// ANSI colours.
    pub colour: bool,
    /// Nothing but ASCII.
    pub ascii: bool,
}

impl Default for Screen {
    fn default() -> Self {
        Screen { width: 80, height: 16, colour: false, ascii: false }
    }
}

/// Writes a plot.
///
/// # Errors
/// Those of the writer.
pub fn plot_text(data: &PlotData, screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    let width = screen.width.clamp(30, 1000);
    let names = matches!(data.y.ticks, super::data::Ticks::Names(_));
    let rough = Scene::new(data, 6, 5);
    let height = if names { rough.y.ticks.len().clamp(1, 100) } else { screen.height.clamp(4, 200) };
    let scene = Scene::new(data, (width / 10).clamp(2, 14), (height / 3).clamp(2, 10));
    let most = width / 3;
    let gutter = scene.y.ticks.iter().map(|t| clean(&t.label).chars().count()).max().unwrap_or(0).min(most);
    let columns = width - gutter - 2;
    let canvas = Canvas::new(columns, height);
    Terminal { scene: &scene, screen: Screen { width, ..screen }, gutter, canvas, out }.all()
}

/// One character of the area.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// Braille dots, from the lowest bit in Unicode's order.
    dots: u8,
    /// Whose dots.
    role: Option<usize>,
    /// A character on top of the dots.
    mark: Option<char>,
    /// Whose mark; `None` with a mark: nobody's.
    owner: Option<usize>,
    /// A shade behind.
    shade: Option<Option<usize>>,
    /// A line across.
    limit: Option<char>,
}

struct Canvas {
    columns: usize,
    rows: usize,
    cells: Vec<Cell>,
}

impl Canvas {
    fn new(columns: usize, rows: usize) -> Self {
        Canvas { columns, rows, cells: vec![Cell::default(); columns * rows] }
    }

    fn cell(&mut self, column: usize, row: usize) -> Option<&mut Cell> {
        if column >= self.columns { None } else { self.cells.get_mut(row * self.columns + column) }
    }

    fn column(&self, x: f64) -> usize {
        ((x * self.columns as f64) as usize).min(self.columns - 1)
    }

    fn row(&self, y: f64) -> usize {
        (((1.0 - y) * self.rows as f64) as usize).min(self.rows - 1)
    }

    /// Sets a Braille dot, in dots from above left.
    fn dot(&mut self, x: usize, y: usize, role: usize) {
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let bit = BITS.get(x % 2).and_then(|c| c.get(y % 4)).copied().unwrap_or(0);
        if let Some(cell) = self.cell(x / 2, y / 4) {
            cell.dots |= bit;
            cell.role = Some(role);
        }
    }

    /// A line between two places; `gaps` leaves every other pair of dots out.
    fn line(&mut self, from: (f64, f64), to: (f64, f64), role: usize, gaps: bool) {
        let (w, h) = ((self.columns * 2 - 1) as f64, (self.rows * 4 - 1) as f64);
        let (x0, y0, x1, y1) = (from.0 * w, (1.0 - from.1) * h, to.0 * w, (1.0 - to.1) * h);
        let steps = (x1 - x0).abs().max((y1 - y0).abs()).ceil().clamp(1.0, 4000.0);
        for i in 0..=steps as usize {
            let share = i as f64 / steps;
            let (x, y) = (x0 + (x1 - x0) * share, y0 + (y1 - y0) * share);
            let (x, y) = (x.round().max(0.0) as usize, y.round().max(0.0) as usize);
            if !gaps || (x / 2).is_multiple_of(2) {
                self.dot(x, y, role);
            }
        }
    }

    fn mark(&mut self, x: f64, y: f64, role: usize, ascii: bool) {
        let (column, row) = (self.column(x), self.row(y));
        let Some(cell) = self.cell(column, row) else { return };
        let (unicode, plain) = MARKS.get(role % MARKS.len()).copied().unwrap_or(('*', '*'));
        // Two sides in one place.
        let both = cell.mark.is_some() && cell.owner != Some(role);
        let mark = match (both, ascii) {
            (true, true) => '@',
            (true, false) => '◉',
            (false, true) => plain,
            (false, false) => unicode,
        };
        cell.mark = Some(mark);
        cell.owner = if both { None } else { Some(role) };
    }
}

struct Terminal<'a, 'w> {
    scene: &'a Scene,
    screen: Screen,
    gutter: usize,
    canvas: Canvas,
    out: &'w mut dyn Write,
}

impl Terminal<'_, '_> {
    fn all(mut self) -> io::Result<()> {
        for layer in &self.scene.layers {
            self.layer(layer);
        }
        let labels = self.limit_labels();
        self.head()?;
        self.area(&labels)?;
        self.foot()
    }

    /// Without what this terminal cannot show.
    fn plain(&self, text: &str) -> String {
        let text = clean(text);
        if !self.screen.ascii {
            return text.into_owned();
        }
        let plain = |c: char| match c {
            '\u{a0}' => ' ',
            '–' | '−' | '‑' => '-',
            'µ' => 'u',
            '×' => 'x',
            '…' => '.',
            '≤' => '<',
            c if c.is_ascii() => c,
            _ => '?',
        };
        text.chars().map(plain).collect()
    }

    fn clip(&self, text: &str, room: usize) -> String {
        let text = self.plain(text);
        let cut = clip(&text, room);
        if self.screen.ascii { cut.replace('…', ".") } else { cut.into_owned() }
    }

    fn paint(&mut self, code: &str, text: &str) -> io::Result<()> {
        if self.screen.colour && !code.is_empty() && !text.trim().is_empty() {
            write!(self.out, "\x1b[{code}m{text}\x1b[0m")
        } else {
            self.out.write_all(text.as_bytes())
        }
    }

    fn line(&mut self, code: &str, text: &str) -> io::Result<()> {
        self.paint(code, text.trim_end())?;
        self.out.write_all(b"\n")
    }

    fn head(&mut self) -> io::Result<()> {
        let width = self.screen.width;
        if !self.scene.title.is_empty() {
            self.line("1", &self.clip(&self.scene.title, width))?;
        }
        for line in wrap(&self.plain(&self.scene.note), width).iter().filter(|l| !l.is_empty()).take(3) {
            self.line("2", &self.clip(line, width))?;
        }
        let mut used = 0;
        for (role, shape, name) in &self.scene.legend {
            let glyph = self.glyph(*role, *shape);
            let name = self.clip(name, width.saturating_sub(3));
            let wide = 2 + name.chars().count();
            if used > 0 && used + 3 + wide > width {
                self.out.write_all(b"\n")?;
                used = 0;
            }
            if used > 0 {
                self.out.write_all(b"   ")?;
                used += 3;
            }
            self.paint(ansi(*role), &glyph.to_string())?;
            write!(self.out, " {}", name.trim_end())?;
            used += wide;
        }
        if used > 0 {
            self.out.write_all(b"\n")?;
        }
        if !self.scene.y.label.is_empty() {
            self.line("2", &self.clip(&self.scene.y.label, width))?;
        }
        Ok(())
    }

    fn glyph(&self, role: usize, shape: Option<Shape>) -> char {
        let (unicode, plain) = MARKS.get(role % MARKS.len()).copied().unwrap_or(('*', '*'));
        match (shape, self.screen.ascii) {
            (None, true) => ':',
            (None, false) => '░',
            (Some(Shape::Curve), true) => '.',
            (Some(Shape::Curve), false) => '┄',
            (_, true) => plain,
            (_, false) => unicode,
        }
    }

    fn layer(&mut self, layer: &Layer) {
        let ascii = self.screen.ascii;
        let c = &mut self.canvas;
        match layer {
            Layer::Shade { from, to, role } => {
                for column in c.column(*from)..=c.column(*to) {
                    (0..c.rows).for_each(|row| {
                        if let Some(cell) = c.cell(column, row) {
                            cell.shade = Some(*role);
                        }
                    });
                }
            }
            Layer::Band { role, points } => {
                for pair in points.windows(2) {
                    let [a, b] = pair else { continue };
                    for column in c.column(a.0)..=c.column(b.0) {
                        let x = (column as f64 + 0.5) / c.columns as f64;
                        let share = if b.0 > a.0 { ((x - a.0) / (b.0 - a.0)).clamp(0.0, 1.0) } else { 0.0 };
                        let (low, high) = (a.1 + (b.1 - a.1) * share, a.2 + (b.2 - a.2) * share);
                        for row in c.row(high)..=c.row(low) {
                            if let Some(cell) = c.cell(column, row) {
                                cell.shade = Some(Some(*role));
                            }
                        }
                    }
                }
            }
            Layer::Path { role, points, thin } => {
                for pair in points.windows(2) {
                    if let [a, b] = pair {
                        c.line(*a, *b, *role, *thin);
                    }
                }
                if let [(x, y)] = points.as_slice() {
                    c.mark(*x, *y, *role, ascii);
                }
            }
            Layer::Whiskers { role, points } => {
                for (low, high, y) in points {
                    let row = c.row(*y);
                    let (from, to) = (c.column(*low), c.column(*high));
                    for column in from..=to {
                        let mark = match (column == from, column == to, ascii) {
                            (true, true, _) => '|',
                            (true, _, false) => '├',
                            (_, true, false) => '┤',
                            (true, ..) | (_, true, _) => '|',
                            (_, _, true) => '-',
                            _ => '─',
                        };
                        if let Some(cell) = c.cell(column, row) {
                            cell.mark = Some(mark);
                            cell.owner = Some(*role);
                        }
                    }
                }
            }
            Layer::Dots { role, points } => points.iter().for_each(|(x, y, _)| c.mark(*x, *y, *role, ascii)),
            Layer::Bars { role, points } => {
                for (x, y, _) in points {
                    let (column, row) = (c.column(*x), c.row(*y));
                    if let Some(cell) = c.cell(column, row) {
                        cell.mark = Some(if ascii { '|' } else { '┃' });
                        cell.owner = Some(*role);
                    }
                }
            }
            Layer::Limit { at, upright, .. } => {
                let (column, row) = (c.column(*at), c.row(*at));
                let (columns, rows) = (c.columns, c.rows);
                let places: Vec<(usize, usize)> = if *upright {
                    (0..rows).map(|r| (column, r)).collect()
                } else {
                    (0..columns).map(|i| (i, row)).collect()
                };
                let mark = match (*upright, ascii) {
                    (true, true) => '|',
                    (true, false) => '│',
                    (false, true) => '=',
                    (false, false) => '╌',
                };
                for (column, row) in places {
                    if let Some(cell) = c.cell(column, row) {
                        cell.limit = Some(mark);
                    }
                }
            }
        }
    }

    /// Labels of lines across: row, column, text. They stand on their line, at the left.
    fn limit_labels(&self) -> Vec<(usize, usize, String)> {
        let mut out: Vec<(usize, usize, String)> = Vec::new();
        for layer in &self.scene.layers {
            let Layer::Limit { at, label, upright } = layer else { continue };
            if label.is_empty() {
                continue;
            }
            let room = self.canvas.columns.saturating_sub(4);
            let text = format!(" {} ", self.clip(label, room.saturating_sub(2)));
            let wide = text.chars().count();
            let (row, column) = if *upright {
                let taken = |row| out.iter().any(|(r, ..)| *r == row);
                let row = (0..self.canvas.rows).find(|r| !taken(*r)).unwrap_or(0);
                (row, (self.canvas.column(*at) + 1).min(self.canvas.columns.saturating_sub(wide)))
            } else {
                (self.canvas.row(*at), 2)
            };
            out.push((row, column, text));
        }
        out
    }

    fn area(&mut self, labels: &[(usize, usize, String)]) -> io::Result<()> {
        let (bar, tick) = if self.screen.ascii { ('|', '+') } else { ('│', '┤') };
        for row in 0..self.canvas.rows {
            let label = self.scene.y.ticks.iter().find(|t| self.canvas.row(t.at) == row);
            let text = label.map(|t| self.clip(&t.label, self.gutter)).unwrap_or_default();
            let blank = " ".repeat(self.gutter.saturating_sub(text.chars().count()));
            self.paint("2", &format!("{blank}{text}"))?;
            let mut line: Vec<(&str, char)> = vec![("2", ' '), ("2", if label.is_some() { tick } else { bar })];
            for column in 0..self.canvas.columns {
                let cell = self.canvas.cells.get(row * self.canvas.columns + column).copied().unwrap_or_default();
                line.push(glyph(&cell, self.screen.ascii));
            }
            for (_, column, text) in labels.iter().filter(|(r, ..)| *r == row) {
                for (i, c) in text.chars().enumerate() {
                    if let Some(place) = line.get_mut(column + 2 + i) {
                        *place = ("1", c);
                    }
                }
            }
            self.spans(line)?;
        }
        Ok(())
    }

    /// Characters with their colours, joined where the colour stays.
    fn spans(&mut self, mut line: Vec<(&str, char)>) -> io::Result<()> {
        while line.last().is_some_and(|(_, c)| *c == ' ') {
            line.pop();
        }
        let mut text = String::new();
        let mut colour = "";
        for (code, c) in line {
            if code != colour && c != ' ' {
                self.paint(colour, &text)?;
                text.clear();
                colour = code;
            }
            text.push(c);
        }
        self.paint(colour, &text)?;
        self.out.write_all(b"\n")
    }

    fn foot(&mut self) -> io::Result<()> {
        let (corner, line, tick) = if self.screen.ascii { ('+', '-', '+') } else { ('└', '─', '┬') };
        let mut axis: Vec<char> = vec![line; self.canvas.columns];
        let mut labels = vec![' '; self.screen.width];
        let mut free = 0;
        for t in &self.scene.x.ticks {
            let column = self.canvas.column(t.at);
            let text = self.plain(&t.label);
            let wide = text.chars().count();
            let middle = self.gutter + 2 + column;
            let from = middle.saturating_sub(wide / 2).min(self.screen.width.saturating_sub(wide));
            if from < free || wide > self.screen.width {
                continue;
            }
            if let Some(place) = axis.get_mut(column) {
                *place = tick;
            }
            for (i, c) in text.chars().enumerate() {
                if let Some(place) = labels.get_mut(from + i) {
                    *place = c;
                }
            }
            free = from + wide + 1;
        }
        let axis: String = axis.into_iter().collect();
        let blank = " ".repeat(self.gutter + 1);
        self.line("2", &format!("{blank}{corner}{axis}"))?;
        let labels: String = labels.into_iter().collect();
        self.line("2", &labels)?;
        if self.scene.x.label.is_empty() {
            return Ok(());
        }
        let label = self.clip(&self.scene.x.label, self.canvas.columns);
        let before = self.gutter + 2 + (self.canvas.columns - label.chars().count().min(self.canvas.columns)) / 2;
        self.line("2", &format!("{:before$}{label}", ""))
    }
}

/// The topmost of what is in a cell, and its colour.
fn glyph(cell: &Cell, ascii: bool) -> (&'static str, char) {
    if let Some(mark) = cell.mark {
        return (cell.owner.map_or("1", ansi), mark);
    }
    if cell.dots != 0 {
        let role = cell.role.unwrap_or(0);
        // Without dots the mark of the side stands for its line.
        let plain = MARKS.get(role % MARKS.len()).map_or('*', |m| m.1);
        let braille = char::from_u32(0x2800 + u32::from(cell.dots)).unwrap_or('*');
        return (ansi(role), if ascii { plain } else { braille });
    }
    if let Some(limit) = cell.limit {
        return ("1", limit);
    }
    match cell.shade {
        Some(role) => (role.map_or("2", ansi), if ascii { ':' } else { '░' }),
        None => ("", ' '),
    }
}

fn ansi(role: usize) -> &'static str {
    if role == usize::MAX { "2" } else { ANSI.get(role % ANSI.len()).copied().unwrap_or("") }
}
