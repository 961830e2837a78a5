//! printf's conversions, as far as NCCL's formats use them: rendered with values that must fit, and matched against lines.

use std::fmt::Write as _;

/// An argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `%d`, `%ld`, `%zi`.
    Int(i64),
    /// `%u`, `%x`, `%lx`, `%p`, `%lu`.
    Uint(u64),
    /// `%f`, `%g`.
    Float(f64),
    /// `%s`.
    Text(String),
}

macro_rules! from {
    ($($t:ty => $v:ident as $as:ty),*) => { $(impl From<$t> for Value { fn from(v: $t) -> Self { Self::$v(v as $as) } })* };
}
from!(i32 => Int as i64, i64 => Int as i64, u8 => Int as i64, u16 => Int as i64, u32 => Int as i64, usize => Int as i64, u64 => Uint as u64, f64 => Float as f64);

impl From<&str> for Value {
    fn from(v: &str) -> Self {
        Self::Text(v.to_owned())
    }
}

impl From<String> for Value {
    fn from(v: String) -> Self {
        Self::Text(v)
    }
}

/// What a conversion takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `d`, `i`.
    Signed,
    /// `u`.
    Unsigned,
    /// `x`.
    Hex,
    /// `X`.
    HexUpper,
    /// `p`.
    Pointer,
    /// `f`.
    Fixed,
    /// `s`.
    Text,
    /// A macro's argument, pasted into the format: `{name}`.
    Pasted,
}

/// A piece of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text as it is printed.
    Literal(String),
    /// A conversion.
    Conversion {
        /// What it takes.
        kind: Kind,
        /// `%02d`.
        zero: bool,
        /// `%13s`; 0 without.
        width: usize,
        /// `%*d`: the width is an argument.
        star: bool,
        /// `%.2f`.
        precision: Option<usize>,
    },
}

/// Why a format cannot be read or filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrintfError {
    /// A conversion that no format here uses.
    #[error("{0}: a conversion that is not known")]
    Unknown(String),
    /// An argument does not fit its conversion.
    #[error("argument {0} does not fit its conversion")]
    Kind(usize),
    /// Too few or too many arguments.
    #[error("{given} arguments for {wanted} conversions")]
    Count {
        /// Given.
        given: usize,
        /// Wanted.
        wanted: usize,
    },
}

/// A format, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format(Vec<Piece>);

impl Format {
    /// Reads a format as it is written in C, escapes included.
    ///
    /// # Errors
    /// A conversion that no format here uses.
    pub fn parse(text: &str) -> Result<Self, PrintfError> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' => literal.push(match chars.next() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some(c) => c,
                    None => '\\',
                }),
                '{' if chars.peek().is_some_and(char::is_ascii_alphabetic) => {
                    let rest: String = chars.clone().take_while(|c| *c != '}').collect();
                    if rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && chars.clone().any(|c| c == '}') {
                        flush(&mut pieces, &mut literal);
                        pieces.push(conversion(Kind::Pasted));
                        for _ in 0..=rest.len() {
                            chars.next();
                        }
                    } else {
                        literal.push('{');
                    }
                }
                '%' if chars.peek() == Some(&'%') => {
                    chars.next();
                    literal.push('%');
                }
                '%' => {
                    flush(&mut pieces, &mut literal);
                    pieces.push(read_conversion(&mut chars, text)?);
                }
                c => literal.push(c),
            }
        }
        flush(&mut pieces, &mut literal);
        Ok(Self(pieces))
    }

    /// The pieces in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// How many arguments it takes.
    pub fn arguments(&self) -> usize {
        self.0
            .iter()
            .map(|p| match p {
                Piece::Literal(_) => 0,
                Piece::Conversion { star, .. } => 1 + usize::from(*star),
            })
            .sum()
    }

    /// The text with its arguments.
    ///
    /// # Errors
    /// Arguments that do not fit in number or kind.
    pub fn render(&self, arguments: &[Value]) -> Result<String, PrintfError> {
        let wanted = self.arguments();
        if arguments.len() != wanted {
            return Err(PrintfError::Count { given: arguments.len(), wanted });
        }
        let mut out = String::new();
        let mut next = arguments.iter().enumerate();
        for piece in &self.0 {
            match piece {
                Piece::Literal(text) => out.push_str(text),
                Piece::Conversion { kind, zero, width, star, precision } => {
                    let mut width = *width;
                    if *star && let Some((i, value)) = next.next() {
                        match value {
                            Value::Int(n) => width = usize::try_from(*n).unwrap_or(0),
                            _ => return Err(PrintfError::Kind(i)),
                        }
                    }
                    if let Some((i, value)) = next.next() {
                        let text = one(*kind, *precision, value).ok_or(PrintfError::Kind(i))?;
                        let fill = if *zero { '0' } else { ' ' };
                        for _ in text.chars().count()..width {
                            out.push(fill);
                        }
                        out.push_str(&text);
                    }
                }
            }
        }
        Ok(out)
    }

    /// Whether `text` can have come from this format.
    pub fn matches(&self, text: &str) -> bool {
        matches(&self.0, text)
    }
}

