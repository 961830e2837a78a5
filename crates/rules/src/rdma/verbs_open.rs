//! `rdma/verbs-open`.

use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_snapshot::OutputKind;

pub(super) static RULE: Rule = Rule {
    id: "rdma/verbs-open",
    title: "Programs can open the RDMA devices that they see",
    severity: Severities::up_to(Severity::Low, Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("NCCL, UCX and MPI leave out a device that they cannot open: with no other one they fall back to TCP sockets"),
    sources: &[
        Source {
            title: "rdma-core, libibverbs/examples/devinfo.c: print_hca_cap prints `Failed to open device` where ibv_open_device fails",
            at: "https://github.com/linux-rdma/rdma-core/blob/master/libibverbs/examples/devinfo.c",
        },
        Source {
            title: "rdma-core, libibverbs/device.c: verbs_open_device opens /dev/infiniband/uverbsN",
            at: "https://github.com/linux-rdma/rdma-core/blob/master/libibverbs/device.c",
        },
    ],
    reads: &["ibv_devinfo"],
    docs: "\
## What it checks
Lines `Failed to open device` in an output of `ibv_devinfo`, which does not say which devices those are. Where none could be opened it is high; where others were opened, low: a container
that was given one virtual function sees all of them in /sys/class/infiniband and can open its own.

## Why it matters
/sys shows the devices of the machine, but a program opens /dev/infiniband/uverbsN. In a container that file is there only if the container was given it; with exclusive
namespaces (`rdma system`) the device must also be in the container's network namespace.

## See it yourself
In the container: `ls -l /dev/infiniband /sys/class/infiniband_verbs`, `ibv_devinfo`. On the host the same commands as the user who runs jobs.

## Fix
Give the container the device: the resource of the RDMA or SR-IOV device plugin in a pod's limits, `--device /dev/infiniband` for Docker. On a host: the rights of /dev/infiniband/uverbs*
(0666 by udev's rules of rdma-core).",
    myths: &[Myth {
        claim: "ibstat lists the NIC in the container, so RDMA works there.",
        truth: "ibstat reads /sys, which containers share with the host. Only opening the device shows it: ibv_devinfo.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let said = &cx.node.rdma_unshown;
    match (said.refused, said.opened) {
        (None, Some((n, text))) => {
            let devices = linerate_formats::counted(n, "RDMA device", "RDMA devices");
            out.pass(Subject::Node, format_args!("ibv_devinfo opened {devices}")).at(text);
        }
        (Some((n, place)), opened) => {
            let all = usize::try_from(n).unwrap_or(usize::MAX).saturating_add(opened.map_or(0, |(n, _)| n));
            let (severity, rest) = match opened {
                None => (Severity::High, ""),
                Some(_) => (Severity::Low, "; right in a container that was given only the others"),
            };
            let words = format_args!("{n} of {all} RDMA devices could not be opened{rest}");
            out.fail(Subject::Node, words).severity(severity).at(place).fix(|| {
                Remedy::investigate(
                    "compare /dev/infiniband with /sys/class/infiniband: give the container its devices, or correct their rights",
                    "which of /dev/infiniband/uverbs* are there, and who may open them",
                )
                .prove("ibv_devinfo")
            });
        }
        (None, None) => match cx.output(OutputKind::IbvDevinfo) {
            Some(text) => _ = out.unknown(Subject::Node, "ibv_devinfo shows no device here").at(text),
            None => _ = out.not_applicable("no output of ibv_devinfo in this source"),
        },
    }
}
