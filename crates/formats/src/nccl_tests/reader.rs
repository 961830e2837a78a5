//! Line by line: what belongs to which run.

use super::columns::{self, Columns, Placement};
use super::job::{self, Launch, Saying, Started};
use super::parts::{Collect, Parts, Whole};
use super::row::{Open, Seen};
use super::run::{Collective, Run, Tool};
use super::{head, json, row};
use crate::bounds::{BENCH_JSON, BENCH_LINE, Limit};
use crate::error::Why;
use crate::launcher;
use crate::record::{Recorder, keep};
use crate::text::{self, At};
use crate::units::Bytes;
use aho_corasick::AhoCorasick;
use std::borrow::Cow;
use std::sync::LazyLock;

/// How far a run is. What belongs before it begins the next run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Stage {
    #[default]
    Nothing,
    Parameters,
    Ranks,
    Header,
    Rows,
    Summary,
}

/// Reads lines as they come. Keeps no text, and of a run only what is bounded.
#[derive(Debug, Default)]
pub struct Reader {
    record: Recorder<Run>,
    stage: Stage,
    columns: Option<Columns>,
    placement: Option<Placement>,
    open: Option<Open>,
    /// A program named by a command line above the run.
    told: Option<At<Collective>>,
    /// A command line above the run, which may go on.
    launch: Option<Launch>,
    /// What the last one starts.
    started: Option<Started>,
    /// A tag of unknown form, learnt from a line that can be nothing else.
    tag: Option<String>,
}

/// Reads a whole text: tables, or one JSON document. A text that starts as JSON and cannot be read yields one run without
/// rows that says why.
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    let mut runs = Whole::default();
    parts(bytes, &mut runs);
    runs.runs
}

/// As [`parse`], giving what is read as it is read: see [`Collect`].
pub fn parts(bytes: &[u8], to: &mut impl Collect) {
    let mut parts = Parts::new(to);
    let text = text::decode(bytes);
    let start = text.trim_start();
    if start.starts_with('{') || start.starts_with("[{") || start.starts_with("[\n") || start.starts_with("[\r") {
        let last = u32::try_from(memchr::memchr_iter(b'\n', text.trim_end().as_bytes()).count()).unwrap_or(u32::MAX);
        let lines = (1, last.saturating_add(1));
        if let Some(run) = json::usual(&text, lines, |rows| parts.rows(rows)) {
            return parts.run(run);
        }
        parts.again();
        match json::general(&text, lines) {
            Ok(runs) => return runs.into_iter().for_each(|run| parts.run(run)),
            // Several documents, one behind the other, are read below, line by line.
            Err(e) if sniffs(start) && !several(&text) => {
                let mut run = Run { lines, ..Run::default() };
                run.refused.push(e.line, e.why);
                return parts.run(run);
            }
            Err(_) => {}
        }
    }
    let mut reader = Reader::default();
    for (number, line) in text::lines(&text) {
        reader.line(number, line.as_bytes());
        reader.record.done().drain(..).for_each(|run| parts.run(run));
        parts.rows(&mut reader.record.run.rows);
    }
    reader.finish().into_iter().for_each(|run| parts.run(run));
}

/// Whether more than one line begins a document of the tests.
fn several(text: &str) -> bool {
    text.lines().filter(|l| l.starts_with('{') && l.contains("\"nccl_version\"")).take(2).count() > 1
}

/// JSON of one of the programs, perhaps broken.
fn sniffs(text: &str) -> bool {
    text.contains("\"nccl_version\"") && text.contains("\"args\"")
        || text.contains("\"algBw\"") && text.contains("\"busBw\"")
}

/// What a line of a head has, wherever its `#` is.
const HEAD: [&str; 11] = [
    "# nThread",
    "#  Rank ",
    "# Rank ",
    "#   Rank ",
    "Using devices",
    "algbw",
    "out-of-place",
    "in-place  ",
    "-tests version ",
    "Collective test ",
    "Reducing maxBytes",
];
/// What any other line has that is looked at.
const OTHER: [&str; 24] = [
    "mpirun",
    "srun ",
    "mpiexec",
    "Out of bounds values",
    "Avg bus bandwidth",
    "rccl-tests: Version",
    "NCCL Tests compiled with",
    "_perf",
    "NCCL version ",
    "RCCL version ",
    "Test NCCL failure",
    "Test CUDA failure",
    "Test HIP failure",
    "Test failure ",
    "Test timeout ",
    "NCCL failure ",
    "Cuda failure ",
    "# error: ",
    "want=0x",
    "Invalid number of GPUs",
    "requested GPUs (",
    "invalid size",
    "Incompatible NCCL versions",
    "\"nccl_version\"",
];

