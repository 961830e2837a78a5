//! Cuts a file as it comes, in pieces of any size, with memory that does not grow with it.
//!
//! A file is a sequence of segments, which fences, command lines, documents of JSON and lines of NCCL's log divide. The beginning of a segment is held until it
//! shows what it is: a tool's text is kept to the segment's end; anything else is searched, line by line, for items.

use super::headings::{Bars, Headings};
use super::items::{Form, Item};
use super::kernel::{Log, Messages};
use super::line::{Class, MARKS, Marks};
use super::run::{Run, Within, begins_nothing};
use super::segment::{Segment, Stage, emptied, is_kept};
use super::tagged::{Tagged, Untagged};
use super::{Block, Cut, Found, Parts, count_other};
use crate::hosts;
use crate::lines::Lines;
use crate::recognise::HEAD;
use linerate_formats::bounds::{DOCTOR_BLOCK_NODES, DOCTOR_BLOCKS, DOCTOR_FRAGMENTS, DOCTOR_LINE, DOCTOR_TEXT};
use linerate_formats::host_heading;
use linerate_formats::host_name::short;
use linerate_formats::lines::{Line, LineReader, Sink, Taken};
use linerate_formats::node_list::{is_one, names};
use linerate_formats::text::{at_most, unquoted};
use linerate_formats::{Kind, sniff};
use std::path::Path;

/// Cuts one file.
#[derive(Debug)]
pub struct Cutter {
    lines: LineReader,
    cutting: Cutting,
}

impl Cutter {
    /// Cuts a file. `host`: whose the texts are above which no command line names one.
    #[must_use]
    pub fn new(host: Option<&str>) -> Self {
        let cutting = Cutting { said: host.map(str::to_owned), host: host.map(str::to_owned), ..Cutting::default() };
        Cutter { lines: LineReader::with_marks(DOCTOR_LINE, MARKS), cutting }
    }

    /// Cuts what is known to be a command's whole output on this host: a line alone is enough of it.
    pub(super) fn of_host(host: &str) -> Self {
        let mut cutter = Cutter::new(Some(host));
        cutter.cutting.headed = true;
        cutter
    }

    /// The next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.lines.feed(bytes, &mut self.cutting);
    }

    /// The file has ended; its name.
    #[must_use]
    pub fn finish(self, name: &str) -> Cut {
        super::cut(name, self.found())
    }

    /// The parts of the file.
    pub(crate) fn parts(self, path: &Path) -> Parts {
        super::parts(path, self.found())
    }

    pub(super) fn found(self) -> Found {
        let Cutter { lines, mut cutting } = self;
        lines.finish(&mut cutting);
        cutting.not_held();
        cutting.close();
        cutting.tagged();
        cutting.kernels();
        cutting.found
    }
}

/// Spaces and tabs before a line's words.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Whether a line that shows this tool divides the file.
pub(super) fn divides(kind: Kind) -> bool {
    is_kept(kind) && !kind.tool().is_weak()
}

#[derive(Debug, Default)]
struct Cutting {
    /// Whose the file is, where that is said of it.
    said: Option<String>,
    /// Of the last command line or heading that names one, or several: see [`names`].
    host: Option<String>,
    /// What the last heading of a loop names: a host, or something else.
    heading: Option<String>,
    headings: Headings,
    /// A heading that names hosts is the last line above.
    headed: bool,
    segment: Segment,
    item: Option<Item>,
    /// Messages of the kernel, wherever they stand: all of a machine's are one text.
    kernel: Messages,
    /// Of those, the ones in no tool's text: how many, and the first.
    kernel_other: (usize, usize),
    /// Lines in no tool's text with the name of a host in front.
    tagged: Tagged,
    /// Bytes below no command line that were asked whose they are.
    asked: usize,
    /// Bytes of lines that were asked whether another tool's text begins there.
    watched: usize,
    found: Found,
}

impl Sink for Cutting {
    fn line(&mut self, line: Line<'_>) {
        self.found.cut_lines |= line.is_cut;
        match self.headings.ask(&line) {
            Bars::Held => return,
            Bars::Hosts(hosts) => return self.below(hosts),
            Bars::Not(before) => before.into_iter().flatten().for_each(|l| self.one(l.number, &l.text, l.marks)),
        }
        // What ended one heading may begin another.
        if self.headings.is_empty() {
            self.one(line.number, line.text, Marks(line.marks));
        }
    }

