//! Reading descriptions: text, files, inheritance.

use crate::{DescribeError, Description};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Bases of bases at most.
const MAX_BASES: usize = 4;
/// Lists that a description adds to, rather than replaces.
const APPENDED: [&str; 4] = ["remove", "denied", "lines", "edit"];

impl Description {
    /// Reads a description that has no `base`.
    ///
    /// # Errors
    /// With the line of what is not understood; for a `base`, which only [`Self::load`] can find.
    pub fn parse(toml: &str) -> Result<Self, DescribeError> {
        let description: Description = toml::from_str(toml).map_err(|e| syntax("<text>", toml, &e))?;
        match &description.base {
            Some(base) => Err(DescribeError::impossible(
                format!("the text is based on {base:?}, which only a file can be"),
                "load it from a file, or parse it with its base by Description::parse_over",
            )),
            None => Ok(description),
        }
    }

    /// Reads a description that patches another, both given as text. A `base` in `toml` is taken to mean `base`.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_over(base: &str, toml: &str) -> Result<Self, DescribeError> {
        merged(vec![("<base>".into(), base.to_owned()), ("<text>".into(), toml.to_owned())])
    }

    /// Reads a description from a file; `base = "healthy-8gpu"` is looked for beside the file and in the folder above.
    ///
    /// # Errors
    /// When a file cannot be read, with the line of what is not understood, or when bases form a circle.
    pub fn load(path: &Path) -> Result<Self, DescribeError> {
        let mut texts = Vec::new();
        let mut at = path.to_owned();
        loop {
            let text = std::fs::read_to_string(&at).map_err(|source| DescribeError::Io { path: at.clone(), source })?;
            let file = at.display().to_string();
            let own: Description = toml::from_str(&text).map_err(|e| syntax(&file, &text, &e))?;
            texts.insert(0, (file, text));
            let Some(base) = own.base else { break };
            if texts.len() > MAX_BASES {
                return Err(DescribeError::impossible(
                    format!("{}: more than {MAX_BASES} bases", path.display()),
                    "does a description inherit from itself?",
                ));
            }
            at = find(&at, &base);
        }
        merged(texts)
    }
}

fn find(from: &Path, base: &str) -> PathBuf {
    let folder = from.parent().unwrap_or(Path::new(""));
    let name = if base.ends_with(".toml") { base.to_owned() } else { format!("{base}.toml") };
    let beside = folder.join(&name);
    match folder.parent() {
        Some(above) if !beside.exists() => above.join(&name),
        // `broken` as a relative folder has the current one above it.
        None if !beside.exists() => Path::new("..").join(&name),
        _ => beside,
    }
}

fn merged(texts: Vec<(String, String)>) -> Result<Description, DescribeError> {
    let mut whole = Table::new();
    let mut last = String::new();
    for (file, text) in texts {
        // Each file is checked alone first: only then a message can name a line.
        let _: Description = toml::from_str(&text).map_err(|e| syntax(&file, &text, &e))?;
        let mut own: Table = toml::from_str(&text).map_err(|e| syntax(&file, &text, &e))?;
        own.remove("base");
        whole.remove("expect");
        whole.remove("title");
        merge(&mut whole, own);
        last = file;
    }
    whole.try_into().map_err(|e: toml::de::Error| syntax(&last, "", &e))
}

/// Tables are merged name by name; everything else replaces, except the lists that are added to.
fn merge(into: &mut Table, from: Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) => merge(old, new),
            (Some(Value::Array(old)), Value::Array(new)) if APPENDED.contains(&key.as_str()) => old.extend(new),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

fn syntax(file: &str, text: &str, e: &toml::de::Error) -> DescribeError {
    let line = e.span().map_or(0, |s| 1 + text.bytes().take(s.start).filter(|b| *b == b'\n').count());
    let what = e.message().replace('\n', " ");
    let help = if what.contains("unknown field") || what.contains("unknown variant") {
        "see lab/nodes/README.md for the format"
    } else {
        ""
    };
    DescribeError::Syntax { file: file.to_owned(), line, what, help: help.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let e = Description::parse("title = \"x\"\n[node]\nsokets = 2\n").unwrap_err().to_string();
        assert!(e.contains(":3:") && e.contains("sokets") && e.contains("sockets"), "{e}");
    }

    #[test]
    fn a_patch_merges_tables_and_replaces_values() {
        let base = "remove = [\"a\"]\n[node]\nsockets = 1\nseed = 7\n[pci.gpu0]\nmps = 256\n[[expect]]\nrule='x'\nstatus='pass'";
        let own = "base = \"b\"\nremove = [\"b\"]\n[node]\nsockets = 2\n[pci.gpu0]\nmrrs = 512\n";
        let d = Description::parse_over(base, own).unwrap();
        assert_eq!((d.node.sockets, d.node.seed), (2, 7));
        assert_eq!((d.pci["gpu0"].mps, d.pci["gpu0"].mrrs), (Some(256), Some(512)));
        assert_eq!(d.remove, ["a", "b"]);
        assert!(d.expect.is_empty());
    }
}
