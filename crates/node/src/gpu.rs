//! GPUs as their driver reports them: nvidia-smi (text or XML), NVML, /proc/driver/nvidia.

use crate::cut::{self, Cut};
use linerate_formats::nvidia_proc;
pub use linerate_formats::nvidia_proc::Flavour;
use linerate_formats::nvidia_smi::{self, Query, Topo};
use linerate_formats::nvml::{self, Nvml};
use linerate_formats::pci::{Bdf, LinkSpeed, LinkWidth};
use linerate_formats::text::At;
use linerate_snapshot::{EntryId, OutputKind, Place, Reading, Snapshot, Why};
use std::sync::OnceLock;

/// A GPU as the driver reports it.
#[derive(Debug, Clone)]
pub struct Gpu {
    /// PCI address.
    pub bdf: Bdf,
    /// UUID, `GPU-…`: the same in a guest that has the GPU. Redacted snapshots have a hash of it.
    pub uuid: Reading<String>,
    /// Serial number of the board. Redacted snapshots have a hash of it.
    pub serial: Reading<String>,
    /// Place on the baseboard, by which the fabric manager names it.
    pub module_id: Reading<u32>,
    /// Product name.
    pub name: Reading<String>,
    /// Product architecture: `Hopper`.
    pub architecture: Reading<String>,
    /// Frame buffer, MiB.
    pub fb_mib: Reading<u64>,
    /// BAR1 aperture, MiB.
    pub bar1_mib: Reading<u64>,
    /// Highest generation the GPU can.
    pub device_max_speed: Reading<LinkSpeed>,
    /// Highest generation the port above can.
    pub host_max_speed: Reading<LinkSpeed>,
    /// Generation now: an idle GPU may have slowed its link down.
    pub speed: Reading<LinkSpeed>,
    /// Width now.
    pub width: Reading<LinkWidth>,
    /// Highest width.
    pub max_width: Reading<LinkWidth>,
    /// PCIe replays since reset.
    pub replays: Reading<u64>,
    /// How often four replays in a row failed, so that the link was trained again.
    pub replay_rollovers: Reading<u64>,
    /// NVLink fabric state: `Completed`, `In Progress`, `N/A`.
    pub fabric_state: Reading<String>,
    /// Result of joining the fabric: `Success`, or what failed.
    pub fabric_status: Reading<String>,
    /// C2C mode: `Enabled`, `N/A`.
    pub c2c_mode: Reading<String>,
    /// Virtualisation mode.
    pub virtualization: Reading<String>,
    /// Whether memory errors are corrected: `Enabled`, `Disabled`, `N/A`.
    pub ecc: Reading<String>,
    /// Errors of memory that could not be corrected, since the driver was loaded.
    pub ecc_uncorrected: Reading<u64>,
    /// Rows or pages of memory are replaced at the next reset.
    pub rows_pending: Reading<bool>,
    /// What the driver itself asks for: `None`, `Reset`, `Reboot`, `Drain P2P`, `Drain and Reset`. Drivers say it from branch 560 on.
    pub recovery_action: Reading<String>,
    /// A row could not be replaced.
    pub rows_failed: Reading<bool>,
    /// Whether it is cut into instances: `Enabled`, `Disabled`, `N/A`.
    pub mig: Reading<String>,
}

/// The NVIDIA driver.
#[derive(Debug, Clone)]
pub struct Driver {
    /// Version.
    pub version: Reading<String>,
    /// Which kernel modules.
    pub flavour: Reading<Flavour>,
    /// Effective parameters of `/proc/driver/nvidia/params`: name without `NVreg_`, value, place.
    pub params: Reading<Vec<(String, String, Place)>>,
    /// Highest CUDA version that the driver supports.
    pub cuda: Reading<String>,
}

impl Driver {
    /// An effective parameter, by its name without `NVreg_`.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<(&str, Place)> {
        self.params.known()?.iter().find(|(n, ..)| n == name).map(|(_, v, p)| (v.as_str(), *p))
    }
}

