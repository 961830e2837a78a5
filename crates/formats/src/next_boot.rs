//! Kernel arguments of the next boot, as configurations ask for them: GRUB's defaults and its menu, entries of the Boot Loader Specification,
//! MachineConfigs of OpenShift, machine configurations of Talos. Nothing here says what runs now.

use crate::bounds::TEXT_ITEMS;
use crate::cmdline::{self, Cmdline, Param};
use crate::text::{decode, lines};
use crate::tool::{Args, Command, Gives, Mark, Tool, seen, starts};

/// `/etc/default/grub`, a shell script that `grub-mkconfig` sources.
pub const GRUB_DEFAULTS: Tool = Tool {
    name: "grub-defaults",
    called: "/etc/default/grub",
    run: "cat /etc/default/grub",
    gives: Gives::Copy("etc/default/grub"),
    marks: &[Mark::beginning(&["GRUB_CMDLINE_LINUX=", "GRUB_CMDLINE_LINUX_DEFAULT="])],
    commands: &[Command { program: "cat", args: Args::End("/etc/default/grub") }],
    read: Some(|b| seen(grub_defaults(&[b]))),
    samples: &[
        "GRUB_DEFAULT=0\nGRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet iommu=pt\"\nGRUB_CMDLINE_LINUX=\"\"\n",
        "GRUB_CMDLINE_LINUX=\"crashkernel=auto intel_iommu=on iommu=pt\"\n",
    ],
    once: true,
    ..Tool::NONE
};

/// `grub.cfg` as `grub-mkconfig` writes it.
pub const GRUB_CFG: Tool = Tool {
    name: "grub-cfg",
    called: "grub.cfg",
    run: "cat /boot/grub/grub.cfg",
    gives: Gives::Facts,
    marks: &[Mark::line_with(|l| starts(l, &["menuentry '", "menuentry \""]), "linux").begins(&["menuentry "])],
    commands: &[Command { program: "cat", args: Args::End("grub.cfg") }],
    read: Some(|b| seen(grub_cfg(b))),
    samples: &[
        "menuentry 'Debian GNU/Linux' --class debian {\n\tlinux\t/vmlinuz-6.1.0-21-amd64 root=UUID=x ro quiet iommu=pt\n\tinitrd\t/initrd.img-6.1.0-21-amd64\n}\n",
    ],
    once: true,
    ..Tool::NONE
};

/// An entry of the Boot Loader Specification: `/boot/loader/entries/*.conf`.
pub const BOOT_ENTRY: Tool = Tool {
    name: "boot-entry",
    called: "boot loader entry",
    run: "cat /boot/loader/entries/*.conf",
    gives: Gives::Facts,
    marks: &[Mark::whole(|t| {
        let has = |key: &str| lines(t).any(|(_, l)| l.split_once([' ', '\t']).is_some_and(|(k, _)| k == key));
        has("options") && has("linux") && (has("title") || has("version"))
    })
    .holds(&["options"])],
    commands: &[Command { program: "cat", args: Args::Within("/loader/entries/") }],
    read: Some(|b| seen(boot_entry(b))),
    samples: &[
        "title Red Hat Enterprise Linux (5.14.0-427.13.1.el9_4.x86_64) 9.4 (Plow)\nversion 5.14.0-427.13.1.el9_4.x86_64\nlinux /vmlinuz-5.14.0-427.13.1.el9_4.x86_64\ninitrd /initramfs.img $tuned_initrd\noptions root=/dev/sda3 ro iommu=pt $tuned_params\n",
    ],
    ..Tool::NONE
};

/// A MachineConfig of OpenShift, as YAML.
pub const MACHINE_CONFIG: Tool = Tool {
    name: "machine-config",
    called: "MachineConfig (OpenShift)",
    run: "oc get machineconfig NAME -o yaml",
    gives: Gives::Facts,
    marks: &[Mark::line_with(|l| l == "kind: MachineConfig", MACHINE_CONFIG_LIST).begins(&["kind: MachineConfig"])],
    commands: &[Command::with("oc", &["get", "mc", "yaml"]), Command::with("oc", &["get", "machineconfig", "yaml"])],
    read: Some(|b| seen(machine_config(b))),
    samples: &[
        "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata:\n  name: 99-worker-iommu\nspec:\n  kernelArguments:\n    - iommu=pt\n    - 'pci=realloc'\n",
    ],
    ..Tool::NONE
};

/// A machine configuration of Talos, or a patch of one.
pub const TALOS: Tool = Tool {
    name: "talos-config",
    called: "machine configuration (Talos)",
    run: "talosctl get machineconfig -o yaml",
    gives: Gives::Facts,
    marks: &[Mark::line_with(|l| l == TALOS_LIST, "install:").begins(&[TALOS_LIST])],
    commands: &[Command::with("talosctl", &["get", "machineconfig"])],
    read: Some(|b| seen(talos(b))),
    samples: &["machine:\n  install:\n    disk: /dev/sda\n    extraKernelArgs:\n      - iommu=pt\n      - -selinux\n"],
    ..Tool::NONE
};

