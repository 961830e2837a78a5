//! What to do about Xids: NVIDIA's catalogue ([`linerate_formats::xid`]) as severity, words and remedy. The audit's rule, the doctor's causes
//! and `explain` all ask here.

use crate::{Action, Remedy, Severity, Source};
use linerate_formats::pci::Bdf;
use linerate_formats::xid::{Bucket, Class, Detail, Meaning, Recovery, meaning};
use std::borrow::Cow;

/// NVIDIA's catalogue.
pub const CATALOGUE: Source = Source {
    title: "NVIDIA, Xid catalogue: resolution buckets by number, and by unit and status for 144 to 150",
    at: "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html",
};

/// The driver's own list of numbers.
pub const NUMBERS: Source = Source {
    title: "NVIDIA open-gpu-kernel-modules, nverror.h",
    at: "https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/src/common/sdk/nvidia/inc/nverror.h",
};

/// An Xid that a log shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seen {
    /// GPU.
    pub gpu: Option<Bdf>,
    /// Number.
    pub number: u32,
    /// What else the line says.
    pub detail: Detail,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Do {
    /// Nothing.
    Nothing,
    /// Look at the program that ran, and start it again.
    Restart,
    /// End what runs on the GPU and reset it.
    Reset,
    /// Let what runs end, give the GPU no new work, and reset it.
    DrainAndReset,
    /// End programs that use peer-to-peer, then ask the driver again.
    DrainP2p,
    /// Restart the machine.
    Reboot,
    /// Restart the virtual machine.
    RestartVm,
    /// Bring the IMEX domain up again.
    RecoverImex,
    /// Look at power cables and seating.
    Mechanics,
    /// Update software.
    Update,
    /// Look at the Xids beside it.
    Others,
    /// Ask NVIDIA.
    Support,
    /// No action is known.
    NotKnown,
}

/// What an Xid means here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The catalogue's row.
    pub meaning: Meaning,
    /// How bad.
    pub severity: Severity,
    /// What to do.
    pub what_to_do: Do,
    /// What it is, and what a line of this kind adds.
    pub words: String,
}

/// What one of the Xids of a log means, beside the others of the same GPU: `all`, in the order of the log.
#[must_use]
pub fn judge(seen: &Seen, all: &[Seen]) -> Judgement {
    let m = meaning(seen.number, seen.detail);
    let asked = recovery(seen, all);
    let what_to_do = match (seen.detail, asked) {
        (Detail::Recovery(own), Some(last)) if own != last => Do::Nothing,
        _ => todo(seen, &m, asked, all),
    };
    Judgement { meaning: m, severity: severity(&m, what_to_do), what_to_do, words: words(seen, &m, asked) }
}

/// An Xid 45 names the one that it follows: where that one's own line is not in the log, it is known by its number.
#[must_use]
pub fn named(seen: Seen, all: &[Seen]) -> Seen {
    match seen.detail {
        Detail::After(number) if !all.iter().any(|s| s.gpu == seen.gpu && s.number == number) => {
            Seen { number, detail: Detail::Number, ..seen }
        }
        _ => seen,
    }
}

/// The recovery action that the driver named last for this GPU.
fn recovery(seen: &Seen, all: &[Seen]) -> Option<Recovery> {
    let of = |s: &Seen| match s.detail {
        Detail::Recovery(r) => Some(r),
        _ => None,
    };
    all.iter().rev().filter(|s| s.gpu == seen.gpu).find_map(of).or_else(|| of(seen))
}

