//! A table alone: what explains its figure, and what to run next.

use linerate_doctor::answer::{Answer, Figure};
use linerate_doctor::{Observer, Reader, conclude_with};
use linerate_topology::ceiling::{Links, Port};

fn answer(text: &str, links: Option<Links>) -> Answer {
    let mut o = Observer::default();
    let mut reader = Reader::new(&mut o, "table.txt");
    reader.feed(&mut o, text.as_bytes());
    reader.finish(&mut o);
    conclude_with(&o, &[], links)
}

fn links(count: u32, rate: f64, infiniband: bool) -> Option<Links> {
    Some(Links {
        count,
        port: Port { rate: Some(rate), infiniband: Some(infiniband), ..Port::default() },
        ip_mtu: None,
    })
}

fn ids(f: &Figure) -> Vec<&'static str> {
    f.fits.iter().map(|e| e.id).collect()
}

/// A perftest table: title, device, link layer, MTU, rows of size, peak and average.
fn perftest(title: &str, link: &str, mtu: u32, unit: &str, rows: &[(u64, f64, f64)]) -> String {
    let rows: String = rows
        .iter()
        .map(|(s, p, a)| format!(" {s}      5000             {p:.2}             {a:.2}     0.07\n"))
        .collect();
    format!(
        "---------------------------------------------------------------------------------------\n                    {title}\n \
         Dual-port       : OFF\t\tDevice         : mlx5_0\n Number of qps   : 1\t\tTransport type : IB\n Connection type : RC\t\tUsing SRQ      : OFF\n \
         TX depth        : 128\n CQ Moderation   : 1\n Mtu             : {mtu}[B]\n Link type       : {link}\n Max inline data : 0[B]\n rdma_cm QPs\t : OFF\n \
         Data ex. method : Ethernet\n---------------------------------------------------------------------------------------\n \
         #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]\n{rows}"
    )
}

fn bandwidth(link: &str, mtu: u32, gbps: f64) -> String {
    perftest("RDMA_Write BW Test", link, mtu, "Gb/sec", &[(65536, gbps, gbps)])
}

/// An nccl-tests table over hosts of 8 GPUs.
fn all_reduce(hosts: usize, gpu: &str, rows: &[(u64, f64)]) -> String {
    let ranks: String = (0..hosts * 8)
        .map(|r| {
            format!(
                "#  Rank {r:2} Group  0 Pid  {} on  node{} device  {} [0x{:02x}] {gpu}\n",
                100 + r,
                r / 8,
                r % 8,
                16 + r % 8
            )
        })
        .collect();
    let rows: String = rows
        .iter()
        .map(|(s, v)| format!("  {s}    {}     float     sum      -1  20000.0  {v:.2}  {v:.2}      0  20000.0  {v:.2}  {v:.2}      0\n", s / 4))
        .collect();
    format!(
        "# nThread 1 nGpus 1 minBytes 1 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n\
         # Collective test starting: all_reduce_perf\n# Using devices\n{ranks}#\n\
         #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n\
         #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n{rows}"
    )
}

const H100: &str = "NVIDIA H100 80GB HBM3";

/// Field note N4: 35 Gb/s of 400 between two guests. Nothing of the link or of PCIe ends there but a slower port; the detour does.
#[test]
fn thirty_five_of_four_hundred() {
    let a = answer(&bandwidth("IB", 4096, 35.0), links(1, 400.0, true));
    let [f] = a.figures.as_slice() else { panic!("{:?}", a.figures) };
    assert!(f.share.is_some_and(|s| s.high < 0.1), "{f:?}");
    assert!(
        ids(f).contains(&"path/detour") && !ids(f).contains(&"pcie/step") && !ids(f).contains(&"path/far-memory"),
        "{:?}",
        ids(f)
    );
    assert!(f.next.is_some());
    assert_eq!(a.exit_code(), 2);
}

/// Field note N3: 4554.47 "MB/sec" of ConnectX-3 are MiB: 38.2 Gb/s, which is all that 40 Gb/s carry at an MTU of 2048.
#[test]
fn a_port_at_its_ceiling_needs_no_explanation() {
    let text = perftest("RDMA_Write BW Test", "Ethernet", 2048, "MB/sec", &[(65536, 4554.51, 4554.47)]);
    let a = answer(&text, links(1, 40.0, false));
    let [f] = a.figures.as_slice() else { panic!("{:?}", a.figures) };
    assert!(f.reached && f.fits.is_empty() && f.next.is_none(), "{f:?}");
    assert!((f.value - 38.2).abs() < 0.1);
    assert_eq!(a.exit_code(), 0);
    // Without the rate it is a port of 40 Gb/s first of all.
    let a = answer(&text, None);
    assert_eq!(ids(&a.figures[0]).first(), Some(&"link/rate"), "{:?}", a.figures);
    assert!(a.figures[0].fits[0].what.contains("40.0 Gb/s"), "{:?}", a.figures[0].fits[0]);
}

