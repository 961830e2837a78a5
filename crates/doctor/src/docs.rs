//! What `linerate explain` says about symptoms and causes.

use linerate_rules::Source;
use std::sync::LazyLock;

mod symptoms;

/// What one sees. Its text leads step by step to the checks that decide.
#[derive(Debug, Clone, Copy)]
pub struct Symptom {
    /// `symptom/…`.
    pub id: &'static str,
    /// In one line.
    pub title: &'static str,
    /// Markdown: headings, paragraphs, lists, fenced code.
    pub docs: &'static str,
}

/// A cause in general.
#[derive(Debug, Clone, Copy)]
pub struct CauseDoc {
    /// `area/slug`, as in answers.
    pub id: &'static str,
    /// In one line.
    pub title: &'static str,
    /// Markdown.
    pub docs: &'static str,
    /// What would confirm it.
    pub confirm: &'static [&'static str],
    /// What would refute it.
    pub refute: &'static [&'static str],
    /// Rules that judge it on a node.
    pub rules: &'static [&'static str],
    /// Primary sources.
    pub sources: &'static [Source],
}

/// Every symptom.
#[must_use]
pub fn symptoms() -> &'static [Symptom] {
    symptoms::ALL
}

/// Every cause.
#[must_use]
pub fn cause_docs() -> &'static [CauseDoc] {
    static ALL: LazyLock<Vec<CauseDoc>> =
        LazyLock::new(|| crate::causes::known().map(crate::causes::Known::doc).collect());
    &ALL
}

#[cfg(test)]
mod tests;
