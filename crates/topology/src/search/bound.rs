//! What no ring can exceed: once that is reached, NCCL's further walks change nothing.

use super::plan::Plan;
use crate::Analysis;
use crate::path::PathType;
use crate::system::{Net, NodeId, NodeKind};

/// Limits for rings over the network.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    /// GB/s of each port.
    ports: Vec<f32>,
    /// The fewest links of a ring: that comes and goes by the same rail, or not.
    hops: [i32; 2],
}

impl Bound {
    pub(super) fn of(analysis: &Analysis) -> Bound {
        let mut ports: Vec<((u64, i32), f32)> = Vec::new();
        for (_, net) in analysis.system.nets() {
            match ports.iter_mut().find(|(p, _)| *p == (net.asic, net.port)) {
                Some((_, bw)) => *bw = bw.max(net.bandwidth),
                None => ports.push(((net.asic, net.port), net.bandwidth)),
            }
        }
        Bound { ports: ports.into_iter().map(|(_, bw)| bw).collect(), hops: fewest_hops(analysis) }
    }

    /// Channels that can begin at the ports at a speed.
    fn channels(&self, speed: f32, max: usize) -> usize {
        // NCCL counts whole GB/s.
        let each = speed.trunc();
        if each < 1.0 {
            return max;
        }
        self.ports.iter().map(|bw| (bw / each + 1e-3) as usize).fold(0_usize, usize::saturating_add).min(max)
    }

    /// Whether nothing at these speeds, of which NCCL tries the first and those that are not too low, is better.
    pub(super) fn is_reached(&self, best: &Plan, speeds: &[f32]) -> bool {
        if best.channels == 0 {
            return false;
        }
        let total = best.channels as f32 * best.bw_intra;
        let hops = i64::from(self.hops[usize::from(best.cross_nic > 0)]);
        let tried = speeds.iter().enumerate().take_while(|(i, s)| *i == 0 || f64::from(*s / best.bw_inter) > 0.49);
        tried.into_iter().all(|(_, s)| {
            let channels = self.channels(*s, best.max);
            let most = channels as f32 * s;
            most < total || (most == total && hops * channels as i64 >= i64::from(best.hops))
        })
    }
}

/// The two nearest GPUs of a NIC.
type Ends = [Option<(i32, usize)>; 2];

fn add(ends: &mut Ends, hops: i32, gpu: usize) {
    let new = Some((hops, gpu));
    if ends[0].is_none_or(|(h, _)| hops < h) {
        ends[1] = ends[0];
        ends[0] = new;
    } else if ends[1].is_none_or(|(h, _)| hops < h) {
        ends[1] = new;
    }
}

fn fewest_hops(analysis: &Analysis) -> [i32; 2] {
    let Analysis { system, paths, .. } = analysis;
    let gpus = system.of(NodeKind::Gpu);
    let hops = |from: NodeId, to: NodeId| {
        let path = paths.path(from, to);
        (path.kind < PathType::Dis).then_some(path.hops as i32)
    };
    let pairs = gpus.iter().flat_map(|a| gpus.iter().filter(move |b| *b != a).map(move |b| (*a, *b)));
    let between = pairs.filter_map(|(a, b)| hops(a, b)).min().unwrap_or(0);
    let nets: Vec<(&Net, Ends, Ends)> = system
        .nets()
        .map(|(id, net)| {
            let (mut into, mut out): (Ends, Ends) = Default::default();
            for (g, gpu) in gpus.iter().enumerate() {
                hops(id, *gpu).into_iter().for_each(|h| add(&mut into, h, g));
                hops(*gpu, id).into_iter().for_each(|h| add(&mut out, h, g));
            }
            (net, into, out)
        })
        .collect();
    let inside = between.saturating_mul(i32::try_from(gpus.len().saturating_sub(1)).unwrap_or(0));
    let mut fewest = [i32::MAX; 2];
    for (start, into, _) in &nets {
        for (end, _, out) in &nets {
            let rails = start.rail != -1 && end.rail != -1;
            let same = if rails { start.rail == end.rail } else { (start.asic, start.port) == (end.asic, end.port) };
            let ways = into.iter().flatten().flat_map(|a| out.iter().flatten().map(move |b| (a, b)));
            let apart =
                ways.filter(|((_, a), (_, b))| a != b || gpus.len() == 1).map(|((x, _), (y, _))| x + y + inside);
            let least = apart.min().unwrap_or(i32::MAX);
            fewest[1] = fewest[1].min(least);
            if same {
                fewest[0] = fewest[0].min(least);
            }
        }
    }
    fewest
}
