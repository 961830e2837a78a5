//! One line: tags, time, fields.

use super::run::{Field, Memory, NotFinite, Seconds, Step, TFlops, Who};
use crate::error::{SHOWN, Why, shown};
use crate::units::{GiB, PerSecond, Percent};
use smol_str::SmolStr;

/// Longest tag that is kept.
const MAX_TAG: usize = 128;

/// What a line of a step says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Found {
    pub(super) step: Step,
    pub(super) is_validation: bool,
    /// Fields that the line names, by [`bit`].
    pub(super) fields: u8,
    /// The loss is −1.
    pub(super) hides_loss: bool,
    pub(super) not_finite: Vec<(Field, NotFinite)>,
    pub(super) refused: Vec<Why>,
}

/// A field's bit in a set of fields.
pub(super) fn bit(field: Field) -> u8 {
    1 << field as u8
}

/// Reads the tags of launchers before a line: who, and what is left.
pub(super) fn who(line: &str) -> (Who, &str) {
    let mut who = Who::default();
    let mut rest = line.trim_start();
    // Deeper than any launcher in a launcher.
    for _ in 0..6 {
        let Some(after) = tag(rest, &mut who) else { break };
        rest = after.trim_start();
    }
    (who, rest)
}

fn tag<'a>(text: &'a str, who: &mut Who) -> Option<&'a str> {
    match text.as_bytes().first()? {
        b'>' => text.get(1..),
        b'[' => bracket(text, who),
        b'(' => {
            // Ray's `(TrainWorker pid=12, ip=10.0.0.1) `.
            let (inner, rest) = text.get(1..)?.split_once(')')?;
            let is_ray = inner.contains("pid=") && inner.len() <= MAX_TAG;
            is_ray.then(|| who.host = Some(SmolStr::new(inner)))?;
            Some(rest)
        }
        b'0'..=b'9' => {
            let end = text.bytes().position(|b| !b.is_ascii_digit())?;
            let (number, rest) = text.split_at_checked(end)?;
            if let Some(after) = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(":[")) {
                who.task = number.parse().ok();
                let shift = rest.len() - after.len() - usize::from(rest.starts_with(":["));
                return rest.get(shift..);
            }
            container_time(text)
        }
        b'a'..=b'z' | b'A'..=b'Z' => {
            let (name, rest) = text.split_once('|')?;
            let name = name.strip_suffix(' ')?.trim_end();
            let is_name = !name.contains([' ', ':']) && name.len() <= MAX_TAG;
            is_name.then(|| who.host = Some(SmolStr::new(name)))?;
            Some(rest)
        }
        _ => None,
    }
}

fn bracket<'a>(text: &'a str, who: &mut Who) -> Option<&'a str> {
    let (inner, rest) = text.get(1..)?.split_once(']')?;
    if inner.len() > MAX_TAG {
        return None;
    }
    if let Some(stream) = rest.strip_prefix('<') {
        let (_, rest) = stream.split_once('>')?;
        who.rank = inner.rsplit_once(',').and_then(|(_, n)| n.trim().parse().ok());
        return Some(rest.strip_prefix(':').unwrap_or(rest));
    }
    let after = rest.strip_prefix(':').unwrap_or(rest);
    if let Some(number) = inner.strip_prefix("rank") {
        who.rank = Some(number.trim().parse().ok()?);
        return Some(after);
    }
    if inner.starts_with("pod/") {
        who.host = Some(SmolStr::new(inner));
        return Some(rest);
    }
    // torchrun: a role and the rank on the node, `[default0]:`.
    let end = inner.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (role, number) = inner.split_at_checked(end)?;
    let is_role = !role.is_empty() && role.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if is_role && rest.starts_with(':') {
        who.local = Some(number.parse().ok()?);
        return Some(after);
    }
    None
}

/// `2024-01-31T12:00:00.123456789Z `, with the `stdout F ` of a container runtime.
fn container_time(text: &str) -> Option<&str> {
    let (stamp, rest) = text.split_once(' ')?;
    let is_time = stamp.len() >= 20 && stamp.as_bytes().get(10) == Some(&b'T');
    let streams = ["stdout F ", "stderr F ", "stdout P ", "stderr P "];
    is_time.then(|| streams.iter().find_map(|s| rest.strip_prefix(s)).unwrap_or(rest))
}

/// The fields of a line whose text begins at `step:`.
pub(super) fn fields(line: u32, text: &str, is_validation: bool) -> Option<Found> {
    let mut found = Found { is_validation, ..Found::default() };
    found.step.line = line;
    let mut words = crate::text::words(text.strip_prefix("step:")?);
    let number = words.next()?;
    found.step.step = grouped(number.trim_end_matches(',')).filter(|n| n.fract() == 0.0 && *n >= 0.0).map(whole)?;
    let mut key: Option<&str> = None;
    for word in words.take(64) {
        if let Some(name) = word.strip_suffix(':') {
            // A field without its value: the line is another program's, or cut.
            if let Some(name) = key {
                found.refused.push(Why::NoValue(name.into()));
            }
            key = field(name).map(|_| name);
            continue;
        }
        // `(37.51%)` and other words between fields belong to nobody.
        if let Some((field, name)) = key.take().and_then(|k| Some((field(k)?, k))) {
            found.take(field, name, word.trim_end_matches(','));
        }
    }
    if let Some(name) = key {
        found.refused.push(Why::NoValue(name.into()));
    }
    // Many programs print a step and a loss; tokens per second beside a step are a measurement by themselves.
    let tps = found.fields & bit(Field::Tps) != 0;
    let is_one = tps || found.fields & bit(Field::Loss) != 0 && found.fields.count_ones() > 1;
    found.step.is_finite = found.not_finite.is_empty();
    is_one.then_some(found)
}

