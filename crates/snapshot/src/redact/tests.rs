use crate::catalogue::Hide;
use crate::redact::Redactor;
use proptest::prelude::*;

fn red(s: &str) -> String {
    let mut r = Redactor::with_key(7);
    r.set_host("gpu-a-17.example.net");
    let mut v = s.as_bytes().to_vec();
    r.text(&mut v);
    String::from_utf8(v).unwrap()
}

fn file(hide: Hide, s: &str) -> String {
    let mut v = s.as_bytes().to_vec();
    Redactor::with_key(7).file(hide, &mut v);
    String::from_utf8(v).unwrap()
}

#[test]
fn identities_go() {
    for s in [
        "Node GUID: 0x946dae0300abcdef",
        "node_guid:\t\t946d:ae03:00ab:cdef",
        "link/ether b8:ce:f6:01:02:03 brd",
        "Capabilities: [148 v1] Device Serial Number 94-6d-ae-03-00-ab-cd-ef",
        "\t\t[SN] Serial number: MT2239X00123",
        "    Serial Number                         : 1652822001234",
        "        <serial>1652822001234</serial>",
        "GPU UUID: GPU-11112222-3333-4444-5555-666677778888",
        "GPU[0]\t\t: Unique ID: 0x8d1457e2c20f59d2",
        "        HIP_UUID: GPU-8d1457e2c20f59d2",
        "        ASIC_SERIAL: 0x8D1457E2C20F59D2",
        "        \"asic_serial\": \"0x8D1457E2C20F59D2\",",
        "ip 8.8.4.4 up",
        "inet6 2a00:1450:4001:81b::200e/64",
        "[1] gpu-a-17 kernel: hello from gpu-a-17.",
    ] {
        assert_ne!(red(s), s, "{s}");
        assert_eq!(red(s), red(s));
    }
    assert!(red("[1] gpu-a-17 kernel").contains("host-"), "{}", red("[1] gpu-a-17 kernel"));
}

#[test]
fn of_a_document_on_one_line_only_the_serials_go() {
    let json = "{\"card0\": {\"Unique ID\": \"0x8d14\", \"Serial Number\":\"69\\\"1\", \"n\": {\"serial\": 12}, \"PCI Bus\": \"0000:1E:00.0\"}, \"card1\": {\"Serial Number\": \"N/A\"}}\n";
    let (once, hidden) = (red(json), |v: &str| v.matches("\"redacted-").count());
    assert_eq!(hidden(&once), 3, "{once}");
    assert!(once.contains("\"PCI Bus\": \"0000:1E:00.0\"}, \"card1\": {\"Serial Number\": \"N/A\"}}\n"), "{once}");
    assert!(!once.contains("0x8d14") && !once.contains("69") && !once.contains(" 12"), "{once}");
    assert_eq!(red(&once), once);
}

#[test]
fn what_rules_read_stays() {
    for s in [
        "0000:41:00.0 Infiniband controller [0207]: Mellanox [15b3:1021]",
        "00: b3 15 21 10 46 05 10 00 00 00 07 02 08 00 80 00",
        "40: 94 6d ae 03 00 ab",
        "\tRegion 0: Memory at 380000000000 (64-bit, prefetchable) [size=32M]",
        "pci 0000:41:00.0: BAR 0 [mem 0x0000380000000000-0x0000380001ffffff 64bit pref]",
        "fw_ver: 28.39.1002",
        "VBIOS Version : 96.00.74.00.01",
        "Driver Version 1.2.3.4",
        "inet 10.1.2.3 192.168.1.1 100.64.3.4 127.0.0.1",
        "port_xmit_data: 18446744073709551615",
        "00000000:03:00.0 bus id",
        "ff:ff:ff:ff:ff:ff 01:00:5e:00:00:01",
        "ACSCtl: SrcValid+ TransBlk- ReqRedir+ CmpltRedir+",
        "AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0012 address=0xfed0000000000000 flags=0x0020]",
        "DMAR: [DMA Write NO_PASID] Request device [41:00.0] fault addr 0xff000000",
        "mlx5_core 0000:41:00.0: firmware version: 28.39.1002",
        "GPU0 PIX 0-47,96-143",
        "std::fmt x::y",
    ] {
        assert_eq!(red(s), s);
    }
}

#[test]
fn joins_hold() {
    let guid = file(Hide::Guid, "946d:ae03:00ab:cdef\n");
    let gid = file(Hide::Gid, "fe80:0000:0000:0000:946d:ae03:00ab:cdef\n");
    assert_eq!(gid, format!("fe80:0000:0000:0000:{guid}"));
    assert_eq!(red("node_guid: 946d:ae03:00ab:cdef\n"), format!("node_guid: {guid}"));
    assert_eq!(red("Node GUID: 0x946dae0300abcdef"), format!("Node GUID: 0x{}", guid.trim().replace(':', "")));
    let ipoib = file(Hide::Mac, "00:00:10:29:fe:80:00:00:00:00:00:00:94:6d:ae:03:00:ab:cd:ef\n");
    assert!(ipoib.replace(':', "").trim().ends_with(&guid.trim().replace(':', "")), "{ipoib} {guid}");
    assert_eq!(file(Hide::Mac, "b8:ce:f6:01:02:03\n").trim(), red("b8:ce:f6:01:02:03"));
    assert!(file(Hide::Mac, "b8:ce:f6:01:02:03\n").starts_with("02:"));
    let host = file(Hide::Host, "gpu-a-17.example.net\n");
    assert!(red("x gpu-a-17 y").contains(host.trim()));
}

