//! `linerate plan`.

use super::{reach, signature};
use crate::live;
use crate::output::{Failure, Sink};
use crate::plan_args::{PlanArgs, PlanFormat};
use crate::sources;
use linerate_apply::drive;
use linerate_node::Node;
use linerate_node::pci::PciFunction;
use linerate_node::rdma::LinkLayer;
use linerate_out::file::Access;
use linerate_remedy::export::{LinkType, NicType};
use linerate_remedy::platform::Platform;
use linerate_remedy::{Act, Plan, Step, export, plan};
use linerate_report::plan::{json, markdown, text};
use linerate_snapshot::Snapshot;
use std::io::Write;
use std::path::Path;

/// There are steps.
const EXIT_STEPS: u8 = 1;
/// Nothing can be done from here, and something is left.
const EXIT_LEFT: u8 = 2;

pub(crate) fn run(a: &PlanArgs) -> Result<u8, Failure> {
    let (of_policy, of_rules): (Vec<String>, Vec<String>) =
        a.fix.iter().cloned().partition(|f| f.starts_with("policy/"));
    let rules = sources::select(&of_rules)?;
    let (snapshot, reached) = read(a)?;
    let node = Node::decode_as(&snapshot, a.role.map(Into::into));
    let terms = crate::terms_args::terms(&a.known, None)?.of(&snapshot.label, &snapshot);
    let audit = linerate_rules::audit(&node, &snapshot, &rules).on(terms);
    if !audit.suppressed.is_empty() {
        crate::output::remark(&format!(
            "suppressed findings, which get no step: {}; `linerate audit` shows which, and why",
            audit.suppressed.len()
        ));
    }
    let bmc = a.redfish.one(a.reach.named(&a.on))?;
    let redfish = bmc.map(|b| b.setup()).transpose()?;
    let wished = match &a.policy {
        Some(file) => {
            let policy = crate::cmd::policy::read_with_groups(file, &a.on.names)?;
            Some(super::policy::wished((file, &policy), &of_policy, &name(a, &snapshot), (&snapshot, &node))?)
        }
        None if !of_policy.is_empty() => {
            return Err(Failure::new("--fix names an expectation of a policy, and no policy was given")
                .hint("name it with --policy"));
        }
        None => None,
    };
    let labels = super::kube::asked(a, wished.as_ref(), &snapshot)?;
    let unknown = wished.as_ref().map_or(0, |w| w.unknown);
    let options = plan::Options {
        fix: if of_rules.is_empty() { Vec::new() } else { rules_of(a, &rules) },
        policy: wished.map(|w| w.wishes),
        allow: a.allow.clone(),
        trial: !a.no_trial,
        reset_devices: a.reset_nics,
        addresses: a.address.clone(),
        redfish,
        labels,
        export: a.format.is_for_another(),
    };
    let plan = known(a, reached.as_deref(), plan::plan(&snapshot, &node, &audit, &options))?;
    let mut sink = Sink::open(a.output.as_deref())?;
    match (&a.sign, &a.output) {
        (None, _) => write(a, &plan, &snapshot, &node, &mut sink)?,
        (Some(key), Some(file)) => sign(key, file, &plan, &mut sink)?,
        (Some(_), None) => {
            return Err(Failure::new("--sign writes the signature beside the plan: name its file with --output"));
        }
    }
    sink.finish()?;
    if audit.incomplete {
        // On standard error: whoever takes the plan sees what it was not made from.
        let cuts = node.cuts.iter().map(|c| c.words(&snapshot));
        cuts.chain(snapshot.problems.iter().cloned()).for_each(|r| crate::output::remark(&r));
    }
    if unknown > 0 {
        crate::output::remark(&format!(
            "{unknown} expectations of the policy are unknown: `linerate policy check` shows why"
        ));
    }
    let nothing_left = plan.by_hand.is_empty() && plan.refused.is_empty() && !audit.incomplete && unknown == 0;
    Ok(match (plan.steps.is_empty(), nothing_left) {
        (false, _) => EXIT_STEPS,
        (true, false) => EXIT_LEFT,
        (true, true) => 0,
    })
}

/// The plan with what is known of its machine from this side, where it changes something beside the machine: by that, and by nothing that a
/// node says later, is decided whose BMC and whose Kubernetes object it is.
fn known(a: &PlanArgs, reached: Option<&dyn drive::Node>, mut plan: Plan) -> Result<Plan, Failure> {
    let acts = plan.steps.iter().flat_map(Step::acts);
    let beside: Vec<&Act> = acts.filter(|act| act.is_elsewhere()).collect();
    let Some(reached) = reached.filter(|_| !beside.is_empty()) else { return Ok(plan) };
    let by_bmc = beside.iter().any(|act| matches!(act, Act::Bios(_)));
    let found = drive::identity(reached, &super::operator(false));
    match found {
        Ok(id) if plan.node.machine.is_some() && id.machine == plan.node.machine => {
            (plan.node.uuid, plan.node.host_key) = (id.uuid, id.host_key);
        }
        Ok(_) => crate::output::remark(
            "it is not known which machine answers: `apply` will refuse the changes by BMC or Kubernetes",
        ),
        Err(e) => crate::output::remark(&format!(
            "it was not seen which machine answers ({e}): `apply` will refuse the changes by BMC or Kubernetes"
        )),
    }
    if by_bmc {
        let bmc = a.redfish.one(a.reach.named(&a.on))?;
        let whose = bmc.map(|b| b.is_of(plan.node.uuid.as_deref())).transpose()?.flatten();
        match whose {
            Some(true) => {}
            Some(false) => {
                return Err(Failure::new("the BMC belongs to another machine: its UUID is not the node's (SMBIOS)")
                    .hint("give the BMC of this node with --redfish"));
            }
            None => crate::output::remark(
                "it is not known whether the BMC belongs to this machine (a UUID is missing; reading the node's needs root): apply will refuse to set it",
            ),
        }
    }
    Ok(plan.sealed())
}

