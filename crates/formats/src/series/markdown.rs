//! Tables in Markdown: `| a | b |` above `|---|---|`.

use super::build::Builder;
use super::table::{Form, Table};
use crate::bounds::{Limit, SERIES_COLUMNS, SERIES_TABLES, leave_out};
use crate::error::Why;
use crate::text::lines;

/// Rows that decide upon the kinds of columns.
const SAMPLE: usize = 64;

/// All tables of a text, whatever is between them.
pub(super) fn parse(text: &str) -> Vec<Table> {
    let mut tables = Vec::new();
    let mut all = lines(text).peekable();
    while let Some((line_number, line)) = all.next() {
        let Some(header) = cells(line) else { continue };
        let is_rule = |l: &str| cells(l).is_some_and(|c| c.len() == header.len() && c.iter().all(|c| is_dashes(c)));
        if all.next_if(|(_, next)| is_rule(next)).is_none() {
            continue;
        }
        if tables.len() >= SERIES_TABLES {
            let list: Option<&mut Table> = tables.last_mut();
            list.into_iter().for_each(|t| leave_out(&mut t.left_out, Limit::SERIES_TABLES, line_number));
            continue;
        }
        let mut rows = Vec::new();
        while let Some((number, row)) = all.next_if(|(_, l)| cells(l).is_some()) {
            rows.push((number, cells(row).unwrap_or_default()));
        }
        let mut sample = Builder::new(Form::Markdown, true, text.len());
        header.iter().for_each(|name| {
            sample.push_column(&plain(name));
        });
        for (_, row) in rows.iter().take(SAMPLE) {
            sample.begin_row(0);
            row.iter().enumerate().for_each(|(i, c)| sample.text(i, &plain(c)));
        }
        let mut builder = Builder::from_sample(sample);
        for (number, row) in &rows {
            if row.len() != header.len() {
                builder.refuse(*number, None, || Why::Columns {
                    has: row.len(),
                    cells: "cells",
                    columns: header.len(),
                });
            } else if builder.begin_row(*number) {
                row.iter().enumerate().for_each(|(i, c)| builder.text(i, &plain(c)));
            }
        }
        tables.push(builder.finish());
    }
    tables.retain(Table::has_numbers);
    tables
}

/// The cells of a line that begins with a bar.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim_start_matches(['>', ' ', '\t']).trim_end().strip_prefix('|')?;
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let all: Vec<&str> = inner.split('|').map(str::trim).take(SERIES_COLUMNS + 1).collect();
    (all.len() <= SERIES_COLUMNS).then_some(all)
}

fn is_dashes(cell: &str) -> bool {
    cell.len() >= 2 && cell.contains('-') && cell.bytes().all(|b| matches!(b, b'-' | b':'))
}

/// Without the marks of emphasis.
fn plain(cell: &str) -> String {
    cell.replace("**", "").replace('`', "")
}
