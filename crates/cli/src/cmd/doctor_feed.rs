//! One input after the other: opened once, unpacked, recognised by its beginning, streamed into the observer. Memory does not grow
//! with an input: what is kept of texts that are facts about a node is bounded, too.

use super::doctor_cut;
use super::doctor_nodes::{Kept, group};
use super::doctor_walk::{Found, Source};
use crate::progress::Line;
use linerate_doctor::{Observer, Reader};
use linerate_formats::bounds::{DOCTOR_KEPT, DOCTOR_TEXT};
use linerate_snapshot::capture::Purpose;
use linerate_snapshot::{Content, Exceeded, Snapshot, Unpacked, charge_holes, content, is_archive_head};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Bytes that show what an input is.
const HEAD: usize = 64 << 10;
/// Bytes that are read at a time.
const CHUNK: usize = 64 << 10;

/// Reads inputs.
pub(super) struct Feed<'a> {
    observer: Observer,
    nodes: Vec<(String, Snapshot)>,
    texts: Vec<Kept>,
    kept: usize,
    remarks: Vec<Remark>,
    taken: Vec<Taken>,
    line: &'a Line,
    /// Bytes of all inputs that have a size; `None` where one has none.
    total: Option<u64>,
    files: usize,
    at: usize,
    done: Cell<u64>,
    buffer: Vec<u8>,
}

/// An input that holds facts about a node.
pub(super) struct Taken {
    pub(super) name: String,
    /// What it was taken for.
    pub(super) kind: String,
    /// Bytes, unpacked; 0 where they were not counted.
    pub(super) bytes: u64,
}

/// What came of it.
pub(super) struct Fed {
    pub(super) taken: Vec<Taken>,
    pub(super) observer: Observer,
    pub(super) nodes: Vec<(String, Snapshot)>,
    pub(super) remarks: Vec<Remark>,
}

/// What was noticed while an input was read.
pub(super) struct Remark {
    /// The input.
    pub(super) name: String,
    pub(super) text: String,
    /// Part of the input was not read.
    pub(super) unread: bool,
}

impl<'a> Feed<'a> {
    pub(super) fn new(line: &'a Line, all: &[Found]) -> Self {
        let sizes = all.iter().map(|f| match f {
            Found::Tree { .. } => Some(0),
            Found::Stream(s) => s.size,
        });
        Feed {
            observer: Observer::default(),
            nodes: Vec::new(),
            texts: Vec::new(),
            kept: 0,
            remarks: Vec::new(),
            taken: Vec::new(),
            line,
            total: sizes.sum(),
            files: all.len(),
            at: 0,
            done: Cell::new(0),
            buffer: vec![0; CHUNK],
        }
    }

    pub(super) fn finish(mut self) -> Fed {
        self.nodes.extend(group(self.texts));
        Fed { taken: self.taken, observer: self.observer, nodes: self.nodes, remarks: self.remarks }
    }

    /// A directory that is a snapshot or a tree.
    pub(super) fn tree(&mut self, path: &Path, name: &str) {
        self.at += 1;
        let line = self.line;
        match linerate_snapshot::load(path, &crate::budget::options(path, Purpose::Audit), &|p| line.capture(p)) {
            Ok(s) => {
                self.take(name, "snapshot", 0);
                self.nodes.push((name.to_owned(), s));
            }
            Err(e) => self.unread(name, e.to_string()),
        }
    }

    /// A file, a pipe, standard input.
    pub(super) fn stream(&mut self, s: &Source) {
        self.at += 1;
        let opened: io::Result<Box<dyn Read>> = match &s.path {
            None => Ok(Box::new(io::stdin().lock())),
            Some(path) => File::open(path).and_then(|f| {
                charge_holes(&f, &crate::budget::budget()).map_err(io::Error::other)?;
                Ok(Box::new(f) as Box<dyn Read>)
            }),
        };
        if let Err(e) = opened.and_then(|from| self.read(s, from)) {
            self.unread(&s.name, format!("it cannot be read: {e}"));
        }
    }

    fn take(&mut self, name: &str, kind: &str, bytes: u64) {
        self.taken.push(Taken { name: name.to_owned(), kind: kind.to_owned(), bytes });
    }

    /// What was cut out of a file.
    fn take_cut(&mut self, s: &Source, cut: doctor_cut::Cut) {
        for what in cut.whats {
            self.take(&s.name, tool(what), 0);
        }
        self.nodes.extend(cut.nodes);
        cut.left_out.into_iter().for_each(|why| self.unread(&s.name, why));
    }

    fn remark(&mut self, name: &str, text: String) {
        self.remarks.push(Remark { name: name.to_owned(), text, unread: false });
    }

