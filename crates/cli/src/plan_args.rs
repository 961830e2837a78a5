//! The command line of `linerate plan`, `apply`, `verify` and `rollback`.

use crate::args::{RoleArg, When};
use crate::on_args::ReadArgs;
use crate::targets::SshArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How a node is reached.
#[derive(Debug, Args)]
pub(crate) struct Reach {
    /// Node to reach over SSH (default: this machine).
    ///
    /// [USER@]HOST[:PORT], with this version of `linerate` on it.
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    #[command(flatten)]
    pub(crate) ssh: SshArgs,
    /// A directory to change, for rehearsals.
    ///
    /// Instead of a machine: its own programs reboot it.
    #[arg(long, value_name = "DIR", hide = true, conflicts_with = "host")]
    pub(crate) root: Option<PathBuf>,
}

/// Headings of options.
const FORMS: &str = "Details of a form";
const BMC: &str = "BIOS settings, by the BMC's Redfish service";

/// How BMCs are reached.
#[derive(Debug, Args)]
pub(crate) struct RedfishArgs {
    /// BMC: [HOST=]https://ADDRESS[:PORT].
    ///
    /// With several hosts: HOST=URL for each, HOST as in --host. May be repeated. Requests are made by `curl`; TLS is verified.
    #[arg(long, help_heading = BMC, value_name = "URL")]
    pub(crate) redfish: Vec<String>,
    /// User of the BMC.
    ///
    /// The password is read from LINERATE_REDFISH_PASSWORD, or from a file; it is not stored.
    #[arg(long, help_heading = BMC, value_name = "USER", requires = "redfish")]
    pub(crate) redfish_user: Option<String>,
    /// File whose first line is the password.
    #[arg(long, help_heading = BMC, value_name = "FILE", requires = "redfish_user")]
    pub(crate) redfish_password_file: Option<PathBuf>,
    /// A netrc file with users and passwords.
    ///
    /// For BMCs with different users or passwords.
    #[arg(long, help_heading = BMC, value_name = "FILE", requires = "redfish", conflicts_with = "redfish_user")]
    pub(crate) redfish_netrc: Option<PathBuf>,
    /// System of the BMC, if it has several.
    ///
    /// By its id, UUID, serial number or name.
    #[arg(long, help_heading = BMC, value_name = "SYSTEM", requires = "redfish")]
    pub(crate) redfish_system: Option<String>,
    /// Certificates to trust.
    ///
    /// Instead of the system's.
    #[arg(long, help_heading = BMC, value_name = "FILE", requires = "redfish")]
    pub(crate) redfish_cacert: Option<PathBuf>,
    /// Do not verify TLS certificates.
    #[arg(long, help_heading = BMC, requires = "redfish")]
    pub(crate) redfish_insecure: bool,
}

/// The heading of these options.
const KUBE: &str = "Labels of the Kubernetes node, by kubectl on this machine";

