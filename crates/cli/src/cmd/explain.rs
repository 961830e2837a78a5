//! `linerate explain`.

use crate::args::ExplainArgs;
use crate::output::{Failure, Sink, width};
use linerate_report::{Style, explain};
use std::io::Write;

pub(crate) fn run(a: &ExplainArgs) -> Result<u8, Failure> {
    let Some(rule) = linerate_rules::find(&a.rule) else {
        let near = nearest(&a.rule);
        return Err(Failure::new(format!("no rule is called `{}`", a.rule)).hint(match near {
            Some(id) => format!("did you mean `{id}`? `linerate rules` lists all"),
            None => "`linerate rules` lists all".to_owned(),
        }));
    };
    let mut sink = Sink::open(None)?;
    let style = Style { colour: sink.colour(a.color), width: width(), verbose: true };
    sink.write_all(explain::explain(rule, style).as_bytes())?;
    sink.finish()?;
    Ok(0)
}

/// The id with the most bigrams in common, if any are.
fn nearest(asked: &str) -> Option<&'static str> {
    let pairs = |s: &str| s.as_bytes().windows(2).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let wanted = pairs(asked);
    let score = |id: &str| {
        let have = pairs(id);
        wanted.iter().filter(|p| have.contains(p)).count() * 100 / (have.len() + wanted.len()).max(1)
    };
    linerate_rules::rules().iter().map(|r| (score(r.id), r.id)).max().filter(|(s, _)| *s >= 20).map(|(_, id)| id)
}
