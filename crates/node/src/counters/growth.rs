//! What grew between readings of one node.

use super::known::{Kind, Known, known};
use super::{Counter, Owner, all};
use crate::Node;
use linerate_snapshot::{Place, Snapshot};
use std::collections::{BTreeMap, BTreeSet};

/// When a reading was taken.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moment {
    /// The boot, where it is known.
    pub boot: Option<String>,
    /// Seconds since then (`/proc/uptime`): what two readings of one boot are apart by, whatever happens to the clock.
    pub uptime: Option<f64>,
    /// Unix time, seconds.
    pub time: Option<u64>,
}

impl Moment {
    /// As a snapshot has it.
    #[must_use]
    pub fn of(s: &Snapshot) -> Self {
        let boot = Some(s.manifest.boot_id.clone()).filter(|b| !b.is_empty());
        let uptime = s.text(s.root(), "proc/uptime").parse("no number", |t| t.split_whitespace().next()?.parse().ok());
        let uptime = uptime.known().copied().filter(|u: &f64| u.is_finite() && *u >= 0.0);
        Moment { boot, uptime, time: Some(s.manifest.time).filter(|t| *t > 0) }
    }

    /// Whether the node was started again in between. Where the source does not say: no.
    fn is_other_boot(&self, next: &Moment) -> bool {
        matches!((&self.boot, &next.boot), (Some(a), Some(b)) if a != b)
    }

    /// Seconds from this reading to the next one.
    fn until(&self, next: &Moment) -> Option<f64> {
        let same = self.boot.is_some() && self.boot == next.boot;
        let by_uptime = self.uptime.zip(next.uptime).filter(|_| same).map(|(a, b)| b - a);
        let by_clock = || self.time.zip(next.time).map(|(a, b)| b as f64 - a as f64);
        by_uptime.or_else(by_clock).filter(|d| *d > 0.0)
    }
}

/// One reading of a node's counters.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Moment,
    /// By owner and name.
    pub counters: Vec<Counter>,
}

impl Sample {
    /// Reads the counters of a snapshot.
    #[must_use]
    pub fn of(s: &Snapshot) -> Self {
        Sample { at: Moment::of(s), counters: all(&Node::decode(s), s) }
    }
}

/// A counter that grew.
#[derive(Debug, Clone, PartialEq)]
pub struct Grown {
    /// What counts.
    pub owner: Owner,
    /// Its name.
    pub name: String,
    /// What it means; `None`: it is not in the table.
    pub known: Option<&'static Known>,
    /// First reading.
    pub from: u64,
    /// Last reading.
    pub to: u64,
    /// By how much, over all readings.
    pub by: u64,
    /// Whether `by` is the least: the counter began anew in between, or stands at its maximum.
    pub at_least: bool,
    /// In how many intervals.
    pub in_intervals: usize,
    /// Growth in a second, where the time is known.
    pub per_second: Option<f64>,
    /// Where it was read, if the last reading has it.
    pub place: Option<Place>,
}

/// A counter that stands at its maximum and cannot show more.
#[derive(Debug, Clone, PartialEq)]
pub struct Stuck {
    /// What counts.
    pub owner: Owner,
    /// Its name.
    pub name: String,
    /// The maximum.
    pub value: u64,
}

/// Bytes that passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Sent.
    pub sent: u64,
    /// Received.
    pub received: u64,
}

/// What the readings allow to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Counters of faults or losses grew.
    Grew,
    /// None did, while data passed.
    Clean,
    /// Neither.
    CannotTell(Doubt),
}

/// Why nothing can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// No two readings show the same counter.
    NothingCompared,
    /// None of the counters is one of faults or losses.
    NothingJudged,
    /// A counter stands at its maximum.
    Stuck,
    /// No data passed.
    Idle,
}

