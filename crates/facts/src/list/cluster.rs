//! What schedulers claim of the node: labels, annotations, taints, resources and conditions in Kubernetes; features, generic resources, state and
//! reason in Slurm.

use super::{Read1, ReadNode, Row, Said, as_in, borrowed, counting, known, option, shown};
use crate::{Form, Subject, Unit, Value, Version1};
use linerate_formats::kubernetes::{self, Condition, NAMES_A_NODE, Pair, Resource, Taint};
use linerate_formats::slurm::{self, gres::Gres};
use linerate_formats::text::At;
use linerate_node::Node;
use linerate_snapshot::{Place, Reading, Why};

/// A fact that version 1 of the JSON does not have.
const fn claim<F: Copy>(id: &'static str, form: Form, what: &'static str, read: F) -> Row<F> {
    as_in(Version1::Left, id, form, what, read)
}

pub(super) static NODE: &[Row<ReadNode>] = &[
    claim("kubernetes", Form::There, "The node's object in Kubernetes", |n| object(n, |_, p| known(Value::There, p))),
    claim("kubernetes.name", Form::Text, "Its name", |n| object(n, |k, p| known(borrowed(&k.name), p))),
    claim("kubernetes.unschedulable", Form::Flag, "Whether it takes no new pods (`kubectl cordon`)", |n| {
        object(n, |k, p| known(Value::Flag(k.unschedulable), p))
    }),
    claim("kubernetes.labels", Form::Members, "Its labels, without those that name a node or a time", |n| {
        object(n, |k, p| {
            let all = k.labels.iter().filter(|l| !NAMES_A_NODE.contains(&l.name.as_str()));
            known(Value::Members(all.map(Subject::Label).collect()), p)
        })
    }),
    claim("kubernetes.annotations", Form::Members, "Its annotations of at most 256 bytes", |n| {
        object(n, |k, p| known(Value::Members(k.annotations.iter().map(Subject::Annotation).collect()), p))
    }),
    claim("kubernetes.taints", Form::Members, "Its taints", |n| {
        object(n, |k, p| known(Value::Members(k.taints.iter().map(Subject::Taint).collect()), p))
    }),
    claim("kubernetes.resources", Form::Members, "Its resources, without memory and storage", |n| {
        object(n, |k, p| match &k.resources {
            Some(all) => {
                let all = all.iter().filter(|r| !MEASURED.contains(&r.name.as_str()));
                known(Value::Members(all.map(Subject::Resource).collect()), p)
            }
            None => shown(p, None),
        })
    }),
    claim("kubernetes.conditions", Form::Members, "Its conditions", |n| {
        object(n, |k, p| known(Value::Members(k.conditions.iter().map(Subject::NodeCondition).collect()), p))
    }),
    claim("slurm", Form::There, "The node's record in Slurm", |n| record(n, |_, p| known(Value::There, p))),
    claim("slurm.name", Form::Text, "Its name", |n| record(n, |s, p| known(borrowed(&s.name), p))),
    claim("slurm.state", Form::Texts, "Its state and flags: `IDLE`, `DRAIN`, `NOT_RESPONDING`", |n| {
        words(n, |s| &s.state)
    }),
    claim("slurm.reason", Form::Text, "Why it is in its state, in the words of whoever put it there", |n| {
        record(n, |s, p| match &s.reason {
            Some(r) => known(borrowed(&r.value), at(p, r.line)),
            // The controller prints a reason where there is one.
            None => option(p, None),
        })
    }),
    claim("slurm.features", Form::Texts, "Features that it has (`ActiveFeatures`)", |n| words(n, |s| &s.active)),
    claim("slurm.available_features", Form::Texts, "Features that it can have (`AvailableFeatures`)", |n| {
        words(n, |s| &s.available)
    }),
    claim("slurm.gres", Form::Members, "Its generic resources", |n| {
        record(n, |s, p| match &s.gres {
            Some(all) => known(Value::Members(all.value.iter().map(Subject::Gres).collect()), at(p, all.line)),
            None => shown(p, None),
        })
    }),
    counting(
        Unit::Mib,
        claim("slurm.memory_mib", Form::Number, "Its memory (`RealMemory`)", |n| number(n, |s| &s.memory_mib)),
    ),
    claim("slurm.cpus", Form::Number, "Its processors (`CPUTot`)", |n| number(n, |s| &s.cpus)),
    claim("slurm.sockets", Form::Number, "Its sockets", |n| number(n, |s| &s.sockets)),
    claim("slurm.boards", Form::Number, "Its boards", |n| number(n, |s| &s.boards)),
];

/// Resources that the kubelet measures, which differ a little between equal nodes.
const MEASURED: [&str; 2] = ["memory", "ephemeral-storage"];

pub(super) static LABEL: &[Row<Read1<Pair>>] = &[
    claim("kubernetes.labels.name", Form::Text, "Name of the label", |n, l| in_object(n, borrowed(&l.name), l.line)),
    claim("kubernetes.labels.value", Form::Text, "Its value, which may be empty", |n, l| {
        in_object(n, borrowed(&l.value), l.line)
    }),
];