fn todo(seen: &Seen, m: &Meaning, asked: Option<Recovery>, all: &[Seen]) -> Do {
    let by_driver = asked.map(|r| match r {
        Recovery::None => Do::Nothing,
        Recovery::GpuReset => Do::Reset,
        Recovery::NodeReboot => Do::Reboot,
        Recovery::DrainP2p => Do::DrainP2p,
        Recovery::DrainAndReset => Do::DrainAndReset,
        Recovery::RecoverImex => Do::RecoverImex,
        Recovery::Other => Do::NotKnown,
    });
    let beside = |number: u32| all.iter().any(|s| s.gpu == seen.gpu && s.number == number);
    match m.immediate {
        Bucket::Ignore => Do::Nothing,
        Bucket::RestartApp => Do::Restart,
        Bucket::ResetGpu => Do::Reset,
        Bucket::RestartBm => Do::Reboot,
        Bucket::RestartVm => Do::RestartVm,
        Bucket::CheckMechanicals => Do::Mechanics,
        Bucket::UpdateSwfw => Do::Update,
        Bucket::ContactSupport => Do::Support,
        Bucket::WorkflowXid45 => match seen.detail {
            Detail::After(_) => Do::Others,
            _ if all.iter().any(|s| s.gpu == seen.gpu && s.number != 45) => Do::Others,
            _ => Do::Restart,
        },
        // What follows for the GPU says whether the error was contained.
        Bucket::WorkflowXid48 => match by_driver {
            Some(known) => known,
            None if beside(95) => Do::Reset,
            None if beside(94) => Do::Restart,
            None => Do::Others,
        },
        Bucket::Xid154 => by_driver.unwrap_or(Do::NotKnown),
        Bucket::Xid154Eval | Bucket::WorkflowNvlinkErr | Bucket::WorkflowNvlink5Err => by_driver.unwrap_or(Do::Others),
        Bucket::CheckUvm => Do::Others,
        // What the driver asks for may be about another Xid: 154 says it itself.
        Bucket::None => Do::NotKnown,
    }
}

fn severity(m: &Meaning, what: Do) -> Severity {
    let memory = m.class == Class::Memory;
    match what {
        Do::Nothing => Severity::Info,
        Do::Restart if memory => Severity::Medium,
        Do::Restart => Severity::Info,
        Do::Others if m.class == Class::App => Severity::Info,
        Do::Others if matches!(m.class, Class::Memory | Class::Nvlink) => Severity::High,
        Do::Reset if memory => Severity::Critical,
        Do::Reboot if m.class == Class::Bus => Severity::Critical,
        Do::Reset | Do::Reboot | Do::RestartVm | Do::DrainP2p | Do::RecoverImex | Do::Mechanics => Severity::High,
        Do::DrainAndReset | Do::Update | Do::Others => Severity::Medium,
        Do::Support if m.class == Class::Unused => Severity::Low,
        Do::Support => Severity::Medium,
        Do::NotKnown => match m.class {
            Class::Memory | Class::Bus | Class::Nvlink | Class::C2c => Severity::High,
            Class::Power => Severity::Info,
            _ => Severity::Low,
        },
    }
}

fn words(seen: &Seen, m: &Meaning, asked: Option<Recovery>) -> String {
    let number = seen.number;
    if m.class == Class::Unknown {
        return format!("unknown Xid {number}");
    }
    match seen.detail {
        Detail::Recovery(r) => {
            let later = asked.filter(|last| *last != r).map(|last| format!(", later: {}", last.name()));
            format!("Xid {number} (recovery action of the driver: {}{})", r.name(), later.unwrap_or_default())
        }
        Detail::After(n) => format!("Xid {number} ({}: after Xid {n})", m.what),
        Detail::NvLink(code) if !code.unit.is_empty() => {
            format!("Xid {number} ({}, {}, status {:#x})", m.what, code.unit, code.status)
        }
        _ => format!("Xid {number} ({})", m.what),
    }
}

/// How bad an NVSwitch's error is, by the driver's own word.
#[must_use]
pub fn switch_severity(fatal: Option<bool>) -> Severity {
    match fatal {
        Some(true) => Severity::High,
        Some(false) => Severity::Info,
        None => Severity::Low,
    }
}

