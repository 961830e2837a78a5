//! NICs that a network uses: `[0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>`.

use super::cursor::{int, uint};

/// A NIC or an interface in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nic<'a> {
    /// Its number.
    pub index: u32,
    /// `mlx5_0`, or `eth0`; merged NICs are `mlx5_0+mlx5_1`.
    pub name: &'a str,
    /// Port, of RDMA NICs.
    pub port: Option<u32>,
    /// `IB`, `RoCE` or `SHARP`, of RDMA NICs; the address, of interfaces.
    pub rest: &'a str,
}

/// The NICs of a list, in order. The last of a list that is cut counts only where it is printed whole.
pub fn nics(list: &str) -> impl Iterator<Item = Nic<'_>> {
    let cut = is_cut(list);
    let list = list.split_once("; OOB").map_or(list, |(nics, _)| nics);
    let last = list.rfind('[').filter(|_| cut).unwrap_or(list.len());
    let (whole, last) = list.split_at_checked(last).unwrap_or((list, ""));
    let entries = whole.split('[').skip(1).filter_map(entry);
    entries.chain(last.strip_prefix('[').and_then(entry).filter(Nic::is_whole))
}

/// What follows `[` in a list.
fn entry(part: &str) -> Option<Nic<'_>> {
    let (index, rest) = uint(part)?;
    let body = rest.strip_prefix(']')?.trim();
    let (name, rest) = body.split_once(':')?;
    let (port, kind) = match int(rest) {
        Some((port, kind)) if kind.starts_with(['/', ':']) => (u32::try_from(port).ok(), kind),
        _ => (None, rest),
    };
    // From 2.30 rail and plane may stand after the port.
    let rest = kind.rsplit_once('/').map_or(kind, |(_, k)| k);
    Some(Nic { index, name, port, rest: if port.is_some() { rest } else { kind } })
}

impl Nic<'_> {
    /// Whether it ends as NCCL ends one. An interface has all that counts once its address begins.
    fn is_whole(&self) -> bool {
        match self.port {
            Some(_) => matches!(self.rest, "IB" | "RoCE" | "SHARP"),
            None => self.rest.contains(['.', ':']),
        }
    }
}

/// Whether the end of a list is missing. NCCL ends it with an interface's address, of RDMA NICs that of out-of-band messages.
#[must_use]
pub fn is_cut(list: &str) -> bool {
    !list.trim_end().ends_with('>') && !list.contains("; OOB ")
}

/// How far a text is a list of NICs and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NicList {
    /// NICs that are printed whole.
    pub nics: u32,
    /// It ends as NCCL ends one.
    pub whole: bool,
}

impl NicList {
    /// Reads a list that may be cut anywhere. `None`: other text is in it.
    #[must_use]
    pub fn read(list: &str) -> Option<Self> {
        let mut nics = 0;
        let (entries, oob) = list.split_once(" OOB").map_or((list, None), |(e, oob)| (e, Some(oob)));
        let mut tokens = entries.split_whitespace().peekable();
        while let Some(token) = tokens.next() {
            let whole = token.strip_prefix('[').and_then(entry).filter(|n| n.index == nics && is_plain(token));
            match whole {
                Some(nic) if nic.port.is_some() || is_address(nic.rest) => nics += 1,
                _ if matches!(token, "[RO]" | "[RO];" | ";") => {}
                // The last one, cut: `[`, `[7`, `[7]m`, `[RO`, `OO`.
                _ if tokens.peek().is_none()
                    && oob.is_none()
                    && (is_begun(token, nics) || "OOB".starts_with(token)) => {}
                _ => return None,
            }
        }
        let whole = match oob {
            Some(oob) => match (oob.is_empty() || oob.starts_with(' '), oob.trim()) {
                (true, oob) if !oob.contains(' ') => {
                    oob.split_once(':').is_some_and(|(_, address)| is_address(address))
                }
                _ => return None,
            },
            None => entries.trim_end().ends_with('>'),
        };
        Some(NicList { nics, whole: whole && nics > 0 })
    }
}

/// `10.0.0.1<0>`, `fe80::1%eth0<0>`.
fn is_address(text: &str) -> bool {
    let port = text.strip_suffix('>').and_then(|t| t.split_once('<'));
    port.is_some_and(|(address, port)| {
        !address.is_empty() && !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())
    })
}

/// An entry of RDMA NICs or interfaces has nothing of a sentence in it.
fn is_plain(token: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'+' | b':' | b'/' | b'%');
    let body = token.split_once(']').map_or("", |(_, body)| body);
    let body = body.split_once('<').map_or(body, |(body, _)| body);
    body.bytes().all(is_plain)
}

/// The beginning of the entry with this number, or of `[RO]`.
fn is_begun(token: &str, number: u32) -> bool {
    let Some(inside) = token.strip_prefix('[') else { return false };
    match inside.split_once(']') {
        Some((digits, _)) => digits.parse() == Ok(number) && is_plain(token),
        None => number.to_string().starts_with(inside) || "RO".starts_with(inside),
    }
}

/// The interface of out-of-band messages, after a list of NICs; none where its address is cut.
#[must_use]
pub fn oob(list: &str) -> Option<&str> {
    list.split_once("; OOB ").map(|(_, oob)| oob.trim()).filter(|oob| oob.ends_with('>'))
}
