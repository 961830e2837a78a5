//! A free port on a host: its kernel is asked, by binding port 0. Between that and the server's start another program can take it;
//! then the next one is tried.

use linerate_transport::{Cancel, Command, Transport, TransportError};
use std::time::Duration;

/// Binds port 0 for TCP and says which it was; for UDP the same number must be free.
const PYTHON: &str = "import socket as s
for i in range(20):
    t = s.socket(s.AF_INET, s.SOCK_STREAM); t.bind(('', 0)); p = t.getsockname()[1]
    try:
        u = s.socket(s.AF_INET, s.SOCK_DGRAM); u.bind(('', p))
    except OSError:
        continue
    print('port', p); break";
const PERL: &str = "use Socket; for (1..20) { socket(T, PF_INET, SOCK_STREAM, 6); bind(T, sockaddr_in(0, INADDR_ANY)) or next; \
    my ($p) = sockaddr_in(getsockname(T)); socket(U, PF_INET, SOCK_DGRAM, 17); bind(U, sockaddr_in($p, INADDR_ANY)) or next; \
    print \"port $p\\n\"; last }";
/// Where there is neither: ports that somebody uses, and the kernel's range for outgoing connections.
const USED: &str = "read -r low high </proc/sys/net/ipv4/ip_local_port_range; echo \"range $low $high\"
cat /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6 2>/dev/null; echo end";

/// Who can bind a port there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asker {
    Python,
    Perl,
    Nobody,
}

/// A free port; not one of those tried before.
pub(super) fn free(
    host: &dyn Transport,
    asker: Asker,
    tried: &[u16],
    cancel: &Cancel,
) -> Result<Option<u16>, TransportError> {
    let limit = Duration::from_secs(20);
    let argv = match asker {
        Asker::Python => vec!["python3", "-c", PYTHON],
        Asker::Perl => vec!["perl", "-e", PERL],
        Asker::Nobody => Vec::new(),
    };
    if !argv.is_empty() {
        let text = host.run(&Command::new(argv).limit(limit), cancel)?.text();
        let port = text.lines().find_map(|l| l.strip_prefix("port ")?.trim().parse().ok());
        if let Some(port) = port.filter(|p| !tried.contains(p)) {
            return Ok(Some(port));
        }
    }
    let text = host.run(&Command::script(USED, &[]).limit(limit), cancel)?.text();
    let start = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
    Ok(unused(&text, tried, start))
}

/// The first unused port at or after a place in the range in which servers are, below that of outgoing connections.
fn unused(text: &str, tried: &[u16], start: u32) -> Option<u16> {
    let mut low = 32768_u32;
    let mut used: Vec<u16> = tried.to_vec();
    for line in text.lines() {
        if let Some(range) = line.strip_prefix("range ") {
            low = range.split_whitespace().next().and_then(|l| l.parse().ok()).unwrap_or(low);
        } else if let Some(port) = line.split_whitespace().nth(1).and_then(|l| l.rsplit(':').next()) {
            used.extend(u16::from_str_radix(port, 16));
        }
    }
    const FIRST: u32 = 10_000;
    let count = low.clamp(FIRST + 1000, 60_000) - FIRST;
    let mut ports = (0..count).map(|n| FIRST + (start.wrapping_add(n)) % count);
    ports.find_map(|p| u16::try_from(p).ok().filter(|p| !used.contains(p)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_transport::Local;

    #[test]
    fn an_unused_one() {
        let text = "range 32768 60999\n  0: 00000000:2710 00000000:0000 0A\n  1: 0000:2711 0:0 07\n";
        assert_eq!(unused(text, &[10_002], 0), Some(10_003));
        assert_eq!(unused("", &[], 5), Some(10_005));
        assert!(unused("range 1024 65000", &[], u32::MAX).is_some());
    }

    #[test]
    fn all_ways_find_one_that_can_be_bound() {
        for asker in [Asker::Python, Asker::Perl, Asker::Nobody] {
            let port = free(&Local::new(), asker, &[], &Cancel::new()).unwrap().unwrap();
            std::net::TcpListener::bind(("0.0.0.0", port)).unwrap();
        }
    }
}