/// GPUs and driver.
#[derive(Debug, Clone)]
pub struct Nvidia<'s> {
    /// GPUs that the driver reported. Empty with `asked` unreadable: nobody could ask.
    pub gpus: Vec<Gpu>,
    /// GPUs that gave nvidia-smi no answer.
    pub silent: Vec<Silent>,
    /// The query that was read.
    pub asked: Reading<()>,
    /// An answer has as many GPUs as it says are attached: whoever is not in it, the driver does not report. `nvidia-smi -i` shows some of them.
    pub whole: bool,
    snapshot: &'s Snapshot,
    /// `nvidia-smi topo -m`, once somebody asked.
    topo: OnceLock<Reading<Topo>>,
    /// Driver.
    pub driver: Driver,
}

/// A GPU that gave nvidia-smi no answer.
#[derive(Debug, Clone)]
pub struct Silent {
    /// Address.
    pub bdf: Bdf,
    /// It fell off the bus, or cannot be reached otherwise.
    pub is_lost: bool,
    /// NVML's words.
    pub error: String,
    /// Where it is said.
    pub place: Place,
}

impl<'s> Nvidia<'s> {
    pub(crate) fn decode(s: &'s Snapshot, cuts: &mut Vec<Cut>) -> Self {
        let root = s.root();
        let mut version =
            s.read(root, "proc/driver/nvidia/version").parse("no driver version in it", nvidia_proc::parse_version);
        if let Reading::Known(v, place) = &mut version {
            *place = place.line(v.line);
        }
        let params = s.read(root, "proc/driver/nvidia/params").and_then(|bytes, p| {
            let list = nvidia_proc::parse_params(bytes).into_iter();
            Reading::Known(list.map(|q| (q.name, q.value, p.line(q.line))).collect(), p)
        });
        let mut nvidia = Nvidia {
            gpus: Vec::new(),
            silent: Vec::new(),
            asked: Reading::Unreadable(Place::below(root, "cmd/nvidia-smi"), Why::NotCollected),
            whole: false,
            snapshot: s,
            topo: OnceLock::new(),
            driver: Driver {
                flavour: version.as_ref().map(|v| v.flavour),
                version: version.map(|v| v.version),
                params,
                cuda: Reading::Unreadable(Place::below(root, "cmd/nvidia-smi"), Why::NotCollected),
            },
        };
        for o in &s.outputs {
            let bytes = s.data(o.entry);
            let query = match o.kind {
                OutputKind::NvidiaSmiQuery => Ok(nvidia_smi::parse_query(bytes)),
                OutputKind::NvidiaSmiXml => nvidia_smi::parse_xml(bytes),
                _ => continue,
            };
            match query {
                // A query that names neither driver nor GPU is an error message, not an answer.
                Ok(q) if q.driver_version.is_none() && q.gpus.is_empty() => {
                    if nvidia.asked.known().is_none() {
                        nvidia.asked = Reading::Unreadable(
                            Place::of(o.entry),
                            Why::Failed("nvidia-smi answered with no driver and no GPU".into()),
                        );
                    }
                }
                Ok(q) => {
                    cut::note(cuts, o.entry, &q.left_out);
                    nvidia.take(q, o.entry);
                }
                Err(e) if nvidia.asked.known().is_none() => {
                    let why = if o.status.is_some_and(|st| st != 0) {
                        Why::Failed(format!("nvidia-smi failed with status {}", o.status.unwrap_or_default()).into())
                    } else {
                        Why::Malformed(e.to_string().into())
                    };
                    nvidia.asked = Reading::Unreadable(Place::of(o.entry).line(e.line), why);
                }
                Err(_) => {}
            }
        }
        // The summary shows less than a query.
        for o in s.outputs.iter().filter(|o| o.kind == OutputKind::NvidiaSmiTable) {
            let table = nvidia_smi::parse_table(s.data(o.entry));
            let of = |g: &nvidia_smi::SilentGpu| Silent {
                bdf: g.bdf,
                is_lost: g.is_lost(),
                error: g.error.clone(),
                place: Place::of(o.entry).line(g.line),
            };
            nvidia.silent.extend(table.silent.iter().map(of));
            if table.driver_version.is_some() || !table.gpus.is_empty() {
                cut::note(cuts, o.entry, &table.left_out);
                nvidia.take(of_table(table), o.entry);
            }
        }
        // The library fills in what nvidia-smi did not say: it is there where the tool is not.
        for o in s.outputs.iter().filter(|o| o.kind == OutputKind::Nvml) {
            if let Ok(answers) = nvml::parse(s.data(o.entry))
                && answers.error.is_none()
            {
                nvidia.take(as_query(answers), o.entry);
            }
        }
        nvidia
    }

