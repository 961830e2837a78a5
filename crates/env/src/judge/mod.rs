//! Judgements: what each setting does here, and whether that is wanted.
//!
//! One file a group; what holds for a value wherever it is set is a row of a table, what depends on the node is a function.

mod conflicts;
mod debug;
mod devices;
mod forms;
mod gid;
mod interfaces;
mod levels;
mod name;
mod network;
mod table;

use crate::context::Context;
use crate::registry::{Owner, Variable, lookup};
use crate::setting::{Elsewhere, Origin, Setting};
use crate::value::number;
use linerate_topology::Version;
pub use linerate_verdict::Severity;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What a judgement says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It makes things worse.
    Harmful,
    /// NCCL does not take the value as it was meant.
    Illegal,
    /// The name is no variable, but nearly one.
    Misspelt,
    /// Two settings cannot both hold.
    Contradictory,
    /// This release no longer has it.
    Obsolete,
    /// This release does not have it yet.
    NotYet,
    /// It is read, and decides nothing here.
    Ignored,
    /// A name of which nothing is known.
    Unknown,
    /// Something is missing that would decide.
    Undecided,
    /// Equal to the default.
    Redundant,
    /// Nothing to say against it.
    Fine,
}

impl Kind {
    /// In one word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Harmful => "harmful",
            Kind::Illegal => "illegal",
            Kind::Misspelt => "misspelt",
            Kind::Contradictory => "contradictory",
            Kind::Obsolete => "obsolete",
            Kind::NotYet => "not yet",
            Kind::Ignored => "ignored",
            Kind::Unknown => "unknown",
            Kind::Undecided => "undecided",
            Kind::Redundant => "redundant",
            Kind::Fine => "fine",
        }
    }
}

/// What a judgement makes of a setting, where nothing is left to decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Set it no longer.
    Unset,
    /// Set it to this.
    Set(String),
}

/// A judgement of one setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// What it says.
    pub kind: Kind,
    /// How bad.
    pub severity: Severity,
    /// Name as it was set.
    pub variable: String,
    /// Value as it was set.
    pub value: String,
    /// One line for a tired engineer.
    pub message: String,
    /// What the setting does, in this release where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Releases that read the variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// Where this is written.
    pub sources: Vec<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// The same for a program, where nothing is left to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// Where it was set.
    pub at: Origin,
    /// Where else the same was set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Origin>,
}

/// Judges settings, worst first. Each setting has at least one judgement; equal ones have one together. Of several sources that set one name
/// the one that NCCL goes by is judged; of the others it is said that they do not hold.
#[must_use]
pub fn judge(all: &[Setting], context: &Context) -> Vec<Judgement> {
    let losers = conflicts::losers(all, context);
    let lost = |at: &usize| losers.iter().any(|l| l.at == *at && !l.may_hold);
    let holding: Vec<Setting> = all.iter().enumerate().filter(|(at, _)| !lost(at)).map(|(_, s)| s.clone()).collect();
    let mut out = of_holding(&holding, context);
    out.extend(losers.iter().filter_map(|l| Some(l.judgement(all.get(l.at)?, &holding, context))));
    out.extend(context.elsewhere.iter().map(elsewhere));
    out.sort_by(|a, b| (b.severity, a.kind, &a.variable).cmp(&(a.severity, b.kind, &b.variable)));
    out
}

/// Variables that another object holds: which they are cannot be seen here.
fn elsewhere(e: &Elsewhere) -> Judgement {
    Judgement {
        kind: Kind::Undecided,
        severity: Severity::Info,
        variable: e.by.clone(),
        value: e.holder.clone(),
        message: "sets variables that are not in this input: which, and whether NCCL's are among them, is not known"
            .to_owned(),
        what: None,
        range: None,
        sources: Vec::new(),
        suggestion: Some("look at the environment of a running rank: /proc/PID/environ, or NCCL_DEBUG=INFO".to_owned()),
        change: None,
        at: e.at.clone(),
        also: Vec::new(),
    }
}

fn of_holding(settings: &[Setting], context: &Context) -> Vec<Judgement> {
    let mut unique: Vec<(&Setting, Vec<Origin>)> = Vec::new();
    let mut index: HashMap<(&str, &str), usize> = HashMap::new();
    for s in settings {
        let next = unique.len();
        match *index.entry((&s.name, &s.value)).or_insert(next) {
            i if i == next => unique.push((s, Vec::new())),
            i => {
                if let Some((first, also)) = unique.get_mut(i)
                    && first.origin != s.origin
                    && also.len() < 64
                {
                    also.push(s.origin.clone());
                }
            }
        }
    }
    let mut out = Vec::new();
    for (setting, also) in &unique {
        let case = Case::new(setting, context, settings);
        let mut own = Vec::new();
        if !rccl(&case, &mut own) {
            one(&case, &mut own);
        }
        if own.is_empty() {
            own.push(case.fine());
        }
        for j in &mut own {
            j.also.clone_from(also);
        }
        out.extend(own);
    }
    if !context.is_rccl() {
        conflicts::judge(settings, context, &mut out);
    }
    out
}

/// The worst severity of what counts as a finding; `None`: nothing does.
#[must_use]
pub fn worst(judgements: &[Judgement]) -> Option<Severity> {
    judgements.iter().filter(|j| finds(j)).map(|j| j.severity).max()
}

fn finds(j: &Judgement) -> bool {
    j.severity >= Severity::Low && !matches!(j.kind, Kind::Undecided | Kind::Fine)
}

