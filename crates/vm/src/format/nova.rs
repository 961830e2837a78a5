//! OpenStack Nova: extra specs of a flavor, properties of an image, and aliases of PCI devices.

use super::{Unsaid, Written, comments, models, sums, tree_unsaid, unsaid, unsaid_to_nccl};
use crate::Layout;
use linerate_node::Node;
use linerate_out::shell;
use std::fmt::{self, Write};

/// Commands of `openstack`, with the lines of nova.conf in comments.
///
/// # Errors
/// Never: a string takes all.
pub(super) fn commands(node: &Node<'_>, layout: &Layout) -> Result<Written, fmt::Error> {
    let models = models(node, layout);
    let unsaid = lacks(layout);
    let mut o = String::new();
    writeln!(
        o,
        "#!/bin/sh\n# For OpenStack Nova: a flavor, and properties of the image that is given as the first argument."
    )?;
    comments(&mut o, "Nova", &unsaid)?;
    writeln!(
        o,
        "#\n# nova.conf, on the compute node ([pci] device_spec) and on the controllers ([pci] alias):\n#   [pci]"
    )?;
    for m in &models {
        writeln!(o, "#   device_spec = {{\"vendor_id\": \"{:04x}\", \"product_id\": \"{:04x}\"}}", m.vendor, m.device)?;
    }
    for m in &models {
        let kind = m.kind.map_or_else(String::new, |k| format!(", \"device_type\": \"{k}\""));
        writeln!(
            o,
            "#   alias = {{\"vendor_id\": \"{:04x}\", \"product_id\": \"{:04x}\"{kind}, \"name\": \"{}\", \"numa_policy\": \"required\"}}",
            m.vendor,
            m.device,
            alias(m)
        )?;
    }
    writeln!(o, "set -eu\nimage=${{1:?name or id of the image}}")?;
    let (cpus, memory) = sums(layout);
    let name = shell::word(&layout.name).unwrap_or_default();
    writeln!(o, "openstack flavor create --vcpus {cpus} --ram {memory} --disk 0 -- {name}")?;
    let mut specs = vec![
        ("hw:cpu_policy".to_owned(), "dedicated".to_owned()),
        ("hw:emulator_threads_policy".to_owned(), "share".to_owned()),
        ("hw:numa_nodes".to_owned(), layout.cells.len().to_string()),
    ];
    for c in layout.cells.iter().filter(|_| layout.cells.len() > 1) {
        let cpus = if c.cpus.0 == c.cpus.1 { c.cpus.0.to_string() } else { format!("{}-{}", c.cpus.0, c.cpus.1) };
        specs.push((format!("hw:numa_cpus.{}", c.id), cpus));
        specs.push((format!("hw:numa_mem.{}", c.id), c.memory_mib.to_string()));
    }
    if let Some(kib) = layout.page_kib {
        specs.push(("hw:mem_page_size".to_owned(), kib.to_string()));
        specs.push(("hw:locked_memory".to_owned(), "true".to_owned()));
    }
    specs.push(("hw:pci_numa_affinity_policy".to_owned(), "required".to_owned()));
    specs.push(("hw:maxphysaddr_mode".to_owned(), "passthrough".to_owned()));
    let aliases: Vec<String> = models.iter().map(|m| format!("{}:{}", alias(m), m.devices.len())).collect();
    specs.push(("pci_passthrough:alias".to_owned(), aliases.join(",")));
    for (key, value) in specs {
        let property = shell::word(&format!("{key}={value}")).unwrap_or_default();
        writeln!(o, "openstack flavor set --property {property} -- {name}")?;
    }
    writeln!(o, "openstack image set --property hw_machine_type=q35 --property hw_firmware_type=uefi -- \"$image\"")?;
    Ok(Written { text: o, unsaid })
}

fn alias(m: &super::Model) -> String {
    format!("{}-{:04x}-{:04x}", if m.is_gpu { "gpu" } else { "device" }, m.vendor, m.device)
}

fn lacks(layout: &Layout) -> Vec<Unsaid> {
    let mut out = tree_unsaid(layout, "Nova has no hook: all devices are below root ports of one root bus");
    if layout.cells.len() > 1 {
        out.push(unsaid_to_nccl("the NUMA node of each device in the guest: Nova places devices near the guest's nodes on the host and does not show the guest which is near which"));
        out.push(unsaid("distances between the NUMA nodes"));
    }
    out.push(unsaid("on which CPUs and nodes of the host it runs: Nova chooses them from cpu_dedicated_set"));
    out.push(unsaid("the emulator's CPUs: cpu_shared_set of the compute node"));
    out
}
