use super::*;
use linerate_formats::sniff;

const TICKET: &str = "\
all_reduce is slow on our two nodes, see below.

node1:100:120 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>
node1:100:120 [0] NCCL INFO Using network IB
[ 1234.567890] NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus.

user@node1:~$ nvidia-smi topo -m
\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV18\tPIX\t0-31\t0
GPU1\tNV18\t X \tSYS\t32-63\t1
NIC0\tPIX\tSYS\t X \t\t

Legend:

  X    = Self
  PIX  = Connection traversing at most a single PCIe bridge

NIC Legend:

  NIC0: mlx5_0

And the devices:
0000:18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330] (rev a1)
\tNUMA node: 0

0000:19:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 [15b3:1021]
12:00.0 something else: not a device
hca_id:\tmlx5_0
\ttransport:\t\t\tInfiniBand (0)
\tfw_ver:\t\t\t\t28.39.1002
";

#[test]
fn a_ticket_is_cut_at_its_lines() {
    let got: Vec<_> =
        cut_up(TICKET).into_iter().map(|b| (b.kind, b.lines.in_file(1) - 1, b.text.lines().count())).collect();
    assert_eq!(
        got,
        [(Kind::NvidiaSmiTopo, 7, 13), (Kind::Lspci, 22, 4), (Kind::IbvDevinfo, 27, 3), (Kind::Dmesg, 4, 1)]
    );
    let cut = nodes("dir/ticket.txt", TICKET.as_bytes(), None);
    assert!(cut.several);
    let [(name, s)] = cut.nodes.as_slice() else { panic!("{}", cut.nodes.len()) };
    assert_eq!((name.as_str(), s.outputs.len()), ("dir/ticket.txt", 4));
    let xid = crate::Place::of(s.outputs.last().unwrap().entry).line(1);
    assert!(s.describe(xid).ends_with(":5"), "{}", s.describe(xid));
    assert!(s.excerpt(xid).contains("NVRM: Xid"), "{}", s.excerpt(xid));
}

#[test]
fn two_lists_of_the_same_devices_are_two_nodes() {
    let gpu = "0000:18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330]\n";
    let nic = "0000:19:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 [15b3:1021]\n";
    let text = format!("$ lspci | grep NV\n{gpu}\n$ lspci | grep Mell\n{nic}");
    assert_eq!(nodes("x", text.as_bytes(), None).nodes.len(), 1);
    let text = format!("good:\n{gpu}{nic}bad:\n{gpu}");
    let cut = nodes("x", text.as_bytes(), None);
    assert_eq!(cut.nodes.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>(), ["x, node 1", "x, node 2"]);
}

#[test]
fn prompts_say_whose_a_text_is() {
    let gpu = "0000:18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330]\n";
    let text = format!("root@a:~# lspci -nn\n{gpu}root@a:~# lspci -nn\n{gpu}root@b:~# lspci -nn\n{gpu}");
    let cut = nodes("x", text.as_bytes(), None);
    assert_eq!(cut.names, ["a", "b"]);
    assert_eq!(cut.nodes.iter().map(|(_, s)| s.outputs.len()).collect::<Vec<_>>(), [2, 1]);
    // Files with their paths are no list of all of them: two such texts are of one node.
    let text = "$ grep . a\n/sys/class/net/a/mtu:1\n\n```\n$ lspci\n".to_owned()
        + gpu
        + "```\n/sys/class/net/b/mtu:2\n/sys/class/net/c/mtu:2\n";
    assert_eq!(nodes("x", text.as_bytes(), None).names, ["1"]);
}

#[test]
fn a_comment_behind_a_line_is_no_command() {
    let text = "mlx5_0   port  1  ==>  ibp26s0        (Down)  # CX-7 1/8 infiniband\n".repeat(2);
    assert_eq!(nodes("x", text.as_bytes(), None).nodes.len(), 1);
    let classes = ["[root@n ~]# ibdev2netdev", "# cat /proc/cmdline", "# ib is up", "[ 1.5] x"].map(Class::of);
    assert_eq!(classes, [Class::Prompt, Class::Prompt, Class::Other, Class::Kernel]);
}

