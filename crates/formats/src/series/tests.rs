use super::*;
use crate::bounds::{Limit, SERIES_TABLES, beyond};
use crate::error::Why;

fn one(text: &str) -> Table {
    let mut tables = parse(text.as_bytes()).unwrap();
    assert_eq!(tables.len(), 1, "{tables:#?}");
    tables.remove(0)
}

fn column<'t>(table: &'t Table, name: &str) -> &'t Column {
    table.columns.iter().find(|c| c.name == name).unwrap_or_else(|| panic!("no {name}: {table:#?}"))
}

fn numbers(table: &Table, name: &str) -> Vec<Option<f64>> {
    (0..table.len()).map(|r| column(table, name).number(r)).collect()
}

fn roles(table: &Table) -> Vec<(&str, Role, Option<Unit>)> {
    table.columns.iter().map(|c| (c.name.as_str(), c.role, c.unit.as_ref().and_then(|u| u.unit))).collect()
}

#[test]
fn csv_with_roles_and_units() {
    let t = one(
        "\u{feff}# made by hand\r\ntime,step,size (B),busbw (GB/s),latency_us,host,rank,run\r\n0.5,1,8M,93.5,12.25,node-a,0,1\r\n1.5,2,16M,,12.50,node-a,1,1\r\n",
    );
    assert_eq!(
        roles(&t),
        [
            ("time", Role::Time, None),
            ("step", Role::Step, None),
            ("size", Role::Size, Some(Unit::Byte)),
            ("busbw", Role::Metric, Some(Unit::GbytePerSecond)),
            ("latency", Role::Metric, Some(Unit::Microsecond)),
            ("host", Role::Label, None),
            ("rank", Role::Label, None),
            ("run", Role::Run, None),
        ]
    );
    assert_eq!(t.lines, [3, 4]);
    assert_eq!(numbers(&t, "size"), [Some(8_388_608.0), Some(16_777_216.0)]);
    assert_eq!(numbers(&t, "busbw"), [Some(93.5), None]);
    assert_eq!(column(&t, "host").label(1), Some("node-a"));
    assert!(t.refused.is_empty() && t.form == Form::Delimited(','));
}

#[test]
fn markdown_in_prose() {
    let text = "# Notes\n\nPassthrough against disabled.\n\n| all-reduce size | passthrough GB/s | disabled GB/s |\n|---|---|---|\n| 1 MB | 5.91 | 5.90 |\n| 1024 MB | **93.08** | 92.30 |\n\nMore prose, with commas, as it goes.\n\n| setting | value |\n|---|---|\n| a | b |\n";
    let t = one(text);
    assert_eq!(
        roles(&t),
        [
            ("all-reduce size", Role::Size, Some(Unit::Byte)),
            ("passthrough", Role::Metric, Some(Unit::GbytePerSecond)),
            ("disabled", Role::Metric, Some(Unit::GbytePerSecond)),
        ]
    );
    assert_eq!(numbers(&t, "all-reduce size"), [Some(1_048_576.0), Some(1_073_741_824.0)]);
    assert_eq!(numbers(&t, "passthrough"), [Some(5.91), Some(93.08)]);
    assert_eq!(t.notes, [Note { line: 7, column: "all-reduce size".into(), kind: NoteKind::BinarySizes }]);
    assert_eq!(t.lines, [7, 8]);
}

#[test]
fn what_mb_is() {
    for (cells, first, kind) in [
        ("1 MB,2 MB", 1_048_576.0, Some(NoteKind::BinarySizes)),
        ("1 MB,100 MB", 1e6, Some(NoteKind::DecimalSizes)),
        ("1MiB,100MiB", 1_048_576.0, None),
        ("1024,100", 1024.0, None),
        ("4K,100K", 4096.0, None),
    ] {
        let rows: String = cells.split(',').map(|c| format!("{c};1.5\n")).collect();
        let t = one(&format!("size;value\n{rows}"));
        assert_eq!(numbers(&t, "size").first(), Some(&Some(first)), "{cells}");
        assert_eq!(t.notes.first().map(|n| n.kind), kind, "{cells}");
    }
    let t = one("size_mb,bw\n64,1\n128,2\n");
    assert_eq!(numbers(&t, "size"), [Some(67_108_864.0), Some(134_217_728.0)]);
}

