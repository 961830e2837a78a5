//! From a description to a tree.

use crate::description::{Description, Expect, Hypervisor, Iommu, Role};
use crate::function::Function;
use crate::seed::Seed;
use crate::{
    DescribeError, Entry, Tree, cpu, host, iommu, layout, mlxconfig, net, nvidia, patch, pci, rdma, smi, whole,
};
use linerate_formats::pci::Bdf;
use std::collections::BTreeMap;

/// Everything that the parts of the tree are made from.
pub(crate) struct Plan<'a> {
    pub(crate) d: &'a Description,
    pub(crate) functions: Vec<Function>,
    /// Directory of each function below the root of the tree.
    pub(crate) paths: Vec<String>,
    pub(crate) seed: Seed,
    pub(crate) host: String,
    pub(crate) cpus: cpu::Cpus,
    /// Network interfaces and RDMA devices of NIC functions.
    pub(crate) ports: Vec<net::NicPort>,
    /// IOMMU group of each function.
    pub(crate) groups: Vec<Option<u32>>,
}

/// Commands whose output is part of the tree.
#[derive(Default)]
pub(crate) struct Commands(Vec<(Vec<String>, String, i32)>);

impl Commands {
    pub(crate) fn add(&mut self, argv: &[&str], stdout: String, status: i32) {
        self.0.push((argv.iter().map(|a| (*a).to_owned()).collect(), stdout, status));
    }
}

impl<'a> Plan<'a> {
    fn of(d: &'a Description) -> Result<Self, DescribeError> {
        let all = layout::functions(d)?;
        // A function that is gone leaves no trace; what hung below it is gone too.
        let mut kept: Vec<Option<usize>> = Vec::with_capacity(all.len());
        let mut functions: Vec<Function> = Vec::with_capacity(all.len());
        for mut f in all {
            let parent = f.parent.map(|p| kept.get(p).copied().flatten());
            if f.gone || parent == Some(None) {
                kept.push(None);
                continue;
            }
            f.parent = parent.flatten();
            if let crate::function::Kind::Vf { parent, index } = f.kind {
                let Some(parent) = kept.get(parent).copied().flatten() else {
                    kept.push(None);
                    continue;
                };
                f.kind = crate::function::Kind::Vf { parent, index };
            }
            kept.push(Some(functions.len()));
            functions.push(f);
        }
        let mut paths: Vec<String> = Vec::with_capacity(functions.len());
        for f in &functions {
            let above = f.parent.and_then(|p| paths.get(p).cloned());
            let above = above.unwrap_or_else(|| root(d, f));
            paths.push(format!("{above}/{}", f.bdf));
        }
        let seed = Seed(d.node.seed);
        let host = d.node.host.clone().unwrap_or_else(|| format!("gpu-{:05}", d.node.seed % 100_000));
        let cpus = cpu::Cpus::of(&d.node);
        let groups = iommu::groups(d, &functions);
        let ports = net::ports(d, &functions, seed);
        Ok(Plan { d, functions, paths, seed, host, cpus, ports, groups })
    }

    /// Each function with its directory.
    pub(crate) fn each(&self) -> impl Iterator<Item = (usize, &Function, &str)> {
        self.functions.iter().zip(&self.paths).enumerate().map(|(i, (f, p))| (i, f, p.as_str()))
    }
}

impl Description {
    /// The tree of the node.
    ///
    /// # Errors
    /// When the description asks for something that no node can be, or patches something that is not there.
    pub fn compose(&self) -> Result<Tree, DescribeError> {
        let plan = Plan::of(self)?;
        let mut tree = Tree::default();
        let mut commands = Commands::default();
        pci::write(&plan, &mut tree);
        if !matches!(self.node.iommu, Iommu::Off | Iommu::NoFirmwareTable) {
            iommu::write(&plan, &mut tree);
        }
        cpu::write(&plan, &mut tree);
        host::write(&plan, &mut tree, &mut commands);
        net::write(&plan, &mut tree)?;
        rdma::write(&plan, &mut tree, &mut commands)?;
        nvidia::write(&plan, &mut tree, &mut commands);
        if self.nvidia.smi && !self.nvidia.driver.is_empty() && self.node.role != Role::Host {
            smi::write(&plan, &mut commands);
        }
        mlxconfig::write(&plan, &mut commands)?;
        if self.zoo.is_some() {
            whole::write(&plan, &mut tree, &mut commands);
        }
        for (n, (argv, stdout, status)) in commands.0.iter().enumerate() {
            tree.file(format!("cmd/{n}/argv"), serde_json::json!(argv).to_string());
            tree.file(format!("cmd/{n}/stdout"), stdout.as_bytes());
            tree.file(format!("cmd/{n}/stderr"), "");
            tree.value(format!("cmd/{n}/status"), status.to_string());
        }
        for (path, text) in &self.files {
            tree.file(checked(path)?, text.as_bytes());
        }
        for edit in &self.edit {
            edit.apply(&mut tree)?;
        }
        for pattern in &self.remove {
            if tree.remove(pattern) == 0 {
                return Err(nothing("remove", pattern));
            }
        }
        for pattern in &self.denied {
            if tree.deny(pattern) == 0 {
                return Err(nothing("denied", pattern));
            }
        }
        manifest(&plan, &mut tree);
        Ok(tree)
    }

