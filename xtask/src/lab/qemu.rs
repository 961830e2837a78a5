//! Runs one QEMU under time limits; nothing that it starts outlives the lab.

use super::machine::{Hardware, Media};
use super::scenario::Scenario;
use super::watch::{self, Seen};
use super::{Result, guest, relabel};
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time limits of one guest.
pub(super) struct Limits {
    /// To the first line of the guest's init.
    pub(super) boot: Duration,
    pub(super) total: Duration,
}

/// A running QEMU, which ends when this goes out of scope, whatever the reason.
pub(super) struct Qemu {
    pub(super) child: Child,
    /// What the one who looks after it has seen.
    watch: Option<Arc<Seen>>,
}

impl Drop for Qemu {
    fn drop(&mut self) {
        if let Some(watch) = &self.watch {
            watch.end();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Qemu {
    /// Starts it; what it says goes to `log`. It is killed when the thread that started it ends, however that comes.
    pub(super) fn start(args: &[String], log: &Path) -> Result<Qemu> {
        let stderr = std::fs::File::create(log).map_err(|e| format!("cannot write {}: {e}", log.display()))?;
        // setpriv makes the kernel kill QEMU even if this process is killed itself.
        let mut command = match Command::new("setpriv").arg("--version").output() {
            Ok(_) => {
                let mut command = Command::new("setpriv");
                command.args(["--pdeathsig", "KILL", "qemu-system-x86_64"]);
                command
            }
            Err(_) => Command::new("qemu-system-x86_64"),
        };
        let child = command
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()
            .map_err(|e| format!("cannot start qemu-system-x86_64: {e}"))?;
        Ok(Qemu { child, watch: None })
    }

    /// Has somebody look after it, until it ends.
    pub(super) fn watch(&mut self, subject: watch::Subject) {
        self.watch = Some(watch::start(subject));
    }

    /// It is going to end, and that is right.
    pub(super) fn may_end(&self) {
        if let Some(watch) = &self.watch {
            watch.end();
        }
    }

    /// Why the guest does not run any more, where QEMU stopped it.
    pub(super) fn stopped(&self) -> Option<String> {
        self.watch.as_ref().and_then(|watch| watch.stopped())
    }

    /// Changes what has to be changed in a QEMU that was started paused, and lets it run.
    pub(super) fn release(&self, hardware: Hardware<'_>, monitor: &Path, patience: Duration) -> Result<()> {
        if !relabel::needed(hardware) {
            return Ok(());
        }
        let mut orders = Monitor::connect(monitor, patience)?;
        relabel::apply(hardware, self.child.id())?;
        orders.ask("cont").map(drop)
    }
}

/// Boots and waits until the guest has powered off.
pub(super) fn boot(
    scenario: &Scenario,
    args: &[String],
    media: &Media<'_>,
    log: &Path,
    limits: &Limits,
    stop: &AtomicBool,
) -> Result<()> {
    let serial = media.serial;
    let mut qemu = Qemu::start(args, log)?;
    let mut started = Instant::now();
    qemu.release(scenario.hardware(), media.monitor, limits.boot)?;
    let (mut up, mut again) = (false, false);
    loop {
        if let Some(status) = qemu.child.try_wait().map_err(|e| format!("cannot wait for QEMU: {e}"))? {
            return finished(status.success(), serial, log);
        }
        if stop.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        up = up || said(serial, guest::UP);
        // Emulated processors hang now and then before the kernel says a word (2 of 62 guests of one list, both well when started anew). What spoke is
        // not started again: it is its own fault.
        let silent = !up && std::fs::metadata(serial).is_ok_and(|m| m.len() == 0);
        if silent && !again && started.elapsed() > limits.boot / 3 {
            eprintln!("lab: {} said nothing for {} s: it is started anew", scenario.name, started.elapsed().as_secs());
            drop(qemu);
            qemu = Qemu::start(args, log)?;
            (started, again) = (Instant::now(), true);
            qemu.release(scenario.hardware(), media.monitor, limits.boot)?;
        }
        if !up && started.elapsed() > limits.boot {
            return Err(format!(
                "the kernel did not boot within {} s; last words: {}",
                limits.boot.as_secs(),
                last_words(serial)
            ));
        }
        if started.elapsed() > limits.total {
            return Err(format!(
                "the guest did not finish within {} s; last words: {}",
                limits.total.as_secs(),
                last_words(serial)
            ));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// QEMU's monitor protocol, of which the lab needs a few orders.
pub(super) struct Monitor(UnixStream);

impl Monitor {
    /// Waits for QEMU to listen; its devices are made by then.
    pub(super) fn connect(socket: &Path, patience: Duration) -> Result<Monitor> {
        let started = Instant::now();
        loop {
            match UnixStream::connect(socket) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(patience)).map_err(|e| format!("QEMU's monitor: {e}"))?;
                    let mut monitor = Monitor(stream);
                    // The greeting comes early; an answer comes when the machine is complete.
                    monitor.ask("qmp_capabilities")?;
                    return Ok(monitor);
                }
                Err(why) if started.elapsed() > patience => {
                    return Err(format!("QEMU's monitor did not answer: {why}"));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Gives an order and waits until QEMU has done it; its answer, with the events before it.
    pub(super) fn ask(&mut self, name: &str) -> Result<String> {
        let order = format!("{{\"execute\":\"{name}\"}}\n");
        self.0.write_all(order.as_bytes()).map_err(|e| format!("QEMU's monitor: {e}"))?;
        let mut answers = String::new();
        let mut bytes = [0; 1024];
        while !answers.contains("\"return\"") {
            match self.0.read(&mut bytes) {
                Ok(n) if n > 0 => answers.push_str(&String::from_utf8_lossy(bytes.get(..n).unwrap_or_default())),
                _ => return Err(format!("QEMU's monitor did not do {name}: {answers}")),
            }
        }
        Ok(answers)
    }
}

fn finished(success: bool, serial: &Path, log: &Path) -> Result<()> {
    if !success {
        let words = std::fs::read_to_string(log).unwrap_or_default();
        return Err(format!("QEMU failed: {}", words.lines().last().unwrap_or("no word of why")));
    }
    if !said(serial, guest::DONE) {
        return Err(format!("the guest ended early (a panic?); last words: {}", last_words(serial)));
    }
    Ok(())
}

fn read(serial: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(serial).unwrap_or_default()).into_owned()
}

pub(super) fn said(serial: &Path, words: &str) -> bool {
    read(serial).contains(words)
}

/// The last lines of a log that say something, made fit for a terminal.
pub(super) fn tail(log: &Path, lines: usize) -> String {
    let text = read(log);
    let mut last: Vec<String> = text
        .lines()
        .rev()
        .filter(|l| !l.trim().is_empty())
        .take(lines)
        .map(|l| l.trim_end().chars().filter(|c| !c.is_control()).take(160).collect())
        .collect();
    last.reverse();
    last.join("\n")
}

fn last_words(serial: &Path) -> String {
    let text = read(serial);
    let line = text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("none");
    line.trim().chars().take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::tail;

    #[test]
    fn the_end_of_a_log_is_fit_for_a_terminal() {
        let log = std::env::temp_dir().join(format!("lab-tail-{}", std::process::id()));
        std::fs::write(&log, b"one\n\n\x1b[0mtwo \xff\r\nthree\n\n").unwrap();
        assert_eq!(tail(&log, 2), "[0mtwo \u{fffd}\nthree");
        assert_eq!(tail(&log, 9).lines().count(), 3);
        std::fs::remove_file(&log).unwrap();
        assert_eq!(tail(&log, 2), "");
    }
}
