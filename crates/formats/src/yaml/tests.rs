use super::*;

fn tree(text: &str) -> Tree {
    let mut left_out = Vec::new();
    let mut all = documents(text, &mut left_out);
    assert!(all.len() == 1 && left_out.is_empty(), "{all:?} {left_out:?}");
    all.remove(0)
}

#[test]
fn yaml_and_a_template_are_alike() {
    let body = "a:\n  b: {c: 8, 'd/e': \"1\"} # x\n  l: [\"X\", Y]\n  m:\n  - n: 1 # one\n    o: \"p q\"\n  - r\n";
    let yaml = tree(body);
    let template = tree(&format!("{body}  t: {{{{ .Values.x }}}}\n"));
    for t in [&yaml, &template] {
        let a = t.child("a").expect("a");
        let pairs: Vec<_> = a.at(&["b"]).expect("b").pairs();
        assert_eq!(
            pairs,
            [(At::new("c".to_owned(), 2), "8".to_owned()), (At::new("d/e".to_owned(), 2), "1".to_owned())]
        );
        let words: Vec<_> = a.list("l").map(|w| w.value.as_str()).collect();
        assert_eq!(words, ["X", "Y"]);
        let items: Vec<_> = a.list("m").map(|i| (i.line, i.text("n"), i.text("o"), i.value.as_str())).collect();
        let (n, o) = (At::new("1".to_owned(), 5), At::new("p q".to_owned(), 6));
        assert_eq!(items, [(5, Some(n), Some(o), ""), (7, None, None, "r")]);
    }
    assert_eq!(template.at(&["a", "t"]).map(|t| t.value.as_str()), Some("{{ .Values.x }}"));
}

#[test]
fn what_only_a_parser_reads() {
    let t = tree(
        "x: &x\n  a: 1\n  b: 2\ny:\n  <<: *x\n  b: 3\nz:\n- { p: /dev/shm, q: { r: s,\n   u: v }}\nt: |\n  [ { \"name\": 1 } ]\n",
    );
    let y: Vec<_> = t.at(&["y"]).expect("y").pairs().into_iter().map(|(k, v)| (k.value, v)).collect();
    assert_eq!(y, [("b".to_owned(), "3".to_owned()), ("a".to_owned(), "1".to_owned())]);
    let z = t.list("z").next().expect("an item");
    assert_eq!(z.text("p"), Some(At::new("/dev/shm".to_owned(), 8)));
    assert_eq!(z.at(&["q", "u"]).map(|u| (u.value.as_str(), u.line)), Some(("v", 9)));
    assert_eq!(t.text("t").map(|t| t.value), Some("[ { \"name\": 1 } ]\n".to_owned()));
}

#[test]
fn lines_count_through_all_documents() {
    let mut left_out = Vec::new();
    let all = documents("# only this\n---\na: 1\n---\n\nb: {{ x }}\nc: 2\n", &mut left_out);
    let c = all.iter().find_map(|t| t.text("c"));
    assert_eq!(
        (c, all.iter().find_map(|t| t.text("a"))),
        (Some(At::new("2".to_owned(), 7)), Some(At::new("1".to_owned(), 3)))
    );
}

#[test]
fn aliases_of_aliases_stay_bounded() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..30 {
        let before = format!("*a{}", n - 1);
        text.push_str(&format!("a{n}: &a{n} [{}]\n", [before.as_str(); 10].join(", ")));
    }
    let mut left_out = Vec::new();
    let all = documents(&text, &mut left_out);
    let nodes = |t: &Tree| {
        let mut n = 0;
        let mut todo = vec![t];
        while let Some(t) = todo.pop() {
            n += 1;
            todo.extend(&t.children);
        }
        n
    };
    assert!(all.iter().map(nodes).sum::<usize>() < 20 * TEXT_ITEMS, "it grew");
    assert_eq!(left_out.len(), 1);
}
