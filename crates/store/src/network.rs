//! Whether a file lies on a file system that several hosts share.

use std::path::Path;

/// `f_type` of file systems of networks and clusters (linux/magic.h; Lustre's, GPFS's and BeeGFS's from their own sources).
const SHARED: [u64; 11] = [
    0x6969,      // NFS
    0x0bd0_0bd0, // Lustre
    0x4750_4653, // GPFS
    0x1983_0326, // BeeGFS
    0x00c3_6400, // Ceph
    0xff53_4d42, // CIFS
    0xfe53_4d42, // SMB2
    0x5346_414f, // AFS
    0x6b41_4653, // AFS of the kernel
    0x0102_1997, // 9p
    0x6573_5546, // FUSE: sshfs, s3 and the like
];

/// Of the directory, because the file may not exist yet. What cannot be asked counts as local.
pub(crate) fn is_network(path: &Path) -> bool {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The sign of `f_type` differs between platforms; magic numbers have 32 bits.
    rustix::fs::statfs(parent).is_ok_and(|s| is_shared(s.f_type as u64 & 0xffff_ffff))
}

fn is_shared(magic: u64) -> bool {
    SHARED.contains(&magic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_of_clusters_are_shared_and_disks_are_not() {
        assert!(is_shared(0x6969) && is_shared(0x0bd0_0bd0));
        // ext4, xfs, tmpfs, overlayfs.
        assert!(![0xef53, 0x5846_5342, 0x0102_1994, 0x794c_7630].into_iter().any(is_shared));
        assert!(!is_network(Path::new("/proc/self")));
    }
}
