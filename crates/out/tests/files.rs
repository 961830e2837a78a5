//! Files: whole or as before, for whom they are, under no other name.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use linerate_out::file::{Access, Replace, write};
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report");
    write(&path, Access::Umask, b"first").unwrap();
    let mut file = Replace::begin(&path, Access::Umask).unwrap();
    file.write_all(&vec![b'x'; 1 << 20]).unwrap();
    file.flush().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"first", "it is not there before it is kept");
    drop(file);
    assert_eq!((fs::read(&path).unwrap(), names(dir.path())), (b"first".to_vec(), vec!["report".to_owned()]));
    write(&path, Access::Umask, b"second").unwrap();
    assert_eq!((fs::read(&path).unwrap(), names(dir.path())), (b"second".to_vec(), vec!["report".to_owned()]));
}

#[test]
fn what_was_captured_is_for_its_owner() {
    let dir = tempfile::tempdir().unwrap();
    let plan = dir.path().join("plan");
    fs::write(&plan, "old").unwrap();
    fs::set_permissions(&plan, fs::Permissions::from_mode(0o666)).unwrap();
    write(&plan, Access::Private, b"new").unwrap();
    assert_eq!(mode(&plan), 0o600);
    let report = dir.path().join("report");
    write(&report, Access::Umask, b"new").unwrap();
    fs::write(dir.path().join("like"), "").unwrap();
    assert_eq!(mode(&report), mode(&dir.path().join("like")));
}

#[test]
fn no_link_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (victim, link) = (dir.path().join("victim"), dir.path().join("link"));
    fs::write(&victim, "keep").unwrap();
    for target in [victim.as_path(), Path::new("/dev/null"), Path::new("gone")] {
        let _ = fs::remove_file(&link);
        symlink(target, &link).unwrap();
        write(&link, Access::Private, b"mine").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
        assert_eq!(fs::read(&link).unwrap(), b"mine");
        assert_eq!(fs::read(&victim).unwrap(), b"keep");
    }
    // Nor is a directory or a socket replaced.
    fs::create_dir(dir.path().join("d")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("s")).unwrap();
    for name in ["d", "s"] {
        assert_eq!(write(&dir.path().join(name), Access::Umask, b"x").unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    assert_eq!(write(&dir.path().join("no/where"), Access::Umask, b"x").unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn pipes_and_devices_are_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    write(&pipe, Access::Umask, b"through").unwrap();
    assert_eq!(reader.join().unwrap(), b"through");
    write(Path::new("/dev/null"), Access::Private, b"x").unwrap();
    assert!(fs::metadata("/dev/null").unwrap().permissions().mode() & 0o666 == 0o666);
    // What the process has open: `-o /dev/stdout`, `-o >(program)`.
    use std::os::fd::AsRawFd;
    let open = fs::File::create(dir.path().join("open")).unwrap();
    write(Path::new(&format!("/dev/fd/{}", open.as_raw_fd())), Access::Umask, b"by its number").unwrap();
    assert_eq!(fs::read(dir.path().join("open")).unwrap(), b"by its number");
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "none"]).arg(dir.path()).output();
    if !mounted.is_ok_and(|o| o.status.success()) {
        eprintln!("SKIPPED: a full disk: it takes root to mount one");
        return;
    }
    let path = dir.path().join("report");
    let results = (|| {
        write(&path, Access::Umask, b"earlier")?;
        let full = write(&path, Access::Umask, &vec![0; 1 << 20]);
        Ok::<_, std::io::Error>((full.map_err(|e| e.kind()), fs::read(&path)?, names(dir.path())))
    })();
    let _ = Command::new("umount").arg("-l").arg(dir.path()).status();
    let (full, left, names) = results.unwrap();
    assert_eq!((full, left, names), (Err(ErrorKind::StorageFull), b"earlier".to_vec(), vec!["report".to_owned()]));
}
