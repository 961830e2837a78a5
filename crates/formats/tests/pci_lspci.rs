//! The text of `lspci`: one small listing in every disguise, and hostile ones.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

use linerate_formats::pci::caps::{AcsBits, Cap, Capabilities, PortType, Spot, Unseen};
use linerate_formats::pci::class::Class;
use linerate_formats::pci::lspci::{self, Device, ParseError, RegionKind, Verbosity, parse};
use linerate_formats::pci::{LinkSpeed, LinkWidth};
use proptest::prelude::*;

/// A downstream port with ACS and a NIC below it, as `lspci -vvv` prints them.
const LISTING: &str = "\
3a:01.0 PCI bridge: Broadcom / LSI Device c030 (rev b0) (prog-if 00 [Normal decode])
\tControl: I/O+ Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR- FastB2B- DisINTx+
\tStatus: Cap+ 66MHz- UDF- FastB2B- ParErr- DEVSEL=fast >TAbort- <TAbort- <MAbort- >SERR- <PERR- INTx-
\tLatency: 0, Cache Line Size: 32 bytes
\tNUMA node: 1
\tIOMMU group: 12
\tBus: primary=3a, secondary=3b, subordinate=3c, sec-latency=0
\tMemory behind bridge: 9a000000-9a1fffff [size=2M]
\tCapabilities: [40] Power Management version 3
\t\tFlags: PMEClk- DSI- D1- D2- AuxCurrent=0mA PME(D0+,D1-,D2-,D3hot+,D3cold-)
\t\tStatus: D0 NoSoftRst+ PME-Enable- DSel=0 DScale=0 PME-
\tCapabilities: [68] Express (v2) Downstream Port (Slot+), MSI 00
\t\tDevCap:\tMaxPayload 512 bytes, PhantFunc 0
\t\t\tExtTag+ RBE+
\t\tDevCtl:\tCorrErr- NonFatalErr- FatalErr- UnsupReq-
\t\t\tRlxdOrd+ ExtTag- PhantFunc- AuxPwr- NoSnoop+
\t\t\tMaxPayload 256 bytes, MaxReadReq 128 bytes
\t\tLnkCap:\tPort #1, Speed 32GT/s, Width x16, ASPM L1, Exit Latency L1 <4us
\t\tLnkCtl:\tASPM L1 Enabled; Disabled- CommClk-
\t\t\tExtSynch- ClockPM- AutWidDis- BWInt- AutBWInt-
\t\tLnkSta:\tSpeed 16GT/s (downgraded), Width x8 (downgraded)
\t\t\tTrErr- Train- SlotClk- DLActive+ BWMgmt+ ABWMgmt-
\t\tSltSta:\tStatus: AttnBtn- PowerFlt- MRL- CmdCplt- PresDet+ Interlock-
\t\tDevCap2: Completion Timeout: Not Supported, TimeoutDis- NROPrPrP- LTR+
\t\t\t 10BitTagComp+ 10BitTagReq- OBFF Via message, ExtFmt- EETLPPrefix-
\t\t\t FRS- ARIFwd+
\t\t\t AtomicOpsCap: Routing+
\t\tDevCtl2: Completion Timeout: 50us to 50ms, TimeoutDis- LTR- 10BitTagReq- OBFF Disabled, ARIFwd+
\t\t\t AtomicOpsCtl: EgressBlck-
\t\tLnkSta2: Current De-emphasis Level: -6dB, EqualizationComplete+ ARIFwd-
\tCapabilities: [100 v1] Access Control Services
\t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl+ DirectTrans+
\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-
\tKernel driver in use: pcieport

