//! Redaction: identifying values become hashes that are the same within one snapshot (so that a GUID in one file is still the
//! GUID in another) and different between snapshots (the key is random and never stored), unless the operator keeps a key: [`RedactKey`].
//!
//! Kept as they are: BDFs, PCI ids, counters, sizes, versions, private IPv4 addresses, multicast and broadcast addresses.
//! What is hashed: MACs to locally administered `02:…` ones; GUIDs; GIDs and IPv6 addresses (structure kept: `fe80::`, private
//! and IPv4-mapped forms); public IPv4 addresses to documentation addresses (762 of them: two of many may become the same);
//! serial numbers and UUIDs to `redacted-…`; host names to `host-…`.

mod key;
mod later;
pub(crate) mod secrets;
mod text;

pub use key::{KeyError, RedactKey};

use crate::catalogue::Hide;
use siphasher::sip::SipHasher24;
use std::hash::Hasher;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Hashes identifying values of one snapshot.
#[derive(Clone)]
pub(crate) struct Redactor {
    key: Option<(u64, u64)>,
    /// The host's name, replaced wherever a text shows it.
    host: Vec<u8>,
    /// What hashes stand for, where the operator keeps the key.
    names: Option<key::Names>,
}

impl Redactor {
    /// One with the operator's key, or a new random one; or one that changes nothing.
    pub(crate) fn new(on: bool, key: Option<&RedactKey>) -> std::io::Result<Self> {
        let (key, names) = match key {
            _ if !on => (None, None),
            Some(key) => {
                let (key, names) = key.parts();
                (Some(key), Some(names))
            }
            None => (Some(key::chance()?), None),
        };
        Ok(Redactor { key, host: Vec::new(), names })
    }

    /// Notes what a hash stands for.
    fn note(&self, hash: &str, name: &str) {
        if let Some(names) = &self.names {
            key::note(names, hash, name);
        }
    }

    /// One with a given key.
    #[cfg(test)]
    pub(crate) fn with_key(key: u64) -> Self {
        Redactor { key: Some((key, !key)), host: Vec::new(), names: None }
    }

    pub(crate) fn on(&self) -> bool {
        self.key.is_some()
    }

    /// Names the host. Names that are words of these texts are not replaced.
    pub(crate) fn set_host(&mut self, host: &str) {
        let short = host.trim().split('.').next().unwrap_or_default();
        let common = ["localhost", "host", "node", "linux", "ubuntu", "debian", "kernel", "nvidia", "worker", "none"];
        let usable = short.len() > 3 && !common.contains(&short) && !short.bytes().all(|b| b.is_ascii_hexdigit());
        self.host = if usable { short.as_bytes().to_vec() } else { Vec::new() };
    }

    fn hash(&self, class: u8, bytes: &[u8]) -> u64 {
        let (a, b) = self.key.unwrap_or_default();
        let mut h = SipHasher24::new_with_keys(a, b);
        h.write_u8(class);
        h.write(bytes);
        h.finish()
    }

    /// Redacts the content of a file of the catalogue.
    pub(crate) fn file(&self, hide: Hide, data: &mut Vec<u8>) {
        if !self.on() {
            return;
        }
        let text = |d: &[u8]| std::str::from_utf8(d).unwrap_or_default().trim().to_owned();
        let new = match hide {
            Hide::Nothing => return,
            Hide::PciConfig => return self.pci_config(data),
            Hide::Vpd => return self.vpd(data),
            Hide::Text => return self.text(data),
            Hide::Mac => self.mac_text(&text(data)),
            Hide::Guid => self.guid_text(&text(data)),
            Hide::Gid => self.ip6_text(&text(data)),
            Hide::Host => Some(self.host_name(&text(data))),
            Hide::Serial => Some(self.serial(&text(data))),
        };
        // What does not look as expected may hold anything.
        let mut new = new.unwrap_or_else(|| self.serial(&text(data)));
        new.push('\n');
        *data = new.into_bytes();
    }

