//! The table of forms: which release prints a fact in which words.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::printf::Format;
use crate::release::Release;

/// By what a text is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// `INFO`.
    Info,
    /// `INFO_LOC`: `INFO` with file, line and function before the text (2.30.7).
    InfoLocated,
    /// `WARN`.
    Warn,
    /// `VERSION`: the text alone.
    Version,
    /// `printf`: the text alone, whatever the level.
    Printf,
    /// A piece that goes into another form's `%s`.
    Part,
    /// The name of a call, as an argument of the macro named here, which decides how a failure reads.
    Macro(&'static str),
}

/// One format string.
#[derive(Debug, Clone)]
pub struct Form {
    /// What it says, the same for all wordings: `gdr.pair.off`.
    pub id: &'static str,
    /// By what it is printed.
    pub level: Level,
    /// NCCL's subsystems, any of which lets it through: `["INIT", "NET"]`. Empty for what no subsystem holds back.
    pub subsystems: Vec<&'static str>,
    /// As it is in the table.
    pub subsystem_text: &'static str,
    /// First release that has it.
    pub first: Release,
    /// Last release that has it, without a gap and in the same files.
    pub last: Release,
    /// Where those releases have it.
    pub files: Vec<&'static str>,
    /// Names of the arguments; `'text'` is a constant.
    pub arguments: Vec<&'static str>,
    /// As it is in the source.
    pub text: &'static str,
    /// The same, parsed.
    pub format: Format,
}

impl Form {
    /// Whether a release has it.
    pub fn holds(&self, release: Release) -> bool {
        self.first <= release && release <= self.last
    }
}

static TABLE: &str = include_str!("../forms.tsv");

/// All forms, in the order of the table.
pub fn forms() -> &'static [Form] {
    static FORMS: OnceLock<Vec<Form>> = OnceLock::new();
    FORMS.get_or_init(|| TABLE.lines().filter(|l| !l.starts_with('#')).filter_map(parse).collect())
}

/// The words of a release for an id; `None` where it has none.
pub fn form(id: &str, release: Release) -> Option<&'static Form> {
    static INDEX: OnceLock<HashMap<&'static str, Vec<&'static Form>>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let mut index: HashMap<_, Vec<_>> = HashMap::new();
        for form in forms() {
            index.entry(form.id).or_default().push(form);
        }
        index
    });
    index.get(id)?.iter().find(|f| f.holds(release)).copied()
}

/// Rows of the table that cannot be read: none, says a test.
pub fn unreadable() -> Vec<&'static str> {
    TABLE.lines().filter(|l| !l.starts_with('#') && parse(l).is_none()).collect()
}

fn parse(line: &'static str) -> Option<Form> {
    let mut columns = line.splitn(8, '\t');
    let mut column = || columns.next();
    let (id, level, subsystem_text) = (column()?, column()?, column()?);
    let (first, last) = (column()?.parse().ok()?, column()?.parse().ok()?);
    let (files, arguments, text) = (column()?, column()?, column()?);
    let level = match level {
        "INFO" => Level::Info,
        "INFO_LOC" => Level::InfoLocated,
        "WARN" => Level::Warn,
        "VERSION" => Level::Version,
        "printf" => Level::Printf,
        "PART" => Level::Part,
        other => Level::Macro(other),
    };
    let subsystems = match subsystem_text {
        "-" => Vec::new(),
        // The plugin loader's own table: the network's entry.
        "subsys[type]" => vec!["INIT", "NET"],
        names => names.split('|').map(|n| n.strip_prefix("NCCL_").unwrap_or(n)).collect(),
    };
    let format = Format::parse(text).ok()?;
    let arguments = if arguments == "-" { Vec::new() } else { arguments.split(',').collect() };
    Some(Form {
        id,
        level,
        subsystems,
        subsystem_text,
        first,
        last,
        files: files.split(',').collect(),
        arguments,
        text,
        format,
    })
}
