//! The Xid numbers that matter on a cluster node, from NVIDIA's list.

use crate::Severity;

/// What an Xid means.
pub(super) struct Xid {
    pub(super) number: u32,
    pub(super) what: &'static str,
    pub(super) severity: Severity,
    /// What to do, in the imperative.
    pub(super) advice: &'static str,
}

const APPLICATION: &str =
    "look at the program that ran; only if several programs fail on this GPU alone, run diagnostics (dcgmi diag)";
const RESET: &str =
    "drain the node, reset the GPU or reboot, and run diagnostics (dcgmi diag); replace it if it comes back";
const REPLACE: &str = "drain the node, run the field diagnostics, and prepare to replace the GPU";
const LINK: &str =
    "drain the node, check NVLink (nvidia-smi nvlink -e) and its partners, reset the GPUs; hardware if it comes back";

macro_rules! xids {
    ($($number:literal $severity:ident $advice:ident $what:literal;)*) => {
        &[$(Xid { number: $number, what: $what, severity: Severity::$severity, advice: $advice },)*]
    };
}

/// Sorted by number.
pub(super) static XIDS: &[Xid] = xids! {
    13 Info APPLICATION "exception in a kernel of the application";
    31 Info APPLICATION "memory page fault, mostly of the application";
    32 High RESET "corrupted command stream, also from a bad PCIe link";
    38 High RESET "firmware error of the driver";
    43 Info APPLICATION "the GPU stopped processing, mostly for an error of the application";
    45 Info APPLICATION "clean-up after an earlier error, or a killed program";
    48 Critical RESET "double-bit ECC error";
    61 High RESET "internal micro-controller warning";
    62 High RESET "internal micro-controller halted";
    63 Medium RESET "a memory row was remapped or a page retired: active after a reset";
    64 Critical REPLACE "remapping a memory row or retiring a page failed";
    68 Info APPLICATION "exception of the video decoder";
    69 Info APPLICATION "graphics engine class error, mostly of the application";
    74 High LINK "NVLink error";
    79 Critical REPLACE "the GPU fell off the PCIe bus";
    92 Medium RESET "high rate of single-bit ECC errors";
    94 Medium RESET "contained ECC error: the program that used the memory was stopped";
    95 Critical RESET "uncontained ECC error";
    109 High RESET "context switch timed out";
    119 High RESET "the GPU's system processor (GSP) did not answer";
    120 High RESET "error of the GPU's system processor (GSP)";
    121 Medium RESET "corrected error of the link to the CPU (C2C)";
    122 High RESET "reading the GPU's SPI failed";
    123 High RESET "writing the GPU's SPI failed";
    140 Critical RESET "uncorrected ECC error";
    143 Critical RESET "the GPU failed to initialise";
    144 High LINK "NVLink error (SAW)";
    145 High LINK "NVLink error (RLW)";
    146 High LINK "NVLink error (TLW)";
    147 High LINK "NVLink error (TREX)";
    148 High LINK "NVLink error (NVLPW_CTRL)";
    149 High LINK "NVLink error (NETIR)";
    150 High LINK "NVLink error (MSE)";
    154 Medium RESET "the driver asks for a recovery action";
};

/// Xids that are not in the list.
static OTHER: Xid = Xid { number: 0, what: "see NVIDIA's list", severity: Severity::Medium, advice: RESET };

pub(super) fn meaning(number: u32) -> &'static Xid {
    XIDS.binary_search_by_key(&number, |x| x.number).ok().and_then(|i| XIDS.get(i)).unwrap_or(&OTHER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_so_that_it_can_be_searched() {
        assert!(XIDS.windows(2).all(|w| w[0].number < w[1].number));
        assert_eq!((meaning(79).severity, meaning(13).severity), (Severity::Critical, Severity::Info));
        assert_eq!(meaning(9999).what, OTHER.what);
    }
}
