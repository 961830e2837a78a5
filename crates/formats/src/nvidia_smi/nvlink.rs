//! `nvidia-smi nvlink -s`: the links of each GPU.

use crate::bounds::GPUS;
use crate::text::{decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen, starts};
use serde::Serialize;

/// `nvidia-smi nvlink -s`.
pub const NVLINK: Tool = Tool {
    name: "nvidia-smi-nvlink",
    called: "nvidia-smi nvlink -s",
    run: "nvidia-smi nvlink -s",
    gives: Gives::NoFacts("nvidia-smi's state of NVLink (`nvidia-smi topo -m` says which GPUs it connects)"),
    marks: &[Mark::aside(|line| link(line).is_some() || starts(line, &["NVML: Unable to retrieve NVLink"]))
        .begins(&["Link ", "NVML: Unable to retrieve NVLink"])],
    commands: &[Command::with("nvidia-smi", &["nvlink"])],
    read: Some(|b| seen(parse_nvlink(b))),
    samples: &[
        "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-5269b708)\n\t Link 0: 25 GB/s\n\t Link 1: <inactive>\n",
        "NVML: Unable to retrieve NVLink information as all links are inactive\n",
    ],
    ..Tool::NONE
};

/// Links that a GPU can have, and more than any has.
const LINKS: usize = 64;

/// A GPU, and its links.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GpuLinks {
    /// 1-based line.
    pub line: u32,
    /// Number, as `nvidia-smi` counts.
    pub gpu: u32,
    /// `NVIDIA A100-SXM4-80GB`.
    pub name: String,
    /// Number of a link, and its speed in 10⁹ bytes per second and direction; `None` where it is inactive.
    pub links: Vec<(u32, Option<f64>)>,
}

/// Parses the text; other lines are ignored.
pub fn parse_nvlink(bytes: &[u8]) -> Vec<GpuLinks> {
    let text = decode(bytes);
    let mut out: Vec<GpuLinks> = Vec::new();
    for (line, raw) in lines(&text) {
        let raw = raw.trim();
        if let Some((gpu, name)) = gpu(raw).filter(|_| out.len() < GPUS) {
            out.push(GpuLinks { line, gpu, name: name.to_owned(), links: Vec::new() });
        } else if let (Some(link), Some(last)) = (link(raw), out.last_mut())
            && last.links.len() < LINKS
        {
            last.links.push(link);
        }
    }
    out
}

/// `GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-…)`; people cut the UUID off.
pub(super) fn gpu(line: &str) -> Option<(u32, &str)> {
    let (number, name) = line.strip_prefix("GPU ")?.split_once(": ")?;
    Some((number.parse().ok()?, name.split_once(" (UUID: ").map_or(name, |(n, _)| n)))
}

/// `Link 0: 25 GB/s`, `Link 1: <inactive>`.
fn link(line: &str) -> Option<(u32, Option<f64>)> {
    let (number, state) = line.strip_prefix("Link ")?.split_once(": ")?;
    let speed = match state {
        "<inactive>" => None,
        _ => Some(state.strip_suffix(" GB/s")?.parse().ok().filter(|s: &f64| s.is_finite())?),
    };
    Some((number.parse().ok()?, speed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_each_gpu() {
        let all: Vec<_> = NVLINK.samples.iter().map(|s| parse_nvlink(s.as_bytes())).collect();
        let [gpu] = all[0].as_slice() else { panic!("{all:?}") };
        assert_eq!((gpu.gpu, gpu.name.as_str(), gpu.line), (0, "NVIDIA A100-SXM4-80GB", 1));
        assert_eq!(gpu.links, [(0, Some(25.0)), (1, None)]);
        assert_eq!(all[1], []);
        assert_eq!(link("Link 3: NaN GB/s"), None);
        // V100, H100 and GB200 print fractions; a name without its UUID is one, too.
        let text = "GPU 3: Tesla V100-SXM2-32GB\n\t Link 0: 25.781 GB/s\n\t Link 1: 26.562 GB/s\n         Link 17: 53.125 GB/s\n\t Link 2: Not supported\n";
        let all = parse_nvlink(text.as_bytes());
        assert_eq!(
            all.first().map(|g| g.links.clone()),
            Some(vec![(0, Some(25.781)), (1, Some(26.562)), (17, Some(53.125))])
        );
    }
}
