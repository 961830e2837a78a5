//! `nvidia-smi -L`: GPUs with their UUIDs, and the instances that they are cut into.

use crate::bounds::{GPUS, Kept, Limit, TEXT_ITEMS, leave_out};
use crate::sniff::content;
use crate::text::{decode, lines};
use serde::Serialize;

/// A GPU of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedGpu {
    /// Number in the list: NVML's.
    pub index: u32,
    /// Product name.
    pub name: String,
    /// `GPU-…`.
    pub uuid: String,
    /// Instances of it, where it is cut.
    pub instances: Vec<ListedInstance>,
    /// 1-based line.
    pub line: u32,
}

/// An instance of a GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedInstance {
    /// `1g.10gb`.
    pub profile: String,
    /// `MIG-…`.
    pub uuid: String,
    /// 1-based line.
    pub line: u32,
}

/// Whether a text is such a list, and nothing else.
pub(super) fn is_own(text: &str) -> bool {
    let mut gpus = 0;
    let all = content(text).all(|l| {
        let is_gpu = gpu(l, 0).is_some();
        gpus += usize::from(is_gpu);
        is_gpu || instance(l, 0).is_some()
    });
    all && gpus > 0
}

/// The GPUs of a list. A list that was cut looks like a shorter one.
pub fn parse_list(bytes: &[u8]) -> Kept<ListedGpu> {
    let text = decode(bytes);
    let mut out = Kept::default();
    let mut instances = 0;
    for (line, raw) in lines(&text) {
        if let Some(gpu) = gpu(raw.trim(), line) {
            if out.items.len() < GPUS {
                out.items.push(gpu);
            } else {
                leave_out(&mut out.left_out, Limit::GPUS, line);
            }
        } else if let (Some(last), Some(instance)) = (out.items.last_mut(), instance(raw.trim(), line)) {
            if instances < TEXT_ITEMS {
                instances += 1;
                last.instances.push(instance);
            } else {
                leave_out(&mut out.left_out, Limit::TEXT_ITEMS, line);
            }
        }
    }
    out
}

/// `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-…)`.
fn gpu(line: &str, number: u32) -> Option<ListedGpu> {
    let (index, rest) = line.strip_prefix("GPU ")?.split_once(": ")?;
    let (name, uuid) = rest.strip_suffix(')')?.rsplit_once(" (UUID: ")?;
    let (index, name, uuid) = (index.parse().ok()?, name.to_owned(), id(uuid, "GPU-")?);
    Some(ListedGpu { index, name, uuid, instances: Vec::new(), line: number })
}

/// `MIG 1g.10gb     Device  0: (UUID: MIG-…)`.
fn instance(line: &str, number: u32) -> Option<ListedInstance> {
    let (head, uuid) = line.strip_prefix("MIG ")?.strip_suffix(')')?.rsplit_once("(UUID: ")?;
    let profile = head.split_whitespace().next()?.to_owned();
    Some(ListedInstance { profile, uuid: id(uuid, "MIG-")?, line: number })
}

/// Redacted lists have something else behind the prefix.
fn id(word: &str, prefix: &str) -> Option<String> {
    let rest = word.strip_prefix(prefix)?;
    let good = !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"-/*".contains(&b));
    good.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_and_their_instances() {
        let text = "$ nvidia-smi -L\nGPU 0: NVIDIA A30 (UUID: GPU-11112222-3333-4444-5555-666677778888)\n  MIG 1g.6gb      Device  0: (UUID: MIG-aaaabbbb-3333-4444-5555-666677778888)\nGPU 1: NVIDIA A30 (UUID: GPU-redacted-0123abcd)\n";
        let k = parse_list(text.as_bytes());
        let [a, b] = k.items.as_slice() else { panic!("{k:?}") };
        assert_eq!((a.index, a.name.as_str(), a.line, b.index, b.line), (0, "NVIDIA A30", 2, 1, 4));
        assert_eq!((a.instances[0].profile.as_str(), a.instances[0].line), ("1g.6gb", 3));
        for line in ["GPU 0: is slow (UUID: unknown)", "GPU 0: NVIDIA A30", "GPU x: A (UUID: GPU-1)"] {
            assert!(!is_own(line), "{line}");
        }
    }
}