3b:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]
\tSubsystem: Mellanox Technologies Device 0041
\tPhysical Slot: 4-1
\tControl: I/O- Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR- FastB2B- DisINTx+
\tStatus: Cap+ 66MHz- UDF- FastB2B- ParErr- DEVSEL=fast >TAbort- <TAbort- <MAbort- >SERR- <PERR- INTx-
\tRegion 0: Memory at 218000000000 (64-bit, prefetchable) [size=32M]
\tRegion 5: I/O ports at e000 [disabled] [size=256]
\tExpansion ROM at 9a000000 [disabled] [size=1M]
\tCapabilities: [60] Express (v2) Endpoint, MSI 00
\t\tLnkSta:\tSpeed unknown, Width x0
\tCapabilities: [150 v1] Alternative Routing-ID Interpretation (ARI)
\t\tARICap:\tMFVC- ACS-, Next Function: 1
\t\tARICtl:\tMFVC- ACS-, Function Group: 0
\tCapabilities: [180 v1] Single Root I/O Virtualization (SR-IOV)
\t\tIOVCap:\tMigration-, Interrupt Message Number: 000
\t\tIOVCtl:\tEnable+ Migration- Interrupt- MSE+ ARIHierarchy+
\t\tIOVSta:\tMigration-
\t\tInitial VFs: 16, Total VFs: 16, Number of VFs: 2, Function Dependency Link: 00
\t\tVF offset: 1, stride: 1, Device ID: 101e
\t\tRegion 0: Memory at 0000218002000000 (64-bit, prefetchable)
\tCapabilities: [200 v1] Address Translation Service (ATS)
\t\tATSCap:\tInvalidate Queue Depth: 00
\t\tATSCtl:\tEnable+, Smallest Translation Unit: 03
\tCapabilities: [210 v1] Virtual Resizable BAR
\t\tBAR 1: current size: 4GB, supported: 64MB 128MB
\tCapabilities: [220 v1] Physical Resizable BAR
\t\tBAR 0: current size: 32MB, supported: 1MB 32MB 1GB 2TB
\tKernel driver in use: mlx5_core
\tKernel modules: mlx5_core, mlx5_ib

";

fn one(text: &str) -> Device {
    parse(text.as_bytes()).unwrap().remove(0)
}

/// Everything but the line numbers, which a disguise may move.
fn facts(devices: &[Device]) -> Vec<String> {
    let facts = |d: &Device| {
        let mut d = d.clone();
        (d.line, d.numa_node_line, d.iommu_group_line, d.driver_line) = (0, 0, 0, 0);
        d.regions.iter_mut().for_each(|r| r.line = 0);
        let express =
            d.caps.express.get().map(|e| linerate_formats::pci::caps::Express { lines: Default::default(), ..*e });
        let acs = d.caps.acs.get().map(|a| (a.capability, a.control));
        (d.caps.express, d.caps.acs) = (Cap::NotLooked, Cap::NotLooked);
        let Capabilities { ats, sriov, ari, rebar, aer, .. } = std::mem::take(&mut d.caps);
        format!("{d:?} {express:?} {acs:?} {:?} {:?} {:?} {:?} {aer:?}", ats.get(), sriov.get(), ari.get(), rebar.get())
    };
    devices.iter().map(facts).collect()
}

