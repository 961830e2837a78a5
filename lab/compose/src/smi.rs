//! What `nvidia-smi -q -x` and `nvidia-smi topo -m` print.

use crate::compose::{Commands, Plan};
use crate::function::{Function, Kind};
use crate::models;
use crate::nvidia;
use std::fmt::Write;

pub(crate) fn write(plan: &Plan, commands: &mut Commands) {
    let mut gpus: Vec<(usize, usize, &Function)> = plan
        .each()
        .filter_map(|(i, f, _)| match f.kind {
            Kind::Gpu(n) if f.driver.as_deref() == Some("nvidia") => Some((i, n, f)),
            _ => None,
        })
        .collect();
    if gpus.is_empty() {
        return;
    }
    // nvidia-smi numbers GPUs by address.
    gpus.sort_by_key(|(_, _, f)| f.bdf);
    commands.add(&["nvidia-smi", "-q", "-x"], query(plan, &gpus), 0);
    commands.add(&["nvidia-smi", "topo", "-m"], topology(plan, &gpus), 0);
}

fn query(plan: &Plan, gpus: &[(usize, usize, &Function)]) -> String {
    let n = &plan.d.nvidia;
    let Some(model) = models::gpu_model(plan.d.layout.gpu) else { return String::new() };
    let mut out = format!(
        "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>\n\
         \t<timestamp>Thu Jan  1 00:00:00 2026</timestamp>\n\t<driver_version>{}</driver_version>\n\
         \t<cuda_version>12.8</cuda_version>\n\t<attached_gpus>{}</attached_gpus>\n",
        n.driver,
        gpus.len()
    );
    // Drivers report it from Hopper on, where there are NVSwitches.
    let switched = plan.d.layout.nvswitches > 0
        || plan.d.zoo.is_some() && model.nvlinks > 0 && plan.d.node.role != crate::Role::Guest;
    let joined = switched && matches!(model.architecture, "Hopper" | "Blackwell");
    let (state, status) = if joined { ("Completed", "Success") } else { ("N/A", "N/A") };
    for (minor, (_, index, f)) in gpus.iter().enumerate() {
        let bar1 = f.bar1.and_then(|i| f.bars.get(i)).map_or(0, |b| b.size >> 20);
        let bar1 = n.bar1_mib.unwrap_or(bar1);
        let fb = n.fb_mib.unwrap_or(model.fb_mib);
        let (generation, most, width, lanes) =
            f.link.map_or((0, 0, 0, 0), |l| (l.speed.generation(), l.max_speed.generation(), l.width, l.max_width));
        let host = f.parent.and_then(|p| plan.functions.get(p)?.link).map_or(most, |l| l.max_speed.generation());
        let b = f.bdf;
        let _ = write!(
            out,
            "\t<gpu id=\"{:08X}:{:02X}:{:02X}.{:X}\">\n\t\t<product_name>{}</product_name>\n\
             \t\t<product_architecture>{}</product_architecture>\n\t\t<persistence_mode>Enabled</persistence_mode>\n\
             \t\t<mig_mode>\n\t\t\t<current_mig>{mig}</current_mig>\n\t\t\t<pending_mig>{mig}</pending_mig>\n\t\t</mig_mode>\n\
             \t\t<serial>{}</serial>\n\t\t<uuid>{}</uuid>\n\t\t<minor_number>{minor}</minor_number>\n\
{c2c}\
             \t\t<gpu_virtualization_mode>\n\t\t\t<virtualization_mode>{}</virtualization_mode>\n\t\t</gpu_virtualization_mode>\n\
             \t\t<pci>\n\t\t\t<pci_bus>{:02X}</pci_bus>\n\t\t\t<pci_device>{:02X}</pci_device>\n\t\t\t<pci_domain>{:04X}</pci_domain>\n\
             \t\t\t<pci_device_id>{:04X}{:04X}</pci_device_id>\n\t\t\t<pci_bus_id>{:08X}:{:02X}:{:02X}.{:X}</pci_bus_id>\n\
             \t\t\t<pci_sub_system_id>{:04X}{:04X}</pci_sub_system_id>\n\t\t\t<pci_gpu_link_info>\n\t\t\t\t<pcie_gen>\n\
             \t\t\t\t\t<max_link_gen>{}</max_link_gen>\n\t\t\t\t\t<current_link_gen>{generation}</current_link_gen>\n\
             \t\t\t\t\t<device_current_link_gen>{generation}</device_current_link_gen>\n\
             \t\t\t\t\t<max_device_link_gen>{most}</max_device_link_gen>\n\t\t\t\t\t<max_host_link_gen>{host}</max_host_link_gen>\n\
             \t\t\t\t</pcie_gen>\n\t\t\t\t<link_widths>\n\t\t\t\t\t<max_link_width>{lanes}x</max_link_width>\n\
             \t\t\t\t\t<current_link_width>{width}x</current_link_width>\n\t\t\t\t</link_widths>\n\t\t\t</pci_gpu_link_info>\n\
             \t\t\t<replay_counter>{}</replay_counter>\n\t\t\t<replay_rollover_counter>0</replay_rollover_counter>\n\t\t</pci>\n\
             \t\t<performance_state>P0</performance_state>\n\
             \t\t<fb_memory_usage>\n\t\t\t<total>{fb} MiB</total>\n\t\t\t<reserved>551 MiB</reserved>\n\t\t\t<used>0 MiB</used>\n\
             \t\t\t<free>{} MiB</free>\n\t\t</fb_memory_usage>\n\
             \t\t<bar1_memory_usage>\n\t\t\t<total>{bar1} MiB</total>\n\t\t\t<used>1 MiB</used>\n\t\t\t<free>{} MiB</free>\n\
             \t\t</bar1_memory_usage>\n{memory}\t\t<fabric>\n\t\t\t<state>{state}</state>\n\t\t\t<status>{status}</status>\n\t\t</fabric>\n\t</gpu>\n",
            b.domain,
            b.bus,
            b.device,
            b.function,
            model.product,
            model.architecture,
            1_650_000_000_000 + plan.seed.bits(&format!("serial{index}")) % 10_000_000_000,
            nvidia::uuid(plan, *index),
            if plan.d.node.role == crate::Role::Guest { "Pass-Through" } else { "None" },
            b.bus,
            b.device,
            b.domain,
            f.device,
            f.vendor,
            b.domain,
            b.bus,
            b.device,
            b.function,
            f.subsystem.1,
            f.subsystem.0,
            most.min(host),
            f.aer.correctable.get("Rollover").copied().unwrap_or(0),
            fb.saturating_sub(551),
            bar1.saturating_sub(1),
            c2c = match plan.d.layout.gpu {
                g if g.has_c2c() => "\t\t<c2c_mode>Enabled</c2c_mode>\n",
                _ => "",
            },
            memory = if model.compute >= "8.0" { REMAPPED } else { RETIRED },
            mig = if model.compute >= "8.0" { "Disabled" } else { "N/A" },
        );
    }
    out.push_str("</nvidia_smi_log>\n");
    out
}

