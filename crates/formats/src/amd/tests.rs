use super::*;

const TOPO: &str = "\
$ amd-smi topology
ACCESS TABLE:
             0000:0c:00.0 0000:22:00.0
0000:0c:00.0 ENABLED      DISABLED
0000:22:00.0 ENABLED      ENABLED

LINK TYPE TABLE:
             0000:0c:00.0 0000:22:00.0
0000:0c:00.0 SELF         XGMI
0000:22:00.0 XGMI

NUMA BW TABLE:
             0000:0c:00.0 0000:22:00.0
0000:0c:00.0 N/A          AMDSMI_STATUS_NOT_SUPPORTED - Feature not supported
0000:22:00.0 50000-50000  N/A


Legend:
  SELF = Current GPU
";

const ROCM: &str = "\
============================ ROCm System Management Interface ============================
=============================== Link Type between two GPUs ===============================
       GPU0         GPU1         
GPU0   0            XGMI         
GPU1   PCIE         0            

======================================= Numa Nodes =======================================
GPU[0]\t\t: (Topology) Numa Node: 0
GPU[0]\t\t: (Topology) Numa Affinity: 1
======================================= PCI Bus ID =======================================
GPU[0]\t\t: PCI Bus: 0000:26:00.0
GPU[1]\t\t: PCI Bus: 0000:46:00.0
================================== PCIe Replay Counter ===================================
GPU[1]\t\t: PCIe Replay Count: 7
=================================== Concise Hardware Info ================================
GPU  NODE  DID     GUID   GFX VER  GFX RAS  SDMA RAS  UMC RAS  VBIOS             BUS           PARTITION ID
0    2     0x74a1  28851  gfx942   ENABLED  ENABLED   ENABLED  113-M3000100-102  0000:26:00.0  0
================================== End of ROCm SMI Log ===================================
";

fn at(bdf: &str) -> Device {
    Device::At(bdf.parse().unwrap())
}

fn kinds(smi: &Smi, what: What) -> Vec<(Device, Device, &str, u32)> {
    smi.cells.iter().filter(|c| c.what == what).map(|c| (c.from, c.to, c.value.as_str(), c.line)).collect()
}

#[test]
fn tables_of_amd_smi() {
    let smi = parse(TOPO.as_bytes());
    let (a, b) = (at("0000:0c:00.0"), at("0000:22:00.0"));
    assert_eq!(kinds(&smi, What::LinkType), [(a, a, "SELF", 9), (a, b, "XGMI", 9)]);
    assert_eq!(kinds(&smi, What::Access).len(), 4);
    assert_eq!(kinds(&smi, What::Bandwidth).len(), 2);
    assert_eq!(smi.broken_rows, [10, 14], "a row that is cut is no row");
    assert_eq!(smi.heads.iter().filter(|(w, _)| *w == What::LinkType).count(), 2);
}

#[test]
fn rocm_smi() {
    let smi = parse(ROCM.as_bytes());
    let (a, b) = (Device::Number(0), Device::Number(1));
    assert_eq!(kinds(&smi, What::LinkType), [(a, a, "0", 4), (a, b, "XGMI", 4), (b, a, "PCIE", 5), (b, b, "0", 5)]);
    let [one, two] = smi.gpus.as_slice() else { panic!("{smi:?}") };
    assert_eq!((one.numa_affinity, one.device_id), (Some(At::new(1, 9)), Some(At::new(0x74a1, 17))));
    assert_eq!((two.replays, two.line), (Some(At::new(7, 14)), 12));
    assert_eq!(one.bdf.map(|b| b.line), Some(11));
}

