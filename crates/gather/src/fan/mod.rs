//! Many hosts at once: each is collected over a connection of its own, so many at a time, and its snapshot is written whole.
//!
//! Nothing grows with the number of hosts but the list of results: a host waits until a worker has time for it, what it sends waits in its
//! pipe, and a few snapshots only are unpacked at a time. So a slow disk slows the hosts down.

mod cause;
mod desk;
mod files;
mod finish;
mod gate;
mod json;
mod node;
mod program;
mod queue;
mod way;

pub use cause::Cause;
pub use files::{directory_name, file_name, newest, seconds_of, time_of};
pub use json::{SCHEMA, json};
pub use program::{Program, ProgramError};

use crate::Target;
use desk::Desk;
use gate::Gate;
use linerate_fleet::cluster::Lists;
use linerate_snapshot::RedactKey;
use linerate_snapshot::capture::Purpose;
use linerate_transport::Cancel;
use queue::Queue;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime};

/// Connections at a time, where nothing else is asked for.
pub const FANOUT: usize = 64;
/// Most connections at a time: each takes three pipes, and a process may have 1,024 files open.
pub const MOST_FANOUT: usize = 256;
/// Longest that a node may take, where nothing else is asked for.
pub const NODE_LIMIT: Duration = Duration::from_secs(180);

/// Pause between two times that the operator's key is saved during a run.
const SAVE_EVERY: Duration = Duration::from_secs(3);

/// What collects on a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Collector {
    /// The program in the user's cache, or one that is installed, or one that is pushed; a shell script where none runs.
    #[default]
    Auto,
    /// As above, but no program that is installed, and no script: the one that was given.
    Given,
    /// The shell script.
    Script,
}

/// How nodes are collected.
#[derive(Debug)]
pub struct Options {
    /// The fleet's directory.
    pub directory: PathBuf,
    /// Connections at a time.
    pub fanout: usize,
    /// Longest that a node may take, without what it waits for here. A push has ten minutes of its own.
    pub limit: Duration,
    /// Whether identifying values are hashed.
    pub redact: bool,
    /// The operator's key to hash them with, here. Hosts never see it: they send what they have, over the encrypted connection. `None`: each host
    /// hashes with a key that nobody keeps.
    pub key: Option<RedactKey>,
    /// Whether the program is removed from the hosts again.
    pub leave_nothing: bool,
    /// What collects there.
    pub collector: Collector,
    /// Programs that may be pushed.
    pub programs: Vec<Program>,
    /// Version that an installed program must have.
    pub version: String,
    /// What schedulers say of each node: its own entry goes into its snapshot.
    pub lists: Lists,
    /// Nodes with a snapshot that is not older than this are left out.
    pub fresh: Option<Duration>,
    /// What is collected of each node. The shell script collects the same for every purpose.
    pub purpose: Purpose,
}

/// What collected a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// This process: it is this host.
    Here,
    /// The program in the user's cache.
    Cache,
    /// The program, which was pushed first.
    Pushed,
    /// A program that is installed there.
    Installed,
    /// The shell script.
    Script,
}

impl Options {
    /// Whether hosts hash what identifies.
    pub(super) fn redact_there(&self) -> bool {
        self.redact && self.key.is_none()
    }
}

impl By {
    /// Its name in JSON.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            By::Here => "here",
            By::Cache => "cache",
            By::Pushed => "pushed",
            By::Installed => "installed",
            By::Script => "script",
        }
    }
}

/// What became of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was collected.
    Collected {
        /// Its snapshot.
        file: PathBuf,
        /// Size of the file, bytes.
        bytes: u64,
        /// What collected it.
        by: By,
        /// The capture ran as root.
        root: bool,
    },
    /// It has a snapshot that is new enough.
    Fresh {
        /// That snapshot.
        file: PathBuf,
    },
    /// It was not.
    Failed {
        /// Why, as it is counted.
        cause: Cause,
        /// Why, as it was said: words of the host may be among it.
        why: String,
    },
}

/// A node, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// How long it took, seconds, without what it waited for before it was asked.
    pub seconds: f64,
    /// How often it was asked.
    pub tries: u32,
    /// What is to be said beside: why the script collected, a clock that differs.
    pub notes: Vec<String>,
}

/// How far the run is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// Nodes of the run.
    pub all: usize,
    /// Collected, or fresh.
    pub done: usize,
    /// Failed, by cause.
    pub failed: BTreeMap<Cause, usize>,
    /// Nodes that take much longer than the others, the longest first, seconds.
    pub slow: Vec<(String, u64)>,
    /// Seconds that are left at this pace; `None` before the first one ended.
    pub left: Option<u64>,
}

/// What became of all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// By name.
    pub nodes: Vec<Node>,
    /// How long it took, seconds.
    pub seconds: f64,
    /// Somebody ended it before its time.
    pub interrupted: bool,
    /// Names that were given more than once: each was asked once.
    pub twice: Vec<String>,
}

