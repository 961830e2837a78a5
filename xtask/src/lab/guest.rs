//! The part of the first root that is a scenario's own: modules, scripts and /init.
//!
//! Nothing of a scenario is quoted into a script: each line is a file of its own.

use super::closure::{Modules, module_name};
use super::cpio::Archive;
use super::scenario::Scenario;
use super::{Paths, Result};
use std::fmt::Write as _;
use std::path::Path;

/// The controller and disk that results are written to.
const OWN_MODULES: &[&str] = &["ahci", "sd_mod"];

/// First words of the guest's init on the serial console: the kernel has booted.
pub(super) const UP: &str = "lab: up";
/// Last words before power-off: the results are on the disk.
pub(super) const DONE: &str = "lab: done";

/// What is run, step by step. `/out` is what comes back.
const INIT: &str = r#"#!/bin/busybox sh
/bin/busybox mkdir -p /bin /sbin /usr/bin /usr/sbin
/bin/busybox --install -s /bin
export PATH=/usr/bin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
chmod 1777 /tmp
mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
echo 'lab: up'
cd /
mkdir -p /out/setup /out/command /out/file /out/linerate

while read -r module; do
    insmod "/lab/modules/$module.ko" 2>>/out/insmod.txt || echo "$module: not loaded" >>/out/insmod.txt
done </lab/modules/order
ip link set lo up

for script in /lab/setup/*; do
    [ -f "$script" ] || continue
    name=${script##*/}
    sh "$script" >"/out/setup/$name.txt" 2>&1
    echo $? >"/out/setup/$name.status"
done

lspci -Dvvvnn >/out/lspci.txt 2>&1
cat /proc/cmdline >/out/cmdline.txt
cat /proc/modules >/out/modules.txt
for group in /sys/kernel/iommu_groups/*; do
    [ -d "$group" ] && echo "${group##*/} $(cat "$group/type") $(ls "$group/devices" | tr '\n' ' ')"
done >/out/iommu_groups.txt

while read -r number pattern; do
    mkdir -p "/out/file/$number"
    for file in $pattern; do
        [ -e "$file" ] || continue
        mkdir -p "/out/file/$number${file%/*}"
        cat "$file" >"/out/file/$number$file" 2>&1
    done
done </lab/files

for script in /lab/command/*; do
    [ -f "$script" ] || continue
    name=${script##*/}
    sh "$script" >"/out/command/$name.txt" 2>&1
    echo $? >"/out/command/$name.status"
done

dmesg >/out/dmesg.txt

if [ -x /bin/linerate ]; then
    read -r uid </lab/run_as
    [ "$uid" = 0 ] || chown "$uid:$uid" /out/linerate
    if [ "$uid" = 0 ]; then
        sh /lab/linerate.sh
    else
        su auditor -s /bin/sh -c 'sh /lab/linerate.sh'
    fi
fi

echo 'lab: writing'
tries=0
while [ ! -b /dev/sda ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
tar -C /out -cf - . | dd of=/dev/sda bs=64k conv=fsync 2>/dev/null
echo 'lab: done'
poweroff -f
"#;

/// Collects, then audits the live guest.
const LINERATE: &str = r#"cd /out/linerate
export PATH=/usr/bin:/bin
linerate collect -o snapshot.tar.zst >collect.txt 2>&1
echo $? >collect.status
linerate audit --format json >audit.json 2>audit.txt
echo $? >audit.status
"#;

/// The scenario's initramfs, which follows the common one.
pub(super) fn initramfs(paths: &Paths, scenario: &Scenario, linerate: Option<&Path>) -> Result<Vec<u8>> {
    let modules = Modules::read(paths.kernel(&scenario.kernel).join("modules"))?;
    let mut archive = Archive::default();
    archive.file("init", 0o755, INIT.as_bytes());
    archive.file("lab/linerate.sh", 0o755, LINERATE.as_bytes());
    archive.file("lab/run_as", 0o644, format!("{}\n", scenario.run_as).as_bytes());
    if scenario.run_as != 0 && scenario.run_as != 1000 {
        return Err(format!("run_as = {}: the guests know 0 (root) and 1000", scenario.run_as));
    }
    // The scenario's modules first: the results' disk must not load what a scenario wants missing or late.
    let wanted: Vec<String> =
        scenario.modules.iter().cloned().chain(OWN_MODULES.iter().map(|m| (*m).to_owned())).collect();
    let mut order = String::new();
    for file in modules.order(&wanted)? {
        let name = module_name(&file.to_string_lossy());
        archive.file(&format!("lab/modules/{name}.ko"), 0o644, &plain_module(&file)?);
        let _ = writeln!(order, "{name}");
    }
    // The index of all modules, without which lspci (libkmod) complains.
    let release = std::fs::read_to_string(paths.kernel(&scenario.kernel).join("release")).unwrap_or_default();
    for index in ["dep", "alias", "symbols", "builtin", "builtin.alias"] {
        let (name, modules) = (format!("modules.{index}.bin"), paths.kernel(&scenario.kernel).join("modules"));
        if modules.join(&name).is_file() {
            archive.copy(&format!("lib/modules/{release}/{name}"), &modules.join(&name))?;
        }
    }
    archive.file("lab/modules/order", 0o644, order.as_bytes());
    archive.dir("lab/setup");
    for (at, line) in scenario.setup.iter().enumerate() {
        archive.file(&format!("lab/setup/{at:02}"), 0o755, format!("{line}\n").as_bytes());
    }
    archive.dir("lab/command");
    for (at, command) in scenario.expect.command.iter().enumerate() {
        archive.file(&format!("lab/command/{at:02}"), 0o755, format!("{}\n", command.run).as_bytes());
    }
    let mut files = String::new();
    for (at, file) in scenario.expect.file.iter().enumerate() {
        let _ = writeln!(files, "{at:02} {}", file.path);
    }
    archive.file("lab/files", 0o644, files.as_bytes());
    if let Some(binary) = linerate {
        archive.copy("bin/linerate", binary)?;
    }
    Ok(archive.finish())
}

/// A module's bytes, unpacked: busybox's insmod wants plain ones.
fn plain_module(file: &Path) -> Result<Vec<u8>> {
    let name = file.display().to_string();
    if !name.ends_with(".xz") {
        return std::fs::read(file).map_err(|e| format!("lab: cannot read {name}: {e}"));
    }
    let output = std::process::Command::new("xz")
        .args(["-dc", &name])
        .output()
        .map_err(|e| format!("lab: cannot run xz: {e}"))?;
    if output.status.success() { Ok(output.stdout) } else { Err(format!("lab: xz cannot unpack {name}")) }
}
