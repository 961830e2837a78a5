//! What a value may look like that is kept: numbers, addresses, names of devices, short words, paths.

use super::token;

/// What is expected behind a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// On, off, and the like.
    Switch,
    /// Words, numbers, addresses and names of devices, between signs.
    List,
    /// A path, or a [`Shape::List`].
    Path,
    /// A device, by path or label.
    Device,
}

/// Longest value that is kept.
const LONGEST: usize = 4096;
/// Letters in a row behind a digit: `el9_5`, `65s0f0np0`, `64bit`, not a password.
const LETTERS: usize = 4;

impl Shape {
    /// Whether a value may be shown. `""` may.
    pub(super) fn fits(self, value: &[u8]) -> bool {
        if value.len() > LONGEST {
            return false;
        }
        match self {
            Shape::Switch => switch(value),
            Shape::List => list(value),
            Shape::Path => list(value) || path(value),
            Shape::Device => device(value),
        }
    }
}

fn switch(v: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "", "0", "1", "2", "-1", "y", "n", "on", "off", "yes", "no", "true", "false", "auto", "none", "default",
        "enable", "disable", "enabled", "disabled",
    ];
    WORDS.iter().any(|w| v.eq_ignore_ascii_case(w.as_bytes()))
}

/// Signs between words of a list.
fn is_sign(b: u8) -> bool {
    matches!(
        b,
        b',' | b';'
            | b':'
            | b'='
            | b'+'
            | b'/'
            | b'^'
            | b'|'
            | b'*'
            | b'!'
            | b'%'
            | b'@'
            | b'('
            | b')'
            | b'['
            | b']'
            | b'>'
            | b'#'
            | b'&'
            | b'\\'
            | b'?'
    )
}

/// Words between signs. A user's name with a password in front of a host is not one.
fn list(v: &[u8]) -> bool {
    if v.windows(3).any(|w| w == b"://") {
        return false;
    }
    // `xx000x0@0000:02:00.0`, `20@0000:05:00.0`: no name and password.
    let user = |item: &[u8]| {
        let item = item.rsplit(|b| *b == b'=').next().unwrap_or_default();
        let at = item.iter().position(|b| *b == b'@');
        at.is_some_and(|at| at > 12 || item.get(..at).is_some_and(|u| u.iter().any(|b| matches!(b, b':' | b'%'))))
    };
    !v.split(|b| matches!(b, b',' | b';')).any(user) && v.split(|b| is_sign(*b)).all(|a| a.is_empty() || atom(a))
}

/// One word: parts between `-`, `_`, `.` and `~`, each of letters, of digits, or as names of devices and releases are.
pub(super) fn atom(word: &[u8]) -> bool {
    if word.len() > 100 || word.starts_with(b"--") {
        return false;
    }
    let parts = || word.split(|b| matches!(b, b'-' | b'_' | b'.' | b'~'));
    let long = parts().filter(|p| p.len() > 40).count();
    long == 0 && parts().all(part)
}

fn part(p: &[u8]) -> bool {
    if !p.iter().all(u8::is_ascii_alphanumeric) {
        return false;
    }
    // A number: of any base up to 64 bits, or a piece of a UUID.
    let hex = p.strip_prefix(b"0x").or_else(|| p.strip_prefix(b"0X")).unwrap_or(p);
    if hex.len() <= 16 && hex.iter().all(u8::is_ascii_hexdigit) {
        return true;
    }
    let first = p.iter().position(u8::is_ascii_digit).unwrap_or(p.len());
    let (head, tail) = p.split_at(first);
    let runs = || tail.split(u8::is_ascii_digit);
    // Names of devices do not mix capitals and small letters behind their number.
    let small = tail.iter().any(u8::is_ascii_lowercase);
    let mixed = tail.len() > 5 && small && tail.iter().any(u8::is_ascii_uppercase);
    head.len() <= 40 && tail.len() <= 16 && !mixed && runs().all(|r| r.len() <= LETTERS)
}

/// An absolute path. Names in it are longer than words, and may hold a hash below `ostree`.
fn path(v: &[u8]) -> bool {
    // GRUB writes its device in front: `(hd0,gpt3)/vmlinuz`.
    let v = match v.strip_prefix(b"(") {
        Some(r) => r
            .splitn(2, |b| *b == b')')
            .nth(1)
            .filter(|p| v.get(1..v.len() - p.len() - 1).is_some_and(list))
            .unwrap_or(b"?"),
        None => v,
    };
    let plain =
        |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'_' | b'-' | b'+' | b'%' | b':' | b'~' | b'*');
    let ostree = v.windows(7).any(|w| w == b"ostree/");
    v.starts_with(b"/")
        && !v.starts_with(b"//")
        && v.iter().all(plain)
        && v.split(|b| *b == b'/').all(|n| n.len() <= 100 && (name(n) || ostree && hash(n)))
}

