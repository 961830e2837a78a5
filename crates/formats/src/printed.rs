//! Where a program's own line begins, behind what launchers, collectors and terminals put before it; and whether what comes before it
//! is of their making at all, or a sentence in which somebody quotes the line.

use crate::launcher;

/// Tags that are taken off one line: a quoted, time-stamped, tagged line of a container is five deep.
const MAX_TAGS: usize = 10;

/// A line without what was put before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Printed<'a> {
    /// The program's own text.
    pub text: &'a str,
    /// It follows `>`, as people quote a mail or a comment.
    pub quoted: bool,
}

/// Takes off what launchers, collectors and terminals put before a line: `[1,0]<stdout>:`, `rank0: `, `(Worker pid=7) `, `[rank3]:`,
/// `[pod/x/y] `, `worker-1  | `, times, levels, `/var/log/x:12:` of grep.
#[must_use]
pub fn own(line: &str) -> Printed<'_> {
    let mut rest = line.trim_start();
    let mut quoted = false;
    for _ in 0..MAX_TAGS {
        if let Some(inner) = rest.strip_prefix('>') {
            (quoted, rest) = (true, inner.trim_start());
            continue;
        }
        match tag(rest) {
            Some(inner) if inner.len() < rest.len() => rest = inner.trim_start(),
            _ => break,
        }
    }
    Printed { text: rest, quoted }
}

/// The content of a code span that is a line of its own, or begins at a line's beginning and goes on in the next lines: `` `NVRM: Xid …` ``,
/// ```` ```[ 12.5] NVRM: … ````. A span within a line is somebody's quote and stays.
#[must_use]
pub fn span(line: &str) -> &str {
    // Nearly all lines go this way.
    if !line.contains('`') {
        return line;
    }
    let text = line.trim();
    let marks = text.bytes().take_while(|b| *b == b'`').count();
    let inner = text.trim_matches('`');
    let closes = text.ends_with('`');
    match marks {
        // The end of a span that began lines before, with words before it.
        0 if closes && inner.len() + 3 == text.len() => inner,
        1..=3 if !inner.contains('`') && inner.contains(' ') => inner,
        _ => line,
    }
}

/// Whether a text is tags and nothing else.
#[must_use]
pub fn is_tags(before: &str) -> bool {
    let rest = before.trim();
    rest.is_empty() || own(rest).text.trim().is_empty() || own(&format!("{rest} ")).text.is_empty()
}

/// Whether what comes before a line of a program is a sentence, a list, or a command that names the line: then nobody printed it there.
#[must_use]
pub fn is_prose(before: &str) -> bool {
    let text = before.trim();
    if text.is_empty() {
        return false;
    }
    let quotes = text.ends_with(['"', '\'', '“', '‘', '`']) && !text.starts_with(['{', '[']);
    let listed = ["- ", "* ", "+ ", "$ ", "## ", "### "].iter().any(|s| before.trim_start().starts_with(s))
        || matches!(text, "-" | "*" | "+" | "$" | "##");
    quotes || listed || text.contains('`') || words(text) >= 3
}

/// Words of a sentence: letters only, small but for the first.
fn words(text: &str) -> usize {
    const TAGS: &[&str] = &["stdout", "stderr", "kernel", "rank", "worker", "pid"];
    let is_word = |w: &&str| {
        let w = w.trim_end_matches([',', '.', ':', ';', '!', '?', ')']).trim_start_matches('(');
        w.len() > 1
            && w.bytes().all(|b| b.is_ascii_alphabetic())
            && w.bytes().skip(1).all(|b| b.is_ascii_lowercase())
            && !TAGS.contains(&w)
            && !is_day_or_month(w)
    };
    text.split_whitespace().filter(is_word).count()
}

fn is_day_or_month(word: &str) -> bool {
    const NAMES: &[&str] = &[
        "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep",
        "Oct", "Nov", "Dec",
    ];
    NAMES.contains(&word)
}

