//! What goes wrong, in the words of the releases.

use super::cursor::{after_int, int, word};
use crate::text::after;

/// A work completion with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Completion<'a> {
    /// Address of the peer's bootstrap socket (2.10 and later).
    pub peer: Option<&'a str>,
    /// Status, as in [`super::status`].
    pub status: u32,
    /// Vendor's syndrome.
    pub vendor: Option<u32>,
    /// Which side of the connection saw it: `Send`, `Recv`.
    pub side: Option<&'a str>,
    /// GID of this side (2.18 and later).
    pub local_gid: Option<&'a str>,
    /// GID of the other side.
    pub remote_gid: Option<&'a str>,
    /// NIC (2.22 and later).
    pub hca: Option<&'a str>,
}

/// What happened to a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SocketTrouble {
    /// Nobody listens there.
    Refused,
    /// Nobody listens there yet: it is tried again, as at every start of a job whose ranks do not come at once.
    RefusedYet,
    /// No answer.
    TimedOut,
    /// No way there.
    Unreachable,
    /// It was tried again and again, and given up: after a refusal or a time-out NCCL asks the same socket once more, which gives ECONNABORTED.
    Aborted,
    /// The other side ended.
    Closed,
    /// The address to listen on, or to connect from, is not one of this host's.
    NotLocal,
    /// No interface of this host is in the subnet of the other side's address: a warning, as the routing table may know a way.
    OtherSubnet,
    /// Another error.
    Other,
}

impl SocketTrouble {
    /// A connection was not made: nobody answered, or nothing leads there.
    #[must_use]
    pub fn is_unconnected(self) -> bool {
        matches!(self, Self::Refused | Self::TimedOut | Self::Unreachable | Self::Aborted)
    }

    /// What the words of an error say.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let has = |w: &str| text.contains(w);
        if has("No interface found in the same subnet") {
            Self::OtherSubnet
        } else if has("Cannot assign requested address") {
            Self::NotLocal
        } else if has("refused") && is_retried(text) {
            Self::RefusedYet
        } else if has("refused") || has("exceeded retries") {
            // 2.16 to 2.23 count what was refused, and what timed out, and print the number alone.
            Self::Refused
        } else if has("timed out") || has("timeouts") {
            Self::TimedOut
        } else if has("No route") || has("unreachable") || has(" is down") {
            Self::Unreachable
        } else if has("Software caused connection abort") {
            Self::Aborted
        } else if has("closed by remote") || has("reset by peer") || has("Broken pipe") {
            Self::Closed
        } else {
            Self::Other
        }
    }
}

/// What EFA's provider says of a peer (libfabric `prov/efa/src/efa_errno.h`): FI_EHOSTUNREACH comes only where a security group drops what is sent
/// (aws-ofi-nccl `platform-aws.cpp: log_cq_error`).
fn efa(text: &str) -> Option<SocketTrouble> {
    let has = |w: &str| text.contains(w);
    if !has(" completed with error") {
        return None;
    }
    if has("err: 113,") || has("Unreachable remote") {
        Some(SocketTrouble::Unreachable)
    } else if has("previously responsive") || has("previously established") {
        Some(SocketTrouble::Closed)
    } else {
        None
    }
}

/// `…, retrying`, `…, retrying (26/34) after sleep …`: not the last time.
fn is_retried(text: &str) -> bool {
    let Some((_, rest)) = text.split_once(", retrying") else { return false };
    let last = rest.trim_start().strip_prefix('(').and_then(|r| r.split_once(')')?.0.split_once('/'));
    last.is_none_or(|(now, of)| now != of)
}

