//! What is sought and what was found (`ncclTopoGraph`).

use super::Pattern;
use crate::path::{ALL, PathType};

/// A demand, and the channels that fit it.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) pattern: Pattern,
    pub(super) cross_nic: u8,
    pub(super) min: usize,
    pub(super) max: usize,
    pub(super) channels: usize,
    pub(super) bw_intra: f32,
    pub(super) bw_inter: f32,
    pub(super) type_intra: u8,
    pub(super) type_inter: u8,
    pub(super) same: bool,
    pub(super) hops: i32,
    pub(super) fallback: bool,
    /// GPUs of a channel.
    pub(super) width: usize,
    /// GPUs of all channels, by their places, one channel after another.
    pub(super) gpus: Vec<u16>,
    /// NICs of each channel, by their places.
    pub(super) nets: Vec<[u16; 2]>,
}

impl Plan {
    pub(super) fn new(pattern: Pattern, min: usize, max: usize, width: usize) -> Self {
        Plan {
            pattern,
            cross_nic: 0,
            min,
            max,
            channels: 0,
            bw_intra: 0.0,
            bw_inter: 0.0,
            type_intra: 0,
            type_inter: 0,
            same: true,
            hops: 0,
            fallback: false,
            width,
            gpus: vec![0; max.max(1) * width],
            nets: vec![[u16::MAX; 2]; max.max(1)],
        }
    }

    /// GPUs of a channel.
    pub(super) fn row(&self, channel: usize) -> &[u16] {
        self.gpus.get(channel * self.width..(channel + 1) * self.width).unwrap_or_default()
    }

    /// GPUs of the channel that is walked.
    pub(super) fn row_mut(&mut self) -> &mut [u16] {
        self.gpus.get_mut(self.channels * self.width..(self.channels + 1) * self.width).unwrap_or_default()
    }

    /// A GPU of a channel.
    pub(super) fn gpu(&self, channel: usize, step: usize) -> Option<u16> {
        self.gpus.get(channel * self.width + step).copied()
    }

    pub(super) fn set_gpu(&mut self, step: usize, gpu: u16) {
        if let Some(slot) = self.gpus.get_mut(self.channels * self.width + step) {
            *slot = gpu;
        }
    }

    /// The NIC where a channel begins (0) or ends (1).
    pub(super) fn net(&self, channel: usize, end: usize) -> Option<u16> {
        self.nets.get(channel)?.get(end).copied()
    }

    pub(super) fn set_net(&mut self, end: usize, net: u16) {
        if let Some(slot) = self.nets.get_mut(self.channels).and_then(|n| n.get_mut(end)) {
            *slot = net;
        }
    }

    /// Takes over another, without what lies behind its channels.
    pub(super) fn copy(&mut self, other: &Plan) {
        let (mut gpus, mut nets) = (std::mem::take(&mut self.gpus), std::mem::take(&mut self.nets));
        let (used, channels) = (other.channels * other.width, other.channels);
        if let (Some(to), Some(from)) = (gpus.get_mut(..used), other.gpus.get(..used)) {
            to.copy_from_slice(from);
        }
        if let (Some(to), Some(from)) = (nets.get_mut(..channels), other.nets.get(..channels)) {
            to.copy_from_slice(from);
        }
        *self = Plan { gpus, nets, ..*other };
    }

    /// Whether this is better than what was found before (`ncclTopoCompareGraphs`): more bandwidth, or fewer links.
    pub(super) fn is_better(&self, than: &Plan) -> bool {
        if self.channels < self.min {
            return false;
        }
        let (own, other) = (self.channels as f32 * self.bw_intra, than.channels as f32 * than.bw_intra);
        if own == other {
            return self.pattern == than.pattern && self.cross_nic == than.cross_nic && self.hops < than.hops;
        }
        own > other
    }

    /// Twice as many channels at half the bandwidth, where that is worth it (`ncclTopoDupChannels`).
    pub(super) fn double(&mut self, sm: i32) {
        if self.channels == 0 || self.bw_intra < 25.0 || (sm > 80 && self.bw_intra < 50.0 && self.channels > 4) {
            return;
        }
        let doubled = (self.channels * 2).min(self.max);
        let more = doubled - self.channels;
        self.gpus.copy_within(..more * self.width, self.channels * self.width);
        self.nets.copy_within(..more, self.channels);
        let by = doubled.div_ceil(self.channels) as f32;
        self.bw_intra /= by;
        self.bw_inter /= by;
        self.channels = doubled;
    }
}

/// The type of a number.
pub(super) fn path_type(n: u8) -> PathType {
    ALL.get(usize::from(n)).copied().unwrap_or(PathType::Dis)
}
