//! Whole answers to small logs: what is concluded, what is not, and that no input can break it.

use linerate_doctor::answer::{Answer, Confidence};
use linerate_doctor::{Observer, Reader, conclude};

fn answer_in(text: &[u8], piece: usize) -> Answer {
    let mut observer = Observer::default();
    let mut reader = Reader::new(&mut observer, "log");
    text.chunks(piece.max(1)).for_each(|c| reader.feed(&mut observer, c));
    reader.finish(&mut observer);
    conclude(&observer, &[])
}

fn answer(text: &str) -> Answer {
    answer_in(text.as_bytes(), 64 << 10)
}

fn ids(a: &Answer) -> Vec<&str> {
    a.causes.iter().map(|c| c.id).collect()
}

/// A rank of a job of two nodes with one GPU each, over `via`.
fn rank(host: &str, rank: u32, comm: &str, via: &str) -> String {
    let peer = 1 - rank;
    let head = format!("{host}:10{rank}:20{rank} [0] NCCL INFO");
    format!(
        "{head} NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.{rank}<0>\n{head} Using network IB\n\
         {head} ncclCommInitRank comm 0x5{rank} rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 7000 commId {comm} - Init START\n\
         {head} Channel 00/0 : {peer}[0] -> {rank}[0] [receive] via {via}\n\
         {head} Channel 00/0 : {rank}[0] -> {peer}[0] [send] via {via}\n\
         {head} ncclCommInitRank comm 0x5{rank} rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 7000 commId {comm} - Init COMPLETE\n"
    )
}

#[test]
fn two_jobs_in_one_file_are_two() {
    let good = "NET/IB/0/GDRDMA";
    let text = rank("a", 0, "0x1", good)
        + &rank("b", 1, "0x1", good)
        + &rank("c", 0, "0x2", good)
        + &rank("d", 1, "0x2", good);
    let a = answer(&text);
    let hosts: Vec<_> = a.jobs.iter().map(|j| (j.ranks, j.ranks_seen, j.hosts.join(" "))).collect();
    assert_eq!(hosts, [(Some(2), 2, "a b".to_owned()), (Some(2), 2, "c d".to_owned())]);
    assert!(a.causes.is_empty() && a.undecided.is_empty(), "{:?}", ids(&a));
    assert_eq!(a.exit_code(), 0);
}

/// Two nodes of eight GPUs, each with these NICs in its list, and this filter.
fn filtered(filter: &str, nics: &[u32]) -> Answer {
    let list: Vec<String> = nics.iter().enumerate().map(|(i, n)| format!("[{i}]mlx5_{n}:1/IB")).collect();
    let mut text = String::new();
    for r in 0..16 {
        let (host, dev) = (if r < 8 { "a" } else { "b" }, r % 8);
        let head = format!("{host}:10{r}:20{r} [{dev}] NCCL INFO");
        let begun = format!(
            "ncclCommInitRank comm 0x5{r} rank {r} nranks 16 cudaDev {dev} nvmlDev {dev} busId {dev}7000 commId 0x1"
        );
        text += &format!(
            "{head} NCCL_IB_HCA set to {filter}\n{head} NET/IB : Using {} [RO]; OOB eth0:10.0.0.{r}<0>\n{head} Using network IB\n\
             {head} {begun} - Init START\n{head} Channel 00/0 : {r}[{dev}] -> {}[{dev}] [send] via NET/IB/{dev}/GDRDMA\n\
             {head} {begun} - Init COMPLETE\n",
            list.join(" "),
            (r + 8) % 16
        );
    }
    answer(&text)
}