/// The text behind one tag.
fn tag(line: &str) -> Option<&str> {
    if let Some(rest) = launcher::one(line) {
        return Some(rest);
    }
    match line.as_bytes().first()? {
        b'[' => bracket(line),
        b'(' => worker(line),
        b'{' => line.strip_prefix("{\"log\":\""),
        // Not a row of a table.
        b'|' => line.strip_prefix("| ").filter(|rest| !rest.trim_end().ends_with('|')),
        b'/' => grep(line),
        b'0'..=b'9' => date(line).or_else(|| place(line)).or_else(|| journal(line)),
        _ => syslog(line)
            .or_else(|| journal(line))
            .or_else(|| level(line))
            .or_else(|| grep(line))
            .or_else(|| named(line).map(|(_, rest)| rest)),
    }
}

/// `[rank3]:`, `[default3]:`, `[2025-06-17 16:23:09] `, `[2025-06-17 16:23:09,123][INFO] `, `[INFO] `.
fn bracket(line: &str) -> Option<&str> {
    let (inside, rest) = line.get(1..)?.split_once(']')?;
    // `[rank3]`, and torchrun's role with its local rank, perhaps with the number of restarts: `[default3]:`, `[trainer0|1]:`.
    let (role, restart) = inside.split_once('|').unwrap_or((inside, "0"));
    let name = role.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_role = name.len() < role.len()
        && !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
        && restart.bytes().all(|b| b.is_ascii_digit());
    if is_role && (rest.starts_with(':') || name == "rank") {
        return Some(rest.strip_prefix(':').unwrap_or(rest));
    }
    let level = LEVELS.contains(&inside.trim());
    (level || is_date(inside)).then_some(rest)
}

/// `(RayTrainWorker pid=1234, ip=10.0.0.1) `.
fn worker(line: &str) -> Option<&str> {
    let (inside, rest) = line.get(1..)?.split_once(')')?;
    (inside.len() < 120 && inside.contains("pid=")).then_some(rest)
}

const LEVELS: &[&str] =
    &["INFO", "WARN", "WARNING", "ERROR", "DEBUG", "CRITICAL", "FATAL", "info", "warn", "warning", "error", "debug"];

/// `ERROR `, `ERROR: `, `stderr: `, `stderr | `.
fn level(line: &str) -> Option<&str> {
    let end = line.find(|c: char| !c.is_ascii_alphabetic())?;
    let (word, rest) = line.split_at_checked(end)?;
    let stream = matches!(word, "stdout" | "stderr");
    let capital = LEVELS.contains(&word) && word.bytes().all(|b| b.is_ascii_uppercase());
    if !stream && !capital {
        return None;
    }
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    rest.strip_prefix(' ').map(|r| r.trim_start().strip_prefix("| ").unwrap_or(r))
}

/// `06-19 07:06:13 [multiproc_executor.py:527] ` behind the level, older `08-02 08:50:03 worker_base.py:382] `: vLLM's logger
/// (`vllm/logging_utils/formatter.py`, `vllm/logger.py`: `%(levelname)s %(asctime)s [%(fileinfo)s:%(lineno)d]`).
fn place(line: &str) -> Option<&str> {
    let (day, rest) = line.split_once(' ')?;
    let (clock, rest) = rest.split_once(' ')?;
    let is_day = matches!(day.as_bytes(), [a, b, b'-', c, d] if [a, b, c, d].iter().all(|b| b.is_ascii_digit()));
    let (file, rest) = rest.split_once(']')?;
    let (name, number) = file.strip_prefix('[').unwrap_or(file).rsplit_once(':')?;
    let is_file = name.ends_with(".py") && !name.contains(' ') && number.bytes().all(|b| b.is_ascii_digit());
    (is_day && is_clock(clock) && is_file).then_some(rest)
}

