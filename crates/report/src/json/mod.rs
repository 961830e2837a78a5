//! JSON, schema `linerate.audit/2` (docs/schema/audit-2.json), or version 1 of it (docs/schema/audit-1.json). They differ in `node`.
//!
//! Version 2: a fact is `{"known": value}`, `{"absent": true}` when somebody looked and it does not exist, or
//! `{"unreadable": {"place", "why"}}`. Version 1: its value, `false`, or `null` with an entry in `node.unseen` that says where and
//! why; inside a decoded PCI capability `null` means that this input does not show the field. Orders are those of the model
//! (functions by address, answers worst first), so the same input gives the same bytes.

mod node;

use crate::fix::Fix;
use crate::suppressed::SuppressionOut;
use crate::words::Words;
use crate::{Counts, Report, VERSION, about, suppressed};
use linerate_formats::pci::Bdf;
use linerate_node::context::{Basis, Devices, Judged, P2pPlan, Role, TopologyType};
use linerate_node::rdma::LinkLayer;
use linerate_out::json::Inert;
use linerate_remedy::On;
use linerate_rules::{Effect, Severity, Source, Status, Subject, Verdict};
use serde::Serialize;
use std::io::{self, BufWriter, Write};

/// Version of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `linerate.audit/1`: a fact is its value, `false` or `null`.
    One,
    /// `linerate.audit/2`: each fact is tagged.
    Two,
}

impl Version {
    /// Name and version, as the document has it.
    #[must_use]
    pub fn schema(self) -> &'static str {
        match self {
            Version::One => "linerate.audit/1",
            Version::Two => "linerate.audit/2",
        }
    }
}

#[derive(Serialize)]
pub(crate) struct Document<'a> {
    schema: &'static str,
    linerate: &'static str,
    source: SourceOut<'a>,
    context: ContextOut,
    summary: Summary<'a>,
    verdicts: Vec<VerdictOut<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressed: Vec<SuppressedOut<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions_to_review: Vec<String>,
    node: node::NodeOut<'a>,
}

#[derive(Serialize)]
struct SourceOut<'a> {
    label: &'a str,
    kind: about::SourceKind,
    complete: bool,
    captured_at: Option<String>,
    redacted: bool,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    counts: Counts,
    /// Only where it is not `low`.
    #[serde(skip_serializing_if = "Option::is_none")]
    fail_on: Option<&'static str>,
    /// Only where not all rules are asked.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    only_rules: &'a [String],
    exit_code: u8,
}

/// An answer that is not counted.
#[derive(Serialize)]
struct SuppressedOut<'a> {
    suppression: SuppressionOut<'a>,
    verdict: VerdictOut<'a>,
}

#[derive(Serialize)]
struct ContextOut {
    role: JudgedOut<Role>,
    p2p_plan: JudgedOut<P2pPlan>,
    topology: JudgedOut<TopologyType>,
    devices: DevicesOut,
    /// Devices of which only a part is judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    partly_judged: Vec<String>,
}

/// What GPUs and NICs there are, and what they speak.
#[derive(Serialize)]
struct DevicesOut {
    gpus: Vec<GenerationOut<&'static str>>,
    nics: Vec<GenerationOut<String>>,
    fabric: Vec<FabricOut>,
}

#[derive(Serialize)]
struct GenerationOut<T> {
    bdf: Bdf,
    generation: Option<T>,
    basis: Basis,
}

#[derive(Serialize)]
struct FabricOut {
    device: String,
    port: u32,
    link_layer: LinkLayer,
}

#[derive(Serialize)]
struct JudgedOut<T> {
    value: Option<T>,
    basis: Basis,
    reasons: Vec<Reason>,
}

#[derive(Serialize)]
struct Reason {
    text: String,
    place: Option<String>,
}

#[derive(Serialize)]
struct VerdictOut<'a> {
    rule: &'static str,
    status: Status,
    severity: Severity,
    subject: &'a Subject,
    subject_kind: &'static str,
    message: &'a str,
    evidence: Vec<EvidenceOut<'a>>,
    effect: Effect,
    sources: &'static [Source],
    remedy: Option<Fix<'a>>,
    see: Option<&'a str>,
    /// Not in version 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    follows_from: Option<CauseOut<'a>>,
}

/// The finding that another one follows from.
#[derive(Serialize)]
struct CauseOut<'a> {
    rule: &'static str,
    subject: &'a Subject,
}

#[derive(Serialize)]
struct EvidenceOut<'a> {
    place: String,
    content: String,
    note: Option<&'a str>,
}

/// Writes the document on one line, with a line end.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &Report<'_>, version: Version, out: &mut dyn Write) -> io::Result<()> {
    write_line(&document(report, version), out)
}

/// Writes the document indented, for people.
///
/// # Errors
/// Those of the writer.
pub fn render_pretty(report: &Report<'_>, version: Version, out: &mut dyn Write) -> io::Result<()> {
    write_pretty(&document(report, version), out)
}

/// The facts of a node as the member `node` of version 2 has them, for conditions.
#[must_use]
pub fn node_facts(node: &linerate_node::Node<'_>, snapshot: &linerate_snapshot::Snapshot) -> serde_json::Value {
    // No fact has a key that is not text.
    serde_json::to_value(node::NodeOut { node, snapshot, version: Version::Two }).unwrap_or_default()
}

