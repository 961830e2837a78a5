//! Changes of a text: what is written goes between the bytes that are there, with their line ends and indent.

use linerate_formats::libvirt::{Element, Outline, Span};
use std::ops::Range;

/// A change: bytes of the text, and what is there instead. An insertion has no bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Which bytes.
    pub at: Range<usize>,
    /// What comes there.
    pub new: String,
}

/// Children of `<domain>` in the order in which libvirt writes them, as far as something may be added between them.
const ORDER: &[&str] = &[
    "name",
    "uuid",
    "title",
    "description",
    "metadata",
    "maxMemory",
    "memory",
    "currentMemory",
    "blkiotune",
    "memtune",
    "memoryBacking",
    "vcpu",
    "vcpus",
    "iothreads",
    "iothreadids",
    "cputune",
    "numatune",
    "resource",
    "sysinfo",
    "bootloader",
    "os",
    "features",
    "cpu",
    "clock",
    "on_poweroff",
    "on_reboot",
    "on_crash",
    "pm",
    "perf",
    "devices",
];

pub(super) struct Edits<'t> {
    text: &'t str,
    eol: &'static str,
    /// Indent of children of `<domain>`, of their children, and what each further level adds.
    indents: (&'t str, String, String),
    all: Vec<Edit>,
}

impl<'t> Edits<'t> {
    pub(super) fn new(text: &'t str, outline: &Outline) -> Self {
        let own_line = |e: &Element| {
            let before = text.get(..e.span.from)?;
            let indent = before.get(before.trim_end_matches([' ', '\t']).len()..)?;
            before.get(..before.len() - indent.len())?.ends_with('\n').then_some(indent)
        };
        let first = outline.root.elements().find_map(own_line).unwrap_or("  ");
        let second = outline.root.child("devices").and_then(|d| d.elements().find_map(own_line));
        let unit = second.and_then(|s| s.strip_prefix(first)).filter(|u| !u.is_empty()).unwrap_or("  ").to_owned();
        let second = second.map_or_else(|| format!("{first}{unit}"), str::to_owned);
        let crlf = text.find('\n').is_some_and(|at| text.get(..at).is_some_and(|t| t.ends_with('\r')));
        Edits { text, eol: if crlf { "\r\n" } else { "\n" }, indents: (first, second, unit), all: Vec::new() }
    }

    fn indent(&self, level: usize) -> String {
        let (first, second, unit) = &self.indents;
        match level {
            0 => String::new(),
            1 => (*first).to_owned(),
            more => format!("{second}{}", unit.repeat(more - 2)),
        }
    }

    /// Lines as they are written here: two spaces a level. Each begins with the end of the line before it.
    fn lines(&self, written: &str) -> String {
        let line = |l: &str| format!("{}{}{}", self.eol, self.indent(level(l)), l.trim_start());
        written.lines().map(line).collect()
    }

    fn push(&mut self, at: Range<usize>, new: String) {
        self.all.push(Edit { at, new });
    }

    /// As the last content of an element.
    pub(super) fn last_in(&mut self, e: &Element, written: &str) {
        if written.is_empty() {
            return;
        }
        let mut new = self.lines(written);
        let end = format!("{}{}", self.eol, self.indent(level(written).saturating_sub(1)));
        let Some(close) = e.close else {
            let colon = if e.prefix.is_empty() { "" } else { ":" };
            let new = format!(">{new}{end}</{}{colon}{}>", e.prefix, e.name);
            return self.push(e.open.saturating_sub(2)..e.open, new);
        };
        let inner = self.text.get(e.open..close).unwrap_or_default();
        let at = e.open + inner.trim_end_matches(SPACE).len();
        if !self.text.get(at..close).is_some_and(|rest| rest.contains('\n')) {
            new += &end;
        }
        self.push(at..at, new);
    }

    /// As a child of `<domain>`, behind those that libvirt writes before it.
    pub(super) fn in_domain(&mut self, root: &Element, name: &str, written: &str) {
        if written.is_empty() {
            return;
        }
        let place = |n: &str| ORDER.iter().position(|o| *o == n);
        let before = root.elements().filter(|e| !e.is_qemu && place(&e.name).is_some_and(|p| Some(p) < place(name)));
        let at = before.map(|e| e.span.to).max().unwrap_or(root.open);
        let new = self.lines(written);
        self.push(at..at, new);
    }

    /// Instead of an element.
    pub(super) fn replace(&mut self, span: Span, written: &str) {
        let new = self.lines(written);
        self.push(span.from..span.to, new.trim_start().to_owned());
    }

    /// Takes an element away, with the space before it.
    pub(super) fn remove(&mut self, span: Span) {
        self.push(begin(self.text, span.from)..span.to, String::new());
    }

    /// Bytes in the start tag of the root.
    pub(super) fn in_tag(&mut self, root: &Element, new: String) {
        let tag = self.text.get(root.span.from..root.open.saturating_sub(1)).unwrap_or_default();
        let at = root.span.from + tag.trim_end_matches(SPACE).len();
        self.push(at..at, new);
    }

    /// The text, and the changes in its order; `None`: two change the same bytes.
    pub(super) fn apply(mut self) -> Option<(String, Vec<Edit>)> {
        self.all.sort_by_key(|e| (e.at.start, e.at.end));
        let (mut out, mut done) = (String::with_capacity(self.text.len()), 0);
        for e in &self.all {
            out.push_str(self.text.get(done..e.at.start)?);
            out.push_str(&e.new);
            done = e.at.end;
        }
        out.push_str(self.text.get(done..)?);
        Some((out, self.all))
    }
}

/// Space of XML.
const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// Where the space before a place begins.
pub(super) fn begin(text: &str, at: usize) -> usize {
    text.get(..at).map_or(at, |before| before.trim_end_matches(SPACE).len())
}

fn level(line: &str) -> usize {
    (line.len() - line.trim_start_matches(' ').len()) / 2
}
