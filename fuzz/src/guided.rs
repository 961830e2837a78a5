//! One target under libFuzzer: `LINERATE_FUZZ_TARGET=NAME linerate-fuzz-guided DIRECTORY…`, built with coverage counters by
//! `cargo xtask fuzz --guided`. With `LINERATE_FUZZ_SEEDS=DIRECTORY` it writes the inputs of all targets there, and ends.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use linerate_fuzz::mutate::{Random, change, mutate};
use linerate_fuzz::targets::{Target, targets};
use std::sync::LazyLock;

/// One mutant in so many is libFuzzer's own, which knows compared values. The others are of our mutator, which knows lines and the words
/// that formats trip over.
const THEIRS: u32 = 4;

static TARGET: LazyLock<Option<Target>> = LazyLock::new(|| {
    let name = std::env::var("LINERATE_FUZZ_TARGET").ok()?;
    targets().into_iter().find(|t| t.name == name)
});

/// Inputs whose pieces our own mutator takes: the files of `LINERATE_FUZZ_POOL`.
static POOL: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let files = std::env::var_os("LINERATE_FUZZ_POOL").and_then(|dir| std::fs::read_dir(dir).ok());
    let mut paths: Vec<_> = files.into_iter().flatten().flatten().map(|f| f.path()).collect();
    paths.sort();
    paths.iter().filter_map(|p| std::fs::read(p).ok()).collect()
});

/// Mutates seeds as `linerate-fuzz` does, whatever they cover: what guidance is compared with.
static BLIND: LazyLock<bool> = LazyLock::new(|| std::env::var_os("LINERATE_FUZZ_BLIND").is_some());

fuzz_target!(
    init: if let Some(dir) = std::env::var_os("LINERATE_FUZZ_SEEDS") {
        let written = linerate_fuzz::seeds::write(dir.as_ref());
        linerate_fuzz::hand::end();
        std::process::exit(i32::from(written.is_err()));
    },
    |bytes: &[u8]| match &*TARGET {
        Some(target) => (target.run)(bytes),
        // Nothing would be tested, and that must not look like success.
        None => std::process::abort(),
    }
);

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random::new(seed.into());
    let made = match data.get(..size) {
        _ if *BLIND => mutate(&mut random, &POOL),
        Some(now) if !seed.is_multiple_of(THEIRS) => change(&mut random, now.to_vec(), &POOL),
        _ => return fuzzer_mutate(data, size, max_size),
    };
    let size = made.len().min(max_size);
    data.iter_mut().zip(&made).take(size).for_each(|(to, from)| *to = *from);
    size
});
