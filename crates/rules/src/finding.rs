//! What a check answers.

use crate::remedy::{Remedy, Text};
use crate::rule::Severity;
use linerate_formats::pci::Bdf;
use linerate_snapshot::{Place, Reading, Why};
pub use linerate_verdict::Status;
use serde::{Serialize, Serializer};
use std::fmt;

/// What a verdict is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// The node as a whole.
    Node,
    /// A PCI function.
    Pci(Bdf),
    /// A port of an RDMA device: name and port number.
    RdmaPort(String, u32),
    /// A network interface.
    Net(String),
    /// A word of the kernel command line.
    KernelArg(String),
    /// A kernel module, or a parameter of one.
    Module(String),
    /// A firmware setting of a NIC: device and parameter.
    NicFirmware(String, String),
    /// Anything else with a name.
    Named(String),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Node => f.write_str("node"),
            Subject::Pci(b) => write!(f, "{b}"),
            Subject::RdmaPort(d, p) => write!(f, "{d}/{p}"),
            Subject::NicFirmware(d, p) => write!(f, "{d} {p}"),
            Subject::Net(n) | Subject::KernelArg(n) | Subject::Module(n) | Subject::Named(n) => f.write_str(n),
        }
    }
}

impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl From<Bdf> for Subject {
    fn from(b: Bdf) -> Self {
        Subject::Pci(b)
    }
}

/// Words of an answer: text, `format_args!(…)`, or a closure that makes them. They are made only where somebody reads them: of
/// a node in a fleet one answer is shown, and hundreds are counted.
pub trait Words {
    /// Makes them.
    fn words(self) -> Text;
}

impl Words for &'static str {
    fn words(self) -> Text {
        Text::Borrowed(self)
    }
}

impl Words for String {
    fn words(self) -> Text {
        Text::Owned(self)
    }
}

impl Words for Text {
    fn words(self) -> Text {
        self
    }
}

impl Words for fmt::Arguments<'_> {
    fn words(self) -> Text {
        Text::Owned(fmt::format(self))
    }
}

impl<F: FnOnce() -> String> Words for F {
    fn words(self) -> Text {
        Text::Owned(self())
    }
}

/// How much of an answer is made beside its status, its severity and what it is about: words that nobody reads cost more than the check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Nothing: it is counted.
    Counted,
    /// Where the rule looked.
    Placed,
    /// What it says in one line as well.
    Said,
    /// All of it.
    #[default]
    Whole,
}

/// A place that supports an answer.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// Where.
    pub place: Place,
    /// What it shows, where the bytes do not speak for themselves.
    pub note: Option<Text>,
}

/// One answer of a check.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The verdict.
    pub status: Status,
    /// Overrides the rule's severity.
    pub severity: Option<Severity>,
    /// How much of it is kept.
    depth: Depth,
    /// Whether evidence was given, kept or not.
    proven: bool,
    /// About what.
    pub subject: Subject,
    /// What is so, in one line, for a tired engineer.
    pub message: Text,
    /// On what evidence.
    pub evidence: Vec<Evidence>,
    /// What to do about it.
    pub remedy: Option<Box<Remedy>>,
    /// How to see what was not seen.
    pub see: Option<Text>,
    /// It is unknown only because this is; else it fails.
    pub depends_on: Option<DependsOn>,
    /// What it follows from, where that fails ([`crate::Causes`]): were it right, this would be, too.
    pub(crate) follows: Vec<(&'static str, About)>,
}

/// What is not known, and decides whether something is a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependsOn {
    /// The node's role: the rule holds for some only.
    Role,
    /// What the device is: of a GPU or a NIC it is a fault.
    Device,
}

/// Of which subject an answer is a cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// Whatever it is.
    Any,
    /// This one.
    Of(Subject),
}

impl Finding {
    /// Adds evidence, where there is a place to show.
    pub fn at(&mut self, place: impl Into<Option<Place>>) -> &mut Self {
        match place.into() {
            Some(place) => self.show(place, || None),
            None => self,
        }
    }

    /// Adds each place as evidence.
    pub fn at_all(&mut self, places: impl IntoIterator<Item = Place>) -> &mut Self {
        places.into_iter().fold(self, |finding, place| finding.at(place))
    }

    /// Adds evidence with what it shows.
    pub fn at_noting(&mut self, place: Place, note: impl Words) -> &mut Self {
        self.show(place, || Some(note.words()))
    }

    fn show(&mut self, place: Place, note: impl FnOnce() -> Option<Text>) -> &mut Self {
        self.proven = true;
        if self.depth >= Depth::Placed {
            let note = if self.depth == Depth::Whole { note() } else { None };
            self.evidence.push(Evidence { place, note });
        }
        self
    }

