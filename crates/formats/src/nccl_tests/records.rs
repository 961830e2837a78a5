//! The results of JSON documents, read without a tree: there may be very many.

use super::json::count;
use super::run::{Collective, Errors, Measure, PerIteration, Row, Run, Spread, Tool};
use crate::bounds::{Limit, leave_out};
use crate::error::Why;
use crate::record::has_room;
use crate::text::At;
use crate::units::{Bytes, GBps, Microseconds, Percent};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use smol_str::SmolStr;
use std::borrow::Cow;
use std::fmt;

/// What nccl-tests write.
#[derive(Debug, Deserialize)]
pub(super) struct Document {
    #[serde(default)]
    pub(super) results: Option<Results>,
    /// Everything else, which is small.
    #[serde(flatten)]
    pub(super) other: serde_json::Map<String, serde_json::Value>,
}

/// The results of nccl-tests, as rows of a run: there is no list of what was read beside that of what is kept. They have the line
/// [`LINE`].
#[derive(Debug)]
pub(super) struct Results(pub(super) Run);

/// The records of rccl-tests, as runs.
#[derive(Debug)]
pub(super) struct Records(pub(super) Vec<Run>);

/// The line of rows until it is known where their document is: that of a whole text.
pub(super) const LINE: u32 = 1;

impl<'de> Deserialize<'de> for Results {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Results;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of results")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Results, A::Error> {
                let mut run = Run::default();
                while let Some(result) = all.next_element::<NcclResult<'de>>()? {
                    result.put(&mut run, LINE);
                }
                Ok(Results(run))
            }
        }
        from.deserialize_seq(V)
    }
}

impl<'de> Deserialize<'de> for Records {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Records;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of records")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Records, A::Error> {
                let mut runs: Vec<Run> = Vec::new();
                let mut last: Option<Cow<'de, str>> = None;
                let mut is_own = true;
                while let Some(record) = all.next_element::<Record<'de>>()? {
                    // Another program's list: it is only read to its end.
                    is_own &= last.is_some() || record.alg_bw.is_some();
                    if is_own {
                        record.add(&mut runs, &mut last);
                    }
                }
                Ok(Records(runs))
            }
        }
        from.deserialize_seq(V)
    }
}

/// One size.
#[derive(Debug, Default, Deserialize)]
pub(super) struct NcclResult<'a> {
    #[serde(default)]
    pub(super) size: Number,
    #[serde(default)]
    pub(super) count: Number,
    #[serde(borrow, rename = "type", default)]
    pub(super) dtype: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) redop: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) root: Text<'a>,
    #[serde(default)]
    pub(super) out_of_place: Option<Half>,
    #[serde(default)]
    pub(super) in_place: Option<Half>,
    #[serde(default)]
    out_of_place_per_iter: Option<Box<Each>>,
    #[serde(default)]
    in_place_per_iter: Option<Box<Each>>,
}

/// One measurement.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Half {
    #[serde(default)]
    pub(super) time: Number,
    #[serde(default)]
    cpu_time: Number,
    #[serde(default)]
    pub(super) alg_bw: Number,
    #[serde(default)]
    pub(super) bus_bw: Number,
    #[serde(default)]
    pub(super) nwrong: Number,
}

/// Spread between iterations.
#[derive(Debug, Deserialize)]
struct Each {
    #[serde(default)]
    skipped_iterations: Number,
    #[serde(default)]
    min_us: Number,
    #[serde(default)]
    max_us: Number,
    #[serde(default)]
    avg_us: Number,
    #[serde(default)]
    p50_us: Number,
    #[serde(default)]
    p95_us: Number,
    #[serde(default)]
    p99_us: Number,
    #[serde(default)]
    stdev_us: Number,
    #[serde(default)]
    cv_pct: Number,
    #[serde(default)]
    times_us: Count,
}

/// What rccl-tests write for a measurement.
#[derive(Debug, Deserialize)]
struct Record<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(default)]
    size: Number,
    #[serde(borrow, rename = "type", default)]
    dtype: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    redop: Option<Cow<'a, str>>,
    #[serde(rename = "inPlace", default)]
    in_place: Number,
    #[serde(default)]
    time: Number,
    #[serde(rename = "algBw", default)]
    alg_bw: Number,
    #[serde(rename = "busBw", default)]
    bus_bw: Number,
    #[serde(default)]
    wrong: Number,
}

