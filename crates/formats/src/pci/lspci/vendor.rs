//! Vendor ids of the names that a listing without numbers prints.

/// Beginning of a device's name, and the vendor it tells. A vendor that owns several ids under one name is left out unless the
/// name itself decides.
const VENDORS: &[(&str, u16)] = &[
    ("Intel Corporation", 0x8086),
    ("NVIDIA Corporation", 0x10de),
    ("nVidia Corporation", 0x10de),
    ("Mellanox Technologies", 0x15b3),
    ("Broadcom / LSI", 0x1000),
    ("LSI Logic / Symbios Logic", 0x1000),
    ("Broadcom Inc. and subsidiaries", 0x14e4),
    ("Broadcom Limited", 0x14e4),
    ("PLX Technology, Inc.", 0x10b5),
    ("Advanced Micro Devices, Inc. [AMD/ATI]", 0x1002),
    ("Advanced Micro Devices [AMD/ATI]", 0x1002),
    ("ATI Technologies Inc", 0x1002),
    ("Advanced Micro Devices, Inc. [AMD]", 0x1022),
    ("Advanced Micro Devices [AMD]", 0x1022),
    ("AMD Pensando Systems", 0x1dd8),
    ("Pensando Systems", 0x1dd8),
    ("PMC-Sierra Inc.", 0x11f8),
    ("Microsemi / PMC / IDT", 0x111d),
    ("Integrated Device Technology, Inc.", 0x111d),
    ("Texas Instruments", 0x104c),
    ("Samsung Electronics Co Ltd", 0x144d),
    ("Amazon.com, Inc.", 0x1d0f),
    ("Microsoft Corporation", 0x1414),
    ("Google, Inc.", 0x1ae0),
    ("VMware", 0x15ad),
    ("ASPEED Technology, Inc.", 0x1a03),
    ("Matrox Electronics Systems Ltd.", 0x102b),
    ("ASMedia Technology Inc.", 0x1b21),
    ("Micron Technology Inc", 0x1344),
    ("KIOXIA Corporation", 0x1e0f),
    ("Toshiba Corporation", 0x1179),
    ("SK hynix", 0x1c5c),
    ("Solidigm", 0x025e),
    ("Sandisk Corp", 0x15b7),
    ("Huawei Technologies Co., Ltd.", 0x19e5),
    ("Habana Labs Ltd.", 0x1da3),
    ("Xilinx Corporation", 0x10ee),
    ("Altera Corporation", 0x1172),
    ("Chelsio Communications Inc", 0x1425),
    ("QLogic Corp.", 0x1077),
    ("Realtek Semiconductor Co., Ltd.", 0x10ec),
    ("Solarflare Communications", 0x1924),
    ("Renesas Technology Corp.", 0x1912),
    ("PLDA", 0x1556),
    ("Annapurna Labs Ltd.", 0x1c36),
    ("Ampere Computing, LLC", 0x1def),
    ("Phytium Technology Co., Ltd.", 0x1db7),
    ("Chengdu Haiguang IC Design Co., Ltd.", 0x1d94),
    ("Hewlett-Packard Company", 0x103c),
    ("Hewlett Packard Enterprise", 0x1590),
    ("Super Micro Computer Inc", 0x15d9),
    ("Cisco Systems Inc", 0x1137),
    ("Gigabyte Technology Co., Ltd", 0x1458),
    ("XenSource, Inc.", 0x5853),
    ("Dell", 0x1028),
    ("IBM", 0x1014),
];

/// Vendor id of a name that begins with the vendor.
pub(super) fn from_name(name: &str) -> Option<u16> {
    // Red Hat owns the id of virtio (1af4) and that of QEMU's own devices (1b36).
    if let Some(rest) = name.strip_prefix("Red Hat, Inc") {
        let rest = rest.trim_start_matches('.');
        return match rest.trim_start() {
            r if r.starts_with("Virtio") || r.starts_with("Inter-VM") => Some(0x1af4),
            r if r.starts_with("QEMU") => Some(0x1b36),
            _ => None,
        };
    }
    VENDORS
        .iter()
        .find(|(prefix, _)| {
            name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ',']))
        })
        .map(|&(_, id)| id)
}

/// Ids of the subsystem that QEMU gives its devices (include/hw/pci/pci.h, `PCI_SUBVENDOR_ID_REDHAT_QUMRANET`, `PCI_SUBDEVICE_ID_QEMU`), which
/// pci.ids names under each of them.
pub(super) fn qemu_subsystem(name: &str) -> Option<(u16, u16)> {
    let rest = name.strip_prefix("Red Hat, Inc")?.trim_start_matches('.').trim_start();
    rest.eq_ignore_ascii_case("QEMU Virtual Machine").then_some((0x1af4, 0x1100))
}

/// Device id of a name that ends in `Device 2330`, which is how a device without an entry in pci.ids is printed.
pub(super) fn device_from_name(name: &str) -> Option<u16> {
    let (before, id) = name.rsplit_once(' ')?;
    let unknown = before.ends_with("Device") || before.ends_with("Unknown device");
    super::header::hex16(id).filter(|_| unknown)
}
