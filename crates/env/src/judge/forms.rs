//! Values: such as are filled in later, such as NCCL does not take as they were meant, and such as change nothing.

use super::{Case, Judgement, Kind, Severity};
use crate::registry::{Default, Kind as Form, Legal, Owner, Span, Variable, newest};
use crate::value::{self, number};

/// A value that a shell or template fills in. True: there is nothing to look at.
pub(super) fn unresolved(case: &Case<'_>, out: &mut Vec<Judgement>) -> bool {
    let open = value::unresolved(case.value)
        && case.variable.is_some_and(|v| v.kind != Form::Path || case.value.contains("valueFrom"));
    if open {
        out.push(
            case.say(Kind::Undecided, Severity::Info, "the value is filled in later, so it is not known")
                .suggest("look at the environment of a running rank: /proc/PID/environ, or NCCL_DEBUG=INFO"),
        );
    }
    open
}

/// What NCCL does not take as it was meant.
pub(super) fn illegal(case: &Case<'_>, out: &mut Vec<Judgement>) {
    let Some(v) = case.variable else { return };
    if let Some(j) = wrapped(case) {
        out.push(j);
        return;
    }
    // A log shows what NCCL made of it.
    if v.owner == Owner::Nccl && case.value.is_empty() {
        out.push(case.say(Kind::Ignored, Severity::Low, "set, but empty: mostly the same as unset").unset());
        return;
    }
    let j = match v.kind {
        Form::Bool | Form::Int if matches!(v.owner, Owner::Nccl) => numeric(case, v),
        Form::Bool | Form::Int => None,
        Form::Words => one_of(case, v),
        Form::List => several(case, v),
        Form::Path if case.value.starts_with('~') => Some(
            case.say(Kind::Illegal, Severity::Medium, "NCCL does not expand `~`: it is part of the path")
                .suggest("write the whole path"),
        ),
        _ => None,
    };
    out.extend(j);
    if matches!(case.name, "NCCL_ALGO" | "NCCL_PROTO") {
        out.extend(choices(case));
    }
}

/// Blanks within a list of names.
pub(super) fn blanks(case: &Case<'_>, names: &[&str]) -> Option<Judgement> {
    names.iter().any(|n| n.trim() != *n).then(|| {
        let why = "a blank in the list is part of a name: that entry matches nothing";
        case.say(Kind::Illegal, Severity::High, why)
            .set(case.value.chars().filter(|c| !c.is_whitespace()).collect::<String>())
    })
}

/// Quotes, blanks and carriage returns that belong to the value.
fn wrapped(case: &Case<'_>) -> Option<Judgement> {
    let v = case.value;
    let quoted = v.len() > 1 && ['"', '\''].iter().any(|q| v.starts_with(*q) && v.ends_with(*q));
    let clean = v.trim().trim_matches(['"', '\'']).split(" #").next().unwrap_or_default().trim();
    let why = match () {
        () if quoted => "the quotes are part of the value: whoever set it does not take them off",
        () if v.ends_with('\r') && case.setting.origin.kind.is_conf() && case.context.since(2, 30) == Some(true) => {
            return None;
        }
        () if v.ends_with('\r') => "a carriage return is part of the value (a file with Windows line ends)",
        () if v.contains(" #") && case.setting.origin.kind.is_conf() => {
            "nccl.conf knows comments only at the beginning of a line: this one is part of the value"
        }
        () if v.trim() != v => "blanks around it are part of the value",
        () => return None,
    };
    // A number ends where its digits end, whatever follows.
    let harmless = case.variable.is_some_and(|x| matches!(x.kind, Form::Bool | Form::Int))
        && !quoted
        && number(clean).is_some_and(|n| n.1);
    let severity = if harmless { Severity::Low } else { Severity::Medium };
    Some(case.say(Kind::Illegal, severity, why).set(clean))
}

