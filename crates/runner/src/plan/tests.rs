use super::*;
use crate::facts::{NetFact, RdmaFact};
use crate::tools::{RdmaPath, tests as all_tests};

fn host(name: &str, address: &str) -> PlanHost {
    let programs =
        all_tests().map(|t| t.program).chain(crate::probe::BASE.iter().copied()).chain(["numactl", "mpirun"]);
    PlanHost {
        name: name.to_owned(),
        address: Some(address.to_owned()),
        vouched: true,
        netdev: Some("ens1".to_owned()),
        probe: Probe {
            name: name.to_owned(),
            uid: Some(0),
            os: vec!["debian".to_owned()],
            tools: programs.map(|p| (p.to_owned(), format!("/usr/bin/{p}"))).collect(),
            ..Probe::default()
        },
        facts: Facts { known: true, ..Facts::default() },
    }
}

fn gpu_node(name: &str, address: &str) -> PlanHost {
    let mut host = host(name, address);
    host.facts = Facts {
        known: true,
        rdma: vec![RdmaFact {
            path: RdmaPath { device: "mlx5_3".into(), port: 1, gid: Some(3), gbps: Some(400.0) },
            netdev: Some("ens1".into()),
            active: Some(true),
            software: false,
            numa: Some(1),
            gid: "GID: RoCE v2, IPv4",
        }],
        nets: vec![NetFact { name: "ens1".into(), gbps: Some(400.0), numa: Some(1) }],
        numa: vec![(0, "0-31".into()), (1, "32-63".into())],
        gpus: 8,
    };
    host
}

fn request(what: &str) -> Request {
    Request { seconds: 5, repetitions: 2, ..Request::new(What::of_name(what).unwrap()) }
}

#[test]
fn two_gpu_nodes() {
    let hosts = [gpu_node("a", "10.0.0.1"), gpu_node("b", "10.0.0.2")];
    let plan = plan(&request("ib_write_bw"), &hosts).unwrap();
    let p = &plan.tests[0];
    let variant = Variant::default();
    assert_eq!(
        p.client_argv(&p.client.call, &variant).join(" "),
        "numactl --cpunodebind=1 --membind=1 -- ib_write_bw -F -p 0 -d mlx5_3 -i 1 -x 3 --report_gbits -s 65536 -D 5 10.0.0.2"
    );
    assert_eq!((p.client.host, p.server.as_ref().map(|s| s.host)), (0, Some(1)));
    assert_eq!(plan.steps.len(), 3, "a warm-up and two");
    // 400 Gb/s for six seconds, three times.
    assert_eq!(plan.cost.bytes, Some(3 * 300_000_000_000));
    let words = plan.to_string();
    for part in [
        "a → b",
        "server: numactl --cpunodebind=1 --membind=1 -- ib_write_bw -F -p PORT -d mlx5_3",
        "note: a: RDMA device mlx5_3 port 1 (its interface carries the data's address; GID: RoCE v2, IPv4)",
        "note: b: CPUs and memory of NUMA node 1 (numactl)",
        "budget: 3 runs, about 23 s, up to 900 GB moved; ended after 1 min 34 s or 2.2 TB",
    ] {
        assert!(words.contains(part), "{part}\n{words}");
    }
}

#[test]
fn binding_where_tools_are_missing() {
    let mut hosts = [gpu_node("a", "10.0.0.1"), gpu_node("b", "10.0.0.2")];
    hosts[0].probe.tools.remove("numactl");
    hosts[1].probe.tools.remove("numactl");
    hosts[1].probe.tools.insert("taskset".into(), "/usr/bin/taskset".into());
    let plan = plan(&request("iperf3-reverse"), &hosts).unwrap();
    let p = &plan.tests[0];
    assert_eq!(p.client.binding.prefix(), [""; 0]);
    assert_eq!(p.server.as_ref().unwrap().binding.prefix(), ["taskset", "-c", "32-63"]);
    assert!(plan.notes.contains(&"a: not bound to a NUMA node: neither numactl nor taskset is there".to_owned()));
    assert!(plan.notes.iter().any(|n| n.contains("memory is not bound")));
    let unbound = Request { bind: false, ..request("iperf3-reverse") };
    let plan = super::plan(&unbound, &hosts).unwrap();
    assert!(!plan.notes.iter().any(|n| n.contains("NUMA")), "{:?}", plan.notes);
}

