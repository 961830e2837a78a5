//! Who takes a node out of service, and who gives it back.

use super::super::tests::{Flaky, operator, options, plan};
use super::super::{Ended, Options, Outcome, Target, Undoing, apply, rollback};
use super::*;
use linerate_transport::Cancel;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// A scheduler with one node.
#[derive(Default)]
struct State {
    reason: Option<String>,
    /// Somebody else takes the node out of service at the moment when the driver does.
    rival: bool,
    /// Jobs do not end.
    busy: bool,
    /// An administrator writes another reason while the node is empty.
    rewritten: bool,
    given_back: usize,
}

#[derive(Default)]
struct Slurm(Mutex<State>);

impl Slurm {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn with(change: impl FnOnce(&mut State)) -> Slurm {
        let slurm = Slurm::default();
        change(&mut slurm.state());
        slurm
    }

    fn reason(&self) -> Option<String> {
        self.state().reason.clone()
    }
}

const FAN: &str = "bad fan";

impl Lifecycle for Slurm {
    fn name(&self) -> &str {
        "Slurm"
    }

    fn out_of_service(&self, _: &str) -> Result<Option<String>, LifecycleError> {
        Ok(self.reason())
    }

    fn cordon(&self, _: &str, why: &str) -> Result<(), LifecycleError> {
        let mut state = self.state();
        if state.rival {
            state.reason = Some(FAN.to_owned());
            return Err(LifecycleError::Refused("it is drained already".to_owned()));
        }
        state.reason = Some(why.to_owned());
        Ok(())
    }

    fn drain(&self, _: &str) -> Result<(), LifecycleError> {
        let mut state = self.state();
        if state.rewritten {
            state.reason = Some(FAN.to_owned());
        }
        if state.busy { Err(LifecycleError::Busy("job 7 still runs".to_owned())) } else { Ok(()) }
    }

    fn give_back(&self, _: &str) -> Result<(), LifecycleError> {
        let mut state = self.state();
        state.reason = None;
        state.given_back += 1;
        Ok(())
    }
}

fn go(node: &Flaky, plan: &Plan, slurm: &Slurm, may_reboot: bool) -> Outcome {
    let options = Options { may_reboot, ..options(node, false) };
    apply(node, plan, slurm, &options, &Cancel::default(), &mut |_| {})
}

fn mark(plan: &Plan) -> Option<String> {
    Some(format!("linerate plan {}", plan.hash))
}

#[test]
fn the_one_that_took_it_out_gives_it_back() {
    let (node, slurm) = (Flaky::new(), Slurm::default());
    let plan = plan(&node.dir);
    assert_eq!(go(&node, &plan, &slurm, false).ended, Ended::RebootDue);
    assert_eq!(slurm.reason(), mark(&plan), "whose it is can be read there");
    assert_eq!(go(&node, &plan, &slurm, true).ended, Ended::Proven, "a later run of the same plan");
    assert_eq!((slurm.reason(), slurm.state().given_back), (None, 1));
}

#[test]
fn a_node_that_was_drained_before_stays_drained() {
    for change in [
        (|s: &mut State| s.reason = Some(FAN.to_owned())) as fn(&mut State),
        |s| s.reason = Some(String::new()),
        |s| s.reason = Some(format!("linerate plan {}", "0".repeat(64))),
        |s| s.rewritten = true,
    ] {
        let (node, slurm) = (Flaky::new(), Slurm::with(change));
        let plan = plan(&node.dir);
        let outcome = go(&node, &plan, &slurm, true);
        assert_eq!(outcome.ended, Ended::Proven);
        assert!(outcome.remarks.iter().any(|r| r.contains("out of service")), "{:?}", outcome.remarks);
        assert_eq!(slurm.state().given_back, 0);
        assert!(slurm.reason().is_some_and(|r| Some(r) != mark(&plan)));
    }
}

#[test]
fn a_node_that_somebody_else_drains_at_that_moment_is_not_given_back() {
    let (node, slurm) = (Flaky::new(), Slurm::with(|s| s.rival = true));
    let plan = plan(&node.dir);
    assert!(matches!(go(&node, &plan, &slurm, true).ended, Ended::Untouched(_)));
    assert_eq!((slurm.reason().as_deref(), slurm.state().given_back), (Some(FAN), 0));
}

#[test]
fn where_jobs_do_not_end_an_untouched_node_is_given_back_and_a_changed_one_is_not() {
    let (node, slurm) = (Flaky::new(), Slurm::with(|s| s.busy = true));
    let plan = plan(&node.dir);
    assert!(matches!(go(&node, &plan, &slurm, true).ended, Ended::Untouched(_)));
    assert_eq!((slurm.reason(), slurm.state().given_back), (None, 1));
    slurm.state().busy = false;
    assert_eq!(go(&node, &plan, &slurm, false).ended, Ended::RebootDue);
    slurm.state().busy = true;
    assert!(matches!(go(&node, &plan, &slurm, true).ended, Ended::Left(_)), "half changed");
    assert_eq!((slurm.reason(), slurm.state().given_back), (mark(&plan), 1));
}

#[test]
fn what_is_cancelled_before_the_first_change_is_given_back() {
    struct Late<'a>(Slurm, &'a Cancel);
    impl Lifecycle for Late<'_> {
        fn name(&self) -> &str {
            self.0.name()
        }
        fn out_of_service(&self, node: &str) -> Result<Option<String>, LifecycleError> {
            self.0.out_of_service(node)
        }
        fn cordon(&self, node: &str, why: &str) -> Result<(), LifecycleError> {
            self.0.cordon(node, why)
        }
        fn drain(&self, _: &str) -> Result<(), LifecycleError> {
            self.1.cancel();
            Ok(())
        }
        fn give_back(&self, node: &str) -> Result<(), LifecycleError> {
            self.0.give_back(node)
        }
    }
    let (node, cancel) = (Flaky::new(), Cancel::default());
    let (plan, late) = (plan(&node.dir), Late(Slurm::default(), &cancel));
    let ended = apply(&node, &plan, &late, &options(&node, false), &cancel, &mut |_| {}).ended;
    assert!(matches!(ended, Ended::Untouched(_)), "{ended:?}");
    assert_eq!((late.0.reason(), late.0.state().given_back), (None, 1));
}

#[test]
fn a_rollback_gives_back_what_its_plan_took_out_of_service_and_nothing_else() {
    for (reason, given_back) in [(None, 1), (Some(FAN), 0)] {
        let (node, slurm) = (Flaky::new(), Slurm::default());
        let plan = plan(&node.dir);
        assert_eq!(go(&node, &plan, &slurm, false).ended, Ended::RebootDue);
        if let Some(reason) = reason {
            slurm.state().reason = Some(reason.to_owned());
        }
        let operator = operator(1);
        let target = Target { node: &node, plan: &plan, record: &node.record, operator: &operator, lifecycle: &slurm };
        let how = Undoing { reboot: Some(Duration::from_secs(2)), keep_changed: false };
        rollback(&target, how, &Cancel::default(), &mut |_| {}).unwrap();
        assert_eq!((slurm.reason().as_deref(), slurm.state().given_back), (reason, given_back));
    }
}
