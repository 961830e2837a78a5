//! Why it is not sure enough that a machine, or its BMC, is the plan's, to change something beside it. What was not established when the plan
//! was made is not taken from the node now.

use super::Unreached;

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unsure {
    #[error("the plan does not know its machine's id: make it of the node itself, as root")]
    NoMachine,
    #[error(
        "the SSH host key is {now}, and it was {then} when the plan was made: another machine answers, or its key was made anew. Look which, then \
         make a new plan"
    )]
    OtherKey { now: String, then: String },
    #[error("the SSH host key cannot be compared with the plan's: {0}")]
    NoKey(Unreached),
    #[error(
        "the plan does not know the UUID of its machine (SMBIOS), by which its BMC is known: make a new plan of the node itself, as root there"
    )]
    NoUuid,
    #[error("the BMC shows no UUID: whose it is is not known")]
    NoUuidOfBmc,
    #[error("the node does not say its UUID (SMBIOS): it takes root there, and a firmware that has one")]
    NoUuidOfNode,
    #[error("the BMC is another machine's: it says UUID {bmc}, and the plan was made for {planned}")]
    OtherBmc { bmc: String, planned: String },
    #[error("the node says UUID {node}, and the plan was made for {planned}")]
    OtherNode { node: String, planned: String },
    #[error(
        "a UUID is no UUID of one machine (the plan's is {planned}, the BMC's {bmc}): whose the BMC is is not known"
    )]
    NoOnes { planned: String, bmc: String },
}
