//! Which tool a pasted text comes from: by content first, by the command line above it second, by the file's name last.

mod bench;
mod names;

use self::names::{by_name, prompt};
use crate::dmesg::{self, Time};
use crate::pci::Bdf;
use crate::{mlxconfig, modules, nvidia_smi, series, text};

pub use crate::text::normalise;

/// Which tool's output a text is. The names equal those of the snapshot's output kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // The names are the tools'.
pub enum Kind {
    Lspci,
    Dmesg,
    MlxconfigText,
    MlxconfigJson,
    NvidiaSmiQuery,
    NvidiaSmiXml,
    NvidiaSmiTopo,
    NvidiaSmiP2p,
    NvidiaSmiTable,
    NvidiaSmiCsv,
    Ibstat,
    IbvDevinfo,
    Ibdev2netdev,
    Cmdline,
    RdmaLink,
    RdmaStatistic,
    RdmaSystem,
    MlnxQos,
    EthtoolStats,
    EthtoolPause,
    EthtoolSettings,
    VirshXml,
    RdmaTopo,
    RdmaTopoCheck,
    RdmaTopoDump,
    DetectVirt,
    ModinfoNvidia,
    Nvml,
    NcclLog,
    NcclTopoXml,
    NcclTests,
    Perftest,
    Iperf3,
    Iperf2,
    Sockperf,
    Fio,
    Ping,
    Cpuinfo,
    Modules,
    TorchTitan,
    Nvbandwidth,
    SeriesTable,
    Unknown,
}

/// Lines that are looked at. A text that does not show its nature by then is not of a kind that is read.
const MAX_LINES: usize = 2000;

/// Recognises a text by its beginning (some tens of kilobytes are enough) and its file name (may be empty).
pub fn sniff(name: &str, head: &[u8]) -> Kind {
    let text = text::decode(head);
    let mut command = None;
    // A text that starts like a document is one; a `<6>` starts a log.
    let mut first_content = None;
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty()).take(3) {
        match prompt(line) {
            Some(kind) => command = command.or(Some(kind)),
            None => {
                first_content = Some(line);
                break;
            }
        }
    }
    let document = match first_content.map(str::as_bytes) {
        Some([b'<', b'?' | b'!' | b'a'..=b'z', ..]) => Some(xml(&text)),
        Some([b'{', ..]) if looks_like_json(&text) => Some(json(&text)),
        Some([b'[', ..]) if opens_array(&text, first_content) && looks_like_json(&text) => Some(json(&text)),
        _ => None,
    };
    let by_content = match document {
        Some(kind) => kind,
        None => lines(&text).or_else(|| weak(&text)).or_else(|| bench::lines(&text)).unwrap_or(Kind::Unknown),
    };
    let known = match by_content {
        Kind::Unknown => command.unwrap_or_else(|| by_name(name, document.is_some())),
        kind => kind,
    };
    // Anything can be a table: it is one only where it is nothing else.
    if known == Kind::Unknown && is_series(&text) { Kind::SeriesTable } else { known }
}

/// A table of measurements: a column of numbers that is a metric by its unit or its name, or beside a time, a step, a size or a run.
/// The text may be a beginning alone, and its last line cut.
fn is_series(text: &str) -> bool {
    use series::Role;
    const WORDS: &[&str] = &[
        "bw",
        "bandwidth",
        "busbw",
        "algbw",
        "latency",
        "lat",
        "loss",
        "throughput",
        "tps",
        "tflops",
        "mfu",
        "rate",
        "jitter",
        "iops",
    ];
    let whole = text.rfind('\n').map_or(text, |at| text.get(..=at).unwrap_or(text));
    let Ok(tables) = series::parse(whole.as_bytes()) else { return false };
    tables.iter().any(|t| {
        let rows = t.len();
        let refused = t.refused.len() as u64 + t.refused_not_kept;
        let is_ordered = t.columns.iter().any(|c| matches!(c.role, Role::Time | Role::Step | Role::Size | Role::Run));
        let is_measured = |c: &series::Column| {
            let name = c.name.to_ascii_lowercase();
            let mut words = name.split(|x: char| !x.is_ascii_alphanumeric());
            is_ordered || c.unit.as_ref().is_some_and(|u| u.unit.is_some()) || words.any(|w| WORDS.contains(&w))
        };
        let mut metrics = t.of(Role::Metric).filter(|c| (0..rows).any(|r| c.number(r).is_some()));
        t.columns.len() > 1 && refused <= rows as u64 && metrics.any(is_measured)
    })
}