/// The key of a MachineConfig's list of arguments.
pub const MACHINE_CONFIG_LIST: &str = "kernelArguments:";
/// That of a machine configuration of Talos.
pub const TALOS_LIST: &str = "extraKernelArgs:";

/// What a configuration asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextBoot {
    /// The arguments, each with the line of its text.
    pub cmdline: Cmdline,
    /// It names all arguments; else others are added elsewhere.
    pub is_whole: bool,
}

impl NextBoot {
    fn some(params: Vec<Param>, is_whole: bool) -> Option<NextBoot> {
        (!params.is_empty()).then(|| NextBoot { cmdline: Cmdline { params, init_args: vec![] }, is_whole })
    }
}

/// The words of a command line that begins in a line. What a shell or GRUB would put in is left out.
fn words(text: &str, line: u32) -> Vec<Param> {
    let mut all = cmdline::parse(text.as_bytes()).params;
    all.retain(|p| !p.raw.starts_with('$'));
    all.iter_mut().for_each(|p| p.line = p.line.saturating_add(line).saturating_sub(1));
    all
}

/// The arguments of `/etc/default/grub` and of the files of `/etc/default/grub.d` that are sourced after it, in their order; lines count in the
/// file that a word stands in. `grub-mkconfig` puts those for every entry before those of the usual one (GRUB, `util/grub.d/10_linux.in`).
#[must_use]
pub fn grub_defaults(files: &[&[u8]]) -> Option<NextBoot> {
    let mut set = Variables { every: Vec::new(), usual: Vec::new(), copies: TEXT_ITEMS };
    for file in files {
        let text = decode(file);
        let (mut rest, mut line) = (&*text, 1_u32);
        while !rest.is_empty() {
            let end = rest.find('\n').unwrap_or(rest.len());
            if let Some((of_usual, adds, value)) = assignment(rest.get(..end).unwrap_or_default()) {
                let (new, after) = set.value(rest.get(value..).unwrap_or_default(), line)?;
                let own = if of_usual { &mut set.usual } else { &mut set.every };
                if !adds {
                    own.clear();
                }
                own.extend(new);
                own.truncate(TEXT_ITEMS);
                (rest, line) = after;
            }
            let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
            rest = rest.get(end..).unwrap_or_default();
            line = line.saturating_add(1);
        }
    }
    let Variables { mut every, mut usual, .. } = set;
    every.append(&mut usual);
    NextBoot::some(every, false)
}

/// Of a line that sets one of the two variables: whether it is that of the usual entry, whether it adds, and where the value begins.
fn assignment(line: &str) -> Option<(bool, bool, usize)> {
    let (left, value) = line.split_once('=')?;
    let name = left.trim_start();
    let name = name.strip_prefix("export ").unwrap_or(name);
    let (name, adds) = name.strip_suffix('+').map_or((name, false), |n| (n, true));
    let of_usual = match name {
        "GRUB_CMDLINE_LINUX" => false,
        "GRUB_CMDLINE_LINUX_DEFAULT" => true,
        _ => return None,
    };
    Some((of_usual, adds, line.len() - value.len()))
}

/// Longest value in a shell's quotes, bytes: command lines of kernels end at a few thousand.
const LONGEST: usize = 64 << 10;

/// The two variables so far.
struct Variables {
    every: Vec<Param>,
    usual: Vec<Param>,
    /// Words that may still be copied from one value into another: nobody writes a file that copies more.
    copies: usize,
}

impl Variables {
    /// The words of a shell's value, and what follows it with its line: quotes go and may end in a later line, the two variables are put in, others
    /// are left out.
    fn value<'t>(&mut self, value: &'t str, line: u32) -> Option<(Vec<Param>, (&'t str, u32))> {
        let (mut out, mut text) = (Vec::new(), String::new());
        // The line that the words of `text` begin in, and the one that is reached.
        let (mut from, mut at) = (line, line);
        let (mut rest, mut open) = (value, None);
        while let Some(c) = rest.chars().next().filter(|_| value.len() - rest.len() < LONGEST) {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            match (open, c) {
                (None, ' ' | '\t' | '#' | '\n' | '\r' | ';') => break,
                (None, '"' | '\'') => (open, rest) = (Some(c), after),
                (Some(q), c) if c == q => (open, rest) = (None, after),
                (None | Some('"'), '\\') => {
                    let next = after.chars().next();
                    text.extend(next.filter(|c| *c != '\n'));
                    at = at.saturating_add(u32::from(next == Some('\n')));
                    rest = next.and_then(|c| after.get(c.len_utf8()..)).unwrap_or_default();
                }
                (None | Some('"'), '$') => {
                    let (name, end) = variable(after);
                    out.extend(words(&text, from));
                    text.clear();
                    from = at;
                    let list: &[Param] = match name {
                        "GRUB_CMDLINE_LINUX" => &self.every,
                        "GRUB_CMDLINE_LINUX_DEFAULT" => &self.usual,
                        _ => &[],
                    };
                    self.copies = self.copies.checked_sub(list.len())?;
                    out.extend_from_slice(list);
                    rest = after.get(end..).unwrap_or_default();
                }
                _ => {
                    at = at.saturating_add(u32::from(c == '\n'));
                    text.push(c);
                    rest = after;
                }
            }
        }
        out.extend(words(&text, from));
        Some((out, (rest, at)))
    }
}

