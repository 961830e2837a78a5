//! A small node with two GPUs and two NICs below a switch, and rules made for these tests: the reports must not change whenever
//! the catalogue grows.
#![allow(dead_code, unreachable_pub)] // each test file uses its part
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

pub mod schema;

use linerate_node::Node;
use linerate_node::pci::Kind;
use linerate_report::Report;
use linerate_rules::{
    Action, Area, Cx, Effect, Findings, Myth, Quality, Remedy, Roles, Rule, Severities, Severity, Source, Subject,
};
use linerate_snapshot::{Output, OutputKind, Place, Snapshot};

/// As `lspci -D -nn -vvv` prints, cut to what the tests need.
pub const LSPCI: &str = "\
0000:15:01.0 PCI bridge [0604]: Intel Corporation Root Port [8086:352a] (rev 11) (prog-if 00 [Normal decode])
\tBus: primary=15, secondary=16, subordinate=1a, sec-latency=0
\tCapabilities: [40] Express (v2) Root Port (Slot-), IntMsgNum 0
\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported
\t\tLnkSta:\tSpeed 32GT/s, Width x16
0000:16:00.0 PCI bridge [0604]: Broadcom / LSI PEX890xx PCIe Gen 5 Switch [1000:c030] (prog-if 00 [Normal decode])
\tBus: primary=16, secondary=17, subordinate=1a, sec-latency=0
\tCapabilities: [68] Express (v2) Upstream Port, IntMsgNum 0
0000:17:00.0 PCI bridge [0604]: Broadcom / LSI PEX890xx PCIe Gen 5 Switch [1000:c030] (prog-if 00 [Normal decode])
\tBus: primary=17, secondary=18, subordinate=18, sec-latency=0
\tCapabilities: [68] Express (v2) Downstream Port (Slot+), IntMsgNum 0
\tCapabilities: [100 v1] Access Control Services
\t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl+ DirectTrans+
\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-
0000:17:01.0 PCI bridge [0604]: Broadcom / LSI PEX890xx PCIe Gen 5 Switch [1000:c030] (prog-if 00 [Normal decode])
\tBus: primary=17, secondary=19, subordinate=19, sec-latency=0
\tCapabilities: [68] Express (v2) Downstream Port (Slot+), IntMsgNum 0
\tCapabilities: [100 v1] Access Control Services
\t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl+ DirectTrans+
\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-
0000:18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)
\tIOMMU group: 45
\tNUMA node: 0
\tKernel driver in use: nvidia
0000:19:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]
\tIOMMU group: 46
\tNUMA node: 0
\tKernel driver in use: mlx5_core
";

const SOURCES: &[Source] = &[
    Source { title: "A primary document, chapter 4", at: "https://example.org/manual#chapter-4" },
    Source { title: "Linux drivers/pci/example.c: function", at: "drivers/pci/example.c at v6.12" },
];

const BASE: Rule = Rule {
    id: "demo/base",
    title: "The base of the rules of these tests",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect { text: "about 20 % of the bandwidth between the two", quality: Quality::Estimate },
    sources: SOURCES,
    reads: &["sys/bus/pci/devices/*/config", "lspci -vvv"],
    docs: "\
## What it checks
One bit of each port, `ReqRedir`, in a paragraph that is long enough to be wrapped on a terminal of eighty columns, and then
some more.

- the first item of a list, which is long enough to need a second line on a terminal of eighty columns
  and continues here
- the second

## Why it matters
Because.

## See it yourself
```
sudo lspci -vvv -s BDF | grep ACSCtl
```

## Fix
1. Clear it.
2. Read it again.",
    myths: &[Myth { claim: "It is always on.", truth: "Only where an IOMMU driver asked for it." }],
    check: |_, _| {},
};

pub static REDIRECT: Rule =
    Rule { id: "demo/redirect", title: "No port redirects peer-to-peer requests", check: redirect, ..BASE };
pub static TRANSLATED: Rule = Rule {
    id: "demo/translated",
    title: "DMA is not translated",
    severity: Severities::always(Severity::Critical),
    effect: Effect { text: "faults and hangs", quality: Quality::Sourced },
    check: translated,
    ..BASE
};
pub static MODULE: Rule = Rule {
    id: "module/loaded",
    title: "The module is loaded",
    severity: Severities::always(Severity::Medium),
    effect: Effect { text: "staging through host memory: at most half", quality: Quality::Derived },
    check: module,
    ..BASE
};
pub static NOTE: Rule = Rule {
    id: "demo/note",
    title: "Nothing odd",
    severity: Severities::always(Severity::Info),
    check: |cx, out| {
        out.fail(Subject::Node, "the kernel is an old one").at(seen(cx));
    },
    ..BASE
};
pub static UNSEEN: Rule = Rule { id: "demo/unseen", title: "Counters do not grow", check: unseen, ..BASE };
pub static FINE: Rule = Rule {
    id: "demo/fine",
    title: "Devices have drivers",
    check: |cx, out| {
        for f in cx.node.pci.functions.iter().filter(|f| f.is_endpoint_of_path()) {
            out.pass(f.bdf, "has a driver").at(f.driver.place());
        }
    },
    ..BASE
};
pub static HOST: Rule = Rule {
    id: "host/only",
    title: "Holds on hosts only",
    check: |_, out| {
        out.not_applicable("no virtual machine here");
    },
    ..BASE
};
pub static HOSTILE: Rule = Rule {
    id: "demo/hostile",
    title: "Names are harmless",
    severity: Severities::always(Severity::Low),
    check: |cx, out| {
        out.fail(
            Subject::Named("\x1b]0;owned\x07<b>&\"'".into()),
            "name is \u{1b}[2J\u{9b}31m \u{202e}gnp.exe\u{0} ]]> | @all\r\nsecond line",
        )
        .at_noting(seen(cx), "note with \u{1b}[1m and \u{feff}");
    },
    ..BASE
};

