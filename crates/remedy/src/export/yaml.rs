//! YAML as it is written here: block style, every string quoted or a literal block.

use linerate_out::yaml::scalar;

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Y {
    /// A string.
    Str(String),
    /// A number.
    Num(i64),
    /// True or false.
    Bool(bool),
    /// A list.
    List(Vec<Y>),
    /// A map in this order.
    Map(Vec<(String, Y)>),
}

impl Y {
    pub(super) fn str(text: impl Into<String>) -> Y {
        Y::Str(text.into())
    }

    pub(super) fn map<const N: usize>(entries: [(&str, Y); N]) -> Y {
        Y::Map(entries.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
    }

    pub(super) fn strings<S: AsRef<str>>(items: &[S]) -> Y {
        Y::List(items.iter().map(|i| Y::str(i.as_ref())).collect())
    }

    /// A document, without `---`.
    pub(super) fn document(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0, false);
        out
    }

    fn empty(&self) -> bool {
        matches!(self, Y::List(l) if l.is_empty()) || matches!(self, Y::Map(m) if m.is_empty())
    }

    /// Writes with a line end. `inline`: the line is begun (`- `).
    fn write(&self, out: &mut String, depth: usize, inline: bool) {
        let pad = |out: &mut String, first: bool| {
            if !(first && inline) {
                out.push_str(&"  ".repeat(depth));
            }
        };
        match self {
            Y::List(items) if !items.is_empty() => {
                for (n, item) in items.iter().enumerate() {
                    pad(out, n == 0);
                    out.push_str("- ");
                    item.write(out, depth + 1, true);
                }
            }
            Y::Map(entries) if !entries.is_empty() => {
                for (n, (key, value)) in entries.iter().enumerate() {
                    pad(out, n == 0);
                    out.push_str(&if plain_key(key) { key.clone() } else { scalar(key) });
                    out.push(':');
                    match value {
                        Y::List(_) | Y::Map(_) if !value.empty() => {
                            out.push('\n');
                            value.write(out, depth + 1, false);
                        }
                        other => {
                            out.push(' ');
                            other.scalar(out, depth + 1);
                        }
                    }
                }
            }
            other => {
                pad(out, true);
                other.scalar(out, depth);
            }
        }
    }

    fn scalar(&self, out: &mut String, depth: usize) {
        match self {
            Y::Str(text) if literal(text) => {
                out.push_str("|\n");
                for line in text.lines() {
                    if !line.is_empty() {
                        out.push_str(&"  ".repeat(depth.max(1)));
                        out.push_str(line);
                    }
                    out.push('\n');
                }
            }
            Y::Str(text) => out.push_str(&format!("{}\n", scalar(text))),
            Y::Num(n) => out.push_str(&format!("{n}\n")),
            Y::Bool(b) => out.push_str(&format!("{b}\n")),
            Y::List(_) => out.push_str("[]\n"),
            Y::Map(_) => out.push_str("{}\n"),
        }
    }
}

/// A key that needs no quotes in any version of YAML.
fn plain_key(key: &str) -> bool {
    key.len() > 1
        && key.bytes().next().is_some_and(|b| b.is_ascii_alphabetic())
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/'))
        && !["true", "false", "yes", "no", "on", "off", "null", "inf", "nan"]
            .contains(&key.to_ascii_lowercase().as_str())
}

/// Whether a text may be a literal block: some lines of printable ASCII, the first without leading spaces, one line end at the end.
fn literal(text: &str) -> bool {
    text.lines().count() > 1
        && text.ends_with('\n')
        && !text.ends_with("\n\n")
        && !text.starts_with([' ', '\n', '\t'])
        && text.bytes().all(|b| matches!(b, b'\n' | b' '..=b'~'))
        && text.lines().all(|l| l.is_empty() || !l.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_y() -> impl Strategy<Value = Y> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Y::Str),
            "[ -~\n]{0,40}\n".prop_map(Y::Str),
            any::<i64>().prop_map(Y::Num),
            any::<bool>().prop_map(Y::Bool),
        ];
        leaf.prop_recursive(4, 30, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Y::List),
                prop::collection::btree_map(prop_oneof![any::<String>(), "[a-z.]{1,9}"], inner, 0..5)
                    .prop_map(|m| Y::Map(m.into_iter().collect())),
            ]
        })
    }

    fn same(a: &Y, b: &serde_yaml_ng::Value) -> bool {
        use serde_yaml_ng::Value;
        match (a, b) {
            (Y::Str(a), Value::String(b)) => a == b,
            (Y::Num(a), Value::Number(b)) => b.as_i64() == Some(*a),
            (Y::Bool(a), Value::Bool(b)) => a == b,
            (Y::List(a), Value::Sequence(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
            (Y::Map(a), Value::Mapping(b)) => {
                a.len() == b.len() && a.iter().all(|(k, v)| b.get(Value::String(k.clone())).is_some_and(|b| same(v, b)))
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn a_reader_reads_what_was_written(y in any_y()) {
            let text = y.document();
            let read: serde_yaml_ng::Value = serde_yaml_ng::from_str(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
            prop_assert!(same(&y, &read), "{text}\n{y:?}\n{read:?}");
        }
    }
}
