//! The text form. Column widths differ between versions, so only the order of words counts; headers may be missing, as in the
//! output of `grep`.

use super::{Columns, NicConfig, Param, Value};
use crate::bounds::{FIRMWARE_DEVICES, FIRMWARE_SETTINGS, LeftOut, Limit, leave_out};
use crate::text::{At, decode, lines, split_key, trim, unended, words};
use serde::Serialize;
use smol_str::SmolStr;
use std::collections::HashSet;

/// What a query printed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Query {
    /// Devices in the order of the text.
    pub devices: Vec<NicConfig>,
    /// Lines that report an error (`-E- …`).
    pub errors: Vec<At<String>>,
    /// Where a limit ended the reading: the rest of the text is left out, its lines are counted.
    pub left_out: Vec<LeftOut>,
}

/// Parses the text form.
pub fn parse(bytes: &[u8]) -> Query {
    parse_text(&decode(bytes))
}

/// [`parse`] of a text much of which is, line by line, that of another query: cards of one product print hundreds of lines and
/// differ in few. `device` is what that other text gave, if it was one device.
pub fn parse_like(bytes: &[u8], other: &[u8], device: &NicConfig) -> Query {
    parse_lines(&decode(bytes), Model { rest: other, line: 0, params: &device.params })
}

/// Parses the text form from a string.
pub fn parse_text(text: &str) -> Query {
    parse_lines(text, Model { rest: &[], line: 0, params: &[] })
}

/// The query that a text repeats.
struct Model<'a> {
    rest: &'a [u8],
    line: u32,
    params: &'a [Param],
}

impl<'a> Model<'a> {
    /// The parameter of the model's next line, where that is this line.
    fn next(&mut self, raw: &str) -> Option<&'a Param> {
        self.line = self.line.saturating_add(1);
        let same = match self.rest.strip_prefix(raw.as_bytes()) {
            Some([b'\n', rest @ ..] | [b'\r', b'\n', rest @ ..]) => {
                self.rest = rest;
                true
            }
            _ => {
                let end = memchr::memchr(b'\n', self.rest).map_or(self.rest.len(), |at| at + 1);
                self.rest = self.rest.get(end..).unwrap_or_default();
                false
            }
        };
        while let [first, rest @ ..] = self.params
            && first.line < self.line
        {
            self.params = rest;
        }
        self.params.first().filter(|p| same && p.line == self.line)
    }
}

fn parse_lines(text: &str, mut model: Model<'_>) -> Query {
    if let Some(table) = super::table::read(text) {
        return table;
    }
    let mut out = Query::default();
    // Device of the last `mlxconfig -d DEV` prompt, used only where the block itself has no `Device:` line.
    let mut prompt_device: Option<(String, u32)> = None;
    let mut names = Names::default();
    let mut items = 0;
    let mut full = None;
    let unended = unended(text);
    for (line, raw) in lines(text) {
        if let Some(limit) = full {
            if !trim(raw).is_empty() {
                leave_out(&mut out.left_out, limit, line);
            }
            continue;
        }
        if let Some(param) = model.next(raw).filter(|_| Some(line) != unended) {
            items += usize::from(add(&mut out.devices, param.clone(), &mut prompt_device, &mut names));
            full = reached(&mut out, items);
            continue;
        }
        let mut trimmed = trim(raw);
        if let Some((device, rest)) = heading(trimmed, line) {
            prompt_device = Some((device.to_owned(), line));
            trimmed = rest;
        }
        if trimmed.is_empty() {
            continue;
        }
        // Hundreds of lines are parameters, most of which have neither.
        let plain = memchr::memchr2(b'-', b':', trimmed.as_bytes()).is_none();
        if !plain && other_line(trimmed, line, &mut out, &mut prompt_device) {
            items += 1;
        } else if let Some(param) = parameter(trimmed, line)
            // A value without the end of its line may be the beginning of another: 16 of 164, ENAB of ENABLED(1).
            && (Some(line) != unended || trimmed.ends_with(')'))
        {
            items += usize::from(add(&mut out.devices, param, &mut prompt_device, &mut names));
        }
        full = reached(&mut out, items);
    }
    out
}

/// The limit that ends the reading. A device beyond it is taken back.
fn reached(out: &mut Query, items: usize) -> Option<Limit> {
    if out.devices.len() > FIRMWARE_DEVICES {
        let line = out.devices.pop().map_or(0, |d| d.line);
        leave_out(&mut out.left_out, Limit::FIRMWARE_DEVICES, line);
        return Some(Limit::FIRMWARE_DEVICES);
    }
    (items >= FIRMWARE_SETTINGS).then_some(Limit::FIRMWARE_SETTINGS)
}

