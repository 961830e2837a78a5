//! The list of results in a document of nccl-tests, where it is as the program writes it: nearly all of a long document. A result that is
//! in any way odd is given to the general reader, which decides what it is; a list that is odd is left to it as a whole.

use super::records::{Half, LINE, NcclResult, Number, Text};
use super::run::{Row, Run};
use super::template::{self, Field, Slot, Template};
use crate::number;
use memchr::memmem;
use std::borrow::Cow;

/// A document with an empty list in the place of its results, and the rows of those. `part` may take rows away after each.
pub(super) fn cut_out(text: &str, mut part: impl FnMut(&mut Vec<Row>)) -> Option<(String, Run)> {
    // Within a string its quotes would be escaped.
    const KEY: &[u8] = b"\"results\"";
    let key = memmem::find(text.as_bytes(), KEY)?;
    let mut scan = Scan { text, at: key + KEY.len(), numbers: Vec::new() };
    scan.eat(b':')?;
    scan.eat(b'[')?;
    let start = scan.at;
    let mut run = Run::default();
    let mut like: Option<Template<'_>> = None;
    let end = loop {
        scan.next()?;
        let before = scan.at;
        if let Some(like) = &mut like
            && let Some(len) = like.read(text.as_bytes().get(before..)?)
        {
            scan.at += len;
            like.result.put(&mut run, LINE);
        } else if let Some(result) = scan.result() {
            result.put(&mut run, LINE);
            like = scan.template(before, result);
        } else {
            let mut rest = serde_json::Deserializer::from_str(text.get(before..)?).into_iter::<NcclResult<'_>>();
            rest.next()?.ok()?.put(&mut run, LINE);
            scan.at = before + rest.byte_offset();
        }
        part(&mut run.rows);
        match scan.next()? {
            b',' => scan.at += 1,
            b']' => break scan.at,
            _ => return None,
        }
    };
    Some(([text.get(..start)?, text.get(end..)?].concat(), run))
}

/// A place in a document.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    /// Numbers of the result under way: from where to where, and whose they are.
    numbers: Vec<(usize, usize, Slot)>,
}

impl<'a> Scan<'a> {
    /// Goes to the next character that is no blank.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        loop {
            match *self.text.as_bytes().get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                b => return Some(b),
            }
        }
    }

    #[inline]
    fn eat(&mut self, expected: u8) -> Option<()> {
        (self.next()? == expected).then(|| self.at += 1)
    }

    /// The members of an object.
    #[inline]
    fn members(&mut self, mut member: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.eat(b'{')?;
        loop {
            let key = self.string()?;
            self.eat(b':')?;
            member(self, key)?;
            match self.next()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// A string without escapes.
    #[inline]
    fn string(&mut self) -> Option<&'a str> {
        self.eat(b'"')?;
        let rest = self.text.get(self.at..)?;
        let len = rest.bytes().position(|b| matches!(b, b'"' | b'\\' | b'\0'..=b'\x1f'))?;
        let (string, behind) = rest.split_at_checked(len)?;
        self.at += len + 1;
        behind.starts_with('"').then_some(string)
    }

    /// Digits with at most one point.
    #[inline]
    fn number(&mut self, slot: Slot) -> Option<f64> {
        self.next()?;
        let rest = self.text.as_bytes().get(self.at..)?;
        let (value, behind) = number::json(rest)?;
        let start = self.at;
        self.at += rest.len() - behind.len();
        self.numbers.push((start, self.at, slot));
        Some(value)
    }

    fn result(&mut self) -> Option<NcclResult<'a>> {
        let mut r = NcclResult::default();
        self.numbers.clear();
        self.members(|scan, key| match key {
            "size" => scan.measured(Slot::Size, &mut r),
            "count" => scan.measured(Slot::Count, &mut r),
            "type" => scan.named(&mut r.dtype),
            "redop" => scan.named(&mut r.redop),
            "root" => scan.named(&mut r.root.0),
            "out_of_place" => scan.half(false, &mut r),
            "in_place" => scan.half(true, &mut r),
            "out_of_place_per_iter" | "in_place_per_iter" => None,
            _ => match scan.next()? {
                b'"' => scan.string().map(drop),
                _ => scan.number(Slot::Other).map(drop),
            },
        })?;
        let Text(root) = &r.root;
        // Where it is no text, the general reader knows what it may be.
        root.is_some().then_some(r)
    }

    fn half(&mut self, in_place: bool, r: &mut NcclResult<'a>) -> Option<()> {
        if template::half(r, in_place).replace(Half::default()).is_some() {
            return None;
        }
        self.members(|scan, key| match key {
            "time" => scan.measured(Slot::Half(in_place, Field::Time), r),
            "alg_bw" => scan.measured(Slot::Half(in_place, Field::AlgBw), r),
            "bus_bw" => scan.measured(Slot::Half(in_place, Field::BusBw), r),
            "nwrong" => scan.measured(Slot::Half(in_place, Field::Wrong), r),
            _ => None,
        })
    }

    #[inline]
    fn measured(&mut self, slot: Slot, r: &mut NcclResult<'a>) -> Option<()> {
        let value = self.number(slot)?;
        let place = slot.of(r)?;
        (*place == Number::Missing).then(|| *place = Number::Value(value))
    }

    fn named(&mut self, slot: &mut Option<Cow<'a, str>>) -> Option<()> {
        let text = self.string()?;
        slot.is_none().then(|| *slot = Some(Cow::Borrowed(text)))
    }

    /// How to read results like the one that began at `start` and was just read.
    fn template(&self, start: usize, result: NcclResult<'a>) -> Option<Template<'a>> {
        let bytes = self.text.as_bytes();
        let mut from = start;
        let mut numbers = Vec::with_capacity(self.numbers.len());
        for (begin, end, slot) in &self.numbers {
            numbers.push((bytes.get(from..*begin)?, *slot));
            from = *end;
        }
        Some(Template { result, numbers, end: bytes.get(from..self.at)? })
    }
}
