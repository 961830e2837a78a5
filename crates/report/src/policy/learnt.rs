//! What a policy was learnt from, and what was left out of it.

use crate::style::{Page, Style, Tone};
use crate::terminal::tone_of;
use linerate_fleet::policy::{Change, Learnt, Left, Match, Policy, Why};
use linerate_rules::Severity;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Name and version of the format of what was learnt.
pub const LEARN_SCHEMA: &str = "linerate.policy-learn/1";
/// Name and version of the format of differences.
pub const DIFF_SCHEMA: &str = "linerate.policy-diff/1";

/// What was learnt, for a reader.
#[derive(Debug, Serialize)]
pub struct Lesson {
    /// Name of the policy.
    policy: String,
    /// Its classes.
    classes: Vec<Taught>,
    /// Facts that rules call wrong.
    wrong: Vec<Refusal>,
    /// Facts on which nodes differ, or that only some have.
    differ: Vec<Differ>,
    /// Facts that no node's source shows.
    unseen: usize,
    /// 0: all that was seen; 1: what rules call wrong was left out.
    exit_code: u8,
}

#[derive(Debug, Serialize)]
struct Taught {
    class: String,
    nodes: Vec<String>,
    expectations: usize,
    /// Its sources show no hardware by which nodes could be told apart.
    fits_any: bool,
}

#[derive(Debug, Serialize)]
struct Refusal {
    rule: &'static str,
    severity: Severity,
    nodes: Vec<String>,
    facts: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Differ {
    class: String,
    fact: String,
    values: Vec<Shown>,
}

#[derive(Debug, Serialize)]
struct Shown {
    value: String,
    nodes: Vec<String>,
}

/// Facts of one rule, and differences, that are listed.
const LISTED: usize = 6;

impl Lesson {
    /// Of what was learnt.
    #[must_use]
    pub fn of(learnt: &Learnt) -> Self {
        let mut wrong: BTreeMap<&'static str, Refusal> = BTreeMap::new();
        let mut differ = Vec::new();
        let mut unseen = 0;
        for left in &learnt.left {
            let shown = |(value, nodes): &(String, Vec<String>)| Shown { value: value.clone(), nodes: nodes.clone() };
            let values = match &left.why {
                Why::Wrong { rule, severity, nodes } => {
                    let r = wrong.entry(rule).or_insert_with(|| Refusal {
                        rule,
                        severity: *severity,
                        nodes: nodes.clone(),
                        facts: Vec::new(),
                    });
                    r.severity = r.severity.max(*severity);
                    nodes.iter().for_each(|n| {
                        if !r.nodes.contains(n) {
                            r.nodes.push(n.clone());
                        }
                    });
                    r.facts.push(title(left));
                    continue;
                }
                Why::Unseen => {
                    unseen += 1;
                    continue;
                }
                Why::Differ(values) => values.iter().map(shown).collect(),
                Why::NotOnAll(nodes) => vec![Shown { value: "only on these nodes".to_owned(), nodes: nodes.clone() }],
            };
            differ.push(Differ { class: left.class.clone(), fact: title(left), values });
        }
        let mut wrong: Vec<Refusal> = wrong.into_values().collect();
        wrong.sort_by_key(|r| std::cmp::Reverse(r.severity));
        let taught = learnt.policy.classes.iter().map(|c| Taught {
            class: c.name.clone(),
            nodes: c.learnt_from.clone(),
            expectations: c.all().count(),
            fits_any: c.matches == Match::default(),
        });
        Lesson {
            policy: learnt.policy.name.clone(),
            classes: taught.collect(),
            exit_code: u8::from(!wrong.is_empty()),
            wrong,
            differ,
            unseen,
        }
    }

    /// 0, or 1 where what rules call wrong was left out.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.exit_code
    }

    /// Writes it; `file`: where the policy is.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn text(&self, file: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let mut page = Page::new(out, style);
        for c in &self.classes {
            let n = crate::doctor::words::counted(c.nodes.len(), "node", "nodes");
            let text =
                format!("{}: {} expectations learnt from {n}: {}", c.class, c.expectations, super::node_set(&c.nodes));
            page.item(0, "", Tone::Plain, Tone::Bold, &text)?;
        }
        page.item(0, "", Tone::Plain, Tone::Plain, &format!("written to {file}"))?;
        for c in self.classes.iter().filter(|c| c.fits_any) {
            let text =
                format!("class {} matches any node, because its sources show no hardware: write its `match`", c.class);
            page.item(0, "·", Tone::Doubt, Tone::Plain, &text)?;
        }
        page.heading_of(&self.wrong, "Not learnt, because a rule fails for it")?;
        for r in &self.wrong {
            let tag = format!("{:<8}", r.severity.name().to_uppercase());
            page.item(
                0,
                &tag,
                tone_of(r.severity),
                Tone::Bold,
                &format!("{} on {}", r.rule, super::node_set(&r.nodes)),
            )?;
            listed(&mut page, &r.facts)?;
            page.item(
                9,
                "",
                Tone::Plain,
                Tone::Dim,
                &format!("fix the node, or accept it as it is: --accept {}", r.rule),
            )?;
        }
        page.heading_of(&self.differ, "Not learnt, because the nodes differ")?;
        let shown = page.shown(LISTED * 2);
        for d in self.differ.iter().take(shown) {
            page.item(0, "·", Tone::Mild, Tone::Plain, &d.fact)?;
            let few = page.shown(3);
            for v in d.values.iter().take(few) {
                page.item(4, "", Tone::Plain, Tone::Dim, &format!("{}: {}", v.value, super::node_set(&v.nodes)))?;
            }
            page.more(4, d.values.len(), few, " values")?;
        }
        page.more(0, self.differ.len(), shown, "")?;
        if self.unseen > 0 {
            page.blank()?;
            let n = crate::doctor::words::counted(self.unseen, "fact was", "facts were");
            page.item(0, "·", Tone::Doubt, Tone::Plain, &format!("{n} not learnt: no source shows them"))?;
        }
        Ok(())
    }

    /// Writes it for programs.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        crate::json::write_document(LEARN_SCHEMA, self, out)
    }
}

