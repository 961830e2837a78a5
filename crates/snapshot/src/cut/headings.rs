//! Headings of several lines: a bar, the names of hosts, a bar. The lines are held until they are one, or none.

use super::line::Marks;
use linerate_formats::host_heading::{between_bars, is_bar};
use linerate_formats::lines::Line;

/// A line that is held.
#[derive(Debug)]
pub(crate) struct Held {
    pub(super) number: u64,
    pub(super) text: String,
    pub(super) marks: Marks,
}

/// What a line is.
#[derive(Debug)]
pub(crate) enum Bars {
    /// It may begin a heading, or be its middle.
    Held,
    /// It ends one: the list of its hosts.
    Hosts(String),
    /// It is of none, nor are these before it.
    Not([Option<Held>; 2]),
}

/// A bar, and names below it.
#[derive(Debug, Default)]
pub(crate) struct Headings {
    bar: Option<Held>,
    names: Option<Held>,
}

impl Headings {
    /// Nothing is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.bar.is_none()
    }

    /// The next line.
    pub(crate) fn ask(&mut self, line: &Line<'_>) -> Bars {
        let held = || Held { number: line.number, text: line.text.to_owned(), marks: Marks(line.marks) };
        match (&self.bar, &self.names) {
            (None, _) if is_bar(line.text) => self.bar = Some(held()),
            (None, _) => return Bars::Not([None, None]),
            (Some(_), None) if between_bars(line.text).is_some() => self.names = Some(held()),
            (Some(bar), Some(names)) if bar.text == line.text => {
                let hosts = between_bars(&names.text).unwrap_or_default().to_owned();
                *self = Headings::default();
                return Bars::Hosts(hosts);
            }
            (Some(_), _) => {
                let before = self.end();
                // What ends one may begin another.
                if is_bar(line.text) {
                    self.bar = Some(held());
                }
                return Bars::Not(before);
            }
        }
        Bars::Held
    }

    /// What is held, where no more comes.
    pub(crate) fn end(&mut self) -> [Option<Held>; 2] {
        [self.bar.take(), self.names.take()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each line is: `.` held, a list of hosts, or the numbers of those before it that are of no heading.
    fn asked(lines: &[&str]) -> Vec<String> {
        let mut all = Headings::default();
        let mut out = Vec::new();
        for (number, text) in (1..).zip(lines) {
            let line = Line { number, text, is_cut: false, is_undecodable: false, marks: 0 };
            out.push(match all.ask(&line) {
                Bars::Held => ".".to_owned(),
                Bars::Hosts(hosts) => hosts,
                Bars::Not(held) => held.iter().flatten().map(|h| h.number.to_string()).collect(),
            });
        }
        out.push(all.end().iter().flatten().map(|h| h.number.to_string()).collect());
        out
    }

    #[test]
    fn headings_of_three_lines() {
        let (a, b) = ("-".repeat(15), "-".repeat(16));
        assert_eq!(asked(&["x", &a, "n[1-2] (2)", &a, "y"]), ["", ".", ".", "n[1-2]", "", ""]);
        assert_eq!(asked(&[&a, "n1", &b, "n2", &b]), [".", ".", "12", ".", "n2", ""]);
        assert_eq!(asked(&[&a, &a, "n1", &a]), [".", "1", ".", "n1", ""]);
        assert_eq!(asked(&[&a, "two words", "n1"]), [".", "1", "", ""]);
        assert_eq!(asked(&[&a, "n1"]), [".", ".", "12"]);
        assert_eq!(asked(&[&a, "n1", "n2"]), [".", ".", "12", ""]);
    }
}
