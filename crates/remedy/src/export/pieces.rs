//! What the acts of a plan mean, for systems that are told states rather than steps. Every act becomes a piece or is covered by one of the
//! same step, so that an exporter that matches all pieces drops nothing.

use crate::act::Deed;
use crate::address::Cidr;
use crate::effect::text::{lines, options};
use crate::model::{Act, Condition, FileAct, Plan, Proof, RunAct, Step, TrialAct, ValueAct};
use linerate_out::shell;
use std::collections::BTreeMap;

/// The entry of a name. A name that the list has not is added at its end, so that lists keep the order of the plan.
pub(super) fn named<'l, T: Default>(list: &'l mut Vec<(String, T)>, name: &str) -> &'l mut T {
    let at = list.iter().position(|(n, _)| n == name).unwrap_or_else(|| {
        list.push((name.to_owned(), T::default()));
        list.len() - 1
    });
    &mut list[at].1
}

/// A file of the plan as it is at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileRef<'p> {
    pub(super) path: &'p str,
    pub(super) content: &'p str,
    pub(super) mode: u32,
}

/// What acts mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece<'p> {
    /// Kernel arguments.
    KernelArgs { add: Vec<&'p str>, remove: Vec<&'p str> },
    /// A file of `modules-load.d`, with its names.
    Modules { file: FileRef<'p>, names: Vec<&'p str> },
    /// A file of `modprobe.d`, with module and `option=value`.
    Options { file: FileRef<'p>, options: Vec<(&'p str, &'p str)> },
    /// Values now, and the files that write them at each boot.
    Settings { files: Vec<FileRef<'p>>, values: Vec<(&'p str, &'p str)> },
    /// A unit of ours.
    Unit { file: FileRef<'p>, name: &'p str },
    /// A drop-in of a unit.
    DropIn { file: FileRef<'p>, unit: &'p str, name: &'p str },
    /// The MTU of an interface; the files that keep it are of the network's configuration.
    Mtu { interface: &'p str, mtu: u32 },
    /// An address of an interface; the files that keep it are of the network's configuration.
    Address { interface: &'p str, cidr: Cidr },
    /// Any other file.
    File { file: FileRef<'p> },
    /// A file that is removed.
    Gone { path: &'p str },
    /// A setting of a NIC's firmware.
    NicFirmware { device: &'p str, parameter: &'p str, value: &'p str },
    /// What no such system carries: what it is, and where it belongs.
    Left { what: String, why: &'static str },
    /// A program whose purpose is not known here.
    Run { argv: &'p [String] },
    /// A reboot that something waits for, and nothing else.
    Reboot,
}

impl Piece<'_> {
    /// In words, for what is left out.
    pub(super) fn what(&self) -> String {
        match self {
            Piece::KernelArgs { add, remove } => {
                let mut words: Vec<String> = add.iter().map(|a| format!("+{a}")).collect();
                words.extend(remove.iter().map(|r| format!("-{r}")));
                format!("kernel arguments {}", words.join(" "))
            }
            Piece::Modules { names, .. } => format!("modules at boot: {}", names.join(", ")),
            Piece::Options { options, .. } => {
                let all: Vec<String> = options.iter().map(|(m, o)| format!("{m} {o}")).collect();
                format!("module options: {}", all.join(", "))
            }
            Piece::Settings { values, files } => match (values.as_slice(), files.as_slice()) {
                ([(path, value)], _) => format!("{value} in {path}"),
                ([(path, value), rest @ ..], _) => format!("{value} in {path} and {} more values", rest.len()),
                ([], [file, ..]) => format!("file {}", file.path),
                ([], []) => "values".into(),
            },
            Piece::Unit { name, .. } => format!("unit {name}"),
            Piece::DropIn { unit, name, .. } => format!("drop-in {name} of {unit}"),
            Piece::Mtu { interface, mtu } => format!("MTU {mtu} of {interface}"),
            Piece::Address { interface, cidr } => format!("address {cidr} of {interface}"),
            Piece::File { file } => format!("file {}", file.path),
            Piece::Gone { path } => format!("removal of {path}"),
            Piece::NicFirmware { device, parameter, value } => format!("{parameter}={value} of {device}"),
            Piece::Left { what, .. } => what.clone(),
            Piece::Run { argv } => format!("program {}", shell::shown(argv)),
            Piece::Reboot => "a reboot".into(),
        }
    }
}

/// Pieces of all steps, in order.
pub(super) fn pieces(plan: &Plan) -> Vec<(&Step, Piece<'_>)> {
    let mut last: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (s, step) in plan.steps.iter().enumerate() {
        for (a, act) in step.change.iter().enumerate() {
            if let Act::File(FileAct { path, .. }) = act {
                last.insert(path, (s, a));
            }
        }
    }
    let mut out = Vec::new();
    for (n, step) in plan.steps.iter().enumerate() {
        let is_last = |path: &str, act: usize| last.get(path) == Some(&(n, act));
        out.extend(of_step(step, is_last).into_iter().map(|p| (step, p)));
    }
    out
}

fn of_step<'p>(step: &'p Step, is_last: impl Fn(&str, usize) -> bool) -> Vec<Piece<'p>> {
    let (mut out, mut covers) = (Vec::new(), Covers::default());
    if let Some(args) = kernel_args(step) {
        covers.args = true;
        out.push(args);
    }
    for proof in &step.proof {
        if let Some((interface, mtu)) = mtu(proof) {
            covers.network = true;
            out.push(Piece::Mtu { interface, mtu });
        }
    }
    for act in &step.change {
        if let Some((interface, cidr)) = address(act) {
            covers.network = true;
            out.push(Piece::Address { interface, cidr });
        }
    }
    let (mut files, mut values) = (Vec::new(), Vec::new());
    for (n, act) in step.change.iter().enumerate() {
        match act.shown().deed(step) {
            Deed::Write { path, text: content, mode } => {
                let file = FileRef { path, content, mode };
                match kind(path, &covers) {
                    Kind::Covered => {}
                    _ if !is_last(path, n) => {}
                    Kind::Setting => files.push(file),
                    Kind::Modules => out.push(Piece::Modules { file, names: lines(content).collect() }),
                    Kind::Options => out.push(Piece::Options { file, options: options(content).collect() }),
                    Kind::Unit(name) => out.push(Piece::Unit { file, name }),
                    Kind::DropIn(unit, name) => out.push(Piece::DropIn { file, unit, name }),
                    Kind::Other => out.push(Piece::File { file }),
                }
            }
            Deed::Remove { path } => out.push(Piece::Gone { path }),
            Deed::Value(ValueAct { path, .. }) if covers.network && path.ends_with("/mtu") => {}
            Deed::Value(ValueAct { path, after, .. }) => values.push((path.as_str(), after.as_str())),
            Deed::Run { argv, .. } if implied(argv, step, &covers) => {}
            Deed::Run { argv, .. } => out.push(Piece::Run { argv }),
            Deed::Set { piece, .. } => out.push(piece),
            Deed::Left { what, others: why, .. } => out.extend(what.map(|what| Piece::Left { what, why })),
        }
    }
    if !files.is_empty() || !values.is_empty() {
        out.push(Piece::Settings { files, values });
    }
    if step.change.is_empty() && step.trial.is_empty() {
        out.push(Piece::Reboot);
    }
    out
}

/// What the step's proofs say, so that its files and programs are only a way to it.
#[derive(Default)]
struct Covers {
    args: bool,
    network: bool,
}

/// The words that the running kernel must have, and must not.
fn kernel_args(step: &Step) -> Option<Piece<'_>> {
    let (mut add, mut remove) = (Vec::new(), Vec::new());
    for act in step.acts() {
        if let Act::Trial(TrialAct { add: a, remove: r, .. }) = act {
            // `panic=30` belongs to the trial (a panic falls back by itself).
            add.extend(a.iter().map(String::as_str).filter(|w| !w.starts_with("panic=")));
            remove.extend(r.iter().map(String::as_str));
        }
    }
    for proof in &step.proof {
        if let Proof::Cmdline { has, lacks } = proof {
            add.extend(has.iter().map(String::as_str));
            remove.extend(lacks.iter().map(String::as_str));
        }
    }
    // A word that the precondition shows to be there needs not be added.
    for condition in &step.precondition {
        if let Condition::Cmdline { has, .. } = condition {
            add.retain(|w| !has.iter().any(|h| h == w));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    add.retain(|w| seen.insert(*w));
    seen.clear();
    remove.retain(|w| seen.insert(*w));
    (!add.is_empty() || !remove.is_empty()).then_some(Piece::KernelArgs { add, remove })
}

fn mtu(proof: &Proof) -> Option<(&str, u32)> {
    let Proof::Value { path, value } = proof else { return None };
    let name = path.trim_start_matches('/').strip_prefix("sys/class/net/")?.strip_suffix("/mtu")?;
    (!name.contains('/')).then_some((name, value.parse().ok()?))
}

/// What `ip address replace` gives an interface.
fn address(act: &Act) -> Option<(&str, Cidr)> {
    let Act::Run(RunAct { argv, .. }) = act else { return None };
    let [program, object, verb, cidr, dev, interface] = argv.as_slice() else { return None };
    let it = program == "ip" && object == "address" && verb == "replace" && dev == "dev";
    it.then_some(())?;
    Some((interface, Cidr::read(cidr)?))
}

enum Kind<'p> {
    Covered,
    Setting,
    Modules,
    Options,
    Unit(&'p str),
    DropIn(&'p str, &'p str),
    Other,
}

fn kind<'p>(path: &'p str, covers: &Covers) -> Kind<'p> {
    let boot = ["/etc/default/grub", "/etc/kernel/", "/boot/", "/etc/cmdline.d/"];
    let network = ["/etc/netplan/", "/etc/systemd/network/", "/etc/NetworkManager/", "/etc/network/"];
    if covers.args && boot.iter().any(|b| path.starts_with(b)) {
        return Kind::Covered;
    }
    let own = path == "/etc/systemd/system/linerate-network.service";
    if covers.network && (own || network.iter().any(|n| path.starts_with(n))) {
        return Kind::Covered;
    }
    if ["/etc/tmpfiles.d/", "/etc/sysctl.d/", "/etc/tuned/"].iter().any(|d| path.starts_with(d)) {
        return Kind::Setting;
    }
    if path.starts_with("/etc/modules-load.d/") {
        return Kind::Modules;
    }
    if path.starts_with("/etc/modprobe.d/") {
        return Kind::Options;
    }
    match path.strip_prefix("/etc/systemd/system/").map(|rest| (rest, rest.split_once(".d/"))) {
        Some((_, Some((unit, name)))) if !name.contains('/') => Kind::DropIn(unit, name),
        Some((name, None)) if !name.contains('/') => Kind::Unit(name),
        _ => Kind::Other,
    }
}

/// Programs that make the system take the files, settings or arguments of the same step: another system does that in its own way.
fn implied(argv: &[String], step: &Step, covers: &Covers) -> bool {
    let Some(program) = argv.first().map(|p| p.rsplit('/').next().unwrap_or(p)) else { return true };
    let has = |prefix: &str| step.files().any(|file| file.path.starts_with(prefix));
    match program {
        "systemctl" => has("/etc/systemd/system/") || argv.get(1).is_some_and(|v| v == "daemon-reload"),
        "modprobe" => has("/etc/modules-load.d/"),
        "update-initramfs" | "dracut" => has("/etc/modprobe.d/"),
        "systemd-tmpfiles" => has("/etc/tmpfiles.d/"),
        "sysctl" => has("/etc/sysctl.d/"),
        "tuned-adm" => has("/etc/tuned/"),
        "netplan" | "networkctl" | "nmcli" | "ip" => covers.network,
        "update-grub" | "grub-mkconfig" | "grub2-mkconfig" | "grubby" | "rpm-ostree" | "kernel-install" | "bootctl"
        | "grub-reboot" | "grub2-reboot" | "ukify" => covers.args,
        _ => false,
    }
}