fn listed(page: &mut Page<'_>, facts: &[String]) -> io::Result<()> {
    let shown = page.shown(LISTED);
    for f in facts.iter().take(shown) {
        page.item(9, "", Tone::Plain, Tone::Plain, f)?;
    }
    page.more(9, facts.len(), shown, " facts")
}

fn title(left: &Left) -> String {
    if left.at.is_empty() { left.fact.clone() } else { format!("{}: {}", left.at, left.fact) }
}

#[derive(Serialize)]
struct Differences<'a> {
    policies: [&'a str; 2],
    changes: Vec<ChangeOut<'a>>,
}

#[derive(Serialize)]
struct ChangeOut<'a> {
    class: &'a str,
    at: &'a str,
    fact: &'a str,
    sides: [Option<&'a str>; 2],
}

/// Differences of two policies, for a terminal.
///
/// # Errors
/// Those of the writer.
pub fn changes(labels: [&str; 2], all: &[Change], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out, style);
    page.field(0, "A", labels[0])?;
    page.field(0, "B", labels[1])?;
    page.blank()?;
    let n = crate::doctor::words::counted(all.len(), "difference", "differences");
    page.item(0, "", Tone::Plain, Tone::Bold, &n)?;
    let mut class = None;
    for c in all {
        if class != Some(&c.class) {
            page.heading(&format!("class {}", c.class))?;
            class = Some(&c.class);
        }
        let fact = if c.fact.is_empty() { "hardware" } else { &c.fact };
        let title = if c.at.is_empty() { fact.to_owned() } else { format!("{}: {fact}", c.at) };
        page.item(0, "·", Tone::Mild, Tone::Bold, &title)?;
        for (name, side) in ["A", "B"].iter().zip(&c.sides) {
            page.item(4, name, Tone::Dim, Tone::Plain, side.as_deref().unwrap_or("nothing is wanted"))?;
        }
    }
    Ok(())
}

/// Differences of two policies, for programs.
///
/// # Errors
/// Those of the writer.
pub fn changes_json(policies: [&str; 2], all: &[Change], out: &mut dyn Write) -> io::Result<()> {
    let changes = all
        .iter()
        .map(|c| ChangeOut {
            class: &c.class,
            at: &c.at,
            fact: &c.fact,
            sides: [c.sides[0].as_deref(), c.sides[1].as_deref()],
        })
        .collect();
    crate::json::write_document(DIFF_SCHEMA, &Differences { policies, changes }, out)
}

/// Where the expectations of a policy come from, for a terminal: those whose id holds `filter`.
///
/// # Errors
/// Those of the writer.
pub fn explain(policy: &Policy, filter: &str, style: Style, out: &mut dyn Write) -> io::Result<usize> {
    let mut page = Page::new(out, style);
    let mut shown = 0;
    for (class, kind) in policy.all().filter(|(_, k)| k.about().id.contains(filter)) {
        let about = kind.about();
        if shown > 0 {
            page.blank()?;
        }
        shown += 1;
        page.item(0, &format!("{:<8}", about.severity.name()), tone_of(about.severity), Tone::Bold, &about.id)?;
        let whose = if kind.whose().is_empty() { String::new() } else { format!("{}: ", kind.whose()) };
        page.field(9, "fact", &format!("{whose}{}", kind.subject()))?;
        page.field(9, "wanted", &kind.wanted())?;
        if !about.reason.is_empty() {
            page.field(9, "why", &about.reason)?;
        }
        if !about.owner.is_empty() {
            page.field(9, "owner", &about.owner)?;
        }
        let from = match (class.learnt_from.len(), &kind) {
            (0, _) => "written by people".to_owned(),
            (n, linerate_fleet::policy::Kind::Row(r)) => {
                let all = super::node_set(&class.learnt_from);
                format!(
                    "shown by {} of the {n} nodes from which the class {} was learnt: {all}",
                    r.shown_by.map_or(n, |s| s as usize),
                    class.name
                )
            }
            (n, _) => {
                format!(
                    "the {n} nodes from which the class {} was learnt: {}",
                    class.name,
                    super::node_set(&class.learnt_from)
                )
            }
        };
        page.field(9, "from", &from)?;
        page.field(9, "line", &about.line.to_string())?;
    }
    Ok(shown)
}
