//! What a single line is, whatever stands around it. Each is asked of every line of a file: what most lines are not is decided by few bytes.

use linerate_formats::dmesg::{self, Time};
use linerate_formats::lines::Find;
use linerate_formats::pci::{Bdf, lspci};
use linerate_formats::sniff;
use memchr::memmem::Finder;
use std::sync::LazyLock;

static NCCL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("NCCL "));
static KERNEL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(" kernel: "));
static TAG: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(": ["));

/// Without which lines are neither a command's, nor NCCL's, nor the kernel's, and name no user: a bit of [`Marks`] for each, from the lowest.
pub(super) const MARKS: &[Find] = &[
    |t| memchr::memchr2(b'$', b'#', t),
    |t| NCCL.find(t),
    |t| KERNEL.find(t),
    |t| memchr::memchr(b'@', t),
    |t| TAG.find_iter(t).find(|at| is_clock(t.get(at + TAG.needle().len()..).unwrap_or_default())),
];

/// What dmesg prints behind a bracket: `   12.345678]`, `Mon Nov 21 …`, and `2026-11-21T…` of Talos.
fn is_clock(inside: &[u8]) -> bool {
    const DAYS: &[&[u8]] = &[b"Mon ", b"Tue ", b"Wed ", b"Thu ", b"Fri ", b"Sat ", b"Sun "];
    is_seconds(inside) || dmesg::is_iso(inside) || DAYS.iter().any(|d| inside.starts_with(d))
}

/// Which of [`MARKS`] are in a line, or may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks(pub(super) u8);

impl Marks {
    /// A line that was not searched may have any.
    const ANY: Marks = Marks(u8::MAX);

    pub(super) fn is_signed(self) -> bool {
        self.0 & 1 != 0
    }

    /// It may name a user and a host.
    pub(super) fn has_at(self) -> bool {
        self.0 & 8 != 0
    }

    fn nccl(self) -> bool {
        self.0 & 2 != 0
    }

    fn kernel(self) -> bool {
        self.0 & 4 != 0
    }

    fn tag(self) -> bool {
        self.0 & 16 != 0
    }
}

/// What a line is where it stands between texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Nothing stands in it.
    Blank,
    /// Markdown's fence.
    Fence,
    /// NCCL's.
    Log,
    /// A command line.
    Prompt,
    /// A message of the kernel.
    Kernel,
    /// Anything else.
    Other,
}

impl Class {
    pub(super) fn of(line: &str) -> Class {
        Class::with(line, Marks::ANY)
    }

    /// Of a line that has these marks.
    pub(super) fn with(line: &str, marks: Marks) -> Class {
        let first = first(line);
        if is_blank_from(first, line) {
            Class::Blank
        } else if is_fence(first, line) {
            Class::Fence
        } else if marks.nccl() && is_log(line) {
            Class::Log
        } else if is_message(line, marks) {
            Class::Kernel
        } else if is_command(line, marks) {
            Class::Prompt
        } else {
            Class::Other
        }
    }
}

/// The first byte that is neither a space nor a tab.
pub(super) fn first(line: &str) -> Option<u8> {
    line.bytes().find(|b| !matches!(b, b' ' | b'\t'))
}

/// Nothing stands in it.
pub(super) fn is_blank(line: &str) -> bool {
    is_blank_from(first(line), line)
}

fn is_blank_from(first: Option<u8>, line: &str) -> bool {
    !is_graphic(first) && line.trim().is_empty()
}

fn is_fence(first: Option<u8>, line: &str) -> bool {
    let line = if is_graphic(first) && !matches!(first, Some(b'`' | b'~')) { "" } else { line.trim_start() };
    line.starts_with("```") || line.starts_with("~~~")
}

fn is_graphic(first: Option<u8>) -> bool {
    first.is_some_and(|b| b.is_ascii_graphic())
}

fn is_log(line: &str) -> bool {
    let bytes = line.as_bytes();
    let is_level = |at| bytes.get(at + 5..).is_some_and(|t| t.starts_with(b"INFO ") || t.starts_with(b"WARN "));
    NCCL.find_iter(bytes).any(is_level)
}

