//! A node in a directory, with programs that do what the real ones do to files.

mod domains;
mod faults;
mod programs;
mod refusals;
pub(crate) mod secrets;
mod trust;
mod works;

use super::{NoEntry, NodeFiles, Root, TrialEntry, TrialMaker, node_id, serve_with};
use crate::protocol::{Answer, Call, Phase, Request, Session, Stage};
use linerate_remedy::{
    Act, BootTrial, Content, Disruption, FileAct, FileState, NicFirmwareAct, Permanence, Plan, Risk, RunAct,
    SCHEMA as PLAN, Step, TrialAct, ValueAct,
};
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A node.
pub(crate) struct Node {
    dir: PathBuf,
    _own: Option<tempfile::TempDir>,
}

const UPDATE_GRUB: &str = "#!/bin/sh\nroot=${0%/usr/*}\ncd \"$root/etc/default\"\n{ echo '# made'; cat grub grub.d/*.cfg 2>/dev/null; } >\"$root/boot/grub/grub.cfg.new\"\nmv \"$root/boot/grub/grub.cfg.new\" \"$root/boot/grub/grub.cfg\"\n";
const GRUB_REBOOT: &str = "#!/bin/sh\nroot=${0%/usr/*}\nprintf '# GRUB Environment Block\\nsaved=1\\nnext_entry=%s\\n####' \"$1\" >\"$root/boot/grub/grubenv\"\n";
const GRUB_EDITENV: &str =
    "#!/bin/sh\nroot=${0%/usr/*}\nprintf '# GRUB Environment Block\\nsaved=1\\n####' >\"$root/boot/grub/grubenv\"\n";
const SYSTEMCTL: &str = "#!/bin/sh\nroot=${0%/usr/*}\ncase $1 in\nenable) test -f \"$root/etc/systemd/system/linerate.service\" || exit 1; echo x >\"$root/etc/systemd/enabled\";;\ndisable) test -f \"$root/etc/systemd/system/linerate.service\" || exit 1; rm -f \"$root/etc/systemd/enabled\";;\nesac\n";
const MSTCONFIG: &str = "#!/bin/sh\nroot=${0%/usr/*}\nkept=\"$root/firmware\"\nfor last; do :; done\ncase \"$*\" in\n*' set '*) case ${last#*=} in 1) echo 'True(1)' >\"$kept\";; 0) echo 'False(0)' >\"$kept\";; *) exit 3;; esac;;\n*) printf '\\nDevice #1:\\n----------\\n\\nDevice type:    ConnectX7\\nName:           X\\nDescription:    Y\\nDevice:         0000:81:00.0\\n\\nConfigurations:                              Default         Current         Next Boot\\n         ADVANCED_PCI_SETTINGS               False(0)        False(0)        %s\\n' \"$(cat \"$kept\")\";;\nesac\n";

