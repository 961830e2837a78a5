//! Talos: a schematic of the Image Factory for kernel arguments, and a patch of the machine configuration.
//!
//! The patch uses the fields of the v1alpha1 document, which all releases read (<https://www.talos.dev/v1.11/reference/configuration/v1alpha1/config/>).
//! Newer ones call them deprecated and have left them out of their JSON schema: `network.interfaces` and `install.extraKernelArgs` since 1.12,
//! `kernel`, `sysctls` and `sysfs` since 1.14. An older node refuses the documents that come in their place.

use super::one_node;
use super::pieces::{Piece, named, pieces};
use super::yaml::Y;
use super::{Export, Rest};
use crate::change::values::sysctl_name;
use crate::model::Plan;

/// How a Talos node is booted: `talosctl get securitystate -o yaml`, `bootedWithUKI`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TalosBoot {
    /// By a unified kernel image: `machine.install.extraKernelArgs` is ignored (facts §1.3).
    Uki,
    /// By GRUB, of an installation before 1.12: `machine.install.extraKernelArgs` works, at the next install or upgrade.
    Grub,
    /// Not shown: both are given, and the reader has to look.
    Unknown,
}

/// The plan for Talos: one or two YAML documents.
#[must_use]
pub fn talos(plan: &Plan, boot: TalosBoot) -> Export {
    let mut rest = Rest::of(plan);
    let mut parts = Parts::default();
    for (step, piece) in pieces(plan) {
        if let Err(why) = parts.take(&piece) {
            rest.leave(&step.id, piece.what(), why);
        }
    }
    let mut text = rest.head(plan, "Talos.");
    if let Some(bdf) = parts.args.iter().find_map(|w| one_node::address(w)) {
        text.push_str(&format!("#\n# The kernel arguments name devices of this node ({bdf}): this image, or this patch, is for this node alone.\n"));
    }
    let mut documents = Vec::new();
    if !parts.args.is_empty() && boot != TalosBoot::Grub {
        let schematic = Y::map([("customization", Y::map([("extraKernelArgs", Y::strings(&parts.args))]))]);
        documents.push(format!("{SCHEMATIC}{}", schematic.document()));
    }
    let grub = !parts.args.is_empty() && boot != TalosBoot::Uki;
    if let Some(machine) = parts.machine(grub) {
        let why = match (grub, boot) {
            (true, TalosBoot::Grub) => GRUB,
            (true, _) => BOTH,
            _ => "",
        };
        documents.push(format!(
            "# Patch of the machine configuration: talosctl patch machineconfig --patch @FILE\n{FIELDS}{why}{}",
            machine.document()
        ));
    }
    for document in documents {
        text.push_str("---\n");
        text.push_str(&document);
    }
    rest.done(text)
}

const SCHEMATIC: &str = "\
# Schematic of the Image Factory. A node that boots a unified kernel image takes its arguments from inside the image and ignores
# machine.install.extraKernelArgs, so they need a new image. Add these to the schematic in use (its extensions!), send it to the factory,
# then: talosctl upgrade --image factory.talos.dev/installer/SCHEMATIC:VERSION
";
const FIELDS: &str = "\
# All releases up to 1.14 read these fields. Newer ones have documents of their own for them: LinkConfig (1.12), KernelModuleConfig,
# SysctlConfig and SysfsConfig (1.14). A node that has such a document is better changed there.
";
const GRUB: &str = "\
# extraKernelArgs: this node boots by GRUB, which takes them at the next install or upgrade, not at a reboot:
# talosctl upgrade with the installer of the version in use.
";
const BOTH: &str = "\
# extraKernelArgs: only for a node that boots by GRUB (installed before 1.10, or by BIOS before 1.12). The source does not show it: see
# talosctl get securitystate -o yaml. With bootedWithUKI: true these are ignored, and the schematic above is the way.
";

#[derive(Default)]
struct Parts {
    args: Vec<String>,
    modules: Vec<(String, Vec<String>)>,
    sysctls: Vec<(String, Y)>,
    sysfs: Vec<(String, Y)>,
    /// Interfaces, and what is set of each.
    interfaces: Vec<(String, Vec<(String, Y)>)>,
}

