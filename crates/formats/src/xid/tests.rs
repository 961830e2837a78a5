use super::*;

fn line(text: &str) -> (Xid, Meaning) {
    let xid = read(text.strip_prefix("NVRM: Xid (").unwrap()).unwrap();
    (xid, meaning(xid.number, xid.detail))
}

#[test]
fn the_data_is_whole_and_sorted() {
    let all = entries();
    assert_eq!(all.len(), 176);
    assert!(all.windows(2).all(|w| w[0].number < w[1].number));
    assert!(all.iter().all(|m| !m.name.is_empty() && !m.what.is_empty() && !m.source.is_empty()));
    // Only numbers from nverror.h, and those for which the catalogue has no bucket, are without one.
    let open: Vec<u32> = all.iter().filter(|m| m.immediate == Bucket::None).map(|m| m.number).collect();
    assert_eq!(open, (162..=176).collect::<Vec<u32>>());
}

#[test]
fn buckets_by_number() {
    for (number, bucket, class) in [
        (13, Bucket::RestartApp, Class::App),
        (31, Bucket::RestartApp, Class::App),
        (43, Bucket::Ignore, Class::App),
        (45, Bucket::WorkflowXid45, Class::App),
        (48, Bucket::WorkflowXid48, Class::Memory),
        (63, Bucket::Ignore, Class::Memory),
        (64, Bucket::ResetGpu, Class::Memory),
        (74, Bucket::WorkflowNvlinkErr, Class::Nvlink),
        (79, Bucket::RestartBm, Class::Bus),
        (92, Bucket::Ignore, Class::Memory),
        (94, Bucket::RestartApp, Class::Memory),
        (95, Bucket::ResetGpu, Class::Memory),
        (107, Bucket::Ignore, Class::Test),
        (109, Bucket::ResetGpu, Class::Firmware),
        (119, Bucket::ResetGpu, Class::Firmware),
        (121, Bucket::Ignore, Class::C2c),
        (137, Bucket::Ignore, Class::Nvlink),
        (151, Bucket::RestartVm, Class::Security),
        (154, Bucket::Xid154, Class::Recovery),
        (162, Bucket::None, Class::Power),
        (9999, Bucket::None, Class::Unknown),
    ] {
        let m = meaning(number, Detail::Number);
        assert_eq!((m.immediate, m.class), (bucket, class), "{number}");
    }
}

#[test]
fn lines_with_their_address() {
    for (text, bdf, number) in [
        ("NVRM: Xid (PCI:0000:3a:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", "3a:00.0", 79),
        (
            "NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9). RST: No, D-RST: No",
            "01:00.0",
            94,
        ),
        ("NVRM: Xid (PCI:0000:01:00 GPU-I:05 GPU-CI:00): 13, pid=1, name=a, Graphics SM Warp Exception", "01:00.0", 13),
        ("NVRM: Xid (0000:03:00): 14, Channel 00000001", "03:00.0", 14),
    ] {
        let (xid, _) = line(text);
        assert_eq!((xid.bdf, xid.number, xid.detail), (bdf.parse().ok(), number, Detail::Number), "{text}");
    }
    assert_eq!(read("PCI:x): y"), None);
    assert_eq!(read("PCI:0000:01:00) 13"), None);
}

#[test]
fn the_action_of_154_is_its_own_text() {
    let after = |to: &str| {
        let text = format!(
            "NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x9 ({to})"
        );
        line(&text).0.detail
    };
    for r in [
        Recovery::None,
        Recovery::GpuReset,
        Recovery::NodeReboot,
        Recovery::DrainP2p,
        Recovery::DrainAndReset,
        Recovery::RecoverImex,
    ] {
        assert_eq!(after(r.name()), Detail::Recovery(r));
    }
    assert_eq!(after("Something New"), Detail::Recovery(Recovery::Other));
    assert_eq!(line("NVRM: Xid (PCI:0000:01:00): 154, GPU recovery").0.detail, Detail::Number);
    let (x, _) = line("NVRM: Xid (PCI:0000:01:00): 45, pid=1, name=a, Ch 00000008 caused by previous Xid 31");
    assert_eq!(x.detail, Detail::After(31));
}

#[test]
fn nvlink_rows_by_unit_and_status() {
    for (rest, bucket) in [
        ("145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 12 (0x040988e2 0x00000008 0x00000000)", Bucket::Xid154Eval),
        (
            "145, pid=11436, name=cache_mgr, RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x040868e2 0x00000002 0x0)",
            Bucket::Ignore,
        ),
        ("145, RLW_REMAP Fatal XC0 i0 Link 00 (0x00000004 0x00000040 0x00000000 0x00000000)", Bucket::ResetGpu),
        // Two bits: the worse one counts. A bit that the table lacks leaves it open.
        ("145, RLW_REMAP Fatal XC0 i0 Link 00 (0x00000004 0x00000140 0x00000000 0x00000000)", Bucket::ResetGpu),
        (
            "145, RLW_REMAP Fatal XC0 i0 Link 00 (0x00000004 0x00001140 0x00000000 0x00000000)",
            Bucket::WorkflowNvlink5Err,
        ),
        ("146, TLW_RX_PIPE1 Nonfatal XC0 i0 Link 00 (0x0000000b 0x00000001 0x00000000)", Bucket::Ignore),
        ("149, NETIR_BER_EVENT Nonfatal XC0 i0 Link 01 (0x00082226 0x00000001 0x00000000)", Bucket::Ignore),
        ("149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000 0x00000000)", Bucket::ResetGpu),
        ("149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x028505c6 0x00000000 0x00000000)", Bucket::Ignore),
        ("149, NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x00000000 0x00000000)", Bucket::ResetGpu),
        ("144, SAW_EGR Nonfatal XC0 i0 Link 00 (0x00000004 0x00000001 0x00000000)", Bucket::WorkflowNvlink5Err),
        ("147, something else", Bucket::WorkflowNvlink5Err),
    ] {
        let (xid, m) = line(&format!("NVRM: Xid (PCI:0008:01:00): {rest}"));
        assert_eq!(m.immediate, bucket, "{rest} {:?}", xid.detail);
    }
}
