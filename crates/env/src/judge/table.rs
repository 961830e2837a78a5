//! Values that are what they are wherever they are set: `data/judgements.tsv`.

use super::{Case, Change, Judgement, Kind, Severity};
use crate::context::Fabric;
use crate::registry::word;
use std::sync::LazyLock;

const TABLE: &str = include_str!("../../data/judgements.tsv");

/// Which values a row is about.
enum When {
    /// This number.
    Is(i64),
    /// A number other than 0.
    On,
    /// A number above this.
    Above(i64),
    /// A number from 0 on and below this.
    Below(i64),
    /// Any value.
    Set,
    /// One of these words, in any case.
    Word(Vec<&'static str>),
    /// One of these numbers.
    OneOf(Vec<i64>),
}

/// Something about the node, or about the other settings; `None` where it is not known.
type Asks = fn(&Case<'_>) -> Option<bool>;

/// On which nodes a row holds.
enum Where {
    /// Everywhere.
    All,
    /// Where the context says this; elsewhere it says nothing. Where it is not known, and no other row speaks, it is undecided.
    Only(Asks),
    /// As above, but where it is not known the row holds, too.
    Unless(Asks),
}

/// What to do about a row's value.
enum Do {
    /// Unset it.
    Unset,
    /// Delete it: it does nothing here.
    Delete,
    /// Unset it, and this.
    UnsetAnd(&'static str),
    /// This, which only a person can decide.
    Say(&'static str),
}

impl Do {
    fn on(&self, j: Judgement) -> Judgement {
        match self {
            Do::Unset => j.unset(),
            Do::Delete => j.delete(),
            Do::UnsetAnd(then) => j.suggest(format!("unset it; {then}")).change(Change::Unset),
            Do::Say(what) => j.suggest(*what),
        }
    }

    fn read(cell: &'static str) -> Self {
        match (cell, cell.strip_prefix("unset, and ")) {
            ("unset", _) => Do::Unset,
            ("delete", _) => Do::Delete,
            (_, Some(then)) => Do::UnsetAnd(then),
            _ => Do::Say(cell),
        }
    }
}

/// A value of a variable, and what is said about it.
struct Row {
    name: &'static str,
    when: When,
    on: Where,
    kind: Kind,
    severity: Severity,
    says: &'static str,
    do_it: Do,
}

impl Row {
    fn read(line: &'static str) -> Option<Self> {
        let [name, when, on, kind, severity, says, do_it] = line.split('\t').collect::<Vec<_>>().try_into().ok()?;
        Some(Row {
            name,
            when: When::read(when)?,
            on: Where::read(on)?,
            kind: word(kind)?,
            severity: Severity::ALL.iter().copied().find(|s| s.name() == severity)?,
            says,
            do_it: Do::read(do_it),
        })
    }
}

/// What is said about values: `data/judgements.tsv`, read once.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| lines().filter_map(Row::read).collect());

fn lines() -> impl Iterator<Item = &'static str> {
    TABLE.lines().filter(|l| !l.is_empty() && !l.starts_with('#'))
}

impl Where {
    fn read(cell: &str) -> Option<Self> {
        if cell == "all" {
            return Some(Where::All);
        }
        let (word, what) = cell.split_once(' ')?;
        let (_, asks) = ASKS.iter().find(|(name, _)| *name == what)?;
        match word {
            "only" => Some(Where::Only(*asks)),
            "unless" => Some(Where::Unless(*asks)),
            _ => None,
        }
    }
}

/// What a row can ask, by the name in the table.
const ASKS: &[(&str, Asks)] = &[
    ("one-gpu", |c| Some(c.context.node.as_ref()?.gpus? == 1)),
    ("one-nic", one_nic),
    ("infiniband", |c| c.context.fabric().map(|f| f == Fabric::InfiniBand)),
    ("roce", |c| c.context.fabric().map(|f| matches!(f, Fabric::Roce | Fabric::Mixed))),
    ("peermem", |c| c.context.node.as_ref()?.peermem),
    ("no-peermem", |c| c.context.node.as_ref()?.peermem.map(|p| !p)),
    ("no-nvlink", |c| c.context.node.as_ref()?.nvlink.map(|n| !n)),
    ("guest", |c| c.context.node.as_ref()?.guest),
    ("single-qp", single_qp),
    ("ucx-devices", |c| Some(c.other("UCX_NET_DEVICES").is_some())),
];

fn one_nic(case: &Case<'_>) -> Option<bool> {
    let node = case.context.node.as_ref()?;
    let nics = node.nics.as_ref()?;
    nics.iter().all(|n| n.active().is_some()).then(|| node.active().filter(|n| n.compute != Some(false)).count() <= 1)
}

fn single_qp(case: &Case<'_>) -> Option<bool> {
    let qps = case.other("NCCL_IB_QPS_PER_CONNECTION");
    Some(qps.is_none_or(|s| crate::value::number(&s.value).is_some_and(|n| n.0 <= 1)) && !case.setting.is_logged())
}

pub(super) fn judge(case: &Case<'_>, out: &mut Vec<Judgement>) {
    if timeout(case, out) {
        return;
    }
    let mut open = None;
    for r in ROWS.iter().filter(|r| r.name == case.name && r.when.fits(case)) {
        let holds = match r.on {
            Where::All => Some(true),
            Where::Only(f) => f(case),
            Where::Unless(f) => f(case).map_or(Some(true), |no| Some(!no)),
        };
        match holds {
            Some(true) => {
                out.push(r.do_it.on(case.say(r.kind, r.severity, r.says)));
                return;
            }
            Some(false) => {}
            None => open = open.or(Some(r)),
        }
    }
    if let Some(r) = open {
        let message = format!("it depends on the node; possibly {}", r.says);
        out.push(case.say(Kind::Undecided, Severity::Info, message).suggest("add --node SNAPSHOT"));
    }
}

/// A timeout is long or short by the release's default.
fn timeout(case: &Case<'_>, out: &mut Vec<Judgement>) -> bool {
    let Some(n) = case.number().filter(|n| case.name == "NCCL_IB_TIMEOUT" && (1..=31).contains(n)) else {
        return false;
    };
    let default = match case.release().and_then(|r| case.variable?.default(r)) {
        Some(crate::DefaultValue::Number(d)) => d,
        // 14, 18 or 20, by release.
        _ => 20,
    };
    // 4.096 µs × 2^n, eight attempts with the default count of retries.
    let seconds = 4.096e-6 * f64::from(1_u32 << n.clamp(0, 31)) * 7.0;
    let total =
        if seconds < 90.0 { format!("about {seconds:.0} s") } else { format!("about {:.0} min", seconds / 60.0) };
    let unknown = case.release().is_none() && (14..20).contains(&n);
    if n == default || unknown {
        return false;
    }
    out.push(if n > default {
        case.say(
            Kind::Harmful,
            Severity::Low,
            format!("not a speed setting: a broken link is an error only after {total}; the losses behind it stay"),
        )
        .suggest("unset it, unless the fabric reroutes so slowly, and look for the losses")
    } else {
        case.say(
            Kind::Harmful,
            Severity::Medium,
            format!("shorter than the default: {total}, and short disturbances end the job"),
        )
        .unset()
    });
    true
}

impl When {
    fn read(cell: &'static str) -> Option<Self> {
        let (word, rest) = cell.split_once(' ').unwrap_or((cell, ""));
        Some(match word {
            "is" => When::Is(rest.parse().ok()?),
            "above" => When::Above(rest.parse().ok()?),
            "below" => When::Below(rest.parse().ok()?),
            "on" => When::On,
            "set" => When::Set,
            "word" => When::Word(rest.split('|').collect()),
            "one" => {
                let numbers: Result<_, _> = rest.strip_prefix("of ")?.split('|').map(str::parse).collect();
                When::OneOf(numbers.ok()?)
            }
            _ => return None,
        })
    }

    fn fits(&self, case: &Case<'_>) -> bool {
        let number = || case.number();
        match self {
            When::Is(n) => number() == Some(*n),
            When::On => number().is_some_and(|n| n != 0 && n != -1 && n != -2),
            When::Above(n) => number().is_some_and(|v| v > *n),
            When::Below(n) => number().is_some_and(|v| (0..*n).contains(&v)),
            When::Set => !case.value.is_empty(),
            When::Word(list) => list.iter().any(|w| w.eq_ignore_ascii_case(case.value)),
            When::OneOf(list) => number().is_some_and(|n| list.contains(&n)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_row_about_a_variable_that_is_known() {
        for line in lines() {
            let row = Row::read(line);
            assert!(row.is_some_and(|r| crate::lookup(r.name).is_some()), "{line}");
        }
        assert!(ROWS.len() >= 60);
    }

    /// A word that is misspelt would be shown as advice.
    #[test]
    fn what_to_do_is_a_known_word_or_a_sentence() {
        for row in ROWS.iter() {
            assert!(
                !matches!(row.do_it, Do::Say(what) if what.split_whitespace().count() < 2),
                "{}: {}",
                row.name,
                row.says
            );
        }
    }
}
