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

/// Every fact that there is, by subject in the order of the list.
pub fn defs() -> impl Iterator<Item = &'static Def> {
    fn of<F>(table: &'static [Row<F>]) -> impl Iterator<Item = &'static Def> {
        table.iter().map(|r| &r.def)
    }
    of(node::NODE)
        .chain(of(cluster::NODE))
        .chain(of(node::NUMA))
        .chain(of(node::IDLE))
        .chain(of(node::SYSCTL))
        .chain(of(node::GROUP))
        .chain(of(gpu::GPU))
        .chain(of(nic::FIRMWARE))
        .chain(of(nic::SETTING))
        .chain(of(rdma::DEVICE))
        .chain(of(rdma::PORT))
        .chain(of(rdma::GID))
        .chain(of(nic::INTERFACE))
        .chain(of(pci::FUNCTION))
        .chain(of(pci::BAR))
        .chain(of(pci::RESIZABLE))
        .chain(of(cluster::LABEL))
        .chain(of(cluster::ANNOTATION))
        .chain(of(cluster::TAINT))
        .chain(of(cluster::RESOURCE))
        .chain(of(cluster::CONDITION))
        .chain(of(cluster::GRES))
}
