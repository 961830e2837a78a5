//! The line with which a device begins: `41:00.0 Class [0302]: Name [10de:2330] (rev a1) (prog-if 00 [..])`.

use super::super::Bdf;
use super::super::class::{Class, name_of};
use super::device::Device;
use super::lines::Line;
use super::{machine, vendor};

/// The device that a line begins, in the human or the `-mm` form.
pub(super) fn parse(line: &Line<'_>) -> Option<Device> {
    let text = line.text;
    // Most lines are none: look at one byte first.
    if !text.as_bytes().first()?.is_ascii_hexdigit() {
        return None;
    }
    let (address, rest) = text.split_once([' ', '\t'])?;
    let (bdf, has_domain) = address_of(address)?;
    let rest = rest.trim_start();
    let mut device = Device::new(bdf, has_domain, line.number);
    if rest.starts_with('"') {
        machine::quoted(rest, &mut device);
        return Some(device);
    }
    let (class, name) = split_class(rest)?;
    set_class(class, &mut device);
    set_name(name, &mut device);
    settle_class(&mut device);
    Some(device)
}

/// What stands before the class in a line of `lsiommu`: `[10de:2330] [R] 18:00.0  3D controller   GH100`.
pub(super) struct IdsFirst<'a> {
    pub(super) bdf: Bdf,
    has_domain: bool,
    ids: (u16, u16),
    /// Class and name.
    rest: &'a str,
}

/// The ids, the mark of a device that can be reset, and the address with which `lsiommu` begins a device.
pub(super) fn ids_first(text: &str) -> Option<IdsFirst<'_>> {
    let (ids, rest) = text.strip_prefix('[')?.split_once(']')?;
    let ids = id_pair(ids)?;
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("[R]").unwrap_or(rest).trim_start();
    let (address, rest) = rest.split_once([' ', '\t'])?;
    let (bdf, has_domain) = address_of(address)?;
    Some(IdsFirst { bdf, has_domain, ids, rest: rest.trim() })
}

/// The device of such a line. Class and name are separated by at least two spaces where the class is short, as most are.
pub(super) fn of_ids(line: &Line<'_>) -> Option<Device> {
    let found = ids_first(line.text)?;
    let mut device = Device::new(found.bdf, found.has_domain, line.number);
    let (class, name) = found.rest.split_once("  ").unwrap_or(("", found.rest));
    if !class.is_empty() {
        set_class(class, &mut device);
    }
    set_name(name.trim(), &mut device);
    (device.vendor, device.device) = (Some(found.ids.0), Some(found.ids.1));
    settle_class(&mut device);
    Some(device)
}

/// `BB:DD.F` with or without a domain; of the paths of `-PP` (`00:01.0/41:00.0`) the last element.
pub(super) fn address_of(token: &str) -> Option<(Bdf, bool)> {
    let last = token.rsplit_once('/').map_or(token, |(_, last)| last);
    let two_digits = |c: &str| c.len() == 2;
    // Strict about widths: `0:0.0` in prose is not an address that `lspci` prints.
    if !last.rsplit(':').take(2).all(|part| two_digits(part.split('.').next().unwrap_or(part))) {
        return None;
    }
    let mut bdf: Bdf = last.parse().ok()?;
    let mut has_domain = last.matches(':').count() == 2;
    if !has_domain
        && let Some((Ok(first), true)) =
            token.split_once('/').map(|(f, _)| (f.parse::<Bdf>(), f.matches(':').count() == 2))
    {
        (bdf.domain, has_domain) = (first.domain, true);
    }
    Some((bdf, has_domain))
}

/// Splits `Class name [0302]: Name …` and `0302: 10de:2330 …`.
fn split_class(rest: &str) -> Option<(&str, &str)> {
    let colon = || rest.split_once(": ").or_else(|| Some((rest.strip_suffix(':')?, "")));
    let (class, name) = bare_class(rest).or_else(colon)?;
    let plausible = !class.is_empty() && class.len() <= 80 && class.chars().all(|c| !c.is_control() && c != '"');
    plausible.then_some((class.trim_end(), name.trim()))
}

/// `Class name [0302] Name …`: as `sed` and `awk` leave it, without the colon. A colon before the number shows a name with brackets.
pub(super) fn bare_class(rest: &str) -> Option<(&str, &str)> {
    let (before, after) = rest.split_once('[')?;
    let (number, name) = after.split_once("] ")?;
    hex16(number).filter(|_| !before.trim().is_empty() && !before.contains(':'))?;
    Some((rest.get(..before.len() + number.len() + 2)?, name))
}

