//! Settings of the system's firmware as its BMC shows them, and which of them a finding means.
//!
//! A rule says "node interleaving: off"; a BMC says `NodeInterleaving`, `Enabled` or `Disabled`. What is set, and to which word, is always
//! the BMC's own: a name is looked for among its attributes, and a value among those that its registry allows. What is not found is left to
//! people, never guessed.

pub(crate) mod names;

use names::{Setting, Want, fits};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a BMC shows of a system's firmware.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Setup {
    /// Attributes by the service's names.
    pub attributes: BTreeMap<String, Attribute>,
}

/// An attribute.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attribute {
    /// Value in force.
    pub active: Value,
    /// Value that waits for the next start; `None`: the service does not show one.
    pub pending: Option<Value>,
    /// Its name in the setup (`DisplayName` of the registry).
    pub display: Option<String>,
    /// It cannot be set.
    pub read_only: bool,
    /// Values that it takes, where the registry lists them.
    pub values: Option<Vec<String>>,
}

/// An attribute that a finding asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Meant<'s> {
    pub(crate) setting: &'static Setting,
    pub(crate) name: &'s str,
    pub(crate) attribute: &'s Attribute,
    /// The value to set, in the attribute's own words.
    pub(crate) value: Value,
}

/// What is meant by a part of a rule's words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found<'s> {
    /// This attribute, with this value.
    One(Meant<'s>),
    /// Nothing that can be set: why.
    Open(&'static Setting, String),
}

impl Setup {
    /// The attributes that a rule's setting and value mean, part by part: `Above 4G Decoding, Resizable BAR` are two.
    pub(crate) fn find(&self, setting: &str, value: &str) -> Vec<Found<'_>> {
        names::of(setting).map(|s| self.one(s, value)).collect()
    }

    fn one(&self, setting: &'static Setting, value: &str) -> Found<'_> {
        let open = |why: String| Found::Open(setting, why);
        if setting.want == Want::Decide {
            return open("its value depends on the machine: choose it in the firmware setup".to_owned());
        }
        // The most telling name first: a machine has several that belong to one subject.
        for (known, _) in setting.attributes {
            let all: Vec<(&String, &Attribute)> =
                self.attributes.iter().filter(|(name, a)| fits(known, name, a.display.as_deref())).collect();
            let (name, attribute) = match all.as_slice() {
                [] => continue,
                [one] => *one,
                several => {
                    let names: Vec<&str> = several.iter().map(|(n, _)| n.as_str()).collect();
                    return open(format!("several attributes of this BMC may match: {}", names.join(", ")));
                }
            };
            if attribute.read_only {
                return open(format!("{name} cannot be set: its registry says that it is read-only"));
            }
            return match wanted(setting.want, value, attribute) {
                Some(value) => Found::One(Meant { setting, name, attribute, value }),
                None => {
                    open(format!("{name} is {}, and it is not clear which of its values is meant", attribute.active))
                }
            };
        }
        open("this BMC shows no known attribute for it".to_owned())
    }
}

/// The value of an attribute that means what is wanted.
fn wanted(want: Want, asked: &str, attribute: &Attribute) -> Option<Value> {
    let off =
        want == Want::Switch && asked.split([',', ';', ' ']).any(|w| matches!(w, "off" | "disabled" | "Disabled"));
    if attribute.active.is_boolean() {
        return (want == Want::Switch).then_some(Value::Bool(!off));
    }
    let words: &[&str] = match (want, off) {
        (Want::Switch, false) => &["enabled", "enable", "on", "yes"],
        (Want::Switch, true) => &["disabled", "disable", "off", "no", "numa"],
        (Want::Payload, _) => &["256b", "256bytes", "256", "auto"],
        (Want::Decide, _) => &[],
    };
    if let Some(values) = &attribute.values {
        let word = words.iter().find_map(|w| values.iter().find(|v| names::plain(v) == *w))?;
        return Some(Value::String(word.clone()));
    }
    // Without a registry only the counterpart of the word in force is certain.
    let now = attribute.active.as_str()?;
    let pairs = [("Disabled", "Enabled"), ("Disable", "Enable"), ("Off", "On"), ("No", "Yes")];
    let (no, yes) = pairs.into_iter().find(|(no, yes)| want == Want::Switch && (now == *no || now == *yes))?;
    Some(Value::String(if off { no } else { yes }.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(all: &[(&str, Value, Option<&str>, &[&str])]) -> Setup {
        let attribute = |(name, active, display, values): &(&str, Value, Option<&str>, &[&str])| {
            let values = (!values.is_empty()).then(|| values.iter().map(|v| (*v).to_owned()).collect());
            let display = display.map(str::to_owned);
            ((*name).to_owned(), Attribute { active: active.clone(), display, values, ..Attribute::default() })
        };
        Setup { attributes: all.iter().map(attribute).collect() }
    }

    fn one(s: &Setup, setting: &str, value: &str) -> Option<(String, Value)> {
        s.find(setting, value).into_iter().find_map(|f| match f {
            Found::One(m) => Some((m.name.to_owned(), m.value)),
            Found::Open(..) => None,
        })
    }

    fn why(s: &Setup, setting: &str, value: &str) -> String {
        s.find(setting, value)
            .into_iter()
            .find_map(|f| match f {
                Found::Open(_, why) => Some(why),
                Found::One(_) => None,
            })
            .unwrap_or_default()
    }

    #[test]
    fn the_names_and_words_are_the_bmcs_own() {
        const ON: &[&str] = &["Enabled", "Disabled"];
        let dell = setup(&[
            ("NodeInterleave", "Enabled".into(), Some("Node Interleaving"), ON),
            ("ProcVirtualization", "Disabled".into(), None, ON),
            ("MmioAbove4Gb", "Disabled".into(), None, &[]),
        ]);
        assert_eq!(one(&dell, "node interleaving", "off"), Some(("NodeInterleave".into(), "Disabled".into())));
        assert_eq!(
            one(&dell, "Intel VT-d, AMD-Vi or IOMMU", "Enabled"),
            Some(("ProcVirtualization".into(), "Enabled".into()))
        );
        assert_eq!(
            one(&dell, "Above 4G Decoding, MMIO high base and size", "enabled, large enough for all GPUs"),
            Some(("MmioAbove4Gb".into(), "Enabled".into())),
            "without a registry the counterpart of the word in force"
        );
        let supermicro = setup(&[("IntelVTforDirectedI/O(VT-d)_00A4", "Disable".into(), None, &["Disable", "Enable"])]);
        assert_eq!(one(&supermicro, "Intel VT-d, AMD-Vi or IOMMU", "Enabled").map(|(_, v)| v), Some("Enable".into()));
        let lenovo = setup(&[("Memory_SocketInterleave", "Non-NUMA".into(), None, &["NUMA", "Non-NUMA"])]);
        assert_eq!(one(&lenovo, "node interleaving", "off").map(|(_, v)| v), Some("NUMA".into()));
        let dgx = setup(&[("PcieMaxPayload", "128B".into(), None, &["Auto", "128B", "256B"])]);
        assert_eq!(one(&dgx, "PCIe Max Payload Size", "256 bytes or automatic").map(|(_, v)| v), Some("256B".into()));
        let other = setup(&[("X17", false.into(), Some("ARI Support"), &[])]);
        assert_eq!(one(&other, "ARI Support", "enabled"), Some(("X17".into(), true.into())), "by the setup's name");
    }

    #[test]
    fn what_is_not_certain_is_not_set() {
        let s = setup(&[("NodeInterleaving", "Perhaps".into(), None, &[])]);
        assert!(why(&s, "node interleaving", "off").contains("not clear"));
        let s = setup(&[("NodeInterleaving", "Enabled".into(), None, &["Enabled", "Auto"])]);
        assert!(why(&s, "node interleaving", "off").contains("not clear"), "the wanted value is not there");
        let two = [
            ("NodeInterleaving_0001", "Enabled".into(), None, &[][..]),
            ("NodeInterleaving_0002", "Enabled".into(), None, &[]),
        ];
        assert!(why(&setup(&two), "node interleaving", "off").contains("several"));
        assert!(why(&setup(&[]), "node interleaving", "off").contains("no known attribute"));
        assert!(setup(&[]).find("something new", "on").is_empty());
        let mut s = setup(&[("NodeInterleaving", "Enabled".into(), None, &[])]);
        s.attributes.values_mut().for_each(|a| a.read_only = true);
        assert!(why(&s, "node interleaving", "off").contains("read-only"));
        let size = setup(&[("MemoryMappedIOH", "56TB".into(), None, &[])]);
        assert!(why(&size, "MMIO high size", "enabled").contains("choose it"));
    }
}