/// What a line must contain to be looked at, unless a table is open or it starts as a row does: with a `#`, and without.
static MARKS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| crate::text::any_of(HEAD.into_iter().chain(OTHER)));
static PLAIN_MARKS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| crate::text::any_of(OTHER));

fn has_mark(bytes: &[u8]) -> bool {
    let marks = if memchr::memchr(b'#', bytes).is_some() { &MARKS } else { &PLAIN_MARKS };
    marks.as_ref().is_none_or(|m| m.is_match(bytes))
}

/// What a line may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worth {
    Nothing,
    /// Numbers, where no table is open: a row of one whose head is not here, or anybody's.
    Row,
    /// What NCCL's log says of the job.
    Info,
    All,
}

/// Lines of the header that say how was measured.
const OPTIONS: &[&str] = &["# Blocking Enabled", "# Per-Iteration Report", "# Parallel Init Enabled"];

/// A line without the tags that mpirun's `--tag-output` puts into its middle, where the program wrote it in pieces:
/// `[0] 1048576 262144 float sum -1[0] 1626.5 …`. Only the tag that the line begins with is taken for one.
fn unglued(line: &[u8]) -> Option<Vec<u8>> {
    let end =
        line.first().filter(|b| **b == b'[').and_then(|_| memchr::memchr(b']', line.get(..10).unwrap_or(line)))?;
    let (tag, mut rest) = line.split_at_checked(end + 1)?;
    let rank = tag.get(1..end)?;
    if rank.is_empty() || !rank.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut whole = Vec::new();
    while let Some(at) = memchr::memmem::find(rest, tag) {
        whole.extend_from_slice(rest.get(..at)?);
        whole.push(b' ');
        rest = rest.get(at + tag.len()..)?;
    }
    (!whole.is_empty()).then(|| [whole.as_slice(), rest].concat())
}

impl Reader {
    /// Takes the next line, without its end. `number` is 1-based.
    pub fn line(&mut self, number: u32, bytes: &[u8]) {
        match unglued(bytes) {
            Some(whole) => self.whole(number, &whole),
            None => self.whole(number, bytes),
        }
    }

    fn whole(&mut self, number: u32, bytes: &[u8]) {
        if let Some(columns) = &self.columns
            && let Some(row) = super::fast::row(number, bytes, columns)
        {
            self.close_open();
            self.at(Stage::Rows, number).push_row(row);
            return;
        }
        if self.launch.is_some() {
            self.launch(number, bytes);
        }
        let worth = self.worth(bytes);
        if worth == Worth::Nothing {
            return;
        }
        if bytes.len() > BENCH_LINE {
            self.document(number, bytes);
            return;
        }
        let decoded: Cow<'_, str> = text::decode(bytes);
        if decoded.starts_with('{') && decoded.contains("\"nccl_version\"") {
            self.document(number, bytes);
            return;
        }
        let line = decoded.trim_end();
        let line = match &self.tag {
            Some(tag) => line.strip_prefix(tag.as_str()).unwrap_or(line),
            None => line,
        };
        let line = launcher::strip(line);
        if line.is_empty() {
            return;
        }
        if worth == Worth::Row {
            self.row(number, line);
        } else if worth == Worth::Info {
            self.info(number, line);
        } else if !self.heading(number, line) && !self.row(number, line) {
            self.other(number, line);
        }
    }

    /// The runs; the last one may be unfinished.
    pub fn finish(mut self) -> Vec<Run> {
        self.end_run();
        self.record.finish()
    }

