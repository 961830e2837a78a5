//! Settings that a person put side by side in Markdown: a setting to a row, a NIC or a node to a column.

use super::{Columns, NicConfig, Param, Query, Value};
use crate::bounds::{FIRMWARE_SETTINGS, Limit, leave_out};
use crate::text::lines;

/// Columns that are read; nobody compares more by hand.
const COLUMNS: usize = 32;

/// `| ATS_ENABLED | True(1) | False(0) |`: whether a line is a row of such a table, by a value as the tool prints it.
pub(super) fn is_row(line: &str) -> bool {
    let mut cells = cells(line);
    cells.next().is_some_and(is_setting) && cells.any(|c| Value::new(c).label.is_some())
}

/// The columns of the first table of settings, each as a device that has the name of its column. `None`: there is none.
pub(super) fn read(text: &str) -> Option<Query> {
    // A query prints hundreds of lines, none of which has a bar.
    if memchr::memchr(b'|', text.as_bytes()).is_none() || !text.lines().any(is_row) {
        return None;
    }
    let mut out = Query::default();
    let mut rows = lines(text).filter(|(_, l)| cells(l).next().is_some());
    let (line, head) = rows.by_ref().find(|(_, l)| !is_rule(l) && !cells(l).next().is_some_and(is_setting))?;
    for name in cells(head).skip(1).take(COLUMNS) {
        let mut device = NicConfig { beside: true, columns: Some(Columns::NextBootOnly), ..NicConfig::empty(line) };
        device.set_device(name, line);
        out.devices.push(device);
    }
    let mut items = 0;
    for (line, row) in rows {
        let mut row = cells(row);
        let Some(name) = row.next().filter(|c| is_setting(c)) else { continue };
        for (device, cell) in out.devices.iter_mut().zip(row) {
            // Other words are what a person says of the setting.
            let value = Value::new(cell);
            if value.number.is_none() || device.param(name).is_some() {
                continue;
            }
            items += 1;
            if items > FIRMWARE_SETTINGS {
                leave_out(&mut out.left_out, Limit::FIRMWARE_SETTINGS, line);
                return Some(out);
            }
            device.params.push(Param {
                name: name.into(),
                default: None,
                current: None,
                next: Some(value),
                modified: false,
                read_only: false,
                line,
            });
        }
    }
    Some(out)
}

/// The cells of a row; none of a line that is no row.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    let inner = line.trim().strip_prefix('|').and_then(|l| l.strip_suffix('|'));
    inner.into_iter().flat_map(|l| l.split('|')).map(|c| c.trim().trim_matches(['`', '*']))
}

fn is_rule(line: &str) -> bool {
    line.bytes().all(|b| matches!(b, b'|' | b'-' | b':' | b' ' | b'\t'))
}

/// `ADVANCED_PCI_SETTINGS`.
fn is_setting(cell: &str) -> bool {
    let is_name = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || matches!(b, b'_' | b'[' | b']');
    cell.contains('_') && cell.starts_with(|c: char| c.is_ascii_uppercase()) && cell.bytes().all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# Drift\n\n| mlxconfig setting | u25 | u36 before |\n|---|---|---|\n| ADVANCED_PCI_SETTINGS | True(1) | False(0) |\n\
        | MAX_ACC_OUT_READ | 128 | missing |\n| PCI_WR_ORDERING | per_mkey(0) | mixed between NICs |\n";

    #[test]
    fn columns_are_devices_and_words_are_no_values() {
        let q = read(TABLE).unwrap();
        let [a, b] = q.devices.as_slice() else { panic!("{q:?}") };
        assert_eq!([a, b].map(|d| d.device.as_ref().map_or("", |n| n.as_str())), ["u25", "u36 before"]);
        let value = |d: &NicConfig, name| d.param(name).map(|p| (p.next.as_ref().and_then(|v| v.number), p.line));
        assert_eq!(value(a, "ADVANCED_PCI_SETTINGS"), Some((Some(1), 5)));
        assert_eq!(value(b, "ADVANCED_PCI_SETTINGS"), Some((Some(0), 5)));
        assert_eq!((value(a, "MAX_ACC_OUT_READ"), value(b, "MAX_ACC_OUT_READ")), (Some((Some(128), 6)), None));
        assert_eq!(value(b, "PCI_WR_ORDERING"), None);
    }

    #[test]
    fn other_tables_are_none() {
        for text in [
            "| A_B | 1 | 2 |\n|---|---|---|\n| SIZE_MB | 12 | 13 |\n",
            "| size | before |\n|---|---|\n| 1 MB | 5.9 |\n",
            "ATS_ENABLED True(1)\n",
            "|",
            "| A_B | True(1) |",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
