//! `modinfo`, and what `modprobe` says when it fails (kmod, tools/modinfo.c and tools/modprobe.c).

use crate::bounds::TEXT_ITEMS;
use crate::text::{At, decode, lines, split_key};
use crate::tool::{Command, Gives, Mark, Tool, seen};

/// `modinfo MODULE`, of other modules than NVIDIA's.
pub const MODINFO: Tool = Tool {
    name: "modinfo",
    called: "modinfo MODULE",
    run: "modinfo mlx5_core",
    // The node's facts are of the modules that are loaded.
    gives: Gives::NoFacts("what modinfo shows of a module on disk, which need not be the one that is loaded"),
    marks: &[Mark::aside(|l| file(l).is_some_and(|f| !f.contains("nvidia"))).begins(&["filename:"])],
    commands: &[Command::any("modinfo")],
    files: &["modinfo"],
    read: Some(|b| seen(parse_modinfo(b))),
    samples: &[
        "filename:       /lib/modules/6.8.0/kernel/drivers/infiniband/core/ib_core.ko.zst\nlicense:        Dual BSD/GPL\n",
    ],
    ..Tool::NONE
};

/// Messages of `modprobe`.
pub const MODPROBE: Tool = Tool {
    name: "modprobe",
    called: "modprobe",
    run: "modprobe nvidia_peermem",
    gives: Gives::NoFacts("messages of modprobe"),
    marks: &[Mark::aside(|l| failure(l).is_some()).begins(&["modprobe: "])],
    commands: &[Command::any("modprobe")],
    files: &["modprobe"],
    read: Some(|b| seen(parse_modprobe(b))),
    samples: &[
        "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n",
        "modprobe: FATAL: Module nvidia-peermem not found in directory /lib/modules/6.8.0-60-generic\n",
    ],
    ..Tool::NONE
};

/// A module as `modinfo` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modinfo {
    /// Its file; `(builtin)` where it is part of the kernel.
    pub filename: At<String>,
    /// `version`: of modules built apart from the kernel, and of few others.
    pub version: Option<At<String>>,
    /// `license`.
    pub license: Option<At<String>>,
    /// `vermagic`: the kernel that it is built for, and options.
    pub vermagic: Option<At<String>>,
}

/// A module that could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// As the command named it.
    pub module: String,
    /// Why.
    pub why: NotLoaded,
    /// 1-based line.
    pub line: u32,
}

/// Why a module was not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotLoaded {
    /// There is no such module for the running kernel.
    NotFound,
    /// The kernel refused it, with the text of the error.
    Refused(String),
}

/// The modules of a text.
pub fn parse_modinfo(bytes: &[u8]) -> Vec<Modinfo> {
    let text = decode(bytes);
    let mut out: Vec<Modinfo> = Vec::new();
    for (line, raw) in lines(&text) {
        if let Some(name) = file(raw) {
            if out.len() >= TEXT_ITEMS {
                break;
            }
            let filename = At::new(name.to_owned(), line);
            out.push(Modinfo { filename, version: None, license: None, vermagic: None });
            continue;
        }
        let (Some(last), Some((key, value))) = (out.last_mut(), split_key(raw, ':')) else { continue };
        let slot = match key {
            "version" => &mut last.version,
            "license" => &mut last.license,
            "vermagic" => &mut last.vermagic,
            _ => continue,
        };
        // The end of the text may be the middle of a value.
        if !value.is_empty() && !text.ends_with(raw) {
            slot.get_or_insert_with(|| At::new(value.to_owned(), line));
        }
    }
    out
}

/// `filename:       /lib/modules/6.8.0/kernel/…/ib_core.ko.zst`.
fn file(line: &str) -> Option<&str> {
    let name = line.strip_prefix("filename:")?.trim();
    let module = [".ko", ".ko.gz", ".ko.xz", ".ko.zst"].iter().any(|e| name.ends_with(e));
    (name == "(builtin)" || name.starts_with('/') && module && !name.contains(' ')).then_some(name)
}

/// The failures of a text.
pub fn parse_modprobe(bytes: &[u8]) -> Vec<Failure> {
    let text = decode(bytes);
    let all = lines(&text).filter_map(|(line, raw)| {
        let (module, why) = failure(raw.trim())?;
        Some(Failure { module: module.to_owned(), why, line })
    });
    all.take(TEXT_ITEMS).collect()
}

fn failure(line: &str) -> Option<(&str, NotLoaded)> {
    let name =
        |m: &str| !m.is_empty() && m.len() <= 64 && m.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    if let Some(rest) = line.strip_prefix("modprobe: FATAL: Module ") {
        let (module, rest) = rest.split_once(' ')?;
        return (name(module) && rest.starts_with("not found")).then_some((module, NotLoaded::NotFound));
    }
    let rest = line.strip_prefix("modprobe: ERROR: could not insert '")?;
    let (module, why) = rest.split_once("': ")?;
    (name(module) && !why.is_empty()).then(|| (module, NotLoaded::Refused(why.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_modinfo() {
        let text = "$ modinfo mlx5_core\nfilename:       /lib/modules/6.8.0/updates/dkms/mlx5_core.ko\nversion:        24.10-0.7.0\nlicense:        Dual BSD/GPL\nname:           mlx5_core\nvermagic:       6.8.0 SMP preempt mod_unload";
        let all = parse_modinfo(text.as_bytes());
        let [m] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((m.filename.line, m.version.clone()), (2, Some(At::new("24.10-0.7.0".to_owned(), 3))));
        assert_eq!((m.license.is_some(), m.vermagic.clone()), (true, None), "the end may be missing");
        assert_eq!(file("filename: notes.txt"), None);
    }

    #[test]
    fn failures_of_modprobe() {
        let all = parse_modprobe(
            b"modprobe: FATAL: Module nvidia-peermem not found in directory /lib/modules/6.8.0\nmodprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\nmodprobe: FATAL: see the log\n",
        );
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].module.as_str(), &all[0].why), ("nvidia-peermem", &NotLoaded::NotFound));
        assert_eq!((&all[1].why, all[1].line), (&NotLoaded::Refused("Invalid argument".to_owned()), 2));
    }
}
