//! The binary configuration space of a function. Register layouts: PCI local bus 3.0 §6, PCI Express base specification §7.

use crate::description::Ats;
use crate::function::{Bar, Function, Link, Port};

struct Space(Vec<u8>);

impl Space {
    fn put(&mut self, at: usize, bytes: &[u8]) {
        if let Some(to) = self.0.get_mut(at..at + bytes.len()) {
            to.copy_from_slice(bytes);
        }
    }
    fn u8(&mut self, at: usize, v: u8) {
        self.put(at, &[v]);
    }
    fn u16(&mut self, at: usize, v: u16) {
        self.put(at, &v.to_le_bytes());
    }
    fn u32(&mut self, at: usize, v: u32) {
        self.put(at, &v.to_le_bytes());
    }
}

/// Addresses behind a bridge: (base, limit) of the 32-bit and of the prefetchable window, inclusive.
pub(crate) type Windows = (Option<(u64, u64)>, Option<(u64, u64)>);

const PM: usize = 0x40;
const MSIX: usize = 0x4c;
const EXPRESS: usize = 0x60;
const SUBSYSTEM: usize = 0x9c;

/// All bytes that exist: 4096, or 256 of a conventional function; cut to what could be read.
pub(crate) fn space(f: &Function, windows: Windows) -> Vec<u8> {
    let mut s = Space(vec![0; if f.is_express() { 4096 } else { 256 }]);
    header(&mut s, f, windows);
    if f.is_express() {
        capabilities(&mut s, f);
        extended(&mut s, f);
    }
    s.0.truncate(usize::from(f.config_len));
    s.0
}

fn header(s: &mut Space, f: &Function, (memory, prefetchable): Windows) {
    s.u16(0x00, f.vendor);
    s.u16(0x02, f.device);
    let integrated = matches!(f.port, Some(Port::Integrated)) || f.port.is_none();
    s.u16(0x04, if integrated { 0x0000 } else { 0x0546 });
    s.u16(0x06, if f.is_express() { 0x0010 } else { 0 });
    s.u32(0x08, (f.class << 8) | u32::from(f.revision));
    let multi = u8::from(f.bdf.function != 0) << 7;
    s.u8(0x0e, u8::from(f.buses.is_some()) | multi);
    if !integrated {
        s.u8(0x0c, 0x10);
    }
    for bar in &f.bars {
        base_address(s, bar);
    }
    if f.is_express() {
        s.u8(0x34, PM as u8);
    }
    let Some((secondary, subordinate)) = f.buses else {
        s.u16(0x2c, f.subsystem.0);
        s.u16(0x2e, f.subsystem.1);
        s.u8(0x3d, u8::from(!integrated));
        return;
    };
    s.put(0x18, &[f.bdf.bus, secondary, subordinate, 0]);
    // I/O window closed: base above limit.
    s.put(0x1c, &[0xf0, 0x00]);
    let (base, limit) = memory.unwrap_or((0xfff0_0000, 0x000f_ffff));
    s.u16(0x20, (base >> 16) as u16 & 0xfff0);
    s.u16(0x22, (limit >> 16) as u16 & 0xfff0);
    let (base, limit) = prefetchable.unwrap_or((0xfff0_0000, 0x000f_ffff));
    s.u16(0x24, ((base >> 16) as u16 & 0xfff0) | 1);
    s.u16(0x26, ((limit >> 16) as u16 & 0xfff0) | 1);
    s.u32(0x28, (base >> 32) as u32);
    s.u32(0x2c, (limit >> 32) as u32);
    s.u16(0x3e, 0x0003);
}

fn base_address(s: &mut Space, bar: &Bar) {
    if bar.size == 0 {
        return;
    }
    let at = 0x10 + 4 * usize::from(bar.index);
    let flags = (u32::from(bar.wide) << 2) | (u32::from(bar.prefetchable) << 3);
    s.u32(at, (bar.address as u32 & !0xf) | flags);
    if bar.wide {
        s.u32(at + 4, (bar.address >> 32) as u32);
    }
}

