//! What iperf3 (3.0 and later; text, `-J`, `--json-stream`) and iperf 2 (with and without `-e`, and `-y C`) print.
//!
//! Units, by `units.c` of iperf3 and `stdio.c` of iperf 2: bits are counted in powers of 1000, bytes in powers of 1024. `Mbits/sec`
//! is 10⁶ bit/s; `MBytes` and `MBytes/sec` (`-f M`) are 2²⁰ bytes. JSON has plain bytes and bits per second.
//!
//! The text shows three digits; JSON is exact.

mod csv;
mod intervals;
mod json;
mod line;
mod reader;
mod row;
mod run;
mod settle;
mod shape;

pub use csv::is_ours as is_csv_line;
pub use reader::{Reader, parse};
pub use run::{
    Connection, Cpu, Direction, Endpoint, Measured, Params, Protocol, Role, Row, Run, Scope, Stream, Tool, Utilisation,
    Way,
};

#[cfg(test)]
mod tests;
