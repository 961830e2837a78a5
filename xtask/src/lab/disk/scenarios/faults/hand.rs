//! A guest's hand: asked, ended, broken, and looked after.

use super::super::super::Guest;
use super::super::apply::same;
use super::super::{BOOT, expect};
use super::fault::{Fault, Then};
use super::plan::plan;
use crate::lab::Result;
use linerate_apply::protocol::{Answer, Call, Phase, Request, Session, Stage};
use linerate_remedy::{NodeId, Plan};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;

/// As [`super::apply::FILES`], but kernels and their initramfs, which nothing here writes and which take long to digest, by size and time.
const FILES: &str = "find /etc /boot -xdev ! -type d -printf '%p %m %U %G %y %l\\n' | sort
    find /boot -xdev -type f -size +1023k -printf '%p %s %T@\\n' | sort
    find /etc /boot -xdev -type f -size -1024k -print0 | sort -z | xargs -0 sha256sum";

/// A request of the lab's one session.
pub(in crate::lab::disk::scenarios) fn call(request: Request) -> Call {
    let session = Session { id: "1".repeat(32), who: "lab@host".to_owned(), place: String::new(), pid: 0, began: 0 };
    Call::new(&session, request)
}

/// A guest with requests for its hand.
pub(super) struct Hand<'a, 'g> {
    guest: &'a mut Guest<'g>,
    files: PathBuf,
    plan: Plan,
    /// Every file at the start.
    before: String,
    /// Boundaries of beginning.
    begin: usize,
}

impl<'a, 'g> Hand<'a, 'g> {
    /// Its files are kept in this folder.
    pub(super) fn new(guest: &'a mut Guest<'g>, files: &Path) -> Hand<'a, 'g> {
        let plan = plan(NodeId::default(), "60");
        Hand { guest, files: files.to_owned(), plan, before: String::new(), begin: 0 }
    }

    /// Acts of its plan.
    pub(super) fn acts(&self) -> usize {
        self.plan.steps.iter().map(|s| s.trial.len() + s.change.len()).sum()
    }

    /// Puts requests on the guest, for its own plan, and remembers how its files are.
    pub(super) fn start(&mut self) -> Result<()> {
        self.send("inspect", &Request::Inspect { plan: None })?;
        let node = self.ask("inspect", None)?.node;
        let value = self.guest.shell("cat /proc/sys/vm/swappiness")?;
        self.plan = plan(node, value.trim());
        let hash = self.plan.hash.clone();
        self.send(
            "begin",
            &Request::Begin { plan: Box::new(self.plan.clone()), who: "lab".to_owned(), steps: Vec::new() },
        )?;
        self.send("perform", &Request::Perform { plan: hash.clone(), phase: Phase::First })?;
        self.send("rollback", &Request::Rollback { plan: hash.clone() })?;
        self.send("finish", &Request::Finish { plan: hash })?;
        self.before = self.guest.shell(FILES)?;
        Ok(())
    }

    fn send(&self, name: &str, request: &Request) -> Result<()> {
        let file = self.files.join(format!("{name}.json"));
        fs::write(&file, serde_json::to_vec(&call(request.clone())).map_err(|e| e.to_string())?)
            .map_err(|e| e.to_string())?;
        self.guest.copy_in(&file, &format!("/root/{name}.json"), "600")
    }

    /// Asks the hand; with a fault it may not answer.
    fn ask(&self, name: &str, fault: Option<&str>) -> Result<Answer> {
        let script = format!("LINERATE_FAULT={} linerate hand </root/{name}.json", fault.unwrap_or(""));
        let output = self.guest.run(&["sh", "-c", &script])?;
        let answer: Answer = serde_json::from_slice(&output.stdout)
            .map_err(|e| format!("{name}: {e}: {}", String::from_utf8_lossy(&output.stderr).trim()))?;
        match answer.refused.first() {
            None => Ok(answer),
            Some(trouble) => Err(format!("{name}: {}: {}", trouble.code, trouble.what)),
        }
    }

    /// Boundaries of beginning the plan, and of performing it.
    pub(super) fn count(&mut self) -> Result<(usize, usize)> {
        let of = |request: &str| {
            let script = format!(
                "LINERATE_FAULT=count linerate hand </root/{request}.json 2>&1 >/dev/null | grep -c '^boundary' || :"
            );
            let text = self.guest.shell(&script)?;
            text.trim().parse::<usize>().map_err(|e| format!("boundaries of {request}: {e}: {text}"))
        };
        let found = (of("begin")?, of("perform")?);
        self.begin = found.0;
        self.ask("rollback", None)?;
        self.ask("finish", None)?;
        same(&self.before, &self.guest.shell(FILES)?)?;
        if found.1 < 10 {
            Err(format!("expected boundaries, saw {found:?}: is linerate built with them?"))
        } else {
            Ok(found)
        }
    }

