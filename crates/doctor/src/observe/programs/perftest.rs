//! Lines of perftest that say why a later one of it is printed.

use super::message;
use super::verbs::{failed_with_errno, perftest};
use crate::observe::trouble::{PortState, ToolTrouble};
use linerate_formats::nccl_log::Failure;

/// Lines behind a reason in which its consequence is looked for.
const NEAR: u64 = 8;

/// What a line says together with those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said<'a> {
    /// Of the node.
    Tool(ToolTrouble),
    /// A call that failed.
    Failed(Failure<'a>),
    /// What was said before, once more.
    Follows,
}

/// Reads a file's lines.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// The line with which a port was refused.
    refused: Option<u64>,
    /// The call that failed last, without a word of its error.
    call: Option<(&'static str, u64)>,
}

impl Reader {
    /// What a line says where lines before it matter.
    pub(crate) fn line<'l>(&mut self, number: u64, line: &'l str) -> Option<Said<'l>> {
        let text = message(line)?.trim();
        if let Some(failure @ Failure::Verbs { call, error: "", .. }) = perftest(text) {
            // `check_link` and `check_mtu` of each test end with the words of a device that cannot be opened.
            let follows = failure_is_open(&failure) && self.is_near(self.refused, number);
            self.call = CALLS.iter().find(|c| **c == call).map(|c| (*c, number));
            return follows.then_some(Said::Follows);
        }
        if let Some(state) = port_state(text) {
            self.refused = Some(number);
            return Some(Said::Tool(ToolTrouble::PortNotActive(Some(state))));
        }
        if text == "Couldn't set the link layer" {
            let follows = self.is_near(self.refused, number);
            self.refused = Some(number);
            let said = if follows { Said::Follows } else { Said::Tool(ToolTrouble::PortNotActive(None)) };
            return Some(said);
        }
        if queries_port(text) {
            self.refused = Some(number);
            let (call, error) = ("ibv_query_port", "");
            return Some(Said::Failed(Failure::Verbs { call, error, errno: None, detail: "" }));
        }
        let error = text.strip_prefix("ERRNO: ")?;
        let (call, _) = self.call.take().filter(|(_, at)| self.is_near(Some(*at), number))?;
        failed_with_errno(call, error).map(Said::Failed)
    }

    fn is_near(&self, at: Option<u64>, number: u64) -> bool {
        at.is_some_and(|at| number.saturating_sub(at) <= NEAR)
    }
}

/// Calls whose error perftest prints in a line of its own where the connection manager is used (`perftest_resources.c`, `error_handler`).
const CALLS: &[&str] =
    &["ibv_reg_mr", "ibv_alloc_pd", "ibv_create_cq", "ibv_create_qp", "ibv_create_srq", "ibv_create_comp_channel"];

fn failure_is_open(failure: &Failure<'_>) -> bool {
    matches!(failure, Failure::Verbs { call: "ibv_open_device", .. })
}

/// ` Port number 1 state is Down` (`perftest_parameters.c`, `set_link_layer`): any state but ACTIVE ends the test.
fn port_state(text: &str) -> Option<PortState> {
    let (port, state) = text.strip_prefix("Port number ")?.split_once(" state is ")?;
    let number = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let state = match state {
        "Down" => PortState::Down,
        "Init" => PortState::Init,
        "Armed" => PortState::Armed,
        "Nop" | "Active Defer" => PortState::Other,
        _ => return None,
    };
    number.then_some(state)
}

/// ` Unable to query port 1 attributes`.
fn queries_port(text: &str) -> bool {
    let port = text.strip_prefix("Unable to query port ").and_then(|r| r.strip_suffix(" attributes"));
    port.is_some_and(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
}