/// What several readings of one node show.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Growth {
    /// Intervals between readings.
    pub intervals: usize,
    /// Seconds from the first reading to the last, where every interval's length is known.
    pub seconds: Option<f64>,
    /// Counters that two readings in a row show.
    pub compared: usize,
    /// Of these, those of which growth is a fault or a loss.
    pub judged: usize,
    /// Owners of which counters of faults or losses were compared, and how many.
    pub owners: BTreeMap<Owner, usize>,
    /// What grew, by owner and name.
    pub grown: Vec<Grown>,
    /// What can show no more.
    pub stuck: Vec<Stuck>,
    /// Bytes of each owner that counts them, also where there were none.
    pub traffic: BTreeMap<Owner, Traffic>,
    /// Whether the node was started again in between.
    pub restarted: bool,
}

impl Growth {
    /// Compares readings, in the order of their time. `apart`: seconds between two of them, where the readings do not say.
    #[must_use]
    pub fn between(samples: impl IntoIterator<Item = Sample>, apart: Option<f64>) -> Self {
        let mut watch = Watch::new(apart);
        samples.into_iter().for_each(|s| watch.push(s));
        watch.growth()
    }

    /// What grew and is a fault or a loss.
    pub fn bad(&self) -> impl Iterator<Item = &Grown> {
        self.grown.iter().filter(|g| g.known.is_some_and(|k| k.kind.is_bad()))
    }

    /// What of an owner grew and is a fault or a loss; `None`: nothing of it was compared that is one.
    #[must_use]
    pub fn bad_of(&self, owner: &Owner) -> Option<Vec<&Grown>> {
        self.owners.get(owner)?;
        Some(self.bad().filter(|g| g.owner == *owner).collect())
    }

    /// Owners on a network that count data, of which none passed.
    pub fn idle(&self) -> impl Iterator<Item = &Owner> {
        self.traffic.iter().filter(|(o, t)| o.is_on_a_network() && **t == Traffic::default()).map(|(o, _)| o)
    }

    /// What can be said.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let mut networks = self.traffic.keys().filter(|o| o.is_on_a_network()).peekable();
        let idle = networks.peek().is_some() && networks.count() == self.idle().count();
        match () {
            () if self.bad().next().is_some() => Verdict::Grew,
            () if self.compared == 0 => Verdict::CannotTell(Doubt::NothingCompared),
            () if self.judged == 0 => Verdict::CannotTell(Doubt::NothingJudged),
            () if !self.stuck.is_empty() => Verdict::CannotTell(Doubt::Stuck),
            () if idle => Verdict::CannotTell(Doubt::Idle),
            () => Verdict::Clean,
        }
    }
}

impl Owner {
    /// A port or an interface.
    fn is_on_a_network(&self) -> bool {
        matches!(self, Owner::Port(..) | Owner::Lid(..) | Owner::Interface(_))
    }
}

/// A counter over several readings.
#[derive(Debug, Clone, Default)]
struct Series {
    from: u64,
    /// The last value, if the last reading has one.
    last: Option<u64>,
    to: u64,
    by: u64,
    at_least: bool,
    compared: bool,
    in_intervals: usize,
    place: Option<Place>,
}

/// Readings one after the other: of each counter no more is kept than what it came to.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    apart: Option<f64>,
    before: Option<Moment>,
    readings: usize,
    seconds: Option<f64>,
    restarted: bool,
    series: BTreeMap<(Owner, String), Series>,
    /// Tables of PCIe errors of the last reading.
    tables: BTreeSet<(Owner, String)>,
}

impl Watch {
    /// Nothing was read yet. `apart`: seconds between two readings, where they do not say.
    #[must_use]
    pub fn new(apart: Option<f64>) -> Self {
        Watch { apart, seconds: Some(0.0), ..Watch::default() }
    }

