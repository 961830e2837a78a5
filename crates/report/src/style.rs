//! Terminal text: colour only when asked for, lines no wider than the given width, nothing from data raw.

use linerate_out::terminal;
use std::borrow::Cow;
use std::io::{self, Write};

/// How to print for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// ANSI colours.
    pub colour: bool,
    /// Columns. A single word wider than this (a path, a URL) stays whole so that it can be copied.
    pub width: usize,
    /// Also what passed and what does not apply, with evidence.
    pub verbose: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style { colour: false, width: 80, verbose: false }
    }
}

impl Style {
    /// Writes a text of one paragraph, wrapped.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn text(self, indent: usize, text: &str, out: &mut dyn Write) -> io::Result<()> {
        Page::new(out, self).text(indent, Tone::Plain, text)
    }
}

/// Meaning of a piece of text; the terminal's own palette gives the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Bold,
    Dim,
    Alarm,
    Bad,
    Warn,
    Mild,
    Good,
    Doubt,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Tone::Plain => "",
            Tone::Bold => "1",
            Tone::Dim => "2",
            Tone::Alarm => "1;97;41",
            Tone::Bad => "1;31",
            Tone::Warn => "1;33",
            Tone::Mild => "36",
            Tone::Good => "32",
            Tone::Doubt => "1;35",
        }
    }
}

/// At most `max` characters, the last one an ellipsis where something was cut.
pub(crate) fn clip(text: &str, max: usize) -> Cow<'_, str> {
    if text.chars().count() <= max {
        return Cow::Borrowed(text);
    }
    let mut s: String = text.chars().take(max.saturating_sub(1)).collect();
    s.push('…');
    Cow::Owned(s)
}

/// Breaks cleaned text into lines of at most `width` characters, at spaces. A longer word has a line of its own.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut used) = (String::new(), 0);
    // A no-break space does not break.
    for (word, is_begun) in text.split(' ').filter(|w| !w.is_empty()).flat_map(|w| pieces(w, width)) {
        let len = word.chars().count();
        let blank = usize::from(!is_begun);
        if used > 0 && used + blank + len > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if used > 0 && !is_begun {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += len;
    }
    if used > 0 || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Columns that a text has at least.
const LEAST: usize = 16;

/// A word in parts that fit, and whether each goes on from the one before: cut behind a comma (of a set) or a slash (of a path) where there is one.
/// An address of the web stays whole: it is opened from the terminal.
fn pieces(word: &str, width: usize) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let is_begun = rest.len() < word.len();
        let end = match rest.char_indices().nth(width.max(1)) {
            None => rest.len(),
            Some(_) if word.contains("://") => rest.len(),
            Some((end, _)) => {
                let head = rest.get(..end).unwrap_or(rest);
                head.rfind(',').or_else(|| head.rfind('/')).map_or(end, |at| at + 1)
            }
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some((piece, is_begun))
    })
}

/// What is written, as a text: writing to memory does not fail.
pub(crate) fn to_text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    let _ = write(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// A terminal page under construction.
pub(crate) struct Page<'w> {
    out: &'w mut dyn Write,
    pub(crate) style: Style,
}

impl<'w> Page<'w> {
    pub(crate) fn new(out: &'w mut dyn Write, style: Style) -> Self {
        Page { out, style }
    }

    pub(crate) fn blank(&mut self) -> io::Result<()> {
        self.out.write_all(b"\n")
    }

    /// A section's title after an empty line.
    pub(crate) fn heading(&mut self, text: &str) -> io::Result<()> {
        self.blank()?;
        self.text(0, Tone::Bold, text)
    }

    /// The same, where a list below it is not empty.
    pub(crate) fn heading_of<T>(&mut self, list: &[T], text: &str) -> io::Result<()> {
        if list.is_empty() { Ok(()) } else { self.heading(text) }
    }

    /// A text without a tag.
    pub(crate) fn text(&mut self, indent: usize, tone: Tone, text: &str) -> io::Result<()> {
        self.item(indent, "", Tone::Plain, tone, text)
    }