    /// Says what to do.
    pub fn fix(&mut self, remedy: impl FnOnce() -> Remedy) -> &mut Self {
        if self.depth == Depth::Whole {
            self.remedy = Some(Box::new(remedy()));
        }
        self
    }

    /// Overrides the severity, where there is one to set.
    pub fn severity(&mut self, severity: impl Into<Option<Severity>>) -> &mut Self {
        self.severity = severity.into().or(self.severity);
        self
    }

    /// Says that it fails, unless this exempts it.
    pub(crate) fn depends_on(&mut self, what: DependsOn) -> &mut Self {
        self.depends_on = Some(what);
        self
    }

    /// Says how to see what was not seen.
    pub fn see(&mut self, how: impl Words) -> &mut Self {
        if self.depth == Depth::Whole {
            self.see = Some(how.words());
        }
        self
    }

    /// Says that it is no fault of its own where this rule fails for this subject. To be said only where this would be right if that were.
    pub fn follows(&mut self, rule: &'static str, about: About) -> &mut Self {
        if self.depth == Depth::Whole {
            self.follows.push((rule, about));
        }
        self
    }

    /// Whether evidence was given.
    pub(crate) fn is_proven(&self) -> bool {
        self.proven
    }

    /// Puts these words about the message in its place.
    pub(crate) fn reword(&mut self, words: impl FnOnce(&str) -> String) {
        if self.depth >= Depth::Said {
            self.message = words(&self.message).into();
        }
    }
}

/// Answers of one check.
#[derive(Debug, Default)]
pub struct Findings {
    pub(crate) list: Vec<Finding>,
    depth: Depth,
}

impl Findings {
    /// Keeps so much of each answer.
    pub(crate) fn to(depth: Depth) -> Self {
        Findings { list: Vec::new(), depth }
    }

    fn push(&mut self, status: Status, subject: Subject, message: impl Words) -> &mut Finding {
        let (at, depth) = (self.list.len(), self.depth);
        self.list.push(Finding {
            status,
            severity: None,
            depth,
            proven: false,
            depends_on: None,
            subject,
            message: if depth >= Depth::Said { message.words() } else { Text::Borrowed("") },
            evidence: Vec::new(),
            remedy: None,
            see: None,
            follows: Vec::new(),
        });
        &mut self.list[at]
    }

    /// Whether nothing was answered yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Seen, and right. Give evidence: a pass without evidence becomes unknown.
    pub fn pass(&mut self, subject: impl Into<Subject>, message: impl Words) -> &mut Finding {
        self.push(Status::Pass, subject.into(), message)
    }

    /// Seen, and wrong.
    pub fn fail(&mut self, subject: impl Into<Subject>, message: impl Words) -> &mut Finding {
        self.push(Status::Fail, subject.into(), message)
    }

    /// Could not be seen.
    pub fn unknown(&mut self, subject: impl Into<Subject>, message: impl Words) -> &mut Finding {
        self.push(Status::Unknown, subject.into(), message)
    }

    /// Does not hold here.
    pub fn not_applicable(&mut self, reason: impl Words) -> &mut Finding {
        self.push(Status::NotApplicable, Subject::Node, reason)
    }

    /// Does not hold for this subject.
    pub fn not_applicable_to(&mut self, subject: impl Into<Subject>, reason: impl Words) -> &mut Finding {
        self.push(Status::NotApplicable, subject.into(), reason)
    }

    /// Unknown because this reading is not known: says why, and how to see it where the reason tells.
    pub fn unreadable<T>(
        &mut self,
        subject: impl Into<Subject>,
        what: impl fmt::Display,
        reading: &Reading<T>,
    ) -> &mut Finding {
        let finding = match reading {
            Reading::Known(..) => self.unknown(subject, format_args!("{what}: read, but not enough to judge")),
            Reading::Absent(_) => self.unknown(subject, format_args!("{what}: does not exist on this node")),
            Reading::Unreadable(_, why) => {
                let finding = self.unknown(subject, format_args!("{what}: {why}"));
                match why {
                    Why::Denied | Why::Cut(_) => {
                        finding.see("run as root (in a container: privileged, with the host's /sys)")
                    }
                    Why::NotCollected => finding.see("capture the node with `linerate collect` as root"),
                    Why::TimedOut => {
                        finding.see("read the file by hand; if the device does not answer, that may be the fault")
                    }
                    _ => finding,
                }
            }
        };
        finding.at(reading.place())
    }
}
