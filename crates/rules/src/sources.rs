//! Sources that are a file of a repository: the path is written once, and the address follows from it.

/// A file of Linux's source, and what of it.
macro_rules! linux {
    ($path:literal, $what:literal $(,)?) => {
        $crate::Source {
            title: concat!("Linux ", $path, ": ", $what),
            at: concat!("https://github.com/torvalds/linux/blob/master/", $path),
        }
    };
}

/// A file of NVIDIA's open kernel modules, and what of it.
macro_rules! open_modules {
    ($path:literal, $what:literal $(,)?) => {
        $crate::Source {
            title: concat!("open-gpu-kernel-modules, ", $path, ": ", $what),
            at: concat!("https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/", $path),
        }
    };
}

/// A file of NCCL's source, and what of it.
macro_rules! nccl {
    ($path:literal, $what:literal $(,)?) => {
        $crate::Source {
            title: concat!("NCCL ", $path, ": ", $what),
            at: concat!("https://github.com/NVIDIA/nccl/blob/master/", $path),
        }
    };
}

pub(crate) use {linux, nccl, open_modules};
