//! `linerate explain`.

use crate::args::ExplainArgs;
use crate::output::{Failure, Sink};
use linerate_doctor::{causes, symptoms};
use linerate_formats::wildcard;
use linerate_report::{Style, explain};
use std::io::Write;

pub(crate) fn run(a: &ExplainArgs) -> Result<u8, Failure> {
    let mut sink = Sink::open(None)?;
    let style = sink.style(a.color, true);
    let Some(text) = text(&a.id, style) else {
        let near = nearest(&a.id);
        return Err(Failure::new(format!("no rule, symptom, cause or variable is called `{}`", a.id)).hint(
            match near {
                Some(id) => format!("did you mean `{id}`? {LISTS}"),
                None => LISTS.to_owned(),
            },
        ));
    };
    sink.write_all(text.as_bytes())?;
    sink.finish()?;
    Ok(0)
}

const LISTS: &str = "`linerate rules`, `linerate explain symptom` and `linerate explain cause` list all";

fn text(id: &str, style: Style) -> Option<String> {
    let id = id.trim_end_matches('/');
    match id {
        "symptom" | "symptoms" => return Some(explain::list(symptoms().iter().map(|s| (s.id, s.title)), style)),
        "cause" | "causes" => return Some(explain::list(causes().map(|c| (c.id, c.title)), style)),
        _ => {}
    }
    if let Some(number) = xid_number(id) {
        return Some(explain::xid(number, style));
    }
    let rule = linerate_rules::find(id).map(|r| explain::explain(r, style));
    let symptom = || symptoms().iter().find(|s| s.id == id).map(|s| explain::symptom(s, style));
    let cause = || causes().find(|c| c.id == id).map(|c| explain::cause(c, style));
    let variable = || linerate_env::lookup(id).map(|v| explain::variable(v, style));
    rule.or_else(symptom).or_else(cause).or_else(variable).or_else(|| several(id, style))
}

/// What an area or a pattern names: a single one whole, else a list.
fn several(pattern: &str, style: Style) -> Option<String> {
    let names = |id: &str| wildcard::star(pattern.as_bytes(), id.as_bytes());
    let rules =
        linerate_rules::rules().iter().filter(|r| linerate_rules::terms::names(pattern, r)).map(|r| (r.id, r.title));
    let symptoms = symptoms().iter().filter(|s| names(s.id)).map(|s| (s.id, s.title));
    let causes = causes().filter(|c| names(c.id)).map(|c| (c.id, c.title));
    let variables = linerate_env::variables().iter().filter(|_| pattern.contains('*')).filter(|v| names(v.name));
    let variables = variables.map(|v| (v.name, v.does.unwrap_or("what it does is not documented")));
    let mut all: Vec<(&str, &str)> = rules.chain(symptoms).chain(causes).chain(variables).collect();
    // A cause may have the id of a rule.
    all.sort_unstable();
    all.dedup_by_key(|(id, _)| *id);
    match all.as_slice() {
        [] => None,
        [(id, _)] if *id != pattern => text(id, style),
        some => Some(explain::list(some.iter().copied(), style)),
    }
}

/// `xid/79`, `Xid 79`, `xid79`.
fn xid_number(id: &str) -> Option<u32> {
    let rest = id.get(..3).filter(|w| w.eq_ignore_ascii_case("xid")).and_then(|_| id.get(3..))?;
    rest.trim_start_matches(['/', ' ', '-', ':']).parse().ok()
}

/// The id that was meant.
fn nearest(asked: &str) -> Option<&'static str> {
    let rules = linerate_rules::rules().iter().map(|r| r.id);
    let variables = linerate_env::variables().iter().map(|v| v.name);
    let all = rules.chain(symptoms().iter().map(|s| s.id)).chain(causes().map(|c| c.id)).chain(variables);
    linerate_formats::near::alike(asked, all)
}

#[cfg(test)]
mod tests {
    use super::xid_number;

    #[test]
    fn numbers_of_xids() {
        for text in ["xid/79", "Xid 79", "XID-79", "xid79"] {
            assert_eq!(xid_number(text), Some(79), "{text}");
        }
        for text in ["xid", "gpumem/xid", "xid/x", "79", "xïd"] {
            assert_eq!(xid_number(text), None, "{text}");
        }
    }
}
