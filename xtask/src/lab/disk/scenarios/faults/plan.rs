//! What is done while it breaks.

use super::super::plans;
use linerate_remedy::{Act, BootTrial, Content, FileAct, FileState, NodeId, Plan, RunAct, Step, TrialAct, ValueAct};

/// Every kind of act that a guest has: files new, changed and removed, programs that write others, a value, an entry on trial.
pub(super) fn plan(node: NodeId, value: &str) -> Plan {
    let file = |path: &str, before: FileState, after: Option<&str>| {
        Act::File(FileAct { path: path.to_owned(), before, after: after.map(|t| Content(t.to_owned())), mode: 0o644 })
    };
    let words = |list: &[&str]| list.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    let run = |argv: &[&str], writes: &[&str], undo: &[&str]| {
        Act::Run(RunAct { argv: words(argv), writes: words(writes), undo: words(undo), limit: 300 })
    };
    let step = |id: &str, trial, change| Step { trial, change, ..plans::step(id, &format!("the lab's {id}")) };
    let swappiness = Act::Value(ValueAct {
        path: "/proc/sys/vm/swappiness".to_owned(),
        before: value.to_owned(),
        after: "10".to_owned(),
    });
    let trial = Act::Trial(TrialAct { boot: BootTrial::GrubCustom, add: words(&["lab_trial=1"]), remove: Vec::new() });
    let steps = vec![
        step(
            "files",
            Vec::new(),
            vec![
                file("/etc/modules-load.d/linerate.conf", FileState::Absent, Some("dummy\n")),
                run(&["modprobe", "dummy"], &[], &["modprobe", "-r", "dummy"]),
                file("/etc/lab.conf", FileState::Content("theirs\n".to_owned()), Some("ours\n")),
                file("/etc/sysctl.d/90-linerate.conf", FileState::Absent, Some("vm.swappiness = 10\n")),
                swappiness,
            ],
        ),
        step("trial", vec![trial], Vec::new()),
        step(
            "unit",
            Vec::new(),
            vec![
                file(
                    "/etc/systemd/system/linerate-lab.service",
                    FileState::Absent,
                    Some("[Service]\nType=oneshot\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"),
                ),
                run(&["systemctl", "daemon-reload"], &[], &["systemctl", "daemon-reload"]),
            ],
        ),
    ];
    plans::plan(node, steps)
}
