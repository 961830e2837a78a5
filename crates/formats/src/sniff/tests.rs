use super::*;
use crate::Gives;

fn utf16(text: &str) -> Vec<u8> {
    [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

#[test]
fn short_texts_of_every_kind() {
    for kind in Kind::ALL {
        for text in kind.tool().samples {
            assert_eq!(sniff("", text.as_bytes()), *kind, "{text}");
            assert_eq!(sniff("", &utf16(text)), *kind, "UTF-16 {text}");
        }
    }
    for text in ["1,2\n3,4\n", "", "hello\nworld\n", "{\"a\":1}", "<html>"] {
        assert_eq!(sniff("", text.as_bytes()), Kind::Other, "{text}");
    }
}

/// Samples that hold a sign of another kind as well, by what decides: rank, or that pasted measurements stand aside.
const SHARED: &[(Kind, Kind)] = &[(Kind::Ping, Kind::Dmesg), (Kind::Ibstat, Kind::Ping)];

#[test]
fn a_sample_is_recognised_as_no_other() {
    let mut shared = Vec::new();
    for kind in Kind::ALL {
        for text in kind.tool().samples {
            // A table is what nothing else is.
            for other in Kind::ALL.iter().filter(|o| *o != kind && **o != Kind::Series) {
                if among(&[*other], "", text.as_bytes()) != Kind::Other {
                    shared.push((*kind, *other));
                }
            }
        }
    }
    shared.dedup();
    assert_eq!(shared, SHARED);
}

#[test]
fn every_tool_is_whole() {
    for (n, kind) in Kind::ALL.iter().enumerate() {
        let tool = kind.tool();
        let variant = kind.name().to_ascii_lowercase();
        assert_eq!((tool.name.replace('-', ""), *kind as usize), (variant, n), "{kind:?}");
        assert_eq!(Kind::from_name(kind.name()), Some(*kind));
        assert!(!tool.called.is_empty() && !tool.run.is_empty(), "{kind:?}");
        assert!(!tool.samples.is_empty() || !tool.files.is_empty() || !tool.documents.is_empty(), "{kind:?}");
        assert!(tool.gives != Gives::Unknown || *kind == Kind::Series, "{kind:?}");
    }
}

#[test]
fn times_of_the_kernel_are_no_json_and_modules_no_kernel_log() {
    for text in [
        "nvidia_peermem         16384  0\nib_core  442368  9 rdma_cm,nvidia_peermem\n",
        "nvidia-peermem-ctr:  CrashLoopBackOff\n",
        "nvidia_peermem is not loaded\n",
        "NVRM: is the prefix of the driver's messages\n",
        "AMD-Vi: faults are gone, no IO_PAGE_FAULT\n",
    ] {
        assert_ne!(sniff("", text.as_bytes()), Kind::Dmesg, "{text}");
    }
}

#[test]
fn the_name_decides_only_without_content() {
    assert_eq!(sniff("dmesg.txt", b""), Kind::Dmesg);
    assert_eq!(sniff("a/rdma_topo.json", b"[{\"x\":1}]"), Kind::RdmaTopo);
    for name in ["rdma_topo.json", "x.txt"] {
        for dump in Kind::RdmaTopoDump.tool().samples {
            assert_eq!(sniff(name, dump.as_bytes()), Kind::RdmaTopoDump);
        }
    }
    assert_eq!(sniff("dmesg.txt", b"CA 'mlx5_0'\n"), Kind::Ibstat);
    assert_eq!(sniff("dmesg.json", b"{\"x\":1}"), Kind::Other);
}
