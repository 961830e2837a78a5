//! Status of RDMA work completions (`enum ibv_wc_status`), of rdma-core's `verbs.h`.

/// Name and meaning of a completion's status.
#[must_use]
pub fn completion(status: u32) -> Option<(&'static str, &'static str)> {
    Some(match status {
        0 => ("IBV_WC_SUCCESS", "success"),
        1 => ("IBV_WC_LOC_LEN_ERR", "local length error"),
        2 => ("IBV_WC_LOC_QP_OP_ERR", "local queue pair operation error"),
        3 => ("IBV_WC_LOC_EEC_OP_ERR", "local EE context operation error"),
        4 => ("IBV_WC_LOC_PROT_ERR", "local protection error: the NIC may not use its own buffer"),
        5 => ("IBV_WC_WR_FLUSH_ERR", "flushed: the queue pair was in error already"),
        6 => ("IBV_WC_MW_BIND_ERR", "memory window bind error"),
        7 => ("IBV_WC_BAD_RESP_ERR", "bad response"),
        8 => ("IBV_WC_LOC_ACCESS_ERR", "local access error"),
        9 => ("IBV_WC_REM_INV_REQ_ERR", "remote invalid request"),
        10 => ("IBV_WC_REM_ACCESS_ERR", "remote access error: the peer's NIC refused the address or key"),
        11 => ("IBV_WC_REM_OP_ERR", "remote operation error: the peer's NIC could not complete the operation"),
        12 => ("IBV_WC_RETRY_EXC_ERR", "transport retries exceeded: the peer's NIC did not answer"),
        13 => ("IBV_WC_RNR_RETRY_EXC_ERR", "receiver-not-ready retries exceeded: the peer posted no receive"),
        14 => ("IBV_WC_LOC_RDD_VIOL_ERR", "local RDD violation"),
        15 => ("IBV_WC_REM_INV_RD_REQ_ERR", "remote invalid RD request"),
        16 => ("IBV_WC_REM_ABORT_ERR", "remote aborted"),
        17 => ("IBV_WC_INV_EECN_ERR", "invalid EE context number"),
        18 => ("IBV_WC_INV_EEC_STATE_ERR", "invalid EE context state"),
        19 => ("IBV_WC_FATAL_ERR", "fatal error of the NIC"),
        20 => ("IBV_WC_RESP_TIMEOUT_ERR", "response timeout"),
        21 => ("IBV_WC_GENERAL_ERR", "general error"),
        _ => return None,
    })
}
