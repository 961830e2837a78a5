//! Sources that could not be read, for people: one line for each reason, as of a directory of other things there may be many.

use crate::doctor::words::counted;
use linerate_fleet::NodeSet;

/// Names that are written out.
const NAMED: usize = 200;

/// Names and reasons as lines, in the order of their first names.
pub(crate) fn lines<'a>(all: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, why) in all {
        match reasons.iter_mut().find(|(w, _)| *w == why) {
            Some((_, names)) => names.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    reasons
        .into_iter()
        .map(|(why, names)| match names.as_slice() {
            [one] => format!("{one} could not be read: {why}"),
            many => {
                let set: NodeSet = many.iter().take(NAMED).collect();
                let more = many.len().saturating_sub(NAMED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("{} could not be read: {why}: {set}{more}", counted(many.len(), "source", "sources"))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn one_line_for_each_reason() {
        let all = [("n1", "x"), ("a", "y"), ("n2", "x"), ("n3", "x")];
        let lines = super::lines(all.into_iter());
        assert_eq!(lines, ["3 sources could not be read: x: n[1-3]", "a could not be read: y"]);
    }
}
