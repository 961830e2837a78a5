//! Generic resources as Slurm writes them: `gpu:h100:8(S:0-1)`, `gpu:8(IDX:0-7)`, `gpu:(null):4(IDX:0-3)`, `craynetwork:4`, `bandwidth:lustre:4G`.

use serde::Serialize;

/// A generic resource, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gres {
    /// Kind: `gpu`.
    pub name: String,
    /// Type of that kind: `h100`; `None`: not said.
    pub model: Option<String>,
    /// How many. Suffixes (`4K`) are powers of 1024.
    pub count: u64,
}

impl Gres {
    /// Kind and type as one word: `gpu:h100`, `gpu`.
    #[must_use]
    pub fn key(&self) -> String {
        self.model.as_ref().map_or_else(|| self.name.clone(), |m| format!("{}:{m}", self.name))
    }
}

/// Whether a type names parts of GPUs (MIG): `1g.10gb`, as in `nvidia_a100_1g.10gb`.
#[must_use]
pub fn is_partition(model: &str) -> bool {
    model.split('_').any(|word| {
        let slices = word.split_once("g.").map(|(n, rest)| (n, rest.split(['+', '-']).next().unwrap_or(rest)));
        slices.is_some_and(|(n, memory)| n.parse::<u8>().is_ok() && memory.ends_with("gb"))
    })
}

/// A list of them. What is no resource is left out; `(null)` and `N/A` are none.
#[must_use]
pub fn parse(text: &str) -> Vec<Gres> {
    split(text).filter_map(one).collect()
}

/// Parts between commas that are not in parentheses.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
}

fn one(text: &str) -> Option<Gres> {
    // Where it is bound to, which ones, or how much of each: `(S:0-1)`, `(IDX:0-3,5)`, `(0/4,2/4)`.
    let bare = match text.rfind('(') {
        Some(at) if text.get(at..).is_some_and(|t| t != "(null)" && t.ends_with(')')) => text.get(..at)?,
        _ => text,
    };
    let mut words = bare.split(':').filter(|w| *w != "no_consume");
    let name = words.next().filter(|n| is_word(n))?;
    let (second, third) = (words.next(), words.next());
    let (model, number) = match (second, third) {
        (Some(model), Some(number)) => (Some(model), Some(number)),
        (Some(word), None) if word.starts_with(|c: char| c.is_ascii_digit()) && count(word).is_some() => {
            (None, Some(word))
        }
        (Some(model), None) => (Some(model), None),
        (None, _) => (None, None),
    };
    let model = model.filter(|m| !matches!(*m, "" | "(null)")).map(str::to_owned);
    Some(Gres { name: name.to_owned(), model, count: number.map_or(Some(1), count)? })
}

fn is_word(word: &str) -> bool {
    !word.is_empty()
        && !matches!(word, "N/A")
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./".contains(&b))
}

/// `8`, `4K`, `2M`.
fn count(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match word.get(digits.len()..)?.to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        "P" => 5,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1024_u64.checked_pow(power)?)
}
