//! The products: what their functions look like. Identities from the public PCI ID list; sizes and limits from the vendors'
//! data sheets and public `lspci` dumps.

use crate::description::{Fabric, Gpus, Nics, Switch};
use crate::function::{Function, Port};
use linerate_formats::pci::LinkSpeed::{Gen1, Gen2, Gen3, Gen4, Gen5, Gen6};

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
        Gpus::A100Pcie => m("NVIDIA A100 80GB PCIe", "Ampere", 81920, 0, "8.0"),
        Gpus::H100Pcie => m("NVIDIA H100 PCIe", "Hopper", 81559, 0, "9.0"),
        Gpus::L40s => m("NVIDIA L40S", "Ada Lovelace", 46068, 0, "8.9"),
        Gpus::Rtx6000Ada => m("NVIDIA RTX 6000 Ada Generation", "Ada Lovelace", 49140, 0, "8.9"),
        Gpus::V100Pcie => m("Tesla V100-PCIE-16GB", "Volta", 16384, 0, "7.0"),
        Gpus::T4 => m("Tesla T4", "Turing", 15360, 0, "7.5"),
        Gpus::B200 => m("NVIDIA B200", "Blackwell", 183_359, 18, "10.0"),
        Gpus::B300 => m("NVIDIA B300 SXM6 AC", "Blackwell", 275_040, 18, "10.3"),
        Gpus::Gb200 => m("NVIDIA GB200", "Blackwell", 189_471, 18, "10.0"),
        Gpus::Gb300 => m("NVIDIA GB300", "Blackwell", 284_208, 18, "10.3"),
        Gpus::Gh200 => m("NVIDIA GH200 480GB", "Hopper", 97_871, 0, "9.0"),
        Gpus::Gb10 => m("NVIDIA GB10", "Blackwell", 0, 0, "12.1"),
        Gpus::Mi300x | Gpus::Gaudi3 | Gpus::None => None,
    }
}

