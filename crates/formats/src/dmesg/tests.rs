use super::*;
use crate::nvidia_proc::Flavour;
use crate::pci::Bdf;
use crate::xid::Detail;

fn bdf(text: &str) -> Option<Bdf> {
    text.parse().ok()
}

fn of(address: &str, class: DriverClass) -> Requester {
    Requester { bdf: bdf(address), class }
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
            E::DmarFault { of: of("41:00.0", DriverClass::Unknown), write: true, address: Some(0x7f00), reason: Some(5) },
        ),
        (
            "DMAR: [DMA Read] Request device [00:12.0] fault addr ff000 [fault reason 06] PTE Read access is not set",
            E::DmarFault { of: of("00:12.0", DriverClass::Unknown), write: false, address: Some(0xff000), reason: Some(6) },
        ),
        (
            "DMAR:[DMA Write] Request device [02:00.0] fault addr f1000000 ",
            E::DmarFault { of: of("02:00.0", DriverClass::Unknown), write: true, address: Some(0xf100_0000), reason: None },
        ),
        // As people retype it, the address left out.
        (
            "DMAR: [DMA Write] Request Device [  :  :  .  ] fault addr ",
            E::DmarFault { of: Requester::UNNAMED, write: true, address: None, reason: None },
        ),
        (
            "dmar: DMAR:[DMA Read] Request device [00:02.0] fault addr 7f000 ",
            E::DmarFault { of: of("00:02.0", DriverClass::Unknown), write: false, address: Some(0x7f000), reason: None },
        ),
        (
            "xhci_hcd 0000:02:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x000a address=0x0 flags=0x0020]",
            E::IoPageFault { of: of("02:00.0", DriverClass::Usb), domain: Some(10), address: Some(0) },
        ),
        (
            "arm-smmu 2b400000.smmu: Unhandled context fault: fsr=0x402, iova=0xf0, fsynr=0x1, cbfrsynra=0x1, cb=1",
            E::SmmuEvent { event: "context fault".into(), of: Requester::UNNAMED, sid: None },
        ),
        (
            "arm-smmu-v3 arm-smmu-v3.9.auto: event: F_TRANSLATION client: (unassigned sid) sid: 0x8 ssid: 0x0 iova: 0x1 ipa: 0x0",
            E::SmmuEvent { event: "F_TRANSLATION".into(), of: Requester::UNNAMED, sid: Some(8) },
        ),
        (
            "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)",
            E::SXid { bdf: bdf("c1:00.0"), number: 12028, fatal: Some(false) },
        ),
        (
            "nvidia-nvswitch0: SXid (PCI:0000:c0:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
            E::SXid { bdf: bdf("c0:00.0"), number: 20034, fatal: Some(true) },
        ),
        ("mlx5_core 0000:18:00.0: firmware version: 28.39.1002", E::Bound(of("18:00.0", DriverClass::RdmaNic))),
        ("xhci_hcd 0000:00:14.0: enabling device (0000 -> 0002)", E::Bound(of("00:14.0", DriverClass::Usb))),
        ("dmar_fault: 2474 callbacks suppressed", E::DmarFaultsSuppressed(2474)),
        ("AMD-Vi: Unknown option - 'on'", E::AmdVi(AmdVi::UnknownOption("on".into()))),
        ("AMD-Vi: Found IOMMU cap 0x40", E::AmdVi(AmdVi::Found(None))),
        ("pci 0000:00:00.2: AMD-Vi: Found IOMMU cap 0x40", E::AmdVi(AmdVi::Found(None))),
        ("AMD-Vi: Interrupt remapping enabled", E::AmdVi(AmdVi::InterruptRemapping)),
        ("pci 0000:60:00.2: AMD-Vi: IOMMU performance counters supported", E::AmdVi(AmdVi::PerformanceCounters)),
        (
            "mlx5_core 0000:41:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0012 address=0xfd000 flags=0x0020]",
            E::IoPageFault { of: of("41:00.0", DriverClass::RdmaNic), domain: Some(0x12), address: Some(0xfd000) },
        ),
        (
            "AMD-Vi: Event logged [IO_PAGE_FAULT device=41:00.0 domain=0x0012 address=0x00000000fd000000 flags=0x0020]",
            E::IoPageFault { of: of("41:00.0", DriverClass::Unknown), domain: Some(0x12), address: Some(0xfd00_0000) },
        ),
        ("arm-smmu-v3 arm-smmu-v3.0.auto: ias 48-bit, oas 48-bit (features 0x0)", E::SmmuInitialised),
        ("arm-smmu-v3 arm-smmu-v3.9.auto: event 0x10 received:", E::SmmuEvent { event: "0x10".into(), of: Requester::UNNAMED, sid: None }),
        (
            "arm-smmu-v3 arm-smmu-v3.9.auto: event: F_TRANSLATION client: 0009:01:00.0 sid: 0x100 ssid: 0x0",
            E::SmmuEvent { event: "F_TRANSLATION".into(), of: of("0009:01:00.0", DriverClass::Unknown), sid: Some(0x100) },
        ),
        ("SNP: IOMMU disabled or configured in passthrough mode, SNP cannot be supported.", E::SnpNeedsTranslation),
        ("PCI-DMA: Using software bounce buffering for IO (SWIOTLB)", E::BounceBuffers),
        ("mlx5_core 0000:41:00.0: swiotlb buffer is full (sz: 4096 bytes)", E::DmaMapFailed { bdf: bdf("41:00.0") }),
        ("PCI: Can't parse ACS command line parameter", E::AcsParameterRejected),
        ("PCI: Unknown option `noacs'", E::PciUnknownOption("noacs".into())),
        (
            "ixgbe 0000:82:00.0: This is not sufficient for optimal performance of this card.",
            E::InsufficientBandwidth { bdf: bdf("82:00.0") },
        ),
        (
            "i40e 0000:81:00.0: PCI-Express bandwidth available for this device may be insufficient for optimal performance.",
            E::InsufficientBandwidth { bdf: bdf("81:00.0") },
        ),
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
            E::Aer { of: of("01:00.0", DriverClass::Unknown), severity: AerSeverity::Corrected, layer: None },
        ),
        (
            "pcieport 0000:00:01.0: AER: Multiple Uncorrectable (Fatal) error message received from 0000:02:00.0",
            E::Aer { of: of("02:00.0", DriverClass::Unknown), severity: AerSeverity::Fatal, layer: None },
        ),
        (
            "nvidia 0000:04:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Requester ID)",
            E::Aer { of: of("04:00.0", DriverClass::Gpu), severity: AerSeverity::NonFatal, layer: Some("Transaction Layer".into()) },
        ),
        (
            "pcieport 0000:00:01.0: AER: Uncorrected (Non-Fatal) error received: id=0010",
            E::Aer { of: of("00:01.0", DriverClass::Port), severity: AerSeverity::NonFatal, layer: None },
        ),
        (
            "pcieport 0000:00:01.0: AER: device recovery failed",
            E::Aer { of: of("00:01.0", DriverClass::Port), severity: AerSeverity::NonFatal, layer: None },
        ),
        (
            "pcieport 0000:00:01.0: DPC: containment event, status:0x000d, ERR_FATAL received from 0000:02:00.0",
            E::Aer { of: of("02:00.0", DriverClass::Unknown), severity: AerSeverity::Fatal, layer: None },
        ),
        (
            "pcieport 0000:00:01.0: DPC: containment event, status:0x1f01 source:0x0000",
            E::Aer { of: of("00:01.0", DriverClass::Port), severity: AerSeverity::Fatal, layer: None },
        ),
        (
            "pcieport 0000:00:01.0: DPC: ERR_NONFATAL detected",
            E::Aer { of: of("00:01.0", DriverClass::Port), severity: AerSeverity::NonFatal, layer: None },
        ),
        (
            "dpc 0000:00:03.2:pcie008: DPC containment event, status:0x1f01 source:0x0000",
            E::Aer { of: of("00:03.2", DriverClass::Port), severity: AerSeverity::Fatal, layer: None },
        ),
        (
            "pcieport 0000:30:03.0: EDR: EDR event received",
            E::Aer { of: of("30:03.0", DriverClass::Port), severity: AerSeverity::Fatal, layer: None },
        ),
        ("mlx5_core 0000:ab:00.0 mlx5_5: Port: 1 Link DOWN", E::Mlx5 { bdf: bdf("ab:00.0"), event: Mlx5Event::LinkDown }),
        ("pcieport 0000:00:01.0: pciehp: Slot(1): Link Down", E::PciLink { of: of("00:01.0", DriverClass::Port), up: false }),
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
            E::UnknownSymbol {
                module: "nvidia_peermem".into(),
                symbol: "ib_register_peer_memory_client".into(),
                error: Some(-22),
            },
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
        ("NVRM: Xid (PCI:0000:38:00): 13, pid='<unknown>', name=x", E::Xid { bdf: bdf("38:00.0"), number: 13, detail: Detail::Number }),
        ("NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x26:0x56:1463)", E::NvidiaInitFailed { bdf: bdf("01:00.0") }),
        ("NVRM: GPU 0000:01:00.0: rm_init_adapter failed, device minor number 0", E::NvidiaInitFailed { bdf: bdf("01:00.0") }),
        ("NVRM: rm_init_adapter failed for device bearing minor number 0", E::NvidiaInitFailed { bdf: None }),
        (
            "mlx5_core: probe of 0000:c1:00.0 failed with error -22",
            E::NotStarted { of: of("c1:00.0", DriverClass::RdmaNic), error: Some(-22) },
        ),
        (
            "bnxt_en 0000:c1:00.1: probe with driver bnxt_en failed with error -12",
            E::NotStarted { of: of("c1:00.1", DriverClass::RdmaNic), error: Some(-12) },
        ),
        (
            "xhci_hcd: probe of 0000:00:14.0 failed with error -110",
            E::NotStarted { of: of("00:14.0", DriverClass::Usb), error: Some(-110) },
        ),
        // The RDMA driver of a function is a driver of a device on the auxiliary bus.
        (
            "irdma.gen_2: probe of ice.roce.0 failed with error -12",
            E::NotStarted { of: Requester { bdf: None, class: DriverClass::RdmaNic }, error: Some(-12) },
        ),
        (
            "mlx5_ib.rdma mlx5_core.rdma.3: probe with driver mlx5_ib.rdma failed with error -12",
            E::NotStarted { of: Requester { bdf: None, class: DriverClass::RdmaNic }, error: Some(-12) },
        ),
        (
            "mlx5_core 0000:c1:00.0: probe_one:1957:(pid 1): mlx5_init_one failed with error code -110",
            E::NotStarted { of: of("c1:00.0", DriverClass::RdmaNic), error: Some(-110) },
        ),
        (
            "mlx5_core 0000:c1:00.0: mlx5_pci_resume: mlx5_load_one failed with error code: -5",
            E::NotStarted { of: of("c1:00.0", DriverClass::RdmaNic), error: Some(-5) },
        ),
        (
            "mlx5_core 0000:c1:00.0: wait_fw_init:199:(pid 1): Firmware over 120000 MS in pre-initializing state, aborting",
            E::NotStarted { of: of("c1:00.0", DriverClass::RdmaNic), error: None },
        ),
        (
            "nvidia: unknown parameter 'NVreg_EnablePCIeRelaxedOrderingMode' ignored",
            E::UnknownModuleParameter { module: "nvidia".into(), parameter: "NVreg_EnablePCIeRelaxedOrderingMode".into() },
        ),
        (
            "NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 11 timed out",
            E::TransmitTimeout { of: Requester { bdf: None, class: DriverClass::RdmaNic } },
        ),
        (
            "NETDEV WATCHDOG: enp7s0 (r8169): transmit queue 0 timed out 5010 ms",
            E::TransmitTimeout { of: Requester { bdf: None, class: DriverClass::Nic } },
        ),
        (
            "mlx5_core 0000:41:00.0 eth0: NETDEV WATCHDOG: CPU: 18: transmit queue 11 timed out 6000 ms",
            E::TransmitTimeout { of: of("41:00.0", DriverClass::RdmaNic) },
        ),
        (
            "mlx5_core 0000:41:00.0 ens1f0np0: TX timeout detected",
            E::TransmitTimeout { of: of("41:00.0", DriverClass::RdmaNic) },
        ),
        ("mlx5_core 0000:41:00.0 enp65s0f0np0: Link up", E::Mlx5 { bdf: bdf("41:00.0"), event: Mlx5Event::LinkUp }),
        (
            "mlx5_core 0000:41:00.1: Port module event: module 1, Cable unplugged",
            E::Mlx5 { bdf: bdf("41:00.1"), event: Mlx5Event::Module("Port module event: module 1, Cable unplugged".into()) },
        ),
        (
            "mlx5_core 0000:5c:00.0: port_module:252:(pid 0): Port module event[error]: module 0, Cable error, High Temperature",
            E::Mlx5 {
                bdf: bdf("5c:00.0"),
                event: Mlx5Event::Module("Port module event[error]: module 0, Cable error, High Temperature".into()),
            },
        ),
        (
            "mlx5_core 0000:41:00.0: poll_health:955:(pid 0): device's health compromised - reached miss count",
            E::Mlx5 {
                bdf: bdf("41:00.0"),
                event: Mlx5Event::Health("poll_health:955:(pid 0): device's health compromised - reached miss count".into()),
            },
        ),
        (
            "mlx5_core 0000:41:00.0: cmd[0]: CREATE_CQ(0x400) recovered after timeout",
            E::Mlx5 {
                bdf: bdf("41:00.0"),
                event: Mlx5Event::CommandLate("cmd[0]: CREATE_CQ(0x400) recovered after timeout".into()),
            },
        ),
        (
            "mlx5_core 0000:41:00.0: ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource",
            E::Mlx5 {
                bdf: bdf("41:00.0"),
                event: Mlx5Event::CommandFailed("ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource".into()),
            },
        ),
        ("pci 0000:01:00.0: [10de:2330] type 00 class 0x030200 PCIe Endpoint", E::Bound(of("01:00.0", DriverClass::Gpu))),
        ("pci 0000:c1:00.0: [15b3:1021] type 00 class 0x020700", E::Bound(of("c1:00.0", DriverClass::RdmaNic))),
        ("pci 0000:05:00.0: [10de:22a3] type 00 class 0x068000", E::Bound(of("05:00.0", DriverClass::NvSwitch))),
        (
            "vfio-pci 0000:07:00.0:   device [10de:2330] error status/mask=00004000/00002000",
            E::Bound(of("07:00.0", DriverClass::GpuOrNvSwitch)),
        ),
        (
            "pcieport 0000:07:00.0:   device [15b3:1979] error status/mask=00001000/00002000",
            E::Bound(of("07:00.0", DriverClass::NicPort)),
        ),
        (
            "pcieport 0000:00:03.1:   device [1022:1453] error status/mask=00001000/00006000",
            E::Bound(of("00:03.1", DriverClass::Port)),
        ),
        (
            "mlx4_core 0000:07:00.0: Internal error detected:",
            E::Mlx4Fault { bdf: bdf("07:00.0") },
        ),
        ("Kernel is locked down from EFI Secure Boot; see man kernel_lockdown.7", E::LockedDown("EFI Secure Boot".into())),
        (
            "Lockdown: setpci: direct PCI access is restricted; see man kernel_lockdown.7",
            E::LockdownDenied("setpci: direct PCI access is restricted".into()),
        ),
        ("Kernel command line: ro iommu=pt", E::CommandLine("ro iommu=pt".into())),
        (
            "Linux version 6.8.0-41-generic (buildd@lcy02) (x86_64-linux-gnu-gcc-13 13.2.0) #41-Ubuntu SMP",
            E::KernelRelease("6.8.0-41-generic".into()),
        ),
        (
            "DMI: QEMU Standard PC (Q35 + ICH9, 2009), BIOS 1.16.2 04/01/2014",
            E::Machine("QEMU Standard PC (Q35 + ICH9, 2009), BIOS 1.16.2 04/01/2014".into()),
        ),
        ("Hypervisor detected: KVM", E::Hypervisor("KVM".into())),
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
        // A class of the oldest kernels has no interface; what a device of another maker is, its numbers do not say here.
        "pci 0000:01:00.0: [10de:2330] type 0 class 0x000302",
        "pci 0000:01:00.0: [8086:1572] type 00 class 0x020000",
        "pci 0000:01:00.1: [10de:22bc] type 00 class 0x040300",
        "vfio-pci 0000:07:00.0:   device [144d:a808] error status/mask=00004000/00002000",
        "vfio-pci 0000:07:00.1:   device [10de:22bc] error status/mask=00004000/00002000",
        "mlx5_core 0000:41:00.0: mlx5_health_try_recover:375:(pid 9): health recovery succeeded",
        "mlx5_core 0000:41:00.0: print_health_info:454:(pid 0): synd 0x10: High temperature",
        "mlx5_core 0000:41:00.0: print_health_info:430:(pid 0): Health issue observed, High temperature, severity(4) WARNING:",
        "mlx5_core 0000:41:00.0: print_health_info:454:(pid 0): ext_synd 0x0000",
        "mlx5_core 0000:41:00.0: assert_var[0] 0x00000000",
        "NVRM: Xid (PCI:x): y",
        "NVRM: we asked for Xid (PCI:0000:01:00): 79",
        "IO_PAGE_FAULT: address=0xfffffffffffffef0",
        "pcieport 0000:00:01.0: DPC: enabled with IRQ 33",
        "pcieport 0000:00:01.0: DPC: software trigger detected",
        "pcieport 0000:00:01.0: DPC: error containment capabilities: Int Msg #0, RPExt+ PoisonedTLP+ SwTrigger+ RP PIO Log 4, DL_ActiveErr+",
        "pcieport 0000:00:01.0: AER: device recovery successful",
        "mlx5_core 0000:ab:00.0 mlx5_5: Port: 1 Link INIT",
        "DMAR: [INTR-REMAP] Request device [f0:1f.7] fault index 0x1c [fault reason 0x25] Blocked a compatibility format interrupt request",
        "DMAR: INTR-REMAP: Request device [[c2:00.0] fault index 27",
        "iommu: Default domain type: Odd",
        // The driver waits for another, or declines the device: the kernel prints that for debugging, in other words.
        "mlx5_core: probe of 0000:c1:00.0 failed with error -517",
        "mlx5_core: probe of 0000:c1:00.0 failed with error -19",
        "mlx5_core 0000:c1:00.0: probe with driver mlx5_core rejects match -19",
        "mlx5_core: probe of 0000:c1:00.0 rejects match -6",
        "mlx5_core: probe of 0000:c1:00.0 returned 1 after 4 usecs",
        "mlx5_core 0000:c1:00.0: Waiting for FW initialization, timeout abort in 100s",
        "mlx5_core 0000:c1:00.0: mlx5_crdump_enable failed with error code -22",
        "The probe of 0000:c1:00.0 failed with error -22",
        "mlx5_core: probe of the card failed with error -22",
        "NVRM: RmInitAdapter: Cannot initialize GSP firmware RM",
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
        (format!("[Do Apr 24 16:22:15 2025] {text}"), Some(Time::Text("Do Apr 24 16:22:15 2025"))),
        (format!("[jeu. avril 24 16:22:15 2025] {text}"), Some(Time::Text("jeu. avril 24 16:22:15 2025"))),
        (format!("[四 4月 24 16:22:15 2025] {text}"), Some(Time::Text("四 4月 24 16:22:15 2025"))),
        (format!("[4月24 16:22] {text}"), Some(Time::Text("4月24 16:22"))),
        (format!("[    1.234567 <    0.000012>] {text}"), Some(Time::Seconds(1.234_567))),
        (format!("april 24 16:22:15 robin-pc kernel: {text}"), Some(Time::Text("april 24 16:22:15"))),
        (format!("Okt 24 16:22:15 host kernel: {text}"), Some(Time::Text("Okt 24 16:22:15"))),
        (format!("24. Apr 16:22:15 host kernel: {text}"), Some(Time::Text("24. Apr 16:22:15"))),
        (format!("4月 24 16:22:15 host kernel: {text}"), Some(Time::Text("4月 24 16:22:15"))),
        (format!("avril 24 16:22:15 host kernel: [   10.5] {text}"), Some(Time::Seconds(10.5))),
        (format!("2025-04-24 16:22:15 host kernel: {text}"), Some(Time::Text("2025-04-24 16:22:15"))),
        (format!("Thu 2025-04-24 16:22:15 CEST host kernel: {text}"), Some(Time::Text("Thu 2025-04-24 16:22:15"))),
        (format!("1745504535.123456 host kernel: {text}"), Some(Time::Text("1745504535.123456"))),
        (format!("[   10.500000] host kernel: {text}"), Some(Time::Seconds(10.5))),
        (format!("node-1 kernel: {text}"), None),
        (format!("Tower kernel: [   10.5] {text}"), Some(Time::Seconds(10.5))),
        (format!("kernel:{text}"), None),
        (text.to_owned(), None),
    ] {
        assert_eq!(split(&raw), (time, text), "{raw}");
    }
    assert_eq!(split("[drm] Initialized"), (None, "[drm] Initialized"));
    for sentence in [
        "The kernel: DMAR: IOMMU enabled",
        "we asked at 16:22:15 what the kernel: DMAR: IOMMU enabled",
        "[2025-06-17 16:23:09] DMAR: IOMMU enabled",
        "[see 12:30] DMAR: IOMMU enabled",
    ] {
        assert_eq!(split(sentence), (None, sentence));
    }
    assert_eq!(split("Nov 21 07:00:00 host sshd[1]: x").1, "host sshd[1]: x");
}

