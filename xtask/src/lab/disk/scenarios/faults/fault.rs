//! What breaks.

/// How the hand is ended at a boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// SIGKILL.
    Killed,
    /// The machine goes at once, by its own reset or by QEMU's end: what was not synced is gone.
    PowerCut,
    /// From here on, not a block of the disk is free.
    Full,
    /// From here on, the filesystem is read-only, as the kernel makes it when the disk fails.
    ReadOnly,
    /// The connection that started it is gone: nobody hears its answer.
    Cut,
}

impl Fault {
    /// What breaks, and what mends it, while the hand `$hand` stands still.
    pub(super) fn script(self) -> (&'static str, &'static str) {
        match self {
            Fault::Killed | Fault::Cut => ("", ""),
            Fault::PowerCut => ("echo b >/proc/sysrq-trigger; sleep 60", ""),
            // As root, and so the blocks that are reserved for root as well. What allocation cannot take at once is taken in pieces.
            Fault::Full => (
                "size=$(($(stat -f -c '%f * %S' /)))
                while [ $size -gt 4096 ]; do
                    fallocate -o $(stat -c %s /var/full 2>/dev/null || echo 0) -l $size /var/full 2>/dev/null || size=$((size / 2))
                done
                ! echo x >/var/full.too 2>/dev/null || [ ! -s /var/full.too ]",
                "rm -f /var/full /var/full.too",
            ),
            Fault::ReadOnly => (
                "sync; echo u >/proc/sysrq-trigger; n=0
                until grep -q ' / ext4 ro' /proc/mounts; do sleep 1; n=$((n + 1)); [ $n -lt 60 ]; done",
                "mount -o remount,rw /",
            ),
        }
    }
}

/// What comes after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Resume,
    Undo,
}
