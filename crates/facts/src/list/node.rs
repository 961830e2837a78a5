//! The node itself: kernel, firmware, processors, memory, IOMMU; and what its members are.

use super::{
    Read1, ReadNode, Row, as_in, borrowed, copy, counting, fact, known, members, number, quiet, shown, text, there,
};
use crate::{Form, GpuAt, Subject, Unit, Value, Version1};
use linerate_formats::nvidia_proc::Flavour;
use linerate_node::Node;
use linerate_node::cpu::{CpuVendor, IdleState};
use linerate_node::iommu::IommuGroup;
use linerate_node::numa::NumaNode;
use linerate_node::sysctl::Sysctl;
use linerate_snapshot::{EntryId, Place, Reading, Why};
use std::borrow::Cow;

pub(super) static NODE: &[Row<ReadNode>] = &[
    fact("kernel.release", Form::Text, "Release of the kernel", |n| {
        n.kernel.release.as_ref().map(|r| Value::Text(Cow::Owned(r.to_string())))
    }),
    fact("kernel.cmdline", Form::Texts, "Arguments of the kernel", |n| n.kernel.cmdline.as_ref().map(Value::Arguments)),
    fact("kernel.modules", Form::Texts, "Modules that are loaded", |n| {
        n.kernel.modules.as_ref().map(|m| Value::Texts(m))
    }),
    as_in(
        Version1::Left,
        "kernel.module_versions",
        Form::Texts,
        "Drivers of GPUs and NICs with a version of their own, NAME=VERSION",
        |n| n.kernel.module_versions.as_ref().map(|m| Value::Texts(m)),
    ),
    as_in(
        Version1::Left,
        "kernel.nofile_soft",
        Form::Text,
        "Soft limit of open files of the process that looked",
        |n| n.kernel.nofile.as_ref().map(|l| borrowed(&l.0)),
    ),
    as_in(
        Version1::Left,
        "kernel.nofile_hard",
        Form::Text,
        "Hard limit of open files of the process that looked",
        |n| n.kernel.nofile.as_ref().map(|l| borrowed(&l.1)),
    ),
    as_in(Version1::Left, "kernel.nproc_soft", Form::Text, "Soft limit of processes of the user that looked", |n| {
        n.kernel.nproc.as_ref().map(|l| borrowed(&l.0))
    }),
    as_in(Version1::Left, "kernel.nproc_hard", Form::Text, "Hard limit of processes of the user that looked", |n| {
        n.kernel.nproc.as_ref().map(|l| borrowed(&l.1))
    }),
    fact("firmware.sys_vendor", Form::Text, "Vendor of the system (DMI)", |n| text(&n.firmware.sys_vendor)),
    fact("firmware.product", Form::Text, "Product name of the system (DMI)", |n| text(&n.firmware.product)),
    fact("firmware.bios_version", Form::Text, "Version of the BIOS (DMI)", |n| text(&n.firmware.bios_version)),
    fact("firmware.detected_virt", Form::Text, "Answer of systemd-detect-virt", |n| text(&n.firmware.detected_virt)),
    fact("firmware.lockdown", Form::Lockdown, "Lockdown of the kernel", |n| {
        copy(&n.firmware.lockdown, Value::Lockdown)
    }),
    fact("cpu.vendor", Form::There, "Whether the vendor of the processors is known", |n| there(&n.cpu.vendor)),
    quiet("cpu.vendor.name", Form::Text, "Vendor of the processors", |n| {
        n.cpu.vendor.as_ref().map(|v| match v {
            CpuVendor::Intel => Value::Word("intel"),
            CpuVendor::Amd => Value::Word("amd"),
            CpuVendor::Zhaoxin => Value::Word("zhaoxin"),
            CpuVendor::Arm { .. } => Value::Word("arm"),
            CpuVendor::Other(word) => borrowed(word),
        })
    }),
    quiet("cpu.vendor.implementer", Form::Number, "Arm: implementer of the core", |n| {
        arm(n, |implementer, _| implementer)
    }),
    quiet("cpu.vendor.part", Form::Number, "Arm: part number of the core", |n| arm(n, |_, part| part)),
    fact("cpu.family", Form::Number, "Family of the processors", |n| number(&n.cpu.family)),
    fact("cpu.model", Form::Number, "Model of the processors", |n| number(&n.cpu.model)),
    fact("cpu.model_name", Form::Text, "Name of the processors", |n| text(&n.cpu.model_name)),
    fact("cpu.hypervisor", Form::Flag, "Whether the processors show a hypervisor", |n| {
        copy(&n.cpu.hypervisor, Value::Flag)
    }),
    fact("cpu.processors", Form::Number, "Logical processors", |n| number(&n.cpu.processors)),
    fact("cpu.sockets", Form::Number, "Sockets", |n| number(&n.cpu.sockets)),
    fact("cpu.governors", Form::Tally, "Frequency governors, with the CPUs that use each", |n| {
        n.cpu.governors.as_ref().map(Value::Tally)
    }),
    fact("cpu.frequency_driver", Form::Text, "Driver of the CPU frequency", |n| text(&n.cpu.frequency_driver)),
    fact("cpu.energy_preferences", Form::Tally, "Energy preferences, with the CPUs that have each", |n| {
        n.cpu.energy_preferences.as_ref().map(Value::Tally)
    }),
    fact("cpu.idle_states", Form::Members, "Idle states of the first processor", |n| {
        members(&n.cpu.idle_states, Subject::IdleState)
    }),
    counting(Unit::Kib, fact("memory.total_kib", Form::Number, "Memory", |n| number(&n.memory.total_kib))),
    fact("memory.memlock", Form::There, "Whether the limits of locked memory are known", |n| there(&n.memory.memlock)),
    counting(
        Unit::Bytes,
        quiet(
            "memory.memlock.soft_bytes",
            Form::Limit,
            "Soft limit of locked memory of the process that looked",
            |n| copy(&n.memory.memlock, |l| Value::Limit(l.0)),
        ),
    ),
    counting(
        Unit::Bytes,
        quiet(
            "memory.memlock.hard_bytes",
            Form::Limit,
            "Hard limit of locked memory of the process that looked",
            |n| copy(&n.memory.memlock.part(|l| l.1), Value::Limit),
        ),
    ),
    counting(Unit::Bytes, fact("memory.shm_bytes", Form::Number, "Size of /dev/shm", |n| number(&n.memory.shm_bytes))),
    fact("memory.huge_pages", Form::Number, "Huge pages of the default size", |n| number(&n.memory.huge_pages)),
    fact("memory.numa_balancing", Form::Number, "Automatic NUMA balancing: 0 is off", |n| {
        number(&n.memory.numa_balancing)
    }),
    fact("memory.transparent_hugepages", Form::Text, "Transparent huge pages", |n| {
        text(&n.memory.transparent_hugepages)
    }),
    as_in(Version1::Left, "sysctl", Form::Members, "Settings of the kernel's sysctl tree", |n| {
        n.sysctls.as_ref().map(|all| {
            let there = all.iter().filter(|c| !c.value.is_absent());
            Value::Members(there.map(Subject::Sysctl).collect())
        })
    }),
    fact("numa", Form::Members, "NUMA nodes", |n| members(&n.numa, Subject::NumaNode)),
    fact("iommu.groups", Form::Members, "IOMMU groups", |n| members(&n.iommu.groups, Subject::IommuGroup)),
    fact("iommu.units", Form::Texts, "IOMMU units", |n| n.iommu.units.as_ref().map(|u| Value::Texts(u))),
    fact("iommu.acpi_tables", Form::Texts, "ACPI tables", |n| n.iommu.acpi.as_ref().map(|a| Value::Texts(&a.names))),
    as_in(Version1::Empty, "gpus", Form::Members, "NVIDIA GPUs, by PCI or by their driver", |n| {
        let seen = n.pci.seen.or(n.nvidia.asked.known().map(|()| n.nvidia.asked.place()));
        list(GpuAt::all(n), seen, n.nvidia.asked.place())
    }),
    fact("nvidia.version", Form::Text, "Version of the NVIDIA driver", |n| text(&n.nvidia.driver.version)),
    fact("nvidia.flavour", Form::Flavour, "Kernel module of the NVIDIA driver: open or proprietary", |n| {
        copy(&n.nvidia.driver.flavour, |f| match f {
            Flavour::Open => Value::Word("open"),
            Flavour::Proprietary => Value::Word("proprietary"),
        })
    }),
    fact("nvidia.cuda", Form::Text, "Newest CUDA that the driver supports", |n| text(&n.nvidia.driver.cuda)),
    as_in(Version1::Empty, "nic_firmware", Form::Members, "NICs whose firmware settings were read", |n| {
        let failed = n.nic_firmware_errors.first().map(|e| e.place);
        let all: Vec<_> = n.nic_firmware.iter().map(Subject::NicFirmware).collect();
        list(all, n.nic_firmware.first().map(|f| f.place), failed.unwrap_or(missing("cmd")))
    }),
    fact("rdma", Form::Members, "RDMA devices", |n| members(&n.rdma, Subject::RdmaDevice)),
    fact("net", Form::Members, "Network interfaces", |n| members(&n.net, Subject::Interface)),
    as_in(
        Version1::Left,
        "net_shown",
        Form::Members,
        "Network interfaces as texts show them (`ip`, `ethtool`): some of them",
        |n| {
            list(
                n.net_shown.iter().map(Subject::InterfaceShown).collect(),
                n.net_shown.first().map(|i| i.place),
                missing("cmd"),
            )
        },
    ),
    as_in(
        Version1::Left,
        "net_written",
        Form::Members,
        "Network interfaces as texts of netplan and NetworkManager write them",
        |n| {
            list(
                n.net_written.iter().map(Subject::InterfaceWritten).collect(),
                n.net_written.first().map(|w| w.place()),
                missing("cmd"),
            )
        },
    ),
    as_in(Version1::EmptyNoted, "pci", Form::Members, "PCI functions", |n| {
        list(n.pci.functions.iter().map(Subject::Function).collect(), n.pci.seen, missing("sys/bus/pci/devices"))
    }),
    as_in(Version1::Left, "context.role", Form::Role, "Bare metal, VM host, or VM guest", |n| {
        let role = &n.context.role;
        shown(role.places().next().unwrap_or(missing("sys")), role.value.map(Value::Role))
    }),
    as_in(Version1::Left, "peermem.nvidia_peermem", Form::There, "nvidia_peermem is loaded", |n| {
        there(&n.peermem.nvidia_peermem.loaded)
    }),
    as_in(Version1::Left, "peermem.nv_peer_mem", Form::There, "nv_peer_mem is loaded", |n| {
        there(&n.peermem.nv_peer_mem.loaded)
    }),
    as_in(Version1::Left, "nccl.conf", Form::Text, "NCCL's configuration file", |n| {
        n.nccl.conf.as_ref().map(|c| Value::Content(c))
    }),
];

