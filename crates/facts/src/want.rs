//! What is wanted of a fact: the words of a policy, of a plan's proofs, and of a question about many nodes.

use crate::{Def, Form, Unit};
use linerate_formats::mlxconfig;
use linerate_formats::pci::LinkSpeed;
use linerate_formats::size;
use linerate_formats::wildcard;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// What is wanted of the value of a fact. Values are written as [`crate::Value`] displays them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Want {
    /// This value.
    Equals(String),
    /// A number no further from this one than so many millionths of the larger.
    Near(String, u32),
    /// One of these.
    OneOf(Vec<String>),
    /// A number, or a link's speed, that is no less.
    AtLeast(String),
    /// A number, or a link's speed, that is no more.
    AtMost(String),
    /// A version that is not older: numbers between other characters are compared one by one.
    VersionAtLeast(String),
    /// A text that fits, where `*` is any run of characters.
    Matches(String),
    /// A text that holds this one.
    Contains(String),
    /// It is there, whatever its value.
    Present,
    /// It is certainly not there.
    Absent,
    /// Of a list, no other words than these.
    NoOther(Vec<String>),
}

/// Whether a value is as wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// The value is of no form that can be compared so.
    Unclear,
}

impl Want {
    /// Whether a value that was seen is as wanted; `None`: it is certainly not there.
    #[must_use]
    pub fn holds(&self, def: &Def, seen: Option<&str>) -> Holds {
        let yes = |b: bool| if b { Holds::Yes } else { Holds::No };
        let Some(seen) = seen else { return yes(matches!(self, Want::Absent)) };
        let order = |wanted: &str, fits: &dyn Fn(Ordering) -> bool| match (number(def, seen), number(def, wanted)) {
            (Some(a), Some(b)) => a.partial_cmp(&b).map_or(Holds::Unclear, |o| yes(fits(o))),
            _ => Holds::Unclear,
        };
        match self {
            Want::Equals(v) => yes(same(def, v, seen)),
            Want::Near(v, millionths) => match (number(def, seen), number(def, v)) {
                (Some(a), Some(b)) if a == b => Holds::Yes,
                (Some(a), Some(b)) => yes((a - b).abs() <= f64::from(*millionths) / 1e6 * a.abs().max(b.abs())),
                _ => yes(same(def, v, seen)),
            },
            Want::OneOf(all) => yes(all.iter().any(|v| same(def, v, seen))),
            Want::AtLeast(v) => order(v, &|o| o != Ordering::Less),
            Want::AtMost(v) => order(v, &|o| o != Ordering::Greater),
            Want::VersionAtLeast(v) => match (version(seen), version(v)) {
                (a, b) if !a.is_empty() && !b.is_empty() => yes(a >= b),
                _ => Holds::Unclear,
            },
            Want::Matches(p) => yes(wildcard::star(p.as_bytes(), seen.as_bytes())),
            Want::Contains(t) => yes(seen.contains(t.as_str())),
            Want::Present => Holds::Yes,
            Want::Absent => Holds::No,
            Want::NoOther(words) => yes(words.iter().any(|w| w == seen)),
        }
    }

    /// Several, of which all must hold.
    #[must_use]
    pub fn all(wants: &[Want], def: &Def, seen: Option<&str>) -> Holds {
        let mut out = Holds::Yes;
        for one in wants.iter().map(|w| w.holds(def, seen)) {
            match one {
                Holds::No => return Holds::No,
                Holds::Unclear => out = Holds::Unclear,
                Holds::Yes => {}
            }
        }
        out
    }

    /// The one value that is wanted, where it is one.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        match self {
            Want::Equals(v) | Want::Near(v, _) => Some(v),
            Want::OneOf(all) => all.first().map(String::as_str),
            Want::AtLeast(v) | Want::AtMost(v) => Some(v),
            _ => None,
        }
    }
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Want::Equals(v) if v.is_empty() => f.write_str("empty"),
            Want::Equals(v) => f.write_str(v),
            Want::Near(v, millionths) => write!(f, "{v} ± {} %", f64::from(*millionths) / 1e4),
            Want::OneOf(all) => write!(f, "one of {}", all.join(", ")),
            Want::AtLeast(v) => write!(f, "at least {v}"),
            Want::AtMost(v) => write!(f, "at most {v}"),
            Want::VersionAtLeast(v) => write!(f, "version {v} or newer"),
            Want::Matches(p) => write!(f, "like {p}"),
            Want::Contains(t) => write!(f, "with {t}"),
            Want::Present => f.write_str("there"),
            Want::Absent => f.write_str("not there"),
            Want::NoOther(words) if words.is_empty() => f.write_str("nothing"),
            Want::NoOther(words) => write!(f, "nothing but {}", words.join(" ")),
        }
    }
}

/// Whether two texts are the same value of a fact.
fn same(def: &Def, wanted: &str, seen: &str) -> bool {
    if wanted == seen {
        return true;
    }
    if def.id.starts_with("nic_firmware.settings.") {
        return same_setting(wanted, seen);
    }
    match def.form {
        Form::Number | Form::Signed | Form::Real | Form::Speed | Form::Limit => {
            matches!((number(def, wanted), number(def, seen)), (Some(a), Some(b)) if a == b)
        }
        Form::Hex => hex(wanted).is_some_and(|a| hex(seen) == Some(a)),
        _ => false,
    }
}

