//! The way into a guest: the user's `ssh` with a configuration of the lab's own.

use std::fmt::Write as _;
use std::path::Path;

/// A host of the configuration.
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) port: u16,
}

/// All guests have one host key, by this name.
const ALIAS: &str = "lab-disk";

/// What `known_hosts` holds.
pub(super) fn known_hosts(host_key: &str) -> String {
    // The third word is a remark.
    let key: Vec<&str> = host_key.split_whitespace().take(2).collect();
    format!("{ALIAS} {}\n", key.join(" "))
}

/// What `ssh -F` reads: each guest by its name, and nobody else's keys, hosts or agent.
pub(super) fn config(guests: &[Entry<'_>], key: &Path, known_hosts: &Path) -> String {
    let mut text = String::new();
    for guest in guests {
        let _ = writeln!(text, "Host {}\n    HostName 127.0.0.1\n    Port {}", guest.name, guest.port);
    }
    let _ = writeln!(
        text,
        "Host *\n    User root\n    IdentityFile \"{}\"\n    IdentitiesOnly yes\n    IdentityAgent none\n    \
         HostKeyAlias {ALIAS}\n    UserKnownHostsFile \"{}\"\n    GlobalKnownHostsFile /dev/null\n    \
         StrictHostKeyChecking yes\n    BatchMode yes\n    ConnectTimeout 20\n    ServerAliveInterval 10\n    \
         ServerAliveCountMax 6\n    LogLevel ERROR",
        key.display(),
        known_hosts.display()
    );
    text
}

/// Words as the shell of the other side takes them.
pub(super) fn quoted(words: &[&str]) -> String {
    words.iter().map(|w| format!("'{}'", w.replace('\'', r"'\''"))).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn words_arrive_as_they_are() {
        let words = ["printf", "%s|", "a b", "it's", "$HOME", "", "*", "\n", "\\"];
        let said = Command::new("sh").args(["-c", &quoted(&words)]).output().unwrap();
        assert_eq!(said.stdout, b"a b|it's|$HOME||*|\n|\\|");
    }

    #[test]
    fn each_guest_is_a_host_and_strangers_are_refused() {
        let guests = [Entry { name: "a", port: 20001 }, Entry { name: "b", port: 20002 }];
        let text = config(&guests, Path::new("/k"), Path::new("/h"));
        assert!(text.contains("Host b\n    HostName 127.0.0.1\n    Port 20002\n"), "{text}");
        assert!(text.contains("StrictHostKeyChecking yes") && text.contains("UserKnownHostsFile \"/h\""), "{text}");
        assert_eq!(known_hosts("ssh-ed25519 AAAA root@lab\n"), "lab-disk ssh-ed25519 AAAA\n");
    }
}
