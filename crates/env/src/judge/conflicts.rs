//! Settings that cannot both hold, and sources of which one wins.

use super::{Case, Judgement, Kind, Severity};
use crate::context::Context;
use crate::setting::{OriginKind, Setting};
use crate::value::{Level, level, number};
use linerate_topology::PathType;
use std::collections::BTreeMap;

pub(super) fn judge(settings: &[Setting], context: &Context, out: &mut Vec<Judgement>) {
    pairs(settings, context, out);
    logs(settings, context, out);
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
        says: "NCCL_IB_DISABLE switches off the network that it is for",
    },
    Void {
        by: "NCCL_NET",
        when: socket,
        name: "NCCL_IB_*",
        void: any,
        says: "NCCL_NET=Socket leaves out the network that it is for",
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
        says: "NCCL_P2P_DISABLE=1 wins: there is no peer-to-peer to limit",
    },
    Void {
        by: "NCCL_IB_GID_INDEX",
        when: |s, _| number(&s.value).is_some_and(|n| n.0 >= 0),
        name: "NCCL_IB_ADDR_FAMILY",
        void: any,
        says: "NCCL_IB_GID_INDEX fixes the entry: NCCL does not search",
    },
    Void {
        by: "NCCL_IB_GID_INDEX",
        when: |s, _| number(&s.value).is_some_and(|n| n.0 >= 0),
        name: "NCCL_IB_ADDR_RANGE",
        void: any,
        says: "NCCL_IB_GID_INDEX fixes the entry: NCCL does not search",
    },
    Void {
        by: "NCCL_IB_GID_INDEX",
        when: |s, _| number(&s.value).is_some_and(|n| n.0 >= 0),
        name: "NCCL_IB_ROCE_VERSION_NUM",
        void: any,
        says: "NCCL_IB_GID_INDEX fixes the entry: NCCL does not search",
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
        says: "NCCL_MAX_NCHANNELS is set: the old name is ignored",
    },
    Void {
        by: "NCCL_MIN_NCHANNELS",
        when: any,
        name: "NCCL_MIN_NRINGS",
        void: any,
        says: "NCCL_MIN_NCHANNELS is set: the old name is ignored",
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

/// A setting that does not hold, by its place in the list, and why.
pub(super) struct Loser {
    pub(super) at: usize,
    /// It may hold after all, and is judged, too: which branch of a script runs is not known.
    pub(super) may_hold: bool,
    why: String,
}

impl Loser {
    /// What is said of it; its value is not judged.
    pub(super) fn judgement(&self, setting: &Setting, settings: &[Setting], context: &Context) -> Judgement {
        let case = Case::new(setting, context, settings);
        case.say(Kind::Contradictory, Severity::Low, &self.why).suggest("keep it in one place")
    }
}

/// Settings that others of the same name and another value outweigh, as NCCL reads them.
pub(super) fn losers(settings: &[Setting], context: &Context) -> Vec<Loser> {
    let mut by_name: BTreeMap<&str, Vec<(usize, &Setting)>> = BTreeMap::new();
    for (at, s) in settings.iter().enumerate().filter(|(_, s)| crate::lookup(&s.name).is_some()) {
        by_name.entry(&s.name).or_default().push((at, s));
    }
    let mut out = Vec::new();
    for list in by_name.values() {
        let (logged, written): (Vec<_>, Vec<_>) = list.iter().copied().partition(|(_, s)| s.is_logged());
        match logged.as_slice() {
            [] => written_losers(&written, &mut out),
            // What a process read is what held there.
            [(_, log), rest @ ..] if rest.iter().all(|(_, s)| s.value == log.value) => {
                let other = written.iter().filter(|(_, s)| !same_value(log, s, context));
                out.extend(other.map(|(at, _)| Loser {
                    at: *at,
                    may_hold: false,
                    why: format!("the log says that NCCL read {}", quoted(log)),
                }));
            }
            _ => {}
        }
    }
    out.sort_by_key(|l| l.at);
    out.dedup_by_key(|l| l.at);
    out
}

fn quoted(s: &Setting) -> String {
    format!("{} ({})", s.value, s.origin)
}

/// NCCL prints levels by name, numbers without their base.
fn same_value(log: &Setting, one: &Setting, context: &Context) -> bool {
    let name = |v: &str| level(v, context.release()).path();
    let numbers = number(&log.value) == number(&one.value) && number(&log.value).is_some_and(|n| n.1);
    log.value == one.value || numbers || name(&log.value).is_some() && name(&log.value) == name(&one.value)
}

/// `initEnv` (src/misc/param.cc): a variable that the process has stays as it is; then the user's file, then `/etc/nccl.conf`, each line
/// only where nothing before it set the name (`setenv` with overwrite 0).
fn written_losers(written: &[(usize, &Setting)], out: &mut Vec<Loser>) {
    let rank = |s: &Setting| match s.origin.kind {
        OriginKind::SystemConf => 2,
        OriginKind::UserConf => 1,
        _ => 0,
    };
    let Some(best) = written.iter().map(|(_, s)| *s).min_by_key(|s| rank(s)) else { return };
    let confs = written.iter().filter(|(_, s)| s.origin.kind.is_conf() && s.value != best.value);
    for (at, s) in confs {
        let rule = match (rank(s), rank(best)) {
            (own, least) if own == least => "in nccl.conf the first line of a name wins",
            (_, 1) => "the user's file is read first, and the first wins",
            _ => "the environment wins over nccl.conf",
        };
        out.push(Loser { at: *at, may_hold: false, why: format!("{} holds instead: {rule}", quoted(best)) });
    }
    let live: Vec<(usize, &Setting)> = written.iter().copied().filter(|(_, s)| !s.origin.kind.is_conf()).collect();
    without_conf(&live, out);
}

/// Environments, scripts, manifests: within one the later wins; a pod's wins over its image's.
fn without_conf(list: &[(usize, &Setting)], out: &mut Vec<Loser>) {
    let same = |a: &Setting, b: &Setting| a.origin.file == b.origin.file && a.origin.scope == b.origin.scope;
    for (i, (at, a)) in list.iter().enumerate() {
        let later = list.iter().skip(i + 1).map(|(_, b)| b).rev().find(|b| same(a, b));
        if let Some(b) = later.filter(|b| b.value != a.value) {
            let may_hold = a.origin.kind == OriginKind::Script;
            out.push(Loser {
                at: *at,
                may_hold,
                why: format!("set again to {}, which holds where both are run", quoted(b)),
            });
        }
    }
    let over = list.iter().find(|(_, s)| s.origin.kind != OriginKind::Dockerfile);
    let Some((_, over)) = over else { return };
    let images = list.iter().filter(|(_, s)| s.origin.kind == OriginKind::Dockerfile && s.value != over.value);
    for (at, _) in images {
        let why = format!("{} holds instead: it is set when the container starts", quoted(over));
        out.push(Loser { at: *at, may_hold: false, why });
    }
}

/// Ranks that read different values.
fn logs(settings: &[Setting], context: &Context, out: &mut Vec<Judgement>) {
    let mut by_name: BTreeMap<&str, Vec<&Setting>> = BTreeMap::new();
    for s in settings.iter().filter(|s| s.is_logged() && crate::lookup(&s.name).is_some()) {
        by_name.entry(&s.name).or_default().push(s);
    }
    for list in by_name.values() {
        let [first, .., last] = list.as_slice() else { continue };
        if list.iter().all(|s| s.value == first.value) {
            continue;
        }
        let message = format!(
            "the log shows several values, {} and {}: ranks were started differently, or it holds several jobs",
            quoted(first),
            quoted(last)
        );
        let j = Case::new(first, context, settings).say(Kind::Contradictory, Severity::Medium, message);
        out.push(j.suggest("keep it in one place"));
    }
}