    pub(super) fn case(&mut self, n: usize, fault: Fault, then: Then) -> Result<()> {
        let (request, at) = if n <= self.begin { ("begin", n) } else { ("perform", n - self.begin) };
        if request == "perform" {
            self.ask("begin", None)?;
        } else {
            // A node that has seen the plan before passes fewer boundaries when it begins it again.
            self.guest.shell("rm -rf /var/lib/linerate")?;
        }
        match fault {
            Fault::Killed | Fault::PowerCut => self.ended(request, at, fault)?,
            Fault::Full | Fault::ReadOnly => self.broken(request, at, fault)?,
            Fault::Cut => self.cut(request, at)?,
        }
        if then == Then::Resume {
            self.ask("begin", None)?;
            self.ask("perform", None)?;
            expect("the changed file", "ours", &self.guest.shell("cat /etc/lab.conf")?)?;
            expect("the value", "10", &self.guest.shell("cat /proc/sys/vm/swappiness")?)?;
            expect("the module", "1", &self.guest.shell("grep -c '^dummy ' /proc/modules || :")?)?;
            expect(
                "the next entry",
                "next_entry=linerate-trial",
                &self.guest.shell("grub-editenv - list | grep ^next_entry")?,
            )?;
        }
        self.undone()
    }

    /// The hand ends at a boundary, and perhaps the machine with it.
    fn ended(&mut self, request: &str, at: usize, fault: Fault) -> Result<()> {
        if fault == Fault::PowerCut && at % 2 == 1 {
            let mut ssh = self.stopped(request, at)?;
            self.guest.power_cut();
            let _ = ssh.kill();
            let _ = ssh.wait();
            self.guest.power_on()?;
            return self.guest.wait_ssh(BOOT);
        }
        let script = format!(
            "LINERATE_FAULT={at} linerate hand </root/{request}.json >/dev/null 2>/run/said || :
            grep -q '^killed' /run/said || exit 9
            {}",
            fault.script().0
        );
        if fault == Fault::Killed {
            return self.guest.shell(&script).map(drop);
        }
        let old = self.guest.boot_id()?;
        // The connection breaks with the machine.
        let _ = self.guest.run(&["sh", "-c", &script]);
        self.guest.wait_boot(BOOT, Some(&old)).map(drop)
    }

    /// A hand that stands still at a boundary, and its connection.
    fn stopped(&self, request: &str, at: usize) -> Result<Child> {
        let script = format!("LINERATE_FAULT=stop:{at} linerate hand </root/{request}.json 2>/run/said");
        self.guest.shell("rm -f /run/said")?;
        let mut ssh = self.guest.start(&["sh", "-c", &script])?;
        let stopped = self
            .guest
            .shell("n=0; until grep -qs '^stopped' /run/said; do sleep 0.2; n=$((n + 1)); [ $n -lt 300 ]; done");
        if stopped.is_err() {
            let _ = ssh.kill();
            let _ = ssh.wait();
        }
        stopped.map(|_| ssh)
    }

    /// From a boundary on, the disk takes nothing. The hand must end what it can, and say what it could not.
    fn broken(&self, request: &str, at: usize, fault: Fault) -> Result<()> {
        let (breaks, mends) = fault.script();
        let script = format!(
            "LINERATE_FAULT=stop:{at} linerate hand </root/{request}.json >/run/answer 2>/run/said & hand=$!
            until grep -q '^stopped' /run/said; do sleep 0.2; [ -d /proc/$hand ] || exit 9; done
            {breaks}
            kill -CONT $hand; wait $hand || :
            {mends}
            cat /run/answer"
        );
        let text = self.guest.shell(&script)?;
        let answer: Answer =
            serde_json::from_str(&text).map_err(|e| format!("the answer of a hand whose disk broke: {e}: {text}"))?;
        let done = match (&answer.state, request) {
            (None, _) => false,
            (Some(_), "begin") => true,
            (Some(state), _) => state.stage >= Stage::First,
        };
        if answer.refused.is_empty() && !done {
            return Err("expected what was not done to be told, saw an answer without a word of it".to_owned());
        }
        Ok(())
    }

    /// The connection is gone at a boundary: the hand goes on to the end of its request, and answers nobody.
    fn cut(&self, request: &str, at: usize) -> Result<()> {
        let mut ssh = self.stopped(request, at)?;
        let _ = ssh.kill();
        let _ = ssh.wait();
        self.guest.shell(
            "sleep 1; pkill -CONT -x linerate; n=0
            while pgrep -x linerate >/dev/null; do sleep 0.5; n=$((n + 1)); [ $n -lt 240 ]; done",
        )?;
        let state = self.ask("inspect", None)?.state.ok_or("expected a plan that was begun, saw none")?;
        if request == "perform" && state.stage < Stage::First {
            return Err(format!("expected a hand that goes on alone, saw {:?}", state.stage));
        }
        Ok(())
    }

    /// Undoes, and looks at every file.
    fn undone(&self) -> Result<()> {
        // A fault before the plan was taken left nothing to undo.
        match self.ask("rollback", None) {
            Ok(_) => drop(self.ask("finish", None)?),
            Err(why) if why.contains("unknown-plan") => {}
            Err(why) => return Err(why),
        }
        same(&self.before, &self.guest.shell(FILES)?)
    }

    /// After a wrong case: as at the start, so that the next one stands for itself.
    pub(super) fn recover(&mut self) -> Result<()> {
        self.guest.shell("rm -rf /var/lib/linerate /etc/modules-load.d/linerate.conf /etc/sysctl.d/90-linerate.conf /boot/grub/custom.cfg /etc/systemd/system/linerate-lab.service; printf 'theirs\\n' >/etc/lab.conf; modprobe -r dummy || :; sysctl -q -w vm.swappiness=60; grub-editenv - unset next_entry; chmod 640 /etc/lab.conf; chown 1:2 /etc/lab.conf")?;
        self.before = self.guest.shell(FILES)?;
        Ok(())
    }
}
