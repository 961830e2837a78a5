//! A MachineConfig of OpenShift: kernel arguments, files, units (Ignition 3.2). The operator drains and reboots every node of the pool, one by one.

use super::one_node;
use super::pieces::{FileRef, Piece, named, pieces};
use super::yaml::Y;
use super::{Export, ExportError, Rest};
use crate::model::Plan;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Why a pool does not get it.
const ONE_NODE: &str = "and a MachineConfig is for every node of the pool, whose devices may have other addresses and names: for ports name them by \
                        vendor and device (pci=config_acs=…@pci:VENDOR:DEVICE), else use a DaemonSet that looks for them";

/// The plan as a MachineConfig for a pool, one of those that exist.
///
/// # Errors
/// The pool is not among those that exist: nobody would apply it, and nothing would say so (facts §1.3).
pub fn machineconfig(plan: &Plan, pool: &str, existing: &[String]) -> Result<Export, ExportError> {
    let label = |p: &str| {
        (1..=63).contains(&p.len())
            && p.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !p.starts_with('-')
            && !p.ends_with('-')
    };
    if !label(pool) || !existing.iter().any(|e| e == pool) {
        return Err(ExportError::NoPool { pool: pool.into(), known: existing.to_vec() });
    }
    let mut rest = Rest::of(plan);
    let mut parts = Parts::default();
    for (step, piece) in pieces(plan) {
        if let Some(named) = one_node::named(&piece) {
            rest.leave(&step.id, piece.what(), format!("it names {named} of this node, {ONE_NODE}"));
        } else if let Err(why) = parts.take(&piece) {
            rest.leave(&step.id, piece.what(), why);
        }
    }
    let role = Y::map([("machineconfiguration.openshift.io/role", Y::str(pool))]);
    let name = Y::str(format!("90-{pool}-linerate"));
    let document = Y::map([
        ("apiVersion", Y::str("machineconfiguration.openshift.io/v1")),
        ("kind", Y::str("MachineConfig")),
        ("metadata", Y::map([("labels", role), ("name", name)])),
        ("spec", parts.spec()),
    ]);
    let head = rest.head(plan, "MachineConfig: every node of the pool is drained and rebooted, one by one.");
    Ok(rest.done(format!("{head}{}", document.document())))
}

/// The text of a unit, and its drop-ins.
type UnitParts = (Option<String>, Vec<Y>);

#[derive(Default)]
struct Parts {
    args: Vec<String>,
    files: Vec<Y>,
    /// By name: the unit itself, and its drop-ins.
    units: Vec<(String, UnitParts)>,
}

impl Parts {
    /// Takes what it can carry, else says why not.
    fn take(&mut self, piece: &Piece<'_>) -> Result<(), &'static str> {
        match piece {
            Piece::KernelArgs { add, remove } => {
                self.args.extend(add.iter().map(|a| (*a).to_owned()));
                if !remove.is_empty() {
                    return Err(
                        "only added arguments are in it; spec.kernelArguments cannot remove any: take them out of the MachineConfig, or of the install, that sets them",
                    );
                }
            }
            Piece::Modules { file, .. } | Piece::Options { file, .. } | Piece::File { file } => self.file(file),
            Piece::Settings { files, values } => {
                files.iter().for_each(|f| self.file(f));
                if files.iter().any(|f| f.path.starts_with("/etc/tuned/")) {
                    return Err("tuned's profiles are the Node Tuning Operator's: make a Tuned object");
                }
                if files.is_empty() && !values.is_empty() {
                    return Err("nothing writes them at boot: they are values of the running kernel only");
                }
            }
            Piece::Unit { file, name } => named(&mut self.units, name).0 = Some(file.content.to_owned()),
            Piece::DropIn { file, unit, name } => {
                let dropin = Y::map([("name", Y::str(*name)), ("contents", Y::str(file.content))]);
                named(&mut self.units, unit).1.push(dropin);
            }
            Piece::Mtu { .. } | Piece::Address { .. } => {
                return Err("NMState configures the network: use --format nmstate");
            }
            Piece::Gone { .. } => return Err("Ignition removes no files"),
            Piece::NicFirmware { .. } => {
                return Err("the NIC configuration operator sets firmware: use --format nicconfig");
            }
            Piece::Left { why, .. } => return Err(why),
            Piece::Run { .. } => return Err("a MachineConfig runs no programs"),
            Piece::Reboot => return Err("the operator reboots when a MachineConfig changes, and only then"),
        }
        Ok(())
    }

    fn file(&mut self, file: &FileRef<'_>) {
        if file.path.starts_with("/etc/tuned/") {
            return;
        }
        let source =
            format!("data:text/plain;charset=utf-8;base64,{}", BASE64_STANDARD.encode(file.content.as_bytes()));
        self.files.push(Y::map([
            ("path", Y::str(file.path)),
            ("mode", Y::Num(i64::from(file.mode & 0o7777))),
            ("overwrite", Y::Bool(true)),
            ("contents", Y::map([("source", Y::str(source))])),
        ]));
    }

    fn spec(self) -> Y {
        let mut config = vec![("ignition".to_owned(), Y::map([("version", Y::str("3.2.0"))]))];
        if !self.files.is_empty() {
            config.push(("storage".into(), Y::map([("files", Y::List(self.files))])));
        }
        if !self.units.is_empty() {
            let units = self.units.into_iter().map(|(name, (contents, dropins))| {
                let mut unit = vec![("name".to_owned(), Y::Str(name))];
                if let Some(contents) = contents {
                    unit.push(("enabled".into(), Y::Bool(true)));
                    unit.push(("contents".into(), Y::Str(contents)));
                }
                if !dropins.is_empty() {
                    unit.push(("dropins".into(), Y::List(dropins)));
                }
                Y::Map(unit)
            });
            config.push(("systemd".into(), Y::map([("units", Y::List(units.collect()))])));
        }
        let mut spec = vec![("config".to_owned(), Y::Map(config))];
        if !self.args.is_empty() {
            spec.push(("kernelArguments".into(), Y::strings(&self.args)));
        }
        Y::Map(spec)
    }
}
