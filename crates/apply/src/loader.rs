//! Entries of boot loaders that are started once, made from what is on the node. How an entry is written, `linerate_remedy::boot` knows.

use crate::hand::{NoEntry, NodeFiles, TrialEntry, TrialMaker};
use linerate_remedy::BootTrial;
use linerate_remedy::boot::{TRIAL_ID, bls, grub};

/// The boot loaders that can.
#[derive(Debug, Clone, Copy)]
pub struct Loaders;

const GRUB_CFG: &str = "/boot/grub/grub.cfg";
const GRUB_ENV: &str = "/boot/grub/grubenv";
const CUSTOM_CFG: &str = "/boot/grub/custom.cfg";
/// Of RHEL.
const GRUB2_ENV: &str = "/boot/grub2/grubenv";
/// Where entries of the Boot Loader Specification are.
const ENTRIES: &[&str] = &["/boot/loader/entries", "/efi/loader/entries", "/boot/efi/loader/entries"];

impl TrialMaker for Loaders {
    fn entry(
        &self,
        boot: BootTrial,
        add: &[String],
        remove: &[String],
        node: &dyn NodeFiles,
    ) -> Result<TrialEntry, NoEntry> {
        match boot {
            BootTrial::GrubCustom => custom(add, remove, node),
            BootTrial::GrubBls => {
                grubby_once(node)?;
                let env = text(node, GRUB2_ENV);
                let entry = specified(add, remove, node, bls::Loader::Grub, env.as_deref())?;
                let id = bls::TRIAL_FILE.trim_end_matches(".conf");
                Ok(TrialEntry {
                    environment: env.map(|_| GRUB2_ENV.to_owned()),
                    choose: words(&["grub2-reboot", id]),
                    forget: words(&["grub2-editenv", "-", "unset", "next_entry"]),
                    ..entry
                })
            }
            BootTrial::SystemdBoot => {
                let entry = specified(add, remove, node, bls::Loader::SystemdBoot, None)?;
                Ok(TrialEntry {
                    choose: words(&["bootctl", "set-oneshot", bls::TRIAL_FILE]),
                    // An empty name takes the variable away (bootctl's manual).
                    forget: words(&["bootctl", "set-oneshot", ""]),
                    ..entry
                })
            }
        }
    }
}

fn custom(add: &[String], remove: &[String], node: &dyn NodeFiles) -> Result<TrialEntry, NoEntry> {
    let cfg = text(node, GRUB_CFG).ok_or(NoEntry::Unreadable(GRUB_CFG))?;
    grub::starts_once(&cfg)?;
    if !grub::is_custom_sourced(&cfg) {
        return Err(NoEntry::NotRead { menu: GRUB_CFG, file: CUSTOM_CFG });
    }
    let env = text(node, GRUB_ENV);
    let entry = grub::trial_entry(&cfg, env.as_deref(), add, remove)?;
    Ok(TrialEntry {
        path: CUSTOM_CFG.to_owned(),
        content: grub::with_trial(text(node, CUSTOM_CFG).as_deref(), &entry),
        environment: env.map(|_| GRUB_ENV.to_owned()),
        choose: words(&["grub-reboot", TRIAL_ID]),
        forget: words(&["grub-editenv", "-", "unset", "next_entry"]),
    })
}

/// Whether GRUB starts an entry once only: else one that panics would come again and again.
fn grubby_once(node: &dyn NodeFiles) -> Result<(), NoEntry> {
    let cfg = grub::rhel_cfg(node.names("/boot/efi/EFI"), |path| text(node, path));
    let cfg = cfg.ok_or(NoEntry::NextEntry)?;
    Ok(grub::starts_once(&cfg)?)
}

/// An entry of the Boot Loader Specification; how it is chosen is the loader's.
fn specified(
    add: &[String],
    remove: &[String],
    node: &dyn NodeFiles,
    loader: bls::Loader,
    env: Option<&str>,
) -> Result<TrialEntry, NoEntry> {
    let dir = ENTRIES.iter().find(|d| node.names(d).iter().any(|n| n.ends_with(".conf")));
    let dir = dir.ok_or(NoEntry::Empty(ENTRIES))?;
    let names = node.names(dir).into_iter().filter(|n| n.ends_with(".conf"));
    let entries: Vec<(String, String)> =
        names.filter_map(|n| text(node, &format!("{dir}/{n}")).map(|t| (n, t))).collect();
    let release = text(node, "/proc/sys/kernel/osrelease").unwrap_or_default();
    let (_, usual) = bls::usual(&entries, env, release.trim(), loader).ok_or(NoEntry::NoDefault(dir))?;
    let content = bls::trial_entry(usual, env, add, remove, loader)?;
    let path = format!("{dir}/{}", bls::TRIAL_FILE);
    Ok(TrialEntry { path, content, environment: None, choose: Vec::new(), forget: Vec::new() })
}

fn text(node: &dyn NodeFiles, path: &str) -> Option<String> {
    node.bytes(path).map(|b| String::from_utf8_lossy(&b).into_owned())
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}
