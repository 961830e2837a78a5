//! YAML and JSON: pods, Deployments, training jobs, compose files, Helm templates. Line by line, because templates are no YAML: pairs of
//! `name` and `value`, `NCCL_X: y`, lists of `NCCL_X=y`, and scripts in `command`, `args` and ConfigMaps.

use super::list::is_name;
use super::names::is_small;
use super::{Sink, relevant, script};

/// Keys below which another environment begins.
const SCOPES: &[&str] =
    &["env", "environment", "containers", "initContainers", "template", "Launcher", "Worker", "Master", "services"];

pub(super) fn read(text: &str, out: &mut Sink) {
    let mut pair = Pair::default();
    for (n, line) in text.lines().enumerate() {
        let n = n + 1;
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        // As `kubectl describe` has it.
        if trimmed.starts_with("Environment Variables from:") {
            out.elsewhere("envFrom", "", n);
            continue;
        }
        if trimmed == "---" {
            out.next_scope();
            pair = Pair::default();
            continue;
        }
        let mut rest = trimmed;
        while let Some(item) = rest.strip_prefix("- ").or_else(|| (rest == "-").then_some("")) {
            pair = Pair::default();
            rest = item.trim_start();
        }
        if rest.starts_with(['{', '[', '}', ']']) && !rest.starts_with("{{") {
            flow(rest, n, None, &mut pair, out);
            continue;
        }
        match key_value(rest) {
            Some((key, value)) => {
                if SCOPES.contains(&key) {
                    out.next_scope();
                    pair = Pair::default();
                }
                if value.starts_with(['{', '[']) && !value.starts_with("{{") {
                    flow(value, n, Some(key.to_owned()), &mut pair, out);
                } else {
                    entry(key, value, n, &mut pair, out);
                }
            }
            // An item, or a line of a script. A quoted item is its content.
            None => script::fragment(&item(rest), n, out),
        }
    }
}

/// The halves of an entry of `env`. A value whose name linerate does not read is forgotten at once: it may be a secret.
#[derive(Default)]
struct Pair {
    name: Option<(String, usize)>,
    value: Option<String>,
    foreign: bool,
    /// The name that follows is that of an object that sets variables.
    holder: Option<&'static str>,
}

/// What a key of `envFrom` says sets variables.
fn holder(key: &str) -> Option<&'static str> {
    match key {
        "configMapRef" => Some("ConfigMap"),
        "secretRef" => Some("Secret"),
        _ => None,
    }
}

impl Pair {
    /// Begins an object of this key.
    fn open(&mut self, key: &str, n: usize, out: &mut Sink) {
        if key == "valueFrom" {
            // Another object holds it.
            self.value("$(valueFrom)".to_owned(), out);
        }
        let holder = holder(key);
        if let Some(kind) = holder {
            out.elsewhere("envFrom", kind, n);
        }
        *self = Pair { holder, ..Pair::default() };
    }

    fn name(&mut self, name: String, n: usize, out: &mut Sink) {
        if let Some(kind) = self.holder.take() {
            if let Some(e) = out.read.elsewhere.last_mut() {
                e.holder = format!("{kind} {}", linerate_formats::text::at_most(&name, 200));
            }
            return;
        }
        if is_name(&name) && relevant(&name) {
            self.name = Some((name, n));
            self.put(out);
        } else {
            *self = Pair { foreign: true, ..Pair::default() };
        }
    }

    fn value(&mut self, value: String, out: &mut Sink) {
        if !self.foreign {
            self.value = Some(value);
            self.put(out);
        }
    }

    fn put(&mut self, out: &mut Sink) {
        if let (Some((name, line)), Some(value)) = (&self.name, &self.value) {
            out.put(name, value, Some(*line));
            *self = Pair { foreign: true, ..Pair::default() };
        }
    }
}

fn entry(key: &str, value: &str, n: usize, pair: &mut Pair, out: &mut Sink) {
    let scalar = || scalar(value);
    match key {
        "name" => return pair.name(scalar(), n, out),
        // Kubernetes takes `value: null` for an empty one.
        "value" => return pair.value(if is_null(value) { String::new() } else { scalar() }, out),
        "valueFrom" | "configMapRef" | "secretRef" => return pair.open(key, n, out),
        "env_file" => out.elsewhere(key, &scalar(), n),
        // As `kubectl describe` has it.
        key if is_name(key) && relevant(key) && value.starts_with("<set to") => out.put(key, "$(valueFrom)", Some(n)),
        // `nccl_x: y` is a key of a template or of a program's own configuration.
        key if is_name(key) && relevant(key) && is_small(key) => {}
        // `NCCL_X: null` sets nothing.
        key if is_name(key) && relevant(key) && is_null(value) => {}
        key if is_name(key) && relevant(key) && !value.is_empty() => out.put(key, &scalar(), Some(n)),
        // `command: mpirun -x NCCL_X=y …`
        _ => script::fragment(&scalar(), n, out),
    }
    // What is between is no entry of `env`.
    *pair = Pair::default();
}

