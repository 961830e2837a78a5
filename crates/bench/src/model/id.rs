//! The name of a run: made of what was measured.

use super::{Param, Run};
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// 64 bits of the SHA-256 of a run's content, written as 16 hexadecimal digits.
///
/// What the tool printed counts: kind, program, parameters, hosts, time, values, faults. Where it was read and what was noted about
/// it does not, so the same table, pasted with other lines around it, is the same run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub u64);

impl RunId {
    pub(super) fn of(run: &Run) -> RunId {
        let mut h = Content::default();
        h.text(run.kind.name());
        for text in [&run.tool, &run.version] {
            h.text(text.as_deref().unwrap_or("\0"));
        }
        h.count(run.params.len());
        for (key, value) in &run.params {
            h.text(key);
            match value {
                // Ten and 10 are the same parameter, whoever wrote it.
                Param::Real(v) if v.fract() == 0.0 && v.abs() < 1e15 => h.text(&format!("{v:.0}")),
                other => h.text(&other.to_string()),
            }
        }
        h.count(run.hosts.len());
        run.hosts.iter().for_each(|host| h.text(host));
        h.number(run.began);
        h.count(run.series.len());
        for s in &run.series {
            h.text(&s.metric.name);
            h.text(s.metric.unit.name());
            h.text(&s.metric.stat.to_string());
            h.count(s.labels.len());
            for l in &s.labels {
                h.text(&l.key);
                h.text(&l.value);
            }
            h.count(s.points.len());
            for p in s.points.iter() {
                h.number(p.size.map(|v| v as f64));
                h.number(p.at);
                h.number(Some(p.value));
                h.bytes(&[u8::from(p.valid)]);
            }
        }
        h.count(run.faults.len());
        run.faults.iter().for_each(|f| h.text(&f.what));
        let digest = h.finish();
        RunId(digest.as_ref().iter().take(8).fold(0, |id, byte| id << 8 | u64::from(*byte)))
    }
}

/// What is digested, each part with its length, so that no two contents read the same. Parts are gathered: a digest is fed a few bytes
/// at a time at a tenth of its pace.
#[derive(Default)]
struct Content {
    digest: Sha256,
    gathered: Vec<u8>,
}

/// Bytes that are fed at once.
const GATHERED: usize = 16 << 10;

impl Content {
    fn bytes(&mut self, bytes: &[u8]) {
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= GATHERED {
            self.digest.update(&self.gathered);
            self.gathered.clear();
        }
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.bytes(text.as_bytes());
    }

    fn count(&mut self, n: usize) {
        self.bytes(&(n as u64).to_le_bytes());
    }

    fn number(&mut self, value: Option<f64>) {
        match value {
            // Both zeros are zero.
            Some(v) => self.bytes(&(if v == 0.0 { 0.0 } else { v }).to_bits().to_le_bytes()),
            None => self.bytes(&[0xff; 9]),
        }
    }

    fn finish(mut self) -> impl AsRef<[u8]> {
        self.digest.update(&self.gathered);
        self.digest.finalize()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for RunId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let hex = text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        u64::from_str_radix(text, 16).ok().filter(|_| hex).map(RunId).ok_or(NotAnId)
    }
}

/// A text that is no run's name: those are 16 hexadecimal digits in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnId;

impl Serialize for RunId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}
