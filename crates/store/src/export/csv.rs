//! Rows as CSV.

use super::Sink;
use super::columns::{self, COLUMNS, Row, Values};
use crate::{Filter, StoreError, Summary};
use linerate_bench::Run;
use linerate_out::csv;
use std::io::{self, Write};

pub(super) struct Csv<W> {
    out: W,
    filter: Filter,
    /// A line, kept for its memory.
    line: String,
}

impl<W: Write> Csv<W> {
    pub(super) fn new(mut out: W, filter: Filter) -> io::Result<Self> {
        let names: Vec<&str> = COLUMNS.iter().map(|c| c.name).collect();
        writeln!(out, "{}", names.join(","))?;
        Ok(Csv { out, filter, line: String::new() })
    }
}

impl<W: Write> Sink for Csv<W> {
    fn run(&mut self, run: &Run, about: &Summary) -> Result<(), StoreError> {
        let (out, line) = (&mut self.out, &mut self.line);
        columns::each(run, about, &self.filter, |row| {
            line.clear();
            for (i, column) in COLUMNS.iter().enumerate() {
                if i > 0 {
                    line.push(',');
                }
                field(line, &column.form, row);
            }
            line.push('\n');
            out.write_all(line.as_bytes()).map_err(StoreError::from)
        })
    }

    fn end(mut self: Box<Self>) -> Result<(), StoreError> {
        Ok(self.out.flush()?)
    }
}

/// What is not there is empty; an empty text is `""`.
fn field(line: &mut String, values: &Values, row: &Row<'_>) {
    use std::fmt::Write;
    // Writing to a string does not fail.
    let _ = match values {
        Values::Text(get) => get(row).map_or(Ok(()), |text| {
            if text.is_empty() {
                line.push_str("\"\"")
            } else {
                csv::push(line, text)
            }
            Ok(())
        }),
        Values::Real(get) | Values::Time(get) => get(row).map_or(Ok(()), |v| write!(line, "{v}")),
        Values::Whole(get) => get(row).map_or(Ok(()), |v| write!(line, "{v}")),
        Values::Flag(get) => write!(line, "{}", get(row)),
    };
}
