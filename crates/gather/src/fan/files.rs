//! The fleet's directory: `NODE/TIME.tar.zst`, a directory for each node and a file for each time.

use linerate_formats::clock;
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Longest name of a directory, bytes: file systems allow 255.
const LONGEST: usize = 200;
/// What the name of a snapshot ends with.
const END: &str = ".tar.zst";

/// The name of a node's directory: letters, digits and `._-@+` as they are, and every other byte as `%XX`. What would be hidden or an option is
/// written so as well; of a very long one the beginning, and a digest of the whole.
#[must_use]
pub fn directory_name(node: &str) -> String {
    let mut out = String::with_capacity(node.len());
    for (at, b) in node.bytes().enumerate() {
        let plain = b.is_ascii_alphanumeric() || b"_@+".contains(&b) || (at > 0 && b"-.".contains(&b));
        if plain {
            out.push(char::from(b));
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    if out.len() > LONGEST {
        let digest = Sha256::digest(node.as_bytes());
        let digest: String = digest.iter().take(8).map(|b| format!("{b:02x}")).collect();
        // All of it is ASCII.
        out.truncate(LONGEST - 18);
        out.push_str(&format!("%-{digest}"));
    }
    if out.is_empty() { "%".to_owned() } else { out }
}

/// The name of the snapshot of a time: `20261123T211906Z.tar.zst`, in the order of time.
#[must_use]
pub fn file_name(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    format!("{}{END}", clock::compact(seconds))
}

/// The time that a snapshot's name says.
#[must_use]
pub fn time_of(name: &str) -> Option<SystemTime> {
    let seconds = clock::from_compact(name.strip_suffix(END)?)?;
    Some(UNIX_EPOCH + Duration::from_secs(seconds))
}

/// The time that the name of a snapshot at a path says, however it is packed: Unix time, seconds. That of the archive, where it lies in one that has a
/// time and has none itself.
#[must_use]
pub fn seconds_of(path: &str) -> Option<u64> {
    path.rsplit('/').find_map(|name| clock::from_compact(name.split('.').next()?))
}

/// The newest snapshot of a node, and its time.
#[must_use]
pub fn newest(fleet: &Path, node: &str) -> Option<(SystemTime, PathBuf)> {
    let dir = fleet.join(directory_name(node));
    let names = fs::read_dir(&dir).ok()?.flatten().filter_map(|e| e.file_name().into_string().ok());
    let (time, name) = names.filter_map(|n| Some((time_of(&n)?, n))).max()?;
    Some((time, dir.join(name)))
}

/// Makes the directory of a node, for its owner only.
pub(super) fn make(fleet: &Path, node: &str) -> io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    let dir = fleet.join(directory_name(node));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_nodes_are_names_of_directories() {
        for (node, name) in [
            ("gpu001", "gpu001"),
            ("root@n1:2222", "root@n1%3A2222"),
            ("../../etc", "%2E.%2F..%2Fetc"),
            ("-rf", "%2Drf"),
            (".", "%2E"),
            ("", "%"),
            ("a\u{1b}[2J", "a%1B%5B2J"),
        ] {
            assert_eq!(directory_name(node), name);
        }
        let long = "x".repeat(4000);
        assert!(
            directory_name(&long).len() <= LONGEST && directory_name(&long) != directory_name(&(long.clone() + "y"))
        );
    }

    #[test]
    fn times_are_in_order() {
        assert_eq!(file_name(UNIX_EPOCH + Duration::from_secs(1_795_382_346)), "20261122T211906Z.tar.zst");
        assert_eq!(file_name(UNIX_EPOCH), "19700101T000000Z.tar.zst");
        for bad in [
            "x.tar.zst",
            "20261122T203906Z",
            "20261322T203906Z.tar.zst",
            ".20261122T203906Z.tar.zst",
            "2026112xT203906Z.tar.zst",
            "20260231T203906Z.tar.zst",
            "20261122T993906Z.tar.zst",
        ] {
            assert_eq!(time_of(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn two_names_never_share_a_directory(a in "\\PC{0,40}", b in "\\PC{0,40}") {
            let (x, y) = (directory_name(&a), directory_name(&b));
            prop_assert_eq!(a == b, x == y);
            prop_assert!(!x.contains('/') && !x.starts_with(['.', '-']) && x.len() <= LONGEST);
        }

        #[test]
        fn a_time_is_read_as_it_is_written(seconds in 0_u64..200_000_000_000) {
            let time = UNIX_EPOCH + Duration::from_secs(seconds);
            prop_assert_eq!(time_of(&file_name(time)), Some(time));
        }
    }
}
