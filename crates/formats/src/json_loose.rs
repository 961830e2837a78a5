//! JSON as other programs write it: what a name stands for is not always what it should be.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A structure that is read from JSON as other programs write it: unknown names are skipped, of a name that comes twice the last
/// counts, and what is no object at all is an empty one. With `skip`, what follows is skipped as soon as that holds.
macro_rules! loose {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($field:ident $key:literal : $type:ty),* $(,)? }) => {
        $crate::json_loose::loose! { $(#[$meta])* $vis struct $name { $($field $key : $type),* } skip |_| false }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($field:ident $key:literal : $type:ty),* $(,)? } skip $skip:expr) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        $vis struct $name { $($vis $field: $type),* }

        const _: () = {
            #[allow(non_camel_case_types)] // The fields' names.
            enum Key { $($field,)* _Other }
            struct KeyVisitor;
            impl serde::de::Visitor<'_> for KeyVisitor {
                type Value = Key;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("a name")
                }
                fn visit_str<E>(self, v: &str) -> Result<Key, E> {
                    Ok(match v.as_bytes() { $($key => Key::$field,)* _ => Key::_Other })
                }
            }
            impl<'de> serde::Deserialize<'de> for Key {
                fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                    d.deserialize_identifier(KeyVisitor)
                }
            }
            struct Loose;
            impl<'de> serde::de::Visitor<'de> for Loose {
                type Value = $name;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                    let mut out = $name::default();
                    let skip: fn(&$name) -> bool = $skip;
                    while let Some(key) = map.next_key::<Key>()? {
                        if skip(&out) {
                            map.next_value::<serde::de::IgnoredAny>()?;
                            continue;
                        }
                        match key {
                            $(Key::$field => out.$field = map.next_value()?,)*
                            Key::_Other => { map.next_value::<serde::de::IgnoredAny>()?; }
                        }
                    }
                    Ok(out)
                }
                fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<$name, A::Error> {
                    while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
                    Ok($name::default())
                }
                fn visit_unit<E>(self) -> Result<$name, E> { Ok($name::default()) }
                fn visit_bool<E>(self, _: bool) -> Result<$name, E> { Ok($name::default()) }
                fn visit_i64<E>(self, _: i64) -> Result<$name, E> { Ok($name::default()) }
                fn visit_u64<E>(self, _: u64) -> Result<$name, E> { Ok($name::default()) }
                fn visit_f64<E>(self, _: f64) -> Result<$name, E> { Ok($name::default()) }
                fn visit_str<E>(self, _: &str) -> Result<$name, E> { Ok($name::default()) }
            }
            impl<'de> serde::Deserialize<'de> for $name {
                fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                    d.deserialize_any(Loose)
                }
            }
        };
    };
}
pub(crate) use loose;

/// A number, or nothing where the tool wrote something else: `null` for what is not a number, a string, an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Num(f64);

impl Default for Num {
    fn default() -> Self {
        Num::NONE
    }
}

impl Num {
    /// Half as large as an `Option`: documents have millions of these.
    const NONE: Num = Num(f64::NAN);

    pub(crate) fn get(self) -> Option<f64> {
        self.0.is_finite().then_some(self.0)
    }

    pub(crate) fn u64(self) -> Option<u64> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // The range is checked.
        self.get().filter(|v| (0.0..=9.007_199_254_740_992e15).contains(v)).map(|v| v.round() as u64)
    }

    pub(crate) fn u32(self) -> Option<u32> {
        self.u64().and_then(|v| u32::try_from(v).ok())
    }

    pub(crate) fn flag(self) -> Option<bool> {
        self.get().map(|v| v != 0.0)
    }
}

/// A value that is not looked into.
pub(crate) enum Scalar<'a> {
    Flag(bool),
    Whole(i64),
    /// Also those beyond `i64`.
    Count(u64),
    Real(f64),
    Text(&'a str),
    /// `null`, a list, an object.
    Nothing,
}

/// What reads any value as itself, or as nothing.
pub(crate) trait Loose: Sized {
    fn of(value: Scalar<'_>) -> Self;
}

struct LooseVisitor<T>(PhantomData<T>);

impl<'de, T: Loose> Visitor<'de> for LooseVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, v: bool) -> Result<T, E> {
        Ok(T::of(Scalar::Flag(v)))
    }

    fn visit_i64<E>(self, v: i64) -> Result<T, E> {
        Ok(T::of(Scalar::Whole(v)))
    }

    fn visit_u64<E>(self, v: u64) -> Result<T, E> {
        Ok(T::of(Scalar::Count(v)))
    }

    fn visit_f64<E>(self, v: f64) -> Result<T, E> {
        Ok(T::of(Scalar::Real(v)))
    }

    fn visit_str<E>(self, v: &str) -> Result<T, E> {
        Ok(T::of(Scalar::Text(v)))
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::of(Scalar::Nothing))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::of(Scalar::Nothing))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(T::of(Scalar::Nothing))
    }
}

impl Loose for Num {
    #[allow(clippy::cast_precision_loss)] // Counts below 2^53 are exact; larger ones are rounded as the tool's own averages are.
    fn of(value: Scalar<'_>) -> Self {
        match value {
            Scalar::Flag(v) => Num(f64::from(u8::from(v))),
            Scalar::Whole(v) => Num(v as f64),
            Scalar::Count(v) => Num(v as f64),
            Scalar::Real(v) => Num(v),
            Scalar::Text(_) | Scalar::Nothing => Num::NONE,
        }
    }
}

impl<'de> Deserialize<'de> for Num {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(LooseVisitor(PhantomData))
    }
}

/// A text, or nothing where the tool wrote something else. Long texts are cut.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Text(pub(crate) Option<smol_str::SmolStr>);

impl Loose for Text {
    fn of(value: Scalar<'_>) -> Self {
        Text(match value {
            Scalar::Text(v) => Some(v.chars().take(300).collect()),
            Scalar::Whole(v) => Some(smol_str::format_smolstr!("{v}")),
            Scalar::Count(v) => Some(smol_str::format_smolstr!("{v}")),
            Scalar::Real(v) => Some(smol_str::format_smolstr!("{v}")),
            Scalar::Flag(_) | Scalar::Nothing => None,
        })
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(LooseVisitor(PhantomData))
    }
}
