use super::*;

fn known(text: &str) -> Seen {
    Seen::Known(text.to_owned())
}

/// Rows of one node: part and what was seen.
fn ask(text: &str, rows: &[(&str, Seen)]) -> Answer {
    let condition = Condition::parse(text).unwrap();
    let found = rows.iter().map(|(part, seen)| condition.look(part, seen, None));
    condition.decide(found.fold(Found::default(), Found::and))
}

#[test]
fn facts() {
    use Answer::{CannotTell, No, Yes};
    let blind = || Seen::Unreadable;
    let cmdline = |words: &[(&'static str, &str)]| -> Vec<(&'static str, Seen)> {
        let head = [("", known(""))];
        words.iter().map(|(n, w)| (*n, known(w))).chain(head).collect()
    };
    type Case<'a> = (&'a str, Vec<(&'a str, Seen)>, Answer);
    let cases: &[Case<'_>] = &[
        ("net.mtu=9000", vec![("", known("9000"))], Yes),
        ("net.mtu=9000", vec![("", known("1500"))], No),
        ("net.mtu=9000", vec![("", known("1500")), ("", blind())], CannotTell),
        ("net.mtu=9000", vec![("", known("9000")), ("", blind())], Yes),
        ("net.mtu=9000", vec![], CannotTell),
        ("net.mtu=9000", vec![("", Seen::Absent)], No),
        ("net.mtu!=9000", vec![("", known("9000")), ("", known("1500"))], Yes),
        ("net.mtu!=9000", vec![("", Seen::Absent)], Yes),
        ("net.mtu!=9000", vec![("", blind())], CannotTell),
        ("net.mtu >= 9000", vec![("", known("9216"))], Yes),
        ("net.mtu<9000", vec![("", known("10000"))], No),
        ("net.mtu<9000", vec![("", known("odd"))], CannotTell),
        ("net.mtu", vec![("", known("1500"))], Yes),
        ("net.mtu", vec![("", Seen::Absent)], No),
        ("net.mtu=absent", vec![("", Seen::Absent)], Yes),
        ("pci.link.max_speed>=32", vec![("", known("32.0 GT/s PCIe"))], Yes),
        ("pci.link.max_speed<32", vec![("", known("16.0 GT/s PCIe"))], Yes),
        ("kernel.cmdline=iommu=pt", cmdline(&[("iommu", "iommu=pt"), ("quiet", "quiet")]), Yes),
        ("kernel.cmdline!=iommu=pt", cmdline(&[("iommu", "iommu=pt"), ("quiet", "quiet")]), No),
        ("kernel.cmdline!=iommu=pt", cmdline(&[("quiet", "quiet")]), Yes),
        ("kernel.cmdline!=iommu=pt", vec![("", blind())], CannotTell),
        ("kernel.cmdline[iommu]=iommu=pt", cmdline(&[("iommu", "iommu=pt")]), Yes),
        ("kernel.cmdline[iommu]", cmdline(&[("quiet", "quiet")]), No),
        ("kernel.cmdline~iommu=*", cmdline(&[("iommu", "iommu=off")]), Yes),
        ("kernel.release>=6.8.0-50", vec![("", known("6.8.0-51-generic"))], Yes),
        ("kernel.release>=6.10", vec![("", known("6.8.0-51-generic"))], No),
    ];
    for (text, rows, expected) in cases {
        assert_eq!(ask(text, rows), *expected, "{text} {rows:?}");
    }
}

#[test]
fn rules() {
    use Status::{Fail, NotApplicable, Pass, Unknown};
    let rule = linerate_rules::rules()[0].id;
    let ask = |answer: &str, said: &[Status]| {
        let condition = Condition::parse(&format!("{rule}{answer}")).unwrap();
        let said = said.iter().map(|status| Said { status: *status, severity: crate::Severity::Info, rule });
        let found = said.map(|s| condition.look("", &known("words"), Some(s)));
        condition.decide(found.fold(Found::default(), Found::and))
    };
    for (answer, said, expected) in [
        ("", &[Pass, Fail][..], Answer::Yes),
        ("", &[Pass, Unknown], Answer::CannotTell),
        ("", &[Pass, NotApplicable], Answer::No),
        ("", &[], Answer::CannotTell),
        ("=fail", &[Unknown, Fail], Answer::Yes),
        ("=pass", &[Pass, NotApplicable], Answer::Yes),
        ("=pass", &[Pass, Unknown], Answer::CannotTell),
        ("=pass", &[Pass, Fail], Answer::No),
        ("=unknown", &[Pass, Unknown], Answer::Yes),
        ("=unknown", &[Fail, Unknown], Answer::No),
        ("=not-applicable", &[NotApplicable], Answer::Yes),
    ] {
        assert_eq!(ask(answer, said), expected, "{answer} {said:?}");
    }
}

#[test]
fn what_is_no_condition_is_said() {
    let near = |text: &str| match Condition::parse(text) {
        Err(NotACondition::Unknown { near, .. }) => near,
        other => panic!("{other:?}"),
    };
    assert_eq!(near("kernel.cmdlin=x"), Some("kernel.cmdline"));
    assert_eq!(near("zzz"), None);
    assert!(matches!(Condition::parse("net.mtu>big"), Err(NotACondition::Number(_))));
    let rule = linerate_rules::rules()[0].id;
    assert!(matches!(Condition::parse(&format!("{rule}=bad")), Err(NotACondition::Answer(_))));
    assert!(matches!(Condition::parse(&format!("{rule}>3")), Err(NotACondition::Rule(_))));
    assert!(matches!(Condition::parse("pci.bdf=x"), Err(NotACondition::NotKept { .. })));
    for text in ["", "=", "[", "]", "[]", "net.mtu[", "net.mtu]=[1", "~", "!"] {
        let _ = Condition::parse(text);
    }
}
