//! A topology for a terminal.

use super::names::name;
use super::tables::{self, Use, short};
use super::{Topo, tree};
use crate::VERSION;
use crate::group::alike;
use crate::style::{Page, Style, Tone, wrap};
use crate::table::{Cell, Table, left};
use linerate_topology::from_node::{Difference, compare_with_topo_m};
use linerate_topology::gdr::{Gdr, GdrReason};
use linerate_topology::search::Graph;
use linerate_topology::system::NodeId;
use linerate_topology::{Analysis, Open, PathType};
use std::io::{self, Write};

/// What the names of paths mean.
const LEGEND: &[(&str, &str)] = &[
    ("NVL", "NVLink"),
    ("NVB", "NVLink through another GPU"),
    ("C2C", "chip-to-chip link"),
    ("PIX", "at most one PCIe switch"),
    ("PXB", "several PCIe switches, no host bridge"),
    ("P2C", "C2C to the CPU, PCIe from there"),
    ("PXN", "over NVLink to a GPU that is near the NIC"),
    ("PHB", "a host bridge: through the CPU"),
    ("SYS", "between NUMA nodes"),
    ("NET", "the network"),
    ("DIS", "not connected"),
];

/// Writes it.
///
/// # Errors
/// Those of the writer.
pub fn render(topo: &Topo<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out, style);
    let a = topo.analysis;
    let nodes = topo.config.nodes;
    let of = if nodes == 1 { "one node".to_owned() } else { format!("one of {nodes} equal nodes") };
    page.text(0, Tone::Bold, &format!("linerate {VERSION}, topology of {}", topo.label))?;
    page.text(0, Tone::Plain, &format!("as NCCL {} sees it, {of}", topo.config.version))?;
    page.blank()?;
    if !a.open.is_empty() {
        heading(&mut page, "NOT IN THIS INPUT", "what depends on it has a `?` below, or is left out")?;
        for o in &a.open {
            page.text(2, Tone::Warn, &format!("{}: {}", o.what(), o.see()))?;
        }
        page.blank()?;
    }
    for line in tree::lines(topo) {
        let tone = if line.degraded { Tone::Warn } else { Tone::Dim };
        branch(&mut page, &line, tone)?;
    }
    page.blank()?;
    if let Some(m) = topo.matrix {
        heading(&mut page, "MATRIX", "as nvidia-smi topo -m names paths; from the PCI tree")?;
        let text = m.to_string();
        let (table, rest) = matrix(&text);
        table_lines(&mut page, &table, style)?;
        for line in rest {
            match line.trim().split_once("= ") {
                Some((sign, words)) => page.item(4, &format!("{sign}="), Tone::Plain, Tone::Plain, words)?,
                None if line.is_empty() => page.blank()?,
                None => page.text(2, Tone::Plain, line)?,
            }
        }
        page.blank()?;
    }
    if let Some(parts) = parts(a) {
        heading(&mut page, "PARTS", "NCCL splits this host and joins the parts by the network")?;
        for line in parts {
            page.text(2, Tone::Warn, &line)?;
        }
        page.blank()?;
    }
    let (table, once) = tables::nccl_paths(a);
    let about = if once.is_empty() { "NCCL's type, and GB/s one way".to_owned() } else { once.join(", ") };
    heading(&mut page, "PATHS", &about)?;
    table_lines(&mut page, &table, style)?;
    legend(&mut page, &table)?;
    page.blank()?;
    let uses = tables::uses(a);
    heading(&mut page, "NICS", "which GPU uses which, and whether data goes there directly")?;
    for u in &uses {
        page.text(2, Tone::Plain, &use_words(topo, u))?;
    }
    for net in tables::idle_nets(a, &uses) {
        page.text(2, Tone::Warn, &unused(topo, net))?;
    }
    if a.system.nets().next().is_none() {
        page.text(2, Tone::Plain, "no NIC that NCCL would use")?;
    }
    page.blank()?;
    heading(&mut page, "GPUDIRECT RDMA", "by GPU and NIC")?;
    for line in gdr_lines(topo) {
        page.text(2, Tone::Plain, &line)?;
    }
    if let Some(search) = topo.search {
        page.blank()?;
        heading(&mut page, "RINGS AND TREES", "that NCCL's search finds")?;
        let open = a.open_for_search(search);
        if !open.is_empty() {
            page.text(2, Tone::Warn, &cannot_tell(&open))?;
        }
        let graphs = [("rings", &search.ring), ("trees", &search.tree)];
        for (what, g) in graphs.into_iter().filter(|_| open.is_empty()) {
            page.text(2, Tone::Plain, &graph_words(topo, what, g, search.inter))?;
        }
    }
    if let Some(c) = topo.ceilings {
        super::ceiling::render(&mut page, c)?;
    }
    let differences = topo.theirs.map(|t| compare_with_topo_m(a, t)).unwrap_or_default();
    if !differences.is_empty() {
        page.blank()?;
        heading(&mut page, "nvidia-smi topo -m", "uses other names for some paths")?;
        for line in grouped(&differences) {
            page.text(2, Tone::Plain, &line)?;
        }
    }
    let notes: Vec<&str> = topo.notes.iter().map(String::as_str).chain(a.notes()).collect();
    if !notes.is_empty() {
        page.blank()?;
        heading(&mut page, "NOTES", "what was assumed, or is not known")?;
        for note in notes {
            page.text(2, Tone::Plain, note)?;
        }
    }
    Ok(())
}

