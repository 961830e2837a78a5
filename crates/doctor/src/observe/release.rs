//! Which release a process runs: it says so, or its wordings do.

use linerate_formats::nccl_log::wording;

/// What is known of a process's release of NCCL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// As printed.
    pub told: Option<(u16, u16, u16)>,
    /// Minor releases of 2.x that print all the wordings that were seen, first and last.
    pub range: wording::Range,
}

impl Default for Release {
    fn default() -> Self {
        Release { told: None, range: (0, u16::MAX) }
    }
}

impl Release {
    /// Reads `2.21.5+cuda12.4`.
    pub(crate) fn tell(&mut self, version: &str) {
        self.told = self.told.or_else(|| parse(version));
    }

    /// Narrows by a wording. One that contradicts what was seen is passed over: builds differ.
    pub(crate) fn narrow(&mut self, message: &str) {
        if self.told.is_some() {
            return;
        }
        let Some((low, high)) = wording::releases(message) else { return };
        let both = (self.range.0.max(low), self.range.1.min(high));
        if both.0 <= both.1 {
            self.range = both;
        }
    }

    /// The minor release, where it is certain enough to say what a number means.
    #[must_use]
    pub fn minor(&self) -> Option<u16> {
        match self.told {
            Some((2, minor, _)) => Some(minor),
            Some(_) => None,
            None => (self.range.0 == self.range.1).then_some(self.range.0),
        }
    }

    /// What releases known by their wordings have in common. `None`: they cannot be one.
    pub(crate) fn common<'a>(all: impl Iterator<Item = &'a Release>) -> Option<Release> {
        let range = all.fold((0, u16::MAX), |(low, high), r| (low.max(r.range.0), high.min(r.range.1)));
        (range.0 <= range.1).then_some(Release { told: None, range })
    }

    /// Whether all that is known of it is at or after `2.minor`; `None` where both can be.
    #[must_use]
    pub fn since(&self, minor: u16) -> Option<bool> {
        if let Some((major, told, _)) = self.told {
            return Some((major, told) >= (2, minor));
        }
        if self.range.0 >= minor {
            Some(true)
        } else if self.range.1 < minor {
            Some(false)
        } else {
            None
        }
    }

    /// In words: `2.21.5`, `2.12 to 2.17`.
    #[must_use]
    pub fn words(&self) -> String {
        match (self.told, self.range) {
            (Some((a, b, c)), _) => format!("{a}.{b}.{c}"),
            (None, (0, u16::MAX)) => "unknown".to_owned(),
            (None, (low, high)) if low == high => format!("2.{low}, by its wordings"),
            (None, (low, high)) => format!("2.{} to 2.{}, by its wordings", low.max(4), high.min(30)),
        }
    }
}

fn parse(version: &str) -> Option<(u16, u16, u16)> {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u16>);
    let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some((major, minor, numbers.next().and_then(Result::ok).unwrap_or(0)))
}