impl Summary {
    /// Nodes that were not read, by cause.
    #[must_use]
    pub fn failed(&self) -> BTreeMap<Cause, Vec<&Node>> {
        let mut by: BTreeMap<Cause, Vec<&Node>> = BTreeMap::new();
        for node in &self.nodes {
            if let Outcome::Failed { cause, .. } = &node.outcome {
                by.entry(*cause).or_default().push(node);
            }
        }
        by
    }

    /// What is to be said of nodes beside, and of which.
    #[must_use]
    pub fn notes(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut notes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for node in &self.nodes {
            node.notes.iter().for_each(|note| notes.entry(note).or_default().push(&node.name));
        }
        notes
    }

    /// Nodes that were not collected as root: configuration space, kernel log and firmware settings are missing.
    #[must_use]
    pub fn without_root(&self) -> Vec<&str> {
        let user = |n: &&Node| matches!(n.outcome, Outcome::Collected { root: false, .. });
        self.nodes.iter().filter(user).map(|n| n.name.as_str()).collect()
    }
}

/// What workers share.
struct Shared<'a> {
    options: &'a Options,
    cancel: &'a Cancel,
    /// Unpacks snapshots and packs them again.
    desk: Desk<'a>,
    /// Who sends more than is kept of each host at once: a few at a time, and of very much one.
    large: &'a Gate,
    huge: &'a Gate,
    /// When the run began: the time in names of files.
    began: SystemTime,
}

enum News {
    Begun(String),
    Ended(Box<Node>),
}

