//! What a check sees: one job, what failed in it, and the nodes that were given.

use crate::answer::Evidence;
use crate::jobs::Job;
use crate::nodes::{Failing, NodeView};
use crate::observe::groups::{Group, Groups};
use crate::observe::process::Process;
use crate::observe::ranks::{Carrier, Cell, Rank};
use crate::observe::ras::Reports;
use crate::observe::trouble::{FrameworkTrouble, KernelTrouble, ToolTrouble, Trouble};
use crate::observe::{Observer, names::Name};
use crate::place::{FileId, Place, Quote};
use crate::ranges::{ranges, some};
use linerate_formats::host_name;
use linerate_formats::nccl_log::Direction;
use linerate_formats::nccl_ras::Report;
use linerate_formats::pci::Bdf;
use std::collections::BTreeSet;
use std::hash::Hash;

/// Hosts and ranks that are named in a sentence.
const NAMED: usize = 4;

/// One job, judged.
pub(crate) struct Case<'a> {
    pub(crate) o: &'a Observer,
    pub(crate) job: &'a Job,
    /// The first job, or the only one: what no process can be named for is counted here.
    pub(crate) is_first: bool,
    pub(crate) nodes: &'a [NodeView<'a>],
}

impl<'a> Case<'a> {
    /// Whether something happened in this job.
    fn touches(&self, g: &Group) -> bool {
        if g.processes.is_empty() { self.is_first } else { g.processes.iter().any(|p| self.job.processes.contains(p)) }
    }

    /// Things of one kind that happened in this job.
    pub(crate) fn of<K: Copy + Eq + Hash>(&self, groups: &'a Groups<K>) -> impl Iterator<Item = (K, &'a Group)> {
        groups.list.iter().filter(|(_, g)| self.touches(g)).map(|(k, g)| (*k, g))
    }

    pub(crate) fn failures(&self, is: impl Fn(&Trouble) -> bool) -> Vec<(Trouble, &'a Group)> {
        self.of(&self.o.failures).filter(|(t, _)| is(t)).collect()
    }

    /// What the kernels' logs say, each trouble once for each host.
    pub(crate) fn kernel(&self, is: impl Fn(&KernelTrouble) -> bool) -> Vec<(KernelTrouble, &'a Group)> {
        self.of(&self.o.kernel).map(|(k, g)| (k.trouble, g)).filter(|(t, _)| is(t)).collect()
    }

    pub(crate) fn tools(&self, is: impl Fn(&ToolTrouble) -> bool) -> Vec<(ToolTrouble, &'a Group)> {
        self.of(&self.o.tools).filter(|(t, _)| is(t)).collect()
    }

    pub(crate) fn frameworks(&self, is: impl Fn(&FrameworkTrouble) -> bool) -> Vec<(FrameworkTrouble, &'a Group)> {
        self.of(&self.o.frameworks).filter(|(t, _)| is(t)).collect()
    }