pub(super) static NUMA: &[Row<Read1<NumaNode>>] = &[
    fact("numa.id", Form::Number, "Number of the NUMA node", |_, n| known(Value::Number(n.id.into()), n.place)),
    fact("numa.cpulist", Form::Text, "Its processors", |_, n| known(borrowed(&n.cpulist), n.place)),
    fact("numa.distance", Form::Numbers, "Its distances to the nodes 0, 1, …", |_, n| {
        Reading::Known(Value::Numbers(n.distance.iter().map(|d| u64::from(*d)).collect()), n.place)
    }),
];

pub(super) static IDLE: &[Row<Read1<IdleState>>] = &[
    fact("cpu.idle_states.name", Form::Text, "Name of the idle state", |_, i| known(borrowed(&i.name), i.place)),
    counting(
        Unit::Microseconds,
        quiet("cpu.idle_states.latency_us", Form::Number, "Time to leave it", |_, i| number(&i.latency_us)),
    ),
    fact("cpu.idle_states.disabled", Form::Flag, "Whether it is switched off", |_, i| {
        known(Value::Flag(i.disabled), i.place)
    }),
];

pub(super) static SYSCTL: &[Row<Read1<Sysctl>>] = &[
    as_in(Version1::Left, "sysctl.name", Form::Text, "Name of the setting", |_, c| {
        known(borrowed(&c.name), c.value.place())
    }),
    as_in(Version1::Left, "sysctl.value", Form::Text, "Its value; several numbers with a blank between", |_, c| {
        text(&c.value)
    }),
];

