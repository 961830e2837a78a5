//! Sets of nodes from text.

use super::error::{NodeSetError, Why};
use super::index::{Index, split};
use super::{NodeSet, Numbers, range};
use linerate_formats::bounds::{NODESET_GROUP_DEPTH, NODESET_NODES, NODESET_TEXT, NODESET_WORK};
use linerate_formats::wildcard::glob;
use std::collections::BTreeSet;

/// Where groups come from.
pub trait Groups {
    /// The sets of nodes, as text, that make a group up; `None`: there is no such group. Without a source, the one that counts by default. A
    /// group that such a text names is one of the same source.
    fn group(&self, source: Option<&str>, name: &str) -> Option<Vec<String>>;

    /// The sets of nodes, as text, that are all nodes of a source; without a source, all there are. `None`: there is no such source.
    fn all(&self, source: Option<&str>) -> Option<Vec<String>>;
}

/// No groups, and no known nodes.
#[derive(Debug, Clone, Copy)]
pub struct NoGroups;

impl Groups for NoGroups {
    fn group(&self, _: Option<&str>, _: &str) -> Option<Vec<String>> {
        None
    }

    fn all(&self, _: Option<&str>) -> Option<Vec<String>> {
        None
    }
}

/// Reads a set of nodes. Operators have no precedence and count from left to right: `,` adds, `!` takes off, `&` keeps what is in both, `^` what is in
/// one. A name with `*` or `?` is every known node that it fits.
///
/// # Errors
/// The first thing that is wrong.
pub fn parse(text: &str, groups: &dyn Groups) -> Result<NodeSet, NodeSetError> {
    parse_within(text, groups, &mut Budget { names: NODESET_NODES, work: NODESET_WORK })
}

/// What reading sets may cost, for who reads many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Names that may be made.
    pub names: usize,
    /// Bytes of groups that may be read, and names compared with wildcards.
    pub work: usize,
}

/// As [`parse`], with what is left of a budget for several.
///
/// # Errors
/// As [`parse`]; [`Why::Many`] where nothing is left.
pub fn parse_within(text: &str, groups: &dyn Groups, budget: &mut Budget) -> Result<NodeSet, NodeSetError> {
    let (nodes, work) = (budget.names.min(NODESET_NODES), budget.work.min(NODESET_WORK));
    let mut parser = Parser { groups, nodes, work, known: None };
    let set = parser.set(text, None, 0);
    budget.names -= nodes - parser.nodes;
    budget.work -= work - parser.work;
    set
}

/// The same without groups and wildcards, for lists in files.
///
/// # Errors
/// As [`parse`].
pub fn names_of(text: &str) -> Result<NodeSet, NodeSetError> {
    parse(text, &NoGroups)
}

struct Parser<'a> {
    groups: &'a dyn Groups,
    /// How many names may still be made.
    nodes: usize,
    /// How many bytes may still be read, and names compared with a pattern.
    work: usize,
    /// All known nodes, once they were asked for.
    known: Option<Vec<String>>,
}

