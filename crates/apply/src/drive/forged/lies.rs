//! The lies, as data.

use super::Flaky;
use crate::protocol::{ActState, Answer, Holder, Stage, Stands, State, Trouble};
use linerate_snapshot::Snapshot;
use linerate_snapshot::capture::{Options, Purpose};

/// What comes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// It is refused, and this word is shown.
    Refused(&'static str),
    /// It may not be seen to be one: it says only what a node can always say of itself. Nothing outside the plan comes of it.
    Unseen,
}

/// What the node has said, for lies that say it again.
#[derive(Debug, Default)]
pub(super) struct World {
    first: Option<Answer>,
    pub(super) boots: Vec<String>,
    /// The session holds the node.
    pub(super) holds: bool,
    /// And the plan has begun.
    pub(super) began: bool,
}

impl World {
    pub(super) fn heard(&mut self, answer: &Answer) {
        self.first.get_or_insert_with(|| answer.clone());
        self.boots.extend(answer.node.boot.clone());
        self.holds = answer.holder.is_some();
        self.began = answer.state.is_some();
    }
}

/// What a snapshot shows instead of what is so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) host: Option<&'static str>,
    /// `Some("")`: none.
    pub(super) machine: Option<&'static str>,
    /// `Some("")`: none.
    pub(super) boot: Option<String>,
}

impl Seen {
    /// The snapshot with these.
    pub(super) fn forged(&self, real: Snapshot, node: &Flaky) -> Snapshot {
        if self.host.is_none() && self.machine.is_none() && self.boot.is_none() {
            return real;
        }
        let copy = node.dir.copy();
        match self.machine {
            Some("") => std::fs::remove_file(copy.at("etc/machine-id")).unwrap(),
            Some(id) => copy.write("etc/machine-id", id),
            None => {}
        }
        match self.boot.as_deref() {
            Some("") => std::fs::remove_file(copy.at("proc/sys/kernel/random/boot_id")).unwrap(),
            Some(boot) => copy.write("proc/sys/kernel/random/boot_id", boot),
            None => {}
        }
        let root = copy.at("");
        linerate_snapshot::load(&root, &Options { redact: false, ..Options::new(&root, Purpose::Collect) }, &|_| {})
            .unwrap()
    }
}

/// A lie.
pub(super) struct Lie {
    pub(super) name: &'static str,
    pub(super) expect: Expect,
    pub(super) answer: fn(&mut Answer, &World),
    pub(super) read: fn(&mut Seen, &World),
    pub(super) boot: fn(&mut String, &World),
    /// Where it can be told.
    pub(super) places: &'static [&'static str],
}

/// Steps of the protocol at which a node answers.
const ANSWERS: &[&str] = &["inspect", "take", "begin", "perform", "note", "elsewhere", "reboot", "rollback", "finish"];

pub(super) const fn answer(name: &'static str, code: &'static str, lie: fn(&mut Answer, &World)) -> Lie {
    Lie { name, expect: Expect::Refused(code), answer: lie, read: |_, _| {}, boot: |_, _| {}, places: ANSWERS }
}

const fn unseen(name: &'static str, lie: fn(&mut Answer, &World)) -> Lie {
    Lie { expect: Expect::Unseen, ..answer(name, "", lie) }
}

pub(super) const fn read(name: &'static str, code: &'static str, lie: fn(&mut Seen, &World)) -> Lie {
    Lie { read: lie, places: &["read"], ..answer(name, code, |_, _| {}) }
}

pub(super) const fn boot(name: &'static str, code: &'static str, lie: fn(&mut String, &World)) -> Lie {
    Lie { boot: lie, places: &["boot"], ..answer(name, code, |_, _| {}) }
}

pub(super) fn of(answer: &mut Answer, change: impl FnOnce(&mut State)) {
    if let Some(state) = &mut answer.state {
        change(state);
    }
}

/// The acts of a step, where there are some.
pub(super) fn acts(answer: &mut Answer, step: &str, mut change: impl FnMut(&mut ActState)) {
    of(answer, |state| state.acts.iter_mut().filter(|a| a.step == step).for_each(&mut change));
}

fn begun(act: &ActState) -> bool {
    matches!(act.stands, Stands::Announced | Stands::Made)
}

