//! What is for looking at things: log settings.

use super::{Case, Judgement, Kind, Severity};

pub(super) fn judge(case: &Case<'_>, out: &mut Vec<Judgement>) {
    if !out.is_empty() {
        return;
    }
    let level = case.other("NCCL_DEBUG").map(|s| s.value.to_ascii_uppercase());
    let talks = |l: &Option<String>| l.as_deref().is_some_and(|l| matches!(l, "INFO" | "TRACE" | "ABORT"));
    match case.name {
        "NCCL_DEBUG" => match case.value.to_ascii_uppercase().as_str() {
            "INFO" => out.push(
                case.say(Kind::Fine, Severity::Info, "good for finding a fault; thousands of ranks write gigabytes")
                    .suggest("WARN in production"),
            ),
            "TRACE" => out.push(
                case.say(Kind::Harmful, Severity::Low, "slow, and more than INFO only in a build with TRACE=1")
                    .set("INFO"),
            ),
            _ => {}
        },
        // A log line says nothing about what else was set.
        "NCCL_DEBUG_SUBSYS" if !talks(&level) && !case.setting.is_logged() => {
            let with =
                level.as_deref().map_or("NCCL_DEBUG is not set here".to_owned(), |l| format!("NCCL_DEBUG is {l}"));
            out.push(
                case.say(Kind::Ignored, Severity::Low, format!("only with NCCL_DEBUG=INFO, and {with}"))
                    .suggest("NCCL_DEBUG=INFO, or delete it"),
            );
        }
        "NCCL_DEBUG_FILE" if !case.value.contains('%') && !case.value.starts_with("/dev/std") => {
            let j = case.say(Kind::Harmful, Severity::Low, "every rank overwrites the same file");
            out.push(j.set(format!("{}.%h.%p", case.value)));
        }
        _ => {}
    }
}
