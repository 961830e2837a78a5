//! What the doctor answers: for a tired engineer, for a ticket, for programs.

pub mod json;
pub mod markdown;
pub mod text;
pub(crate) mod words;

use linerate_doctor::answer::Cause;
use linerate_remedy::On;

/// What of a cause's node decides the terms of its fix.
fn on(cause: &Cause) -> On<'static> {
    On { role: cause.role, ..On::default() }
}