#[test]
fn steps_of_links() {
    for (gbps, given, wanted, words) in [
        (97.6, Some(400.0), "link/rate", "100 Gb/s"),
        (52.5, Some(100.0), "pcie/step", "Gen3 x8"),
        (26.5, Some(100.0), "pcie/step", "Gen3 x4"),
        (216.0, Some(400.0), "pcie/step", "Gen4 x16"),
    ] {
        let a = answer(&bandwidth("IB", 4096, gbps), given.and_then(|r| links(1, r, true)));
        let f = &a.figures[0];
        let found = f.fits.iter().find(|e| e.id == wanted).unwrap_or_else(|| panic!("{gbps}: {:?}", f.fits));
        assert!(found.what.contains(words), "{gbps}: {found:?}");
        assert_eq!(found.basis, "derived");
    }
    // A step at or above the port's own ceiling explains nothing.
    let a = answer(&bandwidth("IB", 4096, 52.5), links(1, 56.0, true));
    assert!(a.figures[0].fits.iter().all(|e| e.id != "pcie/step"), "{:?}", a.figures[0].fits);
}

#[test]
fn a_curve_that_rises_is_the_tests() {
    let rows: Vec<(u64, f64, f64)> =
        (6..13).map(|i| (1 << i, f64::from(1 << i) / 100.0, f64::from(1 << i) / 100.0)).collect();
    let a = answer(&perftest("RDMA_Write BW Test", "IB", 4096, "Gb/sec", &rows), links(1, 400.0, true));
    assert_eq!(ids(&a.figures[0]), ["test/too-small"], "{:?}", a.figures);
}

/// What is left of a table whose head was not pasted: its two bandwidths show how many ranks there are.
#[test]
fn a_table_without_its_head() {
    let row = |size: u64, algbw: f64, busbw: f64| {
        format!(
            "{size:>12}{:>14}     float     sum      -1    385.4  {algbw:.2}  {busbw:.2}      0    386.2  {algbw:.2}  {busbw:.2}      0\n",
            size / 4
        )
    };
    for (ranks, known) in [(4.0, true), (8.0, true), (63.0, false)] {
        let factor = 2.0 * (ranks - 1.0) / ranks;
        let text: String = [(22, 10.88), (25, 12.15), (29, 12.51)].map(|(n, v)| row(1 << n, v, v * factor)).concat();
        let a = answer(&text, None);
        let all = &a.figures[0].fits;
        assert!(all.iter().any(|e| e.id == "job/no-nvlink"), "{ranks}: {all:?}");
        let most =
            all.iter().filter(|e| e.id == "job/few-rails").filter_map(|e| e.what.split(' ').next()?.parse().ok()).max();
        assert!(most.is_none_or(|n: u32| f64::from(n) <= if known { ranks } else { 8.0 }), "{ranks}: {all:?}");
        assert!(!all.iter().any(|e| e.what.contains("all of")), "how many a node has is not shown: {all:?}");
    }
}

#[test]
fn connections_through_shared_memory_decide() {
    let log = "a:1:1 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n";
    let a = answer(&format!("{log}{}", all_reduce(1, "NVIDIA RTX PRO 6000", &[(1 << 30, 9.0), (8 << 30, 9.1)])), None);
    let first = &a.figures[0].fits[0];
    assert_eq!((first.id, first.in_log.is_some()), ("job/no-nvlink", true), "{:?}", a.figures);
}

#[test]
fn processes_that_ran_alone_are_no_job() {
    let rank = |pid: u32, host: &str| {
        format!("#  Rank  0 Group  0 Pid {pid} on {host} device  0 [0x0f] NVIDIA A100-SXM4-40GB\n")
    };
    let a = answer(&format!("# Using devices\n{}{}{}", rank(11, "a"), rank(12, "a"), rank(11, "b")), None);
    let c = a.causes.iter().find(|c| c.id == "job/ran-alone").unwrap_or_else(|| panic!("{a:?}"));
    assert!(c.summary.starts_with("3 processes"), "{}", c.summary);
    assert_eq!((c.evidence.len(), a.exit_code()), (3, 1));
    let one = answer(&format!("# Using devices\n{}", rank(11, "a")), None);
    assert!(one.causes.is_empty(), "{:?}", one.causes);
}

