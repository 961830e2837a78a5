//! Lies that differ from what the same node said before, or are of a form that nothing honest has.

use super::lies::{Lie, World, acts, answer, boot, of, read};
use crate::protocol::{Answer, Holder, Stage, Stands, Trouble};

/// What waits for the proof of a trial is said to be made.
fn all_lasting(a: &mut Answer) {
    let boot = a.node.boot.clone();
    acts(a, "args", |act| act.stands = Stands::Made);
    of(a, |s| (s.stage, s.lasting_in) = (Stage::Lasting, boot));
}

fn is_first(a: &Answer) -> bool {
    a.state.as_ref().is_some_and(|s| s.stage == Stage::First)
}

/// A lie about who holds the node, where this session has to.
const fn seated(name: &'static str, code: &'static str, lie: fn(&mut Answer, &World)) -> Lie {
    let places = &["take", "begin", "perform", "note", "elsewhere", "reboot", "rollback", "finish"];
    Lie { places, ..answer(name, code, lie) }
}

const NO_BOOT: &str = "0000000000000000000000000000000000000000000000000000000000000000";

pub(super) static LATER: &[Lie] = &[
    answer("an act that was not begun knows what was there before", "before", |a, _| {
        acts(a, "labels", |act| {
            if act.stands == Stands::Open {
                act.before = Some("{\"value\":\"yes\"}".to_owned());
            }
        });
    }),
    answer("it keeps a file for an act that was not begun", "kept", |a, _| {
        acts(a, "args", |act| {
            if act.stands == Stands::Open && act.number == 1 {
                act.kept = vec!["/etc/default/grub.d/90-linerate.cfg".to_owned()];
            }
        });
    }),
    answer("it keeps a file a hundred thousand times", "kept", |a, _| {
        acts(a, "args", |act| {
            if let Some(path) = act.kept.first().cloned() {
                act.kept = vec![path; 100_000];
            }
        });
    }),
    answer("it leaves out its boot", "boot", |a, _| a.node.boot = None),
    answer("another boot answers, and no reboot was asked for", "boot", |a, w| {
        if w.boots.last() == a.node.boot.as_ref() {
            a.node.boot = Some(NO_BOOT.to_owned());
        }
    }),
    answer("what is to be begun is made already", "unasked", |a, w| {
        let boot = a.node.boot.clone();
        let is_open = |s: &crate::protocol::State| s.acts.iter().all(|act| act.stands == Stands::Open);
        if w.holds && a.state.as_ref().is_some_and(is_open) {
            of(a, |s| (s.first_in, s.stage) = (boot, Stage::Lasting));
            acts(a, "labels", |act| {
                let was = if act.number == 0 { "{\"value\":\"yes\"}" } else { "{\"value\":null}" };
                (act.stands, act.before) = (Stands::Made, Some(was.to_owned()));
            });
            acts(a, "bios", |act| (act.stands, act.before) = (Stands::Made, Some("{\"active\":\"Off\"}".to_owned())));
            all_lasting(a);
        }
    }),
    answer("what waits for its proof is made with the first phase", "unasked", |a, w| {
        if w.holds && is_first(a) {
            all_lasting(a);
        }
    }),
    answer("its steps are named otherwise, and acts of them have changed", "unasked", |a, w| {
        if w.holds && is_first(a) && a.state.as_ref().is_some_and(|s| s.steps.is_empty()) {
            all_lasting(a);
            of(a, |s| s.steps = ["args", "labels", "bios"].map(str::to_owned).to_vec());
        }
    }),
    answer("a step is named a thousand times", "steps", |a, _| {
        of(a, |s| s.steps = ["args", "labels", "bios"].repeat(1000).iter().map(|id| (*id).to_owned()).collect());
    }),
    seated("another session holds it, and nothing is refused", "has held this node", |a, _| {
        if let Some(holder) = &mut a.holder {
            *holder = Holder { session: crate::hand::tests::session(2), since: 1, ..holder.clone() };
        }
    }),
    seated("nobody holds it after it was taken", "holder", |a, _| a.holder = None),
    answer("the name of its holder drives a terminal", "holder", |a, _| {
        if let Some(holder) = &mut a.holder {
            holder.session.who = "\u{1b}]0;root@n1\u{7}".to_owned();
        }
    }),
    answer("a remark is longer than any plan", "trouble", |a, _| a.told = vec!["x".repeat(1 << 20)]),
    answer("the code of a trouble is a sentence", "trouble", |a, _| {
        let (code, what) = ("no-plan\u{1b}[2J: all is well".to_owned(), "x".to_owned());
        a.refused = vec![Trouble { code, step: None, what }];
    }),
    answer("the first phase was made in a boot that never was", "boot", |a, w| {
        of(a, |s| {
            if w.holds && s.first_in.is_some() {
                s.first_in = Some(NO_BOOT.to_owned());
            }
        });
    }),
    answer("it forgets that it was rebooted", "unasked", |a, w| {
        of(a, |s| {
            if w.holds {
                s.reboots.clear();
            }
        });
    }),
    answer("it was begun in another boot than it said", "unasked", |a, w| {
        of(a, |s| {
            if w.holds && w.began {
                s.begun_in = NO_BOOT.to_owned();
            }
        });
    }),
    read("what is read does not say in which boot", "boot", |s, _| s.boot = Some(String::new())),
    boot("it says that it is back, and is not", "boot", |id, w| {
        if w.boots.last() == Some(id) {
            *id = NO_BOOT.to_owned();
        }
    }),
];
