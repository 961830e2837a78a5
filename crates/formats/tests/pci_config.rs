//! Binary configuration space: own fixtures, hostile input, and real spaces where they are at hand.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

use linerate_formats::pci::caps::{AcsBits, Cap, Capabilities, PortType, Spot, Unseen};
use linerate_formats::pci::class::Class;
use linerate_formats::pci::config::{ConfigSpace, Extent, Layout};
use linerate_formats::pci::{LinkSpeed, LinkWidth};
use proptest::prelude::*;

/// A space that is written register by register.
struct Space(Vec<u8>);

impl Space {
    fn new(len: usize) -> Self {
        Self(vec![0; len])
    }
    fn w16(mut self, at: usize, v: u16) -> Self {
        self.0[at..at + 2].copy_from_slice(&v.to_le_bytes());
        self
    }
    fn w32(mut self, at: usize, v: u32) -> Self {
        self.0[at..at + 4].copy_from_slice(&v.to_le_bytes());
        self
    }
    fn capabilities(&self) -> Capabilities {
        ConfigSpace::new(&self.0).capabilities()
    }
}

/// A Gen5 x16 switch port (downstream): power management at 0x40, Express v2 at 0x60, then AER, ACS, ATS, ARI, SR-IOV and
/// resizable BARs.
fn port() -> Space {
    Space::new(4096)
        .w32(0x00, 0xc030_1000)
        .w16(0x04, 0x0107)
        .w16(0x06, 0x0010)
        .w32(0x08, 0x0604_00b0)
        .w32(0x0c, 0x0081_0000)
        .w32(0x18, 0x001c_1716)
        .w16(0x34, 0x0040)
        .w32(0x40, 0x0003_6001)
        .w16(0x60, 0x0010)
        .w16(0x62, 0x0162)
        .w32(0x64, 0x0000_8024)
        .w16(0x68, 0x5930)
        .w32(0x6c, 0x0000_0505)
        .w16(0x70, 0x0002)
        .w16(0x72, 0x0083)
        .w32(0x84, 0x0003_0020)
        .w16(0x88, 0x1020)
        .w32(0x100, 0x1502_0001)
        .w32(0x104, 0x0010_0000)
        .w32(0x110, 0x0000_0041)
        .w32(0x150, 0x1601_000d)
        .w16(0x154, 0x005f)
        .w16(0x156, 0x001d)
        .w32(0x160, 0x1701_000f)
        .w16(0x166, 0x8003)
        .w32(0x170, 0x1801_000e)
        .w16(0x174, 0x0200)
        .w32(0x180, 0x1c01_0010)
        .w16(0x188, 1)
        .w16(0x18e, 16)
        .w16(0x190, 4)
        .w16(0x194, 2)
        .w16(0x196, 1)
        .w32(0x1c0, 0x0001_0015)
        .w32(0x1c4, 0x003f_ffc0)
        .w32(0x1c8, 0xffff_1121)
}

