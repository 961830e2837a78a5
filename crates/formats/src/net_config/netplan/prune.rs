//! What is read of netplan's YAML: sections, ids, and a closed list of keys, each with a value of its form.

use super::super::{Mode, is_id, is_name, is_number, is_pattern, is_prompt};
use super::kind;
use crate::bounds::LeftOut;
use crate::text::lines;
use crate::yaml::{ITEM, Tree, documents};

/// Whether a name may be shown.
type IsPlain<'a> = &'a dyn Fn(&str) -> bool;

/// The `network` mappings of a text. Lines never go back: what an alias brings counts where the alias is.
pub(super) fn forest(text: &str, is_plain: IsPlain<'_>, left_out: &mut Vec<LeftOut>) -> Vec<Tree> {
    let text = without_prompts(text);
    let documents = documents(&text, left_out);
    let mut out = Pruning { is_plain, line: 1 };
    let top = documents.iter().flat_map(|d| &d.children).filter(|c| c.key == "network");
    top.map(|n| out.network(n)).collect()
}

/// Command lines are no YAML; each stays a line. Tabs that indent come from pastes: netplan refuses them.
fn without_prompts(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (_, line) in lines(text) {
        let body = line.trim_start_matches([' ', '\t']);
        if !is_prompt(body) {
            let (lead, _) = line.split_at(line.len() - body.len());
            lead.bytes().for_each(|b| out.push_str(if b == b'\t' { "  " } else { " " }));
            out.push_str(body);
        }
        out.push('\n');
    }
    out
}

struct Pruning<'a> {
    is_plain: IsPlain<'a>,
    /// Line of what was kept last.
    line: u32,
}

impl Pruning<'_> {
    fn network(&mut self, n: &Tree) -> Tree {
        self.with(n, |this| {
            let sections = n.children.iter().filter(|s| kind(&s.key).is_some());
            sections.map(|s| this.with(s, |this| this.definitions(s))).collect()
        })
    }

    fn definitions(&mut self, section: &Tree) -> Vec<Tree> {
        let is_one = |t: &&Tree| t.value.is_empty() && is_id(&t.key) && (self.is_plain)(&t.key);
        let ids: Vec<&Tree> = section.children.iter().filter(is_one).collect();
        ids.into_iter()
            .map(|t| self.with(t, |this| t.children.iter().filter_map(|c| this.property(c)).collect()))
            .collect()
    }

    fn property(&mut self, c: &Tree) -> Option<Tree> {
        let shows = self.is_plain;
        let value = c.value.as_str();
        let fits = match c.key.as_str() {
            "mtu" | "id" => is_number(value),
            "infiniband-mode" => Mode::of(value).is_some(),
            "link" => is_id(value) && shows(value),
            "set-name" => is_name(value) && shows(value),
            "interfaces" => {
                return Some(self.with(c, |this| c.children.iter().filter_map(|m| this.member(m)).collect()));
            }
            "match" => {
                let name = c.children.iter().filter(|n| n.key == "name");
                return Some(
                    self.with(c, |this| name.map(|n| this.leaf(n, is_pattern(&n.value) && shows(&n.value))).collect()),
                );
            }
            _ => return None,
        };
        Some(self.leaf(c, fits))
    }

    fn member(&mut self, m: &Tree) -> Option<Tree> {
        let is_one = m.key == ITEM && is_id(&m.value) && (self.is_plain)(&m.value);
        is_one.then(|| self.leaf(m, true))
    }

    /// A key with what is kept below it.
    fn with(&mut self, t: &Tree, children: impl FnOnce(&mut Self) -> Vec<Tree>) -> Tree {
        let line = self.at(t);
        Tree { key: t.key.clone(), value: String::new(), line, children: children(self) }
    }

    /// A key with its value; a value that does not fit is hidden.
    fn leaf(&mut self, t: &Tree, fits: bool) -> Tree {
        let value = if fits { t.value.clone() } else { String::new() };
        Tree { key: t.key.clone(), value, line: self.at(t), children: Vec::new() }
    }

    fn at(&mut self, t: &Tree) -> u32 {
        self.line = self.line.max(t.line);
        self.line
    }
}