impl Node {
    /// A Debian-like node before the plan.
    pub(crate) fn new() -> Node {
        let shm = Path::new("/dev/shm");
        let dir = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() }.unwrap();
        let node = Node { dir: dir.path().to_owned(), _own: Some(dir) };
        for (path, text) in [
            ("etc/machine-id", "0123456789abcdef0123456789abcdef\n"),
            ("proc/sys/kernel/hostname", "n1\n"),
            ("proc/sys/kernel/random/boot_id", "boot-1\n"),
            ("proc/cmdline", "root=/dev/vda ro\n"),
            ("sys/class/net/eth1/mtu", "1500\n"),
            ("etc/default/grub", "GRUB_TIMEOUT=0\n"),
            ("etc/limits.conf", "# by hand\n* soft nofile 1024\n"),
            ("etc/old.conf", "options mlx5_core old=1\n"),
            ("etc/systemd/system/other.service", "[Unit]\n"),
            ("boot/grub/grub.cfg", "# made\nGRUB_TIMEOUT=0\n"),
            ("boot/grub/grubenv", "# GRUB Environment Block\nsaved=1\n####"),
            ("firmware", "False(0)\n"),
            (domains::PATH, domains::DEFINED),
        ] {
            node.write(path, text);
        }
        for (path, text) in [
            ("usr/sbin/update-grub", UPDATE_GRUB),
            ("usr/sbin/grub-reboot", GRUB_REBOOT),
            ("usr/bin/grub-editenv", GRUB_EDITENV),
            ("usr/bin/systemctl", SYSTEMCTL),
            ("usr/bin/mstconfig", MSTCONFIG),
            ("usr/bin/virsh", domains::VIRSH),
            (
                "usr/bin/fails",
                "#!/bin/sh\nroot=${0%/usr/*}\necho broken >\"$root/boot/grub/grub.cfg\"\necho 'no such device' >&2\nexit 7\n",
            ),
            ("usr/bin/hangs", "#!/bin/sh\nsleep 60 &\nsleep 60\n"),
        ] {
            node.write(path, text);
            node.chmod(path, 0o755);
        }
        node.chmod("etc/limits.conf", 0o640);
        node
    }

    /// A node that another process made: it is not removed here.
    pub(crate) fn of(dir: &Path) -> Node {
        Node { dir: dir.to_owned(), _own: None }
    }

    /// A path of the node, with or without its first slash: never one of the machine that runs the test.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.dir.join(path.trim_start_matches('/'))
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        std::fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        std::fs::write(self.at(path), text).unwrap();
    }

    pub(crate) fn chmod(&self, path: &str, mode: u32) {
        std::fs::set_permissions(self.at(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.at(path)).ok()
    }

    pub(crate) fn root(&self) -> Root {
        Root::open(&self.dir).unwrap()
    }

    pub(crate) fn ask(&self, request: Request) -> Answer {
        serve_with(Call::new(&session(1), request), &self.root(), &Grub).answer
    }

    /// The same node in another directory, its journal as well.
    pub(crate) fn copy(&self) -> Node {
        let shm = Path::new("/dev/shm");
        let dir = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() }.unwrap();
        let from = format!("{}/.", self.dir.display());
        assert!(std::process::Command::new("cp").arg("-a").arg(from).arg(dir.path()).status().unwrap().success());
        Node { dir: dir.path().to_owned(), _own: Some(dir) }
    }

    /// Everything but the journal and what the kernel tells: kind, content, permissions, owner; under `/etc` the time of change.
    pub(crate) fn tree(&self) -> BTreeMap<String, (u32, u32, u32, i64, Vec<u8>)> {
        let mut tree = BTreeMap::new();
        let mut rest = vec![self.dir.clone()];
        while let Some(dir) = rest.pop() {
            for entry in std::fs::read_dir(&dir).unwrap().map(Result::unwrap) {
                let path = entry.path();
                let name = path.strip_prefix(&self.dir).unwrap().to_str().unwrap().to_owned();
                let meta = std::fs::symlink_metadata(&path).unwrap();
                if name == "var" || name == "proc" {
                    continue;
                }
                let bytes = if meta.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
                // libvirt writes definitions itself.
                let time = if meta.is_file() && name.starts_with("etc") && name != domains::PATH {
                    meta.mtime_nsec() ^ meta.mtime()
                } else {
                    0
                };
                tree.insert(name, (meta.mode(), meta.uid(), meta.gid(), time, bytes));
                if meta.is_dir() {
                    rest.push(path);
                }
            }
        }
        tree
    }

    /// The same without times: what was made is younger each time.
    pub(crate) fn contents(&self) -> BTreeMap<String, (u32, u32, u32, Vec<u8>)> {
        self.tree().into_iter().map(|(name, (mode, uid, gid, _, bytes))| (name, (mode, uid, gid, bytes))).collect()
    }

    /// What a reboot does: the entry that was chosen is started once, values of the kernel stay as this plan wants them.
    pub(crate) fn reboot(&self) {
        let next = self.read("boot/grub/grubenv").unwrap_or_default().contains("next_entry=linerate-trial");
        let permanent = self.read("boot/grub/grub.cfg").unwrap_or_default().contains("iommu=pt");
        let words = if next || permanent { "root=/dev/vda ro iommu=pt\n" } else { "root=/dev/vda ro\n" };
        self.write("proc/cmdline", words);
        // GRUB forgets the entry, and keeps its name with nothing behind it.
        if next {
            self.write("boot/grub/grubenv", "# GRUB Environment Block\nsaved=1\nnext_entry=\n####");
        }
        let boot = self.read("proc/sys/kernel/random/boot_id").unwrap_or_default();
        self.write("proc/sys/kernel/random/boot_id", &format!("{}+\n", boot.trim()));
    }

    pub(crate) fn plan(&self) -> Plan {
        let file = |path: &str, before: FileState, after: Option<&str>| {
            Act::File(FileAct {
                path: path.to_owned(),
                before,
                after: after.map(|t| Content(t.to_owned())),
                mode: 0o644,
            })
        };
        let held = |path: &str| FileState::Content(self.read(path).unwrap());
        let drop_in =
            file("/etc/default/grub.d/90-linerate.cfg", FileState::Absent, Some("GRUB_CMDLINE_LINUX=\"iommu=pt\"\n"));
        let steps = vec![
            step(
                "modules",
                vec![file("/etc/modules-load.d/linerate.conf", FileState::Absent, Some("nvidia_peermem\n"))],
            ),
            step(
                "limits",
                vec![file("/etc/limits.conf", held("etc/limits.conf"), Some("# by hand\n* soft memlock unlimited\n"))],
            ),
            step("old", vec![file("/etc/old.conf", held("etc/old.conf"), None)]),
            step("mtu", vec![value("9000")]),
            step("nic", vec![nic()]),
            step("domain", vec![domains::act()]),
            step(
                "unit",
                vec![
                    file("/etc/systemd/system/linerate.service", FileState::Absent, Some("[Service]\n")),
                    run(
                        &["systemctl", "enable", "linerate.service"],
                        &[],
                        &["systemctl", "disable", "linerate.service"],
                    ),
                ],
            ),
            Step {
                trial: vec![Act::Trial(TrialAct {
                    boot: BootTrial::GrubCustom,
                    add: vec!["iommu=pt".to_owned()],
                    remove: Vec::new(),
                })],
                ..step("args", vec![drop_in, run(&["update-grub"], &["/boot/grub/grub.cfg"], &[])])
            },
        ];
        self.plan_of(steps)
    }

    pub(crate) fn plan_of(&self, steps: Vec<Step>) -> Plan {
        Plan {
            schema: PLAN.to_owned(),
            hash: String::new(),
            version: "0".to_owned(),
            node: node_id(&self.root()),
            role: None,
            kubernetes: None,
            source: self.dir.display().to_string(),
            platform: "a directory".to_owned(),
            steps,
            by_hand: Vec::new(),
            refused: Vec::new(),
            simulation: None,
        }
        .sealed()
    }

    /// Begin to proof, as a driver does it; stops at the first refusal.
    pub(crate) fn apply(&self, plan: &Plan) -> Answer {
        let begun = self.ask(begin(plan));
        if !begun.refused.is_empty() || begun.state.as_ref().is_some_and(|s| s.stage == Stage::Finished) {
            return begun;
        }
        let hash = plan.hash.clone();
        if begun.state.unwrap().stage == Stage::Begun {
            let first = self.ask(Request::Perform { plan: hash.clone(), phase: Phase::First });
            if !first.refused.is_empty() {
                return first;
            }
        }
        if !self.read("proc/cmdline").unwrap().contains("iommu=pt") {
            self.reboot();
        }
        let last = self.ask(Request::Perform { plan: hash.clone(), phase: Phase::Lasting });
        if last.refused.is_empty() { self.ask(Request::Finish { plan: hash }) } else { last }
    }

    pub(crate) fn rollback(&self, plan: &Plan) -> Answer {
        let undone = self.ask(Request::Rollback { plan: plan.hash.clone() });
        if undone.refused.is_empty() { self.ask(Request::Finish { plan: plan.hash.clone() }) } else { undone }
    }
}

