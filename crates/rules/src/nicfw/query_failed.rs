//! `nicfw/query-failed`.

use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::clip::clip;
use linerate_node::firmware::Lockdown;
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "nicfw/query-failed",
    title: "No query of NIC firmware settings failed",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::direction_only("none by itself: the settings of the NIC stay unknown"),
    sources: &[
        super::PRINTING,
        Source {
            title: "kernel_lockdown(7): what lockdown refuses",
            at: "https://man7.org/linux/man-pages/man7/kernel_lockdown.7.html",
        },
    ],
    reads: &["mlxconfig -d BDF -e q", "sys/kernel/security/lockdown"],
    docs: "\
## What it checks
Error lines (`-E- …`) and failed runs of `mlxconfig` and `mstconfig`, one answer per different message.

## Why it matters
A failed query is not an answer. Most often the tool ran without root, in a container without the device, under kernel lockdown
(Secure Boot), or in a virtual machine that may not ask.

## See it yourself
`sudo mstconfig -d BDF -e query; cat /sys/kernel/security/lockdown`.

## Fix
Run it as root on the host. Under lockdown the tools cannot reach the card through configuration space: a signed kernel interface
(fwctl, or the driver's own) or a boot without lockdown is needed (from experience, depends on the version of the tool).",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let node = cx.node;
    if node.nic_firmware_errors.is_empty() {
        let f = match node.nic_firmware.first() {
            Some(_) => out.pass(
                Subject::Node,
                format_args!(
                    "{} answered, none failed",
                    linerate_formats::counted(node.nic_firmware.len(), "query", "queries")
                ),
            ),
            None => {
                out.not_applicable("no query of NIC firmware settings in this source: see nicfw/visible");
                return;
            }
        };
        f.at_all(node.nic_firmware.iter().map(|nic| nic.place));
        return;
    }
    let locked = match &node.firmware.lockdown {
        Reading::Known(level, place) if *level != Lockdown::None => Some(*place),
        _ => None,
    };
    let mut said: Vec<&str> = Vec::new();
    for error in &node.nic_firmware_errors {
        if said.contains(&error.text.as_str()) || said.len() >= 16 {
            continue;
        }
        said.push(&error.text);
        let same: Vec<_> = node.nic_firmware_errors.iter().filter(|e| e.text == error.text).collect();
        let devices: Vec<&str> = same.iter().filter_map(|e| e.device.as_deref()).collect();
        let who = if devices.is_empty() {
            String::new()
        } else {
            format!(" ({})", super::list(devices.iter().copied(), devices.len()))
        };
        let because = if locked.is_some() { "; the kernel is locked down, which refuses such access" } else { "" };
        let text = clip(&error.text, 160);
        let f = out.unknown(Subject::Node, format_args!("the query failed: {text}{who}{because}"));
        f.at(error.place);
        match locked {
            Some(place) => f.at(place).see("boot without lockdown, or use a tool that asks through fwctl"),
            None => f.see("run `mstconfig -d BDF -e query` as root on the host"),
        };
    }
}
