//! The header of a table.

use super::run::{Bandwidth, BandwidthValues, LatencyValues, Row, Values};
use crate::error::Why;
use crate::number::Fields;
use crate::text::words;
use crate::units::{Bytes, Gbps, MiBps, Microseconds, Mpps, PerSecond, Percent};

/// A unit of bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    MiB,
    Gb,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Size,
    ServiceLevel,
    Iterations,
    Peak,
    Average,
    Messages,
    Port(usize),
    PortMessages(usize),
    Min,
    Max,
    Typical,
    Mean,
    Stdev,
    P99,
    P999,
    Transactions,
    Cpu,
}

/// The columns of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    columns: Vec<Column>,
    unit: Option<Unit>,
}

/// Names that stand in the header, longest first where one begins like another.
const NAMES: &[(&str, Column)] = &[
    ("#bytes", Column::Size),
    ("#sl", Column::ServiceLevel),
    ("#iterations", Column::Iterations),
    ("BW peak[", Column::Peak),
    ("BW average[", Column::Average),
    ("MsgRate[", Column::Messages),
    ("BW Port1[", Column::Port(0)),
    ("MsgRate Port1[", Column::PortMessages(0)),
    ("BW Port2[", Column::Port(1)),
    ("MsgRate Port2[", Column::PortMessages(1)),
    ("t_min[", Column::Min),
    ("t_max[", Column::Max),
    ("t_typical[", Column::Typical),
    ("t_avg[", Column::Mean),
    ("t_stdev[", Column::Stdev),
    (" 99% percentile[", Column::P99),
    ("99.9% percentile[", Column::P999),
    ("tps average", Column::Transactions),
    ("CPU_Util[", Column::Cpu),
];

/// ` #bytes     #iterations    BW peak[MiB/sec] …`.
pub(super) fn columns(text: &str) -> Option<Result<Columns, Why>> {
    let text = text.trim();
    if !text.starts_with("#bytes") {
        return None;
    }
    let mut found: Vec<(usize, Column)> =
        NAMES.iter().filter_map(|(name, column)| Some((text.find(name)?, *column))).collect();
    found.sort_by_key(|(at, _)| *at);
    let has = |wanted: &[Column]| found.iter().any(|(_, c)| wanted.contains(c));
    let is_bandwidth = has(&[Column::Average, Column::Peak]);
    let unit = match () {
        () if !is_bandwidth => None,
        () if text.contains("[Gb/sec]") => Some(Unit::Gb),
        () if text.contains("[MiB/sec]") || text.contains("[MB/sec]") => Some(Unit::MiB),
        () => return Some(Err(Why::Unclear("the header names no known unit of bandwidth"))),
    };
    if text.contains("[cycles]") {
        return Some(Err(Why::Unclear("times in processor cycles: the frequency is not printed")));
    }
    if !is_bandwidth && !has(&[Column::Mean, Column::Typical]) {
        return Some(Err(Why::Unclear("the header names neither a bandwidth nor a latency")));
    }
    Some(Ok(Columns { columns: found.into_iter().map(|(_, c)| c).collect(), unit }))
}

/// A row that is as the header says, and nothing else; [`row`] tells why another is not one.
pub(super) fn whole_row(line: u32, bytes: &[u8], columns: &Columns) -> Option<Row> {
    let mut words = Fields::new(bytes);
    let mut raw = Raw::default();
    for column in &columns.columns {
        match column {
            Column::Size => raw.size = words.whole()?,
            Column::Iterations => raw.iterations = Some(words.whole()?),
            Column::ServiceLevel => raw.service_level = Some(u32::try_from(words.whole()?).ok()?),
            column => {
                let v = words.decimal()?;
                raw.set(*column, v, "");
            }
        }
    }
    words.next().is_none().then(|| raw.row(line, columns.unit))
}

/// A row below the header.
pub(super) fn row(line: u32, text: &str, columns: &Columns) -> Option<Result<Row, Why>> {
    // Tickets have the figure that matters in bold.
    let all: Vec<&str> = words(text).map(|w| w.trim_matches('*')).take(32).collect();
    // Rows of the same table have blanks in front or not; other lines do not begin with two numbers.
    let size: u64 = all.first()?.parse().ok()?;
    all.get(1)?.parse::<f64>().ok()?;
    let mut raw = Raw { size, ..Raw::default() };
    if all.len() < columns.columns.len() {
        return Some(Err(Why::Missing("the row is cut: it has fewer columns than the header")));
    }
    for (word, column) in all.iter().zip(&columns.columns) {
        let Some(value) = number(word) else {
            return Some(Err(Why::word(word, "not a measurement")));
        };
        raw.set(*column, value, word);
    }
    Some(Ok(raw.row(line, columns.unit)))
}

