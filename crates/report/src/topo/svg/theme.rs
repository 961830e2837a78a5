//! Colours: light, and dark where the reader's system says so. Plain rules without variables: not every renderer knows those.

use crate::topo::scene::Step;
use std::fmt::Write;

/// Class, property, light, dark.
const COLOURS: &[(&str, &str, &str, &str)] = &[
    ("bg", "fill", "#ffffff", "#0d1117"),
    ("panel", "fill", "#f6f8fa", "#151b23"),
    ("panel", "stroke", "#d6dde4", "#2a323c"),
    ("cpu", "fill", "#e2e8ef", "#27313d"),
    ("cpu", "stroke", "#b3bfcc", "#46525f"),
    ("sw", "fill", "#ffffff", "#1c242d"),
    ("sw", "stroke", "#93a3b3", "#566473"),
    ("gpu", "fill", "#eaf6ec", "#12261a"),
    ("gpu", "stroke", "#62a872", "#3f8052"),
    ("nic", "fill", "#edf2fc", "#141f36"),
    ("nic", "stroke", "#7397d9", "#45659f"),
    ("fab", "fill", "#dcf1e0", "#173420"),
    ("fab", "stroke", "#2f9e44", "#3f9b55"),
    ("smpbar", "fill", "#efe9df", "#2e281f"),
    ("smpbar", "stroke", "#8f7f62", "#94825f"),
    ("t", "fill", "#1b2530", "#e6edf3"),
    ("m", "fill", "#57646f", "#9aa7b4"),
    ("l", "fill", "#3d4a56", "#b7c3ce"),
    ("l", "stroke", "#f6f8fa", "#151b23"),
    ("lb", "fill", "#3d4a56", "#b7c3ce"),
    ("lb", "stroke", "#ffffff", "#0d1117"),
    ("warn", "fill", "#8a4b00", "#f0b65a"),
    ("pill", "fill", "#ffedcc", "#442e08"),
    ("pill", "stroke", "#dca54a", "#8a6420"),
    ("lim", "stroke", "#d6336c", "#ff6b9d"),
    ("halo", "stroke", "#f8c4d6", "#6b2440"),
    ("limtag", "fill", "#d6336c", "#ff6b9d"),
    ("limtext", "fill", "#ffffff", "#2b0716"),
    ("limname", "fill", "#b3245a", "#ff8fb4"),
];

/// Step, its class, light, dark, width of the line.
const STEPS: [(Step, &str, &str, &str, f32); 10] = [
    (Step::Slow, "s0", "#9aa7b4", "#66747f", 1.5),
    (Step::Gen3, "s3", "#6f9cd3", "#4d78b0", 2.0),
    (Step::Gen4, "s4", "#3f7fd6", "#5b98e0", 2.75),
    (Step::Gen5, "s5", "#1c57b8", "#86b9f5", 3.5),
    (Step::Gen6, "s6", "#0f2f78", "#c6e0ff", 4.5),
    (Step::Nvlink, "nv", "#2f9e44", "#4fb266", 3.5),
    (Step::C2c, "c2", "#7b46c2", "#b48cf0", 3.5),
    (Step::Smp, "sm", "#8f7f62", "#b09c75", 3.0),
    (Step::Local, "lo", "#9aa7b4", "#66747f", 1.0),
    (Step::Unknown, "un", "#b08900", "#d9b44a", 1.5),
];

/// NVLinks between two GPUs: below so many GB/s, the width of the line.
const NVLINK_WIDTHS: [(f32, f32); 4] = [(30.0, 1.75), (60.0, 3.25), (120.0, 4.0), (f32::INFINITY, 5.0)];

/// Colours of the badges that join a GPU to its network devices; white text is legible on each, in both themes.
const BADGES: [&str; 8] = ["#2f62c9", "#a8501a", "#6f3fb8", "#0c716c", "#a52c70", "#5d6f18", "#7d5125", "#4a5868"];

/// The style sheet. All rules are below `.lt`, so that they keep to the drawing where it is in a page.
pub(super) fn css() -> String {
    let mut css = String::from(
        "\
         .lt text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif;font-size:11px}\
         .lt .h1{font-size:20px;font-weight:600}.lt .h2{font-size:12.5px}.lt .name{font-size:13px;font-weight:600}\
         .lt .id{font-family:ui-monospace,\"SF Mono\",Menlo,Consolas,monospace;font-size:10.5px}\
         .lt .l,.lt .lb{font-size:10.5px;stroke-width:3;paint-order:stroke;stroke-linejoin:round}\
         .lt .tag{font-size:9.5px;font-weight:600}.lt .badge{font-size:9.5px;font-weight:600;fill:#fff}\
         .lt .e{text-anchor:end}.lt .c{text-anchor:middle}\
         .lt .w{fill:none;stroke-linecap:butt;stroke-linejoin:round}.lt .deg{stroke-dasharray:6 4}.lt .un{stroke-dasharray:1 4}\
         .lt .halo{fill:none;stroke-width:10;stroke-linecap:round}.lt .lim{fill:none;stroke-width:2.5}\n",
    );
    let mut dark = String::new();
    for (class, property, light, night) in COLOURS {
        // Writing to a string cannot fail.
        let _ = write!(css, ".lt .{class}{{{property}:{light}}}");
        let _ = write!(dark, ".lt .{class}{{{property}:{night}}}");
    }
    for (_, class, light, night, width) in STEPS {
        let _ = write!(css, ".lt .{class}{{stroke:{light};stroke-width:{width}}}");
        let _ = write!(dark, ".lt .{class}{{stroke:{night}}}");
    }
    // After the steps, so that they win.
    for (i, width) in NVLINK_WIDTHS.iter().enumerate() {
        let _ = write!(css, ".lt .n{i}{{stroke-width:{}}}", width.1);
    }
    for (i, colour) in BADGES.iter().enumerate() {
        let _ = write!(css, ".lt .b{i}{{fill:{colour}}}");
    }
    format!("{css}\n@media (prefers-color-scheme:dark){{{dark}}}\n")
}

/// Class of a step's line.
pub(super) fn step(step: Step) -> &'static str {
    STEPS.iter().find(|s| s.0 == step).map_or("lo", |s| s.1)
}

/// Class of the width of an NVLink between two GPUs.
pub(super) fn nvlink_width(gbps: f32) -> String {
    let at = NVLINK_WIDTHS.iter().position(|(below, _)| gbps < *below).unwrap_or(NVLINK_WIDTHS.len() - 1);
    format!("n{at}")
}

/// Class of the badge of a network device.
pub(super) fn badge(nic: usize) -> String {
    format!("b{}", nic % BADGES.len())
}
