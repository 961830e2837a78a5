//! The list, a table for each kind of subject, in the order of the audit's JSON.

mod cluster;
mod gpu;
mod nic;
mod node;
mod pci;
mod rdma;

use crate::{Def, Fact, Form, Subject, Unit, Value, Version1};
use linerate_node::Node;
use linerate_snapshot::{Place, Reading, Why};
use std::borrow::Cow;
use std::sync::LazyLock;

/// A fact, and how it is read from the node and its subject.
pub(crate) struct Row<F> {
    pub(crate) def: Def,
    pub(crate) read: F,
}

/// A fact that version 1 notes where it is not seen.
const fn fact<F: Copy>(id: &'static str, form: Form, what: &'static str, read: F) -> Row<F> {
    as_in(Version1::Noted, id, form, what, read)
}

/// A fact that version 1 leaves `null` without a note.
const fn quiet<F: Copy>(id: &'static str, form: Form, what: &'static str, read: F) -> Row<F> {
    as_in(Version1::Null, id, form, what, read)
}

const fn as_in<F: Copy>(version1: Version1, id: &'static str, form: Form, what: &'static str, read: F) -> Row<F> {
    Row { def: Def { id, form, unit: Unit::None, what, version1 }, read }
}

const fn counting<F: Copy>(unit: Unit, row: Row<F>) -> Row<F> {
    Row { def: Def { unit, ..row.def }, read: row.read }
}

/// A fact of the node.
type ReadNode = for<'n> fn(&'n Node<'n>) -> Said<'n>;
/// A fact of one of its things.
type Read1<T> = for<'n> fn(&'n Node<'n>, &'n T) -> Said<'n>;

type Said<'n> = Reading<Value<'n>>;

fn text(r: &Reading<String>) -> Said<'_> {
    r.as_ref().map(|t| Value::Text(Cow::Borrowed(t)))
}

fn short<'n>(r: &Reading<&'n str>) -> Said<'n> {
    r.as_ref().map(|t| Value::Text(Cow::Borrowed(*t)))
}

fn number<T: Copy + Into<u64>>(r: &Reading<T>) -> Said<'static> {
    copy(r, |n| Value::Number(n.into()))
}

fn copy<T: Copy>(r: &Reading<T>, f: impl FnOnce(T) -> Value<'static>) -> Said<'static> {
    r.as_ref().map(|v| f(*v))
}

fn there<T>(r: &Reading<T>) -> Said<'_> {
    r.as_ref().map(|_| Value::There)
}

fn known(value: Value<'_>, place: Place) -> Said<'_> {
    Reading::Known(value, place)
}

/// What the model holds as an option: there, or certainly not.
fn option(place: Place, value: Option<Value<'_>>) -> Said<'_> {
    value.map_or(Reading::Absent(place), |v| Reading::Known(v, place))
}

/// What the model holds as an option: there, or not shown by this source.
fn shown(place: Place, value: Option<Value<'_>>) -> Said<'_> {
    value.map_or(Reading::Unreadable(place, Why::NotCollected), |v| Reading::Known(v, place))
}

fn borrowed(t: &str) -> Value<'_> {
    Value::Text(Cow::Borrowed(t))
}

fn members<'n, T>(r: &'n Reading<Vec<T>>, f: impl Fn(&'n T) -> Subject<'n>) -> Said<'n> {
    r.as_ref().map(|list| Value::Members(list.iter().map(f).collect()))
}

/// The facts of one subject, in the order of the table. Those of its members are theirs.
#[must_use]
pub fn of<'n>(node: &'n Node<'n>, subject: Subject<'n>) -> Vec<Fact<'n>> {
    macro_rules! read {
        ($table:expr $(, $part:expr)*) => {
            $table.iter().map(|r| Fact { def: &r.def, subject, reading: (r.read)(node $(, $part)*) }).collect()
        };
    }
    match subject {
        Subject::Node => {
            let mut out: Vec<Fact<'n>> = read!(node::NODE);
            out.extend(cluster::NODE.iter().map(|r| Fact { def: &r.def, subject, reading: (r.read)(node) }));
            out
        }
        Subject::NumaNode(n) => read!(node::NUMA, n),
        Subject::IdleState(i) => read!(node::IDLE, i),
        Subject::Sysctl(c) => read!(node::SYSCTL, c),
        Subject::IommuGroup(g) => read!(node::GROUP, g),
        Subject::Gpu(g) => read!(gpu::GPU, g),
        Subject::NicFirmware(n) => read!(nic::FIRMWARE, n),
        Subject::Setting(n, p) => read!(nic::SETTING, n, p),
        Subject::Interface(n) => read!(nic::INTERFACE, n),
        Subject::InterfaceShown(n) => read!(nic::SHOWN, n),
        Subject::InterfaceWritten(n) => read!(nic::WRITTEN, n),
        Subject::RdmaDevice(d) => read!(rdma::DEVICE, d),
        Subject::Port(d, p) => read!(rdma::PORT, d, p),
        Subject::Gid(.., g) => read!(rdma::GID, g),
        Subject::Function(f) => read!(pci::FUNCTION, f),
        Subject::Bar(_, b) => read!(pci::BAR, b),
        Subject::ResizableBar(f, b) => read!(pci::RESIZABLE, f, b),
        Subject::Label(l) => read!(cluster::LABEL, l),
        Subject::Annotation(a) => read!(cluster::ANNOTATION, a),
        Subject::Taint(t) => read!(cluster::TAINT, t),
        Subject::Resource(r) => read!(cluster::RESOURCE, r),
        Subject::NodeCondition(c) => read!(cluster::CONDITION, c),
        Subject::Gres(g) => read!(cluster::GRES, g),
    }
}