/// `2025-06-17 16:23:09,123 `, `16:23:09.5 `.
fn date(line: &str) -> Option<&str> {
    let (first, rest) = line.split_once(' ')?;
    if is_clock(first) {
        return Some(rest);
    }
    let is_day = first.len() == 10 && matches!(first.as_bytes(), [_, _, _, _, b'-' | b'/', _, _, b'-' | b'/', _, _]);
    let (clock, rest) = rest.split_once(' ')?;
    (is_day && is_clock(clock)).then_some(rest)
}

fn is_date(text: &str) -> bool {
    text.len() < 40 && text.starts_with("20") && text.bytes().filter(|b| *b == b':').count() >= 2
}

fn is_clock(word: &str) -> bool {
    word.len() >= 8
        && word.bytes().filter(|b| *b == b':').count() == 2
        && word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'.' | b','))
}

/// `Nov 21 07:00:00 host program[12]: `; the kernel's lines are for [`crate::dmesg::split`].
fn syslog(line: &str) -> Option<&str> {
    if !line.get(..3).is_some_and(is_day_or_month) {
        return None;
    }
    let mut words = line.split_whitespace();
    let (_, day, clock) = (words.next()?, words.next()?, words.next()?);
    if day.len() > 2 || !day.bytes().all(|b| b.is_ascii_digit()) || !is_clock(clock) {
        return None;
    }
    let (_host, program) = (words.next()?, words.next()?);
    let name = program.strip_suffix(':')?;
    if name == "kernel" || !name.ends_with(']') {
        return None;
    }
    let at = line.find(program)?;
    line.get(at + program.len()..)
}

/// `11月 15 14:15:47 node1 app[12]: ` of a shell in another language, `node1 app[12]: ` behind a time that was taken off, `app[12]: `.
fn journal(line: &str) -> Option<&str> {
    let program = |w: &str| {
        let (name, pid) = w.strip_suffix("]:").and_then(|w| w.split_once('['))?;
        let plain =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        (plain && !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit())).then_some(())
    };
    let words: Vec<&str> = line.split_whitespace().take(5).collect();
    let at = match words.as_slice() {
        [p, ..] if program(p).is_some() => p,
        [host, p, ..] if program(p).is_some() && !host.contains([':', '[', '(', '"', '`']) => p,
        [_, _, clock, _, p] if is_clock(clock) && program(p).is_some() => p,
        _ => return None,
    };
    line.split_once(at).map(|(_, rest)| rest)
}