    /// `aa:bb:…` of 6 bytes, or the 20 bytes of IPoIB.
    fn mac_text(&self, s: &str) -> Option<String> {
        let bytes: Option<Vec<u8>> =
            s.split(':').map(|p| u8::from_str_radix(p, 16).ok().filter(|_| p.len() == 2)).collect();
        let mut bytes = bytes?;
        match bytes.len() {
            6 => {
                if bytes.iter().all(|b| *b == 0) || bytes.first()? & 1 == 1 {
                    return Some(s.to_owned());
                }
                let h = self.hash(b'm', &bytes).to_be_bytes();
                bytes = vec![2, h[0], h[1], h[2], h[3], h[4]];
            }
            // IPoIB: flags, QP number, GID.
            20 => {
                let gid: [u8; 16] = bytes.get(4..20)?.try_into().ok()?;
                bytes.truncate(4);
                bytes.extend(self.ip6(Ipv6Addr::from(gid)).octets());
            }
            n => {
                let h = self.hash(b'm', &bytes).to_be_bytes();
                bytes = h.iter().copied().cycle().take(n).collect();
            }
        }
        let new = bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(":");
        self.note(&new, s);
        Some(new)
    }

    fn guid(&self, guid: u64) -> u64 {
        if guid == 0 || guid == u64::MAX {
            return guid;
        }
        let new = self.hash(b'g', &guid.to_be_bytes());
        if self.names.is_some() {
            self.note(&format!("{new:016x}"), &format!("{guid:016x}"));
        }
        new
    }

    /// `946d:ae03:…`, `0x946dae03…`, or sixteen digits.
    fn guid_text(&self, s: &str) -> Option<String> {
        let (prefix, digits) = s.strip_prefix("0x").map_or(("", s), |d| ("0x", d));
        let bare: String = digits.split(':').collect();
        if bare.len() != 16 {
            return None;
        }
        let new = format!("{:016x}", self.guid(u64::from_str_radix(&bare, 16).ok()?));
        if !digits.contains(':') {
            return Some(format!("{prefix}{new}"));
        }
        let parts: Vec<&str> = (0..4).filter_map(|i| new.get(i * 4..i * 4 + 4)).collect();
        Some(parts.join(":"))
    }

    /// A GID or IPv6 address, written as it was: in full, or compressed.
    fn ip6_text(&self, s: &str) -> Option<String> {
        let new = self.ip6(s.parse().ok()?);
        let short = s.len() != 39 || s.contains("::");
        let new = match short {
            true => new.to_string(),
            false => new.segments().iter().map(|w| format!("{w:04x}")).collect::<Vec<_>>().join(":"),
        };
        self.note(&new, s);
        Some(new)
    }

    fn ip6(&self, ip: Ipv6Addr) -> Ipv6Addr {
        if let Some(v4) = ip.to_ipv4_mapped() {
            return self.ip4(v4).to_ipv6_mapped();
        }
        if ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() {
            return ip;
        }
        let bits = u128::from(ip);
        let (prefix, low) = ((bits >> 64) as u64, bits as u64);
        // Link-local, site-local (the InfiniBand default prefixes) and unique local prefixes say nothing about the owner.
        let own = prefix >> 54 == 0xfe80 >> 6 || prefix >> 54 == 0xfec0 >> 6 || prefix >> 57 == 0xfc >> 1;
        let prefix = if own { prefix } else { 0x2001_0db8 << 32 | self.hash(b'6', &prefix.to_be_bytes()) >> 32 };
        let low = if low < 0x1_0000 { low } else { self.guid(low) };
        Ipv6Addr::from(u128::from(prefix) << 64 | u128::from(low))
    }

