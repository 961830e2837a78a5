//! Lines of the kernel's log, and of the tools that load modules and libraries, among others or in a log of their own. A line counts by
//! the grammar of its program, from its beginning; what people write about such lines does not.

use super::trouble::{KernelTrouble, PeermemTrouble};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use linerate_formats::dmesg::{self, AerSeverity, Event, Mlx5Event, Requester};
use linerate_formats::printed;
use std::sync::LazyLock;

/// A line without one of these is none of the kernel's that matter, nor a part of NCCL's.
const WORDS: &[&str] = &[
    "NVRM",
    "SXid (",
    "AMD-Vi",
    "IO_PAGE_FAULT",
    "DMAR",
    "arm-smmu",
    "Link down",
    "mlx5_core",
    "umem get failed (",
    "completion with error: ",
    "Error on QP 0x",
    "ib_umem_get",
    "failed to execute",
    "nvidia_peermem",
    "nvidia-peermem",
    "nv_peer_mem",
    "nv_mem_client",
    "swiotlb",
    "SW-IOMMU",
    "oom-kill",
    "oom_kill",
    "Out of memory: Kill",
    "Memory cgroup out of memory",
    "Killed process ",
    "oom_reaper: ",
    "tgid total_vm ",
    "Tasks state (memory values in pages)",
    // A row of root's in that table.
    "]     0 ",
    "OOMKilled",
    " killed as a result of limit of ",
    "by the OOM killer",
    "AER:",
    "DPC",
    "EDR: ",
    "Internal error detected",
    "fallen off the bus",
    "PCIe Bus Error",
    "pciehp",
    "enabling device (",
    "firmware version: ",
    "GPU is lost",
    "system not yet initialized",
    "Traceback (most recent call last)",
    "Process received signal",
    "Segmentation fault",
    "Bus error",
    "exited on signal",
    "is killed by signal",
    "ChildFailedError",
    "CUDA error: ",
    "CUDA failure ",
    "Cuda failure ",
    "fabric manager NVIDIA GPU driver interface version",
    "cannot open shared object file",
    "undefined symbol: ",
    ": version `",
    "ACSCtl:",
    "NCCL failure ",
    "OutOfMemoryError: CUDA",
    "NVIDIA driver on your system is too old",
    "unsupported display driver / cuda driver",
    "forward compatibility was attempted",
    "bus error encountered in worker",
    ") received by PID ",
    "exitcode",
    "] exits with return code = -",
    "' died with <Signals.SIG",
    "WITH THE EXIT STRING: ",
    "=   KILLED BY SIGNAL: ",
    " Killed  ",
    "Driver/library version mismatch",
    "driver/library version mismatch",
    "srun: error: ",
    " CANCELLED AT ",
    "max locked memory",
    "RLIMIT_MEMLOCK",
    "locked memory",
    "ibv_",
    "retry count exceeded on ",
    "No IB devices found",
    "IB devices list",
    "IB device",
    "Infiniband/RoCE device",
    "Failed status",
    "got bad completion with status: 0x",
    "DTO completion ERR: status ",
    "mlx4: local QP operation err (QPN ",
    "CQ error status=",
    "modify qp 0x",
    "error modifying ",
    "failed to create ",
    "Failed to create ",
    "mlx5dv_create_",
    " completion[",
    "IB Async event on ",
    "connect() to ",
    "InfiniBand retry count",
    "\"receiver not ready\" retry",
    "connect(fd=",
    "to complete a TCP connection",
    "no userspace device-specific driver",
    "Not enough memory to write total of ",
    "shm_open(",
    "_QP with syndrome ",
    ": non-zero status: ",
    ": NULL value ",
    " failed: IBV_WC_",
    "nv_peer_mem, or nvidia_peermem",
    "FI_PROVIDER",
    "RCCL version : ",
    " NCCL WARN ",
    "Failed to modify ",
    "(synd 0x",
    "Did not detect devices",
    "Unable to create QP",
    "HCA's through the link",
    "Couldn't ",
    // Messages of NCCL that are pasted without their head: see BARE.
    "shared memory segment /dev/shm/nccl-",
    "link_speed=\"2.5 GT/s",
];

