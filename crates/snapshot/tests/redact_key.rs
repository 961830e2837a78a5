//! A key that the operator keeps: hashes that join over snapshots, and are read back.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use linerate_compose::Description;
use linerate_snapshot::capture::{Options, Purpose, capture};
use linerate_snapshot::{EntryId, EntryKind, KeyError, RedactKey, Snapshot};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn tree(dir: &Path) {
    let at = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/nodes/healthy-8gpu-roce.toml");
    Description::load(&at).unwrap().compose().unwrap().write_to(dir).unwrap();
    std::fs::create_dir_all(dir.join("etc")).unwrap();
    std::fs::write(dir.join("etc/machine-id"), "0123456789abcdef0123456789abcdef\n").unwrap();
    std::fs::write(dir.join("proc/sys/kernel/hostname"), "gpu017.cluster\n").unwrap();
}

fn taken(dir: &Path, redact: bool, key: Option<&RedactKey>) -> Snapshot {
    let options = Options { redact, key: key.cloned(), ..Options::new(dir, Purpose::Collect) };
    capture(&options, &|_| {}).unwrap()
}

fn files(s: &Snapshot) -> BTreeMap<String, Vec<u8>> {
    let (mut out, mut dirs): (_, Vec<EntryId>) = (BTreeMap::new(), vec![s.root()]);
    while let Some(dir) = dirs.pop() {
        for (_, id) in s.children(dir) {
            match s.kind(id) {
                EntryKind::Dir => dirs.push(id),
                EntryKind::File | EntryKind::CutFile => _ = out.insert(s.path(id), s.data(id).to_vec()),
                _ => {}
            }
        }
    }
    out
}

/// What is redacted by the operator is what the node itself would have redacted with the same key.
#[test]
fn redacted_later_is_redacted_as_at_the_capture() {
    let dir = tempfile::tempdir().unwrap();
    let (root, file) = (dir.path().join("node"), dir.path().join("fleet.key"));
    tree(&root);
    let key = RedactKey::open(&file).unwrap();
    let (at_once, mut later, raw) =
        (taken(&root, true, Some(&key)), taken(&root, false, None), taken(&root, false, None));
    later.redact(Some(&key)).unwrap();
    let (a, b, raw_files) = (files(&at_once), files(&later), files(&raw));
    let differ: Vec<_> = a.iter().filter(|(path, data)| b.get(*path) != Some(data)).map(|(p, _)| p).collect();
    assert!(differ.is_empty() && a.len() == b.len(), "{differ:?}");
    let hidden = raw_files.iter().filter(|(path, data)| b.get(*path) != Some(data)).count();
    assert!(hidden > 20, "{hidden}");
    assert_eq!((&later.manifest.host, &later.manifest.redact_key), (&at_once.manifest.host, &Some(key.id())));
    assert!(later.manifest.host.starts_with("host-") && later.manifest.redacted);
    // Again, and with another key, it stays.
    later.redact(None).unwrap();
    assert_eq!(files(&later), b);
}

#[test]
fn hashes_join_and_are_read_back_with_the_key_only() {
    let dir = tempfile::tempdir().unwrap();
    let (root, file) = (dir.path().join("node"), dir.path().join("fleet.key"));
    tree(&root);
    let key = RedactKey::open(&file).unwrap();
    let first = taken(&root, true, Some(&key));
    key.save().unwrap();
    // Read again, as in another run.
    let again = RedactKey::open(&file).unwrap();
    assert_eq!(again.id(), key.id());
    let second = taken(&root, true, Some(&again));
    assert_eq!(files(&first), files(&second));
    let other = taken(&root, true, Some(&RedactKey::open(&dir.path().join("other.key")).unwrap()));
    assert_ne!(files(&first), files(&other));
    assert_eq!(again.reveal(&format!("{} is up.", first.manifest.host)), ("gpu017 is up.".to_owned(), 1));
    let raw = files(&taken(&root, false, None));
    // Whatever one word became is read back, unless it is part of a binary.
    let words = |data: &[u8]| String::from_utf8(data.to_vec()).ok().filter(|t| t.split_whitespace().count() == 1);
    let mut back = 0;
    for (path, data) in &files(&first) {
        let (Some(hash), Some(real)) = (words(data), words(&raw[path])) else { continue };
        if hash != real && !path.contains("hostname") {
            let (text, n) = again.reveal(&hash);
            assert_eq!((text.trim(), n), (real.trim(), 1), "{path}");
            back += 1;
        }
    }
    assert!(back > 20, "{back}");
    assert_eq!(
        again.reveal("redacted-00000000 02:00:00:00:00:00 ünknown"),
        ("redacted-00000000 02:00:00:00:00:00 ünknown".to_owned(), 0)
    );
}