    /// As [`Self::remark`], of what was not read.
    fn unread(&mut self, name: &str, text: String) {
        self.remarks.push(Remark { name: name.to_owned(), text, unread: true });
    }

    fn read(&mut self, s: &Source, from: Box<dyn Read>) -> io::Result<()> {
        let done = std::rc::Rc::new(Cell::new(0));
        let counted = Counted { from, done: done.clone() };
        let mut open =
            Open { from: Unpacked::new(counted, &crate::budget::budget())?, bytes: 0, damage: None, progress: done };
        let head = open.head();
        if head.is_empty() {
            match open.damage.take() {
                Some(why) => self.unread(&s.name, why),
                None => self.remark(&s.name, "it is empty".to_owned()),
            }
            return Ok(());
        }
        if is_archive_head(&head) {
            self.archive(s, head, open);
            return Ok(());
        }
        match content(&s.name, &head) {
            Content::Facts(what) => self.facts(s, what, head, &mut open),
            what => self.log(s, what, head, &mut open),
        }
        if let Some(why) = open.damage.take() {
            self.unread(&s.name, why);
        }
        self.done.set(self.done.get() + open.progress.get());
        Ok(())
    }

    /// A tar: a snapshot, a sosreport, a tree.
    fn archive(&mut self, s: &Source, head: Vec<u8>, open: Open<'_>) {
        let loaded = match &s.path {
            // Our own archives are read in one go, from the file.
            Some(path) if s.size.is_some() => {
                drop((head, open));
                linerate_snapshot::load(path, &crate::budget::options(path, Purpose::Audit), &|_| {})
            }
            _ => linerate_snapshot::Reader::within(&crate::budget::budget())
                .read_from(io::Cursor::new(head).chain(open.from), &s.name),
        };
        match loaded {
            Ok(snapshot) => {
                self.take(&s.name, "snapshot", 0);
                self.nodes.push((s.name.clone(), snapshot));
            }
            Err(e) => self.unread(
                &s.name,
                format!("{e}; logs inside an archive are not read: unpack it, and name the directory"),
            ),
        }
    }

    /// A tool's text. It is a log as well where lines of a job or of a kernel stand in it: people paste both into one file.
    fn facts(&mut self, s: &Source, what: &'static str, head: Vec<u8>, open: &mut Open<'_>) {
        let mut bytes = head;
        let mut longer = false;
        while let Some(n) = self.more(s, open) {
            bytes.extend_from_slice(self.buffer.get(..n).unwrap_or_default());
            if bytes.len() > DOCTOR_TEXT {
                longer = true;
                break;
            }
        }
        let pieces = !longer && doctor_cut::has_no_device(what, &bytes);
        if longer || pieces || doctor_cut::is_mixed(&bytes) {
            let mut reader = Reader::new(&mut self.observer, &s.name);
            reader.feed(&mut self.observer, &bytes);
            while let Some(n) = self.more(s, open) {
                reader.feed(&mut self.observer, self.buffer.get(..n).unwrap_or_default());
            }
            reader.finish(&mut self.observer);
        }
        if pieces {
            return;
        }
        if longer {
            let most = DOCTOR_TEXT >> 20;
            self.unread(&s.name, format!("facts were read from its first {most} MiB only (limit DOCTOR_TEXT)"));
        }
        let cut = doctor_cut::nodes(&s.name, &bytes);
        if cut.several {
            self.take_cut(s, cut);
        } else {
            self.keep(s, what, bytes);
        }
    }

    /// A log, or nothing that is known: streamed. What tools printed in between is cut out where the whole of it is small.
    fn log(&mut self, s: &Source, what: Content, head: Vec<u8>, open: &mut Open<'_>) {
        let mut reader = Reader::new(&mut self.observer, &s.name);
        reader.feed(&mut self.observer, &head);
        let large = s.size.is_some_and(|n| n > DOCTOR_TEXT as u64);
        let mut copy = (!large).then_some(head);
        let mut searched = self.observer.searched();
        while let Some(n) = self.more(s, open) {
            let bytes = self.buffer.get(..n).unwrap_or_default();
            reader.feed(&mut self.observer, bytes);
            // What is packed costs no more than a multiple of what lies on the disk.
            let more = self.observer.searched() - searched;
            searched += more;
            if open.from.packing().is_some()
                && let Err(e) = crate::budget::budget().search(more)
            {
                self.unread(&s.name, e.to_string());
                break;
            }
            match &mut copy {
                Some(c) if c.len() + n <= DOCTOR_TEXT => c.extend_from_slice(bytes),
                _ => copy = None,
            }
        }
        reader.finish(&mut self.observer);
        match copy {
            Some(copy) if what == Content::KernelLog => {
                let cut = doctor_cut::nodes(&s.name, &copy);
                if cut.several {
                    self.take_cut(s, cut);
                } else {
                    self.keep(s, "Dmesg", copy);
                }
            }
            Some(copy) => {
                let cut = doctor_cut::nodes(&s.name, &copy);
                self.take_cut(s, cut);
            }
            None if what == Content::KernelLog => self.remark(
                &s.name,
                format!(
                    "longer than {} MiB: searched for failures, not read for facts about the node",
                    DOCTOR_TEXT >> 20
                ),
            ),
            None => {}
        }
    }