fn one(case: &Case<'_>, out: &mut Vec<Judgement>) {
    if name::judge(case, out) || forms::unresolved(case, out) {
        return;
    }
    if efa(case, out) {
        return;
    }
    forms::illegal(case, out);
    levels::judge(case, out);
    devices::judge(case, out);
    gid::judge(case, out);
    interfaces::judge(case, out);
    network::judge(case, out);
    debug::judge(case, out);
    let by_table = out.is_empty();
    if by_table {
        table::judge(case, out);
    }
    // What would be so without it is not its fault.
    let blamed = out.is_empty() || out.iter().any(|j| j.kind == Kind::Harmful && by_table);
    if blamed && let Some(j) = forms::redundant(case) {
        *out = vec![j];
    }
}

/// RCCL took NCCL's names over, not all of its defaults and not its hardware: `PXN_DISABLE` is 1 there, `DMABUF_ENABLE` 0. What holds for
/// NCCL is no judgement of it.
fn rccl(case: &Case<'_>, out: &mut Vec<Judgement>) -> bool {
    let ours = case.name.starts_with("NCCL_") && case.variable.is_none_or(|v| v.owner == Owner::Nccl);
    if !case.context.is_rccl() || !ours {
        return false;
    }
    let says = "AMD's RCCL reads it, by defaults and for hardware of its own; only NVIDIA's NCCL is judged here";
    let mut j =
        case.say(Kind::Undecided, Severity::Info, says).suggest("what RCCL's documentation and AMD's guides say");
    (j.what, j.range) = (None, None);
    j.sources =
        vec!["RCCL src/graph/paths.cc PxnDisable".to_owned(), "RCCL src/misc/rocmwrap.cc DmaBufEnable".to_owned()];
    out.push(j);
    true
}

/// On a node whose RDMA devices are all EFA nothing reads what NCCL's InfiniBand transport is set to.
fn efa(case: &Case<'_>, out: &mut Vec<Judgement>) -> bool {
    let only = case.context.node.as_ref().is_some_and(|n| n.efa_only == Some(true));
    if !only || !case.name.starts_with("NCCL_IB_") {
        return false;
    }
    let says = "this node's RDMA devices are EFA: NCCL's InfiniBand transport does not list them, and the plugin for EFA does not read it";
    out.push(case.say(Kind::Ignored, Severity::Info, says).suggest("FI_* and OFI_NCCL_* are for EFA"));
    true
}

/// A setting with all that judges it.
struct Case<'a> {
    setting: &'a Setting,
    variable: Option<&'static Variable>,
    context: &'a Context,
    /// All settings.
    all: &'a [Setting],
    name: &'a str,
    value: &'a str,
}

impl<'a> Case<'a> {
    fn new(setting: &'a Setting, context: &'a Context, all: &'a [Setting]) -> Self {
        Case { setting, variable: lookup(&setting.name), context, all, name: &setting.name, value: &setting.value }
    }

    fn release(&self) -> Option<Version> {
        self.context.release()
    }

    /// The value as NCCL reads a number. `None`: empty, or too large; NCCL goes by its default.
    fn number(&self) -> Option<i64> {
        if self.value.is_empty() { None } else { number(self.value).map(|(n, _)| n) }
    }

    /// Another setting that holds where this one does.
    fn other(&self, name: &str) -> Option<&'a Setting> {
        let same = |s: &&Setting| {
            s.name == name && (s.origin.file != self.setting.origin.file || s.origin.scope == self.setting.origin.scope)
        };
        self.all.iter().find(same)
    }

    /// Sockets were chosen by another setting.
    fn sockets_forced(&self) -> bool {
        let off = self.other("NCCL_IB_DISABLE").is_some_and(|s| number(&s.value).is_some_and(|(n, _)| n != 0));
        off || self.other("NCCL_NET").is_some_and(|s| s.value.eq_ignore_ascii_case("socket"))
    }

    fn say(&self, kind: Kind, severity: Severity, message: impl Into<String>) -> Judgement {
        let variable = self.variable;
        Judgement {
            kind,
            severity,
            variable: self.name.to_owned(),
            value: self.value.to_owned(),
            message: message.into(),
            what: variable.and_then(|v| v.does).map(str::to_owned),
            range: variable.and_then(Variable::history),
            sources: variable.map(Variable::cited).unwrap_or_default(),
            suggestion: None,
            change: None,
            at: self.setting.origin.clone(),
            also: Vec::new(),
        }
    }

    fn fine(&self) -> Judgement {
        let when = self.variable.and_then(|v| v.when).filter(|w| !w.starts_with("Not"));
        let mut j = self.say(Kind::Fine, Severity::Info, "no problem");
        j.suggestion = when.map(|w| {
            format!(
                "it is for: {}{}",
                w.chars().next().map(|c| c.to_lowercase().to_string()).unwrap_or_default(),
                w.get(1..).unwrap_or_default()
            )
        });
        j
    }
}

impl Judgement {
    /// Advice that leaves something to decide.
    fn suggest(mut self, what: impl Into<String>) -> Self {
        self.suggestion = Some(what.into());
        self
    }

    fn change(mut self, change: Change) -> Self {
        self.change = Some(change);
        self
    }

    fn unset(self) -> Self {
        self.suggest("unset it").change(Change::Unset)
    }

    fn delete(self) -> Self {
        self.suggest("delete it").change(Change::Unset)
    }

    fn set(self, value: impl Into<String>) -> Self {
        let value = value.into();
        let name = self.variable.clone();
        self.suggest(format!("{name}={value}")).change(Change::Set(value))
    }
}

/// A list for people: `a, b and c`; of long ones the beginning.
pub(crate) fn words(list: &[&str]) -> String {
    match list {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [many @ .., last] if many.len() < 8 => format!("{} and {last}", many.join(", ")),
        many => format!("{} and {} more", many.get(..7).unwrap_or_default().join(", "), many.len() - 7),
    }
}