fn conversion(kind: Kind) -> Piece {
    Piece::Conversion { kind, zero: false, width: 0, star: false, precision: None }
}

fn flush(pieces: &mut Vec<Piece>, literal: &mut String) {
    if !literal.is_empty() {
        pieces.push(Piece::Literal(std::mem::take(literal)));
    }
}

fn read_conversion(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, text: &str) -> Result<Piece, PrintfError> {
    let (mut zero, mut star, mut width, mut precision) = (false, false, 0, None);
    if chars.next_if_eq(&'0').is_some() {
        zero = true;
    }
    if chars.next_if_eq(&'*').is_some() {
        star = true;
    }
    let number = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>| {
        let mut n = 0_usize;
        while let Some(d) = chars.peek().and_then(|c| c.to_digit(10)) {
            n = n.saturating_mul(10).saturating_add(d as usize).min(1024);
            chars.next();
        }
        n
    };
    width += number(chars);
    if chars.next_if_eq(&'.').is_some() {
        precision = Some(number(chars));
    }
    while chars.next_if(|c| matches!(c, 'l' | 'h' | 'z')).is_some() {}
    let kind = match chars.next() {
        Some('d' | 'i') => Kind::Signed,
        Some('u') => Kind::Unsigned,
        Some('x') => Kind::Hex,
        Some('X') => Kind::HexUpper,
        Some('p') => Kind::Pointer,
        Some('f') => Kind::Fixed,
        Some('s') => Kind::Text,
        _ => return Err(PrintfError::Unknown(text.to_owned())),
    };
    Ok(Piece::Conversion { kind, zero, width, star, precision })
}

fn one(kind: Kind, precision: Option<usize>, value: &Value) -> Option<String> {
    let mut out = String::new();
    let written = match (kind, value) {
        (Kind::Signed, Value::Int(n)) => write!(out, "{n}"),
        (Kind::Signed, Value::Uint(n)) => write!(out, "{}", i64::try_from(*n).ok()?),
        (Kind::Unsigned, Value::Uint(n)) => write!(out, "{n}"),
        (Kind::Unsigned, Value::Int(n)) => write!(out, "{}", u64::try_from(*n).ok()?),
        (Kind::Hex, Value::Uint(n)) => write!(out, "{n:x}"),
        (Kind::Hex, Value::Int(n)) => write!(out, "{:x}", u64::try_from(*n).ok()?),
        (Kind::HexUpper, Value::Uint(n)) => write!(out, "{n:X}"),
        (Kind::HexUpper, Value::Int(n)) => write!(out, "{:X}", u64::try_from(*n).ok()?),
        (Kind::Pointer, Value::Uint(0)) => write!(out, "(nil)"),
        (Kind::Pointer, Value::Uint(n)) => write!(out, "0x{n:x}"),
        (Kind::Fixed, Value::Float(n)) => write!(out, "{n:.*}", precision.unwrap_or(6)),
        (Kind::Text | Kind::Pasted, Value::Text(s)) => write!(out, "{s}"),
        _ => return None,
    };
    written.ok().map(|()| out)
}

