//! What passes a host's interfaces while a test runs: the budget is kept by what is really moved, whatever the tool believes.

use linerate_transport::Command;
use std::collections::BTreeMap;
use std::time::Duration;

/// Prints all counters, `$1` times, once a second.
const SCRIPT: &str = r#"
left=$1
while [ "$left" -gt 0 ]; do
    cat /proc/net/dev
    for port in /sys/class/infiniband/*/ports/*; do
        [ -r "$port/counters/port_xmit_data" ] || continue
        read -r sent <"$port/counters/port_xmit_data"
        read -r got <"$port/counters/port_rcv_data"
        echo "rdma $port $got $sent"
    done
    echo tick
    left=$((left - 1))
    [ "$left" -eq 0 ] || sleep 1
done
"#;

/// The counters of a host, as they come.
#[derive(Debug, Default)]
pub(super) struct Meter {
    first: BTreeMap<String, u64>,
    now: BTreeMap<String, u64>,
    ticks: u32,
    /// The interface or RDMA device that counts.
    through: Option<String>,
}

/// The program to listen to: so many readings.
pub(super) fn command(readings: u64) -> Command {
    Command::script(SCRIPT, &[&readings.to_string()]).limit(Duration::from_secs(readings.saturating_add(10)))
}

impl Meter {
    /// Of an interface or RDMA device; of the busiest, where that is not known or not there.
    pub(super) fn through(name: Option<&str>) -> Self {
        Meter { through: name.map(str::to_owned), ..Meter::default() }
    }

    /// Takes a line.
    pub(super) fn line(&mut self, line: &str) {
        if line.trim() == "tick" {
            self.ticks += 1;
            if self.ticks == 1 {
                self.first = self.now.clone();
            }
            return;
        }
        if let Some((name, bytes)) = read(line)
            && self.now.len() < 4096
        {
            self.now.insert(name, bytes);
        }
    }

    /// Whether there is a reading to start from.
    pub(super) fn has_begun(&self) -> bool {
        self.ticks > 0
    }

    /// Bytes through the interface (or the busiest one), both directions; `None` before there are two readings. Not their sum: what passes a
    /// bridge or a bond is counted by each of its parts.
    pub(super) fn moved(&self) -> Option<u64> {
        let since = |(name, now): (&String, &u64)| Some(now.saturating_sub(*self.first.get(name)?));
        let named = |name: &str| self.through.as_deref().is_some_and(|t| name == t || name.split('/').any(|p| p == t));
        let own = self.now.iter().filter(|(name, _)| named(name)).filter_map(since).max();
        let busiest = || self.now.iter().filter_map(since).max();
        (self.ticks >= 1).then(|| own.or_else(busiest)).flatten()
    }
}

/// Name and bytes of a line of `/proc/net/dev`, or of an RDMA port.
fn read(line: &str) -> Option<(String, u64)> {
    if let Some(port) = line.strip_prefix("rdma ") {
        let mut words = port.split_whitespace();
        let name = words.next()?.to_owned();
        let (got, sent): (u64, u64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        // InfiniBand Architecture: these counters count four bytes.
        return Some((name, got.saturating_add(sent).saturating_mul(4)));
    }
    let (name, rest) = line.split_once(':')?;
    let mut words = rest.split_whitespace();
    let got: u64 = words.next()?.parse().ok()?;
    let sent: u64 = words.nth(7)?.parse().ok()?;
    // Loopback counts each byte in both directions.
    let bytes = if name.trim() == "lo" { got } else { got.saturating_add(sent) };
    Some((name.trim().to_owned(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(text: &str) -> Option<u64> {
        let mut meter = Meter::default();
        text.lines().for_each(|l| meter.line(l));
        meter.moved()
    }

    #[test]
    fn the_busiest_interface_counts() {
        let head = "Inter-|   Receive                                                |  Transmit\n";
        let dev = |name, got, sent| format!("{name}: {got} 1 0 0 0 0 0 0 {sent} 2 0 0 0 0 0 0\n");
        let one = [head, &dev("eth0", 100, 50), &dev("lo", 7, 7), "rdma /x/mlx5_0/ports/1 10 10\n", "tick\n"].concat();
        assert_eq!(after(head), None);
        assert_eq!(after(&one), Some(0));
        assert_eq!(after(&[&one, dev("eth0", 300, 150).as_str(), "tick"].concat()), Some(300));
        assert_eq!(after(&[&one, dev("lo", 1007, 1007).as_str(), "tick"].concat()), Some(1000));
        assert_eq!(after(&[&one, "rdma /x/mlx5_0/ports/1 1010 10\n", "tick"].concat()), Some(4000));
        assert_eq!(after(&[&one, dev("eth0", 1, 1).as_str(), "tick"].concat()), Some(0), "a counter that was reset");
    }

    #[test]
    fn the_interface_of_the_data() {
        let text = "eth0: 0 1 0 0 0 0 0 0 0\neth1: 0 1 0 0 0 0 0 0 0\nrdma /c/mlx5_0/ports/1 0 0\ntick\n\
                    eth0: 9 1 0 0 0 0 0 0 0\neth1: 5 1 0 0 0 0 0 0 0\nrdma /c/mlx5_0/ports/1 1 0\ntick\n";
        let through = |name: Option<&str>| {
            let mut meter = Meter::through(name);
            text.lines().for_each(|l| meter.line(l));
            meter.moved()
        };
        assert_eq!([None, Some("eth1"), Some("mlx5_0"), Some("eth7")].map(through), [9, 5, 4, 9].map(Some));
    }

    proptest! {
        #[test]
        fn any_lines_are_taken(text in "([a-z0-9: ]{0,40}\n){0,10}") {
            after(&text);
        }
    }
}
