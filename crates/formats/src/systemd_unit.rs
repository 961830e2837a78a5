//! Units of systemd with their drop-ins (`systemctl cat UNIT`), and unit files alone: the limits that a service is started with, as written. What the
//! service manager adds (`DefaultLimitMEMLOCK=`) is not in these texts.
//!
//! The syntax is that of systemd.syntax(7), the limits those of systemd.exec(5), "Process Properties".

use crate::bounds::{Kept, Limit as Bound, TEXT_ITEMS, leave_out};
use crate::limits::Limit;
use crate::size;
use crate::text::{At, decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// A unit of systemd.
pub const TOOL: Tool = Tool {
    name: "systemd-unit",
    called: "unit (systemd)",
    run: "systemctl cat UNIT",
    gives: Gives::Facts,
    marks: &[
        Mark::line_with(|l| l == "[Service]", "Exec").begins(&["[Service]"]),
        Mark::line_with(|l| l == "[Service]", "Limit").begins(&["[Service]"]),
    ],
    commands: &[Command::with("systemctl", &["cat"])],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "[Unit]\nDescription=x\n\n[Service]\nType=oneshot\nExecStart=/usr/local/bin/disable-acs.sh\n",
        "# /etc/systemd/system/slurmd.service.d/memlock.conf\n[Service]\nLimitMEMLOCK=infinity\n",
    ],
    ..Tool::NONE
};

/// A unit, with its drop-ins where they are in the text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Unit {
    /// Its name, by the paths above its files: `slurmd.service`. `None`: the text has no path.
    pub name: Option<String>,
    /// `Description=`.
    pub description: Option<String>,
    /// 1-based line at which it begins.
    pub line: u32,
    /// `LimitMEMLOCK=` in bytes, as the last file sets it.
    pub memlock: Option<At<Setting>>,
    /// `LimitNOFILE=`.
    pub nofile: Option<At<Setting>>,
}

/// A limit as it is written; `None`: it is no limit, as a value that a snapshot does not show.
pub type Setting = Option<SoftHard>;

/// Soft and hard limit of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SoftHard {
    /// What the service is started with.
    pub soft: Limit,
    /// What an unprivileged process may raise it to.
    pub hard: Limit,
}

/// Reads the units of a text.
#[must_use]
pub fn parse(bytes: &[u8]) -> Kept<Unit> {
    let (text, mut kept) = (decode(bytes), Kept::default());
    let mut unit: Option<Unit> = None;
    let (mut in_service, mut goes_on) = (false, false);
    for (line, raw) in lines(&text) {
        let body = raw.trim();
        // A line that ends so is one with the next; a remark in between does not belong to it.
        let is_piece = goes_on;
        if !(is_piece && body.starts_with(['#', ';'])) {
            goes_on = body.ends_with('\\');
        }
        if is_piece {
            continue;
        }
        if let Some((name, is_file)) = path(body) {
            in_service = false;
            let same = unit.as_ref().is_some_and(|u| u.name.as_deref() == Some(name) || !name.contains('.'));
            if is_file || !same {
                unit.take().into_iter().for_each(|u| add(u, &mut kept));
                unit = Some(Unit { name: Some(name.to_owned()), line, ..Unit::default() });
            }
            continue;
        }
        if let Some(section) = section(body) {
            in_service = section == "Service";
            unit.get_or_insert_with(|| Unit { line, ..Unit::default() });
            continue;
        }
        let Some((key, value)) = body.split_once('=') else { continue };
        let (Some(unit), value) = (&mut unit, value.trim()) else { continue };
        match key.trim_end() {
            "Description" if !in_service => unit.description = Some(value.to_owned()),
            "LimitMEMLOCK" if in_service => unit.memlock = setting(value, line),
            "LimitNOFILE" if in_service => unit.nofile = setting(value, line),
            _ => {}
        }
    }
    unit.into_iter().for_each(|u| add(u, &mut kept));
    kept
}

fn add(unit: Unit, kept: &mut Kept<Unit>) {
    if kept.items.len() >= TEXT_ITEMS {
        leave_out(&mut kept.left_out, Bound::TEXT_ITEMS, unit.line);
    } else {
        kept.items.push(unit);
    }
}

/// What `systemctl cat` writes above each file: the unit's name, and whether it is the unit's file, not a drop-in.
/// Drop-ins of all services lie in `service.d`, which names no unit.
fn path(line: &str) -> Option<(&str, bool)> {
    let path = line.strip_prefix("# /")?;
    let (above, file) = path.rsplit_once('/').filter(|_| !path.contains(char::is_whitespace))?;
    let directory = above.rsplit('/').next().unwrap_or(above);
    if let Some(unit) = directory.strip_suffix(".d") {
        return file.ends_with(".conf").then_some((unit, false));
    }
    [".service", ".slice", ".scope", ".socket"].iter().any(|t| file.ends_with(t)).then_some((file, true))
}