#[test]
fn commas_in_numbers() {
    let values = |text: &str| {
        let t = one(text);
        (numbers(&t, "v"), t.refused.len(), t.notes.first().map(|n| n.kind))
    };
    assert_eq!(values("n;v\n1;12,5\n2;1,234\n"), (vec![Some(12.5), Some(1.234)], 0, Some(NoteKind::DecimalComma)));
    assert_eq!(values("n;v\n1;1.234,5\n2;1,0\n"), (vec![Some(1234.5), Some(1.0)], 0, Some(NoteKind::DecimalComma)));
    assert_eq!(
        values("n,v\n1,\"1,234,567\"\n2,\"1,234\"\n"),
        (vec![Some(1_234_567.0), Some(1234.0)], 0, Some(NoteKind::ThousandsComma))
    );
    assert_eq!(values("n;v\n1;1,234\n2;5.5\n"), (vec![None, Some(5.5)], 1, None));
    assert_eq!(
        values("n;v\n1;12,5\n2;1,234,567\n3;1,234\n"),
        (vec![Some(12.5), Some(1_234_567.0), None], 1, Some(NoteKind::DecimalComma))
    );
}

#[test]
fn what_is_no_number() {
    let t = one("n,v\n1,nan\n2,inf\n3,\n4,N/A\n5,7.5\n6,oops\n7,1e3\n8,-2\n");
    assert_eq!(numbers(&t, "v"), [None, None, None, None, Some(7.5), None, Some(1000.0), Some(-2.0)]);
    assert_eq!(
        t.refused.iter().map(|r| (r.line, r.column.as_deref())).collect::<Vec<_>>(),
        [(2, Some("v")), (3, Some("v")), (7, Some("v"))]
    );
}

