//! `dmidecode`: what the firmware says of the machine (dmidecode.c: dmi_decode). Serial numbers, asset tags and UUIDs are not read.

use crate::bounds::TEXT_ITEMS;
use crate::text::{At, decode, lines, split_key};
use crate::tool::{Args, Command, Gives, Mark, Tool, seen};

/// `dmidecode`.
pub const TOOL: Tool = Tool {
    name: "dmidecode",
    called: "dmidecode",
    run: "dmidecode -t bios -t system -t baseboard",
    gives: Gives::Facts,
    // People paste it beside what matters more.
    marks: &[Mark::aside(is_own).begins(&["# dmidecode ", "SMBIOS ", "Handle 0x"])],
    // With `-s` it prints a value alone, which may be anything.
    commands: &[
        Command { program: "dmidecode", args: Args::None },
        Command { program: "dmidecode", args: Args::Within("-t") },
        Command { program: "dmidecode", args: Args::Within("--type") },
        Command { program: "dmidecode", args: Args::Within("-q") },
    ],
    files: &["dmidecode"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "# dmidecode 3.3\nGetting SMBIOS data from sysfs.\nSMBIOS 3.3.0 present.\n\nHandle 0x0100, DMI type 1, 27 bytes\nSystem Information\n\tManufacturer: Example Inc.\n\tProduct Name: Server 1\n",
        "Handle 0x0000, DMI type 0, 26 bytes\nBIOS Information\n\tVendor: Example BIOS\n",
    ],
    once: true,
    ..Tool::NONE
};

/// What is read of the first structure of each type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dmi {
    /// `BIOS Information`, `Vendor`.
    pub bios_vendor: Option<At<String>>,
    /// `BIOS Information`, `Version`.
    pub bios_version: Option<At<String>>,
    /// `BIOS Information`, `Release Date`: `05/19/2025`.
    pub bios_date: Option<At<String>>,
    /// `System Information`, `Manufacturer`.
    pub sys_vendor: Option<At<String>>,
    /// `System Information`, `Product Name`.
    pub product: Option<At<String>>,
    /// `Base Board Information`, `Manufacturer`.
    pub board_vendor: Option<At<String>>,
    /// `Base Board Information`, `Product Name`.
    pub board_name: Option<At<String>>,
}

/// `Handle 0x0100, DMI type 1, 27 bytes`, `# dmidecode 3.3`, `SMBIOS 3.3.0 present.`
fn is_own(line: &str) -> bool {
    let version = |v: &str| !v.is_empty() && v.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    line.strip_prefix("# dmidecode ").is_some_and(version)
        || line.strip_prefix("SMBIOS ").and_then(|l| l.strip_suffix(" present.")).is_some_and(version)
        || handle(line).is_some()
}

/// The type of a structure.
fn handle(line: &str) -> Option<u8> {
    let (address, rest) = line.trim().strip_prefix("Handle 0x")?.split_once(", DMI type ")?;
    let (kind, size) = rest.split_once(", ")?;
    let good = address.bytes().all(|b| b.is_ascii_hexdigit()) && size.ends_with(" bytes");
    good.then(|| kind.parse().ok()).flatten()
}

/// Of which structure the lines below are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Bios,
    System,
    Board,
    Other,
}

/// Parses the structures that are read; others are ignored.
pub fn parse(bytes: &[u8]) -> Dmi {
    let text = decode(bytes);
    let mut out = Dmi::default();
    let mut block = Block::Other;
    for (line, raw) in lines(&text).take(TEXT_ITEMS) {
        let head = raw.trim();
        // Quiet outputs have no handles. Within a structure the lines are indented, and what is in a list twice.
        let indented = raw.starts_with(['\t', ' ']);
        match head {
            "BIOS Information" => block = Block::Bios,
            "System Information" => block = Block::System,
            "Base Board Information" => block = Block::Board,
            _ if head.is_empty() || !indented => block = Block::Other,
            _ if text.ends_with(raw) => {} // the end of the text may be the middle of a word
            _ => {
                let Some((key, value)) = split_key(raw, ':') else { continue };
                let slot = match (block, key) {
                    (Block::Bios, "Vendor") => &mut out.bios_vendor,
                    (Block::Bios, "Version") => &mut out.bios_version,
                    (Block::Bios, "Release Date") => &mut out.bios_date,
                    (Block::System, "Manufacturer") => &mut out.sys_vendor,
                    (Block::System, "Product Name") => &mut out.product,
                    (Block::Board, "Manufacturer") => &mut out.board_vendor,
                    (Block::Board, "Product Name") => &mut out.board_name,
                    _ => continue,
                };
                // What the firmware did not fill in says nothing.
                if !matches!(value, "" | "Not Specified" | "<BAD INDEX>") {
                    slot.get_or_insert_with(|| At::new(value.to_owned(), line));
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# dmidecode 3.5\nSMBIOS 3.3.0 present.\n\nHandle 0x0000, DMI type 0, 26 bytes\nBIOS Information\n\tVendor: Dell Inc.\n\tVersion: 2.1.5\n\tRelease Date: 03/14/2024\n\tCharacteristics:\n\t\tPCI is supported\n\n\
        Handle 0x0100, DMI type 1, 27 bytes\nSystem Information\n\tManufacturer: Dell Inc.\n\tProduct Name: PowerEdge X\n\tVersion: Not Specified\n\tSerial Number: ABC\n\tUUID: 4c4c4544-0000-1111-8000-c8c04f000000\n\n\
        Handle 0x0200, DMI type 2, 8 bytes\nBase Board Information\n\tManufacturer: Not Specified\n\tProduct Name: 0ABC\n\nHandle 0x0400, DMI type 4, 48 bytes\nProcessor Information\n\tManufacturer: Intel\n\tVersion: Xeon\n";

    #[test]
    fn the_first_of_each_structure() {
        let d = parse(TEXT.as_bytes());
        let of = |v: &Option<At<String>>| v.as_ref().map(|v| (v.value.clone(), v.line));
        assert_eq!(of(&d.bios_version), Some(("2.1.5".into(), 7)));
        assert_eq!(of(&d.bios_date), Some(("03/14/2024".into(), 8)));
        assert_eq!(
            (of(&d.sys_vendor), of(&d.product)),
            (Some(("Dell Inc.".into(), 14)), Some(("PowerEdge X".into(), 15)))
        );
        assert_eq!((of(&d.board_vendor), of(&d.board_name)), (None, Some(("0ABC".into(), 23))));
        assert!(!format!("{d:?}").contains("4c4c4544") && !format!("{d:?}").contains("ABC\", line: 17"));
    }

    #[test]
    fn parts_and_prose() {
        let cut = "System Information\n\tManufacturer: Dell Inc.\n\tProduct Name: PowerEd";
        let d = parse(cut.as_bytes());
        assert!(d.sys_vendor.is_some() && d.product.is_none(), "the end of a word is missing");
        assert_eq!(parse(b"Processor Information\n\tManufacturer: Intel\n"), Dmi::default());
        for line in ["SMBIOS data is present.", "Handle with care", "# dmidecode -t 1", "Handle 0x12, see below"] {
            assert!(!is_own(line), "{line}");
        }
    }
}
