use super::*;
use crate::nvidia_proc::Flavour;
use crate::pci::Bdf;

fn bdf(text: &str) -> Option<Bdf> {
    text.parse().ok()
}

fn cases() -> Vec<(&'static str, Event)> {
    use Event as E;
    vec![
        (
            "iommu: Default domain type: Passthrough (set via kernel command line)",
            E::DefaultDomain { kind: DomainKind::Passthrough, via_cmdline: true },
        ),
        ("iommu: Default domain type: Translated ", E::DefaultDomain { kind: DomainKind::Translated, via_cmdline: false }),
        ("iommu: DMA domain TLB invalidation policy: lazy mode ", E::TlbPolicy { lazy: true, via_cmdline: false }),
        ("iommu: DMA domain TLB invalidation policy: strict mode", E::TlbPolicy { lazy: false, via_cmdline: false }),
        ("Memory encryption detected - Disabling default IOMMU Passthrough", E::PassthroughDisabledByEncryption),
        ("Memory Encryption Features active: AMD SME", E::MemoryEncryption("AMD SME".into())),
        ("pci 0000:07:00.1: Adding to iommu group 19", E::IommuGroup { bdf: bdf("07:00.1").unwrap(), group: 19 }),
        ("DMAR: IOMMU enabled", E::DmarEnabledByOption),
        ("DMAR: IOMMU disabled", E::DmarDisabled),
        ("DMAR: Intel-IOMMU force enabled due to platform opt in", E::DmarForcedByPlatform),
        ("DMAR: Intel(R) Virtualization Technology for Directed I/O", E::DmarInitialised),
        (
            "DMAR: [DMA Write NO_PASID] Request device [41:00.0] fault addr 0x7f00 [fault reason 0x05] PTE Write access is not set",
            E::DmarFault { bdf: bdf("41:00.0"), write: true, address: Some(0x7f00), reason: Some(5) },
        ),
        (
            "DMAR: [DMA Read] Request device [00:12.0] fault addr ff000 [fault reason 06] PTE Read access is not set",
            E::DmarFault { bdf: bdf("00:12.0"), write: false, address: Some(0xff000), reason: Some(6) },
        ),
        ("dmar_fault: 2474 callbacks suppressed", E::DmarFaultsSuppressed(2474)),
        ("AMD-Vi: Unknown option - 'on'", E::AmdVi(AmdVi::UnknownOption("on".into()))),
        ("AMD-Vi: Found IOMMU cap 0x40", E::AmdVi(AmdVi::Found(None))),
        ("pci 0000:00:00.2: AMD-Vi: Found IOMMU cap 0x40", E::AmdVi(AmdVi::Found(None))),
        ("AMD-Vi: Interrupt remapping enabled", E::AmdVi(AmdVi::InterruptRemapping)),
        ("pci 0000:60:00.2: AMD-Vi: IOMMU performance counters supported", E::AmdVi(AmdVi::PerformanceCounters)),
        (
            "mlx5_core 0000:41:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0012 address=0xfd000 flags=0x0020]",
            E::IoPageFault { bdf: bdf("41:00.0"), domain: Some(0x12), address: Some(0xfd000) },
        ),
        (
            "AMD-Vi: Event logged [IO_PAGE_FAULT device=41:00.0 domain=0x0012 address=0x00000000fd000000 flags=0x0020]",
            E::IoPageFault { bdf: bdf("41:00.0"), domain: Some(0x12), address: Some(0xfd00_0000) },
        ),
        ("arm-smmu-v3 arm-smmu-v3.0.auto: ias 48-bit, oas 48-bit (features 0x0)", E::SmmuInitialised),
        ("arm-smmu-v3 arm-smmu-v3.9.auto: event 0x10 received:", E::SmmuEvent { event: "0x10".into(), bdf: None }),
        (
            "arm-smmu-v3 arm-smmu-v3.9.auto: event: F_TRANSLATION client: 0009:01:00.0 sid: 0x100 ssid: 0x0",
            E::SmmuEvent { event: "F_TRANSLATION".into(), bdf: bdf("0009:01:00.0") },
        ),
        ("SNP: IOMMU disabled or configured in passthrough mode, SNP cannot be supported.", E::SnpNeedsTranslation),
        ("PCI-DMA: Using software bounce buffering for IO (SWIOTLB)", E::BounceBuffers),
        ("mlx5_core 0000:41:00.0: swiotlb buffer is full (sz: 4096 bytes)", E::DmaMapFailed { bdf: bdf("41:00.0") }),
        ("PCI: Can't parse ACS command line parameter", E::AcsParameterRejected),
        ("PCI: Unknown option `noacs'", E::PciUnknownOption("noacs".into())),
        (
            "mlx5_core 0000:41:00.1: 63.008 Gb/s available PCIe bandwidth (8.0 GT/s PCIe x8 link)",
            E::AvailableBandwidth { bdf: bdf("41:00.1"), gbps: 63.008, gts: Some(8.0), width: Some(8), limited_by: None },
        ),
        (
            "mlx5_core 0000:41:00.0: 126.024 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x8 link at 0000:40:01.1 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)",
            E::AvailableBandwidth {
                bdf: bdf("41:00.0"),
                gbps: 126.024,
                gts: Some(16.0),
                width: Some(8),
                limited_by: Some(LimitedBy {
                    at: bdf("40:01.1"),
                    capable_gbps: Some(504.112),
                    capable_gts: Some(32.0),
                    capable_width: Some(16),
                }),
            },
        ),
        ("pci 0000:01:00.0: BAR 1: can't assign; no space", E::BarNotAssigned { bdf: bdf("01:00.0"), bar: Some(1) }),
        (
            "pci 0000:01:00.0: BAR 1 [mem size 0x2000000000 64bit pref]: failed to assign",
            E::BarNotAssigned { bdf: bdf("01:00.0"), bar: Some(1) },
        ),
        (
            "pcieport 0000:00:01.0: bridge window [mem size 0x200000]: can't assign; no space",
            E::BarNotAssigned { bdf: bdf("00:01.0"), bar: None },
        ),
        (
            "vfio-pci 0000:01:00.0: BAR 1: can't reserve [mem 0xc0000000-0xcfffffff 64bit pref]",
            E::BarNotReserved { bdf: bdf("01:00.0"), bar: Some(1) },
        ),
        ("NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:", E::NvidiaBarInvalid { bdf: None }),
        ("NVRM: BAR1 is 0M @ 0x0 (PCI:0000:01:00.0)", E::NvidiaBarInvalid { bdf: bdf("01:00.0") }),
        (
            "pcieport 0000:00:01.0: AER: Corrected error received: 0000:01:00.0",
            E::Aer { bdf: bdf("01:00.0"), severity: AerSeverity::Corrected, layer: None },
        ),
        (
            "pcieport 0000:00:01.0: AER: Multiple Uncorrectable (Fatal) error message received from 0000:02:00.0",
            E::Aer { bdf: bdf("02:00.0"), severity: AerSeverity::Fatal, layer: None },
        ),
        (
            "nvidia 0000:04:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Requester ID)",
            E::Aer { bdf: bdf("04:00.0"), severity: AerSeverity::NonFatal, layer: Some("Transaction Layer".into()) },
        ),
        ("pcieport 0000:00:01.0: pciehp: Slot(1): Link Down", E::PciLink { bdf: bdf("00:01.0"), up: false }),
        (
            "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing",
            E::Peermem {
                error: true,
                text: "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing".into(),
            },
        ),
        (
            "nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client",
            E::SymbolMismatch { module: "nvidia_peermem".into(), symbol: "ib_register_peer_memory_client".into() },
        ),
        (
            "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)",
            E::UnknownSymbol { module: "nvidia_peermem".into(), symbol: "ib_register_peer_memory_client".into() },
        ),
        (
            "NVRM: dma-buf attach failed: PCI topology not supported for dma-buf",
            E::DmabufAttachFailed("PCI topology not supported for dma-buf".into()),
        ),
        (
            "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.144.03  Mon Dec 30 17:44:08 UTC 2024",
            E::NvidiaDriver { version: "550.144.03".into(), flavour: Flavour::Proprietary },
        ),
        (
            "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build  (x)",
            E::NvidiaDriver { version: "570.86.15".into(), flavour: Flavour::Open },
        ),
        ("NVRM: Xid (PCI:0000:38:00): 13, pid='<unknown>', name=x", E::Xid { bdf: bdf("38:00.0"), number: 13 }),
        ("NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x26:0x56:1463)", E::NvidiaInitFailed { bdf: bdf("01:00.0") }),
        (
            "nvidia: unknown parameter 'NVreg_EnablePCIeRelaxedOrderingMode' ignored",
            E::UnknownModuleParameter { module: "nvidia".into(), parameter: "NVreg_EnablePCIeRelaxedOrderingMode".into() },
        ),
        ("mlx5_core 0000:41:00.0 enp65s0f0np0: Link up", E::Mlx5 { bdf: bdf("41:00.0"), event: Mlx5Event::LinkUp }),
        (
            "mlx5_core 0000:41:00.1: Port module event: module 1, Cable unplugged",
            E::Mlx5 { bdf: bdf("41:00.1"), event: Mlx5Event::Module("Port module event: module 1, Cable unplugged".into()) },
        ),
        (
            "mlx5_core 0000:41:00.0: poll_health:955:(pid 0): device's health compromised - reached miss count",
            E::Mlx5 {
                bdf: bdf("41:00.0"),
                event: Mlx5Event::Health("poll_health:955:(pid 0): device's health compromised - reached miss count".into()),
            },
        ),
        ("Kernel is locked down from EFI Secure Boot; see man kernel_lockdown.7", E::LockedDown("EFI Secure Boot".into())),
        (
            "Lockdown: setpci: direct PCI access is restricted; see man kernel_lockdown.7",
            E::LockdownDenied("setpci: direct PCI access is restricted".into()),
        ),
        ("Kernel command line: ro iommu=pt", E::CommandLine("ro iommu=pt".into())),
    ]
}