#[test]
fn twelve_of_four_hundred_on_eight_gpus() {
    let a = answer(&all_reduce(2, H100, &[(1 << 30, 12.0), (8 << 30, 12.1)]), None);
    let f = &a.figures[0];
    let first = f.fits.first().expect("an explanation");
    assert_eq!(first.id, "job/few-rails", "{:?}", f.fits);
    assert!(first.what.contains("one port of 100 Gb/s"), "{first:?}");
    assert!(ids(f).contains(&"job/no-gpudirect") && !ids(f).contains(&"job/no-nvlink"), "{:?}", ids(f));
    let next = f.next.as_ref().expect("a command");
    assert!(next.command.contains("NCCL_DEBUG=INFO"), "{next:?}");
    assert!(next.outcomes.len() >= 3, "{next:?}");
    // In one node the same figure says that NVLink is not used.
    let a = answer(&all_reduce(1, H100, &[(1 << 30, 12.0), (8 << 30, 12.1)]), None);
    assert_eq!(a.figures[0].fits.first().map(|e| e.id), Some("job/no-nvlink"), "{:?}", a.figures);
    // Rings instead of NVLS; and what 8 of them reach with it.
    let a = answer(&all_reduce(1, H100, &[(1 << 30, 360.0), (8 << 30, 365.0)]), None);
    assert_eq!(ids(&a.figures[0]), ["job/no-multicast"]);
    let a = answer(&all_reduce(1, H100, &[(1 << 30, 475.0), (8 << 30, 480.0)]), None);
    assert_eq!((ids(&a.figures[0]).len(), a.exit_code()), (0, 0));
}

#[test]
fn latency_is_explained_where_it_is_unusual() {
    let text = |typical: f64, p99: f64| {
        perftest("RDMA_Write Latency Test", "Ethernet", 2048, "Gb/sec", &[]).replace(
            " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n",
            &format!(
                " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n \
                 2       1000          0.81           9.05         {typical:.2}     \t       0.93        \t0.20   \t\t{p99:.2}    \t\t9.05\n"
            ),
        )
    };
    let a = answer(&text(0.85, 5.05), None);
    assert_eq!((ids(&a.figures[0]).len(), a.exit_code()), (0, 0), "{:?}", a.figures);
    let a = answer(&text(42.0, 55.0), None);
    assert!(ids(&a.figures[0]).contains(&"cpu/asleep"), "{:?}", a.figures);
    assert_eq!(a.exit_code(), 2);
}

/// Nothing is explained of what is no figure.
#[test]
fn nothing_of_nothing() {
    for text in [
        perftest("RDMA_Write BW Test", "IB", 4096, "Gb/sec", &[]),
        perftest("RDMA_Write BW Test", "IB", 4096, "Gb/sec", &[(65536, 0.0, 0.0)]),
        all_reduce(2, H100, &[]),
    ] {
        assert!(answer(&text, None).figures.is_empty());
    }
}

/// What the commands predict is what is listed, each place once.
#[test]
fn every_explanation_is_in_one_outcome() {
    for gbps in [1.0, 3.5, 12.0, 26.0, 38.0, 52.0, 97.0, 110.0, 195.0, 250.0, 330.0] {
        for (link, given) in [("IB", None), ("Ethernet", links(1, 400.0, false))] {
            let a = answer(&bandwidth(link, 4096, gbps), given);
            let f = &a.figures[0];
            assert!(!f.fits.is_empty(), "{gbps}");
            let Some(next) = &f.next else { continue };
            let mut places: Vec<usize> = next.outcomes.iter().flat_map(|o| o.fits.iter().copied()).collect();
            places.sort_unstable();
            assert_eq!(places, (1..=f.fits.len()).collect::<Vec<_>>(), "{gbps}");
        }
    }
}

