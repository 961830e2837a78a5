//! JSON: what nccl-tests ≥ 2.17.3 write with `-J`, and the records of rccl-tests.

use super::head::text as kept;
use super::records::{Document, LINE, Records, Results};
use super::results;
use super::run::{
    Average, BusId, Collective, Delta, Errors, Failure, FailureKind, OutOfBounds, Params, Rank, Row, Run, Step, Tool,
};
use crate::bounds::Limit;
use crate::error::{ParseError, Why};
use crate::record::{add_left_out, keep};
use crate::text::{self, At};
use crate::units::{Bytes, GBps};
use serde_json::{Map, Value};

/// A document that has to be read in the slow way, because its results are not as the programs write them, may be this long:
/// its tree takes ten times the memory.
const MAX_TREE: usize = 64 << 20;

/// Reads a document of either program. `lines` is where it is.
pub(super) fn parse(text: &str, lines: (u32, u32)) -> Result<Vec<Run>, ParseError> {
    usual(text, lines, |_| {}).map_or_else(|| general(text, lines), |run| Ok(vec![run]))
}

/// Reads any document of either program. [`usual`] is quicker where it can.
pub(super) fn general(text: &str, lines: (u32, u32)) -> Result<Vec<Run>, ParseError> {
    let error = |e: serde_json::Error| {
        let why = if e.is_eof() { Why::RUN_ENDED } else { Why::Foreign("not JSON") };
        ParseError::new(lines.0.saturating_add(u32::try_from(e.line()).unwrap_or(u32::MAX).saturating_sub(1)), why)
    };
    match typed(text, lines) {
        Ok(runs) => return runs,
        Err(e) if e.is_eof() => return Err(error(e)),
        Err(_) => {}
    }
    // `%lf` writes `inf` and `nan`, which are not JSON.
    if let Some(quoted) = crate::json::quote_not_finite(text)
        && let Ok(runs) = typed(&quoted, lines)
    {
        return runs;
    }
    if text.len() > MAX_TREE {
        return Err(ParseError::new(
            lines.0,
            Why::Foreign("a document of this size whose results are not those of nccl-tests or rccl-tests"),
        ));
    }
    let value: Value = serde_json::from_str(text).map_err(error)?;
    match &value {
        // RCCL's own status report has a version and no arguments.
        Value::Object(o) if o.contains_key("nccl_version") && (o.contains_key("args") || o.contains_key("config")) => {
            let mut run = nccl(&value, lines);
            run.refused.push(lines.0, Why::Foreign("the results are not a list of measurements"));
            Ok(vec![run])
        }
        _ => Err(ParseError::new(lines.0, Why::Foreign("JSON that is neither of nccl-tests nor of rccl-tests"))),
    }
}

/// Reads a document whose results are as the programs write them.
fn typed(text: &str, lines: (u32, u32)) -> Result<Result<Vec<Run>, ParseError>, serde_json::Error> {
    let foreign =
        || Err(ParseError::new(lines.0, Why::Foreign("JSON that is neither of nccl-tests nor of rccl-tests")));
    if text.trim_ascii_start().starts_with('[') {
        let Records(mut runs) = serde_json::from_str(text)?;
        runs.iter_mut().for_each(|run| place(run, lines));
        return Ok(if runs.is_empty() { foreign() } else { Ok(runs) });
    }
    let document: Document = serde_json::from_str(text)?;
    Ok(whole(document.other, document.results, lines).map_or_else(foreign, |run| Ok(vec![run])))
}

/// Reads a document of nccl-tests whose list of results is as the program writes it. Any other is for [`general`]. `part`
/// may take rows away while they are read; where nothing comes of it in the end, it shall forget them.
pub(super) fn usual(text: &str, lines: (u32, u32), part: impl FnMut(&mut Vec<Row>)) -> Option<Run> {
    let (rest, rows) = results::cut_out(text, part)?;
    let document: Document = serde_json::from_str(&rest).ok()?;
    // The list that was cut out was the document's, not one further inside.
    document.results.filter(|Results(left)| left.rows.is_empty())?;
    whole(document.other, Some(Results(rows)), lines)
}

/// A document's run. `None`: it is another program's.
fn whole(other: Map<String, Value>, results: Option<Results>, lines: (u32, u32)) -> Option<Run> {
    let other = Value::Object(other);
    // RCCL's own status report has a version and no arguments.
    if other["nccl_version"].is_null() || other["args"].is_null() && other["config"].is_null() {
        return None;
    }
    let mut run = nccl(&other, lines);
    if let Some(Results(mut found)) = results {
        place(&mut found, lines);
        run.is_cpu_time = found.is_cpu_time;
        (run.rows, run.refused) = (found.rows, found.refused);
        add_left_out(&mut run.left_out, found.left_out);
    }
    Some(run)
}