/// Memory without errors: rows that are remapped, from Ampere on.
const REMAPPED: &str = "\t\t<ecc_errors>\n\t\t\t<volatile>\n\t\t\t\t<sram_correctable>0</sram_correctable>\n\t\t\t\t<sram_uncorrectable_parity>0</sram_uncorrectable_parity>\n\t\t\t\t<sram_uncorrectable_secded>0</sram_uncorrectable_secded>\n\t\t\t\t<dram_correctable>0</dram_correctable>\n\t\t\t\t<dram_uncorrectable>0</dram_uncorrectable>\n\t\t\t</volatile>\n\t\t</ecc_errors>\n\t\t<remapped_rows>\n\t\t\t<remapped_row_corr>0</remapped_row_corr>\n\t\t\t<remapped_row_unc>0</remapped_row_unc>\n\t\t\t<remapped_row_pending>No</remapped_row_pending>\n\t\t\t<remapped_row_failure>No</remapped_row_failure>\n\t\t</remapped_rows>\n";
/// Memory without errors: pages that are retired, before Ampere.
const RETIRED: &str = "\t\t<ecc_errors>\n\t\t\t<volatile>\n\t\t\t\t<double_bit>\n\t\t\t\t\t<total>0</total>\n\t\t\t\t</double_bit>\n\t\t\t</volatile>\n\t\t</ecc_errors>\n\t\t<retired_pages>\n\t\t\t<pending_blacklist>No</pending_blacklist>\n\t\t\t<pending_retirement>No</pending_retirement>\n\t\t</retired_pages>\n";

