//! How many steps a condition takes on a node, and which facts it reads there.

use cel::common::ast::{EntryExpr, Expr, IdedExpr, operators};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// What a condition does on a node.
#[derive(Default)]
pub(super) struct Read {
    /// Steps, at most: never fewer than the interpreter takes.
    pub(super) steps: u64,
    /// Facts that it reads and that could not be read, with the reason.
    pub(super) unseen: Vec<(String, String)>,
    /// Some facts that it reads, with their values.
    pub(super) seen: Vec<String>,
}

/// Facts that are listed.
const LISTED: usize = 8;

/// What an expression can be on this node.
#[derive(Clone)]
enum Of<'n> {
    /// One of these parts of the node, which was read by this path.
    Data(Vec<&'n Json>, String),
    /// A number, a truth value, a word.
    Scalar,
    /// A list of so many.
    List(u64),
    /// Anything.
    Made,
}

struct Walk<'n> {
    root: &'n Json,
    /// Size of the whole node, once it was asked for.
    whole: Option<u64>,
    names: Vec<(String, Of<'n>)>,
    out: Read,
}

/// Walks an expression whose depth is known to be small.
pub(super) fn measure(expr: &IdedExpr, root: &Json) -> Read {
    let mut walk = Walk { root, whole: None, names: Vec::new(), out: Read::default() };
    walk.visit(expr, 1);
    let unique: BTreeMap<String, String> = std::mem::take(&mut walk.out.unseen).into_iter().collect();
    walk.out.unseen = unique.into_iter().collect();
    walk.out
}

impl<'n> Walk<'n> {
    fn step(&mut self, times: u64, each: u64) {
        self.out.steps = self.out.steps.saturating_add(times.saturating_mul(each));
    }

