use super::*;
use proptest::prelude::*;

fn cleaned(s: &str) -> String {
    let mut v = s.as_bytes().to_vec();
    remove(&mut v);
    String::from_utf8(v).unwrap()
}

#[test]
fn values_go_and_the_rest_stays() {
    for (from, to) in [
        ("ro rd.luks.password=hunter2 iommu=pt", "ro rd.luks.password=[redacted] iommu=pt"),
        ("{\"api_token\": \"abc def\"}", "{\"api_token\": \"[redacted]\"}"),
        ("<graphics type='vnc' passwd='x y'/>", "<graphics type='vnc' passwd='[redacted]'/>"),
        ("IPMI Password: s3x cret", "IPMI Password: [redacted] cret"),
        ("get http://u:p@h/x now", "get http://[redacted]@h/x now"),
        ("get https://h/x?a=b now", "get https://h/x?[redacted] now"),
        ("run --token abc --x", "run --token [redacted] --x"),
        ("a u:p@h b", "a [redacted]@h b"),
    ] {
        assert_eq!(cleaned(from), to);
        assert_eq!(cleaned(to), to, "twice is once");
    }
    let key = ["-----BEGIN RSA PRIVATE", " KEY-----\nMIIE\n-----END RSA PRIVATE", " KEY-----"].concat();
    assert_eq!(cleaned(&format!("a\n{key}\nb\n")), "a\n[redacted]\n\n\nb\n", "lines stay where they are");
    let id = ["AK", "IAIOSFODNN7EXAMPLE"].concat();
    assert_eq!(cleaned(&format!("key {id} ok")), "key [redacted] ok");
}

#[test]
fn harmless_text_is_untouched() {
    for s in [
        "secretmem=y",
        "[V3] Vendor specific: 74173d198917ef1180009c63c0d420f0",
        "microcode: CPU0 sig=0x306e4, pf=0x1 apic1=0 pin1=2",
        "    GPU UUID : GPU-4e65de01-972e-93cf-b077-181a5378972a",
        "tokens_used 5",
        "BOOT_IMAGE=/vmlinuz root=/dev/sda1",
        "0000:41:00.0 mlx5_core: link up",
        "pci=config_acs=xx000x0@0000:02:00.0;xx000x0@pci:1000:c030",
        "Linux version 6.8.0-60-generic (buildd@lcy02-amd64-080) (x86_64-linux-gnu-gcc-13 (Ubuntu 13.3.0) 13.3.0)",
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-11112222-3333-4444-5555-666677778888)",
        "[    0.5] pci 0000:41:00.0: BAR 0 [mem 0x0000380000000000-0x0000380001ffffff 64bit pref]",
        "iqn.2009-06.example:disk eth0@if5: <UP>",
        "password authentication failed",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024",
        "srcversion:     533BB7E5866E52F63B9ACCB",
        "see https://docs.kernel.org/PCI/acpi-info.html",
        "srun -u -p gpu ./job",
        "journalctl -u nvidia-persistenced -p err",
        "docker run -u 1000 -p 8080:80 image",
        "ib_write_bw -u 14 -p 18515",
        "token expired",
        "password required",
        "password is required",
        "error: the password is not set",
        "passwd is not a snapshot",
        "Basic authentication is used",
        "echo 1 | tee /sys/x",
        "mlx5_core: mkey 0x1a2b3c4d",
        "user=%u",
        "- name: NCCL_DEBUG\n  value: INFO",
        "[\"password\", \"user\", \"x\"]",
        "PASS all_reduce_perf",
    ] {
        assert_eq!(cleaned(s), s);
    }
}

