//! Rows as Parquet, without Arrow: columns are written as they are.

use super::Sink;
use super::columns::{self, COLUMNS, Row, Values};
use crate::{Filter, StoreError, Summary};
use linerate_bench::Run;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

/// Rows in a group: what is held in memory (about 25 MB), and what a reader can skip.
const GROUP: usize = 1 << 17;

pub(super) struct Parquet<W: Write + Send> {
    out: SerializedFileWriter<W>,
    filter: Filter,
    columns: Vec<Buffer>,
    rows: usize,
}

/// Values of a column in the group at hand; `there` tells which rows have one.
enum Buffer {
    Text { values: Vec<ByteArray>, there: Vec<i16>, known: HashMap<String, ByteArray> },
    Real { values: Vec<f64>, there: Vec<i16> },
    Whole { values: Vec<i64>, there: Vec<i16> },
    Flag { values: Vec<bool> },
}

impl<W: Write + Send> Parquet<W> {
    pub(super) fn new(out: W, filter: Filter) -> Result<Self> {
        let fields: Vec<String> = COLUMNS.iter().map(|c| format!("{} {};", form(&c.form), declared(c))).collect();
        let schema = parse_message_type(&format!("message samples {{ {} }}", fields.join(" ")))?;
        let properties = WriterProperties::builder()
            .set_created_by(concat!("linerate ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .build();
        let out = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        Ok(Parquet { out, filter, columns: COLUMNS.iter().map(|c| Buffer::of(&c.form)).collect(), rows: 0 })
    }

    fn group(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.out.next_row_group()?;
        for column in &mut self.columns {
            column.write(&mut group)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

fn form(values: &Values) -> &'static str {
    match values {
        Values::Text(_) => "optional binary",
        Values::Real(_) => "optional double",
        Values::Whole(_) | Values::Time(_) => "optional int64",
        Values::Flag(_) => "required boolean",
    }
}

fn declared(column: &columns::Column) -> String {
    let kind = match column.form {
        Values::Text(_) => " (STRING)",
        Values::Whole(_) => " (INTEGER(64,false))",
        Values::Time(_) => " (TIMESTAMP(MICROS,true))",
        Values::Real(_) | Values::Flag(_) => "",
    };
    format!("{}{kind}", column.name)
}

impl Buffer {
    fn of(values: &Values) -> Buffer {
        match values {
            Values::Text(_) => Buffer::Text { values: Vec::new(), there: Vec::new(), known: HashMap::new() },
            Values::Real(_) => Buffer::Real { values: Vec::new(), there: Vec::new() },
            Values::Whole(_) | Values::Time(_) => Buffer::Whole { values: Vec::new(), there: Vec::new() },
            Values::Flag(_) => Buffer::Flag { values: Vec::new() },
        }
    }

    fn push(&mut self, from: &Values, row: &Row<'_>) {
        match (self, from) {
            (Buffer::Text { values, there, known }, Values::Text(get)) => {
                let value = get(row);
                there.push(i16::from(value.is_some()));
                // The same text again is the same memory.
                values.extend(value.map(|text| match known.get(text) {
                    Some(bytes) => bytes.clone(),
                    None => known.entry(text.to_owned()).or_insert_with(|| ByteArray::from(text)).clone(),
                }));
            }
            (Buffer::Real { values, there }, Values::Real(get)) => put(values, there, get(row)),
            (Buffer::Whole { values, there }, Values::Whole(get)) => put(values, there, get(row).map(u64::cast_signed)),
            // A time beyond the years that microseconds reach is the last of them.
            (Buffer::Whole { values, there }, Values::Time(get)) => {
                put(values, there, get(row).map(|t| (t * 1e6) as i64))
            }
            (Buffer::Flag { values }, Values::Flag(get)) => values.push(get(row)),
            // Buffers are made of the columns.
            _ => {}
        }
    }

    fn write<W: Write + Send>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
        let Some(mut column) = group.next_column()? else { return Ok(()) };
        match self {
            Buffer::Text { values, there, known } => {
                column.typed::<ByteArrayType>().write_batch(values, Some(there), None)?;
                values.clear();
                there.clear();
                known.clear();
            }
            Buffer::Real { values, there } => {
                column.typed::<DoubleType>().write_batch(values, Some(there), None)?;
                values.clear();
                there.clear();
            }
            Buffer::Whole { values, there } => {
                column.typed::<Int64Type>().write_batch(values, Some(there), None)?;
                values.clear();
                there.clear();
            }
            Buffer::Flag { values } => {
                column.typed::<BoolType>().write_batch(values, None, None)?;
                values.clear();
            }
        }
        column.close()
    }
}

fn put<T>(values: &mut Vec<T>, there: &mut Vec<i16>, value: Option<T>) {
    there.push(i16::from(value.is_some()));
    values.extend(value);
}

impl<W: Write + Send> Sink for Parquet<W> {
    fn run(&mut self, run: &Run, about: &Summary) -> std::result::Result<(), StoreError> {
        let filter = self.filter.clone();
        columns::each(run, about, &filter, |row| {
            for (buffer, column) in self.columns.iter_mut().zip(&COLUMNS) {
                buffer.push(&column.form, row);
            }
            self.rows += 1;
            if self.rows == GROUP { self.group().map_err(StoreError::from) } else { Ok(()) }
        })
    }

    fn end(mut self: Box<Self>) -> std::result::Result<(), StoreError> {
        self.group()?;
        self.out.close().map(drop).map_err(StoreError::from)
    }
}
