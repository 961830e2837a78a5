//! PCI class codes and the names `lspci` prints for them.

/// 24-bit class code: base class, sub-class, programming interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Class(pub u32);

impl Class {
    /// Base class and sub-class, e.g. 0x0604.
    #[must_use]
    pub fn sub(self) -> u16 {
        (self.0 >> 8) as u16
    }

    /// Base class, e.g. 0x06.
    #[must_use]
    pub fn base(self) -> u8 {
        (self.0 >> 16) as u8
    }

    /// Display controller: VGA (0300) or 3D (0302).
    #[must_use]
    pub fn is_display(self) -> bool {
        self.base() == 0x03
    }

    /// Network controller of any kind (02xx), InfiniBand (0207) included.
    #[must_use]
    pub fn is_network(self) -> bool {
        self.base() == 0x02
    }

    /// From the name that `lspci` prints, in any case (`USB Controller` in old ones). The programming interface is 0: a name
    /// does not tell it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Class> {
        let name = name.trim();
        NAMES.iter().find(|(_, n)| n.eq_ignore_ascii_case(name)).map(|&(code, _)| Class(u32::from(code) << 8))
    }
}

/// The name that `lspci` prints for base class and sub-class.
#[must_use]
pub fn name_of(class: Class) -> Option<&'static str> {
    NAMES.iter().find(|(code, _)| *code == class.sub()).map(|&(_, name)| name)
}

/// Base class and sub-class with the name of the pci.ids database. Of two codes with one name the first is meant.
/// The most frequent stand first.
const NAMES: &[(u16, &str)] = &[
    (0x0604, "PCI bridge"),
    (0x0600, "Host bridge"),
    (0x0880, "System peripheral"),
    (0x0302, "3D controller"),
    (0x0300, "VGA compatible controller"),
    (0x0200, "Ethernet controller"),
    (0x0207, "Infiniband controller"),
    (0x0280, "Network controller"),
    (0x0108, "Non-Volatile memory controller"),
    (0x0680, "Bridge"),
    (0x0601, "ISA bridge"),
    (0x1101, "Performance counters"),
    (0x0380, "Display controller"),
    (0x1200, "Processing accelerators"),
    (0x0806, "IOMMU"),
    (0x0807, "Root Complex Event Collector"),
    (0x0b40, "Co-processor"),
    (0x0801, "DMA controller"),
    (0x0000, "Non-VGA unclassified device"),
    (0x0001, "VGA compatible unclassified device"),
    (0x0005, "Image coprocessor"),
    (0x0100, "SCSI storage controller"),
    (0x0101, "IDE interface"),
    (0x0102, "Floppy disk controller"),
    (0x0103, "IPI bus controller"),
    (0x0104, "RAID bus controller"),
    (0x0105, "ATA controller"),
    (0x0106, "SATA controller"),
    (0x0107, "Serial Attached SCSI controller"),
    (0x0109, "Universal Flash Storage controller"),
    (0x0180, "Mass storage controller"),
    (0x0201, "Token ring network controller"),
    (0x0202, "FDDI network controller"),
    (0x0203, "ATM network controller"),
    (0x0204, "ISDN controller"),
    (0x0205, "WorldFip controller"),
    (0x0206, "PICMG controller"),
    (0x0208, "Fabric controller"),
    (0x0301, "XGA compatible controller"),
    (0x0400, "Multimedia video controller"),
    (0x0401, "Multimedia audio controller"),
    (0x0402, "Computer telephony device"),
    (0x0403, "Audio device"),
    (0x0480, "Multimedia controller"),
    (0x0500, "RAM memory"),
    (0x0501, "FLASH memory"),
    (0x0502, "CXL"),
    (0x0580, "Memory controller"),
    (0x0602, "EISA bridge"),
    (0x0603, "MicroChannel bridge"),
    (0x0605, "PCMCIA bridge"),
    (0x0606, "NuBus bridge"),
    (0x0607, "CardBus bridge"),
    (0x0608, "RACEway bridge"),
    (0x0609, "Semi-transparent PCI-to-PCI bridge"),
    (0x060a, "InfiniBand to PCI host bridge"),
    (0x0700, "Serial controller"),
    (0x0701, "Parallel controller"),
    (0x0702, "Multiport serial controller"),
    (0x0703, "Modem"),
    (0x0704, "GPIB controller"),
    (0x0705, "Smard Card controller"),
    (0x0780, "Communication controller"),
    (0x0800, "PIC"),
    (0x0802, "Timer"),
    (0x0803, "RTC"),
    (0x0804, "PCI Hot-plug controller"),
    (0x0805, "SD Host controller"),
    (0x0899, "Timing Card"),
    (0x0980, "Input device controller"),
    (0x0b30, "MIPS"),
    (0x0b20, "Power PC"),
    (0x0c00, "FireWire (IEEE 1394)"),
    (0x0c03, "USB controller"),
    (0x0c04, "Fibre Channel"),
    (0x0c05, "SMBus"),
    (0x0c06, "InfiniBand"),
    (0x0c07, "IPMI Interface"),
    (0x0c09, "CANBUS"),
    (0x0c80, "Serial bus controller"),
    (0x0d80, "Wireless controller"),
    (0x0e00, "I2O"),
    (0x1000, "Network and computing encryption device"),
    (0x1010, "Entertainment encryption device"),
    (0x1080, "Encryption controller"),
    (0x1100, "DPIO module"),
    (0x1110, "Communication synchronizer"),
    (0x1120, "Signal processing management"),
    (0x1180, "Signal processing controller"),
    (0x1201, "SNIA Smart Data Accelerator Interface (SDXI) controller"),
    (0x1300, "Non-Essential Instrumentation"),
    (0xff00, "Unassigned class"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_agree() {
        for &(code, name) in NAMES {
            let class = Class::from_name(name).unwrap();
            assert_eq!(class.sub(), code, "{name}");
            let first = name_of(class).unwrap();
            assert!(first.eq_ignore_ascii_case(name), "{name} {first}");
        }
        assert_eq!(Class::from_name("USB Controller").map(Class::sub), Some(0x0c03));
        assert_eq!(Class::from_name("Flux capacitor"), None);
        assert_eq!(name_of(Class(0x12_3456)), None);
    }
}
