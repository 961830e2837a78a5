//! The lines of the text form.

use super::report::{Errors, Group, Member, Status, Totals};
use smol_str::SmolStr;

/// The longest line that is read. RAS cuts its lists at 1,024 bytes.
pub(super) const MAX: usize = 2048;

/// What a line says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said<'a> {
    /// `NCCL version 2.27.3 compiled with CUDA 12.9`.
    Version(&'a str),
    /// `CUDA runtime version 12090, driver version 12040`.
    Cuda(u32, u32),
    /// `Job summary`.
    Summary,
    /// The head of a table of the job, of which the next row is the totals.
    Columns(Columns),
    /// A row of numbers.
    Numbers(Vec<u32>),
    /// `Communicators... (0.01s)`; cut, it has no time.
    Gathering(Option<f64>),
    /// The head of the table of communicators.
    Table,
    /// Its second line.
    TableUnits,
    Row(Group),
    NoData,
    Errors,
    Warnings,
    Block(Block),
    MissingProcesses(u32),
    DeadProcesses(u32),
    Process(Member),
    Communicator(u32, u32, u64, Errors),
    MissingRanks(u32),
    /// `The missing ranks: 1,2`, `The unknown ranks: 1,2` of 2.24 and 2.25.
    RankList(bool, Vec<u32>),
    StatusDiffers,
    CallsDiffer(Option<&'a str>),
    Ranks(u32, About<'a>),
    Rank(Member, Option<About<'a>>),
    /// Initialization, or asynchronous.
    ErrorsOf(bool),
    Timeouts(u32),
    /// An event of the monitor mode: its name, and the process that it is about.
    Event(&'a str, Option<Member>),
    /// A line without meaning of its own: underlines, nodes with another number of processes.
    Nothing,
}

/// What is said of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About<'a> {
    Status(Status),
    Launched(u64),
    Reported(&'a str),
}

/// Which columns the job's table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    /// Not the totals.
    Names,
    /// Nodes, processes per node, GPUs per process, processes, GPUs.
    Five,
    /// Nodes, processes, GPUs.
    Totals,
    /// Nodes or processes by a number that differs.
    Parts,
}

/// Headings of what is not about one communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    Incomplete,
    Dead,
    Timeout,
}

/// Whether no other program prints this line.
pub(super) fn is_own(line: &str) -> bool {
    read(line.trim()).is_some_and(|s| opens(&s) && s != Said::Columns(Columns::Five))
}

/// Whether a report may begin with it, where its beginning was cut.
pub(super) fn opens(said: &Said<'_>) -> bool {
    matches!(
        said,
        Said::Version(_)
            | Said::Cuda(..)
            | Said::Gathering(_)
            | Said::Table
            | Said::MissingProcesses(_)
            | Said::DeadProcesses(_)
            | Said::MissingRanks(_)
            | Said::Communicator(..)
            | Said::Columns(Columns::Five)
    ) || matches!(said, Said::Event(_, Some(m)) if m.pid.is_some())
}

/// Reads a line without the spaces around it.
pub(super) fn read(line: &str) -> Option<Said<'_>> {
    let first = *line.as_bytes().first()?;
    if line.len() > MAX {
        return None;
    }
    match first {
        b'0'..=b'9' => numbered(line),
        b'#' => communicator(line),
        b'=' => (line.len() > 5 && line.bytes().all(|b| b == b'=')).then_some(Said::Nothing),
        b'[' => bracket(line),
        b'R' => rank(line),
        b'N' | b'P' => nodes(line).or_else(|| process(line).map(Said::Process)),
        b'(' | b'p' => units(line),
        _ => words(line),
    }
}

fn words(line: &str) -> Option<Said<'_>> {
    match line {
        "Job summary" => return Some(Said::Summary),
        "Errors" => return Some(Said::Errors),
        "Warnings" => return Some(Said::Warnings),
        "INCOMPLETE" => return Some(Said::Block(Block::Incomplete)),
        "DEAD" => return Some(Said::Block(Block::Dead)),
        "TIMEOUT" => return Some(Said::Block(Block::Timeout)),
        "Communicator ranks have different status" => return Some(Said::StatusDiffers),
        "Communicators..." => return Some(Said::Gathering(None)),
        _ => {}
    }
    if let Some(rest) = line.strip_prefix("CUDA runtime version ") {
        let (runtime, driver) = rest.split_once(", driver version ")?;
        return Some(Said::Cuda(version(runtime)?, version(driver)?));
    }
    if let Some(rest) = line.strip_prefix("Communicators... (") {
        return Some(Said::Gathering(Some(rest.strip_suffix("s)")?.parse().ok().filter(|s: &f64| s.is_finite())?)));
    }
    if let Some(rest) = line.strip_prefix("Communicator ranks have different ") {
        let operation = rest.strip_suffix(" operation counts").filter(|o| is_name(o))?;
        return Some(Said::CallsDiffer((operation != "collective").then_some(operation)));
    }
    if let Some(rest) = line.strip_prefix("Missing communicator data from ") {
        let (count, what) = leading(rest)?;
        return match what {
            " job process" | " job processes" => Some(Said::MissingProcesses(count)),
            " rank" | " ranks" => Some(Said::MissingRanks(count)),
            _ => None,
        };
    }
    if let Some(rest) = line.strip_prefix("Encountered ") {
        let (count, rest) = leading(rest)?;
        let is = rest.strip_prefix(" communication timeout").map(|r| r.strip_prefix('s').unwrap_or(r));
        return (is? == " while gathering communicator data").then_some(Said::Timeouts(count));
    }
    for (head, is_missing) in [("The missing rank", true), ("The unknown rank", false)] {
        if let Some(rest) = line.strip_prefix(head) {
            let list = rest.strip_prefix('s').unwrap_or(rest).strip_prefix(": ")?;
            return Some(Said::RankList(is_missing, list.split(',').map(|n| n.parse().ok()).collect::<Option<_>>()?));
        }
    }
    for (head, is_initialization) in [("Initialization error", true), ("Asynchronous error", false)] {
        if let Some(rest) = line.strip_prefix(head) {
            let (_, rest) = leading(rest.strip_prefix('s').unwrap_or(rest).strip_prefix(" on ")?)?;
            return matches!(rest, " rank" | " ranks").then_some(Said::ErrorsOf(is_initialization));
        }
    }
    if line.starts_with("Group ") {
        let names = ["Group", "Comms", "Nodes", "Ranks", "Ranks", "Ranks", "Status", "Errors"];
        return line.split_whitespace().eq(names).then_some(Said::Table);
    }
    matches!(line, "The outlier node:" | "The outlier nodes:").then_some(Said::Nothing)
}