/// Every fact of a node, one after another: a fact whose value is a list, then the facts of its members.
pub fn each<'n>(node: &'n Node<'n>, take: &mut dyn FnMut(&Fact<'n>)) {
    below(node, Subject::Node, take);
}

/// Subjects are at most four deep.
fn below<'n>(node: &'n Node<'n>, subject: Subject<'n>, take: &mut dyn FnMut(&Fact<'n>)) {
    for fact in of(node, subject) {
        take(&fact);
        if let Reading::Known(Value::Members(all), _) = &fact.reading {
            for member in all {
                below(node, *member, take);
            }
        }
    }
}

/// Every subject of a node with its facts, and then its members. One that is not `wanted` is left out with its members.
pub fn each_subject<'n>(
    node: &'n Node<'n>,
    wanted: &mut dyn FnMut(&Subject<'n>) -> bool,
    take: &mut dyn FnMut(&Subject<'n>, &[Fact<'n>]),
) {
    fn below<'n>(
        node: &'n Node<'n>,
        subject: Subject<'n>,
        wanted: &mut dyn FnMut(&Subject<'n>) -> bool,
        take: &mut dyn FnMut(&Subject<'n>, &[Fact<'n>]),
    ) {
        if !wanted(&subject) {
            return;
        }
        let facts = of(node, subject);
        take(&subject, &facts);
        for fact in &facts {
            if let Reading::Known(Value::Members(all), _) = &fact.reading {
                all.iter().for_each(|member| below(node, *member, wanted, take));
            }
        }
    }
    below(node, Subject::Node, wanted, take);
}

/// The facts of each kind of subject, in the order of [`of`].
pub(crate) fn tables() -> Vec<Vec<&'static Def>> {
    fn of<F>(table: &'static [Row<F>]) -> Vec<&'static Def> {
        table.iter().map(|r| &r.def).collect()
    }
    vec![
        [of(node::NODE), of(cluster::NODE)].concat(),
        of(node::NUMA),
        of(node::IDLE),
        of(node::SYSCTL),
        of(node::GROUP),
        of(gpu::GPU),
        of(nic::FIRMWARE),
        of(nic::SETTING),
        of(rdma::DEVICE),
        of(rdma::PORT),
        of(rdma::GID),
        of(nic::INTERFACE),
        of(nic::SHOWN),
        of(nic::WRITTEN),
        of(pci::FUNCTION),
        of(pci::BAR),
        of(pci::RESIZABLE),
        of(cluster::LABEL),
        of(cluster::ANNOTATION),
        of(cluster::TAINT),
        of(cluster::RESOURCE),
        of(cluster::CONDITION),
        of(cluster::GRES),
    ]
}

/// Which of [`tables`] a subject has.
pub(crate) fn table(subject: &Subject<'_>) -> usize {
    match subject {
        Subject::Node => 0,
        Subject::NumaNode(_) => 1,
        Subject::IdleState(_) => 2,
        Subject::Sysctl(_) => 3,
        Subject::IommuGroup(_) => 4,
        Subject::Gpu(_) => 5,
        Subject::NicFirmware(_) => 6,
        Subject::Setting(..) => 7,
        Subject::RdmaDevice(_) => 8,
        Subject::Port(..) => 9,
        Subject::Gid(..) => 10,
        Subject::Interface(_) => 11,
        Subject::InterfaceShown(_) => 12,
        Subject::InterfaceWritten(_) => 13,
        Subject::Function(_) => 14,
        Subject::Bar(..) => 15,
        Subject::ResizableBar(..) => 16,
        Subject::Label(_) => 17,
        Subject::Annotation(_) => 18,
        Subject::Taint(_) => 19,
        Subject::Resource(_) => 20,
        Subject::NodeCondition(_) => 21,
        Subject::Gres(_) => 22,
    }
}

/// Every fact that there is, by subject in the order of the list.
pub fn defs() -> impl Iterator<Item = &'static Def> {
    tables().into_iter().flatten()
}

/// The list whose members have a fact, by the ids of both: `rdma.ports` of `rdma.ports.state`. It is what [`Subject::prefix`] of a member says. `None`:
/// the node has it.
#[must_use]
pub fn list_of(id: &str) -> Option<&'static str> {
    static LISTS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let mut all: Vec<&'static str> = defs().filter(|d| d.form == Form::Members).map(|d| d.id).collect();
        all.sort_unstable();
        all
    });
    let above = id.rmatch_indices('.').filter_map(|(at, _)| id.get(..at));
    above.into_iter().find_map(|id| LISTS.get(LISTS.binary_search(&id).ok()?).copied())
}
