//! `modules/nvlink-disabled`.

use super::nvidia::{self, NV_REG, READS};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Subject};

pub(super) static RULE: Rule = Rule {
    id: "modules/nvlink-disabled",
    title: "The driver uses the NVLinks of several GPUs",
    severity: Severities::up_to(Severity::Info, Severity::High),
    roles: Roles::ALL,
    effect: Effect::direction_only("GPUs talk over PCIe, at a tenth or less of what NVLink carries"),
    sources: &[NV_REG],
    reads: READS,
    docs: "\
## What it checks
`NVreg_NvLinkDisable=1` in force (else asked for), on a node with several NVIDIA GPUs.

## Why it matters
With 1 the driver trains no NVLink. That is how one GPU of a machine with NVSwitches is used by a guest without a fabric manager; with several GPUs
every transfer between them goes over PCIe. `nvidia-smi nvlink -s` then prints nothing at all, and nothing says why.

## See it yourself
`grep NvLinkDisable /proc/driver/nvidia/params; nvidia-smi nvlink -s; nvidia-smi topo -m`.

## Fix
Remove the option where the GPUs have NVLink, and load the driver again. GPUs behind NVSwitches then need the fabric manager
(gpumem/nvlink-fabric).",
    myths: &[Myth {
        claim: "`nvidia-smi nvlink -s` prints nothing, so the GPUs have no NVLink.",
        truth: "It also prints nothing where an option of the driver disables them.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let subject = || Subject::Module("nvidia NVreg_NvLinkDisable".into());
    let (value, place) = match nvidia::effective_or_asked(cx, "NvLinkDisable") {
        Some((0, place)) => {
            out.pass(subject(), "0: the driver uses NVLink where there is one").at(place);
            return;
        }
        Some(found) => found,
        None => {
            nvidia::without_value(cx, out, "the driver does not list the parameter");
            return;
        }
    };
    let gpus = cx.node.nccl_gpus().len();
    if gpus == 1 {
        out.pass(subject(), format_args!("{value}: NVLink is off, and there is one GPU: nothing to connect")).at(place);
        return;
    }
    if gpus == 0 {
        out.unknown(subject(), format_args!("{value}: NVLink is off; how many GPUs there are is not seen")).at(place);
        return;
    }
    // A fabric state, or an NVSwitch, says that there are NVLinks. A PCIe card may have none.
    let has_switch = cx.node.pci.of_kind(linerate_node::pci::Kind::NvSwitch).next().is_some();
    let severity = if has_switch || is_on_a_baseboard(cx) { Severity::High } else { Severity::Info };
    let text = match severity {
        Severity::High => "NVLink is off: the GPUs talk over PCIe",
        _ => "NVLink is off; it matters where these cards have bridges",
    };
    let f = out.fail(subject(), format_args!("{value}: {text}")).severity(severity).at(place);
    f.fix(|| nvidia::reset("NvLinkDisable", "GPUs behind NVSwitches need the fabric manager then"));
}

/// GPUs on a baseboard, by their names: SXM modules, and those that are sold in no other form.
fn is_on_a_baseboard(cx: &Cx<'_>) -> bool {
    let words = ["SXM", "HBM3", "H200", "B200", "B300"];
    let named = |n: &String| words.iter().any(|w| n.contains(w)) && !n.contains("NVL") && !n.contains("PCIe");
    cx.node.nvidia.gpus.iter().any(|g| g.name.known().is_some_and(named))
}