/// A file's name: no token, and words in it as elsewhere.
fn name(n: &[u8]) -> bool {
    n.split(|b| matches!(b, b'%' | b'+' | b':' | b'*')).all(|a| a.is_empty() || atom(a))
        && !n.split(|b| !b.is_ascii_alphanumeric()).any(token::is_run)
}

/// `rhcos-<sha256>`, or the sum alone.
fn hash(n: &[u8]) -> bool {
    let last = n.rsplit(|b| *b == b'-').next().unwrap_or_default();
    last.len() == 64
        && last.iter().all(u8::is_ascii_hexdigit)
        && n.get(..n.len() - 64)
            .is_some_and(|h| h.len() <= 24 && h.iter().all(|b| b.is_ascii_lowercase() || *b == b'-'))
}

fn device(v: &[u8]) -> bool {
    let label = |v: &[u8]| v.len() <= 40 && atom(v);
    let id = |v: &[u8]| {
        super::is_hashed(v)
            || v.len() <= 36 && v.split(|b| *b == b'-').all(|p| p.len() <= 16 && p.iter().all(u8::is_ascii_hexdigit))
    };
    for (head, ok) in [
        (&b"UUID="[..], &id as &dyn Fn(&[u8]) -> bool),
        (b"PARTUUID=", &|v: &[u8]| {
            super::is_hashed(v) || id(v.split(|b| *b == b'/').next().unwrap_or_default()) && v.len() < 60 && list(v)
        }),
        (b"LABEL=", &label),
        (b"PARTLABEL=", &label),
    ] {
        if let Some(rest) = v.strip_prefix(head) {
            return ok(rest);
        }
    }
    const WORDS: &[&str] = &[
        "", "tmpfs", "overlay", "auto", "zfs", "zfs:AUTO", "nfs", "dhcp", "LABEL", "mount", "live", "gpt-auto", "tmpfs",
    ];
    WORDS.iter().any(|w| w.as_bytes() == v) || v.starts_with(b"/dev/") && path(v)
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn shapes() {
        let fits = |s: Shape, v: &str| s.fits(v.as_bytes());
        for v in [
            "pt",
            "0-3,8-11",
            "16G",
            "0x1f",
            "ttyS0,115200n8",
            "xx000x0@0000:02:00.0;xx000x0@pci:1000:c030",
            "mlx5_0:1,mlx5_bond_0",
            "^docker0,lo",
            "enp65s0f0np0",
            "rocep65s0f0",
            "Ring;allreduce:tree",
            "libnccl-net-ofi.so",
            "10.0.0.1:4000",
            "managed_irq,domain,2-15",
            "20@0000:05:00.0",
            "PeerMappingOverride=1;RMForceStaticBar1=0x1",
            "1G-64G:256M,64G-:512M",
            "fe80::1",
            "x86_64",
            "6.8.0-60-generic",
        ] {
            assert!(fits(Shape::List, v), "{v}");
        }
        for v in
            ["correct0001horse", "http://u:p@h", "a b", "pt,correct0001horse", "Xk9fLq2mZw8Rt4Vb", "$6$x", "--password"]
        {
            assert!(!fits(Shape::List, v), "{v}");
        }
        for v in [
            "/boot/vmlinuz-5.14.0-503.14.1.el9_5.x86_64",
            "(hd0,gpt3)/vmlinuz-5.14.0-427.13.1.el9_4.x86_64",
            "/tmp/nccl.%h.%p.log",
            "/usr/lib/x86_64-linux-gnu/libnccl.so.2",
        ] {
            assert!(fits(Shape::Path, v), "{v}");
        }
        let sum = "0123456789abcdef".repeat(4);
        assert!(
            fits(Shape::Path, &format!("/ostree/boot.1/rhcos/{sum}/0")) && !fits(Shape::Path, &format!("/x/{sum}/0"))
        );
        for v in [
            "/dev/sda2",
            "UUID=0a1b2c3d-0011-2233-4455-66778899aabb",
            "UUID=AB12-CD34",
            "LABEL=cloudimg-rootfs",
            "PARTUUID=0a1b2c3d-02",
            "UUID=redacted-30b16b1d",
            "/dev/mapper/rhel-root",
        ] {
            assert!(fits(Shape::Device, v), "{v}");
        }
        for v in ["cifs://u:p@h/s", "hunter", &format!("UUID={sum}"), "nbd:u:p@h"] {
            assert!(!fits(Shape::Device, v), "{v}");
        }
    }
}
