//! `nvidia-smi -q -x`. The DTD versions (v10 … v13) add elements; the paths used here are the same in all of them.

use super::{Field, Gpu, Query};
use crate::error::ParseError;
use crate::text::{At, LineIndex, MAX_ITEMS, decode};
use roxmltree::{Document, Node, ParsingOptions};

/// Limit on XML nodes: an 8-GPU answer with MIG and processes has about 20,000.
const MAX_NODES: u32 = 2_000_000;

/// Parses the XML form. Text before the document (a shell prompt) and after it is ignored.
pub fn parse_xml(bytes: &[u8]) -> Result<Query, ParseError> {
    let text = decode(bytes);
    let start = ["<?xml", "<!DOCTYPE", "<nvidia_smi_log"].iter().filter_map(|t| text.find(t)).min();
    let start = start.ok_or_else(|| ParseError::new(0, "not the XML of nvidia-smi: no <nvidia_smi_log> element"))?;
    let end = text.rfind(CLOSE).map_or(text.len(), |at| at + CLOSE.len());
    let xml = text
        .get(start..end)
        .ok_or_else(|| ParseError::new(0, "not the XML of nvidia-smi: it ends before it begins"))?;
    let index = LineIndex::new(&text);
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let before = index.line(start);
    let document = Document::parse_with_options(xml, options).map_err(|e| {
        ParseError::new(before.saturating_add(e.pos().row).saturating_sub(1), format!("broken XML of nvidia-smi: {e}"))
    })?;
    let root = document.root_element();
    if root.tag_name().name() != "nvidia_smi_log" {
        return Err(ParseError::new(before, "not the XML of nvidia-smi: the root is not <nvidia_smi_log>"));
    }
    let line = |node: Node<'_, '_>| index.line(start + node.range().start);
    let mut out = Query::default();
    for node in root.children().filter(Node::is_element) {
        let text = || node.text().map(str::trim).filter(|t| !t.is_empty()).map(|t| At::new(t.to_owned(), line(node)));
        match node.tag_name().name() {
            "driver_version" | "kmd_version" => out.driver_version = text(),
            "cuda_version" | "cuda_umd_version" => out.cuda_version = text(),
            "attached_gpus" => out.attached_gpus = text().and_then(|t| Some(At::new(t.value.parse().ok()?, t.line))),
            "gpu" if out.gpus.len() < MAX_ITEMS => out.gpus.push(gpu(node, &line)),
            _ => {}
        }
    }
    Ok(out)
}

const CLOSE: &str = "</nvidia_smi_log>";

fn gpu(node: Node<'_, '_>, line: &dyn Fn(Node<'_, '_>) -> u32) -> Gpu {
    let bus_id =
        node.attribute("id").or_else(|| at_path(node, &["pci", "pci_bus_id"]).and_then(|n| n.text())).unwrap_or("");
    let mut out = Gpu::new(bus_id.trim(), line(node));
    for (path, field) in PATHS {
        let found = at_path(node, path);
        if let Some((found, text)) = found.and_then(|f| Some((f, f.text()?))) {
            out.set(*field, text, line(found));
        }
    }
    out
}

fn at_path<'a, 'i>(node: Node<'a, 'i>, path: &[&str]) -> Option<Node<'a, 'i>> {
    path.iter().try_fold(node, |n, name| n.children().find(|c| c.has_tag_name(*name)))
}

const GEN: [&str; 3] = ["pci", "pci_gpu_link_info", "pcie_gen"];
const WIDTH: [&str; 3] = ["pci", "pci_gpu_link_info", "link_widths"];

const PATHS: &[(&[&str], Field)] = &[
    (&["product_name"], Field::ProductName),
    (&["product_architecture"], Field::Architecture),
    (&["minor_number"], Field::MinorNumber),
    (&["addressing_mode"], Field::AddressingMode),
    (&["mig_mode", "current_mig"], Field::MigMode),
    (&["ecc_mode", "current_ecc"], Field::EccMode),
    (&["gpu_virtualization_mode", "virtualization_mode"], Field::VirtualizationMode),
    (&["c2c_mode"], Field::C2cMode),
    (&["gpu_c2c_mode"], Field::C2cMode),
    (&["gpu_numa_id"], Field::GpuNumaId),
    (&["fabric", "state"], Field::FabricState),
    (&["fabric", "status"], Field::FabricStatus),
    (&["fb_memory_usage", "total"], Field::FbTotal),
    (&["bar1_memory_usage", "total"], Field::Bar1Total),
    (&["bar1_memory_usage", "used"], Field::Bar1Used),
    (&[GEN[0], GEN[1], GEN[2], "max_link_gen"], Field::GenMax),
    (&[GEN[0], GEN[1], GEN[2], "current_link_gen"], Field::GenCurrent),
    (&[GEN[0], GEN[1], GEN[2], "device_current_link_gen"], Field::GenDeviceCurrent),
    (&[GEN[0], GEN[1], GEN[2], "max_device_link_gen"], Field::GenDeviceMax),
    (&[GEN[0], GEN[1], GEN[2], "max_host_link_gen"], Field::GenHostMax),
    (&[WIDTH[0], WIDTH[1], WIDTH[2], "max_link_width"], Field::WidthMax),
    (&[WIDTH[0], WIDTH[1], WIDTH[2], "current_link_width"], Field::WidthCurrent),
    (&["pci", "replay_counter"], Field::Replays),
    (&["pci", "replay_rollover_counter"], Field::Rollovers),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_below_a_prompt() {
        let q = parse_xml(
            b"$ nvidia-smi -q -x\n<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>\n\
<driver_version>550.54.15</driver_version><attached_gpus>1</attached_gpus>\n<gpu id=\"00000000:1B:00.0\">\n\
<mig_devices><mig_device><bar1_memory_usage><total>1 MiB</total></bar1_memory_usage></mig_device></mig_devices>\n\
<pci><pci_gpu_link_info><pcie_gen><max_link_gen>5</max_link_gen></pcie_gen><link_widths><current_link_width>16x</current_link_width>\
</link_widths></pci_gpu_link_info></pci>\n<bar1_memory_usage>\n<total>131072 MiB</total></bar1_memory_usage></gpu>\n</nvidia_smi_log>\nroot@n:~# ",
        )
        .unwrap();
        assert_eq!(q.driver_version, Some(At::new("550.54.15".into(), 5)));
        let g = &q.gpus[0];
        assert_eq!((g.line, g.bar1_total_mib), (6, Some(At::new(131_072, 10))));
        assert_eq!(g.pcie_generation.max.map(|a| a.value), Some(5));
        assert_eq!(g.width_current.map(|a| a.value), Some(16));
    }

    #[test]
    fn broken_documents_say_where() {
        let e = parse_xml(b"x\n<nvidia_smi_log>\n<gpu></nvidia_smi_log>").unwrap_err();
        assert_eq!(e.line, 3);
        for bad in ["", "<a/>", "<?xml", "<!DOCTYPE a [<!ENTITY b \"&b;\">]><nvidia_smi_log>&b;</nvidia_smi_log>"] {
            assert!(parse_xml(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
