//! Drivers that did not start their device.

use super::driver::{DriverClass, Requester};
use super::event::Event;
use crate::pci::Bdf;
use crate::text::after;

/// The driver waits for another one (EPROBE_DEFER), or says that the device is not its own (ENODEV, ENXIO): no failure.
const DECLINES: [i32; 3] = [-517, -19, -6];

/// The driver core's line (drivers/base/dd.c, `call_driver_probe`; `really_probe` before 5.16): `mlx5_core 0000:c1:00.0: probe with driver mlx5_core
/// failed with error -12`, before 6.11 `mlx5_core: probe of 0000:c1:00.0 failed with error -12`.
pub(super) fn read(m: &str) -> Option<Event> {
    let (what, error) = m.split_once(" failed with error ")?;
    let (driver, device) = match what.split_once(": probe with driver ") {
        Some((head, driver)) => (driver, head.split_once(' ')?.1),
        None => what.split_once(": probe of ")?,
    };
    let error = error.trim_end().parse().ok().filter(|e: &i32| *e < 0 && !DECLINES.contains(e))?;
    let bdf = device.parse::<Bdf>().ok().filter(|_| device.len() >= 12);
    // `mlx5_core.rdma.3`: a driver's own bus.
    let is_name = |n: &str| n.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':'));
    let named = bdf.is_some() || device.contains('.') && is_name(device);
    // A driver of such a device is called by its module and its own name: `mlx5_ib.rdma`.
    let class = DriverClass::of(driver.split('.').next().unwrap_or(driver));
    (named && is_name(driver)).then_some(Event::NotStarted { of: Requester { bdf, class }, error: Some(error) })
}

/// What mlx5 says of itself, without its place in the source (drivers/net/ethernet/mellanox/mlx5/core/main.c): `mlx5_init_one failed with error code
/// -22`, before 5.13 `mlx5_load_one …`; and `wait_fw_init`: `Firmware over 120000 MS in pre-initializing state, aborting`.
pub(super) fn of_mlx5(of: Requester, said: &str) -> Option<Event> {
    if said.strip_prefix("Firmware over ").is_some_and(|r| r.trim_end().ends_with(" state, aborting")) {
        return Some(Event::NotStarted { of, error: None });
    }
    let (function, _) = said.split_once("_one failed with error code")?;
    let function = function.rsplit_once(": ").map_or(function, |(_, f)| f);
    let error = after(said, "error code").map(|r| r.trim_start_matches([':', ' ']).trim_end());
    matches!(function, "mlx5_load" | "mlx5_init")
        .then(|| Event::NotStarted { of, error: error.and_then(|e| e.parse().ok()) })
}