/// The document on one line.
#[must_use]
pub fn to_string(report: &Report<'_>, version: Version) -> String {
    // No map here has a key that is not text.
    crate::style::to_text(|out| render(report, version, out))
}

/// Bytes that the writer gets at a time.
const PIECE: usize = 64 * 1024;

pub(crate) fn write_line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    in_pieces(out, |w| serde_json::to_writer(w, value))
}

/// What every document for programs begins with: which format it is in, and who wrote it.
#[derive(Serialize)]
struct Envelope<'a, T> {
    schema: &'static str,
    linerate: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

/// The members of `body` behind the name of their format and the version of this program.
pub(crate) fn write_document(schema: &'static str, body: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write_pretty(&Envelope { schema, linerate: VERSION, body }, out)
}

pub(crate) fn write_pretty(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    in_pieces(out, |w| serde_json::to_writer_pretty(w, value))
}

type Pieces<'w> = BufWriter<Inert<&'w mut dyn Write>>;

/// A document and the end of its line, neither with a call of the writer for each token, nor with the megabytes of a large node at once.
fn in_pieces(out: &mut dyn Write, write: impl FnOnce(&mut Pieces<'_>) -> serde_json::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(PIECE, Inert::new(out));
    write(&mut out)?;
    out.write_all(b"\n")?;
    out.flush()
}

pub(crate) fn document<'a>(report: &Report<'a>, version: Version) -> Document<'a> {
    let words = Words::of(report.snapshot);
    let on = On::node(report.node);
    let (s, context, causes) = (report.snapshot, &report.node.context, report.audit.causes());
    Document {
        schema: version.schema(),
        linerate: VERSION,
        source: SourceOut {
            label: &s.label,
            kind: about::SourceKind::of(s),
            complete: s.coverage != linerate_snapshot::Coverage::Partial,
            captured_at: about::captured_at(s),
            redacted: s.manifest.redacted,
            problems: about::problems(s, report.node),
        },
        context: ContextOut {
            role: judged(&context.role, &words),
            p2p_plan: judged(&context.p2p_plan, &words),
            topology: judged(&context.topology, &words),
            devices: devices(&context.devices),
            partly_judged: about::not_judged(report.node),
        },
        summary: Summary {
            counts: Counts::of(report.audit),
            fail_on: Some(suppressed::fail_on(&report.audit.terms)).filter(|word| *word != Severity::Low.name()),
            only_rules: &report.audit.terms.only,
            exit_code: report.audit.exit_code(),
        },
        verdicts: (report.audit.verdicts.iter())
            .map(|v| {
                let cause = causes.of(v).filter(|_| version == Version::Two);
                let follows_from = cause.map(|c| CauseOut { rule: c.rule.id, subject: &c.finding.subject });
                VerdictOut { follows_from, ..verdict(v, &words, &on) }
            })
            .collect(),
        suppressed: (report.audit.suppressed.iter())
            .map(|(v, by)| SuppressedOut { suppression: SuppressionOut::of(by), verdict: verdict(v, &words, &on) })
            .collect(),
        suppressions_to_review: suppressed::remarks(&report.audit.usage()),
        node: node::NodeOut { node: report.node, snapshot: report.snapshot, version },
    }
}

fn devices(d: &Devices) -> DevicesOut {
    fn generations<T: Clone>(list: &[(Bdf, Judged<T>)]) -> Vec<GenerationOut<T>> {
        list.iter().map(|(bdf, j)| GenerationOut { bdf: *bdf, generation: j.value.clone(), basis: j.basis }).collect()
    }
    let fabric = d.fabric.iter();
    DevicesOut {
        gpus: generations(&d.gpus),
        nics: generations(&d.nics),
        fabric: fabric
            .map(|(device, port, l, _)| FabricOut { device: device.clone(), port: *port, link_layer: *l })
            .collect(),
    }
}

fn judged<T: Copy>(j: &Judged<T>, words: &Words<'_>) -> JudgedOut<T> {
    let reasons = j
        .reasons
        .iter()
        .map(|(text, place)| Reason { text: text.clone(), place: place.map(|p| words.describe(p)) })
        .collect();
    JudgedOut { value: j.value, basis: j.basis, reasons }
}

fn verdict<'a>(v: &'a Verdict, words: &Words<'_>, on: &On<'_>) -> VerdictOut<'a> {
    let f = &v.finding;
    VerdictOut {
        rule: v.rule.id,
        status: f.status,
        severity: v.severity(),
        subject: &f.subject,
        subject_kind: kind_of(&f.subject),
        message: &f.message,
        evidence: f
            .evidence
            .iter()
            .map(|e| EvidenceOut {
                place: words.describe(e.place),
                content: words.excerpt(e.place),
                note: e.note.as_deref(),
            })
            .collect(),
        effect: v.rule.effect,
        sources: v.rule.sources,
        remedy: f.remedy.as_deref().map(|r| Fix::of(r, on)),
        see: f.see.as_deref(),
        follows_from: None,
    }
}

/// What kind of thing a subject's text names.
pub(crate) fn kind_of(s: &Subject) -> &'static str {
    match s {
        Subject::Node => "node",
        Subject::Pci(_) => "pci",
        Subject::RdmaPort(..) => "rdma-port",
        Subject::Net(_) => "net",
        Subject::KernelArg(_) => "kernel-arg",
        Subject::Module(_) => "module",
        Subject::NicFirmware(..) => "nic-firmware",
        Subject::Named(_) => "named",
    }
}
