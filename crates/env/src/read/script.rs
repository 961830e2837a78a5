//! Shell scripts: `export`, `VAR=x command`, and the options by which launchers hand variables on.

use super::Sink;
use super::list::is_name;
use super::relevant;
use super::words::Word;

/// Commands whose words are only shown or searched.
const TALK: &[&str] = &["echo", "printf", "grep", "egrep", "rg", "sed", "awk", "test", "[", "[[", "log", "alias"];

pub(super) fn read(text: &str, out: &mut Sink) {
    commands(text, 1, out);
}

/// The settings of a piece of script, whose first line has this number.
pub(super) fn commands(text: &str, line: usize, out: &mut Sink) {
    super::words::commands(text, line, &mut |part| out.part(part, one));
}

/// Commands that only show their words.
const SHOW: &[&str] = &["echo", "printf", "log"];
/// Words of the shell before a command.
const BEFORE: &[&str] = &["if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "sudo", "command"];

fn one(words: &[Word], out: &mut Sink) {
    let mut plain = words.iter().map(|(w, _)| w.as_str());
    let first = plain.find(|w| assignment(w).is_none() && !BEFORE.contains(w)).unwrap_or_default();
    if !SHOW.contains(&first) {
        words.iter().for_each(|(w, _)| expansions(w, out));
    }
    if TALK.contains(&first) {
        return;
    }
    let mut list = words.iter();
    while let Some((word, line)) = list.next() {
        let line = *line;
        match word.as_str() {
            "unset" if word == first => list.by_ref().for_each(|(n, _)| out.unset(n)),
            // csh, and the options of MPICH and Intel MPI: name and value are two words.
            "setenv" | "-genv" | "-env" | "--genv" => {
                let mut two = list.clone();
                if let (Some((name, _)), Some((value, _))) = (two.next(), two.next())
                    && is_name(name)
                {
                    put(name, value, line, out);
                    list = two;
                }
            }
            "--export" => {
                if let Some((value, line)) = list.next() {
                    exports(value, *line, out);
                }
            }
            w if w.starts_with("--export=") => exports(w.trim_start_matches("--export="), line, out),
            w => {
                let w = w.strip_prefix("--env=").or_else(|| w.strip_prefix("-e=")).unwrap_or(w);
                if let Some((name, value)) = assignment(w) {
                    put(name, value, line, out);
                }
            }
        }
    }
}

/// Names that a word reads: `$NAME`, `${NAME…}`. Handed on by its own name (`-x A=$A`), a variable is not read by the script.
fn expansions(word: &str, out: &mut Sink) {
    let own = assignment(word).map(|(name, _)| name);
    for piece in word.split('$').skip(1) {
        let name = piece.strip_prefix('{').unwrap_or(piece);
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        let name = name.get(..end).unwrap_or_default();
        if own != Some(name) {
            out.reads(name);
        }
    }
}

/// `ALL,NAME=value,OTHER`: Slurm cuts at each comma that no quote protects.
fn exports(list: &str, line: usize, out: &mut Sink) {
    for piece in list.split(',') {
        if let Some((name, value)) = assignment(piece) {
            put(name, value.trim_matches(['\'', '"']), line, out);
        }
    }
}

fn put(name: &str, value: &str, line: usize, out: &mut Sink) {
    out.put(name, &default_of(value), Some(line));
}

/// `NAME=value`, where the name is one. `NAME+=value` sets nothing that could be known.
fn assignment(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').filter(|(n, _)| is_name(n))
}

/// `${NAME:-value}` stands for its default.
fn default_of(value: &str) -> String {
    let inner = value.strip_prefix("${").and_then(|v| v.strip_suffix('}'));
    let default = inner.and_then(|i| {
        let end = i.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        let rest = i.get(end..)?;
        rest.strip_prefix(":-").or_else(|| rest.strip_prefix(":=")).or_else(|| rest.strip_prefix('-'))
    });
    default.map_or_else(|| value.to_owned(), |d| d.trim_matches(['"', '\'']).to_owned())
}

/// A line of a manifest that may be a piece of script: only where it could set a variable that linerate reads.
pub(super) fn fragment(text: &str, line: usize, out: &mut Sink) {
    let hints = ["NCCL", "nccl", "UCX_", "FI_", "CUDA_", "IB_"];
    if hints.iter().any(|h| text.contains(h))
        && (text.contains('=') || text.contains("setenv") || text.contains("-genv"))
    {
        let before = out.read.settings.len();
        commands(text, line, out);
        // A word such as `a=b` in prose is not a setting.
        debug_assert!(out.read.settings.iter().skip(before).all(|s| relevant(&s.name)));
    }
}
