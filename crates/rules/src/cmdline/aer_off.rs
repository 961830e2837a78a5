//! `cmdline/aer-off`.

use super::words::{self, KPARAM};
use crate::sources::linux;
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source};

const AER: Source = linux!("drivers/pci/pcie/aer.c", "pci_no_aer, pci_aer_available, pci_aer_init");
const PORTDRV: Source = linux!("drivers/pci/pcie/portdrv.c", "get_port_device_capability, pcie_port_setup");

pub(super) static RULE: Rule = Rule {
    id: "cmdline/aer-off",
    title: "The kernel counts PCIe errors: nothing on the command line switches their reporting off",
    severity: Severities::up_to(Severity::Info, Severity::Low),
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect::sourced("the error counters of GPUs, NICs and bridges stay at 0 whatever happens on their links"),
    sources: &[AER, PORTDRV, KPARAM],
    reads: &["proc/cmdline"],
    docs: "\
## What it checks
`pci=noaer`, `pci=nomsi` and `pcie_ports=compat` on the command line. Each keeps the kernel from taking the interrupts of advanced error
reporting (AER), and from containing errors at a port (DPC).

## Why it matters
The files `aer_dev_*` are there all the same, and every count in them is 0: a link that replays packets looks like a healthy one, and the
log has no line about it. Only the sticky status bits of the AER capability still show errors. Where no GPU is on the node this is information.

## See it yourself
`cat /proc/cmdline; ls /sys/bus/pci_express/drivers/aer`: a root port whose errors are taken has an entry there.

## Fix
Remove the word and reboot. If the log then fills with correctable errors, the link is what wants repair: pcie/aer-errors says which.",
    myths: &[Myth {
        claim: "pci=noaer repairs a node whose log is full of PCIe bus errors.",
        truth: "It removes the lines and the counts. The link goes on replaying packets.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let severity = if cx.has_gpu() { Severity::Low } else { Severity::Info };
    // The kernel compares `noaer` and `nomsi` whole, of `pcie_ports=` only the first six letters.
    let pci = c.options("pci").filter(|(o, _)| matches!(*o, "noaer" | "nomsi")).map(|(o, w)| ("pci", o, w));
    let ports = c
        .get_all("pcie_ports")
        .filter_map(|w| Some(("pcie_ports", w.value.as_deref()?, w)))
        .filter(|(_, value, _)| value.starts_with("compat"));
    for (name, option, word) in pci.chain(ports) {
        let text = format!("{name}={option}");
        let why = match option {
            "noaer" => "PCIe errors are neither counted nor logged",
            "nomsi" => "without message-signalled interrupts PCIe errors are neither counted nor logged",
            _ => "no driver of PCIe ports: PCIe errors are neither counted nor logged",
        };
        out.fail(words::subject(name, option), why)
            .severity(severity)
            .at(place.line(word.line))
            .fix(|| words::remove(&[&text], "errors that were silent until now appear in the log"));
    }
    if out.is_empty() {
        words::none_of(out, "word that switches AER off", (c, place));
    }
}
