//! Fields parted by commas, semicolons or tabs.

use super::build::Builder;
use super::cell::{self, Cell};
use super::table::{Form, NoteKind, Table};
use crate::bounds::{Limit, SERIES_COLUMNS, SERIES_RECORD, SERIES_TABLES};
use crate::error::{ParseError, Why};
use crate::text::{Lines, lines};
use std::borrow::Cow;

/// Records that decide upon the delimiter and the kinds of columns.
const SAMPLE: usize = 64;

/// Records: fields, and the line where each begins.
struct Records<'a> {
    lines: Lines<'a>,
    delimiter: u8,
    /// The last line that began with `#`.
    comment: Option<(u32, &'a str)>,
    /// A record whose quotes are not closed.
    unclosed: Option<u32>,
}

impl<'a> Records<'a> {
    fn new(text: &'a str, delimiter: u8) -> Self {
        Records { lines: lines(text), delimiter, comment: None, unclosed: None }
    }

    /// Fills `fields` with the next record; its line.
    fn next(&mut self, fields: &mut Vec<Cow<'a, str>>) -> Option<u32> {
        loop {
            let (number, line) = self.lines.next()?;
            let first = line.as_bytes().first().copied();
            if first == Some(b'#') {
                self.comment = Some((number, line));
                continue;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            fields.clear();
            if memchr::memchr(b'"', line.as_bytes()).is_none() {
                plain(line, self.delimiter, fields);
                return Some(number);
            }
            if self.quoted(line, fields) {
                return Some(number);
            }
            self.unclosed.get_or_insert(number);
        }
    }

    /// A record with quotes, perhaps of several lines. Whether its quotes are closed.
    fn quoted(&mut self, line: &'a str, fields: &mut Vec<Cow<'a, str>>) -> bool {
        let mut whole = Cow::Borrowed(line);
        for _ in 0..SERIES_RECORD {
            if whole.bytes().filter(|b| *b == b'"').count() % 2 == 0 {
                split_quoted(&whole, self.delimiter, fields);
                return true;
            }
            let Some((_, next)) = self.lines.next() else { return false };
            whole = Cow::Owned(format!("{whole}\n{next}"));
        }
        false
    }
}

fn plain<'a>(line: &'a str, delimiter: u8, fields: &mut Vec<Cow<'a, str>>) {
    let mut start = 0;
    for (at, b) in line.bytes().enumerate() {
        if b == delimiter {
            fields.push(Cow::Borrowed(line.get(start..at).unwrap_or_default()));
            start = at + 1;
            if fields.len() > SERIES_COLUMNS {
                return;
            }
        }
    }
    fields.push(Cow::Borrowed(line.get(start..).unwrap_or_default()));
}

fn split_quoted(line: &str, delimiter: u8, fields: &mut Vec<Cow<'_, str>>) {
    let mut field = String::new();
    let mut is_quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => is_quoted = !is_quoted,
            c if c == char::from(delimiter) && !is_quoted => {
                fields.push(Cow::Owned(std::mem::take(&mut field)));
                if fields.len() > SERIES_COLUMNS {
                    return;
                }
            }
            c => field.push(c),
        }
    }
    fields.push(Cow::Owned(field));
}

/// The delimiter of a text: the one that parts all of the first records into the same number of fields.
fn delimiter(text: &str) -> Option<u8> {
    let widths = |delimiter: u8| {
        let mut records = Records::new(text, delimiter);
        let mut fields = Vec::new();
        let mut all = Vec::new();
        while all.len() < SAMPLE && records.next(&mut fields).is_some() {
            all.push(fields.len());
        }
        all
    };
    [b'\t', b';', b','].into_iter().find(|d| {
        let all = widths(*d);
        // The header's width, or that of most records where another line is above.
        let count = |w: usize| all.iter().filter(|x| **x == w).count();
        let most = all.iter().copied().max_by_key(|w| count(*w)).unwrap_or(0);
        // One record in ten may be another program's line, or cut; so may be the last one.
        most > 1 && count(most) * 10 >= all.len().saturating_sub(1) * 9
    })
}

/// Reads the text as one table; where its header comes again, as several.
pub(super) fn parse(text: &str) -> Result<Vec<Table>, ParseError> {
    let by = delimiter(text).ok_or_else(|| {
        ParseError::new(1, Why::Foreign("no comma, semicolon or tab parts the lines into the same number of fields"))
    })?;
    let form = Form::Delimited(char::from(by));
    let mut records = Records::new(text, by);
    let mut first = Vec::new();
    let Some(line) = records.next(&mut first) else {
        return Err(ParseError::new(0, Why::Missing("the text is empty")));
    };
    let is_number = |f: &str| !matches!(cell::read(f), Cell::Word | Cell::Missing);
    let has_header = !first.iter().any(|f| is_number(f));
    let above = records.comment.map(|(_, c)| c.trim_start_matches('#').trim());
    let comment: Option<Vec<Cow<'_, str>>> = above.map(|c| {
        let mut fields = Vec::new();
        plain(c, by, &mut fields);
        fields
    });
    let (header, is_named) = match comment {
        _ if has_header => (first.clone(), true),
        Some(fields) if fields.len() == first.len() && !fields.iter().any(|f| is_number(f)) => (fields, true),
        _ => ((1..=first.len()).map(|i| Cow::Owned(format!("column {i}"))).collect(), false),
    };
    let mut sample = Builder::new(form, true, text.len());
    header.iter().for_each(|name| {
        sample.push_column(name);
    });
    let mut fields = Vec::new();
    let mut ahead = Records::new(text, by);
    if has_header {
        ahead.next(&mut fields);
    }
    while sample.rows() < SAMPLE && ahead.next(&mut fields).is_some() {
        sample.begin_row(0);
        for (i, field) in fields.iter().enumerate() {
            sample.text(i, field);
        }
    }
    let empty = || {
        let mut names = Builder::new(form, true, text.len());
        header.iter().for_each(|name| {
            names.push_column(name);
        });
        names
    };
    let mut tables = Vec::new();
    let mut builder = Builder::from_sample(sample);
    if !is_named {
        builder.note(line, 0, NoteKind::NoHeader);
    }
    if !has_header {
        row(&mut builder, line, &first);
    }
    while let Some(number) = records.next(&mut fields) {
        if has_header && fields.first() == header.first() && fields == header {
            // Another file behind this one.
            if tables.len() + 1 >= SERIES_TABLES {
                builder.leave_out_at(Limit::SERIES_TABLES, number);
                break;
            }
            tables.push(std::mem::replace(&mut builder, Builder::from_sample(empty())).finish());
            continue;
        }
        row(&mut builder, number, &fields);
    }
    if let Some(number) = records.unclosed {
        builder.refuse(number, None, || Why::Missing("a quote that is not closed: the lines behind it were left out"));
    }
    tables.push(builder.finish());
    Ok(tables)
}

fn row(builder: &mut Builder, line: u32, fields: &[Cow<'_, str>]) {
    let width = builder.width();
    // A delimiter at the end of each line is common.
    let has = match fields {
        [all @ .., last] if all.len() == width && last.trim().is_empty() => all.len(),
        all => all.len(),
    };
    if has != width && width < SERIES_COLUMNS {
        builder.refuse(line, None, || Why::Columns { has, cells: "fields", columns: width });
        return;
    }
    if !builder.begin_row(line) {
        return;
    }
    for (i, field) in fields.iter().take(width).enumerate() {
        builder.text(i, field);
    }
}
