//! What a host's shell prints when it runs the collector's script.

use linerate_snapshot::Snapshot;
use linerate_snapshot::capture::posix;

/// The word of chance that the script was given.
const WORD: &str = "0123456789abcdef";

/// A snapshot of what was printed.
pub(crate) fn read(b: &[u8]) -> Option<Snapshot> {
    posix::read(b, WORD, true).ok().map(|found| found.snapshot)
}

/// A host with one function on PCI, whose directory is reached by its link; a record of each kind.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    vec![PRINTED.replace("WORD", WORD).into_bytes()]
}

const PRINTED: &str = "linerate-way WORD begin script 0

WORD m
0
1764000000
n1

WORD l
lrwxrwxrwx 1 0 0 0 Nov 23 21:19 /sys/bus/pci/devices/0000:19:00.0 -> ../../../devices/pci0000:19/0000:19:00.0
-r--r--r-- 1 0 0 4096 Nov 23 21:19 /sys/bus/pci/devices/0000:19:00.0/vendor
-r--r--r-- 1 0 0 4096 Nov 23 21:19 /sys/bus/pci/devices/0000:19:00.0/class
-rw-r--r-- 1 0 0 4096 Nov 23 21:19 /sys/bus/pci/devices/0000:19:00.0/numa_node
-r--r--r-- 1 0 0 0 Nov 23 21:19 /proc/cmdline
-r--r--r-- 1 0 0 0 Nov 23 21:19 /proc/version
-rw-r--r-- 1 0 0 52 Nov 23 21:19 /etc/default/grub

WORD x /sys/firmware/acpi

WORD f /sys/bus/pci/devices/0000:19:00.0/vendor
0x10de

WORD f /sys/bus/pci/devices/0000:19:00.0/class
0x030200

WORD f /sys/bus/pci/devices/0000:19:00.0/numa_node

WORD e /sys/bus/pci/devices/0000:19:00.0/numa_node
Permission denied
WORD f /proc/cmdline
root=/dev/vda1 iommu=pt

WORD k /etc/default/grub
52
GRUB_CMDLINE_LINUX=\"iommu=pt\"

WORD c 1 0
kvm

WORD s
x

WORD r 0

WORD v
NCCL_DEBUG=INFO

WORD z
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_is_read_whole() {
        let all = seeds();
        let found = all.first().and_then(|s| posix::read(s, WORD, true).ok()).unwrap();
        assert!(found.whole);
        let snapshot = found.snapshot;
        let text = |path: &'static str| snapshot.text(snapshot.root(), path).known().map(|t| (*t).to_owned());
        assert_eq!(text("sys/devices/pci0000:19/0000:19:00.0/vendor").as_deref(), Some("0x10de"));
        assert_eq!(text("etc/default/grub").as_deref(), Some("GRUB_CMDLINE_LINUX=\"iommu=pt\""));
        assert_eq!(snapshot.outputs.len(), 1);
    }
}
