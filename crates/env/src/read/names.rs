//! Which variables may be kept.

use crate::near::near;
use crate::registry::lookup;
use linerate_formats::near::distance;

const PREFIXES: &[&str] = &["NCCL_", "UCX_", "FI_", "OFI_", "TORCH_NCCL_", "CUDA_"];
/// Words that are in no name that linerate reads, but for those that are known.
const SECRET: &[&str] = &["KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH", "SIGNATURE"];
/// Beginnings of NCCL's names without NCCL_ that nothing else has.
const BARE: &[&str] = &["IB_", "P2P_", "SHM_", "NET_GDR_", "SOCKET_", "CROSS_", "DEBUG_SUBSYS", "NVLS_"];

/// Whether linerate reads a variable, or it is a misspelt one: all others are never kept. NVIDIA's and Open MPI's are kept where they are known.
#[must_use]
pub fn relevant(name: &str) -> bool {
    let name = plain(name);
    if name.is_empty() || name.len() > 100 || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return false;
    }
    if lookup(name).is_some() {
        return true;
    }
    let upper = name.to_ascii_uppercase();
    if SECRET.iter().any(|w| upper.contains(w)) {
        return false;
    }
    if PREFIXES.iter().any(|p| upper.starts_with(p)) {
        return true;
    }
    let with = format!("NCCL_{upper}");
    if BARE.iter().any(|b| upper.starts_with(b)) && lookup(&with).is_some() {
        return true;
    }
    // NCLL_DEBUG, NCC_DEBUG, NCCLDEBUG: the rest must be a name that is known, or nearly.
    match upper.split_once('_') {
        Some((first, rest)) if rest.len() > 2 => {
            let meant = format!("NCCL_{rest}");
            (3..=5).contains(&first.len())
                && first.starts_with('N')
                && distance(first, "NCCL", 1).is_some()
                && (lookup(&meant).is_some() || near(&meant).is_some())
        }
        _ => false,
    }
}

/// In small letters, or without NCCL_: a slip in an environment, a variable like any other in a script.
pub(super) fn is_bare(name: &str) -> bool {
    is_small(name) || BARE.iter().any(|b| name.starts_with(b))
}

/// In small letters, which no variable has but those that are known.
pub(super) fn is_small(name: &str) -> bool {
    name.bytes().any(|b| b.is_ascii_lowercase()) && lookup(name).is_none()
}

/// A name as nccl.conf may have it, with blanks and `export`: without them.
pub(crate) fn plain(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix("export ").unwrap_or(name).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_never_ours() {
        for name in [
            "AWS_SECRET_ACCESS_KEY",
            "WANDB_API_KEY",
            "NVIDIA_API_KEY",
            "CUDA_LICENSE_TOKEN",
            "PATH",
            "HOME",
            "NGC_KEY",
            "UCX_PASSWORD",
            "PASSWORD",
            "NAME_X",
            "NCC",
            "NODE_NAME",
            "NET",
            "DEBUG",
            "",
            "NCCL_\u{1b}[2J",
            "LD_PRELOAD",
            "NVIDIA_PRODUCT_NAME",
        ] {
            assert!(!relevant(name), "{name}");
        }
        for name in [
            "NCCL_DEBUG",
            "NCCL_IB_PKEY",
            "nccl_debug",
            "NCLL_DEBUG",
            "NCC_DEBUG",
            "IB_DISABLE",
            "P2P_LEVEL",
            "UCX_TLS",
            "FI_PROVIDER",
            "OFI_NCCL_PROTOCOL",
            "CUDA_VISIBLE_DEVICES",
            "NVIDIA_IMEX_CHANNELS",
            "OMPI_MCA_pml",
            "NCCL_DEBUG ",
            "export NCCL_DEBUG",
            "NCCL_FOO",
        ] {
            assert!(relevant(name), "{name}");
        }
    }
}