/// A failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure<'a> {
    /// A verbs call failed.
    Verbs {
        /// `ibv_reg_mr_iova2`, …
        call: &'a str,
        /// Text of the error, `Cannot allocate memory`; empty where none was printed.
        error: &'a str,
        /// Its number.
        errno: Option<i64>,
        /// What else the line says (devices, GIDs, states: 2.24 and later).
        detail: &'a str,
    },
    /// A work completion with an error.
    Completion(Completion<'a>),
    /// An asynchronous event of a NIC: device and what.
    Async {
        /// `mlx5_0:1`; not printed by releases before 2.20.
        device: Option<&'a str>,
        /// As verbs words it.
        event: &'a str,
        /// NCCL calls it fatal.
        fatal: bool,
    },
    /// A socket failed.
    Socket {
        /// What happened.
        trouble: SocketTrouble,
        /// The other side, as printed.
        peer: Option<&'a str>,
    },
    /// Shared memory could not be made or mapped.
    SharedMemory {
        /// The whole message.
        text: &'a str,
        /// No room is left.
        no_space: bool,
    },
    /// A CUDA call failed.
    Cuda {
        /// Number (2.19 and later).
        code: Option<i64>,
        /// Text.
        error: &'a str,
    },
    /// A library could not be opened or misses a symbol.
    Library(&'a str),
    /// Two ranks on one GPU.
    DuplicateGpu(&'a str),
    /// Ranks of different releases.
    VersionMismatch(&'a str),
    /// Ranks called different collectives, or with different sizes.
    CollectiveMismatch(&'a str),
    /// No socket interface fits.
    NoInterface(&'a str),
    /// NVLink SHARP could not be set up.
    Nvls(&'a str),
    /// Multi-node NVLink: the IMEX domain does not work.
    Imex(&'a str),
    /// A topology or graph file cannot be used.
    TopologyFile(&'a str),
    /// Rank and peer find no transport.
    NoTransport(&'a str),
    /// NICs of different kinds are to be connected or merged.
    NicsDiffer(&'a str),
    /// Another program's plugin says it could not start.
    Plugin(&'a str),
    /// The job asks for what cannot be: bad arguments.
    Usage(&'a str),
    /// Any other warning.
    Other(&'a str),
}

/// Reads a warning. Some of these words come at the level INFO as well.
pub(super) fn warning(text: &str) -> Failure<'_> {
    // A plugin's own words: memory, endpoints and providers of libfabric, not NCCL's.
    if text.starts_with("NET/OFI") {
        if let Some(trouble) = efa(text) {
            return Failure::Socket { trouble, peer: None };
        }
        if let Some(error) = registration(text) {
            return Failure::Verbs { call: "fi_mr_reg", error, errno: None, detail: "" };
        }
        return if super::plugin::ofi(text).is_some() { Failure::Plugin(text) } else { Failure::Other(text) };
    }
    verbs(text)
        .or_else(|| completion(text).map(Failure::Completion))
        .or_else(|| asynchronous(text))
        .or_else(|| socket(text))
        .or_else(|| shared_memory(text))
        .or_else(|| cuda(text))
        .or_else(|| named(text))
        .unwrap_or(Failure::Other(text))
}

/// Why libfabric did not register memory: `NET/OFI Unable to register memory (type = 1) for device 0. RC: 12, Error: Cannot allocate memory`.
fn registration(text: &str) -> Option<&str> {
    let rest = after(text, "NET/OFI Unable to register memory")?;
    after(rest, ", Error: ").map(str::trim).filter(|e| matches!(*e, "Cannot allocate memory" | "Bad address"))
}

fn verbs(text: &str) -> Option<Failure<'_>> {
    let at = text.find("Call to ibv_")?;
    let rest = text.get(at + 8..)?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let (call, rest) = (rest.get(..end)?, rest.get(end..)?);
    let Some(rest) = after(rest, "failed") else {
        return rest.contains("returned").then_some(Failure::Verbs {
            call,
            error: rest.trim(),
            errno: None,
            detail: "",
        });
    };
    if let Some(rest) = rest.strip_prefix(" with error ") {
        let (error, errno) = match rest.split_once(" errno ") {
            Some((error, number)) => (error, int(number).map(|(n, _)| n)),
            None => (rest, None),
        };
        return Some(Failure::Verbs { call, error: error.trim(), errno, detail: "" });
    }
    // `failed with 110 Connection timed out, on dev mlx5_0:1 …`
    if let Some((errno, rest)) = rest.strip_prefix(" with ").and_then(int) {
        let (error, detail) = rest.split_once(',').unwrap_or((rest, ""));
        return Some(Failure::Verbs { call, error: error.trim(), errno: Some(errno), detail: detail.trim() });
    }
    Some(Failure::Verbs { call, error: rest.trim_start_matches([' ', ':']), errno: None, detail: "" })
}

fn completion(text: &str) -> Option<Completion<'_>> {
    let rest = after(text, "Got completion ")?;
    let peer = after(rest, "from peer ").map(word);
    let (status, side) = if let Some(s) = after_int(rest, "error ") {
        (s, after(rest, "vendor err").and_then(in_parentheses))
    } else {
        let status = after(rest, "status=")?;
        let status = int(status).or_else(|| int(after(status, "(")?)).map(|(v, _)| v)?;
        (status, after(rest, "vendor err").and_then(in_parentheses).or_else(|| after(rest, "req_type=").map(word)))
    };
    let vendor = after_int(rest, "vendor err ").or_else(|| after_int(rest, "vendor_err="));
    Some(Completion {
        peer,
        status: u32::try_from(status).ok()?,
        vendor: vendor.and_then(|v| u32::try_from(v).ok()),
        side,
        local_gid: after(rest, "localGid ").map(word),
        remote_gid: after(rest, "remoteGids").map(word).filter(|g| !g.is_empty()),
        hca: after(rest, " hca ").map(word),
    })
}

fn in_parentheses(text: &str) -> Option<&str> {
    let (inside, _) = after(text, "(")?.split_once(')')?;
    Some(inside)
}

fn asynchronous(text: &str) -> Option<Failure<'_>> {
    let rest = text.strip_prefix("NET/IB : ")?;
    let (fatal, key) = [(true, "async fatal event"), (false, "Got async error event: "), (false, "Got async event : ")]
        .into_iter()
        .chain([(false, "Got non-fatal async event: "), (false, "GID table changed")])
        .find(|(_, key)| rest.contains(key))?;
    let (device, event) = rest.split_once(key)?;
    let event = if key.starts_with("GID") { key } else { event.rsplit_once(": ").map_or(event, |(_, e)| e).trim() };
    let device = device.trim();
    Some(Failure::Async { device: (!device.is_empty()).then_some(device), event, fatal })
}

fn socket(text: &str) -> Option<Failure<'_>> {
    let has = |w: &str| text.contains(w);
    let relevant = has("Connection closed by remote peer")
        || has("onnect to ") && (has("failed") || has("returned"))
        || has("connect returned")
        || has("socketStartConnect: exceeded")
        || has("socketPollConnect")
        || has("Call to recv ")
        || has("Call to send ")
        || has("Call to connect ")
        || has("Call to bind ")
        || has("No interface found in the same subnet")
        || text.starts_with("ncclOsSocket") && has(" failed")
        || text.starts_with("socketProgressOpt: ") && has(" failed")
        || has("NET/Socket : socket progress error")
        || has("accept returned");
    if !relevant {
        return None;
    }
    let peer = [
        "remote peer ",
        "remote address ",
        "onnect to ",
        "Call to recv from ",
        "Call to send to ",
        "socketPollConnect to ",
    ]
    .into_iter()
    .find_map(|key| after(text, key))
    .map(word)
    .filter(|p| p.contains(['<', ':', '.']) || p.len() > 3 && !p.starts_with("fail"));
    Some(Failure::Socket { trouble: SocketTrouble::of(text), peer })
}

fn shared_memory(text: &str) -> Option<Failure<'_>> {
    let has = |w: &str| text.contains(w);
    // What is unmapped or unlinked at the end says nothing about room.
    let relevant = has("shared memory segment")
        || has("shared memory file")
        || has("posix_fallocate")
        || has("failed to extend")
        || has("/dev/shm")
        || has("shm_open")
        || has("Could not map") && has("nccl-");
    relevant.then(|| Failure::SharedMemory {
        text,
        no_space: has("No space left") || has("failed to extend") && !has(", error"),
    })
}

/// Calls of CUDA that old releases name themselves, before the error's number and words or its words alone (`transport/p2p.cc`).
const CUDA_CALLS: &[&str] = &[
    "failed to open CUDA IPC handle : ",
    "failed to peer with device ",
    "rank failed to peer with device ",
    "cudaIpcGetMemHandle failed : ",
    "cudaIpcOpenMemHandle failed : ",
    "cudaHostGetDevicePointer failed : ",
    "hostStreamPlanCallback() failed : ",
];

/// `failed to peer with device 1(=2e000): 217 peer access is not supported between these two devices`.
fn cuda_call(text: &str) -> Option<Failure<'_>> {
    let (call, rest) = CUDA_CALLS.iter().find_map(|c| Some((*c, text.strip_prefix(c)?)))?;
    let rest = if call.ends_with("device ") { rest.split_once(": ")?.1 } else { rest };
    let (code, error) = int(rest).map_or((None, rest), |(code, error)| (Some(code), error));
    Some(Failure::Cuda { code, error: error.trim() })
}

fn cuda(text: &str) -> Option<Failure<'_>> {
    if let Some(call) = cuda_call(text) {
        return Some(call);
    }
    // RCCL says HIP.
    let (at, len) = ["Cuda failure ", "CUDA failure ", "HIP failure "]
        .iter()
        .find_map(|key| text.find(key).map(|at| (at, key.len())))?;
    let rest = text.get(at + len..)?;
    let (code, rest) = int(rest).map_or((None, rest), |(code, rest)| (Some(code), rest));
    Some(Failure::Cuda { code, error: rest.trim().trim_matches('\'') })
}

/// A file that cannot be used, of a topology or a graph. A limit of the parser is met by large machines without any file, too.
fn is_of_file(text: &str) -> bool {
    let limit = text.contains("limited to ") || text.contains("too many XML") || text.contains("XML Export");
    text.contains("XML ") && !limit || attribute(text)
}

/// `Attribute busid of node pci not found`: of an element of a topology or a graph (`graph/xml.h`), not of MSCCL's algorithms, which RCCL and
/// MSCCL read with the same code.
fn attribute(text: &str) -> bool {
    const ELEMENTS: &[&str] =
        &["system", "cpu", "pci", "gpu", "nvlink", "c2c", "nic", "net", "gin", "pcilink", "graphs", "graph", "channel"];
    let element = text.strip_prefix("Attribute ").and_then(|r| r.split_once(" of node ")).map(|(_, rest)| rest);
    element.is_some_and(|e| ELEMENTS.contains(&e.split(' ').next().unwrap_or_default()))
}

fn named(text: &str) -> Option<Failure<'_>> {
    let has = |w: &str| text.contains(w);
    Some(
        if has("Duplicate GPU detected")
            || has("ultiple Ranks are using the same GPU")
            || has("ultiple ranks detected using the same GPU")
        {
            Failure::DuplicateGpu(text)
        } else if has("Mismatched NCCL version")
            || has("NCCL library version is too old")
            || has("compiled with too old")
        {
            Failure::VersionMismatch(text)
        } else if has("ollective mismatch")
            || has("Mismatched collective")
            || has("essage truncated")
            || has("posted incorrect receive")
        {
            Failure::CollectiveMismatch(text)
        } else if has("no socket interface found")
            || has("No socket interface found")
            || has("no interface found")
            || has("No usable listening interface")
            || has("No IP interface found")
            || has("no device found ") && has("verify NCCL_OOB_NET_IFNAME")
            || has("is neither AF_INET")
            || has("ocket creation failed") && has("Address family not supported")
        {
            Failure::NoInterface(text)
        } else if has("IMEX") || has("MNNVL") {
            Failure::Imex(text)
        } else if has("bind NVLink SHARP") || has("ulticast") {
            Failure::Nvls(text)
        } else if has("Failed to open lib") || has("dlvsym failed") || has("dlsym failed") {
            Failure::Library(text)
        } else if is_of_file(text) {
            Failure::TopologyFile(text)
        } else if has("No transport found") || has("no transport for") {
            Failure::NoTransport(text)
        } else if has("NCCL_IB_HCA") && (has("ncompatible") || has("link_layer")) {
            Failure::NicsDiffer(text)
        } else if has("nvalid rank requested")
            || has("invalid argument")
            || has("improper usage")
            || has("invalid usage")
        {
            Failure::Usage(text)
        } else if has("Driver version found") || has("Driver/library version mismatch") {
            Failure::Cuda { code: None, error: text }
        } else {
            return None;
        },
    )
}
