//! Of which host a text is, where it says so: texts of two nodes in one directory would be read as one node.
//!
//! File names are no evidence: people name files after tickets, racks and dates, too.

use crate::recognise::HEAD;
use linerate_formats::host_name::short;
use linerate_formats::{Gives, Kind, dmesg};
use std::collections::BTreeSet;

/// Texts that name hosts, and the hosts that they name.
#[derive(Default)]
pub(crate) struct Hosts(Vec<(String, BTreeSet<String>)>);

impl Hosts {
    /// Notes the hosts that a text names.
    pub(crate) fn add(&mut self, file: &str, what: Kind, bytes: &[u8]) {
        let names = of_text(what, bytes);
        if !names.is_empty() {
            self.0.push((file.to_owned(), names));
        }
    }

    /// Two texts that share no host, in words. A log that names two hosts is of a machine that got its name while it started.
    pub(crate) fn contradiction(&self) -> Option<String> {
        let (file, names) = self.0.first()?;
        let (other, theirs) = self.0.iter().find(|(_, theirs)| theirs.is_disjoint(names))?;
        let (a, b) = (names.first()?, theirs.first()?);
        Some(format!("texts of two hosts: {file} is of {a}, {other} of {b}; they are judged as one node"))
    }
}

/// Hosts that a text names in its beginning.
pub(crate) fn of_text(what: Kind, bytes: &[u8]) -> BTreeSet<String> {
    // Printed on one host, it is about others.
    if what.tool().of_cluster {
        return BTreeSet::new();
    }
    let head = String::from_utf8_lossy(bytes.get(..bytes.len().min(HEAD)).unwrap_or_default());
    let log = what.gives() == Gives::KernelLog;
    let of_line = |l| if log { of_log(l) } else { of_prompt(l).and_then(short) };
    head.lines().filter_map(of_line).chain(head.lines().next().and_then(of_uname).and_then(short)).collect()
}

/// The host that a line of the kernel's log names.
pub(crate) fn of_log(line: &str) -> Option<String> {
    dmesg::head(line).host.and_then(short)
}

/// Whether lines of a kernel's log, each with the host that it names, are of several machines. A machine may get its name while it starts: then the
/// log has its beginning under one name and the rest, without another beginning, under one more.
pub(crate) fn are_several<'a>(lines: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
    // Each host as its lines follow each other, and whether a kernel begins there.
    let mut runs: Vec<(&str, bool)> = Vec::new();
    for (line, host) in lines {
        let starts = line.contains("Linux version ");
        match runs.last_mut() {
            Some((last, has)) if *last == host => *has |= starts,
            _ => runs.push((host, starts)),
        }
        if runs.len() > 2 {
            return true;
        }
    }
    matches!(runs.as_slice(), [(_, first), (_, second)] if !first || *second)
}

/// The host of a command line, without its domain.
pub(crate) fn of_command(line: &str) -> Option<String> {
    of_prompt(line).and_then(short)
}

/// `root@HOST:~# …`, `user@HOST:/dir$ …`, `[root@HOST dir]# …`: what a shell prints before a command.
fn of_prompt(line: &str) -> Option<&str> {
    let (user, rest) = line.trim_start().split_once('@')?;
    let (bracket, user) = user.strip_prefix('[').map_or((false, user), |u| (true, u));
    let name =
        |t: &str| !t.is_empty() && t.len() <= 64 && t.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    let end = rest.find([':', ' '])?;
    let (host, after) = rest.split_at_checked(end)?;
    let ends = |t: &str, at: &[&str]| at.iter().any(|a| t.contains(a) || t.trim_end().ends_with(a.trim_end()));
    let shell = match after.strip_prefix(':') {
        Some(dir) => dir.starts_with(['~', '/']) && ends(dir, &["$ ", "# "]),
        None => bracket && ends(after, &["]$ ", "]# "]),
    };
    (shell && name(user) && name(host)).then_some(host)
}