fn numeric(case: &Case<'_>, v: &Variable) -> Option<Judgement> {
    let say = |severity, message: String| Some(case.say(Kind::Illegal, severity, message));
    let Some((n, whole)) = number(case.value) else {
        return say(Severity::Medium, "too large: NCCL warns and uses its default".to_owned());
    };
    if !whole {
        let digits = case.value.trim_start().starts_with(|c: char| c.is_ascii_digit());
        let message = if digits {
            format!("NCCL reads the number at its beginning, {n}")
        } else {
            format!("not a number: NCCL reads it as {n}")
        };
        let yes = ["true", "yes", "on", "enable", "enabled"].iter().any(|y| case.value.eq_ignore_ascii_case(y));
        return say(Severity::Medium, message).map(|j| if yes { j.set("1") } else { j });
    }
    let octal =
        case.value.len() > 1 && case.value.starts_with('0') && case.value.bytes().all(|b| b.is_ascii_digit()) && n > 7;
    if octal {
        return say(Severity::Medium, format!("a leading zero makes it octal: NCCL reads {n}"));
    }
    let default = case.release().and_then(|r| v.default(r));
    if default == Some(Default::Number(n)) || n == -1 || n == -2 {
        return None;
    }
    let fits = match &v.legal {
        Legal::Range(low, high) => n >= *low && high.is_none_or(|h| n <= h),
        Legal::Numbers(list) => list.contains(&n),
        _ if v.kind == Form::Bool => n == 0 || n == 1,
        _ => true,
    };
    if fits {
        return None;
    }
    let legal = v.legal.words().unwrap_or_else(|| "0, 1".to_owned());
    let then = match case.name {
        "NCCL_IB_TIMEOUT" => "; 0 and 32 or more wait for ever",
        "NCCL_IB_RETRY_CNT" => "; the field has three bits",
        "NCCL_NTHREADS" => "; NCCL takes the nearest that it can use",
        _ => "",
    };
    say(Severity::Low, format!("legal values: {legal}{then}"))
}

fn one_of(case: &Case<'_>, v: &Variable) -> Option<Judgement> {
    let known = match &v.legal {
        Legal::Words(w) => w.iter().any(|w| w.eq_ignore_ascii_case(case.value)),
        Legal::Exact(w) => w.contains(&case.value),
        _ => true,
    };
    let legal = v.legal.words().unwrap_or_default();
    (!known).then(|| case.say(Kind::Illegal, Severity::Low, format!("ignored: legal values are {legal}")))
}

fn several(case: &Case<'_>, v: &Variable) -> Option<Judgement> {
    let Legal::Words(legal) = &v.legal else { return None };
    let list = case.value.strip_prefix('^').unwrap_or(case.value);
    let bad: Vec<&str> =
        list.split(',').filter(|w| !w.is_empty() && !legal.iter().any(|l| l.eq_ignore_ascii_case(w))).collect();
    if bad.is_empty() {
        return None;
    }
    let blank = if bad.iter().any(|b| b.trim() != *b) { " (a blank after the comma is part of the word)" } else { "" };
    let quoted: Vec<String> = bad.iter().take(6).map(|b| format!("`{b}`")).collect();
    Some(
        case.say(Kind::Illegal, Severity::Low, format!("NCCL ignores {}{blank}", quoted.join(", ")))
            .suggest(format!("known are {}", legal.join(", "))),
    )
}

