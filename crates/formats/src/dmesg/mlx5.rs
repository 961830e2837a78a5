//! What mlx5 says of its firmware (drivers/net/ethernet/mellanox/mlx5/core: health.c, cmd.c), and what only resembles a fault.

use crate::text::after;

/// Syndrome of the health buffer that is a warning: the temperature.
const HIGH_TEMPERATURE: u32 = 0x10;

/// The first level of the kernel's log below an error: a warning.
const WARNING: u32 = 4;

/// Whether a line reports that firmware or hardware do not work: the poll that misses the firmware's counter, a fatal sensor, the health buffer with
/// a syndrome that is no warning. That the health is well again, or that a worker of it starts, does not count.
pub(super) fn is_health(said: &str) -> bool {
    if let Some(issue) = said.strip_prefix("Health issue observed, ") {
        // `mlx5_health_get_severity`: the level of the log.
        let level = after(issue, "severity(").and_then(|r| r.split(')').next()?.parse::<u32>().ok());
        return level.is_none_or(|l| l < WARNING);
    }
    if let Some(rest) = said.strip_prefix("synd 0x") {
        let number = rest.split(':').next().and_then(|n| u32::from_str_radix(n.trim(), 16).ok());
        return number.is_some_and(|n| !matches!(n, 0 | HIGH_TEMPERATURE));
    }
    if let Some((_, value)) = said.strip_prefix("assert_var[").and_then(|r| r.split_once("] 0x")) {
        return value.bytes().any(|b| b.is_ascii_hexdigit() && b != b'0');
    }
    const WHOLE: [&str; 3] = ["device's health compromised", "health recovery failed", "health recovery flow aborted"];
    WHOLE.iter().any(|w| said.contains(w)) || said.starts_with("Fatal error ") && said.trim_end().ends_with(" detected")
}

/// Whether a firmware command got no answer: `CREATE_MKEY(0x200) timeout. Will cause a leak of a command resource`, in older kernels `… cmd timeout. …`.
pub(super) fn is_timeout(text: &str) -> bool {
    text.contains("timeout. Will cause a leak of a command resource")
        || text.contains("timeout") && text.contains("cmd")
}
