//! The operator's side: what is asked of a node's hand, when it is rebooted, and when it is believed.
//!
//! A fix is done when the node, read again, shows it. So after every change the node is captured anew and judged by
//! [`linerate_remedy::verify`]; a trial is made permanent only then, and a node returns to service only then.

mod beside;
mod bios;
mod boot;
mod elsewhere;
mod event;
mod fits;
mod head;
mod labels;
mod lifecycle;
mod link;
mod many;
mod moved;
mod node;
mod one;
mod session;
mod undo;
mod unsure;

#[cfg(test)]
mod forged;
#[cfg(test)]
mod tests;

pub use bios::{Bmc, Carrier};
pub use event::Event;
pub use lifecycle::{Lifecycle, LifecycleError, Lone};
pub use link::{accepts, begun, check, identity, standing};
pub use many::{Fleet, Job, many};
pub use node::{Node, Reached, Remote, Unreached};
pub use one::{Ended, Options, Outcome, Stop, apply};
pub use session::Operator;
pub use undo::{Target, Undoing, Undone, rollback};