/// What is otherwise in the second, under a heading, with a blank line behind it.
///
/// # Errors
/// Those of the writer.
pub fn changes(before: &Analysis, after: &Analysis, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out, style);
    page.text(0, Tone::Bold, "WHAT WOULD CHANGE")?;
    for line in super::differences::lines(before, after) {
        page.text(2, Tone::Plain, &line)?;
    }
    page.blank()
}

/// Lines whose cells are separated by tabs, and the legend after them.
fn matrix(text: &str) -> (Table, impl Iterator<Item = &str>) {
    let is_row = |l: &&str| l.contains('\t');
    let mut rows = text.lines().take_while(is_row).map(|l| l.split('\t').map(str::trim));
    let heads: Vec<&str> = rows.next().into_iter().flatten().skip(1).collect();
    let kind = |c: &str| c.trim_end_matches(|c: char| c.is_ascii_digit()).split(' ').next_back().map(str::to_owned);
    let columns = heads.iter().enumerate().map(|(i, head)| {
        let before = i.checked_sub(1).and_then(|b| heads.get(b));
        if before.is_some_and(|b| kind(b) != kind(head)) { left(head, 0).parting() } else { left(head, 0) }
    });
    let mut table = Table::of(std::iter::once(left("", 0)).chain(columns));
    rows.for_each(|cells| table.row(cells.map(Cell::whole).collect()));
    (table, text.lines().skip_while(is_row))
}

/// Differences of one kind on one line.
fn grouped(differences: &[Difference]) -> Vec<String> {
    let keyed = differences.iter().map(|d| ((&d.ours, &d.theirs, d.why), format!("{}–{}", d.a, d.b)));
    let groups = alike(keyed).into_iter().map(|((ours, theirs, why), pairs)| {
        let more = if pairs.len() > 4 { format!(" and {} more", pairs.len() - 4) } else { String::new() };
        let some = pairs.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
        format!("{theirs} there, {ours} here: {some}{more}: {why}")
    });
    groups.collect()
}

/// A line of the tree; what does not fit beside the name goes on below it.
fn branch(page: &mut Page<'_>, line: &tree::Line, tone: Tone) -> io::Result<()> {
    let columns = |s: &str| linerate_out::terminal(s).chars().count();
    let used = columns(&line.branches) + columns(&line.name) + 2;
    let head = [(Tone::Dim, line.branches.as_str()), (Tone::Plain, line.name.as_str())];
    if line.about.is_empty() {
        return page.spans(&head);
    }
    if used + columns(&line.about) <= page.style.width {
        return page.spans(&[head[0], head[1], (tone, &format!("  {}", line.about))]);
    }
    page.spans(&head)?;
    let rest = line.rest();
    let room = page.style.width.saturating_sub(columns(&rest));
    wrap(&line.about, room).iter().try_for_each(|l| page.spans(&[(Tone::Dim, &rest), (tone, l)]))
}

pub(super) fn heading(page: &mut Page<'_>, what: &str, about: &str) -> io::Result<()> {
    page.item(0, &format!("{what} "), Tone::Bold, Tone::Dim, about)
}

