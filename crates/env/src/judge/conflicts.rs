//! Settings that cannot both hold, and sources of which one wins.

use super::{Case, Judgement, Kind, Severity};
use crate::context::Context;
use crate::setting::{OriginKind, Setting};
use crate::value::{Level, level, number};
use linerate_topology::PathType;
use std::collections::BTreeMap;

pub(super) fn judge(settings: &[Setting], context: &Context, out: &mut Vec<Judgement>) {
    pairs(settings, context, out);
    sources(settings, context, out);
}

fn on(s: &Setting) -> bool {
    number(&s.value).is_some_and(|(n, _)| n != 0)
}

/// A test of a value.
type Test = fn(&Setting, &Context) -> bool;

/// One setting makes another void.
struct Void {
    by: &'static str,
    when: Test,
    name: &'static str,
    void: Test,
    says: &'static str,
}

fn any(_: &Setting, _: &Context) -> bool {
    true
}

fn socket(s: &Setting, _: &Context) -> bool {
    s.value.eq_ignore_ascii_case("socket")
}

fn is_on(s: &Setting, _: &Context) -> bool {
    on(s)
}

fn reaches(s: &Setting, c: &Context) -> bool {
    !matches!(level(&s.value, c.release()), Level::Unknown | Level::Named(PathType::Loc) | Level::Old(_, PathType::Loc))
}

const VOID: &[Void] = &[
    Void {
        by: "NCCL_IB_DISABLE",
        when: is_on,
        name: "NCCL_IB_*",
        void: any,
        says: "NCCL_IB_DISABLE switches the network off that it is for",
    },
    Void {
        by: "NCCL_NET",
        when: socket,
        name: "NCCL_IB_*",
        void: any,
        says: "NCCL_NET=Socket leaves the network out that it is for",
    },
    Void {
        by: "NCCL_IB_DISABLE",
        when: is_on,
        name: "NCCL_NET_GDR_LEVEL",
        void: reaches,
        says: "NCCL_IB_DISABLE leaves TCP, and TCP has no GPUDirect",
    },
    Void {
        by: "NCCL_NET",
        when: socket,
        name: "NCCL_NET_GDR_LEVEL",
        void: reaches,
        says: "NCCL_NET=Socket has no GPUDirect",
    },
    Void {
        by: "NCCL_IB_DISABLE",
        when: is_on,
        name: "NCCL_NET_GDR_READ",
        void: is_on,
        says: "NCCL_IB_DISABLE leaves TCP, and TCP has no GPUDirect",
    },
    Void {
        by: "NCCL_NET",
        when: socket,
        name: "NCCL_NET_GDR_READ",
        void: is_on,
        says: "NCCL_NET=Socket has no GPUDirect",
    },
    Void {
        by: "NCCL_P2P_DISABLE",
        when: |s, _| number(&s.value).is_some_and(|n| n.0 == 1),
        name: "NCCL_P2P_LEVEL",
        void: reaches,
        says: "NCCL_P2P_DISABLE=1 wins: there is no peer-to-peer whose reach it could set",
    },
    Void {
        by: "NCCL_IB_GID_INDEX",
        when: |s, _| number(&s.value).is_some_and(|n| n.0 >= 0),
        name: "NCCL_IB_ADDR_FAMILY",
        void: any,
        says: "NCCL_IB_GID_INDEX fixes the entry: nothing is looked for",
    },
    Void {
        by: "NCCL_IB_GID_INDEX",
        when: |s, _| number(&s.value).is_some_and(|n| n.0 >= 0),
        name: "NCCL_IB_ADDR_RANGE",
        void: any,
        says: "NCCL_IB_GID_INDEX fixes the entry: nothing is looked for",
    },
    Void {
        by: "NCCL_IB_GID_INDEX",
        when: |s, _| number(&s.value).is_some_and(|n| n.0 >= 0),
        name: "NCCL_IB_ROCE_VERSION_NUM",
        void: any,
        says: "NCCL_IB_GID_INDEX fixes the entry: nothing is looked for",
    },
    Void {
        by: "NCCL_CUMEM_ENABLE",
        when: |s, _| number(&s.value).is_some_and(|n| n.0 == 0),
        name: "NCCL_NVLS_ENABLE",
        void: |s, _| number(&s.value).is_some_and(|n| n.0 == 1),
        says: "NVLS needs cuMem, which NCCL_CUMEM_ENABLE=0 switches off",
    },
    Void {
        by: "NCCL_CUMEM_ENABLE",
        when: |s, _| number(&s.value).is_some_and(|n| n.0 == 0),
        name: "NCCL_MNNVL_ENABLE",
        void: |s, _| number(&s.value).is_some_and(|n| n.0 == 1),
        says: "NVLink across nodes needs cuMem, which NCCL_CUMEM_ENABLE=0 switches off: NCCL ends with an error",
    },
    Void {
        by: "NCCL_MAX_NCHANNELS",
        when: any,
        name: "NCCL_MAX_NRINGS",
        void: any,
        says: "NCCL_MAX_NCHANNELS is set: the old name is passed over",
    },
    Void {
        by: "NCCL_MIN_NCHANNELS",
        when: any,
        name: "NCCL_MIN_NRINGS",
        void: any,
        says: "NCCL_MIN_NCHANNELS is set: the old name is passed over",
    },
];

