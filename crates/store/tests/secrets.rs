//! Labels, sides and targets are stored without secrets, and are found by the words that were given; no export shows one.

use linerate_bench::import::import;
use linerate_store::export::Form;
use linerate_store::{Filter, Imported, Place, Store, Target};

const PASSWORD: &str = "correct0001horse";

fn token() -> String {
    ["gh", "p_"].concat() + "q7Zt1Xw4Lk9Bv2Nf8Rd3Hs6Yc5Mj0Pa7Ge1U"
}

#[test]
fn nothing_planted_is_in_the_file_or_in_an_export() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.db");
    let text = format!(
        "run,tool,metric,unit,size,value,rail\n1,probe,busbw,GB/s,1024,12.5,{}\n1,probe,busbw,GB/s,2048,13.5,https://u:{PASSWORD}@h/\n",
        token()
    );
    let found = import(&format!("log-{}.csv", token()), text.as_bytes());
    assert_eq!(found.runs.len(), 1, "{found:?}");
    let (label, side) = (format!("token={PASSWORD}"), format!("with {}", token()));
    let mut store = Store::open(&path).unwrap();
    let place = Place { session: "s", side: Some(&side), position: Some(0) };
    let imported = Imported { labels: &[&label, "plain"], place: Some(place), ..Imported::from(&found.runs[0]) };
    assert_eq!(store.add(&[imported], 1.0).unwrap().new.len(), 1);
    let target = Target {
        name: format!("target {}", token()),
        kind: None,
        tool: None,
        metric: "busbw".to_owned(),
        stat: None,
        labels: Vec::new(),
        size: None,
        params: Vec::new(),
        unit: linerate_bench::Unit::of_name("GB/s"),
        low: Some(1.0),
        high: None,
        source: format!("https://u:{PASSWORD}@wiki/"),
    };
    store.set_target(&target, 1.0).unwrap();
    // The words that were given find it.
    for given in [label.as_str(), "plain"] {
        let filter = Filter { labels: vec![given.to_owned()], ..Filter::default() };
        assert_eq!(store.list(&filter).unwrap().len(), 1, "{given}");
    }
    assert_eq!(store.list(&Filter { labels: vec!["other".to_owned()], ..Filter::default() }).unwrap().len(), 0);
    let mut bytes = Vec::new();
    for form in [Form::Csv, Form::Json, Form::JsonLines] {
        let before = bytes.len();
        store.export(form, &Filter::default(), &mut bytes).unwrap();
        assert!(bytes.len() > before + 100, "{form:?}");
    }
    bytes.extend(format!("{:?} {:?}", store.targets(), store.list(&Filter::default())).into_bytes());
    assert!(store.remove_target(&target.name).unwrap(), "its name finds it");
    drop(store);
    for file in std::fs::read_dir(dir.path()).unwrap() {
        bytes.extend(std::fs::read(file.unwrap().path()).unwrap());
    }
    let has = |word: &str| bytes.windows(word.len()).any(|w| w == word.as_bytes());
    assert!(has(linerate_snapshot::MARK));
    assert!(!has(PASSWORD) && !has(&token()[4..]));
}