    /// Where lines are only kept, counted or passed over, those that divide nothing and begin nothing need not be looked at one by one.
    fn run(&mut self, first: u64, text: &str) -> Taken {
        if !self.headings.is_empty() {
            return Taken::default();
        }
        if self.is_watched() {
            // Lines in which nothing stands show no tool.
            let passed = matches!(self.segment.stage, Stage::Searched) && self.item.is_none();
            return if passed { Taken::empty(text) } else { Taken::default() };
        }
        let (within, most) = match self.segment.stage {
            Stage::Kept(_) => (Within::Text, DOCTOR_TEXT.saturating_sub(self.found.kept + self.segment.text.len() + 1)),
            Stage::Searched if self.item.is_none() => {
                (if self.is_full() { Within::Rest } else { Within::Prose }, text.len())
            }
            Stage::Ended(_) => (Within::Rest, text.len()),
            Stage::Searched | Stage::Open => return Taken::default(),
        };
        let run = Run::of(at_most(text, most), within);
        let lines = run.lines as u64;
        match self.segment.stage {
            Stage::Kept(_) => {
                self.segment.text.push_str(run.text);
                self.segment.lines += lines;
            }
            Stage::Searched => self.others(first + run.blank_before as u64, run.lines - run.blank, Class::Other),
            Stage::Ended(_) | Stage::Open => {}
        }
        Taken { lines, bytes: run.text.len() }
    }
}

impl Cutting {
    /// A line that is of no heading of several.
    fn one(&mut self, number: u64, text: &str, marks: Marks) {
        if host_heading::may_be(text.as_bytes()) {
            if let Some(host) = host_heading::of_program(text).and_then(short) {
                return self.below(host);
            }
            if let Some(name) = host_heading::of_loop(text).and_then(short) {
                self.close();
                self.heading = Some(name);
                return;
            }
        }
        if marks.is_signed()
            && marks.has_at()
            && let Some(host) = hosts::of_command(text)
        {
            self.host = Some(host);
        }
        let mut class = Class::with(text, marks);
        let mut text = text;
        // What is quoted is what it is; `> ibstat` is a command line.
        if class == Class::Other && text.starts_with('>') {
            text = unquoted(text);
            class = Class::of(text);
        }
        if matches!(class, Class::Log | Class::Fence) {
            return self.close();
        }
        if class == Class::Kernel && self.room(self.kernel.len() + text.len()) {
            self.kernel.push(text, number, self.host.as_ref());
        }
        // A document that is printed over several lines is no part of what stands above it, but for its own command line.
        let is_below_prompt = self.segment.prompted && self.segment.lines == 1;
        let opens = !self.segment.is_document && matches!(text, "{" | "[");
        let shown = if class == Class::Other { self.shown_by(text) } else { None };
        let is_another = shown.is_some_and(|kind| self.is_another(kind, text));
        if class == Class::Prompt || opens && !is_below_prompt || is_another {
            self.close();
        }
        self.segment.shown = self.segment.shown.or(shown);
        if self.segment.lines == 0 {
            self.segment.above = number.saturating_sub(1);
            self.segment.host.clone_from(&self.host);
            self.segment.heading.clone_from(&self.heading);
            self.segment.prompted = class == Class::Prompt;
            self.segment.headed = std::mem::take(&mut self.headed);
            self.segment.margin = (class == Class::Other).then(|| indent(text));
        }
        self.segment.is_document |= opens;
        let ends = self.segment.is_document && matches!(text, "}" | "]");
        match self.segment.stage {
            Stage::Open => {
                self.segment.push(text, class);
                // What is asked no more need not be held.
                if self.segment.text.len() >= HEAD || self.is_beyond() && self.segment.may_be_whole() {
                    self.decide();
                }
            }
            Stage::Kept(kind) => {
                if self.room(self.found.kept + self.segment.text.len() + text.len()) {
                    self.segment.push(text, class);
                } else {
                    self.segment.stage = Stage::Ended(kind);
                }
            }
            Stage::Ended(_) => {}
            Stage::Searched => self.search(number, text, class),
        }
        if ends {
            self.close();
        }
    }

