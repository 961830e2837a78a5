//! Which devices of a node an expectation is about.

use linerate_formats::near;
use std::fmt;

/// A pattern of roles: `node`, `GPU *`, `rail 0-3,5 NIC`, `NUMA node *`. `*` is a number or a name; sets of numbers are written `0-3,5`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Roles {
    text: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Piece {
    Text(String),
    Any,
    Numbers(Vec<(u32, u32)>),
}

/// The role of the node itself.
const NODE: &str = "node";

/// The forms of roles, with the word that tells whose they are. Names of idle states are words, not numbers.
const FORMS: [(&str, Whose); 15] = [
    (NODE, Whose::Node),
    ("GPU *", Whose::Device),
    ("rail * NIC", Whose::Device),
    ("NIC *", Whose::Device),
    ("NVSwitch *", Whose::Device),
    ("NVMe *", Whose::Device),
    ("device *", Whose::Device),
    ("GPU *, function *", Whose::Device),
    ("rail * NIC, function *", Whose::Device),
    ("NIC *, function *", Whose::Device),
    ("bridge * above GPU *", Whose::Device),
    ("bridge * above rail * NIC", Whose::Device),
    ("NUMA node *", Whose::Numa),
    ("idle state *", Whose::Idle),
    ("interface *", Whose::Interface),
];

/// Kinds of devices in the further forms.
const KINDS: [&str; 6] = ["GPU *", "rail * NIC", "NIC *", "NVSwitch *", "NVMe *", "device *"];

/// Whose facts a role has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Node,
    Device,
    Numa,
    Idle,
    Interface,
}

impl Whose {
    /// What the ids of its facts begin with; empty: of the node itself.
    pub(super) fn has(self, prefix: &str) -> bool {
        match self {
            Whose::Node => prefix.is_empty() || is_of_node(prefix),
            Whose::Numa => prefix == "numa",
            Whose::Idle => prefix == "cpu.idle_states",
            Whose::Interface => prefix == "net",
            Whose::Device => !matches!(prefix, "" | "numa" | "cpu.idle_states") && !is_of_node(prefix),
        }
    }
}

/// Whether facts are a part of the node itself: a setting of its kernel, or what a scheduler claims of it.
fn is_of_node(prefix: &str) -> bool {
    prefix == "sysctl" || prefix.starts_with("kubernetes.") || prefix.starts_with("slurm.")
}

impl Roles {
    /// Reads a pattern.
    ///
    /// # Errors
    /// No role has this form; with the one that is most like it.
    pub fn of(text: &str) -> Result<Self, Option<String>> {
        let pieces = pieces(text);
        let form: String = pieces.iter().map(|p| if let Piece::Text(t) = p { t.as_str() } else { "*" }).collect();
        let further = KINDS
            .iter()
            .flat_map(|k| [format!("VF * of {k}"), format!("bridge * above {k}"), format!("{k}, function *")]);
        let known = FORMS.iter().any(|(f, _)| *f == form)
            || further.into_iter().any(|f| f == form)
            || form == "bridge * without devices"
            || ["idle state ", "interface "].iter().any(|p| text.strip_prefix(p).is_some_and(|name| !name.is_empty()));
        match known {
            true => Ok(Roles { text: text.to_owned(), pieces }),
            false => Err(near::nearest(&form, FORMS.iter().map(|(f, _)| *f)).map(str::to_owned)),
        }
    }

    /// The node itself.
    #[must_use]
    pub fn node() -> Self {
        Roles { text: NODE.to_owned(), pieces: vec![Piece::Text(NODE.to_owned())] }
    }

    /// As it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is the node itself.
    #[must_use]
    pub fn is_node(&self) -> bool {
        self.text == NODE
    }

    /// Whether it names each device that it is about.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        !self.pieces.contains(&Piece::Any)
    }

    /// The roles that it names one by one: `GPU 0`, `GPU 1` of `GPU 0-1`; empty where it has a `*`, or more than one set.
    #[must_use]
    pub fn named(&self) -> Vec<String> {
        let sets = self.pieces.iter().filter(|p| matches!(p, Piece::Numbers(_))).count();
        if !self.is_exact() || sets > 1 {
            return Vec::new();
        }
        let mut out = vec![String::new()];
        for piece in &self.pieces {
            match piece {
                Piece::Text(t) => out.iter_mut().for_each(|o| o.push_str(t)),
                Piece::Numbers(all) => {
                    let numbers = all.iter().flat_map(|(a, b)| *a..=(*b).min(a.saturating_add(MOST)));
                    let head = out.first().cloned().unwrap_or_default();
                    out = numbers.take(MOST as usize).map(|n| format!("{head}{n}")).collect();
                }
                Piece::Any => {}
            }
        }
        out
    }

    /// Whether the role of a device, or the name of a thing, is one of these.
    #[must_use]
    pub fn has(&self, role: &str) -> bool {
        let mut rest = role;
        for (i, piece) in self.pieces.iter().enumerate() {
            let taken = match piece {
                Piece::Text(t) => rest.strip_prefix(t.as_str()),
                Piece::Numbers(all) => {
                    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                    let (digits, tail) = rest.split_at(end);
                    digits.parse::<u32>().ok().filter(|n| all.iter().any(|(a, b)| (*a..=*b).contains(n))).map(|_| tail)
                }
                Piece::Any => {
                    let last = i + 1 == self.pieces.len();
                    let stops: &[char] = if last { &[','] } else { &[',', ' '] };
                    let end = rest.find(stops).unwrap_or(rest.len());
                    (end > 0).then(|| rest.get(end..)).flatten()
                }
            };
            match taken {
                Some(tail) => rest = tail,
                None => return false,
            }
        }
        rest.is_empty()
    }

    /// Whether it says by number which devices it is about: `GPU 0-3`, `bridge 1 above GPU 0`; not `bridge 1 above GPU *`.
    pub(super) fn numbers_devices(&self) -> bool {
        let mut all = self.pieces.iter().filter(|p| !matches!(p, Piece::Text(_)));
        let is_last = self.text.starts_with("bridge ") || self.text.starts_with("VF ");
        matches!(if is_last { all.next_back() } else { all.next() }, Some(Piece::Numbers(_)))
    }

    /// Whose facts these have.
    pub(super) fn whose(&self) -> Whose {
        let named = FORMS.iter().rev().find(|(form, _)| {
            let head = form.split('*').next().unwrap_or_default();
            self.text.starts_with(head)
        });
        named.map_or(Whose::Device, |(_, whose)| *whose)
    }

    /// As a part of an id: `rail-nic`, `gpu-0-3`.
    pub(super) fn slug(&self) -> String {
        slug(&self.text)
    }
}

