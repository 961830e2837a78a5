//! Every limit on what an input may cost, in one place: what it bounds, its value, and how to raise it.
//!
//! Limits of one tool's own text (so many jobs of fio, so many devices of nvbandwidth) stand in that tool's folder, where the
//! reader that holds them says what was left out. Here stand those that hold for all readers, and those of trees and archives.

use serde::Serialize;
use std::fmt;

/// One limit, for the page that lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// Its name in this module.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
    /// What it bounds.
    pub what: &'static str,
    /// What happens beyond it, and how to have more.
    pub beyond: &'static str,
}

/// What a reader left out of a text because a limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct LeftOut {
    /// The limit.
    pub limit: Limit,
    /// 1-based line of the first thing that was left out.
    pub line: u32,
    /// How many things were left out.
    pub count: u64,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bound { name, value, .. } = self.limit.bound();
        let LeftOut { line, count, .. } = self;
        write!(f, "the limit {name} ({value}) is reached: {count} more left out, from line {line} on")
    }
}

/// What a reader kept of a text that lists things, and what it left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kept<T> {
    /// In the order of their first appearance.
    pub items: Vec<T>,
    /// What is beyond the limits, and not among them.
    pub left_out: Vec<LeftOut>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept { items: Vec::new(), left_out: Vec::new() }
    }
}

/// Counts what is beyond limits, one entry for each limit, in the order in which they were reached.
pub(crate) fn leave_out(list: &mut Vec<LeftOut>, limit: Limit, line: u32) {
    match list.iter_mut().find(|l| l.limit == limit) {
        Some(known) => known.count += 1,
        None => list.push(LeftOut { limit, line, count: 1 }),
    }
}

macro_rules! bounds {
    ($($name:ident: $type:ty = $value:expr, $what:literal, $beyond:literal;)+) => {
        $(#[doc = $what]
        pub const $name: $type = $value;)+
        /// A limit, by its name.
        #[allow(non_camel_case_types)] // Named as its value is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
        pub enum Limit {
            $(#[doc = $what]
            $name,)+
        }
        impl Limit {
            /// Its value, and what it bounds.
            #[must_use]
            pub const fn bound(self) -> Bound {
                match self {
                    $(Limit::$name => Bound { name: stringify!($name), value: $name as u64, what: $what, beyond: $beyond },)+
                }
            }
        }
        /// All of them, in the order of the page.
        pub const ALL: &[Bound] = &[$(Limit::$name.bound()),+];
    };
}

