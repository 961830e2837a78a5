//! `nvidia-smi --query-gpu=… --format=csv`: columns are what the header says.

use crate::bounds::TEXT_ITEMS;
use crate::error::{ParseError, Why};
use crate::text::{decode, lines, trim};
use serde::Serialize;

/// A table with the query's own column names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Csv {
    /// Column names without units, e.g. `memory.total`.
    pub columns: Vec<String>,
    /// Units in brackets where the header shows them, e.g. `MiB`; same length as `columns`.
    pub units: Vec<Option<String>>,
    /// Rows that have as many cells as the header.
    pub rows: Vec<CsvRow>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CsvRow {
    /// 1-based line.
    pub line: u32,
    /// Cells as printed.
    pub cells: Vec<String>,
}

impl Csv {
    /// A cell by its column's name.
    pub fn get<'a>(&self, row: &'a CsvRow, column: &str) -> Option<&'a str> {
        let at = self.columns.iter().position(|c| c == column)?;
        row.cells.get(at).map(String::as_str)
    }
}

/// Parses CSV with a header. Without one (`noheader`) the columns cannot be known: an error.
pub fn parse_csv(bytes: &[u8]) -> Result<Csv, ParseError> {
    let text = decode(bytes);
    let mut all = lines(&text);
    let (columns, units) = all
        .by_ref()
        .find_map(|(_, l)| header(l))
        .ok_or_else(|| ParseError::new(0, Why::Foreign("no CSV header of nvidia-smi (was it run with noheader?)")))?;
    let rows = all
        .filter(|(_, l)| !l.trim().is_empty())
        .map(|(line, l)| CsvRow { line, cells: l.split(',').map(|c| c.trim().to_owned()).collect() })
        .filter(|row| {
            row.cells.len() == columns.len() && !row.cells.iter().zip(&columns).all(|(a, b)| a.starts_with(b))
        })
        .take(TEXT_ITEMS)
        .collect();
    Ok(Csv { columns, units, rows })
}

type Header = (Vec<String>, Vec<Option<String>>);

fn header(line: &str) -> Option<Header> {
    let cells = || {
        line.split(',').map(|c| {
            let cell = trim(c);
            // A name has no blank: the first one is before the unit.
            let name = cell.split(' ').next().unwrap_or_default();
            match cell.get(name.len()..).and_then(|rest| rest.strip_prefix(" [")) {
                Some(unit) => (name, unit.strip_suffix(']')),
                None => (cell, None),
            }
        })
    };
    let is_field = |n: &str| {
        !n.is_empty() && n.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._".contains(&b))
    };
    let known = |n: &str| KNOWN.contains(&n) || n.contains('.') && n.starts_with(|c: char| c.is_ascii_lowercase());
    let fits = cells().all(|(n, _)| is_field(n)) && cells().any(|(n, _)| known(n));
    fits.then(|| (cells().map(|(n, _)| n.to_owned()).collect(), cells().map(|(_, u)| u.map(str::to_owned)).collect()))
}

/// Field names without a dot that a header may consist of.
const KNOWN: &[&str] = &[
    "index",
    "name",
    "uuid",
    "serial",
    "count",
    "timestamp",
    "driver_version",
    "gpu_name",
    "gpu_uuid",
    "gpu_bus_id",
    "compute_cap",
    "pstate",
    "vbios_version",
    "gpu_serial",
    "pid",
    "process_name",
    "addressing_mode",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_by_name() {
        let t = parse_csv(
            b"# nvidia-smi --query-gpu=compute_cap,name,pci.bus_id --format=csv\ncompute_cap, name, pci.bus_id, memory.total [MiB]\n9.0, NVIDIA H100, 00000000:1B:00.0, 81559 MiB\ncut\n",
        )
        .unwrap();
        assert_eq!((t.rows.len(), t.rows[0].line), (1, 3));
        assert_eq!(t.get(&t.rows[0], "pci.bus_id"), Some("00000000:1B:00.0"));
        assert_eq!(t.get(&t.rows[0], "memory.total"), Some("81559 MiB"));
        assert_eq!((t.get(&t.rows[0], "uuid"), t.units[3].as_deref()), (None, Some("MiB")));
        assert!(parse_csv(b"0, NVIDIA L4, GPU-24598a07, 23034 MiB\n").is_err());
    }
}
