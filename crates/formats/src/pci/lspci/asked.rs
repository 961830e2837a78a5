//! The device that a command line asks for: `lspci -s 3b:00.0 -vvv | grep LnkSta` prints lines of it without its own line.

use super::device::Device;
use super::header::address_of;
use super::lines::Line;
use crate::pci::Bdf;
use crate::tool::starts;

/// A command line of `lspci`, and the one device that it asks for. `None`: the line is no such command.
pub(super) fn command(line: &Line<'_>) -> Option<Option<Device>> {
    let at = line.text.find(['$', '#'])?;
    let mut words = line.text.get(at + 1..)?.split_whitespace().filter(|w| *w != "sudo").take(64);
    if words.next()?.rsplit('/').next()? != "lspci" {
        return None;
    }
    let mut asked = None;
    while let Some(word) = words.next().filter(|w| !matches!(*w, "|" | ";" | "&&" | "||")) {
        let Some(letters) = word.strip_prefix('-').filter(|w| !w.starts_with('-')) else { continue };
        let slot = match letters.split_once('s') {
            Some((_, "")) => words.next(),
            Some((_, rest)) => Some(rest),
            None => None,
        };
        asked = asked.or(slot);
    }
    let device = asked.map(|slot| slot.trim_matches(['\'', '"'])).and_then(address_of);
    Some(device.map(|(bdf, has_domain)| Device::new(bdf, has_domain, line.number)))
}

/// The address of the one device that a command line of `lspci` asks for.
#[must_use]
pub fn device_of_command(line: &str) -> Option<Bdf> {
    let line = Line { number: 1, text: line.trim(), unterminated: false };
    command(&line).flatten().map(|d| d.bdf)
}

/// Whether a line belongs to the device, wherever its own line is.
pub(super) fn is_of_device(line: &Line<'_>) -> bool {
    starts(line.text, super::INNER) || super::acs_alone::is_acs(line.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Option<Option<String>> {
        command(&Line { number: 1, text, unterminated: false }).map(|d| d.map(|d| d.bdf.to_string()))
    }

    #[test]
    fn the_option_names_the_device() {
        let one = Some(Some("0000:3b:00.0".to_owned()));
        for text in [
            "root@n1:~# lspci -s 3b:00.0 -vvv | grep LnkSta",
            "$ sudo lspci -vvs 3b:00.0",
            "$ /usr/bin/lspci -vvv -s0000:3b:00.0 | grep -s x",
            "$ lspci -s '3b:00.0'",
        ] {
            assert_eq!(asked(text), one, "{text}");
        }
        for text in
            ["$ lspci", "$ lspci -s 3b:", "$ lspci -s $i:00.0", "$ lspci -d 15b3: -vv", "$ lspci | grep -s 3b:00.0"]
        {
            assert_eq!(asked(text), Some(None), "{text}");
        }
        for text in ["lspci -s 3b:00.0", "# of lspci -s 3b:00.0", "3b:00.0 Ethernet controller: x"] {
            assert_eq!(asked(text), None, "{text}");
        }
    }

    /// Lines below such a command are of its device, and never of the one that another command printed before.
    #[test]
    fn lines_below_a_command_are_of_its_device() {
        let text = "$ lspci -s 41:00.0 -vv\n41:00.0 Ethernet controller: Mellanox Technologies MT2892 Family [ConnectX-6 Dx]\n\
                    \t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM not supported\n\
                    $ lspci -s 3b:00.0 -vvv | grep LnkSta\n\t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x8 (downgraded)\n\
                    $ lspci -vv | grep LnkSta\n\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x1 (downgraded)\n";
        let devices = super::super::parse(text.as_bytes()).unwrap_or_default();
        let seen: Vec<_> =
            devices.iter().map(|d| (d.bdf.to_string(), d.caps.express.get().is_some(), d.class.is_some())).collect();
        assert_eq!(seen, [("0000:41:00.0".to_owned(), true, true), ("0000:3b:00.0".to_owned(), true, false)]);
        let width = |i: usize| devices.get(i).and_then(|d| d.caps.express.get()?.link_width.map(|w| w.to_string()));
        assert_eq!((width(0), width(1).as_deref()), (None, Some("x8")));
    }
}
