//! Every limit on what an input may cost, in one place: what it bounds, its value, and how to raise it.
//!
//! Limits of one tool's own text (so many jobs of fio, so many devices of nvbandwidth) stand in that tool's folder, where the
//! reader that holds them says what was left out. Here stand those that hold for all readers, and those of trees and archives.

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

macro_rules! bounds {
    ($($name:ident: $type:ty = $value:expr, $what:literal, $beyond:literal;)+) => {
        $(#[doc = $what]
        pub const $name: $type = $value;)+
        /// All of them, in the order of the page.
        pub const ALL: &[Bound] =
            &[$(Bound { name: stringify!($name), value: $name as u64, what: $what, beyond: $beyond }),+];
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
    TEXTS: usize = 1000, "Texts of one directory.", "the rest is left out";
    TEXT: u64 = 16 << 20, "Bytes of one text that is read for facts.", "the rest is left out with a remark";
    UNPACK_AT_ONCE: u64 = 64 << 20, "Bytes that are unpacked in one go, where an archive says its size.", "unpacked piece by piece";
    WINDOW_LOG: u32 = 26, "Memory of a zstd window, as a power of two.", "damaged: unpack it, and name what comes out";
    XZ_MEMORY: u64 = 72 << 20, "Memory of an xz decoder.", "damaged: unpack it, and name what comes out";
    MANIFEST_TRIED: usize = 2_000, "Patterns that a manifest says were tried; ours have a few hundred.", "what is missing counts as not collected, with a remark";
    MANIFEST_TREES: usize = 1_000, "Trees that a manifest says could not be read to the end.", "what is missing counts as not collected, with a remark";
    MANIFEST_PATTERN: usize = 4_096, "Bytes of one pattern of a manifest.", "what is missing counts as not collected, with a remark";
    MANIFEST_REMARKS: usize = 1_000, "Remarks that a manifest brings.", "the rest is left out";
    PCI_FUNCTIONS: usize = 8_192, "PCI functions of a node.", "error; of a text of lspci the rest is left out";
    GPUS: usize = 1_024, "Accelerators of a node: rules look at each beside each network function.", "error; of a text the rest is left out";
    NET_FUNCTIONS: usize = 2_048, "Network functions and RDMA devices of a node.", "error; of a text the rest is left out";
    FIRMWARE_DEVICES: usize = 1_024, "Devices of a text of mlxconfig.", "the rest is left out";
    FIRMWARE_SETTINGS: usize = 16_384, "Settings in a text of mlxconfig.", "the rest is left out";
    FIXES: usize = 2_048, "Fixes of one plan.", "the rest is refused; apply, and plan again";
    SIMULATIONS: usize = 1_000, "Simulations of one plan until one is found that makes nothing worse.", "no fix is planned; name fewer rules by `--fix`";
    SIMULATED_ENTRIES: usize = 4_000_000, "Entries of the node, times simulations of one plan; four simulations are always made.", "see SIMULATIONS";
    XML_BYTES: usize = 16 << 20, "Bytes of a topology.", "error";
    XML_ELEMENTS: usize = 100_000, "Elements of a topology.", "error with the line";
    XML_ATTRIBUTES: usize = 256, "Attributes of one element of a topology; NCCL keeps 16.", "error with the line";
    XML_DEPTH: usize = 256, "Elements of a topology, one in the other.", "error with the line";
}
