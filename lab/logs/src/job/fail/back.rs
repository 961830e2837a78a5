//! The way back after a failure, and the C library's words.

use super::super::writer::Pen;
use crate::printf::Value;
use crate::release::Release;

/// The way back through NCCL's calls: `file:line -> code`.
pub(super) fn unwind(pen: &mut Pen<'_>, files: &[&str], code: i32) {
    for (i, file) in files.iter().enumerate() {
        let origin = pen.origin(&format!("{file}{i}"), &at_home(file, pen.rank.release));
        let given = [("file", Value::from(origin.file)), ("lineno", origin.line.into()), ("res", code.into())];
        pen.say("trace", &given);
    }
    if files.contains(&"init.cc") {
        pen.say("trace.async", &[("res", code.into())]);
    }
}

/// Where a release keeps a file.
pub(super) fn at_home(file: &str, release: Release) -> String {
    let file = match file {
        "misc/socket.cc" if release < Release(2, 12, 7) => "include/socket.h",
        "misc/shmutils.cc" if release < Release(2, 12, 7) => "include/shm.h",
        "transport/net_ib.cc" if release >= Release(2, 29, 2) => "transport/net_ib/connect.cc",
        "channel.cc" if release < Release(2, 5, 6) => "channel.cu",
        file => file,
    };
    if release < Release(2, 4, 6) { file.replace(".cc", ".cu") } else { file.to_owned() }
}

pub(super) fn proxy(pen: &mut Pen<'_>, code: i32) {
    pen.thread = 400;
    let given = [("opname", Value::from("Connect")), ("res", code.into())];
    pen.say("proxy.failed", &given);
    pen.say("proxy.error", &given);
    pen.thread = 0;
    pen.say("proxy.call", &given);
}

pub(super) fn strerror(errno: i32) -> &'static str {
    match errno {
        5 => "Input/output error",
        12 => "Cannot allocate memory",
        14 => "Bad address",
        19 => "No such device",
        22 => "Invalid argument",
        23 => "Too many open files in system",
        24 => "Too many open files",
        28 => "No space left on device",
        61 => "No data available",
        95 => "Operation not supported",
        101 => "Network is unreachable",
        110 => "Connection timed out",
        111 => "Connection refused",
        113 => "No route to host",
        _ => "Unknown error",
    }
}