/// Words of NCCL's own messages.
pub(super) const OF_NCCL: &[&str] = &[
    "onnect to ",
    "Call to connect ",
    "Call to bind failed",
    "Call to recv from ",
    "posix_fallocate failed",
    "ncclOsSocket",
    "no device found ",
    "NET/IB",
    "GPU Direct RDMA Disabled for GPU ",
    "ocket creation failed",
    "NET/Socket : no interface found",
    "NET/Socket : No usable",
    "Got completion",
    "Call to ibv_",
    "Duplicate GPU detected",
    "Last NCCL warning(error)",
    "ocketStartConnect: ",
    "ocketPollConnect",
    "socketProgress",
    "Net : Connection closed by remote peer",
    "Net : No interface found in the same subnet",
    "/dev/shm/nccl-",
    "no socket interface found",
    "Mismatched NCCL version detected",
    "Failed to bind NVLink SHARP",
    "MNNVL (cliqueSize",
    "failed to open CUDA IPC handle",
    "failed to peer with device",
    "ultiple Ranks are using the same GPU",
    "Message truncated : received",
];

/// Finds the words.
pub(super) struct Words(Option<AhoCorasick>);

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Words")
    }
}

impl Default for Words {
    fn default() -> Self {
        // Built once: an automaton of all words takes longer than reading a short log.
        static BUILT: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
            let words = WORDS.iter().chain(OF_NCCL).copied().chain(super::says::words());
            AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(words).ok()
        });
        Words(BUILT.clone())
    }
}

impl Words {
    /// Whether the line has one of the words, and whether that is one of NCCL's own.
    pub(super) fn any(&self, line: &str) -> Option<bool> {
        let Some(words) = &self.0 else { return Some(true) };
        words.find(line)?;
        Some(OF_NCCL.iter().any(|w| line.contains(w)))
    }
}

/// A line with which a driver says what a device is.
pub(super) fn device(line: &str) -> Option<Requester> {
    match dmesg::classify(message(line)?) {
        Some(Event::Bound(of)) => Some(of),
        _ => None,
    }
}

/// The kernel's message in a line, behind what launchers, collectors and the kernel's own clock put before it. A quoted line needs the
/// clock: without it, it may be anybody's words.
fn message(line: &str) -> Option<&str> {
    let (time, direct) = dmesg::split(line);
    if time.is_some() {
        // A container runtime's time is followed by its stream.
        let stream = ["stdout F ", "stderr F "].iter().find_map(|s| direct.strip_prefix(s));
        return Some(stream.map_or(direct, |inner| dmesg::split(inner).1));
    }
    let own = printed::own(direct);
    let (time, text) = dmesg::split(field(own.text));
    (time.is_some() || !own.quoted).then_some(text)
}

