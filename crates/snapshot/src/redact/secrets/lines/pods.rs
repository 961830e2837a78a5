//! Pods of Kubernetes in YAML: keys stay, and of values those that readers need. Variables, commands and images go.

use super::super::shape::atom;
use super::super::words;
use super::{each_setting, mark, quiet};

/// Keys whose values are kept, where they are words.
const VALUES: [&[u8]; 14] = [
    b"apiVersion",
    b"kind",
    b"name",
    b"medium",
    b"sizeLimit",
    b"mountPath",
    b"privileged",
    b"hostNetwork",
    b"hostIPC",
    b"hostPID",
    b"limits",
    b"requests",
    b"add",
    b"emptyDir",
];

pub(in super::super) fn pod_spec(data: &mut Vec<u8>) {
    each_setting(data, |line, out| {
        let lead = line.iter().take_while(|b| b.is_ascii_whitespace() || **b == b'-').count();
        let (head, body) = line.split_at(lead);
        out.extend_from_slice(head);
        if body.is_empty() {
            return;
        }
        if body.starts_with(b"{") {
            return if is_flow(body) { out.extend_from_slice(body) } else { mark(out) };
        }
        let end = body.iter().position(|b| *b == b':').unwrap_or(body.len());
        let (key, value) = body.split_at(end);
        let bare = key.trim_ascii();
        let bare = bare.strip_prefix(b"\"").and_then(|k| k.strip_suffix(b"\"")).unwrap_or(bare);
        // A word of a list: a capability.
        if value.is_empty() {
            return if is_capability(bare) { out.extend_from_slice(body) } else { mark(out) };
        }
        if !bare.split(|b| *b == b'/').all(|part| words::is_name(part) && atom(part)) {
            return mark(out);
        }
        out.extend_from_slice(key);
        let said = value.get(1..).unwrap_or_default();
        let is_block = matches!(said.trim_ascii(), b"" | b"|" | b">" | b"|-" | b">-");
        let keeps = match bare {
            b"path" => is_device(said),
            b"hostPath" => is_flow(said),
            _ => is_kept(bare) && are_words(said),
        };
        if is_block || keeps {
            return out.extend_from_slice(value);
        }
        out.extend_from_slice(b": ");
        mark(out);
    });
}

/// Whether words behind a key are kept: those that readers need, and names of resources.
fn is_kept(key: &[u8]) -> bool {
    key.contains(&b'/') || matches!(key, b"cpu" | b"memory") || VALUES.contains(&key)
}

/// A path of a device.
fn is_device(path: &[u8]) -> bool {
    let path = path.trim_ascii();
    path.strip_prefix(b"\"").unwrap_or(path).starts_with(b"/dev/") && are_words(path)
}

/// Keys with values in braces, of which each may stay: `{ mountPath: /dev/shm, name: shm }`. Also objects of networks in JSON.
fn is_flow(text: &[u8]) -> bool {
    let pairs = text.split(|b| matches!(b, b'{' | b'}' | b'[' | b']' | b',')).map(<[u8]>::trim_ascii);
    let keeps = |pair: &[u8]| {
        let end = pair.iter().position(|b| *b == b':')?;
        let (key, value) = pair.split_at(end);
        let key = key.trim_ascii();
        let key = key.strip_prefix(b"\"").and_then(|k| k.strip_suffix(b"\"")).unwrap_or(key);
        let value = value.get(1..).unwrap_or_default();
        let is_known = match key {
            b"path" => is_device(value),
            b"network" | b"interfaceName" | b"namespace" | b"hostPath" => true,
            _ => is_kept(key),
        };
        Some(is_known)
    };
    are_words(text) && pairs.filter(|p| !p.is_empty()).all(|p| keeps(p) == Some(true))
}

/// `IPC_LOCK`, with quotes or without.
fn is_capability(word: &[u8]) -> bool {
    let word = word.trim_ascii();
    word.len() <= 32 && word.iter().all(|b| b.is_ascii_uppercase() || matches!(b, b'_' | b'"' | b'\''))
}

/// Words, numbers, and the signs of lists and mappings between them.
fn are_words(value: &[u8]) -> bool {
    let is_sign =
        |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'[' | b']' | b'{' | b'}' | b',' | b':' | b'/');
    value.len() <= 400 && value.split(is_sign).all(|w| w.is_empty() || w.len() <= 64 && atom(w)) && quiet(value)
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_a_pod_asks_for_stays_and_the_rest_goes() {
        let text = "kind: Pod\nmetadata:\n  name: nccl\n  annotations:\n    k8s.v1.cni.cncf.io/networks: rail-0,rail-1\nspec:\n  containers:\n  - name: worker\n    image: registry.example.org/x:1\n    env:\n    - name: TOKEN\n      value: hunter2\n    args: [\"--password=hunter2\"]\n    command:\n    - sh\n    - -c\n    - |\n      login hunter2\n    securityContext:\n      privileged: true\n      capabilities:\n        add: [\"IPC_LOCK\"]\n    resources:\n      limits: {nvidia.com/gpu: 8, \"openshift.io/rail0\": \"1\"}\n      requests:\n        nvidia.com/gpu: \"8\"\n    volumeMounts:\n    - mountPath: /dev/shm\n      name: dshm\n  volumes:\n  - name: dshm\n    emptyDir: {medium: Memory, sizeLimit: 32Gi}\n  - { name: dev, hostPath: { path: /dev/infiniband }}\n  - { name: hunter, value: hunter2 }\n  - name: data\n    hostPath:\n      path: /home/hunter2\n";
        let mut data = text.as_bytes().to_vec();
        super::pod_spec(&mut data);
        let got = String::from_utf8_lossy(&data).into_owned();
        assert!(!["hunter2", "registry", "login"].iter().any(|w| got.contains(w)), "{got}");
        for kept in [
            "name: nccl",
            "networks: rail-0,rail-1",
            "privileged: true",
            "add: [\"IPC_LOCK\"]",
            "limits: {nvidia.com/gpu: 8, \"openshift.io/rail0\": \"1\"}",
            "nvidia.com/gpu: \"8\"",
            "mountPath: /dev/shm",
            "- { name: dev, hostPath: { path: /dev/infiniband }}",
            "emptyDir: {medium: Memory, sizeLimit: 32Gi}",
        ] {
            assert!(got.contains(kept), "{kept}\n{got}");
        }
        assert_eq!(got.lines().count(), text.lines().count());
        let again = got.clone();
        super::pod_spec(&mut data);
        assert_eq!(String::from_utf8_lossy(&data), again);
    }
}