/// Numbers of a row or of a JSON document, not yet with units.
#[derive(Debug, Clone, Default)]
pub(super) struct Raw {
    pub(super) size: u64,
    pub(super) iterations: Option<u64>,
    pub(super) service_level: Option<u32>,
    pub(super) peak: Option<f64>,
    pub(super) average: Option<f64>,
    pub(super) messages: Option<f64>,
    ports: [Option<f64>; 2],
    port_messages: [Option<f64>; 2],
    pub(super) latency: LatencyValues,
    pub(super) cpu: Option<f64>,
}

impl Raw {
    fn set(&mut self, column: Column, v: f64, word: &str) {
        let us = Some(Microseconds(v));
        match column {
            Column::Size => {}
            Column::ServiceLevel => self.service_level = word.parse().ok(),
            Column::Iterations => self.iterations = word.parse().ok(),
            Column::Peak => self.peak = Some(v),
            Column::Average => self.average = Some(v),
            Column::Messages => self.messages = Some(v),
            Column::Port(i) => self.ports.iter_mut().skip(i).take(1).for_each(|p| *p = Some(v)),
            Column::PortMessages(i) => self.port_messages.iter_mut().skip(i).take(1).for_each(|p| *p = Some(v)),
            Column::Min => self.latency.min = us,
            Column::Max => self.latency.max = us,
            Column::Typical => self.latency.typical = us,
            Column::Mean => self.latency.average = us,
            Column::Stdev => self.latency.stdev = us,
            Column::P99 => self.latency.p99 = us,
            Column::P999 => self.latency.p999 = us,
            Column::Transactions => self.latency.transactions = Some(PerSecond(v)),
            Column::Cpu => self.cpu = Some(v),
        }
    }

    /// With a unit of bandwidth; without one it is a latency.
    pub(super) fn row(&self, line: u32, unit: Option<Unit>) -> Row {
        let values = match unit {
            Some(unit) => {
                let bandwidth = |v: f64| match unit {
                    Unit::MiB => Bandwidth::MiBps(MiBps(v)),
                    Unit::Gb => Bandwidth::Gbps(Gbps(v)),
                };
                // Tests of a duration measure no peak, and print zero.
                let is_measured = |v: &f64| *v > 0.0 || self.average.is_none_or(|a| a == 0.0);
                let ports = match (self.ports, self.port_messages) {
                    ([Some(a), Some(b)], [Some(c), Some(d)]) => {
                        Some([(bandwidth(a), Mpps(c)), (bandwidth(b), Mpps(d))])
                    }
                    _ => None,
                };
                Values::Bandwidth(BandwidthValues {
                    peak: self.peak.filter(is_measured).map(bandwidth),
                    average: self.average.map(bandwidth),
                    messages: self.messages.map(Mpps),
                    ports,
                })
            }
            None => Values::Latency(self.latency),
        };
        Row {
            line,
            size: Bytes(self.size),
            iterations: self.iterations,
            service_level: self.service_level,
            values,
            cpu: self.cpu.map(Percent),
        }
    }

    /// The unit of a bandwidth that is shown without one: size × rate of messages is the same in bytes.
    pub(super) fn unit(&self) -> Option<Unit> {
        let (average, messages) = (self.average?, self.messages?);
        #[allow(clippy::cast_precision_loss)] // A size of more than 2⁵³ bytes is no size.
        let bytes_per_second = self.size as f64 * messages * 1e6;
        let near = |v: f64| v > 0.0 && (average / v - 1.0).abs() < 0.2;
        match () {
            () if near(bytes_per_second / 1_048_576.0) => Some(Unit::MiB),
            () if near(bytes_per_second * 8.0 / 1e9) => Some(Unit::Gb),
            () => None,
        }
    }
}

/// A number that is one.
pub(super) fn number(word: &str) -> Option<f64> {
    word.parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0)
}