/// `key: value`, `"key": value,`. The key has no blanks; after the colon comes a blank or the end.
fn key_value(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = match line.strip_prefix('"') {
        Some(quoted) => {
            let (key, rest) = quoted.split_once('"')?;
            (key, rest.trim_start().strip_prefix(':')?)
        }
        None => line.split_once(':')?,
    };
    let fits =
        !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/'));
    (fits && (rest.is_empty() || rest.starts_with([' ', '\t', '"', '\'']))).then(|| (key, rest.trim()))
}

/// A scalar: quotes and comment off.
fn scalar(text: &str) -> String {
    let text = text.trim();
    let quoted = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let Some(quote) = quoted else {
        let end = text.find(" #").unwrap_or(text.len());
        return text.get(..end).unwrap_or(text).trim_end().trim_end_matches(',').to_owned();
    };
    let mut out = String::new();
    let mut chars = text.chars().skip(1).peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quote == '"' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(c) => out.push(c),
                None => {}
            },
            '\'' if quote == '\'' && chars.peek() == Some(&'\'') => {
                chars.next();
                out.push('\'');
            }
            c if c == quote => break,
            c => out.push(c),
        }
    }
    out
}

/// YAML's and JSON's null; in quotes it is a word.
fn is_null(text: &str) -> bool {
    let quoted = text.trim_start().starts_with(['"', '\'']);
    !quoted && matches!(scalar(text).as_str(), "null" | "Null" | "NULL" | "~")
}

/// An item of a list: a quoted scalar with its comma, or the line.
fn item(text: &str) -> String {
    let bare = text.trim_end().trim_end_matches([',', ']']).trim_end();
    let whole = ['"', '\''].iter().any(|q| bare.len() > 1 && bare.starts_with(*q) && bare.ends_with(*q));
    if whole { scalar(bare) } else { text.to_owned() }
}

/// Flow style on one line: `{name: X, value: "y"}`, `["mpirun", "-x", "X=y"]`, JSON without line ends.
fn flow(text: &str, n: usize, key: Option<String>, pair: &mut Pair, out: &mut Sink) {
    let mut rest = text;
    let mut key = key;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '{' | '[' => {
                let of = key.take();
                if c == '{' {
                    pair.open(of.as_deref().unwrap_or_default(), n, out);
                }
                if of.is_some_and(|k| SCOPES.contains(&k.as_str())) {
                    out.next_scope();
                }
                rest = after;
            }
            '}' | ']' | ',' => {
                key = None;
                rest = after;
            }
            c if c.is_whitespace() || c == ':' => rest = after,
            _ => {
                let end = scalar_end(rest);
                let (word, more) = rest.split_at(end);
                let more_trimmed = more.trim_start();
                let is_key = more_trimmed.starts_with(':') && key.is_none();
                let null = is_null(word);
                let word = scalar(word);
                if is_key {
                    key = Some(word);
                    rest = more_trimmed.get(1..).unwrap_or_default();
                } else {
                    match key.take() {
                        Some(k) if null => entry(&k, "null", n, pair, out),
                        Some(k) => entry(&k, &quoted(&word), n, pair, out),
                        None => script::fragment(&word, n, out),
                    }
                    rest = more;
                }
            }
        }
    }
}

/// Quotes again what [`entry`] takes off.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "''"))
}

/// Where a flow scalar ends. At least one character.
fn scalar_end(text: &str) -> usize {
    let mut chars = text.char_indices();
    let Some((_, first)) = chars.next() else { return 0 };
    if matches!(first, '"' | '\'') {
        let mut escaped = false;
        for (at, c) in chars {
            match c {
                _ if escaped => escaped = false,
                '\\' if first == '"' => escaped = true,
                c if c == first => return at + 1,
                _ => {}
            }
        }
        return text.len();
    }
    // A colon ends a key only before a blank: `=mlx5_0:1` goes on.
    let mut last = None;
    for (at, c) in chars {
        if matches!(c, ',' | '}' | ']') || (last == Some(':') && c.is_whitespace()) {
            return if last == Some(':') { at - 1 } else { at };
        }
        last = Some(c);
    }
    if last == Some(':') { text.len() - 1 } else { text.len() }
}