#[test]
fn gids_keep_their_structure() {
    assert_eq!(
        file(Hide::Gid, "0000:0000:0000:0000:0000:ffff:0a00:0001\n"),
        "0000:0000:0000:0000:0000:ffff:0a00:0001\n"
    );
    let public = file(Hide::Gid, "0000:0000:0000:0000:0000:ffff:0808:0404\n");
    assert!(public.starts_with("0000:0000:0000:0000:0000:ffff:") && !public.contains("0808:0404"), "{public}");
    let global = file(Hide::Gid, "2a00:1450:4001:081b:0200:5eff:fe00:5301\n");
    assert!(global.starts_with("2001:0db8:") && global.len() == 40, "{global}");
    assert_eq!(file(Hide::Mac, "00:00:00:00:00:00\n"), "00:00:00:00:00:00\n");
}

#[test]
fn serial_number_capability_is_hashed_and_nothing_else() {
    let mut c = vec![0_u8; 4096];
    c[0x100..0x104].copy_from_slice(&(0x0001_u32 | 2 << 16 | 0x148 << 20).to_le_bytes());
    c[0x148..0x14c].copy_from_slice(&(0x0003_u32 | 1 << 16).to_le_bytes());
    c[0x14c..0x154].copy_from_slice(&0x946d_ae03_00ab_cdef_u64.to_le_bytes());
    let before = c.clone();
    Redactor::with_key(7).file(Hide::PciConfig, &mut c);
    assert_ne!(c[0x14c..0x154], before[0x14c..0x154]);
    assert_eq!(c[..0x14c], before[..0x14c]);
    assert_eq!(c[0x154..], before[0x154..]);
    // A list that loops ends.
    c[0x148..0x14c].copy_from_slice(&(0x0001_u32 | 0x148 << 20).to_le_bytes());
    Redactor::with_key(7).file(Hide::PciConfig, &mut c);
}

#[test]
fn another_key_gives_another_hash_and_none_gives_none() {
    let (mut a, mut b) = (b"b8:ce:f6:01:02:03".to_vec(), b"b8:ce:f6:01:02:03".to_vec());
    Redactor::with_key(1).text(&mut a);
    Redactor::with_key(2).text(&mut b);
    assert_ne!(a, b);
    let mut c = b"b8:ce:f6:01:02:03".to_vec();
    Redactor::new(false, None).unwrap().text(&mut c);
    assert_eq!(c, b"b8:ce:f6:01:02:03");
}

proptest! {
    #[test]
    fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let r = Redactor::with_key(3);
        for hide in [Hide::Mac, Hide::Guid, Hide::Gid, Hide::Host, Hide::Serial, Hide::PciConfig, Hide::Vpd, Hide::Text] {
            let mut v = bytes.clone();
            r.file(hide, &mut v);
        }
        crate::redact::secrets::remove(&mut bytes.clone());
    }

    #[test]
    fn bdfs_ids_and_dumps_stay(d in any::<u16>(), b in any::<u8>(), s in 0u8..32, f in 0u8..8, x in any::<[u8; 16]>()) {
        let bdf = format!("{d:04x}:{b:02x}:{s:02x}.{f} [{d:04x}:{d:04x}] rev {b:02x} {b:02x}:{s:02x}.{f}\n");
        prop_assert_eq!(red(&bdf), bdf);
        let dump = format!("{b:02x}: {}\n", x.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" "));
        prop_assert_eq!(red(&dump), dump);
    }
}

#[test]
fn vital_product_data_keeps_what_the_card_is_and_hides_which() {
    fn vpd(serial: &str, uuid: &str) -> Vec<u8> {
        let mut fields = Vec::new();
        for (k, v) in [("PN", "900-1"), ("SN", serial), ("V3", uuid), ("VA", "MLX:SMDL=SW_MNG")] {
            fields.extend(k.bytes().chain([v.len() as u8]).chain(v.bytes()));
        }
        let mut out = vec![0x82, 4, 0, b'C', b'a', b'r', b'd', 0x90, fields.len() as u8, 0];
        out.extend(fields);
        out.push(0x78);
        out
    }
    let redact = |mut v: Vec<u8>| {
        Redactor::with_key(7).file(Hide::Vpd, &mut v);
        v
    };
    let has = |v: &[u8], t: &str| v.windows(t.len()).any(|w| w == t.as_bytes());
    let (one, two) = (redact(vpd("MT2233X00001", "0a1b2c3d4e5f")), redact(vpd("MT2233X00002", "0a1b2c3d4e5f")));
    for v in [&one, &two] {
        assert!(!has(v, "MT2233X") && !has(v, "0a1b2c3d4e5f"));
        assert!(has(v, "SMDL=SW_MNG") && has(v, "Card") && has(v, "900-1"));
    }
    let v3 = |v: &[u8]| v.windows(2).position(|w| w == b"V3").map(|at| v[at + 3..at + 15].to_vec());
    assert_eq!(v3(&one), v3(&two), "functions of one card stay together");
    assert!(v3(&one).is_some() && one != two);
    let whole = vpd("MT2233X00001", "0a1b2c3d4e5f");
    for n in 0..whole.len() {
        assert!(!has(&redact(whole[..n].to_vec()), "MT2233X"), "cut at {n}");
    }
}