    fn worth(&self, bytes: &[u8]) -> Worth {
        let first = bytes.trim_ascii_start().first();
        if first == Some(&b'#') || self.columns.is_some() && first.is_some_and(u8::is_ascii_digit) {
            return Worth::All;
        }
        if first.is_some_and(u8::is_ascii_digit) {
            let commented = memchr::memchr(b'#', bytes).is_some();
            return if commented || has_mark(bytes) { Worth::All } else { Worth::Row };
        }
        // The log is most of a stream. It may follow a tag and a row that it broke.
        let is_tagged = matches!(first, Some(b'[' | b'>' | b'{'));
        if !is_tagged && let Some(message) = launcher::nccl_info(bytes) {
            return if job::may_say(message) { Worth::Info } else { Worth::Nothing };
        }
        if self.columns.is_some() || has_mark(bytes) { Worth::All } else { Worth::Nothing }
    }

    fn document(&mut self, number: u32, bytes: &[u8]) {
        let bytes = bytes.trim_ascii();
        if !bytes.starts_with(b"{") {
            return;
        }
        if bytes.len() > BENCH_JSON {
            let mut run = Run { lines: (number, number), ..Run::default() };
            run.refused.push(number, Why::TooLarge { mib: BENCH_JSON >> 20 });
            self.end_run();
            return self.record.push(run);
        }
        if let Ok(runs) = json::parse(&text::decode(bytes), (number, number)) {
            self.end_run();
            runs.into_iter().for_each(|run| self.record.push(run));
        }
    }

    /// Lines that begin with `#`, wherever a tag of unknown form ends.
    fn heading(&mut self, number: u32, line: &str) -> bool {
        let line = line.trim_start();
        if line.starts_with('#') {
            return self.comment(number, line);
        }
        // Unmistakable lines behind a tag that `launcher` does not know.
        let marks =
            ["# nThread", "#  Rank ", "# Avg bus", "# Out of bounds", "# nccl-tests version", "# Using devices"];
        let Some(at) = marks.iter().filter_map(|m| line.find(m)).min().filter(|at| *at < 160) else { return false };
        let Some((tag, rest)) = line.split_at_checked(at) else { return false };
        self.tag = Some(tag.to_owned());
        self.comment(number, rest)
    }

    /// The lines that every table has, known by how they begin. Whether it is one.
    fn common(&mut self, number: u32, line: &str) -> bool {
        let body = line.get(1..).unwrap_or_default().trim_ascii_start();
        match body.as_bytes() {
            [] => {}
            [b'R', ..] => match head::rank(number, line) {
                Some(rank) => self.at(Stage::Ranks, number).push_rank(rank),
                None => return false,
            },
            [b's' | b'b', ..] => match columns::columns(line, self.placement) {
                Some(columns) => self.columns(number, columns),
                None => return false,
            },
            [b'o' | b'i', ..] => match columns::placement(line) {
                Some(placement) => self.placement = Some(placement),
                None => return false,
            },
            [b'(', ..] if body.starts_with("(B)") => self.units(line),
            [b'A' | b'O', ..] => return self.summed_up(number, line),
            [b'U', ..] if body.starts_with("Using devices") => {
                self.at(Stage::Ranks, number);
            }
            [b'C', ..] => return body.starts_with("Collective test concluded"),
            _ => return false,
        }
        true
    }

    fn columns(&mut self, number: u32, columns: Columns) {
        self.at(Stage::Header, number).is_cpu_time |= columns.is_cpu_time;
        self.columns = Some(columns);
    }

    /// The line of units decides what the times are, where there is one.
    fn units(&mut self, line: &str) {
        if self.columns.as_ref().is_some_and(|c| c.milliseconds) && line.contains("(us)") {
            self.columns.iter_mut().for_each(|c| c.milliseconds = false);
        }
    }