#[test]
fn blocks_of_amd_smi() {
    let text = "GPU: 0\n    ASIC:\n        MARKET_NAME: AMD Instinct MI350X\n        DEVICE_ID: 0x75a0\n        SUBSYSTEM_ID: 0x75a0\n    BUS:\n        BDF: 0000:05:00.0\n        MAX_PCIE_WIDTH: 16\n        MAX_PCIE_SPEED: 32 GT/s\n        SLOT_TYPE: OAM\n    DRIVER:\n        NAME: amdgpu\n        VERSION: 6.18.3\n    PCIE:\n        WIDTH: 8\n        SPEED: 2.5 GT/s\n        REPLAY_COUNT: 3\n        REPLAY_ROLL_OVER_COUNT: 1\n        NAK_SENT_COUNT: N/A\n\nGPU: 1\n    USAGE:\n        WIDTH: 4\n    PCIE:\n        WIDTH: 1";
    let smi = parse(text.as_bytes());
    let [one, two] = smi.gpus.as_slice() else { panic!("{smi:?}") };
    assert_eq!(one.width, Some(At::new(crate::pci::LinkWidth(8), 15)));
    assert_eq!(one.max_width, Some(At::new(crate::pci::LinkWidth(16), 8)));
    assert_eq!((one.replays, one.replay_rollovers, one.naks_sent), (Some(At::new(3, 17)), Some(At::new(1, 18)), None));
    assert_eq!(smi.driver, Some(At::new("6.18.3".to_owned(), 13)));
    assert_eq!(two.width, None, "half a number at the end of a text");
    let listed =
        parse(b"GPU: 3\n    BDF: 0000:c8:00.0\n    UUID: 58ff74a1-0000-1000-8086-e6ab34700df5\n    KFD_ID: 1\n");
    assert!(listed.gpus[0].unique_id.is_some() && listed.gpus[0].number == 3);
}

#[test]
fn json_of_both() {
    let amd = "$ amd-smi topology --json\n[\n    {\n        \"gpu\": 0,\n        \"bdf\": \"0000:0c:00.0\",\n        \"links\": [\n            {\n                \"gpu\": 1,\n                \"bdf\": \"0000:22:00.0\",\n                \"link_status\": \"ENABLED\",\n                \"link_type\": \"XGMI\"\n            }\n        ]\n    }\n]\n$ \n";
    let smi = parse(amd.as_bytes());
    assert_eq!(kinds(&smi, What::LinkType), [(at("0000:0c:00.0"), at("0000:22:00.0"), "XGMI", 11)]);
    assert_eq!(smi.gpus[0].bdf.map(|b| b.line), Some(5));
    let metric = "{\"gpu_data\": [{\"gpu\": 0, \"pcie\": {\"width\": 16, \"speed\": {\"value\": 32, \"unit\": \"GT/s\"}, \"replay_count\": 2}}]}\n";
    let smi = parse(metric.as_bytes());
    assert_eq!((smi.gpus[0].replays, smi.gpus[0].speed.map(|s| s.value.generation())), (Some(At::new(2, 1)), Some(5)));
    let rocm = "WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status\n\n{\"card0\": {\"PCI Bus\": \"0000:1E:00.0\", \"PCIe Replay Count\": \"0\"}, \"system\": {\"Driver version\": \"6.7.0\", \"(Topology) Link type between DRM devices 0 and 1\": \"XGMI\"}}\n";
    let smi = parse(rocm.as_bytes());
    assert_eq!(kinds(&smi, What::LinkType), [(Device::Number(0), Device::Number(1), "XGMI", 3)]);
    assert_eq!((smi.gpus[0].replays, smi.driver.is_some()), (Some(At::new(0, 3)), true));
}

#[test]
fn odd_texts() {
    for odd in [
        "",
        "GPU:",
        "GPU: \n",
        "GPU[",
        "GPU[]:",
        "GPU[0]",
        "ACCESS TABLE:\nGPU0",
        "===",
        "{",
        "[\n",
        "{\"card0\": 1}",
        "[[[",
        "]{",
    ] {
        let _ = parse(odd.as_bytes());
    }
    let head: String = (0..3000).map(|n| format!("GPU{n} ")).collect();
    let smi = parse(format!("HOPS TABLE:\n{head}\nGPU1 1\n").as_bytes());
    assert!(smi.heads.len() == GPUS && !smi.left_out.is_empty() && smi.cells.is_empty());
    let many: String = (0..3000).map(|n| format!("GPU: {n}\n    BDF: 0000:01:00.0\n")).collect();
    assert_eq!(parse(many.as_bytes()).gpus.len(), GPUS);
}
