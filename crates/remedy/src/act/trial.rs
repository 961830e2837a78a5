//! A menu entry of the boot loader that is used once.

use super::{ActShown, Deed};
use crate::diff::{Found, argument, whole};
use crate::model::Step;
use serde::{Deserialize, Serialize};

/// A menu entry of the boot loader that is used once: if it does not come up, the next start takes the usual one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialAct {
    /// Way of this boot loader.
    pub boot: BootTrial,
    /// Words added to the kernel's arguments of the usual entry.
    pub add: Vec<String>,
    /// Words removed.
    pub remove: Vec<String>,
}

/// How a boot loader starts an entry once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BootTrial {
    /// An entry in `custom.cfg` beside `grub.cfg`, chosen by `grub-reboot` (Debian's names).
    GrubCustom,
    /// An entry of its own in `/boot/loader/entries`, chosen by `grub2-reboot` (RHEL).
    GrubBls,
    /// An entry of its own in the boot partition, chosen by `bootctl set-oneshot`.
    SystemdBoot,
}

impl ActShown for TrialAct {
    fn summary(&self) -> String {
        let words = |with: &str, words: &[String]| {
            if words.is_empty() { String::new() } else { format!(" {with} {}", words.join(" ")) }
        };
        format!("start the kernel once{}{}", words("with", &self.add), words("without", &self.remove))
    }

    fn notes(&self) -> Vec<String> {
        vec!["for one boot only: if it does not come up, the next boot takes the usual entry".to_owned()]
    }

    fn explains(&self, found: &mut Found) {
        let words = self.add.iter().chain(&self.remove).map(String::as_str);
        words.chain(["panic=30"]).for_each(|w| argument(w, found));
        for path in ["boot/grub*/custom.cfg", "boot/grub*/grubenv", "boot/**/loader/entries/*linerate*"] {
            whole(path, found);
        }
    }

    // The arguments are a piece of the step's proof; a trial itself is a matter of a live node.
    fn deed(&self, _: &Step) -> Deed<'_> {
        const WATCHED: &str = "a trial boot needs somebody who watches it";
        let others = "a new node has no boot to fall back to";
        Deed::Left { what: None, script: WATCHED.into(), playbook: WATCHED, others }
    }
}
