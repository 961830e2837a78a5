//! What NCCL and plugins say of plugins: found, not found, found and not usable.

use super::message::Message;
use crate::dlerror::{LoadError, LoadFault};

/// What a plugin's line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plugin<'a> {
    /// It is loaded: kind (`NET`, `TUNER`, …) and name.
    Loaded(&'a str, &'a str),
    /// None was found, or it lacks a symbol of some version: no error where none is needed.
    Missing(&'a str),
    /// It was found and cannot be loaded or started.
    Failed(&'a str),
    /// Any other line of the OFI plugin (aws-ofi-nccl): it is there, and runs.
    Ofi(&'a str),
}

/// Reads what follows `NET/Plugin:`. `text` is the whole message.
pub(super) fn read<'a>(text: &'a str, rest: &'a str) -> Message<'a> {
    if let Some(name) = rest.strip_prefix("Loaded net plugin ") {
        return Message::Plugin(Plugin::Loaded("NET", name.split(" (v").next().unwrap_or(name).trim()));
    }
    // A library that the plugin itself needs, a version or a symbol that it lacks, is another matter than no plugin.
    if let Some(e) = LoadError::read(rest) {
        let itself = e.fault == LoadFault::NotFound
            && ["libnccl-net", "libnccl_net", "librccl-net"].iter().any(|own| e.name().starts_with(own));
        return Message::Plugin(if itself { Plugin::Missing(text) } else { Plugin::Failed(text) });
    }
    // ENOENT: it is the plugin that is not there, and the rest of the line is cut.
    let not_there = rest.starts_with("Plugin load") && rest.contains(" returned 2 ");
    if not_there
        || rest.contains("No plugin found")
        || rest.starts_with("Could not find")
        || rest.starts_with("Failed to find")
    {
        return Message::Plugin(Plugin::Missing(text));
    }
    if rest.contains("cannot open shared object file")
        || rest.starts_with("Plugin load") && rest.contains(" returned ")
        || rest.contains("load returned")
        || rest.contains("failed")
        || rest.starts_with("Error loading shared library")
        || rest.starts_with("Error relocating")
    {
        return Message::Plugin(Plugin::Failed(text));
    }
    Message::Other
}

/// A line in which the OFI plugin (aws-ofi-nccl) says that it cannot start.
pub(super) fn ofi(text: &str) -> Option<Plugin<'_>> {
    let rest = text.strip_prefix("NET/OFI")?;
    let has = |w: &str| rest.contains(w);
    let failed = START.iter().chain(LATER).copied().any(has)
        || has("equires") && has("ibfabric")
        || has("nitializ") && has(" failed") && !has("Mutex") && !has("after succeeding");
    failed.then_some(Plugin::Failed(text))
}

/// What keeps the OFI plugin from starting, in its releases' words (aws-ofi-nccl `src/nccl_ofi_net.cpp`, `nccl_ofi_rdma.cpp`,
/// `nccl_ofi_sendrecv.cpp`, `nccl_ofi_ofiutils.cpp`, `nccl_ofi_platform_aws`). What fails later (`Request … completed with error`) is not one of these.
const START: &[&str] = &[
    "GDR disabled on GDR-supported",
    "GDR support reported to NCCL but then couldn't be configured",
    "No eligible provider",
    "o providers were found",
    "ailed to find any provider",
    "ould not find any",
    "any optimal provider",
    "nable to find libfabric",
    "fi_getinfo() call failed",
    "fi_getinfo failed",
    "Insufficient Libfabric devices found",
    "Failed to initialize ",
    "Caught exception in plugin init",
    "Caught exception in rdma_init",
    "Caught exception in sendrecv_init",
    "Couldn't open a fabric provider",
    "Couldn't open a fabric access domain",
    "Couldn't create fabric",
    "Couldn't create domain",
    "Failed to create NCCL OFI topology",
    "Failed to create device rail array",
    "No viable endpoint found for TCP provider",
    "Unable to find a protocol that worked",
];

/// What it fails at after it found its network: an endpoint that cannot be made, on first use, for each connection
/// (`nccl_ofi_ofiutils.cpp: nccl_ofi_ofiutils_init_connection`); or without any network (`nccl_ofi_cuda.cpp`).
const LATER: &[&str] = &[
    "Creating new endpoint for ",
    "Couldn't open AV",
    "Couldn't open CQ",
    "Couldn't create completion queue",
    "Couldn't allocate endpoint",
    "Couldn't bind EP-",
    "Couldn't enable endpoint",
    "Disabling shared memory failed",
    "Failed to find CUDA Runtime library",
    "Failed to load CUDA runtime symbol",
    "CUDA initialization failed",
    "Unable to load libcudart",
];

impl Plugin<'_> {
    /// Whether a line of a failed OFI plugin is of a later moment than its search for a network: it says nothing about EFA.
    #[must_use]
    pub fn failed_later(line: &str) -> bool {
        LATER.iter().any(|w| line.contains(w))
    }
}
