use super::*;
use linerate_formats::xid::{entries, read};

/// Judges the lines of one log, the last of them.
fn last(lines: &[&str]) -> Judgement {
    let seen: Vec<Seen> = lines
        .iter()
        .map(|l| read(&format!("PCI:0000:1a:00): {l}")).unwrap())
        .map(|x| Seen { gpu: x.bdf, number: x.number, detail: x.detail })
        .collect();
    judge(seen.last().unwrap(), &seen)
}

fn hardware(text: &str) -> bool {
    ["reset", "replace", "reboot", "restart the node", "reseat", "hands"].iter().any(|w| text.contains(w))
}

#[test]
fn errors_of_programs_and_those_to_ignore_never_touch_the_gpu() {
    for n in [13, 31, 43, 63, 92, 93, 107, 121, 137, 141, 32, 69] {
        let j = last(&[&format!("{n}, pid=1, name=a, text")]);
        let said = format!("{} {}", j.advice(), j.words);
        assert!(j.severity == Severity::Info && !hardware(&said), "{n}: {j:?}");
        assert!(j.remedy().is_none_or(|r| r.risk_note.is_empty()), "{n}");
    }
    assert_eq!(last(&["45, pid=1, name=a, Ch 00000008"]).what_to_do, Do::Restart);
    assert_eq!(last(&["31, x", "45, pid=1, name=a, Ch 00000008"]).what_to_do, Do::Others);
}

#[test]
fn by_number() {
    for (line, what, severity) in [
        ("79, GPU has fallen off the bus.", Do::Reboot, Severity::Critical),
        ("94, pid=1, Contained: SM (0x1). RST: No, D-RST: No", Do::Restart, Severity::Medium),
        ("95, Uncontained: LTC TAG (0x2, 0x1). RST: Yes, D-RST: No", Do::Reset, Severity::Critical),
        ("64, x", Do::Reset, Severity::Critical),
        ("109, x", Do::Reset, Severity::High),
        ("119, x", Do::Reset, Severity::High),
        ("74, NVLink: fatal error detected on link 3", Do::Others, Severity::High),
        ("162, x", Do::NotKnown, Severity::Info),
        ("171, x", Do::NotKnown, Severity::High),
        ("777, x", Do::NotKnown, Severity::Low),
        ("145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 12 (0x040988e2 0x00000002 0x0)", Do::Nothing, Severity::Info),
        ("149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000 0x0)", Do::Reset, Severity::High),
    ] {
        let j = last(&[line]);
        assert_eq!((j.what_to_do, j.severity), (what, severity), "{line}");
    }
    assert_eq!(last(&["777, x"]).advice(), "unknown Xid 777, no action known");
}

#[test]
fn the_driver_names_the_action() {
    let to = |text: &str| format!("154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x2 ({text})");
    for (text, what) in [
        ("None", Do::Nothing),
        ("GPU Reset Required", Do::Reset),
        ("Drain and Reset", Do::DrainAndReset),
        ("Drain P2P", Do::DrainP2p),
        ("Node Reboot Required", Do::Reboot),
        ("Recover IMEX Domain", Do::RecoverImex),
        ("Surprise", Do::NotKnown),
    ] {
        assert_eq!(last(&[&to(text)]).what_to_do, what, "{text}");
        // It decides for those that leave it open.
        assert_eq!(last(&[&to(text), "74, x"]).what_to_do, what, "{text}");
        assert_eq!(last(&[&to(text), "4711, x"]).what_to_do, Do::NotKnown, "{text}");
        // It does not overrule a catalogue that is plain.
        assert_eq!(last(&[&to(text), "31, x"]).what_to_do, Do::Restart, "{text}");
    }
    // An action that the driver has taken back is history.
    let lines = [to("GPU Reset Required"), to("None")];
    let seen: Vec<Seen> = lines
        .iter()
        .map(|l| read(&format!("PCI:0000:1a:00): {l}")).unwrap())
        .map(|x| Seen { gpu: x.bdf, number: x.number, detail: x.detail })
        .collect();
    assert_eq!(judge(&seen[0], &seen).what_to_do, Do::Nothing);
    assert_eq!(last(&["95, x", "48, x"]).what_to_do, Do::Reset);
    assert_eq!(last(&["94, x", "48, x"]).what_to_do, Do::Restart);
    assert_eq!(last(&["48, x"]).what_to_do, Do::Others);
}

#[test]
fn every_number_has_words_that_fit_what_is_done() {
    for m in entries() {
        let seen = Seen { gpu: None, number: m.number, detail: Detail::Number };
        let j = judge(&seen, &[seen]);
        assert_eq!(j.remedy().is_none(), j.what_to_do == Do::Nothing, "{}", m.number);
        let drained = matches!(
            j.what_to_do,
            Do::Reset
                | Do::DrainAndReset
                | Do::DrainP2p
                | Do::Reboot
                | Do::RestartVm
                | Do::Mechanics
                | Do::RecoverImex
                | Do::Update
        );
        assert_eq!(j.remedy().is_some_and(|r| !r.risk_note.is_empty()), drained, "{}", m.number);
    }
}