    fn comment(&mut self, number: u32, line: &str) -> bool {
        if self.common(number, line) {
            return true;
        }
        if let Some(params) = head::params(line) {
            // Processes that run alone print the same parameters again before anything is measured.
            let again = self.record.run.params.is_some_and(|p| p.value == params) && self.stage < Stage::Rows;
            if !again && self.record.run.params.is_some() {
                self.end_run();
            }
            let run = self.at(Stage::Parameters, number);
            run.copies += 1;
            run.params.get_or_insert(At::new(params, number));
        } else if let Some(rank) = head::rank(number, line) {
            self.at(Stage::Ranks, number).push_rank(rank);
        } else if let Some(columns) = columns::columns(line, self.placement) {
            self.columns(number, columns);
        } else if let Some(placement) = columns::placement(line) {
            self.placement = Some(placement);
        } else if self.summed_up(number, line) {
        } else if let Some((_, rest)) = line.split_once("-tests version ") {
            self.version(number, line, rest);
        } else if let Some((_, name)) = line.split_once("Collective test starting: ") {
            let run = self.at(Stage::Parameters, number);
            run.collective = Collective::from_name(name.trim()).map(|c| At::new(c, number)).or(run.collective);
        } else if let Some((_, rest)) = line.split_once("Reducing maxBytes to ") {
            let size = text::leading_number::<u64>(rest);
            self.record.run.reduced_to = size.map(|s| At::new(Bytes(s), number)).or(self.record.run.reduced_to);
        } else if has_mark(line.as_bytes())
            && let Some(failure) = head::failure(number, line)
        {
            self.record.touch(number).push_failure(failure);
        } else if line.contains("Using devices") {
            self.at(Stage::Ranks, number);
        } else if OPTIONS.iter().any(|o| line.contains(o)) {
            let run = self.at(Stage::Parameters, number);
            let option = At::new(head::text(line.trim_start_matches(['#', ' '])), number);
            keep(&mut run.options, option, Limit::NCCL_TESTS_OPTIONS, number, &mut run.left_out);
        } else {
            self.units(line);
        }
        true
    }

    fn version(&mut self, number: u32, line: &str, rest: &str) {
        if self.record.run.version.is_some() {
            self.end_run();
        }
        let run = self.at(Stage::Parameters, number);
        run.tool = Some(if line.contains("rccl-tests") { Tool::RcclTests } else { Tool::NcclTests });
        let mut words = rest.split_whitespace();
        run.version = words.next().map(|v| At::new(head::text(v), number));
        for word in words {
            match word.split_once("-headers=").or_else(|| word.split_once("-library=")) {
                Some((_, code)) if word.contains("headers") => run.compiled_with = code.parse().ok(),
                Some((_, code)) => run.library = code.parse().ok(),
                None => {}
            }
        }
    }

    fn row(&mut self, number: u32, line: &str) -> bool {
        let seen = row::read(number, line, self.columns.as_ref());
        match seen {
            Seen::Row(row, refused) => {
                self.close_open();
                let run = self.at(Stage::Rows, number);
                run.push_row(row);
                refused.into_iter().for_each(|r| run.refused.push(r.line, r.why));
            }
            Seen::Open(open, end) => {
                self.close_open();
                self.at(Stage::Rows, number);
                self.open = Some(open);
                // What broke the row may be what ended the run.
                self.other(number, line.get(end..).unwrap_or_default());
            }
            Seen::Refused(r) => self.at(Stage::Rows, number).refused.push(r.line, r.why),
            Seen::Other => return self.rest_of_row(number, line),
        }
        true
    }

    fn rest_of_row(&mut self, number: u32, line: &str) -> bool {
        let (Some(open), Some(columns)) = (&mut self.open, &self.columns) else { return false };
        let Some(is_complete) = row::go_on(open, line, columns) else { return false };
        self.at(Stage::Rows, number);
        if is_complete {
            self.close_open();
        }
        true
    }

    fn other(&mut self, number: u32, line: &str) {
        if let Some(failure) = head::failure(number, line) {
            self.record.touch(number).push_failure(failure);
        } else if self.summed_up(number, line) {
            // The tests of 2017 put no `#` before the verdicts.
        } else if let Some((_, version)) = line.split_once("rccl-tests: Version ") {
            if self.record.run.version.is_some() {
                self.end_run();
            }
            let run = self.at(Stage::Parameters, number);
            run.tool = Some(Tool::RcclTests);
            run.version = Some(At::new(head::text(version), number));
        } else if let Some(params) = head::params(line).filter(|_| line.starts_with("nThread ")) {
            // So did the parameters.
            self.at(Stage::Parameters, number).params.get_or_insert(At::new(params, number));
        } else if let Some(version) = library_line(line) {
            if self.stage > Stage::Nothing && self.record.run.library_text.is_none() {
                self.record.touch(number).library_text = Some(At::new(head::text(version), number));
            }
        } else if line.contains(" NCCL INFO ") {
            self.info(number, line);
        } else if let Some(launch) = Launch::begins(line, number) {
            self.named(number, line);
            self.launch = Some(launch);
            self.end_launch();
        } else if line.contains("_perf") {
            self.named(number, line);
        }
    }