/// How the Kubernetes API is reached.
#[derive(Debug, Args)]
pub(crate) struct KubeArgs {
    /// Name of the node in Kubernetes.
    ///
    /// Default: for `plan`, the node's host name in lower case; for the others, the name in the plan.
    #[arg(long, help_heading = KUBE, value_name = "NAME")]
    pub(crate) kube_node: Option<String>,
    /// Context of kubectl's configuration.
    ///
    /// Default: the current context.
    #[arg(long, help_heading = KUBE, value_name = "NAME")]
    pub(crate) kube_context: Option<String>,
    /// Configuration file of kubectl.
    ///
    /// Default: kubectl's own choice. linerate does not read the credentials in it.
    #[arg(long, help_heading = KUBE, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "\
Examples:
  sudo linerate plan                     this machine: what would be done, why
  linerate plan node.tar.zst --fix 'iommu/*' --fix rdma/roce-mtu
  linerate plan --on n1 --sudo --format json -o n1.plan
  linerate plan --format shell > fix.sh  a script to read first

Nothing is changed by a plan. `linerate apply` takes the JSON form.
Exit codes: 0 nothing to do; 1 there are steps; 2 no steps, but
something is left to do by hand or was refused; 3 usage or internal error",
    after_long_help = "\
Examples:
  sudo linerate plan                              what would be done on this machine, and why
  linerate plan --host root@n1 --format json -o n1.plan
  linerate plan --on n1 --sudo --format json -o n1.plan
                                                  read by your inventory's way; no linerate has to be installed there
  linerate plan node.tar.zst --fix 'iommu/*' --fix rdma/roce-mtu
  linerate plan --host root@n1 --allow acs/redirect-on-p2p-path --format json -o n1.plan
  linerate plan --host root@n1 --address eth1=10.7.1.1/24 --address eth2=10.7.2.1/24 --format json -o n1.plan
                                                  addresses for RoCE ports that have none
  linerate plan --host root@n1 --fix 'nicfw/*' --reset-nics --format json -o n1.plan
                                                  settings of NICs by a reset of the card, without a reboot
  linerate plan --host root@n1 --policy h100.toml --format json -o n1.plan
                                                  what the policy requires and the node is not
  linerate plan node.tar.zst --format machineconfig --pool worker --pools master,worker
  linerate plan --format shell > fix.sh           a script to read before you run it
  LINERATE_REDFISH_PASSWORD=… linerate plan --host root@n1 --redfish https://n1-bmc --redfish-user admin --format json -o n1.plan
                                                  BIOS settings, too, by the names and values of this BMC
  linerate plan --host root@n1 --fix 'iommu/*' --label iommu-passthrough-u12-u25- --label gpu.example.com/iommu=checked \
    --kube-context prod --format json -o n1.plan
                                                  takes the first label off, and puts the second when these rules are proven
  linerate plan --host root@n1 --format json -o n1.plan --sign ~/.ssh/id_ed25519
                                                  writes n1.plan and its signature, n1.plan.sig

A label describes what a node does. A label is removed before anything else is changed. A label is put when the node, read
again, shows all that the plan wants; with --fix, only if the rules that it names can be proven.

Nothing is changed by a plan. `linerate apply` takes the JSON form.

Exit codes:
  0  there is nothing to do
  1  there are steps
  2  no steps, but something is left to do by hand or was refused, or part of the source was left out
  3  usage or internal error"
)]
pub(crate) struct PlanArgs {
    /// What to plan for (default: a live node).
    ///
    /// A snapshot, or a tree or archive with sys/ and proc/.
    #[arg(value_name = "SOURCE", conflicts_with_all = ["host", "on"])]
    pub(crate) source: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reach: Reach,
    #[command(flatten)]
    pub(crate) on: ReadArgs,
    #[command(flatten)]
    pub(crate) redfish: RedfishArgs,
    /// A label of the Kubernetes node: KEY=VALUE or KEY-.
    ///
    /// As kubectl writes it: KEY=VALUE puts it, KEY- takes it off. May be repeated.
    #[arg(long, help_heading = KUBE, value_name = "LABEL")]
    pub(crate) label: Vec<String>,
    #[command(flatten)]
    pub(crate) kube: KubeArgs,
    /// Plan only the fixes of these rules.
    ///
    /// Ids, or patterns such as 'acs/*'.
    #[arg(long, value_name = "RULE", value_parser = crate::ids::Ids::Rules, hide_possible_values = true)]
    pub(crate) fix: Vec<String>,
    #[command(flatten)]
    pub(crate) known: crate::terms_args::SuppressArgs,
    /// Plan what this policy requires (docs/policy.md).
    ///
    /// Instead of the fixes of rules. With --fix, only what its patterns name, of rules and of the policy ('policy/*').
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Plan the fix of this rule even if it is dangerous.
    ///
    /// May be repeated; the plan shows which fixes need it.
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Give IFACE=ADDR/PREFIX where a finding asks for an address.
    ///
    /// Set at once and at each boot. Each RoCE port needs a subnet of its own. May be repeated. linerate never chooses an address by itself.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) address: Vec<linerate_remedy::address::Given>,
    /// Make kernel arguments permanent at once.
    ///
    /// Without a trial boot that falls back by itself.
    #[arg(long)]
    pub(crate) no_trial: bool,
    /// Reset NICs instead of rebooting, where that is enough.
    ///
    /// Uses mlxfwreset, level 3, if nothing in the plan needs more. Their links go down.
    #[arg(long)]
    pub(crate) reset_nics: bool,
    /// Role of the node, if the source lacks it.
    #[arg(long, value_enum, value_name = "ROLE")]
    pub(crate) role: Option<RoleArg>,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = PlanFormat::Text)]
    pub(crate) format: PlanFormat,
    /// Pool of machines, for --format machineconfig.
    ///
    /// It must exist.
    #[arg(long, help_heading = FORMS, value_name = "POOL")]
    pub(crate) pool: Option<String>,
    /// All pools, separated by commas.
    ///
    /// As `oc get machineconfigpool -o name` lists them.
    #[arg(long, help_heading = FORMS, value_name = "POOLS", value_delimiter = ',')]
    pub(crate) pools: Vec<String>,
    /// How the node boots, for --format talos.
    ///
    /// `talosctl get securitystate` shows it.
    #[arg(long, help_heading = FORMS, value_name = "LOADER", value_enum, default_value_t = TalosBootArg::Unknown)]
    pub(crate) talos_boot: TalosBootArg,
    /// Write the plan here instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Sign the plan with this SSH key.
    ///
    /// The signature goes to FILE.sig. ssh-agent may hold the private key.
    #[arg(long, value_name = "KEY", requires = "output")]
    pub(crate) sign: Option<PathBuf>,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// For a person.
    Text,
    /// For `linerate apply`: docs/schema/plan-1.json.
    Json,
    /// For a ticket.
    Markdown,
    /// A shell script; read it first.
    Shell,
    /// OpenShift.
    Machineconfig,
    /// Talos.
    Talos,
    /// NMState.
    Nmstate,
    /// NVIDIA's operator for NIC configuration.
    Nicconfig,
    /// Ansible.
    Ansible,
    /// cloud-init.
    CloudInit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TalosBootArg {
    /// By a unified kernel image.
    Uki,
    /// By GRUB.
    Grub,
    /// Not known: the plan shows both ways.
    Unknown,
}

