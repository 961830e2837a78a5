//! Domain:bus:device.function, the only key of a PCI function.

use serde::{Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Address of a PCI function. The domain is 32 bits wide: Hyper-V, VMD and nvidia-smi use more than 16.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Bdf {
    /// PCI segment group ("domain"); 0 where the text gave none.
    pub domain: u32,
    /// Bus number.
    pub bus: u8,
    /// Device number, 0..=31.
    pub device: u8,
    /// Function number, 0..=7.
    pub function: u8,
}

/// A text that is not a PCI address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a PCI address (expected [DOMAIN:]BB:DD.F in hexadecimal)")]
pub struct ParseBdfError;

impl FromStr for Bdf {
    type Err = ParseBdfError;

    /// Accepts `BB:DD.F`, `DDDD:BB:DD.F`, nvidia-smi's `DDDDDDDD:BB:DD.F`, in either case.
    fn from_str(s: &str) -> Result<Self, ParseBdfError> {
        if let Some(bdf) = canonical(s.as_bytes()) {
            return Ok(bdf);
        }
        let hex = |t: &str, max: usize| -> Result<u32, ParseBdfError> {
            if t.is_empty() || t.len() > max || !t.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(ParseBdfError);
            }
            u32::from_str_radix(t, 16).map_err(|_| ParseBdfError)
        };
        let (rest, function) = s.rsplit_once('.').ok_or(ParseBdfError)?;
        let (rest, device) = rest.rsplit_once(':').ok_or(ParseBdfError)?;
        let (domain, bus) = rest.rsplit_once(':').map_or((None, rest), |(d, b)| (Some(d), b));
        let domain = domain.map_or(Ok(0), |d| hex(d, 8))?;
        let (bus, device, function) = (hex(bus, 2)?, hex(device, 2)?, hex(function, 1)?);
        if device > 31 || function > 7 {
            return Err(ParseBdfError);
        }
        Ok(Bdf { domain, bus: bus as u8, device: device as u8, function: function as u8 })
    }
}

impl Bdf {
    /// The whole address as one number, in the order of addresses.
    fn key(self) -> u64 {
        let place = u32::from_be_bytes([0, self.bus, self.device, self.function]);
        u64::from(self.domain) << 32 | u64::from(place)
    }
}

impl Ord for Bdf {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Bdf {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `DDDD:BB:DD.F` in lower case, as the kernel names its directories: hundreds on every node.
fn canonical(s: &[u8]) -> Option<Bdf> {
    let [a, b, c, d, b':', e, f, b':', g, h, b'.', function] = s else { return None };
    let mut odd = 0;
    let mut hex = |digit: &u8| {
        let (decimal, letter) = (digit.wrapping_sub(b'0'), digit.wrapping_sub(b'a'));
        odd |= u8::from(decimal > 9 && letter > 5);
        if decimal <= 9 { decimal } else { letter.wrapping_add(10) }
    };
    let mut byte = |high, low| hex(high) << 4 | hex(low);
    let domain = u16::from_be_bytes([byte(a, b), byte(c, d)]);
    let (bus, device, function) = (byte(e, f), byte(g, h), byte(&b'0', function));
    (odd == 0 && device <= 31 && function <= 7).then_some(Bdf { domain: domain.into(), bus, device, function })
}

impl fmt::Display for Bdf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.{:x}", self.domain, self.bus, self.device, self.function)
    }
}

impl fmt::Debug for Bdf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for Bdf {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_in_the_field_parses_and_prints_one_way() {
        for (text, want) in [
            ("03:00.0", "0000:03:00.0"),
            ("0000:41:00.0", "0000:41:00.0"),
            ("f00a:9e:1f.7", "f00a:9e:1f.7"),
            ("F00A:9E:1F.7", "f00a:9e:1f.7"),
            ("00000000:9B:00.0", "0000:9b:00.0"),
            ("10000:e0:01.7", "10000:e0:01.7"),
        ] {
            assert_eq!(text.parse::<Bdf>().unwrap().to_string(), want);
        }
        for bad in [
            "",
            "x",
            "00:00",
            "00:20.0",
            "00:00.8",
            "000:00.0",
            "+1:00.0",
            "123456789:00:00.0",
            "é:00.0",
            "0000:00:20.0",
            "0000:00:00.8",
            "0000:0g:00.0",
            "000/:00:00.0",
        ] {
            assert!(bad.parse::<Bdf>().is_err(), "{bad}");
        }
    }
}
