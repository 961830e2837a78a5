//! Settings of a NIC's firmware, by `mstconfig` or `mlxconfig`. What they set is in force after a reset or a reboot; here only the value for
//! that next start is looked at.

use super::value::old;
use super::{ActDone, Done, FILE, Hands, Look, Made, Meta, Root, Texts, Undo, Wrong, program, unexpected};
use crate::journal::{Journal, Seen};
use linerate_formats::mlxconfig;
use linerate_remedy::NicFirmwareAct;

/// Seconds that a query or a setting may take.
const LIMIT: u32 = 120;

fn tool(root: &Root) -> Done<&'static str> {
    ["mstconfig", "mlxconfig"].into_iter().find(|name| root.program(name).is_ok()).ok_or_else(|| {
        Wrong::new("missing-program", "neither mstconfig (package mstflint) nor mlxconfig (NVIDIA's MFT) is installed")
    })
}

fn ask(hands: &Hands<'_>, device: &str, words: &[&str]) -> Done<String> {
    let argv: Vec<String> = [tool(hands.root)?, "-d", device].iter().chain(words).map(|w| (*w).to_owned()).collect();
    program::run(hands, &argv, LIMIT)
}

/// The value for the next start; the tool's own word for it.
fn next(hands: &Hands<'_>, NicFirmwareAct { device, parameter, .. }: &NicFirmwareAct) -> Done<String> {
    plain(device, parameter)?;
    let text = ask(hands, device, &["-e", "query", parameter])?;
    value_of(&text, parameter).ok_or_else(|| {
        Wrong::new(
            "stale",
            format!("{device} shows no {parameter}: it may be hidden until ADVANCED_PCI_SETTINGS is in force. Make a new plan then"),
        )
    })
}

/// Sets a value, and reads it.
fn set(hands: &Hands<'_>, act: &NicFirmwareAct, value: &str) -> Done<Made> {
    let NicFirmwareAct { device, parameter, .. } = act;
    plain(device, value)?;
    let output = ask(hands, device, &["-y", "set", &format!("{parameter}={}", written(value))])?;
    let now = next(hands, act)?;
    if !same(&now, value) {
        let what = format!(
            "{parameter} of {device}: the tool reported success for {value}, but the value for the next boot is {now}"
        );
        return Err(Wrong::failed(what));
    }
    Ok(Made { after: Seen::Value { value: now }, output: Some(output) })
}

/// Refuses another value for the next start than the plan expects.
fn expected(hands: &Hands<'_>, act: &NicFirmwareAct) -> Done<()> {
    let (now, NicFirmwareAct { device, parameter, before, .. }) = (next(hands, act)?, act);
    if same(&now, before) {
        return Ok(());
    }
    Err(Wrong::new(
        "stale",
        format!(
            "{parameter} of {device}: the plan expects {before} for the next boot, but it is {now}: make a new plan"
        ),
    ))
}

fn value_of(text: &str, parameter: &str) -> Option<String> {
    let query = mlxconfig::parse(text.as_bytes());
    query
        .devices
        .iter()
        .flat_map(|d| &d.params)
        .find(|p| p.name == parameter)
        .and_then(|p| p.next.as_ref().map(|v| v.raw.to_string()))
}

/// Words that go to a tool: nothing that it could read as an option.
fn plain(device: &str, word: &str) -> Done<()> {
    let fits = |word: &str| {
        !word.is_empty()
            && !word.starts_with('-')
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.:/[]()-".contains(&b))
    };
    if fits(device) && fits(word) {
        Ok(())
    } else {
        Err(Wrong::failed(format!("{word:?} of {device:?} cannot be passed to mstconfig")))
    }
}

/// What is written for a value that the tool shows as `per_mkey(0)`: the number.
fn written(value: &str) -> String {
    mlxconfig::Value::new(value).number.map_or_else(|| value.to_owned(), |number| number.to_string())
}

/// Whether two spellings are one value: `True(1)`, `1` and `True`.
fn same(a: &str, b: &str) -> bool {
    let (a, b) = (mlxconfig::Value::new(a), mlxconfig::Value::new(b));
    let label = |v: &mlxconfig::Value| v.label.as_ref().unwrap_or(&v.raw).to_ascii_lowercase();
    match (a.number, b.number) {
        (Some(a), Some(b)) => a == b,
        _ => label(&a) == label(&b),
    }
}

impl ActDone for NicFirmwareAct {
    fn check(&self, hands: &Hands<'_>, _: &mut Texts) -> Vec<Wrong> {
        expected(hands, self).err().into_iter().collect()
    }

    /// Keeps all settings of the device as the tool prints them.
    fn before(&self, hands: &Hands<'_>, journal: &Journal, _: &str) -> Done<Seen> {
        expected(hands, self)?;
        let root = hands.root;
        let name: String = self.device.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let path = journal.kept(&format!("firmware-{name}.txt"));
        if !root.exists(&path) {
            let all = ask(hands, &self.device, &["-e", "query"])?;
            root.replace(&path, all.as_bytes(), Meta::OWN)?;
        }
        let kept = root.read(&path, FILE)?.map(|t| t.bytes).unwrap_or_default();
        let shown = value_of(&String::from_utf8_lossy(&kept), &self.parameter);
        Ok(Seen::Value { value: next(hands, self).or_else(|e| shown.ok_or(e))? })
    }

    fn make(&self, hands: &Hands<'_>, _: &Journal, _: &Seen) -> Done<Made> {
        set(hands, self, &self.after)
    }

    fn look(&self, hands: &Hands<'_>, _: &Journal, before: &Seen) -> Done<Look> {
        let (now, old) = (next(hands, self)?, old(before)?);
        Ok(match () {
            () if same(&now, &self.after) => Look::After(Seen::Value { value: now }),
            () if same(&now, old) => Look::Before,
            () => {
                Look::Other(format!("{} of {} is {now}, neither as before nor as planned", self.parameter, self.device))
            }
        })
    }

    fn undo(&self, hands: &Hands<'_>, _: &Journal, before: &Seen, _: Option<&Seen>, _: bool) -> Done<Undo> {
        let (now, old, what) = (next(hands, self)?, old(before)?, format!("{} of {}", self.parameter, self.device));
        if same(&now, old) {
            return Ok(Undo::Back(format!("{what} is {old} already")));
        }
        if !same(&now, &self.after) {
            return Err(unexpected(format!("{what} is {now}, neither as linerate left it nor as it was")));
        }
        set(hands, self, old)?;
        Ok(Undo::Back(format!("{what} is {old} again for the next boot")))
    }

    fn put_back(&self, hands: &Hands<'_>, _: &Journal, before: &Seen) -> Done<()> {
        let old = old(before)?;
        if same(&next(hands, self)?, old) { Ok(()) } else { set(hands, self, old).map(drop) }
    }

    fn keeps(&self, seen: &Seen) -> bool {
        matches!(seen, Seen::Value { .. })
    }
}
