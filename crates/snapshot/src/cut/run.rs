//! Lines that divide nothing and begin nothing, many at once: in most files most lines are such, and their first byte shows it.

use super::items::{FORMS, Form};
use super::line::{Class, Marks};
use linerate_formats::{host_heading, sniff};
use std::sync::LazyLock;

/// What the lines are that are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// A tool's text, which is kept.
    Text,
    /// Lines that nothing is looked for in.
    Rest,
    /// Lines in which items are looked for.
    Prose,
}

/// Lines from the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run<'a> {
    /// With the last line's end.
    pub(super) text: &'a str,
    pub(super) lines: usize,
    /// Of those, the ones in which nothing stands.
    pub(super) blank: usize,
    /// Of those, the ones above the first in which something stands.
    pub(super) blank_before: usize,
}

impl Run<'_> {
    /// The whole lines at the beginning of a text, without [`MARKS`](super::line::MARKS), that are surely blank or [`Other`](super::line::Class::Other), open
    /// and close no document and begin no item. Those behind them are to be asked one by one.
    pub(super) fn of(text: &str, within: Within) -> Run<'_> {
        let table = if within == Within::Prose { &*PROSE } else { &*TEXT };
        let (mut end, mut lines, mut blank, mut blank_before) = (0, 0, 0, 0);
        for at in memchr::memchr_iter(b'\n', text.as_bytes()) {
            let whole = text.get(end..at).unwrap_or_default();
            let line = whole.strip_suffix('\r').unwrap_or(whole);
            // Of what is kept, the reader of lines takes the end off.
            if within == Within::Text && line.len() < whole.len() {
                break;
            }
            match table.of(whole.as_bytes()) {
                Look::Other if !may_end(line.as_bytes()) => {}
                Look::Other | Look::Ask if is_other(line, within) => {}
                Look::Space => {
                    blank_before += usize::from(blank == lines);
                    blank += 1;
                }
                Look::Other | Look::Ask => break,
            }
            lines += 1;
            end = at + 1;
        }
        Run { text: text.get(..end).unwrap_or_default(), lines, blank, blank_before }
    }
}

/// Whether a line may be more than its first byte shows, by its last: a heading of a tool or of a host.
fn may_end(line: &[u8]) -> bool {
    line.ends_with(b":") || host_heading::may_end(line)
}

/// What the table decides of most lines, by the rules.
fn is_other(line: &str, within: Within) -> bool {
    let divides = matches!(line, "{" | "}" | "[" | "]");
    !divides
        && !host_heading::is_part(line)
        && Class::with(line, Marks(0)) == Class::Other
        && (within != Within::Prose || Form::of(line).is_none())
}

/// Whether the first byte of a line shows that it begins no item.
pub(super) fn begins_nothing(line: &str) -> bool {
    PROSE.of(line.as_bytes()) == Look::Other
}

/// What the first byte of a line, or the first behind spaces, says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// The line is of no other kind.
    Other,
    /// The next byte says it; behind the last, that the line is blank.
    Space,
    /// The whole line says it.
    Ask,
}

/// By a byte where the line begins, and by one behind spaces.
struct Table([[Look; 256]; 2]);

static TEXT: LazyLock<Table> = LazyLock::new(|| Table::new(|_, _| false));
static PROSE: LazyLock<Table> = LazyLock::new(|| Table::new(|b, indented| FORMS.iter().any(|f| (f.may)(b, indented))));

impl Table {
    /// `begins`: whether a byte may begin an item, where the line begins (`false`) or behind spaces.
    fn new(begins: fn(u8, bool) -> bool) -> Table {
        let look = |byte: u8, indented: bool| match byte {
            b' ' | b'\t' => Look::Space,
            b'`' | b'~' => Look::Ask,
            b'{' | b'}' | b'[' | b']' if !indented => Look::Ask,
            b if !indented && host_heading::may_begin(b) => Look::Ask,
            b if !indented && sniff::may_be_heading(&[b]) => Look::Ask,
            b if !b.is_ascii_graphic() || begins(b, indented) => Look::Ask,
            _ => Look::Other,
        };
        let all = |indented| std::array::from_fn(|b| u8::try_from(b).map_or(Look::Ask, |b| look(b, indented)));
        Table([all(false), all(true)])
    }

    fn of(&self, line: &[u8]) -> Look {
        let Table([at_once, indented]) = self;
        let Some((first, rest)) = line.split_first() else { return Look::Space };
        match at_once[usize::from(*first)] {
            Look::Space => {}
            look => return look,
        }
        let behind = rest.iter().map(|b| indented[usize::from(*b)]);
        behind.into_iter().find(|look| *look != Look::Space).unwrap_or(Look::Space)
    }
}

#[cfg(test)]
mod tests {
    use super::super::items::Item;
    use super::super::line::{Class, Marks};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A run holds no line that the rules for single lines would treat otherwise.
        #[test]
        fn a_run_is_what_its_lines_are(text in "([ \t]{0,3}[A-Za-z0-9`~\\[\\]{}:.=+*>é\r-]{0,6}[ a:.]{0,3}(GPU0|ibstat|hca_id:|IOMMU Group 1 18:00.0|18:00.0 3D controller: x)?\r?\n){0,8}") {
            for within in [Within::Text, Within::Rest, Within::Prose] {
                let run = Run::of(&text, within);
                let lines: Vec<&str> = run.text.split_terminator('\n').map(|l| l.strip_suffix('\r').unwrap_or(l)).collect();
                prop_assert_eq!(run.lines, lines.len());
                for line in &lines {
                    let class = Class::with(line, Marks(0));
                    prop_assert!(matches!(class, Class::Blank | Class::Other), "{line:?}");
                    prop_assert!(!["{", "}", "[", "]"].contains(line), "divides: {line:?}");
                    prop_assert!(within != Within::Prose || Item::begin(1, line).is_none(), "{line:?}");
                }
                let blank = |l: &&&str| Class::of(l) == Class::Blank;
                prop_assert_eq!(run.blank, lines.iter().filter(blank).count());
                prop_assert_eq!(run.blank_before, lines.iter().take_while(blank).count());
                prop_assert!(within != Within::Text || !run.text.contains("\r\n"));
            }
        }
    }

    #[test]
    fn most_lines_are_in_a_run() {
        let text = "  read: IOPS=1\n\nSome words.\n\t18:00.0 x\n  }\n";
        let run = Run::of(text, Within::Prose);
        assert_eq!((run.text, run.lines, run.blank, run.blank_before), (text, 5, 1, 0));
        for other in ["a\n", "[rank0]: x\n", "g\n", "é\n", "GPU10\n", "18:00 x\r\n"] {
            assert_eq!(Run::of(other, Within::Prose).lines, 1, "{other:?}");
        }
        let function = "18:00.0 3D controller: x\n";
        for asked in ["{\n", "a", "```\n", "[1.5] x\n", "\u{a0}\n", "  GPU0\n", function] {
            assert_eq!(Run::of(asked, Within::Prose).lines, 0, "{asked:?}");
        }
        assert_eq!(Run::of(&format!("{function}GPU0\n"), Within::Rest).lines, 2);
    }
}
