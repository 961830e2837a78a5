//! ttar: trees as plain text, which projects keep as test data. `Directory: P`, or `Path: P` followed by `SymlinkTo: T`, or by
//! `Lines: N` and so many lines; comments begin with `#`. In contents `NULLBYTE` stands for a zero byte and a final `EOF` for a
//! missing line end; a backslash before either means the word itself.

use super::assemble::{Assembly, Item};
use super::error::Stop;

/// Whether a file that begins so is one.
pub(super) fn is(head: &[u8]) -> bool {
    let mut lines = head.split(|b| *b == b'\n');
    let first = lines.next().unwrap_or_default();
    let second = lines.next().unwrap_or_default();
    let starts = |line: &[u8], words: &[&str]| words.iter().any(|w| line.starts_with(w.as_bytes()));
    starts(first, &["# Archive created by ttar"])
        || (starts(first, &["Directory: "]) && starts(second, &["Mode: "]))
        || (starts(first, &["Path: "]) && starts(second, &["Lines: ", "SymlinkTo: "]))
}

/// Adds its entries.
pub(super) fn read(text: &[u8], to: &mut Assembly) -> Result<(), Stop> {
    let mut rest = text;
    let mut path = None;
    while let Some(line) = next_line(&mut rest) {
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let at = line.windows(2).position(|w| w == b": ").unwrap_or(line.len());
        let (key, value) = (line.get(..at).unwrap_or_default(), line.get(at + 2..).unwrap_or_default());
        match key {
            b"Directory" => {
                to.count()?;
                match std::str::from_utf8(value) {
                    Ok(p) => to.entry(p, Item::Dir)?,
                    Err(_) => to.odd_name(),
                }
            }
            b"Path" => {
                to.count()?;
                path = std::str::from_utf8(value).ok();
                if path.is_none() {
                    to.odd_name();
                }
            }
            b"SymlinkTo" => {
                if let Some(p) = path.take() {
                    to.entry(p, Item::Link(value))?;
                }
            }
            b"Lines" => {
                let n: Option<usize> = std::str::from_utf8(value).ok().and_then(|v| v.trim().parse().ok());
                let n = n.ok_or_else(|| Stop::Damaged("a number of lines is not a number".into()))?;
                let (data, whole) = content(&mut rest, n);
                if let Some(p) = path.take() {
                    match to.wanted(p, data.len() as u64) {
                        true => to.entry(p, if whole { Item::File(&data) } else { Item::CutFile(&data) })?,
                        false => to.left_out(p, data.len() as u64)?,
                    }
                }
                if !whole {
                    return Err(Stop::Damaged("it ends in the middle".into()));
                }
            }
            b"Mode" => {}
            _ => {
                return Err(Stop::Damaged(format!(
                    "`{}` is not a line of ttar",
                    String::from_utf8_lossy(key).escape_debug()
                )));
            }
        }
    }
    Ok(())
}

fn next_line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    if rest.is_empty() {
        return None;
    }
    let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
    let line = rest.get(..end)?;
    *rest = rest.get(end + 1..).unwrap_or_default();
    Some(line)
}

/// So many lines as the bytes that they stand for, and whether all were there.
fn content(rest: &mut &[u8], lines: usize) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    for n in 1..=lines {
        let Some(mut line) = next_line(rest) else { return (out, false) };
        let open = n == lines && line.ends_with(b"EOF") && !line.ends_with(b"\\EOF");
        if open {
            line = line.strip_suffix(b"EOF").unwrap_or(line);
        }
        unescape(line, &mut out);
        if !open {
            out.push(b'\n');
        }
    }
    (out, true)
}

fn unescape(mut line: &[u8], out: &mut Vec<u8>) {
    while let Some((byte, next)) = line.split_first() {
        line = if let Some(after) = line.strip_prefix(b"NULLBYTE") {
            out.push(0);
            after
        } else if let Some(word) = [&b"NULLBYTE"[..], b"EOF"].iter().find(|w| *byte == b'\\' && next.starts_with(w)) {
            out.extend_from_slice(word);
            next.get(word.len()..).unwrap_or_default()
        } else {
            out.push(*byte);
            next
        };
    }
}

#[cfg(test)]
mod tests {
    use crate::{Coverage, Lookup, OpenError, Reader, Snapshot};
    use proptest::prelude::*;

    const TEXT: &str = "# Archive created by ttar -c -f x sys\nDirectory: sys/class\nMode: 755\n# ttar - -\n\
        Path: sys/class/net/eth0\nSymlinkTo: ../../devices/pci0000:00/net/eth0\n# ttar\n\
        Path: sys/devices/pci0000:00/net/eth0/mtu\nLines: 1\n1500EOF\nMode: 644\n\
        Path: sys/devices/pci0000:00/net/eth0/flags\nLines: 2\naNULLBYTEb\\NULLBYTE\n\\EOF\nMode: 644\n\
        Path: sys/devices/pci0000:00/net/eth0/speed\nLines: 0\nMode: 644\n";

    fn read(text: &[u8]) -> Result<Snapshot, OpenError> {
        Reader::new().read_bytes(text, "x.ttar")
    }

    #[test]
    fn entries_and_escapes() {
        let s = read(TEXT.as_bytes()).unwrap();
        let data = |p| match s.resolve(p) {
            Lookup::Found(id) => s.data(id).to_vec(),
            other => panic!("{p}: {other:?}"),
        };
        assert_eq!(data("sys/class/net/eth0/mtu"), b"1500");
        assert_eq!(data("sys/class/net/eth0/flags"), b"a\0bNULLBYTE\nEOF\n");
        assert_eq!(data("sys/class/net/eth0/speed"), b"");
        assert_eq!(s.coverage, Coverage::Partial);
        assert!(s.problems.is_empty());
    }

    #[test]
    fn damage_is_noted() {
        let cut = TEXT.find("NULLBYTE").unwrap();
        let s = read(&TEXT.as_bytes()[..cut]).unwrap();
        assert!(s.problems.iter().any(|p| p.contains("damaged")), "{:?}", s.problems);
        let huge = TEXT.replace("Lines: 1\n", "Lines: 99999999999999\n");
        assert!(!read(huge.as_bytes()).unwrap().problems.is_empty());
        assert!(matches!(read(b"Path: a\nLines: x\n"), Err(OpenError::NotASnapshot { .. })));
    }

    proptest! {
        #[test]
        fn never_panics(text in "((Path|Directory|SymlinkTo|Lines|Mode|#|x)(: |:|)(sys/class/net/e|[0-9]{1,3}|\\.\\./a|EOF)?\n){0,30}") {
            let _ = read(format!("# Archive created by ttar\n{text}").as_bytes());
        }
    }
}
