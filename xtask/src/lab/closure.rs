//! What a thing needs besides itself: kernel modules in loading order, shared libraries of a program.

use super::{Paths, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kernel's `modules.dep`.
pub(super) struct Modules {
    folder: PathBuf,
    /// Name (with `_`) to the file and the files it needs, as modules.dep says.
    table: BTreeMap<String, (String, Vec<String>)>,
    builtin: BTreeSet<String>,
}

impl Modules {
    /// `folder`: `lib/modules/RELEASE`.
    pub(super) fn read(folder: PathBuf) -> Result<Modules> {
        let read = |name: &str| {
            let file = folder.join(name);
            std::fs::read_to_string(&file).map_err(|e| format!("lab: cannot read {}: {e}", file.display()))
        };
        let (dep, builtin) = (read("modules.dep")?, read("modules.builtin")?);
        let table = dep
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(file, needs)| {
                (module_name(file), (file.to_owned(), needs.split_whitespace().map(str::to_owned).collect()))
            })
            .collect();
        Ok(Modules { table, builtin: builtin.lines().map(module_name).collect(), folder })
    }

    /// The files to load, in order, for these modules (of which some may be built in).
    pub(super) fn order(&self, wanted: &[String]) -> Result<Vec<PathBuf>> {
        let mut order: Vec<String> = Vec::new();
        for name in wanted {
            let name = module_name(name);
            let Some((file, needs)) = self.table.get(&name) else {
                if self.builtin.contains(&name) {
                    continue;
                }
                return Err(format!("this kernel has no module {name:?} ({})", self.folder.display()));
            };
            // modules.dep lists the nearest need first: load from the far end.
            for file in needs.iter().rev().chain([file]) {
                if !order.contains(file) {
                    order.push(file.clone());
                }
            }
        }
        Ok(order.into_iter().map(|file| self.folder.join(file)).collect())
    }
}

/// `kernel/net/virtio-net.ko.xz` is `virtio_net` to the kernel.
pub(super) fn module_name(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split(".ko").next().unwrap_or(name).replace('-', "_")
}

/// The library folders of the unpacked packages.
pub(super) const LIBRARY_FOLDERS: [&str; 4] =
    ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu/libibverbs", "lib64"];

/// A command that runs a program of the unpacked packages by their own loader and libraries, whatever this machine has.
pub(super) fn foreign(paths: &Paths, argv0: Option<&str>) -> Command {
    let root = paths.debian();
    let folders: Vec<String> = LIBRARY_FOLDERS.iter().map(|f| root.join(f).display().to_string()).collect();
    let mut command = Command::new(root.join("lib64/ld-linux-x86-64.so.2"));
    command.args(["--library-path", &folders.join(":")]);
    if let Some(name) = argv0 {
        command.args(["--argv0", name]);
    }
    command
}

/// The shared libraries that a program of the unpacked packages loads.
pub(super) fn libraries(paths: &Paths, program: &Path) -> Result<Vec<PathBuf>> {
    let output = foreign(paths, None)
        .arg("--list")
        .arg(program)
        .output()
        .map_err(|e| format!("lab: cannot run the guest's loader on {}: {e}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if let Some(missing) = text.lines().find(|l| l.contains("not found")) {
        return Err(format!(
            "lab: {} needs a library that no package of setup has: {}",
            program.display(),
            missing.trim()
        ));
    }
    if !output.status.success() {
        return Err(format!(
            "lab: the guest's loader refuses {}: {}",
            program.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    Ok(text
        .lines()
        .filter_map(|l| l.split_once("=> "))
        .filter_map(|(_, r)| r.split_whitespace().next())
        .map(PathBuf::from)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_load_after_what_they_need() {
        let table = [
            ("c", vec!["kernel/b.ko", "kernel/a.ko"]),
            ("b", vec!["kernel/a.ko"]),
            ("a", vec![]),
            ("d", vec!["kernel/a.ko"]),
        ]
        .into_iter()
        .map(|(n, needs)| (n.to_owned(), (format!("kernel/{n}.ko"), needs.into_iter().map(str::to_owned).collect())))
        .collect();
        let modules = Modules { folder: PathBuf::from("/m"), table, builtin: BTreeSet::from(["loop".to_owned()]) };
        let order = |names: &[&str]| {
            modules
                .order(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>())
                .map(|files| files.iter().map(|f| module_name(&f.to_string_lossy())).collect::<Vec<_>>())
        };
        assert_eq!(order(&["c", "d", "loop"]).unwrap(), ["a", "b", "c", "d"]);
        assert!(order(&["nothing"]).is_err());
        assert_eq!(module_name("kernel/drivers/vfio/pci/vfio-pci.ko.xz"), "vfio_pci");
    }
}