fn xml(text: &str) -> Kind {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('<') {
        if let Some(comment) = after.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, r)| r);
            continue;
        }
        if after.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
            return match after.get(..end) {
                Some("nvidia_smi_log") => Kind::NvidiaSmiXml,
                Some("domain" | "domstatus") => Kind::VirshXml,
                Some("system") if after.contains("<cpu") => Kind::NcclTopoXml,
                _ => Kind::Unknown,
            };
        }
        rest = after;
    }
    Kind::Unknown
}

/// `[ {`, `[]`, `["x"`, over several lines, too; `[    0.5] …` is a time of the kernel's.
fn opens_array(text: &str, line: Option<&str>) -> bool {
    let at = line.and_then(|l| text.find(l)).unwrap_or_default();
    let inside = text.get(at..).and_then(|t| t.strip_prefix('[')).unwrap_or_default();
    inside.trim_start().starts_with(['{', ']', '"', '['])
}

fn looks_like_json(text: &str) -> bool {
    text.contains('"') || text.trim_end().ends_with("[]")
}

fn json(text: &str) -> Kind {
    let has = |key: &str| text.contains(key);
    if has("\"realpath\"") && has("\"config\"") && has("\"modalias\"") {
        Kind::RdmaTopoDump
    } else if has("\"tlv_configuration\"") {
        Kind::MlxconfigJson
    } else if has("\"netns\"") && !has("\"ifname\"") {
        Kind::RdmaSystem
    } else if has("\"ifname\"") && has("\"physical_state\"") {
        Kind::RdmaLink
    } else if text.trim_start().starts_with('[') && has("\"ifname\"") && has_port(text) {
        Kind::RdmaStatistic
    } else if has("\"rdma_dma\"") || has("\"rdma_nic_pp\"") {
        Kind::RdmaTopo
    } else if has("\"nccl_version\"") && has("\"args\"") || has("\"algBw\"") && has("\"busBw\"") {
        Kind::NcclTests
    } else if has("\"test_info\"") {
        Kind::Perftest
    } else if has("\"nvbandwidth\"") {
        Kind::Nvbandwidth
    } else {
        bench::json(text).unwrap_or(Kind::Unknown)
    }
}

