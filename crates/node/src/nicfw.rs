//! Non-volatile settings of NIC firmware, from mlxconfig or mstconfig.

use crate::cut::{self, Cut};
use linerate_formats::mlxconfig::{self, Columns, NicConfig, Param};
use linerate_formats::pci::Bdf;
use linerate_snapshot::{EntryKind, Output, OutputKind, Place, Snapshot};

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

    /// Place of a setting.
    #[must_use]
    pub fn at_param(&self, param: &Param) -> Place {
        self.at(param.line)
    }

    /// Whether the query shows what the running firmware uses, not only what the next reset brings.
    #[must_use]
    pub fn shows_current(&self) -> bool {
        self.config.columns == Some(Columns::DefaultCurrentNext)
    }

    /// ConnectX-3 and ConnectX-3 Pro, by the tool's own words: their queries have one column.
    #[must_use]
    pub fn is_connectx3(&self) -> bool {
        self.config.device_type.as_ref().is_some_and(|t| t.value.starts_with("ConnectX3"))
    }

    /// A BlueField: a card with Arm cores of its own.
    #[must_use]
    pub fn is_bluefield(&self) -> bool {
        self.config.device_type.as_ref().is_some_and(|t| t.value.starts_with("BlueField"))
    }

    /// Domain, bus and device of the card, where its address is known: the functions of a card share its settings.
    #[must_use]
    pub fn card(&self) -> Option<(u32, u8, u8)> {
        self.bdf.map(|b| (b.domain, b.bus, b.device))
    }
}

/// A query that failed.
#[derive(Debug, Clone)]
pub struct QueryError {
    /// The device that was asked, where the command tells.
    pub device: Option<String>,
    /// The tool's words, without `-E-`.
    pub text: String,
    /// Where.
    pub place: Place,
}

/// All queries of the snapshot: one entry per device with at least one setting, and what failed.
pub(crate) fn decode(s: &Snapshot, cuts: &mut Vec<Cut>) -> (Vec<NicFirmware>, Vec<QueryError>) {
    let (mut out, mut errors) = (Vec::<NicFirmware>::new(), Vec::new());
    for o in &s.outputs {
        // `mlxconfig -d BDF q`: the command names the device where the text does not.
        let asked = o.behind("-d").map(str::to_owned);
        let place = Place::of(o.entry);
        let configs = match o.kind {
            OutputKind::MlxconfigText => {
                let query = match out.last() {
                    Some(before) => mlxconfig::parse_like(s.data(o.entry), s.data(before.place.base), &before.config),
                    None => mlxconfig::parse(s.data(o.entry)),
                };
                cut::note(cuts, o.entry, &query.left_out);
                let said = query.errors.into_iter().map(|e| QueryError {
                    device: asked.clone(),
                    text: e.value,
                    place: place.line(e.line),
                });
                errors.extend(said);
                if query.devices.iter().all(|d| d.params.is_empty()) {
                    silent(s, o, asked.clone(), &mut errors);
                }
                query.devices
            }
            OutputKind::MlxconfigJson => mlxconfig::parse_json(s.data(o.entry)).unwrap_or_default(),
            _ => continue,
        };
        let single = configs.len() == 1;
        let asked = asked.and_then(|d| d.parse().ok());
        for (i, config) in configs.into_iter().enumerate().filter(|(_, c)| !c.params.is_empty()) {
            let bdf = config.bdf.or(if single { asked } else { None });
            let said = config.device.as_ref().map(|d| d.value.clone());
            let name = bdf.map(|b| b.to_string()).or(said).unwrap_or_else(|| format!("device #{}", i + 1));
            out.push(NicFirmware { name, bdf, config, place });
        }
    }
    (out, errors)
}

/// A command that printed no setting: its standard error, or its status, says why.
fn silent(s: &Snapshot, o: &Output, device: Option<String>, errors: &mut Vec<QueryError>) {
    let known = errors.len();
    if let EntryKind::Failed(why) = s.kind(o.entry) {
        errors.push(QueryError { device, text: why.to_string(), place: Place::of(o.entry) });
        return;
    }
    let stderr = s.parent(o.entry).and_then(|d| s.child(d, "stderr")).filter(|e| *e != o.entry);
    if let Some(e) = stderr {
        for error in mlxconfig::parse(s.data(e)).errors {
            let place = Place::of(e).line(error.line);
            errors.push(QueryError { device: device.clone(), text: error.value, place });
        }
    }
    let reported = errors.iter().any(|e| e.place.base == o.entry) || errors.len() > known;
    if let Some(status) = o.status.filter(|st| *st != 0 && !reported) {
        errors.push(QueryError { device, text: format!("failed with status {status}"), place: Place::of(o.entry) });
    }
}