pub(super) static ANNOTATION: &[Row<Read1<Pair>>] = &[
    claim("kubernetes.annotations.name", Form::Text, "Name of the annotation", |n, a| {
        in_object(n, borrowed(&a.name), a.line)
    }),
    claim("kubernetes.annotations.value", Form::Text, "Its value", |n, a| in_object(n, borrowed(&a.value), a.line)),
];

pub(super) static TAINT: &[Row<Read1<Taint>>] = &[
    claim("kubernetes.taints.name", Form::Text, "Key of the taint", |n, t| in_object(n, borrowed(&t.name), t.line)),
    claim("kubernetes.taints.value", Form::Text, "Its value, which may be empty", |n, t| {
        in_object(n, borrowed(&t.value), t.line)
    }),
    claim("kubernetes.taints.effect", Form::Text, "Its effects", |n, t| in_object(n, borrowed(&t.effect), t.line)),
];

pub(super) static RESOURCE: &[Row<Read1<Resource>>] = &[
    claim("kubernetes.resources.name", Form::Text, "Name of the resource", |n, r| {
        in_object(n, borrowed(&r.name), r.line)
    }),
    claim("kubernetes.resources.capacity", Form::Text, "How much the node has", |n, r| quantity(n, r, &r.capacity)),
    claim("kubernetes.resources.allocatable", Form::Text, "How much of it pods may ask for", |n, r| {
        quantity(n, r, &r.allocatable)
    }),
];

pub(super) static CONDITION: &[Row<Read1<Condition>>] = &[
    claim("kubernetes.conditions.name", Form::Text, "Type of the condition", |n, c| {
        in_object(n, borrowed(&c.name), c.line)
    }),
    claim("kubernetes.conditions.status", Form::Text, "`True`, `False` or `Unknown`", |n, c| {
        in_object(n, borrowed(&c.status), c.line)
    }),
    claim("kubernetes.conditions.reason", Form::Text, "Why, in one word", |n, c| {
        option(at(n.cluster.kubernetes.place(), c.line), c.reason.as_deref().map(borrowed))
    }),
];

pub(super) static GRES: &[Row<Read1<Gres>>] = &[
    claim("slurm.gres.name", Form::Text, "Kind and type: `gpu:h100`", |n, g| {
        known(Value::Text(g.key().into()), gres_place(n))
    }),
    claim("slurm.gres.count", Form::Number, "How many there are", |n, g| known(Value::Number(g.count), gres_place(n))),
    claim("slurm.gres.used", Form::Number, "How many of them jobs use", |n, g| {
        record(n, |s, p| match &s.used {
            Some(all) => {
                let used = all.value.iter().find(|u| u.key() == g.key());
                option(at(p, all.line), used.map(|u| Value::Number(u.count)))
            }
            None => shown(p, None),
        })
    }),
];

/// A place in the text that a reading is of; 0: the text has no line for it.
fn at(place: Place, line: u32) -> Place {
    if line == 0 { place } else { place.line(line) }
}

fn read<'n, T>(reading: &'n Reading<T>, f: impl FnOnce(&'n T, Place) -> Said<'n>) -> Said<'n> {
    match reading {
        Reading::Known(value, place) => f(value, *place),
        Reading::Absent(place) => Reading::Absent(*place),
        Reading::Unreadable(place, why) => Reading::Unreadable(*place, Why::clone(why)),
    }
}

fn object<'n>(n: &'n Node<'n>, f: impl FnOnce(&'n kubernetes::Node, Place) -> Said<'n>) -> Said<'n> {
    read(&n.cluster.kubernetes, f)
}

fn record<'n>(n: &'n Node<'n>, f: impl FnOnce(&'n slurm::Node, Place) -> Said<'n>) -> Said<'n> {
    read(&n.cluster.slurm, f)
}

/// What is on a line of the object.
fn in_object<'n>(n: &'n Node<'n>, value: Value<'n>, line: u32) -> Said<'n> {
    known(value, at(n.cluster.kubernetes.place(), line))
}

fn quantity<'n>(n: &'n Node<'n>, r: &'n Resource, value: &'n Option<String>) -> Said<'n> {
    option(at(n.cluster.kubernetes.place(), r.line), value.as_deref().map(borrowed))
}

fn gres_place(n: &Node<'_>) -> Place {
    let place = n.cluster.slurm.place();
    let line = n.cluster.slurm.known().and_then(|s| s.gres.as_ref()).map_or(0, |g| g.line);
    at(place, line)
}

fn words<'n>(n: &'n Node<'n>, of: fn(&slurm::Node) -> &Option<At<Vec<String>>>) -> Said<'n> {
    record(n, |s, p| match of(s) {
        Some(all) => known(Value::Texts(&all.value), at(p, all.line)),
        None => shown(p, None),
    })
}

fn number<'n>(n: &'n Node<'n>, of: fn(&slurm::Node) -> &Option<At<u64>>) -> Said<'n> {
    record(n, |s, p| match of(s) {
        Some(value) => known(Value::Number(value.value), at(p, value.line)),
        None => shown(p, None),
    })
}
