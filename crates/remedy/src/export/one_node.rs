//! What holds for one node only: addresses and names of its devices. Forms that several nodes share do not carry it.

use super::pieces::{FileRef, Piece};
use linerate_formats::pci::Bdf;

/// Directories of devices by name, which each node gives in its own order.
const NAMED: [&str; 3] = ["/sys/class/net/", "/sys/class/infiniband/", "/sys/devices/pci"];

/// The device of this node that a piece names.
pub(super) fn named(piece: &Piece<'_>) -> Option<String> {
    match piece {
        Piece::KernelArgs { add, .. } => add.iter().find_map(|w| address(w)),
        Piece::Settings { files, values } => {
            let value = values.iter().find_map(|(path, _)| in_text(path));
            value.or_else(|| files.iter().find_map(in_file))
        }
        Piece::Modules { file, .. }
        | Piece::Options { file, .. }
        | Piece::File { file }
        | Piece::Unit { file, .. }
        | Piece::DropIn { file, .. } => in_file(file),
        _ => None,
    }
}

fn in_file(file: &FileRef<'_>) -> Option<String> {
    in_text(file.content)
}

/// Kernel arguments that name a device of this node.
pub(super) fn address(text: &str) -> Option<String> {
    let word = |c: char| !(c.is_ascii_hexdigit() || matches!(c, ':' | '.'));
    let shaped = |w: &&str| w.contains(':') && w.contains('.');
    text.split(word).filter(shaped).find_map(|w| w.parse::<Bdf>().ok()).map(|b| b.to_string())
}

fn in_text(text: &str) -> Option<String> {
    let by_name = || {
        let (dir, rest) = NAMED.iter().find_map(|dir| Some((dir, text.split_once(dir)?.1)))?;
        let name: String = rest.chars().take_while(|c| !c.is_whitespace() && *c != '/').take(64).collect();
        (!name.contains('*')).then(|| format!("{dir}{name}"))
    };
    address(text).or_else(by_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_devices_and_nothing_else() {
        for (text, wanted) in [
            ("pci=config_acs=xx000x0@0000:41:00.0;xx000x0@0000:42:00.0", Some("0000:41:00.0")),
            ("pci=config_acs=xx000x0@pci:10b5:9797", None),
            ("pci=disable_acs_redir=41:00.0", Some("0000:41:00.0")),
            ("iommu=pt", None),
            ("ip=10.7.0.1::10.7.0.254:255.255.255.0", None),
        ] {
            assert_eq!(address(text).as_deref(), wanted, "{text}");
        }
        assert_eq!(in_text("w- /sys/class/net/eth1/mtu - - - - 9000").as_deref(), Some("/sys/class/net/eth1"));
        assert_eq!(in_text("w- /sys/class/infiniband/*/x - - - - 1"), None);
        assert_eq!(in_text("ExecStart=setpci -s 0000:17:00.0 ECAP_ACS+6.w=0:2c").as_deref(), Some("0000:17:00.0"));
    }
}
