//! What is known of a tool's text: one [`Tool`] per text, beside its parser. The list of all is in `lib.rs`.
//!
//! Recognition ([`crate::sniff`]), the kinds of a snapshot's outputs and of benchmarks, the doctor's inputs, the fuzz targets, the
//! tests of recognition and `docs/texts.md` follow from it.

mod mark;

pub use mark::{Mark, Shows};

/// A text that a tool prints, or a file of the kernel that people copy.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Its own name, in words joined by `-`: the variant of [`Kind`](crate::Kind) in lower case, the fuzz target, the kind of a benchmark.
    pub name: &'static str,
    /// As people call it: `nvidia-smi topo -m`.
    pub called: &'static str,
    /// What to run to get it, or which file to copy.
    pub run: &'static str,
    /// What it is good for.
    pub gives: Gives,
    /// What in a text shows that it is this.
    pub marks: &'static [Mark],
    /// Command lines that print it.
    pub commands: &'static [Command],
    /// Beginnings of names of files that hold it, in lower case. They count where the content shows nothing.
    pub files: &'static [&'static str],
    /// As `files`, where the content is a JSON or XML document.
    pub documents: &'static [&'static str],
    /// Of a benchmark: words that it prints and others rarely do, by which it is found in a longer text. They only make its reader look.
    pub words: &'static [&'static str],
    /// A node has one such text, which is about all of it: not one for each interface, adapter or guest.
    pub once: bool,
    /// It is about a cluster, or about what is to run there: not about the host on which it was printed.
    pub of_cluster: bool,
    /// Its parser, on any bytes; `None` where it is parsed in another crate, or not at all.
    pub read: Option<fn(&[u8])>,
    /// Short texts, each recognised as this one and as no other.
    pub samples: &'static [&'static str],
}

impl Tool {
    /// A tool that nothing is known of, to be filled in.
    pub(crate) const NONE: Tool = Tool {
        name: "other",
        called: "",
        run: "",
        gives: Gives::Unknown,
        marks: &[],
        commands: &[],
        files: &[],
        documents: &[],
        words: &[],
        once: false,
        of_cluster: false,
        read: None,
        samples: &[],
    };

    /// Whether people paste it beside what matters more: a text that begins with it may be of something else.
    #[must_use]
    pub fn is_aside(&self) -> bool {
        !self.marks.is_empty() && self.marks.iter().all(|m| matches!(m.shows, Shows::Aside(_)))
    }

    /// Whether only its words as a whole show it, which others may use, too: without its command line that is no evidence.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        !self.marks.is_empty() && self.marks.iter().all(|m| matches!(m.shows, Shows::Whole(_)))
    }
}

/// What a text is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// Facts about a node.
    Facts,
    /// Facts about a node, and messages to be searched.
    KernelLog,
    /// Facts about a node: it is a copy of the file at this path.
    Copy(&'static str),
    /// No facts about a node: what it is, with its article.
    NoFacts(&'static str),
    /// It may be anything.
    Unknown,
}

impl Gives {
    /// Whether facts about a node are read from it.
    #[must_use]
    pub fn facts(self) -> bool {
        matches!(self, Gives::Facts | Gives::KernelLog | Gives::Copy(_))
    }
}

/// A command line that prints a text.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// The program, without its directory.
    pub program: &'static str,
    /// Its arguments.
    pub args: Args,
}

/// Arguments that matter.
#[derive(Debug, Clone, Copy)]
pub enum Args {
    /// Any.
    Any,
    /// None.
    None,
    /// All of these words.
    Words(&'static [&'static str]),
    /// Something with this in it.
    Within(&'static str),
    /// The last ends so.
    End(&'static str),
}

impl Command {
    /// A program, with whatever arguments.
    pub(crate) const fn any(program: &'static str) -> Command {
        Command { program, args: Args::Any }
    }

    /// A program, with all of these arguments.
    pub(crate) const fn with(program: &'static str, words: &'static [&'static str]) -> Command {
        Command { program, args: Args::Words(words) }
    }

    /// Whether a command line is this one.
    pub(crate) fn is(&self, program: &str, args: &str) -> bool {
        self.program == program
            && match self.args {
                Args::Any => true,
                Args::None => args.is_empty(),
                Args::Words(words) => words.iter().all(|w| args.split_whitespace().any(|a| a == *w)),
                Args::Within(part) => args.contains(part),
                Args::End(end) => args.ends_with(end),
            }
    }
}

/// What a number begins with.
pub(crate) const DIGITS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// Whether a line begins with one of these.
pub(crate) fn starts(line: &str, words: &[&str]) -> bool {
    words.iter().any(|w| line.starts_with(w))
}

/// For [`Tool::read`]: what a parser gave is not optimised away.
pub(crate) fn seen<T>(value: T) {
    std::hint::black_box(value);
}

/// Makes [`Kind`](crate::Kind) of the list of tools.
macro_rules! tools {
    ($($kind:ident => $tool:expr),* $(,)?) => {
        /// Which tool's text it is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)] // The names are the tools'.
        pub enum Kind {
            $($kind,)*
            /// Something else.
            Other,
        }

        impl Kind {
            /// All but [`Kind::Other`]. Where several could claim a line, the first has it.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind),*];

            /// What is known of it.
            #[must_use]
            pub fn tool(self) -> &'static Tool {
                const { &[$($tool,)* Tool::NONE] }.get(self as usize).unwrap_or(&Tool::NONE)
            }

            /// Its name in the catalogue and in manifests.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Kind::$kind => stringify!($kind),)*
                    Kind::Other => "Other",
                }
            }

            /// The kind of a name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Kind> {
                Kind::ALL.iter().copied().chain([Kind::Other]).find(|k| k.name() == name)
            }

            /// What it is good for.
            #[must_use]
            pub fn gives(self) -> Gives {
                self.tool().gives
            }
        }
    };
}
