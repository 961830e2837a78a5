//! What vendors call the settings that rules speak of.
//!
//! Names of attributes are those that real services showed. Sources, each the attributes of real machines or code that sets them:
//! - L: github.com/NVIDIA/libredfish, commit c094c9e: `src/model/testdata/bios_{dell,lenovo}.json`, `src/model/oem/nvidia_viking.rs`,
//!   `src/{dell,hpe,supermicro}.rs`, and the answers under `tests/mockups`.
//! - T: an export of a Dell AMD server's BIOS (`IommuSupport`, `NumaNodesPerSocket`), public system configuration profiles.
//! - S: Supermicro boards' attributes with their numbers (`Above4GDecoding_00B1`, `Re_SizeBARSupport_00B2`), public reports.
//!
//! Menus are kept only where a public document shows them:
//! - F: github.com/FDio/csit, `docs/lab/testbeds_sm_skx_hw_bios_cfg.md` (Supermicro X11, AMI firmware, its screens).
//! - D: Dell's "BIOS and iDRAC configuration recommendations" for Azure Stack HCI (BIOS section and token).
//!
//! What field note N2 lists has no menus: its words are the general names below. All of it is where to begin to look; firmware releases differ.

/// A setting.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Short name for steps, `[a-z0-9-]`.
    pub(crate) id: &'static str,
    /// Words that the rules use for it.
    pub(crate) words: &'static [&'static str],
    /// What field note N2 calls it; empty: it does not list it.
    pub(crate) note: &'static str,
    /// How it is set.
    pub(crate) want: Want,
    /// Attributes, the most telling first, each with vendors that were seen to use it.
    pub(crate) attributes: &'static [(&'static str, &'static str)],
    /// Menus: vendor, and what its document shows.
    pub(crate) menus: &'static [(&'static str, &'static str)],
}

/// How a setting is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// On or off.
    Switch,
    /// 256 bytes, or automatic.
    Payload,
    /// A value that a person decides.
    Decide,
}

const SUPERMICRO: &str = "Supermicro";
const DELL: &str = "Dell";

/// The table.
const SETTINGS: &[Setting] = &[
    Setting {
        id: "iommu",
        words: &["vt-d", "amd-vi", "iommu"],
        note: "IOMMU (VT-d / AMD-Vi)",
        want: Want::Switch,
        attributes: &[
            ("IommuSupport", "Dell on AMD"),
            ("IntelProcVtd", "HPE"),
            ("ProcAmdIoVt", "HPE on AMD"),
            ("IntelVTforDirectedI/O(VT-d)", "Supermicro"),
            ("IntelVTforDirectedIOVTd", "Lenovo"),
            ("VTdSupport", "DGX"),
            ("IOMMU", "Supermicro on AMD"),
            ("ProcVirtualization", "Dell"),
        ],
        menus: &[
            (
                SUPERMICRO,
                "Chipset Configuration > North Bridge > IIO Configuration: \"Intel VT for Directed I/O (VT-d)\"",
            ),
            (DELL, "Processor Settings: \"Virtualization Technology\""),
        ],
    },
    Setting {
        id: "sr-iov",
        words: &["sr-iov"],
        note: "SR-IOV",
        want: Want::Switch,
        attributes: &[
            ("SriovGlobalEnable", "Dell"),
            ("Sriov", "HPE, Lenovo"),
            ("SR-IOVSupport", "Supermicro"),
            ("SRIOVEnable", "DGX"),
        ],
        menus: &[
            (SUPERMICRO, "PCIe/PCI/PnP Configuration: \"SR-IOV Support\""),
            (DELL, "Integrated Devices: \"SR-IOV Global Enable\""),
        ],
    },
    Setting {
        id: "above-4g",
        words: &["above 4g"],
        note: "Above 4G decoding",
        want: Want::Switch,
        attributes: &[("MmioAbove4Gb", "Dell"), ("Above4GDecoding", "Supermicro")],
        menus: &[(SUPERMICRO, "PCIe/PCI/PnP Configuration: \"Above 4G Decoding\"")],
    },
    Setting {
        id: "resizable-bar",
        words: &["resizable bar"],
        note: "",
        want: Want::Switch,
        attributes: &[("Re_SizeBARSupport", "Supermicro")],
        menus: &[],
    },
    Setting {
        id: "mmio",
        words: &["mmio"],
        note: "",
        want: Want::Decide,
        attributes: &[],
        menus: &[(SUPERMICRO, "PCIe/PCI/PnP Configuration: \"MMIO High Base\", \"MMIO High Granularity Size\"")],
    },
    Setting {
        id: "ari",
        words: &["ari"],
        note: "ARI",
        want: Want::Switch,
        attributes: &[("ARIEnable", "DGX"), ("PCIeARISupport", "Supermicro"), ("ARI Support", "by the setup's name")],
        menus: &[],
    },
    Setting {
        id: "payload",
        words: &["max payload", "payload"],
        note: "max payload 256 B",
        want: Want::Payload,
        attributes: &[("PcieMaxPayload", "DGX"), ("Maximum Payload", "by the setup's name")],
        menus: &[],
    },
    Setting {
        id: "node-interleaving",
        words: &["node interleaving"],
        note: "NUMA",
        want: Want::Switch,
        attributes: &[("NodeInterleaving", "HPE"), ("NodeInterleave", "Dell"), ("SocketInterleave", "Lenovo")],
        menus: &[(SUPERMICRO, "ACPI Settings: \"NUMA\"")],
    },
    Setting { id: "proximity", words: &["_pxm"], note: "", want: Want::Decide, attributes: &[], menus: &[] },
];