/// NCCL's log of two hosts of 8 ranks: a send of each rank to the next host.
fn connections(via: &dyn Fn(usize) -> String) -> String {
    (0..16)
        .map(|r| {
            let (host, next) = (r / 8, (r + 8) % 16);
            let bus = 16 + r % 8;
            format!(
                "node{host}:{}:{} [{}] NCCL INFO Channel {:02}/0 : {r}[{bus:x}] -> {next}[{bus:x}] [send] via NET/{}\n",
                100 + r,
                300 + r,
                r % 8,
                r % 8,
                via(r)
            )
        })
        .collect()
}

/// What the log beside the table shows of the connections decides what the table leaves open.
#[test]
fn the_log_beside_a_table_decides() {
    let table = all_reduce(2, H100, &[(1 << 30, 11.0), (2 << 30, 11.4), (4 << 30, 11.5)]);
    let seen = |via: &dyn Fn(usize) -> String| {
        let a = answer(&format!("{}{table}", connections(via)), links(8, 100.0, true));
        let [f] = a.figures.as_slice() else { panic!("{:?}", a.figures) };
        let logged: Vec<&str> = f.fits.iter().filter(|e| e.in_log.is_some()).map(|e| e.id).collect();
        let lines: Vec<String> = f.excluded.iter().flat_map(|n| n.evidence.iter().map(|e| e.at.clone())).collect();
        assert_eq!(lines.len(), f.excluded.len(), "what is excluded has a line: {f:?}");
        (ids(f), logged, f.excluded.len())
    };
    let (alone, logged, excluded) = {
        let a = answer(&table, links(8, 100.0, true));
        let f = &a.figures[0];
        (ids(f), f.fits.iter().filter(|e| e.in_log.is_some()).count(), f.excluded.len())
    };
    for id in ["job/sockets", "job/no-gpudirect", "path/detour"] {
        assert!(alone.contains(&id), "{alone:?}");
    }
    assert_eq!((logged, excluded), (0, 0));
    let (left, logged, _) = seen(&|_| "Socket/0".to_owned());
    assert!(logged == ["job/sockets"] && left.first() == Some(&"job/sockets"), "{left:?} {logged:?}");
    assert!(!left.contains(&"job/no-gpudirect") && !left.contains(&"path/detour"), "{left:?}");
    let (left, logged, _) = seen(&|r| format!("IB/{}", r % 8));
    assert!(logged == ["job/no-gpudirect"] && !left.contains(&"job/sockets"), "{left:?} {logged:?}");
    assert!(!left.contains(&"path/detour") && !left.contains(&"job/few-rails"), "{left:?}");
    let (left, logged, _) = seen(&|r| format!("IB/{}/GDRDMA", r % 8));
    assert!(logged.is_empty() && left.contains(&"path/detour"), "{left:?} {logged:?}");
    assert!(!left.contains(&"job/no-gpudirect") && !left.contains(&"job/sockets"), "{left:?}");
    // A part of the connections without GPUDirect decides nothing of it.
    let (left, _, _) = seen(&|r| format!("IB/{}{}", r % 8, if r < 8 { "/GDRDMA" } else { "" }));
    assert!(left.contains(&"job/no-gpudirect") && left.contains(&"path/detour"), "{left:?}");
}

/// The command above a perftest table says whose memory it is.
#[test]
fn the_command_says_whose_memory_it_is() {
    let of = |command: &str| {
        let a = answer(&format!("{command}\n{}", bandwidth("IB", 4096, 180.0)), links(1, 400.0, true));
        ids(&a.figures[0])
    };
    let has = |list: &[&str], id: &str| list.contains(&id);
    for command in
        ["root@n1:~# ib_write_bw -d mlx5_0 -F --report_gbits 10.0.0.2", "$ numactl -N 0 ./ib_write_bw -d mlx5_0"]
    {
        let host = of(command);
        assert!(has(&host, "path/far-memory") && !has(&host, "path/gpu-behind-cpu"), "{command}: {host:?}");
    }
    let gpu = of("$ ib_write_bw -d mlx5_0 --use_cuda=0 --use_cuda_dmabuf 10.0.0.2");
    assert!(has(&gpu, "path/gpu-behind-cpu") && !has(&gpu, "path/far-memory"), "{gpu:?}");
    // Sentences, and two commands that differ, say nothing.
    for open in
        ["", "We ran ib_write_bw on both nodes", "$ ib_write_bw --use_cuda=0 &\n$ ib_write_bw -d mlx5_0 localhost"]
    {
        let list = of(open);
        assert!(has(&list, "path/gpu-behind-cpu") && has(&list, "path/far-memory"), "{open}: {list:?}");
    }
}
