//! Objects: one in each line, or a list of them.

use super::build::Builder;
use super::table::{Form, NoteKind, Table};
use crate::bounds::{Limit, SERIES_COLUMNS, SERIES_DEPTH};
use crate::error::{ParseError, Why};
use crate::json::quote_not_finite;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;

/// Objects that decide upon the kinds of columns.
const SAMPLE: usize = 64;

/// A table with the places of its columns by name.
struct Rows {
    builder: Builder,
    places: HashMap<String, Option<usize>>,
    /// Columns in the order in which the object before had them: the next one is most likely the next.
    order: Vec<Option<usize>>,
    next: usize,
    has_lists: bool,
}

impl Rows {
    fn new(builder: Builder) -> Self {
        let places = (0..builder.width()).filter_map(|i| Some((builder.name(i)?.to_owned(), Some(i)))).collect();
        Rows { builder, places, order: Vec::new(), next: 0, has_lists: false }
    }

    /// The column of a name; a new one where there is none.
    fn place(&mut self, prefix: &str, key: &str) -> Option<usize> {
        let guess = self.order.get(self.next).copied().flatten();
        self.next += 1;
        if prefix.is_empty() && guess.and_then(|g| self.builder.name(g)) == Some(key) {
            return guess;
        }
        let name = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        let place = match self.places.get(&name) {
            Some(place) => *place,
            None => {
                let place = self.builder.push_column(&name);
                // Names beyond the columns that are kept are counted, not remembered.
                if place.is_some() {
                    self.places.insert(name, place);
                }
                place
            }
        };
        let at = self.next - 1;
        if at >= self.order.len() && at < SERIES_COLUMNS {
            self.order.resize(at + 1, None);
        }
        if let Some(slot) = self.order.get_mut(at) {
            *slot = place;
        }
        place
    }

    /// Reads an object as a row.
    fn object(&mut self, line: u32, text: &str) {
        if !self.builder.begin_row(line) {
            return;
        }
        let Err(e) = self.read(text) else { return };
        self.builder.drop_row();
        // Python writes `NaN` and `Infinity`, which are not JSON.
        if let Some(quoted) = quote_not_finite(text) {
            if self.builder.begin_row(line) && self.read(&quoted).is_ok() {
                return;
            }
            self.builder.drop_row();
        }
        let is_cut = e.is_eof();
        self.builder.refuse(line, None, || match is_cut {
            true => Why::Missing("the object ends in the middle: the text is cut"),
            false => Why::Foreign("not a JSON object"),
        });
    }

    fn read(&mut self, text: &str) -> Result<(), serde_json::Error> {
        self.next = 0;
        let mut from = serde_json::Deserializer::from_str(text);
        from.deserialize_map(Object { rows: self, prefix: "", depth: 0 })?;
        from.end()
    }
}

/// An object whose fields are cells.
struct Object<'r, 'p> {
    rows: &'r mut Rows,
    prefix: &'p str,
    depth: u8,
}

impl<'de> Visitor<'de> for Object<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(place) = map.next_key_seed(Key { rows: &mut *self.rows, prefix: self.prefix })? {
            map.next_value_seed(Value { rows: &mut *self.rows, place, depth: self.depth })?;
        }
        Ok(())
    }
}

/// A field's name: its column, or its full name where it may be an object.
struct Key<'r, 'p> {
    rows: &'r mut Rows,
    prefix: &'p str,
}

/// Where a value goes: a column, where there is room.
type Place = Option<usize>;

impl<'de> DeserializeSeed<'de> for Key<'_, '_> {
    type Value = Place;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Place, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_, '_> {
    type Value = Place;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, key: &str) -> Result<Place, E> {
        Ok(self.rows.place(self.prefix, key))
    }
}

