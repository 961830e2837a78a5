//! `/boot/config-*` or the text of `/proc/config.gz`: the options that this tool asks about.

use crate::bounds::TEXT_ITEMS;
use crate::text::{decode, lines};
use serde::Serialize;

/// How an option is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Setting {
    /// Built in.
    Yes,
    /// A module.
    Module,
    /// `# CONFIG_X is not set`, or `=n`.
    NotSet,
    /// A number or a string, without quotes.
    Value(String),
}

/// One option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigOption {
    /// Name without `CONFIG_`.
    pub name: String,
    /// Its setting.
    pub setting: Setting,
    /// 1-based line.
    pub line: u32,
}

/// Options whose names contain one of these are kept; a whole configuration has 10,000.
const OF_INTEREST: &[&str] = &[
    "IOMMU",
    "AMD_MEM_ENCRYPT",
    "ARM_SMMU",
    "PCI",
    "DMABUF",
    "DMA_SHARED_BUFFER",
    "ZONE_DEVICE",
    "HMM_MIRROR",
    "INFINIBAND",
    "MLX5",
    "MLX4",
    "VFIO",
    "LOCK_DOWN",
    "LOCKDOWN",
    "NUMA_BALANCING",
    "HSA_AMD",
    "IRQ_REMAP",
    "X86_X2APIC",
];

/// Parses the file; options of other subjects are dropped.
pub fn parse(bytes: &[u8]) -> Vec<ConfigOption> {
    let text = decode(bytes);
    lines(&text)
        .filter_map(|(line, raw)| {
            let (name, setting) = option(raw.trim())?;
            OF_INTEREST.iter().any(|w| name.contains(w)).then(|| ConfigOption { name: name.to_owned(), setting, line })
        })
        .take(TEXT_ITEMS)
        .collect()
}

/// Finds an option by its name without `CONFIG_`.
pub fn find<'a>(options: &'a [ConfigOption], name: &str) -> Option<&'a ConfigOption> {
    options.iter().find(|o| o.name == name)
}

fn option(line: &str) -> Option<(&str, Setting)> {
    if let Some(name) = line.strip_prefix("# CONFIG_") {
        return Some((name.strip_suffix(" is not set")?, Setting::NotSet));
    }
    let (name, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
    let setting = match value {
        "y" => Setting::Yes,
        "m" => Setting::Module,
        "n" => Setting::NotSet,
        other => Setting::Value(other.trim_matches('"').to_owned()),
    };
    Some((name, setting))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings() {
        let c = parse(b"# comment\nCONFIG_INTEL_IOMMU=y\n# CONFIG_IOMMU_DEFAULT_PASSTHROUGH is not set\nCONFIG_PCI_PASID=y\nCONFIG_DMABUF_HEAPS=m\nCONFIG_HZ=250\nCONFIG_PCI_X=\"a\"\n");
        assert_eq!(find(&c, "IOMMU_DEFAULT_PASSTHROUGH").map(|o| (&o.setting, o.line)), Some((&Setting::NotSet, 3)));
        assert_eq!(find(&c, "DMABUF_HEAPS").map(|o| &o.setting), Some(&Setting::Module));
        assert_eq!((find(&c, "HZ"), c.len()), (None, 5));
        assert_eq!(c[4].setting, Setting::Value("a".into()));
    }
}