pub(crate) fn gpu(gpu: Gpus) -> Option<Function> {
    let (device, sub, speed, bar1) = match gpu {
        Gpus::H100Sxm => (0x2330, 0x16c1, Gen5, 128 * G),
        Gpus::H200Sxm => (0x2335, 0x18be, Gen5, 256 * G),
        Gpus::A100Sxm => (0x20b2, 0x147f, Gen4, 128 * G),
        Gpus::A100Pcie => (0x20b5, 0x1533, Gen4, 128 * G),
        Gpus::H100Pcie => (0x2331, 0x1626, Gen5, 128 * G),
        Gpus::Rtx6000Ada => (0x26b1, 0x16a1, Gen4, 64 * G),
        Gpus::L40s => (0x26b9, 0x1851, Gen4, 64 * G),
        Gpus::V100Pcie => (0x1db4, 0x1214, Gen3, 16 * G),
        Gpus::T4 => (0x1eb8, 0x12a2, Gen3, 256 * M),
        // Ids of the GB parts, BAR1 and the largest generation: nvidia-smi -q -x of such nodes (see lab/nodes/healthy).
        Gpus::B200 => (0x2901, 0x1999, Gen6, 256 * G),
        Gpus::B300 => (0x3182, 0x20e6, Gen6, 512 * G),
        Gpus::Gb200 => (0x2941, 0x2046, Gen6, 256 * G),
        Gpus::Gb300 => (0x31c2, 0x21f1, Gen6, 512 * G),
        Gpus::Gh200 => (0x2342, 0x1809, Gen5, 128 * G),
        Gpus::Gb10 => (0x2e12, 0x21ec, Gen5, 64 * M),
        Gpus::Mi300x => return Some(amd()),
        Gpus::Gaudi3 => return Some(gaudi()),
        Gpus::None => return None,
    };
    let hopper = matches!(
        gpu,
        Gpus::H100Sxm
            | Gpus::H200Sxm
            | Gpus::H100Pcie
            | Gpus::B200
            | Gpus::B300
            | Gpus::Gb200
            | Gpus::Gb300
            | Gpus::Gh200
    );
    // A workstation's card is a display controller.
    let class = if matches!(gpu, Gpus::Gb10 | Gpus::Rtx6000Ada) { 0x03_0000 } else { 0x03_0200 };
    let mut f = Function::new(0x10de, device, class).linked(speed, 16).payload(256, 256, 4096).driven("nvidia");
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

/// MI300X: BAR0 is all of its memory, rounded up.
fn amd() -> Function {
    let mut f = Function::new(0x1002, 0x74a1, 0x12_0000).linked(Gen5, 16).payload(512, 256, 512).driven("amdgpu");
    f = f.bar(0, 256 * G, true, true).bar(2, 2 * M, true, true).bar(5, 512 << 10, false, false);
    f.subsystem = (0x1002, 0x74a1);
    (f.relaxed_ordering, f.ext_tag, f.ext_tag_supported) = (true, true, true);
    (f.ten_bit_tag_supported, f.has_aer) = (true, true);
    f
}

/// Intel Gaudi 3.
fn gaudi() -> Function {
    let mut f = Function::new(0x1da3, 0x1060, 0x12_0000).linked(Gen5, 16).payload(512, 256, 512).driven("habanalabs");
    f = f.bar(0, 128 * M, true, true).bar(2, 128 * G, true, true);
    (f.relaxed_ordering, f.ext_tag, f.ext_tag_supported, f.has_aer) = (true, true, true, true);
    f
}

/// Modules that come with a PCI driver.
pub(crate) const MODULES: [(&str, &[&str]); 5] = [
    ("efa", &["efa", "ib_core", "ib_uverbs"]),
    ("bnxt_en", &["bnxt_en", "bnxt_re", "ib_core", "ib_uverbs"]),
    ("ice", &["ice", "irdma", "ib_core", "ib_uverbs"]),
    ("amdgpu", &["amdgpu"]),
    ("habanalabs", &["habanalabs"]),
];

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
    /// Whether an RDMA device comes of it.
    pub(crate) rdma: bool,
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
        rdma: true,
    };
    let cx6 = NicModel {
        product: "ConnectX-6 VPI adapter card; HDR IB (200Gb/s) and 200GbE; single-port QSFP56; PCIe4.0 x16",
        device_type: "ConnectX6",
        part: "MCX653105A-HDA_Ax",
        hca_type: "MT4123",
        board_id: "MT_0000000223",
        fw_ver: "20.43.2026",
        rate: "200 Gb/sec (4X HDR)",
        mbps: 200_000,
        ..cx7.clone()
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
        Nics::ConnectX7Dual => Some(NicModel {
            product: "NVIDIA ConnectX-7 HHHL adapter card; 200GbE; dual-port QSFP112; PCIe 5.0 x16",
            part: "MCX755106AS-HEA_Ax",
            board_id: "MT_0000000834",
            fabric: Fabric::Ethernet,
            rate: "200 Gb/sec (4X HDR)",
            mbps: 200_000,
            functions: 2,
            ..cx7
        }),
        Nics::ConnectX6Ib => Some(cx6),
        Nics::ConnectX6Roce => Some(NicModel { fabric: Fabric::Ethernet, ..cx6 }),
        Nics::ConnectX6Dual => Some(NicModel { fabric: Fabric::Ethernet, functions: 2, ..cx6 }),
        Nics::ConnectX6Hdr100 => Some(NicModel { rate: "100 Gb/sec (2X HDR)", mbps: 100_000, ..cx6 }),
        Nics::ConnectX6VfIb => Some(NicModel { hca_type: "MT4124", board_id: "MT_0000000010", ..cx6 }),
        Nics::ConnectX7VfIb => Some(NicModel { hca_type: "MT4126", board_id: "MT_0000000010", ..cx7 }),
        Nics::ConnectX5Roce | Nics::ConnectX5VfEth => Some(NicModel {
            product: "ConnectX-5 EN adapter card; 100GbE single-port QSFP28; PCIe3.0 x16",
            device_type: "ConnectX5",
            part: "MCX515A-CCA_Ax_Bx",
            hca_type: if nic == Nics::ConnectX5Roce { "MT4119" } else { "MT4120" },
            board_id: "MT_0000000011",
            fw_ver: "16.35.4030",
            fabric: Fabric::Ethernet,
            rate: "100 Gb/sec (4X EDR)",
            mbps: 100_000,
            ..cx7
        }),
        Nics::ConnectX4Lx => Some(NicModel {
            product: "ConnectX-4 Lx EN network interface card; 25GbE dual-port SFP28; PCIe3.0 x8",
            device_type: "ConnectX4LX",
            part: "MCX4121A-ACA_Ax",
            hca_type: "MT4117",
            board_id: "MT_2420110034",
            fw_ver: "14.32.1912",
            fabric: Fabric::Ethernet,
            rate: "25 Gb/sec (1X EDR)",
            mbps: 25_000,
            functions: 2,
            ..cx7
        }),
        Nics::Bcm57508 => Some(NicModel {
            product: "BCM57508 NetXtreme-E 2x100G",
            device_type: "BCM57508",
            part: "P2100G",
            hca_type: "BCM57508",
            board_id: "",
            fw_ver: "231.0.153.0",
            hw_rev: "0x1750",
            driver: "bnxt_en",
            fabric: Fabric::Ethernet,
            rate: "100 Gb/sec (4X EDR)",
            mbps: 100_000,
            functions: 2,
            ..cx7
        }),
        Nics::Gvnic => Some(NicModel {
            product: "gVNIC",
            device_type: "",
            part: "",
            hca_type: "",
            board_id: "",
            driver: "gve",
            fabric: Fabric::Ethernet,
            rate: "",
            mbps: 200_000,
            rdma: false,
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
            ..cx7
        }),
        Nics::BlueField3Dpu => Some(NicModel {
            product: "NVIDIA BlueField-3 B3220 P-Series FHHL DPU; 200GbE (default mode) / NDR200 IB; Dual-port QSFP112",
            functions: 2,
            rate: "200 Gb/sec (4X HDR)",
            mbps: 200_000,
            ..nic_model(Nics::BlueField3)?
        }),
        Nics::ConnectX8 => Some(NicModel {
            product: "NVIDIA ConnectX-8 Mezz; 800Gbs XDR IB (default mode) / 2x400GbE; PCIe Gen6 with x16 PCIe extension",
            device_type: "ConnectX8",
            part: "900-9X86E-00CX-ST0_Ax",
            hca_type: "MT4131",
            board_id: "NVD0000000049",
            fw_ver: "40.46.1006",
            rate: "800 Gb/sec (4X XDR)",
            mbps: 800_000,
            ..cx7
        }),
        Nics::ConnectX8Roce => Some(NicModel {
            fabric: Fabric::Ethernet,
            rate: "400 Gb/sec (4X NDR)",
            mbps: 400_000,
            functions: 2,
            ..nic_model(Nics::ConnectX8)?
        }),
        Nics::ConnectX7x4 => Some(NicModel {
            product: "ConnectX-7; 200GbE; Dual-port QSFP112; 2 x PCIe Gen5 x4",
            part: "MCX75510AAS-HEA_Ax",
            fabric: Fabric::Ethernet,
            rate: "200 Gb/sec (4X HDR)",
            mbps: 200_000,
            functions: 2,
            ..cx7
        }),
        Nics::NvlinkBridge => Some(NicModel {
            product: "Nvidia ConnectX-7 mezz for HGX NVLink management",
            part: "692-9X760-00SE-S00",
            board_id: "NVD0000000054",
            functions: 4,
            ..cx7
        }),
        Nics::Efa | Nics::Efa2 | Nics::Efa3 => {
            let fast = nic == Nics::Efa3;
            Some(NicModel {
                product: "Elastic Fabric Adapter",
                device_type: "",
                part: "",
                hca_type: "",
                board_id: "",
                fw_ver: "0.0.0.0",
                hw_rev: "",
                driver: "efa",
                fabric: Fabric::Unspecified,
                rate: if fast { "200 Gb/sec (4X HDR)" } else { "100 Gb/sec (4X EDR)" },
                mbps: if fast { 200_000 } else { 100_000 },
                functions: 1,
                ports: 1,
                rdma: true,
            })
        }
        Nics::Bnxt => Some(NicModel {
            product: "Broadcom BCM57608 1x400G PCIe Ethernet NIC",
            device_type: "",
            part: "",
            hca_type: "BCM57608",
            board_id: "",
            fw_ver: "231.2.63.0",
            hw_rev: "0x1760",
            driver: "bnxt_en",
            fabric: Fabric::Ethernet,
            ..cx7
        }),
        Nics::Irdma => Some(NicModel {
            product: "Intel Ethernet Controller E810-C for QSFP",
            device_type: "",
            part: "",
            hca_type: "GEN2",
            board_id: "",
            fw_ver: "1.71",
            hw_rev: "0x2",
            driver: "ice",
            fabric: Fabric::Ethernet,
            rate: "100 Gb/sec (4X EDR)",
            mbps: 100_000,
            ..cx7
        }),
        Nics::None => None,
    }
}