    /// `times`: how often it runs.
    fn visit(&mut self, expr: &IdedExpr, times: u64) -> Of<'n> {
        self.step(times, 1);
        match &expr.expr {
            Expr::Unspecified | Expr::Literal(_) => Of::Scalar,
            Expr::Ident(name) => match self.names.iter().rev().find(|(n, _)| n == name) {
                Some((_, of)) => of.clone(),
                None => Of::Data(vec![self.root], "node".to_owned()),
            },
            Expr::Select(select) => match self.visit(&select.operand, times) {
                Of::Data(all, path) => self.select(&all, &path, &select.field, select.test),
                other => other,
            },
            Expr::Call(call) => {
                let args: Vec<Of<'n>> =
                    call.target.iter().map(|t| &**t).chain(&call.args).map(|a| self.visit(a, times)).collect();
                self.call(&call.func_name, &args, times)
            }
            Expr::List(list) => {
                list.elements.iter().for_each(|e| {
                    self.visit(e, times);
                });
                Of::List(list.elements.len() as u64)
            }
            Expr::Map(map) => self.entries(map.entries.iter().map(|e| &e.expr), times),
            Expr::Struct(made) => self.entries(made.entries.iter().map(|e| &e.expr), times),
            Expr::Comprehension(c) => {
                let range = self.visit(&c.iter_range, times);
                let (most, of) = members(range);
                self.visit(&c.accu_init, times);
                let inner = times.saturating_mul(most.max(1));
                let before = self.names.len();
                self.names.push((c.accu_var.clone(), Of::Scalar));
                self.names.push((c.iter_var.clone(), of));
                self.names.extend(c.iter_var2.clone().map(|v| (v, Of::Made)));
                self.visit(&c.loop_cond, inner);
                self.visit(&c.loop_step, inner);
                self.visit(&c.result, times);
                self.names.truncate(before);
                Of::Made
            }
        }
    }

    fn entries<'e>(&mut self, all: impl Iterator<Item = &'e EntryExpr>, times: u64) -> Of<'n> {
        for entry in all {
            match entry {
                EntryExpr::StructField(f) => {
                    self.visit(&f.value, times);
                }
                EntryExpr::MapEntry(m) => {
                    self.visit(&m.key, times);
                    self.visit(&m.value, times);
                }
            }
        }
        Of::Made
    }

    /// A member of each of these; with a note of what could not be read.
    fn select(&mut self, all: &[&'n Json], path: &str, field: &str, asks: bool) -> Of<'n> {
        let tag = super::grammar::TAGS.contains(&field);
        let shown = if tag { path.to_owned() } else { format!("{path}.{field}") };
        for one in all {
            if let Some(why) = one.get("unreadable") {
                let text = |key: &str| why.get(key).and_then(Json::as_str).unwrap_or_default();
                self.out.unseen.push((path.to_owned(), format!("{} ({})", text("why"), text("place"))));
            }
        }
        let found: Vec<&Json> = all.iter().filter_map(|j| j.get(field)).collect();
        // What `has(node.x)` asks for is a fact, too.
        if asks && !tag {
            found.iter().filter_map(|j| j.get("unreadable")).for_each(|why| {
                let text = |key: &str| why.get(key).and_then(Json::as_str).unwrap_or_default();
                self.out.unseen.push((shown.clone(), format!("{} ({})", text("why"), text("place"))));
            });
        }
        if self.out.seen.len() < LISTED
            && let [one] = found.as_slice()
            && !one.is_array()
            && !one.is_object()
        {
            let text = format!("{shown} is {one}");
            if !self.out.seen.contains(&text) {
                self.out.seen.push(text);
            }
        }
        Of::Data(found, shown)
    }

    fn call(&mut self, name: &str, args: &[Of<'n>], times: u64) -> Of<'n> {
        let sizes: Vec<u64> = args.iter().map(|a| self.size(a)).collect();
        let all = sizes.iter().fold(0u64, |a, b| a.saturating_add(*b));
        match name {
            operators::INDEX => {
                self.step(times, 1);
                match args.first() {
                    Some(of @ Of::Data(_, _)) => members(of.clone()).1,
                    _ => Of::Made,
                }
            }
            // The shorter of two ends a comparison.
            operators::EQUALS | operators::NOT_EQUALS => {
                self.step(times, sizes.iter().copied().min().unwrap_or(1));
                Of::Scalar
            }
            operators::CONDITIONAL => match args {
                [_, Of::Scalar, Of::Scalar] => Of::Scalar,
                _ => Of::Made,
            },
            operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT | "size" => Of::Scalar,
            operators::ADD => {
                self.step(times, all);
                if args.iter().all(|a| matches!(a, Of::Scalar)) { Of::Scalar } else { Of::Made }
            }
            _ => {
                self.step(times, all);
                Of::Scalar
            }
        }
    }

    fn size(&mut self, of: &Of<'n>) -> u64 {
        match of {
            Of::Scalar => 1,
            Of::List(n) => *n,
            Of::Data(all, _) => all.iter().map(|j| size(j)).max().unwrap_or(1),
            Of::Made => {
                let root = self.root;
                *self.whole.get_or_insert_with(|| size(root))
            }
        }
    }
}

/// How many members a list has at most, and what they can be.
fn members(of: Of<'_>) -> (u64, Of<'_>) {
    match of {
        Of::Data(all, path) => {
            let most = all
                .iter()
                .map(|j| j.as_array().map_or(0, Vec::len) + j.as_object().map_or(0, serde_json::Map::len))
                .max();
            let inner = all.iter().filter_map(|j| j.as_array()).flatten().collect();
            (most.unwrap_or(0) as u64, Of::Data(inner, path))
        }
        Of::List(n) => (n, Of::Scalar),
        Of::Scalar | Of::Made => (0, Of::Made),
    }
}

/// Values of a part of a node; long texts count more.
fn size(json: &Json) -> u64 {
    match json {
        Json::Array(all) => 1 + all.iter().map(size).sum::<u64>(),
        Json::Object(all) => 1 + all.values().map(size).sum::<u64>(),
        Json::String(s) => 1 + s.len() as u64 / 32,
        _ => 1,
    }
}
