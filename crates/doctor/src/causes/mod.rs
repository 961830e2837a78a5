//! The causes that the doctor knows, by area.
//!
//! A cause is a static description and a check over one job. A check answers with what it is here, how sure that is and why; it answers nothing
//! where the evidence allows nothing. Adding one: a static in its area's file, and its line in the area's list.

mod envs;
mod gdr;
mod gpu;
mod ib;
mod job;
mod kernel;
mod net;
mod p2p;
mod pcie;
mod peermem;
mod perf;
mod phrased;
mod plugin;
mod said;
mod topo;
mod verbs;
mod xid;

pub(crate) use kernel::elsewhere as kernel_elsewhere;
pub(crate) use xid::harmless as harmless_xids;

pub(crate) use gdr::{by_design as gdr_by_design, lacking as gdr_lacking, missing as gdr_missing, works as gdr_works};
pub(crate) use phrased::by_phrases;
pub(crate) use plugin::may_need as plugin_may_be_needed;
pub(crate) use said::found;
pub(crate) use verbs::{failed as verbs_failed, reasons as verbs_reasons};

use crate::answer::{Confidence, Evidence};
use crate::case::Case;
use crate::docs::CauseDoc;
use linerate_rules::{Action, Remedy, Severity, Source};

/// A cause, as documentation and as a check.
pub(crate) struct Known {
    /// `area/slug`.
    pub(crate) id: &'static str,
    /// In one line.
    pub(crate) title: &'static str,
    /// Of what it costs.
    pub(crate) severity: Severity,
    /// What happens, and why.
    pub(crate) docs: &'static str,
    /// What would confirm it.
    pub(crate) confirm: &'static [&'static str],
    /// What would refute it.
    pub(crate) refute: &'static [&'static str],
    /// Rules that judge it on a node.
    pub(crate) rules: &'static [&'static str],
    /// Primary sources.
    pub(crate) sources: &'static [Source],
    /// What to do.
    pub(crate) remedy: fn() -> Remedy,
    /// Whether it is so in a job.
    pub(crate) check: fn(&Case<'_>) -> Option<Found>,
    /// What it may itself follow from: where one of these is found, this is told as a consequence.
    pub(crate) follows: &'static [&'static str],
}

impl Known {
    /// For `linerate explain`.
    pub(crate) fn doc(&self) -> CauseDoc {
        let Known { id, title, docs, confirm, refute, rules, sources, .. } = *self;
        CauseDoc { id, title, docs, confirm, refute, rules, sources }
    }
}

/// What a check found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) confidence: Confidence,
    /// Why that sure.
    pub(crate) because: String,
    /// What it is here.
    pub(crate) summary: String,
    pub(crate) scope: String,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) severity: Option<Severity>,
    /// What to do here, where that differs from what the cause says in general; `Some(None)`: nothing.
    pub(crate) remedy: Option<Option<Remedy>>,
}

impl Found {
    pub(crate) fn new(confidence: Confidence, summary: impl Into<String>, because: impl Into<String>) -> Self {
        let (summary, because) = (summary.into(), because.into());
        Found { confidence, because, summary, scope: String::new(), evidence: Vec::new(), severity: None, remedy: None }
    }

    pub(crate) fn scope(mut self, scope: String) -> Self {
        self.scope = scope;
        self
    }

    pub(crate) fn with(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    pub(crate) fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// What to do in this case.
    pub(crate) fn fix(mut self, remedy: Option<Remedy>) -> Self {
        self.remedy = Some(remedy);
        self
    }

    /// Adds what fails on the nodes that were given: it makes a likely cause certain.
    pub(crate) fn join(mut self, case: &Case<'_>, rules: &[&str]) -> Self {
        let failing = case.failing(rules);
        if let Some(worst) = failing.first() {
            self.because = format!("{}; on the node, {} fails: {}", self.because, worst.rule, worst.message);
            self.confidence = Confidence::Certain;
            self.severity = Some(self.severity.unwrap_or(worst.severity).max(worst.severity));
        }
        self.evidence.extend(
            failing.into_iter().take(3).map(|f| Evidence { at: f.at, text: format!("{}: {}", f.rule, f.message) }),
        );
        self
    }
}

/// All causes: which come first matters only among equals.
pub(crate) fn known() -> impl Iterator<Item = &'static Known> {
    [
        net::ALL,
        gdr::ALL,
        peermem::ALL,
        p2p::ALL,
        topo::ALL,
        ib::ALL,
        kernel::ALL,
        xid::ALL,
        pcie::ALL,
        gpu::ALL,
        job::ALL,
        envs::ALL,
        perf::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// NCCL's source at a tag.
const fn nccl(title: &'static str, at: &'static str) -> Source {
    Source { title, at }
}

/// Unsets variables, or sets them otherwise.
fn environment(summary: &'static str, set: &[&'static str], unset: &[&'static str]) -> Remedy {
    let action = Action::Environment {
        set: set.iter().map(|s| (*s).into()).collect(),
        unset: unset.iter().map(|s| (*s).into()).collect(),
    };
    Remedy::new(summary, action).prove("the next job's log")
}

/// A person has to look.
fn investigate(summary: &'static str) -> Remedy {
    Remedy::new(summary, Action::Investigate { what: summary.into() })
}

fn software(summary: &'static str) -> Remedy {
    Remedy::new(summary, Action::Software { what: summary.into() }).prove("the next job's log")
}

fn hands(summary: &'static str) -> Remedy {
    Remedy::new(summary, Action::Physical { what: summary.into() })
}

pub(crate) const ENV_RST: Source = Source {
    title: "NCCL user guide, environment variables",
    at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
};
pub(crate) const TROUBLESHOOTING: Source = Source {
    title: "NCCL user guide, troubleshooting",
    at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
};
