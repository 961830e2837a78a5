use super::known::Kind;
use super::*;
use linerate_snapshot::Output;

fn put(s: &mut Snapshot, path: &str, value: &str) {
    s.add_file(path, format!("{value}\n").as_bytes()).unwrap();
}

fn node(uptime: &str, boot: &str, counters: &[(&str, &str)]) -> Snapshot {
    let mut s = Snapshot::new("n1");
    put(&mut s, "proc/uptime", uptime);
    s.manifest.boot_id = boot.to_owned();
    let port = "infiniband/mlx5_0/ports/1";
    for (name, value) in counters {
        put(&mut s, &format!("sys/class/{port}/{name}"), value);
    }
    s
}

fn text(s: &mut Snapshot, kind: OutputKind, name: &str, text: &str) {
    let entry = s.add_file(&format!("pasted/{name}"), text.as_bytes()).unwrap();
    s.outputs.push(Output { kind, entry, argv: Vec::new(), status: None });
}

fn between(all: &[Snapshot], apart: Option<f64>) -> Growth {
    Growth::between(all.iter().map(Sample::of), apart)
}

fn grown(g: &Growth) -> Vec<(String, &str, u64, bool)> {
    g.grown.iter().map(|g| (g.owner.to_string(), g.name.as_str(), g.by, g.at_least)).collect()
}

#[test]
fn what_grew_and_how_fast() {
    let first = [("counters/symbol_error", "5"), ("counters/port_xmit_data", "1000"), ("hw_counters/lifespan", "10")];
    let last = [("counters/symbol_error", "7"), ("counters/port_xmit_data", "251000"), ("hw_counters/lifespan", "12")];
    let g = between(&[node("100.5 1", "b", &first), node("110.5 1", "b", &last)], None);
    assert_eq!((g.intervals, g.seconds, g.compared, g.judged), (1, Some(10.0), 2, 1));
    let port = || "mlx5_0 port 1".to_owned();
    assert_eq!(grown(&g), [(port(), "port_xmit_data", 250_000, false), (port(), "symbol_error", 2, false)]);
    assert_eq!(g.bad().map(|b| (b.per_second, b.from, b.to)).collect::<Vec<_>>(), [(Some(0.2), 5, 7)]);
    let traffic: Vec<_> = g.traffic.values().map(|t| (t.sent, t.received)).collect();
    assert_eq!((traffic, g.verdict()), (vec![(1_000_000, 0)], Verdict::Grew));
}

#[test]
fn a_counter_that_begins_anew_grew_by_at_least_what_it_shows() {
    let at = |value, boot| node("1 1", boot, &[("counters/link_downed", value)]);
    let g = between(&[at("9", "a"), at("2", "b"), at("3", "b")], Some(60.0));
    assert_eq!(grown(&g), [("mlx5_0 port 1".to_owned(), "link_downed", 3, true)]);
    assert!(g.restarted && g.seconds == Some(120.0));
    // Where nothing says how far apart, there is no rate.
    let g = between(&[at("1", "a"), at("2", "a")], None);
    assert_eq!(g.bad().map(|b| b.per_second).collect::<Vec<_>>(), [None]);
}

#[test]
fn a_counter_at_its_maximum_shows_no_more() {
    let at = |value| node("1 1", "a", &[("counters/link_downed", value)]);
    let g = between(&[at("255"), at("255")], None);
    assert!(g.grown.is_empty());
    assert_eq!(g.stuck.iter().map(|s| (s.name.as_str(), s.value)).collect::<Vec<_>>(), [("link_downed", 255)]);
    assert_eq!(g.verdict(), Verdict::CannotTell(Doubt::Stuck));
    let g = between(&[at("250"), at("255")], None);
    assert_eq!(grown(&g), [("mlx5_0 port 1".to_owned(), "link_downed", 5, true)]);
}

