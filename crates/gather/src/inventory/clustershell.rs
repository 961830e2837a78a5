//! ClusterShell's groups: `groups.conf`, flat files (`group: nodes`) and YAML files. Commands in `groups.conf` are not run.

use super::found::{Found, Kind, Text, Wrong};

/// What `groups.conf` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conf {
    /// The default source.
    pub default: Option<String>,
    /// Directories of files with groups.
    pub autodir: Vec<String>,
    /// Directories of further such configurations.
    pub confdir: Vec<String>,
    /// Sources whose groups come from commands, with their 0-based line.
    pub upcalls: Vec<(String, usize)>,
}

/// Reads `groups.conf`.
#[must_use]
pub fn conf(text: &str) -> Conf {
    let mut out = Conf::default();
    let mut section = String::new();
    for (n, line) in text.lines().enumerate() {
        // An indented line belongs to the value before it.
        if line.starts_with(char::is_whitespace) || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.split(']').next()) {
            name.clone_into(&mut section);
            if name != "Main" {
                out.upcalls.extend(name.split(',').map(|s| (s.trim().to_owned(), n)));
            }
            continue;
        }
        let Some((key, value)) = line.split_once([':', '=']) else { continue };
        let value = value.trim();
        let words = || value.split_whitespace().map(|w| w.trim_matches(['"', '\'']).to_owned()).collect();
        match (section.as_str(), key.trim()) {
            ("Main", "default") if !value.is_empty() => out.default = Some(value.to_owned()),
            ("Main", "autodir") => out.autodir = words(),
            ("Main", "confdir" | "groupsdir") => out.confdir = words(),
            _ => {}
        }
    }
    out
}

/// Reads a flat file of one source: `group: nodes`. Its group `all` is all of the source's nodes.
#[must_use]
pub fn flat(text: &str, source: &str, what: &str) -> Found {
    let text_of = Text { kind: Kind::ClusterShell, what };
    let mut found = Found::default();
    for (n, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        match line.split_once(':') {
            Some((group, set)) if is_group(group.trim()) => found.group(source, group.trim(), set, &text_of.at(n)),
            _ => found.wrong(text_of.at(n), Wrong::Form("GROUP: NODES")),
        }
    }
    found
}

/// Reads a YAML file: sources, in each groups, in each a set or a list of sets. Nothing else of YAML is read.
#[must_use]
pub fn yaml(text: &str, what: &str) -> Found {
    const FORM: &str = "SOURCE: / GROUP: NODES / - NODES, of YAML";
    let text_of = Text { kind: Kind::ClusterShell, what };
    let mut found = Found::default();
    let mut source: Option<String> = None;
    let mut group: Option<(String, usize)> = None;
    for (n, line) in text.lines().enumerate() {
        let bare = without_comment(line);
        let content = bare.trim();
        if content.is_empty() || content == "---" || content == "..." {
            continue;
        }
        let place = text_of.at(n);
        let indent = bare.len() - bare.trim_start().len();
        if indent == 0 {
            let name = content.strip_suffix(':').and_then(scalar).filter(|s| is_group(s));
            if name.is_none() {
                found.wrong(place, Wrong::Form(FORM));
            }
            (source, group) = (name, None);
            continue;
        }
        let Some(source) = source.as_deref() else { continue };
        if let (Some(item), Some((name, _))) = (content.strip_prefix("- "), &group) {
            match scalar(item.trim()) {
                Some(set) => found.group(source, name, &set, &place),
                None => found.wrong(place, Wrong::Form(FORM)),
            }
            continue;
        }
        let pair = key(content);
        match (pair, &group) {
            (Some((name, value)), g) if g.as_ref().is_none_or(|(_, at)| *at == indent) && is_group(&name) => {
                let sets = match value.strip_prefix('[').and_then(|v| v.strip_suffix(']')) {
                    // A list on one line; a set in brackets is quoted there.
                    Some(list) => flow(list),
                    None if value.is_empty() => Some(String::new()),
                    None => scalar(value),
                };
                match sets {
                    Some(sets) => found.group(source, &name, &sets, &place),
                    None => found.wrong(place, Wrong::Form(FORM)),
                }
                group = Some((name, indent));
            }
            _ => found.wrong(place, Wrong::Form(FORM)),
        }
    }
    found
}

/// A key and its value.
fn key(content: &str) -> Option<(String, &str)> {
    let quote = content.chars().next().filter(|c| "'\"".contains(*c));
    if let Some(quote) = quote {
        let (name, rest) = content.get(1..)?.split_once(quote)?;
        return Some((name.to_owned(), rest.trim_start().strip_prefix(':')?.trim()));
    }
    let (name, value) = content.split_once(": ").or_else(|| Some((content.strip_suffix(':')?, "")))?;
    Some((name.trim().to_owned(), value.trim()))
}

/// A text, with or without quotes; none of YAML's other values.
fn scalar(text: &str) -> Option<String> {
    for quote in ['\'', '"'] {
        if let Some(inner) = text.strip_prefix(quote) {
            return inner.strip_suffix(quote).filter(|i| !i.contains([quote, '\\'])).map(str::to_owned);
        }
    }
    let odd = text.starts_with(['{', '[', '&', '*', '!', '|', '>', '%', '@', '`', '?', ',']);
    (!odd && !text.is_empty() && !text.contains(": ")).then(|| text.to_owned())
}

/// Texts of a list on one line, separated by blanks.
fn flow(list: &str) -> Option<String> {
    let mut out = Vec::new();
    let mut rest = list.trim();
    while !rest.is_empty() {
        let quote = rest.chars().next().filter(|c| "'\"".contains(*c));
        let (item, after) = match quote {
            Some(quote) => rest.get(1..)?.split_once(quote)?,
            None => rest.split_once(',').map_or((rest, ""), |(item, _)| (item, rest.get(item.len()..).unwrap_or(""))),
        };
        out.push(item.trim().to_owned());
        rest = after.trim_start();
        rest = rest.strip_prefix(',').or_else(|| rest.is_empty().then_some(""))?.trim_start();
    }
    Some(out.join(" "))
}

/// A line without a comment, which begins at `#` outside of quotes, behind a blank.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut before) = (None, ' ');
    for (at, c) in line.char_indices() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if c == '#' && before.is_whitespace() => return line.get(..at).unwrap_or(line).trim_end(),
            None if "'\"".contains(c) => quote = Some(c),
            None => {}
        }
        before = c;
    }
    line.trim_end()
}

fn is_group(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "@,!&^*:".contains(c))
}