/// Paths of composed nodes, of the catalogue, and of machines that are not composed: none of them is a token.
#[test]
fn paths_are_no_tokens() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut dirs = vec![root.join("lab/nodes")];
    let mut texts = vec![std::fs::read_to_string(root.join("crates/snapshot/catalogue.txt")).unwrap()];
    while let Some(dir) = dirs.pop() {
        for path in std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()) {
            if path.is_dir() {
                dirs.push(path);
            } else {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let apart = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',');
    let words = texts.iter().flat_map(|t| t.split(apart)).filter(|w| w.contains('/') && !w.contains("://"));
    let plain = |w: &&str| w.chars().all(|c| c.is_ascii_alphanumeric() || "/_-.+~:".contains(c));
    let mut paths: Vec<String> = words.filter(plain).map(|w| format!("/{}", w.trim_start_matches('/'))).collect();
    assert!(paths.len() > 300, "{}", paths.len());
    let others = [
        "/usr/lib/x86_64-linux-gnu/libnccl-net-AWS_OFI_2024_Release",
        "/dev/disk/by-id/nvme-SAMSUNG_MZQL23T8HCLS-00A07_S64HNE0R123456",
        "/dev/disk/by-id/nvme-Micron_7450_MTFDKCC3T8TFR_22463A1B2C3D",
        "/dev/disk/by-id/wwn-0x5002538e40a1b2c3-part1",
        "/lib/modules/6-8-0-60-generic/kernel/drivers/net/ethernet/mellanox/mlx5/core/mlx5_core",
        "/opt/nvidia/nsight-systems/2024/target-linux-x64/CudaInjection64",
        "/srv/jenkins/workspace/NCCL_Build_CUDA12_Ubuntu2204_x86_64/nccl-tests/build/all_reduce_perf",
        "/nfs/Users/JSmith2/Projects/LLaMA3-70B/Checkpoints/Step_0012000/Optimizer_State_Rank_007",
        "/workspace/Megatron-LM/Experiments/GPT3-175B-TP8-PP16/Run_2024-11-26_A100/Logs",
        "/var/lib/kubelet/pods/0a1b2c3d-0011-2233-4455-66778899aabb/volumes/Data_A1",
        "/sys/firmware/efi/efivars/Boot0001-8be4df61-93ca-11d2-aa0d-00e098032b8c",
    ];
    paths.extend(others.map(str::to_owned));
    for path in paths {
        for text in [path.clone(), format!("x {path} y"), format!("open {path}: no such file")] {
            assert_eq!(cleaned(&text), text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn lines_stay(text in "([ -~\n]{0,12}|password[=: ]{1,2}|https?://|token|@|\"|\\\\|\\{|--pass |bearer |<secret>|-----BEGIN PRIVATE KEY-----){0,30}") {
        let once = cleaned(&text);
        prop_assert_eq!(once.matches('\n').count(), text.matches('\n').count());
    }

    /// Behind the name of a secret all of a value goes, whatever it looks like.
    #[test]
    fn base64_behind_a_name_goes(body in "[A-Za-z0-9+/]{31,86}", sign in prop::sample::select(vec!["=", ": ", "=\"", "\": \""])) {
        for name in ["api_key", "PASSWORD", "wandb_token", "clientSecret"] {
            let text = format!("{name}{sign}/{body}\n");
            let gone = cleaned(&text);
            prop_assert!(!gone.contains(&body) && gone.contains("[redacted]"), "{text} {gone}");
        }
    }

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        remove(&mut bytes.clone());
    }
}

/// Twice the text takes about twice the time, whatever it is made of.
#[test]
fn time_is_linear() {
    let took = |text: &str| {
        let clock = || rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let at = |t: rustix::time::Timespec| t.tv_sec as f64 + t.tv_nsec as f64 / 1e9;
        let start = at(clock());
        remove(&mut text.as_bytes().to_vec());
        at(clock()) - start
    };
    let quotes = "\"\"\"";
    for piece in [
        "a:",
        "a=",
        "@",
        "a:b@",
        "://",
        "a://b@",
        "a://?",
        "password=",
        "password: ",
        "password:\n",
        "password:\n  a\n",
        "secrets: {",
        "secrets: [",
        "-p ",
        " -p a",
        " --password ",
        "<password>",
        "<password ",
        "bearer ",
        "password a ",
        "$6$",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
        quotes,
        "token='",
        "token=\"\\",
        "Aa0",
        "aA0_",
        "a/",
        "0123456789abcdef",
        "eyJ",
        "ghp_",
        "sk-",
        "authorization: ",
        "\\\"",
        "[redacted]",
        " -u a:",
    ] {
        let text = |n: usize| piece.repeat(n / piece.len());
        // Of three: another program may have the caches at the same time. A quadratic one takes 16 times as long.
        let least = |n: usize| (0..3).map(|_| took(&text(n))).fold(f64::INFINITY, f64::min);
        let (once, four) = (least(32 << 10), least(128 << 10));
        assert!(four < once * 8.0 + 0.05, "{piece:?}: {once:.4} s, and {four:.4} s for four times as much");
    }
}
