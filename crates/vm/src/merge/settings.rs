//! What the guest needs besides its devices and NUMA nodes: pages, ACPI, firmware, the window for OVMF.

use super::{Difference, Refused, Work};
use crate::window;
use crate::write::parts;
use linerate_formats::libvirt::{Firmware, HugePages};

pub(super) fn write(work: &mut Work<'_>) -> Result<(), Refused> {
    backing(work);
    features(work);
    processor(work);
    if firmware(work) { aperture(work) } else { Ok(()) }
}

fn backing(work: &mut Work<'_>) {
    let (user, size) = (work.user, work.layout.page_kib);
    let is_locked = user.domain.is_locked.is_some();
    let Some(element) = user.outline.root.child("memoryBacking") else {
        return work.edits.in_domain(&user.outline.root, "memoryBacking", &parts::backing(size, true));
    };
    let mut more = String::new();
    match (element.child("hugepages"), size) {
        (None, Some(size)) => more += &parts::huge_pages(size),
        (Some(pages), Some(size)) => {
            let has = &user.domain.huge_pages;
            if !has.iter().any(|p| p.cells.is_none() && p.size_kib == Some(size)) {
                let difference = Difference::of(
                    "<hugepages>",
                    sizes(has),
                    format!("{size} KiB"),
                    "other page sizes need other pages to be free on the host, and small ones more entries of the IOTLB",
                );
                work.differs(pages.span, difference, Some(&parts::huge_pages(size)));
            }
        }
        (_, None) => {}
    }
    if !is_locked {
        more += parts::LOCKED;
    }
    work.edits.last_in(element, &more);
}

fn sizes(all: &[HugePages]) -> String {
    let size = |p: &HugePages| {
        let size = p.size_kib.map_or_else(|| "the host's default size".to_owned(), |k| format!("{k} KiB"));
        p.cells.as_ref().map_or_else(|| size.clone(), |c| format!("{size} for cells {c}"))
    };
    all.iter().take(8).map(size).collect::<Vec<_>>().join(", ")
}

/// ACPI has the NUMA nodes, and the expander buses with theirs.
fn features(work: &mut Work<'_>) {
    let root = &work.user.outline.root;
    match root.child("features") {
        None => work.edits.in_domain(root, "features", parts::FEATURES),
        Some(_) if work.user.domain.has_acpi => {}
        Some(features) => work.edits.last_in(features, parts::ACPI),
    }
}

fn processor(work: &mut Work<'_>) {
    let Some(cpu) = work.user.outline.root.child("cpu") else { return };
    let mode = cpu.get("mode").unwrap_or("custom");
    if !matches!(mode, "host-passthrough" | "maximum") && work.user.domain.address_bits.is_none() {
        let difference = Difference::of(
            "<cpu>",
            format!("mode {mode}"),
            "mode host-passthrough",
            "the guest may have fewer address bits than the window for BARs needs, and does not know the host's processor",
        );
        work.differs(cpu.span, difference, None);
    }
}

/// Whether it is UEFI. Nobody's firmware is replaced: a guest that was installed with one does not start with another.
fn firmware(work: &mut Work<'_>) -> bool {
    let has = match work.user.domain.firmware {
        Some(Firmware::Uefi) => return true,
        Some(Firmware::Kernel) => "a kernel that QEMU loads",
        Some(Firmware::Bios) | None => "BIOS",
    };
    if let Some(os) = work.user.outline.root.child("os") {
        let difference = Difference::of(
            "firmware",
            has,
            "UEFI (<os firmware='efi'>)",
            "SeaBIOS may find no room for large BARs; a guest that was installed with BIOS does not start with UEFI, so --replace does not change it",
        );
        work.differs(os.span, difference, None);
    }
    false
}

fn aperture(work: &mut Work<'_>) -> Result<(), Refused> {
    let (user, size) = (work.user, work.layout.window.size);
    let Some(element) = user.of_qemu("commandline") else {
        let prefix = work.prefix()?;
        let written = format!("  <{prefix}commandline>\n{}  </{prefix}commandline>\n", parts::arguments(&prefix, size));
        work.edits.last_in(&user.outline.root, &written);
        return Ok(());
    };
    let prefix = if element.prefix.is_empty() { String::new() } else { format!("{}:", element.prefix) };
    let own = element.elements().find_map(|e| Some((e, window::asked(e.get("value")?)?.to_owned())));
    match own {
        None => work.edits.last_in(element, &parts::arguments(&prefix, size)),
        Some((_, has)) if has.trim() == (size >> 20).to_string() => {}
        Some((argument, has)) => {
            let difference = Difference::of(
                "<qemu:arg>, the window of OVMF",
                format!("{has} MiB"),
                format!("{} MiB", size >> 20),
                "with less, BARs may have no room; with more, the window may end beyond the processor's addresses",
            );
            let written = format!("    <{prefix}arg value='{}{}'/>\n", parts::WINDOW, size >> 20);
            work.differs(argument.span, difference, Some(&written));
        }
    }
    Ok(())
}
