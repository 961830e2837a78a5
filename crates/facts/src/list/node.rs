//! The node itself: kernel, firmware, processors, memory, IOMMU; and what its members are.

use super::{Read1, ReadNode, Row, as_in, borrowed, copy, fact, members, number, quiet, shown, text, there};
use crate::{GpuAt, Subject, Unit, Value, Version1};
use linerate_formats::nvidia_proc::Flavour;
use linerate_node::Node;
use linerate_node::cpu::{CpuVendor, IdleState};
use linerate_node::iommu::IommuGroup;
use linerate_node::numa::NumaNode;
use linerate_snapshot::{EntryId, Place, Reading, Why};
use std::borrow::Cow;

pub(super) static NODE: &[Row<ReadNode>] = &[
    fact("kernel.release", Unit::None, "Release of the kernel", |n| {
        n.kernel.release.as_ref().map(|r| Value::Text(Cow::Owned(r.to_string())))
    }),
    fact("kernel.cmdline", Unit::None, "Arguments of the kernel", |n| n.kernel.cmdline.as_ref().map(Value::Arguments)),
    fact("kernel.modules", Unit::None, "Modules that are loaded", |n| {
        n.kernel.modules.as_ref().map(|m| Value::Texts(m))
    }),
    fact("firmware.sys_vendor", Unit::None, "Vendor of the system (DMI)", |n| text(&n.firmware.sys_vendor)),
    fact("firmware.product", Unit::None, "Product name of the system (DMI)", |n| text(&n.firmware.product)),
    fact("firmware.bios_version", Unit::None, "Version of the BIOS (DMI)", |n| text(&n.firmware.bios_version)),
    fact("firmware.detected_virt", Unit::None, "Answer of systemd-detect-virt", |n| text(&n.firmware.detected_virt)),
    fact("firmware.lockdown", Unit::None, "Lockdown of the kernel", |n| copy(&n.firmware.lockdown, Value::Lockdown)),
    fact("cpu.vendor", Unit::None, "Whether the vendor of the processors is known", |n| there(&n.cpu.vendor)),
    quiet("cpu.vendor.name", Unit::None, "Vendor of the processors", |n| {
        n.cpu.vendor.as_ref().map(|v| match v {
            CpuVendor::Intel => Value::Word("intel"),
            CpuVendor::Amd => Value::Word("amd"),
            CpuVendor::Zhaoxin => Value::Word("zhaoxin"),
            CpuVendor::Arm { .. } => Value::Word("arm"),
            CpuVendor::Other(word) => borrowed(word),
        })
    }),
    quiet("cpu.vendor.implementer", Unit::None, "Arm: implementer of the core", |n| {
        arm(n, |implementer, _| implementer)
    }),
    quiet("cpu.vendor.part", Unit::None, "Arm: part number of the core", |n| arm(n, |_, part| part)),
    fact("cpu.family", Unit::None, "Family of the processors", |n| number(&n.cpu.family)),
    fact("cpu.model", Unit::None, "Model of the processors", |n| number(&n.cpu.model)),
    fact("cpu.model_name", Unit::None, "Name of the processors", |n| text(&n.cpu.model_name)),
    fact("cpu.hypervisor", Unit::None, "Whether the processors show a hypervisor", |n| {
        copy(&n.cpu.hypervisor, Value::Flag)
    }),
    fact("cpu.processors", Unit::None, "Logical processors", |n| number(&n.cpu.processors)),
    fact("cpu.sockets", Unit::None, "Sockets", |n| number(&n.cpu.sockets)),
    fact("cpu.governors", Unit::None, "Frequency governors, with the CPUs that use each", |n| {
        n.cpu.governors.as_ref().map(Value::Tally)
    }),
    fact("cpu.frequency_driver", Unit::None, "Driver of the CPU frequency", |n| text(&n.cpu.frequency_driver)),
    fact("cpu.energy_preferences", Unit::None, "Energy preferences, with the CPUs that have each", |n| {
        n.cpu.energy_preferences.as_ref().map(Value::Tally)
    }),
    fact("cpu.idle_states", Unit::None, "Idle states of the first processor", |n| {
        members(&n.cpu.idle_states, Subject::IdleState)
    }),
    fact("memory.total_kib", Unit::Kib, "Memory", |n| number(&n.memory.total_kib)),
    fact("memory.memlock", Unit::None, "Whether the limits of locked memory are known", |n| there(&n.memory.memlock)),
    quiet("memory.memlock.soft_bytes", Unit::Bytes, "Soft limit of locked memory of the process that looked", |n| {
        copy(&n.memory.memlock, |l| Value::Limit(l.0))
    }),
    quiet("memory.memlock.hard_bytes", Unit::Bytes, "Hard limit of locked memory of the process that looked", |n| {
        copy(&n.memory.memlock, |l| Value::Limit(l.1))
    }),
    fact("memory.shm_bytes", Unit::Bytes, "Size of /dev/shm", |n| number(&n.memory.shm_bytes)),
    fact("memory.huge_pages", Unit::None, "Huge pages of the default size", |n| number(&n.memory.huge_pages)),
    fact("memory.numa_balancing", Unit::None, "Automatic NUMA balancing: 0 is off", |n| {
        number(&n.memory.numa_balancing)
    }),
    fact("memory.transparent_hugepages", Unit::None, "Transparent huge pages", |n| {
        text(&n.memory.transparent_hugepages)
    }),
    fact("numa", Unit::None, "NUMA nodes", |n| members(&n.numa, Subject::NumaNode)),
    fact("iommu.groups", Unit::None, "IOMMU groups", |n| members(&n.iommu.groups, Subject::IommuGroup)),
    fact("iommu.units", Unit::None, "IOMMU units", |n| n.iommu.units.as_ref().map(|u| Value::Texts(u))),
    fact("iommu.acpi_tables", Unit::None, "ACPI tables", |n| n.iommu.acpi.as_ref().map(|a| Value::Texts(&a.names))),
    as_in(Version1::Empty, "gpus", Unit::None, "NVIDIA GPUs, by PCI or by their driver", |n| {
        let seen = n.pci.seen.or(n.nvidia.asked.known().map(|()| n.nvidia.asked.place()));
        list(GpuAt::all(n), seen, n.nvidia.asked.place())
    }),
    fact("nvidia.version", Unit::None, "Version of the NVIDIA driver", |n| text(&n.nvidia.driver.version)),
    fact("nvidia.flavour", Unit::None, "Kernel module of the NVIDIA driver: open or proprietary", |n| {
        copy(&n.nvidia.driver.flavour, |f| match f {
            Flavour::Open => Value::Word("open"),
            Flavour::Proprietary => Value::Word("proprietary"),
        })
    }),
    fact("nvidia.cuda", Unit::None, "Newest CUDA that the driver supports", |n| text(&n.nvidia.driver.cuda)),
    as_in(Version1::Empty, "nic_firmware", Unit::None, "NICs whose firmware settings were read", |n| {
        let failed = n.nic_firmware_errors.first().map(|e| e.place);
        let all: Vec<_> = n.nic_firmware.iter().map(Subject::NicFirmware).collect();
        list(all, n.nic_firmware.first().map(|f| f.place), failed.unwrap_or(missing("cmd")))
    }),
    fact("rdma", Unit::None, "RDMA devices", |n| members(&n.rdma, Subject::RdmaDevice)),
    fact("net", Unit::None, "Network interfaces", |n| members(&n.net, Subject::Interface)),
    as_in(Version1::EmptyNoted, "pci", Unit::None, "PCI functions", |n| {
        list(n.pci.functions.iter().map(Subject::Function).collect(), n.pci.seen, missing("sys/bus/pci/devices"))
    }),
    as_in(Version1::Left, "context.role", Unit::None, "Bare metal, VM host, or VM guest", |n| {
        let role = &n.context.role;
        shown(role.places().next().unwrap_or(missing("sys")), role.value.map(Value::Role))
    }),
    as_in(Version1::Left, "peermem.nvidia_peermem", Unit::None, "nvidia_peermem is loaded", |n| {
        there(&n.peermem.nvidia_peermem.loaded)
    }),
    as_in(Version1::Left, "peermem.nv_peer_mem", Unit::None, "nv_peer_mem is loaded", |n| {
        there(&n.peermem.nv_peer_mem.loaded)
    }),
    as_in(Version1::Left, "nccl.conf", Unit::None, "NCCL's configuration file", |n| {
        n.nccl.conf.as_ref().map(|c| Value::Content(c))
    }),
];

