//! The words of a conclusion. Rules, the doctor, judgements of environments and their reports say the same things with them.
//!
//! Each type is ordered from the mildest to the worst (or surest), and has one name, which JSON uses too.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

use serde::Serialize;
use std::fmt;

macro_rules! word {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum $type {
            $($(#[$variant_doc])* #[serde(rename = $name)] $variant),+
        }

        impl $type {
            /// All of them, in order.
            pub const ALL: &[$type] = &[$($type::$variant),+];

            /// In one word, as in JSON.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name),+
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

word! {
    /// The answer to a check.
    Status {
        /// Seen, and right.
        Pass = "pass",
        /// Does not hold here, with the reason.
        NotApplicable = "not-applicable",
        /// Could not be seen. Never green.
        Unknown = "unknown",
        /// Seen, and wrong.
        Fail = "fail",
    }
}

word! {
    /// How bad a finding is.
    Severity {
        /// Worth knowing; nothing to do. It does not change the exit code.
        Info = "info",
        /// Jitter, hygiene, or a few percent.
        Low = "low",
        /// A measurable share of the bandwidth, or it hides a fault.
        Medium = "medium",
        /// A large share of the bandwidth, or a feature or a job that does not work.
        High = "high",
        /// Hangs, corruption, faults.
        Critical = "critical",
    }
}

word! {
    /// How sure a cause is.
    Confidence {
        /// It fits, and so do other causes.
        Possible = "possible",
        /// It fits best, and one check would decide.
        Likely = "likely",
        /// The evidence itself says so.
        Certain = "certain",
    }
}

word! {
    /// How well the size of an effect is known, the best first.
    Quality {
        /// Follows from arithmetic on the link's own numbers.
        Derived = "derived",
        /// A primary source states it.
        Sourced = "sourced",
        /// Measured in the lab or on real nodes by this project.
        Measured = "measured",
        /// From experience; printed as an estimate.
        Estimate = "estimate",
        /// Nobody published a number; only the direction is known.
        DirectionOnly = "direction-only",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names are part of every JSON that was ever written.
    #[test]
    fn names_are_those_of_json() {
        fn same<T: Serialize + Copy>(all: &[T], name: impl Fn(T) -> &'static str) {
            for v in all {
                assert_eq!(serde_json::to_value(v).unwrap(), name(*v));
            }
        }
        same(Status::ALL, Status::name);
        same(Severity::ALL, Severity::name);
        same(Confidence::ALL, Confidence::name);
        same(Quality::ALL, Quality::name);
    }

    #[test]
    fn the_worst_is_the_greatest() {
        assert_eq!(Status::ALL.iter().max(), Some(&Status::Fail));
        assert!(Status::Unknown > Status::Pass);
        assert_eq!(Severity::ALL.iter().max(), Some(&Severity::Critical));
        assert_eq!(Confidence::ALL.iter().max(), Some(&Confidence::Certain));
    }
}
