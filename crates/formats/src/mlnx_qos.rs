//! `mlnx_qos -i IF`: trust state and priority flow control.

use crate::text::{At, decode, flag, lines, split_key};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// `mlnx_qos`.
pub const TOOL: Tool = Tool {
    name: "mlnx-qos",
    called: "mlnx_qos",
    run: "mlnx_qos -i IF",
    gives: Gives::Facts,
    marks: &[Mark::beginning(&["Priority trust state:", "PFC configuration:", "DCBX mode:"])],
    commands: &[Command::any("mlnx_qos")],
    files: &["mlnx_qos"],
    read: Some(|b| seen(parse(b))),
    samples: &["DCBX mode: OS controlled\nPriority trust state: pcp\n"],
    ..Tool::NONE
};

/// What matters for RoCE.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct MlnxQos {
    /// `Priority trust state`: `pcp` or `dscp`.
    pub trust: Option<At<String>>,
    /// `PFC configuration`, row `enabled`: by priority.
    pub pfc_enabled: Option<At<Vec<bool>>>,
    /// `DCBX mode`.
    pub dcbx: Option<At<String>>,
}

/// Parses the output.
pub fn parse(bytes: &[u8]) -> MlnxQos {
    let text = decode(bytes);
    let mut out = MlnxQos::default();
    for (line, raw) in lines(&text) {
        if let Some((key, value)) = split_key(raw, ':') {
            let text = || Some(At::new(value.to_owned(), line)).filter(|v| !v.value.is_empty());
            match key {
                "Priority trust state" => out.trust = text(),
                "DCBX mode" => out.dcbx = text(),
                _ => {}
            }
        } else if let Some(cells) = raw.trim().strip_prefix("enabled") {
            let flags: Option<Vec<bool>> = cells.split_whitespace().map(|c| flag(c, "1", "0")).collect();
            out.pfc_enabled = flags.filter(|f| !f.is_empty() && f.len() <= 16).map(|f| At::new(f, line));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_and_pfc() {
        let q = parse(
            b"DCBX mode: OS controlled\nPriority trust state: dscp\ndscp2prio mapping:\n\tprio:0 dscp:07,06,\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n\tenabled     0   0   0   1   0   0   0   0   \n",
        );
        assert_eq!(q.trust, Some(At::new("dscp".into(), 2)));
        let pfc = q.pfc_enabled.unwrap();
        assert_eq!((pfc.line, pfc.value.iter().position(|p| *p), pfc.value.len()), (7, Some(3), 8));
        assert_eq!(parse(b"enabled x\n"), MlnxQos::default());
    }
}
