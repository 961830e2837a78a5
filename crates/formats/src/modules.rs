//! `/proc/modules`, and the text of `lsmod`.

use crate::bounds::TEXT_ITEMS;
use crate::cmdline::same_name;
use crate::text::{decode, lines};
use crate::tool::{Args, Command, Gives, Mark, Tool, seen, starts};
use serde::Serialize;

/// `/proc/modules`, `lsmod`.
pub const TOOL: Tool = Tool {
    name: "modules",
    called: "proc/modules",
    run: "cat /proc/modules",
    gives: Gives::Copy("proc/modules"),
    // The state and the address of `/proc/modules` are unmistakable.
    marks: &[Mark::line(|l| {
        starts(l, &["Module "]) && l.ends_with("Used by") || l.contains(" Live 0x") && !parse(l.as_bytes()).is_empty()
    })
    .begins(&["Module "])
    .holds(&[" Live 0x"])],
    commands: &[Command { program: "cat", args: Args::End("/proc/modules") }, Command::any("lsmod")],
    files: &["modules", "lsmod"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "nvidia 54000000 12 nvidia_uvm, Live 0xffffffffc0000000 (POE)\n",
        "Module                  Size  Used by\n",
    ],
    once: true,
    ..Tool::NONE
};

/// A loaded module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Module {
    /// Name with underscores.
    pub name: String,
    /// Bytes of memory.
    pub size: u64,
    /// Reference count; `None` where the kernel cannot unload modules.
    pub references: Option<u32>,
    /// Modules that use it.
    pub users: Vec<String>,
    /// `Live`, `Loading`, `Unloading`; not in lsmod.
    pub state: Option<String>,
    /// Taint letters in parentheses, e.g. `POE`; not in lsmod.
    pub taint: Option<String>,
    /// 1-based line.
    pub line: u32,
}

/// Parses either form; other lines are ignored.
pub fn parse(bytes: &[u8]) -> Vec<Module> {
    let text = decode(bytes);
    lines(&text).filter_map(|(line, raw)| module(raw, line)).take(TEXT_ITEMS).collect()
}

/// A module by name; dashes and underscores are the same.
pub fn find<'a>(modules: &'a [Module], name: &str) -> Option<&'a Module> {
    modules.iter().find(|m| same_name(&m.name, name))
}

fn module(raw: &str, line: u32) -> Option<Module> {
    let words: Vec<&str> = raw.split_whitespace().take(8).collect();
    let [name, size, references, rest @ ..] = words.as_slice() else { return None };
    let size = size.parse().ok()?;
    let references = match *references {
        "-" => None,
        n => Some(n.parse().ok()?),
    };
    let users = rest.first().filter(|u| **u != "-" && !u.starts_with("0x"));
    let users = users.map(|u| u.split(',').filter(|m| !m.is_empty()).map(str::to_owned).collect()).unwrap_or_default();
    let taint = rest.get(3).and_then(|t| t.strip_prefix('(')?.strip_suffix(')'));
    Some(Module {
        name: (*name).to_owned(),
        size,
        references,
        users,
        state: rest.get(1).map(|s| (*s).to_owned()),
        taint: taint.map(str::to_owned),
        line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_and_lsmod() {
        let m = parse(b"nvidia 54000000 12 nvidia_uvm,nvidia_modeset, Live 0xffffffffc0000000 (POE)\nib_core 500000 0 - Live 0x0000000000000000\n");
        assert_eq!((m[0].users.len(), m[0].taint.as_deref(), m[0].references), (2, Some("POE"), Some(12)));
        assert_eq!((m[1].users.len(), m[1].state.as_deref(), m[1].line), (0, Some("Live"), 2));
        let m = parse(b"Module                  Size  Used by\nnvidia_peermem         16384  0\nib_core  413696  2 rdma_cm,ib_uverbs\n");
        assert_eq!(find(&m, "nvidia-peermem").map(|m| m.line), Some(2));
        assert_eq!(find(&m, "ib_core").map(|m| m.users.len()), Some(2));
        assert_eq!(m.len(), 2);
    }
}
