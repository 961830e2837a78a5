//! Words that all forms share: the verdict, sizes, shortened lists.

use crate::compact;
use linerate_doctor::answer::{
    Answer, Cause, Figure, Gdr, Input, Job, NOTHING_KNOWN, NearestNic, NicList, Row, Search,
};
pub(crate) use linerate_formats::{counted, thousands};
use linerate_rules::Severity;
use std::borrow::Cow;

/// Members of a list before the rest becomes a number.
pub(super) const LIST: usize = 8;

/// How near the NICs are: GPUs with equal paths share a line.
pub(super) fn paths(all: &[NearestNic], max: usize) -> Vec<String> {
    let mut equal: Vec<(&NearestNic, Vec<String>)> = Vec::new();
    for p in all {
        match equal.iter_mut().find(|(q, _)| q.path == p.path && q.gb_per_s.total_cmp(&p.gb_per_s).is_eq()) {
            Some((_, gpus)) => gpus.push(p.gpu.clone()),
            None => equal.push((p, vec![p.gpu.clone()])),
        }
    }
    let one = |(p, gpus): &(&NearestNic, Vec<String>)| {
        let which = if equal.len() > 1 { format!(" ({})", names(gpus, max)) } else { String::new() };
        format!("{}{which}: nearest NIC {} apart, {} GB/s", counted(gpus.len(), "GPU", "GPUs"), p.path, p.gb_per_s)
    };
    equal.iter().map(one).collect()
}

/// What NCCL's search found, in a line.
pub(super) fn search(s: &Search) -> String {
    let channels = counted(s.channels as usize, "channel", "channels");
    match (s.inter_gb_per_s, &s.nics) {
        (Some(inter), Some(nics)) => format!(
            "{}: {channels} of {inter} GB/s between nodes, {} GB/s within; GPUs {} apart, NICs {nics}",
            s.pattern, s.intra_gb_per_s, s.gpus
        ),
        _ => format!("{}: {channels} of {} GB/s; GPUs {} apart", s.pattern, s.intra_gb_per_s, s.gpus),
    }
}

/// What kind of answer it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// There are causes.
    Causes(Severity),
    /// Something is wrong, and this does not decide why.
    Undecided,
    /// Nothing of the input was of use.
    Nothing,
    /// Nothing wrong was seen.
    Good,
}

/// The answer in a line, and a second one with what goes with it.
pub(super) struct Verdict {
    pub(super) sort: Sort,
    pub(super) first: String,
    pub(super) second: String,
}

/// Causes that count, and those that are worth knowing only.
pub(super) fn causes(answer: &Answer) -> (Vec<&Cause>, Vec<&Cause>) {
    answer.causes.iter().partition(|c| c.severity > Severity::Info)
}

pub(super) fn verdict(answer: &Answer) -> Verdict {
    let (real, _) = causes(answer);
    let code = answer.exit_code();
    let open = counted(answer.undecided.len(), "symptom that cannot be decided", "symptoms that cannot be decided");
    if let Some(cause) = real.first() {
        let first = format!("CAUSE, {}: {}", cause.confidence.name(), cause.summary);
        let mut parts = vec![counted(real.len(), "cause", "causes")];
        parts.extend((!answer.undecided.is_empty()).then_some(open));
        parts.extend(
            answer
                .timeline
                .first()
                .filter(|f| !f.who.is_empty())
                .map(|f| format!("the first failure in time is of {}", f.who)),
        );
        let worst = real.iter().map(|c| c.severity).max().unwrap_or(Severity::Low);
        return Verdict {
            sort: Sort::Causes(worst),
            first,
            second: format!("{} (exit code {code})", parts.join("; ")),
        };
    }
    if let Some(u) = answer.undecided.first() {
        let read = u.read.first().map_or_else(|| "no known data would decide it".to_owned(), |r| format!("read {r}"));
        let more = if answer.undecided.len() > 1 { format!("; {open}") } else { String::new() };
        return Verdict {
            sort: Sort::Undecided,
            first: format!("CANNOT BE DECIDED: {}", u.summary),
            second: format!("{read}{more} (exit code {code})"),
        };
    }
    if let Some(f) = answer.open_figure() {
        let ways = counted(f.fits.len() + f.fits_left_out, "explanation fits", "explanations fit");
        let next = f
            .next
            .as_ref()
            .map_or_else(|| "no known command decides it".to_owned(), |n| format!("run next: {}", n.command));
        return Verdict {
            sort: Sort::Undecided,
            first: format!("CANNOT BE DECIDED: {}: {}; {ways}", f.name, figure(f)),
            second: format!("{next} (exit code {code})"),
        };
    }
    let known = |i: &Input| !i.kind.is_empty() && i.kind != NOTHING_KNOWN;
    if answer.nothing_understood() && answer.inputs.iter().any(known) {
        return Verdict {
            sort: Sort::Nothing,
            first: "NO LOG OF A JOB AMONG THE INPUTS: without one there is no job to explain".to_owned(),
            second: format!(
                "`linerate audit` judges a node by itself; run the job with NCCL_DEBUG=INFO and give its output, too (exit code {code})"
            ),
        };
    }
    if answer.nothing_understood() {
        return Verdict {
            sort: Sort::Nothing,
            first: "NOTHING WAS UNDERSTOOD: no NCCL log, kernel log, benchmark or known tool's output".to_owned(),
            second: format!(
                "{}; run the job with NCCL_DEBUG=INFO and give its output (exit code {code})",
                counted(answer.inputs.len(), "input", "inputs")
            ),
        };
    }
    let jobs: Vec<String> = answer.jobs.iter().take(3).map(job_line).collect();
    let more = answer.jobs.len().saturating_sub(jobs.len());
    let more = if more > 0 { format!("; and {more} more jobs") } else { String::new() };
    let ran = match (jobs.as_slice(), answer.figures.first()) {
        ([], Some(f)) => format!("{}: {}", f.name, figure(f)),
        ([], None) => "no job of NCCL in these inputs".to_owned(),
        _ => jobs.join("; "),
    };
    Verdict {
        sort: Sort::Good,
        first: "NOTHING WRONG WAS SEEN".to_owned(),
        second: format!("{ran}{more} (exit code {code})"),
    }
}

