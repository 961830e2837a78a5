//! Audits anything that can be loaded and prints the report: `cargo run -p linerate-report --example show -- FILE [FORMAT [WIDTH]]`.
#![allow(clippy::print_stdout, clippy::print_stderr)] // an example prints

use linerate_node::Node;
use linerate_report::{Report, Style, terminal};
use linerate_snapshot::capture::Purpose;
use linerate_snapshot::options_for;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(path) = args.first() else {
        eprintln!("usage: show FILE|DIRECTORY [text|verbose|colour|json|sarif|junit|markdown] [WIDTH]");
        return ExitCode::from(3);
    };
    let path = Path::new(path);
    let snapshot = match linerate_snapshot::load(path, &options_for(path, Purpose::Audit), &|_| ()) {
        Ok(s) => s,
        Err(e) => {
            eprintln!("{e}");
            return ExitCode::from(3);
        }
    };
    let node = Node::decode(&snapshot);
    let audit = linerate_rules::audit(&node, &snapshot, linerate_rules::rules());
    let report = Report { audit: &audit, node: &node, snapshot: &snapshot };
    let format = args.get(1).map_or("text", String::as_str);
    let width = args.get(2).and_then(|w| w.parse().ok()).unwrap_or(80);
    let style = Style { colour: format == "colour", width, verbose: format == "verbose" };
    let started = std::time::Instant::now();
    let mut out = Vec::new();
    let written = match format {
        "json" => linerate_report::json::render(&report, linerate_report::json::Version::Two, &mut out),
        "sarif" => linerate_report::sarif::render(&report, &mut out),
        "junit" => linerate_report::junit::render(&report, &mut out),
        "markdown" => linerate_report::markdown::render(&report, &mut out),
        _ => terminal::render(&report, style, &mut out),
    };
    if let Err(e) = written.and_then(|()| std::io::stdout().write_all(&out)) {
        eprintln!("{e}");
        return ExitCode::from(3);
    }
    eprintln!("rendered in {:?}", started.elapsed());
    ExitCode::from(audit.exit_code())
}
