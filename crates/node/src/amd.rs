//! AMD's GPUs as `rocm-smi` and `amd-smi` show them, and how each two of them are connected. The kernel's own files come first: what is here is of texts.

use crate::cut::{self, Cut};
use hashbrown::HashMap;
use linerate_formats::amd::{self, Smi};
pub use linerate_formats::amd::{Device, What};
use linerate_formats::pci::{Bdf, LinkSpeed, LinkWidth};
use linerate_formats::text::At;
use linerate_snapshot::{EntryId, OutputKind, Place, Reading, Snapshot, Why};
use std::collections::BTreeSet;

macro_rules! gpu {
    ($($field:ident: $type:ty, $what:literal;)+) => {
        /// A GPU of AMD. What no text shows is unreadable.
        #[derive(Debug, Clone)]
        pub struct AmdGpu {
            /// Number in the list of its tool.
            pub number: u32,
            /// Whether that is `amd-smi`, not `rocm-smi`: each numbers in its own way.
            by_amd_smi: bool,
            /// Address, where a text shows it with the number.
            pub bdf: Option<Bdf>,
            /// Where it is first named.
            pub named: Place,
            $(#[doc = $what] pub $field: Reading<$type>,)+
        }

        impl AmdGpu {
            fn new(number: u32, by_amd_smi: bool, named: Place) -> Self {
                let unseen = Why::Malformed("this output does not show it".into());
                AmdGpu { number, by_amd_smi, bdf: None, named, $($field: Reading::Unreadable(named, unseen.clone()),)+ }
            }

            fn take(&mut self, g: amd::Gpu, entry: EntryId) {
                self.bdf = self.bdf.or(g.bdf.map(|b| b.value));
                $(take(&mut self.$field, g.$field, entry);)+
            }
        }
    };
}

gpu! {
    name: String, "Product name.";
    device_id: u16, "PCI device id.";
    vbios: String, "Version of the VBIOS.";
    unique_id: String, "Unique id: a number of `rocm-smi`, a UUID of `amd-smi`. Redacted snapshots have a hash of it.";
    serial: String, "Serial number of the board. Redacted snapshots have a hash of it.";
    numa_affinity: i32, "NUMA node of its PCI function.";
    slot: String, "`OAM`, `PCIE`, `CEM`.";
    width: LinkWidth, "Lanes in use.";
    max_width: LinkWidth, "Lanes that the PCI function has.";
    speed: LinkSpeed, "Speed now: an idle GPU may lower it.";
    max_speed: LinkSpeed, "Speed that the PCI function has.";
    replays: u64, "Packets that the PCIe link sent again.";
    replay_rollovers: u64, "How often replays did not help.";
    l0_to_recovery: u64, "How often the link had to recover.";
    naks_sent: u64, "Damaged packets that arrived.";
    naks_received: u64, "Packets that the other end found damaged.";
}

impl AmdGpu {
    /// What it is called here: its address, where that is known.
    #[must_use]
    pub fn device(&self) -> Device {
        self.bdf.map_or(Device::Number(self.number), Device::At)
    }
}

/// GPUs, their driver, and tables of each GPU against each.
#[derive(Debug, Clone)]
pub struct Amd {
    /// In the order of the texts.
    pub gpus: Vec<AmdGpu>,
    /// Version of amdgpu, as the tools say it.
    pub driver: Reading<String>,
    /// Rows that are cut, of any table.
    pub broken_row: Option<Place>,
    /// Addresses of the numbers of each tool: true is `amd-smi`.
    numbers: HashMap<(bool, u32), Bdf>,
    cells: HashMap<(What, Device, Device), (String, Place)>,
    heads: BTreeSet<(What, Device)>,
}

impl Amd {
    pub(crate) fn decode(s: &Snapshot, cuts: &mut Vec<Cut>) -> Self {
        let missing = Place::below(s.root(), "cmd/amd-smi");
        let mut out = Amd {
            gpus: Vec::new(),
            driver: Reading::Unreadable(missing, Why::NotCollected),
            broken_row: None,
            numbers: HashMap::new(),
            cells: HashMap::new(),
            heads: BTreeSet::new(),
        };
        let mut texts: Vec<(Smi, EntryId, bool)> = Vec::new();
        for o in s.outputs.iter().filter(|o| matches!(o.kind, OutputKind::AmdSmi | OutputKind::RocmSmi)) {
            let mut smi = amd::parse(s.data(o.entry));
            cut::note(cuts, o.entry, &smi.left_out);
            let by_amd_smi = o.kind == OutputKind::AmdSmi;
            take(&mut out.driver, smi.driver.take(), o.entry);
            for gpu in std::mem::take(&mut smi.gpus) {
                out.gpu(gpu, by_amd_smi, o.entry);
            }
            texts.push((smi, o.entry, by_amd_smi));
        }
        // Addresses of numbers may be in a later text than the tables.
        for (smi, entry, by_amd_smi) in texts {
            let at = |line| Place::of(entry).line(line);
            if let Some(line) = smi.broken_rows.first() {
                out.broken_row.get_or_insert(at(*line));
            }
            for (what, device) in smi.heads {
                let device = out.named(device, by_amd_smi);
                out.heads.insert((what, device));
            }
            for c in smi.cells {
                let (from, to) = (out.named(c.from, by_amd_smi), out.named(c.to, by_amd_smi));
                out.heads.extend([(c.what, from), (c.what, to)]);
                out.cells.entry((c.what, from, to)).or_insert_with(|| (c.value, at(c.line)));
            }
        }
        out
    }

    /// GPU by address.
    #[must_use]
    pub fn gpu_at(&self, bdf: Bdf) -> Option<&AmdGpu> {
        self.gpus.iter().find(|g| g.bdf == Some(bdf))
    }

    /// GPU by what a table calls it.
    #[must_use]
    pub fn gpu_of(&self, device: Device) -> Option<&AmdGpu> {
        self.gpus.iter().find(|g| g.device() == device)
    }

    /// GPUs of a table, in the order of their addresses.
    #[must_use]
    pub fn in_table(&self, what: What) -> Vec<Device> {
        self.heads.iter().filter(|(w, _)| *w == what).map(|(_, d)| *d).collect()
    }

    /// What a table says of two GPUs, in this direction.
    #[must_use]
    pub fn cell(&self, what: What, from: Device, to: Device) -> Option<(&str, Place)> {
        self.cells.get(&(what, from, to)).map(|(value, place)| (value.as_str(), *place))
    }

    fn gpu(&mut self, gpu: amd::Gpu, by_amd_smi: bool, entry: EntryId) {
        let bdf = gpu.bdf.as_ref().map(|b| b.value);
        if let Some(bdf) = bdf {
            self.numbers.entry((by_amd_smi, gpu.number)).or_insert(bdf);
        }
        // Of one tool's list a number is one GPU, as long as no address says otherwise.
        let of_number =
            |g: &AmdGpu| g.by_amd_smi == by_amd_smi && g.number == gpu.number && (g.bdf.is_none() || bdf.is_none());
        let bdf = bdf.or_else(|| self.numbers.get(&(by_amd_smi, gpu.number)).copied());
        let of_address = |g: &AmdGpu| bdf.is_some() && g.bdf == bdf;
        let found = self.gpus.iter().position(of_address).or_else(|| self.gpus.iter().position(of_number));
        let at = found.unwrap_or_else(|| {
            self.gpus.push(AmdGpu::new(gpu.number, by_amd_smi, Place::of(entry).line(gpu.line)));
            self.gpus.len() - 1
        });
        if let Some(known) = self.gpus.get_mut(at) {
            known.take(gpu, entry);
        }
    }

    fn named(&self, device: Device, by_amd_smi: bool) -> Device {
        let Device::Number(n) = device else { return device };
        self.numbers.get(&(by_amd_smi, n)).map_or(device, |bdf| Device::At(*bdf))
    }
}

/// Takes a field of a text where none showed it before.
fn take<T>(field: &mut Reading<T>, value: Option<At<T>>, entry: EntryId) {
    if let Some(v) = value
        && field.is_unreadable()
    {
        *field = Reading::Known(v.value, Place::of(entry).line(v.line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_snapshot::Output;

    #[test]
    fn texts_are_joined_by_number_and_by_address() {
        let texts = [
            (OutputKind::AmdSmi, "GPU: 0\n    PCIE:\n        WIDTH: 8\n        REPLAY_COUNT: 2\n"),
            (OutputKind::AmdSmi, "GPU: 0\n    BDF: 0000:05:00.0\n\nGPU: 1\n    BDF: 0000:15:00.0\n"),
            (
                OutputKind::RocmSmi,
                "==== Link Type between two GPUs ====\n       GPU0  GPU1\nGPU0   0  XGMI\nGPU1   XGMI  0\n==== PCI Bus ID ====\nGPU[0]\t\t: PCI Bus: 0000:05:00.0\nGPU[0]\t\t: Card series: AMD Instinct MI300X OAM\n",
            ),
        ];
        let mut s = Snapshot::new("amd");
        for (n, (kind, text)) in texts.into_iter().enumerate() {
            let entry = s.add_file(&format!("pasted/{n}.txt"), text.as_bytes()).unwrap();
            s.outputs.push(Output { kind, entry, argv: Vec::new(), status: None });
        }
        let amd = Amd::decode(&s, &mut Vec::new());
        let bdf: Bdf = "0000:05:00.0".parse().unwrap();
        let gpu = amd.gpu_at(bdf).unwrap();
        assert_eq!((gpu.width.known(), gpu.replays.known()), (Some(&LinkWidth(8)), Some(&2)));
        assert_eq!(gpu.name.known().map(String::as_str), Some("AMD Instinct MI300X OAM"));
        assert_eq!(
            amd.in_table(What::LinkType),
            [Device::At(bdf), Device::Number(1)],
            "the address of GPU1 is of amd-smi's list"
        );
        let cell = amd.cell(What::LinkType, Device::At(bdf), Device::Number(1)).unwrap();
        assert_eq!(cell.0, "XGMI");
        assert!(gpu.max_width.is_unreadable() && amd.gpus.len() == 2);
    }
}
