//! What the user named, one input after the other, and the node. Who opens the inputs hands over their bytes; what is kept of them is bounded.

use crate::context::Context;
use crate::facts::NodeFacts;
use crate::read::{self, Form, LogReader, Read};
use crate::setting::{OriginKind, Setting};
use linerate_formats::bounds::TEXT as MOST;
use linerate_node::Node;
use linerate_snapshot::{Snapshot, unpacked_name};
use linerate_topology::Version;

/// NCCL's own configuration file for the whole machine.
const SYSTEM_CONF: &str = "/etc/nccl.conf";

/// All inputs together.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Settings in the order of the inputs.
    pub settings: Vec<Setting>,
    /// Names of inputs, with what they were taken for.
    pub sources: Vec<String>,
    /// What judgements depend on.
    pub context: Context,
    /// Where the release is known from.
    pub release_from: Option<String>,
    /// Variables that linerate does not read; they were dropped.
    pub dropped: u64,
    /// What was not understood, or not read.
    pub notes: Vec<String>,
    /// Part of an input was not read; a note says so.
    pub incomplete: bool,
    /// This machine's own configuration file was read.
    system_conf: bool,
}

impl Inputs {
    /// What a job that is started by this process would see of the environment. Answers the configuration files that NCCL would read then, in
    /// its order; each is to be handed over by [`Text::conf`].
    pub fn process(&mut self, variables: &[(String, String)]) -> Vec<String> {
        let read = read::environment(variables.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        self.add("this process", read);
        let named = variables.iter().find(|(k, v)| k == "NCCL_CONF_FILE" && !v.is_empty()).map(|(_, v)| v.clone());
        let home = variables.iter().find(|(k, _)| k == "HOME").map(|(_, v)| format!("{v}/.nccl.conf"));
        named.or(home).into_iter().chain([SYSTEM_CONF.to_owned()]).collect()
    }

    /// What was read of an input.
    pub fn add(&mut self, name: &str, read: Read) {
        let count = read.settings.len();
        let what = read.form.name();
        self.sources.push(format!("{name} ({what}, {count} {})", if count == 1 { "setting" } else { "settings" }));
        self.system_conf |= name == SYSTEM_CONF;
        self.settings.extend(read.settings);
        self.dropped = self.dropped.saturating_add(read.dropped);
        self.incomplete |= read.incomplete;
        self.notes.extend(read.notes.into_iter().map(|n| format!("{name}: {n}")));
        if let Some((v, at)) = read.nccl
            && self.context.nccl.is_none()
        {
            self.context.nccl = Some(v);
            self.release_from = Some(at.to_string());
        }
        if let Some((network, _)) = read.network
            && self.context.network.is_none()
        {
            self.context.network = Some(network);
        }
        self.context.fabric = self.context.fabric.or(read.fabric);
        self.context.rccl |= read.rccl;
        self.context.elsewhere.extend(read.elsewhere);
    }

    /// An input, or part of it, was not read.
    pub fn unread(&mut self, why: String) {
        self.incomplete = true;
        self.notes.push(why);
    }

    /// The release as the user says it, `from` an option. Another one that an input says is noted.
    pub fn release(&mut self, v: Version, from: &str) {
        if let (Some(other), Some(said_by)) = (self.context.nccl, &self.release_from)
            && other != v
        {
            self.notes.push(format!("{said_by} says NCCL {other}; judged by {v}, as {from} says"));
        }
        self.context.nccl = Some(v);
        self.release_from = Some(from.to_owned());
    }

    /// What of the node decides, after all other inputs. Its own configuration file is read, too.
    pub fn node(&mut self, snapshot: &Snapshot) {
        let node = Node::decode(snapshot);
        let of_job = self.settings.iter().filter(|s| s.name == "NCCL_TOPO_FILE");
        let file = of_job.filter(|s| s.origin.kind != OriginKind::SystemConf).map(|s| s.value.as_str()).next_back();
        self.context.node = Some(NodeFacts::in_job(&node, file));
        // Of this machine it was read already where no file was named.
        if let Some(conf) = node.nccl.conf.known().filter(|_| !self.system_conf) {
            let name = format!("{}:{SYSTEM_CONF}", snapshot.label);
            self.add(&name, read::read_as(Form::Conf, Some(&name), conf));
        }
        self.incomplete |= snapshot.incomplete || !node.cuts.is_empty();
        self.notes.extend(node.cuts.iter().map(|c| format!("{}: {}", snapshot.label, c.words(snapshot))));
        self.notes.extend(snapshot.problems.iter().map(|p| format!("{}: {p}", snapshot.label)));
    }
}

/// An input that is read from its beginning to its end: logs of any size piece by piece, the rest whole.
#[derive(Debug)]
pub struct Text<'a> {
    /// Its name as a file.
    file: Option<&'a str>,
    way: Way,
}

