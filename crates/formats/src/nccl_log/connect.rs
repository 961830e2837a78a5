//! Connections: which rank reaches which, over what, and whether the NIC reads and writes GPU memory itself.

use super::cursor::{blanks, int, uint};

/// Which half of a network connection a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// The first rank sends, and prints the line.
    Send,
    /// The second rank receives, and prints the line.
    Receive,
}

/// What carries the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport<'a> {
    /// Between GPUs of one process, through pointers.
    P2pDirect,
    /// Between processes, CUDA IPC.
    P2pIpc,
    /// Between processes, memory that cuMem made.
    P2pCumem,
    /// NVLink across nodes.
    P2pMnnvl,
    /// Through another GPU.
    P2pIndirect,
    /// Both ranks on one device.
    P2pSame,
    /// Another kind of peer-to-peer.
    P2pOther(&'a str),
    /// Host memory.
    Shm,
    /// A network.
    Net {
        /// `IB`, `Socket`, or the name of a plugin.
        name: &'a str,
        /// Number of the NIC, as NCCL numbers them.
        device: u32,
        /// Rank that talks to the NIC where it is another one (PXN).
        proxy: Option<u32>,
        /// The NIC reads or writes GPU memory.
        gdr: bool,
    },
    /// A network that reduces.
    CollNet {
        /// Its name.
        name: &'a str,
        /// Number of the NIC.
        device: u32,
        /// The NIC reads or writes GPU memory.
        gdr: bool,
    },
}

/// A line about a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connect<'a> {
    /// Channel, or ring in old releases.
    pub channel: u32,
    /// Connection within the channel (2.12 and later).
    pub connection: Option<u32>,
    /// From.
    pub from: u32,
    /// To; none for networks that reduce.
    pub to: Option<u32>,
    /// Which half; none within a node.
    pub direction: Option<Direction>,
    /// Over what.
    pub transport: Transport<'a>,
}

impl Connect<'_> {
    /// The rank that printed the line.
    #[must_use]
    pub fn local(&self) -> u32 {
        match self.direction {
            Some(Direction::Receive) => self.to.unwrap_or(self.from),
            _ => self.from,
        }
    }
}

/// Reads what follows `Channel ` or `Ring `: `00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA`.
pub(super) fn read(text: &str) -> Option<Connect<'_>> {
    let (channel, rest) = uint(text)?;
    let (connection, rest) = match rest.strip_prefix('/') {
        Some(rest) => uint(rest).map(|(c, rest)| (Some(c), rest))?,
        None => (None, rest),
    };
    let rest = blanks(blanks(rest).strip_prefix(':')?);
    let (from, rest) = rank(rest)?;
    let rest = blanks(rest);
    let (to, rest) = match rest.strip_prefix("->") {
        Some(rest) => rank(blanks(rest)).map(|(to, rest)| (Some(to), rest))?,
        None => (None, rest),
    };
    let rest = blanks(rest);
    let (direction, rest) = if let Some(rest) = rest.strip_prefix("[send]") {
        (Some(Direction::Send), rest)
    } else if let Some(rest) = rest.strip_prefix("[receive]") {
        (Some(Direction::Receive), rest)
    } else {
        (None, rest)
    };
    let via = blanks(rest).strip_prefix("via ")?;
    Some(Connect { channel, connection, from, to, direction, transport: transport(via)? })
}

/// `3`, `3[2]`, `3[1a000]`: the rank.
fn rank(text: &str) -> Option<(u32, &str)> {
    let (rank, rest) = uint(text)?;
    if rest.as_bytes().first() != Some(&b'[') {
        return Some((rank, rest));
    }
    // Up to sixteen digits: a loop is shorter than a search.
    let close = rest.bytes().take(24).position(|b| b == b']')?;
    Some((rank, rest.get(close + 1..)?))
}

fn transport(via: &str) -> Option<Transport<'_>> {
    if let Some(rest) = via.strip_prefix("NET/") {
        let (name, device, proxy, gdr) = net(rest)?;
        return Some(Transport::Net { name, device, proxy, gdr });
    }
    if let Some(rest) = via.strip_prefix("P2P/") {
        let end = rest.bytes().position(|b| b == b' ' || b == b'/').unwrap_or(rest.len());
        return Some(match rest.get(..end)? {
            "CUMEM" => Transport::P2pCumem,
            "IPC" => Transport::P2pIpc,
            "direct" => Transport::P2pDirect,
            "MNNVL" => Transport::P2pMnnvl,
            "indirect" => Transport::P2pIndirect,
            "common" => Transport::P2pSame,
            other => Transport::P2pOther(other),
        });
    }
    if via.starts_with("SHM") || via.starts_with("direct shared memory") {
        return Some(Transport::Shm);
    }
    if let Some(rest) = via.strip_prefix("COLLNET/") {
        let (name, device, _, gdr) = net(rest)?;
        return Some(Transport::CollNet { name, device, gdr });
    }
    None
}

/// `IB/0/GDRDMA`, `AWS Libfabric/2(5)/GDRDMA(PCI)/Shared`: a plugin's name may hold blanks and slashes, so the number is searched from
/// the front for the first part that is one.
fn net(text: &str) -> Option<(&str, u32, Option<u32>, bool)> {
    let mut at = 0;
    loop {
        let slash = at + text.bytes().skip(at).position(|b| b == b'/')?;
        let rest = text.get(slash + 1..)?;
        if let Some((device, rest)) = int(rest) {
            let (proxy, rest) = match rest.strip_prefix('(') {
                Some(inside) => uint(inside).map(|(p, rest)| (Some(p), rest.strip_prefix(')').unwrap_or(rest)))?,
                None => (None, rest),
            };
            let gdr = rest.starts_with("/GDRDMA");
            return Some((text.get(..slash)?, u32::try_from(device).ok()?, proxy, gdr));
        }
        at = slash + 1;
    }
}