    /// Whether so many bytes may be kept.
    fn room(&mut self, bytes: usize) -> bool {
        let fits = bytes < DOCTOR_TEXT;
        self.found.beyond |= !fits;
        fits
    }

    /// As many texts were found as are kept.
    fn is_full(&self) -> bool {
        self.found.list.len() >= DOCTOR_BLOCKS
    }

    /// Below no command line nothing more is asked whose it is.
    fn is_unasked(&self) -> bool {
        self.asked > DOCTOR_FRAGMENTS
    }

    /// The segment will not become a tool's text as a whole.
    fn is_beyond(&self) -> bool {
        self.is_full() || !self.segment.prompted && self.is_unasked()
    }

    /// Whether its lines are asked for the beginning of another tool's text.
    fn is_watched(&self) -> bool {
        let is_open = matches!(self.segment.stage, Stage::Open | Stage::Kept(_) | Stage::Searched);
        is_open && !self.segment.is_document && !self.is_full() && self.watched < DOCTOR_FRAGMENTS
    }

    /// The tool that a line shows by itself, within limits.
    fn shown_by(&mut self, line: &str) -> Option<Kind> {
        if !self.is_watched() {
            return None;
        }
        self.watched += line.len();
        let item = if begins_nothing(line) { None } else { Form::of(line).map(|f| f.kind) };
        // What is indented is a part of what is above it, unless all of it is; the head of a matrix is indented, too.
        let indent = indent(line);
        let at_margin = indent <= *self.segment.margin.get_or_insert(indent);
        item.or_else(|| sniff::of_line(line).filter(|_| at_margin)).filter(|k| divides(*k))
    }

    /// Whether a line that shows this tool begins a text behind that of another: scripts print one behind the other, without their commands.
    fn is_another(&self, kind: Kind, line: &str) -> bool {
        let own = match (&self.segment.shown, &self.segment.stage) {
            (Some(own), _) | (None, Stage::Kept(own)) => *own,
            (None, Stage::Open) => self.segment.known(),
            // Behind words of no tool. Items are found there, too.
            (None, _) => return !Form::cuts(kind),
        };
        own != kind && own != Kind::Other && !sniff::is_of(own, line)
    }

    /// What the segment is, by what is held of it.
    fn decide(&mut self) {
        if self.is_full() {
            self.found.full |= self.segment.says;
        } else if let Some(kind) = self.tool() {
            self.segment.stage = Stage::Kept(kind);
            return;
        }
        self.segment.stage = Stage::Searched;
        let (text, held) = (std::mem::take(&mut self.segment.text), std::mem::take(&mut self.segment.held));
        if self.segment.says {
            let mut start = 0;
            for (number, &(end, class)) in (self.segment.above + 1..).zip(&held) {
                let line = text.get(start..end).unwrap_or_default();
                start = end + 1;
                match line.strip_suffix('\r') {
                    Some(line) => self.search(number, line, Class::of(line)),
                    None => self.search(number, line, class),
                }
            }
        }
        (self.segment.text, self.segment.held) = emptied(text, held);
    }

    /// The tool whose text the segment is as a whole. To ask costs many times what the search for items does.
    fn tool(&mut self) -> Option<Kind> {
        if !self.segment.may_be_whole() {
            return None;
        }
        if !self.segment.prompted {
            if self.is_unasked() {
                self.found.unasked = true;
                return None;
            }
            self.asked += self.segment.text.len();
        }
        self.segment.tool()
    }

    /// A line of a segment that is no tool's text as a whole.
    fn search(&mut self, number: u64, line: &str, class: Class) {
        if let Some(item) = &mut self.item {
            let long = self.found.kept + item.len() + line.len() >= DOCTOR_TEXT;
            self.found.beyond |= long;
            if !long && item.take(line) {
                return;
            }
            self.end_item();
        }
        if !self.is_full() && !begins_nothing(line) {
            self.item = Item::begin(number, line);
        }
        if self.item.is_none() && !(class == Class::Other && self.is_watched() && self.tagged.take(line, number)) {
            self.other(number, class);
        }
    }

