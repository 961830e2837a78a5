//! The operator's own process, as nodes see it.

use crate::protocol::Session;
use linerate_remedy::sha256;
use linerate_transport::chance;
use std::fs;

/// Who asks nodes, and how it comes to hold them.
#[derive(Debug, Clone)]
pub struct Operator {
    /// This process.
    pub session: Session,
    /// A node that another session holds is taken from it, though that session may still work.
    pub take_over: bool,
}

impl Operator {
    /// This process. `who`: user and host.
    #[must_use]
    pub fn new(who: &str) -> Operator {
        let plain: String = who.chars().filter(char::is_ascii_graphic).take(128).collect();
        let who = if plain.is_empty() { "somebody".to_owned() } else { plain };
        let pid = std::process::id();
        let session = Session {
            id: format!("{}{}", chance(), chance()),
            who,
            place: place(),
            pid,
            began: began(pid).unwrap_or_default(),
        };
        Operator { session, take_over: false }
    }
}

/// Where process numbers mean the same: the machine, its boot, and the name space of its processes.
fn place() -> String {
    let text = |path: &str| fs::read_to_string(path).ok().map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
    let names = fs::read_link("/proc/self/ns/pid").ok().map(|p| p.display().to_string());
    match (text("/proc/sys/kernel/random/boot_id"), names) {
        (Some(boot), Some(names)) => {
            let machine = text("/etc/machine-id").unwrap_or_default();
            sha256(format!("linerate session {machine} {boot} {names}").as_bytes())
        }
        _ => String::new(),
    }
}

/// When a process began; `None`: there is none of that number.
fn began(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of a program may have anything in it, a parenthesis as well.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// Whether a session's process is gone, as far as this process can know: it was here, and is not any more.
pub(super) fn is_gone(other: &Session) -> bool {
    let here = place();
    !here.is_empty() && other.place == here && began(other.pid) != Some(other.began)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gone_is_only_what_was_here() {
        let own = Operator::new("me@here").session;
        assert!(own.is_sound() && !is_gone(&own), "{own:?}");
        assert!(is_gone(&Session { began: own.began + 1, ..own.clone() }), "another process of the same number");
        assert!(!is_gone(&Session { place: String::new(), pid: 0, ..own.clone() }), "elsewhere: not known");
        assert!(!is_gone(&Session { place: "0".repeat(64), pid: 0, ..own.clone() }));
        assert_ne!(own.id, Operator::new("me@here").session.id);
        assert!(Operator::new("\u{1b}[2J \n").session.is_sound());
    }
}