fn table_lines(page: &mut Page<'_>, table: &Table, style: Style) -> io::Result<()> {
    for line in table.parted(style.width.saturating_sub(2)) {
        let indent = if line.is_empty() { "" } else { "  " };
        page.spans(&[(Tone::Plain, indent), (Tone::Plain, &line)])?;
    }
    Ok(())
}

fn legend(page: &mut Page<'_>, table: &Table) -> io::Result<()> {
    let shown = |t: &str| table.texts().any(|c| c.split([' ', '?']).next() == Some(t));
    let words: Vec<String> = LEGEND.iter().filter(|(t, _)| shown(t)).map(|(t, w)| format!("{t} {w}")).collect();
    page.text(2, Tone::Plain, &words.join("; "))
}

fn cannot_tell(open: &[Open]) -> String {
    let mut open = open.to_vec();
    open.sort_unstable();
    open.dedup();
    let list: Vec<&str> = open.iter().map(|o| o.short()).collect();
    format!("cannot tell, not in this input: {}", list.join(", "))
}

/// The nouns with their verb.
fn are(open: &[Open]) -> String {
    format!("{} {}", linerate_topology::open::words(open), if open.len() == 1 { "is" } else { "are" })
}

/// `mlx5_9: no GPU uses it: every GPU has a better one: …`.
fn unused(topo: &Topo<'_>, net: NodeId) -> String {
    if topo.analysis.domains.len() > 1 {
        return format!("{}: no GPU of this part uses it", name(&topo.analysis.system, net));
    }
    let why = tables::why_idle(topo.analysis, net).map(|w| format!(": {w}")).unwrap_or_default();
    format!("{}: no GPU uses it{why}", name(&topo.analysis.system, net))
}

/// Which ranks are cut from which, and why: `ncclTopoCheckNet` prefers the network between two GPUs that both reach a NIC below PCIe
/// switches faster than each other, and `ncclTopoTrimSystem` keeps what is not behind the network.
fn parts(a: &Analysis) -> Option<[String; 2]> {
    let (first, others) = a.domains.split_first().filter(|(_, others)| !others.is_empty())?;
    let ranks = |d: &Vec<i32>| d.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
    let cut = others.iter().map(|d| format!("ranks {}", ranks(d))).collect::<Vec<_>>().join("; ");
    Some([
        format!("below is the part of ranks {}; separate parts are {cut}", ranks(first)),
        "GPUs of two parts reach a NIC below their own PCIe switch faster than each other, and NCCL takes the faster path; \
         NCCL_NET_DISABLE_INTRA=1 forbids it"
            .to_owned(),
    ])
}

/// `GPU0: mlx5_0 (PIX), alone; GPUDirect RDMA both ways`.
fn use_words(topo: &Topo<'_>, u: &Use) -> String {
    let system = &topo.analysis.system;
    let all = |ids: &[NodeId]| ids.iter().map(|n| name(system, *n)).collect::<Vec<_>>().join(", ");
    if u.nets.is_empty() {
        return format!("{}: none", name(system, u.gpu));
    }
    if !u.open.is_empty() {
        let (near, kind) = tables::nearest(topo.analysis, u.gpu);
        let kind = kind.map(|k| k.to_string()).unwrap_or_default();
        let why = cannot_tell(&u.open);
        return format!("{}: nearest are {} ({kind}); which it uses: {why}", name(system, u.gpu), all(&near));
    }
    let shared =
        if u.shared_with.is_empty() { String::new() } else { format!(", shared with {}", all(&u.shared_with)) };
    let n = u.nets.len();
    let direct = match (u.recv == n, u.send == n) {
        _ if !u.open_gdr.is_empty() => format!("GPUDirect RDMA: {}", cannot_tell(&u.open_gdr)),
        (true, true) => "GPUDirect RDMA both ways".to_owned(),
        (true, false) => "GPUDirect RDMA for receiving only".to_owned(),
        (false, true) => "GPUDirect RDMA for sending only".to_owned(),
        _ if u.recv == 0 && u.send == 0 => "no GPUDirect RDMA: through host memory".to_owned(),
        _ => format!("GPUDirect RDMA with {} of {n} for receiving, {} for sending", u.recv, u.send),
    };
    format!("{}: {} ({}){shared}; {direct}", name(system, u.gpu), all(&u.nets), u.kind)
}

