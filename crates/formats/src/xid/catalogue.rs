//! NVIDIA's Xid catalogue, from the data files.

use super::{Detail, Subcode};
use crate::text::number;
use serde::Serialize;
use std::sync::OnceLock;

/// What NVIDIA says to do at once: the catalogue's resolution buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Bucket {
    /// The catalogue names none, or does not have the number.
    None,
    /// Nothing.
    Ignore,
    /// Start the application again.
    RestartApp,
    /// Reset the GPU.
    ResetGpu,
    /// Restart the machine.
    RestartBm,
    /// Restart the virtual machine.
    RestartVm,
    /// Look at power cables and seating.
    CheckMechanicals,
    /// Bring driver and firmware to releases that fit.
    UpdateSwfw,
    /// Look for errors of unified memory.
    CheckUvm,
    /// NVIDIA's support decides.
    ContactSupport,
    /// The line itself names the action (154).
    Xid154,
    /// The Xid 154 of the same GPU names it.
    Xid154Eval,
    /// Other Xids of the same GPU decide.
    WorkflowXid45,
    /// Other Xids of the same GPU decide.
    WorkflowXid48,
    /// The registers in the line decide.
    WorkflowNvlinkErr,
    /// Unit and status in the line decide (144 to 150).
    WorkflowNvlink5Err,
}

impl Bucket {
    const NAMES: [(&'static str, Bucket); 15] = [
        ("IGNORE", Bucket::Ignore),
        ("RESTART_APP", Bucket::RestartApp),
        ("RESET_GPU", Bucket::ResetGpu),
        ("RESTART_BM", Bucket::RestartBm),
        ("RESTART_VM", Bucket::RestartVm),
        ("CHECK_MECHANICALS", Bucket::CheckMechanicals),
        ("UPDATE_SWFW", Bucket::UpdateSwfw),
        ("CHECK_UVM", Bucket::CheckUvm),
        ("CONTACT_SUPPORT", Bucket::ContactSupport),
        ("XID_154", Bucket::Xid154),
        ("XID_154_EVAL", Bucket::Xid154Eval),
        ("WORKFLOW_XID_45", Bucket::WorkflowXid45),
        ("WORKFLOW_XID_48", Bucket::WorkflowXid48),
        ("WORKFLOW_NVLINK_ERR", Bucket::WorkflowNvlinkErr),
        ("WORKFLOW_NVLINK5_ERR", Bucket::WorkflowNvlink5Err),
    ];

    fn of(name: &str) -> Bucket {
        Self::NAMES.iter().find(|(n, _)| *n == name).map_or(Bucket::None, |(_, b)| *b)
    }

    /// As the catalogue writes it; empty for none.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, b)| *b == self).map_or("", |(n, _)| *n)
    }
}

/// What an Xid is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The program on the GPU.
    App,
    /// An engine that a program uses: copies, video, images.
    Engine,
    /// Memory of the GPU.
    Memory,
    /// PCI Express.
    Bus,
    /// NVLink.
    Nvlink,
    /// The coherent link to the CPU.
    C2c,
    /// Firmware of the GPU, or the GPU as a whole.
    Firmware,
    /// The driver's own software.
    Driver,
    /// Electrical power.
    Power,
    /// Confidential computing.
    Security,
    /// The board's information ROM.
    Inforom,
    /// A change of the recovery action.
    Recovery,
    /// Test messages.
    Test,
    /// Listed, and raised by no GPU since A100.
    Unused,
    /// Not in the catalogue.
    Unknown,
}

impl Class {
    const NAMES: [(&'static str, Class); 14] = [
        ("app", Class::App),
        ("engine", Class::Engine),
        ("memory", Class::Memory),
        ("bus", Class::Bus),
        ("nvlink", Class::Nvlink),
        ("c2c", Class::C2c),
        ("firmware", Class::Firmware),
        ("driver", Class::Driver),
        ("power", Class::Power),
        ("security", Class::Security),
        ("inforom", Class::Inforom),
        ("recovery", Class::Recovery),
        ("test", Class::Test),
        ("unused", Class::Unused),
    ];
}

/// What the catalogue says about an Xid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Meaning {
    /// Number.
    pub number: u32,
    /// NVIDIA's name of it; empty for an unknown number.
    pub name: &'static str,
    /// What it is about.
    pub class: Class,
    /// What to do at once.
    pub immediate: Bucket,
    /// What the catalogue names as a second action; [`Bucket::None`] nearly everywhere.
    pub second: Bucket,
    /// NVIDIA's bucket for those who look into it, as written; empty where it names none.
    pub investigatory: &'static str,
    /// Where the row is from: `catalogue`, `nverror.h`; empty for an unknown number.
    pub source: &'static str,
    /// What it is, in a few words.
    pub what: &'static str,
}

