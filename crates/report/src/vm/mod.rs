//! `linerate vm` and `linerate vm check`: a host, its domains and their guests together.

mod json;
mod text;

use crate::Report;
use crate::style::Style;
use linerate_remedy::Plan;
use linerate_rules::explain::{Explained, Side, explained};
use linerate_vm::same::InGuest;
use std::io::{self, Write};

pub use json::{SCHEMA, WHOLE};

/// What was checked.
pub struct Check<'a> {
    /// Name of the domain.
    pub domain: &'a str,
    /// The host's audit, the domain's rules in it; without a host the domain's text alone.
    pub host: Report<'a>,
    /// Whether the host's own files were there.
    pub has_host: bool,
    /// The guest's audit.
    pub guest: Option<Report<'a>>,
    /// What NCCL concludes in the guest, beside the host.
    pub compared: Option<&'a InGuest>,
}

impl Check<'_> {
    fn explained(&self) -> Explained<'_> {
        let guest = self.guest.as_ref().map(|g| (Side::Guest, g.audit));
        explained([(Side::Host, self.host.audit)].into_iter().chain(guest), self.guest.is_some())
    }

    /// 1: findings; 2: nothing found, but something could not be seen; 0: all right.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        worst([Some(self.host.audit.exit_code()), self.guest.as_ref().map(|g| g.audit.exit_code())])
    }
}

fn worst(codes: impl IntoIterator<Item = Option<u8>>) -> u8 {
    let codes: Vec<u8> = codes.into_iter().flatten().collect();
    if codes.contains(&1) { 1 } else { codes.into_iter().max().unwrap_or(2) }
}

/// A host with all its guests, and what is to be done.
pub struct Whole<'a> {
    /// The host's audit, the rules of its domains in it.
    pub host: Report<'a>,
    /// Each domain that has devices of the host.
    pub guests: Vec<Guest<'a>>,
    /// What is to be done on the host: its firmware, kernel and ports, and the definitions of its domains.
    pub plan: &'a Plan,
}

/// A guest of a host.
pub struct Guest<'a> {
    /// Name of its domain.
    pub domain: &'a str,
    /// Its audit; `None`: nobody read it.
    pub report: Option<Report<'a>>,
    /// What NCCL concludes in it, beside the host.
    pub compared: Option<&'a InGuest>,
    /// What is to be done in it.
    pub plan: Option<&'a Plan>,
}

impl Whole<'_> {
    fn explained(&self) -> Explained<'_> {
        let guests = self.guests.iter().filter_map(|g| Some((Side::Guest, g.report.as_ref()?.audit)));
        let is_whole = self.guests.iter().all(|g| g.report.is_some());
        explained([(Side::Host, self.host.audit)].into_iter().chain(guests), is_whole)
    }

    /// As [`Check::exit_code`]; a guest that nobody read could not be seen.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let guests = self.guests.iter().map(|g| Some(g.report.as_ref().map_or(2, |r| r.audit.exit_code())));
        worst([Some(self.host.audit.exit_code())].into_iter().chain(guests))
    }
}

/// Writes a host with its guests for a terminal.
///
/// # Errors
/// Those of the writer.
pub fn render_whole(whole: &Whole<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    text::whole(whole, style, out)
}

/// Writes a host with its guests for programs.
///
/// # Errors
/// Those of the writer.
pub fn render_whole_json(whole: &Whole<'_>, out: &mut dyn Write) -> io::Result<()> {
    json::whole(whole, out)
}

/// Writes it for a terminal.
///
/// # Errors
/// Those of the writer.
pub fn render(check: &Check<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    text::check(check, style, out)
}

/// Writes it for programs.
///
/// # Errors
/// Those of the writer.
pub fn render_json(check: &Check<'_>, out: &mut dyn Write) -> io::Result<()> {
    json::check(check, out)
}
