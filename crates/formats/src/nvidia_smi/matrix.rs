//! What the `topo` matrices have in common: a header of device names, and rows that begin with one of them.

use crate::text::lines;

/// A matrix before its cells are understood.
pub(crate) struct Matrix<'a> {
    pub(crate) header_line: u32,
    /// Device columns.
    pub(crate) devices: Vec<&'a str>,
    /// Columns after the devices: `CPU Affinity`, `NUMA Affinity`, `GPU NUMA ID`.
    pub(crate) extra: Vec<&'static str>,
    /// Rows: line, device, words after it.
    pub(crate) rows: Vec<(u32, &'a str, Vec<&'a str>)>,
}

/// More devices than any node has; bounds the work on hostile text.
const MAX_DEVICES: usize = 1024;

/// Lines over which a terminal may break the header.
const MAX_HEADER_LINES: usize = 16;

/// Finds the header and the rows. The header may be broken over two lines by the width of a terminal.
pub(crate) fn find(text: &str) -> Option<Matrix<'_>> {
    let mut all = lines(text).peekable();
    let (header_line, mut header) = loop {
        let (line, raw) = all.next()?;
        if is_header(raw) {
            break (line, raw.split_whitespace().collect::<Vec<_>>());
        }
    };
    // A continuation has device names only, or the affinity titles; a row has path names.
    for _ in 0..MAX_HEADER_LINES {
        let Some((_, raw)) = all.peek() else { break };
        let has_titles = header.iter().any(|w| *w == "CPU" || *w == "NUMA");
        if has_titles || !is_continuation(raw) {
            break;
        }
        header.extend(raw.split_whitespace());
        all.next();
    }
    let titles_at = header.iter().position(|w| matches!(*w, "CPU" | "NUMA" | "GPU")).unwrap_or(header.len());
    let titles = header.split_off(titles_at).join(" ");
    let mut extra: Vec<&'static str> =
        ["CPU Affinity", "NUMA Affinity", "GPU NUMA ID"].into_iter().filter(|t| titles.contains(t)).collect();
    extra.dedup();
    let devices: Vec<&str> = header.into_iter().flat_map(unglue_name).collect();
    if devices.is_empty() || devices.len() > MAX_DEVICES {
        return None;
    }
    let rows = all
        .filter_map(|(line, raw)| {
            let mut words = raw.split_whitespace();
            let name = words.next().filter(|w| devices.contains(w))?;
            Some((line, name, words.take(MAX_DEVICES * 2).collect::<Vec<_>>()))
        })
        .filter(|(_, _, words)| !words.is_empty())
        .take(MAX_DEVICES * 2)
        .collect();
    Some(Matrix { header_line, devices, extra, rows })
}

/// Starts with device names: `GPU0 GPU1 …` or `GPU0` alone. A row starts with one name and a path.
fn is_header(raw: &str) -> bool {
    let mut words = raw.split_whitespace();
    let first_is_gpu = words.next().is_some_and(|w| unglue_name(w).iter().all(|n| is_gpu(n)));
    first_is_gpu && words.next().is_none_or(|w| is_device(w) || w == "CPU")
}

fn is_continuation(raw: &str) -> bool {
    let mut words = raw.split_whitespace();
    match (words.next(), words.next()) {
        (Some("CPU" | "NUMA"), Some("Affinity")) => true,
        (Some(a), b) => is_device(a) && b.is_none_or(|b| is_device(b) || b == "CPU"),
        _ => false,
    }
}

fn is_gpu(word: &str) -> bool {
    word.strip_prefix("GPU").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// GPUs, NICs under their number or their own name (renamed ones have digits and lower-case letters).
fn is_device(word: &str) -> bool {
    let nic = word.strip_prefix("NIC").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    is_gpu(word)
        || nic
        || (word.len() > 3
            && word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().any(|b| b.is_ascii_digit()))
}

/// `mlx5_4mlx5_5` → both. Copying from a web page loses tabs.
fn unglue_name(word: &str) -> Vec<&str> {
    for prefix in ["GPU", "NIC", "mlx5_", "mlx4_"] {
        if word.starts_with(prefix) {
            let starts: Vec<usize> = word.match_indices(prefix).map(|(i, _)| i).collect();
            let ends = starts.iter().skip(1).copied().chain([word.len()]);
            return starts.iter().zip(ends).filter_map(|(s, e)| word.get(*s..e)).collect();
        }
    }
    vec![word]
}
