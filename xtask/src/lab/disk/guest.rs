//! One disk guest: power, commands over SSH, files.

use super::accel::{self, Accelerator};
use super::group::{Group, Place, Spec};
use super::ssh::quoted;
use crate::lab::Result;
use crate::lab::qemu::{Qemu, tail};
use crate::lab::watch::Subject;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Lines of the console in an error.
const LAST_WORDS: usize = 6;
/// What the kernel prints last where it stays in its panic.
const PANICKED: &str = "---[ end Kernel panic";
/// Most time of a command, unless it is given another.
const COMMAND: Duration = Duration::from_secs(180);
/// Silence of the console after a reset was asked for, until the guest is taken to hang: emulated firmware says its first words within 10 s.
const SILENCE: Duration = Duration::from_secs(60);

/// A machine with a disk of its own. Dropping it cuts its power.
pub(super) struct Guest<'a> {
    group: &'a Group<'a>,
    spec: Spec,
    place: Place,
    args: Vec<String>,
    by: Accelerator,
    /// How often it was powered on.
    starts: u32,
    qemu: Option<Qemu>,
}

impl<'a> Guest<'a> {
    /// Switched off.
    pub(super) fn new(group: &'a Group<'a>, spec: Spec, place: Place, args: Vec<String>, by: Accelerator) -> Guest<'a> {
        Guest { group, spec, place, args, by, starts: 0, qemu: None }
    }

    pub(super) fn name(&self) -> &'static str {
        self.spec.name
    }

    /// Its changes to the image.
    pub(super) fn disk(&self) -> PathBuf {
        self.place.folder.join("disk.qcow2")
    }

    /// Starts it with the disk as it is.
    pub(super) fn power_on(&mut self) -> Result<()> {
        if self.qemu.is_some() {
            return Err(self.error("is running already"));
        }
        let _ = std::fs::remove_file(self.place.monitor());
        self.starts += 1;
        // Of each start its own: the watch of the QEMU before may still be there.
        let socket = self.place.sockets.join(format!("{}.{}", self.name(), self.starts));
        let mut args = self.args.clone();
        args.extend(["-qmp".to_owned(), format!("unix:{},server=on,wait=off", socket.display())]);
        let mut qemu = Qemu::start(&args, &self.place.folder.join("qemu.log"))?;
        let on_stop: fn(&str) = match self.by {
            Accelerator::Kvm => accel::give_up_kvm,
            Accelerator::Tcg => |_| (),
        };
        let silence = self.group.limit(SILENCE).min(SILENCE * 3);
        let serial = self.place.folder.join("serial.log");
        qemu.watch(Subject { name: self.name().to_owned(), socket, serial, silence, on_stop });
        qemu.release(self.spec.hardware(), &self.place.monitor(), self.group.limit(Duration::from_secs(30)))?;
        self.qemu = Some(qemu);
        Ok(())
    }

    /// What a pulled plug does: what was not written to the disk by now is lost.
    pub(super) fn power_cut(&mut self) {
        self.hang_up();
        self.qemu = None;
    }

    /// Waits until a command runs there.
    pub(super) fn wait_ssh(&mut self, limit: Duration) -> Result<()> {
        self.wait_boot(limit, None).map(drop)
    }

    /// Waits until it runs with another boot id than `old`; the new one.
    pub(super) fn wait_boot(&mut self, limit: Duration, old: Option<&str>) -> Result<String> {
        self.hang_up();
        let (began, limit) = (Instant::now(), self.group.limit(limit));
        let mut last = "nothing".to_owned();
        loop {
            self.alive()?;
            if began.elapsed() > limit {
                return Err(self.error(&format!("did not answer within {} s; ssh said: {last}", limit.as_secs())));
            }
            let asked =
                self.ssh(&["-o", "ConnectTimeout=5"], "cat /proc/sys/kernel/random/boot_id", Duration::from_secs(20));
            match asked {
                Ok(o) if o.status.success() => {
                    let id = String::from_utf8_lossy(&o.stdout).trim().to_owned();
                    if Some(id.as_str()) != old {
                        return Ok(id);
                    }
                    last = format!("boot {id} still runs");
                }
                Ok(o) => last = String::from_utf8_lossy(&o.stderr).trim().to_owned(),
                Err(why) => return Err(why),
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    /// Options by which commands share one connection: on an emulated CPU a handshake takes seconds.
    fn shared(&self) -> [String; 6] {
        // One for each guest: ssh takes whatever connection is there under the name.
        let socket = self.place.sockets.join(format!("{}.ssh", self.name()));
        let path = format!("ControlPath={}", socket.display());
        ["-o", "ControlMaster=auto", "-o", &path, "-o", "ControlPersist=60"].map(str::to_owned)
    }

    /// Gives the shared connection up: the machine at its other end is another one now.
    fn hang_up(&self) {
        let mut ssh = Command::new("ssh");
        ssh.args(self.shared()).args(["-O", "exit", "-F"]).arg(self.group.ssh_config()).arg(self.name());
        // Where there is none, ssh says so.
        let _ = ssh.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }

    /// Runs a command, word by word, and waits for its end.
    ///
    /// # Errors
    /// It could not be run. A command that fails is not an error.
    pub(super) fn run(&self, argv: &[&str]) -> Result<Output> {
        let shared = self.shared();
        let options: Vec<&str> = shared.iter().map(String::as_str).collect();
        let output = self.ssh(&options, &quoted(argv), COMMAND)?;
        match output.status.code() {
            // 255 is ssh's own; 124 is of `timeout`.
            Some(255) => Err(self.error(&format!(
                "was not reached to run {:?}: {}",
                argv.join(" "),
                String::from_utf8_lossy(&output.stderr).trim()
            ))),
            Some(124) => Err(self.error(&format!("did not finish {:?} in time", argv.join(" ")))),
            _ => Ok(output),
        }
    }

    /// Starts a command, word by word, and does not wait: to kill the child is to cut its connection.
    pub(super) fn start(&self, argv: &[&str]) -> Result<Child> {
        let mut ssh = Command::new("ssh");
        ssh.args(["-T", "-F"]).arg(self.group.ssh_config()).args(["--", self.name(), &quoted(argv)]);
        ssh.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        ssh.spawn().map_err(|e| format!("cannot run ssh: {e}"))
    }

    /// What a command that must succeed says.
    pub(super) fn ok(&self, argv: &[&str]) -> Result<String> {
        let output = self.run(argv)?;
        if !output.status.success() {
            // Scripts often turn their errors to standard output.
            let said = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
            let said = String::from_utf8_lossy(said);
            let said: Vec<&str> = said.trim().lines().rev().take(LAST_WORDS).collect();
            let said = said.into_iter().rev().collect::<Vec<_>>().join("\n");
            let what = argv.join(" ");
            return Err(format!("{}: {:?} failed ({}): {said}", self.name(), what.trim(), output.status));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }

    /// What a script of the shell that must succeed says; it ends at the first command that fails.
    pub(super) fn shell(&self, script: &str) -> Result<String> {
        self.ok(&["sh", "-ec", script])
    }

    /// Copies a file of this machine to a path there, with a mode such as "755".
    pub(super) fn copy_in(&self, file: &Path, path: &str, mode: &str) -> Result<()> {
        let bytes = File::open(file).map_err(|e| format!("{}: {e}", file.display()))?;
        // A whole file or none, also where the old one is a program that runs.
        let script = "cat >\"$1.new\" && chmod \"$2\" \"$1.new\" && mv \"$1.new\" \"$1\"";
        let mut ssh = self.command(&[], &quoted(&["sh", "-ec", script, "sh", path, mode]), COMMAND);
        let output = ssh.stdin(bytes).output().map_err(|e| format!("cannot run ssh: {e}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(self.error(&format!("did not take {path}: {}", String::from_utf8_lossy(&output.stderr).trim())))
    }

    /// Which boot this is.
    pub(super) fn boot_id(&self) -> Result<String> {
        self.ok(&["cat", "/proc/sys/kernel/random/boot_id"])
    }

    /// Reboots it in good order; the new boot's id.
    pub(super) fn reboot(&mut self, limit: Duration) -> Result<String> {
        let old = self.boot_id()?;
        // The connection may break before the answer: whether it reboots is seen by the boot id.
        let _ = self.run(&["systemctl", "reboot"]);
        self.wait_boot(limit, Some(&old))
    }

    /// Switches it off in good order.
    pub(super) fn shutdown(&mut self, limit: Duration) -> Result<()> {
        if let Some(qemu) = &self.qemu {
            qemu.may_end();
        }
        let _ = self.run(&["systemctl", "poweroff"]);
        let (began, limit) = (Instant::now(), self.group.limit(limit));
        while self.alive().is_ok() {
            if began.elapsed() > limit {
                return Err(self.error(&format!("did not switch itself off within {} s", limit.as_secs())));
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        self.qemu = None;
        Ok(())
    }

    /// An error if it does not run, or is to be given up.
    fn alive(&mut self) -> Result<()> {
        if self.group.stop.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        let ended = match &mut self.qemu {
            None => return Err(self.error("is switched off")),
            Some(qemu) => {
                if let Some(why) = qemu.stopped() {
                    return Err(self.error(&format!("does not run any more: {why}")));
                }
                qemu.child.try_wait().map_err(|e| format!("cannot wait for QEMU: {e}"))?
            }
        };
        match ended {
            // Its last line where it neither reboots nor goes on.
            None if tail(&self.place.folder.join("serial.log"), 1).contains(PANICKED) => {
                Err(self.error("has panicked and stays so"))
            }
            None => Ok(()),
            Some(status) => {
                let said = tail(&self.place.folder.join("qemu.log"), 1);
                let why = format!("has no QEMU any more ({status}) {said}");
                if self.by == Accelerator::Kvm && !status.success() {
                    accel::give_up_kvm(&format!("guest {} {why}", self.name()));
                }
                Err(self.error(&why))
            }
        }
    }

    fn command(&self, options: &[&str], line: &str, limit: Duration) -> Command {
        let mut ssh = Command::new("timeout");
        ssh.args(["-k", "5", &self.group.limit(limit).as_secs().to_string(), "ssh", "-T", "-F"]);
        ssh.arg(self.group.ssh_config()).args(options).args(["--", self.name(), line]);
        ssh
    }

    fn ssh(&self, options: &[&str], line: &str, limit: Duration) -> Result<Output> {
        self.command(options, line, limit).stdin(Stdio::null()).output().map_err(|e| format!("cannot run ssh: {e}"))
    }

    /// What is wrong, with the last words of the guest's console.
    fn error(&self, what: &str) -> String {
        let serial = self.place.folder.join("serial.log");
        format!("guest {} {what}; its console ({}) ends:\n{}", self.name(), serial.display(), tail(&serial, LAST_WORDS))
    }
}
