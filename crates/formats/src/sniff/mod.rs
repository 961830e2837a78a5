//! Which tool a pasted text comes from: by content first, by the command line above it second, by the file's name last. What shows
//! a tool is in its [`Tool`](crate::Tool).

use crate::tool::Mark;
use crate::{Kind, text};
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

pub use crate::text::normalise;

/// Lines that are looked at. A text that does not show its nature by then is not of a kind that is read.
const MAX_LINES: usize = 2000;

/// Recognises a text by its beginning (some tens of kilobytes are enough) and its file name (may be empty).
pub fn sniff(name: &str, head: &[u8]) -> Kind {
    among(Kind::ALL, name, head)
}

/// [`sniff`], where only these can be.
pub fn among(kinds: &[Kind], name: &str, head: &[u8]) -> Kind {
    let text = text::decode(head);
    let mut command = None;
    // A text that starts like a document is one; a `<6>` starts a log.
    let mut first_content = None;
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty()).take(3).peekable();
    while let Some(line) = lines.next() {
        match prompt(kinds, line) {
            Some(kind) => command = command.or(Some(kind)),
            // A command that is not known, and the document that it printed.
            None if line.contains(['$', '#', '>', '%']) && lines.peek().is_some_and(|l| opens_document(l)) => {}
            None => {
                first_content = Some(line);
                break;
            }
        }
    }
    let marks = Marks { kinds, text: &text };
    let document = match first_content.map(str::as_bytes) {
        Some([b'<', b'?' | b'!' | b'a'..=b'z', ..]) => Some(marks.xml()),
        Some([b'{', ..]) if looks_like_json(&text) => Some(marks.json()),
        Some([b'[', ..]) if opens_array(&text, first_content) && looks_like_json(&text) => Some(marks.json()),
        _ => None,
    };
    let by_content = match document {
        Some(kind) => kind,
        None => marks.lines().or_else(|| marks.whole()).or_else(|| marks.aside()),
    };
    by_content
        .or(command)
        .or_else(|| by_name(kinds, name, document.is_some()))
        .or_else(|| marks.last())
        .unwrap_or(Kind::Other)
}

/// The tool of a command line: `root@node:~# nvidia-smi topo -m`.
#[must_use]
pub fn command(line: &str) -> Option<Kind> {
    prompt(Kind::ALL, line)
}

/// Lines of a text that are no command lines, without the spaces around them.
pub(crate) fn content(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|l| !l.is_empty() && command(l).is_none()).take(MAX_LINES)
}

fn prompt(kinds: &[Kind], line: &str) -> Option<Kind> {
    let at = line.find(['$', '#', '>', '%'])?;
    let command = behind_prompts(line.get(at + 1..)?.trim_start());
    let (first, args) = command.split_once(' ').unwrap_or((command, ""));
    let (program, args) = if first == "sudo" { args.split_once(' ').unwrap_or((args, "")) } else { (first, args) };
    let program = program.rsplit('/').next().unwrap_or(program);
    let its = PROGRAMS.get(program)?;
    let fits = |k: &Kind| kinds.contains(k) && k.tool().commands.iter().any(|c| c.is(program, args));
    its.iter().copied().find(fits)
}

/// A command behind further prompts: a paste that is commented out (`# $ lspci`), or put into a paste (`$ user@host:~$ lspci`).
fn behind_prompts(mut command: &str) -> &str {
    for _ in 0..2 {
        let Some((first, rest)) = command.split_once(' ') else { break };
        let is_prompt = first.ends_with(['$', '#', '>', '%']) && (first.len() == 1 || first.contains('@'));
        if !is_prompt {
            break;
        }
        command = rest.trim_start();
    }
    command
}

/// The kinds of text that each program prints.
static PROGRAMS: LazyLock<HashMap<&'static str, Vec<Kind>>> = LazyLock::new(|| {
    let mut out: HashMap<_, Vec<Kind>> = HashMap::new();
    for kind in Kind::ALL {
        let programs: BTreeSet<_> = kind.tool().commands.iter().map(|c| c.program).collect();
        programs.into_iter().for_each(|program| out.entry(program).or_default().push(*kind));
    }
    out
});