/// A word, and the first and last release (major, minor) that know it.
type Word = (&'static str, (u16, u16), (u16, u16));

const ALGORITHMS: &[Word] = &[
    ("ring", (2, 5), (9, 9)),
    ("tree", (2, 5), (9, 9)),
    ("collnet", (2, 5), (2, 13)),
    ("collnetchain", (2, 14), (9, 9)),
    ("collnetdirect", (2, 14), (9, 9)),
    ("nvls", (2, 17), (9, 9)),
    ("nvlstree", (2, 18), (9, 9)),
    ("pat", (2, 23), (9, 9)),
];
const PROTOCOLS: &[Word] = &[("ll", (2, 5), (9, 9)), ("ll128", (2, 5), (9, 9)), ("simple", (2, 5), (9, 9))];

/// Words of `NCCL_ALGO` and `NCCL_PROTO`: up to 2.23 unknown ones were passed over, since 2.24 they end the job.
fn choices(case: &Case<'_>) -> Option<Judgement> {
    let table = if case.name == "NCCL_ALGO" { ALGORITHMS } else { PROTOCOLS };
    let v = case.release();
    let pieces = case.value.split(';').map(|p| p.rsplit(':').next().unwrap_or_default());
    let list = pieces.flat_map(|p| p.strip_prefix('^').unwrap_or(p).split(',')).filter(|w| !w.is_empty());
    let knows = |w: &str| {
        table.iter().any(|(name, from, to)| {
            let then = v.is_none_or(|v| v.since(from.0, from.1) && !(v.since(to.0, to.1 + 1)));
            then && name.eq_ignore_ascii_case(w)
        })
    };
    let bad: Vec<String> = list.filter(|w| !knows(w)).take(6).map(|w| format!("`{w}`")).collect();
    if bad.is_empty() {
        return None;
    }
    let (severity, then) = match case.context.since(2, 24) {
        Some(true) => (Severity::High, "NCCL 2.24 and later end with an error"),
        Some(false) => (Severity::Medium, "NCCL ignores it, and may have nothing left to choose"),
        None => (Severity::Medium, "up to 2.23 NCCL ignores it, later it ends with an error"),
    };
    Some(case.say(Kind::Illegal, severity, format!("not known: {}; {then}", bad.join(", "))))
}

/// Equal to what holds without it.
pub(super) fn redundant(case: &Case<'_>) -> Option<Judgement> {
    let v = case.variable.filter(|v| v.owner == Owner::Nccl)?;
    let n = case.number().filter(|_| matches!(v.kind, Form::Bool | Form::Int))?;
    let equal = |s: &&Span| s.default == Default::Number(n);
    // The number that the code puts in the place of -2.
    let computed = || v.computed.iter().find(equal);
    let said = match case.release() {
        Some(r) if v.default(r) == Some(Default::Number(n)) => {
            format!("{n} is the default of {}", case.context.nccl.unwrap_or(r))
        }
        // Levels that are switches here: off is how it is without them.
        Some(_) | None if off_by_default(case.name, n) => format!("{n} changes nothing: it is the same without it"),
        Some(r) if computed().is_some_and(|s| s.first <= r && r <= s.last) => {
            format!("{n} is what NCCL {} uses by itself", case.context.nccl.unwrap_or(r))
        }
        Some(r) => {
            let later = computed().filter(|s| case.name == "NCCL_BUFFSIZE" && r < s.first)?;
            let says = format!("what NCCL uses by itself: since {} on every CPU, before that not on Arm", later.first);
            return Some(case.say(Kind::Undecided, Severity::Info, says).suggest("delete it where the CPUs are x86"));
        }
        None => match computed().filter(|s| s.last >= newest()) {
            Some(s) => format!("{n} is what NCCL uses by itself since {}", s.first),
            None => of_recent_releases(v, n)?,
        },
    };
    Some(case.say(Kind::Redundant, Severity::Info, said).delete())
}

/// Of the releases that are in use, all alike.
fn of_recent_releases(v: &Variable, n: i64) -> Option<String> {
    let in_use = linerate_topology::Version { major: 2, minor: 14, patch: 0 };
    let recent: Vec<&Span> = v.spans.iter().filter(|s| s.last >= in_use).collect();
    let alike = recent.iter().all(|s| s.default == Default::Number(n));
    let now = recent.last().is_some_and(|s| s.last >= newest());
    let first = recent.first().filter(|_| alike && now)?;
    Some(format!("{n} is the default of every release since {}", first.first))
}

fn off_by_default(name: &str, n: i64) -> bool {
    n == 0 && name == "NCCL_P2P_DISABLE"
}
