//! The products: what their functions look like. Identities from the public PCI ID list; sizes and limits from the vendors'
//! data sheets and public `lspci` dumps.

use crate::description::{Fabric, Gpus, Nics, Switch};
use crate::function::{Function, Port};
use linerate_formats::pci::LinkSpeed::{Gen1, Gen2, Gen3, Gen4, Gen5};

const M: u64 = 1 << 20;
const G: u64 = 1 << 30;

/// What is known of a GPU model besides its PCI function.
pub(crate) struct GpuModel {
    pub(crate) product: &'static str,
    pub(crate) architecture: &'static str,
    pub(crate) fb_mib: u64,
    /// NVLinks of one GPU; 0 without.
    pub(crate) nvlinks: u32,
    pub(crate) compute: &'static str,
}

pub(crate) fn gpu_model(gpu: Gpus) -> Option<GpuModel> {
    let m = |product, architecture, fb_mib, nvlinks, compute| {
        Some(GpuModel { product, architecture, fb_mib, nvlinks, compute })
    };
    match gpu {
        Gpus::H100Sxm => m("NVIDIA H100 80GB HBM3", "Hopper", 81559, 18, "9.0"),
        Gpus::H200Sxm => m("NVIDIA H200", "Hopper", 143_771, 18, "9.0"),
        Gpus::A100Sxm => m("NVIDIA A100-SXM4-80GB", "Ampere", 81920, 12, "8.0"),
        Gpus::H100Pcie => m("NVIDIA H100 PCIe", "Hopper", 81559, 0, "9.0"),
        Gpus::L40s => m("NVIDIA L40S", "Ada Lovelace", 46068, 0, "8.9"),
        Gpus::V100Pcie => m("Tesla V100-PCIE-16GB", "Volta", 16384, 0, "7.0"),
        Gpus::T4 => m("Tesla T4", "Turing", 15360, 0, "7.5"),
        Gpus::None => None,
    }
}

pub(crate) fn gpu(gpu: Gpus) -> Option<Function> {
    let (device, sub, speed, bar1) = match gpu {
        Gpus::H100Sxm => (0x2330, 0x16c1, Gen5, 128 * G),
        Gpus::H200Sxm => (0x2335, 0x18be, Gen5, 256 * G),
        Gpus::A100Sxm => (0x20b2, 0x147f, Gen4, 128 * G),
        Gpus::H100Pcie => (0x2331, 0x1626, Gen5, 128 * G),
        Gpus::L40s => (0x26b9, 0x1851, Gen4, 64 * G),
        Gpus::V100Pcie => (0x1db4, 0x1214, Gen3, 16 * G),
        Gpus::T4 => (0x1eb8, 0x12a2, Gen3, 256 * M),
        Gpus::None => return None,
    };
    let hopper = matches!(gpu, Gpus::H100Sxm | Gpus::H200Sxm | Gpus::H100Pcie);
    let mut f = Function::new(0x10de, device, 0x03_0200).linked(speed, 16).payload(256, 256, 4096).driven("nvidia");
    // Before Hopper, BAR0 is 32 bits wide and BAR1 the next register; from Hopper on both take two registers.
    f = if hopper {
        f.bar(0, 16 * M, true, true).bar(2, bar1, true, true).bar(4, 32 * M, true, true)
    } else {
        f.bar(0, 16 * M, false, false).bar(1, bar1, true, true).bar(3, 32 * M, true, true)
    };
    f.bar1 = Some(1);
    f.subsystem = (0x10de, sub);
    f.revision = 0xa1;
    (f.relaxed_ordering, f.ext_tag, f.ext_tag_supported) = (true, true, true);
    (f.ten_bit_tag_supported, f.ten_bit_tag) = (speed >= Gen4, false);
    (f.has_aer, f.rebar) = (true, device != 0x1db4);
    Some(f)
}

/// What is known of a NIC model besides its PCI functions.
#[derive(Clone)]
pub(crate) struct NicModel {
    pub(crate) product: &'static str,
    /// As mlxconfig prints it.
    pub(crate) device_type: &'static str,
    pub(crate) part: &'static str,
    pub(crate) hca_type: &'static str,
    pub(crate) board_id: &'static str,
    pub(crate) fw_ver: &'static str,
    pub(crate) hw_rev: &'static str,
    pub(crate) driver: &'static str,
    pub(crate) fabric: Fabric,
    pub(crate) rate: &'static str,
    pub(crate) mbps: i64,
    /// Functions of the card.
    pub(crate) functions: u8,
    /// Ports of one function.
    pub(crate) ports: u8,
}