#[test]
fn every_message_is_classified_and_every_class_has_an_anchor() {
    let mut log = String::from("noise\n\n");
    for (message, event) in cases() {
        assert_eq!(classify(message), Some(event), "{message}");
        log += &format!("[    1.500000] {message}\r\nnothing of interest\n");
    }
    let found = scan(log.as_bytes());
    let want: Vec<Event> = cases().into_iter().map(|(_, e)| e).collect();
    assert_eq!(found.iter().map(|f| f.event.clone()).collect::<Vec<_>>(), want);
    assert!(found.iter().enumerate().all(|(i, f)| f.line as usize == 3 + 2 * i && f.seconds == Some(1.5)));
}

#[test]
fn messages_that_only_look_alike() {
    for message in [
        "systemd[1]: NVRM is fine",
        "DMAR: Host address width 39",
        "AMD-Vi: something else",
        "nvidia-nvlink: Nvlink Core is being initialized, major device number 507",
        "nvidia-modeset: Loading NVIDIA Kernel Mode Setting Driver for UNIX platforms  550.144.03",
        "mlx5_core 0000:41:00.1: E-Switch: Total vports 10",
        "NVRM: Xid (PCI:x): y",
        "iommu: Default domain type: Odd",
        "",
    ] {
        assert_eq!(classify(message), None, "{message}");
    }
}

