//! `docs/zoo.md`: the figures, generated, and checked here.

use crate::{BROKEN, HEALTHY, OUTCOMES, Outcome, false_findings, found};
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "\
# The zoo: healthy machines, and what breaks them

Machines composed from public descriptions (`lab/nodes/healthy/*.toml`: each file names its sources). None of them may have a finding
above low or a plan with steps, and nothing that root can show may be unknown. Their broken siblings
(`lab/nodes/healthy/broken/`) differ from them in one thing: it must be the first finding, and the plan must repair it in simulation,
or say that it has to be done by hand.

This page is generated: `LINERATE_WRITE=1 cargo test -p linerate-remedy --test zoo page`. The figures alone:
`cargo test -p linerate-remedy --test zoo page -- --nocapture`.
";

struct Figures {
    line: String,
    page: String,
}

fn figures() -> Figures {
    let first = |m: &&crate::Machine| found(&m.said).next().is_some_and(|v| v.rule.id == m.zoo.first);
    let false_found: usize = HEALTHY.iter().map(|m| false_findings(m, &m.said).len()).sum();
    let planned = HEALTHY.iter().filter(|m| !m.said.plan.steps.is_empty() || !m.said.plan.by_hand.is_empty()).count();
    let ends: Vec<(&crate::Machine, &Outcome)> = BROKEN.iter().zip(OUTCOMES.iter()).collect();
    let count = |is: fn(&Outcome) -> bool| ends.iter().filter(|(_, o)| is(o)).count();
    let (healed, by_hand) = (count(|o| *o == Outcome::Healed), count(|o| matches!(o, Outcome::ByHand(_))));
    let unsimulated = count(|o| *o == Outcome::Unsimulated);
    let line = format!(
        "{} healthy machines: {false_found} false findings, {planned} plans that are not empty; {} broken siblings: {} found first, \
         {healed} healed in simulation, {by_hand} left to people and said so, {unsimulated} with a step that cannot be simulated and says so",
        HEALTHY.len(),
        BROKEN.len(),
        BROKEN.iter().filter(first).count(),
    );
    let mut page = format!(
        "{HEAD}\n{line}.\n\n| machine | what it is | by design | siblings: first finding, and what the plan does |\n|---|---|---|---|\n"
    );
    for m in HEALTHY.iter() {
        let own = ends.iter().filter(|(b, _)| b.name.split("--").next() == Some(m.name.as_str()));
        let siblings: Vec<String> = own
            .map(|(b, o)| {
                let what = match o {
                    Outcome::Healed => "healed",
                    Outcome::Unsimulated => "a step, not simulated",
                    Outcome::ByHand(_) => "by hand",
                    Outcome::Left(_) => "NOT healed",
                };
                format!("{}: `{}`, {what}", b.name.split("--").nth(1).unwrap_or_default(), b.zoo.first)
            })
            .collect();
        let design: Vec<String> = m.zoo.by_design.iter().map(|d| format!("`{d}`")).collect();
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} |",
            m.name,
            m.description.title,
            design.join(", "),
            siblings.join("; ")
        );
    }
    Figures { line, page }
}

#[test]
fn the_page_is_current() {
    let all = figures();
    println!("{}", all.line);
    if std::env::var_os("ZOO").is_some() {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/zoo.md");
    if std::env::var_os("LINERATE_WRITE").is_some() {
        std::fs::write(&path, &all.page).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == all.page,
        "docs/zoo.md is not current: LINERATE_WRITE=1 cargo test -p linerate-remedy --test zoo page"
    );
}
