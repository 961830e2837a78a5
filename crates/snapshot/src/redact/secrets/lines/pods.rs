//! Pods of Kubernetes in YAML, in JSON and described: keys stay, and of values those that readers need. Variables, commands and images go.

mod described;
mod json;

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

/// Annotations that name networks.
const NETWORKS: [&[u8]; 2] = [b"k8s.v1.cni.cncf.io/networks", b"networking.gke.io/interfaces"];

/// What is left is YAML where the text was: of a line that goes on with a value of the line above, nothing stays.
pub(in super::super) fn pod_spec(data: &mut Vec<u8>) {
    // Above a document there may be the command line that printed it.
    let mut start = 0;
    let opens = data.split_inclusive(|b| *b == b'\n').take(3).find_map(|line| {
        let at = start;
        start += line.len();
        line.trim_ascii_start().starts_with(b"{").then_some(at)
    });
    if let Some(at) = opens {
        let mut document = data.split_off(at);
        data.retain(|b| *b == b'\n');
        json::pods(&mut document);
        return data.extend_from_slice(&document);
    }
    if linerate_formats::pod_spec::is_described(&String::from_utf8_lossy(data)) {
        return described::pods(data);
    }
    each_setting(data, |line, out| {
        let (head, body) = line.split_at(lead(line));
        out.extend_from_slice(head);
        if body.is_empty() {
            return;
        }
        let is_item = head.contains(&b'-');
        let instead = |out: &mut Vec<u8>| {
            if is_item {
                mark(out)
            }
        };
        if body.starts_with(b"{") {
            return if is_flow(body) { out.extend_from_slice(body) } else { instead(out) };
        }
        let Some((key, value)) = key_value(body) else {
            let stays = are_brackets(body) || is_item && (is_capability(body) || is_block(body) || is_anchor(body));
            return if stays { out.extend_from_slice(body) } else { instead(out) };
        };
        let bare = key.trim_ascii();
        let bare = bare.strip_prefix(b"\"").and_then(|k| k.strip_suffix(b"\"")).unwrap_or(bare);
        let is_key = |part: &[u8]| words::is_name(part) && atom(part);
        if bare != b"<<" && !bare.split(|b| *b == b'/').all(is_key) {
            return instead(out);
        }
        out.extend_from_slice(key);
        let remark = value.windows(2).position(|w| w == b" #").unwrap_or(value.len());
        let value = value.get(..remark).unwrap_or_default();
        let said = value.get(1..).unwrap_or_default();
        let keeps = match bare {
            _ if said.trim_ascii().is_empty() || is_block(said) || is_anchor(said) || are_brackets(said) => true,
            b"path" => is_device(said),
            _ if said.trim_ascii_start().starts_with(b"{") => is_flow(said),
            _ => is_kept(bare, said) && are_words(said),
        };
        if keeps {
            return out.extend_from_slice(value);
        }
        out.extend_from_slice(b": ");
        mark(out);
    });
}

/// Length of a line's indentation, with the dashes of items.
pub(super) fn lead(line: &[u8]) -> usize {
    let spaces = |from: usize| line.iter().skip(from).take_while(|b| b.is_ascii_whitespace()).count();
    let mut at = spaces(0);
    while line.get(at) == Some(&b'-') && line.get(at + 1).is_none_or(u8::is_ascii_whitespace) {
        at += 1 + spaces(at + 1);
    }
    at
}

/// A key, and the colon with what follows.
pub(super) fn key_value(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let ends = |at: &usize| body.get(at + 1).is_none_or(u8::is_ascii_whitespace);
    let at = (0..body.len()).filter(|at| body.get(*at) == Some(&b':')).find(ends)?;
    Some(body.split_at(at))
}

/// `&name`, `*name`: a mapping that is named, and one that is used again.
pub(super) fn is_anchor(text: &[u8]) -> bool {
    let name = text.trim_ascii();
    name.strip_prefix(b"&").or_else(|| name.strip_prefix(b"*")).is_some_and(|n| words::is_name(n) && atom(n))
}

/// The head of a block of text.
pub(super) fn is_block(text: &[u8]) -> bool {
    matches!(text.trim_ascii(), b"|" | b">" | b"|-" | b">-" | b"|+" | b">+")
}

/// Brackets of a list or mapping over several lines.
pub(super) fn are_brackets(text: &[u8]) -> bool {
    let is_sign = |b: &u8| matches!(b, b'[' | b']' | b'{' | b'}' | b',' | b' ' | b'\r');
    text.iter().all(is_sign) && !text.starts_with(b"{{")
}

/// Whether words behind a key are kept: those that readers need, how many of a resource, and names of networks.
fn is_kept(key: &[u8], value: &[u8]) -> bool {
    let is_resource = || key.contains(&b'/') || matches!(key, b"cpu" | b"memory");
    VALUES.contains(&key) || NETWORKS.contains(&key) || is_resource() && is_quantity(value)
}

/// `8`, `"1"`, `32Gi`.
fn is_quantity(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let bare = value.strip_prefix(b"\"").and_then(|v| v.strip_suffix(b"\"")).unwrap_or(value);
    let bare = bare.strip_prefix(b"'").and_then(|v| v.strip_suffix(b"'")).unwrap_or(bare);
    let digits = bare.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    digits > 0 && bare.get(digits..).is_some_and(|unit| unit.len() <= 2 && unit.iter().all(u8::is_ascii_alphabetic))
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
        let Some(end) = pair.iter().position(|b| *b == b':') else { return is_capability(pair) };
        let (key, value) = pair.split_at(end);
        let key = key.trim_ascii();
        let key = key.strip_prefix(b"\"").and_then(|k| k.strip_suffix(b"\"")).unwrap_or(key);
        let value = value.get(1..).unwrap_or_default();
        match key {
            b"path" => is_device(value),
            b"network" | b"interfaceName" | b"namespace" => true,
            // What it is of follows.
            _ if value.trim_ascii().is_empty() => words::is_name(key) && atom(key),
            _ => is_kept(key, value),
        }
    };
    are_words(text) && pairs.filter(|p| !p.is_empty()).all(keeps)
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
        let text = "kind: Pod\nmetadata:\n  <<: *common\n  name: nccl\n  annotations:\n    k8s.v1.cni.cncf.io/networks: rail-0,rail-1\nspec:\n  containers:\n  - name: worker\n    image: registry.example.org/x:1\n    env:\n    - name: TOKEN\n      value: hunter2\n    args: [\"--password=hunter2\"]\n    command:\n    - sh\n    - -c\n    - |\n      login hunter2\n    securityContext:\n      privileged: true\n      capabilities:\n        add: [\"IPC_LOCK\"]\n    resources:\n      limits: {nvidia.com/gpu: 8, \"openshift.io/rail0\": \"1\"}\n      requests:\n        nvidia.com/gpu: \"8\"\n    volumeMounts:\n    - mountPath: /dev/shm\n      name: dshm\n  volumes:\n  - name: dshm\n    emptyDir: {medium: Memory, sizeLimit: 32Gi}\n  - { name: dev, hostPath: { path: /dev/infiniband }}\n  - { name: shm, emptyDir: { medium: Memory, sizeLimit: 32Gi }}\n  - { name: hunter, value: hunter2 }\n  - name: data\n    hostPath:\n      path: /data/hunter2\n";
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
            "- |",
            "<<: *common",
            "- { name: shm, emptyDir: { medium: Memory, sizeLimit: 32Gi }}",
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
