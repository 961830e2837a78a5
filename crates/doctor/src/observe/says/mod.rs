//! Messages of CUDA, frameworks, launchers, containers and services that name a cause by themselves. What they say, from where, and how sure
//! that is, is in [`table`]; here is where in a line such a message may stand: alone in it, or behind what a logger, an exception or a
//! container's runtime puts before it. In the middle of a sentence it counts for nothing.

mod cuda;
mod heads;
mod pattern;
mod table;

pub(crate) use cuda::cuda;
pub(crate) use table::{ALL, Says, Sure};

use cuda::CUDA;
use heads::{class, head};
use linerate_formats::printed;

/// Heads of loggers and exceptions that are taken off one message.
const MAX_HEADS: usize = 8;

/// What a line must contain to be looked at.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    let patterns = ALL.iter().map(|s| pattern::anchor(s.form));
    patterns.chain([
        ".service - ",
        "Active: failed",
        "Active: inactive",
        "OOMKilled",
        "Fabric",
        "State  ",
        "Status  ",
        "Exit Code:   ",
    ])
}

/// What a line must contain to be looked at for an error of CUDA.
pub(super) fn cuda_words() -> impl Iterator<Item = &'static str> {
    CUDA.iter().map(|(_, words)| *words)
}

/// Reads a file's lines.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The unit whose status is being printed, as `systemctl status` heads it.
    unit: Option<String>,
    /// `nvidia-smi -q` prints its section Fabric: State and Status follow at once.
    fabric: bool,
    /// A traceback was printed: an exception's line is a program's. Without one it may stand in a guide.
    traceback: bool,
}

impl Reader {
    /// A program printed how it ended.
    pub(super) fn ended(&mut self) {
        self.traceback = true;
    }

    /// What a line says, by number in [`ALL`], and whether somebody's logger comes before it.
    pub(super) fn read(&mut self, line: &str) -> Option<(usize, bool)> {
        if line.trim() == "Fabric" {
            self.fabric = true;
            return None;
        }
        if std::mem::take(&mut self.fabric)
            && let Some((name @ ("State" | "Status"), value)) = line.split_once(':').map(|(n, v)| (n.trim(), v.trim()))
        {
            self.fabric = true;
            let field = format!("Fabric {name} : {value}");
            return ALL.iter().position(|s| pattern::fits(s.form, &field)).map(|which| (which, false));
        }
        let message = Message::of(line)?;
        if let Some((mark, rest)) = message.text.split_once(' ')
            && matches!(mark, "●" | "×" | "○" | "*")
            && let Some((unit, _)) = rest.split_once(".service - ")
        {
            self.unit = (!unit.contains(' ')).then(|| unit.to_owned());
            return None;
        }
        let status;
        let text = match (&self.unit, message.text.strip_prefix("Active: ")) {
            (Some(unit), Some(active)) => {
                status = format!("{unit}.service: {active}");
                status.as_str()
            }
            _ => message.text,
        };
        // `Reason:       OOMKilled` of kubectl describe is padded.
        let padded = text.contains("  ").then(|| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let text = padded.as_deref().unwrap_or(text);
        let fits = |s: &table::Says| pattern::fits(s.form, text) && s.words.iter().all(|w| text.contains(w));
        let headed = message.headed || message.exception && self.traceback;
        ALL.iter().position(fits).map(|which| (which, headed))
    }
}

/// A message in a line.
struct Message<'a> {
    text: &'a str,
    /// A logger, a launcher or a container's runtime comes before it: somebody's program printed it.
    headed: bool,
    /// An exception's class, or the program's name, comes before it.
    exception: bool,
}

impl<'a> Message<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let trimmed = line.trim();
        // The whole content of a code span.
        let trimmed = match trimmed.strip_prefix('`').and_then(|t| t.strip_suffix('`')) {
            Some(inner) if !inner.contains('`') => inner.trim(),
            _ => trimmed,
        };
        let (mut text, mut headed, mut exception) = (trimmed, false, false);
        for _ in 0..MAX_HEADS {
            let own = printed::own(text);
            if own.quoted {
                return None;
            }
            headed |= own.text.len() < text.len();
            text = own.text;
            if let Some(rest) = head(text) {
                (headed, text) = (true, rest.trim_start());
            } else if let Some(rest) = class(text).or_else(|| text.strip_prefix("nvidia-container-cli: ")) {
                (exception, text) = (true, rest.trim_start());
            } else {
                break;
            }
        }
        Some(Message { text, headed, exception })
    }
}
