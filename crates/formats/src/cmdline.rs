//! The kernel command line, split by the kernel's own rules (lib/cmdline.c `next_arg`, kernel/params.c `parse_args`).
//!
//! Double quotes protect spaces; they are removed when they enclose the whole parameter or the whole value, and kept elsewhere.
//! There are no backslash escapes. In names a dash equals an underscore. After `--` everything belongs to init.

use crate::sniff::content;
use crate::tool::{Args, Command, Gives, Mark, Tool, seen, starts};
use serde::Serialize;

/// `/proc/cmdline`, as text.
pub const TOOL: Tool = Tool {
    name: "cmdline",
    called: "kernel command line",
    run: "cat /proc/cmdline",
    gives: Gives::Facts,
    marks: &[
        Mark::line(|l| starts(l, &["BOOT_IMAGE="]) || l.contains(" BOOT_IMAGE=") && l.contains("root="))
            .holds(&["BOOT_IMAGE="]),
        Mark::whole(is_one_line),
    ],
    commands: &[Command { program: "cat", args: Args::End("/proc/cmdline") }],
    files: &["cmdline"],
    read: Some(|b| seen(parse(b))),
    samples: &["BOOT_IMAGE=/vmlinuz root=UUID=x ro quiet\n", "ro iommu=pt pci=realloc\n"],
    once: true,
    ..Tool::NONE
};

/// A line alone, with at least two parameters that most command lines have.
fn is_one_line(text: &str) -> bool {
    const NAMES: &[&str] =
        &["root=", "console=", "iommu=", "intel_iommu=", "amd_iommu=", "pci=", "crashkernel=", "initrd="];
    let mut content = content(text);
    let (Some(line), None) = (content.next(), content.next()) else { return false };
    let usual = |w: &&str| w.contains('=') && starts(w, NAMES) || matches!(*w, "ro" | "rw" | "quiet");
    // A variable of a shell holds them for the next boot.
    !starts(line, &["GRUB_"]) && line.split_whitespace().filter(usual).count() >= 2
}

/// One parameter, in the order of the line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Param {
    /// Name as written.
    pub name: String,
    /// Text after the first `=`, without enclosing quotes; `None` where there is no `=`.
    pub value: Option<String>,
    /// The parameter as written, quotes included.
    pub raw: String,
    /// 1-based line (1 for `/proc/cmdline`; another for a pasted one below a prompt).
    pub line: u32,
}

/// A kernel command line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Cmdline {
    /// Parameters for the kernel and its modules.
    pub params: Vec<Param>,
    /// Arguments after `--`, which the kernel hands to init.
    pub init_args: Vec<String>,
}

impl Cmdline {
    /// Every occurrence of a parameter, in order. Dashes and underscores are the same.
    pub fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Param> {
        self.params.iter().filter(move |p| same_name(&p.name, name))
    }

    /// The last occurrence: the one that wins for parameters which hold one value.
    pub fn last(&self, name: &str) -> Option<&Param> {
        self.params.iter().rev().find(|p| same_name(&p.name, name))
    }

    /// The comma-separated options of a parameter such as `pci=` or `iommu=`, over all its occurrences, with the parameter each one
    /// stands in. The kernel parses every occurrence, so `pci=a pci=b` equals `pci=a,b`.
    pub fn options<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, &'a Param)> {
        self.get_all(name).flat_map(|p| {
            p.value.iter().flat_map(|v| v.split(',')).filter(|o| !o.is_empty()).map(move |option| (option, p))
        })
    }

    /// Whether an option is in the list of [`Cmdline::options`].
    pub fn has_option(&self, name: &str, option: &str) -> bool {
        self.options(name).any(|(o, _)| o == option)
    }

    /// The last `module.param=value`.
    pub fn module_param(&self, module: &str, param: &str) -> Option<&Param> {
        self.params
            .iter()
            .rev()
            .find(|p| p.name.split_once('.').is_some_and(|(m, n)| same_name(m, module) && same_name(n, param)))
    }

    /// Every parameter of one module, as (parameter name, parameter).
    pub fn module_params<'a>(&'a self, module: &'a str) -> impl Iterator<Item = (&'a str, &'a Param)> {
        self.params.iter().filter_map(move |p| {
            let (m, n) = p.name.split_once('.')?;
            same_name(m, module).then_some((n, p))
        })
    }
}