pub(crate) fn nic_model(nic: Nics) -> Option<NicModel> {
    let cx7 = NicModel {
        product: "NVIDIA ConnectX-7 HHHL Adapter card; 400GbE / NDR IB (default mode); Single-port OSFP; PCIe 5.0 x16",
        device_type: "ConnectX7",
        part: "MCX75310AAS-NEA_Ax",
        hca_type: "MT4129",
        board_id: "MT_0000000838",
        fw_ver: "28.43.2026",
        hw_rev: "0",
        driver: "mlx5_core",
        fabric: Fabric::InfiniBand,
        rate: "400 Gb/sec (4X NDR)",
        mbps: 400_000,
        functions: 1,
        ports: 1,
    };
    match nic {
        Nics::ConnectX7Ib => Some(cx7),
        Nics::ConnectX7Roce => Some(NicModel { fabric: Fabric::Ethernet, ..cx7 }),
        Nics::BlueField3 => Some(NicModel {
            product: "NVIDIA BlueField-3 B3140H E-series FHHL SuperNIC; 400GbE; Single-port QSFP112; PCIe Gen5.0 x16",
            device_type: "BlueField3",
            part: "900-9D3D4-00EN-HA0_Ax",
            hca_type: "MT41692",
            board_id: "MT_0000001069",
            fw_ver: "32.43.2026",
            fabric: Fabric::Ethernet,
            ..cx7
        }),
        Nics::ConnectX6Dx => Some(NicModel {
            product: "ConnectX-6 Dx EN adapter card; 100GbE; Dual-port QSFP56; PCIe 4.0 x16",
            device_type: "ConnectX6DX",
            part: "MCX623106AN-CDA_Ax",
            hca_type: "MT4125",
            board_id: "MT_0000000359",
            fw_ver: "22.43.2026",
            fabric: Fabric::Ethernet,
            rate: "100 Gb/sec (2X HDR)",
            mbps: 100_000,
            functions: 2,
            ..cx7
        }),
        Nics::ConnectX3 => Some(NicModel {
            product: "ConnectX-3 VPI adapter card; dual-port QSFP; FDR IB (56Gb/s) and 40GigE; PCIe3.0 x8",
            device_type: "ConnectX3",
            part: "MCX354A-FCB_A2-A5",
            hca_type: "MT4099",
            board_id: "MT_1090120019",
            fw_ver: "2.42.5000",
            hw_rev: "1",
            driver: "mlx4_core",
            fabric: Fabric::Ethernet,
            rate: "40 Gb/sec (4X QDR)",
            mbps: 40_000,
            functions: 1,
            ports: 2,
        }),
        Nics::None => None,
    }
}

pub(crate) fn nic(nic: Nics) -> Option<Function> {
    let ib = matches!(nic, Nics::ConnectX7Ib);
    let class = if ib { 0x02_0700 } else { 0x02_0000 };
    let f = match nic {
        Nics::ConnectX7Ib | Nics::ConnectX7Roce => Function::new(0x15b3, 0x1021, class).linked(Gen5, 16),
        Nics::BlueField3 => Function::new(0x15b3, 0xa2dc, class).linked(Gen5, 16),
        Nics::ConnectX6Dx => Function::new(0x15b3, 0x101d, class).linked(Gen4, 16),
        Nics::ConnectX3 => Function::new(0x15b3, 0x1003, class).linked(Gen3, 8),
        Nics::None => return None,
    };
    let mlx4 = nic == Nics::ConnectX3;
    let mut f = f.payload(512, 256, 4096).driven(if mlx4 { "mlx4_core" } else { "mlx5_core" });
    f = if mlx4 {
        f.payload(512, 256, 512).bar(0, M, true, false).bar(2, 8 * M, true, true)
    } else {
        f.bar(0, 32 * M, true, true)
    };
    f.subsystem = (0x15b3, if mlx4 { 0x0055 } else { 0x0023 });
    (f.relaxed_ordering, f.no_snoop, f.ext_tag, f.ext_tag_supported) = (true, true, !mlx4, !mlx4);
    (f.ten_bit_tag_supported, f.ten_bit_tag) = (!mlx4, false);
    (f.has_aer, f.ari) = (true, true);
    if !mlx4 {
        f.sriov = Some(crate::function::SrIov { total: 16, number: 0, offset: 1, stride: 1, device: 0x101e });
    }
    Some(f)
}

/// A virtual function of an mlx5 NIC. It reports no link, and its Relaxed Ordering bit is hard-wired to 0.
pub(crate) fn vf() -> Function {
    let mut f = Function::new(0x15b3, 0x101e, 0x02_0000).payload(512, 128, 128).driven("mlx5_core");
    (f.ext_tag_supported, f.ari) = (true, true);
    f
}

