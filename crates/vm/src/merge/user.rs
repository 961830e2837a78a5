//! A domain that somebody wrote, without what linerate added to it before.

use super::edit::begin;
use super::refuse::Refused;
use linerate_formats::libvirt::{Domain, Element, Outline, Piece, outline, parse};
use linerate_formats::pci::Bdf;
use std::collections::BTreeSet;
use std::ops::Range;

/// Aliases of what linerate adds begin with it.
pub(super) const OURS: &str = "ua-linerate-";
/// What redaction leaves of a secret.
const MASK: &str = "[redacted]";

/// A domain without linerate's part.
pub(super) struct User {
    /// Its text.
    pub(super) text: String,
    /// What it says.
    pub(super) domain: Domain,
    /// Where.
    pub(super) outline: Outline,
    /// Indexes of controllers that were linerate's.
    pub(super) gone: BTreeSet<u32>,
    /// Of each line of the text: its number in the file.
    lines: Vec<u32>,
}

impl User {
    pub(super) fn read(source: &str) -> Result<User, Refused> {
        if let Some(at) = source.find(MASK) {
            return Err(Refused::Masked(line_of(source, at)));
        }
        let (removed, gone) = ours(source)?;
        let text = without(source, &removed);
        let (outline, domain) = (outline(&text)?, parse(text.as_bytes())?);
        if domain.is_running {
            return Err(Refused::Running);
        }
        if (domain.span.from, domain.span.to) != (outline.root.span.from, outline.root.span.to) {
            return Err(Refused::Mistake("two readers find different domains".to_owned()));
        }
        let lines = lines(&text, source, &removed);
        let user = User { text, domain, outline, gone, lines };
        user.can_be_changed()?;
        Ok(user)
    }

    fn can_be_changed(&self) -> Result<(), Refused> {
        let d = &self.domain;
        if !matches!(d.arch.as_str(), "x86_64" | "i686") {
            return Err(Refused::Arch(d.arch.clone()));
        }
        if !d.is_pcie() {
            let (line, machine) =
                d.machine.as_ref().map_or((d.span.line, "(none)".to_owned()), |m| (m.line, m.value.clone()));
            return Err(Refused::Machine { line: self.line(line), machine });
        }
        let mut illegal = d.refusals();
        illegal.iter_mut().for_each(|i| i.line = self.line(i.line));
        if !illegal.is_empty() {
            return Err(Refused::Illegal(illegal));
        }
        let expander = |c: &&linerate_formats::libvirt::Controller| {
            c.model == Some(linerate_formats::libvirt::Model::PcieExpander) && c.bus_number.is_none()
        };
        d.controllers.iter().find(expander).map_or(Ok(()), |c| Err(Refused::NoBusNumber(self.line(c.span.line))))
    }

    /// The line of the file.
    pub(super) fn line(&self, line: u32) -> u32 {
        self.lines.get(line.saturating_sub(1) as usize).copied().unwrap_or(line)
    }

    /// A device, by where it begins.
    pub(super) fn device(&self, from: usize) -> Option<&Element> {
        self.outline.root.child("devices")?.elements().find(|e| e.span.from == from)
    }

    /// QEMU's own settings of a name.
    pub(super) fn of_qemu(&self, name: &str) -> Option<&Element> {
        self.outline.root.elements().find(|e| e.is_qemu && e.name == name)
    }
}

/// A domain without what linerate added with aliases of its own: controllers, devices, properties of devices.
///
/// # Errors
/// See [`Refused`].
pub fn without_ours(source: &str) -> Result<String, Refused> {
    Ok(without(source, &ours(source)?.0))
}

/// Places of linerate's part in the order of the text, and indexes of its controllers.
fn ours(source: &str) -> Result<(Vec<Range<usize>>, BTreeSet<u32>), Refused> {
    let outline = outline(source)?;
    let (mut out, mut gone) = (Vec::new(), BTreeSet::new());
    let pieces = outline.root.child("devices").map_or(&[][..], |d| d.pieces.as_slice());
    let mut comment = None;
    for piece in pieces {
        match piece {
            Piece::Comment(text, span) => comment = Some(*span).filter(|_| is_port(text)),
            Piece::Element(e) => {
                let own = is_ours(e.child("alias").and_then(|a| a.get("name")));
                let is_controller = e.name == "controller";
                if own && e.get("type") == Some("pci") && (is_controller || e.name == "hostdev") {
                    let from = comment.filter(|c| is_controller && begin(source, e.span.from) == c.to);
                    out.push(begin(source, from.map_or(e.span.from, |c| c.from))..e.span.to);
                    gone.extend(e.get("index").filter(|_| is_controller).and_then(|i| i.parse::<u32>().ok()));
                }
                comment = None;
            }
        }
    }
    if let Some(all) = outline.root.elements().find(|e| e.is_qemu && e.name == "override") {
        let own = |e: &&Element| e.name == "device" && is_ours(e.get("alias"));
        let count = all.elements().filter(own).count();
        if count > 0 && count == all.pieces.len() {
            out.push(begin(source, all.span.from)..all.span.to);
        } else {
            out.extend(all.elements().filter(own).map(|e| begin(source, e.span.from)..e.span.to));
        }
    }
    out.sort_by_key(|r| r.start);
    Ok((out, gone))
}

fn is_ours(alias: Option<&str>) -> bool {
    alias.is_some_and(|a| a.starts_with(OURS))
}

/// What linerate writes before a controller: `pci0000:3a`, or the address of a port.
fn is_port(comment: &str) -> bool {
    let own = comment.strip_prefix(' ').and_then(|c| c.strip_suffix(' ')).unwrap_or_default();
    let is_root =
        own.strip_prefix("pci").is_some_and(|r| r.len() >= 7 && r.bytes().all(|b| b.is_ascii_hexdigit() || b == b':'));
    is_root || own.parse::<Bdf>().is_ok_and(|b| b.to_string() == own)
}

fn without(source: &str, removed: &[Range<usize>]) -> String {
    let (mut out, mut done) = (String::with_capacity(source.len()), 0);
    for r in removed {
        out.push_str(source.get(done..r.start).unwrap_or_default());
        done = r.end.max(done);
    }
    out + source.get(done..).unwrap_or_default()
}

fn line_of(text: &str, at: usize) -> u32 {
    let ends = text.get(..at).map_or(0, |t| t.bytes().filter(|b| *b == b'\n').count());
    u32::try_from(ends + 1).unwrap_or(u32::MAX)
}

/// Of each line of a text its number in the source: that of the first thing on it.
fn lines(text: &str, source: &str, removed: &[Range<usize>]) -> Vec<u32> {
    let (mut out, mut removed) = (Vec::new(), removed.iter().peekable());
    let (mut start, mut shift, mut counted, mut number) = (0, 0, 0, 1);
    for line in text.split_inclusive('\n') {
        let at = start + line.len() - line.trim_start().len();
        start += line.len();
        while let Some(r) = removed.next_if(|r| r.start <= at.min(start.saturating_sub(1)) + shift) {
            shift += r.len();
        }
        let offset = at + shift;
        let passed = source.get(counted..offset).map_or(0, |t| t.bytes().filter(|b| *b == b'\n').count());
        number += u32::try_from(passed).unwrap_or(u32::MAX);
        counted = counted.max(offset);
        out.push(number);
    }
    out
}