fn field(name: &str) -> Option<Field> {
    Some(match name {
        "loss" => Field::Loss,
        "grad_norm" => Field::GradNorm,
        "memory" | "peak_memory" => Field::Memory,
        "tps" | "wps" => Field::Tps,
        "tflops" => Field::Tflops,
        "mfu" => Field::Mfu,
        "end_to_end" | "end_to_end(s)" | "time_metrics/end_to_end(s)" => Field::EndToEnd,
        _ => return None,
    })
}

impl Found {
    fn take(&mut self, field: Field, name: &str, word: &str) {
        self.fields |= bit(field);
        let step = &mut self.step;
        let read = match field {
            Field::Memory => memory(word).map(|m| step.memory = Some(m)),
            Field::Mfu if word == "N/A" => Ok(()),
            Field::Mfu => match word.strip_suffix('%') {
                Some(number) => value(number).map(|v| step.mfu = Some(Percent(v))),
                None => Err(value(word).err().unwrap_or(Not::Read)),
            },
            Field::Loss => value(word).map(|v| {
                #[allow(clippy::float_cmp)] // The program prints this very number.
                let hidden = v == -1.0;
                self.hides_loss |= hidden;
                step.loss = (!hidden).then_some(v);
            }),
            Field::GradNorm => value(word).map(|v| step.grad_norm = Some(v)),
            Field::Tps => positive(word).map(|v| step.tps = Some(PerSecond(v))),
            Field::Tflops => positive(word).map(|v| step.tflops = Some(TFlops(v))),
            Field::EndToEnd => positive(word.trim_end_matches('s')).map(|v| step.end_to_end = Some(Seconds(v))),
        };
        match read {
            Ok(()) => {}
            Err(Not::Finite(what)) => self.not_finite.push((field, what)),
            Err(Not::Read) => {
                self.refused.push(Why::Value { word: shown(word, SHOWN), field: name.into() });
            }
        }
    }
}

/// Why a word is no value.
#[derive(Debug, Clone, Copy)]
enum Not {
    Finite(NotFinite),
    Read,
}

fn value(word: &str) -> Result<f64, Not> {
    match word {
        "nan" | "NaN" | "-nan" => Err(Not::Finite(NotFinite::NotANumber)),
        "inf" | "Infinity" => Err(Not::Finite(NotFinite::Infinite)),
        "-inf" | "-Infinity" => Err(Not::Finite(NotFinite::NegativeInfinite)),
        _ => grouped(word).ok_or(Not::Read),
    }
}

fn positive(word: &str) -> Result<f64, Not> {
    value(word).and_then(|v| if v >= 0.0 { Ok(v) } else { Err(Not::Read) })
}

/// `66.91GiB(37.51%)`, `37.51%`.
fn memory(word: &str) -> Result<Memory, Not> {
    let share = |w: &str| w.strip_suffix('%').ok_or(Not::Read).and_then(positive).map(Percent);
    let Some((size, rest)) = word.split_once("GiB") else {
        return share(word).map(|s| Memory { reserved: None, share: Some(s) });
    };
    // Devices that do not tell their use print −0.00: −1 byte.
    let reserved = value(size).map(|v| (v >= 0.0 && !size.starts_with('-')).then_some(GiB(v)))?;
    let share = match rest.strip_prefix('(').and_then(|r| r.strip_suffix(')')) {
        Some(inner) if reserved.is_some() => Some(share(inner)?),
        Some(_) => None,
        None if rest.is_empty() => None,
        None => return Err(Not::Read),
    };
    Ok(Memory { reserved, share })
}

/// A finite number; thousands may be set off by commas, as the program prints them, where each group has three digits.
pub(super) fn grouped(word: &str) -> Option<f64> {
    let plain = |w: &str| {
        let is_number = w.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
        is_number.then(|| w.parse::<f64>().ok()).flatten().filter(|v| v.is_finite())
    };
    if !word.contains(',') {
        return plain(word);
    }
    let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
    let mut groups = whole.trim_start_matches('-').split(',');
    let first = groups.next()?;
    let is_digits = |g: &str| g.bytes().all(|b| b.is_ascii_digit());
    let fits = (1..=3).contains(&first.len()) && is_digits(first) && groups.all(|g| g.len() == 3 && is_digits(g));
    if !fits || !is_digits(fraction) {
        return None;
    }
    plain(&word.chars().filter(|c| *c != ',').collect::<String>())
}

/// A number of steps.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Not negative and whole; a float saturates.
fn whole(v: f64) -> u64 {
    v as u64
}
