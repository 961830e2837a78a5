//! Lists of devices and interfaces as NCCL reads them: `NCCL_IB_HCA`, `NCCL_SOCKET_IFNAME`.
//!
//! The definition is NCCL's `parseStringList` and `matchIfList` (src/misc/utils.cc), with the callers that take `^` and `=` off the whole
//! list first (src/transport/net_ib/init.cc, src/os/linux.cc).

use std::fmt;

/// A list of names: `^` and `=` only at its very beginning, entries at commas, blanks belong to names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// `^`: all but these.
    pub exclude: bool,
    /// `=`: whole names; otherwise a name is a prefix.
    pub exact: bool,
    /// Entries that have a name.
    pub entries: Vec<Entry>,
}

/// One entry: `name[:port[:rail[:plane]]]`. Rail and plane are read since 2.30.7 and passed over before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Name, or the beginning of one.
    pub name: String,
    /// What follows the name, as it was written: empty, or `:1`, `:1:0:2`.
    pub tail: String,
}

/// What an entry says of ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ports {
    /// All of the device's.
    All,
    /// This one. Devices count from 1: nothing has port 0.
    One(i32),
    /// A colon without a number: port 0, which nothing has, up to 2.30.4; all ports since 2.30.7.
    Empty,
}

impl Entry {
    /// What it says of ports: `atoi` of what follows the first colon.
    #[must_use]
    pub fn ports(&self) -> Ports {
        let Some(rest) = self.tail.strip_prefix(':') else { return Ports::All };
        let text = rest.split(':').next().unwrap_or_default();
        if text.is_empty() {
            return Ports::Empty;
        }
        match atoi(text) {
            -1 => Ports::All,
            n => Ports::One(n),
        }
    }

    /// Whether it says which port and says it wrongly: no number, or one that no device has.
    #[must_use]
    pub fn port_is_odd(&self) -> bool {
        matches!(self.ports(), Ports::Empty) || matches!(self.ports(), Ports::One(n) if n < 1)
    }

    /// Whether the name goes on with further digits in another one: `mlx5_1` in `mlx5_10`, and not `mlx5` in `mlx5_1`.
    #[must_use]
    pub fn is_number_within(&self, name: &str) -> bool {
        let digit = |c: char| c.is_ascii_digit();
        self.name.ends_with(digit) && name.strip_prefix(self.name.as_str()).is_some_and(|rest| rest.starts_with(digit))
    }

    /// Whether the name ends in the number of one device, `mlx5_1`, `efa_0`, `bnxt_re3`. `mlx5`, `mlx5_` and `bnxt_re` stand for all devices
    /// of their driver.
    #[must_use]
    pub fn names_one(&self) -> bool {
        let bare = self.name.trim_end_matches('_');
        self.name.ends_with(|c: char| c.is_ascii_digit()) && !WHOLE.contains(&bare)
    }

    fn meets(&self, exact: bool, name: &str, port: Option<u32>) -> bool {
        let same = if exact { self.name == name } else { name.starts_with(self.name.as_str()) };
        same && match (self.ports(), port) {
            (Ports::One(wanted), Some(port)) => i64::from(wanted) == i64::from(port),
            _ => true,
        }
    }
}

/// How the kernel's drivers name all their devices, where that ends in a digit.
const WHOLE: &[&str] = &["mlx4", "mlx5", "hfi1", "qedr"];

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, self.tail)
    }
}

impl Filter {
    /// Reads a list.
    #[must_use]
    pub fn parse(text: &str) -> Filter {
        let (exclude, t) = text.strip_prefix('^').map_or((false, text), |t| (true, t));
        let (exact, t) = t.strip_prefix('=').map_or((false, t), |t| (true, t));
        let entry = |e: &str| {
            let at = e.find(':').unwrap_or(e.len());
            let (name, tail) = e.split_at(at);
            (!name.is_empty()).then(|| Entry { name: name.to_owned(), tail: tail.to_owned() })
        };
        Filter { exclude, exact, entries: t.split(',').filter_map(entry).collect() }
    }

    /// Whether a device's port passes. `None`: no port is asked for, as with interfaces.
    #[must_use]
    pub fn takes(&self, name: &str, port: Option<u32>) -> bool {
        self.entries.is_empty() || self.names(name, port) != self.exclude
    }

    /// Whether an entry names a device's port.
    #[must_use]
    pub fn names(&self, name: &str, port: Option<u32>) -> bool {
        self.entries.iter().any(|e| e.meets(self.exact, name, port))
    }

