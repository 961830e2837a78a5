//! Patterns of messages: literal text with places for what differs. `{n}`: digits and dots; `{w}`: one word, without blanks; `{}`: any text.
//! A pattern fits the beginning of a text; with `$` at its end the whole text, but for a full stop.

/// Whether a text begins as the pattern says, or is what it says.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, whole) = pattern.strip_suffix('$').map_or((pattern, false), |p| (p, true));
    walk(pattern, text).is_some_and(|rest| !whole || rest.trim().trim_end_matches('.').is_empty())
}

/// What follows a pattern in a text.
fn walk<'t>(pattern: &str, text: &'t str) -> Option<&'t str> {
    let Some((literal, hole)) = pattern.split_once('{') else { return text.strip_prefix(pattern) };
    let text = text.strip_prefix(literal)?;
    let (kind, rest) = hole.split_once('}')?;
    let next = rest.split('{').next().unwrap_or_default();
    let end = match kind {
        "n" => {
            let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
            // A full stop behind a number ends a sentence.
            text.get(..end)?.trim_end_matches('.').len()
        }
        _ if next.is_empty() => text.len(),
        _ => text.find(next)?,
    };
    let (inside, text) = text.split_at_checked(end)?;
    let is_word = kind != "w" || !inside.contains(char::is_whitespace);
    (!inside.is_empty() && is_word).then(|| walk(rest, text)).flatten()
}

/// The longest literal piece: what a text that fits contains.
pub(super) fn anchor(pattern: &'static str) -> &'static str {
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern);
    let pieces = pattern.split('{').map(|p| p.split_once('}').map_or(p, |(_, literal)| literal));
    pieces.max_by_key(|p| p.len()).unwrap_or(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, want) in [
            ("found version {n})", "found version 12020).", true),
            ("found version {n})", "found version N)", false),
            ("{n}/{n} clients joined", "1/2 clients joined.", true),
            ("Device={n} CANNOT$", "Device=0 CANNOT.", true),
            ("Device={n} CANNOT$", "Device=0 CANNOT do it", false),
            ("to {w}:{n}", "to host:29500", true),
            ("to {w}:{n}", "to a host:29500", false),
            ("at {}: no", "at some place: no", true),
            ("at {}: no", "at : no", false),
            ("version {n}. Please", "version 1.2. Please", true),
        ] {
            assert_eq!(fits(pattern, text), want, "{pattern} | {text}");
        }
        assert_eq!(anchor("to {w}:{n} and then {}"), " and then ");
    }
}