    fn ip4(&self, ip: Ipv4Addr) -> Ipv4Addr {
        let [a, b, ..] = ip.octets();
        let shared = a == 100 && b & 0xc0 == 64;
        if ip.is_private()
            || ip.is_loopback()
            || ip.is_link_local()
            || shared
            || a == 0
            || a >= 224
            || ip.is_documentation()
        {
            return ip;
        }
        let h = self.hash(b'4', &ip.octets());
        let nets = [[192, 0, 2], [198, 51, 100], [203, 0, 113]];
        let [x, y, z] = nets.get((h % 3) as usize).copied().unwrap_or([192, 0, 2]);
        let new = Ipv4Addr::new(x, y, z, (1 + (h >> 8) % 254) as u8);
        if self.names.is_some() {
            self.note(&new.to_string(), &ip.to_string());
        }
        new
    }

    /// `redacted-…`
    fn serial(&self, s: &str) -> String {
        if s.is_empty() {
            return String::new();
        }
        let new = format!("redacted-{:08x}", self.hash(b's', s.as_bytes()) >> 32);
        self.note(&new, s);
        new
    }

    /// `host-…`; the domain goes.
    pub(crate) fn host_name(&self, s: &str) -> String {
        let short = s.trim().split('.').next().unwrap_or_default();
        if !self.on() || matches!(short, "" | "localhost" | "(none)") {
            return s.trim().to_owned();
        }
        let new = format!("host-{:08x}", self.hash(b'h', short.as_bytes()) >> 32);
        self.note(&new, short);
        new
    }

    /// Vital Product Data: values of all fields, except the ones that tell what the card is. The same value hashes to the same, so that
    /// functions of one card stay together. What is not understood is cut off.
    fn vpd(&self, data: &mut Vec<u8>) {
        let mut good = 0;
        while let Some([tag, low, high]) = data.get(good..good + 3).and_then(|b| <[u8; 3]>::try_from(b).ok()) {
            let length = usize::from(u16::from_le_bytes([low, high]));
            let Some(body) = data.get_mut(good + 3..good + 3 + length) else { break };
            match tag {
                0x82 => {}
                0x90 | 0x91 => self.vpd_fields(body),
                _ => break,
            }
            good += 3 + length;
        }
        data.truncate(good);
        data.push(0x78);
    }

    fn vpd_fields(&self, body: &mut [u8]) {
        let mut at = 0;
        while let Some(head) = body.get(at..at + 3).and_then(|b| <[u8; 3]>::try_from(b).ok()) {
            let end = at + 3 + usize::from(head[2]);
            let Some(value) = body.get_mut(at + 3..end) else { break };
            // Part number, and the vendor's own items (VA: product line, and whether it manages switches).
            if !matches!(head, [b'P', b'N', _] | [b'V', b'A', _]) {
                let hash = format!("{:016x}", self.hash(b'v', value));
                for (to, from) in value.iter_mut().zip(hash.bytes().cycle()) {
                    *to = from;
                }
            }
            at = end;
        }
        // What is left is part of a field.
        if let Some(rest) = body.get_mut(at..) {
            rest.fill(0);
        }
    }

    /// The Device Serial Number capability (extended id 3) holds the MAC or GUID of many NICs.
    fn pci_config(&self, data: &mut [u8]) {
        let mut at = 0x100;
        // No list is longer than the capabilities that fit.
        for _ in 0..(4096 - 256) / 4 {
            let Some(header) = data.get(at..at + 4).and_then(|b| <[u8; 4]>::try_from(b).ok()).map(u32::from_le_bytes)
            else {
                return;
            };
            if header & 0xffff == 3
                && let Some(sn) = data.get_mut(at + 4..at + 12)
                && sn.iter().any(|b| *b != 0)
                && sn.iter().any(|b| *b != 0xff)
            {
                // As an EUI-64 it is read from the high byte down; the same value as a GUID hashes to the same.
                let value = sn.iter().rev().fold(0_u64, |n, b| n << 8 | u64::from(*b));
                sn.copy_from_slice(&self.guid(value).to_le_bytes());
            }
            at = (header >> 20) as usize & !3;
            if at < 0x100 {
                return;
            }
        }
    }
}
