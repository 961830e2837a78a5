//! A setting, and where it was read.

use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// What a setting was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OriginKind {
    /// A process's environment, or what `env` printed of one.
    Environment,
    /// A job script: exports, launcher options.
    Script,
    /// A pod spec, or another manifest.
    Manifest,
    /// A Dockerfile's ENV.
    Dockerfile,
    /// `~/.nccl.conf`, or the file of `NCCL_CONF_FILE`.
    UserConf,
    /// `/etc/nccl.conf`.
    SystemConf,
    /// A log: what NCCL itself said that it read.
    Log,
    /// Told to this program.
    Argument,
}

impl OriginKind {
    /// NCCL reads `nccl.conf` only where the environment is silent.
    #[must_use]
    pub fn is_conf(self) -> bool {
        matches!(self, OriginKind::UserConf | OriginKind::SystemConf)
    }

    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            OriginKind::Environment => "environment",
            OriginKind::Script => "script",
            OriginKind::Manifest => "manifest",
            OriginKind::Dockerfile => "Dockerfile",
            OriginKind::UserConf => "user's nccl.conf",
            OriginKind::SystemConf => "/etc/nccl.conf",
            OriginKind::Log => "log",
            OriginKind::Argument => "argument",
        }
    }
}

/// Where a setting was read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Origin {
    /// From what.
    pub kind: OriginKind,
    /// Name of the file, as it was given.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "text")]
    pub file: Option<Arc<str>>,
    /// 1-based line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Which environment of a file that holds several (containers of a pod): settings of different ones do not contradict one another.
    #[serde(skip)]
    pub scope: u32,
}

fn text<S: serde::Serializer>(file: &Option<Arc<str>>, s: S) -> Result<S::Ok, S::Error> {
    file.as_deref().serialize(s)
}

impl Origin {
    /// Without a file.
    #[must_use]
    pub fn new(kind: OriginKind) -> Self {
        Origin { kind, file: None, line: None, scope: 0 }
    }

    /// In a file.
    #[must_use]
    pub fn file(kind: OriginKind, file: &str) -> Self {
        Origin { file: Some(file.into()), ..Origin::new(kind) }
    }

    /// At a 1-based line.
    #[must_use]
    pub fn line(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}"),
            (Some(file), None) => f.write_str(file),
            (None, Some(line)) => write!(f, "{}, line {line}", self.kind.name()),
            (None, None) => f.write_str(self.kind.name()),
        }
    }
}

/// A variable that was set.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Setting {
    /// Name as it was written.
    pub name: String,
    /// Value as the reader of the file hands it to the program. One that a shell or template fills in still holds `$` or `{{`.
    pub value: String,
    /// Where.
    pub origin: Origin,
}

impl Setting {
    /// A setting. A value that may be a secret is not kept.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>, origin: Origin) -> Self {
        let (name, mut value) = (name.into(), value.into());
        let shown = linerate_snapshot::setting(&name, &value);
        if shown != value {
            value = shown.to_owned();
        }
        Setting { name, value, origin }
    }
}

/// Variables that another object sets, and that are therefore not to be seen in an input: `envFrom`, `env_file`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Elsewhere {
    /// What says so: `envFrom`.
    pub by: String,
    /// The object: `ConfigMap nccl-env`; empty where it has no name.
    pub holder: String,
    /// Where.
    pub at: Origin,
}
