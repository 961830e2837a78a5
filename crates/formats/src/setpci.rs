//! `setpci`: registers that were read, by the command line above a value or by the lines of `-v`.

use crate::bounds::{Kept, Limit, TEXT_ITEMS, leave_out};
use crate::pci::Bdf;
use crate::text::{decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// `setpci`.
pub const TOOL: Tool = Tool {
    name: "setpci",
    called: "setpci",
    run: "sudo setpci -v -s 41:00.0 ECAP_ACS+6.w",
    gives: Gives::Facts,
    marks: &[Mark::line(|l| verbose(l).is_some()).holds(&[" @"])],
    commands: &[Command::any("setpci")],
    files: &["setpci"],
    read: Some(|b| seen(read(b))),
    samples: &[
        "# setpci -s 41:00.0 ECAP_ACS+6.w\n001d\n",
        "0000:41:00.0 (ecap 000d @2a0) @2a6 = 001d\n",
        "0000:41:00.0 (ecap 000d @2a0) @2a6 0000\n",
    ],
    ..Tool::NONE
};

/// Extended capability of Access Control Services, and the offset of its control register.
const ACS_CONTROL: (u16, u16) = (0x000d, 6);

/// Which register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Register {
    /// An offset into an extended capability.
    Extended {
        /// Its id.
        id: u16,
        /// The offset.
        offset: u16,
    },
    /// An offset into a capability.
    Capability {
        /// Its id.
        id: u16,
        /// The offset.
        offset: u16,
    },
    /// An offset into the configuration space.
    Offset(u16),
    /// A register by another name.
    Named,
}

/// A value of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Value {
    /// 1-based line of the value.
    pub line: u32,
    /// Function.
    pub bdf: Bdf,
    /// Register.
    pub register: Register,
    /// Bytes: 1, 2 or 4.
    pub width: u8,
    /// The value.
    pub value: u32,
    /// It was written, not read: what the register holds now is not shown.
    pub written: bool,
}

impl Value {
    /// The control register of Access Control Services, where that was read. Ones only are the answer of a device that is gone.
    #[must_use]
    pub fn acs_control(&self) -> Option<u16> {
        let Register::Extended { id, offset } = self.register else { return None };
        let is_control = (id, offset) == ACS_CONTROL && self.width == 2 && !self.written && self.value != 0xffff;
        is_control.then(|| self.value.try_into().ok())?
    }
}

/// Reads the values. A value of which the function or the register is not shown, as in a loop over a variable, is left out.
pub fn read(bytes: &[u8]) -> Kept<Value> {
    let text = decode(bytes);
    let mut kept = Kept::default();
    let mut asked: Option<Asked> = None;
    let mut push = |value: Value| {
        if kept.items.len() >= TEXT_ITEMS {
            leave_out(&mut kept.left_out, Limit::TEXT_ITEMS, value.line);
        } else {
            kept.items.push(value);
        }
    };
    for (line, raw) in lines(&text) {
        let raw = raw.trim_start_matches(['>', ' ', '\t']).trim_end();
        if let Some(value) = verbose(raw) {
            push(Value { line, ..value });
        } else if raw.contains("setpci") {
            asked = command(raw);
        } else if let Some(value) = asked.as_mut().and_then(|a| a.next(raw)) {
            push(Value { line, ..value });
        } else {
            asked = None;
        }
    }
    kept
}

/// Registers that a command asked for and did not get yet, the last first.
struct Asked {
    bdf: Bdf,
    registers: Vec<(Register, u8)>,
}

impl Asked {
    /// The next register, where the line is its value: as many digits as it has.
    fn next(&mut self, line: &str) -> Option<Value> {
        let value = hex(line)?;
        let (register, width) = self.registers.pop().filter(|(_, w)| line.len() == usize::from(*w) * 2)?;
        Some(Value { line: 0, bdf: self.bdf, register, width, value, written: false })
    }
}

/// `# setpci -s 41:00.0 ECAP_ACS+6.w CAP_EXP+8.w`. A command that writes, that prints its lines with `-v`, or that names no whole address is
/// none of these.
fn command(line: &str) -> Option<Asked> {
    let at = line.find(['$', '#'])?;
    let mut words = line.get(at + 1..)?.split_whitespace().filter(|w| *w != "sudo");
    if words.next()?.rsplit('/').next()? != "setpci" {
        return None;
    }
    let (mut bdf, mut registers) = (None, Vec::new());
    while let Some(word) = words.next() {
        match word {
            "-s" => bdf = words.next()?.parse().ok().or(bdf),
            _ if word.starts_with("-s") => bdf = word.get(2..)?.parse().ok(),
            _ if word.starts_with('-') || word.contains(['=', '$', ';', '|', '&']) => return None,
            _ => registers.push(register(word)?),
        }
    }
    registers.reverse();
    let good = !registers.is_empty() && registers.len() <= 64;
    Some(Asked { bdf: bdf.filter(|_| good)?, registers })
}