#[test]
fn quotes_rows_and_headers() {
    // Fields with delimiters, quotes and line ends in them.
    let t = one("host,v\n\"a, \"\"b\"\"\nc\",1\nd,2\n");
    assert_eq!(column(&t, "host").label(0), Some("a, \"b\"\nc"));
    assert_eq!(t.lines, [2, 4]);
    // Rows of another width.
    let t = one(
        "a,v\n1,2\n3\n4,5,6\n7,8\n9,1\n2,3\n4,5\n6,7\n8,9\n1,2\n3,4\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n",
    );
    assert_eq!(t.refused.iter().map(|r| r.line).collect::<Vec<_>>(), [3, 4]);
    // A quote that is never closed.
    let t = one("a,v\n1,2\n3,\"4\n5,6\n");
    assert_eq!((t.len(), t.refused.len()), (1, 1));
    // A header in a comment, and none.
    let t = one("# time value\n# t\tv\n0\t1\n1\t2\n");
    assert_eq!(roles(&t), [("t", Role::Time, None), ("v", Role::Metric, None)]);
    let t = one("1,2\n3,4\n");
    assert_eq!((t.columns[0].name.as_str(), t.len(), t.notes[0].kind), ("column 1", 2, NoteKind::NoHeader));
    // The same header again: another file behind this one.
    let tables = parse(b"t,v\n0,1\n1,2\nt,v\n0,3\n").unwrap();
    assert_eq!(tables.iter().map(Table::len).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn json_lines_and_lists() {
    let t = one(
        "{\"step\": 1, \"loss\": 2.5, \"name\": \"a\", \"net\": {\"bw_gbps\": 93.5}, \"x\": [1]}\n{\"loss\": NaN, \"step\": 2, \"net\": {\"bw_gbps\": null}}\n{\"step\": 3, \"loss\"\n",
    );
    assert_eq!(t.form, Form::JsonLines);
    assert_eq!(numbers(&t, "step"), [Some(1.0), Some(2.0)]);
    assert_eq!(numbers(&t, "loss"), [Some(2.5), None]);
    assert_eq!(numbers(&t, "net.bw"), [Some(93.5), None]);
    assert_eq!(column(&t, "net.bw").unit.as_ref().and_then(|u| u.unit), Some(Unit::GbitPerSecond));
    assert_eq!(column(&t, "name").label(0), Some("a"));
    assert_eq!(t.refused.iter().map(|r| r.line).collect::<Vec<_>>(), [2, 3]);
    assert!(matches!(t.refused[1].why, Why::Missing(_)));
    let t = one("[\n {\"size\": \"8M\", \"v\": 1},\n {\"size\": \"16M\",\n  \"v\": 2}\n]\n");
    assert_eq!((t.form, &t.lines[..]), (Form::JsonArray, &[2, 3][..]));
    assert_eq!(numbers(&t, "size"), [Some(8_388_608.0), Some(16_777_216.0)]);
}

#[test]
fn times_of_day_are_seconds_since_the_first() {
    let t = one("timestamp,v\n2021-12-06 04:19:35,1\n2021-12-06 04:19:36.500,2\n");
    assert_eq!(numbers(&t, "timestamp"), [Some(0.0), Some(1.5)]);
    let t = one("timestamp_ms,v\n1500,1\n2500,2\n");
    assert_eq!(numbers(&t, "timestamp"), [Some(1.5), Some(2.5)]);
    // A time in microseconds is a measurement, and so is one that goes up and down.
    assert_eq!(column(&one("n,time (us)\n1,5\n2,6\n"), "time").role, Role::Metric);
    assert_eq!(column(&one("n,time\n1,5\n2,4\n3,5\n4,3\n"), "time").role, Role::Metric);
}

#[test]
fn units_of_cells() {
    let t = one("n,v,w\n1,5.5 GB/s,10%\n2,6.5 GB/s,11%\n3,7 Gb/s,12%\n");
    assert_eq!(numbers(&t, "v"), [Some(5.5), Some(6.5), None]);
    assert_eq!(t.refused.len(), 1);
    assert_eq!(column(&t, "w").unit.as_ref().and_then(|u| u.unit), Some(Unit::Percent));
}

#[test]
fn memory_follows_the_text() {
    // A thousand names, then many objects without any of them.
    let names: String = (0..1000).map(|i| format!(",\"n{i}\":1")).collect();
    let text = format!("{{\"a\":1{names}}}\n{}", "{\"a\":1}\n".repeat(20_000));
    let t = one(&text);
    assert!(
        beyond(&t.left_out, Limit::SERIES_ROWS) > 0
            && t.len() * t.columns.len() <= text.len().max(65_536) + t.columns.len(),
        "{}",
        t.len()
    );
    // The names come last.
    let text = format!("{}{{\"a\":1{names}}}\n", "{\"a\":1}\n".repeat(20_000));
    let t = one(&text);
    assert!(
        beyond(&t.left_out, Limit::SERIES_COLUMNS) > 0
            && beyond(&t.left_out, Limit::SERIES_ROWS) == 0
            && t.len() == 20_001
    );
}

#[test]
fn what_is_beyond_a_limit_is_counted() {
    // Files one behind the other.
    let tables = parse("t,v\n1,2\n".repeat(SERIES_TABLES + 2).as_bytes()).unwrap();
    assert_eq!((tables.len(), tables.iter().map(Table::len).max()), (SERIES_TABLES, Some(1)));
    assert_eq!(beyond(&tables[SERIES_TABLES - 1].left_out, Limit::SERIES_TABLES), 1);
    // Columns.
    let head: Vec<String> = (0..1030).map(|i| format!("c{i}")).collect();
    let t = one(&format!("{}\n{}\n", head.join(","), vec!["1"; 1030].join(",")));
    assert_eq!((t.columns.len(), beyond(&t.left_out, Limit::SERIES_COLUMNS) > 0), (1024, true));
    // A label, and an object in others.
    let t = one(&format!("name,v\n{},1\nb,2\n", "a".repeat(300)));
    assert_eq!(beyond(&t.left_out, Limit::SERIES_TEXT), 1);
    let t = one("{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":1}}}}},\"v\":1}\n");
    assert_eq!(beyond(&t.left_out, Limit::SERIES_DEPTH), 1);
    assert!(one("t,v\n1,2\n").left_out.is_empty());
}

