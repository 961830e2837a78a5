//! One record a line: its length and checksum, then JSON. What a power cut left of the last line is told from damage further up.

use super::Record;

/// What a journal's bytes say.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Records, in order.
    pub(super) records: Vec<Record>,
    /// Bytes of whole lines.
    pub(super) whole: usize,
    /// Bytes behind them, which are no whole line.
    pub(super) torn: usize,
    /// Behind the torn line is a whole one: this is no power cut.
    pub(super) damaged: bool,
}

/// A record as a line.
pub(super) fn write(record: &Record) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(record)?;
    Ok(format!("{:08x} {} {json}\n", json.len(), sum(&json)))
}

/// Reads lines up to the first that is not whole.
pub(super) fn read(bytes: &[u8]) -> Read {
    let mut read = Read::default();
    let mut rest = bytes;
    while let Some((record, len)) = first(rest) {
        read.records.push(record);
        read.whole += len;
        rest = rest.get(len..).unwrap_or_default();
    }
    read.torn = rest.len();
    let lines = rest.split_inclusive(|b| *b == b'\n').skip(1);
    read.damaged = lines.filter(|line| line.ends_with(b"\n")).any(|line| first(line).is_some());
    read
}

/// The first line, and its length.
fn first(bytes: &[u8]) -> Option<(Record, usize)> {
    let len = bytes.iter().position(|b| *b == b'\n')?;
    let line = std::str::from_utf8(bytes.get(..len)?).ok()?;
    let (told, rest) = line.split_once(' ')?;
    let (told_sum, json) = rest.split_once(' ')?;
    if usize::from_str_radix(told, 16).ok()? != json.len() || told_sum != sum(json) {
        return None;
    }
    Some((serde_json::from_str(json).ok()?, len + 1))
}

/// Eight digits of the text's SHA-256.
fn sum(json: &str) -> String {
    linerate_remedy::sha256(json.as_bytes()).chars().take(8).collect()
}

#[cfg(test)]
mod tests {
    use super::{read, write};
    use crate::journal::Record;
    use proptest::prelude::*;

    fn two() -> String {
        let record = Record::Undoing { boot: "b".to_owned(), when: 7, order: 1 };
        let finished = Record::Finished { when: 8 };
        write(&record).unwrap() + &write(&finished).unwrap()
    }

    #[test]
    fn every_cut_of_the_last_line_is_torn_and_nothing_else() {
        let text = two();
        let first = text.find('\n').unwrap() + 1;
        for cut in first..text.len() {
            let got = read(text.get(..cut).unwrap().as_bytes());
            assert_eq!((got.records.len(), got.whole, got.torn, got.damaged), (1, first, cut - first, false));
        }
        assert_eq!(read(text.as_bytes()).records.len(), 2);
    }

    #[test]
    fn a_changed_first_line_is_damage() {
        let text = two().replacen('7', "6", 1);
        let got = read(text.as_bytes());
        assert!(got.damaged && got.records.is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let got = read(&bytes);
            prop_assert_eq!(got.whole + got.torn, bytes.len());
        }
    }
}
