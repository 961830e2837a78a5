//! Where text goes, whether it is coloured, and how errors look.

use crate::args::When;
use linerate_out::file::{Access, Replace};
use linerate_out::json::Inert;
use linerate_report::Style;
use linerate_snapshot::without_secrets;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// An error that ends the command: what, where, why, and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    hint: Option<String>,
    reader_gone: bool,
}

impl Failure {
    pub(crate) fn new(what: impl fmt::Display) -> Self {
        Failure { what: what.to_string(), hint: None, reader_gone: false }
    }

    /// What went wrong, without what to do.
    pub(crate) fn what(&self) -> String {
        without_secrets(&self.what).to_string()
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn writing(path: &Path, e: &io::Error) -> Self {
        Failure { what: format!("cannot write {}: {e}", path.display()), hint: None, reader_gone: ReaderGone::is(e) }
    }

    /// Whether nobody reads standard output any more. Any other pipe that breaks is an error like others.
    pub(crate) fn is_reader_gone(&self) -> bool {
        self.reader_gone
    }
}

/// Errors of the crates say themselves what is wrong.
impl<E: std::error::Error + 'static> From<E> for Failure {
    fn from(e: E) -> Self {
        let io = (&e as &dyn std::error::Error).downcast_ref::<io::Error>();
        Failure { what: e.to_string(), hint: None, reader_gone: io.is_some_and(ReaderGone::is) }
    }
}

/// Prints an error. The only place that does.
#[allow(clippy::print_stderr)]
pub(crate) fn complain(e: &Failure) {
    // It may hold words of a file or of another host.
    let what = without_secrets(&e.what);
    let lines: Vec<_> = what.lines().map(linerate_out::terminal).collect();
    eprintln!("linerate: error: {}", lines.join("\n"));
    if let Some(hint) = &e.hint {
        eprintln!("  hint: {}", linerate_out::terminal(&without_secrets(hint)));
    }
}

/// Says something beside the answer.
#[allow(clippy::print_stderr)]
pub(crate) fn remark(text: &str) {
    eprintln!("linerate: {}", linerate_out::terminal(&without_secrets(text)));
}

/// Standard output is a pipe, and its reader has closed it.
#[derive(Debug, thiserror::Error)]
#[error("the reader of standard output closed it")]
struct ReaderGone;

impl ReaderGone {
    fn is(e: &io::Error) -> bool {
        e.get_ref().is_some_and(|e| e.is::<ReaderGone>())
    }
}

/// Standard output.
pub(crate) struct Standard {
    to: io::Stdout,
    /// A report: where its reader is gone, nothing more is written, and the exit code is the verdict, as it would be otherwise. How much of the
    /// report a pipe took before its reader left is a matter of luck.
    is_report: bool,
    reader_gone: bool,
}

impl Standard {
    /// For data that has to arrive. Errors say where its reader is gone.
    pub(crate) fn new() -> Self {
        Standard { to: io::stdout(), is_report: false, reader_gone: false }
    }

    fn report() -> Self {
        Standard { is_report: true, ..Standard::new() }
    }

    /// `anyway`: what a reader that is gone would have taken.
    fn tried<T>(&mut self, done: io::Result<T>, anyway: T) -> io::Result<T> {
        match done {
            Err(e) if self.is_report && e.kind() == io::ErrorKind::BrokenPipe => {
                self.reader_gone = true;
                Ok(anyway)
            }
            done => done.map_err(marked),
        }
    }
}

fn marked(e: io::Error) -> io::Error {
    match e.kind() {
        kind @ io::ErrorKind::BrokenPipe => io::Error::new(kind, ReaderGone),
        _ => e,
    }
}

impl Write for Standard {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.reader_gone {
            return Ok(buf.len());
        }
        let done = self.to.write(buf);
        self.tried(done, buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.reader_gone {
            return Ok(());
        }
        let done = self.to.flush();
        self.tried(done, ())
    }
}

/// The report's destination.
pub(crate) enum Sink {
    Standard(BufWriter<Standard>),
    File(Replace, PathBuf),
}

impl Sink {
    /// What holds words of a node, or is a plan: for its owner. A file gets its name when it is finished.
    pub(crate) fn open(path: Option<&Path>) -> Result<Sink, Failure> {
        Sink::open_for(path, Access::Private)
    }

    /// As [`Sink::open`], for whom it says.
    pub(crate) fn open_for(path: Option<&Path>, access: Access) -> Result<Sink, Failure> {
        Ok(match path {
            None => Sink::Standard(BufWriter::new(Standard::report())),
            Some(p) if p == Path::new("-") => Sink::Standard(BufWriter::new(Standard::report())),
            Some(p) => {
                let file = Replace::begin(p, access).map_err(|e| Failure::writing(p, &e))?;
                Sink::File(file, p.to_owned())
            }
        })
    }

    /// Colour as asked; on `auto` for a terminal without NO_COLOR (no-color.org: any non-empty value) and TERM=dumb.
    fn colour(&self, when: When) -> bool {
        match when {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
                let dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
                matches!(self, Sink::Standard(_)) && io::stdout().is_terminal() && !refused && !dumb
            }
        }
    }

    /// How text looks here.
    pub(crate) fn style(&self, when: When, verbose: bool) -> Style {
        Style { colour: self.colour(when), width: width(), verbose }
    }

    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self {
            Sink::Standard(mut w) => Ok(w.flush()?),
            Sink::File(file, p) => file.keep().map_err(|e| Failure::writing(&p, &e)),
        }
    }
}

/// The error with the file that it is about: who writes a report does not know it.
fn named(path: &Path, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("cannot write {}: {e}", path.display()))
}

impl Write for Sink {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Standard(w) => w.write(buf),
            Sink::File(w, p) => w.write(buf).map_err(|e| named(p, &e)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Standard(w) => w.flush(),
            Sink::File(w, p) => w.flush().map_err(|e| named(p, &e)),
        }
    }
}

/// Writes a document for programs, indented.
pub(crate) fn json(sink: &mut Sink, value: &serde_json::Value) -> io::Result<()> {
    serde_json::to_writer_pretty(Inert::new(&mut *sink), value)?;
    sink.write_all(b"\n")
}

/// Columns of the terminal, 40..=200; 80 where there is none.
pub(crate) fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|c| c.parse::<usize>().ok());
    told.or_else(|| io::stdout().is_terminal().then(terminal_columns).flatten()).unwrap_or(80).clamp(40, 200)
}

fn terminal_columns() -> Option<usize> {
    terminal_size::terminal_size().map(|(w, _)| usize::from(w.0))
}
