//! Frequency and sleep policies of the CPU.

mod governor;
mod idle_states;

use crate::rule::Rule;

pub(crate) static RULES: &[&Rule] = &[&governor::RULE, &idle_states::RULE];
