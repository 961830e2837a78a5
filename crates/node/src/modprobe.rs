//! Options of kernel modules in the files of modprobe.d. Read on demand: few rules ask.

use linerate_snapshot::{EntryId, EntryKind, Place, Reading, Snapshot, Why};

/// Directories in the order of precedence; a file hides the files of the same name in later directories.
const DIRS: [&str; 4] = ["etc/modprobe.d", "run/modprobe.d", "usr/lib/modprobe.d", "lib/modprobe.d"];

/// One `name=value` of an `options` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleOption {
    /// Parameter as written.
    pub name: String,
    /// Value without quotes; `None` where there is no `=`.
    pub value: Option<String>,
    /// Its line.
    pub place: Place,
}

/// Options that files of modprobe.d give to a module (`-` equals `_`), in the order in which modprobe reads them. Known also when
/// only some files were collected: the absence of an option proves nothing. Kernel modules that an initramfs or a container loads
/// may see other files.
#[must_use]
pub fn options(s: &Snapshot, module: &str) -> Reading<Vec<ModuleOption>> {
    let mut files: Vec<(&str, EntryId)> = Vec::new();
    let mut first: Option<Reading<Vec<ModuleOption>>> = None;
    for path in DIRS {
        match s.dir(path) {
            Reading::Known(dir, place) => {
                if !matches!(first, Some(Reading::Known(..))) {
                    first = Some(Reading::Known(Vec::new(), place));
                }
                for (name, e) in s.children(dir) {
                    if name.ends_with(".conf") && !files.iter().any(|(n, _)| *n == name) {
                        files.push((name, e));
                    }
                }
            }
            other => {
                first.get_or_insert(other.map(|_| Vec::new()));
            }
        }
    }
    files.sort_unstable_by(|a, b| a.0.cmp(b.0));
    let mut out = Vec::new();
    for (_, e) in files {
        if let Some(e) = file(s, e) {
            parse(&String::from_utf8_lossy(s.data(e)), module, Place::of(e), &mut out);
        }
    }
    match first {
        Some(Reading::Known(_, place)) => Reading::Known(out, place),
        Some(other) => other,
        None => Reading::Unreadable(Place::of(s.root()), Why::NotCollected),
    }
}

/// The file that an entry of a directory is or leads to, where it was read.
pub(crate) fn file(s: &Snapshot, entry: EntryId) -> Option<EntryId> {
    s.follow(entry).filter(|e| matches!(s.kind(*e), EntryKind::File | EntryKind::CutFile))
}

/// `options MODULE name=value …`; a backslash at the end joins lines, `#` starts a comment line.
fn parse(text: &str, module: &str, file: Place, out: &mut Vec<ModuleOption>) {
    let mut lines = text.lines().enumerate();
    while let Some((n, first)) = lines.next() {
        if first.trim_start().starts_with('#') {
            continue;
        }
        let mut whole = first.to_owned();
        while whole.ends_with('\\') {
            whole.pop();
            let Some((_, next)) = lines.next() else { break };
            whole.push_str(next);
        }
        let place = file.line(u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1));
        let mut words = split(&whole).into_iter();
        if words.next().as_deref() != Some("options") {
            continue;
        }
        if !words.next().is_some_and(|m| linerate_formats::cmdline::same_name(&m, module)) {
            continue;
        }
        out.extend(words.map(|w| match w.split_once('=') {
            Some((name, value)) => ModuleOption { name: name.to_owned(), value: Some(value.to_owned()), place },
            None => ModuleOption { name: w, value: None, place },
        }));
    }
}

/// Words separated by white space outside double quotes; the quotes go.
fn split(line: &str) -> Vec<String> {
    let (mut out, mut word, mut quoted, mut any) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '"' => (quoted, any) = (!quoted, true),
            c if c.is_whitespace() && !quoted => {
                if any {
                    out.push(std::mem::take(&mut word));
                }
                any = false;
            }
            c => {
                word.push(c);
                any = true;
            }
        }
    }
    if any {
        out.push(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_order_with_quotes_and_continuations() {
        let mut s = Snapshot::new("t");
        assert!(matches!(options(&s, "nvidia"), Reading::Unreadable(_, Why::NotCollected)));
        s.add_file("etc/modprobe.d/z.conf", b"options nvidia B=2\n");
        s.add_file(
            "etc/modprobe.d/nvidia.conf",
            b"# options nvidia X=1\noptions nvidia-drm modeset=1\noptions nvidia A=1 \\\n  R=\"k=v;x=y z\"\noptions nvidia Bare\n",
        );
        s.add_file("lib/modprobe.d/nvidia.conf", b"options nvidia Hidden=1\n");
        s.add_file("etc/modprobe.d/nvidia.conf.bak", b"options nvidia Backup=1\n");
        let Reading::Known(list, _) = options(&s, "nvidia") else { panic!("not known") };
        let flat: Vec<_> = list.iter().map(|o| (o.name.as_str(), o.value.as_deref(), o.place.pos)).collect();
        let line = linerate_snapshot::Pos::Line;
        assert_eq!(
            flat,
            [
                ("A", Some("1"), line(3)),
                ("R", Some("k=v;x=y z"), line(3)),
                ("Bare", None, line(5)),
                ("B", Some("2"), line(1)),
            ]
        );
        assert_eq!(options(&s, "nvidia_drm").known().map(Vec::len), Some(1));
    }
}
