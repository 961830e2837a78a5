//! The name that somebody meant: how unlike two names are, and which of many is the nearest.

/// Bytes. A longer text is not a misspelled name, and comparing it costs time.
const LONGEST: usize = 128;
/// Share of the pairs of letters that names which are only alike have in common.
const ALIKE: f64 = 0.4;

/// Letters that are inserted, left out, exchanged, or swapped with their neighbour from one to the other (optimal string alignment).
/// `None` above `max`, and for texts longer than any name.
#[must_use]
pub fn distance(a: &str, b: &str, max: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > max || a.len().max(b.len()) > LONGEST {
        return None;
    }
    Some(strsim::osa_distance(a, b)).filter(|d| *d <= max)
}

/// The name nearest to a word, at most `max` letters away. Of equally near names, one that begins with the word comes before the others, then
/// the first. Letter case is ignored; dash and underscore are the same letter.
pub fn within<'n>(word: &str, max: usize, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if word.len() > LONGEST {
        return None;
    }
    let plain = |w: &str| w.to_ascii_lowercase().replace('-', "_");
    let word = plain(word);
    let rated = names.filter_map(|n| {
        let name = plain(n);
        Some((distance(&word, &name, max)?, !name.starts_with(&word), n))
    });
    rated.min_by_key(|(d, begins, _)| (*d, *begins)).map(|(.., n)| n)
}

/// As [`within`], where a third of the word's letters may be wrong: at least one, at most six.
pub fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    within(word, (word.len() / 3).clamp(1, 6), names)
}

/// The nearest name; where none is near, the name that has the most pairs of letters in common with the word, if it has many:
/// `acs/redirect` finds `acs/redirect-on-p2p-path`.
pub fn alike<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let names: Vec<&str> = names.collect();
    nearest(word, names.iter().copied()).or_else(|| {
        let names = names.iter().copied().filter(|n| word.len() <= LONGEST && n.len() <= LONGEST);
        let rated = names.map(|n| (strsim::sorensen_dice(word, n), n)).filter(|(share, _)| *share >= ALIKE);
        rated.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, n)| n)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, want) in [
            ("abc", "abc", Some(0)),
            ("abc", "acb", Some(1)),
            ("abc", "ab", Some(1)),
            ("abc", "xyz", None),
            ("", "ab", Some(2)),
            ("é", "e", Some(1)),
        ] {
            assert_eq!(distance(a, b, 2), want, "{a} {b}");
        }
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(distance(&long, &long, 2), None);
    }

    #[test]
    fn the_nearest_is_found_and_nothing_far_is() {
        let names = ["net.mtu", "net.link", "pci.link.max_speed", "pci.link.max_width", "rdma/gid-index"];
        for (word, want) in [
            ("net.mtus", Some("net.mtu")),
            ("NET.MTU", Some("net.mtu")),
            ("net.mut", Some("net.mtu")),
            ("pci.link.max-speed", Some("pci.link.max_speed")),
            ("rdma/gid_indx", Some("rdma/gid-index")),
            ("banana", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, names.into_iter()), want, "{word}");
        }
        assert_eq!(within("net.mt", 1, ["met.mt", "net.mtu"].into_iter()), Some("net.mtu"), "the one that it begins");
        assert_eq!(nearest(&"net.mtu".repeat(100), names.into_iter()), None);
    }

    #[test]
    fn parts_in_other_places_are_alike() {
        let names = ["acs/redirect-on-p2p-path", "rdma/gid-index", "gpu/bar1-size"];
        for (word, want) in [
            ("acs/redirect", Some("acs/redirect-on-p2p-path")),
            ("gid-index", Some("rdma/gid-index")),
            ("bar1", Some("gpu/bar1-size")),
            ("rdma/gid-indx", Some("rdma/gid-index")),
            ("banana", None),
        ] {
            assert_eq!(alike(word, names.into_iter()), want, "{word}");
        }
    }
}
