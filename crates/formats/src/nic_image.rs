//! Firmware images of NVIDIA's network cards: `flint -d DEVICE q`, `mlxfwmanager --query`.

use crate::asked::asked;
use crate::bounds::{FIRMWARE_DEVICES, Kept, Limit, leave_out};
use crate::text::{At, decode, lines, split_key, unended};
use crate::tool::{Command, Gives, Mark, Tool, seen, starts};
use serde::Serialize;

/// `flint q`.
pub const FLINT: Tool = Tool {
    name: "flint",
    called: "flint q",
    run: "flint -d DEVICE q",
    gives: Gives::Facts,
    marks: &[
        Mark::line(|l| l.strip_prefix("Image type:").is_some_and(|v| v.trim_start().starts_with("FS")))
            .begins(&["Image type:"]),
        Mark::line_with(|l| starts(l, &["FW Version:"]), "PSID:").begins(&["FW Version:"]),
    ],
    commands: &[Command::any("flint"), Command::any("mstflint")],
    files: &["flint", "mstflint"],
    read: Some(|b| seen(read(b))),
    samples: &["Image type:            FS4\nFW Version:            28.43.2026\nPSID:                  MT_0000000838\n"],
    ..Tool::NONE
};

/// `mlxfwmanager --query`.
pub const MANAGER: Tool = Tool {
    name: "mlxfwmanager",
    called: "mlxfwmanager",
    run: "mlxfwmanager --query",
    gives: Gives::Facts,
    marks: &[Mark::line(|l| {
        starts(l, &["PCI Device Name:"]) || starts(l, &["Querying "]) && l.contains(" devices firmware")
    })
    .begins(&["PCI Device Name:", "Querying "])],
    commands: &[Command::any("mlxfwmanager"), Command::any("mstfwmanager")],
    files: &["mlxfwmanager", "mstfwmanager"],
    read: Some(|b| seen(read(b))),
    samples: &[
        "Querying Mellanox devices firmware ...\n\nDevice #1:\n----------\n\n  Device Type:      ConnectX7\n  PCI Device Name:  0000:18:00.0\n",
        "  Device Type:      ConnectX7\n  PSID:             MT_0000000838\n  PCI Device Name:  0000:18:00.0\n",
    ],
    ..Tool::NONE
};

/// The firmware of a card.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Image {
    /// 1-based line of the first that shows it.
    pub line: u32,
    /// Device: `PCI Device Name`, or that of the command line.
    pub device: Option<At<String>>,
    /// Version in the flash.
    pub version: Option<At<String>>,
    /// Version that runs, which is printed where it is another one.
    pub running: Option<At<String>>,
    /// Board id.
    pub psid: Option<At<String>>,
    /// `Part Number`.
    pub part: Option<At<String>>,
    /// `Base GUID`, or `Port1 GUID`.
    pub guid: Option<At<String>>,
    /// What the manager says of it: `No matching image found`.
    pub status: Option<At<String>>,
}

impl Image {
    /// The version that runs.
    #[must_use]
    pub fn runs(&self) -> Option<&At<String>> {
        self.running.as_ref().or(self.version.as_ref())
    }
}

/// Reads either tool's output, of one or several cards.
pub fn read(bytes: &[u8]) -> Kept<Image> {
    let text = decode(bytes);
    let mut kept: Kept<Image> = Kept::default();
    let (mut named, mut begun, mut full) = (None, false, false);
    let unended = unended(&text);
    for (line, raw) in lines(&text) {
        let raw = raw.trim_start_matches(['>', ' ', '\t']).trim_end();
        if let Some(device) = asked(raw, &["flint", "mstflint"], "-d") {
            (named, begun) = (Some(At::new(device, line)), false);
            continue;
        }
        let Some((key, value)) = entry(raw).filter(|_| Some(line) != unended) else {
            begun &= !raw.starts_with("Device #");
            continue;
        };
        begun &= !matches!(key, "Image type" | "Device Type");
        if !begun {
            begun = true;
            full = kept.items.len() >= FIRMWARE_DEVICES;
            if full {
                leave_out(&mut kept.left_out, Limit::FIRMWARE_DEVICES, line);
            } else {
                kept.items.push(Image { line, device: named.take(), ..Image::default() });
            }
        }
        let Some(image) = kept.items.last_mut().filter(|_| !full) else { continue };
        let text = |v: &str| Some(At::new(v.to_owned(), line)).filter(|v| !v.value.is_empty() && v.value != "N/A");
        let first = || value.split_whitespace().next().and_then(text);
        match key {
            "FW Version" | "FW" => image.version = first(),
            "FW Version(Running)" | "FW (Running)" => image.running = first(),
            "PSID" => image.psid = first(),
            "Part Number" => image.part = first(),
            "Base GUID" | "Port1 GUID" => image.guid = first().or(image.guid.take()),
            "PCI Device Name" => image.device = first(),
            "Status" => image.status = text(value),
            _ => {}
        }
    }
    kept
}