/// What to do about an NVSwitch's error; nothing where it is not fatal.
#[must_use]
pub fn switch_remedy(fatal: Option<bool>) -> Option<Remedy> {
    if fatal == Some(false) {
        return None;
    }
    let what = "read the fabric manager's log of that time, and the SXid's row in the Fabric Manager user guide: it says whether GPUs and switches are to be reset";
    let action = Action::Investigate { what: what.into() };
    Some(Remedy::new(what, action).prove("dmesg"))
}

impl Judgement {
    /// What to do, in the imperative; nothing where there is nothing to do.
    #[must_use]
    pub fn advice(&self) -> Cow<'static, str> {
        let diagnostics = matches!(self.meaning.class, Class::Memory | Class::Bus | Class::Firmware);
        Cow::Borrowed(match self.what_to_do {
            Do::Nothing => "",
            Do::Restart if self.meaning.class == Class::Memory => {
                "start the application again; other programs on the GPU go on, and the faulty memory is mapped out at the GPU's next reset"
            }
            Do::Restart => {
                "look for the error in the application, and start it again; where different programs fail on this GPU alone, run diagnostics (dcgmi diag)"
            }
            Do::Reset if diagnostics => {
                "drain the GPU's node and reset the GPU (nvidia-smi --gpu-reset); if the Xid returns, run diagnostics (dcgmi diag) and ask NVIDIA's support"
            }
            Do::Reset => "drain the GPU's node and reset the GPU (nvidia-smi --gpu-reset)",
            Do::DrainAndReset => "let the programs on the GPU end, give it no new work, then reset it",
            Do::DrainP2p => "end the programs that use peer-to-peer on the GPU; the driver then names the next action",
            Do::Reboot if diagnostics => {
                "drain the node and restart it; if the Xid returns, run diagnostics (dcgmi diag) and ask NVIDIA's support"
            }
            Do::Reboot => "drain the node and restart it",
            Do::RestartVm => "restart the virtual machine",
            Do::RecoverImex => "bring the IMEX domain up again (nvidia-imex-ctl -N shows its nodes)",
            Do::Mechanics => "check that auxiliary power is connected to the board",
            Do::Update => "install releases of driver and firmware that support this vGPU",
            Do::Others if self.meaning.class == Class::App => {
                "look at the Xids before it on the same GPU: this one follows from them"
            }
            Do::Others => {
                "look at the other Xids of the same GPU, 154 above all: it names the action (or `nvidia-smi -q`, GPU Recovery Action)"
            }
            Do::Support => {
                let unused = self.meaning.class == Class::Unused;
                if unused { "no action is known for current GPUs" } else { "ask NVIDIA's support" }
            }
            Do::NotKnown if self.meaning.class == Class::Unknown => {
                return Cow::Owned(format!("unknown Xid {}, no action known", self.meaning.number));
            }
            Do::NotKnown => {
                "NVIDIA's catalogue names no action; `nvidia-smi -q` shows the driver's (GPU Recovery Action)"
            }
        })
    }

    /// The remedy; `None` where there is nothing to do.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        let advice = self.advice();
        if advice.is_empty() {
            return None;
        }
        let what = Action::Investigate { what: advice.clone() };
        let note = match self.what_to_do {
            Do::Reset | Do::DrainAndReset => "programs on the GPU end",
            Do::DrainP2p => "programs that use peer-to-peer end",
            Do::Reboot | Do::RestartVm => "the machine is restarted",
            Do::Mechanics => "the machine is switched off",
            Do::RecoverImex => "programs that use memory over NVLink between nodes end",
            Do::Update => "the driver is loaded again",
            _ => "",
        };
        let mechanics = self.what_to_do == Do::Mechanics;
        let action = if mechanics { Action::Physical { what: advice.clone() } } else { what };
        Some(Remedy::new(advice, action).because(note).prove("dmesg"))
    }
}

#[cfg(test)]
mod tests;