#[test]
fn logs_of_two_machines_are_two_nodes() {
    let line = "NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus.";
    for heads in [
        ["Nov 21 07:00:00 n1 kernel: ", "Nov 21 07:00:00 n2 kernel: "],
        ["2026-11-21T07:00:00+00:00 n1 kernel: ", "2026-11-21T07:00:00+00:00 n2 kernel: "],
        ["n1: [   12.5] ", "n2: [   12.5] "],
        ["n1: [Mon Nov 21 07:00:00 2026] ", "n2: [Mon Nov 21 07:00:00 2026] "],
        ["root@n1:~# dmesg\n[   12.5] ", "root@n2:~# dmesg\n[   12.5] "],
    ] {
        let text: String = heads.iter().map(|head| format!("{head}{line}\n")).collect();
        let cut = nodes("x", text.as_bytes(), None);
        assert!(cut.several, "{text}");
        assert_eq!(cut.names, ["n1", "n2"], "{text}");
        assert!(cut.nodes.iter().all(|(_, s)| s.outputs.len() == 1), "{text}");
        let (_, second) = &cut.nodes[1];
        let at = second.describe(crate::Place::of(second.outputs[0].entry).line(1));
        assert!(at.ends_with(if text.contains('#') { ":4" } else { ":2" }), "{at}");
        assert_eq!(nodes("x", text.as_bytes(), Some("said")).nodes.len(), if text.contains('#') { 2 } else { 1 });
    }
}

#[test]
fn prose_and_logs_alone_make_no_node() {
    let log = "node1:1:2 [0] NCCL INFO Using network IB\n".repeat(1000) + "OK\nFAIL\nkvm\n12:30.1 noon: lunch\n";
    assert!(nodes("x", log.as_bytes(), None).nodes.is_empty());
    assert!(nodes("x", b"\xff\xfe\x00\x00garbage\n\x1b[31m", None).nodes.is_empty());
}

fn cut_up(text: &str) -> Vec<Block> {
    let mut cutter = Cutter::new(None);
    cutter.feed(text.as_bytes());
    cutter.found().list
}

#[test]
fn any_pieces_are_cut_alike() {
    let whole: Vec<_> = cut_up(TICKET).into_iter().map(|b| (b.kind, b.lines, b.text)).collect();
    for size in [1, 7, 64, 1000] {
        let mut cutter = Cutter::new(None);
        TICKET.as_bytes().chunks(size).for_each(|c| cutter.feed(c));
        let found = cutter.found();
        assert_eq!(found.list.into_iter().map(|b| (b.kind, b.lines, b.text)).collect::<Vec<_>>(), whole, "{size}");
    }
}

#[test]
fn what_stands_far_behind_the_head_is_found_at_its_line() {
    let before = 300_000;
    let text = "It is slow, and nobody knows why.\n".repeat(before) + TICKET;
    let cut = nodes("x", text.as_bytes(), None);
    let [(_, s)] = cut.nodes.as_slice() else { panic!("{}", cut.nodes.len()) };
    assert_eq!(s.outputs.len(), 4);
    let xid = crate::Place::of(s.outputs.last().unwrap().entry).line(1);
    assert!(s.describe(xid).ends_with(&format!(":{}", before + 5)), "{}", s.describe(xid));
    // The sentences, the first line of the ticket, and two of its others.
    assert_eq!(cut.other, (before + 3, 1));
}

#[test]
fn texts_are_kept_within_the_limit() {
    let gpu = "$ lspci -vvv\n0000:18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330]\n";
    let text = format!("{gpu}\t{}\n", "x".repeat(1000)).repeat(20_000);
    let mut cutter = Cutter::new(None);
    cutter.feed(text.as_bytes());
    let found = cutter.found();
    assert!(found.kept <= DOCTOR_TEXT && found.list.len() == DOCTOR_BLOCKS && found.full);
    let mut cutter = Cutter::new(None);
    let one = gpu.to_owned() + &format!("\t{}\n", "x".repeat(1000)).repeat(20_000);
    cutter.feed(one.as_bytes());
    let found = cutter.found();
    assert!(found.beyond && found.list.iter().map(|b| b.text.len()).sum::<usize>() <= DOCTOR_TEXT);
}

#[test]
fn documents_of_json_are_texts_of_their_own() {
    let pod =
        "{\n    \"kind\": \"Pod\",\n    \"spec\": {\n        \"containers\": [\n            {}\n        ]\n    }\n}\n";
    let described = "Name:  a\nContainers:\n  c:\n    Limits:\n      nvidia.com/gpu:  8\n";
    let kinds = |text: &str| cut_up(text).into_iter().map(|b| (b.kind, b.lines.in_file(1))).collect::<Vec<_>>();
    assert_eq!(kinds(&format!("see\n\n{pod}and\n{described}")), [(Kind::PodSpec, 3), (Kind::PodSpec, 11)]);
    // Below a command line, known or not, it is that command's.
    assert_eq!(kinds(&format!("root@a:~# kubectl get pod x -o json\n{pod}\n$ uname -r\n6.8.0-60-generic\n")).len(), 2);
    assert_eq!(kinds(&format!("root@a:~# cat saved.json\n{pod}")), [(Kind::PodSpec, 1)]);
}

