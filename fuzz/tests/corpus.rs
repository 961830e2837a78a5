//! What fuzzing by coverage found is kept in `corpus/`, and goes through its target again whenever tests run.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use linerate_fuzz::targets::targets;
use linerate_fuzz::{hand, seeds};

/// Bytes of all files: a part of the repository that nobody reads.
const LARGEST: usize = 300 << 10;

#[test]
fn what_was_kept_goes_through_its_target() {
    let mut count = 0;
    for target in targets() {
        for input in seeds::kept(target.name) {
            let done = std::panic::catch_unwind(|| (target.run)(&input));
            assert!(done.is_ok(), "{}: {}", target.name, STANDARD.encode(&input));
            count += 1;
        }
    }
    hand::end();
    assert!(count > 0, "no input is kept");
}

#[test]
fn each_file_is_of_a_target_and_each_line_an_input() {
    let mut bytes = 0;
    for file in std::fs::read_dir(seeds::corpus()).unwrap().flatten() {
        let (path, text) = (file.path(), std::fs::read_to_string(file.path()).unwrap());
        let name = path.file_name().and_then(|n| n.to_str()).and_then(|n| n.strip_suffix(".txt")).unwrap_or_default();
        assert!(targets().iter().any(|t| t.name == name), "{} is of no target", path.display());
        let lines = text.lines().filter(|l| STANDARD.decode(l).is_ok_and(|input| !input.is_empty()));
        assert_eq!(lines.count(), text.lines().count(), "{}: a line is no input in Base64", path.display());
        assert_eq!(seeds::kept(name).len(), text.lines().count(), "{} is not read whole", path.display());
        bytes += text.len();
    }
    assert!(bytes < LARGEST, "{bytes} bytes in all");
}