#[test]
fn a_list_of_nics_is_a_cause_only_where_it_takes_or_leaves_what_it_should_not() {
    let eight: Vec<u32> = (0..8).collect();
    for (filter, nics, want) in [
        ("mlx5", &eight[..], &[][..]),
        ("mlx5_", &eight, &[]),
        ("mlx5_0:1,mlx5_1:1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7", &eight, &[]),
        ("mlx5", &[0, 1, 2, 3], &[]),
        ("^mlx5_9:1", &eight, &[]),
        ("mlx5_1", &[1, 10, 11], &["net/hca-filter-too-wide"]),
        ("mlx5_1,mlx5_10,mlx5_11", &[1, 10, 11], &[]),
    ] {
        let a = filtered(filter, nics);
        let said = |id: &str| ids(&a).contains(&id);
        assert_eq!(
            said("net/hca-filter-too-wide"),
            want.contains(&"net/hca-filter-too-wide"),
            "{filter} {:?}",
            ids(&a)
        );
        // A driver's prefix, or what is left out by name, cannot leave others out.
        let one_by_one = filter.starts_with("mlx5_0") || filter.starts_with("mlx5_1");
        assert!(one_by_one && nics.len() < 8 || !said("net/hca-filter-too-narrow"), "{filter} {:?}", ids(&a));
    }
}

#[test]
fn one_rank_without_gpudirect_stands_out() {
    let text = rank("a", 0, "0x1", "NET/IB/0/GDRDMA") + &rank("b", 1, "0x1", "NET/IB/0");
    let a = answer(&text);
    let odd: Vec<_> =
        a.jobs[0].matrix.rows.iter().filter_map(|r| r.odd.as_deref().map(|o| (r.ranks.as_str(), o))).collect();
    assert_eq!(odd.len(), 1, "{odd:?}");
    // Why is not in these lines, and nothing is made up.
    assert!(a.causes.is_empty(), "{:?}", ids(&a));
    assert_eq!(a.undecided[0].symptom, "symptom/gpudirect-disabled");
    assert_eq!(a.exit_code(), 2);
}

#[test]
fn a_distance_is_named_in_the_words_of_its_release() {
    let far = "a:100:200 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 7000 / HCA 0 (distance 6 > 4)\n";
    for (version, words) in
        [("2.21.5+cuda12.4", "PHB apart, and PXB is the limit"), ("2.11.4+cuda11.4", "SYS apart, and PXB is the limit")]
    {
        let head = format!("a:100:200 [0] NCCL INFO NCCL version {version}\n");
        let text = head + far + &rank("a", 0, "0x1", "NET/IB/0") + &rank("b", 1, "0x1", "NET/IB/0");
        let a = answer(&text);
        let cause = a.causes.iter().find(|c| c.id == "gdr/too-far").unwrap_or_else(|| panic!("{:?}", ids(&a)));
        assert!(cause.summary.contains(words), "{version}: {}", cause.summary);
        assert_eq!(cause.confidence, Confidence::Certain);
    }
}

/// A GPU's row of NCCL's table of paths, with one NIC so far away.
fn row(kind: &str) -> String {
    format!(
        "a:100:200 [0] NCCL INFO GPU/0-1b000 :GPU/0-1b000 (0/5000.0/LOC) CPU/0 (2/24.0/PHB) NET/0 (5/24.0/{kind})\n"
    )
}

#[test]
fn a_table_of_paths_shows_how_far_the_nic_is() {
    let able = "a:100:200 [0] NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'\n";
    let connected = rank("a", 0, "0x1", "NET/IB/0") + &rank("b", 1, "0x1", "NET/IB/0");
    let channel = "a:100:200 [0] NCCL INFO  0 : NET/0 GPU/0-1b000 NET/0\n";
    for (text, sure) in [
        (row("PHB") + able + &connected, Some(Confidence::Certain)),
        (row("SYS") + &connected, Some(Confidence::Likely)),
        (row("PHB") + able + channel, Some(Confidence::Likely)),
        (row("PHB") + channel, Some(Confidence::Possible)),
        // A job of one node, a switch between them, a level that allows it.
        (row("PHB"), None),
        (row("PXB") + channel, None),
        (
            "a:100:200 [0] NCCL INFO NCCL_NET_GDR_LEVEL set by environment to PHB\n".to_owned() + &row("PHB") + channel,
            None,
        ),
        ("a:100:200 [0] NCCL INFO Using network Socket\n".to_owned() + &row("PHB") + channel, None),
    ] {
        let a = answer(&text);
        let found = a.causes.iter().find(|c| c.id == "gdr/too-far");
        assert_eq!(found.map(|c| c.confidence), sure, "{text}");
        assert!(found.is_none_or(|c| c.evidence.iter().any(|e| e.text.contains("GPU/0-1b000"))), "{text}");
        let near: Vec<_> = a.jobs[0].paths.iter().map(|p| (p.gpu.as_str(), p.nic.as_str(), p.gb_per_s)).collect();
        assert_eq!(near, [("0000:1b:00.0", "NET/0", 24.0)], "{text}");
    }
}

