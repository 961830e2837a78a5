//! What one line shows.

/// What a line shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown<'a> {
    /// A path, and what is in it, or a line of that.
    Value(&'a str, &'a str),
    /// A path whose content stands below.
    Heading(&'a str),
    /// The same, by its path below the directory in which the command ran.
    Relative(&'a str),
    /// A link, and its target.
    Link(&'a str, &'a str),
    /// A path that could not be read.
    Denied(&'a str),
    /// A setting of the kernel as a path, and its value.
    Setting(String, &'a str),
    /// Nothing of that.
    Nothing,
}

/// Directories whose files are known by absolute paths.
const ROOTS: &[&str] =
    &["/sys/", "/proc/", "/etc/", "/boot/", "/run/modprobe.d/", "/usr/lib/modprobe.d/", "/lib/modprobe.d/"];
/// What stands behind the path of a file that could not be read.
const ERRORS: &[&str] = &["No such file or directory", "Permission denied", "Is a directory", "Invalid argument"];
/// The longest path of Linux (`PATH_MAX`).
const LONGEST: usize = 4096;

/// Whether a line shows that a text is such a dump. Programs begin messages with paths of `/etc`, and with those that they could not read.
pub(super) fn is_own(line: &str) -> bool {
    let kernels = |path: &str| path.starts_with("/sys/") || path.starts_with("/proc/");
    match shown(line) {
        // Links of IOMMU groups are read with the devices of `lspci`.
        Shown::Value(path, _) | Shown::Link(path, _) => kernels(path) && !path.contains("/iommu_groups/"),
        Shown::Heading(path) => kernels(path),
        Shown::Setting(..) | Shown::Denied(_) | Shown::Relative(_) | Shown::Nothing => false,
    }
}

/// Whether a line is a heading with a path below a directory that is not in it.
pub(super) fn is_relative(line: &str) -> bool {
    (line.starts_with("=== ./") || line.starts_with("==> ./")) && matches!(shown(line), Shown::Relative(_))
}

/// The directory in which commands run from a command line on: `root@n:/sys/class/net/eth0#`, `/sys/class/net/eth0$ cat mtu`, `# cd /proc/sys/vm`. The inner
/// option is `None` where the line shows another one (`root@n:~#`), the outer where it shows none.
pub(super) fn directory(line: &str) -> Option<Option<String>> {
    let line = line.trim();
    let (before, command) = line.split_once(['#', '$'])?;
    let good = |path: &str| {
        let path = path.trim_end_matches('/');
        let kernels = path.starts_with("/sys/") || path.starts_with("/proc/");
        (kernels && is_path(path)).then(|| path.to_owned())
    };
    let moved = command.split([';', '&', '|']).map(str::trim).filter_map(|c| c.strip_prefix("cd ")).next_back();
    if let Some(path) = moved {
        return Some(good(path.trim()));
    }
    let is_bare = before.starts_with('/') && (command.is_empty() || command.starts_with(' '));
    let shown = if is_bare { before } else { before.split_once('@')?.1.split_once(':')?.1 };
    Some(good(shown.trim()))
}

pub(super) fn shown(raw: &str) -> Shown<'_> {
    let line = raw.trim();
    if let Some(path) = heading(line) {
        return match path.strip_prefix("./") {
            Some(below) if is_below(below) => Shown::Relative(below),
            _ if is_path(path) => Shown::Heading(path),
            _ => Shown::Nothing,
        };
    }
    if let Some(path) = denied(line) {
        return Shown::Denied(path);
    }
    if let Some((path, target)) = link(line) {
        return Shown::Link(path, target);
    }
    if line.starts_with('/') {
        let value = value(line).filter(|(_, v)| !ERRORS.iter().any(|e| v.ends_with(e)));
        return value.map_or(Shown::Nothing, |(path, value)| Shown::Value(path, value));
    }
    setting(line).map_or(Shown::Nothing, |(path, value)| Shown::Setting(path, value))
}

/// `==> PATH <==` of `head` and `tail`, `=== PATH ===` of loops with `echo`.
fn heading(line: &str) -> Option<&str> {
    let of = |before: &str, after: &str| line.strip_prefix(before)?.strip_suffix(after);
    of("==> ", " <==").or_else(|| of("=== ", " ==="))
}

/// A path below a directory.
fn is_below(path: &str) -> bool {
    !path.is_empty()
        && path.len() <= 256
        && path.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-:/@+".contains(&b))
        && path.split('/').all(|name| !name.is_empty() && name != "." && name != "..")
}

/// A path that a node may have: nothing odd in it, and no way out.
fn is_path(path: &str) -> bool {
    ROOTS.iter().any(|r| path.len() > r.len() && path.starts_with(r))
        && path.len() <= LONGEST
        && !path.contains("//")
        && !path.contains(['*', '\0', '\\', '"', '\'', '<', '>', '|'])
        && path.split('/').all(|name| name != "." && name != "..")
        && path.bytes().all(|b| b.is_ascii_graphic())
}

/// `PATH:VALUE`, `PATH: VALUE`, `PATH = VALUE`, `PATH<tab>VALUE`, `PATH NUMBER`.
fn value(line: &str) -> Option<(&str, &str)> {
    let end = line.find([' ', '\t']).unwrap_or(line.len());
    let (token, rest) = line.split_at_checked(end)?;
    // An address of PCI has colons, which are the path's.
    if let Some(at) = colons(token).next() {
        let (path, value) = line.split_at_checked(at)?;
        let value = value.get(1..)?;
        return is_path(path).then(|| (path, value.strip_prefix(' ').unwrap_or(value)));
    }
    let words = rest.trim_start();
    let value = if let Some(v) = words.strip_prefix("= ") {
        v.trim_start()
    } else if rest.starts_with('\t') || is_number(words) {
        words
    } else {
        return None;
    };
    (is_path(token) && !value.is_empty()).then_some((token, value))
}

/// A word of digits, as in most of `/sys`: a decimal or hexadecimal number.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('-').or_else(|| word.strip_prefix("0x")).unwrap_or(word);
    !digits.is_empty()
        && digits.len() <= 20
        && digits.bytes().all(|b| b.is_ascii_hexdigit())
        && word.bytes().any(|b| b.is_ascii_digit())
}

/// Places of colons that are in no name of a PCI device or bus.
fn colons(token: &str) -> impl Iterator<Item = usize> {
    token.match_indices(':').map(|(at, _)| at).filter(move |at| !is_in_address(token, *at))
}

/// `0000:18:00.0`, `pci0000:00`, `10000:e0`, as the whole of a name or as its beginning.
fn is_in_address(token: &str, at: usize) -> bool {
    let start = token.get(..at).and_then(|t| t.rfind('/')).map_or(0, |s| s + 1);
    let Some(name) = token.get(start..) else { return false };
    let hex = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_hexdigit());
    let bare = name.strip_prefix("pci").unwrap_or(name);
    let mut parts = bare.splitn(3, ':');
    let (Some(domain), Some(bus)) = (parts.next(), parts.next()) else { return false };
    if !(hex(domain) && (4..=8).contains(&domain.len())) {
        return false;
    }
    let (bus, after) = bus.split_at_checked(2).unwrap_or((bus, ""));
    if !hex(bus) || bus.len() != 2 {
        return false;
    }
    let of_name = at - start;
    let first = name.len() - bare.len() + domain.len();
    // `pci0000:00/…`; the value of `…/0000:18` would be none that a file has.
    if of_name == first {
        return true;
    }
    let device = parts.next().unwrap_or_default();
    let is_device = after.is_empty()
        && device.as_bytes().get(..4).is_some_and(|d| {
            hex(device.get(..2).unwrap_or_default())
                && d.get(2) == Some(&b'.')
                && d.get(3).is_some_and(|f| (b'0'..=b'7').contains(f))
        });
    is_device && of_name == first + 3
}

