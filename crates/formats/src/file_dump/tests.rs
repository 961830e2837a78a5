use super::*;

fn text(path: &str, content: &str, line: u32) -> File {
    File { path: path.to_owned(), content: Content::Text(content.to_owned()), line }
}

#[test]
fn each_form_shows_its_files() {
    let got = parse(
        b"root@node1:~# grep -r . /sys/class/infiniband/*/ports/1/\n\
          /sys/class/infiniband/mlx5_0/ports/1/state:4: ACTIVE\n\
          /sys/class/infiniband/mlx5_0/ports/1/rate:400 Gb/sec (4X NDR)\n\
          /sys/bus/pci/devices/0000:18:00.0/current_link_speed:32.0 GT/s PCIe\n\
          /sys/devices/pci0000:17/0000:17:01.0/0000:18:00.0/numa_node: -1\n\
          /sys/class/net/eth0/mtu = 9000\n\
          /sys/bus/pci/devices/0000:18:00.0/local_cpulist\t0-31,64-95\n\
          /sys/bus/pci/devices/10000:e1:00.1/numa_node 0\n\
          cat: /sys/bus/pci/devices/0000:18:00.0/vpd: Permission denied\n\
          /sys/class/infiniband/mlx5_0/device -> ../../../0000:18:00.0\n\
          lrwxrwxrwx 1 root root 0 Nov 21 10:00 /sys/class/net/eth0/device -> ../../../0000:19:00.0\n",
    );
    let port = "sys/class/infiniband/mlx5_0/ports/1";
    let link = |path: &str, to: &str, line| File { path: path.to_owned(), content: Content::Link(to.to_owned()), line };
    let want = [
        text(&format!("{port}/state"), "4: ACTIVE", 2),
        text(&format!("{port}/rate"), "400 Gb/sec (4X NDR)", 3),
        text("sys/bus/pci/devices/0000:18:00.0/current_link_speed", "32.0 GT/s PCIe", 4),
        text("sys/devices/pci0000:17/0000:17:01.0/0000:18:00.0/numa_node", "-1", 5),
        text("sys/class/net/eth0/mtu", "9000", 6),
        text("sys/bus/pci/devices/0000:18:00.0/local_cpulist", "0-31,64-95", 7),
        text("sys/bus/pci/devices/10000:e1:00.1/numa_node", "0", 8),
        File { path: "sys/bus/pci/devices/0000:18:00.0/vpd".to_owned(), content: Content::Denied, line: 9 },
        link("sys/class/infiniband/mlx5_0/device", "../../../0000:18:00.0", 10),
        link("sys/class/net/eth0/device", "../../../0000:19:00.0", 11),
    ];
    assert_eq!(got.files, want);
    assert_eq!(got.other, (0, 0));
}

#[test]
fn lines_of_a_file_are_one_file() {
    let got = parse(b"/proc/meminfo:MemTotal:  1000 kB\n/proc/meminfo:HugePages_Total: 0\n/etc/os-release:ID=debian\n");
    assert_eq!(
        got.files,
        [text("proc/meminfo", "MemTotal:  1000 kB\nHugePages_Total: 0", 1), text("etc/os-release", "ID=debian", 3)]
    );
}

#[test]
fn what_stands_below_a_heading_is_its_content() {
    let got =
        parse(b"==> /proc/cmdline <==\nro iommu=pt\n\n==> /etc/os-release <==\nID=debian\nX=1\n\n$ uname -r\n6.8.0\n");
    assert_eq!(got.files, [text("proc/cmdline", "ro iommu=pt", 1), text("etc/os-release", "ID=debian\nX=1", 4)]);
    assert_eq!(got.other, (1, 9), "what follows another command is of no file");
    // A log of syslog is no file that is known.
    assert!(parse(b"==> /var/log/syslog <==\nx\n").files.is_empty());
}

