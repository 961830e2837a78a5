//! Where the planted secrets stand: every file that a capture takes and that may hold text, what commands printed, what is pasted.

use super::corpus::{self, Planted};
use std::path::Path;

/// One file.
pub(crate) struct Source {
    /// Path below the root, or name of what is pasted.
    pub(crate) path: String,
    /// What is in front of each text, and behind it.
    pub(crate) around: (&'static str, &'static str),
    pub(crate) head: &'static str,
    pub(crate) planted: Vec<Planted>,
    /// A capture finds it in a tree.
    pub(crate) file: bool,
    /// All texts in one line.
    pub(crate) one_line: bool,
}

impl Source {
    fn new(path: &str, planted: Vec<Planted>) -> Self {
        Source { path: path.into(), around: ("", "\n"), head: "", planted, file: true, one_line: false }
    }

    fn around(self, before: &'static str, after: &'static str) -> Self {
        Source { around: (before, after), ..self }
    }

    fn head(self, head: &'static str) -> Self {
        Source { head, ..self }
    }

    fn output(self) -> Self {
        Source { file: false, ..self }
    }

    pub(crate) fn text(&self) -> String {
        let (before, after) = self.around;
        let body: Vec<String> = self.planted.iter().map(|p| format!("{before}{}{after}", p.text)).collect();
        format!("{}{}{}", self.head, body.concat(), if self.one_line { "\n" } else { "" })
    }
}

/// Another number for each place, so that no password is in two.
struct Numbers(usize);

impl Numbers {
    fn take(&mut self) -> usize {
        self.0 += 400;
        self.0
    }
}

/// What a kernel log looks like.
const LOG: &str = "[    0.000000] Linux version 6.8.0-60-generic (x@y) #63 SMP\n[    1.000000] DMAR: IOMMU enabled\n";
/// What the kernel says, and what programs write into its log.
const STAMP: &str = "[   12.345678] nvidia stats ";

fn log_lines(n: &mut Numbers) -> Vec<Planted> {
    let mut planted = corpus::lines(n.take());
    planted.extend(
        corpus::tokens(n.take() as u64).into_iter().map(|p| Planted { text: format!("tool: x {} y", p.text), ..p }),
    );
    planted.extend(
        corpus::tokens(n.take() as u64).into_iter().map(|p| Planted { text: format!("tool: k=\"{}\",", p.text), ..p }),
    );
    planted
}

