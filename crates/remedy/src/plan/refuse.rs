//! Fixes that must not be made here, whoever asks.

use super::wish::{Wish, say_no};
use super::{ALLOW, Cx, address};
use crate::boot::words;
use crate::model::{Refused, Risk};
use crate::terms::{takes_isolation, terms};
use linerate_node::context::Role;
use linerate_node::kernel::module_param;
use linerate_rules::{Action, Status};

/// The rule that knows whether this is a host of SEV-SNP guests.
const SNP_RULE: &str = "iommu/snp-needs-translation";

/// The wishes that may be planned.
pub(super) fn refuse(cx: &Cx<'_, '_>, wishes: Vec<Wish>, refused: &mut Vec<Refused>) -> Vec<Wish> {
    let snp = snp_host(cx);
    wishes
        .into_iter()
        .filter(|w| match reason(cx, w, snp) {
            Some((why, unless)) => {
                say_no(refused, w, why, unless);
                false
            }
            None => true,
        })
        .collect()
}

fn reason(cx: &Cx<'_, '_>, w: &Wish, snp: bool) -> Option<(String, Option<String>)> {
    let no = |why: &str| Some((why.to_owned(), None));
    if cx.platform.container && !cx.options.export {
        return no(
            "this was read inside a container: nothing of the host can be changed from here; run linerate on the host",
        );
    }
    if let Action::Address { interface } = &w.remedy.action
        && let Some(why) = address::refused(cx, interface)
    {
        return Some((why, None));
    }
    let adds = match &w.remedy.action {
        Action::KernelArgs { add, .. } => add.as_slice(),
        _ => &[],
    };
    match (&w.remedy.action, cx.platform.role) {
        (Action::AcsControl { .. }, Some(Role::VmGuest)) => {
            return no("this is a virtual machine: its ports do not route real traffic, ACS is set on the host");
        }
        (action, Some(Role::VmHost)) if takes_isolation(action) => {
            let vms = cx.platform.vms.as_deref().unwrap_or("it passes devices to virtual machines");
            return Some((
                format!(
                    "this is a VM host ({vms}): without ACS its IOMMU groups merge and the isolation between VMs is gone; what VMs need is ATS in the NIC and Direct Translated in the switch"
                ),
                None,
            ));
        }
        _ => {}
    }
    if snp && let Some(word) = adds.iter().find(|a| passthrough(a)) {
        return Some((
            format!(
                "SEV-SNP is wanted on this AMD host, and the kernel refuses it with {word}: the IOMMU has to translate"
            ),
            None,
        ));
    }
    if let Action::KernelArgs { add, remove } = &w.remedy.action {
        let mut all = add.iter().chain(remove);
        if let Some(e) = all.find_map(|word| words::check(word).err()) {
            return Some((e.to_string(), None));
        }
    }
    let allowed = |w: &Wish| cx.options.allow.contains(&w.rule);
    let risk = terms(&w.remedy.action, &cx.setting(cx.options.reset_devices).on()).map(|t| t.risk);
    if risk == Some(Risk::Dangerous) && !allowed(w) {
        let note =
            if w.remedy.risk_note.is_empty() { "it removes isolation or can damage" } else { &w.remedy.risk_note };
        return Some((format!("it is dangerous: {note}"), Some(format!("{ALLOW} {}", w.rule))));
    }
    None
}

/// Words that switch host devices to identity domains, or the IOMMU off.
fn passthrough(word: &str) -> bool {
    let Some((name, value)) = word.split_once('=') else { return false };
    match name {
        "iommu" => value.split(',').any(|v| matches!(v, "pt" | "off")),
        "iommu.passthrough" => value.starts_with(['1', 'y', 'Y', 't', 'T']) || value.eq_ignore_ascii_case("on"),
        "amd_iommu" => value.split(',').any(|v| v == "off"),
        _ => false,
    }
}

/// Whether this host is to run SEV-SNP guests: the module says so, the command line asks for it, or the rule has judged it.
fn snp_host(cx: &Cx<'_, '_>) -> bool {
    let yes = |v: &str| matches!(v.trim(), "Y" | "y" | "1");
    let on = module_param(cx.snapshot, "kvm_amd", "sev_snp").known().is_some_and(|v| yes(v));
    let asked = cx
        .node
        .kernel
        .cmdline
        .known()
        .and_then(|c| c.module_param("kvm_amd", "sev_snp")?.value.as_deref())
        .is_some_and(yes);
    let judged = |s: Status| matches!(s, Status::Pass | Status::Fail);
    on || asked || cx.audit.verdicts.iter().any(|v| v.rule.id == SNP_RULE && judged(v.finding.status))
}
