//! NCCL's messages without its head: in exceptions, in tickets.

use super::keys::Pair;
use super::record::trouble;
use super::words::OF_NCCL;
use super::{Observer, frameworks};
use crate::observe::groups::Seen;
use crate::place::Place;
use linerate_formats::nccl_log::{Failure, Level, Line, Message};
use linerate_formats::{nccl_log, printed};

/// Messages of NCCL that count without a head, from their beginning.
const BARE: &[&str] = &[
    "Call to ibv_",
    "NET/IB : ",
    "NET/IB: ",
    "Got completion with ",
    "Got completion from ",
    "Duplicate GPU detected : rank ",
    "Bootstrap : no socket interface found",
    "socketStartConnect: Connect to ",
    "socketPollConnect",
    "ncclOsSocketPollConnect",
    "ncclOsSocketStartConnect: ",
    "socketProgress: Connection closed by remote peer",
    "socketProgressOpt: Call to ",
    "Connect to ",
    "connect to ",
    "Net : Connect to ",
    "Net : Call to recv from ",
    "Net : Socket creation failed",
    "Socket creation failed",
    "Call to connect returned ",
    "Call to connect failed",
    "Call to bind failed",
    "Call to posix_fallocate failed",
    "no device found matching ",
    "no device found after excluding ",
    "NET/Socket : No usable listening interface found",
    "socketStartConnect: connect ",
    "ncclSocketInit: Socket creation failed",
    "ncclSocketConnect: ",
    "socketStartConnect: exceeded ",
    "socketTryAccept: ",
    "NET/Socket : no interface found",
    "ncclOsSocketProgress",
    "Net : Connection closed by remote peer",
    "Net : No interface found in the same subnet as remote address ",
    "Error while creating shared memory segment /dev/shm/nccl-",
    "Error while attaching to shared memory segment /dev/shm/nccl-",
    "Error: failed to extend /dev/shm/nccl-",
    "Error: failed to create shared memory file /dev/shm/nccl-",
    "Error: Could not map /dev/shm/nccl-",
    "Mismatched NCCL version detected : rank ",
    "Failed to bind NVLink SHARP (NVLS) Multicast memory of size ",
    "MNNVL (cliqueSize ",
    "failed to open CUDA IPC handle : ",
    "failed to peer with device ",
    "Multiple Ranks are using the same GPU/Partition.",
    "Message truncated : received ",
];

/// Those of [`BARE`] with which a sentence may begin, too: they count where the line ends with the error, as NCCL's does.
const OPEN: &[&str] = &[
    "Connect to ",
    "connect to ",
    "Net : Connect to ",
    "Socket creation failed",
    "Call to connect ",
    "Call to bind failed",
    "Call to posix_fallocate failed",
];

/// Messages that are judged by their words alone: those of a GPU's allocation, and of a choice that is not there.
const OWN_WORDS: &[&str] = &["Failed to CUDA ", "Error : no algorithm/protocol available"];

/// Errors of sockets in the words of strerror.
const SOCKET_ERRORS: &[&str] = &[
    "Connection refused",
    "Connection timed out",
    "No route to host",
    "Network is unreachable",
    "Software caused connection abort",
    "Connection reset by peer",
    "Host is down",
    "Address family not supported by protocol",
    "Cannot assign requested address",
    "No space left on device",
];

/// Whether a line ends with such an error, or with what NCCL says of its next try.
pub(super) fn ends_with_error(text: &str) -> bool {
    let text = text.trim_end();
    SOCKET_ERRORS.iter().any(|e| {
        text.rsplit_once(e).is_some_and(|(_, rest)| {
            rest.is_empty() || rest.starts_with(", retrying") || rest.starts_with(", exceeded error retry count")
        })
    })
}

impl Observer {
    /// NCCL's words without its head: in exceptions, in tickets.
    pub(super) fn quoted(&mut self, place: Place, text: &str) -> bool {
        // From its beginning: a sentence about it is not NCCL's.
        let own = printed::own(text);
        let text = frameworks::last_warning(own.text).unwrap_or(own.text);
        // A pair's line has numbers to its end, which no sentence has.
        if let (false, Message::GdrPair(pair)) = (own.quoted, Message::info(text))
            && !pair.enabled
            && text.trim_end().ends_with(')')
        {
            let nccl_log::GdrPair { enabled, distance, limit, inclusive, .. } = pair;
            let seen = Seen { place, text, stamp: None, process: None, rank: None, host: None };
            self.pairs.add(Pair { enabled, distance, limit, inclusive }, &seen);
            self.file(place.file).other += 1;
            return true;
        }
        let begins = BARE.iter().any(|b| text.starts_with(b));
        let names_one = OF_NCCL.iter().any(|w| text.contains(w));
        let open = OPEN.iter().any(|b| text.starts_with(b));
        if own.quoted || names_one && !begins || begins && open && !ends_with_error(text) {
            return false;
        }
        let failure = match Message::read(&Line {
            before: "",
            who: "",
            level: Level::Warn,
            source: None,
            message: text,
        }) {
            Message::Failure(f) if !matches!(f, Failure::Other(w) if !OWN_WORDS.iter().any(|o| w.starts_with(o))) => f,
            _ => return false,
        };
        let key = trouble(&failure, &mut self.names);
        self.failures.add(key, &Seen { place, text, stamp: None, process: None, rank: None, host: None });
        self.file(place.file).other += 1;
        true
    }
}
