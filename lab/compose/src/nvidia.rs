//! `/proc/driver/nvidia` and `modinfo nvidia`.

use crate::compose::{Commands, Plan};
use crate::function::Kind;
use crate::{Tree, models};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Parameters as the driver prints them when nothing was set.
const PARAMS: [(&str, &str); 18] = [
    ("ResmanDebugLevel", "4294967295"),
    ("RmLogonRC", "1"),
    ("ModifyDeviceFiles", "1"),
    ("DeviceFileUID", "0"),
    ("DeviceFileGID", "0"),
    ("DeviceFileMode", "438"),
    ("InitializeSystemMemoryAllocations", "1"),
    ("UsePageAttributeTable", "4294967295"),
    ("EnableMSI", "1"),
    ("EnablePCIeGen3", "0"),
    ("MemoryPoolSize", "0"),
    ("NvLinkDisable", "0"),
    ("EnablePCIERelaxedOrderingMode", "0"),
    ("EnableResizableBar", "0"),
    ("EnableGpuFirmware", "18"),
    ("DmaRemapPeerMmio", "1"),
    ("GrdmaPciTopoCheckOverride", "0"),
    ("EnableStreamMemOPs", "0"),
];

pub(crate) fn write(plan: &Plan, tree: &mut Tree, commands: &mut Commands) {
    let n = &plan.d.nvidia;
    let (Some(model), false) = (models::gpu_model(plan.d.layout.gpu), n.driver.is_empty()) else { return };
    if tree.get("sys/module/nvidia/initstate").is_none() {
        return;
    }
    let machine = if plan.d.node.cpu.is_arm() { "aarch64" } else { "x86_64" };
    let kind = if n.open {
        format!("NVIDIA UNIX Open Kernel Module for {machine}")
    } else {
        format!("NVIDIA UNIX {machine} Kernel Module")
    };
    tree.file(
        "proc/driver/nvidia/version",
        format!(
            "NVRM version: {kind}  {}  Release Build  (dvs-builder@U22-I3-AE18-10-1)  Thu Apr  3 10:00:00 UTC 2025\n\
             GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04) \n",
            n.driver
        ),
    );
    let mut params: BTreeMap<&str, &str> = PARAMS.into_iter().collect();
    params.extend(n.params.iter().map(|(k, v)| {
        let v = match v.0.as_str() {
            "True(1)" => "1",
            "False(0)" => "0",
            v => v,
        };
        (k.trim_start_matches("NVreg_"), v)
    }));
    let mut text = String::new();
    for (key, v) in params {
        let _ = writeln!(text, "{key}: {v}");
    }
    text.push_str("RegistryDwords: \"\"\nRegistryDwordsPerDevice: \"\"\nRmMsg: \"\"\nGpuBlacklist: \"\"\nTemporaryFilePath: \"\"\nExcludedGpus: \"\"\n");
    tree.file("proc/driver/nvidia/params", text);
    for (_, f, _) in plan.each() {
        let Kind::Gpu(index) = f.kind else { continue };
        if f.driver.as_deref() != Some("nvidia") {
            continue;
        }
        tree.file(
            format!("proc/driver/nvidia/gpus/{}/information", f.bdf),
            format!(
                "Model: \t\t {}\nIRQ:   \t\t {}\nGPU UUID: \t {}\nVideo BIOS: \t 96.00.74.00.01\nBus Type: \t PCIe\n\
                 DMA Size: \t 52 bits\nDMA Mask: \t 0xfffffffffffff\nBus Location: \t {}\nDevice Minor: \t {index}\n\
                 GPU Firmware: \t {}\nGPU Excluded:\t No\n",
                model.product,
                16 + index,
                uuid(plan, index),
                f.bdf,
                if n.open { n.driver.as_str() } else { "N/A" }
            ),
        );
    }
    let license = if n.open { "Dual MIT/GPL" } else { "NVIDIA" };
    let modinfo = format!(
        "filename:       /lib/modules/{}/updates/dkms/nvidia.ko\nversion:        {}\nlicense:        {license}\nsupported:      external\n",
        plan.d.node.kernel, n.driver
    );
    commands.add(&["modinfo", "nvidia"], modinfo, 0);
}

pub(crate) fn uuid(plan: &Plan, gpu: usize) -> String {
    format!("GPU-{}", plan.seed.uuid(&format!("gpu{gpu}")))
}
