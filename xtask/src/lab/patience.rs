//! How long the lab waits for anything.

use std::time::{Duration, Instant};

/// A factor on every time limit, for loaded machines, and the moment at which the whole run must be over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    factor: u32,
    until: Option<Instant>,
}

impl Patience {
    /// Limits times `factor`, none of which ends later than `within` from now.
    pub(super) fn new(factor: u32, within: Option<Duration>) -> Patience {
        Patience { factor, until: within.and_then(|w| Instant::now().checked_add(w)) }
    }

    /// This limit on a machine of this speed, or what is left of the run: at least a second, so that a wait fails with its own words.
    pub(super) fn limit(self, limit: Duration) -> Duration {
        let limit = limit * self.factor;
        self.until.map_or(limit, |until| {
            limit.min(until.saturating_duration_since(Instant::now())).max(Duration::from_secs(1))
        })
    }

    /// Is the time of the run over?
    pub(super) fn over(self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_longer_than_the_run() {
        let minute = Duration::from_secs(60);
        assert_eq!(Patience::new(3, None).limit(minute), minute * 3);
        assert!(Patience::new(3, Some(minute)).limit(minute) <= minute);
        let over = Patience::new(1, Some(Duration::ZERO));
        assert!(over.over() && over.limit(minute) == Duration::from_secs(1));
        assert!(!Patience::new(1, None).over());
    }
}