/// `/var/log/messages:`, `/var/log/messages:12:`, `dmesg.txt:12:`, as grep puts before lines of several files.
fn grep(line: &str) -> Option<&str> {
    let (path, rest) = line.split_once(':')?;
    let file = path.contains('/') || [".log", ".txt", ".out", ".err"].iter().any(|e| path.ends_with(e));
    if !file || path.len() > 200 || path.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(')) {
        return None;
    }
    // `transport/net_ib.cc:839 NCCL WARN`, `/usr/lib/libx.so: undefined symbol`: a program's own words.
    let last = path.rsplit('/').next().unwrap_or(path);
    if [".cc", ".c", ".h", ".cpp", ".cu", ".py"].iter().any(|e| last.ends_with(e)) || last.contains(".so") {
        return None;
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    Some(rest.get(digits..).filter(|_| digits > 0).and_then(|r| r.strip_prefix(':')).unwrap_or(rest))
}

/// `node1: `, `rank0: `, `ip-10-0-0-1: `: a name with a digit, as pdsh, ansible and srun put it.
fn named(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(": ")?;
    let word = !name.is_empty()
        && name.len() < 64
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.'))
        && name.bytes().any(|b| b.is_ascii_digit())
        && name.bytes().any(|b| b.is_ascii_alphabetic());
    // `libhwloc.so.15: cannot open …` is a program's own word, `arm-smmu-v3.5.auto: ` and `nvidia-nvswitch0: ` are devices'.
    let device = [".so", "smmu", "nvidia-nvswitch"].iter().any(|d| name.contains(d));
    (word && !device).then_some((name, rest))
}

/// The host that such a name is, and what is behind it: not a rank.
#[must_use]
pub fn host(line: &str) -> Option<(&str, &str)> {
    let is_rank = |n: &str| n.strip_prefix("rank").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    named(line).filter(|(name, _)| !is_rank(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_launchers_go() {
        let line = "NVRM: Xid (PCI:0000:18:00): 79, pid=1";
        for before in [
            "",
            "   ",
            "[1,0]<stdout>:",
            "[rank3]:",
            "[default0]:",
            "[trainer0|1]:",
            "rank0: ",
            "0: ",
            "node1: ",
            "ip-10-0-0-1: ",
            "[pod/train-0/main] ",
            "worker-1  | ",
            "2024-01-31T12:00:00.123456789Z stdout F ",
            "2025-06-17 16:23:09,123 ",
            "[2025-06-17 16:23:09] ",
            "ERROR: ",
            "ERROR 06-19 07:06:13 [multiproc_executor.py:527] ",
            "(VllmWorker rank=3 pid=15164) ERROR 08-02 08:50:03 worker_base.py:382] ",
            "stderr: ",
            "(RayTrainWorker pid=1234, ip=10.0.0.1) ",
            "Nov 21 07:00:00 host app[12]: ",
            "11月 21 07:00:00 host nv-app[12]: ",
            "2026-08-18T19:05:26+0200 sys0 vllm[68046]: (EngineCore pid=68046) ",
            "app[12]: ",
            "/var/log/messages:12:",
            "{\"log\":\"",
            "[1,0]<stdout>:2024-01-31T12:00:00Z rank0: ",
        ] {
            let text = format!("{before}{line}");
            assert_eq!(own(&text), Printed { text: line, quoted: false }, "{text}");
            assert!(is_tags(before) && !is_prose(before), "{before}");
        }
        assert_eq!(own(&format!("> > {line}")), Printed { text: line, quoted: true });
        for kept in [
            "nvidia-nvswitch0: SXid (PCI:0000:c0:00.0): 20034, Fatal",
            "# heading",
            "* bullet",
            "We see",
            "libhwloc.so.15: cannot open",
            "transport/net_ib.cc:839 NCCL",
        ] {
            assert_eq!(own(kept).text, kept);
        }
    }

    #[test]
    fn a_span_that_is_a_line_is_opened() {
        for (line, want) in [
            ("`NVRM: x y`", "NVRM: x y"),
            ("  `NVRM: x y", "NVRM: x y"),
            ("```[ 12.5] NVRM: x", "[ 12.5] NVRM: x"),
            ("NVRM: x y```", "NVRM: x y"),
            ("```bash", "```bash"),
            ("see `NVRM: x y`", "see `NVRM: x y`"),
            ("`x y` means `z`", "`x y` means `z`"),
            ("- `NVRM: x y`", "- `NVRM: x y`"),
            ("NVRM: x y", "NVRM: x y"),
            ("", ""),
        ] {
            assert_eq!(span(line), want, "{line}");
        }
    }

    #[test]
    fn sentences_are_no_tags() {
        for before in [
            "We checked dmesg: no ",
            "see `",
            "- ",
            "$ grep '",
            "The log says ",
            "## ",
            "export X=1 # ",
            "dmesg shows ",
        ] {
            assert!(!is_tags(before), "{before}");
        }
        for before in ["We get this error: ", "* ", "$ echo ", "run `dmesg | grep ", "it says \""] {
            assert!(is_prose(before), "{before}");
        }
        for before in ["  | 2025-05-16T16:39:55.215-07:00 | ", "[Mon Nov 21 07:00:00 2026] ", "2025 I worker.cc:12] "] {
            assert!(!is_prose(before), "{before}");
        }
    }
}
