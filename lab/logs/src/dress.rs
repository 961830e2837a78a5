//! Clothes: what launchers, collectors and terminals do to lines.

use crate::job::{Entry, Facts};
use crate::rng::Rng;

/// How a log is worn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dress {
    /// As NCCL wrote it.
    #[default]
    Bare,
    /// mpirun --tag-output: `[1,3]<stdout>:`.
    Mpirun,
    /// srun -l: ` 3: `.
    Srun,
    /// torchrun: `[rank3]:`.
    Torchrun,
    /// torchrun --tee: `[default3]:`.
    TorchTee,
    /// kubectl logs --prefix: `[pod/train-0/pytorch] `.
    Kubectl,
    /// A collector's time before each line: `2025-03-01T10:00:00.123456Z `.
    Iso,
    /// docker compose: `worker-1  | `.
    Compose,
    /// ANSI colours.
    Colour,
    /// Windows' line ends.
    Crlf,
    /// Lines cut at 120 columns and wrapped.
    Cut,
    /// Writes of two ranks mixed inside lines, now and then.
    Mixed,
    /// The log ends in the middle of a line.
    Half,
    /// The last job's log before this one's.
    Twice,
    /// A training program's own lines between.
    Junk,
}

impl Dress {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Bare,
        Self::Mpirun,
        Self::Srun,
        Self::Torchrun,
        Self::TorchTee,
        Self::Kubectl,
        Self::Iso,
        Self::Compose,
        Self::Colour,
        Self::Crlf,
        Self::Cut,
        Self::Mixed,
        Self::Half,
        Self::Twice,
        Self::Junk,
    ];

    /// By the name of the command line: `torch-tee`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| format!("{d:?}").eq_ignore_ascii_case(&name.replace('-', "")))
    }

    /// Every fact of the log is still in it, so that a doctor must come to the same conclusion.
    pub fn keeps_all(self) -> bool {
        !matches!(self, Self::Cut | Self::Mixed | Self::Half)
    }
}

/// The log in its clothes.
pub(crate) fn dress(facts: &Facts<'_>, lines: &[Entry], dress: Dress, seed: u64) -> Vec<u8> {
    let mut rng = Rng::named(seed, "dress");
    let mut out = String::new();
    if dress == Dress::Twice {
        let mut sound = facts.job.clone();
        sound.fault.clear();
        let earlier = Facts::new(&sound, facts.release, seed ^ 0x5a5a);
        for line in crate::job::play(&earlier, true, None).0 {
            out += &line.text;
        }
    }
    for (i, line) in lines.iter().enumerate() {
        if dress == Dress::Mixed
            && rng.below(40) == 0
            && let Some(other) = lines.get(i + 1).filter(|o| o.rank != line.rank)
        {
            // The first half of the next write comes in the middle of this one.
            let at = middle(&line.text);
            let half = middle(&other.text);
            out += line.text.get(..at).unwrap_or_default();
            out += other.text.get(..half).unwrap_or_default().trim_start_matches('\n');
            out += line.text.get(at..).unwrap_or_default();
            continue;
        }
        if dress == Dress::Junk && rng.below(12) == 0 {
            out += &format!(
                "step {:>6} | loss {:.4} | lr 3.0e-04 | tok/s {}\n",
                i,
                2.0 + rng.unit(),
                180_000 + rng.below(9000)
            );
        }
        for part in line.text.trim_end_matches('\n').split('\n') {
            put(&mut out, facts, line, part, dress);
        }
    }
    if dress == Dress::Half {
        out.truncate(floor(&out, out.len() * 2 / 3));
    }
    out.into_bytes()
}

fn put(out: &mut String, facts: &Facts<'_>, line: &Entry, part: &str, dress: Dress) {
    let (rank, node) = (line.rank, line.node);
    let local = rank % facts.job.gpus.max(1);
    match dress {
        Dress::Mpirun => *out += &format!("[1,{rank}]<stdout>:{part}\n"),
        Dress::Srun => {
            *out += &format!("{rank:>width$}: {part}\n", width = facts.nranks().saturating_sub(1).to_string().len())
        }
        Dress::Torchrun => *out += &format!("[rank{rank}]:{part}\n"),
        Dress::TorchTee => *out += &format!("[default{local}]:{part}\n"),
        Dress::Kubectl => *out += &format!("[pod/train-worker-{node}/pytorch] {part}\n"),
        Dress::Iso => {
            let micros = (line.time.fract() * 1e6) as u32;
            *out += &format!("{}.{micros:06}Z {part}\n", facts.clock(line.time).replace(' ', "T"));
        }
        Dress::Compose => *out += &format!("worker-{node}  | {part}\n"),
        Dress::Colour => {
            let (head, rest) = part.split_at(floor(part, 8));
            *out += &format!("\u{1b}[36m{head}\u{1b}[0m{rest}\n");
        }
        Dress::Crlf => *out += &format!("{part}\r\n"),
        Dress::Cut if part.len() > 120 => {
            let at = floor(part, 120);
            *out += &format!("{}\n{}\n", part.get(..at).unwrap_or_default(), part.get(at..).unwrap_or_default());
        }
        _ => {
            *out += part;
            out.push('\n');
        }
    }
}

fn middle(text: &str) -> usize {
    floor(text, text.len() / 2)
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
