//! `Host` lines of `ssh`'s configuration: names without wildcards are nodes, because `ssh` knows the way to them.

use super::found::{Found, Kind, Text};
use linerate_fleet::nodeset::names_of;

/// What one file says, in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Read {
    /// Names, with what `HostName` says.
    pub found: Found,
    /// Patterns of `Include`, as they are written.
    pub includes: Vec<String>,
}

/// Reads one file. `Match` is not followed: what it holds for depends on more than a name.
#[must_use]
pub fn read(text: &str, what: &str) -> Read {
    let text_of = Text { kind: Kind::SshConfig, what };
    let mut out = Read::default();
    // Nodes of the present block, which its `HostName` is of.
    let mut block = 0..0;
    for (n, line) in text.lines().enumerate() {
        let words = words(line);
        let Some((keyword, values)) = words.split_first() else { continue };
        match keyword.to_ascii_lowercase().as_str() {
            "host" => {
                let from = out.found.nodes.len();
                for name in values.iter().filter(|v| !v.contains(['*', '?', '!', '%'])) {
                    // `ssh` takes names that no set can hold; they are no nodes of a set.
                    if names_of(name).is_ok_and(|set| set.contains(name)) && !name.starts_with('@') {
                        out.found.node(name, None, text_of.at(n));
                    }
                }
                block = from..out.found.nodes.len();
            }
            "match" => block = 0..0,
            "hostname" => {
                let Some(address) = values.first().filter(|a| !a.contains('%')) else { continue };
                for node in out.found.nodes.get_mut(block.clone()).unwrap_or_default() {
                    // The first value counts.
                    node.address.get_or_insert_with(|| address.clone());
                }
            }
            "include" => out.includes.extend(values.iter().cloned()),
            _ => {}
        }
    }
    out
}

/// Words of a line: the keyword may be followed by `=`; quotes keep blanks together; `#` begins a comment.
fn words(line: &str) -> Vec<String> {
    let line = line.trim();
    if line.starts_with('#') {
        return Vec::new();
    }
    let end = line.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(line.len());
    let (keyword, rest) = line.split_at_checked(end).unwrap_or((line, ""));
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('=').unwrap_or(rest);
    let mut out = vec![keyword.to_owned()];
    let (mut word, mut begun, mut quoted) = (String::new(), false, false);
    for c in rest.chars() {
        match c {
            '"' => (quoted, begun) = (!quoted, true),
            '#' if !quoted && !begun => break,
            c if c.is_whitespace() && !quoted => {
                if std::mem::take(&mut begun) {
                    out.push(std::mem::take(&mut word));
                }
            }
            c => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        out.push(word);
    }
    if keyword.is_empty() { Vec::new() } else { out }
}