    /// GPU by address.
    #[must_use]
    pub fn gpu(&self, bdf: Bdf) -> Option<&Gpu> {
        self.gpus.iter().find(|g| g.bdf == bdf)
    }

    /// `nvidia-smi topo -m`: how GPUs and NICs are connected. Read when it is asked for the first time.
    pub fn topo(&self) -> &Reading<Topo> {
        self.topo.get_or_init(|| topo(self.snapshot))
    }

    fn take(&mut self, q: Query, entry: EntryId) {
        let base = Place::of(entry);
        self.asked = Reading::Known((), base);
        self.whole |= q.attached_gpus.is_some_and(|n| usize::try_from(n.value) == Ok(q.gpus.len()));
        let unread = |what: Option<At<String>>| known(what, base);
        self.driver.version =
            std::mem::replace(&mut self.driver.version, Reading::Absent(base)).or(|| unread(q.driver_version));
        self.driver.cuda =
            std::mem::replace(&mut self.driver.cuda, Reading::Absent(base)).or(|| unread(q.cuda_version));
        for g in q.gpus {
            let Some(bdf) = g.bdf else { continue };
            if self.gpu(bdf).is_some() {
                continue;
            }
            let at = base.line(g.line);
            let speed = |v: Option<At<u8>>| known(v, at).parse("not a PCIe generation", LinkSpeed::from_register);
            let width = |v: Option<At<u8>>| known(v, at).map(LinkWidth);
            self.gpus.push(Gpu {
                bdf,
                uuid: known(g.uuid, at),
                serial: known(g.serial, at),
                module_id: known(g.module_id, at),
                name: known(g.product_name, at),
                architecture: known(g.architecture, at),
                fb_mib: known(g.fb_total_mib, at),
                bar1_mib: known(g.bar1_total_mib, at),
                device_max_speed: speed(g.pcie_generation.device_max),
                host_max_speed: speed(g.pcie_generation.host_max),
                speed: speed(g.pcie_generation.current),
                width: width(g.width_current),
                max_width: width(g.width_max),
                replays: known(g.replays, at),
                replay_rollovers: known(g.replay_rollovers, at),
                fabric_state: known(g.fabric_state, at),
                fabric_status: known(g.fabric_status, at),
                c2c_mode: known(g.c2c_mode, at),
                virtualization: known(g.virtualization_mode, at),
                ecc: known(g.ecc_mode, at),
                mig: known(g.mig_mode, at),
                ecc_uncorrected: known(g.ecc_uncorrected, at),
                rows_pending: known(either(g.remap_pending, g.retirement_pending), at),
                recovery_action: known(g.recovery_action, at),
                rows_failed: known(g.remap_failed, at),
            });
        }
    }
}

fn topo(s: &Snapshot) -> Reading<Topo> {
    let mut out = Reading::Unreadable(Place::below(s.root(), "cmd/nvidia-smi-topo"), Why::NotCollected);
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::NvidiaSmiTopo) {
        match nvidia_smi::parse_topo(s.data(o.entry)) {
            Ok(t) => return Reading::Known(t, Place::of(o.entry)),
            Err(e) => out = Reading::Unreadable(Place::of(o.entry).line(e.line), Why::Malformed(e.to_string().into())),
        }
    }
    out
}

/// What the summary shows, in the form of a query. How many GPUs there are it does not say.
fn of_table(table: nvidia_smi::Table) -> Query {
    let gpu = |g: nvidia_smi::TableGpu| nvidia_smi::Gpu {
        line: g.line,
        bdf: Some(g.bdf),
        product_name: g.whole_name().map(|n| At::new(n.to_owned(), g.line)),
        fb_total_mib: g.memory_total_mib,
        ecc_mode: g.ecc_mode().map(|e| At::new(e.to_owned(), g.line)),
        mig_mode: g.mig_mode,
        ..nvidia_smi::Gpu::default()
    };
    Query {
        driver_version: table.driver_version,
        cuda_version: table.cuda_version,
        gpus: table.gpus.into_iter().map(gpu).collect(),
        ..Query::default()
    }
}

