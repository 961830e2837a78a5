//! Text that is written when somebody reads it. A node's ceilings have hundreds of steps, of which most are never shown.

use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// What a link or a port is called. Shared by everything that it limits.
pub type Name = Arc<str>;

type Write = dyn Fn(&mut fmt::Formatter<'_>) -> fmt::Result + Send + Sync;

/// See the module. Equal words are those that read the same.
#[derive(Clone)]
pub struct Words(Arc<Write>);

impl Words {
    /// By what writes them.
    pub fn of(write: impl Fn(&mut fmt::Formatter<'_>) -> fmt::Result + Send + Sync + 'static) -> Self {
        Words(Arc::new(write))
    }
}

impl From<&'static str> for Words {
    fn from(text: &'static str) -> Self {
        Words::of(move |f| f.write_str(text))
    }
}

impl From<String> for Words {
    fn from(text: String) -> Self {
        Words::of(move |f| f.write_str(&text))
    }
}

impl From<Name> for Words {
    fn from(name: Name) -> Self {
        Words::of(move |f| f.write_str(&name))
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)(f)
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.to_string() == other.to_string()
    }
}

impl Serialize for Words {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// A [`Name`] is written as text.
pub(super) fn name<S: Serializer>(name: &Name, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(name)
}

/// Writes the items with something between them.
pub(super) fn listed<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    between: &str,
    one: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        f.write_str(if i == 0 { "" } else { between })?;
        one(f, item)?;
    }
    Ok(())
}