#[test]
fn every_register_of_a_port_is_decoded() {
    let space = port();
    let config = ConfigSpace::new(&space.0);
    assert_eq!(config.extent(), Extent::Extended);
    let header = config.header().unwrap();
    assert_eq!((header.vendor, header.device, header.revision), (0x1000, 0xc030, 0xb0));
    assert_eq!((header.command, header.status, header.multifunction), (0x0107, 0x0010, true));
    assert_eq!(header.class, Class(0x06_0400));
    assert_eq!(header.layout, Layout::Bridge { bars: [0; 2], primary: 0x16, secondary: 0x17, subordinate: 0x1c });

    let caps = config.capabilities();
    let Cap::Present(e, spot) = caps.express else { panic!("{:?}", caps.express) };
    assert_eq!(spot, Spot::Bytes { offset: 0x60, len: 0x3c });
    assert_eq!(e.port_type, Some(PortType::DownstreamPort));
    assert_eq!(
        (e.max_payload_supported, e.max_payload, e.max_read_request),
        (Some(2048), Some(256), Some(4096)),
        "payload codes"
    );
    assert_eq!(
        (e.relaxed_ordering, e.extended_tag, e.extended_tag_supported, e.no_snoop),
        (Some(true), Some(true), Some(true), Some(true))
    );
    assert_eq!((e.link_cap_speed, e.link_cap_width), (Some(LinkSpeed::Gen5), Some(LinkWidth(16))));
    assert_eq!((e.link_speed, e.link_width), (Some(LinkSpeed::Gen3), Some(LinkWidth(8))));
    assert_eq!((e.aspm_enabled, e.aspm_l1), (Some(true), Some(true)));
    assert_eq!(
        (e.ten_bit_tag_completer, e.ten_bit_tag_requester, e.ten_bit_tag_enabled),
        (Some(true), Some(true), Some(true))
    );
    assert_eq!((e.ari_forwarding_supported, e.ari_forwarding, e.atomic_requester), (Some(true), Some(true), None));

    let Cap::Present(acs, spot) = caps.acs else { panic!("{:?}", caps.acs) };
    assert_eq!(spot, Spot::Bytes { offset: 0x156, len: 2 });
    assert_eq!(acs.capability, Some(AcsBits(0x5f)));
    assert_eq!(acs.control, Some(AcsBits(AcsBits::SV | AcsBits::RR | AcsBits::CR | AcsBits::UF)));
    let ats = caps.ats.get().unwrap();
    assert_eq!(
        (ats.invalidate_queue_depth, ats.enabled, ats.smallest_translation_unit),
        (Some(32), Some(true), Some(3))
    );
    let aer = caps.aer.get().unwrap();
    assert_eq!((aer.uncorrectable_status, aer.correctable_status), (Some(0x10_0000), Some(0x41)));
    let sriov = caps.sriov.get().unwrap();
    assert_eq!((sriov.total_vfs, sriov.num_vfs, sriov.enabled), (Some(16), Some(4), Some(true)));
    assert_eq!((sriov.first_vf_offset, sriov.vf_stride), (Some(2), Some(1)));
    assert_eq!(caps.ari.get().unwrap().next_function, Some(2));
    let bar = caps.rebar.get().unwrap().bars[0].unwrap();
    assert_eq!((bar.bar, bar.current_mib_log2), (1, 17));
    assert_eq!(bar.supported_mib_log2, 0x0003_fffc | 0xffff << 28);
    assert_eq!(caps.rebar.get().unwrap().bars[1], None);
}

#[test]
fn what_was_cut_is_unseen_and_what_conventional_pci_cannot_have_is_not_present() {
    let space = port();
    assert_eq!(ConfigSpace::new(&space.0[..64]).capabilities(), Capabilities::unseen(Unseen::Cut(64)));
    let short = ConfigSpace::new(&space.0[..256]).capabilities();
    assert!(short.express.get().is_some());
    assert_eq!(short.acs, Cap::Unseen(Unseen::Cut(256)));
    // Between two capabilities: what comes before the cut is found.
    let short = ConfigSpace::new(&space.0[..0x160]).capabilities();
    assert!(short.acs.get().is_some());
    assert_eq!(short.ats, Cap::Unseen(Unseen::Cut(0x160)));

    let conventional = port().w16(0x60, 0x0005).capabilities();
    assert_eq!((conventional.express, conventional.acs), (Cap::NotPresent, Cap::NotPresent));
    let listless = Space::new(64).w16(0, 0x8086).capabilities();
    assert_eq!((listless.express, listless.ats), (Cap::NotPresent, Cap::NotPresent));
    let none = port().w32(0x100, 0).capabilities();
    assert!(none.express.get().is_some());
    assert_eq!(none.acs, Cap::NotPresent);
}

#[test]
fn a_dead_function_shows_nothing() {
    for len in [1, 63, 64, 256, 4096] {
        let bytes = vec![0xff; len];
        let config = ConfigSpace::new(&bytes);
        assert!(config.header().is_none());
        assert_eq!(config.capabilities(), Capabilities::unseen(Unseen::Malformed), "{len}");
    }
    assert_eq!(ConfigSpace::new(&[]).capabilities(), Capabilities::unseen(Unseen::Cut(0)));
    // A virtual function has no ids of its own but is alive.
    let vf = port().w32(0, 0xffff_ffff);
    assert_eq!(ConfigSpace::new(&vf.0).header().map(|h| h.vendor), Some(0xffff));
}

