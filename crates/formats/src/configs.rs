//! Configurations and lists that hold no facts about a node's hardware, and that people paste beside what does: each is called by its name, with what to
//! do with it, instead of being refused as nothing.

use crate::tool::{Command, Gives, Mark, Tool};

/// netplan.
pub const NETPLAN: Tool = Tool {
    name: "netplan",
    called: "netplan",
    run: "cat /etc/netplan/*.yaml",
    gives: Gives::NoFacts(
        "a configuration of netplan: what it asks for, not what is in force (`ip -d link; ip addr` shows that)",
    ),
    marks: &[
        Mark::line_with(|l| l == "network:", "ethernets:").begins(&["network:"]),
        Mark::line_with(|l| l == "network:", "bonds:").begins(&["network:"]),
    ],
    commands: &[Command::any("netplan")],
    samples: &["network:\n  version: 2\n  ethernets:\n    enp24s0np0:\n      mtu: 9000\n"],
    ..Tool::NONE
};

/// A keyfile of NetworkManager.
pub const NETWORK_MANAGER: Tool = Tool {
    name: "network-manager",
    called: "connection (NetworkManager)",
    run: "cat /etc/NetworkManager/system-connections/*.nmconnection",
    gives: Gives::NoFacts(
        "a connection of NetworkManager: what it asks for, not what is in force (`ip -d link; ip addr` shows that)",
    ),
    marks: &[Mark::line_with(|l| l == "[connection]", "type=").begins(&["[connection]"])],
    samples: &["[connection]\nid=enp24s0np0\ntype=ethernet\n\n[ethernet]\nmtu=9000\n"],
    ..Tool::NONE
};
