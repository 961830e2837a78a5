//! Settings of all NICs as the plan leaves them. Texts are read once, changed in memory, and written once, at the end: a plan may
//! change every line of a long text, and many cards may be in one.

use super::super::{Sim, network};
use linerate_formats::mlxconfig::{self, Param, Value};
use linerate_formats::pci::Bdf;
use linerate_snapshot::{EntryId, OutputKind, Snapshot};
use std::collections::{BTreeMap, HashMap};

/// A column of a query.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Current,
    Next,
}

/// A query of a NIC's firmware: the text, and which function it is about.
pub(super) struct Query {
    /// Place in the texts.
    text: usize,
    pub(super) bdf: Option<Bdf>,
    device: Option<String>,
    pub(super) params: Vec<Param>,
    /// First place of each name.
    names: HashMap<String, usize>,
}

impl Query {
    pub(super) fn name(&self) -> String {
        self.bdf.map_or_else(|| self.device.clone().unwrap_or_default(), |b| b.to_string())
    }
}

/// A text of one or several queries.
struct Text {
    entry: EntryId,
    /// Where each line begins.
    starts: Vec<usize>,
    len: usize,
    /// Lines that were changed, by their number.
    new: BTreeMap<u32, String>,
}

impl Text {
    fn range(&self, line: u32) -> Option<(usize, usize)> {
        let n = usize::try_from(line).ok()?.checked_sub(1)?;
        let from = *self.starts.get(n)?;
        Some((from, self.starts.get(n + 1).map_or(self.len, |next| next - 1)))
    }
}

/// All queries.
pub(in super::super) struct Cards {
    queries: Vec<Query>,
    texts: Vec<Text>,
    by_card: HashMap<(u32, u8, u8), Vec<usize>>,
    by_name: HashMap<String, Vec<usize>>,
}

fn card(b: Bdf) -> (u32, u8, u8) {
    (b.domain, b.bus, b.device)
}

impl Cards {
    pub(super) fn read(s: &Snapshot) -> Cards {
        let mut out =
            Cards { queries: Vec::new(), texts: Vec::new(), by_card: HashMap::new(), by_name: HashMap::new() };
        for o in s.outputs.iter().filter(|o| o.kind == OutputKind::MlxconfigText && network::is_whole(s, o.entry)) {
            let asked = o.behind("-d").map(str::to_owned);
            let data = s.data(o.entry);
            let starts = std::iter::once(0).chain(behind_breaks(data)).collect();
            out.texts.push(Text { entry: o.entry, starts, len: data.len(), new: BTreeMap::new() });
            let found = mlxconfig::parse(data).devices;
            let single = found.len() == 1;
            for config in found {
                let asked = asked.clone().filter(|_| single);
                let bdf = config.bdf.or_else(|| asked.as_ref()?.parse().ok());
                let device = asked.or_else(|| config.device.map(|d| d.value));
                out.add(bdf, device, config.params);
            }
        }
        out
    }

    fn add(&mut self, bdf: Option<Bdf>, device: Option<String>, params: Vec<Param>) {
        let place = self.queries.len();
        let mut names = HashMap::with_capacity(params.len());
        for (n, p) in params.iter().enumerate() {
            names.entry(p.name.to_string()).or_insert(n);
        }
        if let Some(bdf) = bdf {
            self.by_card.entry(card(bdf)).or_default().push(place);
        }
        if let Some(device) = &device {
            self.by_name.entry(device.clone()).or_default().push(place);
        }
        let text = self.texts.len().saturating_sub(1);
        self.queries.push(Query { text, bdf, device, params, names });
    }

    pub(super) fn all(&self) -> std::ops::Range<usize> {
        0..self.queries.len()
    }

    pub(super) fn query(&self, place: usize) -> Option<&Query> {
        self.queries.get(place)
    }

    /// Queries of a device's card: by its address, where both have one, else by its name.
    pub(super) fn of(&self, device: &str) -> Vec<usize> {
        let named = self.by_name.get(device).into_iter().flatten().copied();
        let Ok(bdf) = device.parse::<Bdf>() else { return named.collect() };
        let without = named.filter(|q| self.query(*q).is_some_and(|q| q.bdf.is_none()));
        let mut out: Vec<usize> = self.by_card.get(&card(bdf)).into_iter().flatten().copied().chain(without).collect();
        out.sort_unstable();
        out
    }

    /// A setting of a query, and its place.
    pub(super) fn param(&self, query: usize, name: &str) -> Option<(usize, &Param)> {
        let q = self.query(query)?;
        let n = *q.names.get(name)?;
        Some((n, q.params.get(n)?))
    }

