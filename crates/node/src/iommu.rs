//! IOMMU groups, their default domains, the units, and what firmware offers.

use linerate_formats::pci::Bdf;
use linerate_snapshot::{EntryId, Place, Reading, Snapshot};

/// Type of a group's default domain, as `/sys/kernel/iommu_groups/N/type` says. It does not describe what vfio maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub enum DomainType {
    /// 1:1: device addresses are physical addresses.
    #[serde(rename = "identity")]
    Identity,
    /// Translated, flushed synchronously (strict).
    #[serde(rename = "DMA")]
    Dma,
    /// Translated, flushed lazily.
    #[serde(rename = "DMA-FQ")]
    DmaFq,
    /// Owned by a user such as vfio.
    #[serde(rename = "unmanaged")]
    Unmanaged,
    /// No DMA at all.
    #[serde(rename = "blocked")]
    Blocked,
}

impl DomainType {
    fn parse(t: &str) -> Option<Self> {
        Some(match t {
            "identity" => Self::Identity,
            "DMA" => Self::Dma,
            "DMA-FQ" => Self::DmaFq,
            "unmanaged" => Self::Unmanaged,
            "blocked" => Self::Blocked,
            _ => return None,
        })
    }

    /// Device addresses are translated.
    #[must_use]
    pub fn translated(self) -> bool {
        matches!(self, Self::Dma | Self::DmaFq)
    }
}

impl std::fmt::Display for DomainType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Identity => "identity",
            Self::Dma => "DMA",
            Self::DmaFq => "DMA-FQ",
            Self::Unmanaged => "unmanaged",
            Self::Blocked => "blocked",
        })
    }
}

/// One group.
#[derive(Debug, Clone)]
pub struct IommuGroup {
    /// Number.
    pub id: u32,
    /// Default domain. The file exists since Linux 5.11.
    pub domain: Reading<DomainType>,
    /// PCI members.
    pub devices: Vec<Bdf>,
    /// Its directory.
    pub home: EntryId,
}

/// ACPI tables by which firmware offers an IOMMU.
#[derive(Debug, Clone)]
pub struct AcpiTables {
    /// Names of all tables.
    pub names: Vec<String>,
}

impl AcpiTables {
    /// Whether there is a table of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|n| n == name)
    }

    /// The table that offers an IOMMU: DMAR (Intel), IVRS (AMD), IORT (Arm; it may describe none), VIOT (virtio).
    #[must_use]
    pub fn iommu_table(&self) -> Option<&'static str> {
        ["DMAR", "IVRS", "IORT", "VIOT"].into_iter().find(|t| self.has(t))
    }
}

/// Everything about the IOMMU.
#[derive(Debug, Clone)]
pub struct Iommu {
    /// Groups by number. `Known(empty)`: the kernel uses no IOMMU. Absent: the kernel was built without IOMMU support.
    pub groups: Reading<Vec<IommuGroup>>,
    /// Units in `/sys/class/iommu`: `dmar0`, `ivhd0`, `smmu3.0x…`.
    pub units: Reading<Vec<String>>,
    /// Firmware tables.
    pub acpi: Reading<AcpiTables>,
}

impl Iommu {
    pub(crate) fn decode(s: &Snapshot) -> Self {
        let names = |dir: EntryId| s.children(dir).into_iter().map(|(n, _)| n.to_owned()).collect::<Vec<_>>();
        Iommu {
            groups: s.dir("sys/kernel/iommu_groups").map(|dir| {
                let mut groups: Vec<IommuGroup> =
                    s.children(dir).into_iter().filter_map(|(n, e)| group(s, n, e)).collect();
                groups.sort_unstable_by_key(|g| g.id);
                groups
            }),
            units: s.dir("sys/class/iommu").map(names),
            acpi: s.dir("sys/firmware/acpi/tables").map(|d| AcpiTables { names: names(d) }),
        }
    }

    /// Group by number.
    #[must_use]
    pub fn group(&self, id: u32) -> Option<&IommuGroup> {
        let groups = self.groups.known()?;
        groups.binary_search_by_key(&id, |g| g.id).ok().map(|i| &groups[i])
    }

    /// Number of groups; `None` when not visible. Absent directory: zero.
    #[must_use]
    pub fn group_count(&self) -> Option<(usize, Place)> {
        match &self.groups {
            Reading::Known(g, p) => Some((g.len(), *p)),
            Reading::Absent(p) => Some((0, *p)),
            Reading::Unreadable(..) => None,
        }
    }
}

fn group(s: &Snapshot, name: &str, home: EntryId) -> Option<IommuGroup> {
    let id = name.parse().ok()?;
    let devices = match s.child(home, "devices") {
        Some(d) => s.children(d).into_iter().filter_map(|(n, _)| n.parse().ok()).collect(),
        None => Vec::new(),
    };
    let domain = s.text(home, "type").parse("not a domain type that this version knows", DomainType::parse);
    Some(IommuGroup { id, domain, devices, home })
}
