//! IOMMU: is one in use, does it translate what GPUs and NICs do, and what people believe about it.

mod translated_domain;

use crate::rule::Rule;

pub(crate) static RULES: &[&Rule] = &[&translated_domain::RULE];