pub(crate) fn nic(nic: Nics) -> Option<Function> {
    let ib = matches!(
        nic,
        Nics::ConnectX7Ib
            | Nics::ConnectX6Ib
            | Nics::ConnectX6Hdr100
            | Nics::ConnectX6VfIb
            | Nics::ConnectX7VfIb
            | Nics::ConnectX8
            | Nics::NvlinkBridge
    );
    let class = if ib { 0x02_0700 } else { 0x02_0000 };
    let f = match nic {
        Nics::ConnectX7Ib | Nics::ConnectX7Roce | Nics::ConnectX7Dual => {
            Function::new(0x15b3, 0x1021, class).linked(Gen5, 16)
        }
        Nics::ConnectX6Ib | Nics::ConnectX6Roce | Nics::ConnectX6Dual | Nics::ConnectX6Hdr100 => {
            Function::new(0x15b3, 0x101b, class).linked(Gen4, 16)
        }
        Nics::ConnectX5Roce => Function::new(0x15b3, 0x1017, class).linked(Gen3, 16),
        Nics::ConnectX4Lx => Function::new(0x15b3, 0x1015, class).linked(Gen3, 8),
        Nics::ConnectX7VfIb | Nics::ConnectX6VfIb | Nics::ConnectX5VfEth => {
            let mut f = vf();
            (f.device, f.class, f.model) = (0x101e, class, Some(nic));
            if nic != Nics::ConnectX7VfIb {
                f.device = if nic == Nics::ConnectX6VfIb { 0x101c } else { 0x1018 };
            }
            f.subsystem = (0x15b3, 0x0023);
            return Some(f);
        }
        Nics::Bcm57508 => {
            let mut f = Function::new(0x14e4, 0x1750, class).linked(Gen4, 16).payload(512, 256, 4096).driven("bnxt_en");
            f = f.bar(0, 64 << 10, true, true).bar(2, M, true, true).bar(4, 64 << 10, true, true);
            (f.subsystem, f.revision, f.model) = ((0x14e4, 0x2100), 0x11, Some(nic));
            (f.relaxed_ordering, f.no_snoop, f.ext_tag, f.ext_tag_supported) = (true, true, true, true);
            (f.has_aer, f.ari) = (true, true);
            return Some(f);
        }
        Nics::Gvnic => {
            let mut f = Function::new(0x1ae0, 0x0042, class).linked(Gen1, 1).payload(128, 128, 128).driven("gve");
            (f.port, f.model) = (Some(Port::Endpoint), Some(nic));
            return Some(f.bar(0, 4096, false, false).bar(1, 64, false, false).bar(2, 2 * M, false, false));
        }
        Nics::BlueField3 => Function::new(0x15b3, 0xa2dc, class).linked(Gen5, 16),
        Nics::ConnectX6Dx => Function::new(0x15b3, 0x101d, class).linked(Gen4, 16),
        Nics::ConnectX3 => Function::new(0x15b3, 0x1003, class).linked(Gen3, 8),
        Nics::BlueField3Dpu => Function::new(0x15b3, 0xa2dc, class).linked(Gen5, 16),
        Nics::ConnectX8 | Nics::ConnectX8Roce => Function::new(0x15b3, 0x1023, class).linked(Gen6, 16),
        Nics::ConnectX7x4 => Function::new(0x15b3, 0x1021, class).linked(Gen5, 4),
        Nics::NvlinkBridge => Function::new(0x15b3, 0x1021, class).linked(Gen5, 2),
        Nics::Efa | Nics::Efa2 | Nics::Efa3 => return Some(efa(nic)),
        Nics::Bnxt | Nics::Irdma => return Some(other(nic)),
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
    f.model = Some(nic);
    if !mlx4 {
        f.sriov = Some(crate::function::SrIov { total: 16, number: 0, offset: 1, stride: 1, device: 0x101e });
    }
    Some(f)
}

/// EFA is a function that Nitro shows to guests: no SR-IOV of its own, no ACS, no AER.
fn efa(nic: Nics) -> Function {
    let (device, speed, width) = match nic {
        Nics::Efa => (0xefa0, Gen3, 16),
        Nics::Efa2 => (0xefa1, Gen5, 16),
        _ => (0xefa2, Gen5, 16),
    };
    let mut f = Function::new(0x1d0f, device, 0x02_0000).linked(speed, width).payload(256, 256, 512).driven("efa");
    f = f.bar(0, 16 << 10, false, false).bar(2, M, true, true);
    f.subsystem = (0x1d0f, device);
    (f.relaxed_ordering, f.ext_tag, f.ext_tag_supported) = (true, true, true);
    f
}

fn other(nic: Nics) -> Function {
    let mut f = match nic {
        Nics::Bnxt => Function::new(0x14e4, 0x1760, 0x02_0000).linked(Gen5, 16).driven("bnxt_en"),
        _ => Function::new(0x8086, 0x1592, 0x02_0000).linked(Gen4, 16).driven("ice"),
    };
    f = f.payload(512, 256, 4096).bar(0, 64 << 10, true, true).bar(2, M, true, true);
    f.subsystem = (f.vendor, if nic == Nics::Bnxt { 0xd125 } else { 0x0002 });
    (f.relaxed_ordering, f.no_snoop, f.ext_tag, f.ext_tag_supported) = (true, true, true, true);
    (f.ten_bit_tag_supported, f.has_aer, f.ari) = (true, true, true);
    f.sriov = Some(crate::function::SrIov { total: 16, number: 0, offset: 1, stride: 1, device: f.device + 0x0b });
    f
}

/// The Data Direct function of a ConnectX-8. Its driver is registered by mlx5_ib.
pub(crate) fn data_direct() -> Function {
    let mut f = Function::new(0x15b3, 0x2100, 0x08_0100).linked(Gen6, 16).payload(512, 256, 4096).driven("mlx5_ib");
    f.subsystem = (0x15b3, 0x0021);
    (f.relaxed_ordering, f.no_snoop, f.ext_tag, f.ext_tag_supported, f.ten_bit_tag_supported) =
        (true, true, true, true, true);
    f.has_aer = true;
    f.bar(0, 32 * M, true, true)
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
        Switch::ConnectX => (bridge(0x15b3, 0x197c, Gen6, 16, 512), bridge(0x15b3, 0x197c, Gen6, 16, 512)),
        Switch::Nitro => (bridge(0x1d0f, 0x0200, Gen5, 16, 512), bridge(0x1d0f, 0x0200, Gen5, 16, 512)),
        Switch::Xio3130 => (bridge(0x104c, 0x8232, Gen1, 1, 128), bridge(0x104c, 0x8233, Gen1, 1, 128)),
    };
    (up.port, down.port) = (Some(Port::Up), Some(Port::Down));
    match switch {
        Switch::Xio3130 => {
            (up.mps, down.mps, up.revision, down.revision) = (128, 128, 2, 1);
            (up.relaxed_ordering, down.relaxed_ordering, up.no_snoop, down.no_snoop) = (false, false, false, false);
        }
        Switch::Nitro => {
            (up.has_aer, down.has_aer) = (false, false);
            (up.subsystem, down.subsystem) = ((0x1d0f, 0x0200), (0x1d0f, 0x0200));
        }
        Switch::ConnectX => {
            (up.subsystem, down.subsystem) = ((0x15b3, 0), (0x15b3, 0));
            down.acs = Some((0x5f, 0));
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

/// AWS' Elastic Network Adapter.
pub(crate) fn ena() -> Function {
    let mut f = Function::new(0x1d0f, 0xec20, 0x02_0000).payload(256, 256, 512).driven("ena");
    (f.port, f.config_len, f.subsystem) = (None, 256, (0x1d0f, 0xec20));
    f.bar(0, 16 << 10, false, false)
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