fn capabilities(s: &mut Space, f: &Function) {
    let bridge = f.buses.is_some();
    let integrated = f.port == Some(Port::Integrated);
    // Power management 3; PME from every state on bridges.
    s.put(PM, &[0x01, if integrated || bridge { EXPRESS as u8 } else { MSIX as u8 }]);
    s.u16(PM + 2, if bridge { 0xc803 } else { 0x0003 });
    s.u16(PM + 4, 0x0008);
    if !integrated && !bridge {
        // MSI-X: 64 vectors in BAR0.
        s.put(MSIX, &[0x11, EXPRESS as u8]);
        s.u16(MSIX + 2, 0x8000 | 63);
        s.u32(MSIX + 4, 0x2000);
        s.u32(MSIX + 8, 0x3000);
    }
    s.put(EXPRESS, &[0x10, if bridge { SUBSYSTEM as u8 } else { 0 }]);
    if bridge {
        s.put(SUBSYSTEM, &[0x0d, 0]);
        s.u16(SUBSYSTEM + 4, f.subsystem.0);
        s.u16(SUBSYSTEM + 6, f.subsystem.1);
    }
    express(s, f);
}

fn log2_payload(bytes: u16) -> u16 {
    (bytes.max(128) / 128).ilog2().min(5) as u16
}

fn express(s: &mut Space, f: &Function) {
    let port = f.port.unwrap_or(Port::Endpoint);
    let slot = u16::from(port == Port::Down && f.vendor != 0x104c) << 8;
    s.u16(EXPRESS + 2, 2 | ((port as u16) << 4) | slot);
    let endpoint = port == Port::Endpoint;
    let integrated = port == Port::Integrated;
    let capability = u32::from(log2_payload(f.mps_supported))
        | (u32::from(f.ext_tag_supported) << 5)
        | (u32::from(!integrated) << 15)
        | (u32::from(endpoint) << 28);
    s.u32(EXPRESS + 0x04, capability);
    let control = (if integrated { 0 } else { 0x000f })
        | (u16::from(f.relaxed_ordering) << 4)
        | (log2_payload(f.mps) << 5)
        | (u16::from(f.ext_tag) << 8)
        | (u16::from(f.no_snoop) << 11)
        | (log2_payload(f.mrrs) << 12);
    s.u16(EXPRESS + 0x08, control);
    if integrated {
        return;
    }
    if f.link.is_some() || endpoint {
        link(s, f, port);
    }
    if port == Port::Root {
        s.u16(EXPRESS + 0x1c, 0x001f);
        s.u16(EXPRESS + 0x1e, 0x0001);
    }
    let bridge = f.buses.is_some();
    let capability = (if bridge && port != Port::Root { 0 } else { 0x17 })
        | (u32::from(port == Port::Root || port == Port::Down) << 5)
        | (u32::from(bridge) << 6)
        | (u32::from(!bridge && f.vendor == 0x15b3) * 0x380)
        | (u32::from(f.ten_bit_tag_supported || bridge) << 16)
        | (u32::from(f.ten_bit_tag_supported) << 17);
    s.u32(EXPRESS + 0x24, capability);
    let control = (if bridge && port != Port::Root { 0 } else { 0x0006 })
        | (u16::from(f.ari_forwarding) << 5)
        | (u16::from(!bridge) << 6)
        | (u16::from(f.ten_bit_tag) << 12);
    s.u16(EXPRESS + 0x28, control);
}

fn link(s: &mut Space, f: &Function, port: Port) {
    // A virtual function has the registers, all zero.
    let Some(Link { speed, width, max_speed, max_width }) = f.link else { return };
    let downwards = matches!(port, Port::Root | Port::Down);
    let aspm_supported = if f.vendor == 0x1000 { 3 } else { u32::from(f.aspm) };
    let capability = u32::from(max_speed.generation())
        | (u32::from(max_width) << 4)
        | (aspm_supported << 10)
        | (u32::from(downwards) * 0x0018_0000)
        | (1 << 22);
    s.u32(EXPRESS + 0x0c, capability);
    s.u16(EXPRESS + 0x10, u16::from(f.aspm & 3) | 0x40);
    let status = u16::from(speed.generation()) | (u16::from(width) << 4) | 0x1000 | (u16::from(downwards) << 13);
    s.u16(EXPRESS + 0x12, status);
    let vector = ((1_u32 << max_speed.generation()) - 1) << 1;
    s.u32(EXPRESS + 0x2c, vector);
    s.u16(EXPRESS + 0x30, u16::from(max_speed.generation()));
    s.u16(EXPRESS + 0x32, if speed.generation() >= 3 { 0x001e } else { 0 });
}

/// Id, version, content after the four bytes of the head.
type Extended = (u16, u8, Vec<u8>);