/// Collects nodes. `watch` is called several times a second.
///
/// # Errors
/// No thread could be started. What becomes of a node is in the summary.
pub fn collect(
    targets: &[Target],
    options: &Options,
    cancel: &Cancel,
    watch: &mut dyn FnMut(&Progress),
) -> std::io::Result<Summary> {
    let started = Instant::now();
    let mut summary = Summary::default();
    let mut unique: BTreeMap<&str, &Target> = BTreeMap::new();
    for target in targets {
        if unique.insert(&target.name, target).is_some() && !summary.twice.contains(&target.name) {
            summary.twice.push(target.name.clone());
        }
    }
    let began = SystemTime::now();
    let (large, huge) = (Gate::new(node::LARGE_AT_A_TIME), Gate::new(1));
    let mut todo = Vec::new();
    for target in unique.values() {
        let fresh = options.fresh.and_then(|limit| {
            let (time, file) = newest(&options.directory, &target.name)?;
            // One from the future says nothing about its age.
            (began.duration_since(time).ok()? <= limit).then_some(file)
        });
        match fresh {
            Some(file) => summary.nodes.push(Node {
                name: target.name.clone(),
                outcome: Outcome::Fresh { file },
                seconds: 0.0,
                tries: 0,
                notes: Vec::new(),
            }),
            None => todo.push(*target),
        }
    }
    let workers = options.fanout.clamp(1, MOST_FANOUT).min(todo.len());
    let all = summary.nodes.len() + todo.len();
    let queue = Queue::new(todo);
    std::thread::scope(|threads| {
        let (send, news) = channel();
        let desk = Desk::open(threads)?;
        for _ in 0..workers {
            let (send, queue) = (send.clone(), &queue);
            let shared = Shared { options, cancel, desk: desk.clone(), large: &large, huge: &huge, began };
            let name = std::thread::Builder::new().name("linerate-fan".into());
            if let Err(e) = name.spawn_scoped(threads, move || work(queue, &shared, &send)) {
                cancel.cancel();
                return Err(e);
            }
        }
        drop((send, desk));
        let mut running: BTreeMap<String, Instant> = BTreeMap::new();
        let mut keeper = Keeper::default();
        loop {
            match news.recv_timeout(Duration::from_millis(250)) {
                Ok(News::Begun(name)) => drop(running.insert(name, Instant::now())),
                Ok(News::Ended(node)) => {
                    running.remove(&node.name);
                    summary.nodes.push(*node);
                    keeper.save(options.key.as_ref());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            watch(&progress(&summary, &running, all, started));
        }
        Ok(())
    })?;
    summary.nodes.sort_by(|a, b| a.name.cmp(&b.name));
    summary.seconds = started.elapsed().as_secs_f64();
    summary.interrupted = cancel.is_cancelled();
    Ok(summary)
}

/// Keeps what was hashed while the run goes on, so that what a run that is killed collected can be read back.
#[derive(Default)]
struct Keeper {
    /// When it was saved last, and how long that took.
    last: Option<(Instant, Duration)>,
}

impl Keeper {
    /// After the first node, then every few seconds, and the more rarely the longer it takes. Who began the run saves at its end, and hears what failed.
    fn save(&mut self, key: Option<&RedactKey>) {
        let Some(key) = key else { return };
        let pause = |took: Duration| SAVE_EVERY.max(took * 20);
        if self.last.is_some_and(|(at, took)| at.elapsed() < pause(took)) {
            return;
        }
        let began = Instant::now();
        let _ = key.save();
        self.last = Some((Instant::now(), began.elapsed()));
    }
}

fn progress(summary: &Summary, running: &BTreeMap<String, Instant>, all: usize, started: Instant) -> Progress {
    let failed: BTreeMap<Cause, usize> = summary.failed().into_iter().map(|(c, n)| (c, n.len())).collect();
    let ended = summary.nodes.len();
    let asked = || summary.nodes.iter().filter(|n| n.tries > 0);
    let count = asked().count();
    let left = (count > 0).then(|| {
        let each = started.elapsed().as_secs_f64() / count as f64;
        (each * all.saturating_sub(ended) as f64) as u64
    });
    let mean = asked().map(|n| n.seconds).sum::<f64>() / count.max(1) as f64;
    let late = (3.0 * mean).max(5.0);
    let mut slow: Vec<(String, u64)> = running
        .iter()
        .map(|(name, since)| (name, since.elapsed().as_secs_f64()))
        .filter(|(_, s)| *s > late)
        .map(|(name, s)| (name.clone(), s as u64))
        .collect();
    slow.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Progress { all, done: ended - failed.values().sum::<usize>(), failed, slow, left }
}

fn work<'a>(queue: &Queue<'a>, shared: &Shared<'a>, news: &Sender<News>) {
    while let Some(job) = queue.next(shared.cancel) {
        if job.tries == 0 {
            let _ = news.send(News::Begun(job.target.name.clone()));
        }
        let began = Instant::now();
        let mut notes = Vec::new();
        let tried = node::collect(job.target, shared, &mut notes);
        let (seconds, tries) = (job.seconds + began.elapsed().as_secs_f64(), job.tries + 1);
        let outcome = match tried {
            Ok(outcome) => outcome,
            Err(failed) if failed.again && tries < queue::tries(failed.cause) && !shared.cancel.is_cancelled() => {
                queue.later(queue::Job { tries, seconds, ..job });
                continue;
            }
            Err(failed) => Outcome::Failed { cause: failed.cause, why: failed.why },
        };
        let node = Node { name: job.target.name.clone(), outcome, seconds, tries, notes };
        queue.ended();
        let _ = news.send(News::Ended(Box::new(node)));
    }
    // What nobody asked any more has a line all the same.
    while let Some(job) = queue.left() {
        let outcome = Outcome::Failed { cause: Cause::Interrupted, why: "it was not asked".to_owned() };
        let node =
            Node { name: job.target.name.clone(), outcome, seconds: job.seconds, tries: job.tries, notes: Vec::new() };
        let _ = news.send(News::Ended(Box::new(node)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, seconds: f64, tries: u32, cause: Option<Cause>) -> Node {
        let outcome = match cause {
            Some(cause) => Outcome::Failed { cause, why: String::new() },
            None => Outcome::Fresh { file: PathBuf::new() },
        };
        Node { name: name.to_owned(), outcome, seconds, tries, notes: Vec::new() }
    }

    /// The time that is left is that of those that were asked, by how many are left; fresh ones took none and say nothing about the pace.
    #[test]
    fn the_time_that_is_left_follows_from_the_nodes_that_were_asked() {
        let ago = |seconds: u64| Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
        let running = |of: &[(&str, u64)]| of.iter().map(|(n, s)| ((*n).to_owned(), ago(*s))).collect();
        let mut summary = Summary::default();
        let before = progress(&summary, &running(&[("n9", 4)]), 20, ago(10));
        assert_eq!((before.all, before.done, before.left, before.slow.len()), (20, 0, None, 0));
        // Ten of twenty are fresh: nothing is known yet.
        summary.nodes = (0..10).map(|i| node(&format!("f{i}"), 0.0, 0, None)).collect();
        assert_eq!(progress(&summary, &running(&[]), 20, ago(10)).left, None);
        // Four of the other ten in ten seconds: six more take fifteen.
        let failed = Some(Cause::Refused);
        summary.nodes.extend([node("a", 2.0, 1, None), node("b", 2.0, 1, None), node("c", 2.0, 3, failed)]);
        summary.nodes.push(node("d", 2.0, 1, Some(Cause::TimedOut)));
        let now = progress(&summary, &running(&[("n8", 5), ("n7", 9), ("n6", 30)]), 20, ago(10));
        assert_eq!((now.all, now.done, now.left), (20, 12, Some(15)));
        assert_eq!(now.failed, BTreeMap::from([(Cause::Refused, 1), (Cause::TimedOut, 1)]));
        // Slow is what takes three times as long as the others did.
        let slow: Vec<&str> = now.slow.iter().map(|(n, _)| n.as_str()).collect();
        assert_eq!((slow, now.slow[0].1), (vec!["n6", "n7"], 30));
        // All are asked; and no number of nodes makes it overflow.
        summary.nodes.extend((0..6).map(|i| node(&format!("l{i}"), 2.0, 1, None)));
        assert_eq!(progress(&summary, &running(&[]), 20, ago(25)).left, Some(0));
        assert_eq!(progress(&summary, &running(&[]), 3, ago(25)).left, Some(0));
        assert!(progress(&summary, &running(&[]), usize::MAX, ago(25)).left.is_some());
    }
}
