//! Limits of resources: of sessions (pam_limits), and of services that start jobs.

use super::{AT_ONCE, Change, Kind, Refusal, Setting, ours};
use crate::act::head;
use crate::model::Act;
use crate::terms::{On, Terms};
use linerate_rules::Action;
use linerate_snapshot::{Lookup, Snapshot};

const LIMITS: &str = "/etc/security/limits.d/90-linerate.conf";

/// Services that start jobs or containers, whose limits those inherit (facts §8).
const SERVICES: [&str; 5] = ["slurmd", "containerd", "docker", "crio", "kubelet"];

/// Where a unit shows that its service is installed.
const UNITS: [&str; 4] =
    ["etc/systemd/system", "usr/lib/systemd/system", "lib/systemd/system", "sys/fs/cgroup/system.slice"];

/// Limits of resources.
pub(super) struct Limits;

impl Kind for Limits {
    fn takes(&self, action: &Action) -> Option<String> {
        of(action).map(|_| String::new())
    }

    fn terms(&self, _: &Action, _: &On<'_>) -> Terms {
        AT_ONCE
    }

    fn claims(&self, action: &Action) -> Vec<(String, String)> {
        of(action).map(|(limit, value)| (format!("limit {limit}"), value.to_owned())).into_iter().collect()
    }

    fn open(&self, action: &Action, _: &Setting<'_, '_>) -> Option<String> {
        let (limit, value) = of(action)?;
        value.contains(' ').then(|| format!("choose a value for {limit} ({value})"))
    }

    fn on_talos(&self) -> Option<&'static str> {
        Some(
            "Talos has no limits.d and no drop-ins of units: set the limit in the pod or in the container runtime's configuration",
        )
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        super::each(actions, of).into_iter().map(|(limit, value)| one(limit, value, on.snapshot)).collect()
    }
}

/// Limit and value.
fn of(action: &Action) -> Option<(&str, &str)> {
    match action {
        Action::Limit { limit, value } => Some((limit, value)),
        _ => None,
    }
}

/// One limit; only `memlock` is known.
fn one(limit: &str, value: &str, s: &Snapshot) -> Result<Change, Refusal> {
    match (limit, value) {
        ("memlock", "unlimited") => {}
        ("/dev/shm", _) => {
            return Err(Refusal::ByHand {
                how: vec![
                    "in /etc/fstab: tmpfs /dev/shm tmpfs defaults,size=SIZE 0 0, with SIZE as jobs need it".into(),
                    "now: mount -o remount,size=SIZE /dev/shm".into(),
                    "in Kubernetes: an emptyDir with medium: Memory at /dev/shm of the pod".into(),
                ],
                reread: vec!["proc/self/mounts".into()],
            });
        }
        (limit, _) => {
            return Err(Refusal::no(format!("linerate knows no way to set the limit {}", limit.escape_default())));
        }
    }
    // `*` does not mean root (limits.conf(5)).
    let lines: Vec<String> = ["*", "root"]
        .iter()
        .flat_map(|who| ["soft", "hard"].map(|kind| format!("{who} {kind} memlock unlimited")))
        .collect();
    let mut files: Vec<Act> = ours::with_lines(s, LIMITS, "limits", &lines, |_| true)?.into_iter().collect();
    let services: Vec<&str> = SERVICES.into_iter().filter(|name| installed(s, name)).collect();
    for service in &services {
        let path = format!("/etc/systemd/system/{service}.service.d/90-linerate.conf");
        let text = format!("{}[Service]\nLimitMEMLOCK=infinity\n", head("limits"));
        files.extend(ours::written(s, &path, text, 0o644)?);
    }
    if files.is_empty() {
        return Err(Refusal::Already {
            reason: format!("{LIMITS} has this line: it holds in new sessions, and in services that are started again"),
        });
    }
    let mut change = Vec::new();
    let units = !services.is_empty();
    if units {
        change.push(ours::run(&["systemctl", "daemon-reload"], &["systemctl", "daemon-reload"], 60));
    }
    change.extend(files);
    let mut note = "it holds in new sessions; those that run keep their limit".to_owned();
    if units {
        change.push(ours::run(&["systemctl", "daemon-reload"], &[], 60));
        note.push_str(&format!(
            ". {} keep their limit until they are restarted, which is not done here: drain the node and restart them, or reboot",
            services.join(", ")
        ));
    }
    Ok(Change {
        id: "limits".into(),
        summary: "let sessions and job services lock memory without limit".into(),
        acts: change,
        note,
        ..Change::default()
    })
}

fn installed(s: &Snapshot, service: &str) -> bool {
    UNITS.iter().any(|dir| matches!(s.resolve(&format!("{dir}/{service}.service")), Lookup::Found(_)))
}
