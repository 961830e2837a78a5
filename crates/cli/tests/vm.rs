//! `linerate vm` as it is called: files, exit codes, refusals.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use std::path::{Path, PathBuf};
use std::process::Command;

fn host() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/healthy-8gpu.tar.zst").to_string_lossy().into_owned()
}

/// Its exit code, standard output and standard error.
fn run(dir: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(arguments)
        .current_dir(dir)
        .env_clear()
        .env("HOME", dir)
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

fn dir(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("vm-{name}"));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

#[test]
fn nccls_file_is_the_same_by_every_way() {
    let (dir, host) = (dir("nccl"), host());
    let run = |arguments: &[&str]| run(&dir, arguments);
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
    assert_eq!(run(&["vm", "layout", &host, "-o", "vm.xml", "--nccl", "a.xml"]).0, Some(0));
    let file = read("a.xml");
    let (code, text, said) = run(&["vm", "nccl", &host, "--domain", "vm.xml"]);
    assert_eq!((code, text == file), (Some(0), true), "{said}");
    std::fs::write(dir.join("host.xml"), run(&["topo", &host, "--format", "xml"]).1).unwrap();
    for more in [&[host.as_str()][..], &[]] {
        let all = [&["vm", "nccl", "--dump", "host.xml", "--domain", "vm.xml"], more].concat();
        let (code, text, said) = run(&all);
        assert_eq!((code, text == file), (Some(0), true), "{said}");
    }
    let (code, text, said) = run(&["vm", "nccl", &host, "--domain", "vm.xml", "--check", "a.xml"]);
    assert_eq!((code, text.as_str()), (Some(0), ""), "{said}");
    // The host's own ids are nothing in the guest.
    let (code, _, said) = run(&["vm", "nccl", &host, "--domain", "vm.xml", "--check", "host.xml"]);
    assert!(code == Some(3) && said.contains("0000:18:00.0"), "{said}");
    // Where libvirt chooses an address nothing is predicted.
    let at = "bus='0x05' slot='0x00' function='0x0'/>\n    </hostdev>";
    let domain = read("vm.xml");
    assert!(domain.contains(at));
    std::fs::write(
        dir.join("free.xml"),
        domain.replace(&format!("      <address type='pci' domain='0x0000' {at}"), "    </hostdev>"),
    )
    .unwrap();
    let (code, _, said) = run(&["vm", "nccl", &host, "--domain", "free.xml"]);
    assert!(code == Some(3) && said.contains("virsh dumpxml"), "{said}");
    assert_eq!(run(&["vm", "nccl", &host]).0, Some(3), "neither a domain nor a guest");
}

#[test]
fn forms_and_partitions() {
    let (dir, host) = (dir("forms"), host());
    let run = |arguments: &[&str]| run(&dir, arguments);
    for (form, code) in [("libvirt", 0), ("qemu", 0), ("kubevirt", 2), ("nova", 2)] {
        let (got, text, said) = run(&["vm", "layout", &host, "--format", form]);
        assert_eq!(got, Some(code), "{form}: {said}");
        assert_eq!(said.contains("not written"), form != "libvirt", "{form}: {said}");
        assert!(text.len() > 1000, "{form}");
    }
    let gpu = |module: usize, bus: &str| {
        format!("{{\"physicalId\":{module},\"uuid\":\"\",\"pciBusId\":\"00000000:{bus}:00.0\"}}")
    };
    let buses = ["18", "1A", "3A", "3C", "9A", "9C", "BA", "BC"];
    let all: Vec<String> = buses.iter().enumerate().map(|(n, bus)| gpu(n + 1, bus)).collect();
    let (first, second) = all.split_at(4);
    let list = format!(
        "{{\"numPartitions\":2,\"partitionInfo\":[{{\"partitionId\":1,\"isActive\":0,\"numGpus\":4,\"gpuInfo\":[{}]}},{{\"partitionId\":2,\"isActive\":0,\"numGpus\":4,\"gpuInfo\":[{}]}}]}}",
        first.join(","),
        second.join(",")
    );
    std::fs::write(dir.join("fmpm.json"), list).unwrap();
    let (code, _, said) = run(&["vm", "layout", &host, "--split", "2", "--partitions", "fmpm.json"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, _, said) = run(&["vm", "layout", &host, "--devices", "gpu:0-1+nics", "--partitions", "fmpm.json"]);
    assert!(code == Some(3) && said.contains("2 (0000:9a:00.0"), "{said}");
}
