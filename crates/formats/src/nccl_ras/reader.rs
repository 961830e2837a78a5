//! Reads lines as they come, of either form.

use super::json::Document;
use super::line::{self, About, Block, Columns, Said, keep};
use super::report::{Absent, Calls, Communicator, Errors, Gathered, Group, Member, Reached, Report, Reported, Share};
use crate::bounds::{Kept, Limit, RAS_KEPT, RAS_REPORTS, leave_out};
use crate::printed;
use crate::text::{self, At};
use aho_corasick::AhoCorasick;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a line has with which a report may begin.
const MARKS: &[&str] = &[
    "NCCL version ",
    "CUDA runtime version ",
    "Communicators...",
    "Group ",
    "Nodes ",
    "communicator data from ",
    ") INCOMPLETE",
    ") ERROR",
    ") MISMATCH",
    "via the RAS network)",
    "] PEER_",
    // Of JSON.
    "\"nccl_version\"",
    "\"cuda_runtime_version\"",
    "\"cuda_driver_version\"",
    "\"timestamp\"",
    "\"communicators_count\"",
    "\"secondary_hash\"",
    "\"missing_ranks_count\"",
    "\"PEER_",
];
static FIND: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| crate::text::any_of(MARKS));

/// Lines of others in a row after which a report has ended.
const OTHERS: u32 = 256;

/// Reads a whole text.
#[must_use]
pub fn parse(bytes: &[u8]) -> Kept<Report> {
    let mut out = Kept::default();
    let mut take = |report: Report| match out.items.len() < RAS_REPORTS {
        true => out.items.push(report),
        false => leave_out(&mut out.left_out, Limit::RAS_REPORTS, report.lines.0),
    };
    let text = text::decode(bytes);
    let mut reader = Reader::default();
    for (number, each) in text::lines(&text) {
        reader.line(number, each);
        reader.take().into_iter().for_each(&mut take);
    }
    reader.finish().into_iter().for_each(take);
    out
}

/// Reads lines as they come. What it keeps is bounded.
#[derive(Debug, Default)]
pub struct Reader {
    open: Option<Box<Open>>,
    document: Option<Box<Document>>,
    /// The head of a document that may be RAS's.
    head: Vec<(u32, String)>,
    done: Vec<Report>,
}

impl Reader {
    /// The next line may be a part of a document.
    #[must_use]
    pub fn is_in_document(&self) -> bool {
        self.document.is_some()
    }

    /// Takes the next line, without its end; whether RAS printed it. `number` is 1-based.
    pub fn line(&mut self, number: u32, line: &str) -> bool {
        if let Some(document) = &mut self.document {
            let next = document.is_before(line) || line::read(line.trim()).is_some_and(|s| line::opens(&s));
            let taken = !next && document.line(number, line);
            if next || document.has_ended() {
                self.end_document();
            }
            if !next {
                return taken;
            }
        }
        if self.open.is_none() && FIND.as_ref().is_some_and(|m| !m.is_match(line.as_bytes())) {
            return false;
        }
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return false;
        }
        if line.contains('"') && self.document(number, line) {
            return true;
        }
        let said = line::read(trimmed).or_else(|| {
            let own = (line.len() <= line::MAX).then(|| printed::own(line))?;
            line::read(own.text.trim()).filter(|_| !own.quoted)
        });
        match said {
            Some(said) => self.said(number, said),
            None => {
                if let Some(open) = &mut self.open {
                    open.others += 1;
                    if open.others > OTHERS {
                        self.end();
                    }
                }
                false
            }
        }
    }

    /// Begins a document, or keeps what may be its head.
    fn document(&mut self, number: u32, line: &str) -> bool {
        /// Lines of a head.
        const HEAD: u32 = 4;
        let Some(begins) = Document::begins(line) else { return false };
        if !begins {
            self.head.retain(|(at, _)| number.saturating_sub(*at) < HEAD);
            self.head.push((number, text::at_most(line, 256).to_owned()));
            return false;
        }
        self.end();
        let mut document = Document::default();
        let head = std::mem::take(&mut self.head);
        let first = head.iter().rposition(|(_, l)| l.contains("\"nccl_version\"")).unwrap_or(head.len());
        for (at, each) in head.iter().skip(first).filter(|(at, _)| number.saturating_sub(*at) <= HEAD) {
            document.line(*at, each);
        }
        document.line(number, line);
        let ended = document.has_ended();
        self.document = Some(Box::new(document));
        if ended {
            self.end_document();
        }
        true
    }

    fn said(&mut self, number: u32, said: Said<'_>) -> bool {
        match &self.open {
            None if !line::opens(&said) => return false,
            Some(open) if open.is_before(&said) => self.end(),
            _ => {}
        }
        if self.open.is_none() && !line::opens(&said) && said != Said::Summary {
            return false;
        }
        let open = self.open.get_or_insert_with(|| {
            let mut open = Box::<Open>::default();
            open.report.lines.0 = number;
            open
        });
        open.report.lines.1 = number;
        open.others = 0;
        open.said(number, said);
        true
    }

    fn end(&mut self) {
        self.done.extend(self.open.take().map(|o| o.report));
    }

    fn end_document(&mut self) {
        self.done.extend(self.document.take().and_then(|d| d.finish()));
    }

    /// Reports that are finished.
    pub fn take(&mut self) -> Vec<Report> {
        std::mem::take(&mut self.done)
    }

    /// The reports that are left; the last one may be cut.
    #[must_use]
    pub fn finish(mut self) -> Vec<Report> {
        self.end();
        self.end_document();
        self.done
    }
}