/// `Linux HOST 6.8.0-60-generic #1 SMP …` of `uname -a`.
fn of_uname(line: &str) -> Option<&str> {
    let mut words = line.split_ascii_whitespace();
    let host = words.next().filter(|w| *w == "Linux").and(words.next())?;
    let release = words.next()?.starts_with(|c: char| c.is_ascii_digit());
    (release && host != "version" && words.next()?.starts_with('#')).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[(&str, &str)]) -> Option<String> {
        let mut hosts = Hosts::default();
        for (name, text) in texts {
            hosts.add(name, crate::recognise::recognise(name, text.as_bytes()), text.as_bytes());
        }
        hosts.contradiction()
    }

    const A: &str = "Nov 21 07:00:00 localhost kernel: Linux version 6.8.0\nNov 21 07:00:09 gpu-1.example.org kernel: mlx5_core 0000:18:00.0: firmware version: 28.39\n";
    const B: &str = "2026-11-21T07:00:00,285060+00:00 gpu-2 kernel: Linux version 6.8.0\n2026-11-21T07:00:01,285060+00:00 gpu-2 kernel: Command line: ro\n";

    #[test]
    fn two_hosts_are_said() {
        let text = said(&[("a.log", A), ("b.log", B)]).unwrap();
        assert!(text.starts_with("texts of two hosts: a.log is of gpu-1, b.log of gpu-2"), "{text}");
        let uname = "Linux GPU-3 6.8.0-60-generic #63 SMP PREEMPT_DYNAMIC x86_64 GNU/Linux\n";
        assert!(said(&[("dmesg", A), ("uname", uname)]).unwrap().contains("uname of gpu-3"));
    }

    #[test]
    fn a_prompt_names_its_host() {
        for (line, host) in [
            ("root@gpu-1:~# lspci -nn", Some("gpu-1")),
            ("me@gpu-2.example.org:/sys/class$ cat x", Some("gpu-2.example.org")),
            ("[root@gpu-3 ~]# ibstat", Some("gpu-3")),
            ("root@gpu-4:~#", Some("gpu-4")),
            ("me@example.org: see below", None),
            ("git@github.com:NVIDIA/nccl.git", None),
            ("mail me@example.org for more", None),
            ("CA 'mlx5_0'", None),
        ] {
            assert_eq!(of_prompt(line), host, "{line}");
        }
    }

    #[test]
    fn one_host_or_none_is_no_contradiction() {
        assert_eq!(said(&[("a", A), ("b", A)]), None);
        assert_eq!(said(&[("a", A), ("uname", "Linux gpu-1 6.8.0-60-generic #63 SMP x86_64\n")]), None);
        let plain = "[    0.000000] Linux version 6.8.0\n[    0.1] a: tainted kernel: no\n";
        assert_eq!(said(&[("a", A), ("b", plain)]), None);
        assert_eq!(said(&[("a", A), ("b", "Linux version 6.8.0 #1\n")]), None);
        assert_eq!(said(&[("a", A), ("b", &A.replace("gpu-1.example.org", "localhost"))]), None);
    }

    #[test]
    fn a_name_that_came_while_it_started_is_no_other_machine() {
        let several = |hosts: &[(&str, &str)]| are_several(hosts.iter().map(|(h, l)| (*l, *h)));
        let (start, any) = ("Linux version 6.8.0", "x");
        assert!(!several(&[]) && !several(&[("a", any), ("a", start)]));
        assert!(!several(&[("ip-10-0-0-1", start), ("ip-10-0-0-1", any), ("gpu-1", any)]));
        assert!(several(&[("a", start), ("b", start)]));
        assert!(several(&[("a", any), ("b", any)]));
        assert!(several(&[("a", start), ("b", any), ("a", any)]));
        assert!(several(&[("a", start), ("b", any), ("c", any)]));
    }
}
