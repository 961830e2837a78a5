//! Pods as `kubectl describe` shows them.

use super::super::{each_setting, mark};
use super::{are_words, is_device, is_kept, key_value, lead};
use crate::redact::secrets::shape::atom;
use crate::redact::secrets::words;

/// Keys whose values are kept, where they are words.
const VALUES: [&[u8]; 5] = [b"Name", b"Medium", b"SizeLimit", b"Path", b"Type"];

/// Keys below which anybody's words stand, or behind which.
const HEADS: [&[u8]; 14] = [
    b"Containers",
    b"Init Containers",
    b"Limits",
    b"Requests",
    b"Mounts",
    b"Volumes",
    b"Pod Template",
    b"Command",
    b"Args",
    b"Environment",
    b"Conditions",
    b"Labels",
    b"Annotations",
    b"Events",
];

pub(super) fn pods(data: &mut Vec<u8>) {
    each_setting(data, |line, out| {
        let (head, body) = line.split_at(lead(line));
        out.extend_from_slice(head);
        one(body.trim_ascii_end(), out);
    });
}

fn one(body: &[u8], out: &mut Vec<u8>) {
    if is_mount(body) {
        return out.extend_from_slice(body);
    }
    let Some((key, value)) = key_value(body) else { return };
    let said = value.get(1..).unwrap_or_default().trim_ascii();
    let is_part = |part: &[u8]| words::is_name(part) && atom(part);
    if !(HEADS.contains(&key) || key.split(|b| *b == b'/').all(is_part)) {
        return;
    }
    out.extend_from_slice(key);
    out.push(b':');
    if said.is_empty() {
        return;
    }
    // Where values began stays.
    let from = value.len() - value.get(1..).unwrap_or_default().trim_ascii_start().len();
    out.extend_from_slice(value.get(1..from).unwrap_or_default());
    match key {
        b"Annotations" => one(said, out),
        // `EmptyDir (a temporary directory that shares a pod's lifetime)`.
        b"Type" => {
            let end = said.iter().position(|b| !b.is_ascii_alphabetic()).unwrap_or(said.len());
            out.extend_from_slice(said.get(..end).unwrap_or_default());
        }
        b"Path" if !is_device(said) => mark(out),
        b"SizeLimit" if said == b"<unset>" => out.extend_from_slice(said),
        _ if (VALUES.contains(&key) || is_kept(key, said)) && are_words(said) => out.extend_from_slice(said),
        _ => mark(out),
    }
}

/// `/dev/shm from dshm (rw)`.
fn is_mount(body: &[u8]) -> bool {
    let mut parts = body.split(|b| *b == b' ');
    let (path, from, volume, how) = (parts.next(), parts.next(), parts.next(), parts.next());
    path.is_some_and(is_device)
        && from == Some(b"from")
        && volume.is_some_and(|v| words::is_name(v) && atom(v))
        && how.is_none_or(|h| h.starts_with(b"(r"))
        && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_a_pod_asks_for_stays_and_the_rest_goes() {
        let text = "Name:             nccl-test\nNode:             hunter2/10.0.0.7\nAnnotations:      k8s.v1.cni.cncf.io/networks: rail-0\n                  x.example/y: hunter2\nContainers:\n  worker:\n    Image:         registry.example.org/hunter2:1\n    Command:\n      login\n      --password=hunter2\n    Limits:\n      nvidia.com/gpu:  8\n    Environment:\n      TOKEN:  hunter2\n    Mounts:\n      /dev/shm from dshm (rw)\n      /data/hunter2 from data (rw)\nVolumes:\n  dshm:\n    Type:       EmptyDir (a temporary directory that shares a pod's lifetime)\n    Medium:     Memory\n    SizeLimit:  32Gi\n  data:\n    Type:          HostPath (bare host directory volume)\n    Path:          /data/hunter2\n";
        let mut data = text.as_bytes().to_vec();
        super::super::pod_spec(&mut data);
        let got = String::from_utf8_lossy(&data).into_owned();
        assert!(!["hunter2", "registry", "login"].iter().any(|w| got.contains(w)), "{got}");
        for kept in [
            "Name:             nccl-test",
            "networks: rail-0",
            "  worker:",
            "      nvidia.com/gpu:  8",
            "      /dev/shm from dshm (rw)",
            "    Type:       EmptyDir\n",
            "    SizeLimit:  32Gi",
            "    Type:          HostPath\n",
        ] {
            assert!(got.contains(kept), "{kept}\n{got}");
        }
        assert_eq!(got.lines().count(), text.lines().count());
        let again = data.clone();
        super::super::pod_spec(&mut data);
        assert_eq!(data, again);
    }
}
