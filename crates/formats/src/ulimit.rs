//! `ulimit` of shells, and `prlimit`: the limits of a process. Shells print one of two limits, mostly the soft one.

use crate::limits::Limit;
use crate::text::{decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use crate::{Kind, sniff};

/// `ulimit -a`, `ulimit -l`.
pub const ULIMIT: Tool = Tool {
    name: "ulimit",
    called: "ulimit",
    run: "ulimit -a",
    gives: Gives::Facts,
    // People paste it beside what matters more.
    marks: &[Mark::aside(|l| row(l).is_some()).begins(&[
        "max locked memory",
        "-l: locked-in-memory size",
        "locked memory(kbytes)",
    ])],
    commands: &[Command::any("ulimit")],
    files: &["ulimit"],
    read: Some(|b| seen(parse_ulimit(b))),
    samples: &[
        "open files                          (-n) 1024\nmax locked memory           (kbytes, -l) 8192\n",
        "-l: locked-in-memory size (kbytes)  unlimited\n",
        "$ ulimit -l\nunlimited\n",
    ],
    ..Tool::NONE
};

/// `prlimit`.
pub const PRLIMIT: Tool = Tool {
    name: "prlimit",
    called: "prlimit",
    run: "prlimit",
    gives: Gives::Facts,
    marks: &[Mark::aside(|l| l.split_whitespace().eq(HEAD.iter().copied())).begins(&["RESOURCE"])],
    commands: &[Command::any("prlimit")],
    files: &["prlimit"],
    read: Some(|b| seen(parse_prlimit(b))),
    samples: &[
        "RESOURCE   DESCRIPTION                             SOFT      HARD UNITS\nMEMLOCK    max locked-in-memory address space   8388608   8388608 bytes\n",
    ],
    ..Tool::NONE
};

const HEAD: [&str; 5] = ["RESOURCE", "DESCRIPTION", "SOFT", "HARD", "UNITS"];

/// What a shell shows of the limit of locked memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memlock {
    /// In bytes.
    pub limit: Limit,
    /// The command asked for the hard limit, not for the one that holds now.
    pub hard: bool,
    /// 1-based line.
    pub line: u32,
}

/// A row of `prlimit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// `MEMLOCK`, `NOFILE`.
    pub resource: String,
    /// What holds now.
    pub soft: Limit,
    /// What an unprivileged process may raise it to.
    pub hard: Limit,
    /// 1-based line.
    pub line: u32,
}

/// What `prlimit` shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prlimit {
    /// The command line names a process: the limits are its own, not those of who asked.
    pub of_another: bool,
    /// In the order of the text, each resource once.
    pub rows: Vec<Row>,
}

impl Prlimit {
    /// A row by its resource.
    #[must_use]
    pub fn row(&self, resource: &str) -> Option<&Row> {
        self.rows.iter().find(|r| r.resource == resource)
    }
}

/// The limit of locked memory: of its row, or of the line below `ulimit -l`.
pub fn parse_ulimit(bytes: &[u8]) -> Option<Memlock> {
    let text = decode(bytes);
    let mut asked: Option<Asked> = None;
    for (line, raw) in lines(&text).filter(|(_, raw)| !raw.trim().is_empty()) {
        let command = sniff::command(raw) == Some(Kind::Ulimit);
        // The end of the text may be the middle of a number.
        let whole = text.ends_with('\n') || !text.ends_with(raw);
        let hard = asked.as_ref().is_some_and(|a| a.hard);
        if command {
            asked = Some(Asked::of(raw));
        } else if let Some(value) = row(raw).filter(|_| whole) {
            return Some(Memlock { limit: kib(value)?, hard, line });
        } else if let Some(limit) = asked.as_ref().filter(|a| a.alone && whole).and_then(|_| kib(raw.trim())) {
            return Some(Memlock { limit, hard, line });
        } else if let Some(a) = &mut asked {
            a.alone = false;
        }
    }
    None
}

/// What a command line asks of `ulimit`.
struct Asked {
    /// The hard limit.
    hard: bool,
    /// That of locked memory alone; its value is the next line.
    alone: bool,
}

impl Asked {
    fn of(line: &str) -> Self {
        let args: Vec<&str> = line.rsplit("ulimit").next().unwrap_or_default().split_whitespace().take(8).collect();
        let has = |letter: char| args.iter().any(|a| a.starts_with('-') && a.contains(letter));
        // With a value it sets the limit, and prints nothing.
        let asks = args.iter().all(|a| a.starts_with('-'));
        let letters = args.iter().flat_map(|a| a.chars()).filter(|c| !matches!(c, '-' | 'S' | 'H'));
        Asked { hard: has('H') && !has('S'), alone: asks && letters.eq(['l']) }
    }
}