struct Row {
    xid: u32,
    units: &'static str,
    sub: u8,
    status: u32,
    immediate: Bucket,
    second: Bucket,
    investigatory: &'static str,
}

fn cells(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split('\t').collect())
}

fn given(text: &'static str) -> &'static str {
    if text == "-" { "" } else { text }
}

/// All numbers of the catalogue, ascending.
pub fn entries() -> &'static [Meaning] {
    static ENTRIES: OnceLock<Vec<Meaning>> = OnceLock::new();
    ENTRIES.get_or_init(|| {
        let row = |c: Vec<&'static str>| match c.as_slice() {
            [number, name, class, immediate, investigatory, source, what] => Some(Meaning {
                number: number.parse().ok()?,
                name,
                class: Class::NAMES.iter().find(|(n, _)| n == class)?.1,
                immediate: Bucket::of(immediate),
                second: Bucket::None,
                investigatory: given(investigatory),
                source,
                what,
            }),
            _ => None,
        };
        cells(include_str!("data/catalogue.tsv")).filter_map(row).collect()
    })
}

fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let row = |c: Vec<&'static str>| match c.as_slice() {
            [xid, units, sub, status, immediate, second, investigatory] => Some(Row {
                xid: xid.parse().ok()?,
                units,
                sub: sub.parse().ok()?,
                status: number(status).and_then(|n| u32::try_from(n).ok())?,
                immediate: Bucket::of(immediate),
                second: Bucket::of(second),
                investigatory: given(investigatory),
            }),
            _ => None,
        };
        cells(include_str!("data/nvlink5.tsv")).filter_map(row).collect()
    })
}

/// The unit of a line as the table has it, or nothing.
pub(super) fn unit(xid: u32, name: &str) -> &'static str {
    let known = rows().iter().filter(|r| r.xid == xid).flat_map(|r| r.units.split('/').chain([r.units]));
    known.into_iter().find(|u| *u == name).unwrap_or_default()
}

/// What the catalogue says about a number, and for 144 to 150 about the unit and status of the line.
#[must_use]
pub fn meaning(number: u32, detail: Detail) -> Meaning {
    let all = entries();
    let known = all.binary_search_by_key(&number, |m| m.number).ok().and_then(|i| all.get(i)).copied();
    let Some(mut meaning) = known else {
        return Meaning {
            number,
            name: "",
            class: Class::Unknown,
            immediate: Bucket::None,
            second: Bucket::None,
            investigatory: "",
            source: "",
            what: "not in NVIDIA's catalogue",
        };
    };
    if let Detail::NvLink(code) = detail
        && let Some(row) = decode(number, code)
    {
        (meaning.immediate, meaning.second, meaning.investigatory) = (row.immediate, row.second, row.investigatory);
    }
    meaning
}

/// The row of a unit's status. Where a unit's statuses are single bits, several may be set: then the worst row counts, and a bit that the
/// table does not have leaves the whole open.
fn decode(xid: u32, code: Subcode) -> Option<&'static Row> {
    let is = |r: &&Row| r.units == code.unit || r.units.split('/').any(|u| u == code.unit);
    let mine = || rows().iter().filter(|r| r.xid == xid && r.sub == code.sub).filter(is);
    if let Some(exact) = mine().find(|r| r.status == code.status) {
        return Some(exact);
    }
    if code.status == 0 || !mine().all(|r| r.status.is_power_of_two()) {
        return None;
    }
    let seen = mine().fold(0, |all, r| all | r.status);
    let worst = |r: &&Row| match r.immediate {
        Bucket::Ignore => 0,
        Bucket::Xid154Eval => 1,
        _ => 2,
    };
    let hit = mine().filter(|r| r.status & code.status != 0);
    hit.max_by_key(worst).filter(|_| code.status & !seen == 0)
}