    /// Symbolic names of the layout and the functions they mean.
    ///
    /// # Errors
    /// As [`Self::compose`].
    pub fn names(&self) -> Result<BTreeMap<String, Bdf>, DescribeError> {
        let functions = layout::functions(self)?;
        Ok(functions.iter().flat_map(|f| f.names.iter().map(|n| (n.clone(), f.bdf))).collect())
    }

    /// The subject of an expectation as the rules print it: a symbolic name becomes its BDF, everything else stays.
    ///
    /// # Errors
    /// As [`Self::compose`].
    pub fn subject(&self, expect: &Expect) -> Result<Option<String>, DescribeError> {
        let Some(subject) = &expect.subject else { return Ok(None) };
        let functions = layout::functions(self)?;
        let hit = functions.iter().find(|f| !subject.contains('*') && patch::named(f, subject));
        Ok(Some(hit.map_or_else(|| subject.clone(), |f| f.bdf.to_string())))
    }

    /// Configuration spaces of all functions, whole, whatever the tree shows of them.
    ///
    /// # Errors
    /// As [`Self::compose`].
    pub fn config_spaces(&self) -> Result<Vec<(Bdf, Vec<u8>)>, DescribeError> {
        let mut plan = Plan::of(self)?;
        for f in &mut plan.functions {
            f.config_len = 4096;
        }
        let windows = pci::windows(&plan);
        let spaces = plan.functions.iter().zip(windows).map(|(f, w)| (f.bdf, crate::config::space(f, w)));
        let mut spaces: Vec<_> = spaces.collect();
        spaces.sort_by_key(|(bdf, _)| *bdf);
        Ok(spaces)
    }
}

/// The directory of a root bus. Hyper-V's are devices of its own bus.
fn root(d: &Description, f: &Function) -> String {
    let bus = format!("pci{:04x}:{:02x}", f.bdf.domain, f.root_bus);
    if d.node.role == Role::Guest && d.node.hypervisor == Hypervisor::HyperV {
        let channel = Seed(d.node.seed).uuid(&bus);
        return format!("sys/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/{channel}/{bus}");
    }
    format!("sys/devices/{bus}")
}

pub(crate) fn checked(path: &str) -> Result<&str, DescribeError> {
    let bad = path.is_empty() || path.split('/').any(|n| n.is_empty() || n == "." || n == "..");
    if bad {
        return Err(DescribeError::impossible(
            format!("[files] {path:?} is not a path inside the tree"),
            "relative, without empty names, . and ..",
        ));
    }
    Ok(path)
}

fn nothing(key: &str, pattern: &str) -> DescribeError {
    DescribeError::impossible(
        format!("{key}: {pattern:?} matches nothing in this tree"),
        "paths have no leading slash; * stays within one name, ** does not",
    )
}

fn manifest(plan: &Plan, tree: &mut Tree) {
    let unread: Vec<_> = tree
        .entries
        .iter()
        .filter(|(_, e)| **e == Entry::Denied)
        .map(|(path, _)| serde_json::json!({"path": path, "why": "denied"}))
        .collect();
    let manifest = serde_json::json!({
        "schema": 1,
        "linerate": "compose",
        "host": plan.host,
        "time": host::TIME,
        "boot_id": plan.seed.uuid("boot"),
        "uid": 0,
        "origin": "composed",
        "redacted": false,
        "tried": ["**"],
        "unread": unread,
    });
    tree.file("linerate/manifest.json", format!("{manifest:#}\n"));
}