/// Where a line that names a rank or a process belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Spot {
    #[default]
    Nowhere,
    Missing,
    Dead,
    /// Of the communicator: ranks that do not answer.
    Incomplete,
    Statuses,
    Calls,
    Reported,
}

/// The report that is being read.
#[derive(Debug, Default)]
struct Open {
    report: Report,
    columns: Option<Columns>,
    block: Option<Block>,
    spot: Spot,
    /// The communicator whose heading came last.
    current: Option<usize>,
    by_id: HashMap<(u32, u32, u64), usize>,
    is_initialization: bool,
    /// What was kept.
    kept: usize,
    /// Lines of others since the last of RAS.
    others: u32,
}

impl Open {
    /// Whether a line begins the next report: it stands before what was read.
    fn is_before(&self, said: &Said<'_>) -> bool {
        let r = &self.report;
        let begun = r.job.is_some() || r.gathered.is_some() || r.reached > Reached::Head || r.is_monitor;
        match said {
            Said::Event(..) => !r.is_monitor,
            _ if r.is_monitor => line::opens(said) || *said == Said::Summary,
            Said::Version(_) => r.nccl.is_some() || r.cuda_runtime.is_some() || begun,
            Said::Cuda(..) => r.cuda_runtime.is_some() || begun,
            Said::Summary => begun,
            Said::Columns(Columns::Five) => begun && r.reached > Reached::Head,
            Said::Gathering(_) => r.gathered.is_some() || r.reached > Reached::Head,
            Said::Table => r.reached > Reached::Head,
            Said::Errors => r.reached >= Reached::Errors,
            Said::Warnings => r.reached >= Reached::Last,
            _ => false,
        }
    }