#[test]
fn what_is_wrong_without_a_cause_is_never_nothing() {
    let start = "a:1:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 8 cudaDev 0 nvmlDev 0 busId 7000 commId 0x9 - Init START\n";
    let end = start.replace("START", "COMPLETE");
    let returned = "a:1:1 [0] NCCL INFO include/net.h:19 -> 2\n";
    let socket = |host: &str| format!("{host}:1:1 [0] NCCL INFO Using network Socket\n");
    let ofi = "a:1:1 [0] register:1 NCCL WARN NET/OFI Unable to register memory (type = 1) for device 0. RC: 12, Error: Cannot allocate memory\n";
    for (text, symptom, read) in [
        (start.to_owned(), Some("symptom/hang"), "Init COMPLETE"),
        (start.to_owned() + &end, Some("symptom/low-bandwidth-with-gpudirect"), "the start of the log"),
        (returned.to_owned(), Some("symptom/hang"), "NCCL WARN"),
        (returned.to_owned() + &end, Some("symptom/low-bandwidth-with-gpudirect"), "the start of the log"),
        (returned.replace("-> 2", "-> 7"), Some("symptom/low-bandwidth-with-gpudirect"), "the start of the log"),
        (socket("a") + &socket("b"), Some("symptom/falls-back-to-sockets"), "NET/IB"),
        (socket("a"), None, ""),
        ("a:1:1 [0] x.cc:1 NCCL WARN something new\n".into(), Some("symptom/hang"), "by time"),
        (ofi.to_owned() + returned, None, ""),
    ] {
        let a = answer(&text);
        let first = a.undecided.first();
        assert_eq!(first.map(|u| u.symptom), symptom, "{text}: {:?}", a.undecided);
        assert!(first.is_none_or(|u| u.read[0].contains(read)), "{text}: {:?}", a.undecided);
    }
    assert_eq!(ids(&answer(ofi)), ["ib/memlock"]);
}

#[test]
fn what_a_command_sets_is_listed_and_no_cause() {
    let socket = |host: &str| format!("{host}:1:1 [0] NCCL INFO Using network Socket\n");
    let a = answer(&format!("export NCCL_IB_DISABLE=1\n{}{}", socket("a"), socket("b")));
    assert!(a.causes.is_empty(), "{:?}", ids(&a));
    let set = &a.jobs[0].environment[0];
    assert_eq!((set.name.as_str(), set.value.as_str(), set.only.is_some()), ("NCCL_IB_DISABLE", "1", true));
    assert!(a.undecided[0].evidence.iter().any(|e| e.text.contains("export")), "{:?}", a.undecided);
    // The job's own line counts.
    let own = "a:1:1 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 0.\n";
    let a = answer(&format!("export NCCL_IB_DISABLE=1\n{own}{}{}", socket("a"), socket("b")));
    assert_eq!(a.jobs[0].environment.iter().map(|s| s.value.as_str()).collect::<Vec<_>>(), ["0"]);
}

#[test]
fn another_programs_variable_is_not_nccls() {
    let failed = "ib_device.c:1171 UCX  ERROR   ibv_create_ah(dlid=49152 sl=0 port=1 sgid_index=3) on mlx5_0 failed: Connection timed out\n";
    let a = answer(failed);
    assert_eq!(ids(&a), ["ib/gid-index"]);
    let remedy = format!("{:?}", a.causes[0].remedy);
    assert!(remedy.contains("UCX_IB_GID_INDEX") && !remedy.contains("NCCL_IB_GID_INDEX"), "{remedy}");
    assert!(a.undecided.is_empty(), "it is among the causes: {:?}", a.undecided);
}

