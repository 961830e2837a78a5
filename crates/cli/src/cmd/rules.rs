//! `linerate rules`.

use crate::args::{ListFormat, RulesArgs};
use crate::output::{Failure, Sink};
use crate::sources::select_areas;
use linerate_report::explain;
use std::io::Write;

pub(crate) fn run(a: &RulesArgs) -> Result<u8, Failure> {
    let chosen = select_areas(&a.patterns)?;
    let areas: Vec<linerate_rules::Area<'_>> =
        chosen.iter().map(|(id, about, rules)| (*id, *about, rules.as_slice())).collect();
    let mut sink = Sink::open(None)?;
    match a.format {
        ListFormat::Text => {
            let style = sink.style(a.color, a.verbose);
            sink.write_all(explain::rules_table(&areas, style).as_bytes())?;
        }
        ListFormat::Json => explain::rules_json(&areas, &mut sink)?,
    }
    sink.finish()?;
    Ok(0)
}