pub(super) static GROUP: &[Row<Read1<IommuGroup>>] = &[
    fact("iommu.groups.id", Form::Number, "Number of the IOMMU group", |_, g| {
        known(Value::Number(g.id.into()), Place::of(g.home))
    }),
    fact("iommu.groups.domain", Form::Domain, "Type of its IOMMU domain", |_, g| copy(&g.domain, Value::Domain)),
    fact("iommu.groups.devices", Form::Addresses, "PCI functions in it", |_, g| {
        known(Value::Addresses(Cow::Borrowed(&g.devices)), Place::of(g.home))
    }),
];

/// Ids of an Arm core; other processors have none.
fn arm(n: &Node<'_>, which: fn(u32, u32) -> u32) -> Reading<Value<'static>> {
    match &n.cpu.vendor {
        Reading::Known(CpuVendor::Arm { implementer, part }, p) => {
            known(Value::Number(which(*implementer, *part).into()), *p)
        }
        Reading::Known(_, p) | Reading::Absent(p) => Reading::Absent(*p),
        Reading::Unreadable(p, w) => Reading::Unreadable(*p, w.clone()),
    }
}

/// A list that is put together: known where somebody looked.
fn list(all: Vec<Subject<'_>>, seen: Option<Place>, otherwise: Place) -> Reading<Value<'_>> {
    match seen.or((!all.is_empty()).then_some(otherwise)) {
        Some(p) => known(Value::Members(all), p),
        None => Reading::Unreadable(otherwise, Why::NotCollected),
    }
}

/// A path that the source does not hold.
fn missing(path: &'static str) -> Place {
    Place::below(EntryId::ROOT, path)
}
