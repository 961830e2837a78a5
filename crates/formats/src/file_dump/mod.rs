//! Files of a node that are printed with their paths: the forms in which people paste `/sys` and `/proc`.
//!
//! ```text
//! /sys/class/infiniband/mlx5_0/ports/1/state:4: ACTIVE             grep -r . , grep '' , grep -H
//! /sys/class/net/eth0/mtu: 9000                                    echo "$f: $(cat $f)"
//! /sys/bus/pci/devices/0000:18:00.0/numa_node = 0
//! /sys/bus/pci/devices/0000:18:00.0/numa_node 0                    echo $f $(cat $f): numbers only, for a sentence looks alike
//! ==> /proc/cmdline <==                                            head, tail: the content stands below
//! === /sys/class/net/eth0/mtu ===                                  echo "=== $f ==="; cat $f
//! === ./out_of_sequence ===                                        the same, below the directory that the command line shows
//! lrwxrwxrwx … /sys/class/infiniband/mlx5_0/device -> ../../…      ls -l
//! vm.nr_hugepages = 1024                                           sysctl -a
//! ```
//!
//! Only absolute paths below `/sys`, `/proc`, `/etc`, `/boot`, `/run` and `/usr/lib` are files of a node. A line that shows none is counted.

mod line;

use crate::bounds::{DUMP_FILES, LeftOut, Limit, leave_out};
use crate::text::decode;
use crate::tool::{Command, Gives, Mark, Tool, seen};
use line::Shown;
use std::collections::HashMap;

/// Files with their paths.
pub const TOOL: Tool = Tool {
    name: "file-dump",
    called: "files with their paths",
    run: "grep -r . /sys/class/infiniband/*/ports/*/{state,rate}",
    gives: Gives::Facts,
    marks: &[
        Mark::line(line::is_own).holds(&["/sys/", "/proc/"]),
        Mark::line_where(line::is_relative, |text| text.lines().any(|l| matches!(line::directory(l), Some(Some(_)))))
            .begins(&["=== ./", "==> ./"]),
    ],
    read: Some(|b| seen(!parse(b).files.is_empty())),
    samples: &[
        "/sys/class/infiniband/mlx5_0/ports/1/state:4: ACTIVE\n",
        "==> /sys/class/net/eth0/mtu <==\n9000\n",
        "=== /sys/class/net/eth0/mtu ===\n9000\n",
        "root@n1:/sys/class/infiniband/mlx5_0/ports/1/counters# for f in ./*; do echo \"=== $f ===\"; cat $f; done\n=== ./link_downed ===\n0\n",
        "/sys/class/infiniband/mlx5_1/ports/1/counters$ for f in $(find . -type f); do\n    echo \"=== $f ===\"\n    cat \"$f\"\ndone\n=== ./link_downed ===\n255\n",
        "/sys/bus/pci/devices/0000:18:00.0/numa_node 0\n",
        "/sys/class/infiniband/mlx5_0/device -> ../../../0000:18:00.0\n",
    ],
    ..Tool::NONE
};

/// `sysctl -a`.
pub const SYSCTL: Tool = Tool {
    name: "sysctl",
    called: "sysctl",
    run: "sysctl -a",
    gives: Gives::Facts,
    marks: &[Mark::line(|l| line::setting(l).is_some()).begins(line::AREAS)],
    commands: &[Command::any("sysctl")],
    files: &["sysctl"],
    read: Some(|b| seen(!parse(b).files.is_empty())),
    samples: &["vm.nr_hugepages = 0\n", "kernel.numa_balancing = 1\nkernel.osrelease = 6.8.0-60-generic\n"],
    ..Tool::NONE
};

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Its lines, without the end of the last.
    Text(String),
    /// The target of a link.
    Link(String),
    /// The tool was not allowed to read it.
    Denied,
}

