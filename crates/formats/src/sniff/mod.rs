//! Which tool a pasted text comes from: by content first, by the command line above it second, by the file's name last. What shows
//! a tool is in its [`Tool`](crate::Tool).

mod heading;
mod index;
mod marks;

use crate::tool::Mark;
use crate::{Kind, text};
use index::Index;
use marks::Marks;
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
    let marks = Marks { index: &INDEX, kinds, text: &text };
    marks.shown(name).or_else(|| marks.last()).unwrap_or(Kind::Other)
}

/// [`sniff`] of a text without a name, where what is asked last does not count: that is no evidence of a tool.
#[must_use]
pub fn shown(head: &[u8]) -> Kind {
    let text = text::decode(head);
    Marks { index: &INDEX, kinds: Kind::ALL, text: &text }.shown("").unwrap_or(Kind::Other)
}

/// The marks of all tools.
static INDEX: LazyLock<Index> = LazyLock::new(|| Index::new(marks()));

fn marks() -> impl Iterator<Item = (Kind, Mark)> {
    Kind::ALL.iter().flat_map(|k| k.tool().marks.iter().map(|m| (*k, *m)))
}

/// The tool of a command line: `root@node:~# nvidia-smi topo -m`.
#[must_use]
pub fn command(line: &str) -> Option<Kind> {
    prompt(Kind::ALL, line)
}

/// The tool that a line shows by itself, where no other prints it: such a line within another tool's text begins a new one.
#[must_use]
pub fn of_line(line: &str) -> Option<Kind> {
    Marks { index: &INDEX, kinds: Kind::ALL, text: line }.line()
}

/// Whether a line by itself shows this tool.
#[must_use]
pub fn is_of(kind: Kind, line: &str) -> bool {
    Marks { index: &INDEX, kinds: &[kind], text: line }.line().is_some()
}

/// Lines of a text that are no command lines, without the spaces around them.
pub(crate) fn content(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|l| !l.is_empty() && command(l).is_none()).take(MAX_LINES)
}

/// Where the sign of a shell stands, behind which a command may.
fn sign(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let usual = memchr::memchr3(b'$', b'#', b'>', bytes);
    memchr::memchr(b'%', bytes.get(..usual.unwrap_or(bytes.len()))?).or(usual)
}

/// Whether a line is behind the sign of a shell, and no comment.
fn is_prompted(line: &str) -> bool {
    let parts = sign(line).and_then(|at| line.split_at_checked(at));
    parts.is_some_and(|(before, behind)| !behind.starts_with('#') || !is_comment(before))
}

/// Whether what is before a `#` makes a comment of the rest: `- utility # nvidia-smi`. A root's prompt is one word (`host:~ # `), or names the user.
fn is_comment(before: &str) -> bool {
    if !before.ends_with([' ', '\t']) || before.contains('@') {
        return false;
    }
    let behind_env = before.trim_start().strip_prefix('(').and_then(|b| b.split_once(')')).map_or(before, |(_, b)| b);
    behind_env.split_whitespace().nth(1).is_some()
}

fn prompt(kinds: &[Kind], line: &str) -> Option<Kind> {
    prompted(kinds, line).or_else(|| program(kinds, heading::command(line, may_be_program)?))
}

/// The kind of text that the command behind a prompt prints.
fn prompted(kinds: &[Kind], line: &str) -> Option<Kind> {
    let (before, behind) = line.split_at_checked(sign(line)?)?;
    let command = behind_spaces(behind.get(1..)?);
    // Neither commands nor prompts begin with a quote: `"S-0ff08c4321407312"[25] # "MF0;leaf1"`.
    if command.starts_with('"') {
        return None;
    }
    let kind = program(kinds, behind_prompts(command))?;
    (!behind.starts_with('#') || !is_comment(before)).then_some(kind)
}

/// Whether a line may be a heading that names a command, by its first byte and its last one.
#[must_use]
pub fn may_be_heading(line: &[u8]) -> bool {
    heading::may(line)
}

/// The kind of text that a command prints.
fn program(kinds: &[Kind], command: &str) -> Option<Kind> {
    let (first, args) = word(command);
    let (path, args) = if first == "sudo" { word(args) } else { (first, args) };
    let name = path.bytes().rposition(|b| b == b'/').map_or(0, |at| at + 1);
    let program = path.get(name..)?;
    let its = has_length(program.as_bytes(), program.len()).then(|| PROGRAMS.get(program))??;
    let fits = |k: &Kind| kinds.contains(k) && k.tool().commands.iter().any(|c| c.is(program, args));
    its.iter().copied().find(fits)
}

/// A command behind further prompts: a paste that is commented out (`# $ lspci`), or put into a paste (`$ user@host:~$ lspci`).
fn behind_prompts(mut command: &str) -> &str {
    for _ in 0..2 {
        let (first, rest) = word(command);
        let is_prompt = first.len() < command.len()
            && matches!(first.as_bytes(), [.., b'$' | b'#' | b'>' | b'%'])
            && (first.len() == 1 || first.contains('@'));
        if !is_prompt {
            break;
        }
        command = behind_spaces(rest);
    }
    command
}

/// A text up to its first space, and what is behind that. Words are short: to search for the space would cost more than to look.
fn word(text: &str) -> (&str, &str) {
    let at = text.bytes().position(|b| b == b' ');
    at.and_then(|at| Some((text.get(..at)?, text.get(at + 1..)?))).unwrap_or((text, ""))
}

fn behind_spaces(text: &str) -> &str {
    let text = text.strip_prefix(' ').unwrap_or(text);
    if text.as_bytes().first().is_some_and(u8::is_ascii_graphic) { text } else { text.trim_start() }
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

/// Whether a text may begin with a program's name, or its path: of most words behind a `#`, the first byte and the length show that they are not.
fn may_be_program(text: &[u8]) -> bool {
    let is_of_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let most = text.get(..LONGEST + 1).unwrap_or(text);
    let word = most.iter().position(|b| !is_of_name(b)).and_then(|end| most.get(..end)).unwrap_or(most);
    // A rule may touch the name: `---ibstat---`.
    let name = word.iter().rposition(|b| *b != b'-').map_or(0, |at| at + 1);
    text.first() == Some(&b'/') || word.starts_with(b"sudo") || has_length(word, name)
}

/// Whether a program's name begins with this word's first byte and is so long.
fn has_length(word: &[u8], len: usize) -> bool {
    let lengths = word.first().and_then(|b| LENGTHS.get(usize::from(*b))).copied().unwrap_or_default();
    len <= LONGEST && lengths >> len & 1 == 1
}

/// The longest name of a program.
const LONGEST: usize = 63;

/// By the first byte of their names, how long those are: a bit for each length.
static LENGTHS: LazyLock<[u64; 256]> = LazyLock::new(|| {
    let mut out = [0; 256];
    for name in PROGRAMS.keys().filter(|n| n.len() <= LONGEST) {
        if let Some(lengths) = name.bytes().next().and_then(|b| out.get_mut(usize::from(b))) {
            *lengths |= 1 << name.len();
        }
    }
    out
});

/// By the file's name, where it begins with a tool's. Tools with several outputs need more than their name.
fn by_name(kinds: &[Kind], name: &str, is_document: bool) -> Option<Kind> {
    if name.is_empty() {
        return None;
    }
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
    kinds.iter().copied().find(|k| {
        let tool = k.tool();
        let names = if is_document { tool.documents } else { tool.files };
        names.iter().any(|prefix| base.starts_with(prefix))
    })
}

#[cfg(test)]
mod tests;