impl Parts {
    fn take(&mut self, piece: &Piece<'_>) -> Result<(), &'static str> {
        match piece {
            Piece::KernelArgs { add, remove } => {
                self.args.extend(add.iter().map(|a| (*a).to_owned()));
                if !remove.is_empty() {
                    return Err(
                        "only added arguments are in it; take the others out of the schematic, or of extraKernelArgs, that set them",
                    );
                }
            }
            Piece::Modules { names, .. } => names.iter().for_each(|n| self.module(n, None)),
            Piece::Options { options, .. } => options.iter().for_each(|(m, o)| self.module(m, Some(o))),
            Piece::Settings { values, files } => {
                if values.is_empty() && !files.is_empty() {
                    return Err(
                        "Talos has neither tmpfiles.d nor sysctl.d: what the files write is in no act of the plan",
                    );
                }
                let mut whole = true;
                for (path, value) in values {
                    whole &= self.value(path, value);
                }
                if !whole {
                    return Err("a name with a dot in it cannot be distinguished from a path in machine.sysfs");
                }
            }
            Piece::Mtu { interface, mtu } => self.link(interface).push(("mtu".to_owned(), Y::Num(i64::from(*mtu)))),
            Piece::Address { interface, cidr } => {
                let link = self.link(interface);
                match link.iter_mut().find(|(key, _)| key == "addresses") {
                    Some((_, Y::List(list))) => list.push(Y::str(cidr.to_string())),
                    _ => link.push(("addresses".to_owned(), Y::strings(&[cidr.to_string()]))),
                }
            }
            Piece::Unit { .. } | Piece::DropIn { .. } => {
                return Err("Talos has no systemd: use a privileged DaemonSet, or kernel arguments");
            }
            Piece::File { .. } | Piece::Gone { .. } => return Err("Talos' root is read-only"),
            Piece::NicFirmware { .. } => {
                return Err("it needs a privileged pod with mstflint, or the NIC configuration operator");
            }
            Piece::Left { why, .. } => return Err(why),
            Piece::Run { .. } => return Err("Talos has no shell"),
            Piece::Reboot => return Err("talosctl reboot"),
        }
        Ok(())
    }

    fn link(&mut self, interface: &str) -> &mut Vec<(String, Y)> {
        let link = named(&mut self.interfaces, interface);
        if link.is_empty() {
            link.push(("interface".to_owned(), Y::str(interface)));
        }
        link
    }

    fn module(&mut self, name: &str, option: Option<&str>) {
        named(&mut self.modules, name).extend(option.map(str::to_owned));
    }

    /// `machine.sysfs` names with dots what is a path.
    fn value(&mut self, path: &str, value: &str) -> bool {
        let (values, name) = match path.strip_prefix("/sys/") {
            Some(name) if name.contains('.') => return false,
            Some(name) => (&mut self.sysfs, name.replace('/', ".")),
            None if path.starts_with("/proc/sys/") => (&mut self.sysctls, sysctl_name(path)),
            None => return false,
        };
        // The last value counts: a map has a name once.
        values.retain(|(n, _)| *n != name);
        values.push((name, Y::str(value)));
        true
    }

    fn machine(self, grub: bool) -> Option<Y> {
        let mut machine = Vec::new();
        if grub {
            machine.push(("install".to_owned(), Y::map([("extraKernelArgs", Y::strings(&self.args))])));
        }
        if !self.modules.is_empty() {
            let modules = self.modules.into_iter().map(|(name, parameters)| {
                let mut module = vec![("name".to_owned(), Y::Str(name))];
                if !parameters.is_empty() {
                    module.push(("parameters".into(), Y::strings(&parameters)));
                }
                Y::Map(module)
            });
            machine.push(("kernel".into(), Y::map([("modules", Y::List(modules.collect()))])));
        }
        if !self.interfaces.is_empty() {
            machine.push((
                "network".into(),
                Y::map([(
                    "interfaces",
                    Y::List(self.interfaces.into_iter().map(|(_, entries)| Y::Map(entries)).collect()),
                )]),
            ));
        }
        for (name, values) in [("sysctls", self.sysctls), ("sysfs", self.sysfs)] {
            if !values.is_empty() {
                machine.push((name.into(), Y::Map(values)));
            }
        }
        (!machine.is_empty()).then(|| Y::map([("machine", Y::Map(machine))]))
    }
}
