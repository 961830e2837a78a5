//! Plans are simulated before they are offered.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use crate::composed as common;
use crate::properties;

use linerate_compose::Description;
use linerate_remedy::plan::Options;
use properties::{Case, Random, descriptions, make};

/// A random set of fixes is tried on each so-manieth node, beside all fixes together on each. `cargo run --release -p linerate-remedy --example simulate`
/// tries thousands.
const EACH: usize = 3;

#[test]
fn no_plan_makes_a_node_worse_and_none_is_taken_back() {
    let mut random = Random(15);
    let (mut bad, mut steps, mut held) = (Vec::new(), 0, 0);
    for (n, path) in descriptions(&common::nodes()).into_iter().enumerate() {
        let mut case = Case::new(&path.display().to_string(), common::load(&path).1);
        let set = n.is_multiple_of(EACH).then(|| case.options(&mut random));
        for options in [Options::default()].into_iter().chain(set) {
            let (found, seen) = case.check(&options);
            bad.extend(found);
            steps += seen.steps;
            held += seen.held_back;
        }
    }
    eprintln!("{steps} steps, {held} held back");
    assert!(bad.is_empty(), "{} broken:\n{}", bad.len(), bad.join("\n"));
    assert!(steps > 100, "only {steps} steps: the test tests nothing");
}

#[test]
fn a_harmful_pending_setting_is_cancelled_and_a_healthy_node_needs_no_simulation() {
    let sick = common::base("sick-8gpu");
    let plan = make(&sick, &Options::default());
    let pending = plan.steps.iter().find(|s| s.rules.iter().any(|r| r == "nicfw/pending-reset")).expect("its step");
    assert!(pending.disruption == linerate_remedy::Disruption::None, "{pending:?}");
    assert!(pending.why.iter().any(|w| w.contains("ats/bare-metal")), "{:?}", pending.why);
    let seen = plan.simulation.as_ref().expect("it has steps");
    assert!(seen.changed.iter().all(|c| !c.worse) && seen.after.findings() < seen.before.findings(), "{seen:?}");
    let healthy = make(&common::base("healthy-8gpu"), &Options::default());
    assert_eq!((healthy.steps.len(), healthy.simulation), (0, None));
}

/// What took a GPU is kept from it at the next boot, as the driver that is to take it runs beside. What the boot brings stays open.
#[test]
fn a_plan_blocks_the_module_that_took_a_gpu() {
    let machine = std::fs::read_to_string(common::nodes().join("healthy/dgx-h100.toml")).unwrap();
    let sick = Description::parse_over(&machine, "[pci.gpu3]\ndriver = \"nouveau\"\n").unwrap();
    let plan = make(&common::snapshot(&sick.compose().unwrap(), "nouveau"), &Options::default());
    let step = plan.steps.iter().find(|s| s.rules.iter().any(|r| r == "gpumem/driver-loaded")).expect("its step");
    assert_eq!((step.id.as_str(), step.disruption), ("module-blocks", linerate_remedy::Disruption::DrainReboot));
    assert!(!step.unsimulated.is_empty(), "{step:?}");
    let seen = plan.simulation.as_ref().expect("it has steps");
    let bound = seen.changed.iter().filter(|c| c.rule == "gpumem/driver-loaded" && c.after.status == "pass");
    assert!(bound.count() > 0 && seen.changed.iter().all(|c| !c.worse), "{seen:?}");
}

/// A driver that is loaded takes the GPUs that have none: the plan's own simulation shows it. What only the driver shows stays open.
#[test]
fn a_plan_that_loads_the_driver_shows_what_changes() {
    for name in ["healthy/broken/workstation-2gpu--no-driver", "healthy/broken/aws-p5--no-driver"] {
        let plan = make(&common::base(name), &Options::default());
        let step = plan.steps.iter().find(|s| s.rules.iter().any(|r| r == "gpumem/driver-loaded")).expect("its step");
        assert!(!step.unsimulated.is_empty(), "{name}: {step:?}");
        let seen = plan.simulation.as_ref().expect("it has steps");
        let bound = seen.changed.iter().filter(|c| c.rule == "gpumem/driver-loaded" && c.after.status == "pass");
        assert!(bound.count() > 0 && seen.after.findings() < seen.before.findings(), "{name}: {seen:?}");
    }
}