/// A field's value.
struct Value<'r> {
    rows: &'r mut Rows,
    place: Place,
    depth: u8,
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, v: bool) -> Result<(), E> {
        if let Some(column) = self.place {
            self.rows.builder.text(column, if v { "true" } else { "false" });
        }
        Ok(())
    }

    #[allow(clippy::cast_precision_loss)] // Measurements; a counter beyond 2⁵³ loses its last digits.
    fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<(), E> {
        self.visit_f64(v as f64)
    }

    #[allow(clippy::cast_precision_loss)]
    fn visit_u64<E: serde::de::Error>(self, v: u64) -> Result<(), E> {
        self.visit_f64(v as f64)
    }

    fn visit_f64<E>(self, v: f64) -> Result<(), E> {
        if let Some(column) = self.place {
            self.rows.builder.number(column, v);
        }
        Ok(())
    }

    fn visit_str<E>(self, v: &str) -> Result<(), E> {
        if let Some(column) = self.place {
            self.rows.builder.text(column, v);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
        self.rows.has_lists = true;
        while all.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let prefix = self.place.and_then(|c| self.rows.builder.name(c)).map(str::to_owned);
        match prefix {
            Some(prefix) if usize::from(self.depth) < SERIES_DEPTH => {
                Object { rows: self.rows, prefix: &prefix, depth: self.depth + 1 }.visit_map(map)
            }
            prefix => {
                if prefix.is_some() {
                    self.rows.builder.leave_out(Limit::SERIES_DEPTH);
                }
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(())
            }
        }
    }
}

fn table<'a>(form: Form, budget: usize, objects: impl Iterator<Item = (u32, &'a str)> + Clone) -> Table {
    let mut sample = Rows::new(Builder::new(form, true, budget));
    for (_, text) in objects.clone().take(SAMPLE) {
        sample.object(0, text);
    }
    let mut rows = Rows::new(Builder::from_sample(sample.builder));
    for (line, text) in objects {
        rows.object(line, text);
    }
    if rows.has_lists {
        rows.builder.note(1, usize::MAX, NoteKind::ListsLeftOut);
    }
    let mut table = rows.builder.finish();
    // Names of objects in objects have columns without cells.
    let places = rows.places;
    let inner = |name: &str| places.keys().any(|k| k.strip_prefix(name).is_some_and(|r| r.starts_with('.')));
    let is_empty = |c: &super::Column| matches!(&c.cells, super::Cells::Numbers(all) if all.iter().all(|v| v.is_nan()));
    table.columns.retain(|c| !(is_empty(c) && inner(&c.name)));
    table
}

/// An object in each line.
pub(super) fn lines(text: &str) -> Result<Vec<Table>, ParseError> {
    let objects = crate::text::lines(text)
        .map(|(n, l)| (n, l.trim_ascii()))
        .filter(|(_, l)| !l.is_empty() && !l.starts_with('#'));
    let whole = objects.clone().filter(|(_, l)| l.starts_with('{') && l.ends_with('}')).take(2).count();
    if whole == 0 || whole == 1 && objects.clone().count() > 2 {
        return Err(ParseError::new(
            1,
            Why::Foreign("one JSON object is not a table: a table has an object in each line, or a list of objects"),
        ));
    }
    Ok(vec![table(Form::JsonLines, text.len(), objects)])
}

/// A list of objects.
pub(super) fn array(text: &str) -> Result<Vec<Table>, ParseError> {
    let objects = Elements { text, at: 0, line: 1, counted: 0 };
    if objects.clone().next().is_none() {
        return Err(ParseError::new(1, Why::Foreign("the list has no objects")));
    }
    Ok(vec![table(Form::JsonArray, text.len(), objects)])
}

/// The objects of a list, as texts with their lines.
#[derive(Clone)]
struct Elements<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    /// Up to where lines are counted.
    counted: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = (u32, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        let start = self.at + memchr::memchr(b'{', bytes.get(self.at..)?)?;
        let newlines = memchr::memchr_iter(b'\n', bytes.get(self.counted..start)?).count();
        self.line = self.line.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
        self.counted = start;
        let (mut depth, mut at) = (0_u32, start);
        while let Some(found) = bytes.get(at..).and_then(|b| memchr::memchr3(b'{', b'}', b'"', b)) {
            at += found;
            match bytes.get(at) {
                Some(b'{') => depth += 1,
                Some(b'}') => depth = depth.saturating_sub(1),
                _ => at = string_end(bytes, at + 1),
            }
            at += 1;
            if depth == 0 {
                self.at = at;
                return Some((self.line, self.text.get(start..at)?));
            }
        }
        self.at = bytes.len();
        Some((self.line, self.text.get(start..)?))
    }
}

/// Where the string that begins at `at` ends: the quote's place.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = bytes.get(at..).and_then(|b| memchr::memchr2(b'"', b'\\', b)) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    bytes.len()
}
