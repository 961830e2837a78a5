//! `claims/machine-configs-applied`.

use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::machine_config_pools::Pool;
use linerate_snapshot::OutputKind;

pub(super) static RULE: Rule = Rule {
    id: "claims/machine-configs-applied",
    title: "All nodes of an OpenShift pool have the requested configuration",
    severity: Severities::up_to(Severity::Info, Severity::Low),
    roles: Roles::ALL,
    effect: Effect::direction_only("kernel arguments and files of MachineConfigs are not yet on all nodes of the pool"),
    sources: &[Source {
        title: "machine-config-operator, MachineConfigPool: conditions Updated, Updating, Degraded; machine counts",
        at: "https://github.com/openshift/machine-config-operator/blob/main/docs/MachineConfigController.md",
    }],
    reads: &["oc get mcp"],
    docs: "\
## What it checks
Each pool of `oc get mcp`: DEGRADED=True is low, UPDATED=False is information. A pool with UPDATED=True and DEGRADED=False passes.

## Why it matters
Kernel arguments such as iommu=pt, and files below /etc, come to OpenShift's nodes by MachineConfigs. The operator drains and reboots one node after the other. Until the pool is updated, its nodes differ.
A pool that is degraded stops: a node could not take the configuration.

## See it yourself
`oc describe mcp NAME`, and of a node the annotations `machineconfiguration.openshift.io/state`, `currentConfig`, `desiredConfig` and `reason`.

## Fix
Read the message of the condition Degraded in `oc describe mcp NAME`. A pool that is neither updated nor updating may be paused (`spec.paused`).",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let pools = &cx.node.cluster.pools;
    match (pools.is_empty(), cx.output(OutputKind::MachineConfigPools)) {
        (false, _) => {}
        (true, Some(list)) => {
            out.unknown(Subject::Node, "no pool with its state is in this list")
                .at(list)
                .see("oc get mcp (complete output)");
        }
        (true, None) => _ = out.not_applicable("no list of OpenShift's machine configuration pools in this source"),
    }
    for p in pools {
        let (subject, pool) = (Subject::Named(format!("pool {}", p.pool.name)), &p.pool);
        let done = match (pool.updated_machines, pool.machines) {
            (Some(n), Some(of)) => format!(", {n} of {of} nodes have it"),
            _ => String::new(),
        };
        let (severity, text) = match pool {
            Pool { degraded: true, .. } => {
                (Severity::Low, format!("DEGRADED: a node could not take the configuration of the pool{done}"))
            }
            Pool { updated: false, updating: true, .. } => {
                (Severity::Info, format!("UPDATING: the configuration of the pool is not on all nodes yet{done}"))
            }
            Pool { updated: false, .. } => {
                (Severity::Info, format!("not UPDATED, and not UPDATING: the pool may be paused{done}"))
            }
            _ => {
                out.pass(subject, "UPDATED: all nodes have the configuration of the pool").at(p.place);
                continue;
            }
        };
        out.fail(subject, text).severity(severity).at(p.place).fix(|| {
            let what = "why the pool is not updated: conditions of the pool, and its nodes' annotations";
            Remedy::investigate("bring the pool to its configuration", what).prove("oc get mcp")
        });
    }
}
