//! fio: files. Only ever in a directory that is made for the run, below the one that the user named, and removed after it.

use super::{Call, Cost, Need, Package, Shape, Suite, Test, nobody, words};
use linerate_bench::Kind;

const PACKAGE: Package = Package { debian: Some("fio"), rhel: Some("fio"), home: "https://github.com/axboe/fio" };

const fn test(name: &'static str, shows: &'static str, client: fn(&Call) -> Vec<String>) -> Test {
    Test {
        name,
        shows,
        program: "fio",
        kind: Kind::Fio,
        shape: Shape::Directory,
        needs: Need::Nothing,
        package: &PACKAGE,
        suites: &[Suite::Storage, Suite::Full],
        server: nobody,
        client,
        // The file is laid out first, then at most as much is moved again.
        cost: |c| Cost::exactly(f64::from(c.seconds) + 3.0, Some(c.size * (1 + PASSES))),
        refuses,
    }
}

/// How often a file may be gone through.
const PASSES: u64 = 4;

pub(super) const TESTS: &[Test] = &[
    test("fio-seq-read", "sequential reads of 1 MiB", |c| client(c, "read", "1M", 8)),
    test("fio-seq-write", "sequential writes of 1 MiB", |c| client(c, "write", "1M", 8)),
    test("fio-rand-read", "random reads of 4 KiB", |c| client(c, "randread", "4k", 32)),
    test("fio-rand-write", "random writes of 4 KiB", |c| client(c, "randwrite", "4k", 32)),
];

fn client(c: &Call, rw: &str, block: &str, depth: u32) -> Vec<String> {
    // Threads: jobs that are processes begin sessions of their own, and would outlive a killed fio.
    let mut argv = words(["--name=linerate", "--thread", "--ioengine=libaio", "--output-format=json", "--end_fsync=1"]);
    argv.extend([
        format!("--rw={rw}"),
        format!("--bs={block}"),
        format!("--iodepth={depth}"),
        format!("--size={}", c.size),
        format!("--io_size={}", c.size * PASSES),
        format!("--runtime={}", c.seconds),
        format!("--direct={}", u8::from(c.direct)),
        "--randrepeat=0".to_owned(),
        "--fallocate=none".to_owned(),
    ]);
    argv
}

/// What a user may change. Everything else could name another file, a device, a command to run or a server.
const ALLOWED: &[&str] = &[
    "rw",
    "readwrite",
    "bs",
    "blocksize",
    "iodepth",
    "ioengine",
    "numjobs",
    "group_reporting",
    "direct",
    "fsync",
    "fdatasync",
    "end_fsync",
    "rwmixread",
    "norandommap",
    "random_distribution",
    "randseed",
    "buffered",
    "sync",
    "hipri",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
    "cpus_allowed",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "ramp_time",
    "refill_buffers",
    "buffer_compress_percentage",
    "percentile_list",
    "lat_percentiles",
    "clat_percentiles",
];

fn refuses(argument: &str) -> Option<&'static str> {
    let name = argument.strip_prefix("--").map(|a| a.split_once('=').map_or(a, |(n, _)| n));
    let allowed = name.is_some_and(|n| ALLOWED.contains(&n));
    (!allowed).then_some("fio writes only where and as much as linerate allows, so only --rw, --bs, --iodepth and the like are passed on")
}

/// Why fio must not be run below a directory, where its name already says so. The host itself is asked as well.
#[must_use]
pub fn refuse(directory: &str) -> Option<&'static str> {
    let below = |d: &str| directory == d || directory.starts_with(&format!("{d}/"));
    if !directory.starts_with('/') {
        return Some("give the whole path: a directory is named for a host, not for where linerate was started");
    }
    if directory.split('/').any(|part| part == "..") || directory.contains(['\0', '\n', ':']) {
        return Some("a path with .., a colon or a line's end could be another one than it looks like");
    }
    if below("/dev") && !below("/dev/shm") {
        return Some("that is where devices are: linerate writes to files only, never to a block device");
    }
    ["/proc", "/sys"].into_iter().any(below).then_some("that is not a file system for files")
}
