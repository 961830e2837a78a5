//! A reboot, and the wait for another boot.

use super::link::{Link, refused};
use super::{Event, Stop, Unreached};
use crate::hand::fault::boundary;
use crate::protocol::Request;
use std::time::{Duration, Instant};

/// How often a node that boots is asked.
const ASK: Duration = Duration::from_secs(if cfg!(test) { 0 } else { 3 });
/// After how long a node that still answers from the old boot did not hear a request whose answer was lost.
const STILL: Duration = Duration::from_secs(if cfg!(test) { 0 } else { 60 });

/// A reboot of a node.
pub(super) struct Reboot<'a> {
    pub(super) link: &'a Link<'a>,
    /// Reboots that the plan may have.
    pub(super) most: u32,
    /// How long it may take to come up.
    pub(super) wait: Duration,
}

impl Reboot<'_> {
    /// Reboots, and waits until another boot answers. `None`: the reboot ends this process, too.
    pub(super) fn make(&self, tell: &mut dyn FnMut(Event<'_>)) -> Result<Option<String>, Stop> {
        let old = self.link.boot()?;
        tell(Event::Reboot);
        let mut sure = self.asked(tell)?;
        if self.link.is_here() {
            return Ok(None);
        }
        boundary("drive: the node goes down");
        let began = Instant::now();
        let mut was_down = false;
        loop {
            if self.link.cancel.is_cancelled() {
                return Err(Stop::Cancelled);
            }
            // A boot that is over still answers for a while; a node that boots does not answer, or refuses.
            match self.link.boot_once() {
                Ok(new) if new != old => {
                    self.link.is_over(&old);
                    tell(Event::Back(&new));
                    boundary("drive: the node is back");
                    return Ok(Some(new));
                }
                Ok(_) if !sure && began.elapsed() > STILL => sure = self.asked(tell)?,
                Ok(_) => {}
                Err(_) => was_down = true,
            }
            if began.elapsed() > self.wait {
                return Err(if was_down { Stop::NotBack(self.wait) } else { Stop::NotDown(self.wait) });
            }
            tell(Event::Waiting(began.elapsed(), self.wait));
            std::thread::sleep(ASK);
        }
    }

    /// Asks for the reboot. `false`: the connection was lost, before or after it was heard.
    fn asked(&self, tell: &mut dyn FnMut(Event<'_>)) -> Result<bool, Stop> {
        match self.link.ask_once(&Request::Reboot { plan: self.link.plan.hash.clone(), most: self.most }) {
            Ok(answer) if answer.refused.is_empty() => Ok(true),
            Ok(answer) => {
                answer.refused.iter().for_each(|t| tell(Event::Trouble(t)));
                Err(refused(answer))
            }
            Err(Unreached::Lost(_)) => Ok(false),
            Err(other) => Err(other.into()),
        }
    }
}
