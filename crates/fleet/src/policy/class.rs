//! Which nodes a class of a policy is about.

use crate::Traits;
use linerate_formats::wildcard;
use linerate_node::context::Role;

/// Patterns of what hardware is made of, by [`Traits`]; `*` is any run of characters, letters of either case are the same. Empty: any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Match {
    /// Vendor and product of the system.
    pub board: String,
    /// Model of the processors.
    pub cpu: String,
    /// Models of the GPUs.
    pub gpus: String,
    /// Models of the RDMA NICs.
    pub nics: String,
    /// What kind of node it is; `None`: any.
    pub role: Option<Role>,
}

/// Kinds of nodes, as a policy names them.
pub(super) const ROLES: [(&str, Role); 3] =
    [("bare-metal", Role::BareMetal), ("vm-host", Role::VmHost), ("vm-guest", Role::VmGuest)];

/// Whether a node is of a class.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It is of another one, by this trait.
    No(&'static str),
    /// What its source shows fits; these it does not show.
    Perhaps(Vec<&'static str>),
    /// It is.
    Yes,
}

impl Match {
    /// Names and patterns.
    pub fn parts(&self) -> [(&'static str, &str); 5] {
        let role = ROLES.iter().find(|(_, r)| Some(*r) == self.role).map_or("", |(word, _)| word);
        [("board", &self.board), ("cpu", &self.cpu), ("gpus", &self.gpus), ("nics", &self.nics), ("role", role)]
    }

    /// Whether a node of this hardware and kind fits.
    #[must_use]
    pub fn fits(&self, traits: &Traits, role: Option<Role>) -> Fit {
        let has = [&traits.board, &traits.cpu, &traits.gpus, &traits.nics];
        let mut unseen = Vec::new();
        match (self.role, role) {
            (Some(wanted), Some(seen)) if wanted != seen => return Fit::No("role"),
            (Some(_), None) => unseen.push("role"),
            _ => {}
        }
        for ((name, pattern), seen) in self.parts().into_iter().zip(has) {
            match seen {
                _ if pattern.is_empty() => {}
                None => unseen.push(name),
                Some(seen) => {
                    let (pattern, seen) = (pattern.to_lowercase(), seen.to_lowercase());
                    if !wildcard::star(pattern.as_bytes(), seen.as_bytes()) {
                        return Fit::No(name);
                    }
                }
            }
        }
        if unseen.is_empty() { Fit::Yes } else { Fit::Perhaps(unseen) }
    }
}
