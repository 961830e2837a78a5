//! PCI class codes that matter on the GPUDirect-RDMA path, and the names `lspci` prints for them.

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

    /// PCI-to-PCI bridge (0604), which every PCIe port is.
    #[must_use]
    pub fn is_pci_bridge(self) -> bool {
        self.sub() == 0x0604
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
}
