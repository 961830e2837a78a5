//! The lines around a table: title, header, addresses, remarks, failures.

use super::run::{Address, Failure, FailureKind, Header, Kind, Memory, Note, NoteKind, Side, Test};
use crate::gid::Gid;
use crate::text::{flag, words};
use crate::units::Bytes;
use smol_str::SmolStr;

/// Longest text of a line that is kept.
const MAX_TEXT: usize = 300;

fn kept(s: &str) -> String {
    s.trim().chars().take(MAX_TEXT).collect()
}

/// `RDMA_Write Bidirectional BW Test`; JSON writes underscores.
pub(super) fn title(line: &str) -> Option<Test> {
    const VERBS: &[&str] = &["RDMA_Write_imm", "RDMA_Write", "RDMA_Read", "Send_imm", "Send", "Atomic"];
    let line = line.trim().strip_suffix("Test")?.trim_end_matches([' ', '_']);
    let verb = VERBS.iter().find(|v| line.starts_with(**v))?;
    let rest = line.get(verb.len()..)?;
    let has = |what: &str| rest.split([' ', '_']).any(|w| w == what);
    let kind = match () {
        () if has("BW") => Kind::Bandwidth,
        () if has("Latency") => Kind::Latency,
        () => Kind::Other,
    };
    // A sentence that begins with `Send` and ends with `Test` is no title.
    let is_known = |w: &str| {
        matches!(
            w,
            "" | "BW"
                | "Latency"
                | "Bidirectional"
                | "Post"
                | "List"
                | "forwarding"
                | "Multicast"
                | "CMP"
                | "AND"
                | "SWAP"
                | "FETCH"
                | "ADD"
                | "COMPARE"
        )
    };
    rest.split([' ', '_']).all(is_known).then(|| Test {
        verb: SmolStr::new(verb),
        kind,
        bidirectional: has("Bidirectional"),
    })
}

/// Whose memory a command line asks for: `$ ib_write_bw -d mlx5_0 --use_cuda=0 10.0.0.2`. A sentence that names a test is no command.
pub(super) fn command(line: &str) -> Option<Memory> {
    const TESTS: [&str; 4] = ["ib_write_", "ib_read_", "ib_send_", "ib_atomic_"];
    const BEFORE: [&str; 4] = ["sudo", "numactl", "taskset", "time"];
    const OTHERS: [&str; 6] = ["--use_cuda", "--use_rocm", "--use_hl", "--use_neuron", "--use_mlu", "--use_hip"];
    let all: Vec<&str> = line.split_whitespace().take(64).collect();
    let is_test = |w: &&str| {
        let name = w.rsplit('/').next().unwrap_or(w);
        TESTS.iter().any(|t| name.starts_with(t)) && ["_bw", "_lat"].iter().any(|t| name.ends_with(t))
    };
    let at = all.iter().position(is_test)?;
    let (before, rest) = (all.get(..at)?, all.get(at + 1..)?);
    let is_begun = match before.iter().position(|w| w.ends_with(['$', '#', '>', '%'])) {
        Some(prompt) => before.get(prompt + 1..).unwrap_or_default(),
        None => before,
    };
    let is_command = is_begun.is_empty() || is_begun.first().is_some_and(|w| BEFORE.contains(w));
    // `ib_write_bw is slow` is a sentence: behind the name come options, a host's name, or nothing.
    let has_options = rest.iter().any(|w| w.starts_with('-')) || rest.len() <= 1;
    let asks = |w: &&str| OTHERS.iter().any(|o| w.starts_with(o));
    (is_command && has_options).then(|| if rest.iter().any(asks) { Memory::Accelerator } else { Memory::Host })
}

/// Fields of a header, as their labels stand in the text.
const LABELS: &[&str] = &[
    "Dual-port",
    "Device",
    "Number of qps",
    "Transport type",
    "Connection type",
    "Using SRQ",
    "PCIe relax order",
    "ibv_wr* API",
    "TX depth",
    "RX depth",
    "CQ Moderation",
    "Post List",
    "Mtu",
    "Link type",
    "GID index",
    "Max inline data",
    "Outstand reads",
    "rdma_cm QPs",
    "Data ex. method",
    "TOS",
];

/// Reads the fields of a line; whether there were any.
pub(super) fn fields(line: &str, header: &mut Header) -> bool {
    let mut any = false;
    for label in LABELS {
        let Some(at) = line.find(label) else { continue };
        let is_word = line.get(..at).is_some_and(|b| b.is_empty() || b.ends_with([' ', '\t']));
        // `Recv Post List` is another field, and so is `GID index2`.
        let is_other = *label == "Post List" && line.contains("Recv Post List");
        let after = line.get(at + label.len()..).unwrap_or_default();
        let Some(value) = after.trim_start().strip_prefix(':').filter(|_| is_word && !is_other) else { continue };
        let value = value.trim_start();
        let end = value.find(['\t']).or_else(|| value.find("  ")).unwrap_or(value.len());
        let end = next_field(value).map_or(end, |next| next.min(end));
        any |= set(label, value.get(..end).unwrap_or(value).trim(), header);
    }
    any
}

