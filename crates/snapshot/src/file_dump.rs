//! Files that a text shows with their paths, in the places that they have on the node.

use crate::redact::secrets;
use crate::{Lookup, Snapshot, Why, catalogue};
use linerate_formats::file_dump::{Content, parse};

/// Adds the files of a text to a snapshot: those that a capture looks at. What the text does not show was not collected.
pub(crate) fn unpack(s: &mut Snapshot, name: &str, text: &[u8]) {
    let dump = parse(text);
    let (mut unknown, mut twice, mut first) = (0_usize, 0_usize, None);
    for file in &dump.files {
        if !catalogue::tries(&file.path) {
            unknown += 1;
            first.get_or_insert(file.line);
            continue;
        }
        // Another text may have shown what is above it as a file, or the file itself.
        let is_there = matches!(s.resolve(&file.path), Lookup::Found(_));
        let added = match &file.content {
            _ if is_there => None,
            Content::Text(text) => {
                let mut bytes = text.clone().into_bytes();
                // The kernel ends what it shows with a newline.
                bytes.push(b'\n');
                secrets::file(&file.path, &mut bytes);
                s.add_file(&file.path, &bytes)
            }
            Content::Link(target) => {
                let clean = secrets::target(target.as_bytes());
                s.add_link(&file.path, clean.as_deref().unwrap_or(target.as_bytes()))
            }
            Content::Denied => s.add_failed(&file.path, Why::Denied),
        };
        twice += usize::from(added.is_none());
    }
    s.problems.extend(dump.left_out.iter().map(|l| format!("{name}: {l}")));
    let (other, line) = dump.other;
    if other > 0 {
        s.problems.push(format!("{name}: {other} lines show no file with its path, the first is line {line}"));
    }
    if unknown > 0 {
        let line = first.unwrap_or_default();
        s.problems.push(format!(
            "{name}: {unknown} files are not of a node, and were not looked at; the first is in line {line}"
        ));
    }
    if twice > 0 {
        s.problems.push(format!("{name}: {twice} files were there already; the first of each counts"));
    }
}

#[cfg(test)]
mod tests {
    use crate::{Lookup, load_bytes};

    const TEXT: &str = "$ grep . /sys/class/infiniband/mlx5_0/ports/1/*\n\
        /sys/class/infiniband/mlx5_0/ports/1/state:1: DOWN\n\
        /sys/class/infiniband/mlx5_0/ports/1/rate:400 Gb/sec (4X NDR)\n\
        /sys/bus/pci/devices/0000:18:00.0/numa_node:-1\n\
        /proc/sys/vm/nr_hugepages:0\n\
        /proc/self/environ:SECRET=1\n\
        /etc/../etc/shadow:root:x\n";

    #[test]
    fn files_go_where_they_belong() {
        let s = load_bytes(TEXT.as_bytes(), "paste.txt").unwrap();
        let text = |path: &'static str| s.text(s.root(), path).known().map(|t| (*t).to_owned());
        assert_eq!(text("sys/class/infiniband/mlx5_0/ports/1/state").as_deref(), Some("1: DOWN"));
        assert_eq!(text("sys/bus/pci/devices/0000:18:00.0/numa_node").as_deref(), Some("-1"));
        assert_eq!(text("proc/sys/vm/nr_hugepages").as_deref(), Some("0"));
        for path in ["proc/self/environ", "etc/shadow"] {
            assert!(!matches!(s.resolve(path), Lookup::Found(_)), "{path}");
        }
        assert_eq!(s.coverage, crate::Coverage::Partial, "nothing is absent");
        let said = s.problems.join("; ");
        assert!(said.contains("1 files are not of a node, and were not looked at; the first is in line 6"), "{said}");
        assert!(said.contains("1 lines show no file with its path, the first is line 7"), "{said}");
    }

    #[test]
    fn settings_are_files() {
        let s = load_bytes(b"kernel.numa_balancing = 1\nvm.nr_hugepages = 8\n", "sysctl.txt").unwrap();
        assert_eq!(s.text(s.root(), "proc/sys/kernel/numa_balancing").known(), Some(&"1"));
    }
}