#[test]
fn a_line_says_whose_it_is() {
    let text = "DMAR: IOMMU enabled";
    for (before, host) in [
        ("Nov 21 07:00:00 gpu-1 kernel: ", Some("gpu-1")),
        ("Nov 21 07:00:00 gpu-1 kernel: [   10.5] ", Some("gpu-1")),
        ("2026-11-21T07:00:00+0000 gpu-1.example.org kernel: ", Some("gpu-1.example.org")),
        ("Thu 2025-04-24 16:22:15 CEST tower kernel: ", Some("tower")),
        ("[   10.500000] tower kernel: ", Some("tower")),
        ("gpu-1 kernel: ", Some("gpu-1")),
        ("node01: [   10.5] ", Some("node01")),
        ("node01: [Mon Nov 21 07:00:00 2026] ", Some("node01")),
        ("ip-10-0-0-1: Nov 21 07:00:00 localhost kernel: ", Some("ip-10-0-0-1")),
        ("10.183.30.145: kern:    info: [2025-11-25T13:58:40.123456789Z]: ", Some("10.183.30.145")),
        ("talos: kern: warning: [2025-09-13T20:46:45Z]: ", Some("talos")),
        ("kern: warning: [2025-09-13T20:46:45Z]: ", None),
        // The log's own name says more than that of the machine which printed it.
        ("login1: Nov 21 07:00:00 gpu-1 kernel: ", Some("gpu-1")),
        ("Nov 21 07:00:00 localhost kernel: ", None),
        ("Nov 21 07:00:00 (none) kernel: ", None),
        ("Nov 21 07:00:00 kernel: ", None),
        ("kern  :warn  : 2025-01-21T04:41:44,285060+00:00 ", None),
        ("[    1.5][    T1] ", None),
        ("", None),
    ] {
        let line = format!("{before}{text}");
        let head = head(&line);
        assert_eq!((head.host, head.message), (host, text), "{line}");
    }
    assert_eq!(head("Nov 21 07:00:00 gpu-1 modprobe[12]: x").host, Some("gpu-1"));
    for nobody in [
        "rank0: [   10.5] x",
        "0: [   10.5] x",
        "node01: [INFO] x",
        "talos: kern: x",
        "talos: kern: warning: x",
        "talos: info: [2025-09-13T20:46:45Z]: x",
        "a talos: kern: warning: [2025-09-13T20:46:45Z]: x",
        "node01: [1612345678.123456] x",
        "node01: x",
        "eth0: link is not ready",
        "2025-01-21T04:41:44 ERROR loader.py: x",
    ] {
        assert_eq!(head(nobody).host, None, "{nobody}");
    }
}

/// What the NVIDIA driver says in several lines is of the GPU that the first one names.
#[test]
fn lines_without_an_address_are_of_the_gpu_above() {
    let named = "[ 1843.3] NVRM: The NVIDIA GPU 0000:b3:00.0 (PCI ID: 10de:2b85)\n";
    let why = "               NVRM: installed in this system requires use of the NVIDIA open kernel modules.\n";
    let of = |text: &str| match scan(text.as_bytes()).pop().map(|f| f.event) {
        Some(Event::NvidiaRefused { bdf, why }) => Some((bdf.map(|b| b.to_string()), why)),
        _ => None,
    };
    let gpu = Some("0000:b3:00.0".to_owned());
    assert_eq!(of(&format!("{named}{why}")), Some((gpu, StartFault::NeedsOpenModules)));
    assert_eq!(of(why), Some((None, StartFault::NeedsOpenModules)));
    assert_eq!(of(&format!("{named}x\ny\nz\n{why}")), Some((None, StartFault::NeedsOpenModules)));
}
