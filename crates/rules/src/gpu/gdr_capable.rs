//! `gpu/gdr-capable`.

use super::GDR_DOC;
use crate::{Cx, Effect, Finding, Findings, Myth, Roles, Rule, Severities, Severity, Source};
use linerate_node::gpudirect::{Lacks, lacks};
use linerate_node::pci::PciFunction;
use linerate_snapshot::{Place, Reading};

pub(super) static RULE: Rule = Rule {
    id: "gpu/gdr-capable",
    title: "The GPUs support GPUDirect RDMA",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("no GPUDirect RDMA at all: everything goes through host memory"),
    sources: &[
        GDR_DOC,
        Source {
            title: "DGX Spark porting guide: nvidia-peermem, dma-buf and GDRCopy do not work",
            at: "https://docs.nvidia.com/dgx/dgx-spark-porting-guide/",
        },
    ],
    reads: &["nvidia-smi -q", "lspci"],
    docs: "\
## What it checks
The product name of each GPU, where a source shows it. Data-centre and professional GPUs support GPUDirect RDMA; GeForce and DGX Spark (GB10) do not.

## Why it matters
On an unsupported GPU no module, parameter or environment variable switches it on. NCCL stages through host memory.

## See it yourself
`nvidia-smi -L`. A program can ask: cuDeviceGetAttribute with CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED.

## Fix
There is none in software: use another GPU, or plan with copies through host memory.",
    myths: &[Myth {
        claim: "GPUDirect RDMA on GeForce only needs the peer memory module.",
        truth: "The driver refuses peer memory on these products.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let gpus = || cx.node.pci.nvidia_gpus().map(|(_, f)| f);
    if cx.no_subjects(gpus().next().is_some(), "GPU", out) {
        return;
    }
    for f in gpus() {
        if f.driven_by("vfio-pci") {
            out.not_applicable_to(f.bdf, "passed to virtual machines: its driver, which says what it is, runs there")
                .at(f.driver.place());
            continue;
        }
        judge(cx, f, out);
    }
}

/// Product name with its place: the driver's, else what `lspci` printed between brackets.
fn name<'c>(cx: &'c Cx<'_>, f: &'c PciFunction<'_>) -> Option<(&'c str, Place)> {
    if let Some(Reading::Known(n, p)) = cx.node.nvidia.gpu(f.bdf).map(|g| &g.name) {
        return Some((n, *p));
    }
    let inner = f.name.rsplit_once('[')?.1.trim_end_matches(']');
    (!inner.is_empty()).then(|| (inner, f.class.place()))
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty())
}

/// Whether a source names the GPU as a product without GPUDirect RDMA.
pub(super) fn is_consumer(cx: &Cx<'_>, f: &PciFunction<'_>) -> bool {
    lacks(cx.node, f).is_some()
}

fn judge<'o>(cx: &Cx<'_>, f: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    let Some((name, at)) = name(cx, f) else {
        if f.driven_by("vfio-pci") {
            return out
                .not_applicable_to(f.bdf, "bound to vfio-pci: the virtual machine's driver names it")
                .at(f.driver.place());
        }
        return out
            .unknown(f.bdf, "product name is not in this source")
            .at(f.class.place())
            .see("add the output of `nvidia-smi -q`");
    };
    if let Some((Lacks::Gb10, at)) = lacks(cx.node, f) {
        out.not_applicable_to(f.bdf, "GB10 has no GPUDirect RDMA: its memory is the system's, and NICs reach it there")
            .at(at)
    } else if lacks(cx.node, f).is_some() {
        let finding = out.fail(f.bdf, format_args!("{name} does not support GPUDirect RDMA"));
        finding.at(at);
        // A workstation, or a graphics card for the console: nothing here could have used it.
        finding.severity(cx.node.pci.rdma_nics().next().is_none().then_some(Severity::Info))
    } else if words(name).any(professional) || is_rtx(name) {
        out.pass(f.bdf, format_args!("{name} is a data-centre or professional product")).at(at)
    } else {
        out.unknown(f.bdf, format_args!("{name}: not known to be a data-centre or professional product")).at(at)
    }
}

/// What NVIDIA calls RTX without GeForce (and without TITAN) is its professional line: RTX 6000 Ada Generation, RTX PRO 6000 Blackwell.
fn is_rtx(name: &str) -> bool {
    words(name).any(|w| w == "RTX") && !words(name).any(|w| w.eq_ignore_ascii_case("TITAN"))
}

/// Product lines that NVIDIA names (Tesla, Quadro, RTX professional), and the letter-and-number names of data-centre boards: A100, H200, L40S, GB200.
fn professional(word: &str) -> bool {
    if ["Tesla", "Quadro", "DGX", "HGX", "Grace", "RTXA6000"].iter().any(|w| word.eq_ignore_ascii_case(w)) {
        return true;
    }
    let letters = word.chars().take_while(char::is_ascii_uppercase).count();
    let (series, rest) = word.split_at(letters);
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    let (number, suffix) = rest.split_at(digits);
    let in_series = matches!(series, "A" | "B" | "H" | "L" | "T" | "V" | "P" | "K" | "M" | "GB" | "GH");
    in_series && !number.is_empty() && matches!(suffix, "" | "S" | "M" | "X" | "m")
}