/// By the file's name, where it begins with a tool's. Tools with several outputs need more than their name.
fn by_name(kinds: &[Kind], name: &str, is_document: bool) -> Option<Kind> {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
    kinds.iter().copied().find(|k| {
        let tool = k.tool();
        let names = if is_document { tool.documents } else { tool.files };
        names.iter().any(|prefix| base.starts_with(prefix))
    })
}

/// A text, and the tools whose it may be.
struct Marks<'a> {
    kinds: &'a [Kind],
    text: &'a str,
}

impl Marks<'_> {
    /// The first tool with a mark that holds.
    fn find(&self, holds: impl Fn(&Mark) -> bool) -> Option<Kind> {
        self.kinds.iter().copied().find(|k| k.tool().marks.iter().any(&holds))
    }

    /// Lines without the marks of quotations.
    fn content(&self) -> impl Iterator<Item = &str> {
        let lines = self.text.lines().take(MAX_LINES).map(|l| l.trim_start_matches(['>', ' ', '\t']).trim_end());
        lines.filter(|l| !l.is_empty() && l.len() <= 4096)
    }

    /// By the first line that only one tool prints.
    fn lines(&self) -> Option<Kind> {
        let mut matrix_tried = false;
        for line in self.content() {
            // Measurements of the network and of disks are often pasted beside what matters more.
            if self.is_aside(line).is_some() {
                continue;
            }
            let of_line = self.find(|m| match m {
                Mark::Line(is) => is(line),
                Mark::LineWhere(is, whole) => is(line) && whole(self.text),
                Mark::LineWith(is, words) => is(line) && self.text.contains(words),
                _ => false,
            });
            if of_line.is_some() {
                return of_line;
            }
            // The matrix is searched in the whole text, so one try is enough.
            if !matrix_tried && line.starts_with("GPU0") {
                matrix_tried = true;
                let matrix = self.find(|m| matches!(m, Mark::Matrix(is) if is(self.text)));
                if matrix.is_some() {
                    return matrix;
                }
            }
        }
        None
    }

    fn is_aside(&self, line: &str) -> Option<Kind> {
        self.find(|m| matches!(m, Mark::Aside(is) if is(line)))
    }

    fn aside(&self) -> Option<Kind> {
        self.content().find_map(|l| self.is_aside(l))
    }

    fn whole(&self) -> Option<Kind> {
        self.find(|m| matches!(m, Mark::Whole(is) if is(self.text)))
    }

    fn last(&self) -> Option<Kind> {
        self.find(|m| matches!(m, Mark::Last(is) if is(self.text)))
    }

    fn json(&self) -> Option<Kind> {
        self.find(|m| matches!(m, Mark::Json(is) if is(self.text)))
    }

    fn xml(&self) -> Option<Kind> {
        let mut rest = self.text;
        while let Some((_, after)) = rest.split_once('<') {
            if let Some(comment) = after.strip_prefix("!--") {
                rest = comment.split_once("-->").map_or("", |(_, r)| r);
                continue;
            }
            if after.starts_with(|c: char| c.is_ascii_alphabetic()) {
                let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
                let root = after.get(..end)?;
                return self.find(|m| matches!(m, Mark::Root(is) if is(root, after)));
            }
            rest = after;
        }
        None
    }
}

/// The first line of a document that is printed over several lines.
fn opens_document(line: &str) -> bool {
    matches!(line, "{" | "[") || line.starts_with("<?xml")
}

/// `[ {`, `[]`, `["x"`, over several lines, too; `[    0.5] …` is a time of the kernel's.
fn opens_array(text: &str, line: Option<&str>) -> bool {
    let at = line.and_then(|l| text.find(l)).unwrap_or_default();
    let inside = text.get(at..).and_then(|t| t.strip_prefix('[')).unwrap_or_default();
    inside.trim_start().starts_with(['{', ']', '"', '['])
}

fn looks_like_json(text: &str) -> bool {
    text.contains('"') || text.trim_end().ends_with("[]")
}

#[cfg(test)]
mod tests;
