//! Tables of each GPU against each: a title, a head of GPUs, a row for each.

use super::{Cell, Device, Smi, What};
use crate::bounds::{GPUS, Limit, leave_out};
use crate::text::words;

/// Titles of amd-smi. `COHERANCY` is as the tool spells it.
const TITLES: [(&str, Option<What>); 12] = [
    ("ACCESS TABLE:", Some(What::Access)),
    ("WEIGHT TABLE:", Some(What::Weight)),
    ("HOPS TABLE:", Some(What::Hops)),
    ("LINK TYPE TABLE:", Some(What::LinkType)),
    ("NUMA BW TABLE:", Some(What::Bandwidth)),
    ("CACHE COHERANCY TABLE:", Some(What::Coherent)),
    ("CACHE COHERENCY TABLE:", Some(What::Coherent)),
    ("ATOMICS TABLE:", Some(What::Atomics)),
    ("DMA TABLE:", Some(What::Dma)),
    ("BI-DIRECTIONAL TABLE:", Some(What::BiDirectional)),
    // `amd-smi xgmi`: what each link moved, and which are up. Its columns are links; which GPU each leads to is not there.
    ("LINK METRIC TABLE:", None),
    ("XGMI LINK STATUS:", None),
];

/// Beginnings of the titles.
pub(super) const BEGINS: &[&str] = &[
    "ACCESS T", "WEIGHT T", "HOPS TAB", "LINK TYP", "NUMA BW ", "CACHE CO", "ATOMICS ", "DMA TABL", "BI-DIREC",
    "LINK MET", "XGMI LIN",
];

/// What is between the signs of equality of rocm-smi.
const SPACERS: [(&str, What); 5] = [
    ("Weight between two GPUs", What::Weight),
    ("Hops between two GPUs", What::Hops),
    ("Link Type between two GPUs", What::LinkType),
    ("Link accessibility between two GPUs", What::Access),
    ("Bandwidth", What::Bandwidth),
];

/// A title of amd-smi.
pub(super) fn is_own(line: &str) -> bool {
    TITLES.iter().any(|(title, _)| *title == line)
}

/// A title of a table of rocm-smi, without which its rows look like those of `nvidia-smi topo -m`.
pub(super) fn is_rocm(line: &str) -> bool {
    line.contains(" between two GPUs ")
        && spacer(line).is_some_and(|said| SPACERS.iter().any(|(title, _)| *title == said))
}

/// The words of rocm-smi's `==== Words ====`; none of a line of signs alone.
pub(super) fn spacer(line: &str) -> Option<&str> {
    let line = line.trim();
    (line.starts_with("===") && line.ends_with("===")).then(|| line.trim_matches('=').trim())
}

/// The table that is being read.
#[derive(Default)]
pub(super) struct Reader {
    what: Option<What>,
    head: Vec<Device>,
    /// A row was seen, so that the head is whole.
    in_rows: bool,
    /// Rows begin with a GPU's number and its address.
    is_of_links: bool,
}

impl Reader {
    /// Takes a line of a table.
    pub(super) fn take(&mut self, line: u32, raw: &str, out: &mut Smi) -> bool {
        let trimmed = raw.trim();
        if let Some((_, what)) = TITLES.iter().find(|(title, _)| *title == trimmed) {
            *self = Reader { what: *what, is_of_links: what.is_none(), ..Reader::default() };
            return true;
        }
        if let Some(said) = spacer(raw) {
            let what = SPACERS.iter().find(|(title, _)| *title == said).map(|(_, what)| *what);
            *self = Reader { what, ..Reader::default() };
            // Other titles of rocm-smi are its reader's.
            return what.is_some();
        }
        let mut cells = words(trimmed);
        if self.is_of_links
            && let (Some(Device::Number(number)), Some(bdf)) = (cells.next().and_then(Device::of_word), cells.next())
        {
            if let Some(gpu) = out.gpu(number, line) {
                gpu.set("", "BDF", bdf, line);
            }
            return true;
        }
        let Some(what) = self.what else { return false };
        let Some(first) = cells.next().and_then(Device::of_word) else {
            return false;
        };
        let rest: Vec<&str> = cells.take(GPUS + 1).collect();
        let devices: Vec<Device> = rest.iter().filter_map(|w| Device::of_word(w)).collect();
        let is_head = devices.len() == rest.len() && !self.in_rows;
        if is_head && (!rest.is_empty() || self.head.is_empty()) {
            for device in std::iter::once(first).chain(devices) {
                if self.head.len() >= GPUS {
                    leave_out(&mut out.left_out, Limit::GPUS, line);
                    break;
                }
                self.head.push(device);
                out.head(what, device, line);
            }
            return true;
        }
        self.in_rows = true;
        if rest.len() != self.head.len() || self.head.is_empty() {
            if out.broken_rows.len() < GPUS {
                out.broken_rows.push(line);
            }
            return true;
        }
        for (to, value) in self.head.iter().zip(&rest) {
            out.cell(Cell { what, from: first, to: *to, value: (*value).to_owned(), line });
        }
        true
    }
}