    /// Writes a value into the line of a setting.
    pub(super) fn put(&mut self, sim: &mut Sim<'_>, query: usize, param: usize, column: Column, raw: &str) -> bool {
        let Some(q) = self.queries.get_mut(query) else { return false };
        let (Some(p), Some(text)) = (q.params.get_mut(param), self.texts.get_mut(q.text)) else { return false };
        let value = match column {
            Column::Current => &mut p.current,
            Column::Next => &mut p.next,
        };
        let Some(old) = value.as_ref() else { return false };
        let whole = text.range(p.line).and_then(|(from, to)| sim.s.data(text.entry).get(from..to));
        let was = text.new.get(&p.line).map(String::as_str).or_else(|| std::str::from_utf8(whole?).ok());
        let Some(line) = was.and_then(|line| in_line(line, &old.raw, column, raw)) else { return false };
        if text.new.is_empty() && !sim.reserve(text.len) {
            return false;
        }
        text.new.insert(p.line, line);
        *value = Some(Value::new(raw));
        true
    }

    /// Writes each text that changed.
    pub(super) fn write(&self, s: &mut Snapshot) {
        for text in self.texts.iter().filter(|t| !t.new.is_empty()) {
            let old = s.data(text.entry);
            let mut new = Vec::with_capacity(old.len());
            let mut kept = 0;
            for (n, line) in &text.new {
                let Some((from, to)) = text.range(*n) else { continue };
                new.extend_from_slice(old.get(kept..from).unwrap_or_default());
                new.extend_from_slice(line.as_bytes());
                kept = to;
            }
            new.extend_from_slice(old.get(kept..).unwrap_or_default());
            let path = s.path(text.entry);
            s.set_file(path.trim_start_matches('/'), &new);
        }
    }
}

/// Where the lines behind the first begin.
fn behind_breaks(data: &[u8]) -> impl Iterator<Item = usize> + '_ {
    memchr::memchr_iter(b'\n', data).map(|at| at + 1)
}

/// The last word of a line is the next value, the one before it the value in force.
fn in_line(line: &str, old: &str, column: Column, raw: &str) -> Option<String> {
    let end = line.trim_end();
    let last = end.rfind(char::is_whitespace)? + 1;
    let at = match column {
        Column::Next => last,
        Column::Current => {
            let before = end.get(..last)?.trim_end();
            before.rfind(char::is_whitespace)? + 1
        }
    };
    let rest = line.get(at..)?.strip_prefix(old)?;
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return None;
    }
    Some(format!("{}{raw}{}{rest}", line.get(..at)?, if rest.is_empty() { "" } else { " " }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::simulate;
    use crate::verify::example::{plan, step};
    use linerate_snapshot::Output;

    /// Each setting was once written into the whole text: the room of the copy was full after some hundreds.
    #[test]
    fn thousands_of_settings_come_into_force_at_once() {
        let rows: String = (0..8000).map(|i| format!("        KEY_{i} False(0) False(0) True(1)\n")).collect();
        let text = format!("Device: 0000:41:00.0\nConfigurations: Default Current Next Boot\n{rows}");
        let mut s = Snapshot::new("test");
        let entry = s.add_file("cmd/1/stdout", text.as_bytes()).expect("a file");
        s.outputs.push(Output { kind: OutputKind::MlxconfigText, entry, argv: Vec::new(), status: None });
        let after = simulate(&s, &plan(vec![step("reboot")]));
        let found = mlxconfig::parse(after.snapshot.data(entry)).devices;
        let params = &found.first().expect("a device").params;
        assert_eq!(params.len(), 8000);
        assert!(params.iter().all(|p| p.current.as_ref().is_some_and(Value::is_true)), "all are in force");
        assert!(after.snapshot.size() < s.size() * 3, "the text was written once: {}", after.snapshot.size());
    }

    #[test]
    fn one_column_of_a_line_changes() {
        let line = "*       ATS_ENABLED           False(0)     False(0)     True(1)   ";
        let next = in_line(line, "True(1)", Column::Next, "False(0)").expect("its line");
        assert_eq!(
            next.split_whitespace().collect::<Vec<_>>(),
            ["*", "ATS_ENABLED", "False(0)", "False(0)", "False(0)"]
        );
        let current = in_line(line, "False(0)", Column::Current, "True(1)").expect("its line");
        assert_eq!(
            current.split_whitespace().collect::<Vec<_>>(),
            ["*", "ATS_ENABLED", "False(0)", "True(1)", "True(1)"]
        );
        assert_eq!(in_line(line, "False(0)", Column::Next, "x"), None, "another value is there");
        assert_eq!(in_line("x", "x", Column::Next, "y"), None);
    }
}
