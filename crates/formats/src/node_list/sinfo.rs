//! `sinfo`, with `-N`, `-l`, `-R`, and formats that name a state: columns by the names of the head (sinfo(1), "DEFAULT FORMATS").

use super::{Row, keep, write};
use crate::bounds::{CLUSTER_NODES, Kept};
use crate::slurm;
use crate::text::{decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen, starts};

/// `sinfo`.
pub const TOOL: Tool = Tool {
    name: "sinfo",
    called: "sinfo",
    run: "sinfo -N -l",
    gives: Gives::Facts,
    marks: &[
        Mark::line(|l| l.starts_with("PARTITION ") && l.contains(" NODELIST")).begins(&["PARTITION "]),
        Mark::line(|l| starts(l, FIRST) && Head::of(l).is_some()).begins(FIRST),
    ],
    commands: &[Command::any("sinfo")],
    of_cluster: true,
    read: Some(|b| {
        seen(parse(b));
        seen(shown(b));
    }),
    samples: &[
        "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\ngpu*         up   infinite     30    mix gpu[001-030]\n",
        "NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON\ngpu7           1      gpu*     drained 224    2:56:2 2051000      0      1   (null) Kill task failed\n",
        "REASON               USER      TIMESTAMP           NODELIST\nNot responding       slurm     2026-11-20T10:00:00 gpu[003,007]\n",
    ],
    ..Tool::NONE
};

/// First columns of a head that is no list of partitions.
const FIRST: &[&str] = &["NODELIST ", "HOSTNAMES ", "REASON "];

/// Columns of a head that are read.
struct Head {
    columns: usize,
    nodes: usize,
    /// How many nodes a row is of.
    count: Option<usize>,
    state: Option<usize>,
    reason: Option<usize>,
    /// A time, behind a reason, which comes first.
    time: Option<usize>,
    /// A column that may be empty: those behind it count from the end.
    gap: Option<usize>,
    /// Where the nodes begin in each line, where nothing but that tells a row from a sentence: `REASON NODELIST` of a format.
    margin: Option<usize>,
}

impl Head {
    fn of(line: &str) -> Option<Head> {
        let all: Vec<&str> = line.split_whitespace().take(64).collect();
        let at = |name: &str| all.iter().position(|w| *w == name);
        let nodes = at("NODELIST").or_else(|| at("HOSTNAMES"))?;
        let is_head = all.iter().all(|w| w.bytes().all(|b| b.is_ascii_uppercase() || b"_:()/%".contains(&b)));
        let (state, reason, time) = (at("STATE"), at("REASON"), at("TIMESTAMP"));
        let placed = reason.is_none_or(|r| r == 0 || r + 1 == all.len());
        let alone = all.as_slice() == ["REASON", "NODELIST"];
        let says = state.is_some() || reason == Some(0) && time.is_some() || alone;
        let margin = if alone { line.find("NODELIST") } else { None };
        let gap = at("RESERVATION").or_else(|| at("AVAIL_FEATURES"));
        (is_head && placed && says).then_some(Head {
            columns: all.len(),
            nodes,
            count: at("NODES"),
            state,
            reason,
            time,
            gap,
            margin,
        })
    }

    /// The values of a row.
    fn row(&self, raw: &str, line: u32) -> Option<Row> {
        let all: Vec<&str> = raw.split_whitespace().take(WORDS + 1).collect();
        if all.len() > WORDS {
            return None;
        }
        let from_end = |at: usize| all.len().checked_sub(self.columns - at).and_then(|n| all.get(n)).copied();
        let word = |at: usize| match self.reason {
            Some(0) => from_end(at),
            _ if self.gap.is_some_and(|gap| at > gap) => from_end(at),
            _ => all.get(at).copied(),
        };
        let text = match self.reason {
            Some(0) => all.get(..=all.len().checked_sub(self.columns)?)?,
            Some(at) => all.get(at..)?,
            None => &[],
        };
        let nodes = word(self.nodes).filter(|n| is_list(n))?;
        if self.margin.is_some_and(|at| raw.get(at..).map(str::trim_end) != Some(nodes)) {
            return None;
        }
        let is_number = |w: &str| w.bytes().all(|b| b.is_ascii_digit());
        if self.count.is_some_and(|at| !word(at).is_some_and(is_number)) {
            return None;
        }
        let is_time = |t: &str| t == "Unknown" || t.starts_with(|c: char| c.is_ascii_digit()) && t.contains(':');
        if self.time.is_some_and(|at| !word(at).is_some_and(is_time)) {
            return None;
        }
        let state = match self.state {
            Some(at) => word(at)?,
            None => "",
        };
        let used = if state.is_empty() { Some(false) } else { slurm::used(&slurm::state_words(state)?) };
        let reason = text.join(" ");
        let reason = Some(reason).filter(|r| !matches!(r.as_str(), "" | "none" | "(null)" | "N/A"));
        Some(Row { line, nodes: nodes.to_owned(), state: state.to_owned(), used, reason })
    }
}

/// Words of a row; a reason is a sentence.
const WORDS: usize = 256;

/// Whether a word may be a list of hosts.
fn is_list(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.[],".contains(&b))
}

