//! The messages as data: `table.tsv`, read once.

use crate::table::rows;
use std::sync::LazyLock;

const TABLE: &str = include_str!("table.tsv");

/// How sure a message is of its cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sure {
    /// It says that the cause is not there: what is only possible is dropped.
    Refutes,
    /// It is printed where all is well, too: with a failure of the same program it makes the cause likely.
    Adds,
    /// It fits, and so do others.
    Possible,
    /// It fits best.
    Likely,
    /// It says so itself.
    Certain,
}

impl Sure {
    fn read(word: &str) -> Option<Self> {
        Some(match word {
            "refutes" => Sure::Refutes,
            "adds" => Sure::Adds,
            "possible" => Sure::Possible,
            "likely" => Sure::Likely,
            "certain" => Sure::Certain,
            _ => return None,
        })
    }
}

/// A message of a program.
#[derive(Debug)]
pub(crate) struct Says {
    /// The cause that it names.
    pub(crate) cause: &'static str,
    /// Who prints it.
    pub(crate) program: &'static str,
    /// How sure that is behind a head: of a logger or a launcher, or of an exception below a traceback.
    sure: Sure,
    /// How sure, where nothing comes before it, and people may have written it.
    alone: Sure,
    /// Its beginning, as a pattern.
    pub(super) form: &'static str,
    /// What else it contains.
    pub(super) words: Vec<&'static str>,
    /// What it means.
    pub(crate) means: &'static str,
}

impl Says {
    fn read([cause, program, sure, form, means]: [&'static str; 5]) -> Option<Self> {
        let (sure, alone) = match sure.split_once(", alone ") {
            Some((sure, alone)) => (Sure::read(sure)?, Sure::read(alone)?),
            // A message that is only possible where nothing comes before it: guides and tickets name it so, too.
            None => Sure::read(sure).map(|sure| (sure, sure.min(Sure::Possible)))?,
        };
        let mut words = form.split(" & ");
        let form = words.next()?;
        Some(Says { cause, program, sure, alone, form, words: words.collect(), means })
    }

    /// How sure, with a head or without.
    pub(crate) fn sure(&self, headed: bool) -> Sure {
        if headed { self.sure } else { self.alone }
    }
}

/// All messages. Of several that fit a line, the first counts.
pub(crate) static ALL: LazyLock<Vec<Says>> = LazyLock::new(|| rows(TABLE).filter_map(Says::read).collect());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::lines;

    #[test]
    fn every_row_is_a_message_of_a_known_cause() {
        assert_eq!(ALL.len(), lines(TABLE).count(), "a row is cause, program, how sure, form, meaning");
        assert!(ALL.len() >= 150);
        for s in ALL.iter() {
            assert!(crate::causes::causes().any(|k| k.id == s.cause), "{}: no such cause", s.form);
            assert!(!s.form.is_empty() && !s.means.is_empty(), "{s:?}");
        }
    }
}