    /// Keeps a text for a node.
    fn keep(&mut self, s: &Source, what: &'static str, bytes: Vec<u8>) {
        if self.kept + bytes.len() > DOCTOR_KEPT {
            let most = DOCTOR_KEPT >> 20;
            let why = format!(
                "texts about nodes exceed {most} MiB (limit DOCTOR_KEPT): it was not read for facts about its node"
            );
            return self.unread(&s.name, why);
        }
        self.kept += bytes.len();
        self.take(&s.name, tool(what), bytes.len() as u64);
        let path = s.path.clone().unwrap_or_else(|| PathBuf::from("standard-input.txt"));
        self.texts.push(Kept { path, what, bytes });
    }

    /// The next piece, in the buffer.
    fn more(&mut self, s: &Source, open: &mut Open<'_>) -> Option<usize> {
        let n = open.read(&mut self.buffer);
        let done = self.done.get() + open.progress.get();
        self.line.bytes(done, self.total, &s.name, self.at, self.files);
        n
    }
}

/// The tool whose text it is, as people call it.
fn tool(what: &str) -> &str {
    match what {
        "Lspci" => "lspci",
        "Dmesg" => "kernel log",
        "NvidiaSmiTopo" => "nvidia-smi topo -m",
        "NvidiaSmiP2p" => "nvidia-smi topo -p2p",
        "NvidiaSmiQuery" | "NvidiaSmiXml" => "nvidia-smi -q",
        "MlxconfigText" | "MlxconfigJson" => "mlxconfig",
        "Ibstat" => "ibstat",
        "IbvDevinfo" => "ibv_devinfo",
        "Ibdev2netdev" => "ibdev2netdev",
        "Cmdline" => "kernel command line",
        "RdmaLink" | "RdmaStatistic" | "RdmaSystem" => "rdma",
        "MlnxQos" => "mlnx_qos",
        "EthtoolStats" | "EthtoolPause" => "ethtool",
        "VirshXml" => "libvirt domain",
        "RdmaTopo" | "RdmaTopoCheck" | "RdmaTopoDump" => "rdma_topo",
        "DetectVirt" => "systemd-detect-virt",
        "ModinfoNvidia" => "modinfo",
        "Nvml" => "answers of NVML",
        path => path,
    }
}

/// An input that is being read.
struct Open<'a> {
    from: Unpacked<'a>,
    /// Bytes, unpacked.
    bytes: u64,
    /// Why it ended before its end.
    damage: Option<String>,
    /// Bytes on disk that were read.
    progress: std::rc::Rc<Cell<u64>>,
}

impl Open<'_> {
    /// The next bytes; `None` at the end, whatever that is.
    fn read(&mut self, to: &mut [u8]) -> Option<usize> {
        if self.damage.is_some() {
            return None;
        }
        loop {
            match self.from.read(to) {
                Ok(0) => return None,
                Ok(n) => {
                    self.bytes += n as u64;
                    return Some(n);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    let exceeded = Exceeded::of(&e).map(|e| format!("{e}; the first {} bytes were read", self.bytes));
                    self.damage = Some(exceeded.unwrap_or_else(|| match self.from.packing() {
                        Some(packing) => format!(
                            "its {packing} compression is damaged after {} bytes of text: {e}; what came before was read",
                            self.bytes
                        ),
                        None => format!("reading it failed after {} bytes: {e}; what came before was read", self.bytes),
                    }));
                    return None;
                }
            }
        }
    }

    /// The beginning.
    fn head(&mut self) -> Vec<u8> {
        let mut head = vec![0; HEAD];
        let mut have = 0;
        while have < HEAD
            && let Some(n) = head.get_mut(have..).and_then(|rest| self.read(rest))
        {
            have += n;
        }
        head.truncate(have);
        head
    }
}

/// Counts what is read from disk.
struct Counted {
    from: Box<dyn Read>,
    done: std::rc::Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(buf)?;
        self.done.set(self.done.get() + n as u64);
        Ok(n)
    }
}
