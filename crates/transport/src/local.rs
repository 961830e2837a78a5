//! This host, as it is or inside one of its network namespaces.

use crate::{Transport, TransportError};

/// This host.
#[derive(Debug, Clone, Default)]
pub struct Local {
    name: String,
    netns: Option<String>,
}

impl Local {
    /// This host.
    #[must_use]
    pub fn new() -> Self {
        Local { name: "local".to_owned(), netns: None }
    }

    /// This host inside a network namespace (`ip netns`).
    #[must_use]
    pub fn netns(name: &str) -> Self {
        Local { name: format!("local:netns={name}"), netns: Some(name.to_owned()) }
    }
}

impl Transport for Local {
    fn host(&self) -> &str {
        &self.name
    }

    fn is_here(&self) -> bool {
        true
    }

    fn carry(&self, argv: &[String]) -> Result<Vec<String>, TransportError> {
        let inside = self.netns.iter().flat_map(|n| ["ip", "netns", "exec", n.as_str()]).map(str::to_owned);
        Ok(inside.chain(argv.iter().cloned()).collect())
    }
}