/// The name behind a `$`, with braces or without, and the bytes that it takes.
fn variable(after: &str) -> (&str, usize) {
    if let Some(end) = after.strip_prefix('{').and_then(|a| a.find('}')) {
        return (after.get(1..=end).unwrap_or_default(), end + 2);
    }
    let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
    (after.get(..end).unwrap_or_default(), end)
}

/// The arguments of the entries of a menu, rescue and recovery aside, where all ask for the same ones: which entry starts is not in this file alone.
#[must_use]
pub fn grub_cfg(bytes: &[u8]) -> Option<NextBoot> {
    let text = decode(bytes);
    let mut found: Option<Vec<Param>> = None;
    let mut is_other = false;
    for (line, raw) in lines(&text) {
        let raw = raw.trim_start();
        if starts(raw, &["menuentry ", "submenu "]) {
            let title = raw.split(['\'', '"']).nth(1).unwrap_or_default().to_ascii_lowercase();
            is_other = ["recovery", "rescue", "memtest", "firmware"].iter().any(|w| title.contains(w));
        }
        let mut two = raw.splitn(2, [' ', '\t']);
        if is_other || !two.next().is_some_and(|c| matches!(c, "linux" | "linux16" | "linuxefi")) {
            continue;
        }
        // The kernel itself goes first.
        let Some((_, args)) = two.next().and_then(|r| r.trim_start().split_once([' ', '\t'])) else { continue };
        let new = words(args, line);
        let same = |a: &[Param], b: &[Param]| a.iter().map(|p| &p.raw).eq(b.iter().map(|p| &p.raw));
        match &found {
            Some(first) if !same(first, &new) => return None,
            Some(_) => {}
            None => found = Some(new),
        }
    }
    NextBoot::some(found?, true)
}

/// The arguments of an entry. `$kernelopts` and `$tuned_params` are put in by GRUB.
#[must_use]
pub fn boot_entry(bytes: &[u8]) -> Option<NextBoot> {
    let text = decode(bytes);
    let options = lines(&text).filter_map(|(n, l)| Some((n, l.strip_prefix("options")?.strip_prefix([' ', '\t'])?)));
    let (mut all, mut is_whole) = (Vec::new(), true);
    for (line, args) in options {
        is_whole &= !args.split_whitespace().any(|w| w.starts_with('$'));
        all.extend(words(args, line));
    }
    NextBoot::some(all, is_whole)
}

/// The arguments that a MachineConfig adds.
#[must_use]
pub fn machine_config(bytes: &[u8]) -> Option<NextBoot> {
    NextBoot::some(items(&decode(bytes), MACHINE_CONFIG_LIST), false)
}

/// The arguments that a machine configuration adds. One that begins with `-` takes an argument of Talos away.
#[must_use]
pub fn talos(bytes: &[u8]) -> Option<NextBoot> {
    let mut all = items(&decode(bytes), TALOS_LIST);
    all.retain(|p| !p.raw.starts_with('-'));
    NextBoot::some(all, false)
}

/// The words in the lists of a key. Line by line, as templates are no YAML.
fn items(text: &str, key: &str) -> Vec<Param> {
    let indent = |l: &str| l.len() - l.trim_start().len();
    let (mut all, mut list) = (Vec::new(), None);
    for (line, raw) in lines(text) {
        let trimmed = raw.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') || all.len() >= TEXT_ITEMS {
            continue;
        }
        if let Some(flow) = trimmed.trim_start_matches("- ").strip_prefix(key) {
            list = Some(indent(raw));
            let inside = flow.trim().strip_prefix('[').and_then(|f| f.strip_suffix(']'));
            all.extend(inside.into_iter().flat_map(|f| f.split(',')).flat_map(|i| words(scalar(i), line)));
            continue;
        }
        match (list, trimmed.strip_prefix("- ")) {
            (Some(at), Some(item)) if indent(raw) >= at => all.extend(words(scalar(item), line)),
            _ => list = None,
        }
    }
    all
}

