//! `nvidia-smi -q` as text: sections by indentation. Pasted text may have lost it, then the last section header counts.

use super::{Field, Gpu, Query};
use crate::bounds::{GPUS, Limit, leave_out};
use crate::pci::Bdf;
use crate::text::{At, decode, lines};

/// Parses `nvidia-smi -q` and its excerpts (`-d PCI`, `-d MEMORY`, …).
pub fn parse_query(bytes: &[u8]) -> Query {
    let text = decode(bytes);
    let mut out = Query::default();
    // Open sections as (indentation, lower-case title), outermost first.
    let mut sections: Vec<(usize, String)> = Vec::new();
    for (line, raw) in lines(&text) {
        let content = raw.trim();
        if content.is_empty() {
            continue;
        }
        let indent = raw.len() - raw.trim_start().len();
        while sections.last().is_some_and(|(i, _)| *i > indent || (*i == indent && indent > 0)) {
            sections.pop();
        }
        if let Some(bus_id) = gpu_header(content) {
            sections.clear();
            if out.gpus.len() < GPUS {
                out.gpus.push(Gpu::new(bus_id, line));
            } else {
                leave_out(&mut out.left_out, Limit::GPUS, line);
            }
            continue;
        }
        // What follows belongs to a GPU that is left out.
        if !out.left_out.is_empty() {
            continue;
        }
        // Values follow ` : `; a title has none. Bus ids and times contain colons without a space before them.
        match content.split_once(" :").or_else(|| content.strip_suffix(':').map(|k| (k, ""))) {
            Some((key, value)) => value_line(&mut out, &sections, key.trim(), value.trim(), line),
            None if indent == 0 && !out.gpus.is_empty() => {
                // No indentation left in this text: one level of sections is all that can be known.
                let mig = sections.iter().any(|(_, s)| is_mig(s)) && !content.eq_ignore_ascii_case("ecc mode");
                sections.clear();
                if mig {
                    sections.push((0, "mig device".into()));
                }
                sections.push((0, content.to_ascii_lowercase()));
            }
            None if sections.len() < MAX_DEPTH => sections.push((indent, content.to_ascii_lowercase())),
            None => {}
        }
    }
    out
}

/// Deeper than any real output; bounds the work on hostile text.
const MAX_DEPTH: usize = 16;

/// `GPU 00000000:1B:00.0`
fn gpu_header(content: &str) -> Option<&str> {
    let bus_id = content.strip_prefix("GPU ")?.trim();
    bus_id.parse::<Bdf>().ok().map(|_| bus_id)
}

fn is_mig(section: &str) -> bool {
    section == "mig device" || section == "mig devices"
}

fn value_line(out: &mut Query, sections: &[(usize, String)], key: &str, value: &str, line: u32) {
    let key = key.to_ascii_lowercase();
    let Some(gpu) = out.gpus.last_mut() else {
        let text = || (!value.is_empty()).then(|| At::new(value.to_owned(), line));
        match key.as_str() {
            "driver version" | "kmd version" => out.driver_version = text(),
            "cuda version" | "cuda umd version" => out.cuda_version = text(),
            "attached gpus" => out.attached_gpus = value.parse().ok().map(|n| At::new(n, line)),
            _ => {}
        }
        return;
    };
    // MIG devices repeat the memory sections for their slices.
    if sections.iter().any(|(_, s)| is_mig(s)) {
        return;
    }
    let section = sections.last().map_or("", |(_, s)| s.as_str());
    // Of errors, those since the driver was loaded; the sums of a board's life have the same names.
    if section == "aggregate" || section == "double bit" && sections.iter().any(|(_, s)| s == "aggregate") {
        return;
    }
    if let Some(field) = field(section, &key) {
        gpu.set(field, value, line);
    }
}