/// Fields that stand behind others and are not kept.
const OTHERS: &[&str] =
    &["Lock-free", "Using Enhanced Reorder", "CQE Poll Batch", "Recv Post List", "Using DDP", "Gid index2"];

/// Where the next field of a line begins: a paste that lost its tabs has one space between them.
fn next_field(value: &str) -> Option<usize> {
    let begins = |label: &&str| {
        let at = value.find(*label).filter(|at| value.get(..*at).is_some_and(|b| b.ends_with(' ')))?;
        value.get(at + label.len()..)?.trim_start().starts_with(':').then_some(at)
    };
    LABELS.iter().chain(OTHERS).filter_map(begins).min()
}

/// Takes a field's value; whether the field is one.
pub(super) fn set(label: &str, value: &str, h: &mut Header) -> bool {
    let before = h.clone();
    let text = || (!value.is_empty()).then(|| SmolStr::from(kept(value)));
    let number = || value.trim_end_matches("[B]").trim_end_matches('B').parse::<u32>().ok();
    let bytes = || number().map(|n| Bytes(u64::from(n)));
    let flag = || flag(value, "ON", "OFF");
    match label {
        "Dual-port" | "Dual_port" => h.dual_port = flag(),
        "Device" => h.device = text(),
        "Number of qps" | "Number_of_qps" => h.qps = number(),
        "Transport type" | "Transport_type" => h.transport = text(),
        "Connection type" | "Connection_type" => h.connection = text(),
        "Using SRQ" | "Using_SRQ" => h.srq = flag(),
        "PCIe relax order" | "PCIe_relax_order" => h.relaxed_ordering = flag(),
        "ibv_wr* API" | "ibv_wr_API" => h.ibv_wr_api = flag(),
        "TX depth" | "TX_depth" => h.tx_depth = number(),
        "RX depth" | "RX_depth" => h.rx_depth = number(),
        "CQ Moderation" | "CQ_Moderation" => h.cq_moderation = number(),
        "Post List" | "Post_List" => h.post_list = number(),
        "Mtu" => h.mtu = bytes(),
        "Link type" | "Link_type" => h.link = text(),
        "GID index" | "GID_index" => h.gid_index = number(),
        "Max inline data" | "Max_inline_data" => h.max_inline = bytes(),
        "Outstand reads" | "Outstand_reads" => h.outstanding_reads = number(),
        "rdma_cm QPs" | "rdma_cm_QPs" => h.rdma_cm = flag(),
        "Data ex. method" | "Data_ex_method" => h.exchange = text(),
        "TOS" => h.tos = number(),
        "cuda_device" => h.cuda_device = number(),
        _ => return false,
    }
    h.is_mixed |= differs(&before, h);
    true
}

/// A field that had a value and has another now.
fn differs(a: &Header, b: &Header) -> bool {
    fn d<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
        a.is_some() && a != b
    }
    d(&a.device, &b.device)
        || d(&a.qps, &b.qps)
        || d(&a.connection, &b.connection)
        || d(&a.mtu, &b.mtu)
        || d(&a.link, &b.link)
        || d(&a.gid_index, &b.gid_index)
        || d(&a.cq_moderation, &b.cq_moderation)
}

/// ` local address: LID 0x02 QPN 0x0032 PSN 0x5f2841 RKey 0x002440 VAddr 0x007f2e5f64b000`.
pub(super) fn address(line: u32, text: &str) -> Option<Address> {
    let text = text.trim_start();
    let (side, rest) = match text.strip_prefix("local address:") {
        Some(rest) => (Side::Local, rest),
        None => (Side::Remote, text.strip_prefix("remote address:")?),
    };
    let mut w = words(rest);
    let mut value = |wanted: &str| {
        let rest: Vec<&str> = w.by_ref().take(2).collect();
        match rest[..] {
            [name, value] if name == wanted => hex(value),
            _ => None,
        }
    };
    let small = |v: u64| u32::try_from(v).ok();
    let (lid, qpn, psn) = (small(value("LID")?)?, small(value("QPN")?)?, small(value("PSN")?)?);
    let mut address = Address { line, side, lid, qpn, psn, rkey: None, vaddr: None, gid: None };
    let mut name = "";
    for word in words(rest).skip(6).take(16) {
        match name {
            "RKey" => address.rkey = hex(word).and_then(small),
            "VAddr" => address.vaddr = hex(word),
            _ => {}
        }
        name = word;
    }
    Some(address)
}

/// `0x0d06`; zero is printed as `0000`.
fn hex(word: &str) -> Option<u64> {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    if digits.starts_with('+') { None } else { u64::from_str_radix(digits, 16).ok() }
}

