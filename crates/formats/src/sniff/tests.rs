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
const SHARED: &[(Kind, Kind)] = &[(Kind::Ibstat, Kind::Ping)];

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

/// The marks without their literals: each is asked of every line.
static ASKED: LazyLock<Index> =
    LazyLock::new(|| Index::new(marks().map(|(k, m)| (k, Mark { begins: &[], holds: &[], ..m }))));

/// What a text shows, whether or not marks are asked only where their literals stand.
fn same(kinds: &[Kind], text: &str) -> Option<Kind> {
    let of = |index| Marks { index, kinds, text }.shown("");
    let (asked, filtered) = (of(&ASKED), of(&INDEX));
    assert_eq!(filtered, asked, "{text:?}");
    asked
}

#[test]
fn literals_never_change_an_answer() {
    let samples: Vec<String> =
        Kind::ALL.iter().flat_map(|k| k.tool().samples).map(|s| text::decode(s.as_bytes()).into_owned()).collect();
    let mut windows: Vec<String> = Vec::new();
    for sample in &samples {
        let lines: Vec<&str> = sample.split_inclusive('\n').collect();
        for n in 1..=lines.len() {
            windows.extend(lines.windows(n).map(|w| w.concat()));
        }
    }
    windows.sort_unstable();
    windows.dedup();
    let shown = windows.iter().filter(|w| same(Kind::ALL, w).is_some()).count();
    assert!(shown > samples.len(), "{shown}");
    for window in &windows {
        // As people paste it: quoted, indented with any white space, behind other words, numbered, cut.
        for before in ["> ", "\t", "\u{a0}", "\u{b}", "x ", "12: ", "[1] ", "- ", "Jan "] {
            same(Kind::ALL, &format!("{before}{window}"));
        }
        for at in 1..window.len().min(80) {
            window.split_at_checked(at).into_iter().for_each(|(a, b)| {
                same(Kind::ALL, a);
                same(Kind::ALL, b);
            });
        }
    }
    // Each tool by itself: what another shows first hides nothing.
    for (kind, window) in Kind::ALL.iter().flat_map(|k| windows.iter().map(move |w| (k, w))) {
        same(&[*kind], window);
    }
    // Two texts, one below the other.
    for (one, other) in samples.iter().flat_map(|a| samples.iter().map(move |b| (a, b))) {
        same(Kind::ALL, &format!("{one}\n{other}"));
    }
}

#[test]
fn marks_of_lines_fit_a_set() {
    assert!(INDEX.len() <= index::Set::BITS as usize, "{}: a wider `Set` is needed", INDEX.len());
}