/// The nodes of a list.
#[must_use]
pub fn parse(bytes: &[u8]) -> Kept<Row> {
    read(bytes, CLUSTER_NODES)
}

fn read(bytes: &[u8], most: usize) -> Kept<Row> {
    let text = decode(bytes);
    let (mut out, mut head) = (Kept::default(), None);
    for (line, raw) in lines(&text) {
        if let Some(new) = Head::of(raw) {
            head = Some(new);
        } else if raw.trim_start().starts_with("PARTITION ") {
            // A summary, without states.
            head = None;
        } else if let Some(row) = head.as_ref().and_then(|h| h.row(raw, line)) {
            keep(&mut out, row, most);
        }
    }
    out
}

/// The list with nothing but nodes, states and reasons: [`parse`] gives the same of it.
#[must_use]
pub fn shown(bytes: &[u8]) -> Vec<u8> {
    let count = lines(&decode(bytes)).last().map_or(0, |(n, _)| n);
    let rows = read(bytes, usize::MAX).items;
    let head = |r: &Row| match r.state.as_str() {
        "" => "REASON USER TIMESTAMP NODELIST",
        _ => "NODELIST STATE REASON",
    };
    let each = |r: &Row| {
        let reason = r.reason.as_deref().unwrap_or("none");
        match r.state.as_str() {
            "" => format!("{reason} - Unknown {}", r.nodes),
            state => format!("{} {state} {reason}", r.nodes),
        }
    };
    write(&rows, count, &head, &each).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each form, as `sinfo` aligns them.
    const LISTS: &str = "\
PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST
gpu*         up   infinite      1 drain* gpu007
gpu*         up   infinite     28    mix gpu[001-006,008-029]
gpu*         up   infinite      1   idle gpu030
Fri Nov 20 10:00:00 2026
NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON
gpu001         1      gpu*       mixed 224    2:56:2 2051000      0      1   (null) none
gpu007         1      gpu*     drained 224    2:56:2 2051000      0      1   (null) Kill task failed
gpu007         1     debug     drained 224    2:56:2 2051000      0      1   (null) Kill task failed
REASON               USER         TIMESTAMP           STATE  NODELIST
Kill task failed     root(0)      2026-11-20T10:00:00 drain  gpu007
REASON               USER      TIMESTAMP           NODELIST
Not responding       slurm     2026-11-20T10:00:00 gpu[003,009]

PARTITION AVAIL  TIMELIMIT   JOB_SIZE ROOT OVERSUBS     GROUPS  NODES       STATE RESERVATION NODELIST
gpu*         up   infinite 1-infinite   no       NO        all      2        down             gpu[011-012]
gpu*         up   infinite 1-infinite   no       NO        all      1     planned       tests gpu013
PARTITION AVAIL  TIMELIMIT   NODES(A/I/O/T) NODELIST
gpu*         up   infinite        28/1/1/30 gpu[001-030]
REASON                                  NODELIST            
Low RealMemory                          gpu[014-016]        
The nodes went into drain at gpu017
";

    #[test]
    fn lists() {
        let all = parse(LISTS.as_bytes()).items;
        let got: Vec<_> = all.iter().map(|r| (r.line, r.nodes.as_str(), r.used, r.reason.as_deref())).collect();
        let want = [
            (2, "gpu007", Some(false), None),
            (3, "gpu[001-006,008-029]", Some(true), None),
            (4, "gpu030", Some(true), None),
            (7, "gpu001", Some(true), None),
            (8, "gpu007", Some(false), Some("Kill task failed")),
            (11, "gpu007", Some(false), Some("Kill task failed")),
            (13, "gpu[003,009]", Some(false), Some("Not responding")),
            (16, "gpu[011-012]", Some(false), None),
            (17, "gpu013", Some(true), None),
            (21, "gpu[014-016]", Some(false), Some("Low RealMemory")),
        ];
        assert_eq!(got, want);
    }

    #[test]
    fn what_is_shown_is_read_alike() {
        let kept = shown(LISTS.as_bytes());
        let text = String::from_utf8_lossy(&kept);
        assert_eq!(parse(&kept), parse(LISTS.as_bytes()), "{text}");
        assert!(!text.contains("root") && !text.contains("infinite"), "{text}");
        assert_eq!((text.lines().count(), shown(&kept)), (LISTS.lines().count(), kept.clone()));
    }

    #[test]
    fn what_is_no_row() {
        let head = "NODELIST   NODES PARTITION STATE\n";
        for row in ["gpu1 1 gpu* up\n", "gpu1 is not drained\n", "$ sinfo drain drain drain\n", "\n", "gpu1\n"] {
            assert!(parse(format!("{head}{row}").as_bytes()).items.is_empty(), "{row}");
        }
        let states = [
            ("down*", Some(false)),
            ("idle~", Some(true)),
            ("idle*", Some(false)),
            ("maint", None),
            ("drng", Some(false)),
            ("mix-", Some(true)),
            ("MIXED+DRAIN", Some(false)),
            ("futr", None),
        ];
        for (state, used) in states {
            let all = parse(format!("{head}gpu1 1 gpu* {state}\n").as_bytes()).items;
            assert_eq!(all.first().map(|r| r.used), Some(used), "{state}");
        }
    }
}