/// Takes a line that is not a parameter: an error, a command, a line of a device's head.
fn other_line(trimmed: &str, line: u32, out: &mut Query, prompt_device: &mut Option<(String, u32)>) -> bool {
    if let Some(error) = trimmed.strip_prefix("-E-") {
        out.errors.push(At::new(error.trim().to_owned(), line));
    } else if is_device_header(trimmed) {
        out.devices.push(NicConfig::empty(line));
    } else if let Some(device) = prompt(trimmed) {
        *prompt_device = Some((device, line));
    } else if let Some((key, value)) = header(trimmed) {
        set_header(&mut out.devices, key, value, line, prompt_device);
    } else {
        return false;
    }
    true
}

/// Names of the parameters of the device at hand.
#[derive(Default)]
struct Names {
    /// Which device it is: how many there are.
    device: usize,
    seen: HashSet<SmolStr>,
}

impl Names {
    /// Whether the last of so many devices has not shown this name yet.
    fn is_new(&mut self, devices: usize, name: &SmolStr) -> bool {
        if self.device != devices {
            self.device = devices;
            self.seen.clear();
        }
        self.seen.insert(name.clone())
    }
}

/// Adds a parameter to the device at hand. A query names each once: a name that comes again, as in a loop of `grep` over cards, is
/// another card's, which the text does not name.
fn add(
    devices: &mut Vec<NicConfig>,
    param: Param,
    prompt_device: &mut Option<(String, u32)>,
    names: &mut Names,
) -> bool {
    current(devices, param.line, prompt_device);
    if !names.is_new(devices.len(), &param.name) {
        let columns = devices.last().and_then(|d| d.columns);
        devices.push(NicConfig { columns, ..NicConfig::empty(param.line) });
        names.is_new(devices.len(), &param.name);
    }
    let Some(device) = devices.last_mut() else { return false };
    // One value in a table of three is a cut line, and the value is the default, not the next boot's.
    if device.columns == Some(Columns::DefaultCurrentNext) && param.current.is_none() {
        return false;
    }
    // Without a header the parameters show how many columns there are.
    let seen = if param.current.is_some() { Columns::DefaultCurrentNext } else { Columns::NextBootOnly };
    device.columns.get_or_insert(seen);
    device.params.push(param);
    true
}

/// `Device #1:`
fn is_device_header(line: &str) -> bool {
    line.strip_prefix("Device #")
        .and_then(|r| r.strip_suffix(':'))
        .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

/// The device that a loop prints before its settings: alone on its line, perhaps between marks, or before the first setting.
fn heading(line: &str, number: u32) -> Option<(&str, &str)> {
    // Hundreds of lines are parameters, which begin with capitals.
    if !matches!(line.as_bytes().first()?, b'0'..=b'9' | b'a'..=b'f' | b'/' | b'=' | b'-' | b'#' | b'm') {
        return None;
    }
    let marks = |c: char| matches!(c, '=' | '-' | '#' | ':' | ' ' | '\t');
    let bare = line.trim_matches(marks);
    if is_device(bare) {
        return Some((bare, ""));
    }
    let (first, rest) = line.split_once([' ', '\t'])?;
    let (first, rest) = (first.trim_end_matches(':'), rest.trim_start());
    (is_device(first) && parameter(rest, number).is_some()).then_some((first, rest))
}

/// `0000:41:00.0`, `/dev/mst/mt4129_pciconf0`, `mlx5_0`.
fn is_device(word: &str) -> bool {
    let name = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b));
    let is_bdf = || (7..=16).contains(&word.len()) && word.parse::<crate::pci::Bdf>().is_ok();
    word.strip_prefix("/dev/mst/").is_some_and(name)
        || word.strip_prefix("mlx5_").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        || is_bdf()
}

/// The device named in a command line such as `# mlxconfig -d 37:00.0 query`.
fn prompt(line: &str) -> Option<String> {
    let at = line.find("mlxconfig").or_else(|| line.find("mstconfig"))?;
    let mut words = line.get(at..)?.split_whitespace();
    words.find(|w| *w == "-d" || *w == "--dev")?;
    words.next().map(str::to_owned)
}

fn header(line: &str) -> Option<(&str, &str)> {
    let (key, value) = split_key(line, ':')?;
    matches!(key, "Device type" | "Name" | "Description" | "Device" | "Configurations").then(|| (key, value))
}

