//! The script: fixed functions, and calls of them that follow from the catalogue.

use crate::OutputKind;
use crate::capture::filter::{BOOT_ENTRY, GRUB, KERNEL_LOG};
use crate::capture::ini::{self, Allowed};
use crate::catalogue::{Catalogue, Command, Each, Keep, Leaf, Take, catalogue};
use std::fmt::Write;
use std::sync::OnceLock;

const HEAD: &str = include_str!("head.sh");
/// What an attribute of sysfs holds at most.
const ATTRIBUTE: u32 = 4096;

/// The script. Its argument is a word of chance: `sh -c SCRIPT linerate-collect WORD`.
#[must_use]
pub fn script() -> &'static str {
    static SCRIPT: OnceLock<String> = OnceLock::new();
    SCRIPT.get_or_init(|| make(catalogue()))
}

/// A directory that patterns look into, and the names there.
struct Place<'c> {
    pattern: String,
    names: Vec<(&'static str, Option<Leaf>)>,
    _c: &'c Catalogue,
}

fn make(c: &Catalogue) -> String {
    let names: Vec<String> = c.env.iter().map(|n| n.strip_suffix('*').map_or(format!("{n}="), str::to_owned)).collect();
    let mut out = HEAD.replace("@ENV@", &format!("^({})", names.join("|")));
    filters(&mut out);
    let places = places(c);
    out.push_str("walk() {\n");
    for p in &places {
        let names: Vec<String> = p.names.iter().map(|(n, _)| word(n)).collect();
        let _ = writeln!(out, "\"$1\" {} {}", word(&p.pattern), names.join(" "));
    }
    out.push_str("}\n");
    out.push_str("printf '\\n%s m\\n%s\\n%s\\n%s\\n' \"$N\" \"$(id -u)\" \"$(date +%s)\" \"$(uname -n)\"\n");
    out.push_str("printf '\\n%s l\\n' \"$N\"\nwalk list | xargs -0 ls -lnd -- 2>/dev/null\n");
    // Looking is what a directory with names of any kind needs.
    for p in places.iter().filter(|p| p.names.iter().any(|(n, _)| n.contains('*'))) {
        let _ = writeln!(out, "closed {}", word(&p.pattern));
    }
    out.push_str("sockets=\ngrep -q 'physical id' /proc/cpuinfo 2>/dev/null && sockets=1\nread -r release </proc/sys/kernel/osrelease\n");
    for p in &places {
        contents(&mut out, p);
    }
    commands(&mut out, c);
    out.push_str("printf '\\n%s v\\n%s\\n' \"$N\" \"$user\"\nprintf '\\n%s z\\n' \"$N\"\n");
    out
}

fn places(c: &Catalogue) -> Vec<Place<'_>> {
    let mut out = Vec::new();
    let mut next = vec![(0_usize, String::new())];
    while !next.is_empty() {
        let mut below = Vec::new();
        for (at, pattern) in next {
            let Some(step) = c.steps.get(at) else { continue };
            let all = || step.exact.iter().chain(&step.globs);
            let names: Vec<_> = all().map(|(n, i)| (*n, c.steps.get(*i).and_then(|s| s.leaf))).collect();
            if names.is_empty() {
                continue;
            }
            below.extend(all().map(|(n, i)| (*i, format!("{pattern}/{n}"))));
            let pattern = if pattern.is_empty() { "/.".to_owned() } else { pattern };
            out.push(Place { pattern, names, _c: c });
        }
        next = below;
    }
    out
}

fn contents(out: &mut String, p: &Place<'_>) {
    let mut small = Vec::new();
    for (name, leaf) in p.names.iter().filter_map(|(n, l)| Some((*n, (*l)?))) {
        if leaf.take != Take::File {
            continue;
        }
        let most = if leaf.binary { leaf.max } else { leaf.max + 1 };
        let at = word(&p.pattern);
        match leaf.keep {
            Keep::All if leaf.no_sockets => {
                let _ = writeln!(out, "[ -n \"$sockets\" ] || small {at} {}", word(name));
            }
            Keep::All if p.pattern.starts_with("/sys/") && !leaf.binary && leaf.max <= ATTRIBUTE => {
                small.push(word(name));
            }
            Keep::Kconfig if name == "config-*" => {
                let _ = writeln!(out, "bytes {most} {at} \"config-$release\"");
            }
            Keep::All | Keep::FirstLine | Keep::Cpuinfo | Keep::Kconfig => {
                let _ = writeln!(out, "bytes {most} {at} {}", word(name));
            }
            keep => {
                let _ = writeln!(out, "part {} {most} {at} {}", filter(keep), word(name));
            }
        }
    }
    if !small.is_empty() {
        let _ = writeln!(out, "small {} {}", word(&p.pattern), small.join(" "));
    }
}

/// Its function, for what is cut on the host.
pub(super) fn filter(keep: Keep) -> &'static str {
    match keep {
        Keep::Shm => "shm",
        Keep::Grub => "grub",
        Keep::GrubOnce => "grubonce",
        Keep::BootEntry => "bootentry",
        Keep::Digest => "digest",
        Keep::Ini(a) if a == ini::NM_PROFILE => "nmprofile",
        Keep::Ini(a) if a == ini::NM_DEVICE => "nmdevice",
        Keep::Ini(_) => "networkd",
        Keep::All | Keep::FirstLine | Keep::Cpuinfo | Keep::Kconfig => "",
    }
}