/// What a person commented out, or put below a prompt of their own, are command lines as well.
#[test]
fn prompts_before_prompts() {
    for line in ["# $ nvidia-smi -L", "$ root@n1:~$ nvidia-smi -L", "$ ./a.out", "# $ nvidia-smi -h"] {
        assert_eq!(super::line::Class::of(line), super::line::Class::Prompt, "{line}");
    }
    for line in ["# a comment of $USER", "$5 a month", "# $HOME/bin", "$ 5"] {
        assert_ne!(super::line::Class::of(line), super::line::Class::Prompt, "{line}");
    }
}

/// What a script prints: one tool's text behind another's, with no command line between.
#[test]
fn texts_without_commands_are_told_apart() {
    let tools = || Kind::ALL.iter().copied().filter(|k| super::cutter::divides(*k));
    // Whole texts that show by themselves what they are.
    let alone = |k: Kind, text: &str| {
        text.trim_end().contains('\n')
            && !text.starts_with(['{', '[', '<'])
            && nodes("x", text.as_bytes(), None).kinds == [k]
    };
    let texts = |k: Kind| k.tool().samples.iter().copied().filter(move |t| alone(k, t)).map(move |t| (k, t));
    let first: Vec<(Kind, &str)> = tools().flat_map(texts).collect();
    let shows = |k: Kind, text: &str| text.lines().next().and_then(sniff::of_line) == Some(k);
    // What is indented may be a part of what is above it.
    let at_margin = |t: &str| !t.starts_with([' ', '\t']);
    let second: Vec<(Kind, &str)> = first.iter().copied().filter(|(k, t)| at_margin(t) && shows(*k, t)).collect();
    let pairs = || first.iter().flat_map(|a| second.iter().map(move |b| (*a, *b))).filter(|(a, b)| a.0 != b.0);
    assert!(pairs().count() > 1000);
    for ((a, x), (b, y)) in pairs() {
        let cut = nodes("x", format!("{}\n{}\n", x.trim_end(), y.trim_end()).as_bytes(), None);
        assert!(cut.kinds.contains(&a) && cut.kinds.contains(&b), "{a:?} {b:?} {:?}\n{x}\n{y}", cut.kinds);
    }
}

/// Ways to run a command on two hosts, and what they print of a text that both have.
fn on_two_hosts(text: &str) -> Vec<(&'static str, String)> {
    let text = text.trim_end();
    let bar = "-".repeat(16);
    let tagged = |host: &str| text.lines().map(|l| format!("{host}: {l}\n")).collect::<Vec<_>>();
    let both: String = tagged("gpu01").into_iter().zip(tagged("gpu02.example.org")).flat_map(|(a, b)| [a, b]).collect();
    let prompt = "[root@login ~]# pdsh -w gpu[01-02] x";
    vec![
        ("pdsh", format!("{prompt}\n{both}")),
        ("pdsh, sorted", [tagged("gpu01").concat(), tagged("gpu02").concat()].concat()),
        ("dshbak", format!("{bar}\ngpu01\n{bar}\n{text}\n{bar}\ngpu02\n{bar}\n{text}\n")),
        ("dshbak -c", format!("{prompt} | dshbak -c\n{bar}\ngpu[01-02]\n{bar}\n{text}\n")),
        ("clush -b", format!("{bar}\ngpu01,gpu02 (2)\n{bar}\n{text}\n")),
        (
            "ansible",
            format!(
                "gpu01 | CHANGED | rc=0 >>\n{text}\ngpu02 | FAILED | rc=1 >>\n{text}\ngpu03 | UNREACHABLE! => {{\n    \"msg\": \"x\"\n}}\n"
            ),
        ),
        ("parallel-ssh", format!("[1] 10:21:33 [SUCCESS] gpu01\n{text}\n[2] 10:21:34 [SUCCESS] gpu02\n{text}\n")),
        ("two ways", format!("{bar}\ngpu01\n{bar}\n{text}\nroot@gpu02:~# x\n{text}\n")),
    ]
}