#[test]
fn clothes_of_a_line() {
    let text = "DMAR: IOMMU enabled";
    for (raw, time) in [
        (format!("[    0.123456] {text}"), Some(Time::Seconds(0.123_456))),
        (format!("   <6>[   10.5] {text}"), Some(Time::Seconds(10.5))),
        (format!("<4>[    1.5][    T1] {text}"), Some(Time::Seconds(1.5))),
        (format!("6,3973,227996636,-;{text}"), Some(Time::Seconds(227.996_636))),
        (format!("[Mon Nov 21 07:00:00 2026] {text}"), Some(Time::Text("Mon Nov 21 07:00:00 2026"))),
        (format!("[  +0.000012] {text}"), Some(Time::Text("+0.000012"))),
        (format!("Nov  1 07:00:00 host kernel: {text}"), Some(Time::Text("Nov  1 07:00:00"))),
        (format!("Nov 21 07:00:00 host kernel: [    0.5] {text}"), Some(Time::Seconds(0.5))),
        (format!("2026-11-21T07:00:00+0000 host kernel: {text}"), Some(Time::Text("2026-11-21T07:00:00+0000"))),
        (
            format!("kern  :warn  : 2025-01-21T04:41:44,285060+00:00 {text}"),
            Some(Time::Text("2025-01-21T04:41:44,285060+00:00")),
        ),
        (text.to_owned(), None),
    ] {
        assert_eq!(split(&raw), (time, text), "{raw}");
    }
    assert_eq!(split("[drm] Initialized"), (None, "[drm] Initialized"));
    assert_eq!(split("Nov 21 07:00:00 host sshd[1]: x").1, "host sshd[1]: x");
}