/// All files, and all outputs of commands of a capture.
pub(crate) fn all() -> Vec<Source> {
    let mut n = Numbers(0);
    let mut out = Vec::new();
    let words = |n: &mut Numbers| {
        let mut w = corpus::kernel_words(n.take());
        w.extend(
            corpus::tokens(n.take() as u64).into_iter().map(|p| Planted { text: format!("site={}", p.text), ..p }),
        );
        w.extend(
            corpus::tokens(n.take() as u64).into_iter().map(|p| Planted { text: format!("root=UUID={}", p.text), ..p }),
        );
        w.extend(corpus::kernel_tails(n.take()));
        w
    };
    let line = |path: &str, w: Vec<Planted>| Source { one_line: true, ..Source::new(path, w).around(" ", "") };
    // The tails come last: behind `--` everything is init's.
    out.push(line("proc/cmdline", words(&mut n)).head("BOOT_IMAGE=/vmlinuz root=/dev/sda2 ro"));
    out.push(line("etc/kernel/cmdline", words(&mut n)).head("root=/dev/sda2 ro"));
    for path in ["etc/default/grub", "etc/default/grub.d/50-site.cfg", "etc/default/grub.d/90-linerate.cfg"] {
        let mut planted: Vec<Planted> = words(&mut n)
            .into_iter()
            .map(|p| Planted { text: format!("GRUB_CMDLINE_LINUX=\"ro {} quiet\"", p.text.replace('"', "'")), ..p })
            .collect();
        planted.extend(
            corpus::kernel_words(n.take())
                .into_iter()
                .map(|p| Planted { text: format!("GRUB_CMDLINE_LINUX_DEFAULT+=' {} quiet'", p.text), ..p }),
        );
        planted.extend(
            corpus::variables(n.take())
                .into_iter()
                .map(|p| Planted { text: format!("GRUB_DEFAULT={}", p.secret), ..p }),
        );
        planted.extend(corpus::lines(n.take()).into_iter().map(|p| Planted { text: format!("# {}", p.text), ..p }));
        out.push(Source::new(path, planted));
    }
    for path in ["boot/loader/entries/a.conf", "efi/loader/entries/b.conf", "boot/loader/loader.conf"] {
        let mut planted: Vec<Planted> =
            words(&mut n).into_iter().map(|p| Planted { text: format!("options {}", p.text), ..p }).collect();
        for (i, key) in
            ["title", "version", "linux", "initrd", "default", "grub_users", "sort-key", "id"].iter().enumerate()
        {
            for form in ["password=\u{1}", "https://u:\u{1}@h", "--token \u{1}"] {
                let secret = corpus::word(9000 + out.len() * 40 + i * 4 + form.len() % 4);
                let text = format!("{key} {}", form.replace('\u{1}', &secret));
                planted.push(Planted { form: text.clone(), text, secret });
            }
        }
        out.push(Source::new(path, planted));
    }
    out.push(Source::new("etc/nccl.conf", corpus::variables(n.take())));
    out.push(Source::new("linerate/env", corpus::variables(n.take())).output());
    for path in [
        "etc/modprobe.d/nvidia.conf",
        "etc/modprobe.d/linerate.conf",
        "etc/modprobe.d/linerate-block.conf",
        "run/modprobe.d/x-mlx.conf",
        "usr/lib/modprobe.d/vfio-x.conf",
        "lib/modprobe.d/x-iommu.conf",
    ] {
        let mut planted = corpus::module_lines(n.take());
        planted.extend(corpus::lines(n.take()).into_iter().map(|p| Planted { text: format!("# {}", p.text), ..p }));
        out.push(Source::new(path, planted));
    }
    for path in [
        "etc/modules-load.d/x.conf",
        "run/modules-load.d/y.conf",
        "etc/security/limits.d/x.conf",
        "etc/sysctl.d/90-linerate.conf",
        "etc/tmpfiles.d/linerate.conf",
        "etc/udev/rules.d/90-linerate.rules",
    ] {
        let mut planted = corpus::lines(n.take());
        planted.extend(corpus::tokens(n.take() as u64));
        out.push(Source::new(path, planted));
    }
    for path in [
        "etc/systemd/system/linerate-x.service",
        "etc/systemd/system/slurmd.service.d/90-linerate.conf",
        "etc/systemd/system/user.slice.d/90-linerate.conf",
        "etc/systemd/system.conf.d/90-linerate.conf",
    ] {
        let mut planted = corpus::unit_lines(n.take());
        planted.extend(
            corpus::variables(n.take())
                .into_iter()
                .map(|p| Planted { text: format!("Environment=\"{}\"", p.text), ..p }),
        );
        planted.extend(
            corpus::lines(n.take()).into_iter().map(|p| Planted { text: format!("ExecStart=/bin/{}", p.text), ..p }),
        );
        out.push(Source::new(path, planted).head("[Service]\n"));
    }
    for dir in ["etc", "run", "usr/lib"] {
        out.push(Source::new(
            &format!("{dir}/NetworkManager/system-connections/x.nmconnection"),
            corpus::keyfile_sections(n.take()),
        ));
        out.push(Source::new(&format!("{dir}/systemd/network/20-x.network"), corpus::networkd_sections(n.take())));
    }
    out.push(Source::new("run/NetworkManager/devices/3", corpus::keyfile_sections(n.take())));
    out.push(Source::new("etc/NetworkManager/conf.d/90-linerate.conf", corpus::keyfile_sections(n.take())));
    out.push(Source::new("etc/systemd/network/90-linerate.netdev", corpus::networkd_sections(n.take())));
    out.push(Source::new("etc/systemd/network/20-x.network.d/90-linerate.conf", corpus::networkd_sections(n.take())));
    out.push(Source::new("etc/netplan/90-linerate.yaml", corpus::netplan_lines(n.take())));
    out.push(Source::new("etc/netplan/50-site.yaml", corpus::netplan_lines(n.take())));
    out.push(Source::new("etc/network/interfaces", corpus::lines(n.take())));
    for path in [
        "proc/driver/nvidia/params",
        "proc/driver/nvidia/gpus/0000:01:00.0/information",
        "sys/module/nvidia/parameters/NVreg_RegistryDwords",
        "etc/os-release",
        "proc/version",
        "var/run/nvidia-topologyd/virtualTopology.xml",
        "boot/grub2/grub.cfg",
    ] {
        out.push(Source::new(path, corpus::lines(n.take())));
    }
    out.push(
        Source::new("etc/libvirt/qemu/vm1.xml", corpus::lines(n.take()))
            .head("<domain type='kvm'>\n")
            .around("<qemu:arg value='", "'/>\n"),
    );
    out.push(
        Source::new("etc/libvirt/qemu/vm2.xml", corpus::lines(n.take()))
            .head("<domain type='kvm'>\n")
            .around("<description>", "</description>\n"),
    );
    out.push(Source::new("sys/module/mlx5_core/parameters/x", log_lines(&mut n)));
    // What other versions and other makers keep.
    for path in ["proc/1/environ", "proc/77/environ", "proc/77/cmdline"] {
        out.push(Source::new(path, corpus::variables(n.take())).around("", "\0").output());
    }
    out.push(Source::new("sos_commands/process/ps_auxwww", corpus::lines(n.take())).output());
    // Commands: 0 the kernel log, 1 a domain of libvirt, 2 nvidia-smi, 3 anything.
    let mut planted = log_lines(&mut n);
    planted.extend(corpus::blocks(n.take()));
    out.push(Source::new("cmd/0/stdout", planted).head(LOG).around(STAMP, "\n").output());
    out.push(Source::new("cmd/0/stderr", corpus::lines(n.take())).output());
    out.push(Source::new("cmd/0/status", corpus::lines(n.take())).output());
    out.push(
        Source::new("cmd/1/stdout", corpus::lines(n.take()))
            .head("<domain type='kvm'>\n")
            .around("<qemu:arg value='", "'/>\n")
            .output(),
    );
    out.push(
        Source::new("cmd/2/stdout", log_lines(&mut n))
            .head("<nvidia_smi_log>\n")
            .around("<process_name>", "</process_name>\n")
            .output(),
    );
    out.push(Source::new("cmd/3/stdout", log_lines(&mut n)).output());
    out.push(Source::new("linerate/nvml.json", corpus::lines(n.take())).around("\"", "\"\n").output());
    out.push(Source::new("pasted/x.txt", log_lines(&mut n)).output());
    out
}