/// The library's answers in the form of the tool's. The file is short: its first line stands for all.
fn as_query(answers: Nvml) -> Query {
    const LINE: u32 = 1;
    fn at<T>(value: Option<T>) -> Option<At<T>> {
        value.map(|v| At::new(v, LINE))
    }
    let width = |w: Option<u32>| at(w.and_then(|w| u8::try_from(w).ok()));
    let gpu = |d: nvml::Device| {
        let bdf = d.address();
        nvidia_smi::Gpu {
            line: LINE,
            bus_id: d.bdf.unwrap_or_default(),
            bdf,
            product_name: at(d.name),
            fb_total_mib: at(d.memory_total_bytes.map(|b| b >> 20)),
            bar1_total_mib: at(d.bar1_total_bytes.map(|b| b >> 20)),
            pcie_generation: nvidia_smi::Generations { current: width(d.link_generation), ..Default::default() },
            width_current: width(d.link_width),
            width_max: width(d.max_link_width),
            replays: at(d.replay_counter.map(u64::from)),
            ..nvidia_smi::Gpu::default()
        }
    };
    Query {
        driver_version: at(answers.driver_version),
        gpus: answers.devices.into_iter().map(gpu).collect(),
        ..Query::default()
    }
}

/// Of two flags the one that is set, else the one that is there.
fn either(a: Option<At<bool>>, b: Option<At<bool>>) -> Option<At<bool>> {
    match (&a, &b) {
        (Some(x), _) if x.value => a,
        (_, Some(y)) if y.value => b,
        _ => a.or(b),
    }
}

/// A field of a text; what it does not show is unreadable at the block it would be in.
fn known<T>(field: Option<At<T>>, block: Place) -> Reading<T> {
    match field {
        Some(f) => Reading::Known(f.value, block.line(f.line)),
        None => Reading::Unreadable(block, Why::Malformed("this output does not show it".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_snapshot::Output;

    #[test]
    fn the_library_serves_where_nvidia_smi_is_not() {
        let mut s = Snapshot::new("nvml");
        let json = br#"{"driver_version":"570.133.20","devices":[{"bdf":"0000:19:00.0","name":"NVIDIA H100","bar1_total_bytes":137438953472}]}"#;
        let entry = s.add_file("linerate/nvml.json", json).unwrap();
        s.outputs.push(Output { kind: OutputKind::Nvml, entry, argv: Vec::new(), status: None });
        let n = Nvidia::decode(&s, &mut Vec::new());
        let gpu = n.gpu("19:00.0".parse().unwrap()).unwrap();
        assert_eq!((gpu.bar1_mib.known(), gpu.replays.known()), (Some(&131_072), None));
        assert!(n.asked.known().is_some() && n.driver.version.known().is_some_and(|v| v == "570.133.20"));
    }

    #[test]
    fn the_summary_serves_where_no_query_is() {
        let table = "| NVIDIA-SMI 535.54.03    Driver Version: 535.54.03    CUDA Version: 12.2     |\n\
            |   0  NVIDIA H100 PCIe    Off  | 00000000:07:00.0 Off |                    0 |\n\
            | N/A   30C    P0    62W / 350W |      0MiB / 81559MiB |      0%      Default |\n";
        let mut s = Snapshot::new("table");
        let entry = s.add_file("pasted/nvidia-smi.txt", table.as_bytes()).unwrap();
        s.outputs.push(Output { kind: OutputKind::NvidiaSmiTable, entry, argv: Vec::new(), status: None });
        let n = Nvidia::decode(&s, &mut Vec::new());
        let gpu = n.gpu("07:00.0".parse().unwrap()).unwrap();
        assert_eq!(
            (gpu.name.known().map(String::as_str), gpu.fb_mib.known()),
            (Some("NVIDIA H100 PCIe"), Some(&81_559))
        );
        assert_eq!((gpu.ecc.known().map(String::as_str), gpu.mig.known()), (Some("Enabled"), None));
        assert!(!n.whole && n.driver.version.known().is_some_and(|v| v == "535.54.03"), "it does not count its GPUs");
        assert!(gpu.uuid.is_unreadable() && n.driver.cuda.known().is_some_and(|v| v == "12.2"));
    }
}