/// The message in a field of a collector's JSON: `"MESSAGE" : "…"` of `journalctl -o json-pretty`, `"textPayload": "…\\r\\n",` of Google's
/// serial consoles. A field of another name may hold anything: a pattern, a description.
fn field(text: &str) -> &str {
    let value = ["\"MESSAGE\"", "\"textPayload\""].iter().find_map(|name| text.strip_prefix(name));
    let value = value.and_then(|r| r.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"'));
    value.map_or(text, |v| v.split("\\r").next().unwrap_or(v).trim_end_matches(',').trim_end_matches('"'))
}

/// What the kernel says in a line.
pub(super) fn read(line: &str) -> Option<KernelTrouble> {
    if killed_unit(line) {
        return Some(KernelTrouble::OutOfMemory);
    }
    let message = message(line)?;
    if let Some(trouble) = killed(message)
        .or_else(|| lost(message))
        .or_else(|| module(message))
        .or_else(|| pages(message))
        .or_else(|| limit(message))
        .or_else(|| catastrophe(message))
    {
        return Some(trouble);
    }
    // Old kernels print the reason of a fault in a line of its own, and tickets often have only that one.
    if message.strip_prefix("DMAR:").is_some_and(|r| r.trim_start().starts_with("[fault reason ")) {
        return Some(KernelTrouble::IommuFault { of: Requester::UNNAMED, arm: false });
    }
    Some(match dmesg::classify(message)? {
        Event::IoPageFault { of, .. } | Event::DmarFault { of, .. } => KernelTrouble::IommuFault { of, arm: false },
        Event::SmmuEvent { of, .. } => KernelTrouble::IommuFault { of, arm: true },
        Event::Xid { bdf, number, detail } => KernelTrouble::Xid { number, gpu: bdf, detail },
        Event::SXid { fatal, .. } => KernelTrouble::SwitchError(fatal),
        Event::Mlx5 { bdf, event: Mlx5Event::LinkDown } => KernelTrouble::LinkDown(bdf),
        Event::Mlx5 { bdf, event: Mlx5Event::Health(text) } if !text.contains("Failed to create ") => {
            KernelTrouble::NicFirmware(bdf)
        }
        // A command that is answered `failed, status bad parameter` asks for what this firmware has not: frequent, and harmless.
        Event::Mlx5 { bdf, event: Mlx5Event::CommandFailed(text) } if text.contains("timeout") => {
            KernelTrouble::NicFirmware(bdf)
        }
        Event::Aer { of, severity: AerSeverity::NonFatal | AerSeverity::Fatal, .. } => KernelTrouble::PcieError(of),
        Event::PciLink { of, up: false } => KernelTrouble::SlotDown(of),
        // The GPU's memory was given back while the NIC still held it, as a program ended: benign, and frequent.
        Event::Peermem { error: true, text } if !text.contains("invalid context") => {
            KernelTrouble::Peermem(PeermemTrouble::Error)
        }
        Event::SymbolMismatch { module, .. } if is_peermem(&module) => KernelTrouble::Peermem(PeermemTrouble::Mismatch),
        // -22 is the same mismatch again, -2 that nobody has the symbol.
        Event::UnknownSymbol { module, .. } if is_peermem(&module) => {
            let absent = message.contains("(err -2)") || message.contains("(err 0)");
            KernelTrouble::Peermem(if absent { PeermemTrouble::Absent } else { PeermemTrouble::Mismatch })
        }
        Event::DmabufAttachFailed(_) => KernelTrouble::DmabufRefused,
        Event::DmaMapFailed { .. } => KernelTrouble::BounceBuffers,
        Event::NvidiaVersionMismatch => KernelTrouble::DriverMismatch,
        _ => return None,
    })
}

/// Bytes of a task's name, with the NUL (`TASK_COMM_LEN`).
const TASK_COMM: usize = 16;

/// `host systemd[1]: job.service: A process of this unit has been killed by the OOM killer.` (src/core/unit.c)
fn killed_unit(line: &str) -> bool {
    let own = printed::own(line);
    if own.quoted || line.trim_end().ends_with('|') {
        return false;
    }
    // A time and a host stand before it, of which all may be tags: a sentence has more words, and quotes.
    let behind = match own.text.split_once("systemd[") {
        Some((head, rest)) => {
            let head = printed::own(head).text;
            let headed = head.split_whitespace().count() <= 4 && !head.contains(['"', '\'', '`', '$', '|', '(']);
            headed.then_some(rest)
        }
        None => line.split_once("systemd[").map(|(_, rest)| rest).filter(|rest| own.text.len() < rest.len()),
    };
    let words = behind.and_then(|rest| rest.split_once("]: ")?.1.split_once(": ")).filter(|(u, _)| !u.contains(' '));
    words.is_some_and(|(_, words)| {
        words.starts_with("A process of this unit has been killed by the OOM killer")
            || words.starts_with("Failed with result 'oom-kill'.")
    })
}

/// A process that was killed for want of memory, in the words of mm/oom_kill.c and mm/memcontrol.c, and of slurmstepd.
fn killed(m: &str) -> Option<KernelTrouble> {
    // `process 712 (python)`, in old kernels `process 712, UID 0, (python)`.
    let process = |rest: &str| {
        let (_, rest) = rest.split_once("process ")?;
        rest.starts_with(|c: char| c.is_ascii_digit()).then_some(())
    };
    // A line of its own before 5.1.
    let victim = |rest: &str| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let named = rest.get(digits..).is_some_and(|r| r.starts_with(" (") || r.starts_with(", UID "));
        digits > 0 && named && (rest.contains(" total-vm:") || rest.contains("anon-rss:"))
    };
    let by_kernel = m.starts_with("oom-kill:constraint=")
        || ["Out of memory: Kill", "Memory cgroup out of memory: Kill"]
            .iter()
            .any(|w| m.strip_prefix(w).and_then(process).is_some())
        || m.strip_prefix("Killed process ").is_some_and(victim)
        || m.strip_prefix("oom_reaper: reaped process ").is_some_and(victim)
        || m.strip_prefix("Task in /").is_some_and(|r| r.contains(" killed as a result of limit of /"))
        || m.split_once(" invoked oom-killer: gfp_mask=0x").is_some_and(|(name, _)| name.len() < TASK_COMM);
    let by_slurm = m.strip_prefix("slurmstepd: error: Detected ").is_some_and(|r| {
        r.starts_with(|c: char| c.is_ascii_digit()) && (r.contains("oom-kill event") || r.contains("oom_kill event"))
    });
    // A task whose cgroup counts a kill, in srun's words.
    let by_srun =
        m.strip_prefix("srun: error: ").is_some_and(|r| r.contains(": task") && r.ends_with(": Out Of Memory"));
    let listed = m.trim_end() == "Tasks state (memory values in pages):"
        || m.strip_prefix("[").is_some_and(|r| {
            let mut words = r.split_whitespace();
            ["pid", "]", "uid", "tgid", "total_vm", "rss"].iter().all(|w| words.next() == Some(w))
        })
        || is_task(m);
    (by_kernel || by_slurm || by_srun || listed || is_killed_pod(m)).then_some(KernelTrouble::OutOfMemory)
}