/// Gives what was read of a document the lines where it is.
fn place(run: &mut Run, lines: (u32, u32)) {
    run.lines = lines;
    if lines.0 != LINE {
        run.rows.iter_mut().for_each(|r| r.line = lines.0);
        run.refused.kept.iter_mut().for_each(|r| r.line = lines.0);
        run.left_out.iter_mut().for_each(|l| l.line = lines.0);
        run.collective.iter_mut().for_each(|c| c.line = lines.0);
    }
}

fn nccl(v: &Value, lines: (u32, u32)) -> Run {
    let line = lines.0;
    let config = &v["config"];
    let u32_of = |v: &Value| v.as_u64().and_then(|n| u32::try_from(n).ok());
    let bytes = |v: &Value| v.as_u64().map(Bytes);
    let params = Params {
        threads: u32_of(&config["nthreads"]),
        gpus: u32_of(&config["ngpus"]),
        ranks_per_gpu: None,
        min: bytes(&config["minimum_bytes"]),
        max: bytes(&config["maximum_bytes"]),
        step: (config["step_factor"].as_u64().map(Step::Factor)).or(bytes(&config["step_bytes"]).map(Step::Bytes)),
        warmup_iters: u32_of(&config["warmup_iters"]),
        iters: u32_of(&config["iterations"]),
        agg_iters: u32_of(&config["aggregated_iterations"]),
        validation: u32_of(&config["validation"]),
        graph: u32_of(&config["graph"]),
        unalign: None,
    };
    let program = v["args"][0].as_str().and_then(Collective::from_name);
    let mut run = Run {
        tool: Some(Tool::NcclTests),
        library: u32_of(&v["nccl_version"]),
        params: (params != Params::default()).then(|| At::new(params, line)),
        collective: program.map(|c| At::new(c, line)),
        lines,
        copies: 1,
        ..Run::default()
    };
    for device in v_list(&config["devices"]) {
        match rank(device, line) {
            Some(rank) => run.push_rank(rank),
            None => run.ranks_not_kept += 1,
        }
    }
    for entry in v_list(&v["env"]).iter().filter_map(Value::as_str) {
        // The rest of the environment is nobody's business.
        if let Some((name, value)) = entry.split_once('=')
            && name.starts_with("NCCL_")
        {
            keep(&mut run.env, (kept(name), kept(value)), Limit::NCCL_TESTS_RANKS, line, &mut run.left_out);
        }
    }
    // The key was misspelt up to 2.18.1.
    let average = [("average_bus_bandwidth", "bandwidth"), ("average_bus_bandwidith", "bandwidith")];
    for (key, inner) in average {
        if let Some(busbw) = v[key][inner].as_f64() {
            run.average = Some(At::new(Average { busbw: GBps(busbw), ok: flag(&v[key]["okay"]) }, line));
        }
    }
    let bounds = &v["out_of_bounds"];
    if let (Some(count), Some(ok)) = (bounds["count"].as_u64(), flag(&bounds["okay"])) {
        run.out_of_bounds = Some(At::new(OutOfBounds { count, ok }, line));
    }
    for error in v_list(&v["errors"]).iter().filter_map(Value::as_str).filter(|e| !e.trim().is_empty()) {
        let message = kept(error);
        run.push_failure(Failure { line, kind: FailureKind::LastError, host: None, source: None, message });
    }
    run
}

fn v_list(v: &Value) -> &[Value] {
    v.as_array().map_or(&[], Vec::as_slice)
}

/// The program writes flags as strings.
fn flag(v: &Value) -> Option<bool> {
    v.as_str().and_then(|word| text::flag(word, "true", "false")).or(v.as_bool())
}

fn rank(v: &Value, line: u32) -> Option<Rank> {
    let number = |key: &str| v[key].as_u64().and_then(|n| u32::try_from(n).ok());
    let hex: Vec<&str> = v["device_hex"].as_str().unwrap_or_default().split(':').collect();
    let bus_id = match hex[..] {
        [domain, bus, device] => u32::from_str_radix(domain, 16).ok().and_then(|domain| {
            let (bus, device) = (u8::from_str_radix(bus, 16).ok()?, u8::from_str_radix(device, 16).ok()?);
            Some(BusId { domain: Some(domain), bus, device: Some(device), function: None })
        }),
        [bus] => bus.strip_prefix("0x").and_then(|b| u8::from_str_radix(b, 16).ok()).map(|bus| BusId {
            domain: None,
            bus,
            device: None,
            function: None,
        }),
        _ => None,
    };
    Some(Rank {
        line,
        rank: number("rank")?,
        group: number("group"),
        pid: v["pid"].as_u64(),
        host: v["hostname"].as_str().filter(|h| !h.is_empty()).map(|h| kept(h).into()),
        device: number("device")?,
        bus_id,
        name: kept(v["device_info"].as_str().unwrap_or_default()),
    })
}

pub(super) fn count(v: f64) -> Errors {
    if v.fract() == 0.0 && (0.0..1e18).contains(&v) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Checked above.
        return Errors::Wrong(v as u64);
    }
    Errors::Delta(Delta(v))
}
