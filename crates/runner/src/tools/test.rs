use super::*;

fn call() -> Call {
    Call {
        seconds: 3,
        address: "10.0.0.2".into(),
        port: 5001,
        rdma: Some(RdmaPath { device: "mlx5_0".into(), port: 1, gid: Some(3), gbps: Some(400.0) }),
        gpus: 8,
        speed_gbps: Some(100.0),
        size: 1 << 30,
        direct: true,
        mpi_hosts: Vec::new(),
        root: true,
    }
}

#[test]
fn the_table_is_consistent() {
    let mut names: Vec<&str> = tests().map(|t| t.name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "each name is one test");
    for suite in Suite::ALL {
        assert!(tests().any(|t| t.suites.contains(&suite)), "{} is empty", suite.name());
        assert!(names.binary_search(&suite.name()).is_err(), "{} is a suite", suite.name());
    }
    for t in tests() {
        let (cost, call) = ((t.cost)(&call()), call());
        assert!(cost.seconds > 0.5 && cost.seconds < 600.0, "{}: {cost:?}", t.name);
        assert!(t.package.home.starts_with("https://"), "{}", t.name);
        assert_eq!((t.package.debian.is_some(), t.needs == Need::Gpu), (t.needs != Need::Gpu, t.needs == Need::Gpu));
        if let Shape::Pair { .. } = t.shape {
            for side in [(t.server)(&call), (t.client)(&call)] {
                assert!(side.contains(&"5001".to_owned()), "{}: both sides know the port: {side:?}", t.name);
            }
            assert!((t.client)(&call).contains(&call.address), "{}", t.name);
            assert!(!(t.server)(&call).contains(&call.address), "{}", t.name);
        }
    }
}

#[test]
fn arguments() {
    let of = |name: &str, call: &Call| {
        let t = tests().find(|t| t.name == name).unwrap();
        format!("{} | {}", (t.server)(call).join(" "), (t.client)(call).join(" "))
    };
    let c = call();
    assert_eq!(of("iperf3", &c), "-s -1 -p 5001 | -J -c 10.0.0.2 -p 5001 -t 3 -O 1");
    assert_eq!(
        of("ib_write_lat", &c),
        "-F -p 5001 -d mlx5_0 -i 1 -x 3 -s 2 -n 10000 | -F -p 5001 -d mlx5_0 -i 1 -x 3 -s 2 -n 10000 10.0.0.2"
    );
    assert_eq!(of("all_reduce_perf", &c), " | -b 8 -f 2 -e 1073741824 -g 8");
    assert!(
        of("all_reduce_perf", &Call { mpi_hosts: vec!["a:8".into(), "b:8".into()], ..c.clone() }).ends_with("-g 1")
    );
    // On InfiniBand there is no GID to choose.
    let rdma = c.rdma.clone().map(|r| RdmaPath { gid: None, ..r });
    assert!(!of("ib_write_bw", &Call { rdma, ..c.clone() }).contains("-x"));
    assert!(of("sockperf-tcp", &Call { address: "fd00::1".into(), ..c }).starts_with("server -i :: "));
}

#[test]
fn fio_is_told_only_what_is_harmless() {
    let refuses = tests().find(|t| t.name == "fio-seq-read").unwrap().refuses;
    for ok in ["--bs=4k", "--iodepth=64", "--ioengine=io_uring", "--numjobs=4", "--group_reporting"] {
        assert_eq!(refuses(ok), None, "{ok}");
    }
    for bad in [
        "--filename=/dev/sda",
        "--filename",
        "/dev/sda",
        "--opendir=/",
        "-d",
        "--client=x",
        "--size=1T",
        "--",
        "",
        "--runtime=1d",
    ] {
        assert!(refuses(bad).is_some(), "{bad}");
    }
    for bad in ["/dev", "/dev/nvme0n1", "/proc/x", "/sys", "tmp", "/a/../dev", "/a:b", "/a\nb"] {
        assert!(refuse_directory(bad).is_some(), "{bad}");
    }
    for ok in ["/", "/tmp", "/dev/shm", "/dev/shm/x", "/device", "/mnt/my files"] {
        assert_eq!(refuse_directory(ok), None, "{ok}");
    }
}
