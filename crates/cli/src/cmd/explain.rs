//! `linerate explain`.

use crate::args::ExplainArgs;
use crate::output::{Failure, Sink};
use linerate_doctor::{causes, symptoms};
use linerate_report::{Style, explain};
use std::io::Write;

pub(crate) fn run(a: &ExplainArgs) -> Result<u8, Failure> {
    let mut sink = Sink::open(None)?;
    let style = sink.style(a.color, true);
    let Some(text) = text(&a.id, style) else {
        let near = nearest(&a.id);
        return Err(Failure::new(format!("no rule, symptom or cause is called `{}`", a.id)).hint(match near {
            Some(id) => format!("did you mean `{id}`? {LISTS}"),
            None => LISTS.to_owned(),
        }));
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
    rule.or_else(symptom).or_else(cause)
}

/// `xid/79`, `Xid 79`, `xid79`.
fn xid_number(id: &str) -> Option<u32> {
    let rest = id.get(..3).filter(|w| w.eq_ignore_ascii_case("xid")).and_then(|_| id.get(3..))?;
    rest.trim_start_matches(['/', ' ', '-', ':']).parse().ok()
}

/// The id that was meant.
fn nearest(asked: &str) -> Option<&'static str> {
    let rules = linerate_rules::rules().iter().map(|r| r.id);
    let all = rules.chain(symptoms().iter().map(|s| s.id)).chain(causes().map(|c| c.id));
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