/// `per_mkey(0)`, `per_mkey` and `0` are one value; a name decides where both have one.
fn same_setting(a: &str, b: &str) -> bool {
    let (a, b) = (mlxconfig::Value::new(a), mlxconfig::Value::new(b));
    let name = |v: &mlxconfig::Value| {
        // A name without its number is the whole value.
        let raw = v.number.is_none().then(|| v.raw.to_ascii_lowercase());
        v.label.as_ref().map(|n| n.to_ascii_lowercase()).or(raw)
    };
    match (name(&a), name(&b), a.number, b.number) {
        (Some(x), Some(y), ..) => x == y,
        (_, _, Some(x), Some(y)) => x == y,
        _ => false,
    }
}

fn hex(text: &str) -> Option<u32> {
    u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}

/// A number in the unit of the fact. A unit of bytes may be written behind it: `64 GiB`.
#[must_use]
pub fn number(def: &Def, text: &str) -> Option<f64> {
    let text = text.trim();
    if def.form == Form::Speed {
        return LinkSpeed::parse(text).map(LinkSpeed::gigatransfers);
    }
    if def.form == Form::Limit && text == "unlimited" {
        return Some(f64::INFINITY);
    }
    let text = text.strip_prefix('x').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+')).unwrap_or(text.len());
    let (digits, unit) = (text.get(..end)?, text.get(end..)?.trim());
    let value: f64 = digits.parse().ok()?;
    if unit.is_empty() {
        return Some(value);
    }
    let own = match def.unit {
        Unit::Bytes => 1.0,
        Unit::Kib => 1024.0,
        Unit::Mib => 1024.0 * 1024.0,
        other => return (unit == other.symbol() && !unit.is_empty()).then_some(value),
    };
    let scale = if unit == "bytes" { 1 } else { size::unit(unit)? };
    Some(value * scale as f64 / own)
}

/// The numbers of a version, one after the other.
fn version(text: &str) -> Vec<u64> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::defs;

    fn held(id: &str, want: &Want, seen: Option<&str>) -> Holds {
        let def = defs().find(|d| d.id == id).expect("a fact");
        want.holds(def, seen)
    }

    #[test]
    fn values_are_compared_as_their_forms_ask() {
        let eq = |v: &str| Want::Equals(v.into());
        for (id, want, seen, yes) in [
            ("net.mtu", eq("9000"), Some("9000"), true),
            ("net.mtu", eq("9000"), Some("1500"), false),
            ("net.mtu", eq("9000"), None, false),
            ("net.mtu", Want::Absent, None, true),
            ("net.mtu", Want::Absent, Some("1"), false),
            ("net.mtu", Want::AtLeast("4200".into()), Some("9000"), true),
            ("net.mtu", Want::AtMost("4200".into()), Some("9000"), false),
            ("memory.total_kib", Want::AtLeast("2 TiB".into()), Some("2147483648"), true),
            ("memory.total_kib", Want::AtLeast("2 TiB".into()), Some("2147483647"), false),
            ("memory.total_kib", Want::AtLeast("2 TB".into()), Some("1953125000"), true),
            ("memory.total_kib", Want::AtLeast("2 TB".into()), Some("1953124999"), false),
            ("memory.total_kib", Want::Near("1000".into(), 10_000), Some("1009"), true),
            ("memory.total_kib", Want::Near("1000".into(), 10_000), Some("1020"), false),
            ("pci.link.max_speed", Want::AtLeast("16 GT/s".into()), Some("32 GT/s"), true),
            ("pci.link.max_width", eq("16"), Some("x16"), true),
            ("pci.vendor", eq("0x15B3"), Some("15b3"), true),
            ("memory.memlock.soft_bytes", Want::AtLeast("64 GiB".into()), Some("unlimited"), true),
            ("memory.memlock.soft_bytes", Want::AtLeast("64 GiB".into()), Some("8192 KiB"), false),
            ("rdma.firmware", Want::VersionAtLeast("28.39.1002".into()), Some("28.43.1014"), true),
            ("rdma.firmware", Want::VersionAtLeast("28.39.1002".into()), Some("28.39.999"), false),
            ("rdma.firmware", Want::Matches("28.*".into()), Some("28.43.1014"), true),
            ("nic_firmware.settings.current", eq("per_mkey"), Some("per_mkey(0)"), true),
            ("nic_firmware.settings.current", eq("0"), Some("per_mkey(0)"), true),
            ("nic_firmware.settings.current", eq("force_relax"), Some("per_mkey(0)"), false),
        ] {
            let wanted = if yes { Holds::Yes } else { Holds::No };
            assert_eq!(held(id, &want, seen), wanted, "{id} {want:?} {seen:?}");
        }
        assert_eq!(held("net.operstate", &Want::AtLeast("1".into()), Some("up")), Holds::Unclear);
        assert_eq!(held("rdma.firmware", &Want::VersionAtLeast("1".into()), Some("unknown")), Holds::Unclear);
    }
}
