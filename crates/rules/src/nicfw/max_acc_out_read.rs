//! `nicfw/max-acc-out-read`.

use super::{Missing, Setting, function, judge_each};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity};

pub(super) static RULE: Rule = Rule {
    id: "nicfw/max-acc-out-read",
    title: "MAX_ACC_OUT_READ is 0: the firmware chooses how much it reads ahead",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::direction_only("a fixed value can hold reads (and so what the NIC sends) below the link's bandwidth; no number is published"),
    sources: &[super::DATABASE, super::OPERATOR],
    reads: &["mlxconfig -d BDF -e q"],
    docs: "\
## What it checks
The running value of MAX_ACC_OUT_READ, the limit on outstanding PCIe reads in units of 1 KiB per PCIe bus link. 0 lets the firmware
decide. While ADVANCED_PCI_SETTINGS is False the firmware hides the setting: that is by design and not judged. In a text that may be a part
of a query, what is not printed is unknown.

## Why it matters
What a NIC sends it first reads over PCIe. Bytes under way = bandwidth × latency: with a fixed limit of L bytes a link of B bytes
per second is only filled while a read takes less than L/B. The message prints that time for the NIC's own link. Values from old
tuning guides (32, 44, 128) were made for slower links and can be below the automatic choice.

## See it yourself
`mlxconfig -d BDF -e query | grep -E 'MAX_ACC_OUT_READ|ADVANCED_PCI'`.

## Fix
Measure `ib_read_bw` and `ib_write_bw` first, set it to 0, reset, measure again. Some firmware versions refuse 0: then leave the default.",
    myths: &[
        Myth {
            claim: "MAX_ACC_OUT_READ is missing on this node: a defect that costs 10–30 % of the bandwidth.",
            truth: "Missing means hidden (ADVANCED_PCI_SETTINGS False). It is not unset, not 0, and the number has no source.",
        },
        Myth {
            claim: "Set MAX_ACC_OUT_READ to 128 on H100 nodes.",
            truth: "128 fixes the limit at 128 KiB. NVIDIA's own operator sets 0, automatic.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    judge_each(cx, out, "MAX_ACC_OUT_READ", Missing::Advanced, |s, out| judge(cx, s, out));
}

fn judge(cx: &Cx<'_>, s: &Setting<'_>, out: &mut Findings) {
    let Some(limit) = s.now.number.filter(|n| *n >= 0) else {
        out.unknown(s.subject(), format_args!("not a number: {}", s.now.raw)).at(s.place);
        return;
    };
    if limit == 0 {
        out.pass(s.subject(), "0: automatic").at(s.place);
        return;
    }
    let filled = function(cx, s.nic).and_then(|f| {
        let gbps = f.link.speed.known()?.bandwidth(*f.link.width.known()?).0;
        // KiB over 10⁹ bytes per second, in microseconds.
        (gbps > 0.0).then(|| {
            format!(
                ", which fills its {gbps:.1} GB/s link while a read takes less than {:.2} µs",
                limit as f64 * 1.024 / gbps
            )
        })
    });
    let message = format!("fixed at {limit}: {limit} KiB of reads under way{}", filled.unwrap_or_default());
    out.fail(s.subject(), message).at(s.place).fix(|| {
        Remedy::nic_firmware(
            "benchmark, set MAX_ACC_OUT_READ to 0 (automatic), reset, and benchmark again",
            s.nic.name.clone(),
            "MAX_ACC_OUT_READ",
            "0",
        )
        .because("the gain is not certain: keep what measures better")
        .prove(format!("mlxconfig -d {} -e q", s.nic.name))
    });
}
