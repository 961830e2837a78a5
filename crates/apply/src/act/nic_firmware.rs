//! Settings of a NIC's firmware, by `mstconfig` or `mlxconfig`. What they set is in force after a reset or a reboot; here only the value for
//! that next start is looked at.

use super::{Done, FILE, Look, Made, Meta, Root, Undo, Wrong, run, unexpected};
use crate::journal::{Journal, Seen};
use linerate_formats::mlxconfig;

/// Seconds that a query or a setting may take.
const LIMIT: u32 = 120;

fn tool(root: &Root) -> Done<&'static str> {
    ["mstconfig", "mlxconfig"].into_iter().find(|name| root.program(name).is_ok()).ok_or_else(|| {
        Wrong::new("missing-program", "neither mstconfig (package mstflint) nor mlxconfig (NVIDIA's MFT) is installed")
    })
}

fn ask(root: &Root, device: &str, words: &[&str], mark: &str) -> Done<String> {
    let argv: Vec<String> = [tool(root)?, "-d", device].iter().chain(words).map(|w| (*w).to_owned()).collect();
    run::run(root, &argv, LIMIT, mark)
}

/// The value for the next start; the tool's own word for it.
fn next(root: &Root, device: &str, parameter: &str, mark: &str) -> Done<String> {
    plain(device, parameter)?;
    let text = ask(root, device, &["-e", "query", parameter], mark)?;
    value_of(&text, parameter).ok_or_else(|| {
        Wrong::new(
            "stale",
            format!("{device} shows no {parameter}: it may be hidden until ADVANCED_PCI_SETTINGS is in force. Make a new plan then"),
        )
    })
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
        Err(Wrong::failed(format!("{word:?} of {device:?} is no word for mstconfig")))
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

pub(super) fn check(root: &Root, device: &str, parameter: &str, expected: &str) -> Done<()> {
    let now = next(root, device, parameter, "check")?;
    if same(&now, expected) {
        return Ok(());
    }
    Err(Wrong::new(
        "stale",
        format!(
            "{parameter} of {device}: the plan expects {expected} for the next start, there is {now}: make a new plan"
        ),
    ))
}

/// Looks, and keeps all settings of the device as the tool prints them, and as it can load them again where it offers that.
pub(super) fn before(root: &Root, device: &str, parameter: &str, expected: &str, journal: &Journal) -> Done<Seen> {
    check(root, device, parameter, expected)?;
    let name: String = device.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let path = journal.kept(&format!("firmware-{name}.txt"));
    if !root.exists(&path) {
        let all = ask(root, device, &["-e", "query"], "check")?;
        root.replace(&path, all.as_bytes(), Meta::OWN)?;
    }
    let kept = root.read(&path, FILE)?.map(|t| t.bytes).unwrap_or_default();
    let shown = value_of(&String::from_utf8_lossy(&kept), parameter);
    Ok(Seen::Value { value: next(root, device, parameter, "check").or_else(|e| shown.ok_or(e))? })
}

pub(super) fn make(root: &Root, device: &str, parameter: &str, value: &str, mark: &str) -> Done<Made> {
    plain(device, value)?;
    let output = ask(root, device, &["-y", "set", &format!("{parameter}={}", written(value))], mark)?;
    let now = next(root, device, parameter, mark)?;
    if !same(&now, value) {
        let what = format!(
            "{parameter} of {device}: the tool reported success for {value}, and the next start's value is {now}"
        );
        return Err(Wrong::failed(what));
    }
    Ok(Made { after: Seen::Value { value: now }, output: Some(output) })
}

fn old_of(before: &Seen) -> Done<&str> {
    match before {
        Seen::Value { value } => Ok(value),
        _ => Err(Wrong::new("journal", "the journal has no value where the plan has one")),
    }
}

pub(super) fn stands(root: &Root, device: &str, parameter: &str, after: &str, before: &Seen) -> Done<Look> {
    let now = next(root, device, parameter, "check")?;
    let old = old_of(before)?;
    Ok(if same(&now, after) {
        Look::After(Seen::Value { value: now })
    } else if same(&now, old) {
        Look::Before
    } else {
        Look::Other(format!("{parameter} of {device} is {now}, neither as before nor as planned"))
    })
}

pub(super) fn undo(root: &Root, device: &str, parameter: &str, set: &str, before: &Seen, mark: &str) -> Done<Undo> {
    let (now, old) = (next(root, device, parameter, mark)?, old_of(before)?);
    if same(&now, old) {
        return Ok(Undo::Back(format!("{parameter} of {device} is {old} already")));
    }
    if !same(&now, set) {
        return Err(unexpected(format!("{parameter} of {device} is {now}, neither as linerate left it nor as it was")));
    }
    make(root, device, parameter, old, mark)?;
    Ok(Undo::Back(format!("{parameter} of {device} is {old} again for the next start")))
}

/// Puts the value back after an attempt that failed.
pub(super) fn put_back(root: &Root, device: &str, parameter: &str, before: &Seen, mark: &str) -> Done<()> {
    let old = old_of(before)?;
    if same(&next(root, device, parameter, mark)?, old) {
        Ok(())
    } else {
        make(root, device, parameter, old, mark).map(|_| ())
    }
}
