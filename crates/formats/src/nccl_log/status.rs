//! Status of RDMA work completions (`enum ibv_wc_status`), of rdma-core's `verbs.h`.

/// A status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Success.
    Success,
    /// The local buffer is too small.
    LocalLength,
    /// The local queue pair is inconsistent.
    LocalQueuePair,
    /// The local EE context is inconsistent.
    LocalEec,
    /// The NIC may not use its own buffer.
    LocalProtection,
    /// The queue pair was in error already.
    Flushed,
    /// A memory window could not be bound.
    MemoryWindow,
    /// The response was not expected.
    BadResponse,
    /// The local buffer may not be written.
    LocalAccess,
    /// The peer found the request invalid.
    RemoteInvalid,
    /// The peer's NIC refused the address or the key.
    RemoteAccess,
    /// The peer's NIC could not complete the operation.
    RemoteOperation,
    /// Transport retries exceeded: the peer's NIC did not answer.
    RetryExceeded,
    /// Receiver-not-ready retries exceeded: the peer posted no receive.
    RnrRetryExceeded,
    /// Local RDD violation.
    LocalRdd,
    /// Remote invalid RD request.
    RemoteInvalidRd,
    /// The remote side aborted.
    RemoteAborted,
    /// Invalid EE context number.
    InvalidEec,
    /// Invalid EE context state.
    InvalidEecState,
    /// A fatal error of the NIC.
    Fatal,
    /// The response timed out.
    ResponseTimeout,
    /// Another error of the transport.
    General,
    /// A number that verbs.h does not define.
    Other(u32),
}

/// The statuses by their numbers, with their names in verbs.h behind `IBV_WC_`.
const ALL: &[(Status, &str)] = &[
    (Status::Success, "SUCCESS"),
    (Status::LocalLength, "LOC_LEN_ERR"),
    (Status::LocalQueuePair, "LOC_QP_OP_ERR"),
    (Status::LocalEec, "LOC_EEC_OP_ERR"),
    (Status::LocalProtection, "LOC_PROT_ERR"),
    (Status::Flushed, "WR_FLUSH_ERR"),
    (Status::MemoryWindow, "MW_BIND_ERR"),
    (Status::BadResponse, "BAD_RESP_ERR"),
    (Status::LocalAccess, "LOC_ACCESS_ERR"),
    (Status::RemoteInvalid, "REM_INV_REQ_ERR"),
    (Status::RemoteAccess, "REM_ACCESS_ERR"),
    (Status::RemoteOperation, "REM_OP_ERR"),
    (Status::RetryExceeded, "RETRY_EXC_ERR"),
    (Status::RnrRetryExceeded, "RNR_RETRY_EXC_ERR"),
    (Status::LocalRdd, "LOC_RDD_VIOL_ERR"),
    (Status::RemoteInvalidRd, "REM_INV_RD_REQ_ERR"),
    (Status::RemoteAborted, "REM_ABORT_ERR"),
    (Status::InvalidEec, "INV_EECN_ERR"),
    (Status::InvalidEecState, "INV_EEC_STATE_ERR"),
    (Status::Fatal, "FATAL_ERR"),
    (Status::ResponseTimeout, "RESP_TIMEOUT_ERR"),
    (Status::General, "GENERAL_ERR"),
];

impl Status {
    /// The status of a number.
    #[must_use]
    pub fn of(number: u32) -> Self {
        let known = usize::try_from(number).ok().and_then(|n| ALL.get(n));
        known.map_or(Status::Other(number), |(status, _)| *status)
    }

    /// Its number.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Status::Other(number) => number,
            known => (0..).zip(ALL).find(|(_, (s, _))| *s == known).map_or(u32::MAX, |(n, _)| n),
        }
    }

    /// Its name in verbs.h behind `IBV_WC_`: `RETRY_EXC_ERR`.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        ALL.iter().find(|(s, _)| *s == self).map(|(_, name)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_verbs() {
        for (number, status) in
            [(0, Status::Success), (5, Status::Flushed), (12, Status::RetryExceeded), (21, Status::General)]
        {
            assert_eq!((Status::of(number), status.number()), (status, number));
        }
        for number in 0..64 {
            assert_eq!(Status::of(number).number(), number);
            assert_eq!(Status::of(number).name().is_some(), number < 22);
        }
        assert_eq!(Status::of(13).name(), Some("RNR_RETRY_EXC_ERR"));
    }
}