/// `"port": 1`, which tells counters of rdma from those of `ip`.
fn has_port(text: &str) -> bool {
    text.split("\"port\"").skip(1).any(|r| {
        r.trim_start().strip_prefix(':').is_some_and(|r| r.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// The first line that only one tool prints.
fn lines(text: &str) -> Option<Kind> {
    let mut matrix_tried = false;
    for raw in text.lines().take(MAX_LINES) {
        let line = raw.trim_start_matches(['>', ' ', '\t']).trim_end();
        // Measurements of the network and of disks are often pasted beside what matters more.
        if line.is_empty() || line.len() > 4096 || bench::line(line).is_some() {
            continue;
        }
        if let Some(kind) = line_kind(line) {
            return Some(match kind {
                // The benchmark prints its header before the library's log begins.
                Kind::NcclTests if text.contains("NCCL INFO") => Kind::NcclLog,
                kind => kind,
            });
        }
        // The matrix is searched in the whole text, so one try is enough.
        if !matrix_tried && line.starts_with("GPU0") {
            matrix_tried = true;
            if let Some(kind) = matrix(text) {
                return Some(kind);
            }
        }
    }
    None
}

fn line_kind(line: &str) -> Option<Kind> {
    let starts = |words: &[&str]| words.iter().any(|w| line.starts_with(w));
    let has = |words: &[&str]| words.iter().any(|w| line.contains(w));
    // With what follows them in a log: prose names these words too.
    Some(if has(&["NCCL INFO ", "NCCL WARN ", "NCCL WARN:"]) {
        Kind::NcclLog
    } else if starts(&["# nThread ", "# nThreads: ", "# nThread: ", "# nccl-tests version", "# Avg bus bandwidth"])
        || starts(&["rccl-tests: Version", "# rccl-tests version", "# Collective test starting: "])
        || line.contains("algbw   busbw")
        || line.contains("#  Rank  ")
        || starts(&["# Rank "])
        || is_nccl_tests_row(line)
    {
        Kind::NcclTests
    } else if is_perftest(line) {
        Kind::Perftest
    } else if is_nvbandwidth(line) {
        Kind::Nvbandwidth
    } else if is_torchtitan(line) {
        Kind::TorchTitan
    } else if line.contains("==NVSMI LOG==") {
        Kind::NvidiaSmiQuery
    } else if starts(&["| NVIDIA-SMI"]) {
        Kind::NvidiaSmiTable
    } else if starts(&["hca_id:"]) {
        Kind::IbvDevinfo
    } else if starts(&["CA '", "Infiniband device '"]) {
        Kind::Ibstat
    } else if line.contains("==>") && line.contains(" port ") && !line.contains(")==>") {
        Kind::Ibdev2netdev
    } else if starts(&["NIC statistics:"]) {
        Kind::EthtoolStats
    } else if starts(&["Pause parameters for "]) {
        Kind::EthtoolPause
    } else if starts(&["Settings for "]) && line.ends_with(':') {
        Kind::EthtoolSettings
    } else if starts(&["Priority trust state:", "PFC configuration:", "DCBX mode:"]) {
        Kind::MlnxQos
    } else if starts(&["netns shared", "netns exclusive"]) {
        Kind::RdmaSystem
    } else if line.contains(" state ") && starts(&["link "]) && line.contains('/') {
        Kind::RdmaLink
    } else if starts(&["Device type:"])
        || starts(&["Configurations:"]) && line.contains("Next Boot")
        || starts(&["-E- Failed to open device", "-E- Failed to query"])
    {
        Kind::MlxconfigText
    } else if is_cpuinfo(line) {
        Kind::Cpuinfo
    } else if starts(&["Module "]) && line.ends_with("Used by") || is_module(line) {
        Kind::Modules
    } else if is_dmesg(line) {
        Kind::Dmesg
    } else if is_lspci(line) {
        Kind::Lspci
    } else if starts(&["BOOT_IMAGE="]) || line.contains(" BOOT_IMAGE=") && line.contains("root=") {
        Kind::Cmdline
    } else if starts(&["filename:"]) && line.contains("nvidia") {
        Kind::ModinfoNvidia
    } else {
        return None;
    })
}

fn is_nvbandwidth(line: &str) -> bool {
    let is_sum = || line.strip_prefix("SUM ").is_some_and(|r| r.contains("_memcpy_") || r.contains("_latency_sm "));
    line.starts_with("nvbandwidth Version: ")
        || line.starts_with("\"nvbandwidth\" :")
        || is_sum()
        || line.starts_with("memcpy ") && line.ends_with("(GB/s)")
}

/// A line of a step; a line of another program has not all of the names.
fn is_torchtitan(line: &str) -> bool {
    let Some((_, fields)) = line.split_once("step:") else { return false };
    let has = |names: &[&str]| names.iter().any(|n| fields.contains(n));
    has(&["loss:"]) && has(&["memory:"]) && has(&["tps:", "wps:"])
}

fn is_perftest(line: &str) -> bool {
    const TESTS: &[&str] =
        &["RDMA_Write", "RDMA_Read", "Send", "Atomic FETCH_AND_ADD", "Atomic COMPARE_AND_SWAP", "Atomic"];
    let title = line.ends_with(" Test")
        && TESTS.iter().any(|t| line.starts_with(t))
        && (line.contains("BW") || line.contains("Latency"));
    title
        || line.starts_with("#bytes") && line.contains("#iterations")
        || line.starts_with("#bytes #iterations")
        || line.contains("Unable to find the Infiniband/RoCE device")
        || line.contains("Conflicting CPU frequency values")
        || line.contains("Couldn't read remote address")
        // The report of `--out_json`, which was not JSON at first.
        || line.starts_with("test_info: {")
}

/// `128  32  float  sum  87.60 …`: a row without its header.
fn is_nccl_tests_row(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let number = |w: Option<&str>| w.is_some_and(|w| w.parse::<u64>().is_ok());
    let size_and_count = number(words.next()) && number(words.next());
    size_and_count
        && words
            .next()
            .is_some_and(|t| ["float", "half", "double", "bfloat16", "int8", "uint8", "int32", "uint64"].contains(&t))
        && words.next().is_some_and(|o| ["sum", "prod", "max", "min", "avg", "none"].contains(&o))
}

fn is_cpuinfo(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else { return false };
    let (key, value) = (key.trim_end(), value.trim());
    match key {
        "processor" => !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) && line.contains('\t'),
        "vendor_id" => matches!(value, "GenuineIntel" | "AuthenticAMD" | "CentaurHauls" | "Shanghai" | "IBM/S390"),
        "CPU implementer" => true,
        _ => false,
    }
}

/// `/proc/modules`: the state and the address are unmistakable.
fn is_module(line: &str) -> bool {
    line.contains(" Live 0x") && !modules::parse(line.as_bytes()).is_empty()
}

fn is_dmesg(line: &str) -> bool {
    let (time, message) = dmesg::split(line);
    match time {
        Some(Time::Seconds(_)) => !message.is_empty(),
        Some(Time::Text(_)) => line.contains(" kernel: ") || line.starts_with("kern ") || line.starts_with('['),
        None => dmesg::classify(message).is_some_and(|e| !is_of_boot(&e)),
    }
}

/// What other files say in the same words: `/proc/version`, a pasted command line.
fn is_of_boot(event: &dmesg::Event) -> bool {
    use dmesg::Event::{CommandLine, Hypervisor, KernelRelease, Machine};
    matches!(event, CommandLine(_) | KernelRelease(_) | Machine(_) | Hypervisor(_))
}

fn is_lspci(line: &str) -> bool {
    let function = line.split_once(' ').filter(|(first, _)| first.len() >= 7 && first.parse::<Bdf>().is_ok());
    if let Some((_, rest)) = function {
        return rest.contains(": ") || rest.starts_with('"');
    }
    const INNER: &[&str] =
        &["ACSCtl:", "ACSCap:", "LnkSta:", "LnkCap:", "DevCtl:", "DevCap:", "ATSCtl:", "Capabilities: ["];
    INNER.iter().any(|w| line.starts_with(w))
        || line.starts_with("Slot:\t")
        || line.starts_with("Device:\t") && line.len() > 14
}

/// A matrix of GPUs: of paths or of peer-to-peer states?
fn matrix(text: &str) -> Option<Kind> {
    let topo = nvidia_smi::parse_topo(text.as_bytes()).ok()?;
    let p2p = nvidia_smi::parse_p2p(text.as_bytes()).ok()?;
    let states = p2p.rows.iter().flat_map(|(_, _, cells)| cells);
    let is_state =
        |s: &nvidia_smi::P2pStatus| !matches!(s, nvidia_smi::P2pStatus::Other(_) | nvidia_smi::P2pStatus::Itself);
    if states.clone().any(is_state) {
        return Some(Kind::NvidiaSmiP2p);
    }
    let seen = !topo.rows.is_empty() || !topo.broken_rows.is_empty();
    seen.then_some(Kind::NvidiaSmiTopo)
}

/// Signs that are not unmistakable, for texts without any other.
fn weak(text: &str) -> Option<Kind> {
    if nvidia_smi::parse_csv(text.as_bytes()).is_ok_and(|csv| !csv.rows.is_empty() && csv.columns.len() > 1) {
        return Some(Kind::NvidiaSmiCsv);
    }
    let content: Vec<&str> =
        text.lines().map(str::trim).filter(|l| !l.is_empty() && prompt(l).is_none()).take(MAX_LINES).collect();
    let query = mlxconfig::parse_text(text);
    // Labelled values such as `True(1)` are the tool's own; a table of upper-case words is not enough.
    let labelled = |p: &mlxconfig::Param| p.next.as_ref().is_some_and(|v| v.label.is_some());
    if query.devices.iter().any(|d| d.params.iter().any(labelled)) {
        return Some(Kind::MlxconfigText);
    }
    if let [line] = content[..] {
        if VIRT.contains(&line) {
            return Some(Kind::DetectVirt);
        }
        let words = |w: &&str| {
            ["root=", "console=", "iommu=", "intel_iommu=", "amd_iommu=", "pci=", "crashkernel=", "initrd="]
                .iter()
                .any(|p| w.starts_with(p))
                || matches!(*w, "ro" | "rw" | "quiet")
        };
        let all: Vec<&str> = line.split_whitespace().collect();
        if all.iter().filter(|w| words(w)).count() >= 2 {
            return Some(Kind::Cmdline);
        }
    }
    let verdict = |l: &&&str| l.starts_with("OK") || l.starts_with("FAIL");
    let verdicts = content.iter().filter(verdict).count();
    (verdicts > 0 && verdicts == content.len()).then_some(Kind::RdmaTopoCheck)
}

const VIRT: &[&str] =
    &["kvm", "qemu", "vmware", "microsoft", "amazon", "oracle", "xen", "bhyve", "parallels", "google"];

#[cfg(test)]
mod tests;