    /// Entries that name none of these.
    #[must_use]
    pub fn idle(&self, devices: &[(&str, u32)]) -> Vec<&Entry> {
        let used = |e: &&Entry| devices.iter().any(|(n, p)| e.meets(self.exact, n, Some(*p)));
        self.entries.iter().filter(|e| !used(e)).collect()
    }

    /// The same entries, ports and all, as whole names.
    #[must_use]
    pub fn exactly(&self) -> Filter {
        Filter { exact: true, ..self.clone() }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.exclude { "^" } else { "" })?;
        f.write_str(if self.exact { "=" } else { "" })?;
        for (i, e) in self.entries.iter().enumerate() {
            write!(f, "{}{e}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// C's `atoi`: blanks, a sign, digits, and what follows them is passed over; 0 without digits.
fn atoi(text: &str) -> i32 {
    let t = text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
    let (sign, t) = match t.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, t.strip_prefix('+').unwrap_or(t)),
    };
    let digits = t.bytes().take_while(u8::is_ascii_digit).take(10);
    let n = digits.fold(0_i64, |n, d| n * 10 + i64::from(d - b'0'));
    i32::try_from(sign * n).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// List, device, port, whether NCCL takes it.
    const TAKEN: &[(&str, &str, u32, bool)] = &[
        ("mlx5", "mlx5_7", 1, true),
        ("mlx5_1", "mlx5_10", 1, true),
        ("=mlx5_1", "mlx5_10", 1, false),
        ("=mlx5_1:1,mlx5_10:1", "mlx5_10", 1, true),
        ("^mlx5_1", "mlx5_10", 1, false),
        ("^=mlx5_1", "mlx5_10", 1, true),
        ("^mlx5_4,mlx5_5", "mlx5_5", 1, false),
        ("=mlx5_0,mlx5_1:2", "mlx5_1", 1, false),
        ("=mlx5_0,mlx5_1:2", "mlx5_1", 2, true),
        ("=mlx5_0, mlx5_1", "mlx5_1", 1, false),
        ("mlx4_0:1,mlx4_0:2", "mlx4_0", 2, true),
        ("mlx4_0:1", "mlx4_0", 2, false),
        ("^mlx5_0:1", "mlx5_0", 1, false),
        ("^mlx5_0:1", "mlx5_0", 2, true),
        ("=mlx5_0:1:0:2", "mlx5_0", 1, true),
        ("=mlx5_0:1:0:2", "mlx5_0", 2, false),
        ("mlx5_0:x", "mlx5_0", 1, false),
        ("mlx5_0:1x", "mlx5_0", 1, true),
        ("mlx5_0:-1", "mlx5_0", 2, true),
        (":1,mlx5_0", "mlx5_1", 1, false),
        ("=^mlx5_0", "mlx5_0", 1, false),
        ("", "x", 1, true),
        ("^", "x", 1, true),
    ];

    #[test]
    fn lists_are_read_as_match_if_list_reads_them() {
        for (list, device, port, want) in TAKEN {
            assert_eq!(Filter::parse(list).takes(device, Some(*port)), *want, "{list} {device}:{port}");
        }
        assert!(Filter::parse("eth0:7").takes("eth0", None), "interfaces have no port");
    }

    #[test]
    fn what_was_read_is_written_again_with_its_ports() {
        for (list, exact) in [
            ("mlx4_0:1,mlx4_0:2", "=mlx4_0:1,mlx4_0:2"),
            ("^mlx5_0:1", "^=mlx5_0:1"),
            ("=mlx5_0:1:0:2,mlx5_1", "=mlx5_0:1:0:2,mlx5_1"),
        ] {
            let f = Filter::parse(list);
            assert_eq!((f.to_string(), f.exactly().to_string()), (list.to_owned(), exact.to_owned()));
        }
    }

    #[test]
    fn a_number_goes_on_in_a_longer_one_only() {
        let one = |n: &str| Filter::parse(n).entries.remove(0);
        for (entry, name, want) in [
            ("mlx5_1", "mlx5_10", true),
            ("mlx5", "mlx5_1", false),
            ("mlx5_1", "mlx5_1", false),
            ("mlx5_", "mlx5_1", false),
        ] {
            assert_eq!(one(entry).is_number_within(name), want, "{entry} {name}");
        }
        for (entry, want) in
            [("mlx5", false), ("mlx5_", false), ("mlx5_0", true), ("bnxt_re", false), ("bnxt_re0", true)]
        {
            assert_eq!(one(entry).names_one(), want, "{entry}");
        }
        let f = Filter::parse("=mlx5_0,mlx5_9:1");
        assert_eq!(
            f.idle(&[("mlx5_0", 1), ("mlx5_1", 1)]).iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["mlx5_9:1"]
        );
    }
}
