//! The catalogue of causes: one file each, `<area>/<slug>.rs`.
//!
//! A [`Cause`] is a page and a check. The page comes first, in fixed sections that `linerate explain CAUSE` prints in this order:
//!
//! | section | field | holds |
//! |---|---|---|
//! | What it is | `what` | the state or event, and what it does to the job |
//! | How it shows | `shows` | what the check reads, in the words of the programs that print it |
//! | Why | `why` | why it happens, and why it has this effect |
//! | How to see it yourself | `confirm`, `refute` | checks that decide for or against it |
//! | Fix | `remedy` | what to do, where an answer has no better one |
//! | Sources | `sources` | primary sources, never none |
//!
//! Behind the page stand `severity`, `rules` (which judge it on a node), `follows` (causes beside which it is a consequence) and `check`.
//! A check reads one [`Case`](crate::case::Case): one job, what failed in it, and the nodes that were given. It answers `None`, or a [`Found`] with a
//! [`Confidence`](crate::answer::Confidence): *certain* only where the evidence itself says so. A line that is missing proves nothing.
//!
//! What several causes of an area need is in the area's `mod.rs`, or in a file named by its subject. [`registry`] is the table of areas; the list of an area,
//! in its `mod.rs`, is where a new cause is entered. Besides the checks, [`said`] takes the messages of programs that name a cause by themselves
//! (`observe/says`), and [`phrased`] the words of an expert (`observe/phrases`), both by the cause's id.

mod cause;
mod found;
mod phrased;
pub(crate) mod registry;
mod remedies;
mod said;
mod sources;

pub(crate) mod env;
pub(crate) mod gdr;
pub(crate) mod gpu;
pub(crate) mod ib;
pub(crate) mod job;
pub(crate) mod kernel;
pub(crate) mod net;
pub(crate) mod p2p;
pub(crate) mod perf;
pub(crate) mod shm;
pub(crate) mod topo;

pub use cause::Cause;
pub(crate) use found::Found;
pub(crate) use phrased::by_phrases;
pub(crate) use registry::causes;
pub use remedies::Advice;
pub(crate) use said::found;
pub(crate) use sources::{ENV_RST, TROUBLESHOOTING, nccl};
