//! A plot in characters: lines in Braille dots, bands as a light shade, the same places as in the drawing.

use super::canvas::Canvas;
use super::data::{PlotData, Shape};
use super::glyphs::{MARKS, ansi};
use super::scene::{Layer, Scene};
use crate::bench::words::put;
use crate::style::{clip, wrap};
use linerate_out::terminal;
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
    let gutter = scene.y.ticks.iter().map(|t| terminal(&t.label).chars().count()).max().unwrap_or(0).min(most);
    let columns = width - gutter - 2;
    let canvas = Canvas::new(columns, height);
    Terminal { scene: &scene, screen: Screen { width, ..screen }, gutter, canvas, out }.all()
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
        let ascii = self.screen.ascii;
        for layer in &self.scene.layers {
            self.canvas.layer(layer, ascii);
        }
        let labels = self.limit_labels();
        self.head()?;
        self.area(&labels)?;
        self.foot()
    }

    /// Without what this terminal cannot show.
    fn plain(&self, text: &str) -> String {
        let text = terminal(text);
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
                line.push(self.canvas.glyph(column, row, self.screen.ascii));
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
            put(&mut axis, column, tick);
            (from..).zip(text.chars()).for_each(|(at, c)| put(&mut labels, at, c));
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