/// Writes the plan and, beside it, its signature.
fn sign(key: &Path, file: &Path, plan: &Plan, sink: &mut Sink) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    json::render_plan(plan, &mut bytes)?;
    let signature = signature::sign(key, &bytes)?;
    sink.write_all(&bytes)?;
    let beside = signature::beside(file);
    linerate_out::file::write(&beside, Access::Private, &signature).map_err(|e| Failure::writing(&beside, &e))
}

/// Rules that were named, by their ids.
fn rules_of(a: &PlanArgs, rules: &[&'static linerate_rules::Rule]) -> Vec<String> {
    if a.fix.is_empty() { Vec::new() } else { rules.iter().map(|r| r.id.to_owned()).collect() }
}

/// How the node is called among others: by its name in a set, by its host without user and port, by its directory or file, by itself.
fn name(a: &PlanArgs, snapshot: &Snapshot) -> String {
    match (&a.source, &a.reach.host, &a.on.on) {
        (_, _, Some(_)) => snapshot.label.clone(),
        (_, Some(host), _) => {
            let host = host.rsplit('@').next().unwrap_or(host);
            host.split(':').next().unwrap_or(host).to_owned()
        }
        (Some(path), ..) => sources::label(path),
        _ => snapshot.manifest.host.clone(),
    }
}

/// What the node shows, and where it is live the node.
fn read(a: &PlanArgs) -> Result<(Snapshot, Option<Box<dyn drive::Node>>), Failure> {
    // A policy names groups of the inventory.
    if a.policy.is_none() {
        live::no_inventory(&a.on)?;
    }
    if let Some((snapshot, node)) = reach::live(&a.reach, &a.on)? {
        return Ok((snapshot, Some(node)));
    }
    match &a.source {
        // A plan must know its node again.
        Some(path) => Ok((sources::unredacted(path)?, None)),
        None => {
            let node = a.reach.node()?;
            if node.is_here() {
                crate::this_machine::note_read();
            }
            Ok((node.read()?, Some(node)))
        }
    }
}

fn write(a: &PlanArgs, plan: &Plan, snapshot: &Snapshot, node: &Node<'_>, sink: &mut Sink) -> Result<(), Failure> {
    let exported = match a.format {
        PlanFormat::Text => {
            let style = sink.style(a.color, false);
            return Ok(text::render(plan, style, sink)?);
        }
        PlanFormat::Markdown => return Ok(markdown::render(plan, sink)?),
        PlanFormat::Json => return Ok(json::render_plan(plan, sink)?),
        PlanFormat::Shell => export::shell(plan),
        PlanFormat::Machineconfig => {
            let pool = a.pool.as_deref().ok_or_else(|| {
                Failure::new("--format machineconfig needs --pool").hint("`oc get machineconfigpool` lists them")
            })?;
            let made = export::machineconfig(plan, pool, &a.pools)?;
            export::machineconfig_fits(&Platform::detect(snapshot, node))?;
            made
        }
        PlanFormat::Talos => export::talos(plan, a.talos_boot.into()),
        PlanFormat::Nmstate => export::nmstate(plan),
        PlanFormat::Nicconfig => export::nicconfig(plan, &nics(node)),
        PlanFormat::Ansible => export::ansible(plan),
        PlanFormat::CloudInit => export::cloud_init(plan),
    };
    sink.write_all(exported.text.as_bytes())?;
    for left in &exported.left_out {
        // On standard error, too: a file that lacks something looks like any other.
        crate::output::remark(&format!("not in this form: {}: {}", left.what, left.why));
    }
    Ok(())
}

/// NICs whose kind is known: what the operator has to know of each besides the settings.
fn nics(node: &Node<'_>) -> Vec<NicType> {
    let of = |f: &PciFunction<'_>| {
        let firmware = node.nic_firmware.iter().find(|n| n.bdf == Some(f.bdf));
        let rdma = node.rdma_of(f)?;
        let link_type = match rdma.ports.first()?.link_layer.known()? {
            LinkLayer::Ethernet => LinkType::Ethernet,
            LinkLayer::InfiniBand => LinkType::Infiniband,
            LinkLayer::Unspecified => return None,
        };
        let current = |name: &str| firmware?.config.param(name)?.current.as_ref();
        // Without SR-IOV there are none, whatever their number would be.
        let num_vfs = match current("SRIOV_EN")?.as_bool()? {
            false => 0,
            true => u32::try_from(current("NUM_OF_VFS")?.number?).ok()?,
        };
        Some(NicType { device: f.bdf, device_id: *f.device.known()?, link_type, num_vfs })
    };
    node.pci.rdma_nics().filter_map(|(_, f)| of(f)).collect()
}