fn extended(s: &mut Space, f: &Function) {
    let mut list: Vec<Extended> = Vec::new();
    if f.has_aer {
        list.push((0x0001, 2, errors(f)));
    }
    if let Some((capability, control)) = f.acs {
        list.push((0x000d, 1, words(&[capability, control])));
    }
    if f.ats != Ats::Absent {
        list.push((0x000f, 1, words(&[0x0020, u16::from(f.ats == Ats::Enabled) << 15])));
    }
    if f.ari {
        list.push((0x000e, 1, words(&[0, 0])));
    }
    if f.sriov.is_some() {
        list.push((0x0010, 1, virtualisation(f)));
    }
    if f.link.is_some_and(|l| l.max_speed.generation() >= 3) {
        list.push((0x0019, 1, vec![0; 0x28]));
    }
    if let Some(bar) = f.bar1.filter(|_| f.rebar).and_then(|i| f.bars.get(i)) {
        list.push((0x0015, 1, resizable(bar)));
    }
    if let Some(serial) = f.serial {
        list.push((0x0003, 1, serial.to_le_bytes().to_vec()));
    }
    let mut at = 0x100;
    for (i, (id, version, body)) in list.iter().enumerate() {
        let end = (at + 4 + body.len()).next_multiple_of(16);
        let next = if i + 1 == list.len() { 0 } else { end };
        s.u16(at, *id);
        s.u16(at + 2, u16::from(*version) | ((next as u16) << 4));
        s.put(at + 4, body);
        at = end;
    }
}

fn words(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Names of the kernel's counters and their bit in the status registers.
pub(crate) const CORRECTABLE: [(&str, u32); 8] = [
    ("RxErr", 0),
    ("BadTLP", 6),
    ("BadDLLP", 7),
    ("Rollover", 8),
    ("Timeout", 12),
    ("NonFatalErr", 13),
    ("CorrIntErr", 14),
    ("HeaderOF", 15),
];
pub(crate) const UNCORRECTABLE: [(&str, u32); 18] = [
    ("Undefined", 0),
    ("DLP", 4),
    ("SDES", 5),
    ("TLP", 12),
    ("FCP", 13),
    ("CmpltTO", 14),
    ("CmpltAbrt", 15),
    ("UnxCmplt", 16),
    ("RxOF", 17),
    ("MalfTLP", 18),
    ("ECRC", 19),
    ("UnsupReq", 20),
    ("ACSViol", 21),
    ("UncorrIntErr", 22),
    ("BlockedTLP", 23),
    ("AtomicOpBlocked", 24),
    ("TLPBlockedErr", 25),
    ("PoisonTLPBlocked", 26),
];

fn errors(f: &Function) -> Vec<u8> {
    let bits = |names: &[(&str, u32)], counters: &std::collections::BTreeMap<String, u64>| {
        let set = names.iter().filter(|(n, _)| counters.get(*n).is_some_and(|c| *c > 0));
        set.fold(0_u32, |v, (_, bit)| v | (1 << bit))
    };
    let status = bits(&UNCORRECTABLE, &f.aer.nonfatal) | bits(&UNCORRECTABLE, &f.aer.fatal);
    let mut v = Vec::with_capacity(0x44);
    for register in [status, 0x0001_0000, 0x0046_2030, bits(&CORRECTABLE, &f.aer.correctable), 0x2000, 0x00a0] {
        v.extend_from_slice(&u32::to_le_bytes(register));
    }
    v.resize(0x44, 0);
    v
}

fn virtualisation(f: &Function) -> Vec<u8> {
    let Some(sriov) = f.sriov else { return Vec::new() };
    let on = u16::from(sriov.number > 0);
    let mut v = words(&[
        0x0002,
        0,
        // Enable, memory space enable, ARI capable hierarchy.
        on | (on << 3) | 0x10,
        0,
        sriov.total,
        sriov.total,
        sriov.number,
        0,
        sriov.offset,
        sriov.stride,
        0,
        sriov.device,
        0x07ff,
        0,
        0x0001,
        0,
    ]);
    v.resize(0x3c, 0);
    v
}

/// Sizes from 64 MiB up to the larger of the current size and 128 GiB.
fn resizable(bar: &Bar) -> Vec<u8> {
    let current = bar.size.max(1 << 20).ilog2() - 20;
    let largest = current.max(17);
    let supported = (6..=largest.min(27)).fold(0_u32, |v, n| v | (1 << (n + 4)));
    let control = u32::from(bar.index) | (1 << 5) | (current << 8);
    let mut v = supported.to_le_bytes().to_vec();
    v.extend_from_slice(&control.to_le_bytes());
    v
}