/// Texts as people paste them: recognised by what they begin with.
pub(crate) fn pasted() -> Vec<Source> {
    let mut n = Numbers(40_000);
    let mut log = log_lines(&mut n);
    log.extend(corpus::blocks(n.take()));
    let mut journal = corpus::lines(n.take());
    journal.extend(corpus::blocks(n.take()));
    let mut words = corpus::kernel_words(n.take());
    words.extend(corpus::kernel_tails(n.take()));
    let boot: Vec<Planted> = corpus::kernel_words(n.take())
        .into_iter()
        .map(|p| Planted { text: format!("Command line: BOOT_IMAGE=/vmlinuz ro {} quiet", p.text), ..p })
        .chain(
            corpus::kernel_words(n.take())
                .into_iter()
                .map(|p| Planted { text: format!("Kernel command line: ro {} quiet", p.text), ..p }),
        )
        .chain(corpus::kernel_words(n.take()).into_iter().map(|p| Planted {
            text: format!(
                "Unknown kernel command line parameters \"{} x\", will be passed to user space.",
                p.text.replace('"', "'")
            ),
            ..p
        }))
        .collect();
    let mut compose: Vec<Planted> =
        corpus::variables(n.take()).into_iter().map(|p| Planted { text: format!("      - {}", p.text), ..p }).collect();
    for form in
        ["image: x/\u{1}:1", "command: [a, \u{1}]", "container_name: \u{1}", "shm_size: \u{1}", "runtime: \u{1}"]
    {
        let secret = corpus::word(70_000 + compose.len());
        compose.push(Planted {
            form: form.to_owned(),
            text: format!("    {}", form.replace('\u{1}', &secret)),
            secret,
        });
    }
    let mut unit: Vec<Planted> = corpus::variables(n.take())
        .into_iter()
        .map(|p| Planted { text: format!("Environment={}", p.text), ..p })
        .collect();
    for form in [
        "ExecStart=/usr/bin/x --token \u{1}",
        "ExecStart=/bin/x \\\n  \u{1}",
        "LimitMEMLOCK=\u{1}",
        "Description=\u{1}",
        "# \u{1}=\u{1}",
    ] {
        let secret = corpus::word(80_000 + unit.len());
        unit.push(Planted { form: form.to_owned(), text: form.replace('\u{1}', &secret), secret });
    }
    let mut plan = corpus::netplan_lines(n.take());
    for form in [
        "network:\n  ethernets:\n    eth1:\n      set-name: \u{1}",
        "network:\n  ethernets:\n    eth1: {mtu: \u{1}, match: {name: \u{1}}, addresses: [\u{1}]}",
        "network:\n  ethernets:\n    \u{1}:\n      mtu: 9000",
        "network:\n  vlans:\n    v: {link: \u{1}, id: \u{1}}",
        "network:\n  bonds:\n    b:\n      interfaces:\n        - \u{1}",
    ] {
        let secret = corpus::word(85_000 + plan.len());
        plan.push(Planted { form: form.to_owned(), text: format!("---\n{}", form.replace('\u{1}', &secret)), secret });
    }
    let mut profile = corpus::keyfile_sections(n.take());
    for form in
        ["[connection]\nmaster=\u{1}", "[vlan]\nparent=\u{1}", "[vlan]\nid=\u{1}", "[match]\ninterface-name=\u{1}"]
    {
        let secret = corpus::word(87_000 + profile.len());
        profile.push(Planted { form: form.to_owned(), text: form.replace('\u{1}', &secret), secret });
    }
    let site = "network:\n  version: 2\n  ethernets:\n    eth0:\n      mtu: 9000\n";
    let connection = "[connection]\nid=a\ntype=ethernet\ninterface-name=eth0\n";
    let mut script: Vec<Planted> =
        corpus::variables(n.take()).into_iter().map(|p| Planted { text: format!("export {}", p.text), ..p }).collect();
    for form in [
        "#SBATCH --comment=\u{1}",
        "#SBATCH -A \u{1} --mail-user=\u{1}@x",
        "#SBATCH --nodes=\u{1} --gres=gpu:\u{1}:4,\u{1}:1 --gpus=\u{1}:8 # \u{1}",
        "#SBATCH --gpu-bind=map:\u{1} --propagate=\u{1} --hint=\u{1} --constraint=\u{1}",
        "# \u{1}",
        "srun --nodes=\u{1} $\u{1} --export=A=\u{1} \\\n  --ntasks=2 python \u{1}",
        "srun bash -c \"\u{1}; torchrun --nproc_per_node=\u{1} \u{1}\"",
        "mpirun -np \u{1} -x A=\u{1} x",
        "ulimit -l \u{1}",
        "cat <<EOF\n\u{1}\nEOF",
    ] {
        let secret = corpus::word(81_000 + script.len());
        script.push(Planted { form: form.to_owned(), text: form.replace('\u{1}', &secret), secret });
    }
    let mut nodes: Vec<Planted> = corpus::lines(n.take())
        .into_iter()
        .map(|p| Planted { text: format!("gpu1 1 gpu* drained {}", p.text), ..p })
        .collect();
    for form in ["gpu2 1 \u{1} drained password=\u{1}", "\u{1}", "\u{1} 1 gpu* \u{1} none"] {
        let secret = corpus::word(82_000 + nodes.len());
        nodes.push(Planted { form: form.to_owned(), text: form.replace('\u{1}', &secret), secret });
    }
    let mut pods: Vec<Planted> = Vec::new();
    for form in ["a Ready worker 1d \u{1} \u{1}", "b \u{1} worker 1d v1", "\u{1}", "c NotReady \u{1}"] {
        let secret = corpus::word(83_000 + pods.len());
        pods.push(Planted { form: form.to_owned(), text: form.replace('\u{1}', &secret), secret });
    }
    let slurmd = "# /etc/systemd/system/slurmd.service\n[Service]\nExecStart=/usr/sbin/slurmd\nLimitMEMLOCK=infinity\n";
    let service = "services:\n  train:\n    image: x\n    shm_size: 1g\n    environment:\n";
    vec![
        Source::new("compose.yaml", compose).head(service),
        Source::new("slurmd.txt", unit).head(slurmd),
        Source::new("50-site.yaml", plan).head(site),
        Source::new("eth0.nmconnection", profile).head(connection),
        Source::new("job.txt", script).head("#!/bin/bash\n#SBATCH --nodes=2\n"),
        Source::new("sinfo.txt", nodes).head("NODELIST NODES PARTITION STATE REASON\n"),
        Source::new("nodes.txt", pods).head("NAME STATUS ROLES AGE VERSION\n"),
        Source::new("dmesg.txt", log).head(LOG).around("[   12.345678] nvidia ", "\n"),
        Source::new("boot.txt", boot).head(LOG).around("[    0.000000] ", "\n"),
        Source::new("journal.txt", journal)
            .head("Nov 21 07:00:00 gpu-1 kernel: Linux version 6.8.0\n")
            .around("Nov 21 07:00:09 gpu-1 tool[77]: ", "\n"),
        Source { one_line: true, ..Source::new("cmdline.txt", words) }
            .head("$ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz root=/dev/sda2 ro iommu=pt quiet")
            .around(" ", ""),
        Source::new("domain.xml", corpus::lines(n.take())).head("<domain type='kvm'>\n<name>x</name>\n").around("<description>", "</description>\n"),
        Source::new("nvidia-smi.txt", corpus::lines(n.take())).head("==============NVSMI LOG==============\n\nTimestamp : x\nDriver Version : 550.1\n\nAttached GPUs : 1\nGPU 00000000:01:00.0\n    Product Name : x\n").around("    Name : ", "\n"),
    ]
}