#[test]
fn a_search_has_nics_only_where_the_job_spans_nodes() {
    let search = "a:100:200 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 4, bw 24.000000/12.000000, type NVL/PIX, sameChannels 0\n";
    for (more, inter, nics) in
        [("", None, None), ("a:100:200 [0] NCCL INFO  0 : NET/0 GPU/0 NET/0\n", Some(12.0), Some("PIX"))]
    {
        let a = answer(&format!("{search}{more}"));
        let s = &a.jobs[0].searches[0];
        assert_eq!((s.pattern, s.channels, s.intra_gb_per_s, s.gpus.as_str()), ("ring", 4, 24.0, "NVL"));
        assert_eq!((s.inter_gb_per_s, s.nics.as_deref()), (inter, nics));
    }
}

#[test]
fn the_consequence_is_not_the_cause() {
    let text = "[2026-01-01 10:00:05] a:1:2 [0] misc/socket.cc:1 NCCL WARN socketProgress: Connection closed by remote peer b<1>\n\
                [2026-01-01 10:00:01] b:1:2 [0] include/alloc.h:1 NCCL WARN Cuda failure 2 'out of memory'\n";
    let a = answer(text);
    assert_eq!(ids(&a), ["gpu/out-of-memory"]);
    assert!(a.consequences[0].why.contains("gpu/out-of-memory"));
    // By time, not by line.
    assert!(a.timeline[0].evidence.text.contains("out of memory"), "{:?}", a.timeline[0]);
    assert_eq!(a.timeline[0].evidence.at, "log:2");
}

#[test]
fn nothing_is_said_where_nothing_is_seen() {
    assert_eq!(answer("").exit_code(), 2);
    assert_eq!(answer("hello\nworld\n").exit_code(), 2);
    let a = answer("NCCL version 2.21.5+cuda12.4\n");
    assert!(a.causes.is_empty() && !a.undecided.is_empty());
    // Flush errors alone: the first error is elsewhere.
    let a = answer(
        "n:1:2 [0] transport/net_ib.cc:1 NCCL WARN NET/IB : Got completion from peer p<1> with status=5 opcode=0 len=0 vendor err 249 (Recv)\n",
    );
    assert!(a.causes.is_empty(), "{:?}", ids(&a));
    assert_eq!(a.undecided[0].symptom, "symptom/completion-errors");
}

#[test]
fn variables_say_what_they_do() {
    let text = "a:1:2 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\na:1:2 [0] NCCL INFO NCCL_IB_CUDA_SUPPORT set by environment to 1.\n\
                a:1:2 [0] NCCL INFO Using network IB\n";
    let a = answer(text);
    let set = &a.jobs[0].environment[0];
    assert_eq!((set.name.as_str(), set.value.as_str()), ("NCCL_IB_CUDA_SUPPORT", "1"));
    assert!(set.verdict.is_some(), "{set:?}");
}

#[test]
fn pieces_clothes_and_junk_do_not_matter() {
    let text = rank("a", 0, "0x1", "NET/IB/0/GDRDMA") + &rank("b", 1, "0x1", "NET/IB/0");
    let whole = format!("{:?}", answer(&text).jobs);
    for piece in [1, 7, 100] {
        assert_eq!(format!("{:?}", answer_in(text.as_bytes(), piece).jobs), whole, "pieces of {piece}");
    }
    assert_eq!(format!("{:?}", answer(&text.replace('\n', "\r\n")).jobs), whole, "CRLF");
    let coloured = text.replace("NCCL INFO", "\u{1b}[32mNCCL INFO\u{1b}[0m");
    assert_eq!(format!("{:?}", answer(&coloured).jobs), whole, "colours");
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(format!("{:?}", answer_in(&utf16, 33).jobs), whole, "UTF-16");
    // A line of 3 MB in between, without and with an end.
    let mut long = vec![b'x'; 3 << 20];
    long.push(b'\n');
    long.extend_from_slice(text.as_bytes());
    let a = answer_in(&long, 64 << 10);
    assert_eq!(a.jobs.len(), 1);
    assert!(a.inputs[0].remarks.iter().any(|r| r.contains("64 KiB")), "{:?}", a.inputs[0].remarks);
}

