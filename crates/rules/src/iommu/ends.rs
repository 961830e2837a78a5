//! What the rules of this area share: the ends of the path that host drivers use, and the domains they are in.

use crate::Cx;
use linerate_node::iommu::DomainType;
use linerate_node::pci::PciFunction;
use linerate_snapshot::{Place, Reading};

/// GPUs and RDMA NICs that the drivers of this system use, by the domain they are in.
#[derive(Debug, Default)]
pub(crate) struct Domains {
    /// Device and domain, with the place of the type.
    pub(crate) of: Vec<(linerate_formats::pci::Bdf, DomainType, Place)>,
    /// In no group.
    pub(crate) none: usize,
    /// Group or its type not visible.
    pub(crate) unseen: usize,
    /// Bound to vfio-pci.
    pub(crate) vfio: usize,
}

impl Domains {
    pub(crate) fn in_use(cx: &Cx<'_>) -> Self {
        let mut out = Self::default();
        for f in cx.node.pci.functions.iter().filter(|f| f.is_endpoint_of_path()) {
            if f.driven_by("vfio-pci") {
                out.vfio += 1;
                continue;
            }
            match domain(cx, f) {
                Reading::Known(d, p) => out.of.push((f.bdf, d, p)),
                Reading::Absent(_) => out.none += 1,
                Reading::Unreadable(..) => out.unseen += 1,
            }
        }
        out
    }

    pub(crate) fn first(
        &self,
        pick: impl Fn(DomainType) -> bool,
    ) -> Option<(usize, &(linerate_formats::pci::Bdf, DomainType, Place))> {
        let mut hits = self.of.iter().filter(|(_, d, _)| pick(*d));
        let first = hits.next()?;
        Some((1 + hits.count(), first))
    }
}

/// Default domain of a function's group. Absent: in no group.
fn domain(cx: &Cx<'_>, f: &PciFunction<'_>) -> Reading<DomainType> {
    f.iommu_group.as_ref().and_then(|id, place| match cx.node.iommu.group(*id) {
        Some(g) => g.domain.clone(),
        None => Reading::Unreadable(place, linerate_snapshot::Why::NotCollected),
    })
}

/// The number of IOMMU groups; where the directory is not visible, the group of any function tells that there are some.
pub(crate) fn group_count(cx: &Cx<'_>) -> Option<(usize, Place)> {
    cx.node.iommu.group_count().or_else(|| {
        let mut groups: Vec<(u32, Place)> = cx
            .node
            .pci
            .functions
            .iter()
            .filter_map(|f| match &f.iommu_group {
                Reading::Known(id, p) => Some((*id, *p)),
                _ => None,
            })
            .collect();
        groups.sort_unstable_by_key(|(id, _)| *id);
        groups.dedup_by_key(|(id, _)| *id);
        groups.first().map(|(_, p)| (groups.len(), *p))
    })
}

/// AMD SEV-SNP is on or wanted on this host: it needs translated domains, so that no remedy may ask for passthrough.
pub(crate) fn snp_wanted(cx: &Cx<'_>) -> Option<Place> {
    let param = linerate_node::kernel::module_param(cx.snapshot, "kvm_amd", "sev_snp");
    if param.known().is_some_and(|v| v.starts_with(['Y', '1'])) {
        return Some(param.place());
    }
    let Reading::Known(c, place) = &cx.node.kernel.cmdline else { return None };
    let word = c
        .module_param("kvm_amd", "sev_snp")
        .filter(|p| p.value.as_deref().is_none_or(|v| linerate_formats::cmdline::kernel_bool(v) == Some(true)))?;
    Some(place.line(word.line))
}

/// `mem_encrypt=on` on the command line: memory encryption is wanted, of which SNP may be a part.
pub(crate) fn memory_encryption_asked(cx: &Cx<'_>) -> Option<Place> {
    let Reading::Known(c, place) = &cx.node.kernel.cmdline else { return None };
    let word = c.get_all("mem_encrypt").last().filter(|p| p.value.as_deref() == Some("on"))?;
    Some(place.line(word.line))
}
