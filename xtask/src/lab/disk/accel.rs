//! KVM where it runs the guests' own machine and firmware; TCG, which emulates every instruction, elsewhere.
//!
//! `/dev/kvm` that opens proves little: on nested hosts KVM runs one firmware and gives up at an instruction of another, and QEMU may refuse
//! the guests' CPU only when it sets its registers.

use super::firmware::Firmware;
use crate::lab::Result;
use crate::lab::machine::words;
use crate::lab::patience::Patience;
use crate::lab::qemu::{Qemu, said, tail};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The variable by which a developer decides: `kvm` or `tcg`.
pub(super) const VARIABLE: &str = "LINERATE_LAB_ACCEL";

/// What the firmware of the guests writes to the serial port when it has come up and looks for something to boot.
const FIRMWARE_UP: &str = "BdsDxe:";

/// What executes a guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Accelerator {
    Kvm,
    Tcg,
}

impl Accelerator {
    /// The value of QEMU's `-accel`.
    pub(super) const fn argument(self) -> &'static str {
        match self {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg => "tcg,thread=multi,tb-size=512",
        }
    }
}

/// What is known of KVM so far, in this run.
#[derive(Default)]
struct Known {
    /// The machines it was tried with: whether it runs them.
    tried: BTreeMap<String, bool>,
    /// Why it is not used any more.
    given_up: Option<String>,
}

static KNOWN: Mutex<Known> = Mutex::new(Known { tried: BTreeMap::new(), given_up: None });

fn known() -> std::sync::MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What a machine of these arguments ([`Hardware::board`](crate::lab::machine::Hardware::board)) is run by.
///
/// # Errors
/// [`VARIABLE`] has another value than `kvm` or `tcg`.
pub(super) fn choose(board: &[String], firmware: &Firmware, patience: Patience) -> Result<Accelerator> {
    if let Some(decided) = decided(std::env::var(VARIABLE).ok().as_deref())? {
        return Ok(decided);
    }
    let mut known = known();
    if known.given_up.is_some() {
        return Ok(Accelerator::Tcg);
    }
    let key = board.join(" ");
    if let Some(&works) = known.tried.get(&key) {
        return Ok(if works { Accelerator::Kvm } else { Accelerator::Tcg });
    }
    match probe(board, firmware, patience) {
        Ok(()) => {
            known.tried.insert(key, true);
            Ok(Accelerator::Kvm)
        }
        Err(why) => {
            // One machine that KVM does not run is enough: a guest that stops in the middle costs more than emulation.
            println!("lab: guests run by TCG: KVM does not run their machine and firmware here: {why}");
            known.given_up = Some(why);
            Ok(Accelerator::Tcg)
        }
    }
}

/// Takes KVM away from all guests that are started from now on, because of what one of them met; not where a developer decided for it.
pub(super) fn give_up_kvm(why: &str) {
    if matches!(decided(std::env::var(VARIABLE).ok().as_deref()), Ok(Some(_)) | Err(_)) {
        return;
    }
    let mut known = known();
    if known.given_up.is_none() {
        println!("lab: KVM is given up, guests run by TCG from now on: {why}");
        known.given_up = Some(why.to_owned());
    }
}

/// Was KVM given up because of a guest, or by the probe?
fn kvm_was_given_up() -> bool {
    known().given_up.is_some()
}

/// Does this; once more where it failed and KVM was given up meanwhile.
pub(super) fn with_fallback<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let before = kvm_was_given_up();
    match attempt() {
        Err(why) if !before && kvm_was_given_up() => {
            println!("lab: once more with TCG after: {}", why.lines().next().unwrap_or_default());
            attempt()
        }
        result => result,
    }
}

fn decided(value: Option<&str>) -> Result<Option<Accelerator>> {
    match value {
        None | Some("") => Ok(None),
        Some("kvm") => Ok(Some(Accelerator::Kvm)),
        Some("tcg") => Ok(Some(Accelerator::Tcg)),
        Some(other) => Err(format!("lab: {VARIABLE} is {other:?}: kvm or tcg")),
    }
}

/// Starts the guests' firmware on this machine, without a disk, until it writes its marker.
fn probe(board: &[String], firmware: &Firmware, patience: Patience) -> Result<()> {
    if !Path::new("/dev/kvm").exists() {
        return Err("there is no /dev/kvm".to_owned());
    }
    let folder = std::env::temp_dir().join(format!("lab-kvm-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let result = probe_in(&folder, board, firmware, patience.limit(Duration::from_secs(20)));
    let _ = fs::remove_dir_all(&folder);
    result
}

fn probe_in(folder: &Path, board: &[String], firmware: &Firmware, limit: Duration) -> Result<()> {
    let (vars, serial, log) = (folder.join("vars.fd"), folder.join("serial.log"), folder.join("qemu.log"));
    fs::copy(&firmware.vars, &vars).map_err(|e| format!("{}: {e}", vars.display()))?;
    let mut args = words("-nodefaults -no-user-config -display none -accel kvm");
    args.extend_from_slice(board);
    args.extend(firmware.arguments(&vars));
    args.extend(["-serial".to_owned(), format!("file:{}", serial.display())]);
    let mut qemu = Qemu::start(&args, &log)?;
    let began = Instant::now();
    loop {
        if said(&serial, FIRMWARE_UP) {
            return Ok(());
        }
        if said(&log, "internal error") {
            return Err(tail(&log, usize::MAX).lines().next().unwrap_or("KVM internal error").to_owned());
        }
        if let Some(status) = qemu.child.try_wait().map_err(|e| format!("cannot wait for QEMU: {e}"))? {
            return Err(format!("QEMU ended ({status}): {}", tail(&log, 1)));
        }
        if began.elapsed() > limit {
            return Err(format!("the firmware did not come up within {} s", limit.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_developer_decides_by_name() {
        assert_eq!(decided(None), Ok(None));
        assert_eq!(decided(Some("")), Ok(None));
        assert_eq!(decided(Some("kvm")), Ok(Some(Accelerator::Kvm)));
        assert_eq!(decided(Some("tcg")), Ok(Some(Accelerator::Tcg)));
        assert!(decided(Some("KVM")).is_err_and(|why| why.contains(VARIABLE)));
    }

    #[test]
    fn what_fails_for_another_reason_is_not_tried_again() {
        let mut tries = 0;
        let failed: Result<()> = with_fallback(|| {
            tries += 1;
            Err("no disk".to_owned())
        });
        assert!(failed.is_err() && tries == 1);
    }
}