/// A session by its number. None of them is a process of this machine.
pub(crate) fn session(number: u32) -> Session {
    let (id, who) = (format!("{number:032x}"), format!("me{number}@there"));
    Session { id, who, place: "e".repeat(64), pid: 1, began: 1 }
}

pub(crate) const INSPECT: Request = Request::Inspect { plan: None };

pub(crate) fn begin(plan: &Plan) -> Request {
    Request::Begin { plan: Box::new(plan.clone()), who: "me@there".to_owned(), steps: Vec::new() }
}

pub(crate) fn codes(answer: &Answer) -> Vec<&str> {
    answer.refused.iter().map(|t| t.code.as_str()).collect()
}

pub(crate) fn step(id: &str, change: Vec<Act>) -> Step {
    Step {
        id: id.to_owned(),
        rules: Vec::new(),
        summary: id.to_owned(),
        why: Vec::new(),
        precondition: Vec::new(),
        trial: Vec::new(),
        change,
        proof: Vec::new(),
        risk: Risk::Low,
        risk_note: String::new(),
        persistence: Permanence::Immediate,
        disruption: Disruption::None,
        unsimulated: Vec::new(),
    }
}

pub(crate) fn value(after: &str) -> Act {
    Act::Value(ValueAct {
        path: "/sys/class/net/eth1/mtu".to_owned(),
        before: "1500".to_owned(),
        after: after.to_owned(),
    })
}

fn nic() -> Act {
    Act::NicFirmware(NicFirmwareAct {
        device: "0000:81:00.0".to_owned(),
        parameter: "ADVANCED_PCI_SETTINGS".to_owned(),
        before: "False(0)".to_owned(),
        after: "True(1)".to_owned(),
    })
}

pub(crate) fn run(argv: &[&str], writes: &[&str], undo: &[&str]) -> Act {
    let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    Act::Run(RunAct { argv: words(argv), writes: words(writes), undo: words(undo), limit: 20 })
}

pub(crate) fn stage(answer: &Answer) -> Option<Stage> {
    answer.state.as_ref().map(|s| s.stage)
}

/// Entries in `custom.cfg`.
pub(crate) struct Grub;

impl TrialMaker for Grub {
    fn entry(&self, _: BootTrial, add: &[String], _: &[String], node: &dyn NodeFiles) -> Result<TrialEntry, NoEntry> {
        let old = node.bytes("/boot/grub/custom.cfg").unwrap_or_default();
        Ok(TrialEntry {
            path: "/boot/grub/custom.cfg".to_owned(),
            content: format!("{}menuentry {}\n", String::from_utf8_lossy(&old), add.join(" ")),
            environment: Some("/boot/grub/grubenv".to_owned()),
            choose: vec!["grub-reboot".to_owned(), "linerate-trial".to_owned()],
            forget: ["grub-editenv", "-", "unset", "next_entry"].map(str::to_owned).to_vec(),
        })
    }
}