#[test]
fn what_is_missing_is_named_with_its_package_on_each_host() {
    let mut hosts = [host("a", "10.0.0.1"), host("b", "10.0.0.2")];
    for h in &mut hosts {
        h.probe.tools.remove("iperf3");
    }
    hosts[1].probe.os = vec!["rocky".into(), "rhel".into()];
    hosts[1].probe.tools.remove("setsid");
    hosts[1].probe.tools.remove("ping");
    let error = plan(&request("network"), &hosts).unwrap_err().to_string();
    for line in [
        "a: iperf3 is not installed: apt-get install iperf3",
        "b: iperf3 is not installed: dnf install iperf3",
        "b: setsid is not installed: dnf install util-linux",
    ] {
        assert!(error.contains(line), "{error}");
    }
    assert!(!error.contains("ping"), "the one that is pinged needs none: {error}");
    hosts[1].probe.tools.insert("setsid".into(), "/usr/bin/setsid".into());
    let plan = plan(&Request { skip_missing: true, ..request("network") }, &hosts).unwrap();
    assert!(plan.tests.iter().all(|t| t.test.program != "iperf3"));
    assert!(plan.notes.contains(&"iperf3-reverse is left out: a, b lacks iperf3".to_owned()), "{:?}", plan.notes);
}

#[test]
fn a_suite_leaves_out_what_hosts_cannot_do_and_says_so() {
    let hosts = [gpu_node("a", "10.0.0.1"), host("b", "10.0.0.2")];
    let plan = plan(&request("full"), &hosts).unwrap();
    assert!(plan.tests.iter().all(|t| t.test.needs == crate::tools::Need::Nothing));
    assert!(plan.notes.contains(&"ib_write_bw is left out: b shows no RDMA device".to_owned()), "{:?}", plan.notes);
    assert!(plan.notes.contains(&"nvbandwidth is left out: b shows no GPU".to_owned()));
    // Asked for by its name, it is tried: its own words will say why not.
    let plan = super::plan(&request("ib_write_bw"), &hosts).unwrap();
    assert!(plan.notes.contains(&"b: no RDMA device is known: the tool chooses".to_owned()), "{:?}", plan.notes);
    assert!(matches!(super::plan(&request("rdma"), &hosts), Err(PlanError::Nothing(_))));
}

#[test]
fn who_runs_what() {
    let three = [host("a", "10.0.0.1"), host("b", "10.0.0.2"), host("c", "10.0.0.3")];
    let who = |what: &str, hosts: &[PlanHost]| {
        let plan = plan(&request(what), hosts).unwrap();
        plan.tests.iter().map(|t| (t.client.host, t.server.as_ref().map(|s| s.host))).collect::<Vec<_>>()
    };
    assert_eq!(who("iperf3-reverse", &three), [(0, Some(1)), (1, Some(2)), (2, Some(0))]);
    assert_eq!(who("iperf3-reverse", &three[..2]), [(0, Some(1))]);
    assert_eq!(who("iperf3-reverse", &three[..1]), [(0, Some(0))]);
    assert_eq!(who("fio-seq-read", &three[..2]), [(0, None), (1, None)]);
    let nobody = [host("a", "10.0.0.1"), PlanHost { address: None, ..host("b", "") }];
    let error = plan(&request("iperf3-reverse"), &nobody).unwrap_err().to_string();
    assert_eq!(error, "the address of b is not known: give it as b=ADDRESS");
    assert!(plan(&request("ping"), &[]).is_err());
}

#[test]
fn collectives_over_two_nodes() {
    let hosts = [gpu_node("a", "10.0.0.1"), gpu_node("b", "10.0.0.2")];
    let plan = plan(&request("all_reduce_perf"), &hosts).unwrap();
    let env = vec![("NCCL_ALGO".to_owned(), "RING".to_owned())];
    let p = &plan.tests[0];
    assert_eq!(
        p.client_argv(&p.client.call, &Variant { env, ..Variant::default() }).join(" "),
        "mpirun -np 16 --host 10.0.0.1:8,10.0.0.2:8 --allow-run-as-root -x NCCL_ALGO=RING all_reduce_perf -b 8 -f 2 -e 1073741824 -g 1"
    );
}