#[test]
fn headings_of_loops_are_headings() {
    let dir = "sys/class/infiniband/mlx5_0/ports/1/hw_counters";
    let want = [text(&format!("{dir}/lifespan"), "10", 2), text(&format!("{dir}/out_of_sequence"), "6", 4)];
    let body = "=== ./lifespan ===\n10\n=== ./out_of_sequence ===\n6\n";
    for prompt in
        [format!("root@n1:/{dir}# sh loop"), format!("# cd /{dir}/; sh loop"), format!("[root@n1 ~]# cd /{dir} && ls")]
    {
        let got = parse(format!("{prompt}\n{body}").as_bytes());
        assert_eq!((got.files.as_slice(), got.other), (&want[..], (0, 0)), "{prompt}");
    }
    // Without a directory they are of no file, and of no other one.
    for prompt in ["$ sh loop", "root@n1:~# sh loop", "# cd /sys/class; cd /tmp"] {
        let got = parse(format!("{prompt}\n{body}").as_bytes());
        assert_eq!((got.files.len(), got.other), (0, (4, 2)), "{prompt}");
    }
    let got = parse(b"=== /sys/class/net/eth0/mtu ===\n9000\n=== ./x ===\n1\n=== RESULT ===\n");
    assert_eq!((got.files, got.other), (vec![text("sys/class/net/eth0/mtu", "9000", 1)], (3, 3)));
}

#[test]
fn settings_are_files_of_proc() {
    let got = parse(
        b"net.core.rmem_max = 212992\nnet.ipv4.conf.eth0/100.rp_filter = 2\nkernel.domainname = (none)\nvm.x =\n",
    );
    assert_eq!(
        got.files,
        [
            text("proc/sys/net/core/rmem_max", "212992", 1),
            text("proc/sys/net/ipv4/conf/eth0.100/rp_filter", "2", 2),
            text("proc/sys/kernel/domainname", "(none)", 3),
            text("proc/sys/vm/x", "", 4),
        ]
    );
}

#[test]
fn what_shows_no_file_is_counted() {
    for line in [
        "/sys/class/net/eth0/mtu is missing here",
        "/sys/../etc/passwd:x",
        "/sys//x:1",
        "/opt/me/x:1",
        "see /sys/class/net/eth0/mtu:9000",
        "net.core is = 5",
        "kernel: version = 5",
        "vm..x = 1",
        "/sys/*/x:1",
        "cat: /sys/x/y: No such file or directory",
        "/sys/x/y: No such file or directory",
        "/usr/lib/python3/dist-packages/torch/x.py:123: UserWarning: y",
    ] {
        let got = parse(format!("{line}\n").as_bytes());
        assert_eq!((got.files.as_slice(), got.other), (&[] as &[File], (1, 1)), "{line}");
    }
}

#[test]
fn the_first_sight_of_a_file_counts() {
    let got = parse(b"/sys/class/net/eth0/mtu:9000\n/proc/version:Linux\n/sys/class/net/eth0/mtu:1500\n");
    assert_eq!(got.files, [text("sys/class/net/eth0/mtu", "9000", 1), text("proc/version", "Linux", 2)]);
}

#[test]
fn a_log_is_no_dump() {
    for line in [
        "/etc/profile: line 5: x: command not found",
        "/usr/lib/python3/x.py:12: UserWarning",
        "cat: /sys/x/y: Permission denied",
    ] {
        assert!(!line::is_own(line), "{line}");
    }
    assert!(line::is_own("/proc/cmdline:ro") && line::is_own("==> /sys/x/y <=="));
}

/// A prompt may be the directory alone.
#[test]
fn files_below_a_bare_prompt() {
    let text = "/sys/class/infiniband/mlx5_1/ports/1/counters$ for file in $(find . -type f); do\n    cat \"$file\"\ndone\n=== ./link_downed ===\n255\n\n=== ./symbol_error ===\n0\n";
    let got = parse(text.as_bytes());
    let files: Vec<(&str, u32)> = got.files.iter().map(|f| (f.path.as_str(), f.line)).collect();
    let dir = "sys/class/infiniband/mlx5_1/ports/1/counters";
    assert_eq!(files, [(format!("{dir}/link_downed").as_str(), 4), (format!("{dir}/symbol_error").as_str(), 7)]);
    // A value with a sign of a shell is no prompt.
    assert_eq!(parse(b"/proc/cmdline:ro x=$y\n").files.len(), 1);
}
