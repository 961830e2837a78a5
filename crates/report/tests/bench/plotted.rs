//! Plots: the same data as a drawing and in characters.

use crate::{keeps_to, made, text};
use linerate_bench::ceiling::Ceiling;
use linerate_bench::{Label, Run, Stat, Unit};
use linerate_report::bench::plot::{
    Axis, Limit, PlotData, PlotSide, Scale, Screen, Select, Series, Shade, Shape, Ticks, Xy, distribution, forest,
    plot_svg, plot_text, sweep, sweeps_of, timeline,
};
use proptest::prelude::*;

fn busbw() -> Select {
    Select { metric: "busbw".into(), stat: Stat::Value, labels: vec![Label::new("place", "out-of-place")] }
}

fn tps() -> Select {
    Select { metric: "tps".into(), stat: Stat::Value, labels: Vec::new() }
}

fn ceiling() -> Ceiling {
    let by = "4 NICs of 400 Gb/s, ring".into();
    Ceiling { low: 196.0, high: 196.0, unit: Unit::GBps, by, derivation: Vec::new() }
}

fn sweeps(host: &str, level: f64, n: u32) -> Vec<Run> {
    (0..n).map(|i| made::nccl(host, level * (1.0 + (f64::from(i) - f64::from(n) / 2.0) * 0.02))).collect()
}

/// The four plots of a comparison.
fn plots() -> Vec<(&'static str, PlotData)> {
    let (a, b) = (sweeps("u17", 1.0, 5), sweeps("u12", 1.35, 5));
    let (a, b): (Vec<&Run>, Vec<&Run>) = (a.iter().collect(), b.iter().collect());
    let sides = [PlotSide { name: "NCCL 2.27", runs: &a }, PlotSide { name: "NCCL 2.28", runs: &b }];
    let fit = |size: f64| size / (40.0 + size / 53_500.0) / 1e3 * 1.75;
    let over_size = sweep(&sides, &busbw(), Some(&ceiling()))
        .with_curve("fit: 40 µs + size / 53.5 GB/s", 0, fit)
        .with_mark(524_288.0, "LL128 to Simple");
    let strip = distribution(&sides, &busbw(), None, None);
    let (left, right) = (made::training(2, 195_000.0, 1), made::training(3, 187_000.0, 1));
    let (left, right) = ([&left], [&right]);
    let sides = [PlotSide { name: "iommu=pt", runs: &left }, PlotSide { name: "iommu off", runs: &right }];
    let compared = made::single_runs();
    vec![
        ("sweep", over_size),
        ("timeline", timeline(&sides, &tps(), Some(&compared))),
        ("shares", distribution(&sides, &tps(), None, Some(&compared))),
        ("strip", strip),
        ("forest", forest(&made::repeated())),
        ("compared", sweeps_of(&compared).remove(0)),
    ]
}

fn svg(data: &PlotData) -> String {
    let svg = plot_svg(data, "p1");
    let document = roxmltree::Document::parse(&svg).unwrap();
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    assert!(!svg.contains("NaN") && !svg.contains("inf") || data.title.contains("inf"), "{svg}");
    // Places lie within the drawing.
    let (w, h) = (root.attribute("width").unwrap(), root.attribute("height").unwrap());
    let (w, h): (f64, f64) = (w.parse().unwrap(), h.parse().unwrap());
    for node in document.descendants().filter(|n| n.has_tag_name("text")) {
        let (x, y): (f64, f64) =
            (node.attribute("x").unwrap().parse().unwrap(), node.attribute("y").unwrap().parse().unwrap());
        assert!((0.0..=w).contains(&x) && (0.0..=h).contains(&y), "{x} {y}");
    }
    svg
}

#[test]
fn drawings() {
    for (name, data) in plots() {
        insta::assert_snapshot!(format!("svg_{name}"), svg(&data));
    }
}

#[test]
fn on_a_terminal() {
    let mut all = String::new();
    for (_, data) in plots() {
        let got = text(|out| plot_text(&data, Screen { width: 90, ..Screen::default() }, out));
        keeps_to(&got, 90);
        all.push_str(&got);
        all.push('\n');
    }
    insta::assert_snapshot!(all);
}

#[test]
fn on_an_old_terminal() {
    let mut all = String::new();
    for (_, data) in plots() {
        let screen = Screen { width: 72, height: 12, ascii: true, ..Screen::default() };
        let got = text(|out| plot_text(&data, screen, out));
        keeps_to(&got, 72);
        assert!(got.is_ascii(), "{got}");
        all.push_str(&got);
        all.push('\n');
    }
    insta::assert_snapshot!(all);
}