/// The heads of the job's tables, and the nodes with another number of processes. The processes that 2.24 to 2.30 list there are the first ones of the job,
/// not always those of the node: they are not kept.
fn nodes(line: &str) -> Option<Said<'_>> {
    if let Some(rest) = line.strip_prefix("NCCL version ") {
        let (release, cuda) = rest.split_once(" compiled with CUDA ")?;
        return (is_release(release) && is_release(cuda)).then_some(Said::Version(release));
    }
    if let Some(rest) = line.strip_prefix("Node ") {
        let (node, rest) = rest.split_once(' ')?;
        let is = rest.starts_with("running process ") || rest.starts_with("running processes ");
        return (is && is_node(node)).then_some(Said::Nothing);
    }
    if line == "No communicator data collected!" {
        return Some(Said::NoData);
    }
    let names: Vec<&str> = line.split_whitespace().take(6).collect();
    match names.as_slice() {
        ["Nodes", "Processes", "GPUs", "Processes", "GPUs"] => Some(Said::Columns(Columns::Five)),
        ["Nodes", "Processes"] | ["Nodes", "Processes", "GPUs"] | ["Processes", "GPUs"] => {
            Some(Said::Columns(Columns::Names))
        }
        _ => None,
    }
}

/// The second lines of the job's tables.
fn units(line: &str) -> Option<Said<'_>> {
    let words: Vec<&str> = line.split_whitespace().take(9).collect();
    let columns = match words.as_slice() {
        ["(total)", "per", "node", "per", "process", "(total)", "(total)"] => Columns::Five,
        ["(total)", "(total)", "(total)"] => Columns::Totals,
        ["per", "node"] | ["per", "process"] | ["per", "node", "per", "process"] => Columns::Parts,
        _ => return None,
    };
    Some(Said::Columns(columns))
}