/// What a tool prints is read whichever way it was run on many hosts, and is theirs.
#[test]
fn texts_of_many_hosts_are_theirs() {
    let tools = Kind::ALL.iter().copied().filter(|k| super::cutter::divides(*k) && !k.tool().of_cluster);
    let alone = |k: Kind, text: &str| {
        !text.starts_with(['{', '[', '<'])
            && text.trim_end().contains('\n')
            && !text.lines().any(|l| Class::of(l) == Class::Prompt)
            && cut_up(text).iter().map(|b| b.kind).eq([k])
    };
    let samples: Vec<(Kind, &str)> =
        tools.flat_map(|k| k.tool().samples.iter().map(move |t| (k, *t))).filter(|(k, text)| alone(*k, text)).collect();
    assert!(samples.len() > 50, "{}", samples.len());
    for (kind, text) in samples {
        for (way, file) in on_two_hosts(text) {
            let cut = nodes("x", file.as_bytes(), None);
            let hosts: Vec<&str> = cut.names.iter().map(String::as_str).collect();
            assert_eq!(hosts, ["gpu01", "gpu02"], "{kind:?} by {way}:\n{file}");
            assert_eq!((cut.kinds.as_slice(), cut.several), (&[kind][..], true), "{kind:?} by {way}:\n{file}");
        }
    }
}

#[test]
fn lines_of_many_hosts_are_at_their_places() {
    let xid = |gpu: &str| format!("NVRM: Xid (PCI:0000:{gpu}:00): 79, GPU has fallen off the bus.");
    let gpu = "18:00.0 3D controller: NVIDIA Corporation GH100 [H100] (rev a1)";
    let file = format!(
        "n1: {gpu}\nn2: {gpu}\nn1: \tNUMA node: 0\nn2: \tNUMA node: 1\nn3: ssh: connect to host n3 port 22: Connection refused\nwords\nn1: [   12.5] {}\n",
        xid("18")
    );
    let cut = nodes("x", file.as_bytes(), None);
    let [(_, first), (_, second)] = cut.nodes.as_slice() else { panic!("{:?}", cut.names) };
    let at = |s: &Snapshot, line| s.describe(crate::Place::of(s.outputs[0].entry).line(line));
    assert!(at(first, 2).ends_with(":3") && at(second, 2).ends_with(":4"), "{} {}", at(first, 2), at(second, 2));
    assert_eq!((cut.names, cut.other), (vec!["n1".to_owned(), "n2".to_owned()], (2, 5)));
    // A line of each host is enough.
    let rate = "/sys/class/infiniband/mlx5_0/ports/1/rate:400 Gb/sec (4X NDR)";
    let cut =
        nodes("x", format!("n1: {rate}\nn2: {rate}\npdsh@login: n3: ssh exited with exit code 255\n").as_bytes(), None);
    assert_eq!((cut.names, cut.other), (vec!["n1".to_owned(), "n2".to_owned()], (1, 3)));
    // No host: names of devices, and of what is no tool's.
    for text in ["eth0: flags=4163<UP>\neth0: x\n", "step1: loss 2.0\nstep2: loss 1.9\n", "rank0: x\n"] {
        let cut = nodes("x", text.as_bytes(), None);
        assert_eq!((cut.nodes.len(), cut.several, cut.other), (0, false, (text.lines().count(), 1)), "{text}");
    }
}

/// Headings of people's loops name hosts only where texts below them cannot be of one.
#[test]
fn headings_of_loops() {
    let matrix = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-31\nGPU1\tNV18\t X \t32-63\n";
    let ports = "hca_id:\tmlx5_0\n\ttransport:\t\t\tInfiniBand (0)\n";
    let names = |text: String| nodes("x", text.as_bytes(), None).names;
    assert_eq!(names(format!("=== dgx01 ===\n{matrix}\n=== dgx02 ===\n{matrix}{ports}")), ["dgx01", "dgx02"]);
    assert_eq!(names(format!("=== topo2d ===\n{matrix}\n=== ports4u ===\n{ports}")), ["1"]);
    assert_eq!(names(format!("=== GPU0 ===\n{matrix}\n=== GPU1 ===\n{matrix}")), ["1", "2"]);
}

#[test]
fn more_hosts_than_nodes_are_made() {
    let bar = "-".repeat(15);
    let matrix = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-31\nGPU1\tNV18\t X \t32-63\n";
    let cut = nodes("x", format!("{bar}\ngpu[001-500] (500)\n{bar}\n{matrix}").as_bytes(), None);
    assert_eq!((cut.nodes.len(), cut.names.last().map(String::as_str)), (DOCTOR_BLOCK_NODES, Some("gpu064")));
    assert!(cut.left_out.iter().any(|l| l.contains("DOCTOR_BLOCK_NODES")), "{:?}", cut.left_out);
}