/// A number, as one or as text; or what is where one should.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Number {
    /// `null`, `N/A`, or nothing.
    #[default]
    Missing,
    Value(f64),
    /// `nan`, `inf`, a word.
    Not,
}

impl Number {
    fn is_some(self) -> bool {
        self != Number::Missing
    }

    fn value(self) -> Option<f64> {
        match self {
            Number::Value(v) => Some(v),
            _ => None,
        }
    }

    fn or(self, other: Number) -> Number {
        if self == Number::Missing { other } else { self }
    }

    fn whole(self) -> Option<u64> {
        let v = self.value().filter(|v| v.fract() == 0.0 && (0.0..9e15).contains(v))?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Whole, and in the range.
        Some(v as u64)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_unit<E>(self) -> Result<Number, E> {
                Ok(Number::Missing)
            }
            fn visit_bool<E>(self, v: bool) -> Result<Number, E> {
                Ok(Number::Value(f64::from(u8::from(v))))
            }
            #[allow(clippy::cast_precision_loss)] // Sizes and counts; 2⁵³ bytes are none.
            fn visit_u64<E>(self, v: u64) -> Result<Number, E> {
                Ok(Number::Value(v as f64))
            }
            #[allow(clippy::cast_precision_loss)]
            fn visit_i64<E>(self, v: i64) -> Result<Number, E> {
                Ok(Number::Value(v as f64))
            }
            fn visit_f64<E>(self, v: f64) -> Result<Number, E> {
                Ok(if v.is_finite() { Number::Value(v) } else { Number::Not })
            }
            fn visit_str<E>(self, v: &str) -> Result<Number, E> {
                Ok(match v.trim() {
                    "" | "N/A" => Number::Missing,
                    "true" => Number::Value(1.0),
                    "false" => Number::Value(0.0),
                    v => v.parse().ok().filter(|v: &f64| v.is_finite()).map_or(Number::Not, Number::Value),
                })
            }
        }
        from.deserialize_any(V)
    }
}

/// A text, or a number as one.
#[derive(Debug, Default)]
pub(super) struct Text<'a>(pub(super) Option<Cow<'a, str>>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Text(None))
            }
            fn visit_i64<E>(self, v: i64) -> Result<Self::Value, E> {
                Ok(Text(Some(Cow::Owned(v.to_string()))))
            }
            fn visit_u64<E>(self, v: u64) -> Result<Self::Value, E> {
                Ok(Text(Some(Cow::Owned(v.to_string()))))
            }
            fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Some(Cow::Borrowed(v))))
            }
            fn visit_str<E>(self, v: &str) -> Result<Self::Value, E> {
                Ok(Text(Some(Cow::Owned(v.to_owned()))))
            }
        }
        from.deserialize_any(V)
    }
}

/// How many elements a list has.
#[derive(Debug, Default)]
struct Count(Option<u32>);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Count;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_unit<E>(self) -> Result<Count, E> {
                Ok(Count(None))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Count, A::Error> {
                let mut n = 0_u32;
                while all.next_element::<IgnoredAny>()?.is_some() {
                    n = n.saturating_add(1);
                }
                Ok(Count(Some(n)))
            }
        }
        from.deserialize_any(V)
    }
}

/// A name that is kept; those of types and reductions are short.
fn kept(text: &str) -> SmolStr {
    let text = text.trim();
    if text.len() <= 64 { SmolStr::new(text) } else { SmolStr::from_iter(text.chars().take(64)) }
}

fn redop(text: Option<&str>) -> Option<SmolStr> {
    text.filter(|op| !matches!(*op, "none" | "")).map(kept)
}

fn errors(n: Number) -> Option<Errors> {
    match n {
        Number::Missing => Some(Errors::NotChecked),
        Number::Value(v) => Some(count(v)),
        Number::Not => None,
    }
}