#[test]
fn one_reading_shows_nothing_and_what_one_lacks_is_not_compared() {
    let g = between(&[node("1 1", "a", &[("counters/symbol_error", "5")])], None);
    assert_eq!((g.compared, g.intervals), (0, 0));
    let g = between(&[node("1 1", "a", &[]), node("2 1", "a", &[("counters/symbol_error", "5")])], None);
    assert_eq!((g.compared, g.grown.len()), (0, 0));
    assert_eq!(g.verdict(), Verdict::CannotTell(Doubt::NothingCompared));
    assert_eq!(between(&[], None), Growth::default());
    let only_traffic = node("1 1", "a", &[("counters/port_xmit_data", "5")]);
    let g = between(&[only_traffic.clone(), only_traffic], None);
    assert_eq!(g.verdict(), Verdict::CannotTell(Doubt::NothingJudged));
}

#[test]
fn a_quiet_link_proves_nothing() {
    let at = |sent| node("1 1", "a", &[("counters/port_xmit_data", sent), ("counters/symbol_error", "3")]);
    let g = between(&[at("5"), at("5")], None);
    assert_eq!((g.verdict(), g.idle().count()), (Verdict::CannotTell(Doubt::Idle), 1));
    assert_eq!(between(&[at("5"), at("6")], None).verdict(), Verdict::Clean);
}

#[test]
fn parts_of_a_pcie_table_grow_from_nothing() {
    let at = |table: &str| {
        let mut s = Snapshot::new("n1");
        let bdf = "0000:01:00.0";
        let home = format!("sys/devices/pci0000:00/{bdf}");
        s.add_link(&format!("sys/bus/pci/devices/{bdf}"), format!("../../../devices/pci0000:00/{bdf}").as_bytes());
        put(&mut s, &format!("{home}/vendor"), "0x10de");
        put(&mut s, &format!("{home}/class"), "0x030200");
        put(&mut s, &format!("{home}/aer_dev_correctable"), table);
        s
    };
    let all = [at("RxErr 0\nBadTLP 0\nTOTAL_ERR_COR 0"), at("RxErr 0\nBadTLP 4\nTOTAL_ERR_COR 4")];
    let g = between(&all, None);
    assert_eq!(grown(&g), [("0000:01:00.0".to_owned(), "aer_dev_correctable.BadTLP", 4, false)]);
    assert_eq!(g.bad().filter_map(|b| b.known).map(|k| k.kind).collect::<Vec<_>>(), [Kind::Loss]);
    // Two clean tables are a judgement, too.
    assert_eq!(between(&[all[0].clone(), all[0].clone()], None).judged, 1);
}

#[test]
fn texts_count_too() {
    let at = |n: u64| {
        let mut s = Snapshot::new("texts");
        let stats = format!("$ ethtool -S eth0\nNIC statistics:\n     rx_discards_phy: {n}\n     odd_one: {n}\n");
        text(&mut s, OutputKind::EthtoolStats, "ethtool.txt", &stats);
        let query = format!(
            "# Port extended counters: Lid 12 port 1 (CapMask: 0x5A00)\nPortSelect:...1\nPortXmitDiscards:...{n}\n"
        );
        text(&mut s, OutputKind::Perfquery, "perfquery.txt", &query);
        let errors = format!("GPU 0: NVIDIA H200 (UUID: GPU-1)\n    BAD_TLP:   {n}\n    TX_BYTES:   {n}\n");
        text(&mut s, OutputKind::NvidiaSmiCounters, "pci.txt", &errors);
        s
    };
    let g = between(&[at(1), at(4)], Some(1.0));
    let bad: Vec<_> = g.bad().map(|b| (b.owner.to_string(), b.name.as_str(), b.by)).collect();
    assert_eq!(
        bad,
        [
            ("LID 12 port 1".to_owned(), "PortXmitDiscards", 3),
            ("eth0".to_owned(), "rx_discards_phy", 3),
            ("GPU 0".to_owned(), "pcie_bad_tlp", 3),
        ]
    );
    let odd: Vec<_> = g.grown.iter().filter(|g| g.known.is_none()).map(|g| g.name.as_str()).collect();
    assert_eq!(odd, ["odd_one"]);
}
