//! Whether an archive is what linerate writes itself: then it need not be packed once more.

use super::Reader;
use super::pack;
use crate::Snapshot;
use crate::archive::write;
use std::io::{self, Read};

impl Reader {
    /// Whether an archive says what the snapshot does and nothing else: its tar and its pack are, unpacked, the very bytes that
    /// [`Snapshot::write_tar_zst`] packs, and nothing lies before, between or behind them. How well they are packed does not count.
    ///
    /// False where that cannot be told, as of archives beyond the limits of [`Reader`].
    #[must_use]
    pub fn is_as_written(&mut self, archive: &[u8], snapshot: &Snapshot) -> bool {
        let Ok(tar_len) = zstd::zstd_safe::find_frame_compressed_size(archive) else { return false };
        let (Some(tar), Some(pack)) = (archive.get(..tar_len), pack::find(archive, tar_len)) else { return false };
        let same = snapshot.written(|entries, time| {
            let tar = self.size_at_once(tar).is_some() && write::is_tar_of(frame(tar)?, entries, time);
            Ok(tar && self.unpack_at_once(pack) && pack::is_of(self.unpacked(), entries))
        });
        same.unwrap_or(false)
    }
}

/// What is in one frame, piece by piece.
fn frame(bytes: &[u8]) -> io::Result<impl Read> {
    Ok(zstd::stream::read::Decoder::with_buffer(bytes)?.single_frame())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn snapshot() -> Snapshot {
        let mut s = Snapshot::new("n1");
        s.add_file("sys/class/net/eth0/mtu", b"9000\n").unwrap();
        s.add_file("proc/version", b"Linux version 6.1.0\n").unwrap();
        s.add_link("sys/class/net/eth1", b"../../devices/virtual/net/eth1").unwrap();
        s.add_file(&format!("sys/devices/{}/vendor", "a-directory/".repeat(20)), b"0x15b3\n").unwrap();
        s.manifest.linerate = "0.1.0".to_owned();
        s.manifest.time = 1_764_000_000;
        s
    }

    fn archive(s: &Snapshot, quickly: bool) -> Vec<u8> {
        let mut out = Vec::new();
        if quickly { s.write_tar_zst_quickly(&mut out) } else { s.write_tar_zst(&mut out) }.unwrap();
        out
    }

    #[test]
    fn what_linerate_wrote_is_known_at_each_level() {
        for quickly in [false, true] {
            let bytes = archive(&snapshot(), quickly);
            let mut reader = Reader::new();
            let read = reader.read_bytes(&bytes, "n1").unwrap();
            assert!(reader.is_as_written(&bytes, &read), "quickly: {quickly}");
        }
    }

    #[test]
    fn another_snapshot_or_anything_beside_it_is_not() {
        let bytes = archive(&snapshot(), false);
        let mut reader = Reader::new();
        let mut other = snapshot();
        other.add_file("proc/uptime", b"1 1\n").unwrap();
        let changed = reader.read_bytes(&archive(&other, false), "n1").unwrap();
        assert!(!reader.is_as_written(&bytes, &changed));
        let read = reader.read_bytes(&bytes, "n1").unwrap();
        // A frame that every reader passes over, before and behind.
        let skipped = [&0x184d_2a50_u32.to_le_bytes()[..], &3_u32.to_le_bytes(), b"any"].concat();
        for odd in [[&bytes[..], &skipped].concat(), [&skipped[..], &bytes].concat(), bytes[..bytes.len() - 1].to_vec()]
        {
            assert!(!reader.is_as_written(&odd, &read));
        }
        // The tar alone, and a tar that says something else than the pack.
        let tar_len = zstd::zstd_safe::find_frame_compressed_size(&bytes).unwrap();
        assert!(!reader.is_as_written(&bytes[..tar_len], &read));
        let theirs = archive(&other, false);
        let their_len = zstd::zstd_safe::find_frame_compressed_size(&theirs).unwrap();
        assert!(!reader.is_as_written(&[&theirs[..their_len], &bytes[tar_len..]].concat(), &read));
    }

    #[test]
    fn what_holds_a_secret_is_packed_again() {
        let mut s = snapshot();
        s.add_file("etc/motd", b"password=hunter2hunter2\n").unwrap();
        let bytes = archive(&s, false);
        let mut reader = Reader::new();
        let read = reader.read_bytes(&bytes, "n1").unwrap();
        assert!(!reader.is_as_written(&bytes, &read));
        let again = archive(&read, true);
        let read = reader.read_bytes(&again, "n1").unwrap();
        assert!(reader.is_as_written(&again, &read));
    }

    proptest! {
        #[test]
        fn no_changed_byte_is_taken_for_what_was_written(at in any::<prop::sample::Index>(), to in any::<u8>()) {
            let bytes = archive(&snapshot(), false);
            let mut reader = Reader::new();
            let read = reader.read_bytes(&bytes, "n1").unwrap();
            let mut odd = bytes.clone();
            let at = at.index(odd.len());
            prop_assume!(odd[at] != to);
            odd[at] = to;
            // What unpacks to the same bytes is the same archive.
            if reader.is_as_written(&odd, &read) {
                prop_assert_eq!(zstd::stream::decode_all(&odd[..]).unwrap(), zstd::stream::decode_all(&bytes[..]).unwrap());
            }
        }
    }
}
