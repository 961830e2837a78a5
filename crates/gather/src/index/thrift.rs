//! Thrift's compact protocol, as Parquet's footer and page headers have it: read field by field, in place. The library's own decoder trusts what it
//! reads and panics where that is wrong; a fleet's index may come from anybody. Source: the protocol's specification ("Thrift compact protocol
//! encoding", Apache Thrift).

/// Structures, one in the other.
const DEPTH: usize = 16;

/// What stands in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    True,
    False,
    Byte,
    Int,
    Double,
    Bytes,
    List,
    Map,
    Struct,
    Uuid,
}

impl Kind {
    fn of(nibble: u8) -> Option<Kind> {
        Some(match nibble {
            1 => Kind::True,
            2 => Kind::False,
            3 => Kind::Byte,
            4..=6 => Kind::Int,
            7 => Kind::Double,
            8 => Kind::Bytes,
            9 | 10 => Kind::List,
            11 => Kind::Map,
            12 => Kind::Struct,
            13 => Kind::Uuid,
            _ => return None,
        })
    }
}

/// What is left to be read. Every method gives `None` where the bytes are not what they should be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thrift<'b> {
    rest: &'b [u8],
    depth: usize,
}

impl<'b> Thrift<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Thrift { rest: bytes, depth: 0 }
    }

    /// What was not read.
    pub(super) fn rest(&self) -> &'b [u8] {
        self.rest
    }

    fn take(&mut self, n: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn varint(&mut self) -> Option<u64> {
        let mut out = 0_u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            out |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(out);
            }
        }
        None
    }

    /// A field's number.
    pub(super) fn int(&mut self, kind: Kind) -> Option<i64> {
        match kind {
            Kind::Byte => self.byte().map(|b| i64::from(b.cast_signed())),
            Kind::Int => {
                let zigzag = self.varint()?;
                Some((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed())
            }
            _ => None,
        }
    }

    /// A field's bytes.
    pub(super) fn bytes(&mut self, kind: Kind) -> Option<&'b [u8]> {
        if kind != Kind::Bytes {
            return None;
        }
        let size = usize::try_from(self.varint()?).ok()?;
        self.take(size)
    }

    /// A field's text.
    pub(super) fn text(&mut self, kind: Kind) -> Option<&'b str> {
        std::str::from_utf8(self.bytes(kind)?).ok()
    }

    /// The fields of a structure. `each` has a number and a kind, and reads that field whole or [`Self::skip`]s it.
    pub(super) fn fields(
        &mut self,
        kind: Kind,
        each: &mut dyn FnMut(&mut Self, i64, Kind) -> Option<()>,
    ) -> Option<()> {
        if kind != Kind::Struct || self.depth >= DEPTH {
            return None;
        }
        self.depth += 1;
        let mut id = 0_i64;
        loop {
            let header = self.byte()?;
            if header == 0 {
                break;
            }
            let kind = Kind::of(header & 0x0f)?;
            id = match header >> 4 {
                0 => self.int(Kind::Int)?,
                more => id.checked_add(i64::from(more))?,
            };
            each(self, id, kind)?;
        }
        self.depth -= 1;
        Some(())
    }

    /// The values of a list, one after the other: `each` reads one whole.
    pub(super) fn list(&mut self, kind: Kind, each: &mut dyn FnMut(&mut Self, Kind) -> Option<()>) -> Option<()> {
        if kind != Kind::List || self.depth >= DEPTH {
            return None;
        }
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => self.varint()?,
            few => u64::from(few),
        };
        let kind = Kind::of(header & 0x0f)?;
        // Each value has a byte at least.
        if count > self.rest.len() as u64 {
            return None;
        }
        self.depth += 1;
        for _ in 0..count {
            each(self, kind)?;
        }
        self.depth -= 1;
        Some(())
    }

    /// Past a field.
    pub(super) fn skip(&mut self, kind: Kind) -> Option<()> {
        match kind {
            Kind::True | Kind::False => Some(()),
            Kind::Byte | Kind::Int => self.int(kind).map(drop),
            Kind::Double => self.take(8).map(drop),
            Kind::Uuid => self.take(16).map(drop),
            Kind::Bytes => self.bytes(kind).map(drop),
            Kind::List => self.list(kind, &mut |t, kind| t.skip_value(kind)),
            Kind::Struct => self.fields(kind, &mut |t, _, kind| t.skip(kind)),
            // Parquet has none.
            Kind::Map => None,
        }
    }

    /// Past a value of a list: there a truth value has a byte of its own.
    fn skip_value(&mut self, kind: Kind) -> Option<()> {
        match kind {
            Kind::True | Kind::False => self.byte().map(drop),
            _ => self.skip(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let mut thrift = Thrift::new(&bytes);
            let done = thrift.skip(Kind::Struct);
            prop_assert!(thrift.rest().len() <= bytes.len() && (done.is_none() || thrift.depth == 0));
        }
    }

    /// Numbers as the specification's examples have them.
    #[test]
    fn numbers() {
        for (bytes, value) in
            [(&[0_u8][..], 0), (&[1], -1), (&[2], 1), (&[0xac, 0x02], 150), (&[0xff, 0xff, 0x03], -32768)]
        {
            assert_eq!(Thrift::new(bytes).int(Kind::Int), Some(value));
        }
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Thrift::new(&most).int(Kind::Int), Some(i64::MIN));
        assert_eq!(Thrift::new(&[0xff; 12]).int(Kind::Int), None);
    }

    #[test]
    fn a_deep_structure_is_refused() {
        // Field 1 is a structure, and so on.
        assert_eq!(Thrift::new(&[0x1c; 4000]).skip(Kind::Struct), None);
    }
}
