//! Lists of hosts as Slurm, pdsh and ClusterShell write them: `gpu[001-030,033],login1`.

/// Pairs of brackets in one name; Slurm has more dimensions nowhere.
const DEEP: u32 = 4;

/// What is between the commas that are in no bracket.
pub fn parts(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    list.split(move |c| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

/// Whether a name is in a list.
#[must_use]
pub fn holds(list: &str, name: &str) -> bool {
    parts(list).any(|part| !part.is_empty() && fits(part, name, DEEP))
}

/// The names in a list, in its order: at most so many, and whether there are more. `None`: it is no list, or what is between brackets is no range.
#[must_use]
pub fn names(list: &str, most: usize) -> Option<(Vec<String>, bool)> {
    let mut out = Vec::new();
    for part in parts(list) {
        if part.is_empty() || !expand(String::new(), part, most, DEEP, &mut out)? {
            return (!part.is_empty()).then_some((out, true));
        }
    }
    Some((out, false))
}

/// Adds the names that begin so and end as a pattern says; whether there was room for all.
fn expand(before: String, pattern: &str, most: usize, depth: u32, out: &mut Vec<String>) -> Option<bool> {
    let Some((head, rest)) = pattern.split_once('[') else {
        if pattern.contains(']') {
            return None;
        }
        let is_room = out.len() < most;
        if is_room {
            out.push(before + pattern);
        }
        return Some(is_room);
    };
    let (ranges, after) = rest.split_once(']').filter(|_| depth > 0)?;
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number =
            |d: &str| if d.len() <= 18 && d.bytes().all(|b| b.is_ascii_digit()) { d.parse::<u64>().ok() } else { None };
        for n in number(first)?..=number(last)? {
            let width = first.len();
            if !expand(format!("{before}{head}{n:0width$}"), after, most, depth - 1, out)? {
                return Some(false);
            }
        }
    }
    Some(true)
}

/// Whether a list is the name of one host.
#[must_use]
pub fn is_one(list: &str) -> bool {
    !list.contains(['[', ','])
}

fn fits(pattern: &str, name: &str, depth: u32) -> bool {
    let Some((before, rest)) = pattern.split_once('[') else { return pattern.eq_ignore_ascii_case(name) };
    let Some((ranges, after)) = rest.split_once(']').filter(|_| depth > 0) else { return false };
    let Some((_, tail)) = name.split_at_checked(before.len()).filter(|(h, _)| h.eq_ignore_ascii_case(before)) else {
        return false;
    };
    let digits = tail.bytes().take_while(u8::is_ascii_digit).count().min(18);
    (1..=digits).any(|n| {
        let (number, behind) = tail.split_at_checked(n).unwrap_or_default();
        ranges.split(',').any(|r| is_in(r, number)) && fits(after, behind, depth - 1)
    })
}

/// Whether digits are in a range, `001-030` or `7`: with zeros before them as many as it has.
fn is_in(range: &str, digits: &str) -> bool {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let padded = digits.len() == first.len() || digits.len() > first.len() && !digits.starts_with('0');
    let number = |d: &str| if d.len() <= 18 { d.parse::<u64>().ok() } else { None };
    let (Some(n), Some(first), Some(last)) = (number(digits), number(first), number(last)) else { return false };
    padded && first <= n && n <= last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_lists() {
        for (list, name, want) in [
            ("gpu007", "gpu007", true),
            ("gpu007", "GPU007", true),
            ("gpu[001-030]", "gpu007", true),
            ("gpu[001-030]", "gpu7", false),
            ("gpu[001-030]", "gpu031", false),
            ("gpu[9-12]", "gpu10", true),
            ("gpu[9-12]", "gpu010", false),
            ("gpu[1,3-4],login1", "gpu3", true),
            ("gpu[1,3-4],login1", "gpu2", false),
            ("gpu[1,3-4],login1", "login1", true),
            ("r[1-2]n[01-04]", "r2n03", true),
            ("r[1-2]n[01-04]-ib", "r2n03-ib", true),
            ("r[1-2]n[01-04]", "r2n05", false),
            ("gpu[1-", "gpu1", false),
            ("", "", false),
            ("é[1]", "é1", true),
            ("gpu[1-99999999999999999999]", "gpu1", false),
        ] {
            assert_eq!(holds(list, name), want, "{list} {name}");
        }
        for (list, most, want) in [
            ("gpu007", 9, Some((vec!["gpu007"], false))),
            ("gpu[001-003,9],login1", 9, Some((vec!["gpu001", "gpu002", "gpu003", "gpu9", "login1"], false))),
            ("r[1-2]n[08-10]-ib", 4, Some((vec!["r1n08-ib", "r1n09-ib", "r1n10-ib", "r2n08-ib"], true))),
            ("gpu[9-7]", 9, Some((vec![], false))),
            ("gpu[1-18446744073709551615]", 2, None),
            ("gpu[1-999999999999999999]", 2, Some((vec!["gpu1", "gpu2"], true))),
            ("gpu[a-b]", 9, None),
            ("gpu[1-2", 9, None),
            ("gpu1]", 9, None),
            ("gpu1,", 9, None),
            ("", 9, None),
        ] {
            let want = want.map(|(names, more)| (names.into_iter().map(str::to_owned).collect(), more));
            assert_eq!(names(list, most), want, "{list}");
        }
        assert_eq!(names(&"[1-9]".repeat(40_000), 9), None);
        assert!(is_one("gpu007") && !is_one("gpu[1-2]") && !is_one("a,b"));
        let deep = "[1-9]".repeat(40_000);
        assert!(!holds(&deep, &"1".repeat(40_000)));
    }
}