fn named(rule: &Void, name: &str) -> bool {
    match rule.name.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix) && name != rule.by,
        None => name == rule.name,
    }
}

fn pairs(settings: &[Setting], context: &Context, out: &mut Vec<Judgement>) {
    let mut said: Vec<(&str, &str)> = Vec::new();
    for rule in VOID {
        let Some(by) = settings.iter().find(|s| s.name == rule.by && (rule.when)(s, context)) else { continue };
        let meets = |s: &&Setting| {
            named(rule, &s.name) && (s.origin.file != by.origin.file || s.origin.scope == by.origin.scope)
        };
        for s in settings.iter().filter(meets).filter(|s| (rule.void)(s, context)) {
            // One word for a setting: two switches void the same.
            let known = crate::lookup(&s.name).is_some();
            if !known || said.contains(&(&s.name, &s.value)) {
                continue;
            }
            said.push((&s.name, &s.value));
            let case = Case::new(s, context, settings);
            let j = case.say(Kind::Contradictory, Severity::Medium, format!("{} ({})", rule.says, by.origin));
            out.push(j.suggest(format!("keep one of {} and {}", rule.by, s.name)));
        }
    }
}

/// The same name with different values.
fn sources(settings: &[Setting], context: &Context, out: &mut Vec<Judgement>) {
    let mut by_name: BTreeMap<&str, Vec<&Setting>> = BTreeMap::new();
    for s in settings.iter().filter(|s| crate::lookup(&s.name).is_some()) {
        by_name.entry(&s.name).or_default().push(s);
    }
    for list in by_name.values() {
        if let Some(j) = differ(list, settings, context) {
            out.push(j);
        }
    }
}

fn differ(list: &[&Setting], all: &[Setting], context: &Context) -> Option<Judgement> {
    let (last, first) = (list.last()?, list.first()?);
    if list.iter().all(|s| s.value == first.value) {
        return None;
    }
    let say = |about: &Setting, message: String| {
        let j = Case::new(about, context, all).say(Kind::Contradictory, Severity::Medium, message);
        Some(j.suggest("keep it in one place"))
    };
    let quoted = |s: &Setting| format!("{} ({})", s.value, s.origin);
    // Two files of NCCL, or a file and anything else: the environment wins, then the user's file.
    let rank = |s: &Setting| match s.origin.kind {
        OriginKind::Log => 0,
        OriginKind::SystemConf => 3,
        OriginKind::UserConf => 2,
        _ => 1,
    };
    if list.iter().all(|s| s.is_logged()) {
        return say(
            first,
            format!(
                "the log shows several values, {} and {}: ranks were started differently, or it holds several jobs",
                quoted(first),
                quoted(last)
            ),
        );
    }
    let logged = list.iter().find(|s| s.is_logged());
    let written: Vec<&&Setting> = list.iter().filter(|s| !s.is_logged()).collect();
    if let (Some(log), [one]) = (logged, written.as_slice()) {
        // NCCL prints levels by name, numbers without their base.
        let level_name = |v: &str| level(v, context.release()).path();
        let same = number(&log.value) == number(&one.value) && number(&log.value).is_some_and(|n| n.1);
        let same = same || level_name(&log.value).is_some() && level_name(&log.value) == level_name(&one.value);
        return if same { None } else { say(one, format!("the log says that NCCL read {}", quoted(log))) };
    }
    if !written.iter().any(|s| s.origin.kind.is_conf()) {
        return without_conf(&written).and_then(|(s, message)| say(s, message));
    }
    let best = written.iter().min_by_key(|s| rank(s))?;
    if let Some(loser) = written.iter().find(|s| s.value != best.value && rank(s) > rank(best)) {
        let user = best.origin.kind.is_conf();
        let rule = if user {
            "the user's file is read first, and the first wins"
        } else {
            "the environment wins over nccl.conf"
        };
        return say(loser, format!("{} holds instead: {rule}", quoted(best)));
    }
    let other = written.iter().find(|s| s.value != best.value && s.origin.kind == best.origin.kind)?;
    say(other, format!("{} holds instead: in nccl.conf the first line of a name wins", quoted(best)))
}

/// Environments, scripts, manifests: within one the later wins; a pod's wins over its image's.
fn without_conf<'a>(list: &[&&'a Setting]) -> Option<(&'a Setting, String)> {
    let same = |a: &Setting, b: &Setting| a.origin.file == b.origin.file && a.origin.scope == b.origin.scope;
    for (at, a) in list.iter().enumerate() {
        let later = list.iter().skip(at + 1).rev().find(|b| same(a, b) && b.value != a.value);
        if let Some(b) = later {
            return Some((a, format!("set again to {} ({}), which holds where both are run", b.value, b.origin)));
        }
    }
    let image = list.iter().find(|s| s.origin.kind == OriginKind::Dockerfile)?;
    let over = list.iter().find(|s| s.origin.kind != OriginKind::Dockerfile && s.value != image.value)?;
    Some((image, format!("{} ({}) holds instead: it is set when the container starts", over.value, over.origin)))
}