/// Lines that begin with a number.
fn numbered(line: &str) -> Option<Said<'_>> {
    let (count, rest) = leading(line)?;
    if let Some(rest) = rest.strip_prefix(" job process") {
        let is = [
            " is considered dead (unreachable via the RAS network)",
            "es are considered dead (unreachable via the RAS network)",
        ];
        return is.contains(&rest).then_some(Said::DeadProcesses(count));
    }
    if let Some(rest) = rest.strip_prefix(" ranks ") {
        let about = if let Some(status) = rest.strip_prefix("have status ") {
            About::Status(Status::read(status)?)
        } else if rest == "have not launched any operations" {
            About::Launched(0)
        } else if let Some(number) = rest.strip_prefix("have launched up to operation ") {
            About::Launched(number.parse().ok()?)
        } else {
            About::Reported(rest.strip_prefix("reported ").filter(|e| is_error(e))?)
        };
        return Some(Said::Ranks(count, about));
    }
    row(line).map(Said::Row).or_else(|| {
        let all: Option<Vec<u32>> = line.split_whitespace().take(6).map(|w| w.parse().ok()).collect();
        Some(Said::Numbers(all.filter(|n| matches!(n.len(), 2 | 3 | 5))?))
    })
}

/// A row of the table of communicators.
fn row(line: &str) -> Option<Group> {
    let words: Vec<&str> = line.split_whitespace().take(9).collect();
    let [number, communicators, nodes, per_node, ranks, answered, status, errors] = words.as_slice() else {
        return None;
    };
    let (low, high) = per_node.split_once('-').unwrap_or((per_node, "0"));
    low.parse::<u32>().ok().zip(high.parse::<u32>().ok())?;
    Some(Group {
        line: 0,
        number: number.parse().ok()?,
        communicators: communicators.parse().ok()?,
        nodes: nodes.parse().ok()?,
        ranks: ranks.parse().ok()?,
        answered: answered.parse().ok()?,
        status: Status::read(status)?,
        errors: Errors::read(errors)?,
    })
}

/// `#0-1 (27a079b828ff1a75) MISMATCH`.
fn communicator(line: &str) -> Option<Said<'_>> {
    if line.split_whitespace().eq(["#", "in", "group", "per", "comm", "per", "node", "per", "comm", "in", "group"]) {
        return Some(Said::TableUnits);
    }
    let (group, rest) = leading(line.strip_prefix('#')?)?;
    let (own, rest) = leading(rest.strip_prefix('-')?)?;
    let (hash, kind) = rest.strip_prefix(" (")?.split_once(") ")?;
    let hash = u64::from_str_radix(hash, 16).ok().filter(|_| hash.len() == 16 && !hash.starts_with('+'))?;
    let errors = Errors::read(kind).filter(|e| !e.is_ok())?;
    Some(Said::Communicator(group, own, hash, errors))
}

/// `[could not find information on 1 process]`, `[2026-01-02 03:04:05] PEER_DEAD: Process 7 on node 10.0.0.1 managing GPU 1 `.
fn bracket(line: &str) -> Option<Said<'_>> {
    if line.starts_with("[could not find information on ") {
        return Some(Said::Nothing);
    }
    let (time, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let (event, rest) = rest.split_once(": ").or_else(|| Some((rest.strip_suffix(':')?, "")))?;
    let is_event = event.starts_with("PEER_") && event.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    if !is_event || time.len() != 19 || event.len() > 40 {
        return None;
    }
    // Further details follow some of the traced events.
    let member = process(rest.trim_end()).or_else(|| {
        let (address, _) = rest.split_once('<').unwrap_or((rest.trim_end(), ""));
        is_node(address).then(|| Member { node: address.into(), ..Member::default() })
    });
    Some(Said::Event(event, member))
}

