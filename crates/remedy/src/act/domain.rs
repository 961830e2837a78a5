//! The definition of a virtual machine.

use super::{ActShown, Deed};
use crate::effect::Effect;
use crate::hash::sha256;
use crate::model::Step;
use linerate_formats::libvirt;
use linerate_node::vms::definition;
use linerate_snapshot::domain_without_secrets;
use serde::{Deserialize, Serialize};
use similar::{DiffTag, TextDiff};

/// Lines of a domain's definition, which libvirt takes as a whole (`virsh define`). Only the lines that change are here: a definition may hold passwords.
/// A guest that runs has them when it was shut down and started. Undone: the definition that was there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DomainAct {
    /// Its name.
    pub domain: String,
    /// SHA-256 of its file as a snapshot has it, without secrets.
    pub before: String,
    /// What changes, in the order of the file.
    pub edits: Vec<LineEdit>,
}

/// Lines that take the place of others.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineEdit {
    /// Line of the file before which, or from which on; 1-based.
    pub line: usize,
    /// Lines that are there, without their ends.
    pub old: Vec<String>,
    /// Lines that come there.
    pub new: Vec<String>,
}

/// Why no form that is carried out on a node, or at its first start, carries it.
const LIBVIRT: &str = "a domain is defined on its host, from the definition at that time: `linerate apply` does it, and keeps the old definition";

impl DomainAct {
    /// From one text of a file to another. Neither has lines that end otherwise than in `\n`.
    #[must_use]
    pub fn between(domain: &str, old: &str, new: &str) -> DomainAct {
        let diff = TextDiff::from_lines(old, new);
        let lines = |text: &str, range: std::ops::Range<usize>| {
            text.lines().skip(range.start).take(range.len()).map(str::to_owned).collect::<Vec<_>>()
        };
        let changed = diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal);
        let edits = changed.map(|op| LineEdit {
            line: op.old_range().start + 1,
            old: lines(old, op.old_range()),
            new: lines(new, op.new_range()),
        });
        DomainAct { domain: domain.to_owned(), before: digest(old.as_bytes()), edits: edits.collect() }
    }

    /// Where libvirt keeps the definition.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/{}", definition(&self.domain))
    }

    /// Whether this is the text that the plan expects, whatever secrets it holds.
    #[must_use]
    pub fn expects(&self, text: &[u8]) -> bool {
        digest(text) == self.before
    }

    /// The text with the changes in it. `Err`: the first line that is not what the plan says.
    ///
    /// # Errors
    /// A line is another.
    pub fn edited(&self, text: &str) -> Result<String, usize> {
        let lines: Vec<&str> = text.lines().collect();
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        let mut push = |line: &str| {
            out.push_str(line);
            out.push('\n');
        };
        for LineEdit { line, old, new } in &self.edits {
            let from = line.checked_sub(1).filter(|from| *from >= at && *from <= lines.len()).ok_or(*line)?;
            lines.get(at..from).unwrap_or_default().iter().for_each(|l| push(l));
            at = from;
            for expected in old {
                if lines.get(at) != Some(&expected.as_str()) {
                    return Err(at + 1);
                }
                at += 1;
            }
            new.iter().for_each(|l| push(l));
        }
        lines.get(at..).unwrap_or_default().iter().for_each(|l| push(l));
        Ok(out)
    }

    /// Whether a text holds what the change brings: libvirt writes a definition anew, in its own order of attributes, so what it says is compared.
    #[must_use]
    pub fn is_in(&self, before: &str, text: &str) -> bool {
        let Ok(wanted) = self.edited(before) else { return false };
        libvirt::differ(wanted.as_bytes(), text.as_bytes()).is_ok_and(|differs| differs.is_none())
    }

    /// The change as a unified diff without lines around it: those are not in the plan.
    #[must_use]
    pub fn diff(&self) -> String {
        let mut out = format!("--- {0}\n+++ {0}\n", self.path());
        let mut moved = 0_isize;
        for LineEdit { line, old, new } in &self.edits {
            let to = line.saturating_add_signed(moved);
            let place = |line: usize, count: usize| if count == 0 { line.saturating_sub(1) } else { line };
            let (from, to) = (place(*line, old.len()), place(to, new.len()));
            out.push_str(&format!("@@ -{from},{} +{to},{} @@\n", old.len(), new.len()));
            old.iter().for_each(|l| out.push_str(&format!("-{l}\n")));
            new.iter().for_each(|l| out.push_str(&format!("+{l}\n")));
            moved += new.len() as isize - old.len() as isize;
        }
        out
    }

    fn counts(&self) -> (usize, usize) {
        let sum = |of: fn(&LineEdit) -> usize| self.edits.iter().map(of).sum();
        (sum(|e| e.old.len()), sum(|e| e.new.len()))
    }
}

fn digest(text: &[u8]) -> String {
    sha256(&domain_without_secrets(text))
}

impl ActShown for DomainAct {
    fn summary(&self) -> String {
        let (old, new) = self.counts();
        format!("redefine the domain {}: {new} lines replace {old}", self.domain)
    }

    fn notes(&self) -> Vec<String> {
        vec!["by virsh define --validate; the rest of the definition stays as it is on the host".to_owned()]
    }

    fn rollback(&self) -> Option<String> {
        Some(format!("define the domain {} as it was", self.domain))
    }

    fn effects(&self) -> Vec<Effect> {
        vec![Effect::Domain(self.clone())]
    }

    fn deed(&self, _: &Step) -> Deed<'_> {
        let script = format!("{LIBVIRT}; by hand: virsh edit, with the lines of `linerate plan`");
        Deed::Left {
            what: Some(format!("the definition of a domain ({} lines)", self.counts().1)),
            script,
            playbook: LIBVIRT,
            others: LIBVIRT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "<domain>\n  <name>a</name>\n  <graphics passwd='x'/>\n  <b/>\n</domain>\n";

    #[test]
    fn what_is_between_two_texts_makes_one_of_the_other() {
        for new in [
            "<domain>\n  <name>a</name>\n  <c/>\n  <graphics passwd='x'/>\n</domain>\n",
            "<first/>\n<domain>\n  <name>a</name>\n  <graphics passwd='x'/>\n  <b/>\n</domain>\n",
            "<domain>\n</domain>\n<last/>\n",
            OLD,
        ] {
            let act = DomainAct::between("a", OLD, new);
            assert_eq!(act.edited(OLD).as_deref(), Ok(new));
        }
    }

    #[test]
    fn another_text_is_not_edited() {
        let act = DomainAct::between("a", OLD, &OLD.replace("<b/>", "<c/>"));
        assert_eq!(act.edited(&OLD.replace("<b/>", "<d/>")), Err(4));
        assert_eq!(act.edited("<domain>\n"), Err(4));
        assert!(act.expects(OLD.as_bytes()) && !act.expects(OLD.replace("<b/>", "<d/>").as_bytes()));
        assert!(act.expects(OLD.replace("'x'", "'another'").as_bytes()), "a password is nobody's business");
        assert_eq!(act.diff().lines().skip(2).collect::<Vec<_>>(), ["@@ -4,1 +4,1 @@", "-  <b/>", "+  <c/>"]);
    }
}