#[test]
fn no_tables() {
    for text in [
        "",
        "\n\n",
        "hello\n",
        "{\"a\": 1,\n \"b\": 2}\n",
        "[]",
        "a,b\nc,d\n",
        "[1, 2]",
        "| a | b |\n|---|---|\n| c | d |\n",
    ] {
        assert!(parse(text.as_bytes()).is_err(), "{text}: {:?}", parse(text.as_bytes()));
    }
}

#[test]
fn names() {
    use super::names::{role, split};
    for (text, name, unit) in [
        ("busbw (GB/s)", "busbw", Some(Unit::GbytePerSecond)),
        ("lat [usec]", "lat", Some(Unit::Microsecond)),
        ("bw_gbps", "bw", Some(Unit::GbitPerSecond)),
        ("BW_GBps", "BW", Some(Unit::GbytePerSecond)),
        ("elapsed_s", "elapsed", Some(Unit::Second)),
        ("num_s_x", "num_s_x", None),
        ("tps", "tps", Some(Unit::TokensPerSecond)),
        ("tokens/s", "tokens/s", Some(Unit::TokensPerSecond)),
        ("bits_per_second", "bits_per_second", Some(Unit::BitPerSecond)),
        ("rate (frobs)", "rate", None),
        ("msg_bytes", "msg_bytes", None),
        ("(GB/s)", "(GB/s)", None),
    ] {
        let (n, u) = split(text);
        assert_eq!((n.as_str(), u.and_then(|u| u.unit)), (name, unit), "{text}");
    }
    for (name, wanted) in [
        ("msg_size", Role::Size),
        ("#bytes", Role::Size),
        ("batch_size", Role::Label),
        ("world size", Role::Label),
        ("iteration", Role::Step),
        ("trial", Role::Run),
        ("elapsed", Role::Time),
        ("gpu", Role::Label),
        ("gpu_util", Role::Metric),
        ("wrong", Role::Metric),
    ] {
        assert_eq!(role(name, None), wanted, "{name}");
    }
}

fn table_is_sound(t: &Table) {
    for c in &t.columns {
        let rows = match &c.cells {
            Cells::Numbers(all) => all.len(),
            Cells::Labels(all) => {
                assert!(all.rows.iter().all(|r| *r == Labels::MISSING || (*r as usize) < all.words.len()));
                all.rows.len()
            }
        };
        assert_eq!(rows, t.len(), "{}", c.name);
    }
}

proptest::proptest! {
    #[test]
    fn never_panics(bytes: Vec<u8>) {
        parse(&bytes).into_iter().flatten().for_each(|t| table_is_sound(&t));
    }

    #[test]
    fn never_panics_on_likely_words(words in proptest::collection::vec(proptest::sample::select(vec![
        ",", ";", "\t", "\n", "\"", "|", "|---|", "{", "}", "[", "]", "\"a\":", "1", "1,5", "nan", "8M", "1 MB", "time", "size", "x y", "#", "2021-12-06 04:19:35", "NaN", ":", "1.234,5",
    ]), 0..80)) {
        parse(words.concat().as_bytes()).into_iter().flatten().for_each(|t| table_is_sound(&t));
    }

    /// What is written comes back, in every form.
    #[test]
    fn round_trip(rows in proptest::collection::vec((0_u32..100_000, -1e6_f64..1e6), 1..40)) {
        let csv: String = rows.iter().map(|(a, b)| format!("{a},{b}\n")).collect();
        let json: String = rows.iter().map(|(a, b)| format!("{{\"n\":{a},\"v\":{b:?}}}\n")).collect();
        let markdown: String = rows.iter().map(|(a, b)| format!("| {a} | {b} |\n")).collect();
        for text in [format!("n,v\n{csv}"), format!("n;v\n{}", csv.replace(',', ";")), json, format!("| n | v |\n|---|---|\n{markdown}")] {
            let t = one(&text);
            proptest::prop_assert_eq!(t.len(), rows.len());
            for (i, (a, b)) in rows.iter().enumerate() {
                proptest::prop_assert_eq!(column(&t, "n").number(i), Some(f64::from(*a)));
                let read = column(&t, "v").number(i);
                proptest::prop_assert!(read.is_some_and(|v| (v - b).abs() <= b.abs() * 1e-15), "{:?} {}", read, b);
            }
        }
    }
}
