//! What is said while plans are applied: one line for what happened, and on a terminal one that moves while a node boots.

use linerate_apply::drive::Event;
use linerate_apply::protocol::Phase;
use linerate_out::terminal;
use linerate_remedy::verify::Outcome;
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;

/// Standard error, shared by nodes.
pub(super) struct Screen {
    /// Whether a line is shown that is overwritten.
    moves: Mutex<bool>,
    terminal: bool,
    /// More nodes than one: each line says whose it is.
    many: bool,
}

impl Screen {
    pub(super) fn new(many: bool) -> Screen {
        Screen { moves: Mutex::new(false), terminal: io::stderr().is_terminal(), many }
    }

    pub(super) fn show(&self, node: &str, event: &Event<'_>) {
        let text = match event {
            Event::Node(name) => format!("{name}:"),
            Event::Lifecycle(words) => (*words).to_owned(),
            Event::TakenOver(words) => (*words).to_owned(),
            Event::Reading => "reading the node".to_owned(),
            Event::Phase(Phase::First, acts) => format!("changing: {acts} acts"),
            Event::Phase(Phase::Lasting, _) => "proven in the trial: making it permanent".to_owned(),
            Event::Phase(Phase::Claims, labels) => format!("proven: putting labels: {labels}"),
            Event::Made(what) => format!("done: {what}"),
            Event::PutBack(what) => format!("put back: {what}"),
            Event::Reboot => "rebooting".to_owned(),
            Event::Waiting(so_far, most) => {
                let left = most.saturating_sub(*so_far).as_secs();
                return self.moving(
                    node,
                    &format!("waiting for it to come up: {} s, at most {left} s more", so_far.as_secs()),
                );
            }
            Event::Back(boot) => format!("it is up again, boot {boot}"),
            Event::Verified(found) => {
                for step in &found.steps {
                    let mark = if step.outcome == Outcome::Effective { "proven" } else { step.outcome.name() };
                    self.line(node, &format!("{mark}: {}{}", step.id, reason(step.outcome.reason())));
                }
                return;
            }
            Event::Trouble(t) => format!("{}{}", t.step.as_ref().map(|s| format!("{s}: ")).unwrap_or_default(), t.what),
            Event::Undoing => "undoing what was changed".to_owned(),
        };
        self.line(node, &linerate_snapshot::without_secrets(&text));
    }

    fn head(&self, node: &str) -> String {
        if self.many { format!("{node}: ") } else { String::new() }
    }

    fn line(&self, node: &str, text: &str) {
        let mut moves = self.moves.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let clear = if std::mem::take(&mut *moves) { "\r\x1b[K" } else { "" };
        let _ = writeln!(io::stderr(), "{clear}{}{}", terminal(&self.head(node)), terminal(text));
    }

    fn moving(&self, node: &str, text: &str) {
        if !self.terminal {
            return;
        }
        let mut moves = self.moves.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *moves = true;
        let _ = write!(io::stderr(), "\r\x1b[K{}{}", terminal(&self.head(node)), terminal(text));
    }
}

fn reason(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(" ({why})") }
}