    /// `tag` in its tone, then the text, wrapped to the right of the tag. Both are cleaned here.
    pub(crate) fn item(&mut self, indent: usize, tag: &str, tag_tone: Tone, tone: Tone, text: &str) -> io::Result<()> {
        let (tag, text) = (terminal(tag), terminal(text));
        let hang = indent + if tag.is_empty() { 0 } else { tag.chars().count() + 1 };
        // Beside a long tag in a narrow terminal there is no room: the text comes below.
        if !tag.is_empty() && self.style.width < hang + LEAST {
            self.item(indent, "", Tone::Plain, tag_tone, &tag)?;
            return self.item(indent + 2, "", Tone::Plain, tone, &text);
        }
        let room = self.style.width.saturating_sub(hang).max(LEAST);
        for (i, line) in wrap(&text, room).iter().enumerate() {
            match (i, tag.is_empty()) {
                (0, true) => write!(self.out, "{:indent$}", "")?,
                (0, false) => {
                    write!(self.out, "{:indent$}", "")?;
                    self.paint(tag_tone, &tag)?;
                    if !line.is_empty() {
                        self.out.write_all(b" ")?;
                    }
                }
                _ => write!(self.out, "{:hang$}", "")?,
            }
            self.paint(tone, line)?;
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// A line of pieces, each in its tone: cleaned here, not wrapped.
    pub(crate) fn spans(&mut self, pieces: &[(Tone, &str)]) -> io::Result<()> {
        for (tone, text) in pieces {
            self.paint(*tone, &terminal(text))?;
        }
        self.blank()
    }

    /// A line as it is, cleaned but not wrapped: commands to copy.
    pub(crate) fn verbatim(&mut self, indent: usize, line: &str) -> io::Result<()> {
        writeln!(self.out, "{:indent$}{}", "", terminal(line.trim_end()))
    }

    /// A line as it is where it fits, wrapped where it does not.
    pub(crate) fn fitting(&mut self, indent: usize, line: &str) -> io::Result<()> {
        if indent + terminal(line.trim_end()).chars().count() <= self.style.width {
            return self.verbatim(indent, line);
        }
        let own = line.len() - line.trim_start().len();
        self.text(indent + own, Tone::Plain, line)
    }

    /// Tag and text of a table's row: cleaned and cut by the caller, blanks kept.
    pub(crate) fn row(&mut self, tag: &str, tone: Tone, text: &str) -> io::Result<()> {
        self.paint(tone, tag)?;
        writeln!(self.out, " {text}")
    }

    /// A label of a fixed width, then text.
    pub(crate) fn field(&mut self, indent: usize, label: &str, text: &str) -> io::Result<()> {
        self.item(indent, &format!("{label:<8}"), Tone::Dim, Tone::Plain, text)
    }

    /// Texts below each other, the label at the first.
    pub(crate) fn fields<T: AsRef<str>>(
        &mut self,
        indent: usize,
        label: &str,
        texts: impl IntoIterator<Item = T>,
    ) -> io::Result<()> {
        let labels = std::iter::once(label).chain(std::iter::repeat(""));
        labels.zip(texts).try_for_each(|(label, text)| self.field(indent, label, text.as_ref()))
    }

    /// How many of a list are shown, which are usually so many.
    pub(crate) fn shown(&self, usual: usize) -> usize {
        if self.style.verbose { usize::MAX } else { usual }
    }

    /// What of a list is not shown, where something is not; `what` is empty, or the word for its members behind a blank.
    pub(crate) fn more(&mut self, indent: usize, all: usize, shown: usize, what: &str) -> io::Result<()> {
        match all.saturating_sub(shown) {
            0 => Ok(()),
            n => self.text(indent, Tone::Dim, &format!("and {n} more{what} (--verbose)")),
        }
    }

    fn paint(&mut self, tone: Tone, text: &str) -> io::Result<()> {
        // Trailing blanks of a padded tag are not painted: a background colour would show them.
        let body = text.trim_end();
        if !self.style.colour || tone == Tone::Plain || body.is_empty() {
            return self.out.write_all(text.as_bytes());
        }
        let rest = &text[body.len()..];
        write!(self.out, "\x1b[{}m{body}\x1b[0m{rest}", tone.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_addresses_of_the_web_stay_whole() {
        let url = "https://example.org/a/very/long/path/that/does/not/fit";
        let lines = wrap(&format!("one two three four {url} five"), 12);
        assert_eq!(lines, ["one two", "three four", url, "five"]);
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(wrap("8 × 0000:{17,39,99,b9}:00.0: so", 14), ["8 ×", "0000:{17,39,", "99,b9}:00.0:", "so"]);
        assert_eq!(wrap("/sys/devices/x", 6), ["/sys/", "device", "s/x"]);
        assert_eq!(clip("abcdef", 4), "abc…");
        assert_eq!(clip("abcd", 4), "abcd");
    }
}
