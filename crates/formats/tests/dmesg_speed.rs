//! How fast a large log is read. Run with `cargo test --release -p linerate-formats --test all dmesg_speed:: -- --ignored --nocapture`.

use linerate_formats::dmesg;
use std::time::Instant;

/// 100 MB in which one line of fifty means something, as in a boot log that was left running.
fn log() -> (Vec<u8>, usize) {
    let noise = "[12345.678901] IPv6: ADDRCONF(NETDEV_CHANGE): calib317e2eeb40: link becomes ready\n".repeat(49);
    let event = "[12345.678901] pcieport 0000:00:01.0: AER: Corrected error received: 0000:01:00.0\n";
    let block = noise + event;
    let blocks = 100_000_000 / block.len();
    (block.repeat(blocks).into_bytes(), blocks)
}

#[test]
#[ignore = "measures; its limit is for release builds only"]
#[allow(clippy::print_stdout)]
fn a_hundred_megabytes() {
    let (log, events) = log();
    let start = Instant::now();
    let found = dmesg::scan(&log);
    let rate = log.len() as f64 / 1e6 / start.elapsed().as_secs_f64();
    println!("{rate:.0} MB/s, {} events", found.len());
    assert_eq!(found.len(), events, "every fiftieth line");
    assert!(rate > 300.0, "{rate:.0} MB/s");
}
