//! Whose an entry of a scheduler's list is: by the ids of the machine first, then by its name.

use linerate_formats::{kubernetes, slurm};
use linerate_snapshot::{Reading, Snapshot, machine_digest};
use std::collections::HashMap;
use std::fmt;

/// An entry of a list of nodes.
pub trait Listed {
    /// 1-based line of its text.
    fn line(&self) -> u32;
    /// Names by which it is known.
    fn names(&self) -> Vec<&str>;
    /// Digest of `/etc/machine-id`, as a snapshot has it.
    fn machine(&self) -> Option<String>;
    /// UUID of SMBIOS, in lower case.
    fn system(&self) -> Option<&str>;
}

impl Listed for kubernetes::Node {
    fn line(&self) -> u32 {
        self.line
    }

    fn names(&self) -> Vec<&str> {
        let hostname = self.labels.iter().find(|l| l.name == "kubernetes.io/hostname");
        std::iter::once(self.name.as_str()).chain(hostname.map(|l| l.value.as_str())).collect()
    }

    fn machine(&self) -> Option<String> {
        self.machine_id.as_ref().map(|id| machine_digest(id.as_bytes()))
    }

    fn system(&self) -> Option<&str> {
        self.system_uuid.as_deref()
    }
}

impl Listed for slurm::Node {
    fn line(&self) -> u32 {
        self.line
    }

    fn names(&self) -> Vec<&str> {
        std::iter::once(self.name.as_str()).chain(self.hostname.as_deref()).collect()
    }

    fn machine(&self) -> Option<String> {
        None
    }

    fn system(&self) -> Option<&str> {
        None
    }
}

/// By what an entry was found to be the node's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum By {
    /// The id of the installed system, `/etc/machine-id`.
    Machine,
    /// The UUID of SMBIOS.
    System,
    /// Its name alone.
    Name,
    /// It is the only one of its text.
    Only,
}

/// Why no entry is the node's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stranger {
    /// The text lists none.
    Empty,
    /// None has its ids or its name; so many there are.
    None(usize),
    /// Several have its name.
    Several,
    /// The one with its name has the ids of another machine.
    Other,
}

impl fmt::Display for Stranger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stranger::Empty => f.write_str("no node is in it"),
            Stranger::None(n) => write!(f, "none of its {n} nodes has the ids or the name of this one"),
            Stranger::Several => f.write_str("several of its nodes have the name of this one"),
            Stranger::Other => f.write_str("its node of this name has the ids of another machine"),
        }
    }
}

impl std::error::Error for Stranger {}

/// What a snapshot says of who it is.
pub(super) struct Who {
    machine: Option<String>,
    system: Option<String>,
    pub(super) names: Vec<String>,
}

impl Who {
    pub(super) fn of(s: &Snapshot) -> Self {
        // Hashed ids are no ids of a list.
        let id = |path| match s.text(s.root(), path) {
            Reading::Known(t, _) if !t.trim().is_empty() && !t.starts_with("redacted-") => {
                Some(t.trim().to_lowercase())
            }
            _ => None,
        };
        let host = match s.text(s.root(), "proc/sys/kernel/hostname") {
            Reading::Known(t, _) => t.trim().to_owned(),
            _ => String::new(),
        };
        let names = [s.label.clone(), s.manifest.host.clone(), host];
        Who {
            machine: id("etc/machine-id"),
            system: id("sys/class/dmi/id/product_uuid"),
            names: names.into_iter().filter(|n| !n.is_empty()).collect(),
        }
    }

    /// Whether an entry is certainly that of another machine: an id says so, and none says otherwise.
    fn is_not<T: Listed>(&self, one: &T) -> bool {
        let machine = self.machine.as_ref().zip(one.machine()).map(|(a, b)| *a == b);
        let system = self.system.as_deref().zip(one.system()).map(|(a, b)| a == b);
        (machine == Some(false) || system == Some(false)) && machine != Some(true) && system != Some(true)
    }
}

/// A list of nodes, by what each is known by.
#[derive(Debug, Clone)]
pub struct Register<T> {
    items: Vec<T>,
    machines: HashMap<String, Found>,
    systems: HashMap<String, Found>,
    names: HashMap<String, Found>,
}

/// Which entry has an id or a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    One(usize),
    Several,
}

impl<T: Listed> Register<T> {
    /// Of a list.
    #[must_use]
    pub fn new(items: Vec<T>) -> Self {
        let (mut machines, mut systems, mut names) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut shorts: HashMap<String, Found> = HashMap::new();
        let put = |map: &mut HashMap<String, Found>, key: String, at: usize| {
            let entry = map.entry(key).or_insert(Found::One(at));
            if *entry != Found::One(at) {
                *entry = Found::Several;
            }
        };
        for (at, one) in items.iter().enumerate() {
            if let Some(id) = one.machine() {
                put(&mut machines, id, at);
            }
            if let Some(id) = one.system() {
                put(&mut systems, id.to_owned(), at);
            }
            for name in one.names() {
                put(&mut names, name.to_ascii_lowercase(), at);
                put(&mut shorts, short(name), at);
            }
        }
        // A name in full counts before one without its domain.
        for (name, found) in shorts {
            names.entry(name).or_insert(found);
        }
        Register { items, machines, systems, names }
    }

    /// The entries, in the order of the text.
    #[must_use]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Number of the entry of the node of a snapshot that people call `label`.
    ///
    /// # Errors
    /// None is, as far as can be told.
    pub fn find(&self, s: &Snapshot, label: &str) -> Result<(usize, By), Stranger> {
        let mut who = Who::of(s);
        who.names.insert(0, label.to_owned());
        for (map, id, by) in [(&self.machines, &who.machine, By::Machine), (&self.systems, &who.system, By::System)] {
            // Ids that several entries share were copied, and name none of them.
            if let Some(Found::One(at)) = id.as_ref().and_then(|id| map.get(id)) {
                return Ok((*at, by));
            }
        }
        let named = |name: &String| self.names.get(&name.to_ascii_lowercase()).or_else(|| self.names.get(&short(name)));
        match who.names.iter().find_map(named) {
            Some(Found::One(at)) if self.items.get(*at).is_some_and(|one| who.is_not(one)) => Err(Stranger::Other),
            Some(Found::One(at)) => Ok((*at, By::Name)),
            Some(Found::Several) => Err(Stranger::Several),
            None => Err(Stranger::None(self.items.len())),
        }
    }

    /// [`find`](Register::find), of the text of one node: its only entry is the node's, unless its ids say otherwise.
    pub(super) fn own(&self, s: &Snapshot) -> Result<(&T, By), Stranger> {
        let only = match self.items.as_slice() {
            [] => return Err(Stranger::Empty),
            [only] if Who::of(s).is_not(only) => return Err(Stranger::Other),
            [only] => Some((only, By::Only)),
            _ => None,
        };
        match (only, self.find(s, &s.label)) {
            (_, Ok((at, by))) => self.items.get(at).map(|one| (one, by)).ok_or(Stranger::Empty),
            (Some(only), Err(_)) => Ok(only),
            (None, Err(e)) => Err(e),
        }
    }
}

/// A name without its domain.
fn short(name: &str) -> String {
    name.split('.').next().unwrap_or(name).to_ascii_lowercase()
}
