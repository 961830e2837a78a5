//! What a host is asked before anything starts: which programs it has, who we are there, and what of it cannot be in a snapshot.

use crate::RunError;
use linerate_transport::{Cancel, Command, Transport};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

/// Says what is there; its arguments are names of programs.
const SCRIPT: &str = r#"
echo "name $(uname -n)"
echo "user $(id -u)"
echo "memlock $(ulimit -l 2>/dev/null)"
echo "ssh ${SSH_CONNECTION:-}"
sed -n 's/^ID=/os /p; s/^ID_LIKE=/os /p' /etc/os-release 2>/dev/null
for tool in "$@"; do
    echo "tool $tool $(command -v "$tool" 2>/dev/null)"
done
echo end
"#;

/// Programs without which nothing is run on a host.
pub(crate) const BASE: &[&str] = &["setsid", "timeout", "env", "cat", "grep"];
/// Programs that are used where they are.
pub(crate) const OPTIONAL: &[&str] = &["numactl", "taskset", "ip", "python3", "perl", "mpirun", "linerate"];

/// What a host said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Probe {
    /// Its name for itself.
    pub name: String,
    /// Who we are there.
    pub uid: Option<u32>,
    /// Largest amount of memory that we may lock, KiB; `None` where there is no limit.
    pub memlock_kib: Option<u64>,
    /// Names of its distribution and of those that it is like.
    pub os: Vec<String>,
    /// Our address and its address, as its end of the SSH connection knows them.
    /// Addresses and nothing else: they become arguments on other hosts.
    pub connection: Option<(IpAddr, IpAddr)>,
    /// Where programs are.
    pub tools: BTreeMap<String, String>,
}

impl Probe {
    /// Asks a host.
    ///
    /// # Errors
    /// It cannot be reached ([`RunError::Transport`]), or its shell did not run the questions to their end ([`RunError::Shell`]).
    pub fn ask(host: &dyn Transport, tools: &[&str], cancel: &Cancel) -> Result<Probe, RunError> {
        let ran = host.run(&Command::script(SCRIPT, tools).limit(Duration::from_secs(30)), cancel)?;
        let text = ran.text();
        if !text.lines().any(|l| l == "end") {
            let said = String::from_utf8_lossy(&ran.stderr);
            let said = said.lines().next().unwrap_or("nothing").to_owned();
            return Err(RunError::Shell { host: host.host().to_owned(), status: ran.status, said });
        }
        Ok(Probe::read(&text))
    }

    /// Reads the answer.
    #[must_use]
    pub fn read(text: &str) -> Probe {
        let mut out = Probe::default();
        for line in text.lines() {
            let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
            match key {
                "name" => rest.clone_into(&mut out.name),
                "user" => out.uid = rest.parse().ok(),
                "memlock" => out.memlock_kib = rest.parse().ok(),
                "os" => out.os.extend(rest.trim_matches('"').split_whitespace().map(str::to_owned)),
                "ssh" => {
                    let mut words = rest.split_whitespace();
                    out.connection = address(words.next()).zip(address(words.nth(1)));
                }
                "tool" => {
                    if let Some((tool, path)) = rest.split_once(' ').filter(|(_, p)| !p.trim().is_empty()) {
                        out.tools.insert(tool.to_owned(), path.trim().to_owned());
                    }
                }
                _ => {}
            }
        }
        out
    }

    /// Whether it has a program.
    #[must_use]
    pub fn has(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// Root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.uid == Some(0)
    }

    /// How packages are installed there, and whether they have Red Hat's names.
    #[must_use]
    pub fn installer(&self) -> Option<(&'static str, bool)> {
        let is = |n: &str| self.os.iter().any(|o| o == n);
        if is("debian") || is("ubuntu") {
            Some(("apt-get install", false))
        } else if ["rhel", "fedora", "centos", "rocky", "almalinux"].into_iter().any(is) {
            Some(("dnf install", true))
        } else {
            None
        }
    }
}

/// An address at which one machine may be reached.
fn address(word: Option<&str>) -> Option<IpAddr> {
    let address = word?.parse::<IpAddr>().ok()?.to_canonical();
    let broadcast = matches!(address, IpAddr::V4(a) if a.is_broadcast());
    (!address.is_unspecified() && !address.is_multicast() && !broadcast).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_transport::{Ran, TransportError};
    use proptest::prelude::*;

    #[test]
    fn an_answer() {
        let text = "name gpu01\nuser 1000\nmemlock 8192\nssh 10.0.0.1 5 10.0.0.2 22\nos rocky\nos \"rhel centos fedora\"\n\
                    tool iperf3 /usr/bin/iperf3\ntool fio \nend\n";
        let probe = Probe::read(text);
        assert_eq!((probe.name.as_str(), probe.uid, probe.memlock_kib), ("gpu01", Some(1000), Some(8192)));
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        assert_eq!(probe.connection, Some((address("10.0.0.1"), address("10.0.0.2"))));
        assert_eq!((probe.has("iperf3"), probe.has("fio")), (true, false));
        assert_eq!(probe.installer(), Some(("dnf install", true)));
        assert_eq!(Probe::read("memlock unlimited\nssh \n").memlock_kib, None);
        assert_eq!(Probe::read("os arch").installer(), None);
    }

    /// A host says where it is reached, and the others are called with that.
    #[test]
    fn what_is_no_address_is_not_taken_for_one() {
        for it in
            ["--out_json_file=/etc/passwd", "-f", "10.0.0.2,n7", "n7", "0.0.0.0", "::", "224.0.0.1", "255.255.255.255"]
        {
            assert_eq!(Probe::read(&format!("ssh 10.0.0.1 5 {it} 22\n")).connection, None, "{it}");
            assert_eq!(Probe::read(&format!("ssh {it} 5 10.0.0.2 22\n")).connection, None, "{it}");
        }
        let mapped = Probe::read("ssh ::ffff:10.0.0.1 5 ::ffff:10.0.0.2 22\n").connection.unwrap();
        assert_eq!((mapped.0.to_string(), mapped.1.to_string()), ("10.0.0.1".into(), "10.0.0.2".into()));
    }

    /// A host whose shell says something else.
    struct Nologin;

    impl Transport for Nologin {
        fn host(&self) -> &str {
            "n1"
        }

        fn carry(&self, argv: &[String]) -> Result<Vec<String>, TransportError> {
            Ok(argv.to_vec())
        }

        fn run(&self, _: &Command, _: &Cancel) -> Result<Ran, TransportError> {
            Ok(Ran {
                status: 1,
                stdout: b"end of service\n".to_vec(),
                stderr: b"not available\nbye\n".to_vec(),
                cut: false,
            })
        }
    }

    #[test]
    fn a_shell_that_answers_something_else_is_no_lost_connection() {
        let error = Probe::ask(&Nologin, &[], &Cancel::new()).unwrap_err();
        let RunError::Shell { host, status, said } = error else { panic!("{error}") };
        assert_eq!((host.as_str(), status, said.as_str()), ("n1", 1, "not available"));
    }

    #[test]
    fn this_host_answers() {
        let host = linerate_transport::Local::new();
        let probe = Probe::ask(&host, &["sh", "no-such-tool-here"], &Cancel::new()).unwrap();
        assert!(probe.uid.is_some() && !probe.name.is_empty());
        assert_eq!((probe.has("sh"), probe.has("no-such-tool-here")), (true, false));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,200}") {
            prop_assert!(Probe::read(&text).tools.len() <= text.len());
        }
    }
}
