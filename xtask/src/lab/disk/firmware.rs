//! The UEFI firmware of every disk guest.

use crate::lab::Result;
use std::path::{Path, PathBuf};

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

    /// QEMU's arguments for a machine that keeps its variables in `vars`.
    pub(super) fn arguments(&self, vars: &Path) -> [String; 4] {
        let drive = "-drive".to_owned();
        [
            drive.clone(),
            format!("if=pflash,format=raw,readonly=on,file={}", self.code.display()),
            drive,
            format!("if=pflash,format=raw,file={}", vars.display()),
        ]
    }
}