/// Writes them below a directory.
pub(crate) fn write_tree(root: &Path, sources: &[Source]) {
    for (path, text) in [("sys/bus/pci/devices/x", ""), ("proc/sys/kernel/hostname", "gpu-a-17\n")] {
        let at = root.join(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }
    for s in sources {
        let at = root.join(&s.path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, s.text()).unwrap();
    }
    for (n, argv) in ARGV.iter().enumerate().filter(|_| sources.iter().any(|s| !s.file)) {
        std::fs::write(root.join(format!("cmd/{n}/argv")), argv).ok();
    }
}

const ARGV: &[&str] =
    &["[\"dmesg\"]", "[\"virsh\",\"--readonly\",\"dumpxml\",\"a\"]", "[\"nvidia-smi\",\"-q\",\"-x\"]", "[\"x\"]"];

pub(crate) fn manifest(redacted: bool, version: &str) -> String {
    let secret = corpus::word(99_000);
    format!(
        "{{\"schema\":1,\"linerate\":\"{version}\",\"host\":\"host-0\",\"redacted\":{redacted},\"tried\":[\"**\"],\
         \"unread\":[{{\"path\":\"etc/x\",\"why\":\"password={secret}\"}}],\"problems\":[\"curl -u u:{secret} failed\"]}}"
    )
}

/// A capture of another version.
pub(crate) fn archive_of(sources: &[Source], redacted: bool, version: &str) -> Vec<u8> {
    tar_of(sources, "", Some(&manifest(redacted, version)))
}

pub(crate) fn tar_of(sources: &[Source], prefix: &str, manifest: Option<&str>) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(m) = manifest {
        entry(&mut out, "linerate/manifest.json", m.as_bytes());
    }
    entry(&mut out, &format!("{prefix}sys/bus/pci/devices/x"), b"");
    entry(&mut out, &format!("{prefix}proc/sys/kernel/hostname"), b"gpu-a-17\n");
    for s in sources {
        entry(&mut out, &format!("{prefix}{}", s.path), s.text().as_bytes());
    }
    for (n, argv) in ARGV.iter().enumerate() {
        entry(&mut out, &format!("{prefix}cmd/{n}/argv"), argv.as_bytes());
    }
    out.resize(out.len() + 1024, 0);
    out
}

