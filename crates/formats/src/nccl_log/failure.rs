//! What goes wrong, in the words of the releases.

use super::cursor::{after, after_int, int, word};

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
    /// No answer.
    TimedOut,
    /// No way there.
    Unreachable,
    /// The other side ended.
    Closed,
    /// Another error.
    Other,
}

impl SocketTrouble {
    fn of(text: &str) -> Self {
        let has = |w: &str| text.contains(w);
        if has("refused") {
            Self::Refused
        } else if has("timed out") || has("timeouts") {
            Self::TimedOut
        } else if has("No route") || has("unreachable") || has("is down") {
            Self::Unreachable
        } else if has("closed by remote") || has("reset by peer") || has("Broken pipe") {
            Self::Closed
        } else {
            Self::Other
        }
    }
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
    verbs(text)
        .or_else(|| completion(text).map(Failure::Completion))
        .or_else(|| asynchronous(text))
        .or_else(|| socket(text))
        .or_else(|| shared_memory(text))
        .or_else(|| cuda(text))
        .or_else(|| named(text))
        .unwrap_or(Failure::Other(text))
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
        || has("NET/Socket : socket progress error")
        || has("accept returned");
    if !relevant {
        return None;
    }
    let peer = ["remote peer ", "onnect to ", "Call to recv from ", "Call to send to ", "socketPollConnect to "]
        .into_iter()
        .find_map(|key| after(text, key))
        .map(word)
        .filter(|p| p.contains(['<', ':', '.']) || p.len() > 3 && !p.starts_with("fail"));
    Some(Failure::Socket { trouble: SocketTrouble::of(text), peer })
}

fn shared_memory(text: &str) -> Option<Failure<'_>> {
    let has = |w: &str| text.contains(w);
    let relevant = has("shared memory")
        || has("posix_fallocate")
        || has("failed to extend")
        || has("/dev/shm")
        || has("shm_open")
        || has("Could not map") && has("nccl-");
    relevant.then(|| Failure::SharedMemory { text, no_space: has("No space left") || has("failed to extend") })
}

fn cuda(text: &str) -> Option<Failure<'_>> {
    let at = text.find("Cuda failure ").or_else(|| text.find("CUDA failure "))?;
    let rest = text.get(at + 13..)?;
    let (code, rest) = int(rest).map_or((None, rest), |(code, rest)| (Some(code), rest));
    Some(Failure::Cuda { code, error: rest.trim().trim_matches('\'') })
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
            || has("No interface found in the same subnet")
            || has("is neither AF_INET")
        {
            Failure::NoInterface(text)
        } else if has("IMEX") || has("MNNVL") {
            Failure::Imex(text)
        } else if has("NVLS") || has("ulticast") {
            Failure::Nvls(text)
        } else if has("Failed to open lib") || has("dlvsym failed") || has("dlsym failed") {
            Failure::Library(text)
        } else if has("XML ") || text.starts_with("Attribute ") && has(" of node ") {
            Failure::TopologyFile(text)
        } else if has("No transport found") || has("no transport for") {
            Failure::NoTransport(text)
        } else if has("NCCL_IB_HCA") && (has("ncompatible") || has("link_layer")) {
            Failure::NicsDiffer(text)
        } else if text.starts_with("NET/OFI") && (has("nitializ") && has("fail") || has("GDR disabled")) {
            Failure::Plugin(text)
        } else if has("nvalid rank requested")
            || has("invalid argument")
            || has("improper usage")
            || has("invalid usage")
        {
            Failure::Usage(text)
        } else if has("Driver version found") {
            Failure::Cuda { code: None, error: text }
        } else {
            return None;
        },
    )
}
