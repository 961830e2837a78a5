//! Which answers of an audit are not counted, and from which severity on a finding fails it.

use crate::output::{Failure, remark};
use clap::{Args, ValueEnum};
use linerate_formats::clock;
use linerate_gather::inventory::Config;
use linerate_gather::suppress::{self, SuppressOf};
use linerate_rules::{Severity, Suppression, Terms, terms};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The heading of these options.
const HEADING: &str = "Known findings";

/// What is not counted.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SuppressArgs {
    /// Do not count the answers of this rule, or RULE:SUBJECT.
    ///
    /// An id, an area, or a pattern such as 'acs/*'; or only those about SUBJECT (as reports write it; * matches anything). May be repeated. They are
    /// shown as suppressed.
    #[arg(long, help_heading = HEADING, value_name = "RULE", value_parser = crate::ids::Ids::Rules, hide_possible_values = true)]
    pub(crate) ignore: Vec<String>,
    /// Read suppressions from this file (docs/suppressions.md).
    ///
    /// Each has its reason. May be repeated. Those in linerate.toml apply, too.
    #[arg(long, help_heading = HEADING, value_name = "FILE")]
    pub(crate) suppressions: Vec<PathBuf>,
    /// Ignore suppressions, fail-on and defaults in linerate.toml.
    #[arg(long, help_heading = HEADING)]
    pub(crate) no_config: bool,
}

/// The least severity that fails an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Any finding, even one with nothing to do.
    Info,
    /// The default.
    Low,
    /// Medium, high and critical.
    Medium,
    /// High and critical.
    High,
    /// Critical only.
    Critical,
    /// No finding.
    Never,
}

impl FailOn {
    fn severity(self) -> Option<Severity> {
        match self {
            FailOn::Info => Some(Severity::Info),
            FailOn::Low => Some(Severity::Low),
            FailOn::Medium => Some(Severity::Medium),
            FailOn::High => Some(Severity::High),
            FailOn::Critical => Some(Severity::Critical),
            FailOn::Never => None,
        }
    }
}

/// What a file of suppressions has.
const FORM: &str = "each [[suppress]] has rule, reason and by (who accepts it); it may have subject, nodes and until";

/// The terms of this command: its options first, then files that it names, then linerate.toml.
pub(crate) fn terms(a: &SuppressArgs, fail_on: Option<FailOn>) -> Result<Terms, Failure> {
    let mut suppressions = Vec::new();
    for text in &a.ignore {
        suppressions.push(Arc::new(of_words(text, format!("--ignore {text}"))?));
    }
    for path in &a.suppressions {
        let text = linerate_gather::inventory::read(path)?;
        let all = suppress::read(&text).map_err(|e| Failure::new(format!("{}: {e}", path.display())).hint(FORM))?;
        add(all.iter().map(|s| (suppress::line(&text, s), s.get_ref())), path, &mut suppressions)?;
    }
    let mut fail_on = fail_on;
    if let Some((path, text, config)) = site(a)? {
        add(config.suppress.iter().map(|s| (suppress::line(&text, s), s.get_ref())), &path, &mut suppressions)?;
        for words in &config.audit.ignore {
            suppressions.push(Arc::new(of_words(words, format!("{}: ignore", path.display()))?));
        }
        if let (None, Some(word)) = (fail_on, &config.audit.fail_on) {
            let known = FailOn::from_str(word, false).map_err(|_| {
                let all: Vec<String> = FailOn::value_variants()
                    .iter()
                    .filter_map(|v| v.to_possible_value())
                    .map(|v| v.get_name().to_owned())
                    .collect();
                Failure::new(format!("{}: fail-on = {word:?} is not a severity", path.display()))
                    .hint(format!("write one of {}", all.join(", ")))
            })?;
            fail_on = Some(known);
        }
    }
    let fail_on = fail_on.map_or(Some(Severity::Low), FailOn::severity);
    Ok(Terms { fail_on, suppressions, only: Vec::new() })
}

/// The site's own file, where it is the user's, root's, or that of who called sudo: whoever writes it decides what is not counted.
fn site(a: &SuppressArgs) -> Result<Option<(PathBuf, String, Config)>, Failure> {
    if a.no_config {
        return Ok(None);
    }
    let Some((path, text, config)) = crate::targets::files().site()? else { return Ok(None) };
    let says_something = !config.suppress.is_empty() || config.audit != suppress::AuditOf::default();
    if says_something && !is_ours(&path) {
        remark(&format!(
            "{}: its suppressions and fail-on are not used, as the file belongs to another user; copy its [[suppress]] into a file of your own, and name that with --suppressions",
            path.display()
        ));
        return Ok(None);
    }
    Ok(Some((path, text, config)))
}

/// Whether a file is the user's, root's, or that of who called sudo.
pub(crate) fn is_ours(path: &Path) -> bool {
    let owner = |p: &Path| std::fs::metadata(p).ok().map(|m| m.uid());
    let sudo = std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse().ok());
    let ours = [Some(0), owner(Path::new("/proc/self")), sudo];
    owner(path).is_some_and(|uid| ours.contains(&Some(uid)))
}

fn add<'a>(
    entries: impl Iterator<Item = (usize, &'a SuppressOf)>,
    path: &Path,
    to: &mut Vec<Arc<Suppression>>,
) -> Result<(), Failure> {
    for (line, s) in entries {
        let place = format!("{}:{line}", path.display());
        exists(&s.rule, &place)?;
        let nodes = s.nodes.clone().map(|nodes| -> Box<terms::Names> { Box::new(move |name| nodes.contains(name)) });
        to.push(Arc::new(Suppression {
            rule: s.rule.clone(),
            subject: s.subject.clone(),
            nodes,
            reason: Some(s.reason.clone()),
            by: Some(s.by.clone()),
            until: s.until.clone(),
            expired: s.until.as_deref().is_some_and(is_over),
            place,
        }));
    }
    Ok(())
}

/// `RULE`, `RULE:SUBJECT`.
fn of_words(text: &str, place: String) -> Result<Suppression, Failure> {
    let (rule, subject) = match text.split_once(':') {
        Some((rule, subject)) => (rule, Some(subject.to_owned())),
        None => (text, None),
    };
    exists(rule, &place)?;
    let rule = rule.to_owned();
    Ok(Suppression { rule, subject, nodes: None, reason: None, by: None, until: None, expired: false, place })
}

/// A pattern that names nothing is a slip of the pen: what it was to suppress would be counted.
fn exists(rule: &str, place: &str) -> Result<(), Failure> {
    if linerate_rules::rules().iter().any(|r| terms::names(rule, r)) {
        return Ok(());
    }
    Err(Failure::new(format!("{place}: no rule matches `{rule}`")).hint("`linerate rules` lists all"))
}

/// Whether a day is over, in UTC.
fn is_over(day: &str) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    clock::moment(day).is_some_and(|begin| now >= begin.saturating_add(86_400))
}