fn set_header(devices: &mut Vec<NicConfig>, key: &str, value: &str, line: u32, prompt: &mut Option<(String, u32)>) {
    // `Device type:` opens a block where `Device #n:` was cut away by grep.
    if key == "Device type" && devices.last().is_some_and(|d| d.device_type.is_some() || !d.params.is_empty()) {
        devices.push(NicConfig::empty(line));
    }
    let device = current(devices, line, prompt);
    let text = || (!value.is_empty() && value != "N/A").then(|| At::new(value.to_owned(), line));
    match key {
        "Device type" => device.device_type = text(),
        "Name" => device.name = text(),
        "Description" => device.description = text(),
        "Device" if !value.is_empty() => device.set_device(value, line),
        "Configurations" if value.contains("Default") => device.columns = Some(Columns::DefaultCurrentNext),
        "Configurations" if value.contains("Next Boot") => device.columns = Some(Columns::NextBootOnly),
        _ => {}
    }
}

fn current<'a>(devices: &'a mut Vec<NicConfig>, line: u32, prompt: &mut Option<(String, u32)>) -> &'a mut NicConfig {
    // A prompt names the device of what follows it, so it also ends the block before it.
    let starts_anew = prompt.is_some() && devices.last().is_some_and(|d| !d.params.is_empty() || d.device.is_some());
    if devices.is_empty() || starts_anew {
        devices.push(NicConfig::empty(line));
    }
    let last = devices.len() - 1;
    let device = &mut devices[last];
    if let Some((name, at)) = prompt.take() {
        device.set_device(&name, at);
    }
    device
}

/// `*  RO NAME  value [value value]`. Returns nothing for lines that are not parameters.
fn parameter(trimmed: &str, line: u32) -> Option<Param> {
    let (modified, rest) = trimmed.strip_prefix('*').map_or((false, trimmed), |r| (true, r));
    let mut words = words(rest);
    let mut name = words.next()?;
    let read_only = name == "RO";
    if read_only {
        name = words.next()?;
    }
    if !is_name(name) {
        return None;
    }
    // Values have no spaces; one or three of them. Anything else is a sentence or a cut line.
    let (default, current, next) = match (words.next(), words.next(), words.next(), words.next()) {
        (Some(next), None, ..) => (None, None, Some(Value::new(next))),
        (Some(d), Some(c), Some(n), None) => {
            // Most settings have their default, and no other value is waiting.
            let default = Value::new(d);
            let current = if c == d { default.clone() } else { Value::new(c) };
            let next = if n == c { current.clone() } else { Value::new(n) };
            (Some(default), Some(current), Some(next))
        }
        _ => return None,
    };
    Some(Param { name: name.into(), default, current, next, modified, read_only, line })
}