/// A command line: of a tool that is known, or of any after `user@host:~$`, or after `$ ` where the line begins.
fn is_prompt(line: &str, marks: Marks) -> bool {
    if line.len() > 200 {
        return false;
    }
    let Some(at) = memchr::memchr2(b'$', b'#', line.as_bytes()) else { return false };
    let (before, command) = line.split_at(at);
    let command = command.get(1..).unwrap_or_default();
    let bare = line.strip_prefix("# ").unwrap_or(line).strip_prefix("$ ");
    if bare.is_some_and(|c| c.starts_with(|c: char| c.is_ascii_lowercase() || matches!(c, '/' | '.'))) {
        return true;
    }
    let user = marks.has_at()
        && before.contains('@')
        && !before.contains(": ")
        && (command.is_empty() || command.starts_with(' '));
    user || before.len() < 80 && sniff::command(line).is_some_and(|k| k.gives().facts())
}

/// A command line, or a heading that names one.
fn is_command(line: &str, marks: Marks) -> bool {
    if marks.is_signed() { is_prompt(line, marks) } else { is_heading(line) }
}

/// A heading that names a tool's command, at the margin.
fn is_heading(line: &str) -> bool {
    sniff::may_be_heading(line.as_bytes()) && sniff::command(line).is_some_and(|k| k.gives().facts())
}

/// `[12345.678901] …`, `HOST: [12345.678901] …` or `… kernel: …`.
#[must_use]
pub fn is_kernels(line: &str) -> bool {
    is_message(line, Marks::ANY) && !is_log(line)
}

fn is_message(line: &str, marks: Marks) -> bool {
    let bytes = line.as_bytes();
    let is_its = match bytes {
        [b'[', inside @ ..] => {
            // Seconds have a point, and numbers alone (`[21] …` of lists and ranks) are no time: other lines with a bracket need not be taken apart.
            let has_point = || inside.iter().take(64).any(|b| *b == b'.');
            !is_number(inside)
                && (is_seconds(inside) || has_point() && matches!(dmesg::split(line).0, Some(Time::Seconds(_))))
        }
        _ => false,
    };
    is_its || marks.kernel() && KERNEL.find(bytes).is_some() || marks.tag() && dmesg::tagged(line).is_some()
}

/// `21] …`
fn is_number(inside: &[u8]) -> bool {
    inside.iter().position(|b| !b.is_ascii_digit()).is_some_and(|end| end > 0 && inside.get(end) == Some(&b']'))
}

/// `   12345.678901]`: what nearly all lines of a kernel's log have behind the first bracket.
fn is_seconds(inside: &[u8]) -> bool {
    let text = inside.trim_ascii_start();
    let digits = |t: &[u8]| t.iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(text);
    let Some([b'.', rest @ ..]) = text.get(whole..) else { return false };
    let part = digits(rest);
    (1..=dmesg::MOST_SECONDS).contains(&whole) && part > 0 && rest.get(part) == Some(&b']')
}

/// The address of `18:00.0 3D controller: …`. A time of day looks like one; a class makes the difference.
pub(super) fn function(line: &str) -> Option<Bdf> {
    const CLASSES: &[&str] = &["controller", "bridge", "accelerator", "Class ", "[0", "[1", "peripheral", "Bridge"];
    // "IOMMU group 12", "Group: 12".
    let may_name_group = first(line).is_none_or(|b| matches!(b, b'I' | b'i' | b'G' | b'g') || !b.is_ascii_graphic());
    if may_name_group && let Some(bdf) = lspci::in_group(line) {
        return Some(bdf);
    }
    let line = if may_name_group { lspci::without_group(line) } else { line };
    let end = line.bytes().take(13).position(|b| b == b' ').filter(|end| (7..=12).contains(end))?;
    let (first, rest) = (line.get(..end)?, line.get(end + 1..)?);
    // Most lines that begin so are numbers or words.
    if !matches!(first.as_bytes(), [.., b'.', _]) {
        return None;
    }
    let address = first.parse().ok()?;
    let (class, _) = rest.split_once(": ")?;
    (class.len() < 60 && CLASSES.iter().any(|c| class.contains(c))).then_some(address)
}