pub(super) static NUMA: &[Row<Read1<NumaNode>>] = &[
    fact("numa.id", Unit::None, "Number of the NUMA node", |_, n| Reading::Known(Value::Number(n.id.into()), n.place)),
    fact("numa.cpulist", Unit::None, "Its processors", |_, n| Reading::Known(borrowed(&n.cpulist), n.place)),
    fact("numa.distance", Unit::None, "Its distances to the nodes 0, 1, …", |_, n| {
        Reading::Known(Value::Numbers(n.distance.iter().map(|d| u64::from(*d)).collect()), n.place)
    }),
];

pub(super) static IDLE: &[Row<Read1<IdleState>>] = &[
    fact("cpu.idle_states.name", Unit::None, "Name of the idle state", |_, i| {
        Reading::Known(borrowed(&i.name), i.place)
    }),
    quiet("cpu.idle_states.latency_us", Unit::Microseconds, "Time to leave it", |_, i| number(&i.latency_us)),
    fact("cpu.idle_states.disabled", Unit::None, "Whether it is switched off", |_, i| {
        Reading::Known(Value::Flag(i.disabled), i.place)
    }),
];

pub(super) static GROUP: &[Row<Read1<IommuGroup>>] = &[
    fact("iommu.groups.id", Unit::None, "Number of the IOMMU group", |_, g| {
        Reading::Known(Value::Number(g.id.into()), Place::of(g.home))
    }),
    fact("iommu.groups.domain", Unit::None, "Type of its default domain", |_, g| copy(&g.domain, Value::Domain)),
    fact("iommu.groups.devices", Unit::None, "PCI functions in it", |_, g| {
        Reading::Known(Value::Addresses(Cow::Borrowed(&g.devices)), Place::of(g.home))
    }),
];

/// Ids of an Arm core; other processors have none.
fn arm(n: &Node<'_>, which: fn(u32, u32) -> u32) -> Reading<Value<'static>> {
    match &n.cpu.vendor {
        Reading::Known(CpuVendor::Arm { implementer, part }, p) => {
            Reading::Known(Value::Number(which(*implementer, *part).into()), *p)
        }
        Reading::Known(_, p) | Reading::Absent(p) => Reading::Absent(*p),
        Reading::Unreadable(p, w) => Reading::Unreadable(*p, w.clone()),
    }
}

/// A list that is put together: known where somebody looked.
fn list(all: Vec<Subject<'_>>, seen: Option<Place>, otherwise: Place) -> Reading<Value<'_>> {
    match seen.or((!all.is_empty()).then_some(otherwise)) {
        Some(p) => Reading::Known(Value::Members(all), p),
        None => Reading::Unreadable(otherwise, Why::NotCollected),
    }
}

/// A path that the source does not hold.
fn missing(path: &'static str) -> Place {
    Place::below(EntryId::ROOT, path)
}
