//! User data of cloud-init for a node that is installed anew: files, then programs, at its first start.

use super::yaml::Y;
use super::{Export, Rest};
use crate::act::Deed;
use crate::model::{Disruption, Plan, ValueAct};

/// Writes a value. The words come as arguments: nothing of them is read as a script.
const VALUE: &str = "printf '%s\\n' \"$2\" >\"$1\"";

/// The plan as user data.
#[must_use]
pub fn cloud_init(plan: &Plan) -> Export {
    let mut rest = Rest::of(plan);
    let (mut files, mut run): (Vec<Y>, Vec<Y>) = (Vec::new(), Vec::new());
    for step in &plan.steps {
        rest.leave_trial(step, "a new node has no boot to fall back to: the change is made at once");
        for act in &step.change {
            match act.shown().deed(step) {
                // All files are written before the first program: the last content of a path counts.
                Deed::Write { path, text, mode } => {
                    files.retain(
                        |f| !matches!(f, Y::Map(m) if m.iter().any(|(k, v)| k == "path" && *v == Y::str(path))),
                    );
                    files.push(Y::map([
                        ("path", Y::str(path)),
                        ("permissions", Y::str(format!("{:04o}", mode & 0o7777))),
                        ("content", Y::str(text)),
                    ]));
                }
                Deed::Remove { path } => run.push(Y::strings(&["rm", "-f", "--", path])),
                Deed::Run { argv, .. } => run.push(Y::strings(argv)),
                Deed::Value(ValueAct { path, after, .. }) => {
                    run.push(Y::strings(&["sh", "-c", VALUE, "sh", path, after]));
                }
                Deed::Set { first_start: why, .. } | Deed::Left { others: why, .. } => {
                    rest.leave(&step.id, act.summary(), why);
                }
            }
        }
    }
    let mut entries = Vec::new();
    if !files.is_empty() {
        entries.push(("write_files".to_owned(), Y::List(files)));
    }
    if !run.is_empty() {
        entries.push(("runcmd".into(), Y::List(run)));
    }
    if plan.disruption() >= Disruption::DrainReboot {
        let state =
            Y::map([("mode", Y::str("reboot")), ("message", Y::str("linerate: reboot to apply what needs it"))]);
        entries.push(("power_state".into(), state));
    }
    let head = rest.head(plan, "User data of cloud-init. Paths of devices are those of the node of the plan.");
    rest.done(format!("#cloud-config\n{head}{}", Y::Map(entries).document()))
}