fn filters(out: &mut String) {
    let grub = format!("^[[:space:]]*(export )?({})[+]?=", GRUB.join("|"));
    let entry = format!("^[[:space:]]*({})([[:space:]]|$)", BOOT_ENTRY.join("|"));
    let once = r#"^[[:space:]]*(insmod [A-Za-z0-9_]*|if \[ "\$\{next_entry\}" \] ; then|set default="\$\{next_entry\}"|set next_entry=|save_env next_entry)[[:space:]]*$"#;
    for (name, pattern) in [("grub", grub.as_str()), ("bootentry", &entry), ("grubonce", once)] {
        let _ = writeln!(out, "{name}() {{ grep -E {}; }}", word(pattern));
    }
    let words: Vec<String> = KERNEL_LOG.iter().map(|w| format!("-e {}", word(w))).collect();
    let _ = writeln!(out, "log() {{ grep -iF {}; }}", words.join(" "));
    for (name, allowed) in [("nmprofile", ini::NM_PROFILE), ("nmdevice", ini::NM_DEVICE), ("networkd", ini::NETWORKD)] {
        keys(out, name, allowed);
    }
}

/// Whether a key of a section is allowed; `[]` asks for the section.
fn keys(out: &mut String, name: &str, allowed: Allowed) {
    let _ = writeln!(out, "{name}_has() {{\ncase $1 in");
    for (section, keys) in allowed {
        let patterns: Vec<String> = keys
            .iter()
            .map(|k| match k.strip_suffix('#') {
                Some(bare) => format!("{}[0-9]*", word(bare)),
                None if *k == "*" => "*".to_owned(),
                None => word(k),
            })
            .collect();
        let _ = writeln!(
            out,
            "{}) case $2 in '[]'|{}) return 0 ;; esac ;;",
            word(&format!("[{section}]")),
            patterns.join("|")
        );
    }
    out.push_str("esac\nreturn 1\n}\n");
}

fn commands(out: &mut String, c: &Catalogue) {
    for (n, command) in c.commands.iter().enumerate() {
        let all: Vec<String> = (0..command.argv.len()).map(|a| call(n, a, command)).collect();
        let line = all.join(" || ");
        let condition = command.only_if.map(|p| {
            // A pattern that ends with a star asks for something in the directory.
            format!("any {} && ", word(&format!("/{p}")))
        });
        let body = match command.each {
            Each::Once => format!("{{ {line}; }}"),
            Each::MlxPf => format!(
                "for d in /sys/bus/pci/devices/*; do v=${{d##*/}}; mlx \"$d\" && harmless \"$v\" && {{ {line}; }}; done"
            ),
            Each::MlxNetdev => format!(
                "for d in /sys/class/net/*; do v=${{d##*/}}; [ -e \"$d/device\" ] && mlx \"$d/device\" && harmless \"$v\" && {{ {line}; }}; done"
            ),
            Each::PciNetdev => format!(
                "for d in /sys/class/net/*; do v=${{d##*/}}; [ -e \"$d/device/class\" ] && harmless \"$v\" && {{ {line}; }}; done"
            ),
            Each::Domain => format!(
                "if command -v virsh >/dev/null 2>&1; then limit=10; run virsh --readonly list --name 2>/dev/null | while read -r v; do harmless \"$v\" && {{ {line}; }}; done; fi"
            ),
        };
        let _ = writeln!(out, "{}{body}", condition.unwrap_or_default());
    }
}

fn call(n: usize, alternative: usize, c: &Command) -> String {
    let argv = c.argv.get(alternative).map(Vec::as_slice).unwrap_or_default();
    let words: Vec<String> = argv.iter().map(|a| if *a == "{}" { "\"$v\"".to_owned() } else { word(a) }).collect();
    let value = if c.each == Each::Once { String::new() } else { " $v".to_owned() };
    let through = if c.kind == OutputKind::Dmesg { "log" } else { "-" };
    let most = u64::from(c.max) + 1;
    format!("cmd \"{n} {alternative}{value}\" {} {most} {through} {}", c.limit_seconds, words.join(" "))
}

/// A word of the script. The catalogue has nothing that a reader could not see.
fn word(text: &str) -> String {
    linerate_out::shell::word(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fits_an_argument_and_has_no_pattern_but_stars() {
        let s = script();
        // The kernel's MAX_ARG_STRLEN, with room for quotes.
        assert!(s.len() < 100 << 10, "{}", s.len());
        for p in places(catalogue()) {
            for (n, _) in &p.names {
                assert!(n.bytes().all(|b| b.is_ascii_alphanumeric() || b"*._-+".contains(&b)), "{n}");
            }
        }
        assert!(!s.contains("@ENV@"));
    }

    /// What is cut on the host is never read whole there.
    #[test]
    fn what_may_hold_secrets_is_read_through_its_filter_only() {
        for line in script().lines().filter(|l| l.starts_with("small ") || l.starts_with("bytes ")) {
            for secret in
                ["system-connections", "grub.cfg", "machine-id", "/proc/mounts", "*.network ", "default/grub "]
            {
                assert!(!line.contains(secret), "{line}");
            }
        }
    }
}
