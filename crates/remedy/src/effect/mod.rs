//! What a step does to a node, as data. One definition for two readers: [`crate::verify`] reads effects back on a node that was read again, the
//! simulation ([`crate::simulate`]) writes them into a node that was not changed yet.

pub(crate) mod text;

use crate::address::Cidr;
use crate::model::{Disruption, DomainAct, Plan, Proof, Step};
use linerate_formats::pci::Bdf;
use serde_json::Value as Json;
use std::collections::HashSet;
use text::{lines, options};

/// Programs that reset a NIC: what waits in its firmware comes into force.
const RESETS: [&str; 2] = ["mstfwreset", "mlxfwreset"];

/// What a node shows when a change is made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Effect {
    /// A file of the system holds this text; `None`: there is no such file.
    File {
        /// Absolute path.
        path: String,
        /// Its text.
        text: Option<String>,
    },
    /// A file of the kernel holds this value.
    Value {
        /// Path.
        path: String,
        /// Value, without white space around it.
        value: String,
    },
    /// Words of the running kernel's arguments.
    Cmdline {
        /// Are there.
        has: Vec<String>,
        /// Are not.
        lacks: Vec<String>,
    },
    /// Bits of a register of configuration space.
    Register {
        /// Function.
        function: Bdf,
        /// Register, as `setpci` names it: `ECAP_ACS+6.w`.
        register: String,
        /// The bits.
        value: u16,
        /// Which bits.
        mask: u16,
    },
    /// A module is loaded.
    Module {
        /// Its name.
        name: String,
    },
    /// A module takes no device by itself, from the next start of the kernel on.
    ModuleBlocked {
        /// Its name.
        name: String,
    },
    /// An option of a module, from its next load on.
    ModuleOption {
        /// Module.
        module: String,
        /// Option.
        option: String,
        /// Value; `None`: it is not given any more.
        value: Option<String>,
    },
    /// Sessions may lock memory without limit.
    MemlockUnlimited,
    /// A program that a unit of the step runs, of which nothing else is known.
    Program {
        /// Its command line, as the unit has it.
        line: String,
    },
    /// An interface has an address.
    Address {
        /// Interface.
        interface: String,
        /// Address.
        cidr: Cidr,
    },
    /// A setting of a NIC's firmware for its next reset.
    NextNicFirmware {
        /// Device.
        device: String,
        /// Setting.
        parameter: String,
        /// Value, as it is given to the tool.
        value: String,
    },
    /// A setting of a NIC's firmware in force.
    NicFirmware {
        /// Device.
        device: String,
        /// Setting.
        parameter: String,
        /// Value, as the tool prints it.
        value: String,
    },
    /// A NIC is reset: what waits in its firmware comes into force.
    NicReset {
        /// Device.
        device: String,
    },
    /// A BIOS attribute in force.
    Bios {
        /// Attribute.
        attribute: String,
        /// Value.
        value: Json,
    },
    /// A label of the node's object in Kubernetes.
    Label {
        /// The object's name.
        node: String,
        /// Key, with its prefix.
        key: String,
        /// Value; `None`: there is no such label.
        value: Option<String>,
    },
    /// A domain of libvirt, from the guest's next start on.
    Domain(DomainAct),
}

/// Whether making the plan takes a start of the kernel: then every NIC's pending settings come into force, whoever made them.
#[must_use]
pub fn reboots(plan: &Plan) -> bool {
    plan.disruption() >= Disruption::DrainReboot
}

/// Effects of a step, in the order in which they come about, each once: those of its acts, then those that it promises to prove.
#[must_use]
pub fn of_step(step: &Step) -> Vec<Effect> {
    let all = step.change.iter().flat_map(|act| act.shown().effects()).chain(step.proof.iter().filter_map(of_proof));
    let mut seen = HashSet::new();
    all.filter(|e| seen.insert(e.clone())).collect()
}

impl Effect {
    /// Whether one takes back what the other brings about: the same thing, another value.
    #[must_use]
    pub fn contradicts(&self, other: &Effect) -> bool {
        use Effect::{Address, Bios, Cmdline, File, Label, NextNicFirmware, NicFirmware, Register, Value};
        match (self, other) {
            (File { path: a, text: x }, File { path: b, text: y }) => a == b && x.is_none() != y.is_none(),
            (Value { path: a, value: x }, Value { path: b, value: y }) => a == b && x != y,
            (Cmdline { has, lacks }, Cmdline { has: theirs, lacks: gone }) => {
                has.iter().any(|w| gone.contains(w)) || lacks.iter().any(|w| theirs.contains(w))
            }
            (
                Register { function: a, register: r, value: x, mask: m },
                Register { function: b, register: q, value: y, mask: n },
            ) => a == b && r == q && (x ^ y) & m & n != 0,
            (
                Effect::ModuleOption { module: a, option: o, value: x },
                Effect::ModuleOption { module: b, option: p, value: y },
            ) => a == b && o == p && x != y,
            (
                NextNicFirmware { device: a, parameter: p, value: x },
                NextNicFirmware { device: b, parameter: q, value: y },
            )
            | (NicFirmware { device: a, parameter: p, value: x }, NicFirmware { device: b, parameter: q, value: y }) => {
                a == b && p == q && x != y
            }
            (Bios { attribute: a, value: x }, Bios { attribute: b, value: y }) => a == b && x != y,
            (Label { node: a, key: k, value: x }, Label { node: b, key: l, value: y }) => a == b && k == l && x != y,
            (Address { interface: a, cidr: x }, Address { interface: b, cidr: y }) => {
                a == b && x != y && x.overlaps(*y)
            }
            _ => false,
        }
    }
}

