//! `rdma_topo dump` of rdma-core: a part of a node's sysfs in a text, read into a snapshot and written from one.

use crate::{EntryId, Lookup, Reading, Snapshot};
use linerate_formats::pci::Bdf;
use linerate_formats::pci::config::{ConfigSpace, Layout};
use linerate_formats::rdma_topo_dump::{self, Device};
use std::io::{Read, Write};

/// Bytes of an extended configuration space (PCI Express Base Specification, section 7.2), and of Vital Product Data, whose
/// addresses have 15 bits (PCI Local Bus Specification 3.0, appendix I).
const MAX_CONFIG: u64 = 4096;
const MAX_VPD: u64 = 32 << 10;
/// Classes of which the script lists devices (`SysfsDevice.__init__`).
const CLASSES: &[&str] = &["drm", "infiniband", "net", "nvme"];
/// Class codes of functions that it leaves out (`dump_ignored`).
const IGNORED: &[u32] = &[0x06_0000, 0x06_0100, 0x08_0700, 0x08_8000, 0x11_0100, 0x13_0000];

/// Adds the functions of a dump to a snapshot, as their sysfs would show them. What the dump does not say was not collected.
pub(crate) fn unpack(s: &mut Snapshot, name: &str, text: &[u8]) {
    let dump = match rdma_topo_dump::parse(text) {
        Ok(dump) => dump,
        Err(e) => return s.problems.push(format!("{name}: {e}")),
    };
    let mut wrong = dump.refused;
    for device in &dump.devices {
        if let Err(why) = add(s, device) {
            wrong.push(format!("{}: {why}", device.realpath));
        }
    }
    let more = wrong.len().saturating_sub(8);
    s.problems.extend(wrong.into_iter().take(8).map(|w| format!("{name}: {w}; left out")));
    if more > 0 {
        s.problems.push(format!("{name}: {more} more functions are left out"));
    }
}

fn add(s: &mut Snapshot, d: &Device) -> Result<(), &'static str> {
    // Of a container or a mounted root, what is above `/sys` may differ.
    let at = d.realpath.rfind("/sys/devices/").map(|i| i + 1).ok_or("not a path of /sys/devices")?;
    let home = d.realpath.get(at..).unwrap_or_default();
    let bdf = home.rsplit('/').next().unwrap_or_default();
    if bdf.parse::<Bdf>().is_err() {
        return Err("not the path of a PCI function");
    }
    let config = inflate(&d.config, MAX_CONFIG).ok_or("its configuration space cannot be unpacked")?;
    let vpd = d.vpd.as_deref().map(|v| inflate(v, MAX_VPD).ok_or("its VPD cannot be unpacked")).transpose()?;
    let up = "../".repeat(home.matches('/').count());
    s.add_file(&format!("{home}/config"), &config).ok_or("it is there twice")?;
    s.add_link(
        &format!("sys/bus/pci/devices/{bdf}"),
        format!("../../../{}", home.trim_start_matches("sys/")).as_bytes(),
    );
    s.add_file(&format!("{home}/modalias"), format!("{}\n", d.modalias).as_bytes());
    if let Some(ids) = Ids::of_modalias(&d.modalias) {
        for (leaf, value) in ids.files() {
            s.add_file(&format!("{home}/{leaf}"), value.as_bytes());
        }
    }
    if let Some(vpd) = vpd {
        s.add_file(&format!("{home}/vpd"), &vpd);
    }
    if let Some(node) = d.numa_node {
        s.add_file(&format!("{home}/numa_node"), format!("{node}\n").as_bytes());
    }
    if let Some(group) = d.iommu_group {
        s.add_link(&format!("{home}/iommu_group"), format!("{up}kernel/iommu_groups/{group}").as_bytes());
    }
    for (class, names) in d.subsystems.iter().filter(|(class, _)| CLASSES.contains(&class.as_str())) {
        for name in names.iter().filter(|n| !n.is_empty() && !n.contains('/') && !n.starts_with('.')) {
            s.add_dir(&format!("{home}/{class}/{name}"));
            let target = format!("../../{}/{class}/{name}", home.trim_start_matches("sys/"));
            s.add_link(&format!("sys/class/{class}/{name}"), target.as_bytes());
        }
    }
    Ok(())
}