/// The settings that a rule's words name.
pub(crate) fn of(asked: &str) -> impl Iterator<Item = &'static Setting> {
    let asked = asked.to_lowercase();
    SETTINGS.iter().filter(move |s| s.words.iter().any(|w| has_word(&asked, w)))
}

/// Short names of the settings that an attribute is known to be.
pub(crate) fn of_attribute(name: &str) -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().filter(move |s| s.attributes.iter().any(|(known, _)| fits(known, name, None))).map(|s| s.id)
}

/// Whether an attribute, by its name or by its name in the setup, is the known one. Lenovo puts a group before names
/// (`DevicesandIOPorts_SRIOV`), Supermicro a number behind them (`SR-IOVSupport_002B`).
pub(crate) fn fits(known: &str, name: &str, display: Option<&str>) -> bool {
    let known = plain(known);
    let bare = match name.rsplit_once('_') {
        Some((head, tail)) if tail.len() == 4 && tail.bytes().all(|b| b.is_ascii_hexdigit()) => head,
        _ => name,
    };
    let grouped = bare.split_once('_').map(|(_, rest)| plain(rest));
    plain(bare) == known || grouped.is_some_and(|g| g == known) || display.is_some_and(|d| plain(d) == known)
}

/// Letters and digits only, in lower case.
pub(crate) fn plain(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether a text has a word, not only as a part of another one: "ari" is not in "variable".
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|t| t.chars().next());
        edge(before) && edge(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_rules_and_names_of_services() {
        let ids = |s: &str| of(s).map(|s| s.id).collect::<Vec<_>>();
        assert_eq!(ids("Above 4G Decoding, Resizable BAR, MMIO high size"), ["above-4g", "resizable-bar", "mmio"]);
        assert_eq!(ids("node interleaving; PCIe proximity (_PXM)"), ["node-interleaving", "proximity"]);
        assert_eq!(ids("a variable"), Vec::<&str>::new());
        assert!(fits("Sriov", "DevicesandIOPorts_SRIOV", None) && fits("SR-IOVSupport", "SR_IOVSupport_002B", None));
        assert!(fits("Maximum Payload", "PCIS007", Some("Maximum Payload")));
        assert!(!fits("IOMMU", "PreBootIommu", None) && !fits("IOMMU", "IOMMU_Mode", None));
    }
}