#[test]
fn a_second_writer_in_a_line_is_read() {
    let text =
        "a:1:1 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NETb:2:2 [1] NCCL INFO Using network Socket\n";
    let a = answer(text);
    assert_eq!(a.jobs.iter().flat_map(|j| &j.networks).map(|(n, _)| n.as_str()).collect::<Vec<_>>(), ["Socket"]);
    assert!(a.inputs[0].remarks.iter().any(|r| r.contains("two writers")));
}

mod any {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..4000), piece in 1usize..500) {
            let _ = answer_in(&bytes, piece);
        }

        #[test]
        fn no_words_break_it(lines in proptest::collection::vec(
            "(h[0-9]:[0-9]{1,3}:[0-9]{1,3} \\[[0-9]\\] )?(x.cc:1 )?NCCL (INFO|WARN) (Channel 0[0-9]/0 : [0-9]\\[0\\] -> [0-9]\\[0\\] (\\[send\\] )?via (NET/IB/0|P2P/IPC|SHM)|comm 0x[0-9] rank [0-9] nranks [0-9] cudaDev 0 - Init COMPLETE|NET/IB : Got completion with error [0-9]{1,2}, opcode 1|NCCL_[A-Z_]{2,12} set by environment to .{0,5}|GPU Direct RDMA (En|Dis)abled for GPU [0-9a-f]{1,9} / HCA [0-9] .distance -?[0-9]{1,20} > [0-9].|.{0,60})", 0..40)) {
            let _ = answer(&lines.join("\n"));
        }
    }
}

/// The kernel's log of a node, and nothing else.
fn kernel(lines: &[&str]) -> Answer {
    answer(&lines.iter().enumerate().map(|(i, l)| format!("[{:>6}.000000] {l}\n", 100 + i)).collect::<String>())
}

#[test]
fn an_iommu_fault_concerns_the_job_only_where_its_device_is_on_the_path() {
    let amd =
        |who: &str| format!("{who}: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0012 address=0xfd000 flags=0x0020]");
    for who in ["nvidia 0000:07:00.0", "mlx5_core 0000:18:00.0"] {
        let a = kernel(&[&amd(who)]);
        assert_eq!((ids(&a), a.exit_code()), (vec!["kernel/iommu-fault"], 1), "{who}");
    }
    for who in ["xhci_hcd 0000:02:00.0", "i915 0000:00:02.0", "nvme 0000:81:00.0", "ahci 0000:03:00.0"] {
        let a = kernel(&[&amd(who)]);
        assert!(a.causes.is_empty() && a.undecided.is_empty() && a.not_causes.len() == 1, "{who}: {:?}", ids(&a));
    }
    for line in [
        amd("vfio-pci 0000:18:00.0"),
        amd("pci 0000:18:00.0"),
        "DMAR:[DMA Write] Request device [02:00.0] fault addr f1000".to_owned(),
        "arm-smmu-v3 arm-smmu-v3.9.auto: event 0x10 received:".to_owned(),
    ] {
        let a = kernel(&[&line]);
        // Nothing is asserted, and nothing is to be changed.
        let said: Vec<_> = a.causes.iter().map(|c| (c.id, c.confidence)).collect();
        assert_eq!(said, [("kernel/iommu-fault", Confidence::Possible)], "{line}");
        let action = &a.causes[0].remedy.as_ref().unwrap().action;
        assert!(matches!(action, linerate_rules::Action::Investigate { .. }), "{line}: {action:?}");
    }
    // Another line of the log says what the device is.
    let bound = "mlx5_core 0000:18:00.0: firmware version: 28.39.1002";
    let fault = "DMAR: [DMA Read NO_PASID] Request device [18:00.0] fault addr 0x7f00 [fault reason 0x06] PTE Read access is not set";
    assert_eq!(ids(&kernel(&[bound, fault])), ["kernel/iommu-fault"]);
}

