//! Which nodes a class of a policy is about.

use crate::Traits;
use linerate_formats::wildcard;

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
}

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
    pub fn parts(&self) -> [(&'static str, &str); 4] {
        [("board", &self.board), ("cpu", &self.cpu), ("gpus", &self.gpus), ("nics", &self.nics)]
    }

    /// Whether hardware fits.
    #[must_use]
    pub fn fits(&self, traits: &Traits) -> Fit {
        let has = [&traits.board, &traits.cpu, &traits.gpus, &traits.nics];
        let mut unseen = Vec::new();
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