/// Class name and number: `PCI bridge [0604]`, `PCI bridge`, `0604`, `Class 0604`, `Class [0604]`.
pub(super) fn set_class(text: &str, device: &mut Device) {
    let (name, number) = bracketed(text, hex16);
    let bare = name.strip_prefix("Class ").unwrap_or(name);
    let (name, number) = match hex16(bare) {
        Some(n) if number.is_none() => ("", Some(n)),
        _ if number.is_some() && name == "Class" => ("", number),
        _ => (name, number),
    };
    device.class_name = name.to_owned();
    device.class = number.map(|n| Class(u32::from(n) << 8)).or_else(|| Class::from_name(name));
}

/// Adds the programming interface to the class and the usual name to a bare number, once the rest of the line is known.
pub(super) fn settle_class(device: &mut Device) {
    if let (Some(Class(code)), Some(prog_if)) = (device.class, device.prog_if) {
        device.class = Some(Class(code & 0xffff00 | u32::from(prog_if)));
    }
    if device.class_name.is_empty()
        && let Some(name) = device.class.and_then(name_of)
    {
        device.class_name = name.to_owned();
    }
}

/// Name, numbers, revision and programming interface.
pub(super) fn set_name(text: &str, device: &mut Device) {
    let (text, prog_if) = parenthesised(text, " (prog-if ");
    let (text, revision) = parenthesised(text, " (rev ");
    (device.prog_if, device.revision) = (prog_if, revision);
    let (name, ids) = bracketed(text, id_pair);
    let ids = ids.or_else(|| id_pair(name.strip_prefix("Device ").unwrap_or(name)));
    device.name = name.to_owned();
    device.vendor = ids.map(|i| i.0).or_else(|| vendor::from_name(name));
    device.device = ids.map(|i| i.1).or_else(|| vendor::device_from_name(name));
}

/// Subsystem: `NVIDIA Corporation Device 16c1`, `Mellanox … [15b3:0041]`, `10de:16c1`.
pub(super) fn set_subsystem(text: &str, device: &mut Device) {
    if device.subsystem.is_some() {
        return;
    }
    let (name, ids) = bracketed(text, id_pair);
    let ids = ids.or_else(|| id_pair(name.strip_prefix("Device ").unwrap_or(name)));
    let ids = ids.or_else(|| vendor::qemu_subsystem(name));
    device.subsystem = Some(name.to_owned());
    device.subsystem_vendor = ids.map(|i| i.0).or_else(|| vendor::from_name(name));
    device.subsystem_device = ids.map(|i| i.1).or_else(|| vendor::device_from_name(name));
}

/// Takes ` (rev a1)` out of the end of a line; what follows a cut parenthesis is dropped.
fn parenthesised<'a>(text: &'a str, opening: &str) -> (&'a str, Option<u8>) {
    let Some((before, inside)) = text.rsplit_once(opening) else { return (text, None) };
    let value = inside.get(..2).filter(|_| matches!(inside.as_bytes().get(2), Some(b')' | b' '))).and_then(hex8);
    (before, value)
}

/// Takes a trailing `[…]` off a text if what is in it has the form asked for.
pub(super) fn bracketed<T>(text: &str, form: impl Fn(&str) -> Option<T>) -> (&str, Option<T>) {
    let text = text.trim_end();
    if let Some((before, inside)) = text.strip_suffix(']').and_then(|t| t.rsplit_once('['))
        && let Some(value) = form(inside)
    {
        return (before.trim_end(), Some(value));
    }
    (text, None)
}

fn id_pair(text: &str) -> Option<(u16, u16)> {
    let (vendor, device) = text.split_once(':')?;
    Some((hex16(vendor)?, hex16(device)?))
}

/// Exactly four hexadecimal digits.
pub(super) fn hex16(text: &str) -> Option<u16> {
    (text.len() == 4 && text.bytes().all(|b| b.is_ascii_hexdigit())).then(|| u16::from_str_radix(text, 16).ok())?
}

/// Exactly two hexadecimal digits.
pub(super) fn hex8(text: &str) -> Option<u8> {
    (text.len() == 2 && text.bytes().all(|b| b.is_ascii_hexdigit())).then(|| u8::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_prose() {
        let ok = [("41:00.0", false), ("0000:41:00.0", true), ("10000:e1:00.0", true), ("00:01.0/41:00.0", false)];
        for (text, domain) in ok {
            assert_eq!(address_of(text).map(|a| a.1), Some(domain), "{text}");
        }
        assert_eq!(address_of("10000:00:01.0/41:00.0").unwrap().0.to_string(), "10000:41:00.0");
        for text in ["0:0.0", "12:30.5", "a:b.c", "41:00.0:", "100:", "41:00", "/"] {
            assert!(address_of(text).is_none(), "{text}");
        }
    }
}