/// `ECAP_ACS+0x6.w`, `ECAP000d+6.w`, `CAP_EXP+8.w`, `f2a.w`, `COMMAND`.
fn register(word: &str) -> Option<(Register, u8)> {
    let (name, width) = match word.rsplit_once('.') {
        Some((name, "b" | "B")) => (name, 1),
        Some((name, "w" | "W")) => (name, 2),
        Some((name, "l" | "L")) => (name, 4),
        Some(_) => return None,
        None => (word, 0),
    };
    let (base, offset) = name.split_once('+').unwrap_or((name, "0"));
    let offset = u16::try_from(hex(offset.strip_prefix("0x").unwrap_or(offset))?).ok()?;
    let id = |digits: &str| u16::try_from(hex(digits)?).ok();
    let upper = base.to_ascii_uppercase();
    let register = if let Some(cap) = upper.strip_prefix("ECAP") {
        match cap {
            "_ACS" => Register::Extended { id: ACS_CONTROL.0, offset },
            _ if cap.starts_with('_') => Register::Named,
            _ => Register::Extended { id: id(cap)?, offset },
        }
    } else if let Some(cap) = upper.strip_prefix("CAP") {
        match cap {
            "_EXP" => Register::Capability { id: 0x10, offset },
            _ if cap.starts_with('_') => Register::Named,
            _ => Register::Capability { id: id(cap)?, offset },
        }
    } else if let Some(at) = hex(base.strip_prefix("0x").unwrap_or(base)).filter(|_| base.len() <= 5) {
        Register::Offset(u16::try_from(at).ok()?.checked_add(offset)?)
    } else {
        Register::Named
    };
    // A named register has a width of its own, which is not known here.
    (width != 0).then_some((register, width))
}

/// `0000:41:00.0 (ecap 000d @2a0) @2a6 = 001d`; without `=` the value was written.
fn verbose(line: &str) -> Option<Value> {
    let (address, rest) = line.split_once(' ')?;
    let bdf = address.parse().ok().filter(|_| address.len() >= 7)?;
    let (place, rest) = match rest.strip_prefix('(') {
        Some(inside) => inside.split_once(") ").map(|(place, rest)| (Some(place), rest))?,
        None => (None, rest),
    };
    let (at, value) = rest.strip_prefix('@')?.split_once(' ')?;
    let at = u16::try_from(hex(at)?).ok()?;
    let (written, value) = value.strip_prefix("= ").map_or((true, value.trim()), |v| (false, v.trim()));
    let width = match value.len() {
        2 => 1,
        4 => 2,
        8 => 4,
        _ => return None,
    };
    let register = match place {
        None => Register::Offset(at),
        Some(place) => {
            let (what, base) = place.split_once(" @")?;
            let offset = at.checked_sub(u16::try_from(hex(base)?).ok()?)?;
            let (kind, id) = what.split_once(' ')?;
            let id = u16::try_from(hex(id)?).ok()?;
            match kind {
                "ecap" => Register::Extended { id, offset },
                "cap" => Register::Capability { id, offset },
                _ => return None,
            }
        }
    };
    Some(Value { line: 0, bdf, register, width, value: hex(value)?, written })
}

/// Digits of a hexadecimal number, and nothing else.
fn hex(text: &str) -> Option<u32> {
    let good = !text.is_empty() && text.len() <= 8 && text.bytes().all(|b| b.is_ascii_hexdigit());
    good.then(|| u32::from_str_radix(text, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_below_their_commands() {
        let kept = read(
            b"root@n1:~# setpci -s 41:00.0 ECAP_ACS+6.w CAP_EXP+8.w\n001d\n2957\nroot@n1:~# setpci -s 0001:42:00.0 ECAP000d+0x6.w\n0000\n0001\n$ sudo setpci -s 43:00.0 ECAP_ACS+6.w=0000\n0000\n# setpci -s $BDF ECAP_ACS+6.w\n001f\n# setpci -s 44:00.0 ECAP_ACS+6.w\n00",
        );
        let seen: Vec<_> = kept.items.iter().map(|v| (v.bdf.to_string(), v.line, v.acs_control())).collect();
        assert_eq!(
            seen,
            [
                ("0000:41:00.0".to_owned(), 2, Some(0x1d)),
                ("0000:41:00.0".to_owned(), 3, None),
                ("0001:42:00.0".to_owned(), 5, Some(0))
            ],
            "a value too many, a write, a variable, and half a value show nothing"
        );
    }

    #[test]
    fn lines_of_the_verbose_form() {
        let kept = read(
            b"sudo bash acs.sh\n0000:03:00.0 (ecap 000d @2a0) @2a6 = 001d\n0000:03:00.2 (ecap 000d @2a0) @2a6 0000\n0000:04:00.0 @04 = 0007\n0000:05:00.0 (ecap 000d @2a0) @2a6 = ffff\n",
        );
        let seen: Vec<_> = kept.items.iter().map(|v| (v.line, v.written, v.acs_control())).collect();
        assert_eq!(seen, [(2, false, Some(0x1d)), (3, true, None), (4, false, None), (5, false, None)]);
        assert_eq!(kept.items.get(2).map(|v| v.register), Some(Register::Offset(4)));
        for line in
            ["0000:03:00.0 (ecap 000d @2a0) @2a6 = 1d0", "03:00.0 @x = 00", "0000:03:00.0 (ecap 000d @2a0) @1 = 00"]
        {
            assert_eq!(verbose(line), None, "{line}");
        }
    }
}