/// Names are upper case with digits, underscores, brackets, and rarely a lower-case arch (`EXP_ROM_UEFI_x86_ENABLE`).
fn is_name(word: &str) -> bool {
    let (mut base, mut capitals, mut index) = (0, 0, false);
    for b in word.bytes() {
        index |= b == b'[';
        if !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.') || index && matches!(b, b'[' | b']')) {
            return false;
        }
        base += u32::from(!index);
        capitals += u32::from(!index && b.is_ascii_uppercase());
    }
    base >= 3 && capitals >= 3 && word.starts_with(|c: char| c.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbose_with_two_devices_flags_and_arrays() {
        let q = parse(
            b"\nDevice #1:\n----------\n\nDevice type:        ConnectX7           \nName:               MCX75310AAS-NEA_Ax\n\
Description:        A card: with a colon\nDevice:             0000:41:00.0\n\n\
Configurations:                        Default             Current             Next Boot\n\
*       SRIOV_EN                       False(0)            False(0)            True(1)\n\
    RO  PCI_BUS00_WIDTH                N/A                 N/A                 N/A\n\
*       PCI_DOWNSTREAM_PORT_OWNER[3]   DEVICE_DEFAULT(0)   148                 Array[0..7]\n\
The '*' shows parameters with next value different from default/current value.\n\n\
Device #2:\n----------\nDevice:    /dev/mst/mt4129_pciconf1\nConfigurations:      Next Boot\n        ATS_ENABLED      False(0)\n",
        );
        assert_eq!(q.devices.len(), 2);
        let d = &q.devices[0];
        assert_eq!(d.bdf.map(|b| b.to_string()).as_deref(), Some("0000:41:00.0"));
        assert_eq!(d.description.as_ref().map(At::as_str), Some("A card: with a colon"));
        assert_eq!((d.columns, d.params.len()), (Some(Columns::DefaultCurrentNext), 3));
        let s = d.param("SRIOV_EN").unwrap();
        assert!(
            s.modified && !s.read_only && s.current.as_ref().unwrap().is_false() && s.next.as_ref().unwrap().is_true()
        );
        assert_eq!(s.line, 11);
        assert!(d.param("PCI_BUS00_WIDTH").unwrap().read_only);
        assert_eq!(d.param("PCI_DOWNSTREAM_PORT_OWNER[3]").unwrap().current.as_ref().unwrap().number, Some(148));
        let d = &q.devices[1];
        assert_eq!((d.columns, d.bdf, d.params.len()), (Some(Columns::NextBootOnly), None, 1));
        assert_eq!(d.device.as_ref().map(At::as_str), Some("/dev/mst/mt4129_pciconf1"));
    }

    /// What a loop over cards with `grep` leaves: the cards are not named, and there are three.
    #[test]
    fn a_name_that_comes_again_is_another_cards() {
        let row = |n: &str| format!("        ADVANCED_PCI_SETTINGS  {n}\n        MAX_ACC_OUT_READ  128\n");
        let q = parse_text(&[row("True(1)"), row("False(0)"), row("True(1)")].concat());
        assert_eq!(q.devices.iter().map(|d| (d.line, d.params.len())).collect::<Vec<_>>(), [(1, 2), (3, 2), (5, 2)]);
        let named = format!("Device:  0000:41:00.0\n{}{}", row("True(1)"), row("True(1)"));
        let q = parse_text(&named);
        assert_eq!(q.devices.iter().map(|d| d.bdf.is_some()).collect::<Vec<_>>(), [true, false]);
    }

    /// `for d in …; do echo $d; mlxconfig -d $d q | grep X; done`.
    #[test]
    fn a_loop_names_its_cards() {
        let q = parse_text(
            "0000:41:00.0\n        SRIOV_EN   True(1)\n        NUM_OF_VFS   8\n=== /dev/mst/mt4129_pciconf1 ===\n        SRIOV_EN   False(0)\n42:00.0\nmlx5_3:\n        SRIOV_EN   True(1)\n0000:43:00.0   SRIOV_EN   False(0)\n43:00.0 Ethernet controller: x\n        NUM_OF_VFS   16\n",
        );
        let seen: Vec<_> =
            q.devices.iter().map(|d| (d.device.as_ref().map(At::as_str), d.bdf.is_some(), d.params.len())).collect();
        assert_eq!(
            seen,
            [
                (Some("0000:41:00.0"), true, 2),
                (Some("/dev/mst/mt4129_pciconf1"), false, 1),
                (Some("mlx5_3"), false, 1),
                (Some("0000:43:00.0"), true, 2)
            ]
        );
    }

    #[test]
    fn like_another_text() {
        let head = "Device:  0000:41:00.0\nConfigurations:   Default  Current  Next Boot\n";
        let one = format!(
            "{head}  ATS_ENABLED  False(0)  False(0)  True(1)\n\n  NUM_OF_VFS  8  8  8\n  SRIOV_EN  True(1)  True(1)  True(1)"
        );
        let device = &parse_text(&one).devices[0];
        let variants = [
            one.replace("41", "42"),
            one.replace("8  8  8", "8  16  8"),
            one.replace('\n', "\r\n"),
            one.replace("Configurations:   Default  Current  Next Boot\n", ""),
            one.replace("\n\n", "\n"),
            one.replace("  True(1)\n", "  True(1)"),
            one[..one.len() - 9].to_owned(),
            one[..one.len() - 2].to_owned(),
            format!("{one}\n"),
            one.clone(),
            String::new(),
        ];
        for text in variants {
            assert_eq!(parse_like(text.as_bytes(), one.as_bytes(), device), parse_text(&text), "{text}");
        }
    }

    #[test]
    fn a_cut_line_is_no_setting() {
        let head = "Device:  0000:41:00.0\nConfigurations:   Default  Current  Next Boot\n";
        let params = |tail: &str| parse_text(&format!("{head}{tail}")).devices[0].params.len();
        assert_eq!(params("  ATS_ENABLED  False(0)  False(0)  True(1)"), 1);
        assert_eq!(params("  LINK_TYPE_P1  IB(1)  IB(1)  E"), 0);
        assert_eq!(params("  NUM_OF_VFS  164  164  16"), 0);
        assert_eq!(params("  NUM_OF_VFS  164  164  164\n"), 1);
        assert_eq!(params("  ATS_ENABLED  False(0)"), 0);
    }

    #[test]
    fn grep_without_headers_and_errors() {
        let q = parse(
            b"root@n:~# mlxconfig -d 0000:37:00.0 q | grep -i ATS\r\n        ATS_ENABLED      False(0)\r\n\
# mlxconfig -d 3a:00.0 -e q | grep ATS\n  ATS_ENABLED   False(0)  False(0) True(1)\n\
-E- Failed to open device: /dev/mst/x. No such file or directory\n",
        );
        assert_eq!(q.devices.iter().map(|d| d.bdf.unwrap().bus).collect::<Vec<_>>(), [0x37, 0x3a]);
        assert_eq!(q.devices[0].columns, Some(Columns::NextBootOnly));
        assert_eq!(q.devices[1].columns, Some(Columns::DefaultCurrentNext));
        assert_eq!((q.errors.len(), q.errors[0].line), (1, 5));
    }
}
