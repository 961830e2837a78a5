//! What two topologies differ in.

use super::names::name;
use super::tables::{Use, short, uses};
use linerate_topology::Analysis;

/// Lines about what is otherwise in the second. The same devices have the same names.
#[must_use]
pub fn lines(before: &Analysis, after: &Analysis) -> Vec<String> {
    let mut out = Groups::default();
    let key = |a: &Analysis, g: &linerate_topology::gdr::Gdr| (name(&a.system, g.gpu), name(&a.system, g.net));
    let direct = |g: &linerate_topology::gdr::Gdr| (g.recv.mode.is_some(), g.send.mode.is_some());
    for old in &before.gdr {
        let (gpu, net) = key(before, old);
        let Some(new) = after.gdr.iter().find(|g| key(after, g) == (gpu.clone(), net.clone())) else {
            out.add(format!("{gpu}–{net}"), "no longer a pair".to_owned());
            continue;
        };
        let mut what = Vec::new();
        if (old.kind, old.bandwidth) != (new.kind, new.bandwidth) {
            let (a, b) = (short(old.bandwidth), short(new.bandwidth));
            what.push(format!("{} {a} GB/s → {} {b} GB/s", old.kind, new.kind));
        }
        if direct(old) != direct(new) {
            what.push(format!("GPUDirect RDMA {} → {}", both(direct(old)), both(direct(new))));
        }
        if !what.is_empty() {
            out.add(format!("{gpu}–{net}"), what.join("; "));
        }
    }
    let nics = |a: &Analysis, u: &Use| u.nets.iter().map(|n| name(&a.system, *n)).collect::<Vec<_>>().join(", ");
    let (old, new) = (uses(before), uses(after));
    let mut uses_other = Vec::new();
    for u in &old {
        let gpu = name(&before.system, u.gpu);
        let Some(now) = new.iter().find(|n| name(&after.system, n.gpu) == gpu) else { continue };
        let (a, b) = (nics(before, u), nics(after, now));
        if a != b {
            let or_none = |nics: String| if nics.is_empty() { "none".to_owned() } else { nics };
            uses_other.push(format!("{gpu} {} instead of {}", or_none(b), or_none(a)));
        }
    }
    out.say(match uses_other.as_slice() {
        [] => None,
        [one] => Some(one.replacen(' ', " uses ", 1)),
        several => Some(format!("GPUs use other NICs: {}", some(several, "; "))),
    });
    for p in &before.p2p {
        let pair = (name(&before.system, p.gpus.0), name(&before.system, p.gpus.1));
        let same =
            |q: &&linerate_topology::p2p::P2p| (name(&after.system, q.gpus.0), name(&after.system, q.gpus.1)) == pair;
        if let Some(q) = after.p2p.iter().find(same).filter(|q| q.transport != p.transport) {
            out.add(format!("{} to {}", pair.0, pair.1), format!("{} → {}", p.transport.name(), q.transport.name()));
        }
    }
    let mut out = out.lines();
    if out.is_empty() {
        out.push("nothing: NCCL's decisions are the same".to_owned());
    }
    out
}

/// Names on a line, at most.
const NAMED: usize = 8;

fn some(names: &[String], between: &str) -> String {
    let more = names.len().saturating_sub(NAMED);
    let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(between);
    if more > 0 { format!("{named}{between}and {more} more") } else { named }
}

/// What changes, with those of which it is said.
#[derive(Default)]
struct Groups(Vec<(String, Vec<String>)>);

impl Groups {
    fn add(&mut self, whom: String, what: String) {
        match self.0.iter_mut().find(|(w, all)| *w == what && !all.is_empty()) {
            Some((_, all)) => all.push(whom),
            None => self.0.push((what, vec![whom])),
        }
    }

    /// A sentence by itself.
    fn say(&mut self, what: Option<String>) {
        self.0.extend(what.map(|w| (w, Vec::new())));
    }

    fn lines(self) -> Vec<String> {
        let line = |(what, whom): (String, Vec<String>)| match whom.as_slice() {
            [] => what,
            [one] => format!("{one}: {what}"),
            all => format!("{} pairs: {what} ({})", all.len(), some(all, ", ")),
        };
        self.0.into_iter().map(line).collect()
    }
}

fn both((recv, send): (bool, bool)) -> &'static str {
    match (recv, send) {
        (true, true) => "both ways",
        (true, false) => "for receiving",
        (false, true) => "for sending",
        (false, false) => "no",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_several_is_said_once() {
        let mut groups = Groups::default();
        (0..10).for_each(|i| groups.add(format!("GPU{i}–mlx5_0"), "PIX → SYS".to_owned()));
        groups.say(Some("GPU0 uses mlx5_1 instead of mlx5_0".to_owned()));
        groups.add("GPU0 to GPU1".to_owned(), "P2P → SHM".to_owned());
        let eight = (0..8).map(|i| format!("GPU{i}–mlx5_0")).collect::<Vec<_>>().join(", ");
        let lines = groups.lines();
        assert_eq!(lines[0], format!("10 pairs: PIX → SYS ({eight}, and 2 more)"));
        assert_eq!(lines[1..], ["GPU0 uses mlx5_1 instead of mlx5_0", "GPU0 to GPU1: P2P → SHM"]);
    }
}
