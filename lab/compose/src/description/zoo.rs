//! `[zoo]`: truths about a machine, for `crates/remedy/tests/zoo`.

use serde::Deserialize;

/// Whether NIC and GPU can exchange data directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gdr {
    /// Every GPU with the NICs nearest to it.
    Yes,
    /// No GPU by NCCL's own decision: too far, or the devices cannot.
    No,
    /// There are no GPUs, or no NICs.
    #[default]
    None,
}

/// `[zoo]`. A broken sibling inherits it and says what is `wrong`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Zoo {
    /// `bare metal`, `VM host`, `VM guest`, as linerate names it.
    pub role: String,
    /// GPUs that NCCL sees.
    pub gpus: u32,
    /// NICs that NCCL's own InfiniBand transport takes.
    pub nets: u32,
    /// GPUDirect RDMA between each GPU and the NICs nearest to it.
    pub gdr: Gdr,
    /// Rate of each NIC that NCCL makes of the ports next to GPUs, Gb/s: two ports of a card are one.
    pub port_gbps: u32,
    /// What such a NIC can bring to a GPU at most, Gb/s, where PCIe carries less than the ports.
    pub gpu_gbps: Option<u32>,
    /// Rules that may say low or info of this machine by its design.
    pub by_design: Vec<String>,
    /// Rules that nobody can decide from where this capture was taken, and why.
    pub unknowable: Vec<(String, String)>,
    /// Broken siblings: the rule whose finding must come first.
    pub first: String,
    /// Broken siblings: whether the plan's steps lead back to the healthy machine in simulation.
    pub heals: bool,
    /// Broken siblings that a plan does not heal: why (hardware, firmware setup, another node).
    pub why_not: String,
}

impl Default for Zoo {
    fn default() -> Self {
        Zoo {
            role: "bare metal".into(),
            gpus: 0,
            nets: 0,
            gdr: Gdr::default(),
            port_gbps: 0,
            gpu_gbps: None,
            by_design: Vec::new(),
            unknowable: Vec::new(),
            first: String::new(),
            heals: true,
            why_not: String::new(),
        }
    }
}
