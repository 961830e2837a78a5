//! Compares linerate's answers with what a scenario expects.

use super::check::short;
use super::scenario::{Expect, VerdictExpectation, regex};
use linerate_formats::wildcard::star;
use serde::Deserialize;
use std::path::Path;

/// The part of `linerate audit --format json` that scenarios speak of.
#[derive(Debug, Deserialize)]
struct Audit {
    verdicts: Vec<Verdict>,
}

#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Verdict {
    rule: String,
    status: String,
    #[serde(default)]
    severity: Option<String>,
    #[serde(default)]
    subject: Option<String>,
    #[serde(default)]
    message: Option<String>,
}

/// What `linerate audit --format json` left behind.
pub(super) struct Said {
    /// Its exit code, as text: empty where it did not run.
    pub(super) status: String,
    pub(super) json: String,
    /// Standard error.
    pub(super) words: String,
}

impl Said {
    /// In the guest.
    pub(super) fn live(out: &Path) -> Said {
        let read = |name: &str| std::fs::read_to_string(out.join("linerate").join(name)).unwrap_or_default();
        Said { status: read("audit.status"), json: read("audit.json"), words: read("audit.txt") }
    }
}

/// Complaints about what linerate said.
pub(super) fn check(expect: &Expect, said: &Said) -> Vec<String> {
    let mut complaints = Vec::new();
    if let Some(want) = expect.exit.filter(|e| said.status.trim() != e.to_string()) {
        complaints.push(format!(
            "linerate audit: expected exit code {want}, saw {:?}: {}",
            said.status.trim(),
            short(&said.words)
        ));
    }
    let audit: Audit = match serde_json::from_str(&said.json) {
        Ok(audit) => audit,
        Err(why) => {
            complaints.push(format!("linerate audit: expected JSON, saw {why}: {}", short(&said.words)));
            return complaints;
        }
    };
    complaints.extend(expect.verdict.iter().filter_map(|e| verdict(e, &audit.verdicts)));
    complaints
}

fn verdict(expectation: &VerdictExpectation, verdicts: &[Verdict]) -> Option<String> {
    let words = expectation.message_has.as_deref().and_then(|p| regex(p).ok());
    let of_rule: Vec<&Verdict> = verdicts
        .iter()
        .filter(|v| v.rule == expectation.rule)
        .filter(|v| {
            expectation
                .subject
                .as_deref()
                .is_none_or(|s| star(s.as_bytes(), v.subject.as_deref().unwrap_or("").as_bytes()))
        })
        .collect();
    let hit = of_rule.iter().any(|v| {
        (expectation.status == "none" || v.status == expectation.status)
            && (expectation.severity.is_none() || v.severity == expectation.severity)
            && words.as_ref().is_none_or(|w| v.message.as_deref().is_some_and(|m| w.is_match(m)))
    });
    if hit != (expectation.status == "none") {
        return None;
    }
    let seen: Vec<String> = of_rule
        .iter()
        .take(4)
        .map(|v| {
            format!(
                "{} {} {}",
                v.subject.as_deref().unwrap_or("-"),
                v.status,
                short(v.message.as_deref().unwrap_or(""))
            )
        })
        .collect();
    Some(format!(
        "verdict {} of {}: expected {}{}{}, saw {}",
        expectation.rule,
        expectation.subject.as_deref().unwrap_or("any subject"),
        expectation.status,
        expectation.severity.as_deref().map(|s| format!(" ({s})")).unwrap_or_default(),
        expectation.message_has.as_deref().map(|m| format!(" saying {m:?}")).unwrap_or_default(),
        if seen.is_empty() { "no such verdict".to_owned() } else { seen.join("; ") }
    ))
}

/// The audit of the snapshot must say what the audit of the live guest said, exit code and all.
pub(super) fn same(live: &Said, offline: &Said) -> Option<String> {
    let parse = |said: &Said| {
        serde_json::from_str::<Audit>(&said.json).map(|mut a| {
            a.verdicts.sort();
            a.verdicts
        })
    };
    let (Ok(in_guest), Ok(here)) = (parse(live), parse(offline)) else {
        return Some(format!(
            "the snapshot's audit: expected JSON like the live one, saw something else: {}",
            short(&offline.words)
        ));
    };
    let only = |a: &[Verdict], b: &[Verdict]| {
        let list: Vec<String> = a
            .iter()
            .filter(|v| !b.contains(v))
            .map(|v| {
                let message = short(v.message.as_deref().unwrap_or(""));
                format!("{} {} {} {message}", v.rule, v.subject.as_deref().unwrap_or("-"), v.status)
            })
            .collect();
        if list.is_empty() { "nothing".to_owned() } else { list.join(", ") }
    };
    if in_guest != here {
        return Some(format!(
            "live and offline audits differ: only live {}; only offline {}",
            only(&in_guest, &here),
            only(&here, &in_guest)
        ));
    }
    (live.status.trim() != offline.status.trim()).then(|| {
        format!("live and offline audits differ: exit code {:?} and {:?}", live.status.trim(), offline.status.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(status: &str, subject: Option<&str>, message: Option<&str>) -> Option<String> {
        let verdicts = [Verdict {
            rule: "a/b".into(),
            status: "fail".into(),
            severity: Some("high".into()),
            subject: Some("0000:01:00.0".into()),
            message: Some("a translated domain".into()),
        }];
        let own = |o: Option<&str>| o.map(str::to_owned);
        let expectation = VerdictExpectation {
            rule: "a/b".into(),
            subject: own(subject),
            status: status.into(),
            severity: Some("high".into()),
            message_has: own(message),
        };
        verdict(&expectation, &verdicts)
    }

    #[test]
    fn verdicts_are_found_by_subject_status_and_words() {
        assert_eq!(judge("fail", Some("*:01:00.0"), Some("translated")), None);
        for (status, subject, message) in [
            ("pass", None, None),
            ("fail", Some("*:02:00.0"), None),
            ("fail", None, Some("identity")),
            ("none", None, None),
        ] {
            assert!(judge(status, subject, message).is_some(), "{status} {subject:?} {message:?}");
        }
        assert_eq!(judge("none", Some("*:02:00.0"), None), None);
    }

    #[test]
    fn live_and_offline_must_agree() {
        let said = |json: &str, status: &str| Said { status: status.into(), json: json.into(), words: String::new() };
        let a = r#"{"verdicts":[{"rule":"a/b","status":"pass"},{"rule":"c/d","status":"fail","extra":1}]}"#;
        let b = r#"{"verdicts":[{"rule":"c/d","status":"fail"},{"rule":"a/b","status":"pass"}]}"#;
        assert_eq!(same(&said(a, "1\n"), &said(b, "1")), None);
        assert!(same(&said(a, "1"), &said(&b.replace("pass", "unknown"), "1")).is_some());
        assert!(same(&said(a, "1"), &said(b, "2")).is_some());
        assert!(same(&said(a, "1"), &said("", "1")).is_some());
    }
}
