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

/// The NICs of a list, in order.
pub fn nics(list: &str) -> impl Iterator<Item = Nic<'_>> {
    let list = list.split_once("; OOB").map_or(list, |(nics, _)| nics);
    list.split('[').skip(1).filter_map(|part| {
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
    })
}

/// The interface of out-of-band messages, after a list of NICs.
#[must_use]
pub fn oob(list: &str) -> Option<&str> {
    list.split_once("; OOB ").map(|(_, oob)| oob.trim())
}
