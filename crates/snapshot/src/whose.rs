//! Of which host lines of a kernel's log are that name none: what stands above them says it.

use crate::cut::headings::{Bars, Headings};
use crate::hosts;
use linerate_formats::host_heading::{may_be, of_program};
use linerate_formats::host_name::short;
use linerate_formats::lines::Line;

/// What the lines above say, of a text that is read line by line.
#[derive(Debug, Default)]
pub struct Whose {
    host: Option<String>,
    headings: Headings,
}

impl Whose {
    /// The next line.
    pub fn line(&mut self, line: &str) {
        let bare = Line { number: 0, text: line, is_cut: false, is_undecodable: false, marks: 0 };
        match self.headings.ask(&bare) {
            Bars::Held => return,
            Bars::Hosts(hosts) => {
                self.host = Some(hosts);
                return;
            }
            // Neither a bar nor names say it by themselves.
            Bars::Not(_) => {}
        }
        if may_be(line.as_bytes())
            && let Some(host) = of_program(line).and_then(short)
        {
            self.host = Some(host);
        } else if let Some(host) = hosts::of_command(line) {
            // What other commands print may be of any host.
            self.host = shows_own_log(line).then_some(host);
        }
    }

    /// The host, or a list of hosts (see [`names`](linerate_formats::node_list::names)), whose log a line here is.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }
}

/// Whether the command behind a prompt prints the log of the kernel that runs there: `dmesg`, `sudo journalctl -k`.
fn shows_own_log(line: &str) -> bool {
    let command = ["$ ", "# "]
        .iter()
        .filter_map(|p| line.split_once(p))
        .map(|(_, c)| c)
        .min_by_key(|c| std::cmp::Reverse(c.len()));
    let mut words = command.unwrap_or_default().split_whitespace().skip_while(|w| *w == "sudo" || w.starts_with('-'));
    // A journal of other machines, too, is read by journalctl.
    let elsewhere = ["-D", "--directory", "--file", "-M", "--machine", "-m", "--merge"];
    match words.next() {
        Some("dmesg") => true,
        Some("journalctl") => !words.any(|w| elsewhere.iter().any(|e| w.split('=').next() == Some(e))),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Whose;

    #[test]
    fn what_is_above_says_whose_a_log_is() {
        let bar = "-".repeat(16);
        for (lines, want) in [
            (&["root@gpu01:~# dmesg | grep -i xid"][..], Some("gpu01")),
            (&["[root@gpu01 ~]# sudo journalctl -k -b"], Some("gpu01")),
            (&["root@gpu01:~# dmesg", "[1.5] a", "root@login:~# ssh gpu02 dmesg"], None),
            (&["root@gpu01:~# cat dmesg.txt"], None),
            (&["root@gpu01:~# journalctl -k -D /mnt/other"], None),
            (&["dmesg"], None),
            (&[&bar, "gpu01", &bar], Some("gpu01")),
            (&[&bar, "gpu[01-02] (2)", &bar, "[1.5] a"], Some("gpu[01-02]")),
            (&[&bar, "two words", &bar], None),
            (&[&bar, "gpu01"], None),
            (&["gpu01 | CHANGED | rc=0 >>", "[1.5] a"], Some("gpu01")),
            (&["[1] 10:21:33 [SUCCESS] gpu02.example.org"], Some("gpu02")),
            (&["root@gpu01:~# dmesg", "gpu02 | UNREACHABLE! => {"], Some("gpu02")),
        ] {
            let mut whose = Whose::default();
            lines.iter().for_each(|l| whose.line(l));
            assert_eq!(whose.host(), want, "{lines:?}");
        }
    }
}