    /// The first of the failures that are so.
    pub(crate) fn failure(&self, is: impl Fn(&Trouble) -> bool) -> Option<&'a Group> {
        self.of(&self.o.failures).find(|(t, _)| is(t)).map(|(_, g)| g)
    }

    pub(crate) fn kernel_line(&self, is: impl Fn(&KernelTrouble) -> bool) -> Option<&'a Group> {
        self.of(&self.o.kernel).find(|(k, _)| is(&k.trouble)).map(|(_, g)| g)
    }

    /// The devices of which the kernels' logs say something, in words where lines name any, and where they say so. `of`: the device of a trouble, where it is
    /// such a one. `None`: nothing of it counts.
    pub(crate) fn devices(
        &self,
        of: impl Fn(&KernelTrouble) -> Option<Option<Bdf>>,
        counts: impl Fn(Option<Bdf>, &Group) -> bool,
    ) -> Option<(Option<String>, Vec<&'a Group>)> {
        let all = self.kernel(|k| of(k).is_some()).into_iter().filter_map(|(k, g)| Some((of(&k)?, g)));
        let (devices, groups): (Vec<_>, Vec<_>) = all.filter(|(bdf, g)| counts(*bdf, g)).unzip();
        let mut names: Vec<String> = devices.iter().flatten().map(Bdf::to_string).collect();
        names.sort_unstable();
        names.dedup();
        let named = (!names.is_empty()).then(|| some(&names, NAMED));
        (!groups.is_empty()).then_some((named, groups))
    }

    /// Where the same happened: what one host's log says, in all hosts' logs; that of this group first.
    pub(crate) fn alike(&self, g: &'a Group) -> Vec<&'a Group> {
        let own = self.o.kernel.list.iter().find(|(_, other)| std::ptr::eq(other, g)).map(|(k, _)| k.trouble);
        let others = own.map(|own| self.kernel(|k| *k == own)).unwrap_or_default().into_iter().map(|(_, g)| g);
        std::iter::once(g).chain(others.filter(|other| !std::ptr::eq(*other, g))).collect()
    }

    pub(crate) fn tool(&self, is: impl Fn(&ToolTrouble) -> bool) -> Option<&'a Group> {
        self.of(&self.o.tools).find(|(t, _)| is(t)).map(|(_, g)| g)
    }

    pub(crate) fn framework(&self, is: impl Fn(&FrameworkTrouble) -> bool) -> Option<&'a Group> {
        self.of(&self.o.frameworks).find(|(t, _)| is(t)).map(|(_, g)| g)
    }

    /// Reports of NCCL's RAS that stand at the end of their files.
    pub(crate) fn ras(&self) -> impl Iterator<Item = (FileId, &'a Report)> {
        let all: &'a Reports = &self.o.ras;
        all.standing().filter(|_| self.is_first)
    }

    pub(crate) fn name(&self, n: Name) -> &'a str {
        self.o.name(n)
    }

    /// The values of a variable, with who has them.
    pub(crate) fn env(&self, name: &str) -> Option<(&'a str, &'a Group)> {
        let mut all = self.of(&self.o.settings).filter(|(s, _)| self.o.name(s.name) == name);
        all.next().map(|(s, g)| (self.o.name(s.value), g))
    }

    /// The value as a number, as NCCL reads it.
    pub(crate) fn env_number(&self, name: &str) -> Option<(i64, &'a Group)> {
        self.env(name).and_then(|(v, g)| Some((v.trim().parse().ok()?, g)))
    }

    /// Processes of the job.
    pub(crate) fn processes(&self) -> impl Iterator<Item = (usize, &'a Process)> {
        self.job.processes.iter().filter_map(|p| Some((*p, self.o.process(*p)?)))
    }

    /// Ranks with connections.
    pub(crate) fn ranks(&self) -> impl Iterator<Item = &'a Rank> {
        self.job.ranks().filter_map(|r| self.o.ranks.all.get(r))
    }

    /// Connections over a network.
    pub(crate) fn net_cells(&self) -> impl Iterator<Item = (&'a Rank, &'a Cell)> {
        self.ranks().flat_map(|r| r.cells.iter().map(move |c| (r, c))).filter(|(_, c)| c.carrier == Carrier::Net)
    }

    pub(crate) fn net_name(&self, c: &Cell) -> &'a str {
        c.net.map_or("", |n| self.o.name(n))
    }

    /// Whether a network moves bytes through the kernel's sockets.
    pub(crate) fn is_socket(net: &str) -> bool {
        net.contains("ocket") && !net.contains("IB")
    }

    /// Connections over RDMA.
    pub(crate) fn rdma_cells(&self) -> impl Iterator<Item = (&'a Rank, &'a Cell)> {
        self.net_cells().filter(|(_, c)| !Self::is_socket(self.net_name(c)))
    }

    /// Processes that use sockets, or that use RDMA, by what they chose or by their connections.
    fn users(&self, sockets: bool) -> BTreeSet<usize> {
        let wanted = |net: &str| Self::is_socket(net) == sockets;
        let chosen = self.processes().filter(|(i, p)| {
            p.uses().is_some_and(|net| wanted(self.o.name(net)) && !(sockets && self.lists_them_always(*i, p)))
        });
        let by_cells = self.net_cells().filter(|(_, c)| wanted(self.net_name(c))).map(|(r, _)| r.process);
        chosen.map(|(i, _)| i).chain(by_cells).collect()
    }

    /// Whether a list of interfaces says nothing of the network that is chosen: up to 2.4.7 NCCL makes sockets ready first, for the bootstrap, and lists
    /// them (`src/init.cc: initNet`); then come plugins and verbs.
    fn lists_them_always(&self, process: usize, p: &Process) -> bool {
        let by_list_alone = p.network.is_none() && p.no_device.is_none();
        by_list_alone && self.release_of(Some(process)).is_some_and(|release| release < (4, 8))
    }

    pub(crate) fn socket_processes(&self) -> BTreeSet<usize> {
        self.users(true)
    }

    pub(crate) fn rdma_processes(&self) -> BTreeSet<usize> {
        self.users(false)
    }

    /// Whether the job spans nodes; `None` where the logs do not tell.
    pub(crate) fn multi_node(&self) -> Option<bool> {
        if let Some(nodes) = self.job.nodes(self.o) {
            return Some(nodes > 1);
        }
        if self.net_cells().next().is_some() || self.job.hosts(self.o).len() > 1 {
            return Some(true);
        }
        let of_tests = || self.o.nccl_tests.iter().any(|(_, r)| r.hosts() > 1 && !r.ran_alone());
        if self.processes().any(|(_, p)| p.spans_nodes) || self.is_first && of_tests() {
            return Some(true);
        }
        let world = self.job.world()?;
        let complete = world.members.len() as u32 == world.size;
        // All ranks are here, on one host, and none is connected over a network.
        complete.then_some(false)
    }

    /// On which release all processes are, as far as this minor is concerned.
    pub(crate) fn since(&self, minor: u16) -> Option<bool> {
        let mut all = self.processes().map(|(_, p)| p.release.since(minor));
        let first = all.next()??;
        all.all(|s| s.is_none_or(|s| s == first)).then_some(first)
    }

    /// Release of a process, minor and patch: as it tells, as the job's only telling rank does, or by its wordings.
    pub(crate) fn release_of(&self, process: Option<usize>) -> Option<(u16, u16)> {
        let own = process.and_then(|p| self.o.process(p)).map(|p| p.release);
        let told = own.and_then(|r| r.told).or_else(|| {
            let mut all: Vec<_> = self.processes().filter_map(|(_, p)| p.release.told).collect();
            all.sort_unstable();
            all.dedup();
            match all.as_slice() {
                [one] => Some(*one),
                _ => None,
            }
        });
        match told {
            Some((2, minor, patch)) => Some((minor, patch)),
            Some(_) => None,
            None => own?.minor().map(|m| (m, u16::MAX)),
        }
    }

    /// Evidence of a group: its first lines.
    pub(crate) fn quotes(&self, g: &Group) -> Vec<Evidence> {
        g.quotes.iter().map(|q| self.evidence(q)).collect()
    }

    /// The first line of a group.
    pub(crate) fn first_quote(&self, g: &Group) -> Option<Evidence> {
        g.quotes.first().map(|q| self.evidence(q))
    }

    /// Evidence of groups: the first lines of one, the first line of each of several.
    pub(crate) fn quotes_of(&self, groups: &[&Group]) -> Vec<Evidence> {
        match groups {
            [one] => self.quotes(one),
            several => several.iter().take(NAMED).filter_map(|g| self.first_quote(g)).collect(),
        }
    }

    pub(crate) fn evidence(&self, q: &Quote) -> Evidence {
        Evidence::of(q, self.file(q.place))
    }

    /// Evidence in our own words, about a line of which no text was kept.
    pub(crate) fn at(&self, place: Place, text: impl Into<String>) -> Evidence {
        Evidence {
            at: format!("{}:{}", self.file(place), place.line),
            text: linerate_snapshot::without_secrets(&text.into()).into_owned(),
        }
    }

    fn file(&self, place: Place) -> &'a str {
        self.o.file_name(place.file)
    }

    /// Evidence of connections: the first of each kind.
    pub(crate) fn cells<'c>(&self, cells: impl Iterator<Item = (&'c Rank, &'c Cell)>) -> Vec<Evidence> {
        cells.take(3).map(|(r, c)| self.at(c.first, self.cell(r, c))).collect()
    }

    fn cell(&self, r: &Rank, c: &Cell) -> String {
        let half = match c.direction {
            Some(Direction::Send) => "[send] ",
            Some(Direction::Receive) => "[receive] ",
            None => "",
        };
        let gdr = if c.gdr { "/GDRDMA" } else { "" };
        let rank = r.rank.map(|r| format!("rank {r}: ")).unwrap_or_default();
        let count = linerate_formats::counted(c.count, "connection", "connections");
        format!("{rank}{half}via NET/{}/{}{gdr} ({count})", self.net_name(c), c.device)
    }

    /// Names the hosts of processes where they are not all: `2 of 16 hosts: a, b`.
    pub(crate) fn scope(&self, processes: impl IntoIterator<Item = usize>) -> String {
        let hosts = self.hosts(processes);
        let all = self.job.hosts(self.o);
        if hosts.is_empty() || hosts.len() == all.len() {
            return String::new();
        }
        format!("{} of {} hosts: {}", hosts.len(), all.len(), some(&hosts, NAMED))
    }

    /// Names the hosts of groups: of their processes, or those that lines of the kernels' logs name.
    pub(crate) fn scope_of(&self, groups: &[&Group]) -> String {
        let named: BTreeSet<&str> = groups.iter().filter_map(|g| g.host).map(|h| self.o.name(h)).collect();
        if named.is_empty() {
            return self.scope(groups.iter().flat_map(|g| g.processes.iter().copied()));
        }
        let of_job: Vec<String> = self.job.hosts(self.o).iter().filter_map(|h| host_name::short(h)).collect();
        let hosts: Vec<String> = named.iter().map(|h| (*h).to_owned()).collect();
        let words = some(&hosts, NAMED);
        if groups.iter().any(|g| g.host.is_none()) {
            format!("{words}; other lines name no host")
        } else if of_job.is_empty() || !hosts.iter().all(|h| of_job.contains(h)) {
            words
        } else if hosts.len() == of_job.len() {
            String::new()
        } else {
            format!("{} of {} hosts: {words}", hosts.len(), of_job.len())
        }
    }

    /// Hosts of processes.
    pub(crate) fn hosts(&self, processes: impl IntoIterator<Item = usize>) -> Vec<String> {
        self.o.hosts(processes)
    }

    /// Names ranks: `rank 3`, `ranks 0-7`.
    pub(crate) fn rank_words(ranks: impl IntoIterator<Item = u32>) -> String {
        let all: BTreeSet<u32> = ranks.into_iter().collect();
        let s = if all.len() == 1 { "" } else { "s" };
        format!("rank{s} {}", ranges(all))
    }

    /// What fails on the nodes that were given, of these rules.
    pub(crate) fn failing(&self, rules: &[&str]) -> Vec<Failing> {
        self.nodes.iter().flat_map(|n| n.failing(rules)).collect()
    }

    /// Whether something serious failed: the job did not end well.
    pub(crate) fn failed(&self) -> bool {
        !self.failures(|t| !t.is_survivable()).is_empty()
            || !self.frameworks(|_| true).is_empty()
            || self.ras().any(|(_, r)| r.missing.is_some() || r.dead.is_some())
    }

    /// Whether any rank came as far as calling collectives, or ended in order.
    pub(crate) fn ran(&self) -> bool {
        use linerate_formats::nccl_log::Phase;
        self.ranks().any(|r| r.calls > 0 || r.phase == Some(Phase::Destroyed))
    }

    /// Whether the NICs are RoCE, InfiniBand, or not known.
    pub(crate) fn is_roce(&self) -> Option<bool> {
        let lists = self.of(&self.o.devices).filter(|(d, _)| self.o.name(d.net).contains("IB"));
        let mut kinds = lists.map(|(d, _)| self.o.name(d.list)).filter(|l| l.contains('/'));
        kinds.next().map(|l| l.contains("/RoCE"))
    }
}
