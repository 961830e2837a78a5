//! The area of a plot in characters: what lies over what.

use super::glyphs::{MARKS, ansi};
use super::scene::Layer;

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

/// The area of a plot in characters.
pub(super) struct Canvas {
    pub(super) columns: usize,
    pub(super) rows: usize,
    cells: Vec<Cell>,
}

impl Canvas {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        Canvas { columns, rows, cells: vec![Cell::default(); columns * rows] }
    }

    fn cell(&mut self, column: usize, row: usize) -> Option<&mut Cell> {
        if column >= self.columns { None } else { self.cells.get_mut(row * self.columns + column) }
    }

    /// Changes a cell, where there is one.
    fn change(&mut self, column: usize, row: usize, how: impl FnOnce(&mut Cell)) {
        if let Some(cell) = self.cell(column, row) {
            how(cell);
        }
    }

    pub(super) fn column(&self, x: f64) -> usize {
        ((x * self.columns as f64) as usize).min(self.columns - 1)
    }

    pub(super) fn row(&self, y: f64) -> usize {
        (((1.0 - y) * self.rows as f64) as usize).min(self.rows - 1)
    }

    /// Sets a Braille dot, in dots from above left.
    fn dot(&mut self, x: usize, y: usize, role: usize) {
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let bit = BITS.get(x % 2).and_then(|c| c.get(y % 4)).copied().unwrap_or(0);
        self.change(x / 2, y / 4, |cell| {
            cell.dots |= bit;
            cell.role = Some(role);
        });
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

    /// Draws a layer over what is there.
    pub(super) fn layer(&mut self, layer: &Layer, ascii: bool) {
        let c = self;
        match layer {
            Layer::Shade { from, to, role } => {
                for column in c.column(*from)..=c.column(*to) {
                    (0..c.rows).for_each(|row| c.change(column, row, |cell| cell.shade = Some(*role)));
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
                            c.change(column, row, |cell| cell.shade = Some(Some(*role)));
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
                        c.change(column, row, |cell| (cell.mark, cell.owner) = (Some(mark), Some(*role)));
                    }
                }
            }
            Layer::Dots { role, points } => points.iter().for_each(|(x, y, _)| c.mark(*x, *y, *role, ascii)),
            Layer::Bars { role, points } => {
                for (x, y, _) in points {
                    let mark = if ascii { '|' } else { '┃' };
                    c.change(c.column(*x), c.row(*y), |cell| (cell.mark, cell.owner) = (Some(mark), Some(*role)));
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
                    c.change(column, row, |cell| cell.limit = Some(mark));
                }
            }
        }
    }

    /// The topmost of what is in a cell, and its colour.
    pub(super) fn glyph(&self, column: usize, row: usize, ascii: bool) -> (&'static str, char) {
        let cell = self.cells.get(row * self.columns + column).copied().unwrap_or_default();
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
}
