//! A layout as a domain of libvirt, and its parts for a domain that is there already.

pub(crate) mod parts;

use crate::Layout;
use crate::layout::{Controller, Placed};
use linerate_formats::libvirt::{Model, QEMU};
use linerate_out::markup;
use std::fmt::{self, Write};

/// The domain. It has no disk and no network: `virt-install`, virt-manager or an editor adds them.
///
/// # Errors
/// Never: a string takes all.
pub fn domain(layout: &Layout) -> Result<String, fmt::Error> {
    let (mut o, cells) = (String::new(), &layout.cells);
    writeln!(o, "<domain type='kvm' xmlns:qemu='{QEMU}'>")?;
    writeln!(o, "  <name>{}</name>", markup::xml(&layout.name))?;
    write!(o, "{}{}", parts::memory(parts::memory_mib(cells)), parts::backing(layout.page_kib, true))?;
    write!(o, "{}{}{}", parts::vcpu(parts::vcpus(cells)), parts::cputune(cells), parts::numatune(cells))?;
    writeln!(o, "  <os firmware='efi'>\n    <type arch='x86_64' machine='q35'>hvm</type>\n  </os>")?;
    let features = if layout.has_iommu { parts::FEATURES_REMAPPED } else { parts::FEATURES };
    write!(o, "{features}{}", parts::cpu(cells))?;
    write!(o, "  <devices>\n{}", parts::root(layout.window.size))?;
    layout.controllers.iter().try_for_each(|c| o.write_str(&controller(c)))?;
    layout.devices.iter().try_for_each(|d| o.write_str(&hostdev(d)))?;
    o.write_str(if layout.has_iommu { parts::IOMMU } else { "" })?;
    writeln!(o, "  </devices>")?;
    o.write_str(&window(layout.window.size))?;
    let alias =
        |m: &crate::clique::Member| layout.devices.iter().find(|d| d.host == m.host).map(|d| (d.alias.as_str(), m.id));
    o.write_str(&parts::cliques("qemu:", &layout.cliques.iter().filter_map(alias).collect::<Vec<_>>()))?;
    writeln!(o, "</domain>")?;
    Ok(o)
}

/// A controller, as an element with the indent of `<devices>`.
#[must_use]
pub fn controller(c: &Controller) -> String {
    let Controller { index, model, above, slot, alias, of, .. } = c;
    let target = match (model, c.bus_number, c.cell) {
        (Model::PcieExpander, Some(bus), Some(cell)) => {
            format!("<target busNr='{bus}'>\n        <node>{cell}</node>\n      </target>")
        }
        (Model::PcieExpander, Some(bus), None) => format!("<target busNr='{bus}'/>"),
        (Model::RootPort, ..) => {
            format!("<target chassis='{index}' port='{:#x}' hotplug='off'/>", u32::from(*slot) << 3)
        }
        (Model::DownstreamPort, ..) => format!("<target chassis='{index}' port='{slot:#x}' hotplug='off'/>"),
        _ => String::new(),
    };
    let target = if target.is_empty() { target } else { format!("      {target}\n") };
    format!(
        "    <!-- {of} -->\n    <controller type='pci' index='{index}' model='{}'>\n{target}      <alias name='{alias}'/>\n      <address type='pci' domain='0x0000' bus='{above:#04x}' slot='{slot:#04x}' function='0x0'/>\n    </controller>\n",
        model.name()
    )
}

/// A device of the host.
#[must_use]
pub fn hostdev(d: &Placed) -> String {
    let h = d.host;
    format!(
        "    <hostdev mode='subsystem' type='pci' managed='yes'>\n      <driver name='vfio'/>\n      <source>\n        <address domain='{:#06x}' bus='{:#04x}' slot='{:#04x}' function='{:#x}'/>\n      </source>\n      <alias name='{}'/>\n{}    </hostdev>\n",
        h.domain,
        h.bus,
        h.device,
        h.function,
        d.alias,
        address(d)
    )
}

/// The address in the guest of a device of the host.
#[must_use]
pub fn address(d: &Placed) -> String {
    let multi = if d.multifunction && d.guest.function == 0 { " multifunction='on'" } else { "" };
    let Placed { above, guest, .. } = d;
    format!(
        "      <address type='pci' domain='0x0000' bus='{above:#04x}' slot='0x00' function='{:#x}'{multi}/>\n",
        guest.function
    )
}

/// The window for OVMF: libvirt refuses names below `opt/ovmf/` in `<sysinfo type='fwcfg'>`.
#[must_use]
pub fn window(size: u64) -> String {
    format!("  <qemu:commandline>\n{}  </qemu:commandline>\n", parts::arguments("qemu:", size))
}