/// A row of the tasks that the kernel lists before it kills one of them (mm/oom_kill.c, dump_task):
/// `[    482]     0   482     2372      322    53248        0             0 dhclient`.
fn is_task(m: &str) -> bool {
    let Some((pid, rest)) = m.strip_prefix('[').and_then(|r| r.split_once("] ")) else { return false };
    let numbers: Vec<&str> = rest.split_whitespace().take_while(|w| w.parse::<i64>().is_ok()).collect();
    let Some(name) = rest.trim_end().rsplit_once(' ').map(|(_, name)| name) else { return false };
    let is_name = !name.is_empty() && name.len() < TASK_COMM && name.parse::<i64>().is_err();
    // The leader of a group of threads has the group's number.
    let leads = numbers.get(1).is_some_and(|tgid| *tgid == pid.trim());
    leads && pid.len() >= 5 && is_name && (7..=11).contains(&numbers.len())
}

/// A row of `kubectl get pods`: `train-0   0/1   OOMKilled   3 (2m ago)   10m`.
fn is_killed_pod(m: &str) -> bool {
    let mut words = m.split_whitespace();
    let (Some(name), Some(ready), Some(status), Some(restarts)) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    let number = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_digit());
    let counted = ready.split_once('/').is_some_and(|(a, b)| number(a) && number(b));
    let named = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.'));
    named && counted && matches!(status, "OOMKilled" | "Init:OOMKilled") && number(restarts)
}

/// mlx5's firmware has no room for another object (drivers/net/ethernet/mellanox/mlx5/core/cmd.c, `cmd_status_print`): `mlx5_core 0000:81:00.0:
/// mlx5_cmd_check:794:(pid 0): CREATE_MKEY(0x200) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x59c8a4)`; newer `mlx5_cmd_out_err:…`.
fn limit(m: &str) -> Option<KernelTrouble> {
    let (head, rest) = m.strip_prefix("mlx5_core ")?.split_once(": ")?;
    let (_, command) = rest.strip_prefix("mlx5_cmd_")?.split_once("): ")?;
    let created = command.starts_with("CREATE_") && !command.split_once('(')?.0.contains(' ');
    (created && command.contains(" failed, status limits exceeded(0x8)"))
        .then(|| KernelTrouble::NicLimit(head.split(' ').next().and_then(|h| h.parse().ok())))
}

