use super::*;

fn folded(text: &str) -> String {
    names_of(text).map_or_else(|e| format!("{:?}", e.why), |s| s.to_string())
}

#[test]
fn sets_fold_as_they_are_written() {
    for (text, want) in [
        ("", ""),
        (" ", ""),
        ("gpu1", "gpu1"),
        ("gpu[001-128,130]", "gpu[001-128,130]"),
        ("b,a,a", "a,b"),
        ("gpu3,gpu1,gpu2,gpu10", "gpu[1-3,10]"),
        ("gpu[0-10/2]", "gpu[0,2,4,6,8,10]"),
        ("gpu[1-10]!gpu[3-4],gpu20", "gpu[1-2,5-10,20]"),
        ("gpu[1-4]&gpu[3-9]^gpu4", "gpu3"),
        ("a!a", ""),
        ("r[1-2]n[1-3]", "r[1-2]n[1-3]"),
        ("r1n[1-3],r2n[1-3],r3n1", "r[1-2]n[1-3],r3n1"),
        ("n[1-3,05]b[2,4]", "n[1-3,05]b[2,4]"),
        ("a[08,10-100]", "a[08,10-99,100]"),
        ("a1[2-3]4", "a[124,134]"),
        ("a[9-10]5", "a[95,105]"),
        ("5,[1-2]", "[1-2,5]"),
        ("a%[1-2]", "a%[1-2]"),
        ("root@gpu[1-2]:22", "root@gpu[1-2]:22"),
        ("x12345678901234567890", "x12345678901234567890"),
        ("[ 1 - 3 , 5 ], gpu1 ", "[1-3,5],gpu1"),
    ] {
        assert_eq!(folded(text), want, "{text}");
        assert_eq!(folded(want), want, "{text}");
    }
}

#[test]
fn what_is_no_set_is_refused_with_the_reason() {
    let long = "a".repeat(linerate_formats::bounds::NODESET_TEXT + 1);
    for (text, why) in [
        ("a,", Why::Operand(',')),
        (",a", Why::Operand(',')),
        ("a,!b", Why::Operand('!')),
        ("a&", Why::Operand('&')),
        ("a[1-2", Why::Bracket),
        ("a]", Why::Bracket),
        ("a[1-2]]", Why::Bracket),
        ("a[[1]]", Why::Bracket),
        ("a[1][2]", Why::Bracket),
        ("a[1]2[3]", Why::Bracket),
        ("a[]", Why::EmptyRange),
        ("a[1,,2]", Why::EmptyRange),
        ("a[x]", Why::Number),
        ("a[-1]", Why::Number),
        ("a[1-2-3]", Why::Number),
        ("a[1-]", Why::Number),
        ("a[1234567890123456789]", Why::Number),
        ("a[3-1]", Why::Range),
        ("a[1-3/0]", Why::Range),
        ("a[1/2]", Why::Range),
        ("a[01-100]", Why::Padding),
        ("a[1-010]", Why::Padding),
        ("a1[9-10]", Why::Digits),
        ("a[1-3/2]5", Why::Step),
        ("a b", Why::Character),
        ("a[1-2] b", Why::Character),
        ("a\u{1b}", Why::Character),
        ("@a", Why::Group),
        ("@s:a", Why::Group),
        ("@@s", Why::GroupNames),
        ("a[1-9999999]", Why::Many),
        ("a[1-9999]b[1-9999]", Why::Many),
        ("a[1-900000],b[1-900000]", Why::Many),
        ("a[0-999999999999999999]", Why::Many),
        (&long, Why::Long),
    ] {
        assert_eq!(names_of(text).map_err(|e| e.why), Err(why), "{}", text.get(..40).unwrap_or(text));
    }
}

/// `gpu`: of the default source; `b`, of another, names one of its own.
struct Site;

impl Groups for Site {
    fn group(&self, source: Option<&str>, name: &str) -> Option<Vec<String>> {
        let text = match (source, name) {
            (None, "gpu") => vec!["gpu[1-4]", "gpu9"],
            (None, "rack1" | "rack2") => vec![if name == "rack1" { "gpu[1-2]" } else { "gpu[3-4]" }],
            (Some("s"), "b") => vec!["@gpu,x1"],
            (Some("s"), "gpu") => vec!["s[1-2]"],
            (None, "round") => vec!["@round"],
            (None, "wrong") => vec!["gpu["],
            _ => return None,
        };
        Some(text.into_iter().map(str::to_owned).collect())
    }

    fn all(&self, source: Option<&str>) -> Option<Vec<String>> {
        match source {
            None => Some(vec!["gpu[1-12]".to_owned(), "login1".to_owned()]),
            Some("s") => Some(vec!["s[1-2],x1".to_owned()]),
            Some(_) => None,
        }
    }
}

#[test]
fn groups_and_wildcards() {
    for (text, want) in [
        ("@gpu!@rack1", Ok("gpu[3-4,9]")),
        ("@rack[1-2]", Ok("gpu[1-4]")),
        ("@s:b", Ok("s[1-2],x1")),
        ("@s:*", Ok("s[1-2],x1")),
        ("@*", Ok("gpu[1-12],login1")),
        ("gpu?", Ok("gpu[1-9]")),
        ("gpu1*&@*", Ok("gpu[1,10-12]")),
        ("*[1-2]", Ok("gpu[1-2,11-12],login1")),
        ("nothing*", Ok("")),
        ("@*!*", Ok("")),
        ("@round", Err(Why::Circle)),
        ("@wrong", Err(Why::Bracket)),
        ("@none", Err(Why::Group)),
        ("@t:*", Err(Why::Group)),
        ("@rack[1-3]", Err(Why::Group)),
    ] {
        let got = parse(text, &Site).map(|s| s.to_string()).map_err(|e| e.why);
        assert_eq!(got, want.map(str::to_owned), "{text}");
    }
}

/// Names as they are, whatever is in them.
#[test]
fn any_name_is_kept() {
    let names = ["", "a,b", "[1-2]", "%s", "a%", "0", "00", "a1b22c", "ü1", "x12345678901234567890y1"];
    let set: NodeSet = names.iter().collect();
    assert_eq!(set.len(), names.len());
    assert!(names.iter().all(|n| set.contains(n)));
    let mut back: Vec<String> = set.iter().collect();
    let mut want: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
    back.sort();
    want.sort();
    assert_eq!(back, want);
}

#[test]
fn order_is_by_number() {
    let set: NodeSet = ["gpu10", "gpu9", "gpu010", "a", "gpu1-b2"].iter().collect();
    assert_eq!(set.iter().collect::<Vec<_>>(), ["a", "gpu9", "gpu10", "gpu010", "gpu1-b2"]);
}

/// A hundred thousand names in one line, and names in no order with two numbers.
#[test]
fn large_sets_take_no_time() {
    let began = std::time::Instant::now();
    let set = names_of("gpu[000001-100000]").unwrap();
    assert_eq!((set.len(), set.to_string().as_str()), (100_000, "gpu[000001-100000]"));
    assert_eq!(names_of("r[1-300]n[1-300]").unwrap().to_string(), "r[1-300]n[1-300]");
    let odd: NodeSet = (0..6_000_u64).map(|i| format!("r{}n{}", i * 7919 % 997, i * 104_729 % 1009)).collect();
    assert_eq!(names_of(&odd.to_string()).unwrap(), odd);
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}
