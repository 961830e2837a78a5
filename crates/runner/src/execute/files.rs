//! The directory of a storage test: made below the one that was named, on the host, and removed by the same program that made it, so
//! that it also goes when the connection does.

use crate::outcome::Why;
use crate::tools::refuse_directory;
use linerate_transport::{Cancel, Command, Transport};
use std::time::Duration;

/// `$1` directory. Says its real path, free KiB, file system, and whether O_DIRECT works, with a file of one page.
const LOOK: &str = r#"
dir=${1:-${TMPDIR:-/tmp}}
[ -d "$dir" ] || { echo "$dir is not a directory" >&2; exit 97; }
cd -P "$dir" || exit 97
echo "path $(pwd -P)"
free() { echo "free $4"; }
free $(df -Pk . | tail -n 1)
echo "fs $(stat -f -c %T .)"
work=$(mktemp -d "$PWD/linerate-fio-XXXXXXXX") || exit 97
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM INT HUP
if dd if=/dev/zero of="$work/direct" bs=4096 count=1 oflag=direct 2>/dev/null; then echo "direct 1"; fi
"#;

/// `$1` directory, then the program, which gets the made directory as its last argument.
const WRAP: &str = r#"
work=$(mktemp -d "$1/linerate-fio-XXXXXXXX") || exit 97
shift
"$@" --directory="$work" &
program=$!
trap 'kill -KILL "$program"; rm -rf "$work"; exit 143' TERM INT HUP
wait "$program"
code=$?
rm -rf "$work"
exit "$code"
"#;

/// What a directory is like.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) free: Option<u64>,
    pub(super) fs: String,
    pub(super) direct: bool,
}

/// Looks at a directory, and refuses it where need be. Empty: the host's directory for temporary files.
pub(super) fn look(host: &dyn Transport, directory: &str, needed: u64, cancel: &Cancel) -> Result<Place, Why> {
    let ran = host.run(&Command::script(LOOK, &[directory]).limit(Duration::from_secs(30)), cancel)?;
    let shown = if directory.is_empty() { "the directory for temporary files" } else { directory };
    if ran.status != 0 {
        let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        return Err(Why::Directory(format!("nothing can be written below {shown} on {}: {said}", host.host())));
    }
    let place = read(&ran.text());
    if let Some(why) = refuse_directory(&place.path) {
        return Err(Why::Directory(format!("{shown} is {}: {why}", place.path)));
    }
    match place.free {
        Some(free) if free < needed.saturating_add(needed / 10) => Err(Why::Directory(format!(
            "{} has {} free, and the file takes {}: a smaller size or another directory fits",
            place.path,
            crate::plan::bytes(free),
            crate::plan::bytes(needed)
        ))),
        _ => Ok(place),
    }
}

fn read(text: &str) -> Place {
    let mut out = Place::default();
    for line in text.lines() {
        match line.split_once(' ') {
            Some(("path", path)) => path.clone_into(&mut out.path),
            Some(("free", kib)) => out.free = kib.trim().parse::<u64>().ok().map(|k| k.saturating_mul(1024)),
            Some(("fs", fs)) => fs.trim().clone_into(&mut out.fs),
            Some(("direct", one)) => out.direct = one.trim() == "1",
            _ => {}
        }
    }
    out
}

/// A program in a directory of its own.
pub(super) fn wrap(path: &str, argv: &[String]) -> Command {
    let words: Vec<&str> = std::iter::once(path).chain(argv.iter().map(String::as_str)).collect();
    Command::script(WRAP, &words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_transport::Local;

    #[test]
    fn directories() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_str().unwrap().to_owned();
        let local = Local::new();
        let seen = |directory: &str, needed| look(&local, directory, needed, &Cancel::new());
        let place = seen(&path, 1 << 20).unwrap();
        assert!(place.free.is_some() && !place.fs.is_empty(), "{place:?}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left of the look");
        assert!(matches!(seen(&path, u64::MAX), Err(Why::Directory(w)) if w.contains("free")));
        assert!(matches!(seen("/dev/null", 1), Err(Why::Directory(w)) if w.contains("not a directory")));
        let link = dir.path().join("devices");
        std::os::unix::fs::symlink("/dev", &link).unwrap();
        assert!(matches!(seen(link.to_str().unwrap(), 1), Err(Why::Directory(w)) if w.contains("block device")));
    }
}
