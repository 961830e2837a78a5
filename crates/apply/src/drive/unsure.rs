//! Why it is not sure enough that a machine, or its BMC, is the plan's, to change something beside it. What was not established when the plan
//! was made is not taken from the node now.

use super::Unreached;

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unsure {
    #[error("the plan does not hold the machine id of its node: make it from the node itself, as root")]
    NoMachine,
    #[error(
        "the SSH host key is {now}, and it was {then} when the plan was made: another machine answers, or its key was replaced. Find out which, then make a new plan"
    )]
    OtherKey { now: String, then: String },
    #[error("the SSH host key cannot be compared with the plan's: {0}")]
    NoKey(Unreached),
    #[error(
        "the plan does not hold the UUID of its machine (SMBIOS), which identifies its BMC: make a new plan as root on the node itself"
    )]
    NoUuid,
    #[error("the BMC shows no UUID: it is not known which machine it belongs to")]
    NoUuidOfBmc,
    #[error("the node does not show its UUID (SMBIOS): reading it needs root on the node, and firmware that has one")]
    NoUuidOfNode,
    #[error("the BMC belongs to another machine: its UUID is {bmc}, but the plan was made for {planned}")]
    OtherBmc { bmc: String, planned: String },
    #[error("the UUID of the node is {node}, but the plan was made for {planned}")]
    OtherNode { node: String, planned: String },
    #[error(
        "a UUID does not identify one machine (the plan's is {planned}, the BMC's {bmc}): it is not known which machine the BMC belongs to"
    )]
    NoOnes { planned: String, bmc: String },
}