    /// Takes the next reading.
    pub fn push(&mut self, sample: Sample) {
        if let Some(before) = &self.before {
            let step = before.until(&sample.at).or(self.apart);
            self.seconds = self.seconds.zip(step).map(|(sum, step)| sum + step);
            self.restarted |= before.is_other_boot(&sample.at);
        }
        self.before = Some(sample.at);
        self.readings += 1;
        let tables = std::mem::take(&mut self.tables);
        let mut here: BTreeMap<(Owner, String), (u64, Option<Place>)> = BTreeMap::new();
        for c in sample.counters {
            if is_table(&c.name) {
                self.tables.insert((c.owner.clone(), c.name.clone()));
            }
            here.insert((c.owner, c.name), (c.value, Some(c.place)));
        }
        // A part of a PCIe table is listed only where it is not 0: where the table is, it is 0.
        let is_in = |tables: &BTreeSet<_>, (owner, name): &(Owner, String)| {
            table_of(name).is_some_and(|t| tables.contains(&(owner.clone(), t.to_owned())))
        };
        for (key, _) in self.series.iter().filter(|(_, s)| s.last.is_some()) {
            if !here.contains_key(key) && is_in(&self.tables, key) {
                here.insert(key.clone(), (0, None));
            }
        }
        self.series.iter_mut().filter(|(key, _)| !here.contains_key(*key)).for_each(|(_, s)| s.last = None);
        for (key, (value, place)) in here {
            let from_nothing = is_in(&tables, &key);
            let s = self.series.entry(key).or_insert_with(|| Series {
                from: if from_nothing { 0 } else { value },
                last: from_nothing.then_some(0),
                ..Series::default()
            });
            if let Some(last) = s.last {
                s.compared = true;
                s.at_least |= value < last;
                let step = value.checked_sub(last).unwrap_or(value);
                s.by = s.by.saturating_add(step);
                s.in_intervals += usize::from(step > 0);
            }
            (s.last, s.to, s.place) = (Some(value), value, place);
        }
    }

    /// What the readings come to.
    #[must_use]
    pub fn growth(self) -> Growth {
        let mut growth = Growth {
            intervals: self.readings.saturating_sub(1),
            seconds: self.seconds.filter(|s| *s > 0.0),
            restarted: self.restarted,
            ..Growth::default()
        };
        for ((owner, name), s) in self.series.into_iter().filter(|(_, s)| s.compared) {
            growth.take(owner, name, &s);
        }
        growth
    }
}

impl Growth {
    fn take(&mut self, owner: Owner, name: String, s: &Series) {
        let known = known(&name);
        self.compared += 1;
        // The total of a table that has parts says nothing that they do not.
        if is_table(&name) || known.is_some_and(|k| k.kind.is_bad()) {
            self.judged += 1;
            *self.owners.entry(owner.clone()).or_default() += 1;
        }
        if is_table(&name) {
            return;
        }
        if let Some((bytes, sent)) = known.and_then(|k| Some((k.bytes(s.by)?, k.means == "sent"))) {
            let of = self.traffic.entry(owner.clone()).or_default();
            let way = if sent { &mut of.sent } else { &mut of.received };
            // Several counters count the same bytes at different layers: the largest has them all.
            *way = (*way).max(bytes);
        }
        let at_maximum = known.and_then(Known::maximum).is_some_and(|m| s.to >= m);
        if s.by == 0 {
            if at_maximum {
                self.stuck.push(Stuck { owner, name, value: s.to });
            }
            return;
        }
        self.grown.push(Grown {
            owner,
            name,
            known,
            from: s.from,
            to: s.to,
            by: s.by,
            at_least: s.at_least || at_maximum,
            in_intervals: s.in_intervals,
            per_second: self.seconds.map(|seconds| s.by as f64 / seconds),
            place: s.place.filter(|_| s.last.is_some()),
        });
    }
}

impl Kind {
    /// A fault or a loss.
    #[must_use]
    pub fn is_bad(self) -> bool {
        matches!(self, Kind::Fault | Kind::Loss)
    }
}

/// The total of a table of PCIe errors.
fn is_table(name: &str) -> bool {
    name.starts_with("aer_dev_") && !name.contains('.')
}

/// The table that a part is of.
fn table_of(name: &str) -> Option<&str> {
    name.split_once('.').map(|(table, _)| table).filter(|t| is_table(t))
}
