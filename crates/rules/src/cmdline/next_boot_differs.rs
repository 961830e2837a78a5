//! `cmdline/next-boot-differs`.

use super::words::{self, KPARAM};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::cmdline::{Cmdline, Param};
use linerate_snapshot::{MARK, Reading};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    id: "cmdline/next-boot-differs",
    title: "The running command line has all arguments of the boot configuration",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("none until the next boot: the arguments that are missing do nothing now"),
    sources: &[
        KPARAM,
        Source {
            title: "GNU GRUB manual: GRUB_CMDLINE_LINUX, GRUB_CMDLINE_LINUX_DEFAULT",
            at: "https://www.gnu.org/software/grub/manual/grub/html_node/Simple-configuration.html",
        },
        Source {
            title: "The Boot Loader Specification: type #1 entries, options",
            at: "https://uapi-group.org/specifications/specs/boot_loader_specification/",
        },
    ],
    reads: &["proc/cmdline", "etc/default/grub"],
    docs: "\
## What it checks
Each argument that `/etc/default/grub` (with its `grub.d`), a `grub.cfg`, a boot loader entry, a MachineConfig of OpenShift or a machine configuration
of Talos asks for is on the command line of the running kernel. Where only the configuration was given, the other rules of this area judge its
arguments, and this one says that nothing is known of what runs.

## Why it matters
Such a file does nothing by itself. `/etc/default/grub` is read by `update-grub` or `grub2-mkconfig`, and the result by the next boot; a
MachineConfig is applied with a reboot of each node of its pool. A node on which one of these steps was left out looks right in the file and is not.

## See it yourself
`cat /proc/cmdline; grep CMDLINE /etc/default/grub`; `grubby --info=ALL` where entries are the source; `oc get mcp`.

## Fix
Write the boot configuration again (`update-grub`, `grub2-mkconfig`, `grubby`) and reboot, or take the argument out of the file.",
    myths: &[Myth {
        claim: "An argument in /etc/default/grub is active after a reboot.",
        truth: "Only after `update-grub` or `grub2-mkconfig`, and, where the boot entries are files of their own (RHEL 8 and later), only with `grubby` or `grub2-mkconfig --update-bls-cmdline`.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Reading::Known(next, place) = &cx.node.kernel.next_boot else {
        out.not_applicable("no boot configuration in this source");
        return;
    };
    let asked = &next.cmdline.params;
    let n = asked.len();
    let Reading::Known(running, seen) = &cx.node.kernel.cmdline else {
        out.unknown(
            Subject::Node,
            format_args!("{n} arguments are asked for at the next boot: what runs now is not seen"),
        )
        .at(*place)
        .see("cat /proc/cmdline");
        return;
    };
    let running = Running::of(running);
    let missing: Vec<&Param> = asked.iter().filter(|p| !running.may_have(p)).collect();
    let Some(first) = missing.first() else {
        out.pass(Subject::Node, format_args!("the {n} arguments that are asked for are on the running command line"))
            .at(*place)
            .at(*seen);
        return;
    };
    let list = || words::short(&missing.iter().map(|p| p.raw.as_str()).collect::<Vec<_>>().join(" "));
    let what = "write the boot configuration again and reboot, or take the argument out of the file";
    out.fail(Subject::Node, || format!("asked for, and not on the running command line: {}", list()))
        .at(place.line(first.line))
        .at(*seen)
        .fix(|| Remedy::investigate(what, what));
}

/// The arguments of a running command line, dashes and underscores of a name being the same.
struct Running<'a> {
    all: BTreeSet<(String, Option<&'a str>)>,
    /// Names whose value is hidden in the source.
    hidden: BTreeSet<String>,
}

impl<'a> Running<'a> {
    fn of(line: &'a Cmdline) -> Self {
        let hidden = line.params.iter().filter(|p| is_hidden(p)).map(name);
        let all = line.params.iter().map(|p| (name(p), p.value.as_deref()));
        Running { hidden: hidden.collect(), all: all.collect() }
    }

    /// Whether an argument is there, or may be: what is hidden on either side may be the same.
    fn may_have(&self, p: &'a Param) -> bool {
        let name = name(p);
        if is_hidden(p) {
            return p.name.contains(MARK)
                || self.all.range((name.clone(), None)..).next().is_some_and(|(n, _)| *n == name);
        }
        self.hidden.contains(&name) || self.all.contains(&(name, p.value.as_deref()))
    }
}

fn name(p: &Param) -> String {
    p.name.replace('-', "_")
}

fn is_hidden(p: &Param) -> bool {
    p.raw.contains(MARK)
}