    fn said(&mut self, number: u32, said: Said<'_>) {
        let report = &mut self.report;
        match said {
            Said::Version(release) => report.nccl = Some(At::new(keep(release), number)),
            Said::Cuda(runtime, driver) => {
                report.cuda_runtime = Some(runtime).filter(|v| *v > 0);
                report.cuda_driver = Some(driver).filter(|v| *v > 0);
            }
            Said::Columns(columns) => self.columns = Some(columns),
            Said::Numbers(row) => {
                if let Some(totals) = self.columns.and_then(|c| c.totals(&row)) {
                    report.job = Some(At::new(totals, number));
                    self.columns = None;
                }
            }
            Said::Gathering(seconds) => {
                report.gathered = seconds.map(|seconds| Gathered { line: number, seconds });
                self.columns = None;
            }
            Said::Table => report.reached = Reached::Table,
            // The table's head may be cut: its rows are like nothing else.
            Said::Row(group) => {
                if report.reached <= Reached::Table && self.keep(number) {
                    self.report.reached = Reached::Table;
                    self.report.groups.push(Group { line: number, ..group });
                }
            }
            Said::NoData => {
                report.no_data = Some(At::new((), number));
                report.reached = Reached::Table;
            }
            Said::Errors => self.section(Reached::Errors),
            Said::Warnings => self.section(Reached::Last),
            Said::Block(block) => {
                self.block = Some(block);
                self.current = None;
                self.spot = Spot::Nowhere;
            }
            Said::MissingProcesses(count) => {
                report.reached = report.reached.max(Reached::Errors);
                report.missing = Some(Absent { line: number, count, members: Vec::new() });
                self.spot = Spot::Missing;
            }
            Said::DeadProcesses(count) => {
                report.reached = report.reached.max(Reached::Errors);
                report.dead = Some(Absent { line: number, count, members: Vec::new() });
                self.spot = Spot::Dead;
            }
            Said::Process(member) => self.process(Member { line: number, ..member }),
            Said::Communicator(group, own, hash, errors) => self.communicator(number, (group, own, hash), errors),
            Said::MissingRanks(count) => {
                // Without its heading it is not known whose they are.
                report.reached = report.reached.max(Reached::Errors);
                if self.current.is_none() {
                    self.communicator(
                        number,
                        (u32::MAX, u32::MAX, 0),
                        Errors { incomplete: true, ..Errors::default() },
                    );
                }
                if let Some(c) = self.comm() {
                    c.missing = Some(Absent { line: number, count, members: Vec::new() });
                    self.spot = Spot::Incomplete;
                }
            }
            Said::RankList(is_missing, ranks) => {
                for rank in ranks {
                    let member = Member { line: number, rank: Some(rank), ..Member::default() };
                    if is_missing {
                        self.spot = Spot::Incomplete;
                    }
                    self.rank(number, member, None);
                }
            }
            Said::StatusDiffers => self.spot = Spot::Statuses,
            Said::CallsDiffer(operation) => {
                self.spot = Spot::Nowhere;
                if self.current.is_some()
                    && self.keep(number)
                    && let Some(c) = self.comm()
                {
                    let operation = operation.map(keep);
                    c.calls.push(Calls { line: number, operation, launched: Vec::new() });
                    self.spot = Spot::Calls;
                }
            }
            Said::ErrorsOf(is_initialization) => {
                self.is_initialization = is_initialization;
                self.spot = Spot::Reported;
            }
            Said::Ranks(count, about) => self.share(number, count, about),
            Said::Rank(member, about) => self.rank(number, Member { line: number, ..member }, about),
            Said::Timeouts(count) => {
                report.reached = Reached::Last;
                report.timeouts = Some(At::new(count, number));
            }
            Said::Event(event, member) => self.event(number, event, member),
            Said::Summary | Said::TableUnits | Said::Nothing => {}
        }
    }

    fn section(&mut self, reached: Reached) {
        self.report.reached = reached;
        (self.block, self.current, self.spot) = (None, None, Spot::Nowhere);
    }

    /// Whether there is room for one more.
    fn keep(&mut self, line: u32) -> bool {
        let room = self.kept < RAS_KEPT;
        self.kept += usize::from(room);
        if !room {
            leave_out(&mut self.report.left_out, Limit::RAS_KEPT, line);
        }
        room
    }

    fn comm(&mut self) -> Option<&mut Communicator> {
        self.report.communicators.get_mut(self.current?)
    }

    fn communicator(&mut self, line: u32, id: (u32, u32, u64), errors: Errors) {
        let reached = if errors.mismatch { Reached::Last } else { Reached::Errors };
        self.report.reached = self.report.reached.max(reached);
        (self.block, self.spot) = (None, Spot::Nowhere);
        self.current = match self.by_id.get(&id).copied() {
            Some(at) => Some(at),
            None if self.keep(line) => {
                let (group, own, hash) = id;
                let size = self.report.groups.iter().find(|g| g.number == group).map(|g| g.ranks);
                let id_of = (group != u32::MAX).then_some((group, own));
                let new = Communicator { line, id: id_of, hash, size, ..Communicator::default() };
                self.report.communicators.push(new);
                self.by_id.insert(id, self.report.communicators.len() - 1);
                Some(self.report.communicators.len() - 1)
            }
            None => None,
        };
        if let Some(c) = self.comm() {
            c.errors.incomplete |= errors.incomplete;
            c.errors.error |= errors.error;
            c.errors.mismatch |= errors.mismatch;
        }
    }