    /// A program named by a command line.
    fn named(&mut self, number: u32, line: &str) {
        if line.contains("_perf") {
            let named = line
                .split([' ', '"', '\'', '(', ')', ';'])
                .filter(|w| w.contains("_perf"))
                .find_map(Collective::from_name);
            self.told = named.map(|c| At::new(c, number)).or(self.told);
        }
    }

    /// The next line of a command.
    fn launch(&mut self, number: u32, bytes: &[u8]) {
        let line = text::decode(bytes);
        let line = launcher::strip(line.trim_end());
        if self.launch.as_mut().is_some_and(|l| l.push(line)) {
            self.named(number, line);
            self.end_launch();
        } else {
            self.launch = None;
        }
    }

    /// Reads the command, where it does not go on.
    fn end_launch(&mut self) {
        if let Some(launch) = self.launch.take_if(|l| !l.is_open()) {
            self.started = launch.started().or(self.started.take());
        }
    }

    /// A line of NCCL's log, inside of a run.
    fn info(&mut self, number: u32, line: &str) {
        let message = line.split_once(" NCCL INFO ").map(|(_, m)| m);
        let Some(saying) = message.and_then(job::saying).filter(|_| self.stage > Stage::Nothing) else { return };
        let run = &mut self.record.run;
        let here = |text: &str| At::new(head::text(text), number);
        match saying {
            Saying::Network(name) => _ = run.job.network.get_or_insert_with(|| here(name)),
            Saying::Plugin(name) => _ = run.job.plugin.get_or_insert_with(|| here(name)),
            Saying::Setting(name, value) => run.set(name, value, number),
        }
    }

    /// A line of the summary: the average, and what was out of bounds. Whether it was one.
    fn summed_up(&mut self, number: u32, line: &str) -> bool {
        if let Some(average) = head::average(line) {
            self.summary(number).average.get_or_insert(At::new(average, number));
        } else if let Some(bounds) = head::out_of_bounds(line) {
            self.summary(number).out_of_bounds.get_or_insert(At::new(bounds, number));
        } else {
            return false;
        }
        true
    }

    fn summary(&mut self, number: u32) -> &mut Run {
        self.close_open();
        self.at(Stage::Summary, number)
    }

    /// The run to which a line of this stage belongs.
    fn at(&mut self, stage: Stage, number: u32) -> &mut Run {
        let is_new = match self.stage {
            Stage::Nothing => false,
            // Mixed processes print headers while others measure already.
            Stage::Rows if self.record.run.copies > 1 => false,
            Stage::Rows => {
                stage < Stage::Rows && stage != Stage::Ranks || stage == Stage::Ranks && self.record.run.copies <= 1
            }
            Stage::Summary => stage < Stage::Summary && !(self.record.run.copies > 1 && stage == Stage::Rows),
            _ => false,
        };
        if is_new {
            self.end_run();
        }
        if self.stage == Stage::Nothing {
            self.record.run.collective = self.record.run.collective.or(self.told.take());
            if let Some(started) = self.started.take() {
                let run = &mut self.record.run;
                (run.job.launcher, run.job.image) = (started.launcher, started.image);
                started.env.iter().for_each(|(name, value)| run.set(name, value, number));
            }
        }
        self.stage = self.stage.max(stage);
        self.record.touch(number)
    }

    fn close_open(&mut self) {
        if let Some(open) = self.open.take()
            && (open.row.out_of_place.is_some() || open.row.in_place.is_some())
        {
            self.record.run.push_row(open.row);
        }
    }

    fn end_run(&mut self) {
        self.close_open();
        self.stage = Stage::Nothing;
        self.columns = None;
        let Some(mut run) = self.record.end() else { return };
        if run.rows.len() < super::USUAL_ROWS / 2 {
            run.rows.shrink_to_fit();
        }
        self.record.push(run);
    }
}

/// The library's line between header and table, not that of its log.
fn library_line(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line.strip_prefix("NCCL version ").or_else(|| line.strip_prefix("RCCL version "))?;
    Some(rest.trim_start().strip_prefix(':').unwrap_or(rest).trim())
}
