//! Why there is no answer: where NCCL itself would stop, or where the input is not a topology.

use crate::xml::At;

/// Why a topology was not judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// NCCL needs an attribute.
    #[error("<{element}> on line {}: no attribute {attribute}, and NCCL stops without it: add it", at.line)]
    Missing {
        /// Name of the element.
        element: String,
        /// What it lacks.
        attribute: &'static str,
        /// Where.
        at: At,
    },
    /// An attribute's value at which NCCL stops.
    #[error("<{element}> on line {}: {attribute}=\"{value}\": {why}", at.line)]
    Value {
        /// Name of the element.
        element: &'static str,
        /// Which attribute.
        attribute: &'static str,
        /// Its value, cut at 40 characters.
        value: String,
        /// Why NCCL stops, and what to do.
        why: &'static str,
        /// Where.
        at: At,
    },
    /// No GPU has a rank: there is nothing to judge.
    #[error(
        "no GPU: the topology has no <gpu> and no <pci> of class 0x03 with a rank: give the topology of a GPU node"
    )]
    NoGpu,
    /// A table of NCCL's is full.
    #[error("more than {limit} {what}: NCCL stops there: leave out devices that carry no GPU and no NIC of the job")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// NCCL's limit.
        limit: usize,
    },
    /// Elements are nested too deep.
    #[error("elements nested deeper than {0}: no node has that many switches in a row: give the right file")]
    TooDeep(usize),
    /// NICs that cannot be fused.
    #[error("NICs {nics} cannot be fused: {why}")]
    Fusion {
        /// Their names.
        nics: String,
        /// Why, and what to do.
        why: &'static str,
    },
    /// A link leads one way only, on the best path.
    #[error("{from} has no link back to {to}: NCCL stops there: give each NVLink at both ends")]
    OneWay {
        /// Where the link leads.
        from: String,
        /// Where it comes from.
        to: String,
    },
    /// A question of NCCL's that has no answer in this graph.
    #[error("{0}: NCCL stops there with an internal error: correct the topology")]
    Internal(String),
}
