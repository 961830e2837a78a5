//! Limits of resources: of sessions (pam_limits), and of services that start jobs.

use super::{Limit, Refusal, Rendered, ours};
use crate::model::Act;
use linerate_snapshot::{Lookup, Snapshot};

const LIMITS: &str = "/etc/security/limits.d/90-linerate.conf";

/// Services that start jobs or containers, whose limits those inherit (facts §8).
const SERVICES: [&str; 5] = ["slurmd", "containerd", "docker", "crio", "kubelet"];

/// Where a unit shows that its service is installed.
const UNITS: [&str; 4] =
    ["etc/systemd/system", "usr/lib/systemd/system", "lib/systemd/system", "sys/fs/cgroup/system.slice"];

/// Limits; of these only `memlock` is known.
pub(super) fn limits(asked: &[Limit], s: &Snapshot) -> Result<Rendered, Refusal> {
    for l in asked {
        match (l.limit.as_str(), l.value.as_str()) {
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
                return Err(Refusal::no(format!("no way is known to set the limit {}", limit.escape_default())));
            }
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
        let text = format!("{}[Service]\nLimitMEMLOCK=infinity\n", ours::head("limits"));
        files.extend(ours::written(s, &path, text, 0o644)?);
    }
    if files.is_empty() {
        return Err(Refusal::Already {
            reason: format!("{LIMITS} says so: it holds in new sessions, and in services that are started again"),
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
    Ok(Rendered {
        id: "limits".into(),
        summary: "let sessions and job services lock memory without limit".into(),
        precondition: Vec::new(),
        change,
        proof: Vec::new(),
        note,
    })
}

fn installed(s: &Snapshot, service: &str) -> bool {
    UNITS.iter().any(|dir| matches!(s.resolve(&format!("{dir}/{service}.service")), Lookup::Found(_)))
}