    fn process(&mut self, member: Member) {
        // Below a heading whose count was cut, it is the heading's.
        let spot = match (self.spot, self.block) {
            (Spot::Nowhere, Some(Block::Incomplete)) => Spot::Missing,
            (Spot::Nowhere, Some(Block::Dead)) => Spot::Dead,
            (spot, _) => spot,
        };
        if !matches!(spot, Spot::Missing | Spot::Dead) || !self.keep(member.line) {
            return;
        }
        let list = if spot == Spot::Dead { &mut self.report.dead } else { &mut self.report.missing };
        let absent = list.get_or_insert_with(|| Absent { line: member.line, ..Absent::default() });
        absent.members.push(member);
        absent.count = absent.count.max(u32::try_from(absent.members.len()).unwrap_or(u32::MAX));
    }

    /// Ranks of which the same is said: those that follow.
    fn share(&mut self, line: u32, count: u32, about: About<'_>) {
        if !self.keep(line) {
            self.spot = Spot::Nowhere;
            return;
        }
        let is_initialization = self.is_initialization;
        let spot = self.spot;
        let Some(c) = self.comm() else { return };
        match (about, spot) {
            (About::Status(what), Spot::Statuses) => {
                c.statuses.push(Share { line, what, count, members: Vec::new() });
            }
            (About::Launched(what), Spot::Calls) => {
                if let Some(calls) = c.calls.last_mut() {
                    calls.launched.push(Share { line, what, count, members: Vec::new() });
                }
            }
            (About::Reported(error), Spot::Reported) => {
                let what = Reported { is_initialization, error: keep(error) };
                c.reported.push(Share { line, what, count, members: Vec::new() });
            }
            _ => self.spot = Spot::Nowhere,
        }
    }

    fn rank(&mut self, line: u32, member: Member, about: Option<About<'_>>) {
        if let Some(about) = about {
            self.share(line, 1, about);
        }
        let spot = self.spot;
        if spot == Spot::Nowhere || self.current.is_none() || !self.keep(line) {
            return;
        }
        let Some(c) = self.comm() else { return };
        let (list, count) = match spot {
            Spot::Incomplete => match &mut c.missing {
                Some(absent) => (&mut absent.members, absent.count),
                None => return,
            },
            Spot::Statuses => match c.statuses.last_mut() {
                Some(share) => (&mut share.members, share.count),
                None => return,
            },
            Spot::Calls => match c.calls.last_mut().and_then(|calls| calls.launched.last_mut()) {
                Some(share) => (&mut share.members, share.count),
                None => return,
            },
            Spot::Reported => match c.reported.last_mut() {
                Some(share) => (&mut share.members, share.count),
                None => return,
            },
            Spot::Missing | Spot::Dead | Spot::Nowhere => return,
        };
        if u32::try_from(list.len()).is_ok_and(|n| n < count) {
            list.push(member);
        }
    }

    fn event(&mut self, line: u32, event: &str, member: Option<Member>) {
        self.report.is_monitor = true;
        let spot = match event {
            "PEER_DEAD" | "PEER_TIMEOUT_DEAD" => Spot::Dead,
            "PEER_UNRESPONSIVE" => Spot::Missing,
            _ => return,
        };
        let Some(member) = member else { return };
        let list = if spot == Spot::Dead { &self.report.dead } else { &self.report.missing };
        let known = |a: &Absent| a.members.iter().any(|m| (m.pid, &m.node) == (member.pid, &member.node));
        // Of each process once; the first hundreds are compared.
        if list.as_ref().is_some_and(|a| a.members.len() < 512 && known(a)) {
            return;
        }
        self.spot = spot;
        self.process(Member { line, ..member });
    }
}
