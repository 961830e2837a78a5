//! `nvidia-smi -q -x`. The DTD versions (v10 … v13) add elements; the paths used here are the same in all of them.

use super::quick_xml::{self, Part};
use super::{Field, Gpu, Query};
use crate::bounds::{GPUS, Limit, leave_out};
use crate::error::{ParseError, Why};
use crate::text::{At, LineIndex, decode};
use crate::xml;
use roxmltree::Node;

/// Parses the XML form. Text before the document (a shell prompt) and after it is ignored.
pub fn parse_xml(bytes: &[u8]) -> Result<Query, ParseError> {
    let text = decode(bytes);
    let start = ["<?xml", "<!DOCTYPE", "<nvidia_smi_log"].iter().filter_map(|t| text.find(t)).min();
    let start = start
        .ok_or_else(|| ParseError::new(0, Why::Foreign("not the XML of nvidia-smi: no <nvidia_smi_log> element")))?;
    let end = text.rfind(CLOSE).map_or(text.len(), |at| at + CLOSE.len());
    let xml = text
        .get(start..end)
        .ok_or_else(|| ParseError::new(0, Why::Foreign("not the XML of nvidia-smi: it ends before it begins")))?;
    plain(&text, start, xml).map_or_else(|| any(&text, start, xml), Ok)
}

/// A document as nvidia-smi prints it; `None` for one that needs the full parser.
fn plain(text: &str, start: usize, xml: &str) -> Option<Query> {
    // Elements come in the order of the text: lines are counted on the way.
    let (mut counted, mut line) = (0, 1u32);
    let mut taken = Taken::new(|at| {
        let passed = text.as_bytes().get(counted..start + at).unwrap_or_default();
        line = line.saturating_add(u32::try_from(memchr::memchr_iter(b'\n', passed).count()).unwrap_or(u32::MAX));
        counted = start + at;
        line
    });
    quick_xml::read(xml, |part| match part {
        Part::Start { name, id, at } => taken.start(name, id, at),
        Part::Text(text) => taken.text(text),
        Part::End => taken.end(),
    })?;
    Some(taken.out)
}

/// Any document.
fn any(text: &str, start: usize, xml: &str) -> Result<Query, ParseError> {
    let index = LineIndex::new(text);
    let document = xml::document(xml, start, &index, true, "broken XML of nvidia-smi")?;
    let root = document.root_element();
    if root.tag_name().name() != ROOT {
        return Err(ParseError::new(
            index.line(start),
            Why::Foreign("not the XML of nvidia-smi: the root is not <nvidia_smi_log>"),
        ));
    }
    let mut taken = Taken::new(|at| index.line(start + at));
    let mut open: Vec<Node<'_, '_>> = Vec::new();
    for node in root.descendants().filter(Node::is_element) {
        while open.pop_if(|last| node.parent() != Some(*last)).is_some() {
            taken.end();
        }
        open.push(node);
        taken.start(node.tag_name().name(), node.attribute("id"), node.range().start);
        if let Some(text) = node.text() {
            taken.text(text);
        }
    }
    Ok(taken.out)
}

const ROOT: &str = "nvidia_smi_log";
const CLOSE: &str = "</nvidia_smi_log>";

/// Elements on the way to a field.
#[derive(Clone, Copy, PartialEq)]
enum Section {
    Log,
    Gpu,
    Mig,
    Ecc,
    Virtualization,
    Platform,
    Fabric,
    FbMemory,
    Bar1Memory,
    Pci,
    Link,
    Generation,
    Width,
    Errors,
    Volatile,
    DoubleBit,
    Retired,
    Remapped,
}

/// What an element is.
#[derive(Clone, Copy)]
enum Element {
    /// Nothing in it is asked for.
    Other,
    Section(Section),
    /// A field of a GPU, and where the element begins.
    Field(Field, usize),
    BusId,
    Driver(usize),
    Cuda(usize),
    Attached(usize),
}

/// Takes what is asked for from the elements as they come. Of several elements of one name the first counts.
struct Taken<L> {
    out: Query,
    /// Line of a byte offset of the document.
    line: L,
    open: Vec<Element>,
    /// Fields and sections of the current GPU that were there already.
    seen: u64,
    id_shown: bool,
}

impl<L: FnMut(usize) -> u32> Taken<L> {
    fn new(line: L) -> Self {
        Taken { out: Query::default(), line, open: Vec::with_capacity(16), seen: 0, id_shown: false }
    }

    fn start(&mut self, name: &str, id: Option<&str>, at: usize) {
        let element = match self.open.last() {
            None => Element::Section(Section::Log),
            Some(Element::Section(Section::Log)) => self.top(name, id, at),
            Some(Element::Section(section)) => match child(*section, name, at) {
                // GPUs repeat, what is in one does not.
                e if self.first(e) => e,
                _ => Element::Other,
            },
            Some(_) => Element::Other,
        };
        self.open.push(element);
    }