/// A host that says where it is reached may name another machine.
#[test]
fn mpi_goes_where_the_user_says() {
    for other in [
        PlanHost { vouched: false, ..gpu_node("b", "10.0.0.2") },
        PlanHost { address: None, ..gpu_node("b", "") },
        PlanHost { address: None, vouched: false, ..gpu_node("b", "") },
    ] {
        let refused = plan(&request("all_reduce_perf"), &[gpu_node("a", "10.0.0.1"), other]).unwrap_err();
        assert!(matches!(&refused, PlanError::Hosts(why) if why.contains("b=ADDRESS")), "{refused}");
    }
    let alone = [PlanHost { vouched: false, ..gpu_node("a", "10.0.0.1") }];
    assert!(plan(&request("all_reduce_perf"), &alone).is_ok());
}

/// Names of devices and the like come from the hosts.
#[test]
fn what_is_printed_of_a_plan_drives_no_terminal() {
    let mut hosts = [gpu_node("a", "10.0.0.1"), gpu_node("b", "10.0.0.2")];
    hosts[1].facts.rdma[0].path.device = "mlx5\u{1b}[2J\nbudget: 0 runs\u{202e}".into();
    hosts[0].facts.numa[1].1 = "1\u{9b}2J\nnote: b: nothing".into();
    hosts[0].probe.tools.remove("numactl");
    hosts[0].probe.tools.insert("taskset".into(), "/usr/bin/taskset".into());
    let words = plan(&request("ib_write_bw"), &hosts).unwrap().to_string();
    assert!(!words.chars().any(|c| linerate_out::hidden(c) && c != '\n'), "{words:?}");
    assert_eq!(words.lines().filter(|l| l.starts_with("budget: ")).count(), 1, "{words}");
    assert!(!words.lines().any(|l| l == "note: b: nothing"), "{words}");
}

#[test]
fn budgets() {
    let hosts = [host("a", "10.0.0.1")];
    let files = |max_bytes| Request { max_bytes, size: 1 << 30, ..request("fio-seq-read") };
    let error = plan(&files(Some(1 << 30)), &hosts).unwrap_err().to_string();
    assert_eq!(
        error,
        "it would move up to 16.1 GB, and 1.1 GB are allowed: smaller files, fewer repetitions or fewer tests fit"
    );
    assert_eq!(plan(&files(Some(20 << 30)), &hosts).unwrap().limits.bytes, Some(20 << 30));
    let error = plan(&Request { max_seconds: Some(5), ..request("iperf3-reverse") }, &hosts).unwrap_err();
    assert!(matches!(error, PlanError::OverBudget(_)));
    // The speed is not known, so neither is what will be moved.
    let plan = plan(&request("iperf3-reverse"), &hosts).unwrap();
    assert_eq!((plan.cost.bytes, plan.limits.bytes), (None, None));
    assert!(plan.to_string().contains("depends on the network's speed"));
}

#[test]
fn little_memory_to_lock() {
    let mut hosts = [gpu_node("a", "10.0.0.1"), gpu_node("b", "10.0.0.2")];
    hosts[1].probe.uid = Some(1000);
    hosts[1].probe.memlock_kib = Some(64);
    let plan = plan(&request("ib_write_bw"), &hosts).unwrap();
    assert!(plan.notes.iter().any(|n| n.starts_with("b: only 64 KiB may be locked")), "{:?}", plan.notes);
}

#[test]
fn names_of_what() {
    let names = |n: &str| What::of_name(n).map(|w| w.tests().iter().map(|t| t.name).collect::<Vec<_>>());
    assert_eq!(names("iperf3").unwrap(), ["iperf3", "iperf3-8-streams", "iperf3-reverse"]);
    assert_eq!(names("iperf3-reverse, ping,ping").unwrap(), ["iperf3-reverse", "ping"]);
    assert_eq!(names("quick").unwrap(), ["ping", "iperf3"]);
    assert!(names("perftest").unwrap().contains(&"ib_read_lat"));
    let error = names("iperf").unwrap_err().to_string();
    assert!(error.contains("\"iperf\" is neither a suite (quick, network") && error.contains("ib_write_bw-sizes"));
}
