//! A VirtualMachine of KubeVirt, and a hook for its PCI tree.
//!
//! KubeVirt chooses devices by the name of a resource, and their addresses by libvirt. A sidecar with `onDefineDomain` gets the domain as `--domain` and prints the one that is
//! defined (KubeVirt, cmd/sidecars/README.md).

use super::{Unsaid, Written, comments, models, sums, tree_unsaid, unsaid};
use crate::Layout;
use crate::cells::Cell;
use linerate_formats::counted;
use linerate_node::Node;
use linerate_out::{shell, yaml};
use std::fmt::{self, Write};

/// The manifest: a ConfigMap with the hook, and the VirtualMachine.
///
/// # Errors
/// Never: a string takes all.
pub(super) fn manifest(node: &Node<'_>, layout: &Layout) -> Result<Written, fmt::Error> {
    let models = models(node, layout);
    let page = match layout.page_kib {
        Some(kib) if kib == 1 << 20 => Some("1Gi"),
        Some(2048) => Some("2Mi"),
        _ => None,
    };
    let unsaid = lacks(layout, page);
    let mut o = String::new();
    writeln!(
        o,
        "# For KubeVirt. The hook needs an image with linerate and the snapshot of this host (REPLACE-IMAGE), and the feature gate Sidecar."
    )?;
    comments(&mut o, "a VirtualMachine", &unsaid)?;
    writeln!(
        o,
        "#\n# These resources must be in KubeVirt's configuration, with as many devices; use other names where the cluster has others:"
    )?;
    writeln!(o, "#   permittedHostDevices:\n#     pciHostDevices:")?;
    for m in &models {
        writeln!(
            o,
            "#     - pciVendorSelector: \"{:04X}:{:04X}\"    # {}",
            m.vendor,
            m.device,
            counted(m.devices.len(), "device", "devices")
        )?;
        writeln!(o, "#       resourceName: {}", resource(m))?;
    }
    let name = label(&layout.name);
    let hook = format!("{name}-layout");
    writeln!(o, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}", yaml::scalar(&hook))?;
    writeln!(o, "data:\n  onDefineDomain: |\n    #!/bin/sh")?;
    // $1 is --vmi, $2 its JSON, $3 --domain, $4 the domain. It is defined as it is printed, so that a refusal keeps the guest from starting.
    let again = shell::command(&again(layout)).unwrap_or_default();
    writeln!(o, "    printf '%s\\n' \"$4\" | {again}")?;
    writeln!(
        o,
        "    code=$?\n    # 2: a layout, of which the snapshot does not show all.\n    [ \"$code\" -eq 2 ] || exit \"$code\""
    )?;
    writeln!(o, "---\napiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata:\n  name: {}", yaml::scalar(&name))?;
    writeln!(o, "spec:\n  runStrategy: Halted\n  template:\n    metadata:\n      annotations:")?;
    let sidecar = format!(
        r#"[{{"args": ["--version", "v1alpha2"], "image": "REPLACE-IMAGE", "configMap": {{"name": "{hook}", "key": "onDefineDomain", "hookPath": "/usr/bin/onDefineDomain"}}}}]"#
    );
    writeln!(o, "        hooks.kubevirt.io/hookSidecars: {}", yaml::scalar(&sidecar))?;
    let (cpus, memory) = sums(layout);
    writeln!(o, "    spec:\n      domain:\n        machine:\n          type: q35\n        cpu:")?;
    writeln!(
        o,
        "          cores: {cpus}\n          sockets: 1\n          threads: 1\n          model: host-passthrough"
    )?;
    writeln!(o, "          dedicatedCpuPlacement: true\n          isolateEmulatorThread: true")?;
    if page.is_some() {
        // It takes the nodes of the CPUs that the kubelet gives, and needs huge pages.
        writeln!(o, "          numa:\n            guestMappingPassthrough: {{}}")?;
    }
    writeln!(o, "        memory:\n          guest: {memory}Mi")?;
    if let Some(page) = page {
        writeln!(o, "          hugepages:\n            pageSize: {page}")?;
    }
    writeln!(o, "        firmware:\n          bootloader:\n            efi:\n              secureBoot: false")?;
    writeln!(o, "        devices:")?;
    for (section, gpus) in [("gpus", true), ("hostDevices", false)] {
        let mine: Vec<_> = models.iter().filter(|m| m.is_gpu == gpus).collect();
        if mine.is_empty() {
            continue;
        }
        writeln!(o, "          {section}:")?;
        let word = if gpus { "gpu" } else { "device" };
        let all = mine.iter().flat_map(|m| m.devices.iter().map(move |_| resource(m)));
        for (n, resource) in all.enumerate() {
            writeln!(o, "          - name: {word}{n}\n            deviceName: {resource}")?;
        }
    }
    Ok(Written { text: o, unsaid })
}

/// The command that makes this layout again, into the domain that it is given. What is as without an option has none.
fn again(layout: &Layout) -> Vec<String> {
    let devices = layout.devices.iter().map(|d| d.host.to_string()).collect::<Vec<_>>().join(",");
    let mut out: Vec<String> =
        ["linerate", "vm", "layout", "/snapshot/host.tar.zst", "--devices", &devices].map(str::to_owned).into();
    let (cpus, memory) = sums(layout);
    let count = layout.cells.len().max(1) as u32;
    let shares = |c: &Cell| c.cpus.1 - c.cpus.0 + 1 == cpus / count + u32::from(c.id < cpus % count);
    if layout.cells.iter().all(shares) {
        out.extend(["--vcpus".to_owned(), cpus.to_string()]);
    }
    if layout.cells.iter().all(|c| c.memory_mib == memory / u64::from(count)) {
        out.extend(["--memory".to_owned(), format!("{memory}MiB")]);
    }
    out.extend([
        "--hugepages".to_owned(),
        layout.page_kib.map_or_else(|| "none".to_owned(), |kib| format!("{kib}KiB")),
    ]);
    // Whoever made this layout has looked.
    out.extend(["--partitioned", "--into", "-", "--replace=devices"].map(str::to_owned));
    out
}

/// A name of a resource, from the ids that its selector has.
fn resource(m: &super::Model) -> String {
    format!("linerate.local/pci-{:04x}-{:04x}", m.vendor, m.device)
}

/// A name of Kubernetes: small letters, digits, and dashes within.
fn label(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let out: String = name.chars().map(plain).take(50).collect();
    let out = out.trim_matches('-');
    if out.is_empty() { "guest".to_owned() } else { out.to_owned() }
}

fn lacks(layout: &Layout, page: Option<&str>) -> Vec<Unsaid> {
    let mut out = tree_unsaid(layout, "the hook of this file adds them when the guest is defined");
    out.push(unsaid("on which CPUs and NUMA nodes of the host it runs: the kubelet's CPU, memory and topology managers choose them (policies static, Static, restricted or single-numa-node)"));
    match (layout.page_kib, page) {
        (Some(kib), None) => out.push(unsaid(format!(
            "pages of {kib} KiB: KubeVirt has 2Mi and 1Gi; without huge pages the guest has one NUMA node"
        ))),
        (None, _) if layout.cells.len() > 1 => {
            out.push(unsaid("NUMA nodes of the guest: guestMappingPassthrough needs huge pages (--hugepages 1G)"));
        }
        _ => {}
    }
    out
}
