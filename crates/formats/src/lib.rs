//! Parsers for the text and binary formats that GPU/RDMA nodes show.
//!
//! Invariants: bytes in, data out. Nothing here opens a file, runs a command, or knows what a rule is. Every parser accepts
//! hostile input: it returns an error or less data, never panics, and never allocates more than a small multiple of its input.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod amd;
mod asked;
pub mod bounds;
pub mod clip;
pub mod clock;
pub mod cmdline;
mod counted;
pub mod cpuinfo;
pub mod cpulist;
pub mod cpupower;
mod decimal;
pub mod df;
pub mod dlerror;
pub mod dmesg;
pub mod dmidecode;
pub mod error;
pub mod ethtool;
pub mod fabric_partitions;
pub mod file_dump;
pub mod fio;
pub mod gdrcopy;
pub mod gid;
pub mod gpu_burn;
pub mod host_heading;
pub mod host_name;
pub mod hwloc_xml;
pub mod ib_port;
pub mod ibdev2netdev;
pub mod ibstat;
pub mod ibv_devinfo;
pub mod ip;
pub mod iperf;
mod json;
mod json_docs;
mod json_loose;
pub mod kernel_config;
pub mod kernel_version;
pub mod kubernetes;
mod launcher;
pub mod libvirt;
pub mod limits;
pub mod lines;
pub mod lldp;
pub mod lscpu;
pub mod lstopo;
pub mod machine_config_pools;
pub mod mlnx_qos;
pub mod mlxconfig;
pub mod mlxlink;
pub mod modinfo;
pub mod modules;
pub mod mst;
pub mod nccl_log;
pub mod nccl_ras;
pub mod nccl_tests;
pub mod near;
pub mod net_config;
pub mod next_boot;
pub mod nic_image;
pub mod node_list;
pub mod numactl;
mod number;
pub mod nvbandwidth;
pub mod nvidia_proc;
pub mod nvidia_smi;
pub mod nvml;
pub mod os_release;
pub mod osu;
pub mod parsers;
pub mod pci;
pub mod perfquery;
pub mod perftest;
pub mod ping;
pub mod plain;
pub mod pod_spec;
pub mod printed;
pub mod ranges;
pub mod rdma_dev;
pub mod rdma_json;
pub mod rdma_topo_dump;
mod record;
pub mod refusal;
pub mod sbatch;
pub mod series;
pub mod setpci;
pub mod show_gids;
pub mod size;
pub mod slurm;
pub mod sniff;
pub mod sockperf;
pub mod stream;
pub mod systemd_unit;
pub mod text;
#[macro_use]
pub mod tool;
pub mod torch_log;
pub mod torchtitan;
pub mod train_steps;
pub mod ulimit;
pub mod uname;
pub mod units;
pub mod wildcard;
pub mod xid;
mod xml;
mod yaml;

pub use counted::{counted, thousands};
pub use error::{ParseError, Why};
pub use text::At;
pub use tool::{Gives, Tool};