/// `16 rings of 24 GB/s between GPUs and 24 GB/s to the network: 384 GB/s; GPU0 GPU3 …`.
fn graph_words(topo: &Topo<'_>, what: &str, g: &Graph, inter: bool) -> String {
    if g.fallback {
        return format!(
            "{what}: the search finds none; NCCL falls back to the GPUs in their order, at a token bandwidth"
        );
    }
    let system = &topo.analysis.system;
    let n = g.channels.len();
    let (what, each) = if n == 1 { (what.trim_end_matches('s'), "") } else { (what, " each") };
    let net = if inter {
        format!(
            ", {} GB/s{each} to the network by {}: {} GB/s",
            short(g.bw_inter),
            g.type_inter,
            short(g.total_inter())
        )
    } else {
        String::new()
    };
    // A node with one GPU has no bandwidth between GPUs.
    let alone = g.channels.iter().all(|c| c.ranks.len() <= 1);
    if alone && !inter {
        return format!("{what}: one GPU, so nothing goes between GPUs");
    }
    let gpu = |r: &i32| system.gpu_of_rank(*r).map_or_else(|| format!("rank {r}"), |id| name(system, id));
    let order = g.channels.first().map(|c| c.ranks.iter().map(gpu).collect::<Vec<_>>().join(" ")).unwrap_or_default();
    let by = match g.channels.first().and_then(|c| c.nets) {
        Some((from, to)) if from == to => format!(" by {}", name(system, from)),
        Some((from, to)) => format!(" by {} and {}", name(system, from), name(system, to)),
        None => String::new(),
    };
    format!(
        "{n} {what} of {} GB/s{each} by {} between GPUs: {} GB/s{net}; the first: {order}{by}",
        short(g.bw_intra),
        g.type_intra,
        short(g.total_intra()),
    )
}

/// Pairs with the same answer and reason together.
fn gdr_lines(topo: &Topo<'_>) -> Vec<String> {
    let a = topo.analysis;
    if a.gdr.is_empty() {
        return vec!["there is no pair of GPU and NIC".to_owned()];
    }
    let words = |g: &Gdr| match a.open_for_gdr(g) {
        open if open.is_empty() => decision(g),
        open => undecided(a, g, &open),
    };
    let mut groups = alike(a.gdr.iter().map(|g| (words(g), g)));
    let total = a.gdr.len();
    groups.sort_by_key(|(_, list)| std::cmp::Reverse(list.len()));
    let line = |(words, list): &(String, Vec<&Gdr>)| {
        let which: Vec<String> =
            list.iter().take(4).map(|g| format!("{}–{}", name(&a.system, g.gpu), name(&a.system, g.net))).collect();
        let more = if list.len() > 4 { format!(", and {} more", list.len() - 4) } else { String::new() };
        format!("{} of {total} pairs {words} ({}{more})", list.len(), which.join(", "))
    };
    groups.iter().map(line).collect()
}

/// What can be said where the decision hangs on what the source does not show.
fn undecided(a: &Analysis, g: &Gdr, open: &[Open]) -> String {
    let kind = a.raw.get(g.gpu, g.net).map_or(g.kind, |p| p.kind);
    match g.recv.reason {
        GdrReason::Near { limit, .. } if open == [Open::Gdr] => {
            format!(
                "near enough ({kind}, {limit} is allowed); {}",
                cannot_tell(open).replacen("cannot tell", "cannot tell whether it is used", 1)
            )
        }
        _ => format!("{kind} apart by PCIe; {}", cannot_tell(open)),
    }
}

fn decision(g: &Gdr) -> String {
    let relay = if g.kind == PathType::Pxn { " through a relaying GPU" } else { "" };
    let why = |d: &linerate_topology::gdr::GdrDecision| {
        let words = d.reason.to_string();
        if d.via.is_some() { words.replacen("GPU and NIC", "relay and NIC", 1) } else { words }
    };
    match (g.send.mode, g.recv.mode) {
        (Some(_), Some(_)) => format!("directly both ways{relay}: {}", why(&g.recv)),
        (None, None) => format!("through host memory: {}", why(&g.recv)),
        (None, Some(_)) => format!("directly for receiving; sending through host memory: {}", why(&g.send)),
        (Some(_), None) => format!("directly for sending; receiving through host memory: {}", why(&g.recv)),
    }
}

