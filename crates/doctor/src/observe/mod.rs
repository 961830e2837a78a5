//! What was read, with memory that does not grow with the logs.

mod bare;
mod cqe;
mod file;
mod frameworks;
mod glued;
pub mod groups;
mod kernel;
pub(crate) mod keys;
mod launch;
mod listing;
pub mod names;
mod nccl;
mod other;
mod p2p_matrix;
pub(crate) mod phrases;
mod pieces;
pub mod process;
mod programs;
pub mod ranks;
pub(crate) mod ras;
mod record;
pub mod release;
pub(crate) mod says;
pub mod threads;
mod titles;
mod tools;
pub mod trouble;
pub(crate) mod voice;
mod words;

pub use file::FileSeen;
pub use keys::{Pair, Tuning};

use crate::place::{FileId, Place};
use groups::Groups;
use keys::{Bound, DeviceList, GdrNic, Logged, Near, PluginEvent, QueuePair, Recovered, Search, Setting};
use linerate_formats::pci::Bdf;
use linerate_formats::{nccl_ras, nccl_tests, perftest, torch_log, train_steps};
use linerate_snapshot::Whose;
use names::{Name, Names};
use ranks::Ranks;
use std::collections::BTreeSet;
use threads::Threads;
use trouble::{FrameworkTrouble, ToolTrouble, Trouble};

/// Readers of tables, of the file that is open.
#[derive(Debug, Default)]
struct Tables {
    nccl_tests: nccl_tests::Reader,
    perftest: perftest::Reader,
    steps: train_steps::Reader,
    ras: nccl_ras::Reader,
}

/// Watches lines.
#[derive(Debug, Default)]
pub struct Observer {
    pub(crate) files: Vec<FileSeen>,
    pub(crate) names: Names,
    pub(crate) threads: Threads,
    pub(crate) ranks: Ranks,
    /// Variables and values.
    pub(crate) settings: Groups<Setting>,
    /// Variables that commands in the text set: whether for this job is not shown.
    pub(crate) launched: Groups<Setting>,
    /// What failed.
    pub(crate) failures: Groups<Trouble>,
    /// The kernel's.
    pub(crate) kernel: Groups<Logged>,
    /// Devices that drivers started, by the kernel's log.
    pub(crate) bound: Vec<Bound>,
    /// The recovery action that the GPU driver named last, by file, host and GPU.
    pub(crate) recoveries: Vec<Recovered>,
    /// Other tools'.
    pub(crate) tools: Groups<ToolTrouble>,
    /// Frameworks'.
    pub(crate) frameworks: Groups<FrameworkTrouble>,
    /// Pairs of GPU and NIC.
    pub(crate) pairs: Groups<Pair>,
    /// Errors that functions of NCCL returned (`ncclResult_t`).
    pub(crate) returned: Groups<u32>,
    /// For each GPU the NIC that is nearest.
    pub(crate) near: Groups<Near>,
    /// What NCCL's search found.
    pub(crate) searches: Groups<Search>,
    /// NICs that can and cannot use GPU memory, with the reason that is printed.
    pub(crate) gdr_nics: Groups<GdrNic>,
    /// Lists of devices by network.
    pub(crate) devices: Groups<DeviceList>,
    /// Networks chosen.
    pub(crate) networks: Groups<Name>,
    /// Networks without a device.
    pub(crate) no_device: Groups<Name>,
    /// Plugins loaded, missing, failed.
    pub(crate) plugins: Groups<PluginEvent>,
    /// Queue pairs, by MTU and GID.
    pub(crate) queue_pairs: Groups<QueuePair>,
    /// Advice that NCCL prints.
    pub(crate) hints: Groups<Name>,
    /// Algorithms and protocols chosen.
    pub(crate) tuning: Vec<Tuning>,
    /// Whether GPUs can multicast.
    pub(crate) multicast: Groups<bool>,
    /// Lines of level INFO were seen.
    pub(crate) has_info: bool,
    /// The library is RCCL: it says so, looks for a plugin of that name, or was built there.
    pub(crate) rccl: bool,
    /// perftest said that its buffer is in a GPU.
    pub(crate) gpu_buffers: bool,
    /// Benchmark tables.
    pub(crate) nccl_tests: Vec<(FileId, nccl_tests::Run)>,
    /// Benchmark tables.
    pub(crate) perftest: Vec<(FileId, perftest::Run)>,
    /// Steps of trainings.
    pub(crate) trainings: Vec<(FileId, train_steps::Run)>,
    /// Reports of NCCL's RAS.
    pub(crate) ras: ras::Reports,
    /// Where ranks are in the sequence of collectives.
    pub(crate) sequences: frameworks::Sequences,
    tables: Tables,
    /// The GPU that the NVIDIA driver named last, and where: lines without an address follow.
    named_gpu: Option<(Place, Bdf)>,
    /// Whose a kernel's log is, by the commands and headings above it.
    whose: Whose,
    /// A list of interfaces that was broken over lines.
    listing: Option<listing::Listing>,
    tool_lines: tools::Reader,
    says: says::Reader,
    entries: cqe::Reader,
    perftest_lines: programs::perftest::Reader,
    matrices: p2p_matrix::Reader,
    torch: torch_log::Reader,
    /// See [`Observer::searched`].
    searched: u64,
    /// Who speaks in each file, by its prose.
    pub(crate) voices: Vec<voice::Voice>,
    /// What the second look at lines in an unknown dress shows, and how many were looked at.
    pub(crate) second: Option<Box<Observer>>,
    seconds: u32,
    /// What the third look at such lines shows.
    pub(crate) phrases: phrases::Reader,
    /// This is a second look.
    is_second: bool,
}