/// Targets of links.
pub(crate) fn links(from: usize) -> Vec<Planted> {
    let forms = ["https://u:\u{1}@h/x", "../../../devices/password=\u{1}/x", "/x?token=\u{1}", "user:\u{1}@h:/x"];
    let mut out: Vec<Planted> = forms
        .iter()
        .enumerate()
        .map(|(n, form)| {
            let secret = corpus::word(from + n);
            Planted { form: (*form).to_owned(), text: form.replace('\u{1}', &secret), secret }
        })
        .collect();
    let tokens = corpus::tokens(from as u64).into_iter().filter(|t| !t.text.contains('/'));
    out.extend(tokens.map(|t| Planted { text: format!("../../../devices/{}", t.text), ..t }));
    out
}

/// A tar of links where a capture takes links, with nothing behind them.
pub(crate) fn tar_of_links(links: &[Planted]) -> Vec<u8> {
    let mut out = Vec::new();
    entry(&mut out, "linerate/manifest.json", manifest(true, "0.1.0").as_bytes());
    entry(&mut out, "proc/sys/kernel/hostname", b"gpu-a-17\n");
    for (n, link) in links.iter().enumerate() {
        add(&mut out, &format!("sys/bus/pci/devices/0000:{n:02x}:00.0"), &link.text, b"2", &[]);
    }
    out.resize(out.len() + 1024, 0);
    out
}

fn entry(out: &mut Vec<u8>, path: &str, data: &[u8]) {
    add(out, path, "", b"0", data);
}

fn add(out: &mut Vec<u8>, path: &str, target: &str, kind: &[u8], data: &[u8]) {
    let mut h = vec![0_u8; 512];
    let mut put = |at: usize, text: &[u8]| h[at..at + text.len()].copy_from_slice(text);
    put(0, path.as_bytes());
    put(100, b"0000644\0");
    put(124, format!("{:011o}", data.len()).as_bytes());
    put(136, b"00000000000");
    put(148, b"        ");
    put(156, kind);
    put(157, target.as_bytes());
    put(257, b"ustar\x0000");
    let sum: u32 = h.iter().map(|b| u32::from(*b)).sum();
    h[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    out.extend(h);
    out.extend(data);
    out.resize(out.len().next_multiple_of(512), 0);
}
