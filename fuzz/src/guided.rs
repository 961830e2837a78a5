//! One target under libFuzzer: `LINERATE_FUZZ_TARGET=NAME linerate-fuzz-guided DIRECTORY…`, built with coverage counters by
//! `cargo xtask fuzz --guided`. With `LINERATE_FUZZ_SEEDS=DIRECTORY` it writes the seeds of all targets there, and ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use linerate_fuzz::targets::{Target, targets};
use std::sync::LazyLock;

static TARGET: LazyLock<Option<Target>> = LazyLock::new(|| {
    let name = std::env::var("LINERATE_FUZZ_TARGET").ok()?;
    targets().into_iter().find(|t| t.name == name)
});

fuzz_target!(
    init: if let Some(dir) = std::env::var_os("LINERATE_FUZZ_SEEDS") {
        let written = linerate_fuzz::seeds::write(dir.as_ref());
        std::process::exit(i32::from(written.is_err()));
    },
    |bytes: &[u8]| match &*TARGET {
        Some(target) => (target.run)(bytes),
        // Nothing would be tested, and that must not look like success.
        None => std::process::abort(),
    }
);