bounds! {
    ALLOWANCE: u64 = 64 << 20, "Bytes that the packed input of one command may always become.", "see RATIO";
    RATIO: u64 = 200, "Bytes that each byte of packed input may become beyond that, over all inputs of a command.", "error, or the rest is left out with a remark; `--max-input`";
    MEMBERS: u64 = 1_000, "Members of bzip2 input, one behind the other, that a command may always have.", "see MEMBER_BYTES";
    MEMBER_BYTES: u64 = 256, "Packed bytes for each member beyond that.", "damaged: unpack it, and name what comes out";
    ARCHIVE: u64 = 4 << 30, "Bytes that one archive may become.", "error; unpack it, and name the directory";
    HELD_ALLOWANCE: u64 = 16 << 20, "Bytes that a packed text which is held as a whole (a benchmark's output) may always become.", "see HELD_RATIO";
    HELD_RATIO: u64 = 16, "Bytes that each packed byte of such a text may become beyond that.", "refused; `--max-input`, or unpack it";
    HELD: u64 = 4 << 30, "Bytes of one plain text that is held as a whole.", "refused; split it";
    COMPARED: usize = 65_536, "Measurements (metric, labels, size) of one comparison.", "the rest is left out, and said";
    KEPT: usize = 64 << 20, "Bytes that a snapshot keeps.", "the rest is left out with a remark";
    FILE: usize = 8 << 20, "Bytes of one file of a snapshot.", "the file counts as not read: too large";
    ENTRIES: usize = 1_000_000, "Entries of an archive, kept or not.", "error; unpack it, and name the directory";
    KEPT_ENTRIES: usize = 200_000, "Entries that a snapshot keeps.", "the rest is left out with a remark";
    PATH_DEPTH: usize = 64, "Names of a path, one below the other.", "the entry is left out";
    LINK_HOPS: u32 = 40, "Links in one walk, as the kernel has it.", "not found";
    TEXTS: usize = 1000, "Texts of one directory.", "the rest is left out with a remark";
    TEXT: u64 = 16 << 20, "Bytes of one text that is read for facts.", "the rest is left out with a remark";
    UNPACK_AT_ONCE: u64 = 64 << 20, "Bytes that are unpacked in one go, where an archive says its size.", "unpacked piece by piece";
    WINDOW_LOG: u32 = 26, "Memory of a zstd window, as a power of two.", "damaged: unpack it, and name what comes out";
    XZ_MEMORY: u64 = 72 << 20, "Memory of an xz decoder.", "damaged: unpack it, and name what comes out";
    MANIFEST_TRIED: usize = 2_000, "Patterns that a manifest says were tried; ours have a few hundred.", "what is missing counts as not collected, with a remark";
    MANIFEST_TREES: usize = 1_000, "Trees that a manifest says could not be read to the end.", "what is missing counts as not collected, with a remark";
    MANIFEST_PATTERN: usize = 4_096, "Bytes of one pattern of a manifest.", "what is missing counts as not collected, with a remark";
    MANIFEST_REMARKS: usize = 1_000, "Remarks that a manifest brings.", "the rest is left out with a remark";
    PCI_FUNCTIONS: usize = 8_192, "PCI functions of a node.", "error; of a text of lspci the rest is left out with a remark";
    GPUS: usize = 1_024, "Accelerators of a node: rules look at each beside each network function.", "error; of a text the rest is left out with a remark";
    NET_FUNCTIONS: usize = 2_048, "Network functions and RDMA devices of a node.", "error; of a text the rest is left out with a remark";
    TEXT_ITEMS: usize = 65_536, "Items in the list that a reader makes of a tool's text or a file of the kernel (modules, ports, counters, parameters).", "the rest is left out with a remark";
    FIRMWARE_DEVICES: usize = 1_024, "Devices of a text of mlxconfig.", "the rest is left out with a remark";
    FIRMWARE_SETTINGS: usize = 16_384, "Settings in a text of mlxconfig.", "the rest is left out with a remark";
    WALK_DEPTH: u32 = 8, "Directories, one in the other, that doctor and bench walk.", "the files are left out; exit code 2 with a remark";
    WALK_FILES: usize = 20_000, "Files that doctor and bench read in directories.", "the rest is left out; exit code 2 with a remark: name fewer directories";
    WALK_ENTRIES: usize = 100_000, "Entries of one directory that doctor and bench look at.", "the rest is left out; exit code 2 with a remark";
    DOCTOR_TEXT: usize = 8 << 20, "Bytes of one text that doctor keeps to read facts about a node. Logs are streamed, without a limit.", "a remark; exit code 2 where facts are missing: `--node`";
    DOCTOR_KEPT: usize = 16 << 20, "Bytes of all such texts.", "the text is not read for facts; exit code 2 with a remark: `--node`";
    DOCTOR_NODES: usize = 1_024, "Nodes that doctor looks at: each is kept whole.", "the rest is left out; exit code 2 with a remark";
    DOCTOR_BLOCKS: usize = 256, "Tools' texts that doctor cuts out of one file.", "the rest is left out; exit code 2 with a remark: one file for each tool";
    DOCTOR_BLOCK_NODES: usize = 8, "Nodes that the tools' texts of one file make.", "the rest is left out; exit code 2 with a remark: one file for each node";
    ENV_SETTINGS: usize = 4_096, "Settings of one input of `env check`.", "the rest is left out; exit code 2 with a note";
    ENV_ELSEWHERE: usize = 64, "Objects of one input of `env check` that hold more settings (ConfigMap, Secret).", "the rest is not named; exit code 2 with a note";
    ENV_VALUE: usize = 4_096, "Bytes of a value of a setting; NCCL's own reader of nccl.conf keeps 1023.", "the value is cut; exit code 2 with a note";
    ENV_LOG_LINE: usize = 64 << 10, "Bytes of a line of a log that `env check` holds while its end has not come.", "the rest of the line is left out; exit code 2 with a note";
    ENV_LOG_SAID: usize = 8 << 10, "Bytes of a line of a log behind the words that say a setting.", "the value is cut, as by ENV_VALUE, which is less";
    ENV_DEPTH: usize = 6, "Commands of a script, one in the other by `$(…)`, that `env check` looks into.", "the inner commands are left out; exit code 2 with a note";
    XML_BYTES: usize = 16 << 20, "Bytes of a topology.", "error";
    XML_ELEMENTS: usize = 100_000, "Elements of a topology.", "error with the line";
    XML_ATTRIBUTES: usize = 256, "Attributes of one element of a topology; NCCL keeps 16.", "error with the line";
    XML_DEPTH: usize = 256, "Elements of a topology, one in the other.", "error with the line";
}
