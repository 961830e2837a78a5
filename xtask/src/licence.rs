//! Which licences a dependency may have.

use spdx::{Expression, ParseMode};

/// Licences under which we may ship a dependency.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
];

/// Whether an expression lets us choose allowed licences only. What cannot be read does not.
pub(crate) fn allowed(expression: &str) -> bool {
    // Old crates separate alternatives by a slash, as cargo allowed once.
    let mode = ParseMode {
        allow_slash_as_or_operator: true,
        allow_imprecise_license_names: false,
        allow_postfix_plus_on_gpl: true,
        allow_deprecated: true,
        allow_unknown: false,
    };
    let Ok(read) = Expression::parse_mode(expression, mode) else { return false };
    read.evaluate(|wanted| ALLOWED.contains(&wanted.to_string().as_str()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn expressions() {
        for (expression, want) in [
            ("MIT", true),
            ("MIT OR Apache-2.0", true),
            ("GPL-3.0 OR MIT", true),
            ("MIT/Apache-2.0", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", true),
            ("MIT AND GPL-3.0", false),
            ("GPL-2.0 WITH Classpath-exception-2.0", false),
            ("(MIT", false),
            ("MIT MIT", false),
            ("", false),
            ("MPL-2.0", false),
        ] {
            assert_eq!(super::allowed(expression), want, "{expression:?}");
        }
    }
}
