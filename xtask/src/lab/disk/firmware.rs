//! What every disk guest is run by: UEFI firmware, and KVM where it works.

use crate::lab::Result;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The UEFI firmware, and the variables that a fresh machine has.
pub(super) struct Firmware {
    pub(super) code: PathBuf,
    pub(super) vars: PathBuf,
}

/// Where distributions put OVMF: code and variables that belong together.
const OVMF: &[(&str, &str)] = &[
    ("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd"),
    ("/usr/share/OVMF/OVMF_CODE.fd", "/usr/share/OVMF/OVMF_VARS.fd"),
    ("/usr/share/edk2/ovmf/OVMF_CODE.fd", "/usr/share/edk2/ovmf/OVMF_VARS.fd"),
    ("/usr/share/edk2/x64/OVMF_CODE.4m.fd", "/usr/share/edk2/x64/OVMF_VARS.4m.fd"),
];

impl Firmware {
    /// The one of this machine.
    pub(super) fn find() -> Result<Firmware> {
        OVMF.iter()
            .map(|(code, vars)| Firmware { code: code.into(), vars: vars.into() })
            .find(|f| f.code.is_file() && f.vars.is_file())
            .ok_or_else(|| "no UEFI firmware for the guests: install ovmf (apt-get install ovmf)".to_owned())
    }
}

/// The value of `-accel`. KVM only after it has run the firmware of a machine like the guests': `/dev/kvm` that opens is not enough
/// where this machine is itself a guest.
pub(super) fn accelerator() -> &'static str {
    static FOUND: OnceLock<bool> = OnceLock::new();
    if *FOUND.get_or_init(kvm_works) { "kvm" } else { "tcg,thread=multi,tb-size=512" }
}

fn kvm_works() -> bool {
    if !Path::new("/dev/kvm").exists() {
        return false;
    }
    let words = std::env::temp_dir().join(format!("lab-kvm-{}", std::process::id()));
    let _ = std::fs::remove_file(&words);
    let log = format!("file,id=words,path={}", words.display());
    let args = ["-accel", "kvm", "-machine", "q35,kernel-irqchip=split", "-cpu", "max", "-m", "64", "-nodefaults"];
    let child = Command::new("qemu-system-x86_64")
        .args(args)
        .args(["-display", "none", "-chardev", &log, "-device", "isa-debugcon,iobase=0x402,chardev=words"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return false };
    let began = Instant::now();
    let mut works = false;
    while !works && began.elapsed() < Duration::from_secs(5) && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(50));
        works = std::fs::read(&words).is_ok_and(|said| !said.is_empty());
    }
    let _ = child.kill();
    let _ = child.wait();
    let _ = std::fs::remove_file(&words);
    works
}
