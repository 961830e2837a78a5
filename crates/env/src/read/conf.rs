//! `nccl.conf`, by NCCL's own rules (`setEnvFile`): what comes before the first `=`, blanks and all, is the name; the rest of the line is
//! the value, quotes, blanks and comments and all. A line that begins with `#` is a comment since 2.26.2; before, it set a variable of that
//! odd name, which nobody reads. A carriage return belongs to the value up to 2.29: it is kept, and judged.

use super::Sink;

pub(super) fn read(bytes: &[u8], out: &mut Sink) {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for (n, line) in bytes.split(|b| *b == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line);
        let Some((name, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else { continue };
        out.put(name, value, Some(n + 1));
    }
}