/// A file of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path, without the `/` before it.
    pub path: String,
    /// What it holds.
    pub content: Content,
    /// 1-based line of the first that shows it.
    pub line: u32,
}

/// What a text shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dump {
    /// In the order of their first lines, each once.
    pub files: Vec<File>,
    /// Lines that show no file, and the first of them: 1-based.
    pub other: (usize, u32),
    /// What is beyond the limits.
    pub left_out: Vec<LeftOut>,
}

/// Reads all files of a text.
#[must_use]
pub fn parse(bytes: &[u8]) -> Dump {
    let text = decode(bytes);
    let mut out = Dump::default();
    let mut index: HashMap<String, usize> = HashMap::new();
    // The file whose content stands below its heading.
    let mut below: Option<usize> = None;
    let mut last: Option<usize> = None;
    let mut directory: Option<String> = None;
    for (number, raw) in (1_u32..).zip(text.lines()) {
        let shown = line::shown(raw);
        match shown {
            Shown::Heading(path) => {
                below = open(&mut out, &mut index, path, Content::Text(String::new()), number);
                last = None;
            }
            Shown::Relative(path) => {
                last = None;
                below = match &directory {
                    Some(dir) => {
                        open(&mut out, &mut index, &format!("{dir}/{path}"), Content::Text(String::new()), number)
                    }
                    None => {
                        count_other(&mut out, number);
                        None
                    }
                };
            }
            Shown::Nothing if below.is_some() && !line::is_prompt(raw) => {
                if let Some(Content::Text(t)) = below.and_then(|at| out.files.get_mut(at)).map(|f| &mut f.content) {
                    t.push_str(raw);
                    t.push('\n');
                }
            }
            Shown::Nothing => {
                (below, last) = (None, None);
                if line::is_prompt(raw) {
                    directory = line::directory(raw).unwrap_or(directory);
                } else if !raw.trim().is_empty() {
                    count_other(&mut out, number);
                }
            }
            Shown::Value(path, value) => {
                below = None;
                let same = last.filter(|at| out.files.get(*at).is_some_and(|f| f.path == path.trim_start_matches('/')));
                match same.and_then(|at| out.files.get_mut(at)).map(|f| &mut f.content) {
                    // `grep` shows each line of a file with its path.
                    Some(Content::Text(t)) => {
                        t.push('\n');
                        t.push_str(value);
                    }
                    _ => last = open(&mut out, &mut index, path, Content::Text(value.to_owned()), number),
                }
            }
            Shown::Setting(name, value) => {
                below = None;
                last = open(&mut out, &mut index, &name, Content::Text(value.to_owned()), number);
            }
            Shown::Link(path, target) => {
                (below, last) = (None, None);
                open(&mut out, &mut index, path, Content::Link(target.to_owned()), number);
            }
            Shown::Denied(path) => {
                (below, last) = (None, None);
                open(&mut out, &mut index, path, Content::Denied, number);
            }
        }
    }
    for f in &mut out.files {
        if let Content::Text(t) = &mut f.content {
            // An empty line stands before the next heading.
            t.truncate(t.trim_end_matches('\n').len());
        }
    }
    out
}

fn count_other(out: &mut Dump, line: u32) {
    out.other = (out.other.0 + 1, if out.other.1 == 0 { line } else { out.other.1 });
}

/// The place of a new file; `None` where it was there before, which counts, or where there is no room.
fn open(out: &mut Dump, index: &mut HashMap<String, usize>, path: &str, content: Content, line: u32) -> Option<usize> {
    let path = path.trim_start_matches('/');
    if index.contains_key(path) {
        return None;
    }
    if out.files.len() >= DUMP_FILES {
        leave_out(&mut out.left_out, Limit::DUMP_FILES, line);
        return None;
    }
    index.insert(path.to_owned(), out.files.len());
    out.files.push(File { path: path.to_owned(), content, line });
    Some(out.files.len() - 1)
}

#[cfg(test)]
mod tests;
