//! What a check answers.

use crate::remedy::Remedy;
use crate::rule::Severity;
use linerate_formats::pci::Bdf;
use linerate_snapshot::{Place, Reading, Why};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The four verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Seen, and right.
    Pass,
    /// Does not hold here, with the reason.
    NotApplicable,
    /// Could not be seen. Never green.
    Unknown,
    /// Seen, and wrong.
    Fail,
}

impl Status {
    /// As in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::NotApplicable => "not-applicable",
            Status::Unknown => "unknown",
            Status::Fail => "fail",
        }
    }
}

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

/// A place that supports an answer.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// Where.
    pub place: Place,
    /// What it shows, where the bytes do not speak for themselves.
    pub note: Option<Cow<'static, str>>,
}

/// One answer of a check.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The verdict.
    pub status: Status,
    /// Overrides the rule's severity.
    pub severity: Option<Severity>,
    /// About what.
    pub subject: Subject,
    /// What is so, in one line, for a tired engineer.
    pub message: Cow<'static, str>,
    /// On what evidence.
    pub evidence: Vec<Evidence>,
    /// What to do about it.
    pub remedy: Option<Remedy>,
    /// How to see what was not seen.
    pub see: Option<Cow<'static, str>>,
}

impl Finding {
    fn new(status: Status, subject: Subject, message: Cow<'static, str>) -> Self {
        Finding { status, severity: None, subject, message, evidence: Vec::new(), remedy: None, see: None }
    }

    /// Adds evidence.
    pub fn at(&mut self, place: Place) -> &mut Self {
        self.evidence.push(Evidence { place, note: None });
        self
    }

    /// Adds evidence with what it shows.
    pub fn at_noting(&mut self, place: Place, note: impl Into<Cow<'static, str>>) -> &mut Self {
        self.evidence.push(Evidence { place, note: Some(note.into()) });
        self
    }

    /// Says what to do.
    pub fn fix(&mut self, remedy: Remedy) -> &mut Self {
        self.remedy = Some(remedy);
        self
    }

    /// Overrides the severity.
    pub fn severity(&mut self, severity: Severity) -> &mut Self {
        self.severity = Some(severity);
        self
    }

    /// Says how to see what was not seen.
    pub fn see(&mut self, how: impl Into<Cow<'static, str>>) -> &mut Self {
        self.see = Some(how.into());
        self
    }
}

/// Answers of one check.
#[derive(Debug, Default)]
pub struct Findings {
    pub(crate) list: Vec<Finding>,
}

impl Findings {
    fn push(&mut self, status: Status, subject: Subject, message: Cow<'static, str>) -> &mut Finding {
        let at = self.list.len();
        self.list.push(Finding::new(status, subject, message));
        &mut self.list[at]
    }

    /// Whether nothing was answered yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Seen, and right. Give evidence: a pass without evidence becomes unknown.
    pub fn pass(&mut self, subject: impl Into<Subject>, message: impl Into<Cow<'static, str>>) -> &mut Finding {
        self.push(Status::Pass, subject.into(), message.into())
    }

    /// Seen, and wrong.
    pub fn fail(&mut self, subject: impl Into<Subject>, message: impl Into<Cow<'static, str>>) -> &mut Finding {
        self.push(Status::Fail, subject.into(), message.into())
    }

    /// Could not be seen.
    pub fn unknown(&mut self, subject: impl Into<Subject>, message: impl Into<Cow<'static, str>>) -> &mut Finding {
        self.push(Status::Unknown, subject.into(), message.into())
    }

    /// Does not hold here.
    pub fn not_applicable(&mut self, reason: impl Into<Cow<'static, str>>) -> &mut Finding {
        self.push(Status::NotApplicable, Subject::Node, reason.into())
    }

    /// Does not hold for this subject.
    pub fn not_applicable_to(
        &mut self,
        subject: impl Into<Subject>,
        reason: impl Into<Cow<'static, str>>,
    ) -> &mut Finding {
        self.push(Status::NotApplicable, subject.into(), reason.into())
    }

    /// Unknown because this reading is not known: says why, and how to see it where the reason tells.
    pub fn unreadable<T>(&mut self, subject: impl Into<Subject>, what: &str, reading: &Reading<T>) -> &mut Finding {
        let (message, see): (String, &'static str) = match reading {
            Reading::Known(..) => (format!("{what}: read, but not enough to judge"), ""),
            Reading::Absent(_) => (format!("{what}: does not exist on this node"), ""),
            Reading::Unreadable(_, why) => (
                format!("{what}: {why}"),
                match why {
                    Why::Denied | Why::Cut(_) => "run as root (in a container: privileged, with the host's /sys)",
                    Why::NotCollected => "capture the node with `linerate collect` as root",
                    Why::TimedOut => "read the file by hand; a device that does not answer may be the finding",
                    _ => "",
                },
            ),
        };
        let finding = self.push(Status::Unknown, subject.into(), message.into());
        if !see.is_empty() {
            finding.see(see);
        }
        finding.at(reading.place())
    }
}