/// The value of a row of locked memory, in KiB: of bash, zsh and dash.
fn row(line: &str) -> Option<&str> {
    let line = line.trim();
    let value = line
        .strip_prefix("max locked memory")
        .and_then(|r| r.trim_start().strip_prefix("(kbytes, -l)"))
        .or_else(|| line.strip_prefix("-l: locked-in-memory size (kbytes)"))
        .or_else(|| line.strip_prefix("locked memory(kbytes)"))?
        .trim();
    kib(value).map(|_| value)
}

fn kib(word: &str) -> Option<Limit> {
    if word == "unlimited" {
        return Some(Limit::Unlimited);
    }
    let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| word.parse::<u64>().ok()?.checked_mul(1024).map(Limit::Value)).flatten()
}

/// The rows below the head.
pub fn parse_prlimit(bytes: &[u8]) -> Prlimit {
    let text = decode(bytes);
    let mut out = Prlimit::default();
    let mut below = false;
    for (line, raw) in lines(&text) {
        if sniff::command(raw) == Some(Kind::Prlimit) {
            out.of_another |= raw.split_whitespace().any(|w| w.starts_with("--p") || w.starts_with("-p"));
            below = false;
        }
        if raw.split_whitespace().eq(HEAD) {
            below = true;
            continue;
        }
        let whole = text.ends_with('\n') || !text.ends_with(raw);
        if let Some(row) = values(raw, line).filter(|_| below && whole)
            && out.rows.len() < RESOURCES
            && out.row(&row.resource).is_none()
        {
            out.rows.push(row);
        }
    }
    out
}

/// Resources that are kept; Linux has 16.
const RESOURCES: usize = 64;

/// `MEMLOCK    max locked-in-memory address space   8388608 unlimited bytes`; rows of NICE and RTPRIO have no unit.
fn values(line: &str, number: u32) -> Option<Row> {
    let words: Vec<&str> = line.split_whitespace().take(16).collect();
    let (resource, rest) = words.split_first()?;
    let upper = resource.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    let limit = |w: &&&str| if **w == "unlimited" { Some(Limit::Unlimited) } else { w.parse().ok().map(Limit::Value) };
    let mut limits = rest.iter().rev().skip_while(|w| limit(w).is_none());
    let (hard, soft) = (limit(&limits.next()?)?, limit(&limits.next()?)?);
    upper.then(|| Row { resource: (*resource).to_owned(), soft, hard, line: number })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ulimit(text: &str) -> Option<(Limit, bool, u32)> {
        parse_ulimit(text.as_bytes()).map(|m| (m.limit, m.hard, m.line))
    }

    #[test]
    fn rows_of_shells() {
        let bash = "core file size              (blocks, -c) 0\nmax locked memory           (kbytes, -l) 8192\n";
        assert_eq!(ulimit(bash), Some((Limit::Value(8_388_608), false, 2)));
        assert_eq!(ulimit("max locked memory       (kbytes, -l) unlimited\n"), Some((Limit::Unlimited, false, 1)));
        assert_eq!(ulimit("locked memory(kbytes) 64\n"), Some((Limit::Value(65_536), false, 1)));
        assert_eq!(ulimit(&format!("$ ulimit -Ha\n{bash}")), Some((Limit::Value(8_388_608), true, 3)));
    }

    #[test]
    fn the_line_below_the_command() {
        assert_eq!(ulimit("me@n1:~$ ulimit -l\n64\n"), Some((Limit::Value(65_536), false, 2)));
        assert_eq!(ulimit("$ ulimit -H -l\nunlimited\n"), Some((Limit::Unlimited, true, 2)));
        for text in [
            "$ ulimit -n\n1024\n",
            "$ ulimit -l unlimited\n1024\n",
            "64\n",
            "$ ulimit -l\n6",
            "$ ulimit -l\nx\n64\n",
            "",
        ] {
            assert_eq!(ulimit(text), None, "{text}");
        }
    }

    #[test]
    fn a_table_of_prlimit() {
        let table = "RESOURCE   DESCRIPTION                             SOFT      HARD UNITS\nMEMLOCK    max locked-in-memory address space   8388608 unlimited bytes\nNICE       max nice prio allowed to raise             0         0 \n";
        let p = parse_prlimit(table.as_bytes());
        let memlock = p.row("MEMLOCK").unwrap();
        assert_eq!((memlock.soft, memlock.hard, memlock.line), (Limit::Value(8_388_608), Limit::Unlimited, 2));
        assert_eq!((p.rows.len(), p.of_another), (2, false));
        assert!(parse_prlimit(format!("$ prlimit -p 4711\n{table}").as_bytes()).of_another);
        assert_eq!(parse_prlimit(b"MEMLOCK max 1 2 bytes\n").rows, []);
    }

    #[test]
    fn prose_is_none() {
        for line in [
            "max locked memory must be unlimited",
            "max locked memory (kbytes, -l) should be unlimited",
            "ulimit -l unlimited",
        ] {
            assert_eq!(row(line), None, "{line}");
        }
    }
}