/// Whether two parameter names are the same for the kernel (`parameq`).
pub fn same_name(a: &str, b: &str) -> bool {
    let dash = |c: u8| if c == b'-' { b'_' } else { c };
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(x, y)| dash(x) == dash(y))
}

/// A boolean as the kernel reads it (`kstrtobool`): only the first one or two characters count.
pub fn kernel_bool(text: &str) -> Option<bool> {
    match text.as_bytes() {
        [b'y' | b'Y' | b't' | b'T' | b'1', ..] | [b'o' | b'O', b'n' | b'N', ..] => Some(true),
        [b'n' | b'N' | b'f' | b'F' | b'0', ..] | [b'o' | b'O', b'f' | b'F', ..] => Some(false),
        _ => None,
    }
}

/// Parses `/proc/cmdline`, or a pasted one: a line such as `$ cat /proc/cmdline` and the words `Command line:` of a boot log are
/// not parameters.
pub fn parse(bytes: &[u8]) -> Cmdline {
    let text = crate::text::normalise(bytes);
    let text = text.split(|&b| b == 0).next().unwrap_or_default();
    let mut out = Cmdline::default();
    let mut line = 1;
    let mut rest = text;
    if let Some(skip) = preamble_len(rest) {
        line += count_lines(rest.get(..skip).unwrap_or_default());
        rest = rest.get(skip..).unwrap_or_default();
    }
    let mut for_init = false;
    loop {
        let spaces = rest.iter().position(|&b| !is_space(b)).unwrap_or(rest.len());
        line += count_lines(rest.get(..spaces).unwrap_or_default());
        rest = rest.get(spaces..).unwrap_or_default();
        if rest.is_empty() {
            return out;
        }
        let (param, used) = next_arg(rest, line);
        line += count_lines(rest.get(..used).unwrap_or_default());
        rest = rest.get(used..).unwrap_or_default();
        if param.value.is_none() && param.name == "--" {
            if for_init {
                return out;
            }
            for_init = true;
        } else if for_init {
            if out.init_args.len() >= crate::bounds::TEXT_ITEMS {
                return out;
            }
            out.init_args.push(match param.value {
                Some(v) => format!("{}={v}", param.name),
                None => param.name,
            });
        } else {
            if out.params.len() >= crate::bounds::TEXT_ITEMS {
                return out;
            }
            out.params.push(param);
        }
    }
}

/// One argument and the bytes it takes. Mirrors the kernel's `next_arg`, with its corner: a `=` in front is part of the name.
fn next_arg(args: &[u8], line: u32) -> (Param, usize) {
    let quoted = args.first() == Some(&b'"');
    let body = if quoted { args.get(1..).unwrap_or_default() } else { args };
    let mut in_quote = quoted;
    let mut equals = None;
    let mut end = body.len();
    for (i, &b) in body.iter().enumerate() {
        if is_space(b) && !in_quote {
            end = i;
            break;
        }
        if equals.is_none() && b == b'=' && i > 0 {
            equals = Some(i);
        }
        if b == b'"' {
            in_quote = !in_quote;
        }
    }
    let used = end + usize::from(quoted);
    let mut arg = body.get(..end).unwrap_or_default();
    if quoted {
        arg = arg.strip_suffix(b"\"").unwrap_or(arg);
    }
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    let (name, value) = match equals {
        Some(e) => {
            let value = arg.get(e + 1..).unwrap_or_default();
            let value = match value.strip_prefix(b"\"") {
                Some(v) if !quoted => v.strip_suffix(b"\"").unwrap_or(v),
                Some(v) => v,
                None => value,
            };
            (text(arg.get(..e).unwrap_or_default()), Some(text(value)))
        }
        None => (text(arg), None),
    };
    (Param { name, value, raw: text(args.get(..used).unwrap_or_default()), line }, used)
}