/// A value without its quotes or the comment behind it.
fn scalar(text: &str) -> &str {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inside) = text.strip_prefix(quote) {
            return inside.split(quote).next().unwrap_or_default();
        }
    }
    text.split(" #").next().unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(found: Option<NextBoot>) -> Vec<(String, u32)> {
        found.into_iter().flat_map(|n| n.cmdline.params).map(|p| (p.raw, p.line)).collect()
    }

    fn want(all: &[(&str, u32)]) -> Vec<(String, u32)> {
        all.iter().map(|(w, n)| ((*w).to_owned(), *n)).collect()
    }

    #[test]
    fn defaults_are_a_shells() {
        let file = "# GRUB_CMDLINE_LINUX=\"old\"\nGRUB_CMDLINE_LINUX_DEFAULT='quiet splash'\nexport GRUB_CMDLINE_LINUX=\"iommu=pt \\\n  pci=realloc\" # why\n\
                    GRUB_CMDLINE_LINUX+=\" a=\\\"b c\\\"\"\n";
        let drop_in =
            "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX ${OTHER} hugepages=8\"\nGRUB_CMDLINE_LINUX_DEFAULT=quiet\n";
        let got = shown(grub_defaults(&[file.as_bytes(), drop_in.as_bytes()]));
        assert_eq!(
            got,
            want(&[("iommu=pt", 3), ("pci=realloc", 3), ("a=\"b c\"", 5), ("hugepages=8", 1), ("quiet", 2)])
        );
        assert_eq!(grub_defaults(&[b"GRUB_CMDLINE_LINUX=\"\"\n"]), None);
        assert_eq!(shown(grub_defaults(&[b"GRUB_CMDLINE_LINUX=\"iommu=pt"])), want(&[("iommu=pt", 1)]));
    }

    /// Each of these took time with the square of its length, or memory with a power of it.
    #[test]
    fn a_hostile_file_costs_what_it_is_long() {
        let open = "GRUB_CMDLINE_LINUX=\"".to_owned() + &"\n".repeat(60_000);
        let dollars = "GRUB_CMDLINE_LINUX=\"a".to_owned() + &"$b".repeat(30_000);
        for part in [open, dollars] {
            let text = part.repeat(20);
            let clock = std::time::Instant::now();
            let _ = grub_defaults(&[text.as_bytes()]);
            assert!(clock.elapsed().as_secs() < 20, "{}", text.len());
        }
        let doubled = "GRUB_CMDLINE_LINUX=\"a b $GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX\"\n".repeat(40);
        assert_eq!(grub_defaults(&[doubled.as_bytes()]), None, "nobody writes such a file");
        let text = "GRUB_CMDLINE_LINUX=\"a\nb $GRUB_CMDLINE_LINUX_DEFAULT\nc\" d\nGRUB_CMDLINE_LINUX+=\" e\"\n";
        assert_eq!(shown(grub_defaults(&[text.as_bytes()])), want(&[("a", 1), ("b", 2), ("c", 3), ("e", 4)]));
    }

    #[test]
    fn a_menu_is_read_where_its_entries_agree() {
        let entry = |title: &str, args: &str| format!("menuentry '{title}' {{\n\tlinux /vmlinuz {args}\n}}\n");
        let two = entry("A", "ro iommu=pt $vt_handoff") + &entry("A, recovery mode", "ro single");
        assert_eq!(shown(grub_cfg(two.as_bytes())), want(&[("ro", 2), ("iommu=pt", 2)]));
        assert_eq!(grub_cfg((two + &entry("B", "ro")).as_bytes()), None, "which of them starts is not known");
    }

    #[test]
    fn entries_and_machine_configurations() {
        let entry = boot_entry(b"title x\nlinux /v\noptions root=/dev/sda3 ro iommu=pt $tuned_params\n");
        assert!(entry.as_ref().is_some_and(|e| !e.is_whole));
        assert_eq!(shown(entry), want(&[("root=/dev/sda3", 3), ("ro", 3), ("iommu=pt", 3)]));
        let yaml = "kind: MachineConfig\nspec:\n  kernelArguments:\n  - iommu=pt # fast\n  - \"pci=noats\"\n  config:\n  - x\n";
        assert_eq!(shown(machine_config(yaml.as_bytes())), want(&[("iommu=pt", 4), ("pci=noats", 5)]));
        let flow = "spec:\n  kernelArguments: [\"iommu=pt\", intel_iommu=on]\n";
        assert_eq!(shown(machine_config(flow.as_bytes())), want(&[("iommu=pt", 2), ("intel_iommu=on", 2)]));
        let talos_config =
            "machine:\n  install:\n    extraKernelArgs:\n      - iommu=pt\n      - -selinux\n    wipe: false\n";
        assert_eq!(shown(talos(talos_config.as_bytes())), want(&[("iommu=pt", 4)]));
    }
}