/// Ports of switches: upstream, downstream.
pub(crate) fn switch(switch: Switch) -> (Function, Function) {
    let bridge = |vendor, device, speed, width, payload| {
        let mut f = Function::new(vendor, device, 0x06_0400).linked(speed, width).payload(payload, 256, 128);
        f.driver = Some("pcieport".into());
        (f.relaxed_ordering, f.no_snoop, f.has_aer, f.ten_bit_tag_supported) = (true, true, true, false);
        f
    };
    let (mut up, mut down) = match switch {
        Switch::Pex890xx => (bridge(0x1000, 0xc030, Gen5, 16, 2048), bridge(0x1000, 0xc030, Gen5, 16, 2048)),
        Switch::Pex880xx => (bridge(0x1000, 0xc010, Gen4, 16, 2048), bridge(0x1000, 0xc010, Gen4, 16, 2048)),
        Switch::Xio3130 => (bridge(0x104c, 0x8232, Gen1, 1, 128), bridge(0x104c, 0x8233, Gen1, 1, 128)),
    };
    (up.port, down.port) = (Some(Port::Up), Some(Port::Down));
    match switch {
        Switch::Xio3130 => {
            (up.mps, down.mps, up.revision, down.revision) = (128, 128, 2, 1);
            (up.relaxed_ordering, down.relaxed_ordering, up.no_snoop, down.no_snoop) = (false, false, false, false);
        }
        _ => {
            (up.revision, down.revision, up.subsystem, down.subsystem) =
                (0xb0, 0xb0, (0x1028, 0x224b), (0x1028, 0x224b));
            down.acs = Some((0x5f, 0));
        }
    }
    (up, down)
}

/// The endpoint through which a PEX switch is managed.
pub(crate) fn switch_management() -> Function {
    let mut f = Function::new(0x1000, 0x00b2, 0x01_0700).linked(Gen5, 16).payload(256, 256, 512).driven("mpt3sas");
    f = f.bar(0, 8 * M, true, false);
    (f.revision, f.has_aer, f.subsystem) = (0xb0, true, (0x1028, 0x224b));
    f
}

/// The PCIe switch in front of the NVSwitches, and one NVSwitch.
pub(crate) fn nvswitch(gpu: Gpus) -> (Function, Function, Function) {
    let bridge = || {
        let mut f = Function::new(0x11f8, 0x4128, 0x06_0400).linked(Gen4, 8).payload(512, 256, 128).driven("pcieport");
        (f.has_aer, f.relaxed_ordering) = (true, true);
        f
    };
    let (mut up, mut down) = (bridge(), bridge());
    (up.port, down.port, down.acs) = (Some(Port::Up), Some(Port::Down), Some((0x5f, 0)));
    down.link = Some(crate::function::Link::full(Gen4, 2));
    let (device, sub) = if gpu == Gpus::A100Sxm { (0x1af1, 0x1517) } else { (0x22a3, 0x1796) };
    let mut end =
        Function::new(0x10de, device, 0x06_8000).linked(Gen4, 2).payload(256, 256, 4096).driven("nvidia-nvswitch");
    end = end.bar(0, 32 * M, true, false);
    (end.subsystem, end.revision, end.has_aer) = ((0x10de, sub), 0xa1, true);
    (end.relaxed_ordering, end.ext_tag, end.ext_tag_supported, end.no_snoop) = (true, true, true, true);
    (up, down, end)
}

pub(crate) fn nvme(guest: bool) -> Function {
    if guest {
        let mut f =
            Function::new(0x1af4, 0x1042, 0x01_0000).linked(Gen1, 1).payload(128, 128, 128).driven("virtio-pci");
        (f.revision, f.subsystem) = (1, (0x1af4, 0x1100));
        return f.bar(1, 4096, false, false).bar(4, 16 << 10, true, true);
    }
    let mut f = Function::new(0x8086, 0x0b60, 0x01_0802).linked(Gen4, 4).payload(512, 256, 512).driven("nvme");
    (f.has_aer, f.relaxed_ordering, f.ext_tag, f.ext_tag_supported, f.no_snoop) = (true, true, true, true, true);
    f.subsystem = (0x1028, 0x219c);
    f.bar(0, 16 << 10, true, false)
}

/// The management network: a gigabit port, or virtio in a guest.
pub(crate) fn management_nic(guest: bool) -> Function {
    if guest {
        let mut f =
            Function::new(0x1af4, 0x1041, 0x02_0000).linked(Gen1, 1).payload(128, 128, 128).driven("virtio-pci");
        (f.revision, f.subsystem) = (1, (0x1af4, 0x1100));
        return f.bar(1, 4096, false, false).bar(4, 16 << 10, true, true);
    }
    let mut f = Function::new(0x14e4, 0x165f, 0x02_0000).linked(Gen2, 1).payload(512, 256, 4096).driven("tg3");
    (f.has_aer, f.relaxed_ordering, f.no_snoop, f.subsystem) = (true, true, true, (0x1028, 0x0a99));
    f.bar(0, 64 << 10, true, true).bar(2, 64 << 10, true, true)
}
