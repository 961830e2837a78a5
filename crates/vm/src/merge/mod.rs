//! A layout in a domain that somebody wrote: everything stays byte for byte but what the layout needs.
//!
//! ```text
//! text ── user: without what linerate added before ── numa: whose cells ── layout ── devices, settings: edits ── the text, read again
//! ```
//!
//! What the domain says already and that is enough stays. What differs stays, too, and is reported; `replace` has it replaced.

mod cliques;
mod devices;
mod edit;
mod numa;
mod refuse;
mod settings;
mod user;

pub use edit::Edit;
pub use refuse::{Given, Refused};
pub use user::without_ours;

use crate::guest;
use crate::host::Root;
use crate::layout::{Layout, Wishes, layout};
use crate::taken::Taken;
use edit::Edits;
use linerate_formats::libvirt::{Domain, Element, QEMU, Span, parse};
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use std::collections::BTreeSet;
use std::fmt;
use user::User;

/// What the domain says and the layout does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Line of the file.
    pub line: u32,
    /// Which setting.
    pub what: &'static str,
    /// What the domain says.
    pub has: String,
    /// What the layout has.
    pub wants: String,
    /// What it costs to keep it.
    pub costs: &'static str,
    /// It was replaced.
    pub is_replaced: bool,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { line, what, has, wants, costs, is_replaced } = self;
        match is_replaced {
            true => write!(f, "line {line}: {what}: {has} is replaced by {wants}"),
            false => write!(f, "line {line}: {what}: {has} is kept, the layout has {wants}: {costs}"),
        }
    }
}

/// A device of the domain that has another address now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Line of the file.
    pub line: u32,
    /// The host's function.
    pub host: Bdf,
    /// Its address before; `None`: libvirt was to choose one.
    pub from: Option<String>,
}

/// A domain with a layout in it.
#[derive(Debug, Clone)]
pub struct Merged {
    /// Its text.
    pub text: String,
    /// The text, read again.
    pub domain: Domain,
    /// The layout.
    pub layout: Layout,
    /// What was changed of [`without_ours`] of the text that was given.
    pub edits: Vec<Edit>,
    /// What the domain says otherwise.
    pub differences: Vec<Difference>,
    /// Devices that were moved.
    pub moved: Vec<Moved>,
}

/// What of a domain may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replace {
    /// Nothing: what differs is reported, and a device elsewhere is refused.
    #[default]
    Nothing,
    /// Addresses of devices: they are moved. What the domain says of CPUs, memory and pages stays, as whoever made the domain may know more of the host.
    Devices,
    /// The same, and settings that differ.
    All,
}

/// Merges a layout of these roots into a domain.
///
/// # Errors
/// See [`Refused`].
pub fn merge(
    node: &Node<'_>,
    roots: &[Root],
    wishes: &Wishes,
    replace: Replace,
    source: &[u8],
) -> Result<Merged, Refused> {
    let source = std::str::from_utf8(source).map_err(|_| Refused::Encoding)?;
    let (mark, source) = source.strip_prefix('\u{feff}').map_or(("", source), |rest| ("\u{feff}", rest));
    let user = User::read(source)?;
    let functions: BTreeSet<Bdf> =
        roots.iter().flat_map(|r| &r.ports).flat_map(|p| p.all_functions()).map(|f| node.pci.get(f).bdf).collect();
    devices::stay(&user, &functions)?;
    let plan = numa::plan(node, roots, wishes, replace, &user)?;
    let taken = Taken { cells: plan.theirs.clone(), ..Taken::of(&user.domain, &functions, &user.gone) };
    let layout = layout(node, roots, &Wishes { taken, ..plan.wishes.clone() })?;
    let edits = Edits::new(&user.text, &user.outline);
    let mut work = Work { user: &user, layout: &layout, replace, edits, is_declared: false, differences: Vec::new() };
    numa::write(&mut work, node, wishes, &plan);
    settings::write(&mut work)?;
    cliques::write(&mut work)?;
    let moved = devices::write(&mut work)?;
    let Work { edits, mut differences, .. } = work;
    differences.sort_by_key(|d| d.line);
    let (text, edits) = edits.apply().ok_or_else(|| Refused::Mistake("changes overlap".to_owned()))?;
    let domain = check(&text, &layout)?;
    Ok(Merged { text: format!("{mark}{text}"), domain, layout, edits, differences, moved })
}

/// What is being changed.
struct Work<'a> {
    user: &'a User,
    layout: &'a Layout,
    replace: Replace,
    edits: Edits<'a>,
    is_declared: bool,
    differences: Vec<Difference>,
}

impl Work<'_> {
    /// The domain says something else than the layout. `written` takes its place where that is asked for.
    fn differs(&mut self, span: Span, mut difference: Difference, written: Option<&str>) {
        difference.line = self.user.line(span.line);
        if let Some(written) = written.filter(|_| self.replace == Replace::All) {
            self.edits.replace(span, written);
            difference.is_replaced = true;
        }
        self.differences.push(difference);
    }

    /// The same of an element that cannot stay as it is.
    fn replaces(&mut self, element: &Element, difference: Difference, written: &str) {
        let line = self.user.line(element.span.line);
        self.edits.replace(element.span, written);
        self.differences.push(Difference { line, is_replaced: true, ..difference });
    }

    /// The prefix of QEMU's own settings; it is declared where it is not yet.
    fn prefix(&mut self) -> Result<String, Refused> {
        if let Some(prefix) = &self.user.outline.qemu {
            return Ok(format!("{prefix}:"));
        }
        if self.user.outline.is_qemu_taken {
            return Err(Refused::Prefix);
        }
        if std::mem::replace(&mut self.is_declared, true) {
            return Ok("qemu:".to_owned());
        }
        self.edits.in_tag(&self.user.outline.root, format!(" xmlns:qemu='{QEMU}'"));
        Ok("qemu:".to_owned())
    }
}

impl Difference {
    fn of(what: &'static str, has: impl ToString, wants: impl ToString, costs: &'static str) -> Difference {
        Difference { line: 0, what, has: has.to_string(), wants: wants.to_string(), costs, is_replaced: false }
    }
}

/// What was made, read again: libvirt takes it, and each device is where the layout says.
fn check(text: &str, layout: &Layout) -> Result<Domain, Refused> {
    let domain = parse(text.as_bytes()).map_err(|e| Refused::Mistake(e.to_string()))?;
    if let Some(illegal) = domain.refusal() {
        return Err(Refused::Mistake(illegal.to_string()));
    }
    let tree = guest(&domain);
    let is_there = |host, at| tree.of_host(host).and_then(|f| tree.functions.get(f)).is_some_and(|f| f.bdf == at);
    match layout.devices.iter().find(|d| !is_there(d.host, d.guest)) {
        Some(d) => Err(Refused::Mistake(format!("{} is not at {}", d.host, d.guest))),
        None => Ok(domain),
    }
}