    fn top(&mut self, name: &str, id: Option<&str>, at: usize) -> Element {
        match name {
            "driver_version" | "kmd_version" => {
                self.out.driver_version = None;
                Element::Driver(at)
            }
            "cuda_version" | "cuda_umd_version" => {
                self.out.cuda_version = None;
                Element::Cuda(at)
            }
            "attached_gpus" => {
                self.out.attached_gpus = None;
                Element::Attached(at)
            }
            "gpu" if self.out.gpus.len() < GPUS => {
                (self.seen, self.id_shown) = (0, id.is_some());
                self.out.gpus.push(Gpu::new(id.unwrap_or_default().trim(), (self.line)(at)));
                Element::Section(Section::Gpu)
            }
            "gpu" => {
                let line = (self.line)(at);
                leave_out(&mut self.out.left_out, Limit::GPUS, line);
                Element::Other
            }
            _ => Element::Other,
        }
    }

    fn first(&mut self, element: Element) -> bool {
        let bit = match element {
            Element::Field(f, _) => 1u64 << f as u32,
            Element::Section(s) => 1 << (40 + s as u32),
            Element::BusId => 1 << 63,
            _ => return true,
        };
        let first = self.seen & bit == 0;
        self.seen |= bit;
        first
    }

    fn text(&mut self, raw: &str) {
        let Some(element) = self.open.last().copied() else { return };
        let mut at_line = |at| Some(At::new(raw.trim(), (self.line)(at))).filter(|t| !t.value.is_empty());
        let owned = |t: At<&str>| At::new(t.value.to_owned(), t.line);
        match (element, self.out.gpus.last_mut()) {
            (Element::Field(field, at), Some(gpu)) => gpu.set(field, raw, (self.line)(at)),
            (Element::BusId, Some(gpu)) if !self.id_shown => {
                gpu.bus_id = raw.trim().to_owned();
                gpu.bdf = gpu.bus_id.parse().ok();
            }
            (Element::Driver(at), _) => self.out.driver_version = at_line(at).map(owned),
            (Element::Cuda(at), _) => self.out.cuda_version = at_line(at).map(owned),
            (Element::Attached(at), _) => {
                self.out.attached_gpus = at_line(at).and_then(|t| Some(At::new(t.value.parse().ok()?, t.line)));
            }
            _ => {}
        }
    }

    fn end(&mut self) {
        self.open.pop();
    }
}

