//! `acs/parameter-not-effective`.

use super::{KERNEL_PCI, control, control_place, differs, names};
use crate::{Action, Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Status, Subject};
use linerate_formats::cmdline::Cmdline;
use linerate_formats::dmesg::Event;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::pci::PciFunction;
use linerate_snapshot::{Place, Reading};

pub(super) static RULE: Rule = Rule {
    id: "acs/parameter-not-effective",
    title: "ACS parameters of the command line are in effect in the registers",
    severity: Severities::always(Severity::High),
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect::sourced("the ports behave as if the parameter were not there"),
    sources: &[
        Source {
            title: "Linux commit 9cf8a952d57b, PCI/ACS: Fix 'pci=config_acs=' parameter; 47c8846a49ba, PCI: Extend ACS configurability",
            at: "https://git.kernel.org/torvalds/c/9cf8a952d57b",
        },
        KERNEL_PCI,
    ],
    reads: &["proc/cmdline", "proc/sys/kernel/osrelease", "sys/bus/pci/devices/*/config", "dmesg"],
    docs: "\
## What it checks
Every device that `pci=config_acs=` or `pci=disable_acs_redir=` names, by address or by vendor and device id: its ACS control register must show what
was asked for.

## Why it matters
Linux 6.11 to 6.14 without a later correction mis-handle lists of devices in both options (`PCI: Can't parse ACS command line parameter`). Kernels
before 6.11 do not know config_acs, kernels before 4.19 not disable_acs_redir. Addresses are wrong after buses were renumbered; an unquoted
semicolon ends the line in GRUB. The command line alone proves nothing.
disable_acs_redir promises RR, CR and EC only. Linux 6.1 keeps the SV and UF that the kernel had set; 6.12 gives every bit that the option does
not name the value that firmware left, so SV and UF may be off too. Both are effective: SV alone redirects
nothing, and UF matters only below a ConnectX or BlueField switch.

## See it yourself
`cat /proc/cmdline`, then `sudo lspci -vvv -s PORT | grep ACSCtl`.

## Fix
Correct the parameter, or use a kernel with the correction (6.15), or clear the bits with a masked setpci at boot. Then read the register.",
    myths: &[
        Myth {
            claim: "pci=noacs disables ACS.",
            truth: "Mainline has no such option: the kernel logs an unknown option and goes on.",
        },
        Myth {
            claim: "The parameter is on the command line, so ACS is configured.",
            truth: "Lists were mis-parsed for four kernel releases. Only the register shows the truth.",
        },
    ],
    check,
};

/// A device of a list, as the kernel's pci_dev_str_match reads it.
enum Target {
    Address(Bdf),
    Id(u16, u16),
}

/// What one entry of a list asks for.
struct Wish<'a> {
    text: &'a str,
    want: &'a str,
    target: Option<Target>,
}

/// What disable_acs_redir does, in the words of config_acs: EC, CR and RR off.
const NO_REDIRECT: &str = "x0x00xx";

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let (line, at) = match &cx.node.kernel.cmdline {
        Reading::Known(line, at) => (line, *at),
        r => {
            out.unreadable(Subject::Node, "kernel command line", r);
            return;
        }
    };
    let rejected: Option<Place> =
        cx.node.kernel.events(|e| matches!(e, Event::AcsParameterRejected).then_some(())).map(|(_, p)| p).next();
    let mut any = false;
    for (option, param) in line.options("pci") {
        let Some((name, value)) = option.split_once('=') else { continue };
        let want = match name {
            "config_acs" => None,
            "disable_acs_redir" => Some(NO_REDIRECT),
            _ => continue,
        };
        any = true;
        for entry in value.trim_matches('"').split(';').filter(|e| !e.is_empty()) {
            judge(cx, name, wish(entry, want), at.line(param.line), rejected, out);
        }
    }
    if !any {
        out.not_applicable("no ACS parameter on the command line").at(at);
    } else if out.is_empty() {
        out.unknown(Subject::Node, "an ACS parameter without devices").at(at);
    }
}

/// `xx000x0@0000:41:00.0` or, with the wish given by the option, `pci:10b5:9797`.
fn wish<'a>(entry: &'a str, want: Option<&'a str>) -> Wish<'a> {
    let (want, device) = match want {
        Some(w) => (w, entry),
        None => match entry.split_once('@') {
            Some((w, d)) => (w.trim_start_matches('='), d),
            None => ("", entry),
        },
    };
    let target = match device.strip_prefix("pci:") {
        Some(ids) => {
            let mut words = ids.split(':').map(|w| u16::from_str_radix(w, 16).ok());
            match (words.next().flatten(), words.next().flatten()) {
                (Some(v), Some(d)) => Some(Target::Id(v, d)),
                _ => None,
            }
        }
        // A path of device.function pairs follows a slash: the last one cannot be resolved without walking; the first names another device.
        None if device.contains('/') => None,
        None => device.parse().ok().map(Target::Address),
    };
    Wish { text: entry, want, target }
}

/// Bits that the ACS parameters of a command line give a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcsAsked {
    /// The port.
    pub port: Bdf,
    /// Bits that it switches on, of those that the port has.
    pub set: u16,
    /// Bits that it switches off.
    pub clear: u16,
}