    fn end_item(&mut self) {
        match self.item.take().map(Item::end) {
            Some(Ok((kind, lines, text))) => self.push(kind, lines, text),
            Some(Err(number)) => self.other(number, Class::Other),
            None => {}
        }
    }

    /// A line that is in no tool's text.
    fn other(&mut self, number: u64, class: Class) {
        self.others(number, 1, class);
    }

    /// Lines that are in no tool's text, the first of which has this number.
    fn others(&mut self, number: u64, lines: usize, class: Class) {
        let seen = match class {
            Class::Kernel => &mut self.kernel_other,
            Class::Other => &mut self.found.other,
            Class::Blank | Class::Fence | Class::Log | Class::Prompt => return,
        };
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        count_other(seen, lines, number);
        if class == Class::Other && self.segment.prompted {
            count_other(&mut self.found.below_command, lines, number);
        }
    }

    fn push(&mut self, kind: Kind, lines: Lines, text: String) {
        if self.is_full() {
            self.found.full = true;
        } else if self.found.kept + text.len() > DOCTOR_TEXT {
            self.found.beyond = true;
        } else {
            self.found.kept += text.len();
            // What is about a cluster belongs to no node in particular, unless it is said whose the file is.
            let host = if kind.tool().of_cluster { &self.said } else { &self.segment.host };
            let host = host.clone();
            let heading = self.segment.heading.clone();
            self.add(Block { heading, ..Block::new(kind, lines, text, host) });
        }
    }

    /// A text, once for each of its hosts.
    fn add(&mut self, block: Block) {
        let list = block.host.as_deref().filter(|list| !is_one(list));
        let Some((hosts, more)) = list.and_then(|list| names(list, DOCTOR_BLOCK_NODES)) else {
            return self.found.list.push(block);
        };
        self.found.hosts_left_out |= more;
        for host in hosts.iter().filter_map(|h| short(h)) {
            let bytes = block.text.len();
            if self.is_full() {
                self.found.full = true;
            } else if self.room(self.found.kept + bytes) {
                self.found.kept += bytes;
                let (lines, text) = (block.lines.clone(), block.text.clone());
                self.found.list.push(Block::new(block.kind, lines, text, Some(host)));
            }
        }
    }

    /// What follows is of these hosts, which a heading names.
    fn below(&mut self, hosts: String) {
        self.close();
        self.host = Some(hosts);
        self.headed = true;
        self.found.has_hosts = true;
    }

    /// Lines that were held and are of no heading.
    fn not_held(&mut self) {
        self.headings.end().into_iter().flatten().for_each(|l| self.one(l.number, &l.text, l.marks));
    }

    /// Lines with the name of a host in front, in which tools' texts may be.
    fn tagged(&mut self) {
        let Untagged { blocks, other: (lines, first) } = std::mem::take(&mut self.tagged).cut();
        self.found.has_hosts |= !blocks.is_empty();
        blocks.into_iter().for_each(|b| if self.is_full() { self.found.full = true } else { self.found.list.push(b) });
        count_other(&mut self.found.other, lines, first);
    }

    /// The segment has ended.
    fn close(&mut self) {
        if self.segment.lines == 0 {
            return;
        }
        if matches!(self.segment.stage, Stage::Open) {
            self.decide();
        }
        self.end_item();
        if let Stage::Kept(kind) | Stage::Ended(kind) = self.segment.stage {
            let text = std::mem::take(&mut self.segment.text);
            self.push(kind, Lines::below(self.segment.above), text);
        }
        self.segment = std::mem::take(&mut self.segment).next();
    }

    /// The messages of the kernel, where no text of its log was found.
    fn kernels(&mut self) {
        if self.kernel.is_empty() || self.found.list.iter().any(|b| b.kind == Kind::Dmesg) {
            let (lines, first) = self.kernel_other;
            return count_other(&mut self.found.other, lines, first);
        }
        for Log { host, lines, text } in std::mem::take(&mut self.kernel).by_host(self.said.is_some()) {
            if self.is_full() {
                self.found.full = true;
                break;
            }
            self.add(Block::new(Kind::Dmesg, lines, text, host));
        }
    }
}
