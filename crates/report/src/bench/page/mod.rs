//! One page that sums up a cluster: facts, tables, plots and remarks, section by section. What is on it is the caller's.

mod html;
mod markdown;
mod text;

use super::plot::PlotData;

pub use html::page_html;
pub use markdown::page_markdown;
pub use text::page_text;

/// A page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// What it is about.
    pub title: String,
    /// What it comes to, in sentences, the most important first.
    pub lead: Vec<Remark>,
    /// In order.
    pub sections: Vec<Section>,
    /// Sources, methods, date: at the end, small.
    pub footer: Vec<String>,
}

/// A section. Whatever is empty is left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// `RDMA`.
    pub heading: String,
    /// Name and value: `link`, `40 Gb/s, MTU 4096`.
    pub facts: Vec<(String, String)>,
    /// What was measured.
    pub table: Option<Table>,
    /// How it looks.
    pub plots: Vec<PlotData>,
    /// What that means.
    pub remarks: Vec<Remark>,
}

/// A table. Columns of which all cells begin with a digit or a sign are set to the right.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// One for each column.
    pub heads: Vec<String>,
    /// An empty cell is something that is not known, or not measured yet.
    pub rows: Vec<Vec<String>>,
}

/// A sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Remark {
    /// How it is meant.
    pub mood: Mood,
    /// In words.
    pub text: String,
}

/// How a remark is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mood {
    /// Worth knowing.
    Plain,
    /// As it should be.
    Good,
    /// Worth a look.
    Warn,
    /// Wrong.
    Bad,
    /// Not known.
    Doubt,
}

impl Remark {
    /// A remark.
    #[must_use]
    pub fn new(mood: Mood, text: impl Into<String>) -> Self {
        Remark { mood, text: text.into() }
    }
}

impl Mood {
    /// In a word, for forms without colours; empty where none is needed.
    fn word(self) -> &'static str {
        match self {
            Mood::Plain => "",
            Mood::Good => "good",
            Mood::Warn => "look",
            Mood::Bad => "wrong",
            Mood::Doubt => "unknown",
        }
    }
}

impl Table {
    /// Whether a column holds numbers.
    fn is_number(&self, column: usize) -> bool {
        let cells = || self.rows.iter().filter_map(|r| r.get(column)).map(|c| c.trim()).filter(|c| !c.is_empty());
        let number = |c: &str| {
            c.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '−' | '-' | '+' | '–' | '≥' | '≤' | '<' | '>'))
        };
        cells().next().is_some() && cells().all(number)
    }
}