impl From<TalosBootArg> for linerate_remedy::export::TalosBoot {
    fn from(boot: TalosBootArg) -> Self {
        match boot {
            TalosBootArg::Uki => Self::Uki,
            TalosBootArg::Grub => Self::Grub,
            TalosBootArg::Unknown => Self::Unknown,
        }
    }
}

impl PlanFormat {
    /// Whether another system applies it.
    pub(crate) fn is_for_another(self) -> bool {
        !matches!(self, PlanFormat::Text | PlanFormat::Json | PlanFormat::Markdown | PlanFormat::Shell)
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "\
Examples:
  linerate apply n1.plan --host root@n1          shows what would be done
  linerate apply n1.plan --host root@n1 --yes    changes, reboots, reads, proves
  linerate apply --resume --host root@n1 --yes   goes on after a crash
  sudo linerate apply this.plan --yes            this machine

A node returns to service only when it shows, read again, that every step is
effective and nothing else changed.
Exit codes: 0 every node is proven, or a dry run; 1 a node is not proven; 2 a
reboot is due; 3 usage or internal error, or nothing was changed",
    after_long_help = "\
Examples:
  linerate apply n1.plan --host root@n1           shows what would be done
  linerate apply n1.plan --host root@n1 --yes     does it: change, reboot, read again, prove
  linerate apply n1.plan n2.plan --host root@n1 --host root@n2 --yes
  linerate apply --resume --host root@n1 --yes    goes on after a crash, a power cut, a lost connection
  sudo linerate apply this.plan --yes             this machine; after its reboot: --resume
  linerate apply n1.plan n2.plan --host root@n1 --host root@n2 --yes \
    --redfish root@n1=https://n1-bmc --redfish root@n2=https://n2-bmc --redfish-netrc bmc.netrc
  linerate apply n1.plan --host root@n1 --yes --kube-context prod
                                                  a plan with labels: changed in this cluster, through kubectl
  linerate apply n1.plan --host root@n1 --yes --require-signature --allowed-signers signers
                                                  only where n1.plan.sig is by one of these signers
  linerate apply --resume --host root@n1 --yes --take-over
                                                  after another machine's session ended without leaving the node

The plan that is applied, resumed or undone is the one stored here: the file, or the copy in $XDG_STATE_HOME/linerate/plans
(~/.local/state/linerate/plans). A node only reports its state; what does not fit the plan is refused and shown.

--yes removes old plans from that store: those undone more than 30 days ago, and those proven more than 365 days ago. It keeps the
last plan of each host, and every plan that is neither proven nor undone.

A node returns to service only when it shows, read again, that every step is effective and nothing else changed.

Exit codes:
  0  every node is proven, or it was a dry run
  1  a node is not proven: it was undone, or is left as it is, which is shown
  2  a reboot is due
  3  usage or internal error, or nothing was changed"
)]
pub(crate) struct ApplyArgs {
    /// Plans, one for each --host, in the same order.
    ///
    /// As `linerate plan --format json` writes them.
    #[arg(value_name = "PLAN")]
    pub(crate) plans: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) redfish: RedfishArgs,
    #[command(flatten)]
    pub(crate) kube: KubeArgs,
    /// Nodes to reach over SSH, in the order of the plans.
    ///
    /// Default: this machine.
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Vec<String>,
    /// Argument to pass to ssh.
    ///
    /// May be repeated.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) ssh_option: Vec<String>,
    /// Run `linerate` on the node with `sudo -n`.
    #[arg(long)]
    pub(crate) sudo: bool,
    /// A directory to change, for rehearsals.
    ///
    /// Instead of a machine: its own programs reboot it.
    #[arg(long, value_name = "DIR", hide = true, conflicts_with = "host")]
    pub(crate) root: Option<PathBuf>,
    /// Apply the changes (default: dry run).
    #[arg(long)]
    pub(crate) yes: bool,
    /// Resume the plan that was last applied from here.
    ///
    /// The operator's own copy of the plan is used, never the node's.
    #[arg(long, conflicts_with = "plans")]
    pub(crate) resume: bool,
    /// Take the node from another operator's session.
    ///
    /// Only if the session that holds it is certainly gone.
    #[arg(long)]
    pub(crate) take_over: bool,
    /// Apply only plans that an allowed signer has signed.
    ///
    /// The signature is in PLAN.sig, beside the plan.
    #[arg(long)]
    pub(crate) require_signature: bool,
    /// Who may sign plans: a file of allowed signers (ssh-keygen(1)).
    ///
    /// Default: ~/.config/linerate/allowed_signers.
    #[arg(long, value_name = "FILE", requires = "require_signature")]
    pub(crate) allowed_signers: Option<PathBuf>,
    /// Apply only these steps.
    ///
    /// May be repeated.
    #[arg(long, value_name = "STEP")]
    pub(crate) step: Vec<String>,
    /// Apply this dangerous step.
    ///
    /// May be repeated. Without it, a plan that has a dangerous step is refused.
    #[arg(long, value_name = "STEP")]
    pub(crate) allow: Vec<String>,
    /// Do not reboot: stop where a reboot is due.
    #[arg(long)]
    pub(crate) no_reboot: bool,
    /// Reboot once more at the end, and prove it again.
    ///
    /// After the tried changes were made permanent.
    #[arg(long)]
    pub(crate) twice: bool,
    /// Most reboots of one plan on a node, in total.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=9))]
    pub(crate) reboots: u32,
    /// Seconds to wait for a node to come up.
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(10..=7200))]
    pub(crate) wait: u64,
    /// Nodes out of service at a time; the first goes alone.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) max_unavailable: u32,
    /// Undo a node that is not proven.
    ///
    /// Default: leave it as it is.
    #[arg(long)]
    pub(crate) undo: bool,
    /// Directory for the earlier state of nodes.
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = AnswerFormat::Text)]
    pub(crate) format: AnswerFormat,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerFormat {
    /// For a person.
    Text,
    /// For programs.
    Json,
    /// For a ticket.
    Markdown,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate verify n1.plan --host root@n1
  linerate verify n1.plan --on n1 --sudo          read by your inventory's way; no linerate has to be installed there
  linerate verify n1.plan after.tar.zst --before before.tar.zst
  linerate verify n1.plan --host root@n1 --bench-before a.log --bench-after b.log
  linerate verify n1.plan --host root@n1 --redfish https://n1-bmc --redfish-netrc bmc.netrc
  linerate verify n1.plan --host root@n1 --kube-context prod
  linerate verify n1.plan --host root@n1 --guest vm1=vm1.tar.zst
                                                  a domain that was defined anew, by what its guest shows

Exit codes:
  0  every step is effective, and nothing else got worse
  1  a step is not, or a rule fails that did not before
  2  something could not be seen, or waits for a reboot
  3  usage or internal error")]
pub(crate) struct VerifyArgs {
    /// The plan.
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,
    /// The node after the change: a snapshot.
    ///
    /// Default: the live node.
    #[arg(value_name = "SOURCE", conflicts_with_all = ["host", "on"])]
    pub(crate) source: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reach: Reach,
    #[command(flatten)]
    pub(crate) on: ReadArgs,
    #[command(flatten)]
    pub(crate) redfish: RedfishArgs,
    #[command(flatten)]
    pub(crate) kube: KubeArgs,
    /// The node before the change: a snapshot.
    ///
    /// Without it, other changes are not known.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) before: Option<PathBuf>,
    /// A guest of the node, read after its start.
    ///
    /// The name of its domain, and a snapshot. May be repeated.
    #[arg(long, value_name = "NAME=SOURCE")]
    pub(crate) guest: Vec<String>,
    /// Benchmarks from before the change.
    ///
    /// Files, as `linerate bench compare` takes them. May be repeated.
    #[arg(long, value_name = "FILE", requires = "bench_after")]
    pub(crate) bench_before: Vec<String>,
    /// Benchmarks from after it.
    ///
    /// May be repeated.
    #[arg(long, value_name = "FILE", requires = "bench_before")]
    pub(crate) bench_after: Vec<String>,
    /// Output format.
    #[arg(long, short, value_enum, default_value_t = AnswerFormat::Text)]
    pub(crate) format: AnswerFormat,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub(crate) color: When,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  linerate rollback --host root@n1 --yes          undoes the plan that was applied to n1 from here last
  linerate rollback n1.plan --host root@n1 --yes
  linerate rollback n1.plan --host root@n1 --yes --reboot
  linerate rollback --host root@n1 --yes --reboot --redfish https://n1-bmc --redfish-netrc bmc.netrc
  linerate rollback --host root@n1 --yes --kube-context prod
  linerate rollback n1.plan --host root@n1 --yes --take-over
                                                  after another machine's session ended without leaving the node

Files come back byte for byte, with mode and owner; programs that make other files from them are run again.
What the running kernel already uses is gone after the next reboot: --reboot reboots and waits.")]
pub(crate) struct RollbackArgs {
    /// The plan, or the beginning of its digest.
    ///
    /// The digest of a plan that was applied from here. Default: the plan that was last applied to the node from here.
    #[arg(value_name = "PLAN")]
    pub(crate) plan: Option<String>,
    /// Steps that the plan was begun with.
    ///
    /// Needed if it was begun with some steps, but not from here. May be repeated.
    #[arg(long, value_name = "STEP", requires = "plan")]
    pub(crate) step: Vec<String>,
    /// Take the node from another operator's session.
    ///
    /// Only if the session that holds it is certainly gone.
    #[arg(long)]
    pub(crate) take_over: bool,
    #[command(flatten)]
    pub(crate) reach: Reach,
    #[command(flatten)]
    pub(crate) redfish: RedfishArgs,
    #[command(flatten)]
    pub(crate) kube: KubeArgs,
    /// Undo the changes (default: dry run).
    #[arg(long)]
    pub(crate) yes: bool,
    /// Reboot afterwards, and wait.
    #[arg(long)]
    pub(crate) reboot: bool,
    /// Keep what somebody else changed meanwhile.
    ///
    /// The plan ends anyway.
    #[arg(long)]
    pub(crate) keep_changed: bool,
    /// Seconds to wait for the node to come up.
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(10..=7200))]
    pub(crate) wait: u64,
}