/// `lrwxrwxrwx 1 root root 0 … /sys/… -> ../../…`, or the two alone.
fn link(line: &str) -> Option<(&str, &str)> {
    let (before, target) = line.split_once(" -> ")?;
    let path = before.rsplit([' ', '\t']).next()?;
    let alone = path.len() == before.len() || before.starts_with('l');
    let target = target.trim_matches('\'');
    let good = !target.is_empty() && target.len() <= LONGEST && target.bytes().all(|b| b.is_ascii_graphic());
    (alone && good && is_path(path)).then_some((path, target))
}

/// `cat: /sys/…: Permission denied`.
fn denied(line: &str) -> Option<&str> {
    let before = line.strip_suffix(": Permission denied").or_else(|| line.strip_suffix(": Operation not permitted"))?;
    let (tool, path) = before.split_once(": ")?;
    let path = path.trim_matches('\'');
    (["cat", "grep", "head", "tail", "more"].contains(&tool) && is_path(path)).then_some(path)
}

/// Of the kernel's settings.
pub(super) const AREAS: &[&str] = &["abi", "debug", "dev", "fs", "kernel", "net", "sunrpc", "user", "vm"];

/// `net.core.rmem_max = 212992` as `proc/sys/net/core/rmem_max`. A dot within a name is printed as `/`.
pub(super) fn setting(line: &str) -> Option<(String, &str)> {
    let (name, value) = line.trim().split_once(" = ").or_else(|| Some((line.trim().strip_suffix(" =")?, "")))?;
    let (area, rest) = name.split_once('.')?;
    let good = AREAS.contains(&area)
        && !rest.is_empty()
        && name.len() <= 256
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/:@".contains(&b));
    let swapped = |c| match c {
        '.' => '/',
        '/' => '.',
        c => c,
    };
    let path: String = name.chars().map(swapped).collect();
    let whole = path.split('/').all(|n| !n.is_empty() && n != "." && n != "..");
    (good && whole).then(|| (format!("proc/sys/{path}"), value.trim()))
}

/// A command line.
pub(super) fn is_prompt(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("$ ")
        || line.starts_with("# ")
        || line.starts_with('/') && matches!(directory(line), Some(Some(_)))
        || line.split(['$', '#']).next().is_some_and(|before| before.len() < line.len() && before.contains('@'))
}