/// What an element in a section of a GPU is.
fn child(section: Section, name: &str, at: usize) -> Element {
    use Element::Section as Inside;
    let field = |f| Element::Field(f, at);
    match (section, name) {
        (Section::Gpu, "product_name") => field(Field::ProductName),
        (Section::Gpu, "product_architecture") => field(Field::Architecture),
        (Section::Gpu, "uuid") => field(Field::Uuid),
        (Section::Gpu, "serial") => field(Field::Serial),
        (Section::Gpu, "gpu_module_id") => field(Field::ModuleId),
        (Section::Gpu, "platform_info" | "platformInfo") => Inside(Section::Platform),
        (Section::Platform, "module_id") => field(Field::ModuleId),
        (Section::Gpu, "minor_number") => field(Field::MinorNumber),
        (Section::Gpu, "addressing_mode") => field(Field::AddressingMode),
        (Section::Gpu, "c2c_mode") => field(Field::C2cMode),
        (Section::Gpu, "gpu_c2c_mode") => field(Field::GpuC2cMode),
        (Section::Gpu, "gpu_numa_id") => field(Field::GpuNumaId),
        (Section::Gpu, "mig_mode") => Inside(Section::Mig),
        (Section::Mig, "current_mig") => field(Field::MigMode),
        (Section::Gpu, "ecc_mode") => Inside(Section::Ecc),
        (Section::Ecc, "current_ecc") => field(Field::EccMode),
        (Section::Gpu, "gpu_recovery_action") => field(Field::RecoveryAction),
        (Section::Gpu, "ecc_errors") => Inside(Section::Errors),
        (Section::Errors, "volatile") => Inside(Section::Volatile),
        (Section::Volatile, "sram_uncorrectable") => field(Field::EccSram),
        (Section::Volatile, "sram_uncorrectable_parity") => field(Field::EccSramParity),
        (Section::Volatile, "sram_uncorrectable_secded") => field(Field::EccSramSecded),
        (Section::Volatile, "dram_uncorrectable") => field(Field::EccDram),
        (Section::Volatile, "double_bit") => Inside(Section::DoubleBit),
        (Section::DoubleBit, "total") => field(Field::EccDouble),
        (Section::Gpu, "retired_pages") => Inside(Section::Retired),
        (Section::Retired, "pending_retirement") => field(Field::RetirementPending),
        (Section::Retired, "pending_blacklist") => field(Field::BlacklistPending),
        (Section::Gpu, "remapped_rows") => Inside(Section::Remapped),
        (Section::Remapped, "remapped_row_pending") => field(Field::RemapPending),
        (Section::Remapped, "remapped_row_failure") => field(Field::RemapFailed),
        (Section::Gpu, "gpu_virtualization_mode") => Inside(Section::Virtualization),
        (Section::Virtualization, "virtualization_mode") => field(Field::VirtualizationMode),
        (Section::Gpu, "fabric") => Inside(Section::Fabric),
        (Section::Fabric, "state") => field(Field::FabricState),
        (Section::Fabric, "status") => field(Field::FabricStatus),
        (Section::Gpu, "fb_memory_usage") => Inside(Section::FbMemory),
        (Section::FbMemory, "total") => field(Field::FbTotal),
        (Section::Gpu, "bar1_memory_usage") => Inside(Section::Bar1Memory),
        (Section::Bar1Memory, "total") => field(Field::Bar1Total),
        (Section::Bar1Memory, "used") => field(Field::Bar1Used),
        (Section::Gpu, "pci") => Inside(Section::Pci),
        (Section::Pci, "pci_bus_id") => Element::BusId,
        (Section::Pci, "replay_counter") => field(Field::Replays),
        (Section::Pci, "replay_rollover_counter") => field(Field::Rollovers),
        (Section::Pci, "pci_gpu_link_info") => Inside(Section::Link),
        (Section::Link, "pcie_gen") => Inside(Section::Generation),
        (Section::Generation, "max_link_gen") => field(Field::GenMax),
        (Section::Generation, "current_link_gen") => field(Field::GenCurrent),
        (Section::Generation, "device_current_link_gen") => field(Field::GenDeviceCurrent),
        (Section::Generation, "max_device_link_gen") => field(Field::GenDeviceMax),
        (Section::Generation, "max_host_link_gen") => field(Field::GenHostMax),
        (Section::Link, "link_widths") => Inside(Section::Width),
        (Section::Width, "max_link_width") => field(Field::WidthMax),
        (Section::Width, "current_link_width") => field(Field::WidthCurrent),
        _ => Element::Other,
    }
}

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

    /// Both readers say the same of whatever both can read.
    fn same(xml: &str) -> bool {
        let quick = plain(xml, 0, xml);
        if let Some(quick) = &quick {
            assert_eq!(Some(quick), any(xml, 0, xml).ok().as_ref(), "{xml}");
        }
        quick.is_some()
    }

    const LOG: &str = "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>\n\
<driver_version>550.1</driver_version><cuda_version> </cuda_version>\n<cuda_umd_version>12.8</cuda_umd_version><attached_gpus>2</attached_gpus>\n\
<gpu id=\"00000000:1B:00.0\">\n<product_name>NVIDIA H100</product_name><product_name>again</product_name><c2c_mode/>\n\
<mig_mode><pending_mig/><current_mig>Disabled</current_mig></mig_mode><mig_mode><current_mig>no</current_mig></mig_mode>\n\
<pci><pci_bus_id>00000000:1C:00.0</pci_bus_id><pci_gpu_link_info>\n<link_widths><max_link_width>16x</max_link_width>text\n\
</link_widths></pci_gpu_link_info><replay_counter>3</replay_counter></pci>\n\
<bar1_memory_usage>\n<x><total>2 MiB</total></x>\n<total>1 MiB</total></bar1_memory_usage><gpu id=\"1\"></gpu></gpu>\n\
<gpu><fabric><state>Completed</state></fabric><pci><pci_bus_id> 00000000:9B:00.0 </pci_bus_id></pci></gpu></nvidia_smi_log>";

    #[test]
    fn the_quick_reader_says_what_the_full_one_says() {
        assert!(same(LOG));
        let q = parse_xml(LOG.as_bytes()).unwrap();
        let g = &q.gpus[0];
        assert_eq!(
            (q.gpus.len(), g.bus_id.as_str(), g.product_name.as_ref().map(|a| a.line)),
            (2, "00000000:1B:00.0", Some(7))
        );
        assert_eq!((g.mig_mode.as_ref().map(At::as_str), &g.c2c_mode), (Some("Disabled"), &None));
        assert_eq!(
            (g.bar1_total_mib, g.replays, g.width_max),
            (Some(At::new(1, 14)), Some(At::new(3, 11)), Some(At::new(16, 10)))
        );
        assert_eq!((q.gpus[1].bus_id.as_str(), q.gpus[1].bdf.map(|b| b.bus)), ("00000000:9B:00.0", Some(0x9b)));
        assert_eq!(q.cuda_version, Some(At::new("12.8".into(), 5)));
        // What is not plain is left to the full parser.
        for (from, to) in [
            ("H100", "H&amp;100"),
            ("<c2c_mode/>", "<!-- c -->"),
            ("H100", "<![CDATA[a]]>"),
            ("<pci>", "<pci a=\"b\">"),
        ] {
            let other = LOG.replacen(from, to, 1);
            assert!(!same(&other) && parse_xml(other.as_bytes()).is_ok(), "{to}");
        }
    }

    proptest::proptest! {
        /// Cut, doubled and changed documents: never an answer that the full parser would not give.
        #[test]
        fn damage_deceives_neither(cuts in proptest::collection::vec((0usize..1200, 0usize..1200, "[<>/a&\" !\\]\\-\n\r]{0,3}"), 1..3)) {
            let mut xml = LOG.to_owned();
            for (from, len, put) in cuts {
                let from = from.min(xml.len());
                xml.replace_range(from..(from + len % 40).min(xml.len()), &put);
            }
            same(&xml);
        }
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
