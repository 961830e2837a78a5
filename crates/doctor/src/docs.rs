//! What `linerate explain` says about symptoms. The pages of causes are the causes themselves.

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

/// Every symptom.
#[must_use]
pub fn symptoms() -> &'static [Symptom] {
    symptoms::ALL
}

#[cfg(test)]
mod tests;
