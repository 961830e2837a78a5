//! Modules that are not to take a device by themselves (`blacklist` of `modprobe.d`, and the initramfs that holds a copy), from the next boot on. Only where the
//! module that is to take it is there: a device without any driver is no better.

use super::options::initramfs;
use super::{BY_REBOOT, Change, Kind, Refusal, Setting, each, ours, words};
use crate::model::{Act, Condition, RunAct};
use crate::terms::{On, Terms};
use linerate_formats::cmdline::same_name;
use linerate_rules::Action;
use linerate_snapshot::OutputKind;

const BLOCKS: &str = "/etc/modprobe.d/linerate-block.conf";

/// Modules that are blocked.
pub(super) struct Blocks;

impl Kind for Blocks {
    fn takes(&self, action: &Action) -> Option<String> {
        of(action).map(|_| String::new())
    }

    fn terms(&self, _: &Action, _: &On<'_>) -> Terms {
        BY_REBOOT
    }

    fn claims(&self, action: &Action) -> Vec<(String, String)> {
        of(action)
            .map(|b| (format!("whether {} is loaded for its devices", b.module), "no".to_owned()))
            .into_iter()
            .collect()
    }

    fn on_talos(&self) -> Option<&'static str> {
        Some("Talos takes it as an argument of the kernel: module_blacklist=MODULE in the schematic's extraKernelArgs")
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        vec![blocked(&each(actions, of), on)]
    }
}

/// A module, and the one that is to take its devices.
#[derive(PartialEq)]
struct Block<'a> {
    module: &'a str,
    instead: &'a str,
}

fn of(action: &Action) -> Option<Block<'_>> {
    match action {
        Action::BlockModule { module, instead } => Some(Block { module, instead }),
        _ => None,
    }
}

fn blocked(asked: &[Block<'_>], on: &Setting<'_, '_>) -> Result<Change, Refusal> {
    let mut lines = Vec::new();
    for b in asked {
        words::module(b.module)?;
        words::module(b.instead)?;
        if !is_there(b.instead, on) {
            return Err(Refusal::ByHand {
                how: vec![
                    format!("install {} for the running kernel first: the source does not show it", b.instead),
                    format!("then write `blacklist {}` to {BLOCKS}, make the initramfs again and reboot", b.module),
                ],
                reread: vec![BLOCKS.into(), "proc/modules".into()],
            });
        }
        lines.push(format!("blacklist {}", b.module));
    }
    let names = asked.iter().map(|b| b.module).collect::<Vec<_>>().join(", ");
    let Some(file) = ours::with_lines(on.snapshot, BLOCKS, "module-blocks", &lines, |_| true)? else {
        return Err(Refusal::Already {
            reason: format!("{BLOCKS} has this line: it holds from the next boot on, if the initramfs was made since"),
        });
    };
    let (rebuild, package, note) = initramfs(on.platform, on.snapshot, BLOCKS, "list of blocked modules")?;
    let Act::Run(RunAct { argv, .. }) = &rebuild else { return Err(Refusal::no("no program makes the initramfs")) };
    let name = argv.first().cloned().unwrap_or_default();
    Ok(Change {
        id: "module-blocks".into(),
        summary: format!("keep {names} from taking devices at boot"),
        precondition: vec![Condition::Program { name, package }],
        acts: vec![file, rebuild],
        note: format!("a console that {names} draws falls back to the firmware's; {note}"),
        ..Change::default()
    })
}

/// Whether the source shows a module: it runs, or `modinfo` knows it.
fn is_there(module: &str, on: &Setting<'_, '_>) -> bool {
    let runs = on.node.kernel.modules.known().is_some_and(|all| all.iter().any(|m| same_name(m, module)));
    let known = on.snapshot.outputs.iter().any(|o| o.kind == OutputKind::ModinfoNvidia && o.status == Some(0));
    runs || same_name(module, "nvidia") && known
}