/// The name of a section; a mark of something that is hidden has small letters.
fn section(line: &str) -> Option<&str> {
    let name = line.strip_prefix('[')?.strip_suffix(']')?;
    name.starts_with(|c: char| c.is_ascii_uppercase()).then_some(name)
}

/// `infinity`, `8M`, `64K:infinity` (soft and hard). Nothing behind the key takes back what was set before.
fn setting(value: &str, line: u32) -> Option<At<Setting>> {
    if value.is_empty() {
        return None;
    }
    let one = |word: &str| match word.trim() {
        "infinity" => Some(Limit::Unlimited),
        number => size::parse(number).map(Limit::Value),
    };
    let (soft, hard) = value.split_once(':').unwrap_or((value, value));
    let both = one(soft).zip(one(hard)).map(|(soft, hard)| SoftHard { soft, hard });
    Some(At::new(both, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `systemctl cat slurmd containerd`, shortened.
    const CAT: &str = "\
# /usr/lib/systemd/system/slurmd.service
[Unit]
Description=Slurm node daemon
After=munge.service

[Service]
Type=notify
ExecStart=/usr/sbin/slurmd --systemd \\
    $SLURMD_OPTIONS LimitMEMLOCK=1
LimitNOFILE=131072
LimitMEMLOCK=8M

# /usr/lib/systemd/system/service.d/10-timeout.conf
[Service]
TimeoutStopFailureMode=abort

# /etc/systemd/system/slurmd.service.d/memlock.conf
[Service]
LimitMEMLOCK=infinity

# /usr/lib/systemd/system/containerd.service
[Service]
LimitMEMLOCK=64K:infinity
";

    #[test]
    fn units_with_their_drop_ins() {
        let all = parse(CAT.as_bytes()).items;
        let [slurmd, containerd] = all.as_slice() else { panic!("{all:?}") };
        let both = |limit| Some(SoftHard { soft: limit, hard: limit });
        assert_eq!((slurmd.name.as_deref(), slurmd.line), (Some("slurmd.service"), 1));
        assert_eq!(slurmd.description.as_deref(), Some("Slurm node daemon"));
        assert_eq!(slurmd.memlock, Some(At::new(both(Limit::Unlimited), 19)));
        assert_eq!(slurmd.nofile, Some(At::new(both(Limit::Value(131_072)), 10)));
        let limits = SoftHard { soft: Limit::Value(64 << 10), hard: Limit::Unlimited };
        assert_eq!((containerd.name.as_deref(), containerd.line), (Some("containerd.service"), 21));
        assert_eq!(containerd.memlock, Some(At::new(Some(limits), 23)));
    }

    #[test]
    fn a_limit_in_its_section() {
        let bytes = |n| Some(Some(Limit::Value(n)));
        let cases = [
            ("[Service]\nLimitMEMLOCK=infinity\n", Some(Some(Limit::Unlimited))),
            ("[Service]\nLimitMEMLOCK = 8388608\n", bytes(8 << 20)),
            ("[Service]\r\nLimitMEMLOCK=1G\r\n", bytes(1 << 30)),
            ("[Service]\nLimitMEMLOCK=8M\nLimitMEMLOCK=\n", None),
            ("[Service]\nLimitMEMLOCK=8M\n[redacted]\nLimitMEMLOCK=16M\n", bytes(16 << 20)),
            ("[Service]\nLimitMEMLOCK=[redacted]\n", Some(None)),
            ("[Service]\nLimitMEMLOCK=$X\n", Some(None)),
            ("[Service]\n#LimitMEMLOCK=8M\n; LimitMEMLOCK=8M\n", None),
            ("[Service]\nEnvironment=A=1 \\\n# LimitMEMLOCK=1\nLimitMEMLOCK=8M\n", None),
            ("[Install]\nLimitMEMLOCK=8M\n", None),
            ("LimitMEMLOCK=8M\n", None),
        ];
        for (text, soft) in cases {
            let unit = parse(text.as_bytes()).items.into_iter().next();
            let got = unit.and_then(|u| u.memlock).map(|m| m.value.map(|l| l.soft));
            assert_eq!(got, soft, "{text}");
        }
    }

    #[test]
    fn odd_texts() {
        for odd in [
            "",
            "# /",
            "# /a.d/b",
            "# /.d/.conf",
            "[",
            "[]",
            "[Service]\n=\n=x\\",
            "\\\n\\",
            "# /x.service\n# /y.service\n",
        ] {
            let _ = parse(odd.as_bytes());
        }
        let many: String = (0..70_000).map(|n| format!("# /u/{n}.service\n")).collect();
        let kept = parse(many.as_bytes());
        assert_eq!((kept.items.len(), kept.left_out.len()), (TEXT_ITEMS, 1));
    }
}
