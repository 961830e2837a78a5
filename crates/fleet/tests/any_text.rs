//! Sets of nodes from texts changed by chance: read or refused, and folded to a text that reads as the same set.

use linerate_fleet::NodeSet;
use linerate_fleet::nodeset::{Groups, names_of, parse};

struct Site;

impl Groups for Site {
    fn group(&self, _: Option<&str>, name: &str) -> Option<Vec<String>> {
        let sets = match name {
            "a" => vec!["@a,@b".to_owned()],
            _ => vec![format!("n[1-9],{name}"), "@none".to_owned()],
        };
        Some(sets).filter(|_| name.len() < 8)
    }

    fn all(&self, _: Option<&str>) -> Option<Vec<String>> {
        Some(vec!["n[1-99],r[1-4]n[01-20]".to_owned()])
    }
}

#[test]
fn texts_changed_by_chance() {
    let seeds = ["gpu[001-128,130]!gpu007,r[1-4]n[01-20/3]&n[1-9]^@b,n?,*[1-2] , a1[2-3]4", "gpu[1-2]b[3,5]-ib0%,x"];
    let mut chance = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |n: usize| {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        usize::try_from(chance >> 11).unwrap() % n.max(1)
    };
    let (mut read, mut refused) = (0, 0);
    for round in 0..12_000 {
        let mut bytes = seeds[round % 2].as_bytes().to_vec();
        for _ in 0..=below(5) {
            let at = below(bytes.len());
            if bytes.len() < 2 {
                break;
            }
            match below(4) {
                0 => bytes[at] = b"[],!&^-/@*? 0123ab%:\xc3\xa9"[below(22)],
                1 => drop(bytes.remove(at)),
                2 => bytes.truncate(at.max(1)),
                _ => bytes.extend_from_within(at..(at + below(20)).min(bytes.len())),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let any: NodeSet = text.split(',').collect();
        assert!(text.split(',').all(|name| any.contains(name)), "{text}");
        match parse(&text, &Site) {
            Ok(set) => {
                assert_eq!(names_of(&set.to_string()).as_ref(), Ok(&set), "{text}");
                assert_eq!(set.iter().count(), set.len(), "{text}");
                read += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(read > 1_000 && refused > 1_000, "{read} {refused}");
}

/// What broke another implementation: depth is no reason to recurse.
#[test]
fn long_texts_of_one_character_end() {
    for c in ["[", "(", "@", ",", "!", "a[", "]", "0", "a,", "[1]a", "@a,"] {
        let _ = parse(&c.repeat(100_000), &Site);
    }
}
