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

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn lines_stay(text in "([ -~\n]{0,12}|password[=: ]{1,2}|https?://|token|@|\"|\\\\|\\{|--pass |bearer |<secret>|-----BEGIN PRIVATE KEY-----){0,30}") {
        let once = cleaned(&text);
        prop_assert_eq!(once.matches('\n').count(), text.matches('\n').count());
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
        let (once, twice) = (took(&text(64 << 10)), took(&text(256 << 10)));
        assert!(twice < once * 8.0 + 0.05, "{piece:?}: {once:.4} s, and {twice:.4} s for four times as much");
        assert!(twice < 2.0, "{piece:?}: {twice:.3} s for 256 KiB");
    }
}
