//! Every limit on what an input may cost, in one place: what it bounds, its value, and how to raise it.
//!
//! What is beyond a limit is an error or a remark, never silence: a reader counts it as [`LeftOut`], and whoever shows what was read shows
//! that, too. Not here: what a line of a tool's own grammar is (so many tags, so long a date), which leaves nothing out.

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

/// How many things are beyond a limit.
#[must_use]
pub fn beyond(list: &[LeftOut], limit: Limit) -> u64 {
    list.iter().filter(|l| l.limit == limit).map(|l| l.count).sum()
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
            /// Its value.
            #[must_use]
            pub const fn value(self) -> u64 {
                match self {
                    $(Limit::$name => $name as u64,)+
                }
            }

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
    SEARCHED: u64 = 8, "Times that a byte of a packed log counts whose line is searched for all that programs print: it has a word of some program, sets a variable of NCCL, or has a tag that is not known before its message.", "see RATIO";
    MEMBERS: u64 = 1_000, "Members of bzip2 input, one behind the other, that a command may always have.", "see MEMBER_BYTES";
    MEMBER_BYTES: u64 = 256, "Packed bytes for each member beyond that.", "damaged: unpack it, and name what comes out";
    ARCHIVE: u64 = 4 << 30, "Bytes that one archive may become.", "error; unpack it, and name the directory";
    ARCHIVES_DEEP: usize = 3, "Archives that may lie one in the other below the outermost.", "what lies deeper counts as a node that was not read";
    SOURCES_WALKED: usize = 1_000_000, "Entries of a directory that are looked at for nodes.", "the rest is left out, and said; name directories below it";
    HELD_ALLOWANCE: u64 = 8 << 20, "Bytes that a packed text which is held as a whole (a benchmark's output, a topology, a list of nodes) may always become.", "see HELD_RATIO";
    HELD_RATIO: u64 = 10, "Bytes that each packed byte of such a text may become beyond that.", "refused; `--max-input`, or unpack it";
    HELD: u64 = 4 << 30, "Bytes of one plain text that is held as a whole.", "refused; split it";
    COMPARED: usize = 65_536, "Measurements (metric, labels, size) of one comparison.", "the rest is left out, and said";
    KEPT: usize = 64 << 20, "Bytes that a snapshot keeps.", "the rest is left out with a remark";
    FILE: usize = 8 << 20, "Bytes of one file of a snapshot.", "the file counts as not read: too large";
    ENTRIES: usize = 1_000_000, "Entries of an archive, kept or not.", "error; unpack it, and name the directory";
    KEPT_ENTRIES: usize = 200_000, "Entries that a snapshot keeps.", "the rest is left out with a remark";
    FLEET_SNAPSHOT: usize = 64 << 20, "Bytes that one node of `collect --on` may send.", "the node counts as failed: endless";
    FLEET_UNPACKED: u64 = 64 << 20, "Bytes that the snapshot of one such node may unpack to.", "the node counts as failed: garbage";
    FLEET_NOISE: usize = 64 << 10, "Bytes that the shell of such a node may print before its answer.", "the node counts as failed: garbage";
    PATH_DEPTH: usize = 64, "Names of a path, one below the other.", "the entry is left out";
    LINK_HOPS: u32 = 40, "Links in one walk, as the kernel has it.", "not found";
    TEXTS: usize = 1000, "Texts of one directory.", "the rest is left out with a remark";
    TEXT: u64 = 16 << 20, "Bytes of one text that is read for facts.", "the rest is left out with a remark";
    UNPACK_AT_ONCE: u64 = 64 << 20, "Bytes that are unpacked in one go, where an archive says its size.", "unpacked piece by piece";
    WINDOW_LOG: u32 = 26, "Memory of a zstd window, as a power of two.", "damaged: unpack it, and name what comes out";
    XZ_MEMORY: u64 = 72 << 20, "Memory of an xz decoder.", "damaged: unpack it, and name what comes out";
    MANIFEST_TRIED: usize = 2_000, "Patterns that a manifest says were tried; linerate writes a few hundred.", "what is missing counts as not collected, with a remark";
    MANIFEST_TREES: usize = 1_000, "Trees that a manifest says could not be read to the end.", "what is missing counts as not collected, with a remark";
    MANIFEST_PATTERN: usize = 4_096, "Bytes of one pattern of a manifest.", "what is missing counts as not collected, with a remark";
    MANIFEST_REMARKS: usize = 1_000, "Remarks that a manifest brings.", "the rest is left out with a remark";
    PCI_FUNCTIONS: usize = 8_192, "PCI functions of a node.", "error; of a text of lspci the rest is left out with a remark";
    GPUS: usize = 1_024, "Accelerators of a node: rules look at each beside each network function.", "error; of a text the rest is left out with a remark";
    NET_FUNCTIONS: usize = 2_048, "Network functions and RDMA devices of a node.", "error; of a text the rest is left out with a remark";
    PROFILE_FACTS: usize = 131_072, "Facts of a node that are compared with another node's; a node of 8 GPUs has some 20,000.", "the rest is left out with a remark, and the answer is 2 at best";
    PROFILE_WORDS: usize = 4_096, "Words of one list of a node that are compared one by one: kernel arguments, modules.", "the rest is left out with a remark, and the answer is 2 at best";
    INDEX_GROUP_NODES: usize = 512, "Snapshots in one row group of a fleet's index.", "the next ones make another group";
    INDEX_GROUP_ROWS: usize = 1 << 24, "Rows of one row group of a fleet's index that is read; a quarter of it is written.", "error; `fleet index --rebuild`";
    INDEX_PAGE_ROWS: u32 = 1 << 16, "Rows in one page of a fleet's index.", "the next ones make another page";
    INDEX_PAGE: usize = 256 << 20, "Bytes that one page of a fleet's index may become.", "error; `fleet index --rebuild`";
    INDEX_FOOTER: u64 = 64 << 20, "Bytes of the list of row groups at the end of a fleet's index.", "error; `fleet index --rebuild`";
    AUDIT_SETS: usize = 65_536, "Sets of nodes of one audit of many: one for each rule, severity and position.", "a further subject of a rule is one of its `other subjects`";
    AUDIT_NAME: usize = 200, "Characters of the name of a subject, where an audit of many nodes puts them together.", "the rest of it is left out; the finding itself has all of it";
    REDACTED_NAMES: usize = 4_000_000, "Hashes of which the file of a redaction key lists what they stand for.", "hashed all the same, but `redact reveal` does not know them";
    POLICY_BYTES: usize = 8 << 20, "Bytes of a policy; TOML is nested 80 deep at most.", "error: split the policy";
    POLICY_ROWS: usize = 65_536, "Expected facts of a policy.", "error with the line: split the policy";
    POLICY_CLASSES: usize = 1_024, "Classes of hardware of a policy.", "error with the line: split the policy";
    POLICY_CONDITIONS: usize = 256, "Conditions in CEL of one class of a policy.", "error with the line";
    POLICY_TESTS: usize = 4_096, "Tests of a policy.", "error with the line";
    POLICY_ANSWERS: usize = 1 << 20, "Answers of a policy about one node: expectations, times the devices that they are about.", "the rest is left out, and the answer is 2 at best";
    CONDITION_BYTES: usize = 2_048, "Bytes of a condition in CEL.", "error with the line: make several conditions of it";
    CONDITION_DEPTH: u16 = 48, "Parts of a condition in CEL, one in the other.", "error with the line: make several conditions of it";
    CONDITION_LOOPS: usize = 4, "Loops of a condition in CEL.", "error with the line: make several conditions of it";
    CONDITION_NESTED: usize = 2, "Loops of a condition in CEL, one in the other.", "error with the line: make several conditions of it";
    CONDITION_STEPS: u64 = 20_000_000, "Steps of a condition in CEL on one node, counted before it is evaluated; a second has some five million.", "the answer is unknown, with the reason";
    SEATS: usize = 16_384, "Devices of a layout: that of a node in an index.", "the rest is left out";
    TEXT_ITEMS: usize = 65_536, "Items in the list that a reader makes of a tool's text or a file of the kernel (modules, ports, counters, parameters).", "the rest is left out with a remark";
    FIRMWARE_DEVICES: usize = 1_024, "Devices of a text of mlxconfig.", "the rest is left out with a remark";
    FIRMWARE_SETTINGS: usize = 16_384, "Settings in a text of mlxconfig.", "the rest is left out with a remark";
    REFUSALS: usize = 32, "Lines of one run of a benchmark that look like a measurement but are not one; each is shown with its reason.", "the others are counted; `bench import` ends with 2";
    BENCH_ROWS: usize = 65_536, "Rows of one run of a benchmark that prints a row for each size, and has no limit of its own.", "the rest is counted and left out; `bench import` ends with 2";
    BENCH_RUNS: usize = 4_096, "Runs of such a benchmark in one text.", "the rest is counted and left out; `bench import` ends with 2";
    NCCL_TESTS_ROWS: usize = if cfg!(test) { 8192 } else { 1 << 22 }, "Rows of one run of nccl-tests; the largest sweep has a few thousand, a run without end (-N 0) prints one size again and again.", "the rest is counted and left out; `bench import` ends with 2";
    NCCL_TESTS_RANKS: usize = 65_536, "Participants of one run of nccl-tests, and settings in its JSON, each.", "the rest is counted and left out; `bench import` ends with 2";
    TRAIN_STEPS: usize = 65_536, "Steps of one training in a log, for the doctor.", "the rest is left out, and counted";
    TRAIN_RUNS: usize = 16, "Trainings of one log, for the doctor.", "later ones are not looked at";
    RAS_REPORTS: usize = 1_024, "Reports of NCCL's RAS in one text.", "the rest is left out, and counted";
    RAS_KEPT: usize = 8_192, "Groups, communicators, processes, ranks and numbers that one report of NCCL's RAS names.", "the rest is left out, and counted with the limits of doctor's answer";
    RAS_RANKS: usize = 65_536, "Ranks of one communicator in the JSON of NCCL's RAS.", "the rest is left out, and counted with the limits of doctor's answer";
    NCCL_TESTS_SETTINGS: usize = 512, "Settings of one run of nccl-tests that a command line or NCCL's log around it shows.", "the rest is counted and left out; `bench import` ends with 2";
    NCCL_TESTS_OPTIONS: usize = 16, "Further lines of the head of one run of nccl-tests that say how was measured.", "the rest is counted and left out; `bench import` ends with 2";
    NCCL_TESTS_FAILURES: usize = 256, "Failures of one run of nccl-tests; with thousands of ranks the first few show the cause.", "the rest is counted and left out; `bench import` ends with 2";
    NCCL_TESTS_RUNS: usize = 1 << 15, "Runs of nccl-tests in one text.", "the rest is counted and left out; `bench import` ends with 2";
    PING_REPLIES: usize = 262_144, "Replies of one run of ping.", "the rest is counted and left out; `bench import` ends with 2";
    PING_SAID: usize = 256, "Errors, remarks and failures of one run of ping, each.", "the rest is counted and left out; `bench import` ends with 2";
    PING_RUNS: usize = 4_096, "Runs of ping in one text.", "the rest is counted and left out; `bench import` ends with 2";
    SOCKPERF_SERVERS: usize = 1_024, "Servers of one run of sockperf, and peers of it.", "the rest is counted and left out; `bench import` ends with 2";
    SOCKPERF_PERCENTILES: usize = 64, "Percentiles of one server of sockperf.", "the rest is counted and left out; `bench import` ends with 2";
    SOCKPERF_SAID: usize = 64, "Remarks and failures of one run of sockperf, each.", "the rest is counted and left out; `bench import` ends with 2";
    SOCKPERF_RUNS: usize = 4_096, "Runs of sockperf in one text.", "the rest is counted and left out; `bench import` ends with 2";
    FIO_JOBS: usize = 65_536, "Jobs of one run of fio, definitions of jobs, and sums of groups, each.", "the rest is counted and left out; `bench import` ends with 2";
    FIO_OPTIONS: usize = 256, "Options of one job of fio, in JSON.", "the rest is counted and left out; `bench import` ends with 2";
    FIO_PERCENTILES: usize = 64, "Percentiles of one latency of fio.", "the rest is counted and left out; `bench import` ends with 2";
    FIO_SAID: usize = 64, "Remarks and failures of one run of fio, each.", "the rest is counted and left out; `bench import` ends with 2";
    FIO_RUNS: usize = 4_096, "Runs of fio in one text.", "the rest is counted and left out; `bench import` ends with 2";
    IPERF_ROWS: usize = 262_144, "Rows of one run of iperf; an hour of ten streams, one row each second, has 40,000.", "the rest is counted and left out; `bench import` ends with 2";
    IPERF_CONNECTIONS: usize = 1_024, "Connections of one run of iperf.", "the rest is counted and left out; `bench import` ends with 2";
    IPERF_SAID: usize = 64, "Remarks and failures of one run of iperf, each.", "the rest is counted and left out; `bench import` ends with 2";
    IPERF_RUNS: usize = 4_096, "Runs of iperf in one text.", "the rest is counted and left out; `bench import` ends with 2";
    NVBANDWIDTH_TESTS: usize = 65_536, "Tests of one run of nvbandwidth.", "the rest is counted and left out; `bench import` ends with 2";
    NVBANDWIDTH_DEVICES: usize = 4_096, "GPUs of one run of nvbandwidth.", "the rest is counted and left out; `bench import` ends with 2";
    NVBANDWIDTH_CELLS: usize = 1 << 17, "Cells of all matrices of nvbandwidth in one text: each becomes a series of its own.", "the sum of a matrix beyond it is kept, its cells are counted and left out; `bench import` ends with 2";
    NVBANDWIDTH_SAID: usize = 256, "Remarks and failures of one run of nvbandwidth, each.", "the rest is counted and left out; `bench import` ends with 2";
    NVBANDWIDTH_RUNS: usize = 1 << 15, "Runs of nvbandwidth in one text.", "the rest is counted and left out; `bench import` ends with 2";
    PERFTEST_ROWS: usize = if cfg!(test) { 8192 } else { 1 << 20 }, "Rows of one run of perftest; a sweep has 23, a run without end one each five seconds.", "the rest is counted and left out; `bench import` ends with 2";
    PERFTEST_ADDRESSES: usize = 256, "Ends of connections of one run of perftest.", "the rest is counted and left out; `bench import` ends with 2";
    PERFTEST_NOTES: usize = 64, "Remarks of one run of perftest.", "the rest is counted and left out; `bench import` ends with 2";
    PERFTEST_FAILURES: usize = 64, "Failures of one run of perftest.", "the rest is counted and left out; `bench import` ends with 2";
    PERFTEST_RUNS: usize = 1 << 15, "Runs of perftest in one text.", "the rest is counted and left out; `bench import` ends with 2";
    TORCHTITAN_STEPS: usize = 1 << 22, "Steps of all ranks in one log of TorchTitan.", "the rest is counted and left out; `bench import` ends with 2";
    TORCHTITAN_RANKS: usize = 16_384, "Ranks of one run of TorchTitan.", "the rest is counted and left out; `bench import` ends with 2";
    TORCHTITAN_COPIES: usize = 1_024, "Ranks of TorchTitan whose tags are the same, or that have none: each line looks at all of them.", "the rest is counted and left out; `bench import` ends with 2";
    TORCHTITAN_FAILURES: usize = 256, "Failures of one run of TorchTitan.", "the rest is counted and left out; `bench import` ends with 2";
    TORCHTITAN_RUNS: usize = 1 << 15, "Runs of TorchTitan in one text.", "the rest is counted and left out; `bench import` ends with 2";
    SERIES_COLUMNS: usize = 1_024, "Columns of a table of measurements. There are no more cells than the text has bytes, or 65,536.", "the rest is counted and left out; `bench import` ends with 2";
    SERIES_ROWS: usize = 1 << 25, "Rows of a table of measurements. There are no more cells than the text has bytes, or 65,536.", "the rest is counted and left out; `bench import` ends with 2";
    SERIES_TABLES: usize = 4_096, "Tables of measurements in one text.", "the rest is counted and left out; `bench import` ends with 2";
    SERIES_REFUSED: usize = 64, "Cells and rows of a table of measurements that are refused one by one, and its notes.", "the others are counted; `bench import` ends with 2";
    SERIES_TEXT: usize = 200, "Characters of a name or label in a table of measurements.", "the rest of it is left out; a note of the run counts them";
    SERIES_RECORD: usize = 256, "Lines of one quoted record of a table of measurements.", "refused as a quote that is not closed, with its line";
    SERIES_DEPTH: usize = 4, "Objects of JSON measurements, one in the other.", "the rest is counted and left out; `bench import` ends with 2";
    IPERF_STREAMS: usize = 1_024, "Streams of one test of iperf 2 in lines between commas.", "lines of more are another test";
    BENCH_LINE: usize = 64 << 10, "Bytes of a line of nccl-tests, perftest, nvbandwidth, of fio's terse form; no line of these tools is as long.", "passed over; JSON has BENCH_JSON";
    BENCH_SHORT_LINE: usize = 4_096, "Bytes of a line of iperf, sockperf, ping and fio's text; no line of these tools is as long.", "passed over";
    BENCH_LOG_LINE: usize = 16 << 10, "Bytes of a line of TorchTitan; its own lines are shorter.", "read to there";
    BENCH_JSON: usize = 64 << 20, "Bytes of one JSON document of nccl-tests or nvbandwidth among other lines.", "refused as cut, with its line";
    WALK_DEPTH: u32 = 8, "Directories, one in the other, that doctor and bench walk.", "the files are left out; exit code 2 with a remark";
    WALK_FILES: usize = 20_000, "Files that doctor and bench read in directories.", "the rest is left out; exit code 2 with a remark: name fewer directories";
    WALK_ENTRIES: usize = 100_000, "Entries of one directory that doctor and bench look at.", "the rest is left out; exit code 2 with a remark";
    DUMP_FILES: usize = 20_000, "Files that one text shows with their paths.", "the rest is counted and left out with a remark";
    DOCTOR_TEXT: usize = 8 << 20, "Bytes of one text that doctor keeps to read facts about a node. Logs are streamed, without a limit.", "a remark; exit code 2 where facts are missing: `--node`";
    DOCTOR_LINE: usize = 2 << 20, "Bytes of a line of a text that tools' texts are cut out of.", "its beginning is read; a remark";
    DOCTOR_KEPT: usize = 16 << 20, "Bytes of all such texts.", "the text is not read for facts; exit code 2 with a remark: `--node`";
    DOCTOR_NODES: usize = 1_024, "Nodes that doctor looks at: each is kept whole.", "the rest is left out; exit code 2 with a remark";
    DOCTOR_BLOCKS: usize = 256, "Tools' texts that doctor cuts out of one file.", "the rest is left out; exit code 2 with a remark: one file for each tool";
    DOCTOR_FRAGMENTS: usize = 16 << 20, "Bytes of one file, below no command line, that are asked whose text they are.", "behind them only lines of lspci, ibv_devinfo, topo -m and the kernel are found; a remark";
    DOCTOR_BLOCK_NODES: usize = 64, "Nodes that the tools' texts of one file make.", "the rest is left out; exit code 2 with a remark: one file for each node";
    ENV_SETTINGS: usize = 4_096, "Settings of one input of `env check`.", "the rest is left out; exit code 2 with a note";
    ENV_ELSEWHERE: usize = 64, "Objects of one input of `env check` that hold more settings (ConfigMap, Secret).", "the rest is not named; exit code 2 with a note";
    ENV_VALUE: usize = 4_096, "Bytes of a value of a setting; NCCL's own reader of nccl.conf keeps 1023.", "the value is cut; exit code 2 with a note";
    ENV_LOG_LINE: usize = 64 << 10, "Bytes of a line of a log that `env check` holds while its end has not come.", "the rest of the line is left out; exit code 2 with a note";
    ENV_LOG_SAID: usize = 8 << 10, "Bytes of a line of a log behind the words that say a setting.", "the value is cut, as by ENV_VALUE, which is less";
    ENV_WORDS: usize = 16_384, "Words of one command of a script that `env check` holds.", "the rest of the command is left out; exit code 2 with a note";
    ENV_DEPTH: usize = 6, "Commands of a script, one in the other by `$(…)`, that `env check` looks into.", "the inner commands are left out; exit code 2 with a note";
    NODESET_TEXT: usize = 4 << 20, "Bytes of a set of nodes as text (`gpu[001-128]`), of a group's as well.", "refused";
    NODESET_NODES: usize = 1 << 18, "Names that a set of nodes comes to while it is read, before anything is taken off.", "refused: narrower ranges";
    NODESET_WORK: usize = 1 << 28, "Bytes of all groups that one set of nodes names, and names compared with its wildcards.", "refused: fewer groups, fewer wildcards";
    NODESET_GROUP_DEPTH: usize = 16, "Groups of nodes, one in the other.", "refused as groups in a circle";
    NODESET_FOLD: usize = 1 << 26, "Comparisons to fold names with several numbers (`rack1node2`); a few thousand that have no order need so many.", "the set is written with more parts than it needs";
    INVENTORY_FILE: usize = 16 << 20, "Bytes of a file with names of nodes (`linerate.toml`, ssh config, groups, genders, hosts).", "refused; a file that is only included is left out with a remark";
    INVENTORY_FILES: usize = 256, "Files with names of nodes that other files name, and entries that are looked at for them.", "the rest is left out with a remark";
    INVENTORY_DEPTH: usize = 16, "Files with names of nodes, one named by the other.", "the inner ones are left out with a remark";
    INVENTORY_ANSWER: usize = 512 << 20, "Bytes of what sinfo or kubectl say of all nodes.", "refused";
    INVENTORY_NODES: usize = 1 << 17, "Nodes of one source.", "the rest is left out with a remark";
    INVENTORY_GROUPS: usize = 1 << 16, "Groups of one source.", "the rest is left out with a remark";
    INVENTORY_MEMBERS: usize = 1 << 21, "Nodes of all groups together.", "the groups beyond are not listed, with a remark; a set may still name them";
    INVENTORY_SETS: usize = 64 << 20, "Bytes of the sets of all groups of one source.", "the rest is left out with a remark";
    INVENTORY_NAME: usize = 255, "Bytes of a node's name.", "left out with a remark";
    INVENTORY_REMARKS: usize = 256, "Remarks about sources of names.", "the others are counted";
    CONFIG_POOLS: usize = 512, "Pools of machine configurations in one text.", "the rest is left out with a remark";
    JOB_SCRIPTS: usize = 256, "Batch scripts in one text.", "the rest is left out with a remark";
    JOB_STEPS: usize = 256, "Commands of a batch script that start ranks, and limits of memory that it sets.", "the rest is left out with a remark";
    CLUSTER_NODES: usize = 1 << 17, "Nodes in one text of kubectl or scontrol.", "the rest is left out with a remark";
    FIXES: usize = 2_048, "Fixes of one plan.", "the rest is refused; apply, and plan again";
    SIMULATIONS: usize = 1_000, "Simulations of one plan until one is found that makes nothing worse.", "no fix is planned; name fewer rules by `--fix`";
    SIMULATED_ENTRIES: usize = 4_000_000, "Entries of the node, times simulations of one plan; four simulations are always made.", "see SIMULATIONS";
    SIMULATED_BYTES: usize = 512 << 20, "Bytes of the node's files, times simulations of one plan; four simulations are always made.", "see SIMULATIONS";
    DIFF_PIECES: usize = 20_000, "Lines or words of a text that are compared one by one between two snapshots.", "the text is compared as a whole";
    DIFF_PARTS: usize = 1 << 16, "Differences between two snapshots, before texts are compared as wholes only.", "a further text that differs is one difference";
    XML_BYTES: usize = 16 << 20, "Bytes of a topology, or of a domain of libvirt.", "error";
    XML_ELEMENTS: usize = 100_000, "Elements of a topology.", "error with the line";
    XML_ATTRIBUTES: usize = 256, "Attributes of one element of an XML document; NCCL keeps 16.", "error with the line";
    XML_NODES: usize = 2_000_000, "Elements and texts of a tool's XML: `nvidia-smi -q -x` of 8 GPUs with MIG has about 20,000.", "error with the line";
    XML_DEPTH: usize = 256, "Elements of a topology, one in the other.", "error with the line";
}