/// Bytes before the parameters in a pasted text.
fn preamble_len(text: &[u8]) -> Option<usize> {
    let find = |needle: &str| memchr::memmem::find(text, needle.as_bytes()).map(|at| at + needle.len());
    let first_line_end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    if let Some(at) = find("/proc/cmdline") {
        // Only a prompt line above the parameters; a parameter may name the file too.
        if at <= first_line_end && memchr::memmem::find(text.get(..at).unwrap_or_default(), b"cat ").is_some() {
            return Some(first_line_end);
        }
    }
    find("ommand line:").filter(|&at| at <= first_line_end)
}

fn count_lines(bytes: &[u8]) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(u32::MAX)
}

/// The kernel's `isspace`, without its Latin-1 no-break space, which would cut UTF-8 text.
fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, Option<String>)> {
        parse(text.as_bytes()).params.into_iter().map(|p| (p.name, p.value)).collect()
    }

    #[test]
    fn quotes_follow_the_kernel() {
        for (text, name, value) in [
            ("iommu=pt", "iommu", Some("pt")),
            ("quiet", "quiet", None),
            ("a=", "a", Some("")),
            (r#"a="b c""#, "a", Some("b c")),
            (r#""a=b c""#, "a", Some("b c")),
            (r#"a=b" "c"#, "a", Some(r#"b" "c"#)),
            (r#"a="b c"#, "a", Some("b c")),
            (r#"dyndbg="file x +p; file y +p""#, "dyndbg", Some("file x +p; file y +p")),
            (r"a=b\ ", "a", Some(r"b\")),
            ("=a=b", "=a", Some("b")),
            ("pci=config_acs=xx000x0@0000:41:00.0;x@y", "pci", Some("config_acs=xx000x0@0000:41:00.0;x@y")),
        ] {
            assert_eq!(pairs(text), [(name.to_owned(), value.map(str::to_owned))], "{text}");
        }
        assert_eq!(pairs(" \n\0iommu=pt"), []);
    }

    #[test]
    fn init_gets_what_follows_the_dashes() {
        let c = parse(b"ro -- single a=\"b c\" iommu=pt\n");
        assert_eq!(c.params.len(), 1);
        assert_eq!(c.init_args, ["single", "a=b c", "iommu=pt"]);
        assert!(c.last("iommu").is_none());
    }

    #[test]
    fn lists_names_and_modules() {
        let c = parse(b"BOOT_IMAGE=/v pci=realloc,noats pci=assign-busses intel-iommu=on iommu=off iommu=pt nvidia-drm.modeset=1\n");
        let pci: Vec<&str> = c.options("pci").map(|(o, _)| o).collect();
        assert_eq!(pci, ["realloc", "noats", "assign-busses"]);
        assert!(c.has_option("pci", "noats") && !c.has_option("pci", "noat"));
        assert_eq!(c.last("intel_iommu").and_then(|p| p.value.as_deref()), Some("on"));
        assert_eq!(c.last("iommu").and_then(|p| p.value.as_deref()), Some("pt"));
        assert_eq!(c.get_all("iommu").count(), 2);
        assert_eq!(c.module_param("nvidia_drm", "modeset").and_then(|p| p.value.as_deref()), Some("1"));
        assert_eq!(c.module_params("nvidia-drm").count(), 1);
        assert_eq!(
            ["on", "1", "Yes", "off", "0", "ok", ""].map(kernel_bool),
            [Some(true), Some(true), Some(true), Some(false), Some(false), None, None]
        );
    }

    #[test]
    fn a_pasted_line_keeps_its_number() {
        let c = parse(b"root@node:~# cat /proc/cmdline\nro iommu=pt\n");
        assert_eq!(c.last("iommu").map(|p| p.line), Some(2));
        assert_eq!(c.params.len(), 2);
        let c = parse(b"[    0.000000] Command line: ro intel_iommu=off");
        assert_eq!(c.params.len(), 2);
    }
}
