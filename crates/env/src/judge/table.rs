//! Values that are what they are wherever they are set: how the rows are read.

use super::{Case, Change, Judgement, Kind, Severity, rows};
use crate::context::Fabric;

/// Which values a row is about.
pub(super) enum When {
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
    Word(&'static [&'static str]),
    /// One of these numbers.
    OneOf(&'static [i64]),
}

/// On which nodes a row holds.
pub(super) enum Where {
    /// Everywhere.
    All,
    /// Where the context says this; elsewhere it says nothing. Where it is not known, and no other row speaks, it is undecided.
    Only(fn(&Case<'_>) -> Option<bool>),
    /// As above, but where it is not known the row holds, too.
    Unless(fn(&Case<'_>) -> Option<bool>),
}

/// What to do about a row's value.
#[derive(Clone, Copy)]
pub(super) enum Do {
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
    fn on(self, j: Judgement) -> Judgement {
        match self {
            Do::Unset => j.unset(),
            Do::Delete => j.delete(),
            Do::UnsetAnd(then) => j.suggest(format!("unset it; {then}")).change(Change::Unset),
            Do::Say(what) => j.suggest(what),
        }
    }
}

/// A value of a variable, and what is said about it.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) when: When,
    pub(super) on: Where,
    pub(super) kind: Kind,
    pub(super) severity: Severity,
    pub(super) says: &'static str,
    pub(super) do_it: Do,
}

pub(super) const fn row(
    name: &'static str,
    when: When,
    kind: Kind,
    severity: Severity,
    says: &'static str,
    do_it: Do,
) -> Row {
    Row { name, when, on: Where::All, kind, severity, says, do_it }
}

pub(super) fn one_gpu(case: &Case<'_>) -> Option<bool> {
    Some(case.context.node.as_ref()?.gpus? == 1)
}

pub(super) fn one_nic(case: &Case<'_>) -> Option<bool> {
    let node = case.context.node.as_ref()?;
    let nics = node.nics.as_ref()?;
    nics.iter().all(|n| n.active().is_some()).then(|| node.active().filter(|n| n.compute != Some(false)).count() <= 1)
}

pub(super) fn infiniband(case: &Case<'_>) -> Option<bool> {
    case.context.fabric().map(|f| f == Fabric::InfiniBand)
}

pub(super) fn roce(case: &Case<'_>) -> Option<bool> {
    case.context.fabric().map(|f| matches!(f, Fabric::Roce | Fabric::Mixed))
}

pub(super) fn no_peermem(case: &Case<'_>) -> Option<bool> {
    case.context.node.as_ref()?.peermem.map(|p| !p)
}

pub(super) fn peermem(case: &Case<'_>) -> Option<bool> {
    case.context.node.as_ref()?.peermem
}

pub(super) fn no_nvlink(case: &Case<'_>) -> Option<bool> {
    case.context.node.as_ref()?.nvlink.map(|n| !n)
}

pub(super) fn guest(case: &Case<'_>) -> Option<bool> {
    case.context.node.as_ref()?.guest
}

pub(super) fn single_qp(case: &Case<'_>) -> Option<bool> {
    let qps = case.other("NCCL_IB_QPS_PER_CONNECTION");
    Some(qps.is_none_or(|s| crate::value::number(&s.value).is_some_and(|n| n.0 <= 1)) && !case.setting.is_logged())
}

pub(super) fn judge(case: &Case<'_>, out: &mut Vec<Judgement>) {
    if timeout(case, out) {
        return;
    }
    let mut open = None;
    for r in rows::all().filter(|r| r.name == case.name && r.when.fits(case)) {
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
        let message = format!("it depends on the node; it may be that {}", r.says);
        out.push(case.say(Kind::Undecided, Severity::Info, message).suggest("say --node SNAPSHOT"));
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
            format!("no knob of speed: a broken link is an error only after {total}; the losses behind it stay"),
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
    fn rows_are_about_variables_that_are_known() {
        for r in rows::all() {
            assert!(crate::lookup(r.name).is_some(), "{}", r.name);
        }
    }
}