/// A line that is read; the rows of versions have no colon: `FW             28.43.2026     N/A`.
fn entry(line: &str) -> Option<(&str, &str)> {
    const KEYS: [&str; 9] = [
        "Image type",
        "FW Version",
        "FW Version(Running)",
        "PSID",
        "Part Number",
        "Base GUID",
        "Port1 GUID",
        "PCI Device Name",
        "Status",
    ];
    for key in ["FW (Running) ", "FW "] {
        if let Some(rest) =
            line.strip_prefix(key).map(str::trim_start).filter(|r| r.starts_with(|c: char| c.is_ascii_digit()))
        {
            return Some((key.trim_end(), rest));
        }
    }
    split_key(line, ':').filter(|(key, _)| KEYS.contains(key) || *key == "Device Type")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flint_of_two_cards() {
        let kept = read(
            b"# flint -d mlx5_0 q\nImage type:            FS4\nFW Version:            28.43.2026\nFW Version(Running):   28.42.1000\nFW Release Date:       1.1.2025\nDescription:           UID                GuidsNumber\nBase GUID:             02c0eb0300000001        16\nPSID:                  MT_0000000838\n# mstflint -d 0000:19:00.0 q\nImage type:            FS4\nFW Version:            28.43.2026\nPSID:                  MT_00000",
        );
        let [a, b] = kept.items.as_slice() else { panic!("{kept:?}") };
        assert_eq!((a.device.as_ref().map(At::as_str), a.line), (Some("mlx5_0"), 2));
        assert_eq!(a.runs(), Some(&At::new("28.42.1000".into(), 4)));
        assert_eq!(
            (a.psid.as_ref().map(At::as_str), a.guid.as_ref().map(|g| g.line)),
            (Some("MT_0000000838"), Some(7))
        );
        assert_eq!((b.device.as_ref().map(At::as_str), b.psid.clone()), (Some("0000:19:00.0"), None));
        assert_eq!(b.runs().map(At::as_str), Some("28.43.2026"));
    }

    #[test]
    fn the_manager_lists_cards() {
        let kept = read(
            b"Querying Mellanox devices firmware ...\n\nDevice #1:\n----------\n\n  Device Type:      ConnectX7\n  Part Number:      MCX75310AAS-NEA_Ax\n  PSID:             MT_0000000838\n  PCI Device Name:  0000:18:00.0\n  Base GUID:        02c0eb0300000001\n  Versions:         Current        Available     \n     FW             28.43.2026     N/A           \n     PXE            3.7.0500       N/A           \n\n  Status:           No matching image found\n\nDevice #2:\n----------\n\n  Device Type:      ConnectX6DX\n  PCI Device Name:  /dev/mst/mt4125_pciconf0\n     FW (Running)   22.40.1000     N/A\n",
        );
        let [a, b] = kept.items.as_slice() else { panic!("{kept:?}") };
        assert_eq!(
            (a.device.as_ref().map(At::as_str), a.version.clone()),
            (Some("0000:18:00.0"), Some(At::new("28.43.2026".into(), 12)))
        );
        assert_eq!(a.status.as_ref().map(At::as_str), Some("No matching image found"));
        assert_eq!(
            (b.device.as_ref().map(At::as_str), b.runs().map(At::as_str)),
            (Some("/dev/mst/mt4125_pciconf0"), Some("22.40.1000"))
        );
    }
}