#[derive(Debug)]
enum Way {
    Log(Box<LogReader>),
    Whole(Form, Vec<u8>),
}

impl<'a> Text<'a> {
    /// Begins with the first bytes, which show what it is: 64 KiB, or all. `file` is the name of its file, if it is one. `None`: it is not empty,
    /// and nothing that holds settings.
    #[must_use]
    pub fn new(file: Option<&'a str>, head: Vec<u8>) -> Option<Self> {
        let way = match read::sniff(file.map(unpacked_name), &head) {
            Form::Unknown if !head.is_empty() => return None,
            Form::Log => {
                let mut log = LogReader::new(file);
                log.feed(&head);
                Way::Log(Box::new(log))
            }
            form => Way::Whole(form, head),
        };
        Some(Text { file, way })
    }

    /// A configuration file of NCCL, with its first bytes.
    #[must_use]
    pub fn conf(file: &'a str, head: Vec<u8>) -> Self {
        Text { file: Some(file), way: Way::Whole(Form::Conf, head) }
    }

    /// Bytes of a log that were looked at closely, because some program's words are in them.
    #[must_use]
    pub fn searched(&self) -> u64 {
        if let Way::Log(log) = &self.way { log.searched() } else { 0 }
    }

    /// Takes the next bytes. Answers whether it has room for more.
    pub fn feed(&mut self, next: &[u8]) -> bool {
        match &mut self.way {
            Way::Log(log) => log.feed(next),
            Way::Whole(_, bytes) => {
                // One byte more than the limit shows that there are more.
                bytes.extend_from_slice(next.get(..(most() + 1).saturating_sub(bytes.len())).unwrap_or(next));
                return bytes.len() <= most();
            }
        }
        true
    }

    /// Its end.
    pub fn finish(self, name: &str, all: &mut Inputs) {
        let read = match self.way {
            Way::Log(log) => log.finish(),
            Way::Whole(form, bytes) => {
                let mut read = read::read_as(form, self.file, bytes.get(..most()).unwrap_or(&bytes));
                if bytes.len() > most() {
                    read.left_out(format!("only the first {} MiB were read (limit TEXT)", MOST >> 20));
                }
                read
            }
        };
        all.add(name, read);
    }
}

fn most() -> usize {
    usize::try_from(MOST).unwrap_or(usize::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_files_are_read_in_nccls_order() {
        let set =
            |list: &[(&str, &str)]| list.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Vec<_>>();
        let files = |list: &[(&str, &str)]| Inputs::default().process(&set(list));
        assert_eq!(files(&[]), ["/etc/nccl.conf"]);
        assert_eq!(files(&[("HOME", "/srv/a")]), ["/srv/a/.nccl.conf", "/etc/nccl.conf"]);
        assert_eq!(files(&[("HOME", "/srv/a"), ("NCCL_CONF_FILE", "/job.conf")]), ["/job.conf", "/etc/nccl.conf"]);
        assert_eq!(files(&[("HOME", "/h"), ("NCCL_CONF_FILE", "")]), ["/h/.nccl.conf", "/etc/nccl.conf"]);
    }

    #[test]
    fn a_configuration_file_counts_once() {
        let conf = b"NCCL_DEBUG=INFO\n";
        let mut node = Snapshot::new("n1");
        node.add_file("etc/nccl.conf", conf);
        let mut own = Inputs::default();
        Text::conf(SYSTEM_CONF, conf.to_vec()).finish(SYSTEM_CONF, &mut own);
        own.node(&node);
        assert_eq!(own.sources, ["/etc/nccl.conf (nccl.conf, 1 setting)"]);
        let mut other = Inputs::default();
        other.node(&node);
        assert_eq!(other.sources, ["n1:/etc/nccl.conf (nccl.conf, 1 setting)"]);
    }

    #[test]
    fn logs_have_no_end_and_other_texts_do() {
        let mut log =
            Text::new(None, b"n1:1:2 [0] NCCL INFO NCCL_IB_TC set by environment to 106.\n".to_vec()).unwrap();
        let mut script = Text::new(None, b"#!/bin/sh\nexport NCCL_DEBUG=INFO\n".to_vec()).unwrap();
        let piece = vec![b'\n'; 9 << 20];
        assert!(log.feed(&piece) && log.feed(&piece) && script.feed(&piece) && !script.feed(&piece));
        let mut all = Inputs::default();
        log.finish("-", &mut all);
        assert!(!all.incomplete);
        script.finish("job.sh", &mut all);
        assert!(all.incomplete);
        assert_eq!(all.notes, ["job.sh: only the first 16 MiB were read (limit TEXT)"]);
        assert_eq!(all.sources, ["- (log, 1 setting)", "job.sh (script, 1 setting)"]);
        assert!(Text::new(None, b"prose\n".to_vec()).is_none());
    }
}
