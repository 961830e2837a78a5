//! The watchdog of network interfaces (net/sched/sch_generic.c, `dev_watchdog`): frames that were handed to a NIC have not been sent for seconds.

use super::driver::{DriverClass, Requester};
use super::event::Event;

/// What the line begins with in older kernels, and what comes behind the device's name in newer ones.
pub(super) const NAME: &str = "NETDEV WATCHDOG: ";

/// `NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 11 timed out`, then with ` 5010 ms` at its end, then `mlx5_core 0000:17:00.0 eth0: NETDEV WATCHDOG: CPU: 3:
/// transmit queue 11 timed out 5010 ms`.
pub(super) fn read(m: &str) -> Option<Event> {
    if let Some(rest) = m.strip_prefix(NAME) {
        let (interface, rest) = rest.split_once(" (")?;
        let (driver, said) = rest.split_once("): ")?;
        let of = Requester { bdf: None, class: DriverClass::of(driver) };
        return (!interface.contains(' ') && is_stuck(said)).then_some(Event::TransmitTimeout { of });
    }
    let (_, rest) = m.split_once(": ")?;
    let (_, said) = rest.strip_prefix(NAME)?.strip_prefix("CPU: ")?.split_once(": ")?;
    is_stuck(said).then(|| Event::TransmitTimeout { of: Requester::of_line(m) })
}

fn is_stuck(said: &str) -> bool {
    said.strip_prefix("transmit queue ")
        .and_then(|r| r.split_once(' '))
        .is_some_and(|(queue, rest)| queue.bytes().all(|b| b.is_ascii_digit()) && rest.starts_with("timed out"))
}
