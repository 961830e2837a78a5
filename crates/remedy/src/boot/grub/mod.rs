//! GRUB with Debian's names.

mod dropin;
mod menu;
#[cfg(test)]
mod tests;
mod trial;

pub use dropin::{DROP_IN, drop_in, fights, read_drop_in};
pub use trial::{is_custom_sourced, rhel_cfg, starts_once, trial_entry, with_trial, without_trial};