#[test]
fn everything_a_listing_shows_is_read() {
    let devices = parse(LISTING.as_bytes()).unwrap();
    let [port, nic] = &devices[..] else { panic!("{}", devices.len()) };
    assert_eq!((port.bdf.to_string().as_str(), port.has_domain, port.line), ("0000:3a:01.0", false, 1));
    assert_eq!((port.class, port.class_name.as_str(), port.prog_if), (Some(Class(0x060400)), "PCI bridge", Some(0)));
    assert_eq!((port.vendor, port.device, port.revision), (Some(0x1000), Some(0xc030), Some(0xb0)));
    assert_eq!(port.name, "Broadcom / LSI Device c030");
    assert_eq!(
        (port.numa_node, port.numa_node_line, port.iommu_group, port.iommu_group_line),
        (Some(1), 5, Some(12), 6)
    );
    assert_eq!((port.bus, port.driver.as_deref(), port.driver_line), (Some((0x3a, 0x3b, 0x3c)), Some("pcieport"), 34));
    assert_eq!((port.verbosity, port.regions.len()), (Verbosity::VeryVerbose, 0));

    let Cap::Present(e, spot) = port.caps.express else { panic!() };
    assert_eq!((e.port_type, spot), (Some(PortType::DownstreamPort), Spot::Line(12)));
    assert_eq!((e.max_payload_supported, e.max_payload, e.max_read_request), (Some(512), Some(256), Some(128)));
    assert_eq!((e.extended_tag_supported, e.extended_tag), (Some(true), Some(false)));
    assert_eq!((e.relaxed_ordering, e.no_snoop), (Some(true), Some(true)));
    assert_eq!((e.link_cap_speed, e.link_cap_width), (Some(LinkSpeed::Gen5), Some(LinkWidth(16))));
    assert_eq!((e.link_speed, e.link_width), (Some(LinkSpeed::Gen4), Some(LinkWidth(8))));
    assert_eq!((e.aspm_enabled, e.aspm_l1), (Some(true), Some(true)));
    assert_eq!((e.ten_bit_tag_completer, e.ten_bit_tag_requester), (Some(true), Some(false)));
    assert_eq!(
        (e.ten_bit_tag_enabled, e.ari_forwarding_supported, e.ari_forwarding),
        (Some(false), Some(true), Some(true))
    );
    let l = e.lines;
    assert_eq!((l.devcap, l.devctl, l.maxpayload, l.lnkcap, l.lnkctl), (13, 16, 17, 18, 19));
    assert_eq!((l.lnksta, l.devcap2, l.devctl2), (21, 24, 28));
    let Cap::Present(acs, spot) = port.caps.acs else { panic!() };
    assert_eq!((acs.control_line, spot), (33, Spot::Line(33)));
    assert_eq!((acs.capability, acs.control), (Some(AcsBits(0x7f)), Some(AcsBits(0x1d))));
    assert_eq!((port.caps.ats, port.caps.aer), (Cap::NotPresent, Cap::NotPresent));

    assert_eq!((nic.vendor, nic.device, nic.class.map(Class::sub)), (Some(0x15b3), None, Some(0x0207)));
    assert_eq!((nic.subsystem_vendor, nic.subsystem_device), (Some(0x15b3), Some(0x41)));
    assert_eq!(
        (nic.physical_slot.as_deref(), &nic.modules[..]),
        (Some("4-1"), &["mlx5_core".into(), "mlx5_ib".into()][..])
    );
    let r = &nic.regions;
    assert_eq!(r.len(), 2, "the BARs of virtual functions are not among them");
    assert_eq!(
        (r[0].address, r[0].size_bytes, r[0].is_64bit, r[0].prefetchable),
        (Some(0x2180 << 32), Some(32 << 20), true, true)
    );
    assert_eq!((r[1].index, r[1].kind, r[1].size_bytes, r[1].disabled), (Some(5), RegionKind::Io, Some(256), true));
    let e = nic.caps.express.get().unwrap();
    assert_eq!((e.link_speed, e.link_width, e.max_payload), (None, Some(LinkWidth(0)), None));
    let s = nic.caps.sriov.get().unwrap();
    assert_eq!(
        (s.enabled, s.total_vfs, s.num_vfs, s.first_vf_offset, s.vf_stride),
        (Some(true), Some(16), Some(2), Some(1), Some(1))
    );
    let ats = nic.caps.ats.get().unwrap();
    assert_eq!(
        (ats.enabled, ats.invalidate_queue_depth, ats.smallest_translation_unit),
        (Some(true), Some(32), Some(3))
    );
    assert_eq!(nic.caps.ari.get().unwrap().next_function, Some(1));
    let bars = nic.caps.rebar.get().unwrap().bars;
    assert_eq!(
        bars[0].map(|b| (b.bar, b.current_mib_log2, b.supported_mib_log2)),
        Some((0, 5, 1 | 1 << 5 | 1 << 10 | 1 << 21))
    );
    assert_eq!((bars[1], nic.caps.acs), (None, Cap::NotPresent));
}

