//! What a fact can be.

use crate::Subject;
use linerate_formats::cmdline::Cmdline;
use linerate_formats::pci::caps::AcsBits;
use linerate_formats::pci::{Bdf, LinkSpeed, LinkWidth};
use linerate_node::context::Role;
use linerate_node::cpu::Tally;
use linerate_node::firmware::Lockdown;
use linerate_node::iommu::DomainType;
use linerate_node::memory::Limit;
use linerate_node::pci::{Distance, Kind};
use linerate_node::rdma::{LinkLayer, PortState};
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt;

/// The value of a fact. Numbers are in the unit of their [`crate::Def`].
#[derive(Debug, Clone)]
pub enum Value<'n> {
    /// It is there. What it holds are facts of their own, whose ids begin with this one's and a dot.
    There,
    /// Yes or no.
    Flag(bool),
    /// A number.
    Number(u64),
    /// A number that may be negative.
    Signed(i64),
    /// A measured number.
    Real(f64),
    /// An id: value, and how many hexadecimal digits it is written with.
    Hex(u32, usize),
    /// Text as the source has it.
    Text(Cow<'n, str>),
    /// One of few words.
    Word(&'static str),
    /// A PCI address.
    Address(Bdf),
    /// Speed of a link.
    Speed(LinkSpeed),
    /// Width of a link.
    Width(LinkWidth),
    /// What a PCI function is.
    Kind(Kind),
    /// How far two functions are from each other.
    Distance(Distance),
    /// State of an RDMA port.
    State(PortState),
    /// Link layer of an RDMA port.
    Layer(LinkLayer),
    /// Lockdown of the kernel.
    Lockdown(Lockdown),
    /// Domain of an IOMMU group.
    Domain(DomainType),
    /// What kind of node it is.
    Role(Role),
    /// A limit, bytes.
    Limit(Limit),
    /// Bits of Access Control Services.
    Acs(AcsBits),
    /// Arguments of the kernel.
    Arguments(&'n Cmdline),
    /// A file of which only length and digest are shown: it may hold what nobody should copy around.
    Content(&'n [u8]),
    /// Several texts.
    Texts(&'n [String]),
    /// Several numbers.
    Numbers(Vec<u64>),
    /// Several PCI addresses.
    Addresses(Cow<'n, [Bdf]>),
    /// Values, and how many CPUs have each.
    Tally(&'n Tally),
    /// Things with facts of their own.
    Members(Vec<Subject<'n>>),
}

impl fmt::Display for Value<'_> {
    /// In words, without the unit. Stored with the runs of benchmarks: other words for the same value are a false difference.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::There => f.write_str("there"),
            Value::Flag(v) => v.fmt(f),
            Value::Number(v) => v.fmt(f),
            Value::Signed(v) => v.fmt(f),
            Value::Real(v) => v.fmt(f),
            Value::Hex(v, digits) => write!(f, "{v:0digits$x}"),
            Value::Text(t) => f.write_str(t),
            Value::Word(w) => f.write_str(w),
            Value::Address(a) => a.fmt(f),
            Value::Speed(v) => v.fmt(f),
            Value::Width(v) => v.fmt(f),
            Value::Kind(v) => v.serialize(f),
            Value::Distance(v) => v.fmt(f),
            Value::State(v) => write!(f, "{v:?}"),
            Value::Layer(v) => write!(f, "{v:?}"),
            Value::Lockdown(v) => v.serialize(f),
            Value::Domain(v) => v.fmt(f),
            Value::Role(v) => v.fmt(f),
            Value::Limit(v) => v.fmt(f),
            Value::Acs(v) => v.fmt(f),
            Value::Arguments(all) => joined(f, " ", all.params.iter().map(|p| &p.raw)),
            Value::Content(bytes) => {
                let hash = Sha256::digest(bytes);
                write!(f, "{} bytes, SHA-256 {:02x}{:02x}{:02x}{:02x}", bytes.len(), hash[0], hash[1], hash[2], hash[3])
            }
            Value::Texts(all) => joined(f, " ", all.iter()),
            Value::Numbers(all) => joined(f, " ", all),
            Value::Addresses(all) => joined(f, " ", all.iter()),
            Value::Tally(all) => {
                let mut names: Vec<&str> = all.iter().map(|(name, ..)| name.as_str()).collect();
                names.sort_unstable();
                names.dedup();
                f.write_str(&names.join(", "))
            }
            Value::Members(all) => all.len().fmt(f),
        }
    }
}

fn joined<T: fmt::Display>(f: &mut fmt::Formatter<'_>, by: &str, all: impl IntoIterator<Item = T>) -> fmt::Result {
    for (i, one) in all.into_iter().enumerate() {
        write!(f, "{}{one}", if i > 0 { by } else { "" })?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Counted<'a> {
    value: &'a str,
    cpus: u32,
}

impl Serialize for Value<'_> {
    /// As JSON: what has members is `true` or the list of their paths, a limit that does not limit is `null`.
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::There => s.serialize_bool(true),
            Value::Flag(v) => s.serialize_bool(*v),
            Value::Number(v) => s.serialize_u64(*v),
            Value::Signed(v) => s.serialize_i64(*v),
            Value::Real(v) => s.serialize_f64(*v),
            Value::Text(t) => s.serialize_str(t),
            Value::Word(w) => s.serialize_str(w),
            Value::Width(v) => v.serialize(s),
            Value::Kind(v) => v.serialize(s),
            Value::Distance(v) => v.serialize(s),
            Value::State(v) => v.serialize(s),
            Value::Layer(v) => v.serialize(s),
            Value::Lockdown(v) => v.serialize(s),
            Value::Role(v) => v.serialize(s),
            Value::Limit(Limit::Unlimited) => s.serialize_none(),
            Value::Limit(Limit::Bytes(n)) => s.serialize_u64(*n),
            Value::Acs(bits) => s.collect_seq(AcsBits::names().filter(|(b, _)| bits.has(*b)).map(|(_, name)| name)),
            Value::Arguments(all) => s.collect_seq(all.params.iter().map(|p| &p.raw)),
            Value::Texts(all) => all.serialize(s),
            Value::Numbers(all) => all.serialize(s),
            Value::Addresses(all) => all.serialize(s),
            Value::Tally(all) => s.collect_seq(all.iter().map(|(value, cpus, _)| Counted { value, cpus: *cpus })),
            Value::Members(all) => s.collect_seq(all.iter().map(ToString::to_string)),
            Value::Hex(..) | Value::Address(_) | Value::Speed(_) | Value::Domain(_) | Value::Content(_) => {
                s.collect_str(self)
            }
        }
    }
}
