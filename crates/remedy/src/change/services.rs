//! Services of systemd that run now and at each boot. Only one that is installed, not enabled and not running is started: what is enabled and does
//! not do its work needs somebody who reads its log.

use super::{Change, INTERRUPTS, Kind, Refusal, Setting, each, ours, words};
use crate::model::Condition;
use crate::see;
use crate::terms::{On, Terms};
use linerate_rules::Action;
use linerate_snapshot::Snapshot;

/// Where packages and people put units.
const UNITS: [&str; 3] = ["etc/systemd/system", "usr/lib/systemd/system", "lib/systemd/system"];

/// Where a unit is that is started at each boot, or runs (control groups of both versions).
const BUSY: [&str; 3] =
    ["etc/systemd/system/multi-user.target.wants", "sys/fs/cgroup/system.slice", "sys/fs/cgroup/systemd/system.slice"];

/// Services.
pub(super) struct Services;

impl Kind for Services {
    fn takes(&self, action: &Action) -> Option<String> {
        of(action).map(str::to_owned)
    }

    fn terms(&self, _: &Action, _: &On<'_>) -> Terms {
        INTERRUPTS
    }

    fn on_talos(&self) -> Option<&'static str> {
        Some("Talos runs no services of packages: add the system extension that brings it to the node's schematic")
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        each(actions, of).into_iter().map(|service| enabled(service, on.snapshot)).collect()
    }
}

/// The service, without `.service`.
fn of(action: &Action) -> Option<&str> {
    match action {
        Action::Service { service } => Some(service),
        _ => None,
    }
}

/// Whether a directory has it, a link that leads nowhere included; `None`: the source did not look.
fn is_in(s: &Snapshot, dir: &str, unit: &str) -> Option<bool> {
    let there = see::program(s, dir, unit);
    (there || see::looked(s, &format!("{dir}/{unit}"))).then_some(there)
}

fn enabled(service: &str, s: &Snapshot) -> Result<Change, Refusal> {
    let service = words::service(service)?;
    let unit = format!("{service}.service");
    let by_hand =
        |how: String| Err(Refusal::ByHand { how: vec![how], reread: vec![format!("systemctl status {unit}")] });
    if !UNITS.iter().any(|dir| see::exists(s, &format!("{dir}/{unit}"))) {
        return by_hand(format!("install what brings {unit}, then: systemctl enable --now {unit}"));
    }
    let seen = BUSY.map(|dir| is_in(s, dir, &unit));
    if seen.contains(&Some(true)) {
        return by_hand(format!("{unit} is enabled or runs, but does not do its work: read journalctl -u {unit}"));
    }
    if seen.contains(&None) {
        return by_hand(format!(
            "the source does not show whether {unit} is enabled and runs: collect again as root, or: systemctl enable --now {unit}"
        ));
    }
    Ok(Change {
        id: format!("service-{}", service.to_ascii_lowercase()),
        summary: format!("start {unit} now and at each boot"),
        precondition: vec![Condition::program("systemctl", "systemd")],
        acts: vec![ours::run(&["systemctl", "enable", "--now", &unit], &["systemctl", "disable", "--now", &unit], 120)],
        note: "if the program does not fit the driver's version, it does not stay up: the proof shows it".to_owned(),
        ..Change::default()
    })
}