pub(super) static LIES: &[Lie] = &[
    answer("it speaks an older protocol", "version", |a, _| a.schema = "linerate.hand/1".to_owned()),
    answer("it is of another version", "version", |a, _| a.version = "99.0.0".to_owned()),
    answer("it answers another call", "asked", |a, _| a.asked = "0".repeat(64)),
    answer("it says again what it said first", "asked", |a, w| {
        if let Some(first) = w.first.clone().filter(|f| f.asked != a.asked) {
            *a = first;
        }
    }),
    answer("it is another machine", "other-node", |a, _| a.node.machine = Some("f".repeat(64))),
    answer("it leaves out which machine it is", "other-node", |a, _| a.node.machine = None),
    answer("it has another UUID", "other-node", |a, _| {
        a.node.uuid = Some("11111111-9e44-4fa7-8e91-f3527a1ef094".to_owned());
    }),
    unseen("it leaves out its UUID", |a, _| a.node.uuid = None),
    unseen("it has another name", |a, _| a.node.host = Some("n2".to_owned())),
    answer("another plan was begun", "plan", |a, _| of(a, |s| s.plan = "a".repeat(64))),
    answer("a plan that begins alike was begun", "plan", |a, _| {
        of(a, |s| s.plan = format!("{}{}", s.plan.get(..16).unwrap_or_default(), "0".repeat(48)));
    }),
    answer("fewer steps were taken", "steps", |a, _| of(a, |s| s.steps = vec!["labels".to_owned()])),
    answer("steps were taken that the plan does not have", "steps", |a, _| {
        of(a, |s| s.steps = vec!["root-shell".to_owned()]);
    }),
    answer("an act is of a step that the plan does not have", "acts", |a, _| {
        acts(a, "bios", |act| act.step = "secure-boot".to_owned());
    }),
    answer("the acts are in another order", "acts", |a, _| of(a, |s| s.acts.reverse())),
    answer("an act is missing", "acts", |a, _| of(a, |s| drop(s.acts.pop()))),
    answer("there is an act more", "acts", |a, _| {
        of(a, |s| {
            let more = s.acts.last().map(|last| ActState { number: last.number + 1, ..last.clone() });
            s.acts.extend(more);
        });
    }),
    answer("an act has another number", "acts", |a, _| acts(a, "labels", |act| act.number += 7)),
    answer("the acts are there twice", "acts", |a, _| of(a, |s| s.acts.extend(s.acts.clone()))),
    answer("another label was there before", "before", |a, _| {
        acts(a, "labels", |act| {
            if begun(act) {
                act.before = Some("{\"value\":\"stolen\"}".to_owned());
            }
        });
    }),
    answer("what was there before is no label", "before", |a, _| {
        acts(a, "labels", |act| {
            if begun(act) {
                act.before = Some("$(reboot)".to_owned());
            }
        });
    }),
    answer("another BIOS value was there before", "before", |a, _| {
        acts(a, "bios", |act| {
            if begun(act) {
                act.before = Some("{\"active\":\"SecureBootDisabled\"}".to_owned());
            }
        });
    }),
    answer("another BIOS value waited before", "before", |a, _| {
        acts(a, "bios", |act| {
            if begun(act) {
                act.before = Some("{\"active\":\"Off\",\"pending\":\"Auto\"}".to_owned());
            }
        });
    }),
    answer("it does not say what was there before", "before", |a, _| {
        acts(a, "labels", |act| {
            if begun(act) {
                act.before = None;
            }
        });
    }),
    answer("it knows what was there before an act of its own", "before", |a, _| {
        acts(a, "args", |act| act.before = Some("{}".to_owned()));
    }),
    answer("it keeps a file that the plan does not touch", "kept", |a, _| {
        acts(a, "args", |act| act.kept = vec!["/etc/shadow".to_owned()]);
    }),
    answer("it keeps a file beside the plan's", "kept", |a, _| {
        acts(a, "args", |act| act.kept.push("/boot/grub/../../etc/passwd".to_owned()));
    }),
    answer("it keeps a file for a label", "kept", |a, _| {
        acts(a, "labels", |act| act.kept = vec!["/etc/passwd".to_owned()])
    }),
    answer("it is finished, and acts are open", "stage", |a, _| {
        of(a, |s| {
            if s.acts.iter().any(|act| act.stands == Stands::Open) && s.acts.iter().any(begun) {
                s.stage = Stage::Finished;
            }
        });
    }),
    answer("it is undone, and acts are made", "stage", |a, _| {
        of(a, |s| {
            if s.acts.iter().any(begun) {
                s.stage = Stage::Undone;
                s.undone_in = s.undone_in.clone().or(Some("boot-1".to_owned()));
            }
        });
    }),
    answer("it is being undone, and nobody began that", "stage", |a, _| {
        of(a, |s| {
            if s.undone_in.is_none() {
                s.stage = Stage::Undoing;
            }
        });
    }),
    answer("all is made, and it is not", "stage", |a, _| {
        of(a, |s| {
            if s.acts.iter().any(|act| act.step == "args" && act.stands != Stands::Made) && s.undone_in.is_none() {
                s.stage = Stage::Lasting;
            }
        });
    }),
    answer("the first phase was made in a boot, and is not", "stage", |a, _| {
        of(a, |s| {
            if s.first_in.is_none() {
                s.first_in = Some("boot-0".to_owned());
            }
        });
    }),
    answer("it refuses a step that the plan does not have", "trouble", |a, _| {
        let (code, what) = ("failed".to_owned(), "x".to_owned());
        a.refused = vec![Trouble { code, step: Some("root-shell".to_owned()), what }];
    }),
    answer("it has a hundred thousand remarks", "trouble", |a, _| a.told = vec!["x".to_owned(); 100_000]),
    answer("another session holds it", "has held this node", |a, _| {
        let session = crate::hand::tests::session(2);
        let trouble = Trouble { code: "held".to_owned(), step: None, what: "held".to_owned() };
        a.holder = Some(Holder { session, since: 1, plan: "b".repeat(64), from: None });
        a.refused = vec![trouble];
    }),
    unseen("it was rebooted again and again", |a, _| of(a, |s| s.reboots = vec!["boot-9".to_owned(); 50])),
    unseen("it was begun by somebody else", |a, _| {
        of(a, |s| (s.who, s.since) = ("\u{1b}[2Jroot@evil".to_owned(), u64::MAX));
    }),
    answer("it answers from the boot that is over", "boot", |a, w| {
        if w.boots.first().is_some_and(|first| a.node.boot.as_ref() != Some(first)) {
            a.node.boot = w.boots.first().cloned();
        }
    }),
    read("what is read is of another machine", "other-node", |s, _| {
        s.machine = Some("fedcba9876543210fedcba9876543210\n");
    }),
    read("what is read does not say which machine it is", "other-node", |s, _| s.machine = Some("")),
    read("what is read is of another boot", "boot", |s, _| s.boot = Some("boot-0\n".to_owned())),
];
