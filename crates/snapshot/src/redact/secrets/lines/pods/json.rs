//! Pods in JSON, a key or an item to a line, as `kubectl` prints them. Braces, brackets and commas stay: what is left is JSON.

use super::super::{each_setting, mark};
use super::{are_brackets, is_capability, is_device, is_flow, is_kept, lead};
use crate::redact::secrets::shape::atom;
use crate::redact::secrets::words;

pub(super) fn pods(data: &mut Vec<u8>) {
    each_setting(data, |line, out| {
        let (head, body) = line.split_at(lead(line));
        out.extend_from_slice(head);
        let body = body.trim_ascii_end();
        let (body, comma) = body.strip_suffix(b",").map_or((body, &b""[..]), |b| (b, b","));
        one(body, out);
        out.extend_from_slice(comma);
    });
}

fn one(body: &[u8], out: &mut Vec<u8>) {
    if are_brackets(body) || is_flow(body) {
        return out.extend_from_slice(body);
    }
    let Some((key, value)) = pair(body) else {
        return if body.starts_with(b"\"") && is_capability(body) { out.extend_from_slice(body) } else { hidden(out) };
    };
    let is_part = |part: &[u8]| words::is_name(part) && atom(part);
    if key.split(|b| *b == b'/').all(is_part) {
        out.push(b'"');
        out.extend_from_slice(key);
        out.push(b'"');
    } else {
        hidden(out);
    }
    out.extend_from_slice(b": ");
    let keeps = are_brackets(value)
        || match key {
            b"path" => is_device(value),
            _ if value.starts_with(b"{") || value.starts_with(b"[") => is_flow(value),
            _ => is_kept(key, value) && super::are_words(value),
        };
    if keeps { out.extend_from_slice(value) } else { hidden(out) }
}

fn hidden(out: &mut Vec<u8>) {
    out.push(b'"');
    mark(out);
    out.push(b'"');
}

/// A key without its quotes, and what is behind the colon.
fn pair(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = body.strip_prefix(b"\"")?;
    let end = rest.windows(2).position(|w| w == b"\":")?;
    let (key, rest) = rest.split_at(end);
    Some((key, rest.get(2..)?.trim_ascii()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_left_is_json_without_what_readers_need_not() {
        let text = r#"{
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "annotations": {
            "k8s.v1.cni.cncf.io/networks": "rail-0",
            "a.example/b c": "hunter2"
        },
        "managedFields": [
            {"f:metadata": {"k:{\"name\":\"hunter2\"}": {}}},
            {
                "k:{\"uid\":\"hunter2\"}": {}
            }
        ],
        "name": "nccl"
    },
    "spec": {
        "hostNetwork": true,
        "containers": [
            {
                "args": [
                    "--password=hunter2",
                    "a: hunter2"
                ],
                "env": [
                    {
                        "name": "TOKEN",
                        "value": "hunter2"
                    }
                ],
                "image": "registry.example.org/hunter2:1",
                "resources": {
                    "limits": {
                        "nvidia.com/gpu": "8"
                    }
                },
                "securityContext": {
                    "capabilities": {
                        "add": [
                            "IPC_LOCK",
                            "NET_RAW"
                        ]
                    },
                    "privileged": false
                }
            }
        ]
    }
}
"#;
        let mut data = text.as_bytes().to_vec();
        super::super::pod_spec(&mut data);
        let got = String::from_utf8_lossy(&data).into_owned();
        assert!(!got.contains("hunter2") && !got.contains("registry"), "{got}");
        assert_eq!(got.lines().count(), text.lines().count());
        let value: serde_json::Value = serde_json::from_str(&got).unwrap();
        let pod = |at: &str| value.pointer(at).cloned().unwrap_or_default();
        assert_eq!(pod("/metadata/name"), "nccl");
        assert_eq!(pod("/metadata/annotations/k8s.v1.cni.cncf.io~1networks"), "rail-0");
        assert_eq!(pod("/spec/containers/0/resources/limits/nvidia.com~1gpu"), "8");
        assert_eq!(pod("/spec/containers/0/securityContext/capabilities/add/1"), "NET_RAW");
        assert_eq!(
            (pod("/spec/hostNetwork"), pod("/spec/containers/0/securityContext/privileged")),
            (true.into(), false.into())
        );
        let again = data.clone();
        super::super::pod_spec(&mut data);
        assert_eq!(data, again);
        let mut below = format!("root@n:~# kubectl get pod x --token=hunter2 -o json\n{text}").into_bytes();
        super::super::pod_spec(&mut below);
        assert_eq!(below, [b"\n".to_vec(), again].concat());
    }
}