/// Writes how NCCL comes to its answer for two devices, step by step.
///
/// # Errors
/// Those of the writer.
pub fn explain(topo: &Topo<'_>, (from, to): (NodeId, NodeId), style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out, style);
    let [one, other] = [from, to].map(|id| name(&topo.analysis.system, id));
    page.text(0, Tone::Bold, &format!("{one} to {other}, as NCCL {} sees it", topo.config.version))?;
    steps(topo, from, to).iter().try_for_each(|(number, text)| {
        page.item(0, &number.map(|n| format!("{n}.")).unwrap_or_default(), Tone::Plain, Tone::Plain, text)
    })
}

/// The steps, each with its number.
fn steps(topo: &Topo<'_>, from: NodeId, to: NodeId) -> Vec<(Option<u8>, String)> {
    let a = topo.analysis;
    let say = |id| name(&a.system, id);
    let mut out = Vec::new();
    let pair = |g: &&Gdr| (g.gpu, g.net) == (from, to) || (g.net, g.gpu) == (from, to);
    let mut open = a.open_for_bandwidth(from, to);
    open.extend(a.gdr.iter().filter(pair).flat_map(|g| a.open_for_gdr(g)));
    if !open.is_empty() {
        open.sort_unstable();
        open.dedup();
        let text = format!("Assumed: {} not in this input, and the answer depends on it.", are(&open));
        out.push((Some(0), text));
    }
    let hops = |paths: &linerate_topology::Paths| {
        let (mut words, mut at) = (say(from), say(from));
        for l in paths.hops(&a.system, from, to) {
            let next = say(l.to);
            // A rank and its GPU are two nodes to NCCL, one device to people.
            if next != at {
                words.push_str(&format!(" –{} {}→ {next}", l.kind.name(), short(l.bandwidth)));
            }
            at = next;
        }
        words
    };
    let (Some(raw), Some(used)) = (a.raw.get(from, to), a.paths.get(from, to)) else {
        out.push((None, "NCCL does not look for a path between these".to_owned()));
        return out;
    };
    let (path, kind, bandwidth) = (hops(&a.raw), raw.kind, short(raw.bandwidth));
    out.push((Some(1), format!("The hardware: {path}: {kind} at {bandwidth} GB/s, its narrowest link.")));
    if (raw.kind, raw.bandwidth) == (used.kind, used.bandwidth) {
        out.push((Some(2), "NCCL uses it as it is.".to_owned()));
    } else {
        let why = match used.kind {
            PathType::Pxn => {
                "the data goes over NVLink to a GPU that is nearer to the NIC, and that GPU's process sends it (PXN)"
            }
            PathType::Phb | PathType::Sys => "without a direct way, data is staged in host memory near the CPU",
            PathType::P2c => "C2C takes it to the CPU, PCIe to the NIC",
            PathType::Net => "the network is faster than every way inside the host",
            _ => "NCCL changes it",
        };
        let (kind, bandwidth, path) = (used.kind, short(used.bandwidth), hops(&a.paths));
        out.push((Some(2), format!("NCCL makes it {kind} at {bandwidth} GB/s: {why}: {path}.")));
    }
    if let Some(g) = a.gdr.iter().find(pair) {
        for ((number, what), d) in [
            ((3, "Receiving (the NIC writes into the GPU)"), &g.recv),
            ((4, "Sending (the NIC reads from the GPU)"), &g.send),
        ] {
            let answer = if d.mode.is_some() { "directly" } else { "through host memory" };
            let via = d.via.map(|r| format!(" (judged at the relaying rank {r})")).unwrap_or_default();
            out.push((Some(number), format!("{what}: {answer}{via}, because {}.", d.reason)));
        }
        let uses = tables::uses(a);
        let used = uses.iter().any(|u| u.gpu == g.gpu && u.nets.contains(&g.net));
        let (gpu, net) = (say(g.gpu), say(g.net));
        let text = match used {
            true => format!("{net} is a NIC that {gpu} uses by default."),
            false => format!("{gpu} does not use {net} by default: others are nearer, or it is another GPU's."),
        };
        out.push((Some(5), text));
    }
    if let Some(p) = a.p2p.iter().find(|p| p.gpus == (from, to)) {
        let answer = if p.allowed { "direct peers" } else { "not direct peers" };
        let text = format!("They are {answer}, because {}; data goes by {}.", p.reason, p.transport.name());
        out.push((Some(3), text));
    }
    out
}
