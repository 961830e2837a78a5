//! Configurations and lists that hold no facts about a node's hardware, and that people paste beside what does: each is called by its name, with what to
//! do with it, instead of being refused as nothing.

use crate::tool::{Command, Gives, Mark, Tool};

/// A batch script of Slurm.
pub const SBATCH: Tool = Tool {
    name: "sbatch",
    called: "batch script (Slurm)",
    run: "cat JOB.sbatch",
    gives: Gives::NoFacts("a batch script of Slurm (`linerate env check FILE` judges its variables)"),
    marks: &[Mark::beginning(&["#SBATCH "])],
    samples: &["#!/bin/bash\n#SBATCH --nodes=2\nexport NCCL_DEBUG=INFO\nsrun ./all_reduce_perf\n"],
    ..Tool::NONE
};

/// `sinfo`.
pub const SINFO: Tool = Tool {
    name: "sinfo",
    called: "sinfo",
    run: "sinfo",
    gives: Gives::NoFacts("the partitions of Slurm (`scontrol show node` has what it claims of each node)"),
    marks: &[Mark::line(|l| l.starts_with("PARTITION ") && l.contains(" NODELIST")).begins(&["PARTITION "])],
    commands: &[Command::any("sinfo")],
    samples: &[
        "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\ngpu*         up   infinite     30    mix gpu[001-030]\n",
    ],
    ..Tool::NONE
};

/// `oc get mcp`.
pub const MACHINE_CONFIG_POOLS: Tool = Tool {
    name: "machine-config-pools",
    called: "oc get mcp",
    run: "oc get mcp",
    gives: Gives::NoFacts(
        "the pools of OpenShift's machine configurations (`oc get machineconfig NAME -o yaml` has what one asks for)",
    ),
    marks: &[Mark::line(|l| l.starts_with("NAME ") && l.contains(" DEGRADED") && l.contains(" MACHINECOUNT"))
        .begins(&["NAME "])],
    commands: &[Command::with("oc", &["get", "mcp"])],
    samples: &[
        "NAME     CONFIG               UPDATED   UPDATING   DEGRADED   MACHINECOUNT   READYMACHINECOUNT\nworker   rendered-worker-1    False     True       False      8              5\n",
    ],
    ..Tool::NONE
};

/// gpu-burn.
pub const GPU_BURN: Tool = Tool {
    name: "gpu-burn",
    called: "gpu-burn",
    run: "gpu_burn 60",
    gives: Gives::NoFacts(
        "a run of gpu-burn: whether the GPUs compute rightly under load, and nothing of links or networks",
    ),
    marks: &[Mark::line_with(|l| l.contains("proc'd: ") && l.contains("Gflop/s"), "errors:").holds(&["proc'd: "])],
    commands: &[Command::any("gpu_burn"), Command::any("gpu-burn")],
    samples: &[
        "Burning for 60 seconds.\n100.0%  proc'd: 6120 (58230 Gflop/s)   errors: 0   temps: 61 C \n\nTested 1 GPUs:\n\tGPU 0: OK\n",
    ],
    ..Tool::NONE
};

/// `kubectl get nodes`.
pub const KUBECTL_NODES: Tool = Tool {
    name: "kubectl-nodes",
    called: "kubectl get nodes",
    run: "kubectl get nodes",
    gives: Gives::NoFacts("a list of Kubernetes' nodes (`kubectl get node NAME -o json` has what is claimed of one)"),
    marks: &[
        Mark::line(|l| l.starts_with("NAME ") && l.contains(" ROLES ") && l.contains(" VERSION")).begins(&["NAME "])
    ],
    samples: &["NAME         STATUS   ROLES    AGE   VERSION\ngpu-node-1   Ready    worker   12d   v1.31.4\n"],
    ..Tool::NONE
};
