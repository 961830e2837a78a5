//! One node: `linerate audit` of its tree and of its archive, beside `lspci` and `lstopo` over the same tree.

use super::measure::{self, Program};
use super::place::Place;
use super::{Scale, Target, data};
use crate::shell::{self, Result};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Aims: share of the CPU time of lspci and lstopo together, CPU milliseconds, MiB.
const SHARE: f64 = 0.5;
const CPU: f64 = 30.0;
const PEAK: f64 = 48.0;
/// Bytes that a node takes as a tree, unpacked and as an archive, with room to spare.
const ROOM: u64 = 256 << 20;

pub(super) fn measure(linerate: &Path, scale: &Scale) -> Result<(String, Vec<Target>)> {
    let place = Place::new(ROOM)?;
    let [tree, unpacked, archive] = ["tree", "unpacked", "node.tar.zst"].map(|name| place.dir.join(name));
    let counts =
        data::request(&["node", &tree.to_string_lossy(), &unpacked.to_string_lossy(), &archive.to_string_lossy()])?;
    let (entries, functions) = counts.trim().split_once(' ').ok_or("bench data: no counts")?;

    let audit = |what: &Path| {
        let mut c = Command::new(linerate);
        c.arg("audit").arg(what);
        c
    };
    let lspci = || {
        let mut c = Command::new("lspci");
        c.arg("-A").arg("linux-sysfs").arg("-O").arg(format!("sysfs.path={}/sys/bus/pci", tree.display())).arg("-vvv");
        c
    };
    let lstopo = || {
        let mut c = Command::new("lstopo-no-graphics");
        c.args(["--of", "console"]).env("HWLOC_FSROOT", &tree);
        c.env("HWLOC_COMPONENTS", "linux,stop").env("HWLOC_THISSYSTEM", "0");
        c
    };
    let commands: Vec<Program<'_>> = vec![
        ("`linerate audit TREE`".into(), Box::new(|| Ok(audit(&tree)))),
        ("`linerate audit UNPACKED`, all of a snapshot".into(), Box::new(|| Ok(audit(&unpacked)))),
        ("`linerate audit node.tar.zst`".into(), Box::new(|| Ok(audit(&archive)))),
        ("`lspci -A linux-sysfs -O sysfs.path=TREE/sys/bus/pci -vvv`".into(), Box::new(|| Ok(lspci()))),
        ("`HWLOC_FSROOT=TREE … lstopo-no-graphics`".into(), Box::new(|| Ok(lstopo()))),
    ];
    check(&mut lspci(), &mut lstopo(), functions)?;
    let runs = measure::alternately(&commands, scale.runs)?;
    let mut text = format!(
        "\n## One node\n\n`lab/nodes/{}.toml`: {functions} PCI functions, {entries} files, links and directories; {}. {} runs of each, alternately.\n\n\
         | | wall, best | wall, median | CPU, best | CPU, median | peak memory |\n|---|---|---|---|---|---|\n",
        data::NODE,
        place.kind,
        scale.runs
    );
    for ((name, _), runs) in commands.iter().zip(&runs) {
        let (wall, cpu) = (measure::wall(runs), measure::cpu(runs));
        let _ = writeln!(
            text,
            "| {name} | {:.1} ms | {:.1} ms | {:.1} ms | {:.1} ms | {:.1} MiB |",
            wall.best,
            wall.median,
            cpu.best,
            cpu.median,
            measure::peak(runs)
        );
    }
    let [of_tree, _, of_archive, lspci, lstopo] = runs.as_slice() else {
        return Err("bench: five commands".to_owned());
    };
    let mut targets = Vec::new();
    for (name, ours) in [("tree", of_tree), ("archive", of_archive)] {
        let rounds = ours.iter().zip(lspci).zip(lstopo);
        let share = measure::summary(rounds.map(|((a, b), c)| a.cpu / (b.cpu + c.cpu)).collect()).median;
        // The fastest round is the program; what others take longer is the machine, whose speed changes by half within the hour.
        let (cpu, peak) = (measure::cpu(ours), measure::peak(ours));
        let _ = writeln!(
            text,
            "\nAudit of the {name}: {share:.2} of the CPU time of lspci and lstopo together (median of the rounds)."
        );
        let mut target = |what: String, met| targets.push(Target::new(what, met));
        target(
            format!(
                "audit of the {name} takes at most {SHARE} of the CPU time of lspci and lstopo together: {share:.2}"
            ),
            share <= SHARE,
        );
        target(
            format!(
                "audit of the {name} takes less than {CPU} ms of CPU in the fastest round: {:.1} ms (median {:.1} ms)",
                cpu.best, cpu.median
            ),
            cpu.best < CPU,
        );
        target(format!("audit of the {name} needs less than {PEAK} MiB: {peak:.1} MiB"), peak < PEAK);
    }
    Ok((text, targets))
}

/// A comparison with a program that saw nothing would be a lie.
fn check(lspci: &mut Command, lstopo: &mut Command, functions: &str) -> Result<()> {
    let listed = shell::output(lspci)?.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_hexdigit())).count();
    if listed.to_string() != functions {
        return Err(format!("lspci lists {listed} functions of {functions}"));
    }
    let devices = shell::output(lstopo)?.matches("OpenFabrics").count();
    if devices == 0 { Err("lstopo sees no RDMA device in the tree".to_owned()) } else { Ok(()) }
}
