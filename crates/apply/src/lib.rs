//! Changes nodes by plan, and undoes it.
//!
//! Two sides. The **hand** works on the node itself: it holds the lock, writes its journal ahead and synced, makes one [`Act`] after
//! another, and puts everything back. It is asked by one [`protocol::Request`] at a time and answers with one [`protocol::Answer`]; it
//! needs nobody to go on, so a lost connection leaves no half-made act behind. The **driver** works wherever the operator is: it asks
//! hands over `linerate_transport`, drains, reboots, waits for a new boot, has the node read again and judged.
//!
//! [`Act`]: linerate_remedy::Act

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod act;
pub mod drive;
pub mod hand;
mod journal;
pub mod kube;
pub mod loader;
mod named;
pub mod plans;
pub mod protocol;
pub mod redfish;