/// Why there is no dump.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoDump {
    /// Texts alone.
    #[error("the snapshot has no /sys/bus/pci/devices: rdma_topo reads nothing else")]
    NoSysfs,
    /// What the script refuses to go without.
    #[error("{bdf}: its {what} is not in the snapshot, and rdma_topo stops without it")]
    Missing {
        /// The function.
        bdf: String,
        /// What is missing.
        what: &'static str,
    },
}

/// The text that `rdma_topo dump` prints on the node of the snapshot. Compressed values may differ in their bytes, not in what
/// they hold: zlib's stream depends on who wrote it. Devices of `drm` and `nvme` are those that the snapshot has.
///
/// # Errors
/// The snapshot lacks what the script needs.
pub fn print(s: &Snapshot) -> Result<String, NoDump> {
    let Reading::Known(dir, _) = s.dir("sys/bus/pci/devices") else { return Err(NoDump::NoSysfs) };
    let mut devices = Vec::new();
    for (bdf, link) in s.children(dir) {
        let missing = |what| NoDump::Missing { bdf: bdf.to_owned(), what };
        let home = s.follow(link).ok_or_else(|| missing("directory"))?;
        let config = *s.read(home, "config").known().ok_or_else(|| missing("configuration space"))?;
        let ids = Ids::of_function(s, home, config).ok_or_else(|| missing("modalias"))?;
        if !IGNORED.contains(&ids.class) {
            devices.push(Device {
                realpath: format!("/{}", s.path(home)),
                config: deflate(config),
                iommu_group: s.link_name(home, "iommu_group").known().and_then(|n| n.parse().ok()),
                modalias: ids.modalias(),
                numa_node: s.text(home, "numa_node").known().and_then(|n| n.trim().parse().ok()),
                vpd: s.read(home, "vpd").known().map(|v| deflate(v)),
                subsystems: subsystems(s, home),
            });
        }
    }
    Ok(rdma_topo_dump::print(&devices))
}

fn subsystems(s: &Snapshot, home: EntryId) -> Vec<(String, Vec<String>)> {
    let names = |class: &&str| match s.resolve_from(home, class) {
        Lookup::Found(dir) => {
            let all = s.children(dir).into_iter().map(|(n, _)| n.to_owned()).collect::<Vec<_>>();
            (!all.is_empty()).then(|| ((*class).to_owned(), all))
        }
        _ => None,
    };
    CLASSES.iter().filter_map(names).collect()
}

/// What a modalias holds: `pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X` (Linux, drivers/pci/pci-sysfs.c, `modalias_show`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ids {
    vendor: u32,
    device: u32,
    subsystem_vendor: u32,
    subsystem_device: u32,
    class: u32,
}

impl Ids {
    fn of_modalias(text: &str) -> Option<Ids> {
        let mut rest = text.trim().strip_prefix("pci:")?;
        let mut field = |key: &str, digits: usize| {
            let (value, after) = rest.strip_prefix(key)?.split_at_checked(digits)?;
            rest = after;
            u32::from_str_radix(value, 16).ok()
        };
        let (vendor, device) = (field("v", 8)?, field("d", 8)?);
        let (subsystem_vendor, subsystem_device) = (field("sv", 8)?, field("sd", 8)?);
        let class = field("bc", 2)? << 16 | field("sc", 2)? << 8 | field("i", 2)?;
        Some(Ids { vendor, device, subsystem_vendor, subsystem_device, class })
    }

    /// From the kernel's own text where the snapshot has it; else from what the kernel makes it of: the configuration space, and for
    /// a virtual function, whose ids read as ones there, the files.
    fn of_function(s: &Snapshot, home: EntryId, config: &[u8]) -> Option<Ids> {
        if let Some(ids) = s.text(home, "modalias").known().and_then(|t| Ids::of_modalias(t)) {
            return Some(ids);
        }
        let file = |leaf| u32::from_str_radix(s.text(home, leaf).known()?.trim().strip_prefix("0x")?, 16).ok();
        let space = ConfigSpace::new(config);
        let header = space.header()?;
        let subsystem = match header.layout {
            Layout::Endpoint { subsystem_vendor, subsystem_device, .. } => (subsystem_vendor, subsystem_device),
            // `pci_setup_device`: a bridge without the capability has zeros.
            Layout::Bridge { .. } => space.bridge_subsystem().unwrap_or_default(),
            Layout::Other(_) => return None,
        };
        let physical = header.vendor != 0xffff;
        let id = |leaf, seen: u16| file(leaf).or(physical.then_some(u32::from(seen)));
        Some(Ids {
            vendor: id("vendor", header.vendor)?,
            device: id("device", header.device)?,
            subsystem_vendor: file("subsystem_vendor").unwrap_or_else(|| u32::from(subsystem.0)),
            subsystem_device: file("subsystem_device").unwrap_or_else(|| u32::from(subsystem.1)),
            class: file("class").unwrap_or(header.class.0),
        })
    }