/// Roles that one set names, at most.
const MOST: u32 = 4096;

impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Lower case, words with `-` between; what is no letter, digit or `_` is left out.
pub(super) fn slug(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| !w.is_empty());
    words.collect::<Vec<_>>().join("-")
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (piece, len) = match c {
            '*' => (Piece::Any, 1),
            '0'..='9' if out.last().is_none_or(|p| matches!(p, Piece::Text(t) if t.ends_with(' '))) => {
                let end = rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, '-' | ',')).unwrap_or(rest.len());
                // A comma before a word is the word's.
                let set = rest.get(..end).unwrap_or_default().trim_end_matches(',');
                match numbers(set) {
                    Some(all) => (Piece::Numbers(all), set.len()),
                    None => (Piece::Text(set.to_owned()), set.len().max(1)),
                }
            }
            _ => {
                let mut end = c.len_utf8();
                while let Some(next) = rest.get(end..).and_then(|r| r.chars().next()) {
                    let begins_set = next.is_ascii_digit() && rest.get(..end).is_some_and(|t| t.ends_with(' '));
                    if next == '*' || begins_set {
                        break;
                    }
                    end += next.len_utf8();
                }
                (Piece::Text(rest.get(..end).unwrap_or_default().to_owned()), end)
            }
        };
        match (out.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(more)) => before.push_str(&more),
            (_, piece) => out.push(piece),
        }
        rest = rest.get(len..).unwrap_or_default();
    }
    out
}

fn numbers(set: &str) -> Option<Vec<(u32, u32)>> {
    let one = |part: &str| match part.split_once('-') {
        Some((a, b)) => Some((a.parse().ok()?, b.parse().ok()?)).filter(|(a, b): &(u32, u32)| a <= b),
        None => part.parse().ok().map(|n| (n, n)),
    };
    set.split(',').map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_named_by_their_patterns() {
        for (pattern, role, yes) in [
            ("GPU *", "GPU 0", true),
            ("GPU *", "GPU 0, function 1", false),
            ("GPU *, function *", "GPU 0, function 1", true),
            ("GPU 0-3,5", "GPU 5", true),
            ("GPU 0-3,5", "GPU 4", false),
            ("GPU 1", "GPU 12", false),
            ("rail * NIC", "rail 3 NIC", true),
            ("rail * NIC", "rail 3 NIC, function 1", false),
            ("rail 0-3 NIC", "rail 3 NIC", true),
            ("NIC *", "rail 3 NIC", false),
            ("bridge 1 above GPU *", "bridge 1 above GPU 2", true),
            ("bridge 1 above GPU *", "bridge 2 above GPU 2", false),
            ("VF * of NIC *", "VF 3 of NIC 1", true),
            ("NUMA node *", "NUMA node 0", true),
            ("idle state *", "idle state C6", true),
            ("interface *", "interface bond0", true),
            ("interface bond0", "interface bond0", true),
            ("node", "node", true),
        ] {
            assert_eq!(Roles::of(pattern).map(|p| p.has(role)), Ok(yes), "{pattern} {role}");
        }
        for (bad, like) in
            [("rails * NIC", Some("rail * NIC")), ("gpu *", Some("GPU *")), ("", None), ("xyzzy plugh", None)]
        {
            assert_eq!(Roles::of(bad), Err(like.map(str::to_owned)), "{bad}");
        }
        assert_eq!(Roles::of("GPU 0-1,7").unwrap().named(), ["GPU 0", "GPU 1", "GPU 7"]);
        assert_eq!(Roles::of("rail 4 NIC").unwrap().named(), ["rail 4 NIC"]);
        assert!(Roles::of("GPU *").unwrap().named().is_empty());
        assert_eq!(Roles::of("rail * NIC").unwrap().whose(), Whose::Device);
        assert_eq!(Roles::of("NUMA node *").unwrap().whose(), Whose::Numa);
        assert_eq!(Roles::node().whose(), Whose::Node);
    }
}
