//! Headings that scripts and people put above a tool's text: `=== ibstat ===`, `### cat /proc/cmdline`, `**lscpu**`, `+ lspci -vv` of `set -x`, `ibstat:`.

/// The longest line that is asked.
const MOST: usize = 100;

/// The command line in a heading: a line that begins at the margin with a decoration, or that ends with a colon behind a command of one word.
/// `is_program`: whether a text may begin with the name of a program, or its path.
pub(super) fn command(line: &str, is_program: impl Fn(&[u8]) -> bool) -> Option<&str> {
    if line.len() > MOST || !may(line.as_bytes()) {
        return None;
    }
    // Most lines behind a `#` are sentences: few bytes show it.
    let (before, body) = line.split_at_checked(words(line.as_bytes())?)?;
    if !is_program(body.as_bytes()) {
        return None;
    }
    let end = body.bytes().rposition(|b| b != b':' && !is_decoration(b))? + 1;
    let (inside, ends) = body.split_at_checked(end)?;
    // A lone `-` or `*` begins an item of a list.
    let is_heading = match before.trim_end() {
        "" => before.is_empty() && ends.starts_with(':') && is_alone(inside),
        "+" | ">" => true,
        rule => rule.starts_with('#') || rule.len() > 1 && rule.starts_with(['=', '-', '*', '+']),
    };
    is_heading.then_some(inside)
}

/// By its first byte and its last one, whether a line may be a heading.
pub(super) fn may(line: &[u8]) -> bool {
    matches!(line, [b'=' | b'-' | b'*' | b'+' | b'>' | b'#', ..] | [b'a'..=b'z' | b'/', .., b':'])
}

/// A program with nothing, options, or the word "output" behind it: anything else is a sentence.
fn is_alone(command: &str) -> bool {
    command.split_once(' ').is_none_or(|(_, args)| args == "output" || args.starts_with('-'))
}

/// Where what is no decoration begins. Rules repeat their first bytes, which are passed over eight at once.
fn words(line: &[u8]) -> Option<usize> {
    let (eights, _) = line.as_chunks::<8>();
    let first = eights.first().filter(|e| e.iter().all(|b| is_decoration(*b)));
    let rule = 8 * eights.iter().take_while(|e| Some(*e) == first).count();
    line.get(rule..)?.iter().position(|b| !is_decoration(*b)).map(|at| rule + at)
}

fn is_decoration(byte: u8) -> bool {
    matches!(byte, b'=' | b'-' | b'#' | b'*' | b'+' | b'>' | b'`' | b'"' | b'\'' | b' ' | b'\t' | b'\r')
}

#[cfg(test)]
mod tests {
    use crate::Kind;
    use crate::sniff;

    #[test]
    fn headings_name_their_tool() {
        for (line, kind) in [
            ("=== ibstat ===", Some(Kind::Ibstat)),
            ("----- /usr/sbin/ibstat -----", Some(Kind::Ibstat)),
            ("### cat /proc/cmdline", Some(Kind::Cmdline)),
            ("## `lscpu`", Some(Kind::Lscpu)),
            ("**sudo lscpu**:", Some(Kind::Lscpu)),
            ("+ lspci -vv", Some(Kind::Lspci)),
            ("----------------------ibstat----------", Some(Kind::Ibstat)),
            ("================ ================ nvidia-smi topo -m ====", Some(Kind::NvidiaSmiTopo)),
            ("--------------------- --- * sudo lspci", Some(Kind::Lspci)),
            ("---------------- ibstatistics", None),
            ("++ lspci -vv", Some(Kind::Lspci)),
            ("> ibstat", Some(Kind::Ibstat)),
            ("ibstat:", Some(Kind::Ibstat)),
            ("lspci -vv:", Some(Kind::Lspci)),
            ("lscpu output:", Some(Kind::Lscpu)),
            ("- lspci", None),
            ("  - lspci", None),
            ("* lspci", None),
            ("  lspci:", None),
            ("- utility # nvidia-smi", None),
            ("key: /dev/shm # lspci", None),
            ("host:~ # lspci", Some(Kind::Lspci)),
            ("(base) host:~ # lspci", Some(Kind::Lspci)),
            ("/ # lspci", Some(Kind::Lspci)),
            ("[root@host dir] # lspci", Some(Kind::Lspci)),
            ("lspci shows this:", None),
            ("lspci", None),
            ("----------", None),
            ("CA 'mlx5_0'", None),
        ] {
            assert_eq!(sniff::command(line), kind, "{line:?}");
        }
    }
}
