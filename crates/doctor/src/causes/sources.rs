//! Sources that several areas name.

use linerate_rules::Source;

/// A source by title and place.
pub(crate) const fn nccl(title: &'static str, at: &'static str) -> Source {
    Source { title, at }
}

pub(crate) const ENV_RST: Source = Source {
    title: "NCCL user guide, environment variables",
    at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
};
pub(crate) const TROUBLESHOOTING: Source = Source {
    title: "NCCL user guide, troubleshooting",
    at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
};