#[test]
fn lists_that_loop_or_leave_the_space_are_malformed() {
    let malformed = Cap::Unseen(Unseen::Malformed);
    // 0x40 -> 0x50 -> 0x40
    let conventional = port().w32(0x40, 0x0003_5001).w16(0x50, 0x4005).capabilities();
    assert_eq!((conventional.express, conventional.acs.get()), (Cap::Unseen(Unseen::Malformed), None));
    assert_eq!(port().w16(0x34, 0x20).capabilities().express, Cap::Unseen(Unseen::Malformed));
    assert_eq!(port().w32(0x40, 0xffff_ffff).capabilities().express, Cap::Unseen(Unseen::Malformed));
    // ACS points back to AER; then to itself; then into the header; then reads of it fail.
    for header in [0x1001_000d, 0x1501_000d, 0x0401_000d] {
        let extended = port().w32(0x150, header).capabilities();
        assert!(extended.acs.get().is_some() && extended.aer.get().is_some());
        assert_eq!(extended.ats, malformed, "{header:#x}");
    }
    assert_eq!(port().w32(0x150, 0xffff_ffff).capabilities().ats, malformed);
}

#[test]
fn versions_and_port_types_decide_which_registers_exist() {
    let v1 = *port().w16(0x62, 0x0161).capabilities().express.get().unwrap();
    assert_eq!((v1.ten_bit_tag_requester, v1.ari_forwarding, v1.max_payload), (None, None, Some(256)));
    let integrated = *port().w16(0x62, 0x0092).capabilities().express.get().unwrap();
    assert_eq!((integrated.link_speed, integrated.link_width, integrated.aspm_enabled), (None, None, None));
    assert_eq!(integrated.atomic_requester, Some(false));
    let reserved = *port().w16(0x68, 0x60e0).capabilities().express.get().unwrap();
    assert_eq!((reserved.max_payload, reserved.max_read_request), (None, None), "reserved payload codes");
    let down = *port().w16(0x72, 0).capabilities().express.get().unwrap();
    assert_eq!((down.link_speed, down.link_width), (None, Some(LinkWidth(0))));
}

#[test]
fn real_spaces_decode() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/pci-config/libvirt");
    let Ok(files) = std::fs::read_dir(dir) else {
        println!("SKIPPED: ../shared/data is not here");
        return;
    };
    let mut with_express = 0;
    for file in files {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let config = ConfigSpace::new(&bytes);
        let header = config.header().unwrap();
        assert!([0x8086, 0x8011, 0x1180, 0x1033].contains(&header.vendor), "{path:?} {:04x}", header.vendor);
        let caps = config.capabilities();
        assert_ne!(caps.express, Cap::Unseen(Unseen::Malformed), "{path:?}");
        with_express += usize::from(caps.express.get().is_some());
    }
    println!("{with_express} with Express");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_decode_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..5000)) {
        let config = ConfigSpace::new(&bytes);
        let _ = config.header();
        let caps = config.capabilities();
        prop_assert_ne!(caps.express, Cap::NotLooked);
        prop_assert_ne!(caps.rebar, Cap::NotLooked);
    }

    #[test]
    fn mutated_spaces_decode_and_spots_stay_inside(
        changes in proptest::collection::vec((0usize..0x200, any::<u8>()), 0..40),
        len in 0usize..=4096,
    ) {
        let mut bytes = port().0;
        for (at, v) in changes {
            bytes[at] = v;
        }
        bytes.truncate(len);
        let caps = ConfigSpace::new(&bytes).capabilities();
        for spot in [
            if let Cap::Present(_, s) = caps.express { Some(s) } else { None },
            if let Cap::Present(_, s) = caps.acs { Some(s) } else { None },
            if let Cap::Present(_, s) = caps.rebar { Some(s) } else { None },
        ].into_iter().flatten() {
            let Spot::Bytes { offset, len: n } = spot else { return Err(TestCaseError::fail("a line in binary")) };
            prop_assert!(n == 0 || usize::from(offset) + usize::from(n) <= len);
        }
    }
}