/// ` GID: 00:00:…:255:255:10:06:145:33`: sixteen bytes in decimal. Multicast GIDs of raw Ethernet are hexadecimal, and not read.
pub(super) fn gid(text: &str) -> Option<Gid> {
    let rest = text.trim().strip_prefix("GID:")?.trim();
    let mut bytes = [0_u8; 16];
    let mut parts = rest.split(':');
    for byte in &mut bytes {
        *byte = parts.next()?.parse().ok()?;
    }
    parts.next().is_none().then_some(Gid(bytes))
}

/// A remark.
pub(super) fn note(line: u32, text: &str) -> Option<Note> {
    const NOTES: &[(&str, NoteKind)] = &[
        ("Conflicting CPU frequency values", NoteKind::CpuFrequency),
        ("BW peak won't be measured", NoteKind::PeakNotMeasured),
        ("Requested mtu is higher than active mtu", NoteKind::MtuLowered),
        ("CPU is not PCIe relaxed ordering compliant", NoteKind::RelaxedOrderingNotCompliant),
        ("It can lead to inaccurate results", NoteKind::Inaccurate),
        ("inline size set to 0", NoteKind::InlineOff),
    ];
    let (_, kind) = NOTES.iter().find(|(words, _)| text.contains(words))?;
    Some(Note { line, kind: *kind, text: kept(text) })
}

/// What a line says that something failed.
pub(super) fn failure(line: u32, text: &str) -> Option<Failure> {
    use FailureKind::{
        BelowLimit, Connection, Exchange, GpuMemory, MemoryRegistration, NoDevice, Other, Port, Propagated, QueuePair,
    };
    const FAILURES: &[(&str, FailureKind)] = &[
        ("Unable to find the Infiniband/RoCE device", NoDevice),
        ("Did not detect devices", NoDevice),
        ("Couldn't get context for the device", NoDevice),
        ("No IB devices found", NoDevice),
        ("Unable to query port", Port),
        ("Couldn't set the link layer", Port),
        ("Couldn't set Eth MTU", Port),
        ("Invalid MTU - ", Port),
        ("Error when trying to query port", Port),
        ("Couldn't allocate MR", MemoryRegistration),
        ("failed to create mr", MemoryRegistration),
        ("Failed to create MR", MemoryRegistration),
        ("cuMemAlloc error=", GpuMemory),
        ("cuMemGetHandleForAddressRange error=", GpuMemory),
        ("DMA-BUF is not supported on this GPU", GpuMemory),
        ("Couldn't init GPU context", GpuMemory),
        ("cuCtxCreate() error=", GpuMemory),
        ("hipMalloc error=", GpuMemory),
        ("Unable to create QP", QueuePair),
        ("Couldn't create CQ", QueuePair),
        ("Failed to modify QP", QueuePair),
        ("Couldn't connect to ", Connection),
        ("Unable to open file descriptor for socket connection", Connection),
        ("Unable to init the socket connection", Connection),
        ("Received 10 times ADDR_ERROR", Connection),
        ("times ADDR_ERROR - aborting", Connection),
        ("rdma_resolve_addr failed", Connection),
        ("rdma_resolve_route failed", Connection),
        ("Couldn't read remote address", Exchange),
        ("Unable to read to socket/rdma_cm", Exchange),
        ("Unable to read from socket/rdma_cm", Exchange),
        ("Unable to write to socket/rdma_cm", Exchange),
        ("Failed to exchange data between server and clients", Exchange),
        ("BW result is below bw limit", BelowLimit),
        ("is below msg_rate limit", BelowLimit),
        ("Couldn't create IB resources", Propagated),
        ("Unable to Connect the HCA's through the link", Propagated),
        ("Failed to complete run_iter_", Propagated),
        ("poll CQ failed ", Other),
        ("Can't produce a report", Other),
        ("Couldn't post send", Other),
    ];
    if let Some((before, after)) = text.split_once("Failed status") {
        return completion(line, text, before, after);
    }
    if text.contains("IB device ") && text.contains(" not found") {
        return Some(Failure { line, kind: NoDevice, text: kept(text) });
    }
    let (_, kind) = FAILURES.iter().find(|(words, _)| text.contains(words))?;
    Some(Failure { line, kind: *kind, text: kept(text) })
}

/// `Failed status 12: wr_id 0 syndrom 0x81`, newer `Failed status-transport retry counter exceeded (12): wr_id 0 syndrom 0x81`.
fn completion(line: u32, text: &str, before: &str, after: &str) -> Option<Failure> {
    if !before.trim().is_empty() {
        return None;
    }
    let (status, rest) = after.split_once(':')?;
    let status = match status.rsplit_once('(') {
        Some((_, number)) => number.trim_end_matches(')').trim().parse().ok()?,
        None => status.trim().parse().ok()?,
    };
    let syndrome =
        rest.split_once("syndrom ").and_then(|(_, s)| hex(words(s).next()?)).and_then(|s| u32::try_from(s).ok());
    Some(Failure { line, kind: FailureKind::Completion { status, syndrome }, text: kept(text) })
}