fn field(section: &str, key: &str) -> Option<Field> {
    Some(match (section, key) {
        (_, "product name") => Field::ProductName,
        (_, "product architecture") => Field::Architecture,
        (_, "gpu uuid") => Field::Uuid,
        (_, "serial number") => Field::Serial,
        (_, "module id" | "gpu module id") => Field::ModuleId,
        (_, "minor number") => Field::MinorNumber,
        (_, "addressing mode") => Field::AddressingMode,
        (_, "virtualization mode") => Field::VirtualizationMode,
        (_, "gpu c2c mode" | "c2c mode") => Field::C2cMode,
        (_, "gpu numa id" | "numa node id") => Field::GpuNumaId,
        (_, "replays since reset") => Field::Replays,
        (_, "replay number rollovers") => Field::Rollovers,
        ("mig mode", "current") => Field::MigMode,
        (_, "gpu recovery action") => Field::RecoveryAction,
        ("ecc mode", "current") => Field::EccMode,
        ("volatile", "sram uncorrectable") => Field::EccSram,
        ("volatile", "sram uncorrectable parity") => Field::EccSramParity,
        ("volatile", "sram uncorrectable sec-ded") => Field::EccSramSecded,
        ("volatile", "dram uncorrectable") => Field::EccDram,
        ("double bit", "total") => Field::EccDouble,
        ("retired pages", "pending" | "pending page blacklist") => Field::RetirementPending,
        ("remapped rows", "pending") => Field::RemapPending,
        ("remapped rows", "remapping failure occurred") => Field::RemapFailed,
        ("fabric" | "gpu fabric", "state") => Field::FabricState,
        ("fabric" | "gpu fabric", "status") => Field::FabricStatus,
        ("fb memory usage", "total") => Field::FbTotal,
        ("bar1 memory usage", "total") => Field::Bar1Total,
        ("bar1 memory usage", "used") => Field::Bar1Used,
        ("pcie generation", "max") => Field::GenMax,
        ("pcie generation", "current") => Field::GenCurrent,
        ("pcie generation", "device current") => Field::GenDeviceCurrent,
        ("pcie generation", "device max") => Field::GenDeviceMax,
        ("pcie generation", "host max") => Field::GenHostMax,
        ("link width", "max") => Field::WidthMax,
        ("link width", "current") => Field::WidthCurrent,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "$ nvidia-smi -q\n\n==============NVSMI LOG==============\n\nTimestamp : Thu Mar 14 20:45:34 2024\n\
Driver Version                            : 550.54.15\nCUDA Version                              : 12.4\n\nAttached GPUs                             : 1\n\
GPU 00000000:1B:00.0\n    Product Name                          : NVIDIA H100 80GB HBM3\n    Product Architecture                  : Hopper\n\
\x20   Addressing Mode                       : None\n    MIG Mode\n        Current                           : Enabled\n        Pending                           : Enabled\n\
\x20   MIG Device\n        Index                             : 0\n        FB Memory Usage\n            Total                         : 10 MiB\n\
\x20       BAR1 Memory Usage\n            Total                         : 20 MiB\n    Minor Number                          : 3\n\
\x20   GPU C2C Mode                          : Disabled\n    GPU Virtualization Mode\n        Virtualization Mode               : Pass-Through\n\
\x20   PCI\n        Bus Id                            : 00000000:1B:00.0\n        GPU Link Info\n            PCIe Generation\n                Max                       : 5\n\
\x20               Current                   : 1\n                Device Current            : 1\n                Device Max                : 5\n                Host Max                  : N/A\n\
\x20           Link Width\n                Max                       : 16x\n                Current                   : 8x\n        Replays Since Reset               : 12\n\
\x20   FB Memory Usage\n        Total                             : 81559 MiB\n    BAR1 Memory Usage\n        Total                             : 131072 MiB\n        Used                              : 4 MiB\n\
\x20   ECC Mode\n        Current                           : Enabled\n    Fabric\n        State                             : Completed\n        Status                            : Success\n";

    fn check(q: &Query) {
        assert_eq!(q.driver_version.as_ref().map(At::as_str), Some("550.54.15"));
        assert_eq!(q.cuda_version.as_ref().map(At::as_str), Some("12.4"));
        assert_eq!((q.gpus.len(), q.attached_gpus.map(|a| a.value)), (1, Some(1)));
        let g = &q.gpus[0];
        assert_eq!(g.bdf, "0000:1b:00.0".parse().ok());
        assert_eq!(g.product_name.as_ref().map(At::as_str), Some("NVIDIA H100 80GB HBM3"));
        assert_eq!(g.mig_mode.as_ref().map(At::as_str), Some("Enabled"));
        assert_eq!(g.ecc_mode.as_ref().map(At::as_str), Some("Enabled"));
        assert_eq!(g.fabric_state.as_ref().map(At::as_str), Some("Completed"));
        assert_eq!(g.bar1_total_mib, Some(At::new(131_072, 46 - 1)));
        assert_eq!(g.fb_total_mib.map(|a| a.value), Some(81_559));
        assert_eq!(g.pcie_generation.current.map(|a| a.value), Some(1));
        assert_eq!((g.pcie_generation.max.map(|a| a.value), g.pcie_generation.host_max), (Some(5), None));
        assert_eq!((g.width_max.map(|a| a.value), g.width_current.map(|a| a.value)), (Some(16), Some(8)));
        assert_eq!(g.replays.map(|a| a.value), Some(12));
    }

    #[test]
    fn a_gpu_with_mig_slices() {
        let mut q = parse_query(TEXT.as_bytes());
        assert_eq!(q.gpus[0].minor_number.map(|a| a.value), Some(3));
        assert_eq!(q.gpus[0].virtualization_mode.as_ref().map(At::as_str), Some("Pass-Through"));
        let line = TEXT.lines().position(|l| l.contains(": 131072 MiB")).unwrap() as u32 + 1;
        assert_eq!(q.gpus[0].bar1_total_mib.map(|a| a.line), Some(line));
        q.gpus[0].bar1_total_mib = Some(At::new(131_072, 45));
        check(&q);
    }

    #[test]
    fn indentation_lost_in_a_web_form() {
        let flat: String = TEXT.lines().map(|l| format!("{}\r\n", l.trim())).collect();
        // Where slices were present and indentation is gone, what belongs to a slice cannot be known: nothing is guessed.
        let q = parse_query(flat.as_bytes());
        assert_eq!(q.gpus[0].bar1_total_mib, None);
        let no_mig: String =
            TEXT.lines().filter(|l| !l.contains("MIG Device")).map(|l| format!("{}\n", l.trim())).collect();
        let q = parse_query(no_mig.as_bytes());
        assert_eq!(q.gpus[0].bar1_total_mib.map(|a| a.value), Some(131_072));
        assert_eq!(q.gpus[0].width_current.map(|a| a.value), Some(8));
    }
}
