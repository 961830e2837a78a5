//! Words that the RDMA tools share: port states, link layers.

use serde::Serialize;

/// Logical state of an InfiniBand or RoCE port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum PortState {
    /// 1: no link, or administratively down.
    Down,
    /// 2: link, but no subnet manager has configured it.
    Initialize,
    /// 3: configured, not yet active.
    Armed,
    /// 4: carries data.
    Active,
    /// 5: was active, lost its link a moment ago.
    ActiveDefer,
    /// As printed.
    Other(String),
}

impl PortState {
    /// Reads `Active`, `4: ACTIVE`, `PORT_ACTIVE (4)`, `ACTIVE`, `Initializing`.
    pub fn new(text: &str) -> Self {
        let word = text.trim();
        let word = word.split_once(':').map_or(word, |(_, w)| w.trim());
        let word = word.split_once('(').map_or(word, |(w, _)| w.trim());
        let word = word.strip_prefix("PORT_").unwrap_or(word);
        match word.to_ascii_lowercase().as_str() {
            "down" => PortState::Down,
            "init" | "initialize" | "initializing" => PortState::Initialize,
            "armed" => PortState::Armed,
            "active" => PortState::Active,
            "active_defer" => PortState::ActiveDefer,
            _ => PortState::Other(text.trim().to_owned()),
        }
    }
}

/// Link layer of a port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum LinkLayer {
    /// InfiniBand.
    InfiniBand,
    /// Ethernet: RoCE.
    Ethernet,
    /// As printed.
    Other(String),
}

impl LinkLayer {
    /// Reads the word of sysfs and the tools; ibstat before 2012 prints `IB`.
    pub fn new(text: &str) -> Self {
        match text.trim() {
            "InfiniBand" | "IB" => LinkLayer::InfiniBand,
            "Ethernet" => LinkLayer::Ethernet,
            other => LinkLayer::Other(other.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_in_every_spelling() {
        for text in ["Active", "4: ACTIVE", "PORT_ACTIVE (4)", "ACTIVE"] {
            assert_eq!(PortState::new(text), PortState::Active, "{text}");
        }
        assert_eq!(PortState::new("PORT_INIT (2)"), PortState::Initialize);
        assert_eq!(PortState::new("Initializing"), PortState::Initialize);
        assert_eq!(PortState::new("x (9)"), PortState::Other("x (9)".into()));
    }
}