/// What a proof reads back; `None`: a rule's verdict, which follows from other effects.
#[must_use]
pub fn of_proof(proof: &Proof) -> Option<Effect> {
    Some(match proof.clone() {
        Proof::Rule { .. } | Proof::Fact { .. } | Proof::Guest { .. } => return None,
        Proof::Value { path, value } => match loaded(&path) {
            Some(name) if value == "live" => Effect::Module { name: name.to_owned() },
            _ => Effect::Value { path, value },
        },
        Proof::Cmdline { has, lacks } => Effect::Cmdline { has, lacks },
        Proof::NicFirmware { device, parameter, value } => Effect::NicFirmware { device, parameter, value },
        Proof::Bios { attribute, value } => Effect::Bios { attribute, value },
        Proof::Label { node, key, value } => Effect::Label { node, key, value },
    })
}

/// Where the kernel shows the state of a module.
pub(crate) fn initstate(module: &str) -> String {
    format!("/sys/module/{}/initstate", module.replace('-', "_"))
}

/// The module whose state a path shows.
pub(crate) fn loaded(path: &str) -> Option<&str> {
    path.trim_start_matches('/').strip_prefix("sys/module/")?.strip_suffix("/initstate").filter(|n| !n.contains('/'))
}

/// What a file brings about; `None`: there is no such file any more.
pub(crate) fn of_file(path: &str, text: Option<&str>) -> Vec<Effect> {
    let mut out = vec![Effect::File { path: path.to_owned(), text: text.map(str::to_owned) }];
    out.extend(said_by(path.trim_start_matches('/'), text.unwrap_or_default()));
    out
}

/// What a program that a step or a unit of it runs brings about.
pub(crate) fn of_program(argv: &[&str]) -> Option<Effect> {
    match argv {
        ["modprobe", "--", name] => Some(Effect::Module { name: (*name).to_owned() }),
        ["ip", "address", "replace", cidr, "dev", interface] => {
            Some(Effect::Address { interface: (*interface).to_owned(), cidr: Cidr::read(cidr)? })
        }
        ["ip", "link", "set", "dev", interface, "mtu", mtu] => {
            Some(Effect::Value { path: format!("/sys/class/net/{interface}/mtu"), value: (*mtu).to_owned() })
        }
        ["setpci", "-s", function, write] => {
            let (register, bits) = write.split_once('=')?;
            let (value, mask) = bits.split_once(':').unwrap_or((bits, "ffff"));
            Some(Effect::Register {
                function: function.parse().ok()?,
                register: register.to_owned(),
                value: u16::from_str_radix(value, 16).ok()?,
                mask: u16::from_str_radix(mask, 16).ok()?,
            })
        }
        [tool, "-d", device, ..] if RESETS.contains(tool) => Some(Effect::NicReset { device: (*device).to_owned() }),
        _ => None,
    }
}

/// What a file makes the system do, by the forms that renderers write.
fn said_by(path: &str, text: &str) -> Vec<Effect> {
    let within = |dir: &str| path.starts_with(dir);
    if within("etc/modules-load.d/") {
        return lines(text).map(|l| Effect::Module { name: l.to_owned() }).collect();
    }
    if within("etc/modprobe.d/") {
        let option = |(module, word): (&str, &str)| {
            let (option, value) = word.split_once('=')?;
            let (module, option, value) = (module.to_owned(), option.to_owned(), Some(value.to_owned()));
            Some(Effect::ModuleOption { module, option, value })
        };
        let block = |l: &str| Some(Effect::ModuleBlocked { name: l.strip_prefix("blacklist ")?.trim().to_owned() });
        return options(text).filter_map(option).chain(lines(text).filter_map(block)).collect();
    }
    if within("etc/sysctl.d/") {
        let value = |l: &str| {
            let (key, value) = l.split_once('=')?;
            Some(Effect::Value { path: text::sysctl_path(key.trim()), value: value.trim().to_owned() })
        };
        return lines(text).filter_map(value).collect();
    }
    if within("etc/systemd/system/") {
        let runs = lines(text).filter_map(|l| l.strip_prefix("ExecStart="));
        // Behind `-` a failure is passed over.
        let words = |l: &str| of_program(&l.trim_start_matches('-').split_whitespace().collect::<Vec<_>>());
        return runs.map(|l| words(l).unwrap_or_else(|| Effect::Program { line: l.to_owned() })).collect();
    }
    let memlock = |l: &str| l.split_whitespace().collect::<Vec<_>>() == ["*", "soft", "memlock", "unlimited"];
    if within("etc/security/limits.d/") && lines(text).any(memlock) {
        return vec![Effect::MemlockUnlimited];
    }
    Vec::new()
}

#[cfg(test)]
mod tests;
