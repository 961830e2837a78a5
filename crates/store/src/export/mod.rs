//! The history for other programs. Everything streams: one run is in memory, of Parquet one row group more.

mod columns;
mod csv;
mod parquet;

use crate::list::Summary;
use crate::{Filter, Store, StoreError};
use linerate_bench::{Run, RunId};
use linerate_out::json::Inert;
use std::io::Write;

/// A form of export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One object: `{"runs": [...]}`, each as [`Run`] is written everywhere.
    Json,
    /// A run a line.
    JsonLines,
    /// A sample a line, under a header (RFC 4180, with `\n`).
    Csv,
    /// A sample a row; the same columns as in CSV, with types. Texts are dictionaries, nothing else is compressed.
    Parquet,
}

impl Form {
    /// The form that a file's name asks for: `.json`, `.jsonl`, `.ndjson`, `.csv`, `.parquet`.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Form> {
        let ending = name.rsplit_once('.')?.1;
        Some(match ending.to_ascii_lowercase().as_str() {
            "json" => Form::Json,
            "jsonl" | "ndjson" => Form::JsonLines,
            "csv" => Form::Csv,
            "parquet" | "pq" => Form::Parquet,
            _ => return None,
        })
    }
}

/// How much was exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exported {
    /// Runs.
    pub runs: u64,
    /// Samples.
    pub samples: u64,
}

/// A form's writer, fed run by run.
trait Sink {
    fn run(&mut self, run: &Run, about: &Summary) -> Result<(), StoreError>;
    fn end(self: Box<Self>) -> Result<(), StoreError>;
}

impl Store {
    /// Writes all runs that fit, oldest first; with a limit, the newest of them (before a size is looked at). Where it asks for a metric, a size or labels of series,
    /// tables have the samples that fit, and JSON has the runs that have such samples, whole.
    ///
    /// # Errors
    /// [`StoreError::Export`], [`StoreError::Parquet`] where `out` fails; those of any query. What was written until then is no whole export.
    pub fn export(&self, form: Form, filter: &Filter, out: impl Write + Send) -> Result<Exported, StoreError> {
        let mut sink: Box<dyn Sink> = match form {
            Form::Json => Box::new(Json { out: Inert::new(out), lines: false, runs: 0 }),
            Form::JsonLines => Box::new(Json { out: Inert::new(out), lines: true, runs: 0 }),
            Form::Csv => Box::new(csv::Csv::new(out, filter.clone())?),
            Form::Parquet => Box::new(parquet::Parquet::new(out, filter.clone())?),
        };
        let mut done = Exported::default();
        // A list with a size has the runs with a valid value there; an export has the values that are not valid, too.
        let mut runs = self.list(&Filter { size: None, ..filter.clone() })?;
        runs.reverse();
        for about in &runs {
            match self.load(about.id) {
                Ok(run) if filter.size.is_some() && columns::samples(&run, filter).next().is_none() => {}
                Ok(run) => {
                    sink.run(&run, about)?;
                    done.runs += 1;
                    done.samples += match form {
                        Form::Json | Form::JsonLines => run.points() as u64,
                        Form::Csv | Form::Parquet => columns::samples(&run, filter).count() as u64,
                    };
                }
                // Deleted by another program since it was listed.
                Err(StoreError::NoSuchRun { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        sink.end()?;
        Ok(done)
    }

    /// Several runs, in the order of their names.
    ///
    /// # Errors
    /// As [`Store::load`]; the first that is not there ends it.
    pub fn load_all(&self, ids: &[RunId]) -> Result<Vec<Run>, StoreError> {
        ids.iter().map(|id| self.load(*id)).collect()
    }
}

struct Json<W: Write> {
    out: Inert<W>,
    lines: bool,
    runs: u64,
}

impl<W: Write> Sink for Json<W> {
    fn run(&mut self, run: &Run, _: &Summary) -> Result<(), StoreError> {
        if !self.lines {
            self.out.write_all(if self.runs == 0 { b"{\"runs\":[\n" } else { b",\n" })?;
        }
        self.runs += 1;
        serde_json::to_writer(&mut self.out, run).map_err(std::io::Error::from)?;
        if self.lines {
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn end(mut self: Box<Self>) -> Result<(), StoreError> {
        if !self.lines {
            self.out.write_all(if self.runs == 0 { b"{\"runs\":[]}\n" } else { b"\n]}\n" })?;
        }
        Ok(self.out.flush()?)
    }
}
