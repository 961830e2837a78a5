//! JSON: what nccl-tests ≥ 2.17.3 write with `-J`, and the records of rccl-tests.

use super::MAX_RANKS;
use super::head::text as kept;
use super::run::{
    Average, BusId, Collective, Delta, Errors, Failure, FailureKind, Measure, OutOfBounds, Params, PerIteration, Rank,
    Row, Run, Step, Tool,
};
use crate::error::ParseError;
use crate::text::At;
use crate::units::{Bytes, GBps, Microseconds, Percent};
use serde_json::Value;
use smol_str::SmolStr;

/// Reads a document of either program. `lines` is where it stands.
pub(super) fn parse(text: &str, lines: (u32, u32)) -> Result<Vec<Run>, ParseError> {
    let value: Value = serde_json::from_str(text).map_err(|e| {
        let why = if e.is_eof() { "the document ends in the middle: the run was ended" } else { "not JSON" };
        ParseError::new(lines.0.saturating_add(u32::try_from(e.line()).unwrap_or(u32::MAX).saturating_sub(1)), why)
    })?;
    let runs = match &value {
        // RCCL's own status report has a version and no arguments.
        Value::Object(o) if o.contains_key("nccl_version") && (o.contains_key("args") || o.contains_key("config")) => {
            vec![nccl(&value, lines)]
        }
        Value::Array(records) if records.first().is_some_and(|r| !r["algBw"].is_null()) => rccl(records, lines),
        _ => return Err(ParseError::new(lines.0, "JSON that is neither of nccl-tests nor of rccl-tests")),
    };
    Ok(runs)
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
            && run.env.len() < MAX_RANKS
        {
            run.env.push((kept(name), kept(value)));
        }
    }
    for result in v_list(&v["results"]) {
        run.is_cpu_time |= !result["out_of_place"]["cpu_time"].is_null() || !result["in_place"]["cpu_time"].is_null();
        match nccl_row(result, line) {
            Some(row) => run.push_row(row),
            None => run.refuse(line, "a result without a size, a count or a type"),
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
    match v.as_str() {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => v.as_bool(),
    }
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

fn nccl_row(v: &Value, line: u32) -> Option<Row> {
    let op = v["redop"].as_str().filter(|op| !matches!(*op, "none" | ""));
    let root = v["root"].as_str().and_then(|r| r.trim().parse::<i64>().ok()).or_else(|| v["root"].as_i64());
    Some(Row {
        line,
        size: Bytes(v["size"].as_u64()?),
        count: Some(v["count"].as_u64()?),
        dtype: kept(v["type"].as_str()?).into(),
        redop: op.map(|op| kept(op).into()),
        root: root.and_then(|r| u32::try_from(r).ok()),
        out_of_place: nccl_measure(&v["out_of_place"], &v["out_of_place_per_iter"]),
        in_place: nccl_measure(&v["in_place"], &v["in_place_per_iter"]),
    })
}

fn nccl_measure(v: &Value, each: &Value) -> Option<Measure> {
    let time = v["time"].as_f64().or_else(|| v["cpu_time"].as_f64())?;
    let us = |key: &str| each[key].as_f64().map(Microseconds);
    let per_iteration = match (us("min_us"), us("max_us"), us("p99_us"), each["cv_pct"].as_f64()) {
        (Some(min), Some(max), Some(p99), Some(cv)) => Some(PerIteration { min, max, p99, cv: Percent(cv) }),
        _ => None,
    };
    Some(Measure {
        time: Microseconds(time),
        algbw: GBps(v["alg_bw"].as_f64()?),
        busbw: GBps(v["bus_bw"].as_f64()?),
        errors: v["nwrong"].as_f64().map_or(Errors::NotChecked, count),
        per_iteration,
    })
}

fn count(v: f64) -> Errors {
    if v.fract() == 0.0 && (0.0..1e18).contains(&v) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Checked above.
        return Errors::Wrong(v as u64);
    }
    Errors::Delta(Delta(v))
}

/// One record per measurement; those in place follow those out of place. A new run begins where the collective changes.
fn rccl(records: &[Value], lines: (u32, u32)) -> Vec<Run> {
    let mut runs: Vec<(SmolStr, Run)> = Vec::new();
    for v in records {
        let name = v["name"].as_str().unwrap_or_default();
        if runs.last().is_none_or(|(last, _)| last != name) {
            let collective = Collective::from_name(name).map(|c| At::new(c, lines.0));
            let run = Run { tool: Some(Tool::RcclTests), collective, lines, copies: 1, ..Run::default() };
            runs.push((kept(name).into(), run));
        }
        let Some((_, run)) = runs.last_mut() else { continue };
        match rccl_measure(v, lines.0) {
            Some((row, in_place, measure)) => run.push_half(row, in_place, measure),
            None => run.refuse(lines.0, "a record without a size, a time or a bandwidth"),
        }
        if runs.len() > MAX_RANKS {
            break;
        }
    }
    runs.into_iter().map(|(_, run)| run).collect()
}

fn rccl_measure(v: &Value, line: u32) -> Option<(Row, bool, Measure)> {
    let op = v["redop"].as_str().filter(|op| !matches!(*op, "none" | ""));
    let in_place = v["inPlace"].as_u64().map(|n| n != 0).or_else(|| flag(&v["inPlace"]))?;
    let wrong = v["wrong"].as_str().map_or_else(|| v["wrong"].as_f64(), |w| w.trim().parse().ok());
    let measure = Measure {
        time: Microseconds(v["time"].as_f64()?),
        algbw: GBps(v["algBw"].as_f64()?),
        busbw: GBps(v["busBw"].as_f64()?),
        errors: wrong.map_or(Errors::NotChecked, count),
        per_iteration: None,
    };
    let row = Row {
        line,
        size: Bytes(v["size"].as_u64()?),
        count: None,
        dtype: kept(v["type"].as_str()?).into(),
        redop: op.map(|op| kept(op).into()),
        root: None,
        out_of_place: None,
        in_place: None,
    };
    Some((row, in_place, measure))
}
