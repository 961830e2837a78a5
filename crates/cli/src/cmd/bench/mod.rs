//! `linerate bench`.

mod compare;
mod history;
mod history_json;
mod import;
mod load;
mod plot;
mod run;
mod store;
mod summary;

use crate::bench_args::{BenchArgs, BenchCommand, OutArgs};
use crate::output::{Failure, Sink};
use linerate_out::file::Access;
use linerate_report::Style;

pub(crate) use compare::beside;

pub(crate) fn run(a: &BenchArgs) -> Result<u8, Failure> {
    match &a.command {
        BenchCommand::Import(a) => import::run(a),
        BenchCommand::Compare(a) => compare::run(a),
        BenchCommand::Run(a) => run::run(a),
        BenchCommand::History(a) => history::run(a),
        BenchCommand::Plot(a) => plot::run(a),
        BenchCommand::Summary(a) => summary::run(a),
    }
}

/// Where an answer goes, and how it looks there.
fn open(out: &OutArgs) -> Result<(Sink, Style), Failure> {
    let sink = Sink::open_for(out.output.as_deref(), Access::Umask)?;
    let style = sink.style(out.color, out.verbose);
    Ok((sink, style))
}

/// Everything that looked like a result but is not one, as the reports show it.
fn refused(list: &[linerate_bench::import::Refused]) -> Vec<linerate_report::bench::Refused> {
    let one = |r: &linerate_bench::import::Refused| {
        let kind = r.kind.filter(|k| *k != linerate_bench::Kind::Series).map_or_else(String::new, |k| format!("{k}: "));
        let why = format!("{kind}{}", r.why);
        let hidden = |text: &str| linerate_snapshot::without_secrets(text).into_owned();
        linerate_report::bench::Refused { name: hidden(&r.source), line: r.line, why: hidden(&why) }
    };
    list.iter().map(one).collect()
}
