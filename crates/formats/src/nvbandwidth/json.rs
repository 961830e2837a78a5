//! The document that `-j` prints.

use super::reader::device;
use super::run::{Format, Matrix, Run, Status, Test, Values};
use crate::bounds::{Limit, leave_out};
use crate::error::Why;
use crate::record::has_room;
use crate::text::At;
use crate::units::Bytes;
use serde_json::Value;
use smol_str::SmolStr;

/// Reads a document. `lines` is where it is; values have its first line. `is_open`: braces are.
pub(super) fn parse(text: &str, lines: (u32, u32), is_open: bool) -> Run {
    let line = lines.0;
    let mut run = Run { format: Format::Json, lines, ..Run::default() };
    // The program may print the same document twice, after an error.
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let root = match documents.next() {
        Some(Ok(root)) => root,
        Some(Err(e)) => {
            let is_cut = is_open || e.is_eof();
            let why = if is_cut { Why::RUN_ENDED } else { Why::Foreign("not JSON") };
            run.refused.push(line.saturating_add(u32::try_from(e.line()).unwrap_or(u32::MAX).saturating_sub(1)), why);
            return run;
        }
        None => return run,
    };
    let v = &root["nvbandwidth"];
    let short = |v: &Value| v.as_str().map(|s| At::new(s.chars().take(128).collect::<SmolStr>(), line));
    let number = |v: &Value| v.as_u64().and_then(|n| u32::try_from(n).ok()).map(|n| At::new(n, line));
    run.version = short(&v["version"]);
    run.git = short(&v["git_version"]);
    run.driver = short(&v["Driver Version"]);
    run.host = short(&v["Hostname"]);
    run.cuda = number(&v["CUDA Runtime Version"]);
    run.samples = number(&v["testSamples"]);
    run.buffer = v["bufferSize"].as_u64().map(|n| At::new(Bytes(n.saturating_mul(1 << 20)), line));
    run.is_mean = v["useMean"].as_bool().map(|b| At::new(b, line));
    for text in list(&v["GPU Device list"]).iter().chain(list(&v["GPU Device info"])).filter_map(Value::as_str) {
        // `0: NVIDIA GB200 (00000008:06:00): (host)`.
        let (text, host) = match text.rsplit_once(": (") {
            Some((rest, host)) => (rest, Some(SmolStr::new(host.trim_end_matches(')')))),
            None => (text, None),
        };
        if let Some(found) = device(line, text, host) {
            run.push_device(found);
        }
    }
    if let Some(error) = v["error"].as_str() {
        run.fail(line, None, error);
    }
    if let Some(warning) = v["warning"].as_str() {
        run.note(line, warning);
    }
    for one in list(&v["testcases"]) {
        if !has_room(run.tests.len(), Limit::NVBANDWIDTH_TESTS) {
            leave_out(&mut run.left_out, Limit::NVBANDWIDTH_TESTS, line);
            continue;
        }
        let test = test(one, line, &mut run);
        run.waived += u64::from(test.status == Status::Waived);
        run.push_test(test);
    }
    run
}

fn list(v: &Value) -> &[Value] {
    v.as_array().map_or(&[], Vec::as_slice)
}

fn test(v: &Value, line: u32, run: &mut Run) -> Test {
    let name = v["name"].as_str().map(|n| n.chars().take(128).collect::<SmolStr>());
    let status = match v["status"].as_str().unwrap_or_default() {
        "Passed" => Status::Passed,
        "Waived" => Status::Waived,
        "Running" => Status::Unfinished,
        _ => Status::Failed,
    };
    if let Some(error) = v["error"].as_str() {
        run.fail(line, name.clone(), error);
    } else if status == Status::Failed {
        run.fail(line, name.clone(), v["status"].as_str().unwrap_or("the test has no status"));
    }
    let mut test = Test { line, name, status, matrices: Vec::new() };
    let rows = list(&v["bandwidth_matrix"]);
    let description = v["bandwidth_description"].as_str().unwrap_or_default();
    let Some(values) = Values::of(description) else {
        if !rows.is_empty() {
            run.refused.push(line, Why::Unclear("a matrix whose description names neither GB/s nor ns"));
        }
        return test;
    };
    let sum = v["sum"].as_f64();
    let build = |rows: &[Value], values: Values| matrix(rows, description, values, sum, line);
    let whole = match build(rows, values.clone()) {
        Ok(whole) => whole,
        Err(why) => {
            run.refused.push(line, why);
            return test;
        }
    };
    let third = rows.len() / 3;
    let last = (!whole.is_whole && sum.is_some() && third * 3 == rows.len())
        .then(|| build(rows.get(third * 2..).unwrap_or_default(), values.clone()).ok())
        .flatten()
        .filter(|m| m.is_whole);
    let Some(mut total) = last else {
        test.matrices.push(Matrix { key: test.name.clone(), ..whole });
        return test;
    };
    // The three of a bidirectional test: their order is that of the text's.
    let name = test.name.clone().unwrap_or_default();
    let verb = if name.contains("write") { "write" } else { "read" };
    for (i, part) in rows.chunks(third.max(1)).take(2).enumerate() {
        if let Ok(mut m) = build(part, values.clone()) {
            m.description = SmolStr::default();
            m.sum = None;
            m.key = Some(SmolStr::new(format!("{name}_{verb}{}", i + 1)));
            m.is_whole = true;
            test.matrices.push(m);
        }
    }
    total.key = Some(SmolStr::new(format!("{name}_total")));
    test.matrices.push(total);
    test
}

fn matrix(rows: &[Value], description: &str, values: Values, sum: Option<f64>, line: u32) -> Result<Matrix, Why> {
    let mut m = Matrix::new(line, description, values);
    let width = rows.first().map_or(0, |r| list(r).len());
    let names = |n: usize| (0..n).map(|i| SmolStr::new(i.to_string())).collect::<Vec<_>>();
    (m.rows, m.columns) = (names(rows.len()), names(width));
    for row in rows {
        if list(row).len() != width {
            return Err(Why::Impossible("rows of a matrix differ in length"));
        }
        for cell in list(row) {
            m.values.push(cell_value(cell)?);
        }
    }
    if let Some(sum) = sum {
        // Cells have six digits, the sum has all.
        m.set_sum(sum);
        let total: f64 = m.values.numbers().flatten().sum();
        m.is_whole |= !m.values.is_empty() && (total - sum).abs() <= sum.abs() * 2e-6;
    }
    Ok(m)
}

/// Cells are numbers in quotes, or `N/A`.
fn cell_value(v: &Value) -> Result<Option<f64>, Why> {
    let read = match v {
        Value::String(s) if s == "N/A" => return Ok(None),
        Value::String(s) => s.parse::<f64>().ok(),
        other => other.as_f64(),
    };
    match read.filter(|v| v.is_finite() && *v >= 0.0) {
        Some(v) => Ok((v > 0.0).then_some(v)),
        None => Err(Why::word(&v.to_string(), "not a measurement")),
    }
}