/// `35.2 Gb/s, 9 % of 391–397 Gb/s: the port on node1 runs at 400 Gb/s`.
pub(super) fn figure(f: &Figure) -> String {
    let value = f.evidence.text.clone();
    match (&f.ceiling, f.share) {
        (Some(ceiling), Some(s)) => {
            let (low, high) = (format!("{:.0}", s.low * 100.0), format!("{:.0}", s.high * 100.0));
            let share = if low == high { low } else { format!("{low}–{high}") };
            format!("{value}, {share} % of {ceiling}")
        }
        _ => value,
    }
}

/// Places of a list: `1, 3`.
pub(super) fn places(list: &[usize]) -> String {
    if list.is_empty() {
        return "none of these".to_owned();
    }
    list.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// `job 1: NCCL 2.21.5, CUDA driver 12.4, 16 ranks on 2 nodes`.
pub(super) fn job_line(job: &Job) -> String {
    let mut parts = Vec::new();
    if !job.releases.is_empty() {
        parts.push(format!("NCCL {}", few(&job.releases)));
    }
    if !job.cuda_drivers.is_empty() {
        parts.push(format!("CUDA driver {}", few(&job.cuda_drivers)));
    }
    parts.push(ranks(job));
    if job.communicators > 1 {
        parts.push(format!("{} communicators", job.communicators));
    }
    format!("{}: {}", job.name, parts.join(", "))
}

fn ranks(job: &Job) -> String {
    let ranks = match job.ranks {
        Some(all) if all == job.ranks_seen => counted(all as usize, "rank", "ranks"),
        Some(all) => format!("{}, {} of them seen", counted(all as usize, "rank", "ranks"), job.ranks_seen),
        None if job.ranks_seen == 0 => "number of ranks not seen".to_owned(),
        None => format!("{} seen", counted(job.ranks_seen as usize, "rank", "ranks")),
    };
    match job.nodes {
        Some(nodes) => format!("{ranks} on {}", counted(nodes as usize, "node", "nodes")),
        None => ranks,
    }
}

/// What was taken for what, and how much of it was understood.
pub(super) fn input_line(i: &Input) -> String {
    let mut parts = Vec::new();
    if !i.kind.is_empty() {
        parts.push(i.kind.clone());
    }
    if i.bytes > 0 {
        parts.push(bytes(i.bytes));
    }
    if i.lines > 0 {
        parts.push(counted(i.lines, "line", "lines"));
    }
    // Rounded down: 100 % is all of it.
    if let Some(tenths) = i.understood.min(i.nccl_lines).saturating_mul(1000).checked_div(i.nccl_lines) {
        let share = if tenths == 1000 { "100".to_owned() } else { format!("{}.{}", tenths / 10, tenths % 10) };
        parts.push(format!("{} of NCCL, {share} % of them with a known meaning", thousands(i.nccl_lines)));
    }
    parts.join(", ")
}

/// Decimal units, as disks and networks have them.
pub(super) fn bytes(n: u64) -> String {
    for (unit, name) in [(1_000_000_000_u64, "GB"), (1_000_000, "MB"), (1_000, "kB")] {
        if n >= unit {
            return format!("{}.{} {name}", n / unit, n % unit / (unit / 10));
        }
    }
    counted(n as usize, "byte", "bytes")
}

/// The first few of a list.
pub(super) fn few(list: &[String]) -> String {
    let shown = list.iter().take(LIST).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = list.len().saturating_sub(LIST);
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// Names that differ in a number, as one: `node{0..15}`. `max`: members before the rest becomes a number.
pub(crate) fn names(list: &[String], max: usize) -> String {
    compact::names(list.to_vec(), max)
}

/// NICs of a list, and how it differs from the most frequent one of the same network.
pub(super) fn nics(list: &NicList, usual: Option<&NicList>, max: usize) -> (String, Option<String>) {
    let hosts = if list.hosts.is_empty() { String::new() } else { format!(" on {}", names(&list.hosts, max)) };
    let what = if list.nics.is_empty() { "none".to_owned() } else { names(&list.nics, max.max(16)) };
    let text = format!("{}: {} ({}){hosts}", list.network, what, list.nics.len());
    let Some(usual) = usual else { return (text, None) };
    let only =
        |a: &NicList, b: &NicList| -> Vec<String> { a.nics.iter().filter(|n| !b.nics.contains(n)).cloned().collect() };
    let mut differs = Vec::new();
    let (missing, more) = (only(usual, list), only(list, usual));
    if !missing.is_empty() {
        differs.push(format!("without {}", names(&missing, max)));
    }
    if !more.is_empty() {
        differs.push(format!("also {}", names(&more, max)));
    }
    if differs.is_empty() {
        differs.push("in another order".to_owned());
    }
    (text, Some(differs.join(", ")))
}

/// The list with which one is compared: the first of its network with the most hosts.
pub(super) fn usual<'a>(all: &'a [NicList], one: &NicList) -> Option<&'a NicList> {
    let most = all.iter().filter(|l| l.network == one.network).map(|l| l.hosts.len()).max()?;
    let usual = all.iter().find(|l| l.network == one.network && l.hosts.len() == most)?;
    (usual.nics != one.nics || usual.hosts != one.hosts).then_some(usual)
}