/// What `pci=config_acs=` and `pci=disable_acs_redir=` of a command line make of the ports of this node, against their registers now.
#[must_use]
pub fn acs_asked_for(node: &Node<'_>, line: &Cmdline) -> Vec<AcsAsked> {
    let mut out = Vec::new();
    for (name, value) in line.options("pci").filter_map(|(option, _)| option.split_once('=')) {
        let want = match name {
            "config_acs" => None,
            "disable_acs_redir" => Some(NO_REDIRECT),
            _ => continue,
        };
        for w in value.trim_matches('"').split(';').filter(|e| !e.is_empty()).map(|e| wish(e, want)) {
            let Some(target) = w.target.as_ref().filter(|_| w.is_valid()) else { continue };
            for f in node.pci.functions.iter().filter(|f| target.is(f)) {
                let Some(bits) = control(f) else { continue };
                let (set, clear) = differs(w.want, bits);
                out.push(AcsAsked { port: f.bdf, set: set & able(f), clear });
            }
        }
    }
    out
}

/// The bits that a port has.
fn able(f: &PciFunction<'_>) -> u16 {
    f.acs.known().and_then(|a| a.capability).map_or(u16::MAX, |c| c.0)
}

impl Target {
    fn is(&self, f: &PciFunction<'_>) -> bool {
        match self {
            Target::Address(b) => f.bdf == *b,
            // Zero means any, as in the kernel.
            Target::Id(v, d) => {
                (*v == 0 || f.vendor.known() == Some(v))
                    && (*d == 0 || f.device.known() == Some(d))
                    && !f.acs.is_absent()
            }
        }
    }
}

impl Wish<'_> {
    fn is_valid(&self) -> bool {
        self.want.len() == 7 && self.want.bytes().all(|b| matches!(b, b'0' | b'1' | b'x'))
    }
}

fn judge(cx: &Cx<'_>, name: &str, w: Wish<'_>, at: Place, rejected: Option<Place>, out: &mut Findings) {
    let subject = || Subject::KernelArg(format!("pci={name}={}", w.text));
    let Some(target) = w.target.as_ref().filter(|_| w.is_valid()) else {
        out.unknown(subject(), "linerate cannot interpret it: compare the registers by hand").at(at);
        return;
    };
    let hits = |f: &&PciFunction<'_>| target.is(f);
    let mut met: Option<(Bdf, Place)> = None;
    let mut count = 0_usize;
    for f in cx.node.pci.functions.iter().filter(hits) {
        count += 1;
        let Some(bits) = control(f) else {
            match &f.acs {
                Reading::Absent(p) => out
                    .fail(subject(), format_args!("{} has no ACS capability", f.bdf))
                    .severity(Severity::Low)
                    .at(*p)
                    .at(at),
                r => out.unreadable(subject(), "ACS control register", r).at(at),
            };
            continue;
        };
        let (set, clear) = differs(w.want, bits);
        let set = set & able(f);
        if (set, clear) == (0, 0) {
            met.get_or_insert((f.bdf, control_place(f)));
            continue;
        }
        let finding = out.fail(
            subject(),
            format_args!("{} still differs in {}: {bits}{}", f.bdf, names(set | clear), why(cx, name)),
        );
        finding.at(at).at(control_place(f)).fix(|| fix(f, set, clear));
        if let Some(p) = rejected {
            finding.at_noting(p, "the kernel could not parse it");
        }
    }
    match met {
        _ if count == 0 && cx.node.pci.seen.is_some() => {
            out.fail(subject(), "names no device of this node").severity(Severity::Medium).at(at);
        }
        Some((bdf, p)) => {
            out.pass(subject(), format_args!("{bdf} shows it")).at(at).at(p);
        }
        None if count == 0 => {
            out.unknown(subject(), "no list of PCI devices in this source").at(at);
        }
        None => {}
    }
}

/// Whether the registers of all devices that the lists name show what was asked; `None` where one is not seen or not understood.
pub(crate) fn in_force(cx: &Cx<'_>) -> Option<bool> {
    let mut out = Findings::default();
    check(cx, &mut out);
    let mut any = false;
    for f in &out.list {
        match f.status {
            Status::Pass => any = true,
            Status::Fail => return Some(false),
            Status::Unknown => return None,
            Status::NotApplicable => {}
        }
    }
    any.then_some(true)
}

/// The kernel's part in it, where the release tells.
fn why(cx: &Cx<'_>, name: &str) -> String {
    match cx.node.kernel.release.known() {
        Some(v) if v.at_least(6, 11) && !v.at_least(6, 15) => {
            format!("; Linux {}.{} mis-parses lists unless corrected", v.major, v.minor)
        }
        Some(v) if name == "config_acs" && !v.at_least(6, 11) => {
            format!("; Linux {}.{} does not know config_acs unless backported", v.major, v.minor)
        }
        _ => String::new(),
    }
}

fn fix(f: &PciFunction<'_>, set: u16, clear: u16) -> Remedy {
    Remedy::new(
        "correct the parameter or the kernel, or write the bits with a masked setpci at boot; then read the register",
        Action::AcsControl { ports: vec![f.bdf], clear, set },
    )
    .because("changes DMA isolation between the devices below")
    .prove(format!("sys/bus/pci/devices/{}/config ACS control", f.bdf))
}