#[test]
fn guids_are_read_back_in_the_form_they_are_written_in() {
    let dir = tempfile::tempdir().unwrap();
    let key = RedactKey::open(&dir.path().join("k")).unwrap();
    let text = "node_guid: 946d:ae03:00ab:cdef\nGUID 0x946dae0300abcdef\nport guid 946dae0300abcdef\nSerial: 94-6d-ae-03-00-ab-cd-ef\n";
    let mut s = Snapshot::new("x");
    s.add_file("cmd/0/stdout", text.as_bytes()).unwrap();
    s.redact(Some(&key)).unwrap();
    let hashed = String::from_utf8(files(&s)["cmd/0/stdout"].clone()).unwrap();
    assert!(!hashed.contains("946d") && !hashed.contains("94-6d"), "{hashed}");
    assert_eq!(key.reveal(&hashed).0, text);
}

#[test]
fn a_key_that_others_may_read_or_that_is_none_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("k");
    let key = RedactKey::open(&file).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&file).unwrap();
    let secret = text.lines().nth(1).unwrap().trim_start_matches("key ").to_owned();
    assert!(!format!("{key:?}").contains(&secret[..16]) && !key.id().contains(&secret[..8]));
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
    assert!(matches!(RedactKey::open(&file), Err(KeyError::Open { mode: 0o640, .. })));
    for (bad, at) in
        [("", 1), ("hello\n", 1), (&*text.replace("\nkey ", "\nkey z"), 2), (&*format!("{text}no tab\n"), 3)]
    {
        std::fs::write(&file, bad).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        match RedactKey::open(&file) {
            Err(KeyError::Form { line, .. }) => assert_eq!(line, at, "{bad:?}"),
            other => panic!("{bad:?}: {other:?}"),
        }
    }
}

/// A snapshot of one name, hashed: what it became.
fn hashed(key: &RedactKey, guid: &str) -> String {
    let mut s = Snapshot::new("x");
    s.add_file("cmd/0/stdout", format!("GUID {guid}\n").as_bytes()).unwrap();
    s.redact(Some(key)).unwrap();
    String::from_utf8(files(&s)["cmd/0/stdout"].clone()).unwrap()
}

#[test]
fn commands_at_once_keep_each_others_names() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("k");
    let guid = |n: usize| format!("0x946dae03{n:08x}");
    // All make the key, hash and save at once, each more than once.
    let one = |n: usize| {
        let key = RedactKey::open(&file).unwrap();
        let more = |m: usize| {
            let out = hashed(&key, &guid(n * 10 + m));
            key.save().unwrap();
            (out, guid(n * 10 + m))
        };
        (0..3).map(more).collect::<Vec<_>>()
    };
    let texts: Vec<(String, String)> = std::thread::scope(|scope| {
        let one = &one;
        let all: Vec<_> = (0..8).map(|n| scope.spawn(move || one(n))).collect();
        all.into_iter().flat_map(|t| t.join().unwrap()).collect()
    });
    let key = RedactKey::open(&file).unwrap();
    for (hash, real) in &texts {
        assert!(!hash.contains(real.as_str()));
        assert_eq!(key.reveal(hash), (format!("GUID {real}\n"), 1));
    }
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // Nothing new, nothing written.
    std::fs::remove_file(&file).unwrap();
    key.save().unwrap();
    assert!(!file.exists());
}

#[test]
fn another_key_in_the_same_file_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("k");
    let key = RedactKey::open(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let other = RedactKey::open(&file).unwrap();
    hashed(&key, "0x946dae0300000001");
    assert!(matches!(key.save(), Err(KeyError::Replaced { .. })));
    assert_eq!(RedactKey::open(&file).unwrap().id(), other.id());
}

/// Ids of nodes come back from an archive as they were, redacted or not: the net of secrets takes none for a secret.
#[test]
fn ids_are_kept_in_archives() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("node");
    // As the kernel has it: the directory of the ids is behind a link.
    for (path, text) in [
        ("etc/machine-id", "0123456789abcdef0123456789abcdef\n"),
        ("proc/cmdline", "quiet\n"),
        ("sys/devices/virtual/dmi/id/product_uuid", "4c4c4544-0035-3510-8052-b4c04f4d3533\n"),
    ] {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::fs::create_dir_all(root.join("sys/class/dmi")).unwrap();
    std::os::unix::fs::symlink("../../devices/virtual/dmi/id", root.join("sys/class/dmi/id")).unwrap();
    let key = RedactKey::open(&dir.path().join("k")).unwrap();
    for (redact, key) in [(false, None), (true, Some(&key))] {
        let taken = taken(&root, redact, key);
        let packed = dir.path().join("s.tar.zst");
        taken.save(&packed).unwrap();
        let back = linerate_snapshot::load_bytes(&std::fs::read(&packed).unwrap(), "s").unwrap();
        let ids = |s: &Snapshot| -> Vec<Vec<u8>> {
            let wanted = |path: &str| path == "etc/machine-id" || path.ends_with("/product_uuid");
            files(s).into_iter().filter(|(path, _)| wanted(path)).map(|(_, data)| data).collect()
        };
        let (before, after) = (ids(&taken), ids(&back));
        assert!(before == after && before.len() == 2 && before[0] != before[1], "{redact}");
        assert!(before.iter().all(|id| id.len() > 8 && !id.contains(&b'[')), "{redact}");
    }
}