/// The cells of a row that are not empty, with their columns.
pub(super) fn cells(row: &Row, columns: &[String]) -> Vec<String> {
    let width = columns.len().max(row.cells.len());
    (0..width).map(|i| row.cells.get(i).map(cell).unwrap_or_default()).collect()
}

/// `0-15 @0,2 GDRDMA`.
pub(super) fn cell(cell: &linerate_doctor::answer::Cell) -> String {
    let mut parts: Vec<Cow<'_, str>> = Vec::new();
    if !cell.channels.is_empty() {
        parts.push(cell.channels.as_str().into());
    }
    if !cell.devices.is_empty() {
        parts.push(format!("@{}", cell.devices).into());
    }
    match cell.gdr {
        Some(Gdr::All) => parts.push("GDRDMA".into()),
        Some(Gdr::Some) => parts.push("part GDRDMA".into()),
        Some(Gdr::None) => parts.push("no GDRDMA".into()),
        None => {}
    }
    if cell.proxied {
        parts.push("PXN".into());
    }
    parts.join(" ")
}

/// How often what was chosen, as a list.
pub(super) fn counts(list: &[(String, u64)]) -> String {
    let shown: Vec<String> =
        list.iter().take(LIST).map(|(what, n)| format!("{what}\u{a0}×{}", thousands(*n))).collect();
    let more = list.len().saturating_sub(LIST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_numbers() {
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1_990), "1.9 kB");
        assert_eq!(bytes(4_294_967_296), "4.2 GB");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(123), "123");
    }

    #[test]
    fn an_input_is_all_understood_only_where_all_of_it_is() {
        let i = Input { nccl_lines: 100_000, understood: 99_999, ..Input::default() };
        assert_eq!(input_line(&i), "100,000 of NCCL, 99.9 % of them with a known meaning");
        let i = Input { nccl_lines: 3, understood: 3, ..Input::default() };
        assert_eq!(input_line(&i), "3 of NCCL, 100 % of them with a known meaning");
    }

    #[test]
    fn lists_of_nics_say_how_they_differ() {
        let list = |nics: &[&str], hosts: &[&str]| NicList {
            network: "IB".into(),
            nics: nics.iter().map(|n| format!("{n}:1/IB")).collect(),
            hosts: hosts.iter().map(|h| (*h).to_owned()).collect(),
        };
        let all = [list(&["mlx5_1"], &["c"]), list(&["mlx5_0", "mlx5_1"], &["a1", "a2"])];
        assert!(usual(&all, &all[1]).is_none());
        let (text, differs) = nics(&all[0], usual(&all, &all[0]), LIST);
        assert_eq!((text.as_str(), differs.as_deref()), ("IB: mlx5_1:1/IB (1) on c", Some("without mlx5_0:1/IB")));
        assert_eq!(nics(&all[1], None, LIST).0, "IB: mlx5_{0,1}:1/IB (2) on a{1,2}");
    }
}
