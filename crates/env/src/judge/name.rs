//! Names: of no variable, of one that this release does not have, of another program's.

use super::{Case, Change, Judgement, Kind, Severity};
use crate::near::near;
use crate::registry::{FAMILIES, Owner, Variable, lookup, newest};
use crate::setting::Setting;
use linerate_topology::Version;

/// Releases before this are so old that a variable of theirs is called obsolete whatever the release is.
const LONG_GONE: Version = Version { major: 2, minor: 10, patch: 0 };
/// Variables that came with later releases are not taken for granted where the release is not known.
const COMMON: Version = Version { major: 2, minor: 18, patch: 1 };

/// Judges the name. True: the value need not be looked at.
pub(super) fn judge(case: &Case<'_>, out: &mut Vec<Judgement>) -> bool {
    let Some(v) = case.variable else {
        out.push(unknown(case));
        return true;
    };
    match v.owner {
        Owner::Nccl => release(case, v, out),
        Owner::Torch if v.instead.is_some() => {
            let new = v.instead.unwrap_or_default();
            out.push(
                case.say(Kind::Obsolete, Severity::Low, "PyTorch's old name, not a variable of NCCL")
                    .suggest(format!("use {new}")),
            );
            true
        }
        Owner::Image | Owner::Build => {
            out.push(case.say(
                Kind::Ignored,
                Severity::Info,
                format!("read by {}, not by NCCL at run time", v.owner.name()),
            ));
            true
        }
        _ => false,
    }
}

/// Spelt rightly it may be no better: that is said, too.
fn misspelt(case: &Case<'_>, why: &str, right: &'static str) -> Judgement {
    let meant = Setting::new(right, case.value.trim(), case.setting.origin.clone());
    let mut then = Vec::new();
    super::one(&Case::new(&meant, case.context, case.all), &mut then);
    let against = then.iter().find(|j| super::finds(j)).map(|j| j.message.as_str());
    let fix = against.map_or_else(
        || format!("{right}={}", case.value.trim()),
        |why| format!("delete it: {right}={} would not be right, either: {why}", case.value.trim()),
    );
    let mut j = case.say(Kind::Misspelt, Severity::Medium, format!("{why}; it should be {right}")).suggest(fix);
    j.sources = lookup(right).map(Variable::cited).unwrap_or_default();
    j
}

fn unknown(case: &Case<'_>) -> Judgement {
    if case.setting.is_logged() && case.name.starts_with("NCCL_") {
        return case.say(
            Kind::Undecided,
            Severity::Info,
            "no NCCL reads it, but the log says that somebody did: a plugin, or a patched NCCL",
        );
    }
    let upper = case.name.to_ascii_uppercase();
    if let Some((_, who)) = FAMILIES.iter().find(|(p, _)| case.name.starts_with(p)) {
        return case.say(
            Kind::Undecided,
            Severity::Info,
            format!("not a variable of NCCL; by its name it belongs to {who}, which linerate does not know"),
        );
    }
    if let Some(right) = near(case.name) {
        let why = if case.name.trim() != case.name || case.name.contains(' ') {
            "NCCL takes everything before the `=` as the name: blanks and `export` make it another name"
        } else if upper == right {
            "names are in capitals: nobody reads this"
        } else {
            "no release reads this name"
        };
        return misspelt(case, why, right);
    }
    if upper.starts_with("NCCL_") {
        let says = format!("not read by NCCL (2.3.5 to {}): a variable of the script's own, or of a plugin?", newest());
        let mut j = case.say(Kind::Unknown, Severity::Info, says);
        j.sources.push("names in NCCL's sources, 60 releases".to_owned());
        return j.suggest("if it is meant for NCCL, find the right name; otherwise leave it");
    }
    case.say(Kind::Undecided, Severity::Info, "linerate does not know this name")
}

fn release(case: &Case<'_>, v: &'static Variable, out: &mut Vec<Judgement>) -> bool {
    let gone = |after: String| {
        let do_it = v.instead.unwrap_or("delete it");
        case.say(Kind::Obsolete, Severity::Low, format!("{after}: it has no effect"))
            .suggest(do_it)
            .change(Change::Unset)
    };
    if let Some(r) = v.removed {
        out.push(gone(format!("removed in {r}")));
        return true;
    }
    let Some((first, last)) = v.range() else { return false };
    match case.release() {
        Some(now) if now > last => {
            out.push(gone(format!("the last release to read it was {last}")));
            true
        }
        Some(now) if now < first => {
            let said = case.context.nccl.unwrap_or(now);
            let j =
                case.say(Kind::NotYet, Severity::Low, format!("NCCL {said} does not read it: it came with {first}"));
            out.push(j.suggest(format!("delete it, or use {first} or later")));
            true
        }
        Some(now) if !v.read_by(now) => {
            out.push(case.say(
                Kind::Ignored,
                Severity::Low,
                format!("NCCL {now} does not read it, though releases before and after do"),
            ));
            true
        }
        Some(_) => false,
        None if last < LONG_GONE => {
            out.push(gone(format!("the last release to read it was {last}")));
            true
        }
        None if last < newest() => {
            out.push(
                case.say(
                    Kind::Undecided,
                    Severity::Info,
                    format!("read up to {last} only; which release runs is not known"),
                )
                .suggest("add --nccl"),
            );
            false
        }
        None if first > COMMON => {
            out.push(
                case.say(
                    Kind::Undecided,
                    Severity::Info,
                    format!("read since {first} only; which release runs is not known"),
                )
                .suggest("add --nccl"),
            );
            false
        }
        None => false,
    }
}