/// `Process 7 on node 10.0.0.1 managing GPUs 0,1 (NVML 2,3)`.
fn process(line: &str) -> Option<Member> {
    let (pid, rest) = leading(line.strip_prefix("Process ")?)?;
    let (node, rest) = rest.strip_prefix(" on node ")?.split_once(" managing GPU")?;
    let gpus = rest.strip_prefix('s').unwrap_or(rest).strip_prefix(' ')?;
    (is_node(node) && is_gpus(gpus)).then(|| Member {
        line: 0,
        rank: None,
        pid: Some(pid),
        node: node.into(),
        gpus: gpus.into(),
    })
}

/// `Rank 3 -- GPU 3 managed by process 7 on node 10.0.0.1`, with or without what is said of it.
fn rank(line: &str) -> Option<Said<'_>> {
    let (number, rest) = leading(line.strip_prefix("Rank ")?)?;
    let (about, holder) = match rest.split_once(" -- ") {
        Some((about, holder)) => (about, Some(holder)),
        None => (rest, None),
    };
    let member = match holder {
        None | Some("[process information not found]") => Member::default(),
        Some(holder) => {
            let (gpus, rest) = holder.strip_prefix("GPU ")?.split_once(" managed by process ")?;
            let (pid, rest) = leading(rest)?;
            let node = rest.strip_prefix(" on node").map(str::trim_start)?;
            Some(Member { line: 0, rank: None, pid: Some(pid), node: node.into(), gpus: gpus.into() })
                .filter(|_| is_gpus(gpus) && is_node(node))?
        }
    };
    let about = match about.strip_prefix(' ') {
        None if about.is_empty() && holder.is_some() => None,
        None => return None,
        Some("has not launched any operations") => Some(About::Launched(0)),
        Some(words) => Some(if let Some(status) = words.strip_prefix("has status ") {
            About::Status(Status::read(status)?)
        } else if let Some(number) = words.strip_prefix("has launched up to operation ") {
            About::Launched(number.parse().ok()?)
        } else {
            About::Reported(words.strip_prefix("reported ").filter(|e| is_error(e))?)
        }),
    };
    // Only 2.24 and 2.25 say a rank's status without its process.
    let complete = holder.is_some() || matches!(about, Some(About::Status(_)));
    complete.then_some(Said::Rank(Member { rank: Some(number), ..member }, about))
}

/// A number at the beginning, and what follows it.
fn leading(text: &str) -> Option<(u32, &str)> {
    let end = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, rest))
}

/// `12090`; `-1` where CUDA did not say.
fn version(word: &str) -> Option<u32> {
    if word == "-1" { Some(0) } else { word.parse().ok() }
}

fn is_release(word: &str) -> bool {
    word.len() < 40 && word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains(' ') && word.contains('.')
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.len() < 40 && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// An address; nothing where RAS does not know it.
fn is_node(word: &str) -> bool {
    word.len() < 80 && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b':' | b'-' | b'%' | b'_'))
}

/// `0`, `0,1`, `0 (NVML 3)`; empty without any.
fn is_gpus(text: &str) -> bool {
    text.len() < 400
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b',' | b' ' | b'(' | b')' | b'N' | b'V' | b'M' | b'L'))
}

/// The words of `ncclErrorToString`.
fn is_error(text: &str) -> bool {
    ERRORS.contains(&text)
}

/// NCCL's results from 1 on, as RAS names them.
pub(super) const ERRORS: [&str; 8] = [
    "Unhandled CUDA error",
    "System error",
    "Internal error",
    "Invalid argument",
    "Invalid usage",
    "Remote process error",
    "NCCL operation in progress",
    "Unexpected error",
];

impl Columns {
    /// The totals of a row.
    pub(super) fn totals(self, row: &[u32]) -> Option<Totals> {
        match (self, row) {
            (Columns::Five, [nodes, _, _, processes, gpus]) | (Columns::Totals, [nodes, processes, gpus]) => {
                Some(Totals { nodes: *nodes, processes: *processes, gpus: *gpus })
            }
            _ => None,
        }
    }
}

/// A word that is kept.
pub(super) fn keep(word: &str) -> SmolStr {
    crate::text::at_most(word, 64).into()
}
