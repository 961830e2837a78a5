//! Non-volatile settings of NIC firmware, from mlxconfig or mstconfig.

use linerate_formats::mlxconfig::{self, NicConfig};
use linerate_formats::pci::Bdf;
use linerate_snapshot::{OutputKind, Place, Snapshot};

/// Settings of one NIC.
#[derive(Debug, Clone)]
pub struct NicFirmware {
    /// Name for people: the BDF where known, else what the text says.
    pub name: String,
    /// PCI function, where the text or the command tells.
    pub bdf: Option<Bdf>,
    /// The query.
    pub config: NicConfig,
    /// The text.
    pub place: Place,
}

impl NicFirmware {
    /// Place of a line of the query.
    #[must_use]
    pub fn at(&self, line: u32) -> Place {
        if line == 0 { self.place } else { self.place.line(line) }
    }
}

/// All queries of the snapshot, one entry per NIC.
pub(crate) fn decode(s: &Snapshot) -> Vec<NicFirmware> {
    let mut out = Vec::new();
    for o in &s.outputs {
        let configs = match o.kind {
            OutputKind::MlxconfigText => mlxconfig::parse(s.data(o.entry)).devices,
            OutputKind::MlxconfigJson => mlxconfig::parse_json(s.data(o.entry)).unwrap_or_default(),
            _ => continue,
        };
        // `mlxconfig -d BDF q`: the command names the device where the text does not.
        let asked =
            o.argv.iter().zip(o.argv.iter().skip(1)).find(|(a, _)| *a == "-d").and_then(|(_, d)| d.parse().ok());
        let single = configs.len() == 1;
        for (i, config) in configs.into_iter().enumerate() {
            let bdf = config.bdf.or(if single { asked } else { None });
            let said = config.device.as_ref().map(|d| d.value.clone());
            let name = bdf.map(|b| b.to_string()).or(said).unwrap_or_else(|| format!("device #{}", i + 1));
            out.push(NicFirmware { name, bdf, config, place: Place::of(o.entry) });
        }
    }
    out
}