// The texts that are recognised: a line here makes a text known everywhere. `tool/mod.rs` says what follows from it.
tools! {
    NcclLog => nccl_log::TOOL,
    NcclTests => nccl_tests::TOOL,
    NcclRas => nccl_ras::TOOL,
    Perftest => perftest::TOOL,
    Iperf3 => iperf::IPERF3,
    Iperf2 => iperf::IPERF2,
    Sockperf => sockperf::TOOL,
    Fio => fio::TOOL,
    Ping => ping::TOOL,
    Nvbandwidth => nvbandwidth::TOOL,
    Torchtitan => torchtitan::TOOL,
    Osu => osu::TOOL,
    Stream => stream::TOOL,
    CudaStream => stream::CUDA,
    Gdrcopy => gdrcopy::TOOL,
    NvidiaSmiP2p => nvidia_smi::P2P,
    NvidiaSmiNvlink => nvidia_smi::NVLINK,
    NvidiaSmiCounters => nvidia_smi::COUNTERS,
    NvidiaSmiTopo => nvidia_smi::TOPO,
    NvidiaSmiXml => nvidia_smi::XML,
    NvidiaSmiQuery => nvidia_smi::QUERY,
    NvidiaSmiTable => nvidia_smi::TABLE,
    NvidiaSmiList => nvidia_smi::LIST,
    NvidiaSmiCsv => nvidia_smi::CSV,
    IbvDevinfo => ibv_devinfo::TOOL,
    Ibstat => ibstat::TOOL,
    Ibdev2netdev => ibdev2netdev::TOOL,
    ShowGids => show_gids::TOOL,
    EthtoolStats => ethtool::STATISTICS,
    EthtoolPause => ethtool::PAUSE,
    EthtoolSettings => ethtool::SETTINGS,
    EthtoolDriver => ethtool::driver::TOOL,
    EthtoolFeatures => ethtool::features::TOOL,
    EthtoolModule => ethtool::module::TOOL,
    IpLink => ip::TOOL,
    MlnxQos => mlnx_qos::TOOL,
    RdmaTopoDump => rdma_topo_dump::DUMP,
    RdmaTopoCheck => rdma_topo_dump::CHECK,
    RdmaTopo => rdma_topo_dump::TOPO,
    RdmaSystem => rdma_json::SYSTEM,
    RdmaLink => rdma_json::LINK,
    RdmaStatistic => rdma_json::STATISTIC,
    RdmaDev => rdma_dev::TOOL,
    IbvDevices => rdma_dev::LIST,
    MstStatus => mst::TOOL,
    CmaRoceMode => rdma_dev::CMA,
    Mlxlink => mlxlink::TOOL,
    Flint => nic_image::FLINT,
    Mlxfwmanager => nic_image::MANAGER,
    LldpNeighbors => lldp::TOOL,
    Perfquery => perfquery::TOOL,
    MlxconfigJson => mlxconfig::JSON,
    MlxconfigText => mlxconfig::TEXT,
    FileDump => file_dump::TOOL,
    Sysctl => file_dump::SYSCTL,
    Cpuinfo => cpuinfo::TOOL,
    Modules => modules::TOOL,
    Dmesg => dmesg::TOOL,
    LspciTree => pci::lspci::tree::TOOL,
    Lspci => pci::lspci::TOOL,
    Setpci => setpci::TOOL,
    AcsControls => pci::lspci::acs_alone::TOOL,
    Numactl => numactl::TOOL,
    Lscpu => lscpu::TOOL,
    OsRelease => os_release::TOOL,
    Uname => uname::TOOL,
    Ulimit => ulimit::ULIMIT,
    Df => df::TOOL,
    Prlimit => ulimit::PRLIMIT,
    Dmidecode => dmidecode::TOOL,
    Cpupower => cpupower::TOOL,
    TunedAdm => plain::TUNED,
    Lstopo => lstopo::TOOL,
    RocmSmi => amd::ROCM_SMI,
    AmdSmi => amd::AMD_SMI,
    DetectVirt => plain::DETECT_VIRT,
    GrubDefaults => next_boot::GRUB_DEFAULTS,
    GrubCfg => next_boot::GRUB_CFG,
    BootEntry => next_boot::BOOT_ENTRY,
    MachineConfig => next_boot::MACHINE_CONFIG,
    PodSpec => pod_spec::TOOL,
    TalosConfig => next_boot::TALOS,
    Cmdline => cmdline::TOOL,
    ModinfoNvidia => plain::MODINFO_NVIDIA,
    Modinfo => modinfo::MODINFO,
    Modprobe => modinfo::MODPROBE,
    Nvml => nvml::TOOL,
    VirshXml => libvirt::TOOL,
    FabricPartitions => fabric_partitions::TOOL,
    NcclTopoXml => plain::NCCL_TOPO_XML,
    HwlocXml => hwloc_xml::TOOL,
    KubernetesNodes => kubernetes::TOOL,
    KubernetesText => kubernetes::TEXT,
    Sbatch => sbatch::TOOL,
    Compose => pod_spec::compose::TOOL,
    Netplan => net_config::netplan::TOOL,
    NetworkManager => net_config::keyfile::TOOL,
    SystemdUnit => systemd_unit::TOOL,
    Sinfo => node_list::SINFO,
    MachineConfigPools => machine_config_pools::TOOL,
    GpuBurn => gpu_burn::TOOL,
    KubectlNodes => node_list::KUBECTL,
    SlurmNodes => slurm::TOOL,
    Series => series::TOOL,
}