#[test]
fn what_is_invalid_is_not_drawn() {
    let (wrong, void) = (made::wrong(), made::void());
    let runs = [&wrong, &void];
    let plot = sweep(&[PlotSide { name: "A", runs: &runs }], &busbw(), None);
    assert_eq!(plot.series.len(), 1);
    assert!(plot.series[0].points.iter().all(|p| p.x != (8 * made::MIB) as f64));
    assert!(plot.note.contains("left out: 1 run without a valid result"), "{}", plot.note);
}

#[test]
fn ranks_are_one_line_and_units_one_unit() {
    let training = made::training(2, 195_000.0, 8);
    let runs = [&training];
    let plot = timeline(&[PlotSide { name: "A", runs: &runs }], &tps(), None);
    assert_eq!(plot.series.len(), 1);
    assert_eq!(plot.series[0].points.len(), 80);
    assert_eq!(Select::main(&training), Some(tps()));
    let (gb, mut gbit) = (made::nccl("u17", 1.0), made::nccl("u17", 1.0));
    for s in &mut gbit.series {
        if s.metric.unit == Unit::GBps {
            s.metric.unit = Unit::Gbps;
            s.points = s.points.map(|p| linerate_bench::Point { value: p.value * 8.0, ..p });
        }
    }
    let runs = [&gb, &gbit];
    let plot = sweep(&[PlotSide { name: "A", runs: &runs }], &busbw(), None);
    let last = plot.series[0].points.last().unwrap();
    let (low, high) = last.band.unwrap();
    assert!(high - low < 1e-6, "{last:?}");
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>(), -1e3..1e3, Just(0.0), Just(f64::NAN), Just(f64::INFINITY), Just(1e-310), Just(f64::MAX)]
}

fn shape() -> impl Strategy<Value = Shape> {
    prop::sample::select(vec![Shape::Line, Shape::Steps, Shape::Dots, Shape::Curve, Shape::Whiskers, Shape::Bars])
}

fn series() -> impl Strategy<Value = Series> {
    let point = (number(), number(), prop::option::of((number(), number())));
    let points = prop::collection::vec(point.prop_map(|(x, y, band)| Xy { x, y, band }), 0..40);
    (".{0,30}", 0..9_usize, shape(), points).prop_map(|(name, role, shape, points)| Series {
        name,
        role,
        shape,
        points,
    })
}

fn axis() -> impl Strategy<Value = Axis> {
    let scale = prop::sample::select(vec![Scale::Linear, Scale::Log2, Scale::Log10]);
    let ticks = prop_oneof![
        Just(Ticks::Numbers),
        Just(Ticks::Bytes),
        Just(Ticks::Percent),
        prop::collection::vec(".{0,40}", 0..5).prop_map(Ticks::Names),
    ];
    (".{0,30}", scale, ticks, any::<bool>()).prop_map(|(label, scale, ticks, from_zero)| Axis {
        label,
        scale,
        ticks,
        from_zero,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_plot_can_be_drawn(
        title in ".{0,40}",
        axes in (axis(), axis()),
        series in prop::collection::vec(series(), 0..4),
        limits in prop::collection::vec((number(), ".{0,120}", any::<bool>()), 0..3),
        shades in prop::collection::vec((number(), number()), 0..2),
        screen in (30_usize..200, 0_usize..40, any::<bool>()),
    ) {
        let data = PlotData {
            note: title.clone(),
            title,
            x: axes.0,
            y: axes.1,
            series,
            limits: limits.into_iter().map(|(at, label, upright)| Limit { at, label, upright }).collect(),
            shades: shades
                .into_iter()
                .map(|(from, to)| Shade { from, to, role: None, name: "shade".into() })
                .collect(),
        };
        let drawing = plot_svg(&data, "p<1>");
        prop_assert!(roxmltree::Document::parse(&drawing).is_ok(), "{}", drawing);
        let (width, height, ascii) = screen;
        let got = text(|out| plot_text(&data, Screen { width, height, ascii, colour: false }, out));
        keeps_to(&got, width);
        prop_assert!(!ascii || got.is_ascii(), "{}", got);
    }
}

#[test]
fn ten_thousand_points_are_few_in_the_drawing() {
    let points = (0..10_000).map(f64::from).map(|x| Xy { x, y: (x / 300.0).sin() * x, band: None }).collect();
    let series = vec![Series { name: "long".into(), role: 0, shape: Shape::Line, points }];
    let data = PlotData { series, ..PlotData::default() };
    let drawing = svg(&data);
    assert!(drawing.len() < 30_000, "{}", drawing.len());
    keeps_to(&text(|out| plot_text(&data, Screen::default(), out)), 80);
}