    fn modalias(self) -> String {
        let Ids { vendor, device, subsystem_vendor, subsystem_device, class } = self;
        let (base, sub, interface) = (class >> 16 & 0xff, class >> 8 & 0xff, class & 0xff);
        format!(
            "pci:v{vendor:08X}d{device:08X}sv{subsystem_vendor:08X}sd{subsystem_device:08X}bc{base:02X}sc{sub:02X}i{interface:02X}"
        )
    }

    fn files(self) -> [(&'static str, String); 5] {
        [
            ("vendor", format!("{:#06x}\n", self.vendor)),
            ("device", format!("{:#06x}\n", self.device)),
            ("subsystem_vendor", format!("{:#06x}\n", self.subsystem_vendor)),
            ("subsystem_device", format!("{:#06x}\n", self.subsystem_device)),
            ("class", format!("{:#08x}\n", self.class)),
        ]
    }
}

/// `None`: not a zlib stream, or longer than it can be.
fn inflate(packed: &[u8], max: u64) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    flate2::read::ZlibDecoder::new(packed).take(max + 1).read_to_end(&mut out).ok()?;
    (out.len() as u64 <= max).then_some(out)
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut to = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    // Into memory: nothing that can fail.
    let _ = to.write_all(bytes);
    to.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port() -> Vec<u8> {
        let mut config = vec![0; 256];
        config[..4].copy_from_slice(&[0xde, 0x10, 0xb1, 0x22]);
        config[0x0a..0x0c].copy_from_slice(&[4, 6]);
        config[0x0e] = 1;
        config
    }

    #[test]
    fn what_is_read_is_written_again() {
        let modalias = "pci:v000010DEd000022B1sv00000000sd00000000bc06sc04i00";
        let given = Device {
            realpath: "/mnt/sys/devices/pci0008:00/0008:00:00.0".to_owned(),
            config: deflate(&port()),
            iommu_group: Some(7),
            modalias: modalias.to_owned(),
            numa_node: Some(1),
            vpd: Some(deflate(b"\x82\x01\x00x\x78")),
            subsystems: vec![("net".to_owned(), vec!["eth0".to_owned(), "../x".to_owned()])],
        };
        let mut s = Snapshot::new("t");
        unpack(&mut s, "dump.json", rdma_topo_dump::print(std::slice::from_ref(&given)).as_bytes());
        assert!(s.problems.is_empty(), "{:?}", s.problems);
        let again = rdma_topo_dump::parse(print(&s).unwrap().as_bytes()).unwrap().devices;
        let expected = Device {
            realpath: "/sys/devices/pci0008:00/0008:00:00.0".to_owned(),
            subsystems: vec![("net".to_owned(), vec!["eth0".to_owned()])],
            ..given
        };
        assert_eq!(again, [expected]);
        // The same without the file that the kernel made of it.
        for leaf in ["modalias", "vendor", "device", "class", "subsystem_vendor", "subsystem_device"] {
            assert!(s.remove(&format!("sys/devices/pci0008:00/0008:00:00.0/{leaf}")), "{leaf}");
        }
        assert!(print(&s).unwrap().contains(modalias));
    }

    #[test]
    fn what_cannot_be_is_left_out() {
        let device = |realpath: &str, config: Vec<u8>| Device {
            realpath: realpath.to_owned(),
            config,
            modalias: "pci:".to_owned(),
            ..Device::default()
        };
        let devices = [
            device("/tmp/0000:00:00.0", deflate(&port())),
            device("/sys/devices/pci0000:00/host", deflate(&port())),
            device("/sys/devices/pci0000:00/0000:00:01.0", b"zlib".to_vec()),
            device("/sys/devices/pci0000:00/0000:00:02.0", deflate(&vec![0; 1 << 20])),
            device("/sys/devices/../0000:00:03.0", deflate(&port())),
        ];
        let mut s = Snapshot::new("t");
        unpack(&mut s, "dump.json", rdma_topo_dump::print(&devices).as_bytes());
        assert_eq!(s.problems.len(), devices.len(), "{:?}", s.problems);
        assert_eq!(print(&s), Err(NoDump::NoSysfs));
    }
}
