//! `modules/relaxed-ordering-mode`.

use super::nvidia::{self, NV_REG, READS};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source, Subject};

pub(super) static RULE: Rule = Rule {
    id: "modules/relaxed-ordering-mode",
    title: "The GPU driver decides about relaxed ordering of the GPU's writes",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("not needed for GPUDirect RDMA: there the NIC writes, and NCCL asks the NIC itself"),
    sources: &[
        NV_REG,
        Source {
            title: "NCCL user guide: NCCL_IB_PCI_RELAXED_ORDERING",
            at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-ib-pci-relaxed-ordering",
        },
    ],
    reads: READS,
    docs: "\
## What it checks
`NVreg_EnablePCIERelaxedOrderingMode` in force (else asked for).

## Why it matters
1 forces the relaxed-ordering bit on all memory writes that GPUs send. The NIC's writes, which matter to GPUDirect RDMA, are decided by
the NIC: NCCL registers its buffers with relaxed ordering where the NIC's driver offers it.

## See it yourself
`grep RelaxedOrdering /proc/driver/nvidia/params`.

## Fix
Nothing is wrong; remove it unless somebody measured a benefit on this platform.",
    myths: &[Myth {
        claim: "NVreg_EnablePCIERelaxedOrderingMode=1 is required for GPUDirect RDMA.",
        truth: "It concerns writes by the GPU. NCCL asks for relaxed ordering of the NIC by itself.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let subject = || Subject::Module("nvidia NVreg_EnablePCIERelaxedOrderingMode".into());
    match nvidia::effective_or_asked(cx, "EnablePCIERelaxedOrderingMode") {
        Some((0, place)) => out.pass(subject(), "0: the driver's default").at(place),
        Some((value, place)) => out
            .fail(
                subject(),
                format_args!(
                    "{value}: relaxed ordering is forced on all writes of GPUs; GPUDirect RDMA does not need it"
                ),
            )
            .at(place),
        None => nvidia::without_value(cx, out, "the driver does not list the parameter"),
    };
}
