//! nvidia-peermem as modprobe, insmod and systemd load it.

use crate::observe::trouble::{KernelTrouble, PeermemTrouble};

/// modprobe and insmod of nvidia-peermem.
pub(super) fn module(m: &str) -> Option<KernelTrouble> {
    // `host modprobe[12]: …` of the journal.
    let (program, rest) = m.split_once(": ")?;
    let program = match program.rsplit_once(' ') {
        None => program,
        Some((host, program)) => Some(program).filter(|p| p.ends_with(']') && !host.contains(' '))?,
    };
    match program.split('[').next().unwrap_or(program) {
        "modprobe" | "insmod" => {
            // kmod's insmod: `insmod: ERROR: could not insert module x.ko: …`; busybox and older ones: `insmod: error inserting 'x.ko': -1 …`.
            if let Some(rest) = rest.strip_prefix("error inserting '") {
                let name = rest.split('\'').next()?;
                let name = name.rsplit('/').next().unwrap_or(name);
                return is_peermem(name).then_some(KernelTrouble::Peermem(PeermemTrouble::Refused));
            }
        }
        "systemd-modules-load" => {
            let kind = rest.split_once(" module '").and_then(|(what, r)| Some((what, r.split('\'').next()?)));
            return kind.filter(|(_, name)| is_peermem(name)).and_then(|(what, _)| match what {
                "Failed to find" => Some(KernelTrouble::Peermem(PeermemTrouble::NotFound)),
                "Failed to insert" => Some(KernelTrouble::Peermem(PeermemTrouble::Refused)),
                _ => None,
            });
        }
        _ => return None,
    }
    if let Some(rest) = rest.strip_prefix("FATAL: Module ") {
        let (name, rest) = rest.split_once(' ')?;
        return (is_peermem(name) && rest.starts_with("not found in directory "))
            .then_some(KernelTrouble::Peermem(PeermemTrouble::NotFound));
    }
    let rest = rest.strip_prefix("ERROR: could not insert ")?;
    let (name, _) = rest.trim_start_matches("module ").trim_start_matches('\'').split_once(['\'', ':', ' '])?;
    let name = name.rsplit('/').next().unwrap_or(name);
    is_peermem(name).then_some(KernelTrouble::Peermem(PeermemTrouble::Refused))
}

/// nvidia-peermem, nv_peer_mem, and files of them.
pub(super) fn is_peermem(module: &str) -> bool {
    matches!(
        module.trim_end_matches(".ko").replace('-', "_").as_str(),
        "nvidia_peermem" | "nv_peer_mem" | "nv_peer_memory"
    )
}
