//! Two operators at once: one changes the node, the other is refused and is shown by whom. Nobody reports what is not so.

use crate::drive::tests::{Flaky, operator};
use crate::drive::{Ended, Event, Lone, Operator, Options, Stop, Target, Undoing, apply, rollback};
use crate::hand::tests::{INSPECT, begin, codes, session, step, value};
use crate::plans::Record;
use crate::protocol::{Call, Phase, Request, Session, Stage, Stands};
use linerate_remedy::{Act, Content, FileAct, FileState, Plan, Proof, Step};
use linerate_transport::Cancel;
use std::sync::Arc;
use std::time::{Duration, Instant};

const FILE: &str = "etc/modules-load.d/linerate.conf";

/// Acts that need no reboot, so that rounds are short: what is slow is what takes turns.
fn plan(node: &Flaky) -> Plan {
    let file = Act::File(FileAct {
        path: format!("/{FILE}"),
        before: FileState::Absent,
        after: Some(Content("nvidia_peermem\n".to_owned())),
        mode: 0o644,
    });
    let proof = vec![Proof::Cmdline { has: vec!["ro".to_owned()], lacks: Vec::new() }];
    node.dir.plan_of(vec![Step { proof, ..step("a", vec![file, value("9000")]) }])
}

fn options(who: &Operator, plan: &Plan) -> Options {
    Options {
        operator: who.clone(),
        record: Arc::new(Record::in_memory("n1", plan, &[])),
        steps: Vec::new(),
        reboots: 1,
        wait: Duration::from_secs(2),
        may_reboot: true,
        twice: false,
        undo: true,
        keep: None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Do {
    Apply,
    Undo,
}

/// What an operator reports.
#[derive(Debug, PartialEq, Eq)]
enum Report {
    Proven,
    Undone,
    Held,
    Nothing,
    Wrong(String),
}

fn report(node: &Flaky, plan: &Plan, who: u32, what: Do) -> Report {
    let who = operator(who);
    match what {
        Do::Apply => match apply(node, plan, &Lone, &options(&who, plan), &Cancel::default(), &mut |_| {}).ended {
            Ended::Proven => Report::Proven,
            Ended::Held(_) => Report::Held,
            other => Report::Wrong(format!("{other:?}")),
        },
        Do::Undo => {
            let record = Record::in_memory("n1", plan, &[]);
            let target = Target { node, plan, record: &record, operator: &who, lifecycle: &Lone };
            match rollback(&target, Undoing::default(), &Cancel::default(), &mut |_| {}) {
                Ok(_) => Report::Undone,
                Err(Stop::Held(_)) => Report::Held,
                Err(Stop::Refused(all)) if all.iter().all(|t| t.code == "no-plan") => Report::Nothing,
                Err(other) => Report::Wrong(other.to_string()),
            }
        }
    }
}

/// Whether the plan is made on the node: all of it, or none of it; anything else is half made.
fn is_made(node: &Flaky) -> Option<bool> {
    match (node.dir.read(FILE).is_some(), node.dir.read("sys/class/net/eth1/mtu").as_deref()) {
        (true, Some("9000\n")) => Some(true),
        (false, Some("1500\n")) => Some(false),
        _ => None,
    }
}

#[test]
fn two_hundred_rounds_of_two_operators() {
    let began = Instant::now();
    let (mut held, mut both, mut wrong) = (0, 0, Vec::new());
    for round in 0..200_u64 {
        let node = Flaky::new();
        let plan = plan(&node);
        let pair = match round % 4 {
            0 | 1 => (Do::Apply, Do::Apply),
            2 => (Do::Undo, Do::Undo),
            _ => (Do::Apply, Do::Undo),
        };
        if pair.1 == Do::Undo {
            assert_eq!(report(&node, &plan, 3, Do::Apply), Report::Proven, "{round}");
        }
        let late = Duration::from_micros(round * 137 % 9000);
        let (one, two) = std::thread::scope(|threads| {
            let one = threads.spawn(|| report(&node, &plan, 1, pair.0));
            let two = threads.spawn(|| {
                std::thread::sleep(late);
                report(&node, &plan, 2, pair.1)
            });
            (one.join().unwrap(), two.join().unwrap())
        });
        held += usize::from(one == Report::Held || two == Report::Held);
        both += usize::from(one != Report::Held && two != Report::Held);
        let state = node.dir.ask(INSPECT).state.unwrap();
        let made = state.acts.iter().all(|a| a.stands == Stands::Made);
        let fits = match (&one, &two) {
            // What both report in turn, the node is as the last of them left it.
            (Report::Proven, Report::Proven) | (Report::Proven, Report::Held) | (Report::Held, Report::Proven) => {
                is_made(&node) == Some(true) && made
            }
            (Report::Undone, Report::Held | Report::Nothing) | (Report::Held | Report::Nothing, Report::Undone) => {
                is_made(&node) == Some(false) && !made
            }
            (Report::Proven, Report::Undone) => is_made(&node) == Some(made),
            _ => false,
        };
        if !fits || state.stage != Stage::Finished {
            wrong.push(format!("round {round}, {pair:?}: {one:?}, {two:?}: {:?}, {:?}", is_made(&node), state.stage));
        }
        assert!(node.dir.ask(INSPECT).holder.is_none(), "{round}: everybody left");
    }
    println!(
        "200 rounds in {:?}: {held} with one refused, {both} one after the other, {} wrong",
        began.elapsed(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(held > 20, "they met: {held}");
}

/// A session of a process of this machine that is gone, one that lives, and one elsewhere.
#[test]
fn a_stale_session_is_taken_over_and_a_living_one_is_not() {
    let (living, other) = (Operator::new("me@here"), Operator::new("you@here"));
    let gone = Session { id: "d".repeat(32), began: living.session.began + 1, ..living.session.clone() };
    let elsewhere = Session { id: "c".repeat(32), place: "e".repeat(64), ..gone.clone() };
    for (holder, take_over, taken) in [
        (&gone, false, true),
        (&living.session, false, false),
        (&elsewhere, false, false),
        (&elsewhere, true, true),
        (&living.session, true, true),
    ] {
        let node = Flaky::new();
        let plan = plan(&node);
        let call = |session: &Session, ask| crate::hand::serve(Call::new(session, ask), &node.dir.root()).answer;
        assert_eq!(codes(&call(holder, begin(&plan))), Vec::<&str>::new());
        let who = Operator { take_over, ..other.clone() };
        let mut told = Vec::new();
        let ended = apply(&node, &plan, &Lone, &options(&who, &plan), &Cancel::default(), &mut |e| {
            if let Event::TakenOver(words) = e {
                told.push(words.to_owned());
            }
        })
        .ended;
        if taken {
            assert_eq!(ended, Ended::Proven, "{holder:?}");
            assert!(told.iter().any(|t| t.contains(holder.short()) && t.contains("taken over")), "{told:?}");
            // The one that lost it changes nothing any more, also when the other has left.
            let late = call(holder, Request::Perform { plan: plan.hash.clone(), phase: Phase::First });
            assert_eq!(codes(&late), ["held"]);
        } else {
            let Ended::Held(why) = ended else { panic!("{ended:?}") };
            for part in [holder.who.as_str(), holder.short(), "0 minutes", "--take-over"] {
                assert!(why.contains(part), "{part} in {why}");
            }
            assert_eq!(is_made(&node), Some(false));
        }
    }
}

#[test]
fn one_who_is_displaced_reports_that_and_nothing_else() {
    let node = Flaky::new();
    let plan = plan(&node);
    let ask = |n: u32, ask| crate::hand::serve(Call::new(&session(n), ask), &node.dir.root()).answer;
    assert!(ask(1, begin(&plan)).refused.is_empty());
    let mut call = Call::new(&session(2), Request::Take { plan: plan.hash.clone() });
    assert_eq!(codes(&crate::hand::serve(call.clone(), &node.dir.root()).answer), ["held"]);
    call.takes = Some(session(3).id);
    assert_eq!(codes(&crate::hand::serve(call.clone(), &node.dir.root()).answer), ["held"], "another one holds it");
    call.takes = Some(session(1).id);
    let taken = crate::hand::serve(call, &node.dir.root()).answer;
    assert!(taken.refused.is_empty() && taken.told.iter().any(|t| t.contains("me1@there")), "{taken:?}");
    let hash = || plan.hash.clone();
    for request in [
        begin(&plan),
        Request::Take { plan: hash() },
        Request::Perform { plan: hash(), phase: Phase::First },
        Request::Rollback { plan: hash() },
        Request::Finish { plan: hash() },
        Request::Reboot { plan: hash(), most: 9 },
    ] {
        let answer = ask(1, request.clone());
        assert_eq!(codes(&answer), ["held"], "{request:?}");
        assert_eq!(answer.holder.map(|h| h.session.who), Some("me2@there".to_owned()));
    }
    ask(1, Request::Leave);
    assert!(ask(2, Request::Inspect { plan: None }).holder.is_some(), "another's leaving releases nothing");
    assert!(ask(2, Request::Perform { plan: hash(), phase: Phase::First }).refused.is_empty());
    ask(2, Request::Leave);
    assert_eq!(codes(&ask(2, Request::Rollback { plan: hash() })), ["held"], "who has left takes it first");
}

/// While a request of another session is at work, its name is shown, too, and not only that somebody is busy.
#[test]
fn who_is_at_work_is_shown() {
    let node = Flaky::new();
    let plan = plan(&node);
    let ask = |n: u32, ask| crate::hand::serve(Call::new(&session(n), ask), &node.dir.root()).answer;
    assert!(ask(1, begin(&plan)).refused.is_empty());
    let lock = crate::journal::Lock::take(&node.dir.root()).unwrap();
    let ended = apply(&node, &plan, &Lone, &options(&operator(2), &plan), &Cancel::default(), &mut |_| {}).ended;
    assert!(matches!(&ended, Ended::Held(why) if why.contains("me1@there")), "{ended:?}");
    drop(lock);
    assert_eq!(is_made(&node), Some(false));
}