#[test]
fn an_argument_of_x86_is_never_an_answer_on_arm() {
    let a = kernel(&[
        "mlx5_core 0009:01:00.0: firmware version: 28.39.1002",
        "arm-smmu-v3 arm-smmu-v3.9.auto: event: F_TRANSLATION client: 0009:01:00.0 sid: 0x100 ssid: 0x0 iova: 0x0 ipa: 0x0",
    ]);
    assert_eq!(ids(&a), ["kernel/iommu-fault"]);
    let remedy = a.causes[0].remedy.as_ref().unwrap();
    assert!(!matches!(remedy.action, linerate_rules::Action::KernelArgs { .. }), "{remedy:?}");
}

#[test]
fn pcie_errors_by_device() {
    let fatal = |who: &str| {
        format!("{who}: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction Layer, (Receiver ID)")
    };
    assert_eq!(ids(&kernel(&[&fatal("mlx5_core 0000:18:00.0")])), ["kernel/pcie-error"]);
    assert_eq!(ids(&kernel(&[&fatal("nvidia 0000:07:00.0")])), ["kernel/pcie-error"]);
    assert!(kernel(&[&fatal("nvme 0000:81:00.0")]).causes.is_empty());
    let a = kernel(&["pcieport 0000:00:01.0: pciehp: Slot(1): Link Down"]);
    assert_eq!((ids(&a), a.causes[0].confidence), (vec!["kernel/pcie-error"], Confidence::Possible));
}

#[test]
fn xids_are_what_the_catalogue_says() {
    use linerate_rules::Severity;
    let xid = |rest: &str| kernel(&[&format!("NVRM: Xid (PCI:0000:1a:00): {rest}")]);
    for (rest, id, severity, breaks) in [
        ("79, GPU has fallen off the bus.", "kernel/xid", Severity::Critical, true),
        ("31, pid=1, name=a, MMU Fault", "kernel/xid", Severity::Medium, false),
        ("13, pid=1, name=a, Graphics SM Warp Exception", "kernel/xid", Severity::Medium, false),
        ("94, pid=1, name=a, Contained: SM (0x1)", "kernel/xid", Severity::Medium, false),
        ("149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000 0x0)", "gpu/nvlink", Severity::High, true),
        (
            "154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)",
            "kernel/xid",
            Severity::High,
            true,
        ),
        ("1234, x", "kernel/xid", Severity::Low, false),
    ] {
        let a = xid(rest);
        assert_eq!(ids(&a), [id], "{rest}");
        let c = &a.causes[0];
        assert_eq!(
            (c.severity, c.remedy.as_ref().map(|r| !r.risk_note.is_empty())),
            (severity, Some(breaks)),
            "{rest}"
        );
        assert!(!c.summary.contains("several"), "{}", c.summary);
    }
    for rest in [
        "63, pid=1, Row Remapper: New row marked for remapping, reset gpu to activate.",
        "92, High single-bit ECC error rate",
        "107, x",
        "121, x",
        "137, x",
        "154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)",
        "145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 12 (0x040988e2 0x00000002 0x0)",
    ] {
        let a = xid(rest);
        assert!(a.causes.is_empty() && a.undecided.is_empty() && a.not_causes.len() == 1, "{rest}: {:?}", ids(&a));
    }
}

/// nccl-tests prints a row of its table piece by piece: what NCCL says meanwhile follows the piece.
#[test]
fn a_tables_row_is_no_part_of_a_hosts_name() {
    let head = "mew0:64904:64904 [1] NCCL INFO";
    let call = "AllReduce: opCount 0 sendbuff 0x7 recvbuff 0x9 count 2097152 datatype 7 op 0 root 0 comm 0x55 [nranks=2] stream 0x5";
    let other = "2mew0:64904:64905 [0] NCCL INFO Using network IB";
    let text = format!(
        "{head} Using network IB\n     8388608       2097152     float     sum      -1{head} {call}\n    83.33  100.66  100.66      0{head} {call}\n{other}\n"
    );
    let a = answer(&text);
    // A thread that no line without the number names is what it says.
    assert_eq!(
        a.jobs.iter().flat_map(|j| &j.hosts).collect::<std::collections::BTreeSet<_>>(),
        ["2mew0".to_owned(), "mew0".to_owned()].iter().collect()
    );
}