impl NcclResult<'_> {
    /// Adds the row to the run, or says why it is not one.
    pub(super) fn put(&self, run: &mut Run, line: u32) {
        let (Some(size), Some(count), Some(dtype)) = (self.size.whole(), self.count.whole(), self.dtype.as_deref())
        else {
            run.refused.push(line, Why::Missing("a result without a size, a count or a type"));
            return;
        };
        let root = self.root.0.as_deref().and_then(|r| r.trim().parse::<u32>().ok());
        let mut half = |half: &Option<Half>, place: &'static str| {
            let half = half.as_ref()?;
            run.is_cpu_time |= half.cpu_time.is_some();
            let measure = half.measure();
            if measure.is_none() {
                run.refused.push(line, Why::Point { size, place });
            }
            measure
        };
        let out_of_place = half(&self.out_of_place, "out of place");
        let in_place = half(&self.in_place, "in place");
        if out_of_place.is_none() && in_place.is_none() && (self.out_of_place.is_some() || self.in_place.is_some()) {
            return;
        }
        let each = |each: &Option<Box<Each>>| each.as_deref().and_then(Each::spread);
        let each = [each(&self.out_of_place_per_iter), each(&self.in_place_per_iter)];
        run.push_row(Row {
            line,
            size: Bytes(size),
            count: Some(count),
            dtype: kept(dtype),
            redop: redop(self.redop.as_deref()),
            root,
            out_of_place,
            in_place,
            each: each.iter().any(Option::is_some).then(|| Box::new(each)),
        });
    }
}

impl Half {
    fn measure(&self) -> Option<Measure> {
        let positive = |n: Number| n.value().filter(|v| *v >= 0.0);
        Some(Measure {
            time: Microseconds(positive(self.time.or(self.cpu_time))?),
            algbw: GBps(positive(self.alg_bw)?),
            busbw: GBps(positive(self.bus_bw)?),
            errors: errors(self.nwrong)?,
        })
    }
}

impl Each {
    fn spread(&self) -> Option<PerIteration> {
        let us = |n: Number| n.value().map(Microseconds);
        let cv = Percent(self.cv_pct.value()?);
        Some(PerIteration {
            min: us(self.min_us)?,
            max: us(self.max_us)?,
            p99: us(self.p99_us)?,
            cv,
            more: self.more(),
        })
    }

    fn more(&self) -> Option<Spread> {
        let us = |n: Number| n.value().map(Microseconds);
        Some(Spread {
            mean: us(self.avg_us)?,
            p50: us(self.p50_us)?,
            p95: us(self.p95_us)?,
            stdev: us(self.stdev_us)?,
            skipped: self.skipped_iterations.whole().and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
            iterations: self.times_us.0,
        })
    }
}

impl<'a> Record<'a> {
    /// Adds the measurement to the last run, or to a new one where the collective changes: those in place follow those out of
    /// place.
    fn add(self, runs: &mut Vec<Run>, last: &mut Option<Cow<'a, str>>) {
        if last.as_deref() != Some(self.name.as_deref().unwrap_or_default()) {
            let name = self.name.clone().unwrap_or_default();
            if has_room(runs.len(), Limit::NCCL_TESTS_RUNS) {
                let collective = Collective::from_name(&name).map(|c| At::new(c, LINE));
                runs.push(Run { tool: Some(Tool::RcclTests), collective, copies: 1, ..Run::default() });
                *last = Some(name);
            } else {
                runs.iter_mut().rev().take(1).for_each(|r| leave_out(&mut r.left_out, Limit::NCCL_TESTS_RUNS, LINE));
                return;
            }
        }
        if let Some(run) = runs.last_mut() {
            self.put(run, LINE);
        }
    }

    /// Adds the measurement to the run, or says why it is not one.
    fn put(&self, run: &mut Run, line: u32) {
        let positive = |n: Number| n.value().filter(|v| *v >= 0.0);
        let read = || {
            let in_place = self.in_place.value()? != 0.0;
            let measure = Measure {
                time: Microseconds(positive(self.time)?),
                algbw: GBps(positive(self.alg_bw)?),
                busbw: GBps(positive(self.bus_bw)?),
                errors: errors(self.wrong)?,
            };
            let row = Row {
                line,
                size: Bytes(self.size.whole()?),
                dtype: kept(self.dtype.as_deref()?),
                redop: redop(self.redop.as_deref()),
                ..Row::default()
            };
            Some((row, in_place, measure))
        };
        match read() {
            Some((row, in_place, measure)) => run.push_half(row, in_place, measure),
            None => run.refused.push(
                line,
                Why::Missing("a record without a size, a time or a bandwidth, or with one that is not a number"),
            ),
        }
    }
}
