//! Messages of the kernel, wherever they stand in a file: one text, or one for each machine whose log they are.

use crate::hosts;
use crate::lines::Lines;
use std::collections::HashMap;

/// Messages of the kernel.
#[derive(Debug, Default)]
pub(super) struct Messages {
    text: String,
    lines: Lines,
    count: u32,
    /// The host of the last command line above, from each line on where that is another.
    below: Vec<(u32, Option<String>)>,
}

/// Messages of one machine.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Log {
    /// The machine, where that is known.
    pub(super) host: Option<String>,
    pub(super) lines: Lines,
    pub(super) text: String,
}

impl Messages {
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Another message, which is this line of the file. `below`: the host that the last command line above it names.
    pub(super) fn push(&mut self, line: &str, number: u64, below: Option<&String>) {
        if self.below.last().map_or(self.is_empty(), |(_, host)| host.as_ref() != below) {
            self.below.push((self.count, below.cloned()));
        }
        self.text.push_str(line);
        self.text.push('\n');
        self.lines.add(number);
        self.count = self.count.saturating_add(1);
    }

    /// The messages by their machines. Lines that name several machines are theirs, unless it is said of the file whose it is, and lines that name
    /// none are of the command line above them; a text that names one machine may name it in some lines only.
    pub(super) fn by_host(self, is_said: bool) -> Vec<Log> {
        let own = |line| if is_said { None } else { hosts::of_log(line) };
        let hosts: Vec<Option<String>> = self.text.lines().map(own).collect();
        let several = hosts::are_several(self.text.lines().zip(&hosts).filter_map(|(l, h)| Some((l, h.as_deref()?))));
        let mut shells = self.below.iter().filter_map(|(_, host)| host.as_ref());
        let shell = shells.next();
        if !several && shells.all(|s| Some(s) == shell) {
            // A log that is read on another machine names its own.
            let host = shell.map(|shell| hosts.into_iter().flatten().next().unwrap_or_else(|| shell.clone()));
            return vec![Log { host, lines: self.lines, text: self.text }];
        }
        let mut out: Vec<Log> = Vec::new();
        let mut places: HashMap<Option<String>, usize> = HashMap::new();
        let mut below = self.below.iter().peekable();
        let mut above = None;
        for ((number, line), own) in (0..).zip(self.text.lines()).zip(hosts) {
            while let Some((_, host)) = below.next_if(|(from, _)| *from <= number) {
                above = host.clone();
            }
            let host = own.filter(|_| several).or_else(|| above.clone());
            let at = *places.entry(host).or_insert_with_key(|host| {
                out.push(Log { host: host.clone(), ..Log::default() });
                out.len() - 1
            });
            if let Some(log) = out.get_mut(at) {
                log.text.push_str(line);
                log.text.push('\n');
                log.lines.add(u64::from(self.lines.in_file(number + 1)));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hosts, and the lines of the file that are theirs.
    fn split(lines: &[(u64, Option<&str>, &str)], said: Option<&str>) -> Vec<(Option<String>, Vec<u32>)> {
        let mut all = Messages::default();
        for (number, below, line) in lines {
            all.push(line, *number, below.or(said).map(str::to_owned).as_ref());
        }
        let of = |l: Log| {
            let count = u32::try_from(l.text.lines().count()).unwrap_or_default();
            (l.host, (1..=count).map(|n| l.lines.in_file(n)).collect())
        };
        all.by_host(said.is_some()).into_iter().map(of).collect()
    }

    fn log(host: &str, numbers: &[u32]) -> (Option<String>, Vec<u32>) {
        (Some(host.to_owned()).filter(|h| !h.is_empty()), numbers.to_vec())
    }

    #[test]
    fn lines_of_two_machines_are_two_logs() {
        let both = [
            (3, None, "Nov 21 07:00:00 gpu-1.example.org kernel: a"),
            (4, None, "Nov 21 07:00:00 gpu-2 kernel: b"),
            (7, None, "Nov 21 07:00:01 GPU-1 kernel: c"),
        ];
        assert_eq!(split(&both, None), [log("gpu-1", &[3, 7]), log("gpu-2", &[4])]);
        assert_eq!(split(&both, Some("x")), [log("x", &[3, 4, 7])], "the operator's word");
        assert_eq!(split(&both.map(|(n, _, l)| (n, Some("login"), l)), None).len(), 2, "read on a third one");
        let tagged = [(1, None, "node01: [   12.5] a"), (2, None, "node02: [   12.5] a"), (3, None, "[   12.5] a")];
        assert_eq!(split(&tagged, None), [log("node01", &[1]), log("node02", &[2]), log("", &[3])]);
        let talos = ["10.0.0.1", "10.0.0.2"].map(|h| format!("{h}: kern:     err: [2026-11-21T07:00:00.5Z]: a"));
        assert_eq!(
            split(&[(1, None, &talos[0]), (2, None, &talos[1])], None),
            [log("10.0.0.1", &[1]), log("10.0.0.2", &[2])]
        );
    }

    #[test]
    fn a_text_of_one_machine_stays_whole() {
        let one = [(1, None, "Nov 21 07:00:00 localhost kernel: a"), (2, None, "Nov 21 07:00:00 gpu-1 kernel: b")];
        assert_eq!(split(&one, None), [log("", &[1, 2])]);
        let shell = [(2, Some("gpu-1"), "[    1.5] a"), (3, Some("gpu-1"), "[    1.6] b")];
        assert_eq!(split(&shell, None), [log("gpu-1", &[2, 3])]);
        assert_eq!(
            split(&[(1, None, "[    1.5] a"), (9, Some("gpu-1"), "[    1.6] b")], None),
            [log("gpu-1", &[1, 9])]
        );
        let elsewhere = [(2, Some("login"), "Nov 21 07:00:00 gpu-1 kernel: a")];
        assert_eq!(split(&elsewhere, None), [log("gpu-1", &[2])]);
        assert_eq!(split(&[], None), [log("", &[])]);
    }

    #[test]
    fn command_lines_tell_logs_apart() {
        let two =
            [(2, Some("gpu-1"), "[    1.5] a"), (5, Some("gpu-2"), "[    1.5] a"), (6, Some("gpu-2"), "[    1.6] b")];
        assert_eq!(split(&two, None), [log("gpu-1", &[2]), log("gpu-2", &[5, 6])]);
    }
}
