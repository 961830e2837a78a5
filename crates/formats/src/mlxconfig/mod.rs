//! `mlxconfig`/`mstconfig query`: firmware parameters of a ConnectX or BlueField device, as text or JSON.

mod json;
mod table;
mod text;

pub use json::parse_json;
pub use text::{Query, parse, parse_like, parse_text};

use crate::pci::Bdf;
use crate::text::{At, trim};
use crate::tool::{Command, Gives, Mark, Tool, seen, starts};
use serde::Serialize;
use smol_str::SmolStr;

/// A query, as text.
pub const TEXT: Tool = Tool {
    name: "mlxconfig-text",
    called: "mlxconfig",
    run: "mlxconfig -d DEVICE -e query",
    gives: Gives::Facts,
    marks: &[
        Mark::line(|l| {
            starts(l, &["Device type:", "-E- Failed to open device", "-E- Failed to query"])
                || starts(l, &["Configurations:"]) && l.contains("Next Boot")
        })
        .begins(&["Device type:", "-E- Failed to ", "Configurations:"]),
        Mark::line(table::is_row).begins(&["|"]),
        // Labelled values such as `True(1)` are the tool's own; a table of upper-case words is not enough.
        Mark::whole(|text| {
            let labelled = |p: &Param| p.next.as_ref().is_some_and(|v| v.label.is_some());
            has_label(text) && parse_text(text).devices.iter().any(|d| d.params.iter().any(labelled))
        }),
    ],
    commands: &[Command::any("mlxconfig"), Command::any("mstconfig")],
    files: &["mlxconfig", "mstconfig"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "   ATS_ENABLED       False(0)\n",
        "| setting | n1 | n2 |\n|---|---|---|\n| ATS_ENABLED | True(1) | False(0) |\n",
        "-E- Failed to open device: x\n",
    ],
    ..Tool::NONE
};

/// A query, as JSON.
pub const JSON: Tool = Tool {
    name: "mlxconfig-json",
    called: "mlxconfig",
    run: "mlxconfig -d DEVICE -j FILE query",
    gives: Gives::Facts,
    marks: &[Mark::json(|text| text.contains("\"tlv_configuration\""))],
    read: Some(|b| seen(parse_json(b).is_ok())),
    samples: &["{\"Device #1\":{\"tlv_configuration\":{}}}"],
    ..Tool::NONE
};

/// Which values a query shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Columns {
    /// A plain query: what will hold after the next reset, not what holds now.
    NextBootOnly,
    /// `-e`: default, current and next boot.
    DefaultCurrentNext,
}

/// One device of a query.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct NicConfig {
    /// First line of the device's block.
    pub line: u32,
    /// `Device type:`, e.g. `ConnectX7`.
    pub device_type: Option<At<String>>,
    /// `Name:`, the part number.
    pub name: Option<At<String>>,
    /// `Description:`.
    pub description: Option<At<String>>,
    /// `Device:` as printed: a PCI address, a `/dev/mst` path, or a network interface. `None` where the text does not show it.
    pub device: Option<At<String>>,
    /// The PCI address, where `device` is one.
    pub bdf: Option<Bdf>,
    /// Which columns the parameters have. `None` where no parameter and no header was seen.
    pub columns: Option<Columns>,
    /// A person put it beside the other devices of the text, to compare them.
    pub beside: bool,
    /// Parameters in the order of the text.
    pub params: Vec<Param>,
}

impl NicConfig {
    /// A parameter by its exact name.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|p| p.name == name)
    }

    pub(crate) fn empty(line: u32) -> Self {
        NicConfig { line, ..NicConfig::default() }
    }

    pub(crate) fn set_device(&mut self, device: &str, line: u32) {
        self.bdf = device.parse().ok();
        self.device = Some(At::new(device.to_owned(), line));
    }
}

/// One firmware parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Param {
    /// Name, with an index where the query was for an array element (`PCI_DOWNSTREAM_PORT_OWNER[0]`).
    pub name: SmolStr,
    /// Factory or OEM default; only with `-e`.
    pub default: Option<Value>,
    /// What the running firmware uses; only with `-e`.
    pub current: Option<Value>,
    /// What will be used after the next reset.
    pub next: Option<Value>,
    /// The `*` of the text (next differs from default or from current), or `modified` of the JSON.
    pub modified: bool,
    /// The `RO` of the text: cannot be set from this host.
    pub read_only: bool,
    /// 1-based source line.
    pub line: u32,
}

/// A value as printed: `True(1)`, `per_mkey(0)`, `128`, `Array[0..7]`, `N/A`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Value {
    /// As printed.
    pub raw: SmolStr,
    /// The number: bare, or the one in parentheses.
    pub number: Option<i64>,
    /// The text before the parentheses, e.g. `True`.
    pub label: Option<SmolStr>,
}

impl Value {
    /// Reads a printed value.
    pub fn new(raw: &str) -> Self {
        let raw = trim(raw);
        let labelled =
            raw.strip_suffix(')').and_then(|r| r.rsplit_once('(')).and_then(|(l, n)| Some((l, parse_number(n)?)));
        match labelled {
            Some((label, number)) => Value { raw: raw.into(), number: Some(number), label: Some(label.into()) },
            None => Value { raw: raw.into(), number: parse_number(raw), label: None },
        }
    }

    /// A boolean that is true: by its number, which firmware uses; by its label only where there is no number.
    pub fn is_true(&self) -> bool {
        self.as_bool() == Some(true)
    }

    /// A boolean that is false.
    pub fn is_false(&self) -> bool {
        self.as_bool() == Some(false)
    }

    /// The value as a boolean; `None` for anything that is neither 0/1 nor True/False.
    pub fn as_bool(&self) -> Option<bool> {
        let label = self.label.as_deref().unwrap_or(&self.raw);
        match self.number {
            Some(0) => Some(false),
            Some(1) => Some(true),
            Some(_) => None,
            None if label.eq_ignore_ascii_case("true") => Some(true),
            None if label.eq_ignore_ascii_case("false") => Some(false),
            None => None,
        }
    }

    /// `N/A`: the tool could not read it.
    pub fn is_unavailable(&self) -> bool {
        self.raw == "N/A"
    }
}

/// Whether a number in parentheses may stand in a text, which is much quicker said than its parameters are read.
fn has_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    let begins_number = |b: &u8| b.is_ascii_digit() || matches!(b, b'+' | b'-') || !b.is_ascii_graphic();
    memchr::memchr_iter(b'(', bytes).any(|at| bytes.get(at + 1).is_some_and(begins_number))
}

fn parse_number(text: &str) -> Option<i64> {
    let text = trim(text);
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok().and_then(|n| i64::try_from(n).ok()),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_every_spelling() {
        for (raw, number, label) in [
            ("True(1)", Some(1), Some("True")),
            ("per_mkey(0)", Some(0), Some("per_mkey")),
            ("_256KB(1)", Some(1), Some("_256KB")),
            ("128", Some(128), None),
            ("0x10", Some(16), None),
            ("-1", Some(-1), None),
            ("N/A", None, None),
            ("Array[0..7]", None, None),
            ("99999999999999999999", None, None),
        ] {
            let v = Value::new(raw);
            assert_eq!((v.number, v.label.as_deref(), v.raw.as_str()), (number, label, raw));
        }
        assert!(Value::new("True(1)").is_true() && Value::new("False(0)").is_false() && Value::new("1").is_true());
        assert_eq!(Value::new("DEVICE_DEFAULT(2)").as_bool(), None);
        assert!(Value::new("N/A").is_unavailable());
    }
}
