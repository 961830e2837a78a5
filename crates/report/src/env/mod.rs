//! Judgements of environment variables: text, JSON, and what to set in forms to paste.

pub mod json;
pub mod paste;
pub mod text;

use linerate_env::{Context, Judgement, Kind, Recommendation, Severity, worst};

/// What is rendered.
#[derive(Debug, Clone, Copy)]
pub struct Env<'a> {
    /// What was read: names of files, with what they were taken for.
    pub sources: &'a [String],
    /// What judgements depend on.
    pub context: &'a Context,
    /// Where the release is known from.
    pub release_from: Option<&'a str>,
    /// Name of the node's source.
    pub node: Option<&'a str>,
    /// Judgements, worst first.
    pub judgements: &'a [Judgement],
    /// What the node needs.
    pub recommendation: &'a Recommendation,
    /// Variables that linerate does not read; they were dropped.
    pub dropped: u64,
    /// What was not understood.
    pub notes: &'a [String],
    /// A limit left part of an input out.
    pub incomplete: bool,
}

impl Env<'_> {
    /// Findings: low or above, and decided.
    #[must_use]
    pub fn findings(&self) -> usize {
        self.judgements.iter().filter(|j| counts(j)).count()
    }

    /// 0: nothing against it; 1: findings; 2: no findings, but something could not be decided, or was left out.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match worst(self.judgements) {
            Some(_) => 1,
            None if self.incomplete => 2,
            None if self.judgements.iter().any(|j| j.kind == Kind::Undecided) => 2,
            None => 0,
        }
    }

    /// The release that the settings are judged by; `None`: not known.
    fn release(&self) -> Option<String> {
        let known = self.context.release()?;
        Some(match self.context.nccl {
            Some(said) if said != known && said.patch != 0 => {
                format!("NCCL {said} (judged by the sources of {known})")
            }
            _ => format!("NCCL {known}"),
        })
    }
}

fn counts(j: &Judgement) -> bool {
    j.severity >= Severity::Low && !matches!(j.kind, Kind::Undecided | Kind::Fine)
}