/// The word for the way between two functions.
fn way(plan: &Plan, a: usize, b: usize) -> &'static str {
    let chain = |mut at: usize| {
        let mut v = vec![at];
        while let Some(p) = plan.functions.get(at).and_then(|f| f.parent) {
            v.push(p);
            at = p;
        }
        v
    };
    let (Some(fa), Some(fb)) = (plan.functions.get(a), plan.functions.get(b)) else { return "SYS" };
    let (ca, cb) = (chain(a), chain(b));
    if let Some((da, db)) = ca.iter().enumerate().find_map(|(n, x)| cb.iter().position(|y| y == x).map(|m| (n, m))) {
        let down_and_up = |n: usize| n <= 2;
        return if down_and_up(da) && down_and_up(db) { "PIX" } else { "PXB" };
    }
    if fa.socket != fb.socket || fa.numa != fb.numa {
        return "SYS";
    }
    if (fa.bdf.domain, fa.root_bus) == (fb.bdf.domain, fb.root_bus) { "PHB" } else { "NODE" }
}

fn topology(plan: &Plan, gpus: &[(usize, usize, &Function)]) -> String {
    let Some(model) = models::gpu_model(plan.d.layout.gpu) else { return String::new() };
    let nics: Vec<(String, usize)> =
        plan.ports.iter().filter(|p| p.port == 1 && !p.rdma.is_empty()).map(|p| (p.rdma.clone(), p.function)).collect();
    let mut rows: Vec<(String, usize, bool)> =
        (0..gpus.len()).zip(gpus).map(|(n, (i, _, _))| (format!("GPU{n}"), *i, true)).collect();
    rows.extend(nics.iter().enumerate().map(|(n, (_, i))| (format!("NIC{n}"), *i, false)));
    let mut out = String::new();
    for (name, ..) in &rows {
        let _ = write!(out, "\t{name}");
    }
    out.push_str("\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n");
    for (name, i, gpu) in &rows {
        out.push_str(name);
        for (other, j, other_gpu) in &rows {
            if name == other {
                out.push_str("\t X ");
            } else if *gpu && *other_gpu && model.nvlinks > 0 {
                let _ = write!(out, "\tNV{}", model.nvlinks);
            } else {
                let _ = write!(out, "\t{}", way(plan, *i, *j));
            }
        }
        match plan.functions.get(*i).filter(|_| *gpu) {
            Some(f) => {
                let node = if f.numa < 0 { "N/A".to_owned() } else { f.numa.to_string() };
                let _ = writeln!(out, "\t{}\t{node}\t\tN/A", plan.cpus.of_node(f.numa).list);
            }
            None => out.push_str("\t\t\t\t\n"),
        }
    }
    out.push_str(
        "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes\n",
    );
    if !nics.is_empty() {
        out.push_str("\nNIC Legend:\n\n");
        for (n, (name, _)) in nics.iter().enumerate() {
            let _ = writeln!(out, "  NIC{n}: {name}");
        }
    }
    out.push('\n');
    out
}