/// mlx4's firmware ended (drivers/net/ethernet/mellanox/mlx4/catas.c).
fn catastrophe(m: &str) -> Option<KernelTrouble> {
    let (head, rest) = m.strip_prefix("mlx4_core ")?.split_once(": ")?;
    rest.starts_with("Internal error detected").then(|| KernelTrouble::NicFirmware(head.parse().ok()))
}

/// A GPU that is gone, without its Xid.
fn lost(m: &str) -> Option<KernelTrouble> {
    let by_driver = m.starts_with("NVRM: ")
        && !m.starts_with("NVRM: Xid")
        && m.split_once("fallen off the bus").is_some_and(|(_, rest)| {
            matches!(
                rest.trim_end(),
                "" | "." | " and is not responding to commands" | " and is not responding to commands."
            )
        });
    let by_tool = m.starts_with("Unable to determine the device handle for GPU") && m.contains("GPU is lost");
    (by_driver || by_tool).then_some(KernelTrouble::GpuLost)
}

/// Pages of a registration that cannot be pinned (drivers/infiniband/core/umem.c; mlx4, mlx5 `mr.c`, `umr.c`). -12 is a limit.
fn pages(m: &str) -> Option<KernelTrouble> {
    let core = m.starts_with("ib_umem_get: failed to get user pages, nr_pages=");
    let nic = ["infiniband mlx", "mlx5_", "mlx4_"].iter().any(|n| m.starts_with(n));
    let failed = nic.then(|| m.split_once("umem get failed (")).flatten();
    let by_nic = failed.is_some_and(|(before, rest)| {
        before.split(' ').count() <= 5 && !rest.starts_with("-12)") && rest.starts_with(['-', '1', '2'])
    });
    (core || by_nic).then_some(KernelTrouble::PagesRefused)
}

