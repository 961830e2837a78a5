//! Pods in JSON, on one line or many. Braces, brackets, commas and line ends stay: what is left is JSON where the text was.

use super::super::mark;
use super::{NETWORKS, are_words, is_capability, is_device, is_flow, is_kept};
use crate::redact::secrets::shape::atom;
use crate::redact::secrets::words;

pub(super) fn pods(data: &mut Vec<u8>) {
    let text = std::mem::take(data);
    // The key that each open brace or bracket is the value of, and the key of the value that comes next.
    let (mut above, mut key): (Vec<&[u8]>, &[u8]) = (Vec::new(), b"");
    let mut rest = text.as_slice();
    while let Some(first) = rest.first() {
        let (token, behind) = rest.split_at(token(rest));
        rest = behind;
        match first {
            b'{' | b'[' => above.push(std::mem::take(&mut key)),
            b'}' | b']' => key = above.pop().unwrap_or_default(),
            _ => {}
        }
        let is_item = key.is_empty();
        let of = if is_item { above.last().copied().unwrap_or_default() } else { key };
        let keeps = match first {
            b'{' | b'[' | b'}' | b']' | b',' | b':' => true,
            _ if first.is_ascii_whitespace() => true,
            b'"' if behind.trim_ascii_start().starts_with(b":") => {
                key = token.get(1..token.len().saturating_sub(1)).unwrap_or_default();
                key.split(|b| *b == b'/').all(|part| words::is_name(part) && atom(part))
            }
            _ if above.is_empty() => false,
            _ if of == b"add" => is_capability(token),
            _ if of == b"path" => is_device(token),
            _ if NETWORKS.contains(&of) => is_network(token),
            _ => !is_item && is_kept(of, token) && are_words(token),
        };
        if matches!(first, b',' | b'}' | b']') {
            key = b"";
        }
        if keeps { data.extend_from_slice(token) } else { hidden(data) }
    }
}

/// Length of the token that a text begins with: a string with its quotes, a sign, spaces, or a word. A string ends with its line.
fn token(text: &[u8]) -> usize {
    let is_sign = |b: &u8| matches!(b, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"');
    let run = |of: &dyn Fn(&u8) -> bool| text.iter().take_while(|b| of(b)).count();
    match text.first() {
        Some(b'"') => {
            let mut is_escaped = false;
            let inside = text.iter().skip(1).take_while(|b| {
                let goes_on = **b != b'\n' && (is_escaped || **b != b'"');
                is_escaped = !is_escaped && **b == b'\\';
                goes_on
            });
            let end = 1 + inside.count();
            end + usize::from(text.get(end) == Some(&b'"'))
        }
        Some(b) if is_sign(b) => 1,
        Some(b) if b.is_ascii_whitespace() => run(&u8::is_ascii_whitespace),
        _ => run(&|b: &u8| !is_sign(b) && !b.is_ascii_whitespace()),
    }
}

/// Networks by name, or as a list of objects in JSON, which is escaped here.
fn is_network(token: &[u8]) -> bool {
    if are_words(token) {
        return true;
    }
    let plain: Vec<u8> = token.iter().copied().filter(|b| *b != b'\\').collect();
    is_flow(plain.strip_prefix(b"\"").and_then(|p| p.strip_suffix(b"\"")).unwrap_or(&plain))
}

fn hidden(out: &mut Vec<u8>) {
    out.push(b'"');
    mark(out);
    out.push(b'"');
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
        let on_one_line: String = text.lines().map(str::trim).collect();
        let mut one = on_one_line.clone().into_bytes();
        super::super::pod_spec(&mut one);
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&one).unwrap(), value);
        for cut in 1..text.len() {
            let mut cut = text.get(..cut).unwrap_or_default().as_bytes().to_vec();
            super::super::pod_spec(&mut cut);
            assert!(!String::from_utf8_lossy(&cut).contains("hunter2"));
        }
        let mut below = format!("root@n:~# kubectl get pod x --token=hunter2 -o json\n{text}").into_bytes();
        super::super::pod_spec(&mut below);
        assert_eq!(below, [b"\n".to_vec(), again].concat());
    }
}