fn matches(pieces: &[Piece], text: &str) -> bool {
    let Some((piece, rest)) = pieces.split_first() else { return text.is_empty() };
    match piece {
        Piece::Literal(literal) => text.strip_prefix(literal.as_str()).is_some_and(|t| matches(rest, t)),
        Piece::Conversion { kind: Kind::Text | Kind::Pasted, .. } => {
            // Only places where the next literal stands can end a text.
            if rest.is_empty() {
                return true;
            }
            text.char_indices().map(|(i, _)| i).chain([text.len()]).any(|i| {
                let tail = text.get(i..).unwrap_or_default();
                match rest.first() {
                    Some(Piece::Literal(l)) if !tail.starts_with(l.as_str()) => false,
                    _ => matches(rest, tail),
                }
            })
        }
        Piece::Conversion { kind, .. } => {
            let t = text.trim_start_matches(' ');
            let digits = match kind {
                Kind::Signed | Kind::Unsigned => {
                    let sign = usize::from(*kind == Kind::Signed && t.starts_with('-'));
                    sign + t.get(sign..).unwrap_or_default().bytes().take_while(u8::is_ascii_digit).count()
                }
                Kind::Hex => t.bytes().take_while(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')).count(),
                Kind::HexUpper => t.bytes().take_while(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F')).count(),
                Kind::Pointer if t.starts_with("(nil)") => 5,
                Kind::Pointer if t.starts_with("0x") => {
                    2 + t.bytes().skip(2).take_while(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')).count()
                }
                Kind::Fixed => t.bytes().take_while(|b| matches!(b, b'0'..=b'9' | b'.' | b'-')).count(),
                _ => 0,
            };
            digits > 0 && matches(rest, t.get(digits..).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(format: &str, arguments: &[Value]) -> Result<String, PrintfError> {
        Format::parse(format)?.render(arguments)
    }

    #[test]
    fn c_and_we_print_the_same() {
        let t = |s: &str| Value::from(s);
        assert_eq!(
            rendered("%02d/%lx %p", &[3.into(), 0xabc_u64.into(), 0x7f_u64.into()]).as_deref(),
            Ok("03/abc 0x7f")
        );
        assert_eq!(
            rendered("%13s |%8.1f/%*d", &[t("AllReduce"), 1.25.into(), 4.into(), 7.into()]).as_deref(),
            Ok("    AllReduce |     1.2/   7")
        );
        assert_eq!(rendered("100%% {name}\\n", &[t("x")]).as_deref(), Ok("100% x\n"));
        assert_eq!(
            rendered("ece={supported=%d, a} {Lo..Hi}", &[1.into()]).as_deref(),
            Ok("ece={supported=1, a} {Lo..Hi}")
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(rendered("%d", &["x".into()]), Err(PrintfError::Kind(0)));
        assert_eq!(rendered("%x", &[Value::Int(-1)]), Err(PrintfError::Kind(0)));
        assert_eq!(rendered("%d", &[]), Err(PrintfError::Count { given: 0, wanted: 1 }));
        assert!(Format::parse("%q").is_err());
    }

    #[test]
    fn a_line_matches_its_own_format_only() {
        let f = Format::parse("Channel %02d/%d : %d[%lx] -> %d[%lx] [send] via NET/%s/%d%s").unwrap();
        assert!(f.matches("Channel 00/0 : 0[7000] -> 8[b000] [send] via NET/IB/0/GDRDMA"));
        assert!(!f.matches("Channel 00 : 0[7000] -> 8[b000] [send] via NET/IB/0/GDRDMA"));
        assert!(!f.matches("Channel 00/0 : 0[7000] -> 8[b000] [receive] via NET/IB/0"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_format_or_refused(text in ".*") {
            if let Ok(format) = Format::parse(&text) {
                let none = format.render(&[]);
                proptest::prop_assert_eq!(none.is_ok(), format.arguments() == 0);
            }
        }

        #[test]
        fn what_is_rendered_is_matched(n in 0_i64..100_000, x in 0_u64.., s in "[a-z:/ ]{0,12}") {
            let format = Format::parse("rank %02d at 0x%lx (%p) named %s.").unwrap();
            let line = format.render(&[n.into(), x.into(), x.into(), s.as_str().into()]).unwrap();
            proptest::prop_assert!(format.matches(&line));
        }
    }
}
