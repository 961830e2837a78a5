//! Which expressions are conditions: what they may call, read, and loop over.

use super::Refused;
use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use linerate_formats::bounds::{CONDITION_DEPTH, CONDITION_LOOPS, CONDITION_NESTED};
use linerate_formats::near;

/// Functions that are known. Each takes time in proportion to its arguments.
const FUNCTIONS: [&str; 8] = ["size", "contains", "startsWith", "endsWith", "int", "uint", "double", "string"];

/// Members of a tagged fact.
pub(super) const TAGS: [&str; 3] = ["known", "absent", "unreadable"];

/// What an expression is a part of.
#[derive(Clone, PartialEq)]
enum At {
    /// Of the node: ids of its facts begin with this; empty: all.
    Path(String),
    /// Behind a tag that ends it.
    Leaf,
    /// A computed value.
    Value,
}

struct Walk {
    /// Variables of loops, with what they are.
    names: Vec<(String, At)>,
    loops: usize,
    nested: usize,
}

/// Whether an expression is a condition.
pub(super) fn check(expr: &IdedExpr) -> Result<(), Refused> {
    let mut walk = Walk { names: Vec::new(), loops: 0, nested: 0 };
    walk.visit(expr, 0).map(|_| ())
}

impl Walk {
    fn visit(&mut self, expr: &IdedExpr, depth: usize) -> Result<At, Refused> {
        if depth > usize::from(CONDITION_DEPTH) * 4 {
            return Err(Refused::Deep);
        }
        let depth = depth + 1;
        match &expr.expr {
            Expr::Unspecified | Expr::Literal(_) => Ok(At::Value),
            Expr::Ident(name) => match self.names.iter().rev().find(|(n, _)| n == name) {
                Some((_, at)) => Ok(at.clone()),
                None if name == "node" => Ok(At::Path(String::new())),
                None => Err(Refused::Name(name.clone())),
            },
            Expr::Select(select) => match self.visit(&select.operand, depth)? {
                At::Path(path) => below(&path, &select.field),
                other => Ok(other),
            },
            Expr::Call(call) => {
                let name = call.func_name.as_str();
                let operator = name.starts_with(['_', '!', '@', '-']);
                if !operator && !FUNCTIONS.contains(&name) {
                    let all = FUNCTIONS.into_iter().chain(["has", "all", "exists", "exists_one", "map", "filter"]);
                    let like = near::nearest(name, all).map(str::to_owned);
                    return Err(Refused::Function { name: name.to_owned(), like });
                }
                let mut first = None;
                for arg in call.target.iter().map(|t| &**t).chain(&call.args) {
                    let at = self.visit(arg, depth)?;
                    first.get_or_insert(at);
                }
                // An element of a list is what its members are.
                Ok(first.filter(|_| name == cel::common::ast::operators::INDEX).unwrap_or(At::Value))
            }
            Expr::List(list) => self.each(list.elements.iter(), depth),
            Expr::Map(map) => self.entries(map.entries.iter().map(|e| &e.expr), depth),
            Expr::Struct(made) => self.entries(made.entries.iter().map(|e| &e.expr), depth),
            Expr::Comprehension(c) => {
                let range = self.visit(&c.iter_range, depth)?;
                if matches!(range, At::Value) {
                    return Err(Refused::Range);
                }
                self.loops += 1;
                if self.loops > CONDITION_LOOPS {
                    return Err(Refused::Loops("four loops"));
                }
                self.nested += 1;
                if self.nested > CONDITION_NESTED {
                    return Err(Refused::Loops("two loops within each other"));
                }
                self.visit(&c.accu_init, depth)?;
                let before = self.names.len();
                self.names.push((c.accu_var.clone(), At::Value));
                self.names.push((c.iter_var.clone(), range));
                self.names.extend(c.iter_var2.clone().map(|v| (v, At::Value)));
                for part in [&c.loop_cond, &c.loop_step, &c.result] {
                    self.visit(part, depth)?;
                }
                self.names.truncate(before);
                self.nested -= 1;
                Ok(At::Value)
            }
        }
    }

    fn each<'e>(&mut self, all: impl Iterator<Item = &'e IdedExpr>, depth: usize) -> Result<At, Refused> {
        for one in all {
            self.visit(one, depth)?;
        }
        Ok(At::Value)
    }

    fn entries<'e>(&mut self, all: impl Iterator<Item = &'e EntryExpr>, depth: usize) -> Result<At, Refused> {
        for entry in all {
            match entry {
                EntryExpr::StructField(f) => self.visit(&f.value, depth)?,
                EntryExpr::MapEntry(m) => {
                    self.visit(&m.key, depth)?;
                    self.visit(&m.value, depth)?
                }
            };
        }
        Ok(At::Value)
    }
}

/// What a member of a part of the node is.
fn below(path: &str, field: &str) -> Result<At, Refused> {
    if TAGS.contains(&field) && !path.is_empty() {
        return Ok(if field == "known" { At::Path(path.to_owned()) } else { At::Leaf });
    }
    let id = if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") };
    let begins = |def: &str| def.strip_prefix(id.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    if linerate_facts::defs().any(|d| begins(d.id)) {
        return Ok(At::Path(id));
    }
    let like = near::nearest(&id, linerate_facts::defs().map(|d| d.id)).map(str::to_owned);
    Err(Refused::Fact { path: format!("node.{id}"), like })
}