impl Observer {
    /// Bytes of lines that are searched for all that programs print, for they have a word of some program, set a variable or are dressed in a way that is
    /// not known: they cost many times what others cost.
    #[must_use]
    pub fn searched(&self) -> u64 {
        self.searched
    }

    pub(crate) fn open(&mut self, name: &str) -> FileId {
        self.files.push(FileSeen { name: name.to_owned(), ..FileSeen::default() });
        self.voices.push(voice::Voice::default());
        if let Some(second) = &mut self.second {
            second.open(name);
        }
        FileId(self.files.len() as u32 - 1)
    }

    /// The name of a file.
    pub(crate) fn file_name(&self, id: FileId) -> &str {
        self.files.get(id.0 as usize).map_or("", |f| &f.name)
    }

    pub(crate) fn file(&mut self, id: FileId) -> &mut FileSeen {
        let at = (id.0 as usize).min(self.files.len().saturating_sub(1));
        &mut self.files[at]
    }

    pub(crate) fn close(&mut self, file: FileId) {
        self.end_listing();
        self.whose = Whose::default();
        let tables = std::mem::take(&mut self.tables);
        let runs = tables.nccl_tests.finish().into_iter().filter(|r| !r.rows.is_empty() || !r.ranks.is_empty());
        self.nccl_tests.extend(runs.map(|r| (file, r)));
        let runs = tables.perftest.finish().into_iter();
        self.perftest.extend(runs.map(|r| (file, r)));
        self.trainings.extend(tables.steps.finish().into_iter().map(|r| (file, r)));
        tables.ras.finish().into_iter().for_each(|r| self.ras.add(file, r));
        self.torch = torch_log::Reader::default();
        self.tool_lines = tools::Reader::default();
        self.says = says::Reader::default();
        self.entries = cqe::Reader::default();
        self.perftest_lines = programs::perftest::Reader::default();
        let lines = self.file(file).lines;
        self.phrases.close(lines);
        self.matrices = p2p_matrix::Reader::default();
        if let Some(second) = &mut self.second {
            second.close(file);
        }
    }

    /// Whether a table of a benchmark, steps of a training or a report of RAS was read.
    pub(crate) fn has_results(&self) -> bool {
        !(self.nccl_tests.is_empty()
            && self.perftest.is_empty()
            && self.trainings.is_empty()
            && self.ras.all.is_empty())
    }

    pub(crate) fn process(&self, index: usize) -> Option<&process::Process> {
        self.threads.processes.get(index)
    }

    /// Hosts of processes, in order, each once.
    pub(crate) fn hosts(&self, processes: impl IntoIterator<Item = usize>) -> Vec<String> {
        let of = processes.into_iter().filter_map(|p| self.process(p)).map(|p| self.name(p.host));
        let names: BTreeSet<&str> = of.filter(|h| !h.is_empty()).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// A word that was kept.
    pub(crate) fn name(&self, name: Name) -> &str {
        self.names.get(name)
    }

    /// Whether a line of evidence is where somebody writes about such lines.
    pub(crate) fn is_quoted(&self, evidence: &crate::answer::Evidence) -> bool {
        let Some((name, line)) = evidence.at.rsplit_once(':') else { return false };
        let Ok(line) = line.parse() else { return false };
        let of = self.files.iter().zip(&self.voices).find(|(f, _)| f.name == name);
        of.is_some_and(|(_, voice)| voice.quotes(line))
    }
}
