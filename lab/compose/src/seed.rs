//! Serial numbers, GUIDs and addresses: unique for a seed, the same on every run.

/// A source of identities.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed(pub(crate) u64);

impl Seed {
    /// 64 bits for a label: FNV-1a over the label, then the finaliser of SplitMix64, so that near seeds give far values.
    pub(crate) fn bits(self, label: &str) -> u64 {
        let fnv =
            label.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        let mut z = fnv ^ self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// EUI-64 with a vendor prefix of 24 bits.
    pub(crate) fn guid(self, prefix: u32, label: &str) -> u64 {
        (u64::from(prefix) << 40) | (self.bits(label) & 0xff_ffff_ffff)
    }

    /// A random (version 4) UUID.
    pub(crate) fn uuid(self, label: &str) -> String {
        let (a, b) = (self.bits(label), self.bits(&format!("{label}/low")));
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            0x8000 | ((b >> 48) & 0x3fff),
            b & 0xffff_ffff_ffff
        )
    }
}

/// `a088:c203:0012:3456`.
pub(crate) fn colons(v: u64) -> String {
    format!("{:04x}:{:04x}:{:04x}:{:04x}", v >> 48, (v >> 32) & 0xffff, (v >> 16) & 0xffff, v & 0xffff)
}