/// Says what the snapshot's label says, wherever a finding has words.
pub static ECHO: Rule = Rule {
    id: "demo/echo",
    severity: Severities::always(Severity::High),
    check: |cx, out| {
        let text = cx.snapshot.label.clone();
        let fix = text.clone();
        out.fail(Subject::Named(text.as_str().into()), text.clone()).at_noting(seen(cx), text.clone()).fix(move || {
            Remedy::new(fix.clone(), Action::AcsControl { ports: vec![], clear: 0, set: 0 }).because(fix.clone())
        });
        out.unknown(Subject::Named(text.as_str().into()), text.clone()).see(text);
    },
    ..BASE
};

pub static CATALOGUE: &[Area] = &[
    ("demo", "Rules for tests", &[&REDIRECT, &TRANSLATED, &NOTE, &UNSEEN, &FINE, &HOSTILE]),
    ("module", "Modules", &[&MODULE]),
    ("host", "Hosts", &[&HOST]),
];

fn seen(cx: &Cx<'_>) -> Place {
    cx.node.pci.seen.unwrap_or(Place::of(cx.snapshot.root()))
}

fn redirect(cx: &Cx<'_>, out: &mut Findings) {
    for f in &cx.node.pci.functions {
        let Some(acs) = f.acs.known() else { continue };
        out.fail(f.bdf, format!("redirects: {}", acs.control.unwrap_or_default()))
            .at(f.acs.place().line(acs.control_line))
            .fix(|| {
                Remedy::new(
                    "clear request and completion redirect on the port, at every boot",
                    Action::AcsControl { ports: vec![f.bdf], clear: 0x2c, set: 0 },
                )
                .because("removes DMA isolation between the devices below")
                .prove("the register")
            });
    }
}

fn translated(cx: &Cx<'_>, out: &mut Findings) {
    for f in cx.node.pci.functions.iter().filter(|f| matches!(f.kind, Kind::Gpu | Kind::RdmaNic)) {
        let group = f.iommu_group.known().copied().unwrap_or(0);
        out.fail(f.bdf, format!("group {group} is translated (DMA-FQ)")).at(f.iommu_group.place()).fix(|| {
            Remedy::new("boot with iommu=pt", Action::KernelArgs { add: vec!["iommu=pt".into()], remove: vec![] })
        });
    }
}

fn module(_: &Cx<'_>, out: &mut Findings) {
    out.fail(Subject::Module("nvidia_peermem".into()), "is not loaded and no dma-buf is in use");
}

fn unseen(cx: &Cx<'_>, out: &mut Findings) {
    for i in 0..20 {
        let port = Subject::RdmaPort(format!("mlx5_{i}"), 1);
        out.unknown(port.clone(), format!("counters of mlx5_{i}: permission denied")).at(seen(cx)).see("run as root");
        out.unknown(port, "no second reading").see("capture twice, `--again 10s`");
    }
    out.unknown(Subject::Node, "nobody knows");
}

pub fn lspci(text: &str) -> Snapshot {
    let mut s = Snapshot::new("node-17.lspci");
    let entry = s.add_file("node-17.lspci", text.as_bytes()).unwrap();
    s.outputs.push(Output { kind: OutputKind::Lspci, entry, argv: vec![], status: None });
    s
}

/// Audits the snapshot with the given rules and gives the report to `f`.
pub fn with<T>(s: &Snapshot, rules: &[&'static Rule], f: impl FnOnce(&Report<'_>) -> T) -> T {
    let node = Node::decode(s);
    let audit = linerate_rules::audit(&node, s, rules);
    f(&Report { audit: &audit, node: &node, snapshot: s })
}

/// The rules of [`CATALOGUE`] but the hostile one.
pub fn usual() -> Vec<&'static Rule> {
    CATALOGUE.iter().flat_map(|a| a.2.iter().copied()).filter(|r| r.id != HOSTILE.id).collect()
}

pub fn bytes(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}