/// modprobe and insmod of nvidia-peermem.
fn module(m: &str) -> Option<KernelTrouble> {
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
fn is_peermem(module: &str) -> bool {
    matches!(
        module.trim_end_matches(".ko").replace('-', "_").as_str(),
        "nvidia_peermem" | "nv_peer_mem" | "nv_peer_memory"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::frameworks::ended;
    use linerate_formats::dmesg::DriverClass;
    use linerate_formats::pci::Bdf;
    use linerate_formats::xid::Detail;

    fn bdf(text: &str) -> Option<Bdf> {
        text.parse().ok()
    }

    fn at(text: &str) -> Requester {
        bdf(text).map_or(Requester::UNNAMED, Requester::at)
    }

    fn fault(of: Requester) -> KernelTrouble {
        KernelTrouble::IommuFault { of, arm: false }
    }

    #[test]
    fn what_the_kernel_prints_counts_in_any_clothes() {
        use KernelTrouble as K;
        for (text, want) in [
            (
                "NVRM: Xid (PCI:0000:18:00): 79, pid=12, name=python, GPU has fallen off the bus.",
                K::Xid { number: 79, gpu: bdf("18:00.0"), detail: Detail::Number },
            ),
            (
                "nvidia 0000:07:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0003 address=0x80000040 flags=0x0020]",
                fault(Requester { bdf: bdf("07:00.0"), class: DriverClass::Gpu }),
            ),
            (
                "AMD-Vi: Event logged [IO_PAGE_FAULT device=07:00.0 domain=0x0003 address=0x80000040 flags=0x0020]",
                fault(at("07:00.0")),
            ),
            (
                "DMAR: [DMA Write] Request device [02:00.0] fault addr 7f00 [fault reason 05] PTE Write access is not set",
                fault(at("02:00.0")),
            ),
            ("dmar: DMAR:[DMA Write] Request device [02:00.0] fault addr 7f00", fault(at("02:00.0"))),
            ("DMAR:[fault reason 05] PTE Write access is not set", fault(Requester::UNNAMED)),
            (
                "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -2)",
                K::Peermem(PeermemTrouble::Absent),
            ),
            ("nv_peer_mem: Unknown symbol nvidia_p2p_get_pages (err -22)", K::Peermem(PeermemTrouble::Mismatch)),
            (
                "modprobe: FATAL: Module nvidia-peermem not found in directory /lib/modules/6.8.0",
                K::Peermem(PeermemTrouble::NotFound),
            ),
            ("insmod: error inserting './nv_peer_mem.ko': -1 Invalid parameters", K::Peermem(PeermemTrouble::Refused)),
            (
                "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument",
                K::Peermem(PeermemTrouble::Refused),
            ),
            ("Memory cgroup out of memory: Killed process 712 (python) total-vm:4kB, anon-rss:2kB", K::OutOfMemory),
            ("python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0", K::OutOfMemory),
            ("NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.", K::GpuLost),
        ] {
            for before in [
                "",
                "   ",
                "[ 1234.567890] ",
                "kern  :err   : [Mon Nov 21 07:00:00 2026] ",
                "Nov 21 07:00:00 host kernel: ",
                "[1,0]<stdout>:",
                "rank0: ",
                "0: ",
                "[pod/x/y] [ 12.5] ",
                "(Worker pid=4) ",
                "/var/log/messages:Nov 21 07:00:00 h kernel: ",
                "> [   12.5] ",
                "kernel: ",
                "6,3973,227996636,-;",
                "2024-01-31T12:00:00.123456789Z stdout F ",
            ] {
                assert_eq!(read(&format!("{before}{text}")), Some(want), "{before}{text}");
            }
        }
    }

    #[test]
    fn what_people_write_does_not() {
        for text in [
            "We checked dmesg: no IO_PAGE_FAULT errors.",
            "dmesg | grep -i -e DMAR -e IO_PAGE_FAULT -e 'NVRM: Xid'",
            "$ dmesg | grep 'NVRM: Xid (PCI:0000:18:00): 79, '",
            "# NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus",
            "- NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus",
            "> NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus",
            "NVRM: Xid (PCI:0000:18:00): 79 means that the GPU fell off the bus",
            "Look for `NVRM: Xid (PCI:0000:18:00): 79, pid=1` in dmesg",
            "If you see AMD-Vi: Event logged [IO_PAGE_FAULT device=07:00.0 domain=0x0003 address=0x80000040 flags=0x0020], set iommu=pt",
            "AMD-Vi IO_PAGE_FAULT for nvidia 0000:07:00.0",
            "IO_PAGE_FAULT: address=0xfffffffffffffef0",
            "DMAR: faults like [DMA Write] Request device [02:00.0] fault addr are gone",
            "nvidia_peermem         16384  0",
            "nvidia-peermem-ctr:  CrashLoopBackOff",
            "nvidia_peermem: failed to load on node 3, says the colleague",
            "nvidia_peermem: module verification failed: signature and/or required key missing - tainting kernel",
            "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing",
            "Out of memory: Killing a process is what the kernel does",
            "The GPU has fallen off the bus (NVRM: Xid 79)",
            "mlx5_core says Link down",
            "we run `modprobe: FATAL: Module nvidia-peermem not found in directory /lib/modules`",
            "\"Nov 21 07:00:00 h kernel: NVRM: Xid (PCI:0000:18:00): 79, x\" is what I mean",
            "ACS is off. DMAR: IOMMU enabled",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        for text in [
            "We had a Bus error and a Segmentation fault (core dumped) before",
            "Traceback (most recent call last) is what Python prints",
            "- exited on signal 9",
            "it exited on signal 9 (Killed).",
        ] {
            assert_eq!(ended(text), None, "{text}");
        }
        for text in [
            "Traceback (most recent call last):",
            "[rank0]: Traceback (most recent call last):",
            "[node1:04711] *** Process received signal ***",
            "[node1:04711] Signal: Bus error (7)",
            "Segmentation fault (core dumped)",
            "/job.sh: line 3: 4711 Bus error               (core dumped) python train.py",
            "srun: error: node1: task 3: Segmentation fault (core dumped)",
            "mpirun noticed that process rank 3 with PID 0 on node node1 exited on signal 9 (Killed).",
            "RuntimeError: DataLoader worker (pid 12) is killed by signal: Bus error. ",
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
            "Fatal Python error: Bus error",
        ] {
            assert!(ended(text).is_some(), "{text}");
        }
    }
}