impl Parser<'_> {
    fn set(&mut self, text: &str, source: Option<&str>, depth: usize) -> Result<NodeSet, NodeSetError> {
        if text.len() > NODESET_TEXT {
            return Err(NodeSetError::new(text, Why::Long));
        }
        if depth > NODESET_GROUP_DEPTH {
            return Err(NodeSetError::new(text, Why::Circle));
        }
        self.spend(text.len()).map_err(|why| NodeSetError::new(text, why))?;
        let mut set = NodeSet::new();
        if text.trim().is_empty() {
            return Ok(set);
        }
        for (operator, operand) in operands(text)? {
            let operand = operand.trim();
            let other = self.operand(operand, source, depth)?;
            set = match operator {
                '!' => set.difference(&other),
                '&' => set.intersection(&other),
                '^' => set.symmetric_difference(other),
                _ => set.union(other),
            };
        }
        Ok(set)
    }

    fn operand(&mut self, text: &str, source: Option<&str>, depth: usize) -> Result<NodeSet, NodeSetError> {
        let fail = |why| NodeSetError::new(text, why);
        let plain = self.product(text).map_err(fail)?;
        if text.starts_with('@') {
            let mut all = NodeSet::new();
            for group in plain.iter() {
                all = all.union(self.group(group.get(1..).unwrap_or_default(), source, depth)?);
            }
            return Ok(all);
        }
        if text.contains(['*', '?']) { self.fitting(&plain).map_err(fail) } else { Ok(plain) }
    }

    fn group(&mut self, name: &str, source: Option<&str>, depth: usize) -> Result<NodeSet, NodeSetError> {
        let fail = |why| NodeSetError::new(&format!("@{name}"), why);
        let (source, group) = name.split_once(':').map_or((source, name), |(s, g)| (Some(s), g));
        if group.starts_with('@') {
            return Err(fail(Why::GroupNames));
        }
        let texts = if group == "*" { self.groups.all(source) } else { self.groups.group(source, group) };
        let mut all = NodeSet::new();
        for text in texts.ok_or_else(|| fail(Why::Group))? {
            all = all.union(self.set(&text, source, depth + 1)?);
        }
        Ok(all)
    }

    /// Known nodes that fit one of these patterns.
    fn fitting(&mut self, patterns: &NodeSet) -> Result<NodeSet, Why> {
        if self.known.is_none() {
            let mut all = NodeSet::new();
            for text in self.groups.all(None).unwrap_or_default() {
                // A list of nodes that is wrong is its source's matter.
                all = all.union(names_of(&text).unwrap_or_default());
            }
            self.known = Some(all.iter().collect());
        }
        let known = self.known.take().unwrap_or_default();
        let mut set = NodeSet::new();
        for pattern in patterns.iter() {
            self.spend(known.len())?;
            set.extend(known.iter().filter(|name| glob(pattern.as_bytes(), name.as_bytes())));
        }
        self.known = Some(known);
        Ok(set)
    }

    /// The names of an operand: each text and bracket in turn.
    fn product(&mut self, text: &str) -> Result<NodeSet, Why> {
        let odd = |c: char| c.is_control() || c.is_whitespace() || "\"'\\".contains(c);
        let (mut pattern, mut axes) = (String::new(), Vec::<Vec<Index>>::new());
        let mut count = 1_usize;
        let mut rest = text;
        loop {
            let (mut before, bracket) = rest.split_once('[').map_or((rest, None), |(b, r)| (b, Some(r)));
            if before.contains(odd) {
                return Err(Why::Character);
            }
            if before.contains(']') {
                return Err(Why::Bracket);
            }
            let digits = |t: &str| t.bytes().take_while(u8::is_ascii_digit).count();
            let Some(bracket) = bracket else {
                add(before, &mut pattern, &mut axes);
                break;
            };
            let (inner, after) = bracket.split_once(']').ok_or(Why::Bracket)?;
            if after.starts_with('[') {
                return Err(Why::Bracket);
            }
            // Digits that touch the bracket are a part of its numbers.
            let led = before.len() - before.bytes().rev().take_while(u8::is_ascii_digit).count();
            let (text, leading) = before.split_at_checked(led).unwrap_or((before, ""));
            before = text;
            let (trailing, after) = after.split_at_checked(digits(after)).unwrap_or(("", after));
            if after.starts_with('[') {
                // Whose digits they are would be a guess.
                return Err(Why::Bracket);
            }
            add(before, &mut pattern, &mut axes);
            let mut numbers = range::numbers(leading, inner, trailing, self.nodes)?;
            numbers.sort_unstable();
            numbers.dedup();
            count = count.saturating_mul(numbers.len());
            if count > self.nodes {
                return Err(Why::Many);
            }
            pattern.push_str("%s");
            axes.push(numbers);
            rest = after;
        }
        // Names with many numbers count for several.
        let cost = count.saturating_mul(1 + axes.len() / 4);
        let left = self.nodes.checked_sub(cost);
        self.nodes = left.unwrap_or(0);
        left.ok_or(Why::Many)?;
        let mut set = NodeSet::new();
        set.patterns.insert(pattern, all_of(&axes));
        Ok(set)
    }

    fn spend(&mut self, work: usize) -> Result<(), Why> {
        let left = self.work.checked_sub(work);
        self.work = left.unwrap_or(0);
        left.map(drop).ok_or(Why::Many)
    }
}

/// A text outside of brackets: its digits are numbers, too.
fn add(text: &str, pattern: &mut String, axes: &mut Vec<Vec<Index>>) {
    let (more, numbers) = split(text);
    pattern.push_str(&more);
    axes.extend(numbers.into_iter().map(|n| vec![n]));
}

/// Each choice of one number of each axis.
fn all_of(axes: &[Vec<Index>]) -> BTreeSet<Numbers> {
    let count = axes.iter().map(Vec::len).product();
    // The last axis changes first: they come in order.
    let choice = |mut n: usize| {
        let number = |axis: &Vec<Index>| {
            let at = n % axis.len().max(1);
            n /= axis.len().max(1);
            axis.get(at).copied()
        };
        let mut name: Numbers = axes.iter().rev().filter_map(number).collect();
        name.reverse();
        name
    };
    (0..count).map(choice).collect()
}

/// Operands, each with the operator before it.
fn operands(text: &str) -> Result<Vec<(char, &str)>, NodeSetError> {
    let mut out = Vec::new();
    let (mut operator, mut from, mut inside) = (',', 0, false);
    let whole = |part: &str, beside: char| {
        if part.trim().is_empty() { Err(NodeSetError::new(text, Why::Operand(beside))) } else { Ok(()) }
    };
    for (at, c) in text.char_indices() {
        match c {
            '[' if inside => return Err(NodeSetError::new(text, Why::Bracket)),
            '[' => inside = true,
            ']' => inside = false,
            ',' | '!' | '&' | '^' if !inside => {
                let part = text.get(from..at).unwrap_or_default();
                whole(part, c)?;
                out.push((operator, part));
                (operator, from) = (c, at + 1);
            }
            _ => {}
        }
    }
    let last = text.get(from..).unwrap_or_default();
    whole(last, operator)?;
    out.push((operator, last));
    Ok(out)
}