#[test]
fn disguises_change_nothing() {
    let plain = facts(&parse(LISTING.as_bytes()).unwrap());
    let colour = LISTING.replace("ACSCtl", "\x1b[01;31m\x1b[KACSCtl\x1b[m\x1b[K");
    let quoted: String = LISTING.lines().map(|l| format!("> {l}\n")).collect();
    let mut latin = LISTING.as_bytes().to_vec();
    latin.splice(0..0, *b"M\xfcnchen:\n");
    let disguises: [(&str, Vec<u8>); 9] = [
        ("CRLF", LISTING.replace('\n', "\r\n").into()),
        ("spaces", LISTING.replace('\t', "        ").into()),
        ("no indentation", LISTING.replace("\n\t\t\t", "\n").replace("\n\t\t", "\n").replace("\n\t", "\n").into()),
        ("indented", LISTING.replace('\n', "\n      ").into()),
        ("colours", colour.into()),
        ("quoted", quoted.into()),
        ("not UTF-8", latin),
        (
            "prompts",
            format!("admin@node7:~$ sudo lspci -vvv\n{LISTING}admin@node7:~$ echo Width: x1\nDevice: no\n").into(),
        ),
        ("twice", format!("{LISTING}{LISTING}").into()),
    ];
    for (name, bytes) in disguises {
        let devices = parse(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(facts(&devices), plain, "{name}");
    }
    // No empty lines: the next device ends a block; the driver's lines end the last.
    let dense = parse(LISTING.replace("\n\n", "\n").as_bytes()).unwrap();
    assert_eq!(facts(&dense), plain);
}

#[test]
fn every_form_of_the_first_line() {
    // Text, class, vendor, device, revision.
    type Row = (&'static str, u32, Option<u16>, Option<u16>, Option<u8>);
    let table: [Row; 13] = [
        (
            "00:01.0 PCI bridge [0604]: Foo Bar [1b36:000c] (rev 01) (prog-if 01 [Subtractive])",
            0x060401,
            Some(0x1b36),
            Some(0xc),
            Some(1),
        ),
        ("0000:00:01.0 0604: 10b5:9716 (rev aa)", 0x060400, Some(0x10b5), Some(0x9716), Some(0xaa)),
        ("00:01.0 Class 0604: Device 10b5:9716", 0x060400, Some(0x10b5), Some(0x9716), None),
        (
            "00:01.0 Generic system peripheral [0807]: Intel Corporation Device 0b23",
            0x080700,
            Some(0x8086),
            Some(0xb23),
            None,
        ),
        (
            "00:01.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)",
            0x030200,
            Some(0x10de),
            Some(0x2330),
            Some(0xa1),
        ),
        ("00:01.0 Ethernet controller: Red Hat, Inc Virtio network device", 0x020000, Some(0x1af4), None, None),
        ("00:01.0 PCI bridge: Red Hat, Inc. QEMU PCIe Root port", 0x060400, Some(0x1b36), None, None),
        (
            "00:01.0 USB Controller: nVidia Corporation CK804 USB Controller (rev a3)",
            0x0c0300,
            Some(0x10de),
            None,
            Some(0xa3),
        ),
        (
            "00:01.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Fiji",
            0x030000,
            Some(0x1002),
            None,
            None,
        ),
        (
            "00:01.0 Host bridge: Advanced Micro Devices, Inc. [AMD] Device 14d8",
            0x060000,
            Some(0x1022),
            Some(0x14d8),
            None,
        ),
        (
            "00:01.0 \"3D controller [0302]\" \"NVIDIA Corporation [10de]\" \"A \\\"B\\\" [20b2]\" -ra1 -p00 \"\" \"\"",
            0x030200,
            Some(0x10de),
            Some(0x20b2),
            Some(0xa1),
        ),
        ("00:01.0 \"0302\" \"10de\" \"20b2\" -ra1 \"10de\" \"1463\"", 0x030200, Some(0x10de), Some(0x20b2), Some(0xa1)),
        (
            "Slot:\t00:01.0\nClass:\tPCI bridge [0604]\nVendor:\tIntel Corporation [8086]\nDevice:\t440BX [7191]\nRev:\t01\nProgIf:\t01\n",
            0x060401,
            Some(0x8086),
            Some(0x7191),
            Some(1),
        ),
    ];
    for (text, class, vendor, device, revision) in table {
        let d = one(&format!("{text}\n"));
        assert_eq!((d.class, d.vendor, d.device, d.revision), (Some(Class(class)), vendor, device, revision), "{text}");
        assert_eq!(d.bdf.to_string(), "0000:00:01.0");
        assert_eq!(d.caps, Capabilities::unseen(Unseen::NotPrinted), "{text}");
        assert_eq!(d.verbosity, Verbosity::Names);
        assert!(!d.class_name.is_empty() && !d.name.is_empty(), "{text}");
    }
    assert_eq!(one("00:01.0 \"a\" \"b\" \"A \\\"B\\\" [20b2]\"\n").name, "b A \"B\"");
    assert_eq!(one("00:01.0/41:00.0 Bridge: x\n").bdf.to_string(), "0000:41:00.0");
    let k =
        one("00:01.0 Bridge: x\n\tSubsystem: 10de:16c1\n\tKernel driver in use: nvidia\n\tKernel modules: nvidia\n");
    assert_eq!((k.driver.as_deref(), k.subsystem_device), (Some("nvidia"), Some(0x16c1)));
    assert_eq!(k.caps.acs, Cap::Unseen(Unseen::NotPrinted));
}

#[test]
fn v_lists_names_and_denied_lists_are_unseen() {
    let v = one(concat!(
        "41:00.0 3D controller: NVIDIA Corporation Device 2330\n",
        "\tFlags: bus master, fast devsel, latency 0, IRQ 16, NUMA node 1, IOMMU group 7\n",
        "\tMemory at 210000000000 (64-bit, prefetchable) [size=128G]\n",
        "\tCapabilities: [60] Express Endpoint, MSI 00\n\tCapabilities: [100] Access Control Services\n\tKernel driver in use: nvidia\n\n"
    ));
    assert_eq!((v.verbosity, v.numa_node, v.iommu_group), (Verbosity::Verbose, Some(1), Some(7)));
    assert_eq!((v.regions[0].index, v.regions[0].size_bytes), (None, Some(128 << 30)));
    assert_eq!(v.caps.acs.get().map(|a| (a.capability, a.control)), Some((None, None)));
    assert_eq!(v.caps.express.get().and_then(|e| e.port_type), Some(PortType::Endpoint));
    assert_eq!(v.caps.ats, Cap::NotPresent);

    let head = LISTING.split("\tCapabilities").next().unwrap();
    let denied = one(&format!("{head}\tCapabilities: <access denied>\n\tKernel driver in use: pcieport\n\n"));
    assert_eq!(denied.caps, Capabilities::unseen(Unseen::AccessDenied));
    assert_eq!(denied.driver.as_deref(), Some("pcieport"));
    let conventional = one(&format!("{}\n", head.replace("Cap+", "Cap-")));
    assert_eq!(conventional.caps.acs, Cap::NotPresent);
    let unlisted = one(&format!("{head}\n"));
    assert_eq!(unlisted.caps, Capabilities::unseen(Unseen::NotPrinted));
    let looped = one(&format!("{head}\tCapabilities: [40] <chain looped>\n\n"));
    assert_eq!(looped.caps, Capabilities::unseen(Unseen::Malformed));
    let gone = one(
        "41:00.0 3D controller: NVIDIA Corporation Device 2330 (rev ff) (prog-if ff)\n\t!!! Unknown header type 7f\n\n",
    );
    assert_eq!((gone.revision, gone.unknown_header_line), (Some(0xff), Some(2)));
    assert_eq!(gone.caps, Capabilities::unseen(Unseen::Malformed));
}

#[test]
fn filtered_and_shortened_listings_claim_no_absence() {
    let keep = |words: &[&str]| -> Vec<Device> {
        let kept: String =
            LISTING.lines().filter(|l| words.iter().any(|w| l.contains(w))).map(|l| format!("{l}\n")).collect();
        parse(kept.as_bytes()).unwrap()
    };
    let grep = keep(&["PCI bridge", "controller", "ACSCtl", "LnkSta:"]);
    assert_eq!(grep[0].caps.acs.get().and_then(|a| a.control), Some(AcsBits(0x1d)));
    assert_eq!(grep[0].caps.express.get().and_then(|e| e.link_width), Some(LinkWidth(8)));
    assert!(matches!(grep[1].caps.acs, Cap::Unseen(_)));
    let grep = keep(&["PCI bridge", "Infiniband", "Express"]);
    assert_eq!(grep[0].caps.acs, Cap::Unseen(Unseen::NotPrinted));
    let snipped = one(&LISTING.replace("\tCapabilities: [100 v1] Access", "\t[...]\n\tCapabilities: [100 v1] Other"));
    assert_eq!(snipped.caps.ats, Cap::Unseen(Unseen::Malformed));
    // A dump that was cut and another one behind it, without an empty line between.
    let cut = LISTING.split("\tCapabilities: [100").next().unwrap();
    assert_eq!(one(&format!("{cut}00:00.0 Host bridge: x\n")).caps.acs, Cap::Unseen(Unseen::Malformed));
}

#[test]
fn a_cut_shows_less_and_never_something_else() {
    let whole = parse(LISTING.as_bytes()).unwrap();
    for cut in 0..LISTING.len() {
        let Ok(devices) = parse(&LISTING.as_bytes()[..cut]) else { continue };
        for (got, want) in devices.iter().zip(&whole) {
            let less =
                |got: String, want: String| assert!(got == "None" || got == want, "cut at {cut}: {got} for {want}");
            macro_rules! less {
                ($cap:ident: $($field:ident)*) => {
                    if let (Some(g), Some(w)) = (got.caps.$cap.get(), want.caps.$cap.get()) {
                        $(less(format!("{:?}", g.$field), format!("{:?}", w.$field));)*
                    }
                    assert!(got.caps.$cap != Cap::NotPresent || want.caps.$cap == Cap::NotPresent, "cut at {cut}");
                };
            }
            less!(express: port_type max_payload max_read_request link_cap_speed link_cap_width link_speed link_width
                  aspm_enabled ten_bit_tag_requester ari_forwarding);
            less!(acs: capability control);
            less!(sriov: enabled total_vfs num_vfs first_vf_offset vf_stride);
            less!(ats: enabled smallest_translation_unit);
            less!(ari: next_function);
            less(format!("{:?}", got.numa_node), format!("{:?}", want.numa_node));
            less(format!("{:?}", got.iommu_group), format!("{:?}", want.iommu_group));
            less(format!("{:?}", got.revision), format!("{:?}", want.revision));
        }
    }
}

#[test]
fn hex_dumps_fill_what_the_text_left_out() {
    // Express at 0x40 (upstream port, Gen4 x16 link), nothing extended in 256 bytes.
    let mut space = [0u8; 256];
    for (at, v) in [(0, 0x00), (1, 0x10), (2, 0x30), (3, 0xc0), (6, 0x10), (8, 0xb0), (0xa, 0x04), (0xb, 0x06)] {
        space[at] = v;
    }
    for (at, v) in [(0xe, 1), (0x18, 0x3a), (0x19, 0x3b), (0x1a, 0x3c), (0x34, 0x40), (0x40, 0x10), (0x42, 0x52)] {
        space[at] = v;
    }
    (space[0x52], space[0x53]) = (0x04, 0x01);
    let dump = |lines: usize| -> String {
        let rows = space.chunks(16).take(lines).enumerate();
        rows.map(|(i, row)| format!("{:02x}:{}\n", i * 16, row.iter().map(|b| format!(" {b:02x}")).collect::<String>()))
            .collect()
    };
    let d = one(&format!("3a:00.0 PCI bridge: Some Vendor Thing\n{}\n", dump(16)));
    assert_eq!(d.config.as_deref(), Some(&space[..]));
    assert_eq!(
        (d.vendor, d.device, d.revision, d.bus),
        (Some(0x1000), Some(0xc030), Some(0xb0), Some((0x3a, 0x3b, 0x3c)))
    );
    let e = d.caps.express.get().unwrap();
    assert_eq!(
        (e.port_type, e.link_speed, e.link_width),
        (Some(PortType::UpstreamPort), Some(LinkSpeed::Gen4), Some(LinkWidth(16)))
    );
    assert_eq!(d.caps.acs, Cap::Unseen(Unseen::Cut(256)));
    let short = one(&format!("3a:00.0 PCI bridge: Some Vendor Thing\n{}\n", dump(4)));
    assert_eq!(short.caps, Capabilities::unseen(Unseen::Cut(64)));
    // A row is missing: what follows the gap has no place.
    let gap = dump(16).replace(&dump(9)[dump(8).len()..], "");
    assert_eq!(one(&format!("3a:00.0 PCI bridge: x\n{gap}\n")).config.map(|c| c.len()), Some(128));
    // The text wins where it shows a capability.
    let both = one(&LISTING.replacen("pcieport\n", &format!("pcieport\n{}", dump(16)), 1));
    assert_eq!(both.caps.express.get().and_then(|e| e.link_width), Some(LinkWidth(8)));
    assert_eq!((both.caps.ats, both.config.is_some()), (Cap::NotPresent, true));
}

#[test]
fn two_listings_of_one_machine_are_joined() {
    let numbers = "0000:3b:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 [15b3:1021]\n";
    for text in [format!("{numbers}\n{LISTING}"), format!("{LISTING}{numbers}")] {
        let devices = parse(text.as_bytes()).unwrap();
        assert_eq!(devices.len(), 2);
        let nic = devices.iter().find(|d| d.bdf.bus == 0x3b).unwrap();
        assert_eq!((nic.device, nic.has_domain, nic.verbosity), (Some(0x1021), true, Verbosity::VeryVerbose));
        assert!(nic.caps.ats.get().is_some());
        assert_eq!(nic.driver.as_deref(), Some("mlx5_core"));
    }
}

#[test]
fn texts_without_devices_say_why() {
    assert_eq!(parse(b""), Err(ParseError::Empty));
    assert_eq!(parse(b"\n \r\n"), Err(ParseError::Empty));
    assert_eq!(parse(b"\nhello\n"), Err(ParseError::NoDevice { line: 2 }));
    let failed = parse(b"$ lspci\nbash: lspci: command not found\n").unwrap_err();
    assert!(matches!(failed, ParseError::ToolFailed { line: 2, .. }), "{failed}");
    for prose in ["0000:41:00.0: link is down", "12:30.5 o'clock: tea", "GPU 00000000:41:00.0"] {
        assert!(lspci::parse(prose.as_bytes()).is_err(), "{prose}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_parse_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let _ = parse(&bytes);
    }

    /// Lines of a real shape in any order, with holes and foreign bytes.
    #[test]
    fn shuffled_and_damaged_listings_parse_without_panic(
        order in proptest::collection::vec(0usize..80, 0..120),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
    ) {
        let lines: Vec<&str> = LISTING.lines().collect();
        let mut bytes: Vec<u8> = order.iter().flat_map(|i| format!("{}\n", lines[i % lines.len()]).into_bytes()).collect();
        for (at, byte) in damage {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        if let Ok(devices) = parse(&bytes) {
            for d in devices {
                prop_assert!(d.line > 0 && d.regions.len() <= 16);
                prop_assert_ne!(d.caps.acs, Cap::NotLooked);
            }
        }
    }
}
